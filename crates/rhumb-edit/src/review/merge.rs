//! A review continues: some hunks were written, or another proposal arrived.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use super::Review;
use super::file::{Composed, FileReview, Item, TextBuilder, accepted_lines, compose_items};
use super::hunk::{Decision, ReviewHunk};
use super::marks::HunkMark;
use crate::outcome::Flag;
use crate::proposal::{FileProposal, PendingFile};

impl Review {
    /// Updates the review after the accepted hunks of `path` were written. They are part of the base now, rejected
    /// hunks are removed, and pending ones are kept. A file without hunks is removed. Clears the undo history,
    /// because undo cannot take back a write.
    pub fn settle(&mut self, path: &str) {
        self.clear_history();
        let Some(index) = self.files.iter().position(|file| file.path == path) else {
            return;
        };
        if let Composed::Text(_) | Composed::Deleted = self.files[index].composed() {
            self.files[index].settle();
        }
        if self.files[index].hunks.is_empty() {
            self.files.remove(index);
        }
    }

    /// Removes the files of which every hunk is rejected.
    pub fn drop_rejected(&mut self) {
        self.files.retain(|file| file.counts().rejected < file.hunks.len());
        self.clear_history();
    }

    /// The changes that are not rejected, on top of which a newer answer is applied.
    pub fn pending_changes(&self) -> Vec<PendingFile> {
        self.files.iter().filter_map(FileReview::pending_changes).collect()
    }

    /// The changes of all hunks: path, removed and added lines.
    pub fn changes(&self) -> BTreeSet<(String, String, String)> {
        self.files.iter().flat_map(FileReview::changes).collect()
    }

    /// Marks the hunks whose changes are not among these.
    pub fn mark_others(&mut self, known: &BTreeSet<(String, String, String)>, mark: &HunkMark) {
        for file in &mut self.files {
            for (item, change) in file.changes().iter().enumerate() {
                if !known.contains(change) {
                    file.hunks[item].marks.push(mark.clone());
                }
            }
        }
    }

    /// Merges a newer review. Hunks with the same change keep their decisions, and so do hunks that the newer
    /// review does not touch. Returns the paths of files in which a hunk was replaced that was not rejected and had
    /// no comment.
    pub fn merge(&mut self, newer: Self) -> Vec<String> {
        self.merge_with(newer, false)
    }

    /// Merges a newer review that was made on top of all hunks that are not rejected: what it does not have was taken
    /// back. Hunks with the same change keep their decisions, and rejected ones stay.
    pub fn merge_complete(&mut self, newer: Self) -> Vec<String> {
        self.merge_with(newer, true)
    }

    fn merge_with(&mut self, newer: Self, is_complete: bool) -> Vec<String> {
        let mut replaced = Vec::new();
        let newer_paths: Vec<String> = newer.files.iter().map(|file| file.path.clone()).collect();
        for mut file in newer.files {
            match self.files.iter_mut().find(|old| old.path == file.path) {
                Some(old) => {
                    if !file.adopt(old, is_complete) {
                        replaced.push(file.path.clone());
                    }
                    *old = file;
                }
                None => self.files.push(file),
            }
        }
        // An answer does not resolve a conflict with the disk, unless it is about that file.
        let files = &newer_paths;
        let mut conflicts = std::mem::take(&mut self.refused);
        conflicts.retain(|outcome| outcome.is_conflict() && !files.contains(&outcome.path));
        self.refused = [conflicts, newer.refused].concat();
        self.clear_history();
        replaced
    }
}

impl FileReview {
    /// Makes accepted hunks part of the base, and keeps the pending ones.
    fn settle(&mut self) {
        if !self.is_divisible() {
            return self.hunks.clear();
        }
        let (old, new) = self.split_texts();
        let (mut base, mut at) = (TextBuilder::new(self.base.as_deref().unwrap_or_default()), 0);
        // The ranges of pending hunks in the new base, and their new lines.
        let mut open: Vec<(&ReviewHunk, Range<usize>, Vec<&str>)> = Vec::new();
        for item in &self.hunks {
            base.push(old.get(at..item.hunk.base.start).unwrap_or_default());
            let start = base.lines;
            base.push(&accepted_lines(item, &old, &new, &|decision| decision == Decision::Accepted));
            at = item.hunk.base.end;
            if item.decision() == Decision::Pending {
                let wanted = accepted_lines(item, &old, &new, &|decision| decision != Decision::Rejected);
                open.push((item, start..base.lines, wanted));
            }
        }
        base.push(old.get(at..).unwrap_or_default());
        let lines = lines::split(&base.text);
        let items =
            open.into_iter().flat_map(|(item, range, wanted)| remaining_hunks(item, &lines, range, wanted)).collect();
        let (proposed, hunks) = compose_items(&base.text, items);
        (self.base, self.proposed, self.hunks) = (Some(Arc::from(base.text)), Some(Arc::from(proposed)), hunks);
    }

    /// The change of each hunk: path, removed and added lines.
    fn changes(&self) -> Vec<(String, String, String)> {
        let (old, new) = self.split_texts();
        let text = |lines: &[&str], range: &Range<usize>| lines.get(range.clone()).unwrap_or_default().concat();
        let change =
            |item: &ReviewHunk| (self.path.clone(), text(&old, &item.hunk.base), text(&new, &item.hunk.proposed));
        self.hunks.iter().map(change).collect()
    }

    /// The file with all hunks that are not rejected; `None` if all are rejected.
    fn pending_changes(&self) -> Option<PendingFile> {
        let proposed = match self.composed_with_pending() {
            Composed::Untouched => return None,
            Composed::Text(text) => Some(Arc::from(text)),
            Composed::Deleted => None,
        };
        let commented = self.hunks.iter().filter(|item| self.is_divisible() && item.comments().next().is_some());
        let commented = commented.map(|item| item.hunk.base.clone()).collect();
        let (path, change, base) = (self.path.clone(), self.change.clone(), self.base.clone());
        Some(PendingFile { file: FileProposal { path, change, base, proposed }, commented })
    }

    /// Takes over the hunks of `older` that this proposal has too or does not touch. Returns `false` if a hunk is
    /// lost that was not rejected and had no comment.
    /// If the proposal `is_complete`, hunks that it does not have are not taken over, unless they are rejected.
    fn adopt(&mut self, older: &Self, is_complete: bool) -> bool {
        self.comment.clone_from(&older.comment);
        // The user requested another version of the hunks with a comment.
        let is_open = |item: &ReviewHunk| item.decision() != Decision::Rejected && item.comments().next().is_none();
        if self.base != older.base || self.change != older.change {
            return !older.hunks.iter().any(is_open);
        }
        if self.proposed == older.proposed {
            older.hunks.clone_into(&mut self.hunks);
            return true;
        }
        if !self.is_divisible() {
            let is_doubted = |item: &ReviewHunk| item.has_flag(Flag::DoubtfulName);
            if let (true, Some(own)) = (older.hunks.iter().any(is_doubted), self.hunks.first_mut())
                && !is_doubted(own)
            {
                own.marks.push(HunkMark::Flag(Flag::DoubtfulName));
            }
            return !older.hunks.iter().any(is_open);
        }
        let (own_text, old_text) = (self.proposed.clone(), older.proposed.clone());
        let own = lines::split(own_text.as_deref().unwrap_or_default());
        let old_items = older.items(&lines::split(old_text.as_deref().unwrap_or_default()));
        let groups: Vec<&[Item<'_>]> =
            old_items.chunk_by(|(one, _), (two, _)| one.hunk.base.end == two.hunk.base.start).collect();
        let mut taken = vec![false; groups.len()];
        let mut items: Vec<Item<'_>> = Vec::new();
        for (item, added) in self.items(&own) {
            match groups.iter().position(|group| is_same_proposal(group, &item.hunk.base, &added)) {
                Some(index) => {
                    taken[index] = true;
                    items.extend(groups[index].iter().cloned());
                }
                None => items.push((item, added)),
            }
        }
        let mut is_all = true;
        for (group, _) in groups.iter().zip(taken).filter(|(_, taken)| !taken) {
            let is_free = group.iter().all(|(item, _)| items.iter().all(|(other, _)| !touch(&item.hunk, &other.hunk)));
            let is_taken_back = is_complete && group.iter().any(|(item, _)| item.decision() != Decision::Rejected);
            if is_free && !is_taken_back {
                items.extend(group.iter().cloned());
            }
            is_all &= is_free || !group.iter().any(|(item, _)| is_open(item));
        }
        items.sort_by_key(|(item, _)| (item.hunk.base.start, item.hunk.base.end));
        let (proposed, hunks) = compose_items(self.base.as_deref().unwrap_or_default(), items);
        (self.proposed, self.hunks) = (Some(Arc::from(proposed)), hunks);
        is_all
    }
}

/// Whether two hunks change the same lines of the base, or touch.
fn touch(one: &Hunk, other: &Hunk) -> bool {
    one.base.start <= other.base.end && other.base.start <= one.base.end
}

/// Whether hunks that touch make this change.
fn is_same_proposal(group: &[Item<'_>], base: &Range<usize>, added: &[&str]) -> bool {
    let range =
        group.first().zip(group.last()).map(|((first, _), (last, _))| first.hunk.base.start..last.hunk.base.end);
    let original = |(item, lines): &Item<'_>| item.original().map_or_else(|| lines.concat(), str::to_owned);
    let is_said = |text: String| text == added.concat();
    let current = || group.iter().flat_map(|(_, lines)| lines.iter().copied()).collect::<String>();
    range.as_ref() == Some(base) && (is_said(group.iter().map(original).collect()) || is_said(current()))
}

/// The remaining hunks after some lines of a hunk were accepted: they replace `range` of `lines` with `wanted`.
fn remaining_hunks<'t>(item: &ReviewHunk, lines: &[&str], range: Range<usize>, wanted: Vec<&'t str>) -> Vec<Item<'t>> {
    if !item.has_line_decisions() {
        let mut item = item.clone();
        item.hunk.base = range;
        return vec![(item, wanted)];
    }
    let hunks = diff::line_hunks(lines.get(range.clone()).unwrap_or_default(), &wanted);
    let moved = |hunk: Hunk| {
        let base = hunk.base.start + range.start..hunk.base.end + range.start;
        let added = wanted.get(hunk.proposed.clone()).unwrap_or_default().to_vec();
        (ReviewHunk::new(Hunk { base, ..hunk }, item.marks.clone()).made_by(&item.edits), added)
    };
    let mut left: Vec<Item<'_>> = hunks.into_iter().map(moved).collect();
    // The comments on its lines become comments on the first remaining hunk.
    let notes = item.comments().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
    if let Some((first, _)) = left.first_mut() {
        first.note(None, &notes);
    }
    left
}
