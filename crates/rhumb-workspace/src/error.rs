//! What can go wrong between the program and the files, each with the next step for the user.

use std::io;
use std::path::PathBuf;

use super::form::TextForm;

/// "Operation not permitted", the same number on every Unix.
const EPERM: i32 = 1;

/// The working folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path is a file, a device or the like.
    #[error("{} is not a folder", .path.display())]
    NotAFolder {
        /// The path as given.
        path: PathBuf,
    },
    /// The folder does not exist or cannot be entered.
    #[error("cannot open the folder {}: {source}", .path.display())]
    Unreachable {
        /// The path as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl WorkspaceError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAFolder { .. } => "Name a folder with --root, or start inside one.",
            Self::Unreachable { .. } => "Check that the folder exists and that you may enter it.",
        }
    }
}

/// A file could not be read as text. Paths are relative to the root.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such file.
    #[error("{path} does not exist")]
    NotFound {
        /// The path as asked for.
        path: String,
    },
    /// The path leads out of the root, into `.git`, or is no relative path at all.
    #[error("{path} is out of bounds: {reason}")]
    Outside {
        /// The path as asked for.
        path: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// There is a NUL byte near the start.
    #[error("{path} is a binary file")]
    Binary {
        /// The path as asked for.
        path: String,
    },
    /// The bytes are not UTF-8, and no other encoding is sure to give them back as they are.
    #[error("{path} is in no known text encoding (not UTF-8 from byte {offset} on)")]
    UnknownEncoding {
        /// The path as asked for.
        path: String,
        /// Offset of the first byte that is not UTF-8, 0-based.
        offset: usize,
    },
    /// The file is larger than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
    #[error("{path} is too large: {bytes} bytes, the limit is {}", super::MAX_FILE_BYTES)]
    TooLarge {
        /// The path as asked for.
        path: String,
        /// Size in bytes.
        bytes: u64,
    },
    /// A folder, pipe, socket or device.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// The path as asked for.
        path: String,
    },
    /// The system refused.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The path as asked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ReadError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "Check the spelling; paths are relative to the root of the work.",
            Self::Outside { .. } => "Only files inside the root and outside .git can be opened.",
            Self::Binary { .. } => {
                "Binary files cannot be added to the chat. Convert text in UTF-32, or in UTF-16 without a mark, to UTF-8."
            }
            Self::UnknownEncoding { .. } => "Convert the file to UTF-8 first; it is never re-encoded behind your back.",
            Self::TooLarge { .. } => "Split the file, or add the part that matters.",
            Self::NotAFile { .. } => "Name a regular file.",
            Self::Unreadable { .. } => "Check the permissions of the file and try again.",
        }
    }
}

/// A set of files could not be written. Unless it is [`WriteError::Half`], [`WriteError::ReadBack`] or
/// [`WriteError::NotReadBack`], nothing changed on disk. Paths are relative to the root.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file on disk is not the one that the change was made for.
    #[error("{path} changed on disk: {change}")]
    Stale {
        /// The file.
        path: String,
        /// What is different.
        change: &'static str,
    },
    /// The path leads out of the root, into `.git`, or is not fit for a file name.
    #[error("{path} is out of bounds: {reason}")]
    Outside {
        /// The path as asked for.
        path: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// Files are not as the write left them, so that it cannot be undone or done again.
    #[error("changed since: {}", .paths.join(", "))]
    ChangedSince {
        /// The files.
        paths: Vec<String>,
    },
    /// Another process writes in the same root and does not come to an end.
    #[error("another rhumb is writing here")]
    Busy,
    /// An earlier write of the file was interrupted, and could be neither finished nor taken back so far.
    #[error("an earlier write of {path} is not finished: {reason}")]
    Unfinished {
        /// The file.
        path: String,
        /// Why it could not be finished.
        reason: String,
    },
    /// The journal cannot record the write, so that nothing could finish it after a crash or take it back.
    #[error("this write cannot be recorded: {cause}")]
    NotRecorded {
        /// What is wrong with the journal.
        cause: String,
    },
    /// The record of the write cannot be read or marked.
    #[error("the journal of writes cannot be used: {cause}")]
    Journal {
        /// What is wrong with it.
        cause: String,
    },
    /// The record of the write that was to be undone or done again is damaged.
    #[error("the record of that write is damaged; it was moved to {}", .kept.display())]
    DamagedRecord {
        /// Where it is now.
        kept: PathBuf,
    },
    /// The record of the write that was to be undone or done again has a form that this version does not know.
    #[error("another version of rhumb made that write, and only it can read the record {}", .record.display())]
    NewerRecord {
        /// Where it is.
        record: PathBuf,
    },
    /// A folder, pipe, socket or device stands there.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// The path.
        path: String,
    },
    /// The file is in an encoding that does not have a character of the new text.
    #[error("{path} is in {form}, which does not have {character:?} (U+{:04X}, line {line} of the new text)", u32::from(*.character))]
    Unencodable {
        /// The file.
        path: String,
        /// How its text is encoded.
        form: TextForm,
        /// The first character that does not fit.
        character: char,
        /// The line that it stands in, 1-based.
        line: usize,
    },
    /// Two writes name the same file.
    #[error("{path} is written twice in one go")]
    Twice {
        /// The second path.
        path: String,
    },
    /// The file has no write permission.
    #[error("{path} is read-only")]
    ReadOnly {
        /// The file.
        path: String,
    },
    /// Its file system is mounted read-only.
    #[error("{path} is on a file system that is mounted read-only")]
    ReadOnlyMount {
        /// The file.
        path: String,
    },
    /// It is not a matter of rights: the file is immutable, may only grow, or is for its owner alone to replace.
    #[error("the system does not let {path} be changed")]
    Immutable {
        /// The file or its folder.
        path: String,
    },
    /// The folder does not let files be made in it.
    #[error("no permission to write {path}: nothing may be made in the folder {}", .folder.display())]
    FolderDenied {
        /// The file.
        path: String,
        /// The folder that refuses.
        folder: PathBuf,
    },
    /// The system denied the access.
    #[error("no permission to {doing} {path}")]
    Denied {
        /// The file or its folder.
        path: String,
        /// The step that was denied, as a verb.
        doing: &'static str,
    },
    /// The file would be larger than the system lets a file be.
    #[error("{path} ({bytes} bytes) would be larger than files may be here")]
    OverLimit {
        /// The file.
        path: String,
        /// How many bytes it needs.
        bytes: u64,
    },
    /// The disk or the quota is exhausted.
    #[error("no space left to write {path} ({bytes} bytes)")]
    NoSpace {
        /// The file.
        path: String,
        /// How many bytes it needs.
        bytes: u64,
    },
    /// The file has other names, and a new file cannot take over its owner or attributes.
    #[error("{path} has other names (hard links), and a new file cannot be given its owner or its attributes")]
    Linked {
        /// The file.
        path: String,
    },
    /// Any other refusal of the system.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The step that failed, as a verb.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// All files were written, but this one does not read back as written.
    #[error("{path} does not read back as it was written")]
    ReadBack {
        /// The file.
        path: String,
    },
    /// All files were written, and whether this one is as written cannot be seen.
    #[error("{path} was written and cannot be read back: {source}")]
    NotReadBack {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A write failed and the files before it could not all be put back.
    #[error("{cause}; these files are already changed and could not be put back: {}", .standing.join(", "))]
    Half {
        /// The first failure.
        cause: Box<WriteError>,
        /// The files that now hold the new content, each with the reason why it was not put back.
        standing: Vec<String>,
    },
    /// A write failed, and of what it had laid down beside the files something could not be removed.
    #[error("{cause}; what was laid down for it could not be removed: {}", .litter.join(", "))]
    Litter {
        /// The first failure.
        cause: Box<WriteError>,
        /// Temporary files and new folders, each with the reason why it is still there.
        litter: Vec<String>,
    },
}

impl WriteError {
    /// What to do next.
    pub fn hint(&self) -> String {
        let next = match self {
            Self::Stale { .. } => "Reload the file and review the change again.",
            Self::Outside { .. } => "Only files inside the root and outside of git's own can be written.",
            Self::NotAFile { .. } => "Move what stands there, or choose another name.",
            Self::Unencodable { path, .. } => {
                return format!(
                    "Nothing was written. Reject the hunk with this character, or convert {path} to UTF-8 first."
                );
            }
            Self::ChangedSince { .. } => "Put these files back yourself, or leave them as they are.",
            Self::Busy => "Wait until it is done, then try again.",
            Self::Unfinished { .. } => {
                "Correct that and write again: the earlier write is finished or taken back first."
            }
            Self::NotRecorded { .. } => "Make room there, or make that folder writable, and write again.",
            Self::Journal { .. } => "Check that the folder can be read and written.",
            Self::DamagedRecord { .. } => {
                "Put its files back by hand, if you want that; the next undo goes on to the write before it."
            }
            Self::NewerRecord { .. } => "Do it with that version.",
            Self::Twice { .. } => "Reject one of the two changes.",
            Self::ReadOnly { path } => {
                return format!(
                    "Nothing was written. Make it writable (chmod u+w {path}) and write again, or reject its hunks."
                );
            }
            Self::ReadOnlyMount { .. } => "Mount it writable and write again, or reject this file.",
            Self::Immutable { .. } => "It may be immutable (lsattr shows it, chattr -i lifts it). Or reject this file.",
            Self::FolderDenied { .. } => "Give yourself write permission on that folder, or reject this file.",
            Self::OverLimit { .. } => "Raise the limit (ulimit -f) and write again, or reject this file.",
            Self::Denied { .. } => "Give yourself that permission, or reject this file.",
            Self::NoSpace { .. } => "Free some space and write again.",
            Self::Linked { path } => {
                return format!(
                    "Nothing was written. Make it a file of its own (cp {path} copy, mv copy {path}), or reject it."
                );
            }
            Self::Io { .. } => "Try again once that is seen to.",
            Self::ReadBack { .. } => {
                return "Another program may have written it at the same moment; look at the file.".into();
            }
            Self::NotReadBack { .. } => return "All files were written; look at this one.".into(),
            Self::Half { .. } => {
                return "Look at these files. The next start of rhumb tries again to put back what was there before."
                    .into();
            }
            Self::Litter { .. } => "The next start of rhumb tries again to remove it.",
        };
        format!("Nothing was written. {next}")
    }

    /// Whether something is left to be put back or removed.
    pub(super) fn leaves_remains(&self) -> bool {
        matches!(self, Self::Half { .. } | Self::Litter { .. })
    }

    /// Sorts a system error into the kinds that a user can act on.
    pub(super) fn from_io(path: &str, doing: &'static str, bytes: u64, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            // Not a matter of rights: those are refused with another number.
            io::ErrorKind::PermissionDenied if cfg!(unix) && source.raw_os_error() == Some(EPERM) => {
                Self::Immutable { path }
            }
            io::ErrorKind::PermissionDenied => Self::Denied { path, doing },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnlyMount { path },
            io::ErrorKind::FileTooLarge => Self::OverLimit { path, bytes },
            // The system itself says that of folders.
            io::ErrorKind::TooManyLinks if source.raw_os_error().is_none() => Self::Linked { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path, bytes },
            _ => Self::Io { path, doing, source },
        }
    }
}
