//! Attacks in a real terminal: no control sequence from a file, a reply or a server reaches it.

use std::fs;

use super::{open_set, quit, send};
use crate::support::attacks::{self, ATTACKS};
use crate::support::escapes::{Scanner, Sequence};
use crate::support::repo::TestRepo;
use crate::support::server::{ModelServer, Step};

/// Whether the program itself sends a sequence of this kind.
fn is_ours(sequence: &Sequence) -> bool {
    match sequence {
        Sequence::Csi(body) => match body.chars().last() {
            // With 24-bit colours a theme uses no palette colour, and no blinking or hidden text.
            Some('m') => !body.contains("8;5;") && !["7;5;8m", "0;1;31;40m"].contains(&body.as_str()),
            Some('H' | 'J' | 'K' | 'A' | 'B' | 'C' | 'D' | 'G' | 'd' | 'X' | 'u' | 'q') => !body.contains("31337"),
            Some('h' | 'l') => body.starts_with('?') && !body.contains("31337"),
            // The title of the window is saved and restored.
            Some('t') => ["22;0t", "23;0t"].contains(&body.as_str()),
            _ => false,
        },
        Sequence::Escape(body) => ["7", "8", "(B"].contains(&body.as_str()),
        // The title of the window, and the query for the background colour.
        Sequence::Text(body) => {
            let state = body.strip_prefix("]0;").and_then(|title| Some(title.split_once("rhumb")?.0));
            let is_title = state.is_some_and(|state| state.chars().all(|c| "…✓?() 0123456789".contains(c)));
            (is_title || ["]11;?", "]0;"].contains(&body.as_str())) && !body.contains("OWNED")
        }
    }
}

#[track_caller]
fn check(raw: &[u8], step: &str) {
    let mut scanner = Scanner::default();
    for sequence in raw.iter().filter_map(|byte| scanner.push(*byte)) {
        assert!(is_ours(&sequence), "{step}: {sequence:?} was sent");
    }
    // The output read so far may end within a character.
    let text = std::str::from_utf8(raw).or_else(|error| match error.error_len() {
        None => std::str::from_utf8(&raw[..error.valid_up_to()]),
        Some(_) => Err(error),
    });
    let text = text.expect("only whole characters are sent");
    let plain = |c: char| !attacks::is_forbidden(c) || matches!(c, '\x1b' | '\r' | '\n' | '\x07');
    let stray: Vec<char> = text.chars().filter(|c| !plain(*c)).collect();
    assert!(stray.is_empty(), "{step}: {stray:?} was sent");
    for (class, attack) in ATTACKS.iter().filter(|(_, attack)| attack.contains('\x1b')) {
        assert!(!text.contains(attack), "{step}: {class} was sent as it is");
    }
}

/// All attacks in prose, in a block of code and in an edit.
fn reply() -> String {
    let lines = attacks::all("# ");
    // A file with a NUL is binary and would not be sent again.
    let written = lines.replace('\0', "");
    format!(
        "{}\n```sh\n{lines}```\n\nplain.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n{written}>>>>>>> REPLACE\n```\n\nALL SAID\n",
        attacks::all("")
    )
}

#[test]
fn no_sequence_from_outside_reaches_the_terminal() {
    let repo = TestRepo::new();
    // A file with a NUL is binary and would not be sent.
    repo.file("plain.py", &format!("x = 1\n{}", attacks::all("# ").replace('\0', "")));
    for (at, (_, text)) in ATTACKS.iter().enumerate() {
        repo.file(&format!("n{at}{}.py", attacks::as_name(text)), &format!("def f{at}(): pass  # {text}\n"));
    }
    fs::write(repo.path().join("bytes.py"), attacks::BYTES).unwrap();
    repo.commit("\x1b]0;OWNED\x07 \x1b[38;5;201mStart\u{202e}");
    let evil: String = ATTACKS.iter().map(|(_, text)| *text).collect();
    let server = ModelServer::start(vec![
        Step::reply(&reply()),
        Step::error(400, &evil),
        Step::Status { code: 401, body: evil.clone(), headers: Vec::new() },
        Step::reply("fine"),
    ]);
    // No history summary is requested, so that the scripted errors answer the messages below.
    let settings = [("RHUMB_HISTORY_TOKENS", "1000000")];
    let mut pty = open_set(&repo.path(), Some(&server), &["--file", "plain.py", "--file", "bytes.py"], &settings);
    send(&pty, "do it");
    pty.wait_for("ALL SAID");
    pty.wait_for("review · 1 pending");
    check(&pty.raw(), "an answer");
    for key in ["PageUp", "PageUp", "PageUp"] {
        pty.key(key);
    }
    pty.key("Alt-4");
    for key in ["j", "j", "G", "PageUp", "y"] {
        pty.key(key);
    }
    pty.key("w");
    pty.wait_until(
        |_| fs::read_to_string(repo.path().join("plain.py")).unwrap_or_default().starts_with("x = 2"),
        "the write",
    );
    check(&pty.raw(), "a review and a write");
    pty.key("Alt-1");
    for (request, (step, told)) in
        [("an error of the server", "(status 400)"), ("a page instead of an answer", "(status 401)")].iter().enumerate()
    {
        // A message without an answer returns to the composer.
        pty.key("Ctrl-c");
        send(&pty, "again");
        pty.wait_until(|_| server.requests().len() >= request + 2, "the request");
        // A screen from before the request shows no turn either, so the notice of this turn must be visible.
        pty.wait_until(|screen| screen.contains(told) && !screen.contains("Esc cancels"), step);
        check(&pty.raw(), step);
    }
    pty.key("Ctrl-c");
    send(&pty, "/run cat plain.py bytes.py; git log -1; ls; echo OUT''PUT");
    pty.wait_for("OUTPUT");
    check(&pty.raw(), "the output of a command");
    pty.paste(&evil);
    pty.key("Alt-2");
    pty.key("G");
    check(&pty.raw(), "a paste and the map");
    pty.key("Alt-1");
    pty.key("Ctrl-c");
    quit(&mut pty);
    check(&pty.raw(), "all of it");
}
