//! Commits of recorded writes: the commit that was made of a write, and commits that are still pending.

use super::files_in;
use super::{Journal, private_file};
use std::collections::BTreeSet;
use std::fs;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use tempfile::NamedTempFile;

/// Extension of the file with the commit id, next to the record of the write.
const COMMIT_EXTENSION: &str = "commit";

impl Journal {
    /// Notes the id of the commit that was made of a write. If this fails, an undo of the write keeps the commit.
    pub fn note_commit(&self, number: u64, id: &str) {
        let path = self.commit_note(number);
        fs::remove_file(&path).ok();
        private_file(&path).and_then(|mut file| file.write_all(id.as_bytes())).ok();
    }

    /// Returns the commit that was noted for a write.
    pub fn commit_of(&self, number: u64) -> Option<String> {
        fs::read_to_string(self.commit_note(number)).ok().filter(|id| !id.is_empty())
    }

    pub(crate) fn commit_note(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:010}.{COMMIT_EXTENSION}"))
    }
}

/// Prefix of the names of notes of pending commits. The writer holds a file lock on its note, so a note without a
/// lock belongs to a process that was killed before it could commit.
const PENDING_PREFIX: &str = "owed-";

/// A commit that is to follow a write. Drop it when the commit was made, or when its failure was reported.
#[derive(Debug)]
pub struct PendingCommit {
    /// The note is deleted on drop.
    _note: NamedTempFile,
}

impl Journal {
    /// Notes that these files, relative to the root, are to be committed.
    ///
    /// Returns `None` if the note cannot be written. The write does not depend on it: the note only matters if the
    /// process is killed.
    pub fn note_pending_commit(&self, paths: &[String]) -> Option<PendingCommit> {
        // Creates the folder of the journal if it does not exist.
        drop(self.lock().ok()?);
        let mut note = tempfile::Builder::new().prefix(PENDING_PREFIX).tempfile_in(&self.folder).ok()?;
        note.as_file().try_lock().ok()?;
        note.write_all(serde_json::to_string(paths).ok()?.as_bytes()).ok()?;
        Some(PendingCommit { _note: note })
    }

    /// Returns the files of writes whose process was killed before it could commit them, and removes their notes.
    pub fn take_abandoned_commits(&self) -> BTreeSet<String> {
        let notes = files_in(&self.folder).into_iter().filter(|path| is_note(path));
        notes.filter_map(|note| abandoned(&note)).flatten().collect()
    }
}

fn is_note(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PENDING_PREFIX))
}

/// Reads and removes a note that no process holds.
fn abandoned(note: &Path) -> Option<Vec<String>> {
    let file = OpenOptions::new().read(true).write(true).open(note).ok()?;
    file.try_lock().ok()?;
    let paths = fs::read(note).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    fs::remove_file(note).ok()?;
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, FileWrite, Root, last_write, undo, write};

    #[test]
    fn the_commit_of_a_write_is_known_until_the_write_is_forgotten() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = Root::at(folder.path()).unwrap();
        let journal = Journal::new(state.path(), &root);
        let put = |path: &str| {
            let file = FileWrite { path: path.into(), expected: None, content: Some("1\n".into()), renamed_from: None };
            write(&root, Some(&journal), &[file], Some("Add")).unwrap().number.unwrap()
        };
        let first = put("a");
        assert_eq!(journal.commit_of(first), None);
        journal.note_commit(first, "a longer id");
        journal.note_commit(first, "id");
        assert_eq!(last_write(&journal, Direction::Undo).map(|last| last.number), Some(first));
        undo(&root, &journal, Direction::Undo).unwrap();
        assert_eq!(journal.commit_of(first).as_deref(), Some("id"), "it is needed to redo the write");
        let second = put("b");
        assert!(second > first);
        assert_eq!(journal.commit_of(first), None);
    }

    #[test]
    fn an_abandoned_note_is_read_once() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::new(state.path(), &Root::at(folder.path()).unwrap());
        assert!(journal.take_abandoned_commits().is_empty());
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        drop(journal.note_pending_commit(&names(&["made"])).unwrap());
        let _locked = journal.note_pending_commit(&names(&["locked"])).unwrap();
        let dead = journal.note_pending_commit(&names(&["b\n c", "a"])).unwrap();
        // As after a kill: the note remains, but its lock is released.
        dead._note.keep().unwrap();
        fs::write(journal.folder.join("owed-broken"), "[").unwrap();
        assert_eq!(journal.take_abandoned_commits().into_iter().collect::<Vec<_>>(), ["a", "b\n c"]);
        assert!(journal.take_abandoned_commits().is_empty());
        assert_eq!(files_in(&journal.folder).iter().filter(|path| is_note(path)).count(), 1, "what is locked stays");
        assert_eq!(journal.newest(), 0, "a note is no record");
    }
}
