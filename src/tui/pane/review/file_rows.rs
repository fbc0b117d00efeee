//! The rows of one file under review: its hunks with the unchanged lines around them, unified or side by side.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::file_lines::{FileLines, Shown, Side};
use super::rows::{Row, View};
use crate::tui::widget::diff_lines::{Gutter, height};
use rhumb_edit::review::{CommentTarget, FileReview, HunkId, ReviewHunk};
use rhumb_edit::{FileChange, Outcome};
use rhumb_text::diff;
use rhumb_text::{sanitize, wrap};

/// Unchanged lines shown around a hunk.
const CONTEXT: usize = 3;

/// Columns before a row: where the cursor is, and what was said of the line.
pub(super) const MARGIN: u16 = 2;

/// What the user wants to see of a hunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct HunkPlan {
    /// Only its heading.
    pub(super) folded: bool,
    /// So many more unchanged lines above it.
    pub(super) before: usize,
    /// And below it.
    pub(super) after: usize,
}

/// What the user wants to see of each hunk of a file.
pub(super) type Plan = Vec<HunkPlan>;

/// Tells whether the rows of a file must be made anew. The texts are compared apart. Never 0.
pub(super) fn revision(index: usize, file: &FileReview, plan: &Plan, view: View) -> u64 {
    let mut hasher = DefaultHasher::new();
    (index, view, plan, &file.comment).hash(&mut hasher);
    for item in &file.hunks {
        (&item.hunk, item.original().is_some()).hash(&mut hasher);
        item.comments().for_each(|comment| comment.hash(&mut hasher));
    }
    hasher.finish().max(1)
}

/// The rows of a file with the lines of the screen that each takes.
pub(super) fn measured(
    index: usize,
    file: &FileReview,
    lines: &FileLines,
    plan: &Plan,
    view: View,
) -> Vec<(Row, usize)> {
    let sides = view.sides && has_sides(file);
    let measure = Measure { file, lines, columns: view.columns.saturating_sub(MARGIN), sides };
    rows(index, file, lines, plan, sides).into_iter().map(|row| (row, measure.height(row))).collect()
}

/// Whether a file has something to show on both sides.
pub(super) fn has_sides(file: &FileReview) -> bool {
    file.change == FileChange::Modify
        && file.base.as_deref().is_some_and(|base| !base.is_empty())
        && file.proposed.is_some()
}

/// The rows of a file.
pub(super) fn rows(index: usize, file: &FileReview, lines: &FileLines, plan: &Plan, sides: bool) -> Vec<Row> {
    let mut maker = Maker { index, file, lines, sides, rows: vec![Row::File(index)] };
    if !file.comment.is_empty() {
        maker.rows.push(Row::Note(CommentTarget::File(index)));
    }
    let plan_of = |hunk: usize| plan.get(hunk).copied().unwrap_or_default();
    let total = lines.count(Side::Base);
    // Lines of the base up to which all has been shown.
    let mut done = 0;
    for (number, item) in file.hunks.iter().enumerate() {
        let own = plan_of(number);
        let before_is_folded = number > 0 && plan_of(number - 1).folded;
        let start = item.hunk.base.start;
        let room = start.saturating_sub(done);
        let lead = if own.folded { 0 } else { shown_of(room, CONTEXT + own.before) };
        let id = HunkId { file: index, hunk: number };
        // Between two folded hunks nobody looks for what is not shown.
        let told = !own.folded || (number > 0 && !before_is_folded);
        if room > lead && told {
            maker.rows.push(Row::Gap { id, above: true, lines: room - lead });
        }
        maker.rows.push(Row::Hunk { id, folded: own.folded });
        done = item.hunk.base.end;
        if own.folded {
            continue;
        }
        maker.note(id, None);
        maker.kept(id, item, start - lead..start);
        maker.changed(id, item);
        let next = file.hunks.get(number + 1).map_or(total, |next| next.hunk.base.start);
        // Lines between two close hunks belong to the first; they are not shown twice.
        let tail = shown_of(next.saturating_sub(done), CONTEXT + own.after);
        maker.kept(id, item, done..done + tail);
        done += tail;
    }
    if let Some(last) = file.hunks.len().checked_sub(1).filter(|last| done < total && !plan_of(*last).folded) {
        let id = HunkId { file: index, hunk: last };
        maker.rows.push(Row::Gap { id, above: false, lines: total - done });
    }
    maker.rows.push(Row::Blank);
    maker.rows
}

/// How many of the unchanged lines are shown if so many are wanted. A single line takes no more room than the word that it is
/// not shown.
fn shown_of(all: usize, wanted: usize) -> usize {
    if all <= wanted + 1 { all } else { wanted }
}

struct Maker<'a> {
    index: usize,
    file: &'a FileReview,
    lines: &'a FileLines,
    sides: bool,
    rows: Vec<Row>,
}

impl Maker<'_> {
    fn note(&mut self, id: HunkId, line: Option<usize>) {
        let item = self.file.hunks.get(id.hunk);
        if item.is_some_and(|item| item.comment(line).is_some()) {
            self.rows.push(Row::Note(line.map_or(CommentTarget::Hunk(id), |line| CommentTarget::Line(id, line))));
        }
    }

    fn kept(&mut self, id: HunkId, item: &ReviewHunk, range: std::ops::Range<usize>) {
        for base in range {
            let proposed = if base < item.hunk.base.start {
                (base + item.hunk.proposed.start).saturating_sub(item.hunk.base.start)
            } else {
                base - item.hunk.base.end + item.hunk.proposed.end
            };
            self.rows.push(Row::Kept { id, base, proposed });
            self.end_of(id, Side::Base, base);
        }
    }

    fn changed(&mut self, id: HunkId, item: &ReviewHunk) {
        let count = item.hunk.base.len();
        for (removed, added) in self.lines_of(item) {
            self.rows.push(Row::Changed { id, removed, added });
            if let Some(line) = removed {
                self.end_of(id, Side::Base, item.hunk.base.start + line);
                self.note(id, Some(line));
            }
            if let Some(line) = added {
                self.end_of(id, Side::Proposed, item.hunk.proposed.start + line);
                self.note(id, Some(count + line));
            }
        }
    }

    /// The lines of a hunk as they stand: removed ones above added ones, or each beside its new version.
    fn lines_of(&self, item: &ReviewHunk) -> Vec<(Option<usize>, Option<usize>)> {
        let (old, new) = (item.hunk.base.len(), item.hunk.proposed.len());
        if !self.sides {
            return (0..old).map(|line| (Some(line), None)).chain((0..new).map(|line| (None, Some(line)))).collect();
        }
        let [removed, added] = self.lines.of_hunk(self.file, item);
        let mut rows = Vec::with_capacity(old.max(new));
        let (mut i, mut j) = (0, 0);
        for (at, to) in diff::pairs(&removed, &added).into_iter().chain([(old, new)]) {
            // What has no counterpart stands side by side as it comes.
            while i < at || j < to {
                rows.push(((i < at).then_some(i), (j < to).then_some(j)));
                i = at.min(i + 1);
                j = to.min(j + 1);
            }
            if at < old {
                rows.push((Some(at), Some(to)));
            }
            (i, j) = (at + 1, to + 1);
        }
        rows
    }

    /// Says so where the last line of a text has no newline.
    fn end_of(&mut self, id: HunkId, side: Side, line: usize) {
        let text = self.lines.line(self.file, side, line);
        if !text.is_empty() && !text.ends_with('\n') {
            debug_assert_eq!(id.file, self.index);
            self.rows.push(Row::NoNewline(id));
        }
    }
}

/// Measures rows.
struct Measure<'a> {
    file: &'a FileReview,
    lines: &'a FileLines,
    columns: u16,
    sides: bool,
}

impl Measure<'_> {
    fn height(&self, row: Row) -> usize {
        match row {
            Row::Note(place) => note_parts(self.comment(place), self.columns).len(),
            Row::Kept { base, .. } => self.of([Some(base), None]),
            Row::Changed { id, removed, added } => {
                let Some(item) = self.file.hunks.get(id.hunk) else { return 1 };
                self.of([
                    removed.map(|line| item.hunk.base.start + line),
                    added.map(|line| item.hunk.proposed.start + line),
                ])
            }
            _ => 1,
        }
    }

    fn of(&self, [base, proposed]: [Option<usize>; 2]) -> usize {
        let height = |side, line: Option<usize>| {
            let body = self.lines.shown(self.file, side, line?).text;
            let (gutter, columns) = if self.sides {
                half(self.lines.gutter, side, self.columns)
            } else {
                (self.lines.gutter, self.columns)
            };
            let room = usize::from(columns).saturating_sub(gutter.columns());
            // Most lines are short and plain.
            let short = body.len() <= room && body.bytes().all(|byte| (b' '..0x7f).contains(&byte));
            Some(if short { 1 } else { height(&body, gutter, columns) })
        };
        height(Side::Base, base).max(height(Side::Proposed, proposed)).unwrap_or(1)
    }

    fn comment(&self, place: CommentTarget) -> &str {
        match place {
            CommentTarget::File(_) => &self.file.comment,
            CommentTarget::Hunk(id) => {
                self.file.hunks.get(id.hunk).and_then(|item| item.comment(None)).unwrap_or_default()
            }
            CommentTarget::Line(id, line) => {
                self.file.hunks.get(id.hunk).and_then(|item| item.comment(Some(line))).unwrap_or_default()
            }
        }
    }
}

/// The numbers and the columns of one half, side by side. Between the halves stands a rule of one column.
pub(super) fn half(gutter: Gutter, side: Side, columns: u16) -> (Gutter, u16) {
    let left = columns.saturating_sub(1) / 2;
    match side {
        Side::Base => (Gutter { proposed: 0, ..gutter }, left),
        Side::Proposed => (Gutter { base: 0, ..gutter }, columns.saturating_sub(1) - left),
    }
}

/// What is told of an edit without a place, below its heading: the reason and what it quoted.
pub(super) fn refused_text(outcome: &Outcome) -> Vec<String> {
    let reason = outcome.reason.lines().map(str::to_owned);
    let quote = outcome.quote.lines().map(|line| format!("- {line}"));
    let replacement = outcome.replacement.lines().map(|line| format!("+ {line}"));
    reason.chain(quote).chain(replacement).collect()
}

/// A line of what is told of an edit without a place, cut into lines of the screen.
pub(super) fn refused_parts(line: &str, columns: u16) -> Vec<String> {
    let safe = sanitize::visible_line(&Shown::head(line).text).into_owned();
    let room = usize::from(columns.saturating_sub(4)).max(1);
    let code = safe.starts_with(['-', '+']);
    let pieces = if code { wrap::hard_wrap(&safe, room) } else { wrap::wrap(&safe, room) };
    let parts: Vec<String> = pieces.into_iter().map(|range| safe[range].to_owned()).collect();
    if parts.is_empty() { vec![String::new()] } else { parts }
}

/// A comment, cut into lines of the screen.
pub(super) fn note_parts(text: &str, columns: u16) -> Vec<String> {
    let room = usize::from(columns.saturating_sub(6)).max(1);
    let mut parts = Vec::new();
    for line in text.lines() {
        let safe = sanitize::visible_line(&Shown::head(line).text).into_owned();
        let pieces = wrap::wrap(&safe, room);
        if pieces.is_empty() {
            parts.push(String::new());
        }
        parts.extend(pieces.into_iter().map(|range| safe[range].to_owned()));
    }
    if parts.is_empty() { vec![String::new()] } else { parts }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn file(base: &str, proposed: &str) -> FileReview {
        let (base, proposed) = (Some(Arc::from(base)), Some(Arc::from(proposed)));
        FileReview::new("a".into(), FileChange::Modify, base, proposed, |_| Vec::new()).unwrap()
    }

    fn drawn(file: &FileReview, plan: &Plan, sides: bool) -> Vec<String> {
        let lines = FileLines::new(file);
        let body = |side, line| lines.body(file, side, line).to_owned();
        let text = |row: Row| match row {
            Row::Gap { lines, .. } => format!("⋯ {lines}"),
            Row::Hunk { folded, .. } => if folded { "folded" } else { "hunk" }.to_owned(),
            Row::Kept { base, .. } => body(Side::Base, base),
            Row::Changed { id, removed, added } => {
                let hunk = &file.hunks[id.hunk].hunk;
                let old = removed.map(|line| format!("-{}", body(Side::Base, hunk.base.start + line)));
                let new = added.map(|line| format!("+{}", body(Side::Proposed, hunk.proposed.start + line)));
                [old, new].into_iter().flatten().collect::<Vec<_>>().join("|")
            }
            Row::NoNewline(_) => "no newline".into(),
            Row::Note(_) => "note".into(),
            Row::File(_) => "file".into(),
            _ => String::new(),
        };
        rows(0, file, &lines, plan, sides).into_iter().map(text).filter(|text| !text.is_empty()).collect()
    }

    fn numbered(count: usize, changed: &[usize]) -> FileReview {
        let line = |n: usize| format!("{n}\n");
        let other = |n: usize| if changed.contains(&n) { format!("new {n}\n") } else { line(n) };
        file(&(0..count).map(line).collect::<String>(), &(0..count).map(other).collect::<String>())
    }

    #[test]
    fn what_is_not_shown_between_hunks_is_counted() {
        let rows = drawn(&numbered(30, &[5, 20]), &Vec::new(), false);
        let expected = [
            "file", "⋯ 2", "hunk", "2", "3", "4", "-5", "+new 5", "6", "7", "8", "⋯ 8", "hunk", "17", "18", "19",
            "-20", "+new 20", "21", "22", "23", "⋯ 6",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_single_line_is_shown_rather_than_counted() {
        let rows = drawn(&numbered(14, &[4, 12]), &Vec::new(), false);
        assert!(!rows.iter().any(|row| row.starts_with('⋯')), "{rows:?}");
    }

    #[test]
    fn folded_hunks_take_one_row_and_nothing_is_told_between_them() {
        let folded = HunkPlan { folded: true, ..HunkPlan::default() };
        let rows = drawn(&numbered(40, &[5, 20, 30]), &vec![folded, folded, HunkPlan::default()], false);
        let expected =
            ["file", "folded", "folded", "⋯ 6", "hunk", "27", "28", "29", "-30", "+new 30", "31", "32", "33", "⋯ 6"];
        assert_eq!(rows, expected);
    }

    #[test]
    fn more_lines_can_be_shown_around_a_hunk() {
        let more = HunkPlan { before: 10, after: 2, ..HunkPlan::default() };
        let rows = drawn(&numbered(40, &[20]), &vec![more], false);
        assert_eq!((rows[1].as_str(), rows[3].as_str(), rows.last().unwrap().as_str()), ("⋯ 7", "7", "⋯ 14"));
    }

    #[test]
    fn side_by_side_a_line_stands_beside_its_new_version() {
        let file = file("x\nlet a = one();\nlet b = two();\n", "x\n// first\nlet a = one(1);\nlet b = two(2);\n");
        let rows = drawn(&file, &Vec::new(), true);
        let changed = ["+// first", "-let a = one();|+let a = one(1);", "-let b = two();|+let b = two(2);"];
        assert_eq!(rows[3..], changed);
    }

    proptest! {
        #[test]
        fn no_line_is_lost_side_by_side(base in "([abc ]{0,6}\n){1,12}", proposed in "([abc ]{0,6}\n){0,12}") {
            prop_assume!(base != proposed);
            let file = file(&base, &proposed);
            let lines = FileLines::new(&file);
            let all = rows(0, &file, &lines, &Vec::new(), true);
            for (number, item) in file.hunks.iter().enumerate() {
                let own = all.iter().filter(|row| row.hunk().is_some_and(|id| id.hunk == number));
                let (mut old, mut new) = (Vec::new(), Vec::new());
                for row in own {
                    if let Row::Changed { removed, added, .. } = row {
                        old.extend(*removed);
                        new.extend(*added);
                    }
                }
                prop_assert_eq!(old, (0..item.hunk.base.len()).collect::<Vec<_>>());
                prop_assert_eq!(new, (0..item.hunk.proposed.len()).collect::<Vec<_>>());
            }
        }
    }
}
