//! The lines of a file under review: where they stand in its texts, and what of a very long one is shown.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::tui::widget::diff_lines::Gutter;
use rhumb_edit::FileChange;
use rhumb_edit::review::{FileReview, ReviewHunk};
use rhumb_text::diff;
use rhumb_text::{byte_size, lines};

/// Longest line that is shown in whole, in bytes: a minified file must not fill the review.
const LONGEST: usize = 2_000;

/// Of a longer one: its beginning, and what stands around the beginning and the end of what changed, in bytes.
const BEGINNING: usize = 80;
const AROUND: usize = 200;

/// Which text a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    /// The base.
    Base,
    /// The proposed text.
    Proposed,
}

/// Where the lines of a file under review are, so that a row on the screen is found without reading the texts.
#[derive(Debug, Default)]
pub(super) struct FileLines {
    /// The numbers before the lines.
    pub(super) gutter: Gutter,
    /// The byte at which each line starts, and the end of the text.
    base: Vec<usize>,
    proposed: Vec<usize>,
    /// What changed in the lines that are not shown in whole, as byte ranges of them.
    changed: BTreeMap<(Side, usize), Range<usize>>,
}

impl FileLines {
    /// Reads both texts once.
    pub(super) fn new(file: &FileReview) -> Self {
        let starts = |text: Option<&str>| -> Vec<usize> {
            let mut end = 0;
            let ends = lines::split(text.unwrap_or_default()).into_iter().map(|line| {
                end += line.len();
                end
            });
            [0].into_iter().chain(ends).collect()
        };
        let (base, proposed) = (starts(file.base.as_deref()), starts(file.proposed.as_deref()));
        let count = |starts: &Vec<usize>| u32::try_from(starts.len() - 1).unwrap_or(u32::MAX);
        let gutter = match (&file.base, &file.proposed) {
            (None, Some(_)) => Gutter::proposed(count(&proposed)),
            (Some(_), None) => Gutter::base(count(&base)),
            _ => Gutter::unified(count(&base), count(&proposed)),
        };
        let mut places = Self { gutter, base, proposed, changed: BTreeMap::new() };
        if file.change == FileChange::Modify {
            file.hunks.iter().for_each(|item| places.look_into(file, item));
        }
        places
    }

    /// Finds what changed in the long lines of a hunk: the first that goes is held against the first that comes, and so on.
    fn look_into(&mut self, file: &FileReview, item: &ReviewHunk) {
        let long = |side, range: &Range<usize>| -> Vec<usize> {
            range.clone().filter(|line| self.body(file, side, *line).len() > LONGEST).collect()
        };
        let (old, new) = (long(Side::Base, &item.hunk.base), long(Side::Proposed, &item.hunk.proposed));
        for (old, new) in old.into_iter().zip(new) {
            let [removed, added] =
                diff::changed_part(self.body(file, Side::Base, old), self.body(file, Side::Proposed, new));
            self.changed.insert((Side::Base, old), removed);
            self.changed.insert((Side::Proposed, new), added);
        }
    }

    /// How many lines a text has.
    pub(super) fn count(&self, side: Side) -> usize {
        if side == Side::Base { self.base.len().saturating_sub(1) } else { self.proposed.len().saturating_sub(1) }
    }

    /// A line with its terminator, 0-based; empty beyond the end.
    pub(super) fn line<'a>(&self, file: &'a FileReview, side: Side, line: usize) -> &'a str {
        let (text, starts) = match side {
            Side::Base => (&file.base, &self.base),
            Side::Proposed => (&file.proposed, &self.proposed),
        };
        let range = starts.get(line).zip(starts.get(line.saturating_add(1)));
        range.and_then(|(start, end)| text.as_deref()?.get(*start..*end)).unwrap_or_default()
    }

    /// The same without its terminator.
    pub(super) fn body<'a>(&self, file: &'a FileReview, side: Side, line: usize) -> &'a str {
        lines::body(self.line(file, side, line))
    }

    /// What is shown of it.
    pub(super) fn shown<'a>(&self, file: &'a FileReview, side: Side, line: usize) -> Shown<'a> {
        Shown::new(self.body(file, side, line), self.changed.get(&(side, line)))
    }

    /// The removed and the added lines of a hunk, without their terminators.
    pub(super) fn of_hunk<'a>(&self, file: &'a FileReview, item: &ReviewHunk) -> [Vec<&'a str>; 2] {
        [
            item.hunk.base.clone().map(|line| self.body(file, Side::Base, line)).collect(),
            item.hunk.proposed.clone().map(|line| self.body(file, Side::Proposed, line)).collect(),
        ]
    }
}

/// A line as it is shown: in whole, or the parts of a very long one that matter. What is left out is told: nobody must accept a line
/// for its beginning.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    /// The text that is drawn.
    pub(super) text: Cow<'a, str>,
    /// The parts of the line in it, each with its first byte in the text.
    parts: Vec<(Range<usize>, usize)>,
    /// The words in the text that tell what is left out.
    pub(super) left_out: Vec<Range<usize>>,
}

impl<'a> Shown<'a> {
    /// A line of which nothing is known to have changed: if it is very long, its beginning.
    pub(super) fn head(body: &'a str) -> Self {
        Self::new(body, None)
    }

    fn new(body: &'a str, changed: Option<&Range<usize>>) -> Self {
        if body.len() <= LONGEST {
            let parts = vec![(0..body.len(), 0)];
            return Self { text: Cow::Borrowed(body), parts, left_out: Vec::new() };
        }
        let mut text = String::new();
        let (mut parts, mut left_out) = (Vec::new(), Vec::new());
        let mut done = 0;
        for part in parts_of(body, changed) {
            if part.start > done {
                let start = text.len();
                text.push_str(&told(done..part.start, changed, false));
                left_out.push(start..text.len());
            }
            parts.push((part.clone(), text.len()));
            done = part.end;
            text.push_str(&body[part]);
        }
        if done < body.len() {
            let start = text.len();
            text.push_str(&told(done..body.len(), changed, true));
            left_out.push(start..text.len());
        }
        Self { text: Cow::Owned(text), parts, left_out }
    }

    /// Where a range of the line stands in the text, as far as it is shown.
    pub(super) fn places(&self, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let range = range.clone();
        self.parts.iter().filter_map(move |(part, at)| {
            let (start, end) = (part.start.max(range.start), part.end.min(range.end));
            (start < end).then(|| start - part.start + at..end - part.start + at)
        })
    }
}

/// The parts of a long line that are shown, ascending and apart from each other: how it begins, and where its change begins and ends.
fn parts_of(body: &str, changed: Option<&Range<usize>>) -> Vec<Range<usize>> {
    let Range { start, end } = changed.cloned().unwrap_or(0..0);
    let first = start.saturating_sub(AROUND);
    // What is left by the beginning of the line and the end of the change.
    let most = LONGEST - BEGINNING - 2 * AROUND;
    let mut wanted = vec![0..BEGINNING, first..first + most];
    if changed.is_some() {
        wanted.push(end.saturating_sub(AROUND)..end + AROUND);
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    for part in wanted {
        let part = body.floor_char_boundary(part.start)..body.ceil_char_boundary(part.end.min(body.len()));
        match parts.last_mut() {
            // To tell what is left out takes as much room as a few more bytes.
            Some(last) if part.start <= last.end + BEGINNING => last.end = last.end.max(part.end),
            _ => parts.push(part),
        }
    }
    parts
}

/// What is told of the bytes of a line that are not shown.
fn told(missing: Range<usize>, changed: Option<&Range<usize>>, at_end: bool) -> String {
    let size = byte_size(missing.len() as u64);
    let more = if at_end { " more" } else { "" };
    let differs = changed.is_some_and(|changed| changed.start < missing.end && missing.start < changed.end);
    let what = if differs { ", which changed, too," } else { "" };
    let end = if at_end { "" } else { " ⋯ " };
    format!(" ⋯ {size}{more}{what} are not shown{end}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn line(before: usize, middle: &str, after: usize) -> (String, Range<usize>) {
        (format!("{}{middle}{}", "a".repeat(before), "z".repeat(after)), before..before + middle.len())
    }

    #[test]
    fn what_changed_in_a_long_line_is_shown_wherever_it_stands() {
        for (before, after) in [(0, 9_000), (100, 9_000), (5_000, 5_000), (9_000, 0)] {
            let (body, changed) = line(before, "hidden()", after);
            let shown = Shown::new(&body, Some(&changed));
            let place: Vec<Range<usize>> = shown.places(&changed).collect();
            assert_eq!(place.len(), 1, "{before} {after}");
            assert_eq!(&shown.text[place[0].clone()], "hidden()");
            assert!(shown.text.starts_with("aaaa") == (before > 0) && shown.text.len() < LONGEST + 200);
        }
    }

    #[test]
    fn how_a_long_change_ends_is_shown_and_what_is_left_out_of_it_is_told() {
        let (body, changed) = line(3_000, &format!("{};hidden()", "b".repeat(5_000)), 3_000);
        let shown = Shown::new(&body, Some(&changed));
        let told: Vec<&str> = shown.left_out.iter().map(|range| &shown.text[range.clone()]).collect();
        let expected = [
            " ⋯ 2720 bytes are not shown ⋯ ",
            " ⋯ 3489 bytes, which changed, too, are not shown ⋯ ",
            " ⋯ 2800 bytes more are not shown",
        ];
        assert_eq!(told, expected);
        assert!(shown.text.contains(";hidden()zzz"));
    }

    #[test]
    fn of_a_line_without_a_counterpart_the_beginning_is_shown() {
        let (body, _) = line(1_500, "é", 1_500);
        let shown = Shown::head(&body);
        assert_eq!(shown.parts, [(0..1_520, 0)]);
        assert!(shown.text.ends_with(" ⋯ 1482 bytes more are not shown"), "{}", shown.text);
    }

    proptest! {
        #[test]
        fn all_of_a_line_is_shown_or_counted(body in "[aé€]{600,1200}", start in 0_usize..3_000, length in 0_usize..3_000) {
            let start = body.floor_char_boundary(start);
            let changed = start..body.floor_char_boundary(start + length);
            let shown = Shown::new(&body, Some(&changed));
            let mut done = 0;
            for (part, at) in &shown.parts {
                prop_assert!(part.start >= done);
                prop_assert_eq!(&body[part.clone()], &shown.text[*at..at + part.len()]);
                done = part.end;
            }
            prop_assert_eq!(shown.left_out.is_empty(), shown.parts.iter().map(|(part, _)| part.len()).sum::<usize>() == body.len());
            prop_assert!(shown.text.len() <= LONGEST + 4 * BEGINNING + 200, "{}", shown.text.len());
        }

        #[test]
        fn a_line_is_found_where_a_scan_finds_it(base in "[a\r\né]{0,40}", proposed in "[a\r\né]{0,40}") {
            let file = FileReview {
                path: "a".into(),
                stored_at: None,
                change: FileChange::Modify,
                base: Some(Arc::from(base.as_str())),
                proposed: Some(Arc::from(proposed.as_str())),
                hunks: Vec::new(),
                comment: String::new(),
            };
            let places = FileLines::new(&file);
            for line in 0..44 {
                for (side, text) in [(Side::Base, &base), (Side::Proposed, &proposed)] {
                    let scanned = text.split_inclusive('\n').nth(line).unwrap_or_default();
                    prop_assert_eq!(places.line(&file, side, line), scanned);
                }
            }
        }
    }
}
