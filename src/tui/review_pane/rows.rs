//! The rows of the review pane and the number of screen lines of each. They are computed per file, and only for files
//! that changed, so that a move or a decision is cheap.

use std::sync::Arc;

use rhumb_edit::Outcome;
use rhumb_edit::review::{CommentTarget, HunkId, Review};

use super::file_rows;
use super::file_rows::{FileLines, Plan};

/// A row that the cursor can select, or a separator between two rows. A long line is one row on several lines of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Blank,
    Refused(usize),
    /// A line of an unplaced edit.
    RefusedText(usize, usize),
    File(usize),
    /// A comment.
    Note(CommentTarget),
    /// Omitted unchanged lines.
    Gap {
        /// The hunk beside them.
        id: HunkId,
        /// Whether they are above it; otherwise between it and the end of the file.
        above: bool,
        /// Their number.
        lines: usize,
    },
    /// The heading of a hunk.
    Hunk {
        id: HunkId,
        folded: bool,
    },
    /// An unchanged line near a hunk.
    Kept {
        id: HunkId,
        /// The line in the base text, 0-based.
        base: usize,
        /// The line in the proposed text.
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
            Self::Note(CommentTarget::File(_))
            | Self::Blank
            | Self::Refused(_)
            | Self::RefusedText(..)
            | Self::File(_)
            | Self::Gap { .. } => None,
        }
    }

    pub fn file(self) -> Option<usize> {
        match self {
            Self::File(file) | Self::Note(CommentTarget::File(file)) => Some(file),
            Self::Gap { id, .. } => Some(id.file),
            other => other.hunk().map(|id| id.file),
        }
    }

    /// The unplaced edit of a row.
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

/// Rows with their heights.
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
    view: View,
    /// The unplaced edits, then each file.
    blocks: Vec<Block>,
    /// The first row and the first screen line of each block, and the ends.
    starts: Vec<(usize, usize)>,
    /// Number of computed blocks, which is the revision of the rows.
    made: usize,
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
                    let revision = file_rows::revision(index, file, &plan, view);
                    let same_texts = same(&block.texts[0], &file.base) && same(&block.texts[1], &file.proposed);
                    (block.revision != revision || !same_texts).then(|| {
                        let lines = FileLines::new(file);
                        let rows = file_rows::measured(index, file, &lines, &plan, view);
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

    pub fn view(&self) -> View {
        self.view
    }

    /// The revision of the rows.
    pub fn made(&self) -> usize {
        self.made
    }

    pub fn len(&self) -> usize {
        self.starts.last().map_or(0, |(rows, _)| *rows)
    }

    /// The number of screen lines.
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

    /// The rows from a number on.
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
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
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
            let lines = file_rows::refused_text(outcome);
            let told = lines.iter().enumerate();
            rows.extend(told.map(|(number, line)| {
                (Row::RefusedText(index, number), file_rows::refused_parts(line, view.columns).len())
            }));
            rows.push((Row::Blank, 1));
        }
        Block::new(revision, [None, None], rows, FileLines::default())
    })
}
