//! Copy mode: the prompt is copied to the clipboard and the reply is pasted.

use std::net::TcpStream;

use super::{
    HARBOUR, REQUEST, SUBJECT, answers_keys, harbour_repo, harbour_with_first_hunk, open, quit, search_replace,
    untouched, wait_for_draft,
};
use crate::support::escapes::{Scanner, Sequence};
use crate::support::pty::Pty;

/// The last text that the program copied with OSC 52.
pub(super) fn clipboard(pty: &Pty) -> Option<String> {
    let mut scanner = Scanner::default();
    let found = pty.raw().into_iter().filter_map(|byte| scanner.push(byte)).last_copy()?;
    Some(String::from_utf8(base64(&found)).unwrap())
}

trait LastCopy {
    fn last_copy(self) -> Option<String>;
}

impl<I: Iterator<Item = Sequence>> LastCopy for I {
    fn last_copy(self) -> Option<String> {
        let copies = self.filter_map(|sequence| match sequence {
            Sequence::Text(body) => body.strip_prefix("]52;c;").map(str::to_owned),
            _ => None,
        });
        copies.last()
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for c in text.bytes().filter(|c| *c != b'=') {
        let digit = DIGITS.iter().position(|digit| *digit == c).expect("a digit of base64");
        bits = bits << 6 | u32::try_from(digit).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

#[test]
fn the_prompt_is_copied_and_a_pasted_reply_is_reviewed_and_written() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &["--file", "harbour.py"]);
    pty.wait_for("no model: copy mode");
    // The survey is complete when the map is shown.
    pty.wait_for("charts/compass.py");
    pty.type_text(REQUEST);
    wait_for_draft(&pty, REQUEST);
    pty.key("F3");
    pty.wait_for("is on the clipboard.");
    let prompt = clipboard(&pty).expect("an OSC 52 sequence");
    for part in [HARBOUR, REQUEST, "bearing_to", "SEARCH"] {
        assert!(prompt.contains(part), "no {part:?} in {prompt}");
    }

    pty.key("F4");
    pty.wait_for("paste the model's reply");
    // Terminals send a paste with carriage returns.
    pty.paste(&search_replace().replace('\n', "\r"));
    pty.wait_for("Ctrl-d review");
    pty.wait_for("fair winds");
    pty.key("Ctrl-d");
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("yn");
    pty.wait_for("0 pending · ✓ 1 · ✗ 1");
    pty.key("w");
    pty.wait_for("Committed as");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    untouched(&repo, &[SUBJECT, "Start the harbour"]);

    // A reply to a request that was not typed here: the commit message must not contain the first request.
    pty.key("F4");
    pty.wait_for("paste the model's reply");
    pty.paste("notes.md\r```\r<<<<<<< SEARCH\r=======\r# Notes\r>>>>>>> REPLACE\r```\r");
    pty.key("Ctrl-d");
    pty.wait_for("review · 1 pending");
    pty.key("Enter");
    pty.type_text("yw");
    pty.wait_for("notes.md (new).");
    untouched(&repo, &["Add notes.md", SUBJECT, "Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn sending_without_a_model_explains_what_to_do_and_keeps_the_draft() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.type_text(REQUEST);
    pty.key("Enter");
    pty.wait_for("No model is connected, so the message was not sent.");
    wait_for_draft(&pty, REQUEST);
    quit(&mut pty);
}

#[test]
fn a_paste_without_edits_or_without_anything_opens_no_review() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    for text in ["", "Just words.\rAnd more of them."] {
        pty.key("F4");
        pty.wait_for("paste the model's reply");
        pty.paste(text);
        pty.key("Ctrl-d");
        pty.wait_until(|screen| !screen.contains("paste the model's reply"), "the box to close");
        answers_keys(&pty);
        assert!(!pty.screen().contains("pending"), "{}", pty.screen());
    }
    pty.wait_for("And more of them.");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn looking_for_servers_where_there_are_none_says_so() {
    // A model server that runs on this machine would be found.
    let usual = [11434, 1234, 8080, 8000];
    if usual.iter().any(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok()) {
        return;
    }
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.key("F2");
    pty.wait_for("No model server answers on this machine");
    answers_keys(&pty);
    quit(&mut pty);
}
