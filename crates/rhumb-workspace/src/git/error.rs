//! What git can refuse, each with the next step for the user.

use std::path::PathBuf;

/// A git operation failed. The files in the work tree are never touched by any of them.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository belongs to another user and git does not trust it.
    #[error("git does not trust the repository at {}: it belongs to another user", .path.display())]
    NotTrusted {
        /// The folder that was opened.
        path: PathBuf,
    },
    /// A merge, rebase or the like is under way.
    #[error("a {operation} is in progress")]
    InProgress {
        /// What is under way, such as "merge".
        operation: &'static str,
    },
    /// These paths have merge conflicts in the index.
    #[error("{path} has an unresolved conflict")]
    Conflict {
        /// The first such path.
        path: String,
    },
    /// Another git process holds the index or a reference.
    #[error("git is locked by {}{}", .lock.display(), age_suffix(*.age_seconds))]
    Locked {
        /// The lock file.
        lock: PathBuf,
        /// How long it has been there, in seconds, if known.
        age_seconds: Option<u64>,
    },
    /// The index or its lock cannot be written.
    #[error("cannot write {}: {source}", .lock.display())]
    Lock {
        /// The file.
        lock: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// No name or mail address to put on the commit.
    #[error("git does not know who you are")]
    NoIdentity,
    /// The message is empty or holds nothing but comments and blanks.
    #[error("the commit message is empty")]
    EmptyMessage,
    /// The paths already are in HEAD as they are.
    #[error("there is nothing to commit in these files")]
    NothingToCommit,
    /// HEAD moved while the commit was being made.
    #[error("HEAD moved while committing")]
    Moved,
    /// Others committed these files since they were taken.
    #[error("{} was committed by somebody else meanwhile", .paths.join(", "))]
    Overtaken {
        /// The files, from the top of the work tree.
        paths: Vec<String>,
    },
    /// The git program is needed and cannot be started.
    #[error("git itself has to {doing} and cannot be started: {source}")]
    NoProgram {
        /// What it is needed for, as a verb.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The git program failed.
    #[error("git could not {doing}: {said}")]
    Program {
        /// What it was to do, as a verb.
        doing: &'static str,
        /// The end of what it said.
        said: String,
    },
    /// The git program took too long.
    #[error("git did not {doing} within {seconds} s and was stopped")]
    Slow {
        /// What it was to do, as a verb.
        doing: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// There is no place for what the git program reads.
    #[error("cannot write a temporary file: {source}")]
    Temporary {
        /// What the system said.
        source: std::io::Error,
    },
    /// The path cannot be committed to this repository.
    #[error("{path} cannot be committed: {reason}")]
    Path {
        /// The path as given.
        path: String,
        /// Why not.
        reason: &'static str,
    },
    /// A filter program such as git-lfs has to store this file, and no program is run for a repository.
    #[error("{path} is stored through the git filter {filter:?}, which is not run")]
    Filtered {
        /// The path as given.
        path: String,
        /// The value of the `filter` attribute.
        filter: String,
    },
    /// git keeps this file in another encoding than the work tree, which is not done here.
    #[error(
        "git stores {path} re-encoded (working-tree-encoding={encoding}), which rhumb does not do, so it was not committed"
    )]
    Encoded {
        /// The path as given.
        path: String,
        /// The value of the attribute.
        encoding: String,
    },
    /// Somebody else wrote a file between our write and the commit of it.
    #[error("{path} was changed by another program right after it was written, so it was not committed")]
    Rewritten {
        /// The path as given.
        path: String,
    },
    /// What stands in the place of a repository is none.
    #[error("{} is no repository that git could open: {reason}", .path.display())]
    Broken {
        /// The `.git` that stands there.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of git's own cannot be read like a file, and opening it might never end.
    #[error("git's {} is {kind}, so the repository was not opened", .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// A file could not be read.
    #[error("cannot read {path} for the commit: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// No repository is there.
    #[error("there is no repository at {}", .path.display())]
    NoRepository {
        /// The folder that was to be one.
        path: PathBuf,
    },
    /// The repository does not have this commit.
    #[error("the repository has no commit {commit}")]
    NoCommit {
        /// As it was asked for.
        commit: String,
    },
    /// A checkout could not be written.
    #[error("cannot write the checkout: {source}")]
    Write {
        /// What the system said.
        source: std::io::Error,
    },
    /// The index is cut short or overwritten.
    #[error("git's index is damaged")]
    Index,
    /// Anything else that libgit2 reports.
    #[error("git cannot {doing}{}", reason(.source))]
    Git {
        /// The step that failed, as a verb.
        doing: &'static str,
        /// What libgit2 said.
        source: git2::Error,
    },
}

/// What libgit2 says of repositories that it cannot read: SHA-256, other stores of references.
const NEWER: [&str; 2] = ["unknown object format", "unsupported extension name"];

impl GitError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::NotTrusted { path } => {
                format!("If you trust it: git config --global --add safe.directory '{}'", path.display())
            }
            Self::InProgress { operation } => {
                format!("Your files are written. Finish or abort the {operation}, then commit.")
            }
            Self::Conflict { .. } => "Resolve it and `git add` the file, then commit.".into(),
            Self::Locked { lock, .. } => format!(
                "Your files are written. Wait for the other git process; if there is none, remove {}",
                lock.display()
            ),
            Self::Lock { .. } => "Your files are written. Check the space and the permissions of .git, then commit.".into(),
            Self::NoIdentity => {
                "Run: git config --global user.name \"Your Name\"; git config --global user.email you@example.com"
                    .into()
            }
            Self::EmptyMessage => "Write a message and commit again.".into(),
            Self::Overtaken { .. } => "Your files are written. Look at git log and git diff.".into(),
            Self::NoProgram { .. } => "Your files are written. Install git, or commit by hand.".into(),
            Self::Program { doing: "sign the commit", .. } | Self::Slow { doing: "sign the commit", .. } => {
                "Your files are written. Unlock your key in another terminal (sign anything with it), then /commit."
                    .into()
            }
            Self::Program { .. } => "Your files are written. Mend what the hook objects to, then /commit.".into(),
            Self::Slow { .. } => "Your files are written. Look at the hooks, then /commit.".into(),
            Self::NothingToCommit => "The files are the same as in the last commit, or git ignores them.".into(),
            Self::Moved => "Your files are written. Look at the log, then commit again.".into(),
            Self::Path { .. } | Self::Read { .. } => "Your files are written. Commit this one by hand.".into(),
            Self::Rewritten { path } => format!("Look at it with git diff '{path}', then commit."),
            Self::Broken { .. } => "Your files are written. git status says more; git init makes a new repository, \
                                    git worktree repair finds one that was moved."
                .into(),
            Self::Filtered { path, .. } | Self::Encoded { path, .. } => {
                format!("Your files are written. Commit by hand: git add '{path}' && git commit")
            }
            Self::NotAFile { .. } => "Put the plain file of that name back, or clone the repository again.".into(),
            Self::NoRepository { .. } => "Name a git folder, or a folder with a work tree.".into(),
            Self::NoCommit { .. } => "Fetch the whole history: git fetch --unshallow --all".into(),
            Self::Write { .. } | Self::Temporary { .. } => "Check the space in TMPDIR.".into(),
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

    /// Sorts the errors that libgit2 reports during a step, which is a verb.
    pub(super) fn when(doing: &'static str) -> impl Fn(git2::Error) -> Self + Copy {
        move |source| match source.code() {
            git2::ErrorCode::Modified => Self::Moved,
            // What libgit2 says of an index that is too short to hold a checksum.
            _ if source.class() == git2::ErrorClass::Index && source.message().contains("no longer exists") => {
                Self::Index
            }
            _ => Self::Git { doing, source },
        }
    }
}

/// What libgit2 said; nothing where it did not find out.
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
