//! Commits: their messages, the user's own changes, and the output of the commands.

use super::{
    HARBOUR, KEY, REQUEST, SUBJECT, confirm, harbour_repo, harbour_with_first_hunk, open, quit, rhumb, search_replace,
    send, untouched,
};
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer, Request, Step};

/// The app on the harbour; its weak model is the same server.
fn open_with_weak(repo: &TestRepo, server: &ModelServer) -> Pty {
    let url = server.base_url();
    let env =
        [("RHUMB_API_KEY", KEY), ("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL), ("RHUMB_WEAK_MODEL", MODEL)];
    let pty = Pty::spawn(&rhumb(), &["--file", "harbour.py"], &repo.path(), &env, 160, 48);
    pty.wait_for("❯");
    pty
}

/// Sends the request, accepts the first hunk, rejects the second, and writes.
fn write_first_hunk(pty: &Pty) {
    send(pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("ynw");
}

fn holds(request: &Request, text: &str) -> bool {
    request.last_message().contains(text)
}

#[test]
fn the_weak_model_writes_the_message_after_the_files_are_written() {
    let repo = harbour_repo();
    let answer = "```\n\"fix(harbour): treat unknown names as depth zero\"\n```";
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::held_after(answer, "fix")]);
    let mut pty = open_with_weak(&repo, &server);
    write_first_hunk(&pty);
    pty.wait_for("Wrote 1 hunk: ");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    let asked = &server.wait_for_requests(2)[1];
    assert!(holds(asked, REQUEST) && holds(asked, "+    return TABLE.get(name, 0.0)"), "{}", asked.body);
    assert!(!holds(asked, "metres:.1f"), "what was rejected: {}", asked.body);
    // Text that the user types in the meantime stays in the composer.
    let mine = harbour_with_first_hunk() + "# mine\n";
    repo.file("harbour.py", &mine);
    server.go_on();
    pty.wait_for("Committed as");
    pty.wait_for("fix(harbour): treat unknown names as depth zero");
    assert_eq!(repo.git(&["show", "HEAD:harbour.py"]), harbour_with_first_hunk());
    assert_eq!(repo.read("harbour.py"), mine);
    let message = repo.git(&["log", "-1", "--format=%B"]);
    let trailer = format!("Co-authored-by: rhumb ({MODEL}) <noreply@rhumb.invalid>");
    assert_eq!(message.trim_end(), format!("fix(harbour): treat unknown names as depth zero\n\n{trailer}"));
    repo.file("harbour.py", &harbour_with_first_hunk());
    pty.key("Esc");
    send(&pty, "/undo");
    confirm(&pty, "undo the last write?");
    pty.wait_for("Dropped commit");
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn a_message_that_does_not_come_is_the_first_line_of_the_request() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::error(401, "no")]);
    let mut pty = open_with_weak(&repo, &server);
    write_first_hunk(&pty);
    pty.wait_for("Committed as");
    untouched(&repo, &[SUBJECT, "Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn leaving_while_the_message_is_awaited_commits_without_it() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::Hang]);
    let mut pty = open_with_weak(&repo, &server);
    write_first_hunk(&pty);
    pty.wait_for("Wrote 1 hunk: ");
    server.wait_for_requests(2);
    quit(&mut pty);
    untouched(&repo, &[SUBJECT, "Start the harbour"]);
}

#[test]
fn a_kill_while_the_commit_message_is_awaited_is_reported_at_the_next_start() {
    let (repo, home) = (harbour_repo(), tempfile::tempdir().unwrap());
    let home = home.path().to_string_lossy();
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::Hang]);
    let url = server.base_url();
    let env = [
        ("HOME", &*home),
        ("RHUMB_API_KEY", KEY),
        ("RHUMB_BASE_URL", &url),
        ("RHUMB_MODEL", MODEL),
        ("RHUMB_WEAK_MODEL", MODEL),
    ];
    let open = || {
        let pty = Pty::spawn(&rhumb(), &["harbour.py"], &repo.path(), &env, 160, 48);
        pty.wait_for("❯");
        pty
    };
    let mut killed = open();
    write_first_hunk(&killed);
    killed.wait_for("Wrote 1 hunk: ");
    server.wait_for_requests(2);
    // Another run finds no problem; the commit is still pending.
    let mut other = open();
    other.wait_for("compass.py");
    assert!(!other.screen().contains("before it committed"), "{}", other.screen());
    quit(&mut other);
    killed.signal("KILL");
    killed.wait_exit();
    assert_eq!(repo.git(&["status", "--porcelain"]), " M harbour.py\n");
    let mut next = open();
    next.wait_for("rhumb was ended before it committed an earlier write or undo");
    next.wait_for("harbour.py.");
    send(&next, "/commit Look names up safely");
    next.wait_for("Committed as");
    quit(&mut next);
    untouched(&repo, &["Look names up safely", "Start the harbour"]);
    let mut last = open();
    last.wait_for("compass.py");
    assert!(!last.screen().contains("before it committed"), "told once: {}", last.screen());
    quit(&mut last);
}

#[test]
fn undo_does_not_wait_for_the_message() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::Hang]);
    let mut pty = open_with_weak(&repo, &server);
    write_first_hunk(&pty);
    pty.wait_for("Wrote 1 hunk: ");
    server.wait_for_requests(2);
    pty.key("Esc");
    send(&pty, "/undo");
    confirm(&pty, "undo the last write?");
    pty.wait_for("Dropped commit");
    assert_eq!(repo.read("harbour.py"), HARBOUR);
    untouched(&repo, &["Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn own_changes_are_asked_about_and_committed_first() {
    let repo = harbour_repo();
    let mine = HARBOUR.replace("'south': 3.0", "'south': 3.5");
    repo.file("harbour.py", &mine);
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    write_first_hunk(&pty);
    pty.wait_for("Commit your own changes first?");
    assert_eq!(repo.read("harbour.py"), mine, "written before the answer");
    pty.key("Esc");
    pty.wait_until(|screen| !screen.contains("Nothing is written before you answer"), "the box to close");
    pty.key("w");
    pty.wait_for("Nothing is written before you answer");
    pty.key("y");
    pty.wait_for("after your own changes as");
    untouched(&repo, &[SUBJECT, "Own changes to harbour.py", "Start the harbour"]);
    assert_eq!(repo.git(&["show", "HEAD~1:harbour.py"]), mine);
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk().replace("'south': 3.0", "'south': 3.5"));
    assert_eq!(repo.git(&["log", "-1", "--format=%B", "HEAD~1"]).trim_end(), "Own changes to harbour.py");
    quit(&mut pty);
}

#[test]
fn own_changes_that_are_not_to_be_committed_keep_the_file_out() {
    let repo = harbour_repo();
    let mine = HARBOUR.replace("'south': 3.0", "'south': 3.5");
    repo.file("harbour.py", &mine);
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    write_first_hunk(&pty);
    pty.wait_for("Commit your own changes first?");
    pty.key("x");
    pty.wait_for("Not committed, because the file has uncommitted");
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M harbour.py\n");
    pty.key("Esc");
    send(&pty, "/undo");
    confirm(&pty, "undo the last write?");
    pty.wait_for("Undid the last write");
    assert_eq!(repo.read("harbour.py"), mine);
    quit(&mut pty);
}

#[test]
fn commit_and_diff_show_and_commit_what_there_is() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::reply("Nothing to do.")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py", "--no-commit"]);
    send(&pty, "/diff");
    pty.wait_for("Nothing was written since the last message.");
    send(&pty, "/commit");
    pty.wait_for("there is nothing to commit");
    write_first_hunk(&pty);
    pty.wait_for("Wrote 1 hunk: ");
    pty.key("Esc");
    send(&pty, "/diff");
    pty.wait_for("written since the last message");
    pty.wait_for("+    return TABLE.get(name, 0.0)");
    pty.key("Esc");
    repo.file("new.txt", "not tracked\n");
    send(&pty, "/commit Look names up safely");
    pty.wait_for("Committed as");
    pty.wait_for("new.txt stays uncommitted: git does not track it.");
    pty.wait_for("/git add new.txt");
    assert_eq!(repo.subjects(), ["Look names up safely", "Start the harbour"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]).trim_end(), "Look names up safely");
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? new.txt\n");
    repo.git(&["add", "new.txt"]);
    repo.file("harbour.py", "not staged\n");
    send(&pty, "/commit");
    pty.wait_for("Add new.txt");
    assert_eq!(repo.git(&["status", "--porcelain"]), " M harbour.py\n");
    send(&pty, "Anything else?");
    pty.wait_for("Nothing to do.");
    pty.key("Ctrl-l");
    send(&pty, "/diff");
    pty.wait_for("Nothing was written since the last message.");
    quit(&mut pty);
}
