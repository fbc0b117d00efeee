//! The commands without the app, on a terminal: each hunk is asked about.

use super::{KEY, REQUEST, SUBJECT, harbour_repo, harbour_with_first_hunk, rhumb, search_replace, untouched};
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer, Step};

/// Accepts the first of two hunks and refuses the second.
#[track_caller]
fn yes_and_no(pty: &Pty) {
    pty.wait_for("hunk 1 of 2 in harbour.py: accept? [y/n]");
    pty.type_text("y\r");
    pty.wait_for("hunk 2 of 2 in harbour.py: accept? [y/n]");
    pty.type_text("n\r");
}

fn apply(repo: &TestRepo) -> (Pty, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let reply = folder.path().join("reply.md");
    std::fs::write(&reply, search_replace()).unwrap();
    let pty = Pty::spawn(&rhumb(), &["apply", reply.to_str().unwrap()], &repo.path(), &[], 100, 40);
    (pty, folder)
}

#[test]
fn apply_asks_about_each_hunk_and_writes_the_accepted_ones() {
    let repo = harbour_repo();
    let (mut pty, _reply) = apply(&repo);
    yes_and_no(&pty);
    let status = pty.wait_exit();
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    // Done in part, and told for each hunk.
    pty.wait_for("1. harbour.py: exact");
    pty.wait_for("2. harbour.py: refused: rejected by the user");
    assert_eq!(status.exit_code(), 1, "{}", pty.screen());
}

#[test]
fn what_is_to_be_known_of_a_hunk_is_said_before_the_question() {
    let repo = harbour_repo();
    repo.file("Makefile", "all:\n\ttrue\n");
    std::os::unix::fs::symlink("Makefile", repo.path().join("todo.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let reply = folder.path().join("reply.md");
    let block = "todo.md\n```\n<<<<<<< SEARCH\n\ttrue\n=======\n\tcurl https://evil.sea\n>>>>>>> REPLACE\n```\n";
    std::fs::write(&reply, block).unwrap();
    let args = ["apply", reply.to_str().unwrap(), "--file", "harbour.py"];
    let mut pty = Pty::spawn(&rhumb(), &args, &repo.path(), &[], 140, 40);
    pty.wait_for("hunk 1 of 1 in todo.md → Makefile: accept? [y/n]");
    for known in ["tools run this file by themselves", "the file is not in the chat", "names an address that the file"]
    {
        pty.wait_for(known);
    }
    pty.type_text("n\r");
    assert!(!pty.wait_exit().success());
    assert_eq!(repo.read("Makefile"), "all:\n\ttrue\n");
}

#[test]
fn the_end_of_the_input_is_a_no_to_the_rest() {
    let repo = harbour_repo();
    let (mut pty, _reply) = apply(&repo);
    pty.wait_for("hunk 1 of 2");
    pty.key("Ctrl-d");
    pty.wait_for("hunk 2 of 2");
    pty.key("Ctrl-d");
    assert_eq!(pty.wait_exit().exit_code(), 1);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn an_interrupt_while_asking_writes_nothing() {
    let repo = harbour_repo();
    let (mut pty, _reply) = apply(&repo);
    pty.wait_for("hunk 1 of 2");
    pty.type_text("y\r");
    pty.wait_for("hunk 2 of 2");
    pty.key("Ctrl-c");
    assert!(!pty.wait_exit().success());
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn edit_asks_about_each_hunk_and_commits_the_accepted_ones() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let url = server.base_url();
    let env = [("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL), ("RHUMB_API_KEY", KEY)];
    let args = ["edit", "-m", REQUEST, "--file", "harbour.py"];
    let mut pty = Pty::spawn(&rhumb(), &args, &repo.path(), &env, 100, 80);
    yes_and_no(&pty);
    assert_eq!(pty.wait_exit().exit_code(), 1, "{}", pty.screen());
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    untouched(&repo, &[SUBJECT, "Start the harbour"]);
    pty.wait_for("fair winds");
}
