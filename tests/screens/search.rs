//! The code search and its actions, at each size for which its layout differs.

use super::harness::{Harness, Scene};
use super::snapshot;
use rhumb::tui::theme::ColorDepth;
use rhumb_index::retrieval::{Hit, Question};
use rhumb_session::{LookupResponse, Response};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (200, 60)];

fn searching(width: u16, height: u16, words: &str) -> Harness {
    let mut harness = Scene::demo().open(width, height);
    harness.keys(&format!("<Ctrl-s> type \"{words}\"")).settle();
    harness
}

#[track_caller]
fn shows(harness: &Harness, parts: &[&str]) {
    for part in parts {
        assert!(harness.screen().contains(part), "no {part} in\n{}", harness.screen());
    }
}

#[test]
fn passages_are_listed_as_one_types_with_a_look_at_them() {
    for (width, height) in SIZES {
        let mut harness = searching(width, height, "how high is the tide");
        snapshot(&format!("search@{width}x{height}"), &harness);
        harness.keys("<Alt-g> <Down>").settle();
        snapshot(&format!("search-files@{width}x{height}"), &harness);
        harness.keys("<Enter>").settle();
        snapshot(&format!("search-shown@{width}x{height}"), &harness);
        harness.keys("<Esc>");
        shows(&harness, &["search code", "how high is the tide"]);
    }
}

#[test]
fn with_sixteen_colours_the_cursor_and_the_lines_show_too() {
    let mut harness = Scene::demo().depth(ColorDepth::Ansi16).open(120, 35);
    harness.keys("<F8> type \"tide\"").settle();
    snapshot("search-16@120x35", &harness);
}

#[test]
fn what_is_found_goes_into_the_chat_the_message_the_editor_and_the_clipboard() {
    let mut harness = searching(120, 35, "height");
    harness.keys("<Down> <Down> <Alt-r>").settle();
    shows(&harness, &["search code", "is added for reference"]);
    assert!(harness.app.session.files().iter().any(|file| file.read_only));
    harness.keys("<Alt-a>").settle();
    shows(&harness, &["is added to the chat"]);
    assert!(harness.app.session.files().iter().all(|file| !file.read_only));
    harness.keys("<Alt-y>");
    assert!(harness.copied.last().is_some_and(|text| text.contains(".py:")), "{:?}", harness.copied);
    harness.app.composer.clear();
    harness.keys("<Alt-q>");
    assert_eq!(harness.app.composer.text(), "@codebase height");
    assert!(harness.app.overlays.is_empty());
}

#[test]
fn the_command_begins_with_its_words_and_a_click_does_what_keys_do() {
    let mut harness = Scene::demo().open(120, 35);
    harness.app.composer.clear();
    harness.keys("type \"/search height\" <Enter>").settle();
    shows(&harness, &["› height", "passages"]);
    // A long path is shortened at its start.
    let cursor = |harness: &Harness| harness.find("▸ tidewatch/").or_else(|| harness.find("▸ …"));
    let row = cursor(&harness).expect("a cursor");
    harness.click((row.0 + 4, row.1 + 1));
    assert!(cursor(&harness).is_some_and(|at| at.1 == row.1 + 1), "{}", harness.screen());
    harness.click((row.0 + 4, row.1 + 1)).settle();
    shows(&harness, &["n p others"]);
}

#[test]
fn without_an_answer_it_says_why() {
    let mut harness = searching(80, 24, "");
    shows(&harness, &["Ask as you would ask a colleague"]);
    harness.keys("type \"qqzzxx\"").settle();
    shows(&harness, &["No passage matches."]);
    harness.app.session.handle(rhumb_session::Response::SurveyProgress { done: 1_234, total: 5_678 });
    let asked = Question::new("qqzzxx", 40);
    harness.report(Response::LookedUp(LookupResponse::Found { question: asked, hits: None }));
    shows(&harness, &["the repository is being read: 1,234 of 5,678"]);
    snapshot("search-reading@80x24", &harness);
}

#[test]
fn it_is_of_use_on_the_smallest_screen_and_at_every_size() {
    let mut harness = searching(40, 10, "height");
    snapshot("search@40x10", &harness);
    harness.keys("<Enter>").settle();
    shows(&harness, &["station.py:20", "Esc closes"]);
    harness.keys("<Esc> <Alt-g>");
    for (width, height) in [(1, 1), (8, 3), (20, 5), (400, 120), (49, 12), (100, 9), (94, 40)] {
        harness.resize(width, height).settle();
        harness.keys("<Down> <PageDown> <Tab> <Alt-g> <Up> <PageUp>").settle();
    }
    harness.resize(80, 24);
    shows(&harness, &["search code", "▸"]);
}

#[test]
fn names_and_lines_of_files_cannot_reach_the_terminal() {
    let mut harness = Scene::harbour().open(120, 35);
    harness.keys("<Ctrl-s> type \"x\"").settle();
    let hit = |path: &str, symbol: &str| Hit {
        path: path.into(),
        file: 0,
        definition: None,
        line: 1,
        end_line: 3,
        symbol: Some(symbol.to_owned()),
        kind: None,
        container: Some("\u{1b}]0;title\u{7}".to_owned()),
        signature: String::new(),
        evidence: Vec::new(),
        score: 1.0,
    };
    let hits = vec![hit("a\u{1b}[2J\u{202e}b.py", "\u{1b}[31mred\r"), hit("gone\n.py", "\u{9b}31m")];
    let question = Question::new("x", 40);
    harness.report(Response::LookedUp(LookupResponse::Found { question, hits: Some(hits) })).settle();
    for keys in ["<Alt-g>", "<Down>", "<Alt-y>", "<Enter>", "<Esc>", "<Alt-a>"] {
        harness.keys(keys).settle();
        assert_eq!(harness.control_characters(), Vec::<String>::new(), "{keys}\n{}", harness.screen());
    }
}
