//! The journal of writes. It makes writes recoverable after a crash, and undoable without git.
//!
//! Each root has its own folder below the user's state folder, never in the work tree. Before the first file changes,
//! a record with the old and the new content of every file is written there and synced. Its name shows the state of
//! the write:
//!
//! ```text
//! 0000000007.done      written; can be undone
//! 0000000008.undoing   being undone
//! 0000000009.undone    undone; can be redone until the next write
//! 0000000010.doing     being written or redone
//! ```
//!
//! Records are immutable. Only their names change, and a rename is atomic. A process that holds the lock of the
//! folder and finds a record in the state `doing` or `undoing` therefore knows that its writer was killed.
//! [`recover`] handles such records. Damaged records are moved aside by adding `.damaged` to their names.

mod commits;
mod record;
mod recover;
mod undo;

use super::fault::fault;
use crate::{JournalError, Root, TextEncoding, WriteError};
pub use commits::PendingCommit;
pub(crate) use record::{Record, RecordError, RecordedChange, Version};
pub(crate) use recover::recover_unfinished;
pub use recover::{Recovered, Recovery, recover, unfinished_writes};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
pub use undo::{Direction, UndoOutcome, last_write, undo};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of writes that are kept.
const MAX_WRITES: usize = 200;
/// Maximum size in bytes of all records. The newest write is kept whatever its size.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// A journal without writes for this long is removed.
const MAX_UNUSED: Duration = Duration::from_secs(90 * 86_400);
/// Time between two searches for unused journals.
const SWEEP_INTERVAL: Duration = Duration::from_secs(86_400);
/// File with the path of the root, for processes that use a root above or below.
const ROOT_NOTE: &str = "root";
/// Suffix of damaged records that were moved aside.
const DAMAGED: &str = "damaged";
/// How long to wait for another process that writes in the same root.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long to wait for the lock before a recovery at program start. A write takes less.
const RECOVERY_LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The journal of one root.
#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
    /// The root to which the recorded paths are relative.
    root: PathBuf,
}

/// The combined effect of several writes on one file. `None` means that the file does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Path relative to the root.
    pub path: String,
    /// Text before the first of the writes.
    pub before: Option<String>,
    /// Text after the last of the writes.
    pub after: Option<String>,
}

/// Decodes the content of a file. Replaces invalid UTF-8 if the encoding is unknown.
fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    let bytes = bytes?;
    let lossy = String::from_utf8_lossy(&bytes).into_owned();
    Some(TextEncoding::decode(bytes).map_or(lossy, |(text, _)| text))
}

impl From<JournalError> for WriteError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Busy => Self::Busy,
            source => Self::Journal(source),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordState {
    Doing,
    Done,
    Undoing,
    Undone,
}

const RECORD_STATES: [(RecordState, &str); 4] = [
    (RecordState::Doing, "doing"),
    (RecordState::Done, "done"),
    (RecordState::Undoing, "undoing"),
    (RecordState::Undone, "undone"),
];

impl fmt::Display for RecordState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(RECORD_STATES.iter().find(|(state, _)| state == self).map_or("", |(_, name)| name))
    }
}

/// A record, identified by its file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JournalEntry {
    pub(crate) number: u64,
    pub(crate) state: RecordState,
}

#[derive(Debug)]
pub(crate) struct LockedJournal<'a> {
    journal: &'a Journal,
    /// The lock is released when the file is closed, even if the process is killed.
    _lock: File,
}

impl Journal {
    /// Returns the journal of a root in the user's `state` folder. Nothing is created or read yet.
    pub fn new(state: &Path, root: &Root) -> Self {
        let path = root.path();
        let name = path.file_name().unwrap_or(OsStr::new("root")).to_string_lossy();
        let plain: String = name.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let hash = xxh3_64(path.as_os_str().as_encoded_bytes());
        Self { folder: state.join("journal").join(format!("{plain}-{hash:016x}")), root: path.to_owned() }
    }

    /// Returns the number of the last write, or 0 if there is none or the journal cannot be read.
    pub fn newest(&self) -> u64 {
        self.last_number().unwrap_or(0)
    }

    /// Like [`Journal::newest`], but reports errors.
    fn last_number(&self) -> io::Result<u64> {
        let number = |path: PathBuf| path.file_name()?.to_str()?.split_once('.')?.0.parse().ok();
        // Damaged records count too, so that no number is used twice.
        Ok(list(&self.folder)?.into_iter().filter_map(number).max().unwrap_or(0))
    }

    /// Returns the combined effect of all writes after `number` that are not undone, sorted by path. Files that ended
    /// as they began and damaged records are omitted.
    pub fn changes_after(&self, number: u64) -> Vec<FileChange> {
        let mut files: BTreeMap<String, [Option<Vec<u8>>; 2]> = BTreeMap::new();
        let written = |entry: &JournalEntry| entry.number > number && entry.state == RecordState::Done;
        for entry in self.entries().unwrap_or_default().into_iter().filter(written) {
            let record = self.read(entry).ok();
            for RecordedChange { path, before, after, .. } in record.into_iter().flat_map(|record| record.files) {
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

    /// Waits for the lock. Creates the folder if it does not exist.
    pub(crate) fn lock(&self) -> Result<LockedJournal<'_>, JournalError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder).map_err(|error| self.failed(error))?;
        // Without the note, an interrupted write is only found from its own root.
        self.note_root().ok();
        self.lock_within(LOCK_TIMEOUT)
    }

    /// Waits for the lock, at most for `patience`. The folder must exist.
    fn lock_within(&self, patience: Duration) -> Result<LockedJournal<'_>, JournalError> {
        let start = Instant::now();
        loop {
            match self.try_lock_journal() {
                Err(JournalError::Busy) if start.elapsed() < patience => std::thread::sleep(LOCK_POLL_INTERVAL),
                outcome => return outcome,
            }
        }
    }

    /// Writes the path of the root to the journal's folder.
    fn note_root(&self) -> io::Result<()> {
        let note = self.folder.join(ROOT_NOTE);
        let path = self.root.as_os_str().as_encoded_bytes();
        if fs::read(&note).is_ok_and(|noted| noted == path) {
            return Ok(());
        }
        // A file with other content is an incomplete note.
        private_file(&note)?.write_all(path)
    }

    /// Returns the journals of roots above and below this one that have unfinished writes.
    fn related_journals(&self) -> Vec<Self> {
        let folders = self.folder.parent().map(files_in).unwrap_or_default();
        let journal = |folder: PathBuf| {
            // A note that is not UTF-8 is ignored. Its writes are found from their own root.
            let root = PathBuf::from(fs::read_to_string(folder.join(ROOT_NOTE)).ok()?);
            let is_near = root != self.root && (root.starts_with(&self.root) || self.root.starts_with(&root));
            Some(Self { folder, root }).filter(|journal| is_near && journal.has_unfinished().unwrap_or(false))
        };
        folders.into_iter().filter_map(journal).collect()
    }

    fn has_unfinished(&self) -> Result<bool, JournalError> {
        Ok(self.entries()?.iter().any(|entry| entry.is_unfinished()))
    }

    /// Takes the lock if it is free. The folder must exist.
    fn try_lock_journal(&self) -> Result<LockedJournal<'_>, JournalError> {
        let lock = private_file(&self.folder.join("lock")).map_err(|error| self.failed(error))?;
        match lock.try_lock() {
            Ok(()) => Ok(LockedJournal { journal: self, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy),
            Err(TryLockError::Error(error)) => Err(self.failed(error)),
        }
    }

    /// Returns the records, oldest first.
    fn entries(&self) -> Result<Vec<JournalEntry>, JournalError> {
        let paths = list(&self.folder).map_err(|error| self.failed(error))?;
        let mut entries: Vec<JournalEntry> =
            paths.iter().filter_map(|path| JournalEntry::named(path.file_name()?.to_str()?)).collect();
        entries.sort_by_key(|entry| entry.number);
        Ok(entries)
    }

    fn path(&self, entry: JournalEntry) -> PathBuf {
        self.folder.join(format!("{:010}.{}", entry.number, entry.state))
    }

    fn read(&self, entry: JournalEntry) -> Result<Record, RecordError> {
        record::decode(&fs::read(self.path(entry)).map_err(RecordError::Unreadable)?)
    }

    fn failed(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.folder.clone(), source }
    }
}

impl JournalEntry {
    fn named(name: &str) -> Option<Self> {
        let (number, state) = name.split_once('.')?;
        let (state, _) = RECORD_STATES.iter().find(|(_, name)| *name == state)?;
        Some(Self { number: number.parse().ok()?, state: *state })
    }

    /// Returns whether the write or undo did not finish.
    pub(crate) fn is_unfinished(self) -> bool {
        matches!(self.state, RecordState::Doing | RecordState::Undoing)
    }
}

impl LockedJournal<'_> {
    /// Returns the records, oldest first.
    pub(crate) fn entries(&self) -> Result<Vec<JournalEntry>, JournalError> {
        self.journal.entries()
    }

    /// Records a write that is about to begin. The record is synced when this returns.
    pub(crate) fn begin(
        &self,
        message: Option<&str>,
        folders: &[String],
        files: &[&RecordedChange],
    ) -> Result<JournalEntry, JournalError> {
        // A reused number would overwrite another record.
        let number = self.journal.last_number().map_err(|error| self.journal.failed(error))? + 1;
        let entry = JournalEntry { number, state: RecordState::Doing };
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

    pub(crate) fn mark(&self, entry: JournalEntry, state: RecordState) -> Result<JournalEntry, JournalError> {
        let next = JournalEntry { state, ..entry };
        let rename = || {
            fault()?;
            fs::rename(self.journal.path(entry), self.journal.path(next))?;
            // The final states need no sync: a record that reappears as unfinished is found to be complete.
            if next.is_unfinished() {
                sync_folder(&self.journal.folder)?;
            }
            fault()
        };
        rename().map_err(|error| self.journal.failed(error))?;
        Ok(next)
    }

    pub(crate) fn read(&self, entry: JournalEntry) -> Result<Record, RecordError> {
        self.journal.read(entry)
    }

    pub(crate) fn path(&self, entry: JournalEntry) -> PathBuf {
        self.journal.path(entry)
    }

    /// Moves a damaged record aside and returns its new path.
    pub(crate) fn set_aside(&self, entry: JournalEntry) -> Result<PathBuf, JournalError> {
        let mut aside = self.journal.path(entry).into_os_string();
        aside.push(".");
        aside.push(DAMAGED);
        let aside = PathBuf::from(aside);
        fs::rename(self.journal.path(entry), &aside).map_err(|error| self.journal.failed(error))?;
        Ok(aside)
    }

    pub(crate) fn forget(&self, entry: JournalEntry) {
        fs::remove_file(self.journal.commit_note(entry.number)).ok();
        fs::remove_file(self.journal.path(entry)).ok();
    }

    /// Cleans up after a write: removes undone writes, which can no longer be redone, and the oldest writes if there
    /// are too many.
    pub(crate) fn tidy(&self) {
        let (mut count, mut bytes, mut is_full) = (0, 0, false);
        for entry in self.entries().unwrap_or_default().into_iter().rev() {
            count += 1;
            bytes += fs::metadata(self.journal.path(entry)).map_or(0, |meta| meta.len());
            is_full |= count > 1 && (count > MAX_WRITES || bytes > MAX_BYTES);
            if !entry.is_unfinished() && (is_full || entry.state == RecordState::Undone) {
                self.forget(entry);
            }
        }
        for path in files_in(&self.journal.folder) {
            // An incomplete record of a killed writer, or a damaged record that is old enough.
            let is_begun = path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("new-"));
            let is_aside = path.extension().is_some_and(|extension| extension == DAMAGED);
            if is_begun || (is_aside && age(&path).is_some_and(|age| age > MAX_UNUSED)) {
                fs::remove_file(path).ok();
            }
        }
        self.sweep_others();
    }

    /// Removes the journals of unused roots, at most once per [`SWEEP_INTERVAL`].
    fn sweep_others(&self) {
        let Some(all) = self.journal.folder.parent() else { return };
        let stamp = all.join("swept");
        if age(&stamp).is_some_and(|age| age < SWEEP_INTERVAL) || mark(&stamp).is_err() {
            return;
        }
        for folder in files_in(all) {
            let other = Journal { folder, root: PathBuf::new() };
            if other.folder == self.journal.folder || !other.folder.join("lock").exists() {
                continue;
            }
            let unused = files_in(&other.folder).iter().all(|file| age(file).is_some_and(|age| age > MAX_UNUSED));
            if unused
                && other.has_unfinished().is_ok_and(|is_unfinished| !is_unfinished)
                && let Ok(_locked) = other.try_lock_journal()
            {
                fs::remove_dir_all(&other.folder).ok();
            }
        }
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    list(folder).unwrap_or_default()
}

/// Returns the paths in a folder, or nothing if the folder does not exist.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fault()?;
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the time since the last modification of a file.
fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(fs::metadata(path).ok()?.modified().ok()?).ok()
}

/// Syncs a folder, so that renames in it survive a power failure. File systems that do not support this are ignored:
/// those that lose unsynced changes do support it.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match fault().and_then(|()| File::open(folder)).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Opens a file with mode 0600 and creates it if it does not exist.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Sets the modification time of a file to now.
fn mark(stamp: &Path) -> io::Result<()> {
    private_file(stamp)?.set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests;
