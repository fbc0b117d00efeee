//! The review in a real terminal: edited hunks, comments, conflicts.

use std::os::unix::fs::PermissionsExt as _;

use super::{HARBOUR, KEY, REQUEST, harbour_repo, harbour_with_first_hunk, quit, rhumb, search_replace, send};
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer, Step};

/// Opens the app with this script as editor. Its last argument is the file.
fn open(repo: &TestRepo, server: &ModelServer, script: &str) -> (Pty, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let editor = folder.path().join("editor");
    std::fs::write(&editor, format!("#!/bin/sh\nfor file in \"$@\"; do :; done\n{script}\n")).unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (url, editor) = (server.base_url(), editor.display().to_string());
    let env = [("RHUMB_API_KEY", KEY), ("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL), ("EDITOR", &editor)];
    let pty = Pty::spawn(&rhumb(), &["--file", "harbour.py"], &repo.path(), &env, 160, 48);
    pty.wait_for("❯");
    (pty, folder)
}

fn review(pty: &Pty) {
    send(pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
}

#[test]
fn a_hunk_is_written_as_the_user_edited_it() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let (mut pty, _editor) = open(&repo, &server, "sed -i 's/0\\.0/-1.0/' \"$file\"");
    review(&pty);
    pty.key("e");
    pty.wait_for("1 pending · ✓ 1");
    pty.key("w");
    // One hunk is undecided.
    pty.wait_for("write 1 hunk, keep 1 pending");
    pty.key("y");
    pty.wait_for("Wrote 1 hunk: ");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk().replace("0.0", "-1.0"));
    pty.wait_for("review · 1 pending");
    quit(&mut pty);
}

#[test]
fn what_waits_can_be_rejected_by_the_write_and_the_commit_left_out() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let (mut pty, _editor) = open(&repo, &server, "");
    review(&pty);
    pty.key("y");
    pty.wait_for("✓ 1");
    pty.key("W");
    pty.wait_for("No commit follows.");
    pty.key("r");
    pty.wait_for("Wrote 1 hunk: ");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn a_comment_goes_to_the_model_and_what_was_accepted_stays() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace()), Step::reply("I see.")]);
    let (mut pty, _editor) = open(&repo, &server, "");
    review(&pty);
    pty.key("y");
    pty.wait_for("✓ 1");
    pty.key("c");
    pty.wait_for("comment on harbour.py");
    pty.type_text("no decimals please");
    pty.key("Enter");
    pty.wait_until(|screen| !screen.contains("comment on harbour.py"), "the comment to be saved");
    pty.key("m");
    pty.wait_for("to the model");
    pty.key("y");
    let requests = server.wait_for_requests(2);
    let asked = requests[1].last_message();
    assert!(asked.contains("harbour.py: 1 accepted, not written yet; 1 not decided"), "{asked}");
    assert!(
        asked.contains("no decimals please") && asked.contains("+    return f'{name}: {metres:.1f} metres'"),
        "{asked}"
    );
    pty.wait_for("I see.");
    pty.wait_for("1 pending · ✓ 1");
    quit(&mut pty);
}

#[test]
fn a_conflict_with_the_disk_is_settled_before_its_file_is_written() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let (mut pty, _editor) = open(&repo, &server, "");
    review(&pty);
    pty.type_text("gy");
    pty.wait_for("✓ 2");
    let mine = HARBOUR.replace("TABLE[name]", "TABLE[name.lower()]").replace("{metres} m'", "{metres} fathoms'");
    repo.file("harbour.py", &mine).commit("Say it otherwise");
    pty.key("w");
    pty.wait_for("2 hunks lost their place");
    pty.key("e");
    pty.wait_for("on disk now, line 5");
    pty.wait_for("takes the proposed here");
    pty.key("Enter");
    pty.wait_for("1 pending");
    repo.git(&["status"]);
    assert_eq!(repo.read("harbour.py"), mine, "nothing is written yet");
    quit(&mut pty);
}

#[test]
fn the_whole_file_is_changed_in_the_editor() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let (mut pty, _editor) = open(&repo, &server, "echo '# the end' >>\"$file\"");
    review(&pty);
    pty.key("E");
    pty.wait_for("✓ 1");
    pty.type_text("gy");
    pty.wait_for("0 pending");
    pty.key("w");
    pty.wait_for("Wrote");
    assert!(repo.read("harbour.py").ends_with("metres'\n# the end\n"), "{}", repo.read("harbour.py"));
    quit(&mut pty);
}
