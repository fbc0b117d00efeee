//! Faults while the app runs: a full disk, a deleted folder, a closed terminal, and input that is too large.
#![allow(clippy::print_stderr)] // skipped tests are reported

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::{
    HARBOUR, KEY, REQUEST, answers_keys, harbour_repo, harbour_with_first_hunk, open, open_set, quit, rhumb,
    search_replace, send, wait_for_draft,
};
use crate::support::WAIT_TIMEOUT;
use crate::support::pty::Pty;
use crate::support::server::{MODEL, ModelServer, Step};

/// Opens the app with a soft limit on the file size, in blocks of at least 512 bytes.
fn open_limited(folder: &Path, server: &ModelServer, blocks: u32) -> Pty {
    let (url, program) = (server.base_url(), rhumb());
    let script = format!("ulimit -S -f {blocks}; exec \"$0\" \"$@\"");
    let args = ["-c", &script, program.to_str().unwrap(), "--file", "harbour.py"];
    let env = [("RHUMB_API_KEY", KEY), ("RHUMB_BASE_URL", &url), ("RHUMB_MODEL", MODEL)];
    let pty = Pty::spawn(Path::new("/bin/sh"), &args, folder, &env, 160, 48);
    pty.wait_for("❯");
    pty
}

#[test]
fn a_write_without_disk_space_is_reported_and_its_review_waits() {
    let repo = harbour_repo();
    let tail = "# fathoms and fathoms\n".repeat(4000);
    repo.file("harbour.py", &format!("{HARBOUR}{tail}")).commit("A long harbour");
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open_limited(&repo.path(), &server, 40);
    // A session that is too large to store is reported once and delays nothing.
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("ynw");
    // The journal record of the write is too large as well.
    pty.wait_for("This write cannot be recorded. Write it anyway?");
    pty.type_text("y");
    pty.wait_for("would exceed the maximum file size");
    pty.wait_for("Nothing was written. Raise the limit (ulimit -f)");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    pty.wait_for("✓ 1 · ✗ 1");
    answers_keys(&pty);
    let lifted = Command::new("prlimit").args(["--fsize=unlimited", "--pid", &pty.process_id().to_string()]).status();
    if !lifted.is_ok_and(|status| status.success()) {
        eprintln!("skipped in part: no prlimit to make room with");
        return quit(&mut pty);
    }
    pty.key("w");
    pty.wait_for("Wrote 1 hunk: ");
    pty.wait_for("Committed as");
    quit(&mut pty);
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk() + &tail);
}

#[test]
fn a_deleted_folder_is_reported_and_the_app_continues() {
    let repo = harbour_repo();
    let path = repo.path();
    let mut pty = open(&path, None, &[]);
    pty.wait_for("compass.py");
    fs::remove_dir_all(&path).unwrap();
    let gone = |screen: &str| screen.matches("is not there any more").count();
    pty.wait_until(|screen| gone(screen) == 1, "that the folder is gone");
    answers_keys(&pty);
    send(&pty, "/run echo here");
    pty.wait_until(|screen| gone(screen) > 1, "that nothing runs there");
    pty.type_text("a draft");
    wait_for_draft(&pty, "a draft");
    pty.key("Ctrl-u");
    // A new folder of that name is used again.
    fs::create_dir(&path).unwrap();
    fs::write(path.join("anew.py"), "def anew():\n    pass\n").unwrap();
    send(&pty, "/map-refresh");
    pty.wait_for("anew.py");
    quit(&mut pty);
}

#[test]
fn a_terminal_that_is_closed_ends_the_app() {
    let repo = harbour_repo();
    let home = tempfile::tempdir().unwrap();
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(rhumb());
    command.cwd(repo.path());
    command.env_clear();
    for (name, value) in [("PATH", std::env::var("PATH").unwrap().as_str()), ("TERM", "xterm-256color")] {
        command.env(name, value);
    }
    command.env("HOME", home.path());
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&seen).contains('❯') {
        let count = reader.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..count]);
    }
    // Both ends are closed: the window is gone.
    drop((reader, pair.master));
    let limit = Instant::now() + WAIT_TIMEOUT;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < limit, "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_terminal_that_was_small_for_a_moment_is_redrawn() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("compass.py");
    answers_keys(&pty);
    let whole = pty.screen();
    for (cols, rows) in [(1, 1), (40, 10), (159, 47)] {
        // Both resizes arrive before a frame.
        pty.resize(cols, rows);
        pty.resize(160, 48);
        pty.wait_until(|screen| screen == whole, "the same screen again");
    }
    quit(&mut pty);
}

#[test]
fn a_storm_of_sizes_ends_in_the_last_one() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.type_text("a draft");
    wait_for_draft(&pty, "a draft");
    for round in 0..300_u16 {
        // Sizes from zero to very wide and very high.
        let (cols, rows) = match round % 10 {
            0 => (0, 0),
            1 => (1, 1),
            2 => (10_000, 1),
            3 => (1, 500),
            _ => (round * 37 % 200, round * 23 % 60),
        };
        pty.resize(cols, rows);
    }
    pty.resize(160, 48);
    wait_for_draft(&pty, "a draft");
    pty.wait_for("repo map");
    answers_keys(&pty);
    pty.key("Ctrl-u");
    quit(&mut pty);
}

#[test]
fn odd_surroundings_change_nothing_that_matters() {
    let repo = harbour_repo();
    for (name, value) in [
        ("LC_ALL", "C"),
        ("TERM", "no-such-terminal"),
        ("TZ", "Nowhere/Nothing"),
        ("COLUMNS", "0"),
        ("NO_COLOR", "1"),
        ("TMPDIR", "/no/such/folder"),
    ] {
        let mut pty = open_set(&repo.path(), None, &[], &[(name, value)]);
        pty.wait_for("compass.py");
        answers_keys(&pty);
        quit(&mut pty);
    }
}

#[test]
fn a_file_that_is_open_in_an_editor_is_flagged_in_the_review_and_reported_with_the_write() {
    let repo = harbour_repo();
    repo.file(".gitignore", "*.swp\n").commit("Ignore swap files").file(".harbour.py.swp", "b0VIM 9.1");
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.wait_for("[open-in-editor]");
    pty.key("Enter");
    pty.type_text("ynw");
    pty.wait_for("Wrote 1 hunk: ");
    pty.wait_for("Open in an editor: harbour.py (.harbour.py.swp).");
    quit(&mut pty);
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
}

/// The peak memory of the program so far, in MiB.
#[cfg(target_os = "linux")]
fn peak(pty: &Pty) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pty.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn huge_files_hold_nothing_up_and_fill_no_memory() {
    let repo = harbour_repo();
    // A sparse file of 200 MB, and one with a million lines.
    repo.file("huge.py", "");
    fs::File::options().write(true).open(repo.path().join("huge.py")).unwrap().set_len(200_000_000).unwrap();
    repo.file("lines.py", &"x = 1\n".repeat(1_000_000));
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("huge.py");
    answers_keys(&pty);
    send(&pty, "/add huge.py");
    pty.wait_for("huge.py is too large: 200000000 bytes");
    answers_keys(&pty);
    send(&pty, "/add lines.py");
    answers_keys(&pty);
    pty.wait_for("✎ lines.py");
    answers_keys(&pty);
    let peak = peak(&pty);
    assert!(peak < 1024, "{peak} MiB");
    quit(&mut pty);
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_thousand_files_hold_nothing_up_and_fill_no_memory() {
    let repo = harbour_repo();
    let root = repo.path();
    for folder in 0..100 {
        let folder = root.join(format!("reef{folder:02}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..1000 {
            fs::write(folder.join(format!("rock{file:03}.py")), "r = 1\n").unwrap();
        }
    }
    let mut pty = open(&root, None, &[]);
    answers_keys(&pty);
    pty.type_text("a draft");
    wait_for_draft(&pty, "a draft");
    pty.key("Ctrl-u");
    // The part that was read so far suffices.
    pty.wait_for("of 100,002");
    send(&pty, "/stop-reading");
    answers_keys(&pty);
    pty.wait_for("partial");
    answers_keys(&pty);
    let peak = peak(&pty);
    assert!(peak < 1024, "{peak} MiB");
    quit(&mut pty);
}
