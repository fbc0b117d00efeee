//! The cursor of the terminal is at the insertion point.

use super::harness::{Harness, Scene};

/// Checks that `text` is left of the cursor.
#[track_caller]
fn stands_behind(harness: &Harness, text: &str) {
    let (x, y) = harness.cursor().unwrap_or_else(|| panic!("no cursor\n{}", harness.screen()));
    let length = u16::try_from(text.chars().count()).unwrap();
    let before: String = (x.saturating_sub(length)..x).map(|x| harness.cell(x, y)).collect();
    assert_eq!(before, text, "{x}, {y}\n{}", harness.screen());
}

#[test]
fn it_stands_in_every_field_that_takes_letters() {
    let mut harness = Scene::harbour().replying("Fair winds to you.").open(100, 30);
    harness.keys("type \"moor\"");
    stands_behind(&harness, "❯ moor");
    harness.keys("<Left> <Left>");
    stands_behind(&harness, "❯ mo");
    harness.keys("<Alt-x> type \"und\"");
    stands_behind(&harness, "› und");
    harness.keys("<Esc> <F1> type \"map\"");
    stands_behind(&harness, "› map");
    harness.keys("<Esc> <Esc> <F4> type \"a reply\"");
    stands_behind(&harness, "│a reply");
    harness.keys("<Esc>").keys("<Enter>").settle();
    harness.keys("<Alt-r> / type \"wind\"");
    stands_behind(&harness, "/wind");
}

#[test]
fn it_is_hidden_where_letters_are_commands() {
    let mut harness = Scene::harbour().replying("Fair winds to you.").open(100, 30);
    harness.keys("type \"hi\" <Enter>").settle();
    for keys in ["<Alt-2>", "<Alt-3>", "<Alt-4>", "<Alt-1> <Alt-r>"] {
        harness.keys(keys);
        assert_eq!(harness.cursor(), None, "{keys}\n{}", harness.screen());
    }
}

#[test]
fn a_draft_that_is_taller_than_its_place_says_how_much_is_hidden() {
    let mut harness = Scene::harbour().replying("Fair winds to you.").open(40, 10);
    harness.paste("one\ntwo\nthree\nfour\nfive\nsix");
    stands_behind(&harness, "six");
    let above = harness.lines_with("↑");
    assert!(above.iter().any(|line| line.contains(" ↑")), "{}", harness.screen());
    assert!(!harness.screen().contains("one"), "{}", harness.screen());
}
