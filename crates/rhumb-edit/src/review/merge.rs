//! A review goes on: part of it was written, or another proposal came in.

use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use super::Review;
use super::file::{Composed, FileReview, Item, Weave, taken, woven};
use super::hunk::{Decision, ReviewHunk};
use crate::outcome::Flag;
use crate::proposal::{FileProposal, StandingFile};

impl Review {
    /// After `path` was written with its accepted hunks: they are part of the base now, refused ones are gone, and
    /// pending ones stay to be decided. A file with nothing left leaves the review. Clears the undo history, because
    /// taking back a decision cannot take back a write.
    pub fn settle(&mut self, path: &str) {
        self.forget_steps();
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

    /// Drops the files whose every hunk was rejected: they have been answered.
    pub fn drop_rejected(&mut self) {
        self.files.retain(|file| file.counts().rejected < file.hunks.len());
        self.forget_steps();
    }

    /// What a newer answer is put upon: all that is not rejected.
    pub fn standing(&self) -> Vec<StandingFile> {
        self.files.iter().filter_map(FileReview::standing).collect()
    }

    /// Takes in a newer review. What it proposes as the older one did keeps what was said of it, and so does what it has nothing else
    /// in the place of; the paths of which something is gone that was undecided or accepted, without a comment, are returned.
    pub fn merge(&mut self, newer: Self) -> Vec<String> {
        let mut replaced = Vec::new();
        let newer_paths: Vec<String> = newer.files.iter().map(|file| file.path.clone()).collect();
        for mut file in newer.files {
            match self.files.iter_mut().find(|old| old.path == file.path) {
                Some(old) => {
                    if !file.adopt(old) {
                        replaced.push(file.path.clone());
                    }
                    *old = file;
                }
                None => self.files.push(file),
            }
        }
        // A conflict with the disk is nothing that an answer settles, unless it is about that file.
        let files = &newer_paths;
        let mut conflicts = std::mem::take(&mut self.refused);
        conflicts.retain(|outcome| outcome.is_conflict() && !files.contains(&outcome.path));
        self.refused = [conflicts, newer.refused].concat();
        self.forget_steps();
        replaced
    }
}

impl FileReview {
    /// Makes what was accepted part of the base, and leaves what is pending.
    fn settle(&mut self) {
        if !self.is_divisible() {
            return self.hunks.clear();
        }
        let (old, new) = self.split_texts();
        let (mut base, mut at) = (Weave::new(self.base.as_deref().unwrap_or_default()), 0);
        // The places of open hunks in the new base, and the lines that then stand there.
        let mut open: Vec<(&ReviewHunk, Range<usize>, Vec<&str>)> = Vec::new();
        for item in &self.hunks {
            base.push(old.get(at..item.hunk.base.start).unwrap_or_default());
            let start = base.lines;
            base.push(&taken(item, &old, &new, &|decision| decision == Decision::Accepted));
            at = item.hunk.base.end;
            if item.decision() == Decision::Pending {
                let wanted = taken(item, &old, &new, &|decision| decision != Decision::Rejected);
                open.push((item, start..base.lines, wanted));
            }
        }
        base.push(old.get(at..).unwrap_or_default());
        let lines = lines::split(&base.text);
        let items = open.into_iter().flat_map(|(item, place, wanted)| left_over(item, &lines, place, wanted)).collect();
        let (proposed, hunks) = woven(&base.text, items);
        (self.base, self.proposed, self.hunks) = (Some(Arc::from(base.text)), Some(Arc::from(proposed)), hunks);
    }

    /// The file with all of it that is not rejected; `None` if that is nothing.
    fn standing(&self) -> Option<StandingFile> {
        let proposed = match self.composed_where(|decision| decision != Decision::Rejected) {
            Composed::Untouched => return None,
            Composed::Text(text) => Some(Arc::from(text)),
            Composed::Deleted => None,
        };
        let noted = self.hunks.iter().filter(|item| self.is_divisible() && item.comments().next().is_some());
        let noted = noted.map(|item| item.hunk.base.clone()).collect();
        let (path, change, base) = (self.path.clone(), self.change.clone(), self.base.clone());
        Some(StandingFile { file: FileProposal { path, change, base, proposed }, noted })
    }

    /// Takes over the hunks of `older`, with what was said of them, that this proposal has as well or has nothing else in the place
    /// of. False if one of them is gone that was neither rejected nor noted on.
    fn adopt(&mut self, older: &Self) -> bool {
        self.comment.clone_from(&older.comment);
        // What has a comment was asked for anew.
        let is_open = |item: &ReviewHunk| item.decision() != Decision::Rejected && item.comments().next().is_none();
        if self.base != older.base || self.change != older.change {
            return !older.hunks.iter().any(is_open);
        }
        if self.proposed == older.proposed {
            older.hunks.clone_into(&mut self.hunks);
            return true;
        }
        if !self.is_divisible() {
            let doubtful = Flag::DoubtfulName.name();
            let is_doubted = |item: &&ReviewHunk| item.marks.iter().any(|mark| mark == doubtful);
            if let (Some(_), Some(own)) = (older.hunks.iter().find(is_doubted), self.hunks.first_mut())
                && !is_doubted(&&*own)
            {
                own.marks.push(doubtful.to_owned());
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
            match groups.iter().position(|group| proposes(group, &item.hunk.base, &added)) {
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
            if is_free {
                items.extend(group.iter().cloned());
            }
            is_all &= is_free || !group.iter().any(|(item, _)| is_open(item));
        }
        items.sort_by_key(|(item, _)| (item.hunk.base.start, item.hunk.base.end));
        let (proposed, hunks) = woven(self.base.as_deref().unwrap_or_default(), items);
        (self.proposed, self.hunks) = (Some(Arc::from(proposed)), hunks);
        is_all
    }
}

/// Whether two hunks stand in the same lines of the base, or side by side.
fn touch(one: &Hunk, other: &Hunk) -> bool {
    one.base.start <= other.base.end && other.base.start <= one.base.end
}

/// Whether hunks that touch were proposed as those lines in that place.
fn proposes(group: &[Item<'_>], base: &Range<usize>, added: &[&str]) -> bool {
    let place =
        group.first().zip(group.last()).map(|((first, _), (last, _))| first.hunk.base.start..last.hunk.base.end);
    let original = |(item, lines): &Item<'_>| item.original().map_or_else(|| lines.concat(), str::to_owned);
    let is_said = |text: String| text == added.concat();
    let current = || group.iter().flat_map(|(_, lines)| lines.iter().copied()).collect::<String>();
    place.as_ref() == Some(base) && (is_said(group.iter().map(original).collect()) || is_said(current()))
}

/// The hunks that are left of one of which some lines were taken: at `place` among `lines`, where `wanted` shall stand.
fn left_over<'t>(item: &ReviewHunk, lines: &[&str], place: Range<usize>, wanted: Vec<&'t str>) -> Vec<Item<'t>> {
    if !item.is_divided() {
        let mut item = item.clone();
        item.hunk.base = place;
        return vec![(item, wanted)];
    }
    let hunks = diff::line_hunks(lines.get(place.clone()).unwrap_or_default(), &wanted);
    let moved = |hunk: Hunk| {
        let base = hunk.base.start + place.start..hunk.base.end + place.start;
        let added = wanted.get(hunk.proposed.clone()).unwrap_or_default().to_vec();
        (ReviewHunk::new(Hunk { base, ..hunk }, item.marks.clone()).made_by(&item.edits), added)
    };
    let mut left: Vec<Item<'_>> = hunks.into_iter().map(moved).collect();
    // Its lines have moved, but not out of it: what was noted on them is noted on what is left.
    let notes = item.comments().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
    if let Some((first, _)) = left.first_mut() {
        first.note(None, &notes);
    }
    left
}
