//! What earlier surveys knew: the record of each file that has not changed since, and of each content.

use std::collections::HashMap;

use super::SurveyStart;
use crate::store::{ContentKey, KnownFile, StoredSegment};
use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::RecordId;
use rhumb_workspace::FileEntry;

/// Stands for the content of a file that was never read; no content that is known has it.
pub(super) const UNREAD: u64 = 0;

/// What earlier surveys knew.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    pub(super) segments: Vec<StoredSegment>,
    /// How much of each file is to be known.
    pub(super) depth: Depth,
    /// In path order.
    files: Vec<KnownFile>,
    /// Where the record of a content is.
    contents: HashMap<ContentKey, RecordId>,
    /// Whether the store holds all of this.
    pub(super) stored: bool,
    /// Whether the store held something that was of no use.
    pub(super) rebuilt: bool,
}

impl KnownFiles {
    /// Takes over the survey before, or what the store has.
    pub(super) fn new(start: SurveyStart<'_>, depth: Depth) -> Self {
        let mut known = match (start.before, start.store) {
            (Some(before), _) => Self {
                segments: before.segments.clone(),
                files: before.known.clone(),
                stored: !before.unsaved,
                ..Self::default()
            },
            (None, Some(store)) => {
                let loaded = store.load(start.with_terms);
                let (segments, files) = (loaded.segments, loaded.files);
                Self { segments, files, stored: !loaded.rebuilt, rebuilt: loaded.rebuilt, ..Self::default() }
            }
            (None, None) => Self::default(),
        };
        known.depth = depth;
        // Newer segments come later, and what they say of a content is as good.
        for (segment, stored) in (0u32..).zip(&known.segments) {
            let records = (0u32..).map(|record| RecordId { segment, record });
            known.contents.extend(stored.keys.iter().copied().zip(records));
        }
        known
    }

    /// The record of a file that has not changed; `Some(None)` for one that is known to have none.
    pub(super) fn unchanged(&self, entry: &FileEntry) -> Option<Option<RecordId>> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(&entry.path)).ok()?;
        let file = self.files.get(at)?;
        (entry.stamp != 0 && file.stamp == self.stamp(entry)).then_some(file.record)
    }

    /// Whether nobody would miss a file that is not read: it never was.
    pub(super) fn may_leave(&self, entry: &FileEntry) -> bool {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(&entry.path)).ok();
        at.and_then(|at| self.files.get(at)).is_none_or(|file| file.stamp == UNREAD)
    }

    /// What stands for the content of a file and how much of it is known: what was read to another depth is read again.
    pub(super) fn stamp(&self, entry: &FileEntry) -> u64 {
        entry.stamp ^ u64::from(self.depth == Depth::Headers)
    }

    /// The record of a content.
    pub(super) fn content(&self, key: ContentKey) -> Option<RecordId> {
        self.contents.get(&key).copied()
    }

    /// Whether nothing is known at all.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// How many files are not as they were known, new and vanished ones included.
    pub(super) fn differs_by(&self, files: &[KnownFile]) -> usize {
        let (mut old, mut differing) = (self.files.iter().peekable(), 0);
        for file in files {
            while old.next_if(|old| old.path < file.path).is_some() {
                differing += 1;
            }
            let same = old.next_if(|old| old.path == file.path).is_some_and(|old| old.stamp == file.stamp);
            differing += usize::from(!same);
        }
        differing + old.count()
    }
}
