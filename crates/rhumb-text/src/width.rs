//! The width of a text in terminal columns, and clipping it without splitting a grapheme.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Marks where text was cut.
pub const ELLIPSIS: &str = "…";

/// The width of `text` in columns. Graphemes are counted one by one, because the screen is filled that way: in scripts that
/// join letters, the width of a whole string can differ. A control counts as one column; sanitise the text first.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme).sum()
}

/// The width of one grapheme cluster in columns.
pub(crate) fn grapheme(cluster: &str) -> usize {
    // Unicode lists the halfwidth sound marks as combining, but terminals draw each in its own column.
    let marks = || cluster.chars().filter(|c| matches!(c, '\u{FF9E}' | '\u{FF9F}')).count();
    if cluster.len() == 1 { 1 } else { cluster.width() + marks() }
}

/// `text` in at most `max_columns` columns. If it does not fit, its start with a final `…`. Empty for 0 columns.
pub fn clip(text: &str, max_columns: usize) -> Cow<'_, str> {
    if columns(text) <= max_columns {
        return Cow::Borrowed(text);
    }
    let Some(available) = max_columns.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let end = fitting(text.grapheme_indices(true).map(|(at, cluster)| (at + cluster.len(), cluster)), available);
    Cow::Owned([text.get(..end.unwrap_or(0)).unwrap_or(""), ELLIPSIS].concat())
}

/// `text` without the graphemes in its first `columns` columns, and the number of columns removed.
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

/// Like [`clip`], but keeps the end of `text` after an initial `…`. Suits paths, whose last part matters most.
pub fn clip_start(text: &str, max_columns: usize) -> Cow<'_, str> {
    if columns(text) <= max_columns {
        return Cow::Borrowed(text);
    }
    let Some(available) = max_columns.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let start = fitting(text.grapheme_indices(true).rev(), available);
    Cow::Owned([ELLIPSIS, text.get(start.unwrap_or(text.len())..).unwrap_or("")].concat())
}

/// The byte position after the last of the clusters, in order, that fit in `columns` columns together.
fn fitting<'a>(clusters: impl Iterator<Item = (usize, &'a str)>, columns: usize) -> Option<usize> {
    clusters
        .scan(0usize, |used, (at, cluster)| {
            *used += grapheme(cluster);
            (*used <= columns).then_some(at)
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
        fn a_clip_fits_and_consists_of_whole_graphemes(text in any::<String>(), max in 0usize..20) {
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
