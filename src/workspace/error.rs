//! What can go wrong between the program and the files, each with the next step for the user.

use std::io;
use std::path::PathBuf;

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
    /// The bytes are not UTF-8.
    #[error("{path} is not UTF-8 text (first bad byte at offset {offset})")]
    NotUtf8 {
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
            Self::Binary { .. } => "Binary files cannot be added to the chat.",
            Self::NotUtf8 { .. } => "Convert the file to UTF-8 first; it is never re-encoded behind your back.",
            Self::TooLarge { .. } => "Split the file, or add the part that matters.",
            Self::NotAFile { .. } => "Name a regular file.",
            Self::Unreadable { .. } => "Check the permissions of the file and try again.",
        }
    }
}

/// A set of files could not be written. Unless it is [`WriteError::Half`] or [`WriteError::ReadBack`], nothing changed
/// on disk. Paths are relative to the root.
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
    /// A folder, pipe, socket or device stands there.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// The path.
        path: String,
    },
    /// Two writes name the same file.
    #[error("{path} is written twice in one go")]
    Twice {
        /// The second path.
        path: String,
    },
    /// The file has no write permission, or its file system is mounted read-only.
    #[error("{path} is read-only")]
    ReadOnly {
        /// The file.
        path: String,
    },
    /// The system denied the access.
    #[error("no permission to write {path}")]
    Denied {
        /// The file or its folder.
        path: String,
    },
    /// The disk, the quota or the file-size limit is exhausted.
    #[error("no space left to write {path} ({bytes} bytes)")]
    NoSpace {
        /// The file.
        path: String,
        /// How many bytes it needs.
        bytes: u64,
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
    /// A write failed and the files before it could not all be put back.
    #[error("{cause}; these files are already changed and could not be put back: {}", .standing.join(", "))]
    Half {
        /// The first failure.
        cause: Box<WriteError>,
        /// The files that now hold the new content, each with the reason why it was not put back.
        standing: Vec<String>,
    },
}

impl WriteError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Stale { .. } => "Nothing was written. Reload the file and review the change again.",
            Self::Outside { .. } => "Nothing was written. Only files inside the root and outside .git can be written.",
            Self::NotAFile { .. } => "Nothing was written. Move what stands there, or choose another name.",
            Self::Twice { .. } => "Nothing was written. Reject one of the two changes.",
            Self::ReadOnly { .. } | Self::Denied { .. } => {
                "Nothing was written. Give yourself write permission, or reject this file."
            }
            Self::NoSpace { .. } => "Nothing was written. Free some space and write again.",
            Self::Io { .. } => "Nothing was written. The change is still in review; try again.",
            Self::ReadBack { .. } => "Another program may have written it at the same moment; look at the file.",
            Self::Half { .. } => "Look at these files; the review still holds what was there before.",
        }
    }

    /// Sorts a system error into the kinds that a user can act on.
    pub(super) fn from_io(path: &str, doing: &'static str, bytes: u64, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { path, bytes }
            }
            _ => Self::Io { path, doing, source },
        }
    }
}
