//! The lock of the index, held while a branch moves.
//!
//! Like git, a commit locks the index, moves the branch, and then installs the new index. Without the lock, another
//! git process could write the index in between. The index would keep its old content, and the reverse of the commit
//! would appear as staged.
//!
//! The process may be killed between the last two steps. Therefore each lock has a record next to it, on which the
//! process holds a file lock. A record without a file lock belongs to a killed process:
//! [`Repo::finish_interrupted_commits`] updates the index if the branch has moved, and removes the lock.

use super::error::GitError;
use super::open;
use super::prepare::{Change, bare_entry, entry_at};
use super::repo::{Repo, short_id};
use git2::Oid;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// How often to check whether the lock is free.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);

const PREFIX: &str = "rhumb-commit-";

/// Text in the lock file for a user who finds it.
const EXPLANATION: &str = "rhumb holds this lock during a commit. If no rhumb runs here, start it: it finishes the commit and removes \
                           the lock.";

/// Maximum number of bytes that are read of a record or a lock file.
const MAX_RECORD_BYTES: u64 = 4096;

/// Maximum time that a branch stays locked after the record was written. An empty lock file created later belongs to
/// another process.
const MAX_BRANCH_LOCK_AGE: Duration = Duration::from_secs(2);

/// A commit whose process was killed after the branch had moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptedCommit {
    /// Abbreviated id of the commit.
    pub short_id: String,
    /// First line of its message.
    pub subject: String,
    /// Why the index could not be updated. The next start or commit tries again.
    pub failed: Option<String>,
}

/// The lock of the index. Dropping it releases the lock, unless the branch has moved and the index was not updated.
#[derive(Debug)]
pub(crate) struct IndexLock<'r> {
    repo: &'r Repo,
    path: PathBuf,
    record: NamedTempFile,
    text: String,
}

/// Returns whether there is a record of a commit in the repository of a folder. Does not open the repository.
pub fn has_interrupted_commits(workdir: &Path) -> bool {
    open::git_folder(workdir).is_some_and(|folder| !records(&folder).is_empty())
}

/// Returns the records in git's own folder.
fn records(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_record = |name: &str| name.starts_with(PREFIX) && !name.contains('.');
    let records = files.filter(|file| file.file_name().to_str().is_some_and(is_record));
    records.map(|file| file.path()).collect()
}

impl Repo {
    /// Locks the index. Waits for another process for at most the lock timeout of the repository.
    ///
    /// # Errors
    /// Another process holds the lock for that time, or no file can be created next to the index.
    pub(crate) fn lock_index(&self) -> Result<IndexLock<'_>, GitError> {
        let path = self.index_file("index.lock");
        let (mut waited, mut finished) = (Duration::ZERO, false);
        loop {
            match IndexLock::new(self, &path) {
                Ok(lock) => return Ok(lock),
                // `NotFound`: another process removed the record before it was locked.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                Err(source) => return Err(GitError::Lock { lock: path, source }),
            }
            if !finished {
                finished = true;
                self.finish_interrupted_commits();
                continue;
            }
            if waited >= self.lock_timeout {
                let age = fs::symlink_metadata(&path).and_then(|meta| meta.modified()).ok();
                let age = age.and_then(|time| time.elapsed().ok()).map(|age| age.as_secs());
                return Err(GitError::Locked { lock: path, age_seconds: age });
            }
            std::thread::sleep(LOCK_POLL_INTERVAL);
            waited += LOCK_POLL_INTERVAL;
        }
    }

    fn index_file(&self, name: &str) -> PathBuf {
        self.inner.path().join(name)
    }

    /// Completes the commits of killed processes and removes their lock files. Returns those whose branch had moved,
    /// so that the index had to be updated.
    pub fn finish_interrupted_commits(&self) -> Vec<InterruptedCommit> {
        records(self.inner.path()).iter().filter_map(|record| self.finish(record)).collect()
    }

    fn finish(&self, record: &Path) -> Option<InterruptedCommit> {
        let file = OpenOptions::new().read(true).write(true).open(record).ok()?;
        file.try_lock().ok()?;
        let text = read_start(record).ok()?;
        let moved = self.moved_by(&text);
        let lock = self.index_file("index.lock");
        let is_own = |lock: &Path| read_start(lock).is_ok_and(|held| held.lines().next() == text.lines().next());
        let mut followed = Ok(false);
        if let Some((from, to)) = &moved {
            // The user may have removed the lock file. If another process holds the lock now, the next call tries
            // again.
            if !is_own(&lock) && link(record, &lock, &text).is_err() {
                return None;
            }
            followed = self.prepare_index(*from, *to, &[], record);
            if let Ok(true) = followed {
                followed = self.install_index(record).map(|()| true);
            }
        }
        if followed.is_ok() {
            self.remove_branch_lock(record, &text);
            if text.is_empty() || !is_own(&lock) || fs::remove_file(&lock).is_ok() {
                remove_with_record(record);
            }
        }
        let failed = match followed {
            Ok(false) => return None,
            followed => followed.err(),
        };
        let commit = self.inner.find_commit(moved?.1).ok()?;
        Some(InterruptedCommit {
            short_id: short_id(&commit).unwrap_or_default(),
            subject: String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()).into_owned(),
            failed: failed.map(|error| error.to_string()),
        })
    }

    /// Returns the lock file of the branch, or of a detached HEAD, which each work tree has for itself.
    pub(crate) fn branch_lock(&self) -> PathBuf {
        match self.head_position().ok().and_then(|head| head.branch) {
            Some(branch) => self.inner.commondir().join(format!("{branch}.lock")),
            None => self.index_file("HEAD.lock"),
        }
    }

    /// Removes the lock file that libgit2 left for the branch. It is empty or contains the id of the recorded commit.
    fn remove_branch_lock(&self, record: &Path, text: &str) {
        let Some(to) = field(text, "to") else { return };
        let lock = self.branch_lock();
        let modified = |path: &Path| fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
        let is_of_then = || {
            let after = modified(&lock)?.duration_since(modified(record)?).ok()?;
            Some(after <= MAX_BRANCH_LOCK_AGE)
        };
        let is_own = match read_start(&lock) {
            Ok(held) if held.is_empty() => is_of_then().unwrap_or(false),
            Ok(held) => held.trim_end() == to,
            Err(_) => false,
        };
        if is_own {
            fs::remove_file(&lock).ok();
        }
    }

    /// Returns the move of the branch that a record describes. `None` if the branch has not moved, or has moved on
    /// since.
    fn moved_by(&self, record: &str) -> Option<(Option<Oid>, Oid)> {
        let from = match field(record, "from")? {
            "none" => None,
            id => Some(Oid::from_str(id).ok()?),
        };
        let head = self.parent().ok()??;
        let moved = match field(record, "to") {
            Some(to) => Oid::from_str(to).ok()? == head.id(),
            // If hooks run, the git program makes the commit, and its id is not known in advance.
            None => head.parent_id(0).ok() == from && Some(head.id()) != from,
        };
        moved.then(|| (from, head.id()))
    }

    /// Writes the index for the time after the move of the branch, next to the record. Updates the entries of the
    /// files that differ between both commits, except those with other staged content. `changes` provides the
    /// expected index entries and the file times. Returns whether the result differs from the current index.
    fn prepare_index(&self, from: Option<Oid>, to: Oid, changes: &[Change], record: &Path) -> Result<bool, GitError> {
        let failed = GitError::when("bring the index up to date");
        let written = |source| GitError::Lock { lock: self.index_file("index"), source };
        let tree = |id: Oid| self.inner.find_commit(id).and_then(|commit| commit.tree());
        let (before, after) = (from.map(tree).transpose().map_err(failed)?, tree(to).map_err(failed)?);
        let next = next_index(record);
        // Left behind by a process that was killed while writing.
        fs::remove_file(record.with_extension("index.lock")).ok();
        copy_with_times(&self.index_file("index"), &next).map_err(written)?;
        // libgit2 detects files that changed while the index was written only if the index belongs to a repository.
        let owner = open::open(self.inner.path())?;
        let mut index = git2::Index::open(&next).map_err(failed)?;
        owner.set_index(&mut index).map_err(failed)?;
        let mut differs = false;
        let diff = self.inner.diff_tree_to_tree(before.as_ref(), Some(&after), None).map_err(failed)?;
        for delta in diff.deltas() {
            let file = if delta.new_file().exists() { delta.new_file() } else { delta.old_file() };
            let Some(path) = file.path().and_then(Path::to_str) else { continue };
            let ours = changes.iter().find(|change| change.path == path);
            let (old, new) = (delta.old_file(), delta.new_file());
            let in_head = old.exists().then(|| (old.id(), u32::from(old.mode())));
            let expected = ours.map_or(in_head, |change| change.in_index);
            let made = new.exists().then(|| (new.id(), u32::from(new.mode())));
            let now = entry_at(&index, path);
            if ![expected, in_head, made].contains(&now) {
                continue;
            }
            differs |= now != made;
            match (made, ours.filter(|change| change.entry_after() == made).and_then(|change| change.after.as_ref())) {
                (None, _) => drop(index.remove(Path::new(path), 0)),
                // Includes the times of the file.
                (Some(_), Some(entry)) => index.add(entry).map_err(failed)?,
                (Some((id, mode)), None) => index.add(&bare_entry(path.to_owned(), id, mode)).map_err(failed)?,
            }
        }
        index.write().map_err(failed)?;
        Ok(differs)
    }

    /// Installs the index that was written next to a record. The lock must be held.
    fn install_index(&self, record: &Path) -> Result<(), GitError> {
        let index = self.index_file("index");
        fs::rename(next_index(record), &index).map_err(|source| GitError::Lock { lock: index, source })?;
        // Updates the copy that libgit2 has in memory.
        self.inner.index().and_then(|mut index| index.read(true)).map_err(GitError::when("read the index"))
    }
}

impl<'r> IndexLock<'r> {
    fn new(repo: &'r Repo, path: &Path) -> io::Result<Self> {
        let folder = repo.inner.path();
        let mut record = tempfile::Builder::new().prefix(PREFIX).suffix("").tempfile_in(folder)?;
        // Without support for file locks this fails, but so does the check in `finish`, so no record is mistaken for
        // that of a killed process.
        record.as_file().try_lock().ok();
        let name = record.path().file_name().unwrap_or_default().display();
        let text = format!("{name}\n{EXPLANATION}\n");
        record.write_all(text.as_bytes())?;
        link(record.path(), path, &text)?;
        Ok(Self { repo, path: path.to_owned(), record, text })
    }

    /// Writes the index for the time after the branch has moved, without installing it.
    ///
    /// # Errors
    /// The index or a commit cannot be read, or the index cannot be written.
    pub(crate) fn prepare(&self, from: Option<Oid>, to: Oid, changes: &[Change]) -> Result<(), GitError> {
        self.repo.prepare_index(from, to, changes, self.record.path()).map(drop)
    }

    /// Records that the branch is about to move. The target may not be known yet.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(crate) fn moves(&mut self, from: Option<Oid>, to: Option<Oid>) -> Result<(), GitError> {
        let from = from.map_or_else(|| "none".to_owned(), |from| from.to_string());
        let to = to.map(|to| format!("to {to}\n")).unwrap_or_default();
        let text = format!("from {from}\n{to}");
        let written = self.record.write_all(text.as_bytes());
        written.map_err(|source| GitError::Lock { lock: self.record.path().to_owned(), source })?;
        self.text += &text;
        Ok(())
    }

    /// Installs the prepared index and releases the lock.
    ///
    /// # Errors
    /// The index cannot be installed. The lock and the record stay, so that nothing is committed with the old index.
    /// The next commit or start completes the update.
    pub(crate) fn install(mut self) -> Result<(), GitError> {
        self.repo.install_index(self.record.path())?;
        self.text.clear();
        Ok(())
    }
}

impl Drop for IndexLock<'_> {
    fn drop(&mut self) {
        if self.repo.moved_by(&self.text).is_some() {
            self.record.disable_cleanup(true);
            return;
        }
        fs::remove_file(next_index(self.record.path())).ok();
        // If the lock file cannot be removed, the record stays, and the next start removes both.
        self.record.disable_cleanup(fs::remove_file(&self.path).is_err());
    }
}

fn field<'t>(record: &'t str, name: &str) -> Option<&'t str> {
    record.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

fn next_index(record: &Path) -> PathBuf {
    record.with_extension("index")
}

fn remove_with_record(record: &Path) {
    // libgit2 writes an index to a file with the suffix `.lock` first.
    for path in [next_index(record), record.with_extension("index.lock"), record.to_owned()] {
        fs::remove_file(path).ok();
    }
}

/// Creates the lock file as a hard link to the record, so that it is never empty. An empty lock file could belong to
/// any process.
fn link(record: &Path, lock: &Path, text: &str) -> io::Result<()> {
    match fs::hard_link(record, lock) {
        Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
            // Not every file system supports hard links.
            File::create_new(lock)?.write_all(text.as_bytes())
        }
        result => result,
    }
}

/// Copies a file with its modification time, by which git detects files that changed after the index was written.
/// Does nothing if the file does not exist.
fn copy_with_times(from: &Path, to: &Path) -> io::Result<()> {
    let modified = match fs::copy(from, to) {
        Ok(_) => fs::metadata(from)?.modified()?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    OpenOptions::new().write(true).open(to)?.set_modified(modified)
}

/// Reads the beginning of a small text file.
fn read_start(path: &Path) -> io::Result<String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    // Opening a pipe would block.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    File::open(path)?.take(MAX_RECORD_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Fixture;

    /// A repository in which the branch was moved to a second commit and the index was not updated, as after a kill.
    struct Killed {
        fixture: Fixture,
        from: git2::Oid,
        to: git2::Oid,
    }

    const RECORD: &str = "rhumb-commit-dead01";

    impl Killed {
        fn new() -> Self {
            let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("gone", "1")]);
            let from = fixture.tip().unwrap();
            fixture.put("a", "2");
            fixture.put("new", "1");
            fs::remove_file(fixture.dir.path().join("gone")).unwrap();
            let index = fs::read(fixture.git.path().join("index")).unwrap();
            fixture.commit(&["a", "new", "gone"]).unwrap();
            let to = fixture.tip().unwrap();
            fs::write(fixture.git.path().join("index"), index).unwrap();
            assert_eq!(fixture.staged("a").as_deref(), Some("1"), "the reverse of the commit is staged");
            // Something that the user has staged since.
            fixture.put("b", "mine");
            fixture.stage("b");
            Self { fixture, from, to }
        }

        fn put(&self, name: &str, text: &str) {
            fs::write(self.fixture.git.path().join(name), text).unwrap();
        }

        fn record(&self) -> String {
            format!("{RECORD}\nfrom {}\nto {}\n", self.from, self.to)
        }

        /// Names of the remaining lock files and records.
        fn left(&self) -> Vec<String> {
            let mut left = Vec::new();
            for folder in ["", "refs/heads"] {
                let files = fs::read_dir(self.fixture.git.path().join(folder)).unwrap();
                let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
                left.extend(names.filter(|name| name.ends_with(".lock") || name.starts_with("rhumb-")));
            }
            left.sort();
            left
        }

        fn assert_followed(&self) {
            let git = &self.fixture;
            assert_eq!((git.staged("a").as_deref(), git.staged("new").as_deref()), (Some("2"), Some("1")));
            assert_eq!((git.staged("gone"), git.staged("b").as_deref()), (None, Some("mine")));
            assert_eq!(self.left(), [""; 0]);
        }
    }

    #[test]
    fn the_index_is_updated_if_the_branch_has_moved() {
        let without_id = |killed: &Killed| format!("{RECORD}\nfrom {}\n", killed.from);
        for text in [Killed::record, without_id] {
            let killed = Killed::new();
            let text = text(&killed);
            killed.put(RECORD, &text);
            killed.put("index.lock", &text);
            killed.put(&format!("{RECORD}.index"), "cut sh");
            let done = killed.fixture.repo().finish_interrupted_commits();
            let [commit] = done.as_slice() else { panic!("{done:?}") };
            assert_eq!((commit.subject.as_str(), &commit.failed), ("Change things", &None));
            killed.assert_followed();
            assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
        }
    }

    #[test]
    fn the_index_is_updated_even_if_the_lock_was_removed() {
        let killed = Killed::new();
        killed.put(RECORD, &killed.record());
        assert_eq!(killed.fixture.repo().finish_interrupted_commits().len(), 1);
        killed.assert_followed();
    }

    #[test]
    fn the_next_commit_completes_an_interrupted_one() {
        let killed = Killed::new();
        killed.put(RECORD, &killed.record());
        killed.put("index.lock", &killed.record());
        killed.fixture.put("a", "3");
        killed.fixture.commit(&["a"]).unwrap();
        assert_eq!((killed.fixture.staged("a").as_deref(), killed.fixture.staged("gone")), (Some("3"), None));
        assert_eq!(killed.left(), [""; 0]);
    }

    #[test]
    fn only_the_locks_are_removed_if_the_branch_has_not_moved() {
        for (branch_lock, stays) in [(None, false), (Some(""), false), (Some("to"), false), (Some("another"), true)] {
            let killed = Killed::new();
            killed.fixture.git.reference("refs/heads/main", killed.from, true, "back").unwrap();
            killed.put(RECORD, &killed.record());
            killed.put("index.lock", RECORD);
            if let Some(text) = branch_lock {
                let text = if text == "to" { format!("{}\n", killed.to) } else { text.to_owned() };
                killed.put("refs/heads/main.lock", &text);
            }
            let index = fs::read(killed.fixture.git.path().join("index")).unwrap();
            assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
            assert_eq!(fs::read(killed.fixture.git.path().join("index")).unwrap(), index);
            assert_eq!(killed.left().as_slice(), if stays { &["main.lock"][..] } else { &[] }, "{branch_lock:?}");
        }
    }

    #[test]
    fn the_lock_of_another_process_is_left_alone() {
        let killed = Killed::new();
        killed.put(RECORD, &killed.record());
        killed.put("index.lock", "");
        assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
        assert_eq!(killed.left(), ["index.lock", RECORD]);
        fs::remove_file(killed.fixture.git.path().join("index.lock")).unwrap();
        assert_eq!(killed.fixture.repo().finish_interrupted_commits().len(), 1);
        killed.assert_followed();

        // A running process holds a file lock on its record.
        let killed = Killed::new();
        let repo = killed.fixture.repo();
        let held = repo.lock_index().unwrap();
        assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
        assert!(matches!(killed.fixture.repo().lock_index(), Err(GitError::Locked { .. })));
        drop(held);
        assert_eq!(killed.left(), [""; 0]);
    }

    #[test]
    fn an_empty_record_is_removed_without_a_foreign_lock() {
        for text in ["", "\n", "rhumb", "\0\u{fffd}"] {
            let killed = Killed::new();
            killed.put(RECORD, text);
            killed.put("index.lock", "");
            assert_eq!(killed.fixture.repo().finish_interrupted_commits(), [], "{text:?}");
            assert_eq!(killed.left(), ["index.lock"], "{text:?}");
        }
    }
}
