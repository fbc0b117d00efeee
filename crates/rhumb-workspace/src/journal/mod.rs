//! The journal of writes: what makes a write finishable after a crash, and undoable without git.
//!
//! One folder for each root below the user's state folder, never in the work tree. Before the first file changes, a record
//! with both contents of every file is written there and synced; its name says how far things are:
//!
//! ```text
//! 0000000007.done      written; can be undone
//! 0000000008.undoing   being undone …
//! 0000000009.undone    … and undone; can be done again, until something else is written
//! 0000000010.doing     being written, for the first time or again
//! ```
//!
//! A record never changes, only its name does, and a rename is whole or has not happened. Whoever holds the lock of the
//! folder and sees a record that is `doing` or `undoing` therefore knows that its writer has died: [`recover`] sees to it.
//! A record that turns out to be damaged is moved aside, to its name with `.damaged` behind it. Commits that are still to be made of
//! what is written are noted beside the records.

mod commits;
mod owed;
mod record;
mod recover;
mod undo;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use xxhash_rust::xxh3::xxh3_64;

use super::error::WriteError;
use super::fault::fault;
use super::form::TextForm;
use super::root::Root;
pub use owed::OwedCommit;
pub(super) use record::{Change, Illegible, Record, Version};
pub(super) use recover::settle_unfinished;
pub use recover::{Recovered, Recovery, recover, unfinished};
pub use undo::{Direction, Unwritten, last_write, undo};

/// Writes that are kept …
const KEPT_WRITES: usize = 200;
/// … and their bytes, whichever is reached first. The newest write is kept whatever its size.
const KEPT_BYTES: u64 = 256 * 1024 * 1024;
/// The journal of a root where nothing was written for as long as this is removed.
const UNUSED_FOR: Duration = Duration::from_secs(90 * 86_400);
/// How often to look for those.
const SWEEP_EVERY: Duration = Duration::from_secs(86_400);
/// The file in which a journal notes its root.
const ROOT_NOTE: &str = "root";
/// What stands behind the name of a record that was moved aside.
const DAMAGED: &str = "damaged";
/// How long to wait for another process that writes in the same root, and how often to look.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const LOCK_POLL: Duration = Duration::from_millis(20);
/// How long to wait for it to see to what was interrupted: a write takes less, and nobody's start is to be held up.
const LOOK_PATIENCE: Duration = Duration::from_millis(200);

/// Where the writes of one root are recorded.
#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
    /// The root that it is of.
    root: PathBuf,
}

/// What writes did to one file, as texts; `None` where there was no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the root.
    pub path: String,
    /// Before the first of them.
    pub before: Option<String>,
    /// After the last.
    pub after: Option<String>,
}

/// The text in the bytes of a file, whatever form it has there.
fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    let bytes = bytes?;
    let lossy = String::from_utf8_lossy(&bytes).into_owned();
    Some(TextForm::decode(bytes).map_or(lossy, |(text, _)| text))
}

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum JournalError {
    /// Another process holds it.
    #[error("another rhumb is writing here")]
    Busy,
    /// The system refused.
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl From<JournalError> for WriteError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Busy => Self::Busy,
            JournalError::Io { .. } => Self::Journal { cause: error.to_string() },
        }
    }
}

/// How far a recorded write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Doing,
    Done,
    Undoing,
    Undone,
}

const STAGES: [(Stage, &str); 4] =
    [(Stage::Doing, "doing"), (Stage::Done, "done"), (Stage::Undoing, "undoing"), (Stage::Undone, "undone")];

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(STAGES.iter().find(|(stage, _)| stage == self).map_or("", |(_, name)| name))
    }
}

/// A record by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) stage: Stage,
}

/// The journal while this process alone may use it.
#[derive(Debug)]
pub(super) struct Held<'a> {
    journal: &'a Journal,
    /// Let go when it is closed, also by a death of the process.
    _lock: File,
}

impl Journal {
    /// The journal of a root, below the user's `state` folder. Nothing is made or read yet.
    pub fn new(state: &Path, root: &Root) -> Self {
        let path = root.path();
        let name = path.file_name().unwrap_or(OsStr::new("root")).to_string_lossy();
        let plain: String = name.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let hash = xxh3_64(path.as_os_str().as_encoded_bytes());
        Self { folder: state.join("journal").join(format!("{plain}-{hash:016x}")), root: path.to_owned() }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The number of the last write; 0 before the first.
    pub fn newest(&self) -> u64 {
        self.last_number().unwrap_or(0)
    }

    /// The same, where it matters that it is right.
    fn last_number(&self) -> io::Result<u64> {
        let number = |path: PathBuf| path.file_name()?.to_str()?.split_once('.')?.0.parse().ok();
        // Those that were moved aside count, so that no number is given twice.
        Ok(list(&self.folder)?.into_iter().filter_map(number).max().unwrap_or(0))
    }

    /// What the writes after that number did to each file, those that were undone aside: its content before the first of them
    /// and after the last, in the order of the paths. Files that ended as they began are left out, and so are damaged records.
    pub fn changes_after(&self, number: u64) -> Vec<FileChange> {
        let mut files: BTreeMap<String, [Option<Vec<u8>>; 2]> = BTreeMap::new();
        let written = |entry: &Entry| entry.number > number && entry.stage == Stage::Done;
        for entry in self.entries().unwrap_or_default().into_iter().filter(written) {
            let record = self.read(entry).ok();
            for Change { path, before, after, .. } in record.into_iter().flat_map(|record| record.files) {
                let after = after.map(|version| version.bytes);
                match files.entry(path) {
                    Slot::Occupied(mut known) => known.get_mut()[1] = after,
                    Slot::Vacant(new) => drop(new.insert([before.map(|version| version.bytes), after])),
                }
            }
        }
        let changed = files.into_iter().filter(|(_, [before, after])| before != after);
        changed.map(|(path, [before, after])| FileChange { path, before: text(before), after: text(after) }).collect()
    }

    /// Waits for the lock, and makes the folder where there is none.
    pub(super) fn hold(&self) -> Result<Held<'_>, JournalError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder).map_err(|error| self.failed(error))?;
        // Without the note a write is found from its own root alone.
        self.note_root().ok();
        self.hold_within(LOCK_PATIENCE)
    }

    /// The lock, if it is free at some moment of that time and the folder is there.
    fn hold_within(&self, patience: Duration) -> Result<Held<'_>, JournalError> {
        let start = Instant::now();
        loop {
            match self.try_hold() {
                Err(JournalError::Busy) if start.elapsed() < patience => std::thread::sleep(LOCK_POLL),
                outcome => return outcome,
            }
        }
    }

    /// Notes which root the journal is of, for those who work in a folder above or below it.
    fn note_root(&self) -> io::Result<()> {
        let note = self.folder.join(ROOT_NOTE);
        let path = self.root.as_os_str().as_encoded_bytes();
        if fs::read(&note).is_ok_and(|noted| noted == path) {
            return Ok(());
        }
        // What is there, if anything, is a beginning of it.
        private_file(&note)?.write_all(path)
    }

    /// The journals of roots above and below this one in which a write has not come to its end.
    fn open_neighbours(&self) -> Vec<Self> {
        let folders = self.folder.parent().map(files_in).unwrap_or_default();
        let journal = |folder: PathBuf| {
            // What is no text leads nowhere; its folder is told of when it is worked in itself.
            let root = PathBuf::from(fs::read_to_string(folder.join(ROOT_NOTE)).ok()?);
            let is_near = root != self.root && (root.starts_with(&self.root) || self.root.starts_with(&root));
            Some(Self { folder, root }).filter(|journal| is_near && journal.has_open().unwrap_or(false))
        };
        folders.into_iter().filter_map(journal).collect()
    }

    /// Whether a write has not come to its end.
    fn has_open(&self) -> Result<bool, JournalError> {
        Ok(self.entries()?.iter().any(|entry| entry.is_open()))
    }

    /// The lock, if nobody has it and the folder is there.
    fn try_hold(&self) -> Result<Held<'_>, JournalError> {
        let lock = private_file(&self.folder.join("lock")).map_err(|error| self.failed(error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Held { journal: self, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy),
            Err(TryLockError::Error(error)) => Err(self.failed(error)),
        }
    }

    /// The records, oldest first.
    fn entries(&self) -> Result<Vec<Entry>, JournalError> {
        let paths = list(&self.folder).map_err(|error| self.failed(error))?;
        let mut entries: Vec<Entry> =
            paths.iter().filter_map(|path| Entry::named(path.file_name()?.to_str()?)).collect();
        entries.sort_by_key(|entry| entry.number);
        Ok(entries)
    }

    fn path(&self, entry: Entry) -> PathBuf {
        self.folder.join(format!("{:010}.{}", entry.number, entry.stage))
    }

    fn read(&self, entry: Entry) -> Result<Record, Illegible> {
        record::decode(&fs::read(self.path(entry)).map_err(Illegible::Unreadable)?)
    }

    fn failed(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.folder.clone(), source }
    }
}

impl Entry {
    fn named(name: &str) -> Option<Self> {
        let (number, stage) = name.split_once('.')?;
        let (stage, _) = STAGES.iter().find(|(_, name)| *name == stage)?;
        Some(Self { number: number.parse().ok()?, stage: *stage })
    }

    /// Whether its writer has not come to an end.
    pub(super) fn is_open(self) -> bool {
        matches!(self.stage, Stage::Doing | Stage::Undoing)
    }
}

impl Held<'_> {
    /// The records, oldest first.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, JournalError> {
        self.journal.entries()
    }

    /// Records a write that is about to begin. It is on disk when this returns.
    pub(super) fn begin(
        &self,
        message: Option<&str>,
        folders: &[String],
        files: &[&Change],
    ) -> Result<Entry, JournalError> {
        // A number that is given twice would take the place of another record.
        let number = self.journal.last_number().map_err(|error| self.journal.failed(error))? + 1;
        let entry = Entry { number, stage: Stage::Doing };
        let write = || {
            fault()?;
            let mut file = tempfile::Builder::new().prefix("new-").tempfile_in(&self.journal.folder)?;
            file.write_all(&record::encode(message, folders, files))?;
            fault()?;
            file.as_file().sync_all()?;
            fault()?;
            file.persist_noclobber(self.journal.path(entry)).map_err(|error| error.error)?;
            sync_folder(&self.journal.folder)
        };
        write().map_err(|error| {
            self.forget(entry);
            self.journal.failed(error)
        })?;
        Ok(entry)
    }

    /// Says how far a write is now.
    pub(super) fn mark(&self, entry: Entry, stage: Stage) -> Result<Entry, JournalError> {
        let next = Entry { stage, ..entry };
        let rename = || {
            fault()?;
            fs::rename(self.journal.path(entry), self.journal.path(next))?;
            // The end of a write need not last: a record found open again turns out to be finished.
            if next.is_open() {
                sync_folder(&self.journal.folder)?;
            }
            fault()
        };
        rename().map_err(|error| self.journal.failed(error))?;
        Ok(next)
    }

    /// What a record says.
    pub(super) fn read(&self, entry: Entry) -> Result<Record, Illegible> {
        self.journal.read(entry)
    }

    /// Where a record is.
    pub(super) fn path(&self, entry: Entry) -> PathBuf {
        self.journal.path(entry)
    }

    /// Moves a record that is damaged out of the way, whole; where it is now.
    pub(super) fn set_aside(&self, entry: Entry) -> Result<PathBuf, JournalError> {
        let mut aside = self.journal.path(entry).into_os_string();
        aside.push(".");
        aside.push(DAMAGED);
        let aside = PathBuf::from(aside);
        fs::rename(self.journal.path(entry), &aside).map_err(|error| self.journal.failed(error))?;
        Ok(aside)
    }

    /// Forgets a record.
    pub(super) fn forget(&self, entry: Entry) {
        fs::remove_file(self.journal.commit_note(entry.number)).ok();
        fs::remove_file(self.journal.path(entry)).ok();
    }

    /// After a write: what was undone before it cannot be done again, and the oldest writes make room.
    pub(super) fn tidy(&self) {
        let (mut count, mut bytes, mut is_full) = (0, 0, false);
        for entry in self.entries().unwrap_or_default().into_iter().rev() {
            count += 1;
            bytes += fs::metadata(self.journal.path(entry)).map_or(0, |meta| meta.len());
            is_full |= count > 1 && (count > KEPT_WRITES || bytes > KEPT_BYTES);
            if !entry.is_open() && (is_full || entry.stage == Stage::Undone) {
                self.forget(entry);
            }
        }
        for path in files_in(&self.journal.folder) {
            // A record that its writer did not live to finish, or one that nobody has looked at for long.
            let is_begun = path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("new-"));
            let is_aside = path.extension().is_some_and(|extension| extension == DAMAGED);
            if is_begun || (is_aside && age(&path).is_some_and(|age| age > UNUSED_FOR)) {
                fs::remove_file(path).ok();
            }
        }
        self.sweep_others();
    }

    /// Once in a while, removes the journals of roots where nothing was written for long.
    fn sweep_others(&self) {
        let Some(all) = self.journal.folder.parent() else { return };
        let stamp = all.join("swept");
        if age(&stamp).is_some_and(|age| age < SWEEP_EVERY) || mark(&stamp).is_err() {
            return;
        }
        for folder in files_in(all) {
            let other = Journal { folder, root: PathBuf::new() };
            if other.folder == self.journal.folder || !other.folder.join("lock").exists() {
                continue;
            }
            let unused = files_in(&other.folder).iter().all(|file| age(file).is_some_and(|age| age > UNUSED_FOR));
            if unused
                && other.has_open().is_ok_and(|is_open| !is_open)
                && let Ok(_held) = other.try_hold()
            {
                fs::remove_dir_all(&other.folder).ok();
            }
        }
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    list(folder).unwrap_or_default()
}

/// The paths in a folder; none where there is no folder.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fault()?;
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// How long ago a file was changed last.
fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(fs::metadata(path).ok()?.modified().ok()?).ok()
}

/// Makes what happened in a folder last. A file system that cannot do that says so, which is no failure: the file systems that lose
/// what was not synced can.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match fault().and_then(|()| File::open(folder)).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Opens a file that only the user can read, and makes it where there is none.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Notes the time on a file.
fn mark(stamp: &Path) -> io::Result<()> {
    private_file(stamp)?.set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests;
