//! Tests of writes and commits.

mod interleavings;
mod situations;

use super::*;
use crate::config::Settings;
use crate::host::commit::pending::CommitMessages;
use std::sync::Arc;

#[cfg(unix)]
#[test]
fn a_users_own_change_behind_a_link_stays_out_of_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("real.rs"), "one\ntwo\n").unwrap();
    std::os::unix::fs::symlink("real.rs", dir.path().join("link.rs")).unwrap();
    rhumb_workspace::git::init(dir.path(), "T", "t@example.com", "start").unwrap();
    std::fs::write(dir.path().join("real.rs"), "one, mine\ntwo\n").unwrap();
    let root = Root::at(dir.path()).unwrap();
    let file = PendingWrite {
        path: "link.rs".into(),
        expected: Some(Arc::from("one, mine\ntwo\n")),
        content: Some("one, mine\nTWO\n".into()),
        renamed_from: None,
    };
    let ask = CommitRequest { request: "change".into(), ..CommitRequest::default() };
    let asked = write(&root, None, std::slice::from_ref(&file), Some(&ask)).unwrap();
    assert!(matches!(asked, WriteOutcome::UncommittedChanges(paths) if paths == ["real.rs"]));
    let leave = CommitRequest { own_changes: OwnChanges::LeaveUncommitted, ..ask };
    let outcome = write(&root, None, &[file], Some(&leave)).unwrap();
    let WriteOutcome::Written(_, Some(pending)) = outcome else { panic!("{outcome:?}") };
    let committed = pending.commit(CommitMessages::default(), &Settings::default(), "");
    assert_eq!(committed.commit, None);
    assert!(committed.notes[0].message.contains("real.rs"));
}
