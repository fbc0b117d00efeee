//! How many terminal columns a text takes, and cutting it to fit without splitting a character.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The mark where text was cut.
pub const ELLIPSIS: &str = "…";

/// Columns that `text` takes. Counted grapheme by grapheme, because that is how the screen is filled: the width of a
/// whole string can differ where a script joins letters across graphemes. Controls count as one column; sanitise first.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme).sum()
}

/// Columns of one grapheme cluster.
pub(crate) fn grapheme(cluster: &str) -> usize {
    // Halfwidth sound marks combine by property, yet terminals give each a column of its own.
    let marks = || cluster.chars().filter(|c| matches!(c, '\u{FF9E}' | '\u{FF9F}')).count();
    if cluster.len() == 1 { 1 } else { cluster.width() + marks() }
}

/// `text` in at most `max_columns` columns: whole if it fits, else its start with `…` at the end. Empty for 0 columns.
pub fn clip(text: &str, max_columns: usize) -> Cow<'_, str> {
    if columns(text) <= max_columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = max_columns.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let end = fitting(text.grapheme_indices(true).map(|(at, cluster)| (at + cluster.len(), cluster)), room);
    Cow::Owned([text.get(..end.unwrap_or(0)).unwrap_or(""), ELLIPSIS].concat())
}

/// `text` without the graphemes in its first `columns` columns, and how many columns these took.
pub fn skip(text: &str, columns: usize) -> (&str, usize) {
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        if used >= columns {
            return (text.get(at..).unwrap_or(""), used);
        }
        used += self::columns(cluster);
    }
    ("", used)
}

/// As [`clip`], but the end of `text` is kept and `…` stands at the start: for paths, whose last part tells most.
pub fn clip_start(text: &str, max_columns: usize) -> Cow<'_, str> {
    if columns(text) <= max_columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = max_columns.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let start = fitting(text.grapheme_indices(true).rev(), room);
    Cow::Owned([ELLIPSIS, text.get(start.unwrap_or(text.len())..).unwrap_or("")].concat())
}

/// The last position, of the clusters in order, up to which they fit in `room` columns together.
fn fitting<'a>(clusters: impl Iterator<Item = (usize, &'a str)>, room: usize) -> Option<usize> {
    clusters
        .scan(0usize, |used, (at, cluster)| {
            *used += grapheme(cluster);
            (*used <= room).then_some(at)
        })
        .last()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("abc"), 3);
        assert_eq!(columns("日本"), 4);
        assert_eq!(columns("e\u{301}"), 1);
        assert_eq!(columns("🧭"), 2);
    }

    #[test]
    fn clipping_marks_the_cut() {
        assert_eq!(clip("harbour", 7), "harbour");
        assert_eq!(clip("harbour", 4), "har…");
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(clip("harbour", 1), "…");
        assert_eq!(clip("harbour", 0), "");
    }

    #[test]
    fn clipping_the_start_keeps_the_file_name() {
        assert_eq!(clip_start("src/tui/mod.rs", 7), "…mod.rs");
        assert_eq!(clip_start("日本語", 4), "…語");
        assert_eq!(clip_start("ab", 0), "");
    }

    proptest! {
        #[test]
        fn a_clip_fits_and_is_made_of_whole_graphemes(text in any::<String>(), max in 0usize..20) {
            for cut in [clip(&text, max), clip_start(&text, max)] {
                prop_assert!(columns(&cut) <= max);
            }
            let start = clip(&text, max);
            if let Some(kept) = start.strip_suffix(ELLIPSIS).filter(|_| start != text) {
                prop_assert!(text.grapheme_indices(true).any(|(at, _)| at == kept.len()));
            }
        }
    }
}
