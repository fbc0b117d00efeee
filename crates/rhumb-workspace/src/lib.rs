//! The files on disk: where the work happens, which files there are, what a file held at a moment, the one place
//! that writes them, and the journal that can undo what it wrote.

mod ctags;
mod error;
mod fault;
mod form;
mod gather;
pub mod git;
mod ignored;
mod journal;
mod outlook;
pub mod process;
mod resolve;
mod root;
mod rules;
mod secret;
mod snapshot;
mod stamp;
mod walk;
mod watch;
mod write;

pub use ctags::{definitions_by_ctags, has_ctags};
pub use error::{ReadError, WorkspaceError, WriteError};
pub use form::TextForm;
pub use gather::gathering_watcher;
pub use ignored::is_ignored;
pub use journal::{
    Direction, FileChange, Journal, OwedCommit, Recovered, Recovery, Unwritten, last_write, recover, undo, unfinished,
};
pub use outlook::{editor_trace, has_other_names, may_write};
pub use resolve::{linked_as, stands, stored_at};
pub use root::{Root, RootKind};
pub use secret::is_secret_name;
pub use snapshot::{ContentHash, MAX_FILE_BYTES, Snapshot, read, read_raw};
pub use walk::{FileEntry, Listing, files, ignored_but_tracked, look_again};
pub use watch::{Changed, Watch};
pub use write::{FileWrite, Written, WrittenFile, objection, write};
