//! One hunk under review: the decisions on it or on its lines, comments, and the text that the user edited.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::Hunk;
use serde::{Deserialize, Serialize};

use super::marks::HunkMark;
use crate::outcome::{EditId, Flag};

/// A hunk with decisions and comments.
///
/// Its lines are numbered from 0 in reading order: the removed lines, then the added ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewHunk {
    /// The changed lines (0-based lines of base and proposed).
    pub hunk: Hunk,
    /// What a reviewer should know about it.
    pub marks: Vec<HunkMark>,
    /// The edits of the session that made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditId>,
    choice: LineChoice,
    #[serde(with = "crate::review::persist::text")]
    original: Option<Arc<str>>,
    /// By line; `None` is the hunk as a whole.
    #[serde(with = "crate::review::persist::pairs")]
    comments: BTreeMap<Option<usize>, String>,
}

/// One decision on all lines, or one for each line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LineChoice {
    Whole(Decision),
    /// As many decisions as the hunk has lines, and not all equal.
    Lines(Vec<Decision>),
}

impl LineChoice {
    /// The same decisions, as one if they are equal.
    fn of_lines(lines: Vec<Decision>) -> Self {
        match lines.first() {
            Some(first) if lines.iter().all(|decision| decision == first) => Self::Whole(*first),
            _ => Self::Lines(lines),
        }
    }
}

impl ReviewHunk {
    /// A pending hunk without comments.
    pub(crate) fn new(hunk: Hunk, marks: Vec<HunkMark>) -> Self {
        let choice = LineChoice::Whole(Decision::Pending);
        Self { hunk, marks, edits: Vec::new(), choice, original: None, comments: BTreeMap::new() }
    }

    /// The hunk with these edits.
    pub(crate) fn made_by(self, edits: &[EditId]) -> Self {
        Self { edits: edits.to_vec(), ..self }
    }

    /// The number of removed and added lines.
    pub fn line_count(&self) -> usize {
        self.hunk.base.len() + self.hunk.proposed.len()
    }

    /// The decision: pending if a line is pending, accepted if a line is accepted.
    pub fn decision(&self) -> Decision {
        match &self.choice {
            LineChoice::Whole(decision) => *decision,
            LineChoice::Lines(lines) if lines.contains(&Decision::Pending) => Decision::Pending,
            LineChoice::Lines(_) => Decision::Accepted,
        }
    }

    /// The decision on one line.
    pub fn line_decision(&self, line: usize) -> Decision {
        match &self.choice {
            LineChoice::Whole(decision) => *decision,
            LineChoice::Lines(lines) => lines.get(line).copied().unwrap_or_default(),
        }
    }

    /// Whether its lines have different decisions.
    pub fn has_line_decisions(&self) -> bool {
        matches!(self.choice, LineChoice::Lines(_))
    }

    /// The proposed lines, if the user has replaced them.
    pub fn original(&self) -> Option<&str> {
        self.original.as_deref()
    }

    /// The comment on a line, or on the whole hunk for `None`.
    pub fn comment(&self, line: Option<usize>) -> Option<&str> {
        self.comments.get(&line).map(String::as_str)
    }

    /// All comments: on the whole hunk first, then by line.
    pub fn comments(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        self.comments.iter().map(|(line, text)| (*line, text.as_str()))
    }

    /// Whether the hunk or one of its lines is accepted.
    pub fn is_partly_accepted(&self) -> bool {
        match &self.choice {
            LineChoice::Whole(decision) => *decision == Decision::Accepted,
            LineChoice::Lines(lines) => lines.contains(&Decision::Accepted),
        }
    }

    /// Whether the hunk has to be accepted explicitly, and not with all others: tools run its file automatically,
    /// or the name of its new file is doubtful.
    pub fn needs_confirmation(&self) -> bool {
        self.has_flag(Flag::RunsLater) || self.has_flag(Flag::DoubtfulName)
    }

    /// Sets the decision of its pending lines.
    pub(crate) fn decide_pending(&mut self, to: Decision) {
        let decided = |decision: Decision| if decision == Decision::Pending { to } else { decision };
        self.choice = match &self.choice {
            LineChoice::Whole(decision) => LineChoice::Whole(decided(*decision)),
            LineChoice::Lines(lines) => LineChoice::of_lines(lines.iter().copied().map(decided).collect()),
        };
    }

    /// Whether the decision on all lines was this one.
    pub(crate) fn is_decided(&self, decision: Decision) -> bool {
        self.choice == LineChoice::Whole(decision)
    }

    pub(crate) fn decide(&mut self, decision: Decision) {
        self.choice = LineChoice::Whole(decision);
    }

    /// Whether there is one decision for each line.
    pub(crate) fn is_consistent(&self) -> bool {
        match &self.choice {
            LineChoice::Whole(_) => true,
            LineChoice::Lines(lines) => lines.len() == self.line_count(),
        }
    }

    /// Decides some lines. Lines outside of the hunk are ignored.
    pub(crate) fn decide_lines(&mut self, chosen: &Range<usize>, decision: Decision) {
        let decide = |line| if chosen.contains(&line) { decision } else { self.line_decision(line) };
        self.choice = match self.line_count() {
            0 => self.choice.clone(),
            count => LineChoice::of_lines((0..count).map(decide).collect()),
        };
    }

    /// Sets the comment on a line or on the whole hunk. An empty text removes it.
    pub(crate) fn note(&mut self, line: Option<usize>, text: &str) {
        if text.trim().is_empty() {
            self.comments.remove(&line);
        } else {
            self.comments.insert(line, text.to_owned());
        }
    }

    /// Records that the user replaced the added lines, which were `before`, with `count` lines. This accepts the
    /// hunk. Comments on lines that no longer exist become comments on the hunk.
    pub(crate) fn rewrite(&mut self, before: &str, count: usize) {
        self.original.get_or_insert_with(|| Arc::from(before));
        self.hunk.proposed.end = self.hunk.proposed.start + count;
        self.choice = LineChoice::Whole(Decision::Accepted);
        let kept = Some(self.line_count());
        let lost = self.comments.split_off(&kept);
        lost.into_values().for_each(|text| add_note(&mut self.comments, None, text));
    }

    /// The part with those removed and those added lines (0-based on each side). The first part keeps the comments
    /// on the whole hunk and the original lines.
    pub(crate) fn part(&self, removed: Range<usize>, added: Range<usize>) -> Self {
        let all_removed = self.hunk.base.len();
        let is_first = removed.start == 0 && added.start == 0;
        let shifted = added.start + all_removed..added.end + all_removed;
        let lines: Vec<usize> = removed.clone().chain(shifted).collect();
        let choice = match &self.choice {
            LineChoice::Whole(decision) => LineChoice::Whole(*decision),
            LineChoice::Lines(_) => LineChoice::of_lines(lines.iter().map(|line| self.line_decision(*line)).collect()),
        };
        let commented = lines.iter().enumerate().filter_map(|(new, old)| Some((Some(new), self.comment(Some(*old))?)));
        let whole = self.comment(None).filter(|_| is_first).map(|text| (None, text));
        let shift = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        Self {
            marks: self.marks.clone(),
            edits: self.edits.clone(),
            original: self.original.clone().map(|text| if is_first { text } else { Arc::from("") }),
            comments: whole.into_iter().chain(commented).map(|(line, text)| (line, text.to_owned())).collect(),
            choice,
            hunk: Hunk { base: shift(removed, self.hunk.base.start), proposed: shift(added, self.hunk.proposed.start) },
        }
    }

    /// This hunk and the next one of the file as one, with the unchanged lines between them. `texts` are the added
    /// lines of both and the lines between them, and `between` is the number of the latter.
    pub(crate) fn joined(&self, next: &Self, between: usize, texts: [&str; 3]) -> Self {
        let hunk = Hunk {
            base: self.hunk.base.start..next.hunk.base.end,
            proposed: self.hunk.proposed.start..next.hunk.proposed.end,
        };
        let [first, middle, second] = texts;
        let edited = self.original.is_some() || next.original.is_some();
        let original = edited
            .then(|| [self.original().unwrap_or(first), middle, next.original().unwrap_or(second)].concat().into());
        let mut joined = Self { original, ..Self::new(hunk, self.marks.clone()) };
        joined.edits = self.edits.clone();
        joined.edits.extend(next.edits.iter().filter(|edit| !self.edits.contains(edit)));
        joined.marks.extend(next.marks.iter().filter(|mark| !self.marks.contains(mark)).cloned());
        joined.choice = if self.choice == next.choice && !self.has_line_decisions() {
            self.choice.clone()
        } else if between == 0 {
            LineChoice::of_lines(interleaved(self, next, Self::line_decision))
        } else {
            // Line decisions of separate hunks cannot be kept: in one hunk the kept lines come before the added
            // ones.
            LineChoice::Whole(Decision::Pending)
        };
        let shift = |of: &Self, removed: usize, added: usize| {
            let own = of.hunk.base.len();
            move |line: Option<usize>| line.map(|line| if line < own { line + removed } else { line - own + added })
        };
        let first = shift(self, 0, joined.hunk.base.len());
        let skipped = self.hunk.base.len() + between;
        let second = shift(next, skipped, joined.hunk.base.len() + self.hunk.proposed.len() + between);
        self.comments.iter().for_each(|(line, text)| add_note(&mut joined.comments, first(*line), text.clone()));
        next.comments.iter().for_each(|(line, text)| add_note(&mut joined.comments, second(*line), text.clone()));
        joined
    }
}

/// The removed lines of both hunks, then the added ones.
fn interleaved<T>(first: &ReviewHunk, second: &ReviewHunk, of: impl Fn(&ReviewHunk, usize) -> T) -> Vec<T> {
    let removed = |hunk: &ReviewHunk| 0..hunk.hunk.base.len();
    let added = |hunk: &ReviewHunk| hunk.hunk.base.len()..hunk.line_count();
    let of = &of;
    let lines = [(first, removed(first)), (second, removed(second)), (first, added(first)), (second, added(second))];
    lines.into_iter().flat_map(|(hunk, lines)| lines.map(move |line| of(hunk, line))).collect()
}

/// Appends to an existing comment on the same line.
fn add_note(comments: &mut BTreeMap<Option<usize>, String>, line: Option<usize>, text: String) {
    match comments.get_mut(&line) {
        Some(known) => {
            known.push('\n');
            known.push_str(&text);
        }
        None => {
            comments.insert(line, text);
        }
    }
}

/// A decision on a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Not decided. The hunk is not written.
    #[default]
    Pending,
    /// To be written.
    Accepted,
    /// Not to be written.
    Rejected,
}

impl Decision {
    /// The decision after a toggle: pending and rejected hunks become accepted, accepted ones rejected.
    pub fn toggled(self) -> Self {
        match self {
            Self::Accepted => Self::Rejected,
            Self::Pending | Self::Rejected => Self::Accepted,
        }
    }

    /// A symbol that does not depend on colour.
    pub fn mark(self) -> char {
        match self {
            Self::Pending => '·',
            Self::Accepted => '✓',
            Self::Rejected => '✗',
        }
    }
}

/// Number of hunks by decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pending hunks.
    pub pending: usize,
    /// Accepted hunks.
    pub accepted: usize,
    /// Rejected hunks.
    pub rejected: usize,
}

impl Counts {
    /// Counts another hunk.
    pub fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Pending => self.pending += 1,
            Decision::Accepted => self.accepted += 1,
            Decision::Rejected => self.rejected += 1,
        }
    }

    /// The number of all hunks.
    pub fn total(self) -> usize {
        self.pending + self.accepted + self.rejected
    }
}
