//! Sanitizing of text for a terminal.

use proptest::prelude::{any, prop, prop_oneof, proptest};
use proptest::strategy::Strategy;
use proptest::{prop_assert, prop_assert_eq};
use rhumb_text::sanitize::{TAB_STOP, visible, visible_from, visible_line};
use rhumb_text::width::{clip, clip_start, columns};
use rhumb_text::wrap::{hanging, hard_wrap, wrap};

use crate::cases;

/// Pieces with a special meaning for terminals, editors or readers.
const PIECES: [&str; 22] = [
    "\u{1b}[31m",
    "\u{1b}]0;t\u{7}",
    "\u{1b}]52;c;YQ==\u{1b}\\",
    "\u{1b}P+q\u{1b}\\",
    "\u{9b}2J",
    "\u{9d}0;t\u{9c}",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\u{8}\u{8}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{e0041}\u{e0042}",
    "\u{feff}",
    "e\u{301}",
    "\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}",
    "日本",
    "👩\u{200d}🚀",
    "word ",
    "\u{7f}",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z ]{0,8}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Whether a character may drive a terminal or hide from a reader.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn what_is_shown_is_harmless_and_says_all_that_was_there(text in text(), column in 0..9usize, width in 0..30usize) {
        prop_assert!(!visible(&text).chars().any(|c| is_dangerous(c) && !matches!(c, '\n' | '\t')));
        for shown in [visible_line(&text), visible_from(&text, column)] {
            prop_assert!(!shown.chars().any(is_dangerous), "{shown:?}");
            prop_assert_eq!(visible_line(&shown).into_owned(), shown.as_ref(), "twice is once");
            let is_plain = |c: &char| c.is_alphanumeric() && columns(&c.to_string()) > 0 && !is_dangerous(*c);
            let plain: Vec<char> = text.chars().filter(is_plain).collect();
            let mut rest = shown.chars();
            prop_assert!(plain.iter().all(|c| rest.any(|shown| shown == *c)), "{text:?} became {shown:?}");
        }
        let line = visible_line(&text);
        prop_assert!(columns(&clip(&line, width)) <= width && columns(&clip_start(&line, width)) <= width);
        for lines in [wrap(&line, width), hard_wrap(&line, width)] {
            let mut end = 0;
            for range in &lines {
                prop_assert!(range.start >= end && line.get(range.clone()).is_some());
                prop_assert!(line[end..range.start].trim().is_empty(), "only blanks go at the end of a line");
                prop_assert!(width < 5 || columns(&line[range.clone()]) <= width, "{range:?} of {line:?} in {width}");
                end = range.end;
            }
            prop_assert!(line[end..].trim().is_empty());
        }
        hanging(&line, width);
        prop_assert!(column + columns(&visible_from("\t", column)) == (column / TAB_STOP + 1) * TAB_STOP);
    }
}
