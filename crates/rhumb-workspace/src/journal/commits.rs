//! The commits of writes: beside the record of a write, a file holds the id of the commit that followed it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use super::{Journal, private_file};

/// The extension of such a file.
const COMMIT: &str = "commit";

impl Journal {
    /// Notes which commit a write was committed as. Where that cannot be noted, the write is undone without dropping the commit.
    pub fn note_commit(&self, number: u64, id: &str) {
        let path = self.commit_note(number);
        fs::remove_file(&path).ok();
        private_file(&path).and_then(|mut file| file.write_all(id.as_bytes())).ok();
    }

    /// The commit that was noted for a write.
    pub fn commit_of(&self, number: u64) -> Option<String> {
        fs::read_to_string(self.commit_note(number)).ok().filter(|id| !id.is_empty())
    }

    pub(super) fn commit_note(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:010}.{COMMIT}"))
    }
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
}
