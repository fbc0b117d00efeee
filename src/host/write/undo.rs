//! Undo and redo of a write and of its commit.

use super::{Stored, durability_notes, not_committed_note, not_written, recovery_note};
use crate::config::{Settings, UndoCommit};
use crate::host::commit::pending::{commit_note, commit_options, not_committed, trailer};
use rhumb_session::{CommitPlan, Failure, UndoPreview, Written};
use rhumb_workspace::git::{GitError, Repo};
use rhumb_workspace::{Direction, Journal, Root, RootKind, UndoOutcome, last_write};

/// What [`undo`] would do; `None` if there is nothing to undo or redo.
pub fn undo_preview(
    root: &Root,
    journal: Option<&Journal>,
    direction: Direction,
    settings: &Settings,
) -> Option<UndoPreview> {
    let journal = journal?;
    let last = last_write(journal, direction)?;
    let subject = last.message.as_deref().map(|message| first_line(message).to_owned());
    let repo = repo(root, settings).ok().flatten();
    let commit = match (repo, &subject) {
        (Some(repo), Some(_)) => commit_plan(&repo, journal, (last.number, &last.paths), direction, settings),
        _ => CommitPlan::None,
    };
    Some(UndoPreview { direction, paths: last.paths, subject, commit })
}

/// Undoes the last write, or redoes the last undone one. Its commit is dropped or restored if it is HEAD and was not published, and
/// the settings allow it; otherwise a new commit is made.
///
/// # Errors
/// Nothing was changed: a file has changed since the write, or cannot be written.
pub fn undo(
    root: &Root,
    journal: Option<&Journal>,
    direction: Direction,
    settings: &Settings,
) -> Result<Written, Failure> {
    let Some(journal) = journal else { return Ok(Written::default()) };
    let repo = repo(root, settings);
    // Files with uncommitted changes of the user are not committed.
    let dirty = repo.as_ref().ok().and_then(Option::as_ref).map(Repo::dirty_paths);
    // In case the process dies between the write and the commit.
    let committed = |last: &UndoOutcome| last.message.is_some() && matches!(repo, Ok(Some(_)));
    let to_commit = last_write(journal, direction).filter(committed);
    let _journal_note = to_commit.and_then(|last| journal.note_pending_commit(&last.paths));
    let done = rhumb_workspace::undo(root, journal, direction).map_err(|error| not_written(error).0)?;
    let notes = done
        .recovered
        .iter()
        .map(recovery_note)
        .chain(durability_notes(done.journal_warning, done.sync_warning))
        .collect();
    let mut written = Written { notes, paths: done.paths.clone(), ..Written::default() };
    let Some(recorded) = done.message.filter(|_| !done.paths.is_empty()) else { return Ok(written) };
    let committed = match (repo, dirty) {
        (Ok(Some(repo)), Some(Ok(dirty))) => {
            match commit_plan(&repo, journal, (done.number, &done.paths), direction, settings) {
                CommitPlan::Drop(id) => return Ok(with_moved_branch(written, &id, repo.drop_commit(&id), direction)),
                CommitPlan::Restore(id) => {
                    return Ok(with_moved_branch(written, &id, repo.restore_commit(&id), direction));
                }
                CommitPlan::None | CommitPlan::New => {}
            }
            let files = done.paths.into_iter().zip(done.hashes);
            let (own, clean): (Vec<Stored>, Vec<Stored>) = files.partition(|(path, _)| dirty.contains(path));
            let own: Vec<String> = own.into_iter().map(|(path, _)| path).collect();
            commit_undone(&repo, &clean, &own, direction, &recorded, settings)
        }
        (Err(error), _) | (_, Some(Err(error))) => Err(error),
        (Ok(_), _) => return Ok(written),
    };
    match committed {
        Ok((commit, notes)) => {
            if let (Some((id, _)), Direction::Redo) = (&commit, direction) {
                journal.note_commit(done.number, id);
            }
            written.commit = commit.map(|(_, short)| short);
            written.notes.extend(notes);
        }
        Err(error) => written.notes.push(not_committed(&error)),
    }
    Ok(written)
}

/// The repository, if undo is to be committed there.
fn repo(root: &Root, settings: &Settings) -> Result<Option<Repo>, GitError> {
    if settings.auto_commit && root.kind() == RootKind::Git { Repo::open(root.path()) } else { Ok(None) }
}

/// The plan for the commit of a write. It does not depend on the content of the files.
fn commit_plan(
    repo: &Repo,
    journal: &Journal,
    (number, paths): (u64, &[String]),
    direction: Direction,
    settings: &Settings,
) -> CommitPlan {
    match (direction, journal.commit_of(number)) {
        (_, Some(_)) if settings.undo_commit == UndoCommit::Revert => CommitPlan::New,
        (Direction::Undo, Some(id)) if repo.can_drop(&id, paths) => CommitPlan::Drop(id),
        (Direction::Redo, Some(id)) if repo.can_restore(&id) => CommitPlan::Restore(id),
        _ => CommitPlan::New,
    }
}

fn with_moved_branch(
    mut written: Written,
    id: &str,
    result: Result<String, GitError>,
    direction: Direction,
) -> Written {
    match (result, direction) {
        (Ok(short), Direction::Undo) => written.dropped = Some(short),
        (Ok(short), Direction::Redo) => written.restored = Some(short),
        (Err(error), _) => {
            let short = id.get(..7).unwrap_or(id);
            let could_not = match direction {
                Direction::Undo => format!("commit {short} could not be dropped"),
                Direction::Redo => format!("commit {short} could not be restored"),
            };
            let why = error.to_string();
            let message = format!("The files were written, but {could_not}: {}.", why.trim_end_matches('.'));
            written.notes.push(Failure { message, hint: error.hint() });
        }
    }
    written
}

/// The id of a commit, and the abbreviated id.
type Ids = (String, String);

/// Commits the undone or redone files that were committed before.
fn commit_undone(
    repo: &Repo,
    clean: &[Stored],
    own: &[String],
    direction: Direction,
    recorded: &str,
    settings: &Settings,
) -> Result<(Option<Ids>, Vec<Failure>), GitError> {
    let mut notes = Vec::new();
    // Files that are now equal to HEAD need no note: the write was not committed.
    let still = repo.uncommitted_changes(own)?;
    let excluded: Vec<&String> = own.iter().filter(|path| still.holds(path)).collect();
    if !excluded.is_empty() {
        notes.push(not_committed_note(&excluded, &still));
    }
    if clean.is_empty() {
        return Ok((None, notes));
    }
    let last = clean.first().and_then(|(path, _)| repo.subject_of_last_change(path));
    let message = undo_message(direction, last.as_deref(), recorded);
    let message = match direction {
        Direction::Undo => message,
        Direction::Redo => message + &trailer(settings, settings.model.as_deref().unwrap_or_default()),
    };
    let prepared = repo.prepare_written(clean, None)?;
    let commit = repo.commit(prepared, &commit_options(&message, settings, true))?;
    notes.extend(commit_note(&commit));
    Ok((Some((commit.id, commit.short_id)), notes))
}

/// The message of the commit of an undo or redo. The journal has the message that was made from the change. The last commit of the
/// file may have a better one, but after several undos in a row it belongs to another write.
fn undo_message(direction: Direction, last: Option<&str>, recorded: &str) -> String {
    let undone = last.and_then(|last| last.strip_prefix("Revert \"")?.strip_suffix('"'));
    match (direction, undone) {
        (Direction::Undo, None) => format!("Revert \"{}\"", last.unwrap_or(first_line(recorded))),
        (Direction::Undo, Some(_)) => format!("Revert \"{}\"", first_line(recorded)),
        (Direction::Redo, Some(undone)) if undone != first_line(recorded) => undone.to_owned(),
        (Direction::Redo, _) => recorded.to_owned(),
    }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_of_an_undo_is_named_for_its_own_write() {
        let (undo, redo) = (Direction::Undo, Direction::Redo);
        // Each row: what is done, the last commit of the file, the record of the write, the new message.
        let rows = [
            (undo, Some("feat: two"), "second", "Revert \"feat: two\""),
            (undo, Some("Revert \"feat: two\""), "first\n\nbody", "Revert \"first\""),
            (redo, Some("Revert \"first\""), "first\n\nbody", "first\n\nbody"),
            (redo, Some("Revert \"feat: one\""), "first", "feat: one"),
            (redo, Some("first"), "second", "second"),
            (undo, None, "first\n\nbody", "Revert \"first\""),
        ];
        for (direction, last, recorded, message) in rows {
            assert_eq!(undo_message(direction, last, recorded), message);
        }
    }
}
