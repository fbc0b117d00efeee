//! Writes accepted hunks, all files or none, and commits them.

use crate::git::{GitError, Repo};
use crate::session::{Failure, WriteOrder, Written};
use crate::workspace::{self, ContentHash, FileWrite, Root, RootKind, WriteError};

/// Why nothing was written, and which files changed meanwhile.
pub type NotWritten = (Failure, Vec<String>);

/// Writes the files and, with `commit`, commits them in a git repository. Files that had uncommitted changes of the user's
/// own are written but left out of the commit: it must hold what was accepted and nothing else.
///
/// # Errors
/// Nothing was written: a file changed meanwhile, or the file system refused.
pub fn write(root: &Root, orders: &[WriteOrder], message: &str, commit: bool) -> Result<Written, NotWritten> {
    let dirty = if commit { dirty_before(root, orders) } else { Ok(Vec::new()) };
    let writes: Vec<FileWrite> = orders
        .iter()
        .map(|order| FileWrite {
            path: order.path.clone(),
            expected: order.expected.as_ref().map(|text| ContentHash::of(text.as_bytes())),
            content: order.content.clone(),
        })
        .collect();
    let done = workspace::write(root, &writes).map_err(not_written)?;
    let paths: Vec<String> = orders.iter().map(|order| order.path.clone()).collect();
    if !commit {
        return Ok(Written { paths, commit: None, note: None });
    }
    // A path may lead through a link; what changed for git is the file at its end.
    let stored: Vec<String> = done.files.into_iter().map(|file| file.stored_at).collect();
    let (commit, note) = match dirty.and_then(|dirty| commit_clean(root, &stored, &dirty, message)) {
        Ok(done) => done,
        Err(error) => (None, Some(not_committed(&error))),
    };
    Ok(Written { paths, commit, note })
}

/// Which of the files had uncommitted changes before the write.
fn dirty_before(root: &Root, orders: &[WriteOrder]) -> Result<Vec<String>, GitError> {
    let Some(repo) = open(root)? else { return Ok(Vec::new()) };
    let dirty = repo.dirty_paths()?;
    Ok(orders.iter().map(|order| order.path.clone()).filter(|path| dirty.contains(path)).collect())
}

fn open(root: &Root) -> Result<Option<Repo>, GitError> {
    if root.kind() == RootKind::Git { Repo::open(root.path()) } else { Ok(None) }
}

type Committed = (Option<String>, Option<Failure>);

fn commit_clean(root: &Root, paths: &[String], dirty: &[String], message: &str) -> Result<Committed, GitError> {
    let Some(repo) = open(root)? else {
        return Ok((None, None));
    };
    let clean: Vec<String> = paths.iter().filter(|path| !dirty.contains(path)).cloned().collect();
    let commit = if clean.is_empty() { None } else { Some(repo.commit_paths(&clean, message)?) };
    let ignored = commit.as_ref().map(|commit| commit.left_out.join(", ")).filter(|paths| !paths.is_empty());
    if let Some(ignored) = ignored {
        let note =
            Failure { message: format!("Not committed, because git ignores it: {ignored}."), hint: String::new() };
        return Ok((commit.map(|commit| commit.short_id), Some(note)));
    }
    let commit = commit.map(|commit| commit.short_id);
    let note = (!dirty.is_empty()).then(|| Failure {
        message: format!(
            "Not committed, because of uncommitted changes of your own in the file: {}.",
            dirty.join(", ")
        ),
        hint: "The hunks are written; commit the file when you are ready.".into(),
    });
    Ok((commit, note))
}

fn not_committed(error: &GitError) -> Failure {
    Failure { message: format!("Written, but not committed: {error}."), hint: error.hint() }
}

fn not_written(error: WriteError) -> NotWritten {
    let failure = Failure { message: format!("{error}."), hint: error.hint().to_owned() };
    match error {
        WriteError::Stale { path, .. } => (failure, vec![path]),
        _ => (failure, Vec::new()),
    }
}
