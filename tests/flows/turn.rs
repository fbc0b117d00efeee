//! The main flow: from a request to a commit with the accepted hunks and nothing else.

use super::{
    HARBOUR, KEY, REQUEST, SUBJECT, harbour_repo, harbour_with_first_hunk, harbour_with_second_hunk, open, quit,
    search_replace, send, unified_diff, untouched, wait_for_draft,
};
use crate::support::server::{ModelServer, Request, Step};

/// Accepts the first hunk, rejects the second, writes, and checks the files, the commit and the screen.
fn first_accepted_second_rejected(reply: &str) {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::held_after(reply, "depth of zero")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    pty.wait_for("test-model @ 127.0.0.1");
    send(&pty, REQUEST);
    // The server holds the stream here, so the text on the screen arrived before the end of the answer.
    pty.wait_for("Unknown names get a depth of zero");
    pty.wait_for("answering · Esc cancels");
    assert!(!pty.screen().contains("pending"));
    server.go_on();

    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.wait_for("fair winds");
    assert_eq!(repo.read("harbour.py"), HARBOUR, "written before it was asked for");
    pty.key("y");
    pty.wait_for("1 pending · ✓ 1 · ✗ 0");
    pty.key("n");
    pty.wait_for("0 pending · ✓ 1 · ✗ 1");
    assert_eq!(repo.read("harbour.py"), HARBOUR, "written before it was asked for");
    pty.key("w");
    pty.wait_for("Committed as");
    pty.wait_for("Wrote 1 hunk: ");

    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    untouched(&repo, &[SUBJECT, "Start the harbour"]);
    let changed = repo.git(&["show", "--format=", "--name-only", "HEAD"]);
    assert_eq!(changed, "harbour.py\n");
    let id = repo.git(&["rev-parse", "--short", "HEAD"]);
    pty.wait_for(id.trim());

    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    holds_everything(&requests[0]);
    quit(&mut pty);
    let sent = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert!(!sent.contains(KEY), "the key on the terminal");
}

fn holds_everything(request: &Request) {
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    let body = &request.body;
    assert_eq!((&body["model"], &body["stream"]), (&"test-model".into(), &true.into()));
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "system");
    let all: String = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    assert!(all.contains("bearing_to"), "no map in {all}");
    assert!(all.contains(HARBOUR), "no file in {all}");
    assert!(request.last_message().contains(REQUEST), "{}", request.last_message());
    assert!(!body.to_string().contains(KEY), "the key in the body");
}

#[test]
fn words_on_the_command_line_are_the_draft_and_files_are_in_the_chat() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    let mut pty = open(&repo.path(), Some(&server), &["harbour.py", "make it safe"]);
    wait_for_draft(&pty, "make it safe");
    pty.wait_for("✎ harbour.py");
    assert!(server.requests().is_empty(), "a draft is not sent");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn search_replace_blocks_go_from_request_to_commit() {
    first_accepted_second_rejected(&search_replace());
}

#[test]
fn a_unified_diff_goes_from_request_to_commit() {
    first_accepted_second_rejected(&unified_diff());
}

#[test]
fn decisions_can_be_undone_and_a_second_turn_sees_the_first() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::reply("Nothing more to do.")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py", "--no-commit"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("0 pending · ✓ 2 · ✗ 0");
    pty.key("u");
    pty.wait_for("2 pending · ✓ 0 · ✗ 0");
    pty.type_text("ny");
    pty.wait_for("0 pending · ✓ 1 · ✗ 1");
    pty.key("w");
    pty.wait_for("Wrote 1 hunk: ");
    assert_eq!(repo.read("harbour.py"), harbour_with_second_hunk());
    assert_eq!(repo.subjects(), ["Start the harbour"], "a commit in spite of --no-commit");

    send(&pty, "Anything else?");
    pty.wait_for("Nothing more to do.");
    let second = &server.wait_for_requests(2)[1];
    let messages = second.body["messages"].as_array().unwrap();
    let said = |role: &str, text: &str| {
        let of_role = messages.iter().filter(|message| message["role"] == role);
        of_role.filter_map(|message| message["content"].as_str()).any(|content| content.contains(text))
    };
    assert!(said("user", REQUEST) && said("assistant", "fair winds"), "no history in {messages:?}");
    // The current content of the file is sent.
    assert!(said("user", "{metres:.1f} metres"), "an old file in {messages:?}");
    quit(&mut pty);
}

#[test]
fn leaving_with_a_review_open_writes_nothing() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 2");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn the_users_own_changes_stay_out_of_the_commit() {
    let repo = harbour_repo();
    repo.file("notes.md", "staged\n");
    repo.git(&["add", "notes.md"]);
    repo.file("notes.md", "staged and changed again\n")
        .file("charts/compass.py", "# changed, not staged\n")
        .file("scratch.txt", "not tracked\n");
    let before = repo.git(&["status", "--porcelain"]);
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    pty.key("Enter");
    pty.type_text("ynw");
    pty.wait_for("Committed as");
    assert_eq!(repo.git(&["show", "--format=", "--name-only", "HEAD"]), "harbour.py\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), before);
    assert_eq!(repo.git(&["show", ":notes.md"]), "staged\n");
    quit(&mut pty);
}

#[test]
fn a_reply_cannot_drive_the_terminal() {
    let repo = harbour_repo();
    let evil = "\x1b]0;owned\x07\x1b[2J\x1b[?1049l\x1b]52;c;b3duZWQ=\x07\u{9b}31m";
    let reply = search_replace()
        .replace("depth of zero.", &format!("depth{evil} of zero."))
        .replace("TABLE.get(name, 0.0)", &format!("TABLE.get(name, 0.0)  # {evil}end"));
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    pty.wait_for("fair winds");
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    for escape in ["\x1b]0;owned", "\x1b]52;", "\x1b[?1049l", "\u{9b}"] {
        assert!(!raw.contains(escape), "{escape:?} reached the terminal");
    }
    // The user sees that the text has unusual characters.
    pty.wait_for("0.0)  # ␛]0;owned");
    quit(&mut pty);
}

#[test]
fn a_file_is_picked_by_a_few_letters_and_dropped_again() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("harbour.py");
    pty.key("Ctrl-p");
    pty.wait_for("add files to the chat");
    pty.type_text("comp");
    pty.key("Enter");
    pty.wait_for("✎ charts/compass.py");
    send(&pty, "/drop compass.py");
    pty.wait_until(|screen| !screen.contains("✎ charts/compass.py"), "the file to leave the chat");
    quit(&mut pty);
}

#[test]
fn letters_typed_when_the_review_opens_decide_nothing() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.type_text("yw yes, now the tests");
    wait_for_draft(&pty, "yw yes, now the tests");
    pty.wait_for("review · 2 pending");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn typing_continues_when_the_review_opens() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::held_after(&search_replace(), "zero.\n")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("depth of zero");
    pty.type_text("yes, and ");
    wait_for_draft(&pty, "yes, and");
    server.go_on();
    pty.wait_for("review · 2 pending");
    pty.type_text("why");
    wait_for_draft(&pty, "yes, and why");
    pty.wait_for("review · 2 pending");
    pty.key("Alt-4");
    pty.type_text("y");
    pty.wait_for("1 pending · ✓ 1");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn leaving_right_after_w_finishes_the_write() {
    const FILES: usize = 200;
    let repo = harbour_repo();
    let block = |number: usize| {
        format!(
            "berths/b{number:03}.py\n```python\n<<<<<<< SEARCH\n=======\nNUMBER = {number}\n>>>>>>> REPLACE\n```\n\n"
        )
    };
    let reply: String = (0..FILES).map(block).collect();
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, REQUEST);
    pty.wait_for("review · 200 pending");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("0 pending · ✓ 200");
    pty.key("w");
    quit(&mut pty);
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "half a write, or litter");
    assert_eq!(
        repo.subjects(),
        ["Add 200 files in berths: b000.py, b001.py, b002.py and 197 more", "Start the harbour"]
    );
    let written = repo.git(&["show", "--format=", "--name-only", "HEAD"]);
    assert_eq!(written.lines().count(), FILES);
}

#[test]
fn a_paste_that_the_terminal_does_not_mark_is_a_draft_and_no_messages() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("compass.py");
    let lines: String = (1..=40).map(|line| format!("line {line} of a log that somebody pastes\r")).collect();
    pty.type_text(&format!("{lines}the last of it"));
    // Its chip has no-break spaces, so that it does not wrap.
    let shown = |screen: &str| screen.replace('\u{205F}', " ").contains("[paste 1: 41 lines]");
    pty.wait_until(shown, "a paste of 41 lines");
    assert!(server.requests().is_empty(), "its lines were sent");
    pty.key("Ctrl-c");
    pty.wait_until(|screen| !shown(screen), "an empty composer");
    quit(&mut pty);
}
