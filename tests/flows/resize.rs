//! The screen changes its size while an answer streams in, and the answer is cancelled.

use super::{REQUEST, answers_keys, harbour_repo, open, quit, rhumb, search_replace, send, untouched, wait_for_draft};
use crate::support::pty::Pty;
use crate::support::server::{ModelServer, Step};

const SEEN: &str = "Unknown names get a depth of zero";

#[test]
fn a_turn_survives_every_size_of_the_screen() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::held_after(&search_replace(), "depth of zero.\n")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for(SEEN);
    for (cols, rows) in [(200, 60), (80, 24), (60, 20)] {
        pty.resize(cols, rows);
        pty.wait_until(
            |screen| screen.contains(SEEN) && screen.lines().count() == usize::from(rows),
            &format!("the answer at {cols}×{rows}"),
        );
    }
    pty.resize(30, 8);
    pty.wait_for("rhumb needs");
    pty.resize(1, 1);
    pty.wait_until(|screen| screen == "r", "the first letter of the notice");
    server.go_on();
    pty.resize(30, 8);
    pty.wait_for("rhumb needs");
    pty.resize(60, 20);
    pty.wait_for("4 review 2");
    pty.resize(160, 48);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.wait_for("fair winds");
    answers_keys(&pty);
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn a_key_pressed_during_a_resize_does_not_wait_for_the_next_key() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    let mut typed = String::new();
    // A resize must coincide with a frame; with this many it does.
    for round in 0..60 {
        typed.push(char::from(b'a' + round % 26));
        // They coincide only if the program waits for both.
        std::thread::sleep(std::time::Duration::from_millis(150));
        pty.resize(160 + u16::from(round % 2), 48);
        pty.type_text(&typed[typed.len() - 1..]);
        wait_for_draft(&pty, &typed);
    }
    pty.key("Ctrl-u");
    quit(&mut pty);
}

#[test]
fn no_size_that_a_terminal_claims_is_too_large_or_too_small() {
    let repo = harbour_repo();
    let start_sizes = [(0, 0), (1, 1), (u16::MAX, 1), (1, u16::MAX), (5_000, 5_000), (9_999, u16::MAX)];
    for (cols, rows) in start_sizes {
        let mut pty = Pty::spawn(&rhumb(), &[], &repo.path(), &[], cols, rows);
        pty.resize(160, 48);
        pty.wait_for("no model: copy mode");
        pty.type_text("a draft");
        wait_for_draft(&pty, "a draft");
        // A frame of this size is drawn, a key works, and the next size is drawn completely.
        let before = pty.sent();
        pty.resize(cols, rows);
        pty.wait_sent(before);
        pty.type_text("!");
        pty.resize(160, 48);
        wait_for_draft(&pty, "a draft!");
        pty.wait_for("repo map");
        assert!(most_memory(&pty) < 1_000, "{cols}×{rows} took {} MB", most_memory(&pty));
        // A signal works at this size.
        let before = pty.sent();
        pty.resize(cols, rows);
        pty.wait_sent(before);
        pty.signal("TERM");
        assert_eq!(pty.wait_exit().exit_code(), 143, "{cols}×{rows}");
        assert_eq!(pty.modes_restored(), Ok(()), "{cols}×{rows}");
        assert_eq!(pty.line_mode_restored(), Ok(()), "{cols}×{rows}");
    }
}

/// The peak memory of the program so far, in MB; 0 if the system does not report it.
fn most_memory(pty: &Pty) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pty.process_id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

#[test]
fn esc_cancels_a_turn_and_keeps_what_arrived() {
    let repo = harbour_repo();
    // The stream is held in the middle of the second block; the first one is complete.
    let server =
        ModelServer::start(vec![Step::held_after(&search_replace(), "{metres:.1f}"), Step::reply("Here again.")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("The report rounds what it shows.");
    pty.key("Esc");
    server.wait_cancelled();
    pty.wait_for("incomplete: cancelled");
    pty.wait_for("The report rounds what it shows.");
    answers_keys(&pty);
    assert!(!pty.screen().contains("pending"), "{}", pty.screen());
    untouched(&repo, &["Start the harbour"]);
    send(&pty, "Are you there?");
    pty.wait_for("Here again.");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn leaving_in_mid_stream_hangs_up() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::held_after(&search_replace(), "depth of zero")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for(SEEN);
    quit(&mut pty);
    server.wait_cancelled();
    untouched(&repo, &["Start the harbour"]);
}
