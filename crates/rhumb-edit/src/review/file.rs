//! One file under review: its base, what is proposed for it, and a decision for each hunk between the two.

use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines::{self, LineEnding};
use serde::{Deserialize, Serialize};

use super::hunk::{Counts, Decision, ReviewHunk};
use super::split;
use crate::proposal::FileChange;

/// What a file is to become when the accepted hunks alone are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Composed {
    /// Nothing accepted: leave it alone.
    Untouched,
    /// The file is to hold this text.
    Text(String),
    /// The file is to go.
    Deleted,
}

/// A path, and what a link leads to from there: `notes.md → Makefile`.
pub fn led(path: &str, stored_at: Option<&str>) -> String {
    stored_at.map_or_else(|| path.to_owned(), |stored| format!("{path} → {stored}"))
}

/// A file with its hunks. A created, deleted or renamed file is one item with one decision, because half of such a change
/// means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReview {
    /// Path under the root.
    pub path: String,
    /// The path of what is written, where a link leads there.
    #[serde(default)]
    pub stored_at: Option<String>,
    /// What happens to it.
    pub change: FileChange,
    /// Its text when the proposal was made; `None` when it did not exist.
    #[serde(with = "crate::review::persist::text")]
    pub base: Option<Arc<str>>,
    /// Its text with every hunk taken; `None` when it is to go.
    #[serde(with = "crate::review::persist::text")]
    pub proposed: Option<Arc<str>>,
    /// The hunks, in order. Never empty. Two of them may touch, if the user has split one.
    pub hunks: Vec<ReviewHunk>,
    /// What was noted on the file as a whole; empty for nothing.
    pub comment: String,
}

impl FileReview {
    /// The review of one proposed file; `None` when nothing would change. `marks_at` says what to note on a hunk, given
    /// its lines in the base (0-based).
    pub fn new(
        path: String,
        change: FileChange,
        base: Option<Arc<str>>,
        proposed: Option<Arc<str>>,
        marks_at: impl Fn(&Hunk) -> Vec<String>,
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

    /// The path, and what a link leads to from there: `notes.md → Makefile`.
    pub fn title(&self) -> String {
        led(&self.path, self.stored_at.as_deref())
    }

    /// What the file becomes when the accepted hunks and lines alone are taken. In a hunk of which only some lines are taken,
    /// removed lines that stay stand before the added ones, as they do on the screen.
    pub fn composed(&self) -> Composed {
        self.composed_where(|decision| decision == Decision::Accepted)
    }

    /// What the file becomes when the lines with the decisions that `take` names are taken.
    pub(crate) fn composed_where(&self, take: impl Fn(Decision) -> bool) -> Composed {
        let is_taken = |item: &ReviewHunk| match item.line_count() {
            0 => take(item.decision()),
            count => (0..count).any(|line| take(item.line_decision(line))),
        };
        if !self.hunks.iter().any(is_taken) {
            return Composed::Untouched;
        }
        match (&self.change, &self.proposed) {
            (FileChange::Delete, _) | (_, None) => Composed::Deleted,
            (FileChange::Modify, Some(_)) => {
                let base = self.base.as_deref().unwrap_or_default();
                let (old, new) = self.split_texts();
                let mut text = Weave::new(base);
                let mut at = 0;
                for item in &self.hunks {
                    text.push(old.get(at..item.hunk.base.start).unwrap_or_default());
                    text.push(&taken(item, &old, &new, &take));
                    at = item.hunk.base.end;
                }
                text.push(old.get(at..).unwrap_or_default());
                // What the user wrote himself may be what the file says.
                if text.text == base { Composed::Untouched } else { Composed::Text(text.text) }
            }
            (_, Some(proposed)) => Composed::Text(proposed.to_string()),
        }
    }

    /// How many hunks stand where.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.hunks.iter().for_each(|hunk| counts.add(hunk.decision()));
        counts
    }

    /// Whether hunks of it can be taken apart: it is neither new nor gone nor moved.
    pub(crate) fn is_divisible(&self) -> bool {
        self.change == FileChange::Modify
    }

    /// The lines of base and proposed.
    pub(crate) fn split_texts(&self) -> (Vec<&str>, Vec<&str>) {
        let (base, proposed) = (self.base.as_deref(), self.proposed.as_deref());
        (lines::split(base.unwrap_or_default()), lines::split(proposed.unwrap_or_default()))
    }

    /// Takes a hunk apart into its smallest parts. Into how many; 1 if it has no parts.
    pub(crate) fn split(&mut self, hunk: usize) -> usize {
        self.split_by(hunk, |item, removed, added| {
            let mut parts = split::parts(removed, added);
            let last = parts.len().saturating_sub(1);
            let mut number = 0;
            // Lines that hunks were joined over are no change.
            parts.retain(|(old, new)| {
                number += 1;
                let inner = number > 1 && number <= last && !item.is_divided();
                !inner || removed.get(old.clone()) != added.get(new.clone())
            });
            parts
        })
    }

    /// Takes a hunk apart before its line number `line`; false at its ends.
    pub(crate) fn split_at(&mut self, hunk: usize, line: usize) -> bool {
        let halves = |removed: &[&str], added: &[&str]| {
            let (i, j) = split::cut(removed, added, line)?;
            Some(vec![(0..i, 0..j), (i..removed.len(), j..added.len())])
        };
        self.split_by(hunk, |_, removed, added| halves(removed, added).unwrap_or_default()) > 1
    }

    /// Makes some lines of a hunk, with their versions, a hunk of its own; its index. `None` if nothing is left beside it.
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

    /// Takes a hunk apart into what `parts` makes of its removed and its added lines. Into how many; 1 if that is no parts.
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

    /// Makes a hunk and the next one of the file one. False if there is none.
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

    /// Puts `text` in place of the lines that a hunk adds. Its line ends become those of the file. False if there is no such
    /// hunk, or its file is to go, or it adds that text already.
    pub(crate) fn rewrite(&mut self, hunk: usize, text: &str) -> bool {
        let (Some(item), Some(proposed)) = (self.hunks.get(hunk), self.proposed.clone()) else {
            return false;
        };
        let base = self.base.clone().unwrap_or_else(|| proposed.clone());
        let new = lines::split(&proposed);
        let before = new.get(item.hunk.proposed.clone()).unwrap_or_default().concat();
        let text = ended_like(text, &base, item.hunk.proposed.end == new.len());
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
            FileChange::Modify => woven(&base, items),
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

/// A hunk, and the lines that it adds.
pub(crate) type Item<'t> = (ReviewHunk, Vec<&'t str>);

/// The text that `base` becomes with all of these hunks, and the hunks with their places in it. Their places in `base` count.
pub(crate) fn woven(base: &str, items: Vec<Item<'_>>) -> (String, Vec<ReviewHunk>) {
    let old = lines::split(base);
    let (mut text, mut hunks, mut at) = (Weave::new(base), Vec::with_capacity(items.len()), 0);
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

/// The lines that stand in the place of a hunk when the lines with the decisions that `take` names are taken.
pub(crate) fn taken<'t>(
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

/// A text as it grows, line by line.
pub(crate) struct Weave {
    pub(crate) text: String,
    /// How many lines it has.
    pub(crate) lines: usize,
    ending: LineEnding,
}

impl Weave {
    /// A text that will be like `base`.
    pub(crate) fn new(base: &str) -> Self {
        Self { text: String::with_capacity(base.len()), lines: 0, ending: LineEnding::dominant(base) }
    }

    pub(crate) fn push(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| lines::push(&mut self.text, line, self.ending));
        self.lines += lines.len();
    }
}

/// `text` with the line ends of `base`, unless it has some of both kinds itself; and with one at its end, unless it is to
/// stand at the end of the file.
pub(crate) fn ended_like(text: &str, base: &str, is_last: bool) -> String {
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
