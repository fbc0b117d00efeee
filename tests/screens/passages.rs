//! Passages of the repository in the context pane: one row for all or one for each, to view and to drop.

use super::harness::{Harness, Scene};
use super::snapshot;
use rhumb::tui::theme::ColorDepth;

/// The app after a question about the whole repository, with the cursor of the context pane on the passages.
fn asked(width: u16, height: u16, depth: ColorDepth) -> Harness {
    let scene = Scene::harbour().replying("In `harbour/berth.py:16-19`.").depth(depth);
    let mut harness = scene.open(width, height);
    harness.keys("type \"@codebase how does a ship moor at a berth?\" <Enter>").settle();
    harness.keys("<Alt-3> <Home>");
    go_to(&mut harness, "lists them");
    harness
}

/// Moves the cursor of the context pane down until the pane shows this text for the row under the cursor.
#[track_caller]
fn go_to(harness: &mut Harness, says: &str) {
    for _ in 0..20 {
        if harness.screen().contains(says) {
            return;
        }
        harness.keys("j");
    }
    panic!("no row that {says}\n{}", harness.screen());
}

fn sent(harness: &Harness) -> Vec<String> {
    let view = harness.app.session.view().expect("a view");
    view.prompt.passages.iter().map(|passage| passage.location.label()).collect()
}

#[test]
fn enter_lists_the_passages_with_what_each_weighs_and_folds_them_again() {
    for (width, height) in [(80, 24), (120, 35), (200, 60)] {
        let mut harness = asked(width, height, ColorDepth::True);
        let count = sent(&harness).len();
        assert!(count > 1, "{}", harness.screen());
        assert!(!harness.lines_with(&format!("∷ passages · {count}")).is_empty(), "{}", harness.screen());
        harness.keys("<Enter> j");
        assert!(harness.app.context.passages_open);
        snapshot(&format!("passages@{width}x{height}"), &harness);
        harness.keys("k <Enter>");
        assert!(!harness.app.context.passages_open);
    }
    let mut harness = asked(120, 35, ColorDepth::Ansi16);
    harness.keys("<Enter> j");
    snapshot("passages-16@120x35", &harness);
}

#[test]
fn what_is_still_sent_shows_above_the_composer_until_a_key_drops_it() {
    for (width, height) in [(80, 24), (120, 35)] {
        let mut harness = asked(width, height, ColorDepth::True);
        harness.keys("<Alt-1>").settle();
        let line = format!("{} passages (", sent(&harness).len());
        assert_eq!(harness.lines_with(&line).len(), 1, "{}", harness.screen());
        assert!(harness.lines_with(&line)[0].contains("Alt-p drops"), "{}", harness.screen());
        harness.keys("<Alt-p>").settle();
        assert!(sent(&harness).is_empty() && harness.lines_with(&line).is_empty(), "{}", harness.screen());
    }
}

#[test]
fn a_passage_is_shown_and_dropped_and_all_are() {
    let mut harness = asked(120, 35, ColorDepth::True);
    let all = sent(&harness);
    harness.keys("<Enter> j j <Enter>").settle();
    assert!(harness.screen().contains(&format!("1 of {}", all.len())), "{}", harness.screen());
    let line = all[1].split('-').next().expect("a place");
    assert!(harness.screen().contains(line), "{line} in\n{}", harness.screen());
    harness.keys("<Esc> d").settle();
    let left: Vec<String> = all.iter().filter(|label| **label != all[1]).cloned().collect();
    assert_eq!(sent(&harness), left);
    harness.keys("r");
    assert!(harness.app.hint.text().contains("only files"), "{}", harness.app.hint.text());
    harness.keys("<Home>");
    go_to(&mut harness, "folds them");
    harness.keys("d").settle();
    assert_eq!(sent(&harness), Vec::<String>::new());
    assert!(harness.lines_with("∷ passages").is_empty(), "{}", harness.screen());
}

#[test]
fn they_are_of_use_on_the_smallest_screen() {
    let mut harness = asked(120, 35, ColorDepth::True);
    harness.keys("<Enter> j").resize(40, 10).settle();
    snapshot("passages@40x10", &harness);
    for (width, height) in [(1, 1), (20, 5), (49, 12), (400, 120)] {
        harness.resize(width, height).settle();
        harness.keys("j k <Enter> <Esc> <Enter> <Enter> <Esc> <Alt-3>").settle();
    }
}
