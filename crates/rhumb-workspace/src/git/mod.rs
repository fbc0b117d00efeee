//! The git repository around the work: where HEAD is, what is dirty, and a commit of exactly the files that were
//! written.
//!
//! Everything goes through libgit2, which runs no hook, filter, monitor or other program that a repository's own
//! configuration may name: opening a stranger's repository must not execute anything. The one exception is a commit that the
//! user wants signed or with hooks; see `program.rs`.

mod checkout;
mod commit;
mod drop;
mod edited;
mod error;
mod history;
mod index_lock;
mod init;
mod open;
mod own;
mod patch;
mod program;
mod repo;
mod revisions;
mod take;
mod uncommitted;

pub use checkout::Checkout;
pub use commit::{Commit, Manner};
pub use edited::OnDisk;
pub use error::GitError;
pub use index_lock::{InterruptedCommit, has_interrupted_commits};
pub use init::init;
pub use own::OwnChanges;
pub use patch::{FilePatch, FileTexts};
pub use repo::{Head, Repo, common_folder};
pub use revisions::{Revision, Revisions};
pub use take::Taken;

#[cfg(test)]
mod tests;
