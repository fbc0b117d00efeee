//! A repository on disk: file listings, snapshots, atomic writes with undo, git, and child processes.
//!
//! The crate is meant for programs that edit other people's repositories and must not lose work:
//!
//! - [`files`] lists the files under a [`Root`], honouring git's ignore rules.
//! - [`read`] returns a [`Snapshot`]: the decoded text of a file and the hash of its bytes.
//! - [`write()`] replaces a set of files completely or not at all. It refuses files that changed since they were read,
//!   and it keeps encodings, modes and owners.
//! - A [`Journal`] makes writes recoverable after a crash ([`recover`]) and undoable without git ([`undo`]).
//! - [`git`] has status, history, and commits of exactly the files that were written.
//! - [`process`] runs commands with bounded output and masked secrets.
//!
//! # Example
//!
//! ```
//! use rhumb_workspace::{FileWrite, Root, WriteError, read, write};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("greeting.txt"), "hello\n")?;
//!
//! let root = Root::at(folder.path())?;
//! let snapshot = read(&root, "greeting.txt")?;
//! assert_eq!(&*snapshot.text, "hello\n");
//!
//! let change = FileWrite {
//!     path: snapshot.path.clone(),
//!     expected: Some(snapshot.text.clone()),
//!     content: Some("hello, world\n".to_owned()),
//!     renamed_from: None,
//! };
//! write(&root, None, std::slice::from_ref(&change), None)?;
//! assert_eq!(&*read(&root, "greeting.txt")?.text, "hello, world\n");
//!
//! // The file no longer has the expected text, so the same change is refused.
//! assert!(matches!(write(&root, None, &[change], None), Err(WriteError::Stale { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees and limits
//!
//! - Nothing outside of the root is read or written, whatever symbolic links and names say. Git's own folder is never
//!   written directly. On systems other than Unix a concurrent replacement of a folder by a link is not detected.
//! - No program that a repository names is run. The exceptions are hooks and commit signing, which the caller must
//!   request.
//! - Files are limited to [`MAX_FILE_BYTES`], and paths to UTF-8.
//! - The functions block, without a timeout, and use no async runtime.

mod ctags;
mod encoding;
mod error;
mod fault;
pub mod git;
mod ignore_rules;
mod journal;
pub mod process;
mod resolve;
mod root;
mod snapshot;
mod sorted;
mod walk;
mod watch;
mod write;

pub use ctags::{has_ctags, run_ctags};
pub use encoding::TextEncoding;
pub use error::{JournalError, ReadError, WorkspaceError, WriteError};
pub use ignore_rules::{GitIgnore, is_hidden, is_ignored};
pub use journal::{
    Direction, FileChange, Journal, PendingCommit, Recovered, Recovery, UndoOutcome, last_write, recover, undo,
    unfinished_writes,
};
pub use resolve::{path_is_taken, resolve_links, symlink_aliases};
pub use root::{Root, RootKind};
pub use snapshot::{ContentHash, MAX_FILE_BYTES, Snapshot, read, read_raw};
pub use sorted::find_sorted;
pub use walk::{FileEntry, Listing, files, ignored_but_tracked, is_secret_name, last_change, refresh_entry};
pub use watch::{DiskChanges, Watch, WatchError, debounced_watcher};
pub use write::{
    FilePreview, FileWrite, Written, WrittenFile, check_write, editor_trace, has_hard_links, may_write, preview_write,
    write,
};
