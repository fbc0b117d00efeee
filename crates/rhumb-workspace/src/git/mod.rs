//! Git repositories: status, history, and commits of exactly the files that were written.
//!
//! Everything goes through libgit2, which runs no hook, filter, monitor or other program that the configuration of a
//! repository may name. Opening an untrusted repository must not execute anything. The exceptions are commits that the
//! user wants signed or with hooks: the git program makes them, with the precautions described in `git_program.rs`.

mod commit;
mod error;
mod git_program;
mod history;
mod index_lock;
mod open;
mod prepare;
mod repo;
mod revisions;
mod status;

#[cfg(test)]
mod tests;

pub use commit::{Commit, CommitOptions};
pub use error::{GitError, GitTask};
pub use history::{CommitHistory, PastCommit};
pub use index_lock::{InterruptedCommit, has_interrupted_commits};
pub use prepare::{FilePatch, FileTexts, PreparedCommit};
pub use repo::{Head, Repo, common_folder, init};
pub use revisions::{Checkout, CommitHeader, Revision, Revisions};
pub use status::{ComparedFile, UncommittedChanges, WorkTreeStatus};
