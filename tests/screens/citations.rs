//! Citations of an answer: links, citations without a target, and the keys that open them.

use super::harness::{Harness, Scene};
use super::snapshot;
use ratatui::style::Modifier;
use rhumb::tui::theme::ColorDepth;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (200, 60)];

const ANSWER: &str = "\
A ship moors if it fits (`harbour/berth.py:13-14`), which compares the lengths at berth.py:14.

The harbour master decides in `harbour/master.py:7`, at 12:30 as on http://localhost:8080/a.py:3.

- the test is tests/test_berth.py#L5-L8
- the end of it is harbour/ship.py:400
";

fn answered(scene: Scene, width: u16, height: u16) -> Harness {
    let mut harness = scene.replying(ANSWER).open(width, height);
    harness.keys("type \"how does a ship moor\" <Enter>").settle();
    harness
}

#[track_caller]
fn shows(harness: &Harness, parts: &[&str]) {
    for part in parts {
        assert!(harness.screen().contains(part), "no {part} in\n{}", harness.screen());
    }
}

#[test]
fn citations_are_links_and_those_that_lead_nowhere_are_marked_and_counted() {
    for (width, height) in SIZES {
        let harness = answered(Scene::harbour(), width, height);
        snapshot(&format!("citations@{width}x{height}"), &harness);
    }
    let harness = answered(Scene::harbour(), 120, 35);
    shows(&harness, &["2 of 5 citations point nowhere: harbour/master.py:7 (no such", "in harbour/master.py:7⚠"]);
    let style = |text: &str| {
        let at = harness.find(text).unwrap_or_else(|| panic!("no {text} in\n{}", harness.screen()));
        harness.style_at(at.0, at.1).add_modifier
    };
    assert!(style("harbour/berth.py:13").contains(Modifier::UNDERLINED));
    assert!(style("tests/test_berth.py#L5").contains(Modifier::UNDERLINED));
    assert!(style("harbour/master.py:7").contains(Modifier::CROSSED_OUT));
    assert!(!style("http://localhost").contains(Modifier::CROSSED_OUT));
}

#[test]
fn without_colours_they_show_as_well() {
    for depth in [ColorDepth::None, ColorDepth::Ansi16] {
        let harness = answered(Scene::harbour().depth(depth), 120, 35);
        let at = harness.find("harbour/master.py:7").expect("the citation");
        assert!(harness.style_at(at.0, at.1).add_modifier.contains(Modifier::CROSSED_OUT));
        if depth == ColorDepth::Ansi16 {
            snapshot("citations-16@120x35", &harness);
        }
    }
}

#[test]
fn a_click_opens_the_lines_that_are_cited() {
    let mut harness = answered(Scene::harbour(), 120, 35);
    let at = harness.find("harbour/berth.py:13").expect("the citation");
    harness.click((at.0 + 2, at.1)).settle();
    shows(&harness, &["harbour/berth.py:13", "def fits(self, ship: Ship)", "1 of 3"]);
    snapshot("citation-open@120x35", &harness);
    harness.keys("<Esc>");
    let at = harness.find("harbour/master.py:7").expect("the citation");
    harness.click((at.0 + 2, at.1)).settle();
    assert!(
        harness.app.overlays.is_empty() && harness.app.hint.text().contains("no file harbour/master.py"),
        "{}",
        harness.app.hint.text()
    );
}

#[test]
fn keys_go_from_link_to_link_and_open_them() {
    let mut harness = answered(Scene::harbour(), 80, 24);
    harness.keys("<Alt-r> g g l");
    assert!(harness.app.hint.text().contains("harbour/berth.py:13-14"), "{}", harness.app.hint.text());
    harness.keys("l");
    assert!(harness.app.hint.text().contains("berth.py:14"), "{}", harness.app.hint.text());
    snapshot("citation-keys@80x24", &harness);
    harness.keys("<Enter>").settle();
    shows(&harness, &["harbour/berth.py:14", "return ship.length < self.length"]);
    harness.keys("<Esc> l");
    assert!(harness.app.hint.text().contains("no file harbour/master.py"), "{}", harness.app.hint.text());
    harness.keys("l l l");
    assert!(harness.app.hint.text().contains("no link further down"), "{}", harness.app.hint.text());
    harness.keys("<Enter>").settle();
    shows(&harness, &["no line 400, this is the end"]);
    harness.keys("<Esc> h h h h h");
    assert!(harness.app.hint.text().contains("no link further up"), "{}", harness.app.hint.text());
    harness.resize(40, 10).settle();
    harness.keys("<Enter>").settle();
    shows(&harness, &["berth.py:13", "Esc closes"]);
}
