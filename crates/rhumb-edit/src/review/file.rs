//! One file under review: its base, its proposed text, and a decision for each hunk between them.

use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines::{self, LineEnding};
use serde::{Deserialize, Serialize};

use super::hunk::{Counts, Decision, ReviewHunk};
use super::marks::HunkMark;
use super::split;
use crate::proposal::FileChange;

/// The result of the accepted hunks of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Composed {
    /// No hunk is accepted.
    Untouched,
    /// The new text.
    Text(String),
    /// The file is deleted.
    Deleted,
}

/// A path and the target of a link: `notes.md → Makefile`.
pub fn path_with_link_target(path: &str, stored_at: Option<&str>) -> String {
    stored_at.map_or_else(|| path.to_owned(), |stored| format!("{path} → {stored}"))
}

/// A file and its hunks. A created, deleted or renamed file has one hunk, because half of such a change has no
/// meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReview {
    /// The path under the root.
    pub path: String,
    /// The path that is written, if `path` is a link.
    #[serde(default)]
    pub stored_at: Option<String>,
    /// The change of the file as a whole.
    pub change: FileChange,
    /// The text when the proposal was made; `None` if the file did not exist.
    #[serde(with = "crate::review::persist::text")]
    pub base: Option<Arc<str>>,
    /// The text with all hunks; `None` if the file is deleted.
    #[serde(with = "crate::review::persist::text")]
    pub proposed: Option<Arc<str>>,
    /// The hunks in order; at least one. Hunks may touch if the user has split one.
    pub hunks: Vec<ReviewHunk>,
    /// The comment on the file as a whole; empty for none.
    pub comment: String,
}

impl FileReview {
    /// The review of one proposed file; `None` if nothing changes. `marks_at` returns the marks of a hunk.
    pub fn new(
        path: String,
        change: FileChange,
        base: Option<Arc<str>>,
        proposed: Option<Arc<str>>,
        marks_at: impl Fn(&Hunk) -> Vec<HunkMark>,
    ) -> Option<Self> {
        let (old, new) = (base.as_deref().unwrap_or_default(), proposed.as_deref().unwrap_or_default());
        let hunks = match change {
            FileChange::Modify => diff::hunks(old, new),
            _ => vec![Hunk { base: 0..lines::split(old).len(), proposed: 0..lines::split(new).len() }],
        };
        let marked = |hunk: Hunk| ReviewHunk::new(hunk.clone(), marks_at(&hunk));
        let hunks: Vec<_> = hunks.into_iter().map(marked).collect();
        (!hunks.is_empty()).then_some(Self {
            path,
            stored_at: None,
            change,
            base,
            proposed,
            hunks,
            comment: String::new(),
        })
    }

    /// The path, with the target if it is a link: `notes.md → Makefile`.
    pub fn title(&self) -> String {
        path_with_link_target(&self.path, self.stored_at.as_deref())
    }

    /// The file with only the accepted hunks and lines. In a hunk with some accepted lines, removed lines that are
    /// kept come before the added ones, as on the screen.
    pub fn composed(&self) -> Composed {
        self.composed_where(|decision| decision == Decision::Accepted)
    }

    /// The file with all hunks and lines that are not rejected.
    pub fn composed_with_pending(&self) -> Composed {
        self.composed_where(|decision| decision != Decision::Rejected)
    }

    /// The file with the lines for whose decision `take` returns `true`.
    pub(crate) fn composed_where(&self, take: impl Fn(Decision) -> bool) -> Composed {
        let is_partly_accepted = |item: &ReviewHunk| match item.line_count() {
            0 => take(item.decision()),
            count => (0..count).any(|line| take(item.line_decision(line))),
        };
        if !self.hunks.iter().any(is_partly_accepted) {
            return Composed::Untouched;
        }
        match (&self.change, &self.proposed) {
            (FileChange::Delete, _) | (_, None) => Composed::Deleted,
            (FileChange::Modify, Some(_)) => {
                let base = self.base.as_deref().unwrap_or_default();
                let (old, new) = self.split_texts();
                let mut text = TextBuilder::new(base);
                let mut at = 0;
                for item in &self.hunks {
                    text.push(old.get(at..item.hunk.base.start).unwrap_or_default());
                    text.push(&accepted_lines(item, &old, &new, &take));
                    at = item.hunk.base.end;
                }
                text.push(old.get(at..).unwrap_or_default());
                // The user may have edited the text back to that of the file.
                if text.text == base { Composed::Untouched } else { Composed::Text(text.text) }
            }
            (_, Some(proposed)) => Composed::Text(proposed.to_string()),
        }
    }

    /// The number of hunks by decision.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.hunks.iter().for_each(|hunk| counts.add(hunk.decision()));
        counts
    }

    /// Whether hunks can be split: the file is not new, deleted or renamed.
    pub fn is_divisible(&self) -> bool {
        self.change == FileChange::Modify
    }

    /// The lines of the base and of the proposed text.
    pub(crate) fn split_texts(&self) -> (Vec<&str>, Vec<&str>) {
        let (base, proposed) = (self.base.as_deref(), self.proposed.as_deref());
        (lines::split(base.unwrap_or_default()), lines::split(proposed.unwrap_or_default()))
    }

    /// Splits a hunk into its smallest parts. Returns their number; 1 if it has only one.
    pub(crate) fn split(&mut self, hunk: usize) -> usize {
        self.split_by(hunk, |item, removed, added| {
            let mut parts = split::parts(removed, added);
            let last = parts.len().saturating_sub(1);
            let mut number = 0;
            // Unchanged lines between joined hunks are not a part.
            parts.retain(|(old, new)| {
                number += 1;
                let inner = number > 1 && number <= last && !item.has_line_decisions();
                !inner || removed.get(old.clone()) != added.get(new.clone())
            });
            parts
        })
    }

    /// Splits a hunk before its line `line`. Returns `false` at its ends.
    pub(crate) fn split_at(&mut self, hunk: usize, line: usize) -> bool {
        let halves = |removed: &[&str], added: &[&str]| {
            let (i, j) = split::cut(removed, added, line)?;
            Some(vec![(0..i, 0..j), (i..removed.len(), j..added.len())])
        };
        self.split_by(hunk, |_, removed, added| halves(removed, added).unwrap_or_default()) > 1
    }

    /// Makes some lines of a hunk, and their other versions, a separate hunk. Returns its index, or `None` if no
    /// line is left.
    pub(crate) fn split_out(&mut self, hunk: usize, runs: &[Range<usize>]) -> Option<usize> {
        let mut before = 0;
        let count = self.split_by(hunk, |_, removed, added| {
            let Some((old, new)) = split::chosen(removed, added, runs) else { return Vec::new() };
            before = usize::from(old.start + new.start > 0);
            let first = (0..old.start, 0..new.start);
            let last = (old.end..removed.len(), new.end..added.len());
            let parts = [first, (old, new), last].into_iter();
            parts.filter(|(old, new)| !old.is_empty() || !new.is_empty()).collect()
        });
        (count > 1).then_some(hunk + before)
    }

    /// Splits a hunk into the parts that `parts` returns for its removed and added lines. Returns their number; 1
    /// if there are none.
    fn split_by(
        &mut self,
        hunk: usize,
        parts: impl FnOnce(&ReviewHunk, &[&str], &[&str]) -> Vec<split::Part>,
    ) -> usize {
        let Some(item) = self.hunks.get(hunk).filter(|_| self.is_divisible()) else {
            return 1;
        };
        let (old, new) = self.split_texts();
        let removed = old.get(item.hunk.base.clone()).unwrap_or_default();
        let added = new.get(item.hunk.proposed.clone()).unwrap_or_default();
        let parts = parts(item, removed, added);
        if parts.len() < 2 {
            return 1;
        }
        let items: Vec<_> = parts.into_iter().map(|(removed, added)| item.part(removed, added)).collect();
        let count = items.len();
        self.hunks.splice(hunk..=hunk, items);
        count
    }

    /// Joins a hunk and the next one of the file. Returns `false` at the last hunk.
    pub(crate) fn join(&mut self, hunk: usize) -> bool {
        let (Some(first), Some(second), true) = (self.hunks.get(hunk), self.hunks.get(hunk + 1), self.is_divisible())
        else {
            return false;
        };
        let (_, new) = self.split_texts();
        let text = |lines: Range<usize>| new.get(lines).unwrap_or_default().concat();
        let (one, two) = (first.hunk.proposed.clone(), second.hunk.proposed.clone());
        let between = two.start - one.end;
        let texts = [text(one.clone()), text(one.end..two.start), text(two)];
        let joined = first.joined(second, between, texts.each_ref().map(String::as_str));
        self.hunks.splice(hunk..hunk + 2, [joined]);
        true
    }

    /// Replaces the added lines of a hunk with `text`, with the line endings of the file. Returns `false` if there
    /// is no such hunk, the file is deleted, or the hunk has that text already.
    pub(crate) fn rewrite(&mut self, hunk: usize, text: &str) -> bool {
        let (Some(item), Some(proposed)) = (self.hunks.get(hunk), self.proposed.clone()) else {
            return false;
        };
        let base = self.base.clone().unwrap_or_else(|| proposed.clone());
        let new = lines::split(&proposed);
        let before = new.get(item.hunk.proposed.clone()).unwrap_or_default().concat();
        let text = with_line_endings_of(text, &base, item.hunk.proposed.end == new.len());
        if text == before {
            return false;
        }
        let added = lines::split(&text);
        let mut items = self.items(&new);
        if let Some((item, lines)) = items.get_mut(hunk) {
            item.rewrite(&before, added.len());
            *lines = added;
        }
        let (proposed, hunks) = match self.change {
            FileChange::Modify => compose_items(&base, items),
            _ => (text.clone(), items.into_iter().map(|(item, _)| item).collect()),
        };
        (self.proposed, self.hunks) = (Some(Arc::from(proposed)), hunks);
        true
    }

    /// The hunks, each with its added lines, which are among `new`.
    pub(crate) fn items<'t>(&self, new: &[&'t str]) -> Vec<Item<'t>> {
        let added = |item: &ReviewHunk| new.get(item.hunk.proposed.clone()).unwrap_or_default().to_vec();
        self.hunks.iter().map(|item| (item.clone(), added(item))).collect()
    }
}

/// A hunk and its added lines.
pub(crate) type Item<'t> = (ReviewHunk, Vec<&'t str>);

/// The text of `base` with all these hunks, and the hunks with their ranges in it. Their ranges in `base` are
/// given.
pub(crate) fn compose_items(base: &str, items: Vec<Item<'_>>) -> (String, Vec<ReviewHunk>) {
    let old = lines::split(base);
    let (mut text, mut hunks, mut at) = (TextBuilder::new(base), Vec::with_capacity(items.len()), 0);
    for (mut item, added) in items {
        text.push(old.get(at..item.hunk.base.start).unwrap_or_default());
        item.hunk.proposed = text.lines..text.lines + added.len();
        text.push(&added);
        at = item.hunk.base.end;
        hunks.push(item);
    }
    text.push(old.get(at..).unwrap_or_default());
    (text.text, hunks)
}

/// The lines of a hunk for whose decision `take` returns `true`, with the kept ones.
pub(crate) fn accepted_lines<'t>(
    item: &ReviewHunk,
    old: &[&'t str],
    new: &[&'t str],
    take: &impl Fn(Decision) -> bool,
) -> Vec<&'t str> {
    let removed = old.get(item.hunk.base.clone()).unwrap_or_default();
    let added = new.get(item.hunk.proposed.clone()).unwrap_or_default();
    let kept = removed.iter().enumerate().filter(|(line, _)| !take(item.line_decision(*line)));
    let come = added.iter().enumerate().filter(|(line, _)| take(item.line_decision(removed.len() + line)));
    kept.chain(come).map(|(_, line)| *line).collect()
}

/// Builds a text from lines.
pub(crate) struct TextBuilder {
    pub(crate) text: String,
    /// The number of lines.
    pub(crate) lines: usize,
    ending: LineEnding,
}

impl TextBuilder {
    /// A text with the line endings of `base`.
    pub(crate) fn new(base: &str) -> Self {
        Self { text: String::with_capacity(base.len()), lines: 0, ending: LineEnding::dominant(base) }
    }

    pub(crate) fn push(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| lines::push(&mut self.text, line, self.ending));
        self.lines += lines.len();
    }
}

/// `text` with the line endings of `base`, unless it has both kinds, and with a final newline unless it is at the
/// end of the file.
pub(crate) fn with_line_endings_of(text: &str, base: &str, is_last: bool) -> String {
    let ending = LineEnding::dominant(base);
    let mut text = match ending {
        LineEnding::CrLf if !text.contains("\r\n") => text.replace('\n', "\r\n"),
        _ => text.to_owned(),
    };
    if !is_last && !text.is_empty() && !text.ends_with('\n') {
        text.push_str(ending.as_str());
    }
    text
}
