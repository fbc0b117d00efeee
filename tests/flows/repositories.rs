//! Unusual folders: without a repository, with an empty or bare one, with unusual names and files.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::{
    HARBOUR, REQUEST, SUBJECT, answers_keys, harbour_repo, harbour_with_first_hunk, open, quit, search_replace, send,
    untouched,
};
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{ModelServer, Step};

/// Accepts the first hunk of [`search_replace`] and writes it.
#[track_caller]
fn first_hunk_written(pty: &Pty) {
    pty.wait_for("review · 2 pending");
    pty.key("Enter");
    pty.type_text("ynw");
    pty.wait_for("Wrote 1 hunk: ");
}

#[test]
fn a_plain_folder_is_written_without_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("harbour.py");
    fs::write(&path, HARBOUR).unwrap();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(folder.path(), Some(&server), &["--file", "harbour.py"]);
    pty.wait_for("This folder is not in a git repository");
    send(&pty, REQUEST);
    first_hunk_written(&pty);
    assert!(!pty.screen().contains("Committed as"), "{}", pty.screen());
    quit(&mut pty);
    assert_eq!(fs::read_to_string(path).unwrap(), harbour_with_first_hunk());
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["harbour.py"], "something else was left behind");
}

#[test]
fn the_first_commit_of_an_empty_repository_is_the_accepted_hunk() {
    let repo = TestRepo::new();
    let reply = "A start.\n\nlog.py\n```python\n<<<<<<< SEARCH\n=======\nprint('under way')\n>>>>>>> REPLACE\n```\n";
    let server = ModelServer::start(vec![Step::reply(reply)]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("main (no commit yet)");
    send(&pty, "Start a log");
    pty.wait_for("review · 1 pending");
    pty.key("Enter");
    pty.wait_for("new file");
    pty.type_text("yw");
    pty.wait_for("Committed as");
    assert_eq!(repo.read("log.py"), "print('under way')\n");
    untouched(&repo, &["Add log.py"]);
    assert_eq!(repo.git(&["branch", "--show-current"]), "main\n");
    quit(&mut pty);
}

#[test]
fn a_commit_moves_a_detached_head_and_no_branch() {
    let repo = harbour_repo();
    repo.git(&["checkout", "--quiet", "--detach"]);
    let main = repo.git(&["rev-parse", "main"]);
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    pty.wait_for("detached at");
    send(&pty, REQUEST);
    first_hunk_written(&pty);
    pty.wait_for("Committed as");
    untouched(&repo, &[SUBJECT, "Start the harbour"]);
    assert_eq!(repo.git(&["rev-parse", "main"]), main);
    assert_eq!(repo.git(&["rev-parse", "HEAD~1"]), main);
    quit(&mut pty);
}

#[test]
fn a_bare_repository_is_reported_and_the_app_continues() {
    let repo = harbour_repo();
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("bare.git");
    repo.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let mut pty = open(&bare, None, &[]);
    pty.wait_for("This is a bare repository");
    answers_keys(&pty);
    quit(&mut pty);
}

#[test]
fn the_root_is_found_from_a_folder_below() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path().join("charts"), Some(&server), &["--file", "harbour.py"]);
    pty.wait_for("charts/compass.py");
    send(&pty, REQUEST);
    first_hunk_written(&pty);
    pty.wait_for("Committed as");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    untouched(&repo, &[SUBJECT, "Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn names_with_blanks_quotes_and_foreign_letters_work_from_add_to_commit() {
    for name in ["old harbour.py", "the 'new' \"port\".py", "häfen/öst-日本.py"] {
        let repo = TestRepo::new();
        repo.file(name, HARBOUR).commit("Start");
        let server = ModelServer::start(vec![Step::reply(&search_replace().replace("harbour.py", name))]);
        let mut pty = open(&repo.path(), Some(&server), &[]);
        pty.wait_for("repo map ·");
        let quoted = format!("\"{}\"", name.replace('"', "\\\""));
        send(&pty, &format!("/add {quoted}"));
        pty.wait_until(|screen| screen.contains("✎ "), "the file in the context");
        send(&pty, REQUEST);
        first_hunk_written(&pty);
        pty.wait_for("Committed as");
        assert_eq!(repo.read(name), harbour_with_first_hunk());
        untouched(&repo, &[&format!("Change depth in {name}"), "Start"]);
        let changed = repo.git(&["-c", "core.quotePath=false", "show", "--format=", "--name-only", "-z", "HEAD"]);
        assert_eq!(changed.trim_end_matches('\0'), name);
        quit(&mut pty);
    }
}

#[test]
fn files_that_are_no_text_are_left_out_of_the_chat_with_the_reason() {
    let repo = harbour_repo();
    fs::write(repo.path().join("chart.bin"), b"\x7fELF\0\0\x01\xff").unwrap();
    fs::write(repo.path().join("mixed.py"), b"name = 'H\xc3\xa4fen, H\xe4fen'\n").unwrap();
    symlink("nowhere.py", repo.path().join("dangling.py")).unwrap();
    repo.commit("Odd files");
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("harbour.py");
    for (name, reason) in [
        ("chart.bin", "chart.bin is a binary file"),
        ("mixed.py", "mixed.py has an unknown text encoding"),
        ("dangling.py", "No file of the repository is called dangling.py"),
    ] {
        send(&pty, &format!("/add {name}"));
        pty.wait_for(reason);
        pty.wait_until(|screen| !screen.contains(&format!("✎ {name}")), "the file to be out of the chat");
    }
    send(&pty, "/add harbour.py");
    pty.wait_for("✎ harbour.py");
    answers_keys(&pty);
    quit(&mut pty);
}

#[test]
fn a_file_of_one_huge_line_holds_nothing_up() {
    let repo = harbour_repo();
    let line: String = (0..)
        .map(|n| format!("var v{n}=f({n});"))
        .scan(0, |size, part| {
            *size += part.len();
            (*size < 5_000_000).then_some(part)
        })
        .collect();
    repo.file("bundle.js", &line).commit("Bundle");
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("bundle.js");
    pty.wait_for("harbour.py");
    answers_keys(&pty);
    send(&pty, "/add bundle.js");
    answers_keys(&pty);
    pty.wait_for("✎ bundle.js");
    answers_keys(&pty);
    quit(&mut pty);
}

#[test]
fn a_commit_without_an_identity_explains_what_is_missing_and_keeps_the_file() {
    let repo = TestRepo::without_identity();
    repo.file("harbour.py", HARBOUR).commit("Start");
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    first_hunk_written(&pty);
    pty.wait_for("git does not know who you are");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    assert_eq!(repo.subjects(), ["Start"]);
    quit(&mut pty);
}

#[test]
fn a_file_that_git_refuses_to_commit_is_written_and_reported() {
    for (obstacle, told) in [("index.lock", "git is locked by"), ("MERGE_HEAD", "a merge is in progress")] {
        let repo = harbour_repo();
        let head = repo.git(&["rev-parse", "HEAD"]);
        let server = ModelServer::start(vec![Step::reply(&search_replace())]);
        let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
        send(&pty, REQUEST);
        pty.wait_for("review · 2 pending");
        pty.key("Enter");
        repo.file(&format!(".git/{obstacle}"), &head);
        pty.type_text("ynw");
        pty.wait_for("Wrote 1 hunk: ");
        pty.wait_for(told);
        assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
        assert_eq!(repo.git(&["rev-parse", "HEAD"]), head);
        answers_keys(&pty);
        quit(&mut pty);
    }
}

#[test]
fn a_missing_file_is_reported_at_the_start() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &["--file", "no-such.py", "--file", "harbour.py"]);
    pty.wait_for("No file of the repository is called no-such.py.");
    pty.wait_for("✎ harbour.py");
    quit(&mut pty);
}

#[test]
fn a_missing_folder_is_reported_without_a_screen() {
    let output = Command::new(super::rhumb()).args(["--root", "/no/such/folder"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("/no/such/folder") && !said.contains('\x1b'), "{said}");
}

#[test]
fn a_pipe_in_gits_folder_blocks_neither_the_app_nor_a_write_and_is_reported() {
    for name in ["config", "index", "refs/heads/main", "gitdir"] {
        let repo = harbour_repo();
        let path = repo.path().join(".git").join(name);
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let server = ModelServer::start(vec![Step::reply(&search_replace())]);
        let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
        pty.wait_for("Git is not used");
        send(&pty, REQUEST);
        first_hunk_written(&pty);
        assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
        quit(&mut pty);
    }
}
