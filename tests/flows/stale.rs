//! A file changes on disk during a review: the change is never overwritten.

use super::{HARBOUR, REQUEST, SUBJECT, harbour_repo, open, quit, search_replace, send};
use crate::support::server::{ModelServer, Step};

#[test]
fn a_file_changed_meanwhile_is_not_overwritten_and_waits_while_a_conflict_is_open() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 2");
    // All lines move down, and the second hunk no longer fits.
    let mine = format!("# mine\n\n{}", HARBOUR.replace("{metres} m'", "{metres} fathoms'"));
    repo.file("harbour.py", &mine);
    pty.key("w");
    pty.wait_for("harbour.py changed on disk");
    pty.wait_for("was read again");
    pty.wait_for("0 pending · ✓ 1 · ✗ 0");
    assert_eq!(repo.read("harbour.py"), mine, "overwritten");
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    // The lines now belong to the user, so the file waits for a decision.
    pty.key("w");
    pty.wait_for("Not written, because a conflict in it is open: harbour.py");
    assert_eq!(repo.read("harbour.py"), mine, "overwritten");
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn a_file_changed_and_committed_meanwhile_is_written_and_committed_on_top() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("yn");
    pty.wait_for("✓ 1 · ✗ 1");
    let mine = format!("# mine\n\n{HARBOUR}");
    repo.file("harbour.py", &mine).commit("Say whose it is");
    pty.key("w");
    pty.wait_for("2 hunks moved along");
    // The decisions moved along with the hunks.
    pty.wait_for("0 pending · ✓ 1 · ✗ 1");
    pty.key("w");
    pty.wait_for("Committed as");
    assert_eq!(repo.read("harbour.py"), mine.replace("TABLE[name]", "TABLE.get(name, 0.0)"));
    assert_eq!(repo.subjects(), [SUBJECT, "Say whose it is", "Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn a_file_deleted_meanwhile_stays_deleted() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 2");
    std::fs::remove_file(repo.path().join("harbour.py")).unwrap();
    pty.key("w");
    pty.wait_for("harbour.py changed on disk");
    pty.wait_for("lost the place for good");
    assert!(!repo.has("harbour.py"), "made again");
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    quit(&mut pty);
}
