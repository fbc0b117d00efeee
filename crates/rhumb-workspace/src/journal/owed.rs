//! Commits that are owed: as long as files are written and a commit of them is to follow, a note in the journal's folder names them.
//! Its writer holds the note's lock, so a note that nobody holds is of a process that died before it could commit.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Journal, files_in};

/// How the name of a note begins.
const PREFIX: &str = "owed-";

/// A commit that is to follow a write. Whoever drops it has made the commit, or has told why not.
#[derive(Debug)]
pub struct OwedCommit {
    /// Removed with it.
    _note: NamedTempFile,
}

impl Journal {
    /// Notes that these files, relative to the root, are to be committed. Nothing where that cannot be noted: the note is for the case
    /// that the process dies, and the write does not depend on it.
    pub fn owe_commit(&self, paths: &[String]) -> Option<OwedCommit> {
        // Makes the folder where there is none.
        drop(self.hold().ok()?);
        let mut note = tempfile::Builder::new().prefix(PREFIX).tempfile_in(&self.folder).ok()?;
        note.as_file().try_lock().ok()?;
        note.write_all(serde_json::to_string(paths).ok()?.as_bytes()).ok()?;
        Some(OwedCommit { _note: note })
    }

    /// The files of writes whose process died before it could commit them. They are named once: the notes are gone then.
    pub fn never_committed(&self) -> BTreeSet<String> {
        let notes = files_in(&self.folder).into_iter().filter(|path| is_note(path));
        notes.filter_map(|note| abandoned(&note)).flatten().collect()
    }
}

fn is_note(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
}

/// What a note says that nobody holds; it is removed.
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
    use crate::Root;

    #[test]
    fn a_note_that_nobody_holds_is_read_once() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::new(state.path(), &Root::at(folder.path()).unwrap());
        assert!(journal.never_committed().is_empty());
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        drop(journal.owe_commit(&names(&["made"])).unwrap());
        let _held = journal.owe_commit(&names(&["held"])).unwrap();
        let dead = journal.owe_commit(&names(&["b\n c", "a"])).unwrap();
        // As after a kill: the lock is gone, and the note is not.
        dead._note.keep().unwrap();
        fs::write(journal.folder().join("owed-broken"), "[").unwrap();
        assert_eq!(journal.never_committed().into_iter().collect::<Vec<_>>(), ["a", "b\n c"]);
        assert!(journal.never_committed().is_empty());
        assert_eq!(files_in(journal.folder()).iter().filter(|path| is_note(path)).count(), 1, "what is held stays");
        assert_eq!(journal.newest(), 0, "a note is no record");
    }
}
