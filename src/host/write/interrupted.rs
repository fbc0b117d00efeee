//! What is told of the writes and commits that an earlier process did not live to finish.

use rhumb_session::Failure;
use rhumb_workspace::git::{InterruptedCommit, Repo, has_interrupted_commits};
use rhumb_workspace::{Journal, Recovered, Recovery, Root};

/// Sees to the writes and commits that an earlier process did not live to finish, and tells of them.
pub fn recovered(root: &Root, journal: Option<&Journal>) -> Vec<Failure> {
    // What cannot be opened as a repository is told where it is needed.
    let repo = has_interrupted_commits(root.path()).then(|| Repo::open(root.path()).ok().flatten()).flatten();
    let commits = repo.map(|repo| repo.finish_interrupted_commits()).unwrap_or_default();
    let mut failures: Vec<Failure> = commits.iter().map(commit_told).collect();
    let Some(journal) = journal else { return failures };
    let writes = rhumb_workspace::recover(root, journal);
    failures.extend(writes.iter().flat_map(|write| [Some(told(write)), not_committed(root, write)]).flatten());
    let is_told = |path: &String| writes.iter().any(|write| write.paths.contains(path));
    let owed: Vec<String> = journal.take_abandoned_commits().into_iter().filter(|path| !is_told(path)).collect();
    failures.extend(uncommitted(root, &owed).map(|files| Failure {
        message: format!("An earlier write or undo was to be committed, and rhumb was ended before that: {files}."),
        hint: BY_HAND.into(),
    }));
    failures
}

/// What to do about files that were not committed.
const BY_HAND: &str = "Look at git diff, then commit, with /commit or by hand.";

/// What became of a commit that was interrupted after the branch had moved, in words.
fn commit_told(commit: &InterruptedCommit) -> Failure {
    let InterruptedCommit { short_id, subject, failed } = commit;
    let interrupted = format!("An earlier process was ended while it moved the branch to {short_id} {subject}");
    match failed {
        None => Failure {
            message: format!("{interrupted}. Git's index is brought to that commit now."),
            hint: "Nothing is left to do.".into(),
        },
        Some(why) => Failure {
            message: format!("{interrupted}, and git's index is not at that commit: {why}."),
            hint: "The index stays locked. The next start tries again.".into(),
        },
    }
}

/// What became of an interrupted write, in words.
pub(super) fn told(write: &Recovered) -> Failure {
    let place = write.other_root.as_ref().map(|root| format!(" in {}", root.display())).unwrap_or_default();
    let (what, hint) = outcome(write);
    let there = if write.other_root.is_some() { " (Start rhumb in that folder for it.)" } else { "" };
    let sync_warning = write.sync_warning.as_ref();
    let unsynced = sync_warning.map(|why| format!("; not synced to the disk: {why}")).unwrap_or_default();
    Failure { message: format!("An earlier write{place} {what}{unsynced}."), hint: format!("{hint}{there}") }
}

/// Whether all of a write or of an undo will last, as far as that is not certain.
pub(super) fn doubts(journal_warning: Option<String>, sync_warning: Option<String>) -> impl Iterator<Item = Failure> {
    let journal_warning = journal_warning.map(|why| Failure {
        message: format!("All is written, but the journal could not note the end of it: {why}."),
        hint: "The next start of rhumb looks at these files and notes it.".into(),
    });
    let sync_warning = sync_warning.map(|why| Failure {
        message: format!("All is written, but not synced to the disk: {why}. A power cut may undo a part of it."),
        hint: "Look at the disk (dmesg names its errors), then run sync.".into(),
    });
    journal_warning.into_iter().chain(sync_warning)
}

/// What follows "An earlier write", and what to do.
fn outcome(write: &Recovered) -> (String, &'static str) {
    const UNDO: &str = "Undo takes it back.";
    let files = write.paths.join(", ");
    let ours: Vec<&str> =
        write.paths.iter().filter(|path| !write.externally_changed.contains(path)).map(|path| &**path).collect();
    let left_alone = match write.externally_changed.join(", ") {
        externally_changed if externally_changed.is_empty() => String::new(),
        externally_changed => format!("; left alone, because they were changed since: {externally_changed}"),
    };
    match &write.outcome {
        Recovery::Finished => (format!("was interrupted and is finished now: {files}"), UNDO),
        Recovery::AlreadyComplete => (
            format!("is complete, only its end had not been noted: {files}{left_alone}"),
            if left_alone.is_empty() { UNDO } else { "Look at the files that were changed since." },
        ),
        Recovery::RolledBack if ours.is_empty() => (
            format!("was interrupted, and nothing was finished or taken back{left_alone}"),
            "Look at the files that were left alone.",
        ),
        Recovery::RolledBack if left_alone.is_empty() => (
            format!("was interrupted and was taken back, its files are as before: {files}"),
            "Redo writes it after all.",
        ),
        Recovery::RolledBack => (
            format!("was interrupted and was taken back: {}{left_alone}", ours.join(", ")),
            "Look at the files that were left alone.",
        ),
        Recovery::Failed(reason) => (
            format!("was interrupted and could neither be finished nor taken back: {}", named(&files, reason)),
            "Correct that: the next start, or the next write, tries again.",
        ),
        Recovery::Damaged(kept) => {
            let kept = format!("its record is damaged and was moved to {}", kept.display());
            (
                format!("was interrupted and can neither be finished nor taken back: {}", named(&files, &kept)),
                "Look at these files (git diff); .rhumb-….tmp beside them is what was to be written, and can go then.",
            )
        }
        Recovery::InParentRoot => {
            (format!("was interrupted and is not seen to from here: {files}"), "It is finished or taken back there.")
        }
        Recovery::OtherVersion(record) => (
            format!("by another version of rhumb was interrupted; its record is left alone: {}", record.display()),
            "Start that version here: it finishes the write or takes it back.",
        ),
    }
}

/// The reason behind the files, where they are known.
fn named(files: &str, reason: &str) -> String {
    if files.is_empty() { reason.to_owned() } else { format!("{files} ({reason})") }
}

/// What to tell of the commit of a write whose process died: it was not made, or it still stands.
fn not_committed(root: &Root, write: &Recovered) -> Option<Failure> {
    if !write.to_commit || write.other_root.is_some() {
        return None;
    }
    let failure = |files| match (&write.outcome, &write.commit) {
        (Recovery::Finished | Recovery::AlreadyComplete, _) => Some(Failure {
            message: format!("It was to be committed, and the interruption came before that: {files}."),
            hint: BY_HAND.into(),
        }),
        // The undo of a write came to its files, and not to its commit.
        (Recovery::RolledBack, Some(commit)) => Some(Failure {
            message: format!("Its commit {} still has the changes: {files}.", commit.get(..7).unwrap_or(commit)),
            hint: "Redo brings the files back to the commit. /commit commits the files as they are now.".into(),
        }),
        _ => None,
    };
    uncommitted(root, &write.paths).and_then(failure)
}

/// Those of the files that are not as they were committed, if there are any, by name.
fn uncommitted(root: &Root, paths: &[String]) -> Option<String> {
    // The app is started by this: it opens git only where something is to be looked up.
    if paths.is_empty() {
        return None;
    }
    let own = Repo::open(root.path()).ok()??.uncommitted_changes(paths).ok()?;
    let files: Vec<&str> = paths.iter().filter(|path| own.holds(path)).map(String::as_str).collect();
    (!files.is_empty()).then(|| files.join(", "))
}

#[cfg(all(test, unix))]
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
    fn what_is_told_fits_what_was_done() {
        let says = |outcome, externally_changed: &[&str]| told(&write(outcome, externally_changed)).message;
        assert_eq!(says(Recovery::Finished, &[]), "An earlier write was interrupted and is finished now: a, b.");
        let whole = says(Recovery::AlreadyComplete, &["a"]);
        assert!(
            whole.contains("is complete") && whole.ends_with("changed since: a.") && !whole.contains("interrupted")
        );
        let back = says(Recovery::RolledBack, &["b"]);
        assert_eq!(
            back,
            "An earlier write was interrupted and was taken back: a; left alone, because they were changed since: b."
        );
        assert!(says(Recovery::RolledBack, &["a", "b"]).contains("nothing was finished or taken back; left alone"));
        assert!(
            says(Recovery::Damaged("/x.damaged".into()), &[]).contains("a, b (its record is damaged and was moved")
        );
        let above = Recovered { other_root: Some("/top".into()), ..write(Recovery::InParentRoot, &[]) };
        assert!(told(&above).message.starts_with("An earlier write in /top was interrupted"));
        assert!(told(&above).hint.contains("in that folder"));
    }

    #[test]
    fn the_commit_that_is_missing_is_told_and_one_that_was_made_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a", "b"] {
            std::fs::write(dir.path().join(path), "old").unwrap();
        }
        rhumb_workspace::git::init(dir.path(), "T", "t@example.com", "start").unwrap();
        std::fs::write(dir.path().join("b"), "new").unwrap();
        let root = Root::at(dir.path()).unwrap();
        let told = not_committed(&root, &write(Recovery::Finished, &[])).unwrap();
        assert!(told.message.ends_with("before that: b."), "{told:?}");
        assert!(not_committed(&root, &write(Recovery::RolledBack, &[])).is_none());
        let undone = Recovered { commit: Some("0123456789".into()), ..write(Recovery::RolledBack, &[]) };
        let told = not_committed(&root, &undone).unwrap();
        assert_eq!(told.message, "Its commit 0123456 still has the changes: b.");
        std::fs::write(dir.path().join("b"), "old").unwrap();
        assert!(not_committed(&root, &write(Recovery::AlreadyComplete, &[])).is_none());
    }
}
