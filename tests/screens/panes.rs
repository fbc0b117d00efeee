//! The map pane and the context pane in their main states, and the overlays that they open.

use super::harness::{Harness, Scene};
use super::snapshot;
use rhumb::tui::theme::ColorDepth;

/// The smallest screen with several panes, the smallest with all panes, a large one.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (200, 60)];

/// Runs a scene at each size and compares the screen.
#[track_caller]
fn snapshots(name: &str, play: impl Fn(Scene) -> Play) {
    for (width, height) in SIZES {
        let harness = play(Scene::demo()).at(width, height);
        assert_eq!(harness.control_characters(), Vec::<String>::new());
        snapshot(&format!("{name}@{width}x{height}"), &harness);
    }
}

/// A scene and the keys that are pressed in it.
struct Play(Scene, &'static [&'static str]);

impl Play {
    fn at(self, width: u16, height: u16) -> Harness {
        let mut harness = self.0.open(width, height);
        for keys in self.1 {
            harness.keys(keys).settle();
        }
        harness
    }
}

/// The demo with a map of few tokens and the cursor in its pane.
fn map(keys: &[&str]) -> Harness {
    let mut harness = Scene::demo().open(120, 35);
    harness.app.session.set_map_tokens(Some(300));
    harness.keys("<Alt-2> +").settle();
    for keys in keys {
        harness.keys(keys).settle();
    }
    harness
}

/// A map of few tokens with the cursor at the end of the budget.
fn at_the_line(mut harness: Harness) -> Harness {
    harness.keys("<Alt-2> - - - - - -").settle();
    let shown = harness.app.session.view().unwrap().map.as_ref().unwrap().shown_files();
    let more = harness.app.session.view().unwrap().map.as_ref().unwrap().growth().unwrap().files.len();
    harness.app.map.window.select(shown + more);
    harness.app.map.window.select(shown);
    harness.draw();
    harness
}

/// Many more files than fit into a small budget.
fn many(scene: Scene) -> Scene {
    (1..=150).fold(scene, |scene, number| {
        let text =
            format!("def moor_{number}(ship):\n    return ship\n\n\ndef leave_{number}(ship):\n    return ship\n");
        scene.file(&format!("ports/berth_{number:02}.py"), &text)
    })
}

#[test]
fn the_map_marks_what_the_budget_holds_and_what_the_next_step_would() {
    for (width, height) in SIZES {
        let harness = at_the_line(many(Scene::demo()).open(width, height));
        assert!(harness.screen().contains("── 512 tokens hold"), "{}", harness.screen());
        snapshot(&format!("panes-map-budget@{width}x{height}"), &harness);
    }
}

#[test]
fn files_and_symbols_are_pinned_and_kept_out_with_marks() {
    snapshots("panes-map-choices", |scene| Play(scene, &["<Alt-2> <Enter> j p", "j b", "j j", "<End> k k b"]));
}

#[test]
fn the_map_is_shown_as_the_model_gets_it() {
    snapshots("panes-map-sent", |scene| Play(scene, &["<Alt-2> j t"]));
}

#[test]
fn a_few_letters_find_files_and_symbols() {
    snapshots("panes-map-filter", |scene| Play(scene, &["<Alt-2> / type \"stat\""]));
}

#[test]
fn a_symbol_opens_where_it_is_defined() {
    snapshots("panes-map-definition", |scene| Play(scene, &["<Alt-2> <Enter> j j <Enter>"]));
}

#[test]
fn a_file_says_why_it_stands_there() {
    snapshots("panes-map-why", |scene| Play(scene, &["<Alt-2> j w"]));
}

#[test]
fn the_parts_of_the_request_are_sorted_by_size_and_kind() {
    snapshots("panes-context-size", |scene| Play(scene, &["<Alt-3> s"]));
    snapshots("panes-context-kind", |scene| Play(scene, &["<Alt-3> s s j j"]));
}

#[test]
fn too_much_says_what_has_to_go() {
    snapshots("panes-context-over", |scene| Play(scene.window(1_600), &["<Alt-3> j j"]));
}

#[test]
fn a_part_opens_in_the_request_and_is_searched() {
    snapshots("panes-prompt", |scene| Play(scene, &["<Alt-3> j j j <Enter>", "/ type \"heights\" <Enter> n"]));
}

#[test]
fn choices_about_the_map_are_taken_back_by_key() {
    let mut harness = map(&["p", "j b"]);
    assert!(
        harness.screen().contains("★ pinned") && harness.screen().contains("banned by you"),
        "{}",
        harness.screen()
    );
    harness.keys("u").settle();
    assert!(!harness.screen().contains("banned by you"), "{}", harness.screen());
    harness.keys("u").settle();
    assert!(!harness.screen().contains("★ pinned"), "{}", harness.screen());
    harness.keys("<Ctrl-r> <Ctrl-r>").settle();
    assert!(
        harness.screen().contains("★ pinned") && harness.screen().contains("banned by you"),
        "{}",
        harness.screen()
    );
}

#[test]
fn what_is_kept_out_is_let_back_in_where_it_stands() {
    let mut harness = map(&["b"]);
    let path = harness.app.session.map().banned.first().cloned().unwrap();
    harness.keys("<End> b").settle();
    assert!(harness.app.session.map().banned.is_empty(), "{path}\n{}", harness.screen());
}

#[test]
fn a_pinned_symbol_is_in_the_map_and_a_banned_one_never() {
    let mut harness = Scene::demo().open(120, 35);
    let has = |harness: &Harness, text: &str| {
        let view = harness.app.session.view().unwrap();
        view.map.as_ref().unwrap().text.contains(text)
    };
    harness.app.session.set_map_tokens(Some(200));
    harness.keys("<Alt-2> +").settle();
    let effects = harness.app.session.toggle_ban("tidewatch/station.py#find");
    assert!(!effects.is_empty());
    harness.keys("- u").settle();
    assert!(!has(&harness, "def find("));
    harness.app.session.toggle_ban("tidewatch/station.py#find");
    harness.app.session.toggle_pin("tidewatch/station.py#find");
    harness.keys("- +").settle();
    assert!(has(&harness, "find"), "{}", harness.screen());
}

#[test]
fn the_filter_keeps_the_cursor_on_its_file_when_it_closes() {
    let mut harness = map(&["/ type \"harm\""]);
    let at = |harness: &Harness| harness.app.map.path().map(str::to_owned);
    assert!(harness.screen().contains("harmonics.py"), "{}", harness.screen());
    let found = at(&harness);
    harness.keys("<Esc>").settle();
    assert!(harness.app.map.filter.is_none());
    assert_eq!(at(&harness), found);
}

#[test]
fn keys_do_not_go_through_all_files() {
    let mut harness = map(&[]);
    let before = harness.app.map.rows.passes;
    harness.keys("j j <Enter> j j k <Enter> <End> <Home> <PageDown> ? <Esc> / <Esc> t j t <Alt-1> <Alt-2>");
    assert_eq!(harness.app.map.rows.passes, before);
}

#[test]
fn the_cursor_follows_its_file_when_the_map_moves_under_it() {
    let mut harness = map(&["j j"]);
    let path = |harness: &Harness| harness.app.map.path().map(str::to_owned).unwrap();
    let before = path(&harness);
    harness.keys("p").settle();
    assert_eq!(path(&harness), before, "it went to the top");
    assert_eq!(harness.app.map.window.selected(), Some(0));
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut harness = map(&[]);
    harness.app.click_in_map(0, true);
    harness.draw();
    assert!(harness.screen().contains('▾'), "{}", harness.screen());
    harness.app.click_in_context(1, false);
    assert_eq!(harness.app.context.window.selected(), Some(1));
    harness.app.click_in_context(1, true);
    harness.draw();
    assert!(harness.screen().contains("the next request"), "{}", harness.screen());
}

#[test]
fn gauges_and_marks_have_styles_of_their_own() {
    for depth in [ColorDepth::True, ColorDepth::Ansi16] {
        let mut harness = at_the_line(many(Scene::demo()).depth(depth).open(200, 200));
        let style = |harness: &Harness, text: &str| {
            let (x, y) = harness.find(text).unwrap_or_else(|| panic!("{text}\n{}", harness.screen()));
            harness.style_at(x, y)
        };
        assert_ne!(style(&harness, "▮").fg, style(&harness, "▯").fg, "{depth:?}");
        assert_ne!(style(&harness, "── ").fg, style(&harness, "┄┄ ").fg, "{depth:?}");
        harness.keys("<Home> <Enter> j p").settle();
        let pinned = style(&harness, "★");
        harness.keys("b").settle();
        assert_ne!(pinned.fg, style(&harness, "✗").fg, "{depth:?}");
        let mut harness = Scene::demo().depth(depth).window(1_600).open(200, 60);
        harness.keys("<Alt-3>").settle();
        assert_ne!(style(&harness, "▲").fg, style(&harness, "§").fg, "{depth:?}");
    }
}

#[test]
fn nothing_is_cut_off_at_the_smallest_size() {
    for keys in [
        "<Alt-2> <Enter>", "<Alt-2> / type \"st\"", "<Alt-2> w", "<Alt-2> v", "<Alt-2> t", "<Alt-3> s s",
        "<F5> / type \"a\"",
    ] {
        let mut harness = Scene::demo().open(40, 10);
        harness.keys(keys).settle();
        let screen = harness.screen();
        assert!(screen.lines().count() == 10 && screen.contains(['┃', '│']), "{keys}\n{screen}");
    }
}
