//! `@codebase` in the app: passages are searched, shown with their tokens, kept, and dropped.

use rhumb_session::context::SectionKind;

use crate::harness::{Harness, Scene};

/// The tokens of the passages of the next request; 0 for none.
fn passages(harness: &Harness) -> usize {
    let view = harness.app.session.view();
    let chunks = view.iter().flat_map(|view| &view.prompt.sections);
    chunks.filter(|chunk| chunk.kind == SectionKind::Passages).map(|chunk| chunk.tokens).sum()
}

fn asked() -> Harness {
    let mut harness = Scene::harbour().replying("In `harbour/berth.py:16-19`.").open(160, 50);
    harness.keys("type \"@codebase how does a ship moor at a berth?\" <Enter>").settle();
    harness
}

#[test]
fn the_context_pane_shows_the_passages_against_their_share() {
    let harness = asked();
    assert!(!harness.lines_with("Searched for “how does a ship moor").is_empty(), "{}", harness.screen());
    assert!(!harness.lines_with("∷ passages").is_empty(), "{}", harness.screen());
    let view = harness.app.session.view().expect("a view");
    let text = view.prompt.as_text();
    assert!(text.contains("16      def moor(self, ship: Ship):"), "{text}");
}

#[test]
fn a_file_that_changes_is_read_anew_and_one_that_joins_the_chat_is_sent_once() {
    let mut harness = asked();
    let before = harness.file("harbour/berth.py").expect("the file");
    harness.put("harbour/berth.py", &before.replace("too long", "much too long"));
    harness.keys("type \"/map-refresh\" <Enter>").settle();
    let text = |harness: &Harness| harness.app.session.view().expect("a view").prompt.as_text();
    assert!(text(&harness).contains("much too long"), "{}", text(&harness));
    harness.keys("type \"/add harbour/berth.py\" <Enter>").settle();
    assert_eq!(text(&harness).matches("much too long").count(), 1, "{}", text(&harness));
}

#[test]
fn clearing_and_dropping_take_the_passages_out() {
    for (line, then) in [("/clear", "y"), ("/passages drop", "")] {
        let mut harness = asked();
        assert!(passages(&harness) > 0);
        harness.keys(&format!("type \"{line}\" <Enter> {then}")).settle();
        assert_eq!(passages(&harness), 0, "{line}");
    }
}

#[test]
fn the_demo_knows_an_answer_with_citations() {
    let mut harness = Scene::demo().open(160, 50);
    harness.app.composer.set("@codebase how does a height come about?");
    harness.keys("<Enter>").settle();
    assert!(!harness.lines_with("tidewatch/harmonics.py:40-46").is_empty(), "{}", harness.screen());
    assert!(passages(&harness) > 0);
}
