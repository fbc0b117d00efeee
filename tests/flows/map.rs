//! The map of a running session follows changes on disk and the user's choices.

use super::{harbour_repo, open, quit};

#[test]
fn a_file_that_appears_on_disk_appears_in_the_map() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("charts/compass.py");
    std::fs::write(repo.path().join("charts/sextant.py"), "def take_sight():\n    return 1\n").unwrap();
    pty.wait_for("charts/sextant.py");
    std::fs::remove_file(repo.path().join("charts/sextant.py")).unwrap();
    pty.wait_until(|screen| !screen.contains("sextant"), "the file is gone");
    quit(&mut pty);
}

#[test]
fn files_are_pinned_and_banned_and_let_back_in() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("charts/compass.py");
    pty.type_text("/pin charts/compass.py");
    pty.key("Enter");
    pty.wait_for("pinned");
    pty.type_text("/ban charts/compass.py");
    pty.key("Enter");
    pty.wait_until(|screen| !screen.contains("compass.py 1") && !screen.contains("pinned"), "the file is banned");
    pty.type_text("/ban");
    pty.key("Enter");
    pty.wait_for("charts/compass.py");
    pty.type_text("/pin no/such.py");
    pty.key("Enter");
    pty.wait_for("There is no file no/such.py.");
    quit(&mut pty);
}

#[test]
fn a_manual_map_waits_for_the_command() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("charts/compass.py");
    pty.type_text("/map-refresh manual");
    pty.key("Enter");
    pty.wait_for("from now on: manual");
    // The command surveys the repository again, so the next step must wait.
    std::thread::sleep(std::time::Duration::from_millis(500));
    std::fs::write(repo.path().join("charts/sextant.py"), "def take_sight():\n    return 1\n").unwrap();
    // Much longer than the watcher needs for a change.
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert!(!pty.screen().contains("sextant"), "{}", pty.screen());
    pty.type_text("/map-refresh");
    pty.key("Enter");
    pty.wait_for("charts/sextant.py");
    quit(&mut pty);
}
