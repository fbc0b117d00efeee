//! Undo of a write in the app.

use super::{
    HARBOUR, REQUEST, SUBJECT, confirm, harbour_repo, harbour_with_first_hunk, open, quit, search_replace, send,
};
use crate::support::server::{ModelServer, Step};

#[test]
fn the_last_write_is_undone_and_redone() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    pty.wait_for("test-model @ 127.0.0.1");
    send(&pty, "/undo");
    pty.wait_for("There is no write to undo");
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("ynw");
    pty.wait_for("Wrote 1 hunk: ");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    assert_eq!(repo.subjects(), [SUBJECT, "Start the harbour"]);
    let commit = repo.git(&["rev-parse", "HEAD"]);
    pty.key("Esc");
    send(&pty, "/undo");
    confirm(&pty, "undo the last write?");
    pty.wait_for("Dropped commit");
    assert_eq!(repo.read("harbour.py"), HARBOUR);
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    send(&pty, "/redo");
    confirm(&pty, "redo the last write?");
    pty.wait_for("Restored commit");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), commit, "the same commit is back");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    std::fs::write(repo.path().join("harbour.py"), "mine\n").unwrap();
    send(&pty, "/undo");
    confirm(&pty, "undo the last write?");
    pty.wait_for("changed since: harbour.py");
    assert_eq!(repo.read("harbour.py"), "mine\n");
    quit(&mut pty);
}
