//! Failures of a request: the draft returns to the composer, the app continues, nothing is written.

use super::copy_mode::clipboard;
use super::{
    KEY, REQUEST, answers_keys, composer, harbour_repo, open, quit, rhumb, search_replace, send, untouched,
    wait_for_draft,
};
use crate::support::pty::Pty;
use crate::support::server::{MODEL, ModelServer, Step, pieces};

fn status(code: u16, retry_after: &str) -> Step {
    Step::Status {
        code,
        body: format!(r#"{{"error":{{"message":"refused with {code}"}}}}"#),
        headers: vec![("retry-after".into(), retry_after.into())],
    }
}

#[test]
fn a_refusal_is_reported_and_the_draft_returns() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    pty.type_text(REQUEST);
    for (step, tries, told) in [
        (Step::error(401, &format!("bad key {KEY}")), 1, "the server refused the key (status 401)"),
        (Step::error(404, "no such model"), 1, "no such model"),
        (Step::error(400, "odd request"), 1, "odd request"),
        (Step::Html, 1, "does not answer like a chat"),
        // The server requests no pause between these attempts, and all of them fail.
        (status(500, "0"), 4, "the server failed (status 500)"),
        (status(429, "0"), 4, "rate limited by the server"),
    ] {
        // A screen without the notices of the previous round.
        pty.key("Ctrl-l");
        wait_for_draft(&pty, REQUEST);
        let before = server.requests().len();
        server.push(vec![step; tries]);
        pty.key("Enter");
        pty.wait_for(told);
        wait_for_draft(&pty, REQUEST);
        assert_eq!(server.requests().len(), before + tries, "{told}");
        answers_keys(&pty);
        untouched(&repo, &["Start the harbour"]);
    }
    // The same app sends the same draft once the server works again.
    server.push([Step::reply(&search_replace())]);
    pty.key("Enter");
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    let last = server.requests().pop().unwrap();
    let said = last.body["messages"].to_string();
    assert_eq!(said.matches(REQUEST).count(), 1, "messages without an answer are sent again: {said}");
    quit(&mut pty);
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert!(!raw.contains(KEY), "the server's own words showed the key");
}

#[test]
fn a_server_that_asks_for_patience_is_asked_again() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![status(429, "1"), status(503, "0"), Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("try 2 in 1 s: rate limited");
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    assert_eq!(server.requests().len(), 3);
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn a_local_server_that_does_not_run_is_reported_at_once() {
    let repo = harbour_repo();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/v1");
    let env = [("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL)];
    let mut pty = Pty::spawn(&rhumb(), &[], &repo.path(), &env, 160, 48);
    pty.wait_for("❯");
    send(&pty, REQUEST);
    pty.wait_for(&format!("nothing listens on {free}"));
    pty.wait_for("ollama serve");
    wait_for_draft(&pty, REQUEST);
    assert!(!String::from_utf8_lossy(&pty.raw()).contains("try 2"), "{}", pty.screen());
    answers_keys(&pty);
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn a_wait_before_another_try_can_be_cancelled() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![status(503, "30"), Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("try 2 in");
    pty.key("Esc");
    wait_for_draft(&pty, REQUEST);
    assert_eq!(server.requests().len(), 1);
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn a_stream_that_breaks_before_any_text_is_tried_again() {
    let repo = harbour_repo();
    let broken = Step::Drop { chunks: Vec::new() };
    let server = ModelServer::start(vec![broken, Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    assert_eq!(server.requests().len(), 2);
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn a_stream_that_breaks_after_some_text_keeps_it_and_applies_nothing() {
    let repo = harbour_repo();
    let reply = search_replace();
    // All but the last words: both blocks are complete, but the answer is not.
    let (most, _) = reply.split_once("fair winds").unwrap();
    let steps = vec![Step::Drop { chunks: pieces(most) }, Step::reply("That is all, fair winds.\n")];
    let server = ModelServer::start(steps);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("incomplete: interrupted");
    pty.wait_for("the answer ended before it was complete");
    pty.wait_for("That is all");
    assert_eq!(server.requests().len(), 1, "an answer that had begun was asked for again");
    answers_keys(&pty);
    assert!(!pty.screen().contains("pending"), "{}", pty.screen());
    untouched(&repo, &["Start the harbour"]);
    // If the user agrees, the model continues where it stopped.
    send(&pty, "/continue");
    pty.wait_for("review · 2 pending");
    assert!(server.requests()[1].last_message().contains("Go on exactly where it ends"));
    pty.key("Enter");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn an_answer_that_hangs_can_be_cancelled() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::Hang, Step::reply("Here now.")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, REQUEST);
    server.wait_for_requests(1);
    pty.wait_for("waiting for the first word");
    answers_keys(&pty);
    pty.key("Esc");
    server.wait_cancelled();
    wait_for_draft(&pty, REQUEST);
    // The returned draft is a real draft, not only shown.
    pty.key("F3");
    pty.wait_for("is on the clipboard.");
    assert!(clipboard(&pty).is_some_and(|prompt| prompt.contains(REQUEST)), "{}", pty.screen());
    pty.key("Enter");
    pty.wait_for("Here now.");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn a_second_message_waits_for_the_first_answer() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::held_after("One moment, please.", "moment"), Step::reply("Done.")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, "first");
    pty.wait_for("One moment");
    send(&pty, "second");
    pty.wait_for("⧗ second");
    server.go_on();
    pty.wait_for("please.");
    let requests = server.wait_for_requests(2);
    assert!(requests[1].body.to_string().contains("One moment, please."), "the answer comes before it");
    quit(&mut pty);
}

#[test]
fn an_answer_without_edits_is_reported() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("The tide turns every six hours.\n")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, "When does the tide turn?");
    pty.wait_for("every six hours");
    pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the turn");
    pty.wait_until(|screen| composer(screen).contains("Ask or say"), "an empty composer");
    answers_keys(&pty);
    assert!(!pty.screen().contains("pending"), "{}", pty.screen());
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn an_answer_cut_off_in_a_block_applies_nothing() {
    let repo = harbour_repo();
    let reply = search_replace();
    let (most, _) = reply.split_once("{metres:.1f}").unwrap();
    let cut = Step::Cut { chunks: pieces(most), reason: "length".into() };
    let server = ModelServer::start(vec![cut, Step::error(400, "no more of this")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("no more of this");
    answers_keys(&pty);
    assert!(!pty.screen().contains("pending"), "{}", pty.screen());
    untouched(&repo, &["Start the harbour"]);
    // On request, the complete block is proposed and the incomplete one is not.
    send(&pty, "/review");
    pty.wait_for("1 pending");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn an_answer_that_reaches_the_limit_is_gone_on_with() {
    let repo = harbour_repo();
    let reply = search_replace();
    let at = reply.find("{metres:.1f}").unwrap();
    let line = reply[..at].rfind('\n').unwrap() + 1;
    let cut = Step::Cut { chunks: pieces(&reply[..at]), reason: "length".into() };
    // The model follows the instruction and repeats the last line.
    let rest = Step::reply(&format!("Continuing:\n\n{}", &reply[line..]));
    let server = ModelServer::start(vec![cut, rest]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    assert!(!pty.screen().contains("Continuing:"), "{}", pty.screen());
    let requests = server.requests();
    assert!(requests[1].last_message().contains(reply[line..at].trim_end()), "{}", requests[1].last_message());
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn an_edit_that_cannot_be_located_is_shown_and_not_written() {
    let repo = harbour_repo();
    let reply = search_replace().replace("return TABLE[name]\n=", "return lookup(ports, name, mode='strict')\n=");
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("1 pending");
    pty.wait_for("1 no location");
    pty.wait_for("no location: harbour.py");
    pty.key("Enter");
    pty.key("Y");
    pty.wait_for("✓ 1");
    pty.key("w");
    pty.wait_for("Wrote 1 hunk: ");
    assert_eq!(repo.read("harbour.py"), super::harbour_with_second_hunk());
    quit(&mut pty);
}
