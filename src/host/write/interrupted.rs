//! Recovery of writes and commits that an earlier process did not finish.

use rhumb_session::Failure;
use rhumb_workspace::git::{InterruptedCommit, Repo, has_interrupted_commits};
use rhumb_workspace::{Journal, Recovered, Recovery, Root};

/// Finishes or rolls back interrupted writes and commits, and returns what to report.
pub fn recovered(root: &Root, journal: Option<&Journal>) -> Vec<Failure> {
    // An error of the repository is reported when the repository is needed.
    let repo = has_interrupted_commits(root.path()).then(|| Repo::open(root.path()).ok().flatten()).flatten();
    let commits = repo.map(|repo| repo.finish_interrupted_commits()).unwrap_or_default();
    let mut failures: Vec<Failure> = commits.iter().map(commit_note).collect();
    let Some(journal) = journal else { return failures };
    let writes = rhumb_workspace::recover(root, journal);
    failures.extend(writes.iter().flat_map(|write| [Some(recovery_note(write)), not_committed(root, write)]).flatten());
    let is_reported = |path: &String| writes.iter().any(|write| write.paths.contains(path));
    let abandoned: Vec<String> =
        journal.take_abandoned_commits().into_iter().filter(|path| !is_reported(path)).collect();
    failures.extend(uncommitted(root, &abandoned).map(|files| {
        Failure::new(format!("rhumb was ended before it committed an earlier write or undo: {files}."), BY_HAND)
    }));
    failures
}

/// The hint about files that were not committed.
const BY_HAND: &str = "Check git diff, then commit them with /commit or git commit.";

/// The note about a commit that was interrupted after the branch had moved.
fn commit_note(commit: &InterruptedCommit) -> Failure {
    let InterruptedCommit { short_id, subject, failed } = commit;
    let interrupted = format!("An earlier process was ended during the commit {short_id} {subject}");
    match failed {
        None => {
            Failure::new(format!("{interrupted}. Git's index has been updated to that commit."), "Nothing more to do.")
        }
        Some(why) => Failure {
            message: format!("{interrupted}, and git's index could not be updated to that commit: {why}."),
            hint: "The index stays locked. The next start tries again.".into(),
        },
    }
}

pub(super) fn recovery_note(write: &Recovered) -> Failure {
    let location = write.other_root.as_ref().map(|root| format!(" in {}", root.display())).unwrap_or_default();
    let (what, hint) = outcome(write);
    let start_there = if write.other_root.is_some() { " (Start rhumb in that folder.)" } else { "" };
    let sync_warning = write.sync_warning.as_ref();
    let unsynced = sync_warning.map(|why| format!("; not synced to the disk: {why}")).unwrap_or_default();
    Failure { message: format!("An earlier write{location} {what}{unsynced}."), hint: format!("{hint}{start_there}") }
}

/// Notes if it is not certain that a write or undo is durable.
pub(super) fn durability_notes(
    journal_warning: Option<String>,
    sync_warning: Option<String>,
) -> impl Iterator<Item = Failure> {
    let journal_warning = journal_warning.map(|why| Failure {
        message: format!("All files were written, but the journal could not record that: {why}."),
        hint: "The next start of rhumb checks these files and completes the record.".into(),
    });
    let sync_warning = sync_warning.map(|why| Failure {
        message: format!(
            "All files were written, but not synced to the disk: {why}. A power failure may lose some of them."
        ),
        hint: "Check the disk (dmesg shows its errors), then run sync.".into(),
    });
    journal_warning.into_iter().chain(sync_warning)
}

/// The predicate for "An earlier write", and the hint.
fn outcome(write: &Recovered) -> (String, &'static str) {
    const UNDO: &str = "Undo reverts it.";
    let files = write.paths.join(", ");
    let ours: Vec<&str> =
        write.paths.iter().filter(|path| !write.externally_changed.contains(path)).map(|path| &**path).collect();
    let untouched = match write.externally_changed.join(", ") {
        externally_changed if externally_changed.is_empty() => String::new(),
        externally_changed => format!("; not touched, because they were changed since: {externally_changed}"),
    };
    match &write.outcome {
        Recovery::Finished => (format!("was interrupted and is finished now: {files}"), UNDO),
        Recovery::AlreadyComplete => (
            format!("is complete, only its end was not recorded: {files}{untouched}"),
            if untouched.is_empty() { UNDO } else { "Check the files that were changed since." },
        ),
        Recovery::RolledBack if ours.is_empty() => (
            format!("was interrupted, and nothing was finished or rolled back{untouched}"),
            "Check the files that were not touched.",
        ),
        Recovery::RolledBack if untouched.is_empty() => {
            (format!("was interrupted and was rolled back, its files are as before: {files}"), "Redo writes it again.")
        }
        Recovery::RolledBack => (
            format!("was interrupted and was rolled back: {}{untouched}", ours.join(", ")),
            "Check the files that were not touched.",
        ),
        Recovery::Failed(reason) => (
            format!("was interrupted and could neither be finished nor rolled back: {}", with_reason(&files, reason)),
            "Correct that. The next start or write tries again.",
        ),
        Recovery::Damaged(kept) => {
            let kept = format!("its record is damaged and was moved to {}", kept.display());
            (
                format!("was interrupted and can neither be finished nor rolled back: {}", with_reason(&files, &kept)),
                "Check these files (git diff). .rhumb-….tmp next to them has the new content; delete it afterwards.",
            )
        }
        Recovery::InParentRoot => (
            format!("was interrupted and cannot be recovered from here: {files}"),
            "It is finished or rolled back there.",
        ),
        Recovery::OtherVersion(record) => (
            format!("by another version of rhumb was interrupted; its record was not touched: {}", record.display()),
            "Start that version here: it finishes the write or rolls it back.",
        ),
    }
}

fn with_reason(files: &str, reason: &str) -> String {
    if files.is_empty() { reason.to_owned() } else { format!("{files} ({reason})") }
}

/// The note about the commit of an interrupted write or undo: it was not made, or it was not undone.
fn not_committed(root: &Root, write: &Recovered) -> Option<Failure> {
    if !write.to_commit || write.other_root.is_some() {
        return None;
    }
    let failure = |files| match (&write.outcome, &write.commit) {
        (Recovery::Finished | Recovery::AlreadyComplete, _) => {
            Some(Failure { message: format!("It was interrupted before its commit: {files}."), hint: BY_HAND.into() })
        }
        // The undo changed the files but not the commit.
        (Recovery::RolledBack, Some(commit)) => Some(Failure {
            message: format!("Its commit {} still contains the changes: {files}.", commit.get(..7).unwrap_or(commit)),
            hint: "Redo restores the files of the commit; /commit commits the current files.".into(),
        }),
        _ => None,
    };
    uncommitted(root, &write.paths).and_then(failure)
}

/// The files that differ from HEAD, if any.
fn uncommitted(root: &Root, paths: &[String]) -> Option<String> {
    // This runs at the start, so the repository is only opened if necessary.
    if paths.is_empty() {
        return None;
    }
    let own = Repo::open(root.path()).ok()??.uncommitted_changes(paths).ok()?;
    let files: Vec<&str> = paths.iter().filter(|path| own.holds(path)).map(String::as_str).collect();
    (!files.is_empty()).then(|| files.join(", "))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn write(outcome: Recovery, externally_changed: &[&str]) -> Recovered {
        Recovered {
            paths: vec!["a".into(), "b".into()],
            outcome,
            externally_changed: externally_changed.iter().map(|&path| path.into()).collect(),
            other_root: None,
            to_commit: true,
            commit: None,
            sync_warning: None,
        }
    }

    #[test]
    fn the_note_describes_the_outcome() {
        let says = |outcome, externally_changed: &[&str]| recovery_note(&write(outcome, externally_changed)).message;
        assert_eq!(says(Recovery::Finished, &[]), "An earlier write was interrupted and is finished now: a, b.");
        let whole = says(Recovery::AlreadyComplete, &["a"]);
        assert!(
            whole.contains("is complete") && whole.ends_with("changed since: a.") && !whole.contains("interrupted")
        );
        let back = says(Recovery::RolledBack, &["b"]);
        assert_eq!(
            back,
            "An earlier write was interrupted and was rolled back: a; not touched, because they were changed since: b."
        );
        assert!(says(Recovery::RolledBack, &["a", "b"]).contains("nothing was finished or rolled back; not touched"));
        assert!(
            says(Recovery::Damaged("/x.damaged".into()), &[]).contains("a, b (its record is damaged and was moved")
        );
        let above = Recovered { other_root: Some("/top".into()), ..write(Recovery::InParentRoot, &[]) };
        assert!(recovery_note(&above).message.starts_with("An earlier write in /top was interrupted"));
        assert!(recovery_note(&above).hint.contains("in that folder"));
    }

    #[test]
    fn a_missing_commit_is_reported_and_one_that_was_made_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a", "b"] {
            std::fs::write(dir.path().join(path), "old").unwrap();
        }
        rhumb_workspace::git::init(dir.path(), "T", "t@example.com", "start").unwrap();
        std::fs::write(dir.path().join("b"), "new").unwrap();
        let root = Root::at(dir.path()).unwrap();
        let note = not_committed(&root, &write(Recovery::Finished, &[])).unwrap();
        assert!(note.message.ends_with("before its commit: b."), "{note:?}");
        assert!(not_committed(&root, &write(Recovery::RolledBack, &[])).is_none());
        let undone = Recovered { commit: Some("0123456789".into()), ..write(Recovery::RolledBack, &[]) };
        let note = not_committed(&root, &undone).unwrap();
        assert_eq!(note.message, "Its commit 0123456 still contains the changes: b.");
        std::fs::write(dir.path().join("b"), "old").unwrap();
        assert!(not_committed(&root, &write(Recovery::AlreadyComplete, &[])).is_none());
    }
}
