//! Word wrapping of one line into byte ranges, so that styles and marks can be cut at the same positions.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::width;

/// Splits `line` (text without line feeds) into pieces of at most `columns` columns, as byte ranges in order.
///
/// Breaks at white space, which is dropped at a break, and between wide characters (CJK text has no spaces). A word that is
/// longer than the line is cut between graphemes. Leading white space of the line is kept as indentation. Returns at least
/// one range. `columns` of 0 counts as 1; a grapheme that is wider than the line gets a piece to itself.
pub fn wrap(line: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    let mut wrapping = Wrapping { columns, ..Wrapping::default() };
    for (at, cluster) in line.grapheme_indices(true) {
        wrapping.place(at, cluster);
    }
    wrapping.finish()
}

/// Like [`wrap`], for a line of a table: the text after the last run of two or more spaces is a column, and its continuation
/// lines are indented to it. Equals [`wrap`] if there is no such run or the column would get less than a third of the width.
pub fn hanging(line: &str, columns: usize) -> Vec<String> {
    let body = line.trim_start();
    let lead = line.len() - body.len();
    let gap = body.rfind("  ").map_or(0, |at| lead + at + 2);
    let (head, tail) = line.split_at(gap);
    let indent = width::columns(head);
    let available = columns.saturating_sub(indent);
    if indent == 0 || available * 3 < columns {
        return wrap(line, columns).into_iter().map(|piece| line[piece].to_owned()).collect();
    }
    let pieces = wrap(tail, available).into_iter().enumerate();
    pieces
        .map(|(at, piece)| match at {
            0 => format!("{head}{}", &tail[piece]),
            _ => format!("{}{}", " ".repeat(indent), &tail[piece]),
        })
        .collect()
}

/// Splits `line` into pieces of `columns` columns, cut between any two graphemes. The pieces cover every byte: for code,
/// where white space matters. The limits are those of [`wrap`].
pub fn hard_wrap(line: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    let (mut pieces, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, cluster) in line.grapheme_indices(true) {
        let wide = width::grapheme(cluster);
        if used + wide > columns && at > start {
            pieces.push(start..at);
            (start, used) = (at, 0);
        }
        used += wide;
    }
    pieces.push(start..line.len());
    pieces
}

/// The state between two graphemes. Positions are bytes, widths are columns.
#[derive(Default)]
struct Wrapping {
    columns: usize,
    pieces: Vec<Range<usize>>,
    /// The start of the current piece, and the end of its last visible character.
    start: usize,
    end: usize,
    /// Columns from `start` to the current grapheme.
    used: usize,
    /// The last possible break: the end of the text before it, the start of the text after it, the columns up to that start.
    last_break: Option<(usize, usize, usize)>,
    /// Whether the previous grapheme was white space or wide, and whether the piece already has visible text.
    after_space: bool,
    after_wide: bool,
    has_text: bool,
}

impl Wrapping {
    fn place(&mut self, at: usize, cluster: &str) {
        let wide = width::grapheme(cluster);
        if is_space(cluster) {
            self.used += wide;
            self.after_space = true;
            return;
        }
        let opportunity = self.after_space || (wide > 1 && self.after_wide);
        if self.has_text && opportunity {
            self.last_break = Some((self.end, at, self.used));
        }
        if self.used + wide > self.columns {
            self.break_before(at);
        }
        // The text after a break may itself fill the line, or be a single mark of no width.
        if self.used + wide > self.columns && (self.used > 0 || self.has_text) {
            self.cut_at(at);
        }
        self.used += wide;
        self.end = at + cluster.len();
        (self.after_space, self.after_wide, self.has_text) = (false, wide > 1, true);
    }

    fn break_before(&mut self, at: usize) {
        match self.last_break.take() {
            Some((end, next, columns)) => {
                self.pieces.push(self.start..end);
                self.start = next;
                self.used -= columns;
                self.has_text = next < at;
            }
            None => self.cut_at(at),
        }
    }

    /// Ends the piece at `at`, where no better break exists. Indentation that alone fills the line is dropped.
    fn cut_at(&mut self, at: usize) {
        if self.has_text {
            self.pieces.push(self.start..self.end);
        }
        self.start = at;
        self.used = 0;
        self.has_text = false;
    }

    fn finish(mut self) -> Vec<Range<usize>> {
        if self.has_text {
            self.pieces.push(self.start..self.end);
        }
        if self.pieces.is_empty() {
            self.pieces.push(0..0);
        }
        self.pieces
    }
}

/// Whether a line may break at this white space. It may not at a no-break space.
fn is_space(cluster: &str) -> bool {
    cluster.chars().all(|c| c.is_whitespace() && !matches!(c, '\u{A0}' | '\u{2007}' | '\u{202F}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrapped(line: &str, columns: usize) -> Vec<&str> {
        wrap(line, columns).into_iter().map(|piece| &line[piece]).collect()
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(wrapped("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrapped("ab cd", 2), ["ab", "cd"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("   ", 2), [""]);
    }

    #[test]
    fn a_long_word_is_cut() {
        assert_eq!(wrapped("go abcdefghij ok", 4), ["go", "abcd", "efgh", "ij", "ok"]);
        assert_eq!(wrapped("aa日本語日", 4), ["aa日", "本語", "日"]);
    }

    #[test]
    fn indentation_stays_and_other_breaks_drop_their_space() {
        assert_eq!(wrapped("  two   words", 7), ["  two", "words"]);
        assert_eq!(wrapped("      word", 4), ["word"]);
        assert_eq!(wrapped("10\u{a0}km away", 6), ["10\u{a0}km", "away"]);
    }

    #[test]
    fn a_column_continues_below_its_start() {
        assert_eq!(hanging("  y  take this one", 14), ["  y  take this", "     one"]);
        assert_eq!(hanging("no columns here", 10), ["no columns", "here"]);
        assert_eq!(hanging("a long first column  x y", 12), wrapped("a long first column  x y", 12));
    }

    #[test]
    fn wide_text_breaks_anywhere_and_never_overflows() {
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("日本語", 3), ["日", "本", "語"]);
        assert_eq!(wrapped("日", 1), ["日"]);
        assert_eq!(wrapped("a\t\u{301}\t\u{301}日", 1).last(), Some(&"日"));
    }

    proptest! {
        #[test]
        fn every_piece_fits_and_no_text_is_lost(line in "[a-c 日é\u{301}🧭\u{a0}\t.]{0,60}", columns in 1usize..16) {
            let pieces = wrap(&line, columns);
            let mut at = 0;
            for piece in &pieces {
                prop_assert!(piece.start >= at && piece.end >= piece.start);
                prop_assert!(is_space(&line[at..piece.start]), "lost {:?}", &line[at..piece.start]);
                let text = &line[piece.clone()];
                prop_assert!(width::columns(text) <= columns || text.graphemes(true).count() == 1);
                at = piece.end;
            }
            prop_assert!(is_space(&line[at..]));
            let hard = hard_wrap(&line, columns);
            prop_assert_eq!(hard.iter().map(|piece| &line[piece.clone()]).collect::<String>(), line.as_str());
            for piece in hard {
                let text = &line[piece];
                prop_assert!(width::columns(text) <= columns || text.graphemes(true).count() == 1);
            }
        }

        #[test]
        fn any_text_wraps(line in any::<String>(), columns in 0usize..9) {
            prop_assert!(!wrap(&line, columns).is_empty());
            prop_assert!(!hard_wrap(&line, columns).is_empty());
            prop_assert!(!hanging(&line, columns).is_empty());
        }
    }
}
