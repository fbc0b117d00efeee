//! Makes text safe to draw: characters that could control the terminal or hide text become visible glyphs.
//!
//! Files, model replies and tool output are untrusted. An escape sequence could change the window title or write the
//! clipboard. A bidirectional override or a run of tag characters could show the reader a different text from the one that
//! is applied.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

/// Maximum number of combining marks on one character. No script needs more; hundreds of them would cover the adjacent lines.
const MAX_COMBINING_MARKS: usize = 8;

/// Columns between two tab stops.
pub const TAB_STOP: usize = 4;

/// Replaces every dangerous or invisible character of `text` by a glyph: C0 controls and DEL by their control picture
/// (`␛`), all others by their code point (`<U+202E>`). Line feeds and tabs are kept. Borrows if nothing changes.
///
/// Joiners (U+200C, U+200D) are replaced too. An emoji sequence is therefore shown as its visible members, which makes its
/// width equal on all terminals. Combining marks after the eighth on one character are replaced.
pub fn visible(text: &str) -> Cow<'_, str> {
    replace(text, |c| !matches!(c, '\n' | '\t') && is_unsafe(c))
}

/// Like [`visible`], for one line on the screen: line feeds become `␊`, carriage returns `␍`, and tabs become spaces up to
/// the next multiple of [`TAB_STOP`] columns from the start of `text`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    visible_from(text, 0)
}

/// Like [`visible_line`], for a piece that starts at the 0-based column `column` of its line. Tab stops count from column 0.
pub fn visible_from(text: &str, column: usize) -> Cow<'_, str> {
    if !text.contains('\t') {
        return replace(text, is_unsafe);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut column = column;
    for (index, part) in text.split('\t').enumerate() {
        if index > 0 {
            let gap = TAB_STOP - column % TAB_STOP;
            out.extend(std::iter::repeat_n(' ', gap));
            column += gap;
        }
        let part = replace(part, is_unsafe);
        column += super::width::columns(&part);
        out.push_str(&part);
    }
    Cow::Owned(out)
}

fn replace(text: &str, is_shown: impl Fn(char) -> bool) -> Cow<'_, str> {
    let (mut marks, mut before) = (0, ' ');
    let mut shown = |at: usize, c: char| {
        marks = if c.is_ascii() || c.width() != Some(0) { 0 } else { marks + 1 };
        let after = || text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        let is_lost = is_style(c) && !takes_style(before, after);
        before = c;
        marks > MAX_COMBINING_MARKS || is_lost || is_shown(c)
    };
    let mut out = String::new();
    let mut kept = 0;
    for (at, c) in text.char_indices() {
        if shown(at, c) {
            out.push_str(text.get(kept..at).unwrap_or_default());
            push_glyph(&mut out, c);
            kept = at + c.len_utf8();
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether `c` is a variation selector for text style (U+FE0E) or emoji style (U+FE0F).
fn is_style(c: char) -> bool {
    matches!(c, '\u{FE0E}' | '\u{FE0F}')
}

/// Whether a style selector has an effect after `c`. Elsewhere it is invisible and could hide in a name. Digits take one only
/// in a keycap sequence. Based on `emoji-variation-sequences.txt` of Unicode 16, widened to whole blocks.
fn takes_style(c: char, after: impl Fn() -> Option<char>) -> bool {
    match c {
        '0'..='9' | '#' | '*' => after() == Some('\u{20E3}'),
        _ => matches!(c,
            '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24C2}'
            | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{25A0}'..='\u{27BF}'
            | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' // arrows, technical, shapes, symbols, dingbats
            | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}'),
    }
}

fn push_glyph(out: &mut String, c: char) {
    let code = u32::from(c);
    let picture = match code {
        0..=0x1F => char::from_u32(0x2400 + code),
        0x7F => Some('␡'),
        _ => None,
    };
    match picture {
        Some(glyph) => out.push(glyph),
        None => out.push_str(&format!("<U+{code:04X}>")),
    }
}

/// Whether `c` must not reach the terminal unchanged: a control, a bidirectional control, a zero-width character, or a
/// character of a plane that can carry hidden text. Combining marks are safe, and so are the two style selectors where they
/// have an effect.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' // soft hyphen, grapheme joiner, Arabic letter mark
            | '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' // Hangul fillers: letters that draw nothing
            | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' // zero-width space, joiners, direction marks
            | '\u{2028}'..='\u{202E}' // line and paragraph separators, embeddings and overrides
            | '\u{2060}'..='\u{206F}' // word joiner, invisible operators, isolates
            | '\u{FE00}'..='\u{FE0D}' // variation selectors, except those for text and emoji style
            | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' // byte order mark, interlinear annotation
            | '\u{2800}' // empty Braille cell
            | '\u{13430}'..='\u{1345F}' | '\u{16FE4}' // controls of hieroglyphs, filler of Khitan
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}') // tags and variation selectors, which can encode hidden bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_escape_sequence_becomes_text() {
        assert_eq!(visible("a\x1b]0;owned\x07b"), "a␛]0;owned␇b");
        assert_eq!(visible("\u{9b}31m\x7f"), "<U+009B>31m␡");
    }

    #[test]
    fn hidden_characters_become_their_code_points() {
        assert_eq!(visible("user\u{202e}nimda"), "user<U+202E>nimda");
        assert_eq!(visible("x\u{200b}y\u{feff}z"), "x<U+200B>y<U+FEFF>z");
        assert_eq!(visible("\u{e0041}"), "<U+E0041>");
    }

    #[test]
    fn a_style_selector_without_effect_is_shown() {
        assert_eq!(
            visible("chec\u{fe0f}k \u{fe0e}x 1\u{fe0f} か\u{fe0f}"),
            "chec<U+FE0F>k <U+FE0E>x 1<U+FE0F> か<U+FE0F>"
        );
        assert_eq!(visible("⚠\u{fe0f}\u{fe0f}"), "⚠\u{fe0f}<U+FE0F>");
        for text in ["⚠\u{fe0f} ☺\u{fe0e}", "1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}", "🏳\u{fe0f} ▶\u{fe0f} ㊗\u{fe0f}"]
        {
            assert!(matches!(visible_line(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        assert_eq!(visible("a\u{2800}b\u{13430}\u{1345f}"), "a<U+2800>b<U+13430><U+1345F>");
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        for text in ["fn main() {\n\tx\n}", "naïve — 日本語 ⚠\u{fe0f} e\u{301}", ""] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
        }
        assert!(matches!(visible_line("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn a_line_has_no_line_ends_and_no_tabs() {
        assert_eq!(visible_line("a\r\nb\n"), "a␍␊b␊");
        assert_eq!(visible_line("\tx\ty"), "    x   y");
        assert_eq!(visible_line("日\t|"), "日  |");
        assert_eq!(visible_line("abcd\t|"), "abcd    |");
        assert_eq!(visible_from("\t|", 3), " |");
    }

    #[test]
    fn excessive_combining_marks_are_shown_and_ordinary_ones_are_kept() {
        let flood = format!("a{}b", "\u{301}".repeat(11));
        assert_eq!(visible(&flood), format!("a{}<U+0301><U+0301><U+0301>b", "\u{301}".repeat(8)));
        let vietnamese = "e\u{302}\u{301}".repeat(50);
        assert_eq!(visible_line(&vietnamese), vietnamese.as_str());
    }

    proptest! {
        #[test]
        fn no_output_can_control_the_terminal(text in any::<String>()) {
            prop_assert!(!visible(&text).chars().any(|c| is_unsafe(c) && c != '\n' && c != '\t'));
            prop_assert!(!visible_line(&text).chars().any(is_unsafe));
        }

        #[test]
        fn sanitising_is_idempotent(text in "[\\x00-\\xff\u{200b}\u{202e}a-z\t\n]*") {
            let once = visible_line(&text).into_owned();
            prop_assert_eq!(visible_line(&once), once.as_str());
        }
    }
}
