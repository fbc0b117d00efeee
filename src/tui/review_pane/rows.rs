//! The rows of the review pane and the number of screen lines of each: hunks with their context, unified or side by side.
//! They are computed per file, and only for files that changed, so that a move or a decision is cheap.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rhumb_edit::review::{CommentTarget, FileReview, HunkId, Review, ReviewHunk};
use rhumb_edit::{FileChange, Outcome};
use rhumb_text::{byte_size, diff};

use crate::tui::prelude::*;
use crate::tui::widget::diff_lines::{Gutter, height};

/// A row that the cursor can select, or a separator between two rows. A long line is one row on several lines of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Blank,
    Refused(usize),
    /// A line of an unplaced edit.
    RefusedText(usize, usize),
    File(usize),
    Note(CommentTarget),
    /// Omitted unchanged lines.
    Gap {
        /// The hunk beside them.
        id: HunkId,
        /// Whether they are above it; otherwise between it and the end of the file.
        above: bool,
        lines: usize,
    },
    Hunk {
        id: HunkId,
        folded: bool,
    },
    /// An unchanged line near a hunk.
    Kept {
        id: HunkId,
        /// The line in the base text, 0-based.
        base: usize,
        proposed: usize,
    },
    /// A line of a hunk; side by side, a removed line and its added line. Both are 0-based.
    Changed {
        id: HunkId,
        removed: Option<usize>,
        added: Option<usize>,
    },
    /// A note that the last line of a text has no newline.
    NoNewline(HunkId),
}

impl Row {
    pub fn hunk(self) -> Option<HunkId> {
        match self {
            Self::Hunk { id, .. } | Self::Kept { id, .. } | Self::Changed { id, .. } | Self::NoNewline(id) => Some(id),
            Self::Note(CommentTarget::Hunk(id) | CommentTarget::Line(id, _)) => Some(id),
            _ => None,
        }
    }

    pub fn file(self) -> Option<usize> {
        match self {
            Self::File(file) | Self::Note(CommentTarget::File(file)) => Some(file),
            Self::Gap { id, .. } => Some(id.file),
            other => other.hunk().map(|id| id.file),
        }
    }

    pub fn refused(self) -> Option<usize> {
        match self {
            Self::Refused(index) | Self::RefusedText(index, _) => Some(index),
            _ => None,
        }
    }

    pub fn is_stop(self) -> bool {
        !matches!(self, Self::Blank | Self::NoNewline(_))
    }

    /// Whether it shows a change. Such a row must be visible when its hunk is decided.
    pub fn shows_change(self) -> bool {
        matches!(self, Self::Hunk { .. } | Self::Changed { .. })
    }

    /// Whether this row corresponds to a row from before an update.
    fn stands_for(self, other: Self) -> bool {
        match (self, other) {
            (Self::Hunk { id, .. }, Self::Hunk { id: before, .. }) => id == before,
            (Self::Gap { id, above, .. }, Self::Gap { id: before, above: was_above, .. }) => {
                (id, above) == (before, was_above)
            }
            (Self::Kept { id, base, .. }, Self::Kept { id: before, base: line, .. }) => {
                (id.file, base) == (before.file, line)
            }
            (Self::Changed { id, removed, added }, Self::Changed { id: before, removed: old, added: new }) => {
                id == before && (removed.is_some() && removed == old || added.is_some() && added == new)
            }
            (one, other) => one == other,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct View {
    pub columns: u16,
    pub sides: bool,
}

#[derive(Debug, Default)]
pub(super) struct Block {
    /// Identifies the input of the rows.
    revision: u64,
    /// The texts of the rows. They are held, so that pointer comparison is reliable.
    texts: [Option<Arc<str>>; 2],
    rows: Vec<Row>,
    /// The first screen line of each row within the block, and the end.
    starts: Vec<usize>,
    lines: FileLines,
}

impl Block {
    fn new(revision: u64, texts: [Option<Arc<str>>; 2], rows: Vec<(Row, usize)>, lines: FileLines) -> Self {
        let mut end = 0;
        let mut starts = Vec::with_capacity(rows.len() + 1);
        for (_, height) in &rows {
            starts.push(end);
            end += height;
        }
        starts.push(end);
        Self { revision, texts, rows: rows.into_iter().map(|(row, _)| row).collect(), starts, lines }
    }

    fn height(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }
}

#[derive(Debug, Default)]
pub struct Rows {
    pub view: View,
    /// The unplaced edits, then each file.
    blocks: Vec<Block>,
    /// The first row and the first screen line of each block, and the ends.
    starts: Vec<(usize, usize)>,
    /// Number of computed blocks, which is the revision of the rows.
    pub made: usize,
}

impl Rows {
    /// Recomputes the rows of changed files. `plan` returns the view options of a file.
    pub(super) fn refresh(&mut self, review: &Review, view: View, plan: impl Fn(usize) -> Plan) {
        let blocks = review.files.len() + 1;
        let mut changed = self.blocks.len() != blocks || self.view != view;
        self.view = view;
        self.blocks.resize_with(blocks, Block::default);
        for (number, block) in self.blocks.iter_mut().enumerate() {
            let fresh = match number.checked_sub(1).and_then(|index| Some((index, review.files.get(index)?))) {
                None => refused_block(block, &review.refused, view),
                Some((index, file)) => {
                    let plan = plan(index);
                    let revision = revision(index, file, &plan, view);
                    let same_texts = same(&block.texts[0], &file.base) && same(&block.texts[1], &file.proposed);
                    (block.revision != revision || !same_texts).then(|| {
                        let lines = FileLines::new(file);
                        let rows = measured(index, file, &lines, &plan, view);
                        Block::new(revision, [file.base.clone(), file.proposed.clone()], rows, lines)
                    })
                }
            };
            if let Some(fresh) = fresh {
                *block = fresh;
                self.made += 1;
                changed = true;
            }
        }
        if changed {
            self.add_up();
        }
    }

    fn add_up(&mut self) {
        let (mut rows, mut lines) = (0, 0);
        self.starts.clear();
        for block in &self.blocks {
            self.starts.push((rows, lines));
            rows += block.rows.len();
            lines += block.height();
        }
        self.starts.push((rows, lines));
    }

    pub fn len(&self) -> usize {
        self.starts.last().map_or(0, |(rows, _)| *rows)
    }

    pub fn height(&self) -> usize {
        self.starts.last().map_or(0, |(_, lines)| *lines)
    }

    pub fn get(&self, number: usize) -> Option<Row> {
        let (block, within) = self.block_of(number)?;
        self.blocks.get(block)?.rows.get(within).copied()
    }

    /// The first screen line of a row, and its height.
    pub fn place(&self, number: usize) -> (usize, usize) {
        let found = self.block_of(number).and_then(|(block, within)| {
            let (starts, first) = (&self.blocks.get(block)?.starts, self.starts.get(block)?.1);
            let (start, end) = (starts.get(within)?, starts.get(within + 1)?);
            Some((first + start, end - start))
        });
        found.unwrap_or((self.height(), 0))
    }

    /// The row at a screen line.
    pub fn at_line(&self, line: usize) -> usize {
        let block = self.starts.partition_point(|(_, first)| *first <= line).saturating_sub(1);
        let block = block.min(self.blocks.len().saturating_sub(1));
        let (Some((rows, first)), Some(own)) = (self.starts.get(block), self.blocks.get(block)) else {
            return 0;
        };
        let within = own.starts.partition_point(|start| *start <= line - first).saturating_sub(1);
        (rows + within).min(self.len().saturating_sub(1))
    }

    pub fn from(&self, number: usize) -> impl Iterator<Item = (usize, Row)> + '_ {
        (number..self.len()).filter_map(|number| Some((number, self.get(number)?)))
    }

    pub(super) fn lines_of(&self, file: usize) -> Option<&FileLines> {
        self.blocks.get(file + 1).map(|block| &block.lines)
    }

    /// The number of a row or of its nearest replacement.
    pub fn locate(&self, row: Row) -> usize {
        let find = |wanted: Row| {
            let block = wanted.file().map_or(0, |file| file + 1);
            let own = self.blocks.get(block)?;
            let within = own.rows.iter().position(|other| other.stands_for(wanted))?;
            Some(self.starts.get(block)?.0 + within)
        };
        let heading = |id| Row::Hunk { id, folded: false };
        let hunk = row.hunk().or(match row {
            Row::Gap { id, .. } => Some(id),
            _ => None,
        });
        let nearest = |id: HunkId| (0..=id.hunk).rev().find_map(|hunk| find(heading(HunkId { hunk, ..id })));
        find(row)
            .or_else(|| nearest(hunk?))
            .or_else(|| find(heading(HunkId { file: row.file()?, hunk: 0 })))
            .or_else(|| find(Row::Refused(row.refused()?.saturating_sub(1))))
            .unwrap_or_else(|| self.from(0).find(|(_, row)| row.is_stop()).map_or(0, |(number, _)| number))
    }

    fn block_of(&self, number: usize) -> Option<(usize, usize)> {
        let block = self.starts.partition_point(|(first, _)| *first <= number).checked_sub(1)?;
        let first = self.starts.get(block)?.0;
        (block < self.blocks.len()).then_some((block, number - first))
    }
}

fn same(one: &Option<Arc<str>>, other: &Option<Arc<str>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The rows of unplaced edits, if they have changed.
fn refused_block(block: &Block, refused: &[Outcome], view: View) -> Option<Block> {
    let mut hasher = DefaultHasher::new();
    view.hash(&mut hasher);
    for outcome in refused {
        (&outcome.path, &outcome.reason, &outcome.quote, &outcome.replacement).hash(&mut hasher);
    }
    // A block that was not computed has the revision 0.
    let revision = hasher.finish().max(1);
    (block.revision != revision).then(|| {
        let mut rows = Vec::new();
        for (index, outcome) in refused.iter().enumerate() {
            rows.push((Row::Refused(index), 1));
            let lines = refused_text(outcome);
            let numbered = lines.iter().enumerate();
            rows.extend(
                numbered
                    .map(|(number, line)| (Row::RefusedText(index, number), refused_parts(line, view.columns).len())),
            );
            rows.push((Row::Blank, 1));
        }
        Block::new(revision, [None, None], rows, FileLines::default())
    })
}

/// Unchanged lines shown around a hunk.
const CONTEXT: usize = 3;

/// Columns before a row: the mark of the cursor, and the mark of the decision on the line.
pub(super) const MARGIN: u16 = 2;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct HunkPlan {
    pub(super) folded: bool,
    /// Additional unchanged lines above and below it.
    pub(super) before: usize,
    pub(super) after: usize,
}

pub(super) type Plan = Vec<HunkPlan>;

/// Identifies the input of a file's rows, except for its texts. Never 0.
fn revision(index: usize, file: &FileReview, plan: &Plan, view: View) -> u64 {
    let mut hasher = DefaultHasher::new();
    (index, view, plan, &file.comment).hash(&mut hasher);
    for item in &file.hunks {
        (&item.hunk, item.original().is_some()).hash(&mut hasher);
        item.comments().for_each(|comment| comment.hash(&mut hasher));
    }
    hasher.finish().max(1)
}

fn measured(index: usize, file: &FileReview, lines: &FileLines, plan: &Plan, view: View) -> Vec<(Row, usize)> {
    let sides = view.sides && has_sides(file);
    let measure = Measure { file, lines, columns: view.columns.saturating_sub(MARGIN), sides };
    rows(index, file, lines, plan, sides).into_iter().map(|row| (row, measure.height(row))).collect()
}

/// Whether a file has text on both sides.
pub(super) fn has_sides(file: &FileReview) -> bool {
    file.change == FileChange::Modify
        && file.base.as_deref().is_some_and(|base| !base.is_empty())
        && file.proposed.is_some()
}

pub(super) fn rows(index: usize, file: &FileReview, lines: &FileLines, plan: &Plan, sides: bool) -> Vec<Row> {
    let mut builder = RowBuilder { file, lines, sides, rows: vec![Row::File(index)] };
    if !file.comment.is_empty() {
        builder.rows.push(Row::Note(CommentTarget::File(index)));
    }
    let plan_of = |hunk: usize| plan.get(hunk).copied().unwrap_or_default();
    let total = lines.count(Side::Base);
    // Lines of the base up to which all has been shown.
    let mut done = 0;
    for (number, item) in file.hunks.iter().enumerate() {
        let own = plan_of(number);
        let before_is_folded = number > 0 && plan_of(number - 1).folded;
        let start = item.hunk.base.start;
        let available = start.saturating_sub(done);
        let lead = if own.folded { 0 } else { shown_of(available, CONTEXT + own.before) };
        let id = HunkId { file: index, hunk: number };
        // Omitted lines between two folded hunks are not mentioned.
        let is_mentioned = !own.folded || (number > 0 && !before_is_folded);
        if available > lead && is_mentioned {
            builder.rows.push(Row::Gap { id, above: true, lines: available - lead });
        }
        builder.rows.push(Row::Hunk { id, folded: own.folded });
        done = item.hunk.base.end;
        if own.folded {
            continue;
        }
        builder.note(id, None);
        builder.kept(id, item, start - lead..start);
        builder.changed(id, item);
        let next = file.hunks.get(number + 1).map_or(total, |next| next.hunk.base.start);
        // Lines between two close hunks belong to the first; they are not shown twice.
        let tail = shown_of(next.saturating_sub(done), CONTEXT + own.after);
        builder.kept(id, item, done..done + tail);
        done += tail;
    }
    if let Some(last) = file.hunks.len().checked_sub(1).filter(|last| done < total && !plan_of(*last).folded) {
        let id = HunkId { file: index, hunk: last };
        builder.rows.push(Row::Gap { id, above: false, lines: total - done });
    }
    builder.rows.push(Row::Blank);
    builder.rows
}

/// Number of unchanged lines that are shown if `wanted` are requested. One hidden line is shown, since the note about
/// it would take as much space.
fn shown_of(all: usize, wanted: usize) -> usize {
    if all <= wanted + 1 { all } else { wanted }
}

struct RowBuilder<'a> {
    file: &'a FileReview,
    lines: &'a FileLines,
    sides: bool,
    rows: Vec<Row>,
}

impl RowBuilder<'_> {
    fn note(&mut self, id: HunkId, line: Option<usize>) {
        let item = self.file.hunks.get(id.hunk);
        if item.is_some_and(|item| item.comment(line).is_some()) {
            self.rows.push(Row::Note(line.map_or(CommentTarget::Hunk(id), |line| CommentTarget::Line(id, line))));
        }
    }

    fn kept(&mut self, id: HunkId, item: &ReviewHunk, range: Range<usize>) {
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

    /// The lines of a hunk: removed lines above added lines, or pairs side by side.
    fn lines_of(&self, item: &ReviewHunk) -> Vec<(Option<usize>, Option<usize>)> {
        let (old, new) = (item.hunk.base.len(), item.hunk.proposed.len());
        if !self.sides {
            return (0..old).map(|line| (Some(line), None)).chain((0..new).map(|line| (None, Some(line)))).collect();
        }
        let [removed, added] = self.lines.of_hunk(self.file, item);
        let mut rows = Vec::with_capacity(old.max(new));
        let (mut i, mut j) = (0, 0);
        for (at, to) in diff::pairs(&removed, &added).into_iter().chain([(old, new)]) {
            // Lines without a counterpart are paired in order.
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

    /// Adds a row if the last line of a text has no newline.
    fn end_of(&mut self, id: HunkId, side: Side, line: usize) {
        let text = self.lines.line(self.file, side, line);
        if !text.is_empty() && !text.ends_with('\n') {
            self.rows.push(Row::NoNewline(id));
        }
    }
}

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
            let available = usize::from(columns).saturating_sub(gutter.columns());
            // Most lines are short and plain.
            let short = body.len() <= available && body.bytes().all(|byte| (b' '..0x7f).contains(&byte));
            Some(if short { 1 } else { height(&body, gutter, columns) })
        };
        height(Side::Base, base).max(height(Side::Proposed, proposed)).unwrap_or(1)
    }

    fn comment(&self, place: CommentTarget) -> &str {
        let (id, line) = match place {
            CommentTarget::File(_) => return &self.file.comment,
            CommentTarget::Hunk(id) => (id, None),
            CommentTarget::Line(id, line) => (id, Some(line)),
        };
        self.file.hunks.get(id.hunk).and_then(|item| item.comment(line)).unwrap_or_default()
    }
}

/// The gutter and the columns of a half. A rule of one column separates the halves.
pub(super) fn half(gutter: Gutter, side: Side, columns: u16) -> (Gutter, u16) {
    let left = columns.saturating_sub(1) / 2;
    match side {
        Side::Base => (Gutter { proposed: 0, ..gutter }, left),
        Side::Proposed => (Gutter { base: 0, ..gutter }, columns.saturating_sub(1) - left),
    }
}

/// The lines of an unplaced edit, below its heading: the reason and the quoted lines.
pub(super) fn refused_text(outcome: &Outcome) -> Vec<String> {
    let reason = outcome.reason.lines().map(str::to_owned);
    let quote = outcome.quote.lines().map(|line| format!("- {line}"));
    let replacement = outcome.replacement.lines().map(|line| format!("+ {line}"));
    reason.chain(quote).chain(replacement).collect()
}

/// Wraps a line of an unplaced edit's text to `columns`.
pub(super) fn refused_parts(line: &str, columns: u16) -> Vec<String> {
    let safe = sanitize::visible_line(&Shown::head(line).text).into_owned();
    let available = usize::from(columns.saturating_sub(4)).max(1);
    let code = safe.starts_with(['-', '+']);
    let pieces = if code { wrap::hard_wrap(&safe, available) } else { wrap::wrap(&safe, available) };
    let parts: Vec<String> = pieces.into_iter().map(|range| safe[range].to_owned()).collect();
    if parts.is_empty() { vec![String::new()] } else { parts }
}

pub(super) fn note_parts(text: &str, columns: u16) -> Vec<String> {
    let available = usize::from(columns.saturating_sub(6)).max(1);
    let mut parts = Vec::new();
    for line in text.lines() {
        let safe = sanitize::visible_line(&Shown::head(line).text).into_owned();
        let pieces = wrap::wrap(&safe, available);
        if pieces.is_empty() {
            parts.push(String::new());
        }
        parts.extend(pieces.into_iter().map(|range| safe[range].to_owned()));
    }
    if parts.is_empty() { vec![String::new()] } else { parts }
}

/// Longest line that is shown whole, in bytes, so that a minified file does not fill the review.
const MAX_LINE_BYTES: usize = 2_000;

/// Bytes of a longer line that are shown from its start, and around both ends of the changed part.
const LINE_START_BYTES: usize = 80;
const CHANGE_CONTEXT_BYTES: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Base,
    Proposed,
}

/// Byte offsets of the lines of a file under review.
#[derive(Debug, Default)]
pub(super) struct FileLines {
    pub(super) gutter: Gutter,
    /// The byte at which each line starts, and the end of the text.
    base: Vec<usize>,
    proposed: Vec<usize>,
    /// The changed bytes of long lines.
    changed: BTreeMap<(Side, usize), Range<usize>>,
}

impl FileLines {
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
            file.hunks.iter().for_each(|item| places.find_changed_parts(file, item));
        }
        places
    }

    /// Finds the changed parts of the long lines of a hunk, which are paired in order.
    fn find_changed_parts(&mut self, file: &FileReview, item: &ReviewHunk) {
        let long = |side, range: &Range<usize>| -> Vec<usize> {
            range.clone().filter(|line| self.body(file, side, *line).len() > MAX_LINE_BYTES).collect()
        };
        let (old, new) = (long(Side::Base, &item.hunk.base), long(Side::Proposed, &item.hunk.proposed));
        for (old, new) in old.into_iter().zip(new) {
            let [removed, added] =
                diff::changed_part(self.body(file, Side::Base, old), self.body(file, Side::Proposed, new));
            self.changed.insert((Side::Base, old), removed);
            self.changed.insert((Side::Proposed, new), added);
        }
    }

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

    pub(super) fn body<'a>(&self, file: &'a FileReview, side: Side, line: usize) -> &'a str {
        lines::body(self.line(file, side, line))
    }

    pub(super) fn shown<'a>(&self, file: &'a FileReview, side: Side, line: usize) -> Shown<'a> {
        Shown::new(self.body(file, side, line), self.changed.get(&(side, line)))
    }

    /// The removed and the added lines of a hunk, without terminators.
    pub(super) fn of_hunk<'a>(&self, file: &'a FileReview, item: &ReviewHunk) -> [Vec<&'a str>; 2] {
        [
            item.hunk.base.clone().map(|line| self.body(file, Side::Base, line)).collect(),
            item.hunk.proposed.clone().map(|line| self.body(file, Side::Proposed, line)).collect(),
        ]
    }
}

/// The shown text of a line: the whole line, or the relevant parts of a very long one. Omitted parts are marked, so
/// that a line is not accepted for its beginning alone.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) text: Cow<'a, str>,
    /// The shown parts of the line, each with its first byte in the text.
    parts: Vec<(Range<usize>, usize)>,
    /// Ranges of the text that describe omitted parts.
    pub(super) left_out: Vec<Range<usize>>,
}

impl<'a> Shown<'a> {
    /// The shown part of a line without a known change.
    pub(super) fn head(body: &'a str) -> Self {
        Self::new(body, None)
    }

    fn new(body: &'a str, changed: Option<&Range<usize>>) -> Self {
        if body.len() <= MAX_LINE_BYTES {
            let parts = vec![(0..body.len(), 0)];
            return Self { text: Cow::Borrowed(body), parts, left_out: Vec::new() };
        }
        let mut text = String::new();
        let (mut parts, mut left_out) = (Vec::new(), Vec::new());
        let mut done = 0;
        for part in parts_of(body, changed) {
            if part.start > done {
                let start = text.len();
                text.push_str(&omission(done..part.start, changed, false));
                left_out.push(start..text.len());
            }
            parts.push((part.clone(), text.len()));
            done = part.end;
            text.push_str(&body[part]);
        }
        if done < body.len() {
            let start = text.len();
            text.push_str(&omission(done..body.len(), changed, true));
            left_out.push(start..text.len());
        }
        Self { text: Cow::Owned(text), parts, left_out }
    }

    /// The ranges of the text that show a range of the line.
    pub(super) fn places(&self, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let range = range.clone();
        self.parts.iter().filter_map(move |(part, at)| {
            let (start, end) = (part.start.max(range.start), part.end.min(range.end));
            (start < end).then(|| start - part.start + at..end - part.start + at)
        })
    }
}

fn parts_of(body: &str, changed: Option<&Range<usize>>) -> Vec<Range<usize>> {
    let Range { start, end } = changed.cloned().unwrap_or(0..0);
    let first = start.saturating_sub(CHANGE_CONTEXT_BYTES);
    // Bytes that remain after the start of the line and the end of the change.
    let most = MAX_LINE_BYTES - LINE_START_BYTES - 2 * CHANGE_CONTEXT_BYTES;
    let mut wanted = vec![0..LINE_START_BYTES, first..first + most];
    if changed.is_some() {
        wanted.push(end.saturating_sub(CHANGE_CONTEXT_BYTES)..end + CHANGE_CONTEXT_BYTES);
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    for part in wanted {
        let part = body.floor_char_boundary(part.start)..body.ceil_char_boundary(part.end.min(body.len()));
        match parts.last_mut() {
            // The note about an omitted part takes as much space as a few more bytes.
            Some(last) if part.start <= last.end + LINE_START_BYTES => last.end = last.end.max(part.end),
            _ => parts.push(part),
        }
    }
    parts
}

/// Describes omitted bytes of a line.
fn omission(missing: Range<usize>, changed: Option<&Range<usize>>, at_end: bool) -> String {
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

#[cfg(test)]
mod file_lines_tests {
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
            assert!(shown.text.starts_with("aaaa") == (before > 0) && shown.text.len() < MAX_LINE_BYTES + 200);
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
            prop_assert!(shown.text.len() <= MAX_LINE_BYTES + 4 * LINE_START_BYTES + 200, "{}", shown.text.len());
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
