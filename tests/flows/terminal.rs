//! The terminal is restored for every way in which the program ends: by a panic, signals, a suspend.

use super::{answers_keys, harbour_repo, open, quit, rhumb, wait_for_draft};
use crate::support::pty::Pty;

#[test]
fn a_panic_gives_the_terminal_back_and_can_be_read() {
    let repo = harbour_repo();
    let mut pty = Pty::spawn(&rhumb(), &["--test-panic"], &repo.path(), &[], 120, 40);
    let status = pty.wait_exit();
    assert_ne!(status.exit_code(), 0);
    assert_eq!(pty.modes_restored(), Ok(()));
    assert_eq!(pty.line_mode_restored(), Ok(()));
    // The emulator shows the main screen again, with the message for the user.
    pty.wait_for("panic asked for by --test-panic");
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert!(raw.contains("\x1b[?1049h"), "the panic came before the first frame");
}

#[test]
fn signals_end_the_app_with_their_code_and_restore_the_terminal() {
    let repo = harbour_repo();
    let mut signals = vec![("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)];
    // By number, because not every shell knows their names: USR1, USR2, ALRM, STKFLT, XCPU, VTALRM, PROF, IO, PWR, and the
    // first and the last of those for real time.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    signals.extend([
        ("10", 138),
        ("12", 140),
        ("14", 142),
        ("16", 144),
        ("24", 152),
        ("26", 154),
        ("27", 155),
        ("29", 157),
        ("30", 158),
        ("34", 162),
        ("64", 192),
    ]);
    for (name, code) in signals {
        let mut pty = open(&repo.path(), None, &[]);
        pty.type_text("a draft");
        wait_for_draft(&pty, "a draft");
        pty.signal(name);
        let status = pty.wait_exit();
        assert_eq!(status.exit_code(), code, "SIG{name}: {status:?}");
        assert_eq!(pty.modes_restored(), Ok(()), "SIG{name}");
        assert_eq!(pty.line_mode_restored(), Ok(()), "SIG{name}");
    }
}

#[test]
fn signals_of_a_fault_end_the_app_by_themselves_and_restore_the_terminal() {
    let repo = harbour_repo();
    for (name, told) in [("ABRT", "Aborted"), ("BUS", "Bus error"), ("SYS", "Bad system call"), ("TRAP", "Trace")] {
        let mut pty = open(&repo.path(), None, &[]);
        pty.type_text("a draft");
        wait_for_draft(&pty, "a draft");
        pty.signal(name);
        let status = pty.wait_exit();
        assert!(status.signal().is_some_and(|signal| signal.starts_with(told)), "SIG{name}: {status:?}");
        assert_eq!(pty.modes_restored(), Ok(()), "SIG{name}");
        assert_eq!(pty.line_mode_restored(), Ok(()), "SIG{name}");
    }
}

#[test]
fn signals_that_end_no_program_or_that_rhumb_survives_change_nothing() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    for name in ["PIPE", "XFSZ", "CHLD", "URG", "WINCH"] {
        pty.signal(name);
        pty.type_text(name);
        wait_for_draft(&pty, name);
        pty.key("Ctrl-u");
    }
    quit(&mut pty);
}

#[cfg(target_os = "linux")]
#[test]
fn suspending_restores_the_terminal_and_continuing_redraws_it() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.type_text("a draft");
    wait_for_draft(&pty, "a draft");
    let entered = |pty: &Pty| String::from_utf8_lossy(&pty.raw()).matches("\x1b[?1049h").count();
    for stop in ["the key", "the signal"] {
        let before = entered(&pty);
        if stop == "the key" {
            pty.key("Ctrl-z")
        } else {
            pty.signal("TSTP")
        }
        pty.wait_stopped();
        pty.wait_restored();
        assert!(!pty.screen().contains("a draft"), "the app's screen is still there after {stop}");
        pty.signal("CONT");
        // A complete frame, since the emulator's screen was empty.
        wait_for_draft(&pty, "a draft");
        pty.wait_for("no model: copy mode");
        pty.wait_for("repo map");
        assert!(entered(&pty) > before, "{stop}");
        answers_keys(&pty);
    }
    quit(&mut pty);
}

#[test]
fn ctrl_c_empties_the_draft_and_leaves_only_when_pressed_twice() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.type_text("a draft");
    wait_for_draft(&pty, "a draft");
    pty.key("Ctrl-c");
    pty.wait_for("Ask or say what to change");
    pty.key("Ctrl-c");
    pty.wait_for("Ctrl-c again leaves");
    pty.type_text("x");
    wait_for_draft(&pty, "x");
    pty.key("Backspace");
    pty.wait_for("Ask or say what to change");
    pty.key("Ctrl-c");
    pty.wait_for("Ctrl-c again leaves");
    pty.key("Ctrl-c");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert_eq!(pty.modes_restored(), Ok(()));
    assert_eq!(pty.line_mode_restored(), Ok(()));
}
