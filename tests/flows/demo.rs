//! The demo from its first screen to a commit.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{quit, rhumb};
use crate::support::pty::Pty;

/// The folders that the demo made in its home.
fn folders(pty: &Pty) -> Vec<PathBuf> {
    let entries = fs::read_dir(pty.home().join("tmp")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rhumb-demo-")))
        .collect()
}

#[test]
fn the_demo_runs_from_enter_to_commit_and_removes_its_files() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut pty = Pty::spawn(&rhumb(), &["demo", "--speed", "1000"], elsewhere.path(), &[], 160, 48);
    pty.wait_for("demo: recorded replies");
    pty.wait_for("❯ Forecasts compute the same heights");
    pty.key("Enter");
    pty.wait_for("review · 6 pending");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("0 pending · ✓ 6");
    pty.key("w");
    pty.wait_for("Wrote 6 hunks: ");
    pty.wait_for("Committed as");

    let made = folders(&pty);
    let [folder] = made.as_slice() else { panic!("{made:?}") };
    let log = Command::new("git")
        .args(["-c", "safe.directory=*", "log", "--format=%s"])
        .current_dir(folder.join("tidewatch"))
        .output()
        .unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    let subjects: Vec<&str> = log.lines().collect();
    assert_eq!(subjects.len(), 2, "{log}");
    assert_eq!(subjects[0], "Add tidewatch/cache.py and update 3 other files");
    assert_eq!(subjects[1], "Start tidewatch");
    quit(&mut pty);
    assert!(folders(&pty).is_empty(), "the sample is still there");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// The tests of the sample fail with the whole proposal, and the hunk that breaks them is found.
#[test]
fn the_demo_finds_the_wrong_hunk() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is missing");
        return;
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let mut pty = Pty::spawn(&rhumb(), &["demo", "--speed", "1000"], elsewhere.path(), &[], 160, 48);
    pty.wait_for("❯ Forecasts compute the same heights");
    pty.key("Enter");
    pty.wait_for("review · 6 pending");
    pty.key("Enter");
    pty.type_text("b");
    pty.wait_for("failed, with 6 proposed hunks");
    pty.type_text("gb");
    pty.wait_for("Hunk 3 (tidewatch/forecast.py) makes the command fail");
    pty.wait_for("[fails the trial]");
    // The review shows the hunk.
    pty.wait_for("if not 1 <= hours");
    quit(&mut pty);
}

#[test]
fn a_signal_leaves_nothing_of_the_demo_behind() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut pty = Pty::spawn(&rhumb(), &["demo"], elsewhere.path(), &[], 160, 48);
    pty.wait_for("❯ Forecasts compute the same heights");
    assert_eq!(folders(&pty).len(), 1);
    pty.signal("TERM");
    assert_eq!(pty.wait_exit().exit_code(), 143);
    assert!(folders(&pty).is_empty(), "the sample is still there");
}
