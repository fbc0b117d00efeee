//! The terminal protocol: mouse events, the keyboard protocol, synchronized frames, the title of the window,
//! and no output while nothing happens.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{answers_keys, harbour_repo, open, open_sized, quit, rhumb, wait_for_draft};
use crate::support::escapes::{Scanner, Sequence};
use crate::support::pty::Pty;

/// The bytes of a mouse event (0 left button, 32 drag, 64 and 65 wheel) at a cell, 0-based.
fn mouse(pty: &Pty, button: u8, column: usize, row: usize, pressed: bool) {
    let last = if pressed { 'M' } else { 'm' };
    pty.type_text(&format!("\x1b[<{button};{};{}{last}", column + 1, row + 1));
}

fn click(pty: &Pty, column: usize, row: usize) {
    mouse(pty, 0, column, row, true);
    mouse(pty, 0, column, row, false);
}

/// The cell where a text begins on the screen.
#[track_caller]
fn find(pty: &Pty, text: &str) -> (usize, usize) {
    let screen = pty.screen();
    let found = screen.lines().zip(0..).find_map(|(line, row)| Some((line[..line.find(text)?].chars().count(), row)));
    found.unwrap_or_else(|| panic!("no {text:?} on the screen:\n{screen}"))
}

fn raw(pty: &Pty) -> String {
    String::from_utf8_lossy(&pty.raw()).into_owned()
}

/// Waits until the program has sent nothing for a while.
#[track_caller]
fn wait_quiet(pty: &Pty) {
    let limit = Instant::now() + Duration::from_secs(60);
    let mut before = pty.raw().len();
    loop {
        sleep(Duration::from_millis(1_500));
        let now = pty.raw().len();
        if now == before {
            return;
        }
        assert!(Instant::now() < limit, "the screen does not come to rest:\n{}", pty.screen());
        before = now;
    }
}

#[test]
fn clicks_choose_the_wheel_scrolls_and_a_dragged_border_stays_for_the_next_time() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("tokens");
    let (column, row) = find(&pty, "repo map");
    click(&pty, column, row + 2);
    pty.wait_for("┏ repo map");
    click(&pty, 5, 5);
    pty.wait_for("┏ chat");
    // One line more than the chat has rows, so that it scrolls.
    for _ in 0..12 {
        pty.type_text("/nonsense-that-is-no-command\r");
        pty.wait_until(|screen| screen.contains("nonsense"), "the notice");
        pty.key("Ctrl-c");
    }
    pty.wait_until(
        |screen| screen.matches("There is no command").count() + screen.matches("nonsense").count() > 3,
        "notices",
    );
    mouse(&pty, 64, 5, 5, true);
    pty.wait_for("scrolled");
    for _ in 0..4 {
        mouse(&pty, 65, 5, 5, true);
    }
    pty.wait_until(|screen| !screen.contains("scrolled"), "the end of the chat");
    let edge = |pty: &Pty| find(pty, "╭ repo map").0;
    let before = edge(&pty);
    mouse(&pty, 0, before, 20, true);
    mouse(&pty, 32, before - 10, 20, true);
    mouse(&pty, 32, before - 20, 20, true);
    mouse(&pty, 0, before - 20, 20, false);
    pty.wait_until(
        |screen| screen.lines().any(|line| line.chars().nth(before - 20) == Some('╭')),
        "the border to move",
    );
    assert_eq!(edge(&pty), before - 20);
    quit(&mut pty);
    let kept = pty.home().join(".local/state/rhumb/borders.toml");
    assert!(std::fs::read_to_string(&kept).is_ok_and(|text| text.contains("columns-chat")), "{}", kept.display());
    let home = pty.home().to_str().map(str::to_owned).expect("a name");
    let again = Pty::spawn(&rhumb(), &[], &repo.path(), &[("HOME", &home)], 160, 48);
    again.wait_for("╭ repo map");
    assert_eq!(edge(&again), before - 20, "{}", again.screen());
}

#[test]
fn mouse_reporting_can_be_turned_off_and_on() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    assert!(raw(&pty).contains("\x1b[?1002h") && !raw(&pty).contains("\x1b[?1003h"), "drags, and not every move");
    pty.type_text("/mouse\r");
    pty.wait_for("mouse off: the terminal selects text");
    assert!(raw(&pty).ends_with("\x1b[?1000l") || raw(&pty).contains("\x1b[?1000l"));
    pty.type_text("/mouse\r");
    pty.wait_for("mouse on: a drag in the chat selects text");
    assert_eq!(raw(&pty).matches("\x1b[?1000h").count(), 2);
    quit(&mut pty);
}

#[test]
fn keys_of_the_kitty_protocol_are_asked_for_understood_and_given_back() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    let sent = raw(&pty);
    let (screen, pushed) = (sent.find("\x1b[?1049h"), sent.find("\x1b[>1u"));
    assert!(screen.is_some() && screen < pushed, "on the stack of the screen that the app draws on");
    assert!(!sent.contains("\x1b[?u") && !sent.contains("\x1b[c"), "nothing is asked of the terminal");
    // Shift-Enter; Alt-b; Cmd-c, which is for the desktop; a key release.
    pty.type_text("one\x1b[13;2u");
    pty.type_text("two three\x1b[98;3u\x1b[99;9u\x1b[97;1:3ux ");
    pty.wait_until(|screen| screen.contains("❯ one") && screen.contains("two x three"), "two lines");
    pty.key("Ctrl-c");
    pty.wait_for("Ask or say what to change");
    // Ctrl-Enter sends, and Esc is recognised at once.
    pty.type_text("/keys\x1b[13;5u");
    pty.wait_for("Esc closes");
    pty.type_text("\x1b[27u");
    pty.wait_until(|screen| !screen.contains("Esc closes"), "the overlay to close");
    answers_keys(&pty);
    quit(&mut pty);
    assert_eq!(raw(&pty).matches("\x1b[>1u").count(), raw(&pty).matches("\x1b[<1u").count());
}

#[cfg(target_os = "linux")]
#[test]
fn an_unexpected_stop_leaves_nothing_twice() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    wait_for_draft(&pty, "Ask or say what to change · / commands · F1 help");
    pty.signal("STOP");
    pty.wait_stopped();
    let before = raw(&pty).matches("\x1b[?1049h").count();
    pty.signal("CONT");
    let limit = Instant::now() + Duration::from_secs(60);
    while raw(&pty).matches("\x1b[?1049h").count() == before {
        assert!(Instant::now() < limit, "the screen is not taken again");
        sleep(Duration::from_millis(20));
    }
    answers_keys(&pty);
    // Mouse and keyboard modes are restored.
    let (column, row) = find(&pty, "repo map");
    click(&pty, column, row + 2);
    pty.wait_for("┏ repo map");
    quit(&mut pty);
}

#[test]
fn a_frame_comes_at_once_and_only_how_to_resume_after_leaving() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.type_text("a draft");
    wait_for_draft(&pty, "a draft");
    quit(&mut pty);
    let sent = raw(&pty);
    let (begun, ended) = (sent.matches("\x1b[?2026h").count(), sent.matches("\x1b[?2026l").count());
    assert!(begun > 0 && ended >= begun, "{begun} frames begun, {ended} ended");
    let (_, after) = sent.rsplit_once("\x1b[?1049l").expect("the screen was given back");
    let mut scanner = Scanner::default();
    let mut sequences = Vec::new();
    let plain: Vec<u8> = after
        .bytes()
        .filter(|byte| {
            let inside = scanner.is_inside() || *byte == 0x1b;
            sequences.extend(scanner.push(*byte));
            !inside
        })
        .collect();
    let told = "rhumb: Session 1 is saved, with an unsent message.\r\nResume it with: rhumb --continue\r\n";
    assert_eq!(String::from_utf8_lossy(&plain), told, "nothing else after the screen was given back");
    let titles: Vec<&Sequence> =
        sequences.iter().filter(|sequence| matches!(sequence, Sequence::Csi(body) if body.ends_with('t'))).collect();
    assert_eq!(titles, [&Sequence::Csi("23;0t".into())], "the title from before comes back");
    assert!(sent.contains("\x1b[22;0t") && sent.contains("\x1b]0;rhumb"));
}

#[test]
fn nothing_is_sent_while_nothing_happens() {
    let repo = harbour_repo();
    for (cols, rows) in [(160, 48), (60, 18)] {
        let mut pty = open_sized(&repo.path(), None, &[], cols, rows);
        wait_quiet(&pty);
        let before = pty.raw().len();
        sleep(Duration::from_secs(2));
        assert_eq!(pty.raw().len(), before, "bytes while idle: {:?}", String::from_utf8_lossy(&pty.raw()[before..]));
        quit(&mut pty);
    }
}
