//! The lock of the index, held while a branch moves.
//!
//! As git does, a commit locks the index, moves the branch, and then puts the new index in place. If the branch moved first, another
//! git process could take the lock in between. The index would keep its old content and hold the reverse of the commit as staged.
//!
//! A process may be killed between the last two steps. So each lock has a record in a file beside it, and its process holds a file
//! lock on the record. A record without a file lock belongs to a process that died: [`Repo::finish_interrupted_commits`] updates the
//! index if the branch has moved, and removes the lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::Oid;
use tempfile::NamedTempFile;

use super::error::GitError;
use super::open;
use super::repo::{Repo, short_id};
use super::take::{Change, bare_entry, holds};

/// While waiting for a lock, how often to look.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// How the name of a record begins.
const PREFIX: &str = "rhumb-commit-";

/// What somebody reads who looks into a lock that was left behind.
const EXPLANATION: &str = "rhumb holds this lock during a commit. If no rhumb runs here, start it: it finishes the commit and removes \
                           the lock.";

/// Most bytes that are read of a record or a lock.
const MOST_BYTES: u64 = 4096;

/// How long after its record was written a branch is locked at most. An empty lock that is younger is of another process.
const MOVE_TIME: Duration = Duration::from_secs(2);

/// A commit whose process died after the branch had moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptedCommit {
    /// Abbreviated id of the commit that the branch is at.
    pub short_id: String,
    /// The first line of its message.
    pub subject: String,
    /// Why the index could not be brought to it. It is tried again the next time.
    pub failed: Option<String>,
}

/// The lock of the index. Dropping it releases the lock, unless the branch has moved and the index has not followed.
#[derive(Debug)]
pub(super) struct IndexLock<'r> {
    repo: &'r Repo,
    /// `index.lock`.
    path: PathBuf,
    record: NamedTempFile,
    /// What the record says.
    text: String,
}

/// Whether a process left a record of a commit in the repository of a folder. The repository is not opened for that.
pub fn has_interrupted_commits(workdir: &Path) -> bool {
    open::git_folder(workdir).is_some_and(|folder| !records(&folder).is_empty())
}

/// The records in git's own folder.
fn records(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_record = |name: &str| name.starts_with(PREFIX) && !name.contains('.');
    let records = files.filter(|file| file.file_name().to_str().is_some_and(is_record));
    records.map(|file| file.path()).collect()
}

impl Repo {
    /// Locks the index; waits for another process that holds it, up to the patience of the repository.
    ///
    /// # Errors
    /// Another process holds the lock all that time, or no file can be made beside the index.
    pub(super) fn lock_index(&self) -> Result<IndexLock<'_>, GitError> {
        let path = self.index_file("index.lock");
        let (mut waited, mut finished) = (Duration::ZERO, false);
        loop {
            match IndexLock::new(self, &path) {
                Ok(lock) => return Ok(lock),
                // NotFound: another process removed the record before it was locked.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                Err(source) => return Err(GitError::Lock { lock: path, source }),
            }
            if !finished {
                finished = true;
                self.finish_interrupted_commits();
                continue;
            }
            if waited >= self.lock_patience {
                let age = fs::symlink_metadata(&path).and_then(|meta| meta.modified()).ok();
                let age = age.and_then(|time| time.elapsed().ok()).map(|age| age.as_secs());
                return Err(GitError::Locked { lock: path, age_seconds: age });
            }
            std::thread::sleep(LOCK_POLL);
            waited += LOCK_POLL;
        }
    }

    fn index_file(&self, name: &str) -> PathBuf {
        self.inner.path().join(name)
    }

    /// Sees to commits whose process died: where the branch had moved, the index follows; otherwise nothing had changed. Their lock files
    /// are removed. Returns the commits of the first kind.
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
            // Somebody may have removed the lock. Where another process has it now, there is a next time.
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

    /// Removes the lock that libgit2 left at the branch: it holds the id of the commit of the record, or nothing yet.
    fn remove_branch_lock(&self, record: &Path, text: &str) {
        let Some(to) = field(text, "to") else { return };
        let lock = match self.mark().ok().and_then(|mark| mark.branch) {
            Some(branch) => self.inner.commondir().join(format!("{branch}.lock")),
            None => self.index_file("HEAD.lock"),
        };
        let modified = |path: &Path| fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
        let is_of_then = || {
            let after = modified(&lock)?.duration_since(modified(record)?).ok()?;
            Some(after <= MOVE_TIME)
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

    /// From where to where a branch has moved, by the record of the process that moved it. `None` if it has not, or went on since.
    fn moved_by(&self, record: &str) -> Option<(Option<Oid>, Oid)> {
        let from = match field(record, "from")? {
            "none" => None,
            id => Some(Oid::from_str(id).ok()?),
        };
        let head = self.parent().ok()??;
        let moved = match field(record, "to") {
            Some(to) => Oid::from_str(to).ok()? == head.id(),
            // The git program makes the commit where hooks run, and the id is not known before.
            None => head.parent_id(0).ok() == from && Some(head.id()) != from,
        };
        moved.then(|| (from, head.id()))
    }

    /// Writes the index for the time after the branch has moved, beside a record. It updates the entries of the files that differ between
    /// the two commits, except those with other staged content. `changes` has the earlier content of the index, and the times of the files.
    /// Returns whether it differs from the index.
    fn prepare_index(&self, from: Option<Oid>, to: Oid, changes: &[Change], record: &Path) -> Result<bool, GitError> {
        let failed = GitError::when("bring the index up to date");
        let written = |source| GitError::Lock { lock: self.index_file("index"), source };
        let tree = |id: Oid| self.inner.find_commit(id).and_then(|commit| commit.tree());
        let (before, after) = (from.map(tree).transpose().map_err(failed)?, tree(to).map_err(failed)?);
        let next = next_index(record);
        // A process that was killed while it wrote that index left its lock.
        fs::remove_file(record.with_extension("index.lock")).ok();
        copy_with_times(&self.index_file("index"), &next).map_err(written)?;
        // libgit2 checks the files that changed while the index was written only if the index belongs to a repository.
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
            let now = holds(&index, path);
            if ![expected, in_head, made].contains(&now) {
                continue;
            }
            differs |= now != made;
            match (made, ours.filter(|change| change.held_after() == made).and_then(|change| change.after.as_ref())) {
                (None, _) => drop(index.remove(Path::new(path), 0)),
                // The times of the file go along.
                (Some(_), Some(entry)) => index.add(entry).map_err(failed)?,
                (Some((id, mode)), None) => index.add(&bare_entry(path.to_owned(), id, mode)).map_err(failed)?,
            }
        }
        index.write().map_err(failed)?;
        Ok(differs)
    }

    /// Puts the index in place that was written beside a record. The lock must be held.
    fn install_index(&self, record: &Path) -> Result<(), GitError> {
        let index = self.index_file("index");
        fs::rename(next_index(record), &index).map_err(|source| GitError::Lock { lock: index, source })?;
        // What libgit2 has read before is old.
        self.inner.index().and_then(|mut index| index.read(true)).map_err(GitError::when("read the index"))
    }
}

impl<'r> IndexLock<'r> {
    fn new(repo: &'r Repo, path: &Path) -> io::Result<Self> {
        let folder = repo.inner.path();
        let mut record = tempfile::Builder::new().prefix(PREFIX).suffix("").tempfile_in(folder)?;
        // Where file locks do not work, the check in `finish` fails too, and no record is taken for that of a dead process.
        record.as_file().try_lock().ok();
        let name = record.path().file_name().unwrap_or_default().display();
        let text = format!("{name}\n{EXPLANATION}\n");
        record.write_all(text.as_bytes())?;
        link(record.path(), path, &text)?;
        Ok(Self { repo, path: path.to_owned(), record, text })
    }

    /// Writes the index that is to follow when the branch moves from one commit to another, without putting it in place.
    ///
    /// # Errors
    /// The index or a commit cannot be read, or the index not be written.
    pub(super) fn prepare(&self, from: Option<Oid>, to: Oid, changes: &[Change]) -> Result<(), GitError> {
        self.repo.prepare_index(from, to, changes, self.record.path()).map(drop)
    }

    /// Records that the branch is about to move from one commit to another, which may not be known yet.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(super) fn moves(&mut self, from: Option<Oid>, to: Option<Oid>) -> Result<(), GitError> {
        let from = from.map_or_else(|| "none".to_owned(), |from| from.to_string());
        let to = to.map(|to| format!("to {to}\n")).unwrap_or_default();
        let text = format!("from {from}\n{to}");
        let written = self.record.write_all(text.as_bytes());
        written.map_err(|source| GitError::Lock { lock: self.record.path().to_owned(), source })?;
        self.text += &text;
        Ok(())
    }

    /// Puts the index that was prepared in place, and releases the lock.
    ///
    /// # Errors
    /// It cannot be put in place. The lock and the record stay, so that nothing is committed with the old index, and what is missing is
    /// done at the next commit or start.
    pub(super) fn install(mut self) -> Result<(), GitError> {
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
        // With its record, the next start removes it.
        self.record.disable_cleanup(fs::remove_file(&self.path).is_err());
    }
}

/// What a record says after a word.
fn field<'t>(record: &'t str, name: &str) -> Option<&'t str> {
    record.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

/// The index that is to come, beside its record.
fn next_index(record: &Path) -> PathBuf {
    record.with_extension("index")
}

fn remove_with_record(record: &Path) {
    // libgit2 writes an index to a file with this suffix first.
    for path in [next_index(record), record.with_extension("index.lock"), record.to_owned()] {
        fs::remove_file(path).ok();
    }
}

/// Makes the lock from the record, so that it has content from its first moment on: a lock without any could be anybody's.
fn link(record: &Path, lock: &Path, text: &str) -> io::Result<()> {
    match fs::hard_link(record, lock) {
        Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
            // Not every file system has links.
            File::create_new(lock)?.write_all(text.as_bytes())
        }
        result => result,
    }
}

/// A copy with the time of its last change, by which an index tells which files may have changed after it was written. Nothing where
/// there is no such file.
fn copy_with_times(from: &Path, to: &Path) -> io::Result<()> {
    let modified = match fs::copy(from, to) {
        Ok(_) => fs::metadata(from)?.modified()?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    OpenOptions::new().write(true).open(to)?.set_modified(modified)
}

/// The beginning of a small text file.
fn read_start(path: &Path) -> io::Result<String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    // A pipe would be waited for.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
