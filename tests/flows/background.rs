//! The background colour of the terminal: queried after the first frame, and answered at once, late, wrongly or never.

use super::{answers_keys, composer, harbour_repo, open, quit, rhumb, wait_for_draft};
use crate::support::pty::Pty;

const QUESTION: &str = "\x1b]11;?\x07";

/// The escape sequence parameters of the text colour in each of the two themes.
const DARK: &str = "38;2;208;216;223";
const LIGHT: &str = "38;2;34;48;60";

fn sent(pty: &Pty, text: &str) -> bool {
    String::from_utf8_lossy(&pty.raw()).contains(text)
}

/// Waits for bytes that the screen does not show.
#[track_caller]
fn wait_sent(pty: &Pty, text: &str) {
    let limit = std::time::Instant::now() + crate::support::WAIT_TIMEOUT;
    while !sent(pty, text) {
        assert!(std::time::Instant::now() < limit, "{text:?} is not sent; the screen:\n{}", pty.screen());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_light_background_gets_the_light_theme_and_no_key_is_lost() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    wait_sent(&pty, QUESTION);
    pty.type_text("before\x1b]11;rgb:ffff/fafa/f0f0\x1b\\after");
    wait_for_draft(&pty, "beforeafter");
    wait_sent(&pty, LIGHT);
    pty.key("Ctrl-c");
    answers_keys(&pty);
    quit(&mut pty);
}

#[test]
fn a_terminal_that_never_answers_is_not_waited_for() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    wait_sent(&pty, QUESTION);
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert!(raw.find('❯').unwrap() < raw.find(QUESTION).unwrap(), "the first frame comes before the question");
    pty.type_text("a draft");
    wait_for_draft(&pty, "a draft");
    assert!(sent(&pty, DARK) && !sent(&pty, LIGHT));
    pty.key("Ctrl-c");
    quit(&mut pty);
}

#[test]
fn wrong_and_late_answers_are_not_taken_for_typing() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    wait_sent(&pty, QUESTION);
    pty.type_text("a\x1b]11;what?\x07b");
    wait_for_draft(&pty, "ab");
    pty.type_text("\x1b]11;rgb:zz/1\x1b\\c");
    wait_for_draft(&pty, "abc");
    // A late report of another colour.
    pty.type_text("\x1b]11;rgb:ff/ff/ff\x07d");
    wait_for_draft(&pty, "abcd");
    wait_sent(&pty, LIGHT);
    assert_eq!(composer(&pty.screen()), "abcd");
    pty.key("Ctrl-c");
    quit(&mut pty);
}

#[test]
fn the_background_is_queried_again_when_the_terminal_gets_the_focus() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    wait_sent(&pty, QUESTION);
    pty.type_text("\x1b]11;rgb:00/00/00\x07x");
    wait_for_draft(&pty, "x");
    pty.type_text("\x1b[O\x1b[I");
    wait_sent(&pty, QUESTION);
    let limit = std::time::Instant::now() + crate::support::WAIT_TIMEOUT;
    while String::from_utf8_lossy(&pty.raw()).matches(QUESTION).count() < 2 {
        assert!(std::time::Instant::now() < limit, "it is not asked again");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    pty.type_text("\x1b]11;rgb:ff/ff/ff\x07y");
    wait_for_draft(&pty, "xy");
    wait_sent(&pty, LIGHT);
    pty.key("Ctrl-c");
    quit(&mut pty);
}

#[test]
fn a_change_of_the_colours_is_followed_when_the_terminal_reports_it() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    wait_sent(&pty, QUESTION);
    wait_sent(&pty, "\x1b[?2031h");
    // Keys before, between and after the reports still count as keys.
    pty.type_text("a\x1b[?997;2nb");
    wait_for_draft(&pty, "ab");
    wait_sent(&pty, LIGHT);
    let told = pty.raw().len();
    pty.type_text("\x1b[?997;1n");
    pty.type_text("c");
    wait_for_draft(&pty, "abc");
    let limit = std::time::Instant::now() + crate::support::WAIT_TIMEOUT;
    while !String::from_utf8_lossy(&pty.raw()[told..]).contains(DARK) {
        assert!(std::time::Instant::now() < limit, "it is not dark again");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // Other reports are ignored and delay nothing.
    pty.type_text("\x1b[?997;7n\x1b[?62;4cd");
    wait_for_draft(&pty, "abcd");
    pty.key("Ctrl-c");
    quit(&mut pty);
    assert!(sent(&pty, "\x1b[?2031l"), "it is given back");
}

#[test]
fn with_a_configured_theme_the_background_is_not_queried() {
    let repo = harbour_repo();
    for (args, env) in
        [(&["--theme", "nord"][..], ("LANG", "C.UTF-8")), (&[], ("NO_COLOR", "1")), (&[], ("TERM", "linux"))]
    {
        let mut pty = Pty::spawn(&rhumb(), args, &repo.path(), &[env], 160, 48);
        pty.wait_for("❯");
        answers_keys(&pty);
        quit(&mut pty);
        assert!(!sent(&pty, QUESTION), "{args:?} {env:?}");
    }
}
