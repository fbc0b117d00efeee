//! Conversations and requests that are too long: what is summarised, shortened or left out, and how it is reported.

use super::{harbour_repo, open, quit, search_replace, send};
use crate::support::server::{ModelServer, Step};

/// All messages of a request as one text.
fn said(request: &crate::support::server::Request) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_long_conversation_is_summarised_in_the_background() {
    let repo = harbour_repo();
    let story = "The tide rises and falls with the moon and the sun, twice a day. ".repeat(150);
    let server = ModelServer::start(vec![
        Step::reply(&story),
        Step::reply("You asked about the tide, and I told of the moon."),
        Step::reply("Yes."),
    ]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, "tell me of the tide");
    server.wait_for_requests(2);
    pty.wait_for("is sent as a summary");
    send(&pty, "is that all?");
    let requests = server.wait_for_requests(3);
    let (summed, last) = (said(&requests[1]), said(&requests[2]));
    assert!(summed.contains("twice a day") && summed.contains("tell me of the tide"), "the whole head is summed up");
    assert!(last.contains("told of the moon") && last.contains("is that all?"), "{last}");
    assert!(!last.contains("twice a day"), "{last}");
    quit(&mut pty);
}

#[test]
fn a_conversation_is_summarised_on_request_and_that_can_be_cancelled() {
    let repo = harbour_repo();
    let story = "The tide rises and falls with the moon and the sun, twice a day. ".repeat(40);
    let server = ModelServer::start(vec![
        Step::reply(&story),
        Step::Hang,
        Step::reply("You asked about the tide, and I told of the moon."),
        Step::reply("Yes."),
    ]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("harbour.py");
    send(&pty, "/compact");
    pty.wait_for("There is nothing to summarise");
    send(&pty, "tell me of the tide");
    pty.wait_for("twice a day");
    pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the answer");
    send(&pty, "/compact");
    pty.wait_for("summarising the conversation · Esc cancels");
    server.wait_for_requests(2);
    pty.key("Esc");
    pty.wait_for("The summary was cancelled");
    send(&pty, "/compact keep the moon");
    pty.wait_for("The conversation is summarised:");
    send(&pty, "is that all?");
    let requests = server.wait_for_requests(4);
    assert!(requests[2].body.to_string().contains("above all: keep the moon"), "{}", requests[2].body);
    let last = said(&requests[3]);
    assert!(last.contains("told of the moon") && !last.contains("twice a day"), "{last}");
    quit(&mut pty);
}

#[test]
fn a_summary_that_fails_leaves_the_conversation_as_it_is() {
    let repo = harbour_repo();
    let story = "The tide rises and falls with the moon and the sun, twice a day. ".repeat(150);
    let server = ModelServer::start(vec![Step::reply(&story), Step::error(400, "no summaries"), Step::reply("Yes.")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, "tell me of the tide");
    pty.wait_for("could not be summarised");
    send(&pty, "is that all?");
    let requests = server.wait_for_requests(3);
    assert!(said(&requests[2]).contains("twice a day"));
    quit(&mut pty);
}

#[test]
fn a_request_that_the_server_finds_too_long_is_sent_shorter() {
    let repo = harbour_repo();
    let sizes = "This model's maximum context length is 950 tokens. However, your messages resulted in 1000 tokens.";
    let server = ModelServer::start(vec![Step::error(400, sizes), Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, "Make the harbour safe for unknown names");
    pty.wait_for("2 pending");
    pty.wait_for("window is smaller than assumed");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(said(&requests[1]).len() < said(&requests[0]).len());
    quit(&mut pty);
}
