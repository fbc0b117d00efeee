//! Errors of git operations. Each has a hint: what the user can do next.

use std::fmt;
use std::path::PathBuf;

/// A git operation failed. The files in the work tree are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository belongs to another user, and git does not trust it.
    #[error("git does not trust the repository at {}: it belongs to another user", .0.display())]
    NotTrusted(PathBuf),
    /// A merge, rebase or similar operation is in progress: its name, such as "merge".
    #[error("a {0} is in progress")]
    InProgress(&'static str),
    /// The index has merge conflicts: the first path with one.
    #[error("{0} has an unresolved conflict")]
    Conflict(String),
    /// Another git process holds the lock of the index or a reference.
    #[error("git is locked by {}{}", .lock.display(), age_suffix(*.age_seconds))]
    Locked {
        /// The lock file.
        lock: PathBuf,
        /// Age of the lock file in seconds, if known.
        age_seconds: Option<u64>,
    },
    /// The index or its lock cannot be written.
    #[error("cannot write {}: {source}", .lock.display())]
    Lock {
        /// The file.
        lock: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// There is no name or e-mail address for the commit.
    #[error("git does not know who you are")]
    NoIdentity,
    /// The message contains nothing but whitespace.
    #[error("the commit message is empty")]
    EmptyMessage,
    /// The files are the same in HEAD.
    #[error("there is nothing to commit in these files")]
    NothingToCommit,
    /// HEAD moved while the commit was being made.
    #[error("HEAD moved while committing")]
    Moved,
    /// Someone else committed these files, relative to the top of the work tree, since they were prepared.
    #[error("{} was committed by someone else meanwhile", .0.join(", "))]
    AlreadyCommitted(Vec<String>),
    /// The git program is needed and cannot be started.
    #[error("the git program is needed to {task} and cannot be started: {source}")]
    NoProgram {
        /// What the program was needed for.
        task: GitTask,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The git program failed.
    #[error("git could not {task}: {output}")]
    Program {
        /// What the program was needed for.
        task: GitTask,
        /// The end of its output.
        output: String,
    },
    /// The git program exceeded its time limit.
    #[error("git did not {task} within {seconds} s and was stopped")]
    Slow {
        /// What the program was needed for.
        task: GitTask,
        /// The time limit in seconds.
        seconds: u64,
    },
    /// The input of the git program cannot be written.
    #[error("cannot write a temporary file: {0}")]
    Temporary(#[source] std::io::Error),
    /// The path cannot be committed to this repository.
    #[error("{path} cannot be committed: {reason}")]
    Path {
        /// The path as given.
        path: String,
        /// Why not.
        reason: &'static str,
    },
    /// A filter program such as git-lfs stores this file, and the programs of a repository are not run.
    #[error("{path} is stored through the git filter {filter:?}, which is not run")]
    Filtered {
        /// The path as given.
        path: String,
        /// Value of the `filter` attribute.
        filter: String,
    },
    /// The attribute `working-tree-encoding` is set, which is not supported.
    #[error(
        "git stores {path} re-encoded (working-tree-encoding={encoding}), which rhumb does not support, so it was not committed"
    )]
    Encoded {
        /// The path as given.
        path: String,
        /// Value of the attribute.
        encoding: String,
    },
    /// Another program changed the file between the write and its commit.
    #[error("{0} was changed by another program right after it was written, so it was not committed")]
    Rewritten(String),
    /// There is a `.git`, but git cannot open a repository there.
    #[error("git cannot open {} as a repository: {reason}", .path.display())]
    Broken {
        /// The `.git`.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// One of git's own files is a pipe or a device, and opening it could block forever.
    #[error("git's {} is {kind}, so the repository was not opened", .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// What it is, with an article.
        kind: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read {path} for the commit: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// There is no repository.
    #[error("there is no repository at {}", .path.display())]
    NoRepository {
        /// The folder.
        path: PathBuf,
    },
    /// The repository does not have this commit.
    #[error("the repository has no commit {commit}")]
    NoCommit {
        /// The commit as requested.
        commit: String,
    },
    /// A checkout cannot be written.
    #[error("cannot write the checkout: {0}")]
    Write(#[source] std::io::Error),
    /// The index is truncated or overwritten.
    #[error("git's index is damaged")]
    Index,
    /// Another error of libgit2.
    #[error("git cannot {doing}{}", reason(.source))]
    Git {
        /// The step that failed, as a verb.
        doing: &'static str,
        /// The error of libgit2.
        source: git2::Error,
    },
}

/// The purpose for which the git program is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitTask {
    /// To sign a commit.
    Sign,
    /// To commit with hooks.
    CommitWithHooks,
}

impl fmt::Display for GitTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sign => "sign the commit",
            Self::CommitWithHooks => "commit with hooks",
        })
    }
}

/// Messages of libgit2 for repositories that it does not support, such as those with SHA-256 or reftable.
const NEWER: [&str; 2] = ["unknown object format", "unsupported extension name"];

impl GitError {
    /// What the user can do next.
    pub fn hint(&self) -> String {
        match self {
            Self::NotTrusted(path) => {
                format!("If you trust it: git config --global --add safe.directory '{}'", path.display())
            }
            Self::InProgress(operation) => {
                format!("Your files are written. Finish or abort the {operation}, then commit.")
            }
            Self::Conflict(_) => "Resolve it and `git add` the file, then commit.".into(),
            Self::Locked { lock, .. } => format!(
                "Your files are written. Wait for the other git process; if no such process runs, remove {}",
                lock.display()
            ),
            Self::Lock { .. } => "Your files are written. Check the space and the permissions of .git, then commit.".into(),
            Self::NoIdentity => {
                "Run: git config --global user.name \"Your Name\"; git config --global user.email you@example.com"
                    .into()
            }
            Self::EmptyMessage => "Write a message and commit again.".into(),
            Self::AlreadyCommitted(_) => "Your files are written. Look at git log and git diff.".into(),
            Self::NoProgram { .. } => "Your files are written. Install git, or commit by hand.".into(),
            Self::Program { task: GitTask::Sign, .. } | Self::Slow { task: GitTask::Sign, .. } => {
                "Your files are written. Unlock your key in another terminal (sign anything with it), then /commit."
                    .into()
            }
            Self::Program { .. } => "Your files are written. Correct what the hook reports, then /commit.".into(),
            Self::Slow { .. } => "Your files are written. Look at the hooks, then /commit.".into(),
            Self::NothingToCommit => "The files are the same as in the last commit, or git ignores them.".into(),
            Self::Moved => "Your files are written. Look at the log, then commit again.".into(),
            Self::Path { .. } | Self::Read { .. } => "Your files are written. Commit this one by hand.".into(),
            Self::Rewritten(path) => format!("Look at it with git diff '{path}', then commit."),
            Self::Broken { .. } => "Your files are written. git status says more; git init makes a new repository, \
                                    git worktree repair finds one that was moved."
                .into(),
            Self::Filtered { path, .. } | Self::Encoded { path, .. } => {
                format!("Your files are written. Commit by hand: git add '{path}' && git commit")
            }
            Self::NotAFile { .. } => "Restore the regular file of that name, or clone the repository again.".into(),
            Self::NoRepository { .. } => "Name a git folder, or a folder with a work tree.".into(),
            Self::NoCommit { .. } => "Fetch the whole history: git fetch --unshallow --all".into(),
            Self::Write(_) | Self::Temporary(_) => "Check the space in TMPDIR.".into(),
            Self::Index => {
                "Your files are written. What was staged is lost with the index. To make a new one, move .git/index away and \
                 run git read-tree HEAD."
                    .into()
            }
            Self::Git { source, .. } if source.message().contains("sdir") => {
                "Your files are written. Write the whole index: git sparse-checkout reapply --no-sparse-index".into()
            }
            Self::Git { source, .. } if source.message().contains("'link'") => {
                "Your files are written. Write the index in one piece: git update-index --no-split-index".into()
            }
            Self::Git { source, .. } if NEWER.iter().any(|words| source.message().contains(words)) => {
                "Your files are written. Only the git program knows this kind of repository: commit with it.".into()
            }
            Self::Git { .. } => "Your files are written. Try the same with the git program to learn more.".into(),
        }
    }

    /// Classifies the errors that libgit2 reports during a step. `doing` is a verb.
    pub(crate) fn when(doing: &'static str) -> impl Fn(git2::Error) -> Self + Copy {
        move |source| match source.code() {
            git2::ErrorCode::Modified => Self::Moved,
            // libgit2 reports this for an index that is too short for a checksum.
            _ if source.class() == git2::ErrorClass::Index && source.message().contains("no longer exists") => {
                Self::Index
            }
            _ => Self::Git { doing, source },
        }
    }
}

/// The message of libgit2. It has none if a write fails on a full disk.
fn reason(error: &git2::Error) -> String {
    match error.message() {
        "" | "no error" => ": the disk may be full".to_owned(),
        message => format!(": {message}"),
    }
}

fn age_suffix(seconds: Option<u64>) -> String {
    match seconds {
        Some(seconds) if seconds < 120 => format!(" ({seconds} s old)"),
        Some(seconds) => format!(" ({} min old)", seconds / 60),
        None => String::new(),
    }
}
