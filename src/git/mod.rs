//! The git repository around the work: where HEAD is, what is dirty, and a commit of exactly the files that were
//! written.
//!
//! Everything goes through libgit2, which runs no hook, filter, monitor or other program that a repository's own
//! configuration may name: opening a stranger's repository must not execute anything.

mod checkout;
mod commit;
mod edited;
mod error;
mod history;
mod init;
mod repo;
mod revisions;
mod uncommitted;

pub use checkout::Checkout;
pub use commit::Commit;
pub use edited::OnDisk;
pub use error::GitError;
pub use init::init;
pub use repo::{Head, Repo, common_folder};
pub use revisions::{Revision, Revisions};

#[cfg(test)]
mod tests;
