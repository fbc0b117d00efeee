//! Errors of this crate. Each has a hint: what the user can do next.

use super::encoding::TextEncoding;
use std::io;
use std::path::PathBuf;

/// `EPERM` ("Operation not permitted"), which has the same number on every Unix.
const EPERM: i32 = 1;

/// The root folder cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path is not a folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder does not exist or cannot be entered.
    #[error("cannot open the folder {}: {source}", .path.display())]
    Unreachable {
        /// The path as given.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl WorkspaceError {
    /// What the user can do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAFolder(_) => "Name a folder with --root, or start inside one.",
            Self::Unreachable { .. } => "Check that the folder exists and that you may enter it.",
        }
    }
}

/// A file cannot be read as text. Paths are relative to the root.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file does not exist.
    #[error("{0} does not exist")]
    NotFound(String),
    /// The path leads out of the root or into `.git`, or is not a relative path.
    #[error("{path} is out of bounds: {reason}")]
    Outside {
        /// The path as requested.
        path: String,
        /// The rule that the path breaks.
        reason: &'static str,
    },
    /// There is a NUL byte near the start.
    #[error("{0} is a binary file")]
    Binary(String),
    /// The bytes are not UTF-8, and no other encoding restores them exactly.
    #[error("{path} has an unknown text encoding (not UTF-8 from byte {offset} on)")]
    UnknownEncoding {
        /// The path as requested.
        path: String,
        /// Offset in bytes of the first byte that is not UTF-8, 0-based.
        offset: usize,
    },
    /// The file is larger than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
    #[error("{path} is too large: {bytes} bytes, the limit is {}", super::MAX_FILE_BYTES)]
    TooLarge {
        /// The path as requested.
        path: String,
        /// Size in bytes.
        bytes: u64,
    },
    /// The path is a folder, pipe, socket or device.
    #[error("{0} is not a regular file")]
    NotAFile(String),
    /// The operating system reported another error.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The path as requested.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl ReadError {
    /// What the user can do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "Check the spelling. Paths are relative to the root.",
            Self::Outside { .. } => "Only files inside the root and outside .git can be opened.",
            Self::Binary(_) => {
                "Binary files cannot be added to the chat. Convert text in UTF-32, or in UTF-16 without a byte order mark, \
                 to UTF-8."
            }
            Self::UnknownEncoding { .. } => {
                "Convert the file to UTF-8 first. rhumb never changes the encoding of a file."
            }
            Self::TooLarge { .. } => "Split the file, or add only the part that matters.",
            Self::NotAFile(_) => "Name a regular file.",
            Self::Unreadable { .. } => "Check the permissions of the file and try again.",
        }
    }
}

/// The journal of writes cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process holds its lock.
    #[error("another rhumb is writing here")]
    Busy,
    /// The operating system reported an error.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The journal's folder, or a record.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An earlier write was interrupted, and its record cannot be read.
    #[error("{0}")]
    Unrecovered(String),
}

/// A set of files was not written. Paths are relative to the root.
///
/// Nothing changed on disk, except for [`WriteError::Partial`], [`WriteError::ReadBack`] and
/// [`WriteError::NotReadBack`].
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file on disk differs from the version that the change was made for.
    #[error("{path} changed on disk: {change}")]
    Stale {
        /// The file.
        path: String,
        /// How it differs.
        change: &'static str,
    },
    /// The path leads out of the root or into `.git`, or is not a valid file name.
    #[error("{path} is out of bounds: {reason}")]
    Outside {
        /// The path as asked for.
        path: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// Files were changed since the write, so it cannot be undone or redone.
    #[error("changed since: {}", .0.join(", "))]
    ChangedSince(Vec<String>),
    /// Another process has been writing in the same root for longer than the lock timeout.
    #[error("another rhumb is writing here")]
    Busy,
    /// An earlier write of the file was interrupted and could be neither finished nor rolled back so far.
    #[error("an earlier write of {path} is not finished: {reason}")]
    Unfinished {
        /// The file.
        path: String,
        /// Why it could not be finished.
        reason: String,
    },
    /// The journal cannot record the write, so it could not be recovered after a crash, or undone.
    #[error("this write cannot be recorded: {0}")]
    NotRecorded(#[source] JournalError),
    /// A record of the journal cannot be read or updated.
    #[error("the journal of writes cannot be used: {0}")]
    Journal(#[source] JournalError),
    /// The record of the write to undo or redo is damaged: its path now.
    #[error("the record of that write is damaged; it was moved to {}", .0.display())]
    DamagedRecord(PathBuf),
    /// The record of the write to undo or redo has a format that this version does not know.
    #[error("another version of rhumb made that write, and only it can read the record {}", .0.display())]
    NewerRecord(PathBuf),
    /// The path is a folder, pipe, socket or device.
    #[error("{0} is not a regular file")]
    NotAFile(String),
    /// The encoding of the file does not have a character of the new text.
    #[error("{path} is in {encoding}, which does not have {character:?} (U+{:04X}, line {line} of the new text)", u32::from(*.character))]
    Unencodable {
        /// The file.
        path: String,
        /// Encoding of the file.
        encoding: TextEncoding,
        /// The first such character.
        character: char,
        /// Line of the character in the new text, 1-based.
        line: usize,
    },
    /// Two writes name the same file: the second path.
    #[error("the set of changes contains {0} twice")]
    Twice(String),
    /// The file has no write permission.
    #[error("{0} is read-only")]
    ReadOnly(String),
    /// The file system is mounted read-only.
    #[error("{0} is on a file system that is mounted read-only")]
    ReadOnlyMount(String),
    /// The file or its folder is immutable or append-only, or only its owner may replace it. Changing the permission bits does not help.
    #[error("the system does not let {0} be changed")]
    Immutable(String),
    /// No file can be created in the folder.
    #[error("no permission to write {path}: no file can be created in the folder {}", .folder.display())]
    FolderDenied {
        /// The file.
        path: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The operating system denied the access.
    #[error("no permission to {doing} {path}")]
    Denied {
        /// The file or its folder.
        path: String,
        /// The step that was denied, as a verb.
        doing: &'static str,
    },
    /// The file would exceed the maximum file size of the process or the file system.
    #[error("{path} ({bytes} bytes) would exceed the maximum file size")]
    OverLimit {
        /// The file.
        path: String,
        /// Size of the new content in bytes.
        bytes: u64,
    },
    /// The disk is full, or the quota is used up.
    #[error("no space left to write {path} ({bytes} bytes)")]
    NoSpace {
        /// The file.
        path: String,
        /// Size of the new content in bytes.
        bytes: u64,
    },
    /// The file has other hard links, and its owner or attributes cannot be copied to a new file.
    #[error("{0} has other hard links, and its owner or attributes cannot be copied to a new file")]
    Linked(String),
    /// The operating system reported another error.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The step that failed, as a verb.
        doing: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// All files were written, but reading this one back gave different content.
    #[error("{0} does not read back as it was written")]
    ReadBack(String),
    /// All files were written, but this one cannot be read back.
    #[error("{path} was written but cannot be read back: {source}")]
    NotReadBack {
        /// The file.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A write failed, and not all files before it could be restored.
    #[error("{cause}; these files were changed and could not be restored: {}", .not_restored.join(", "))]
    Partial {
        /// The error that made the write fail.
        cause: Box<WriteError>,
        /// The files with the new content, each with the reason why it was not restored.
        not_restored: Vec<String>,
    },
    /// A write failed, and some of its temporary files or new folders could not be removed.
    #[error("{cause}; these temporary files and new folders could not be removed: {}", .leftovers.join(", "))]
    Leftovers {
        /// The error that made the write fail.
        cause: Box<WriteError>,
        /// Temporary files and new folders, each with the reason why it was not removed.
        leftovers: Vec<String>,
    },
}

impl WriteError {
    /// What the user can do next.
    pub fn hint(&self) -> String {
        let next = match self {
            Self::Stale { .. } => "Reload the file and review the change again.",
            Self::Outside { .. } => "Only files inside the root and outside of .git can be written.",
            Self::NotAFile(_) => "Move what is at that path, or choose another name.",
            Self::Unencodable { path, .. } => {
                return format!(
                    "Nothing was written. Reject the hunk with this character, or convert {path} to UTF-8 first."
                );
            }
            Self::ChangedSince(_) => "Restore these files by hand, or leave them as they are.",
            Self::Busy => "Wait until it is done, then try again.",
            Self::Unfinished { .. } => {
                "Correct that and write again: the earlier write is finished or rolled back first."
            }
            Self::NotRecorded(_) => "Free some space there, or make that folder writable, and write again.",
            Self::Journal(_) => "Check that the folder is readable and writable.",
            Self::DamagedRecord(_) => {
                "Restore its files by hand if you want to. The next undo continues with the write before it."
            }
            Self::NewerRecord(_) => "Use that version.",
            Self::Twice(_) => "Reject one of the two changes.",
            Self::ReadOnly(path) => {
                return format!(
                    "Nothing was written. Make it writable (chmod u+w {path}) and write again, or reject its hunks."
                );
            }
            Self::ReadOnlyMount(_) => "Mount it writable and write again, or reject this file.",
            Self::Immutable(_) => "It may be immutable (lsattr shows it, chattr -i removes it). Or reject this file.",
            Self::FolderDenied { .. } => "Give yourself write permission on that folder, or reject this file.",
            Self::OverLimit { .. } => "Raise the limit (ulimit -f) and write again, or reject this file.",
            Self::Denied { .. } => "Give yourself that permission, or reject this file.",
            Self::NoSpace { .. } => "Free some space and write again.",
            Self::Linked(path) => {
                return format!(
                    "Nothing was written. Replace it with a copy (cp {path} copy, mv copy {path}), or reject it."
                );
            }
            Self::Io { .. } => "Correct that and try again.",
            Self::ReadBack(_) => {
                return "Another program may have written it at the same moment. Check the file.".into();
            }
            Self::NotReadBack { .. } => return "All files were written. Check this one.".into(),
            Self::Partial { .. } => {
                return "Check these files. The next start of rhumb tries again to restore their earlier content."
                    .into();
            }
            Self::Leftovers { .. } => "The next start of rhumb tries again to remove them.",
        };
        format!("Nothing was written. {next}")
    }

    /// Returns whether something must still be restored or removed.
    pub(crate) fn needs_cleanup(&self) -> bool {
        matches!(self, Self::Partial { .. } | Self::Leftovers { .. })
    }

    /// Classifies an error of the operating system by what the user can do about it.
    pub(crate) fn from_io(path: &str, doing: &'static str, bytes: u64, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            // Missing permissions are reported as EACCES.
            io::ErrorKind::PermissionDenied if cfg!(unix) && source.raw_os_error() == Some(EPERM) => {
                Self::Immutable(path)
            }
            io::ErrorKind::PermissionDenied => Self::Denied { path, doing },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnlyMount(path),
            io::ErrorKind::FileTooLarge => Self::OverLimit { path, bytes },
            // This crate creates the error without an OS error number; the system uses EMLINK for folders.
            io::ErrorKind::TooManyLinks if source.raw_os_error().is_none() => Self::Linked(path),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path, bytes },
            _ => Self::Io { path, doing, source },
        }
    }
}
