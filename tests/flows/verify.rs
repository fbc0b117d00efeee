//! Commands, checks after a write, and the repairs that follow; the editor.

use std::path::Path;

use super::{HARBOUR, KEY, REQUEST, SUBJECT, composer, harbour_repo, quit, rhumb, send, untouched, wait_for_draft};
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer, Step};

/// Opens the app with a model and additional settings as environment variables.
#[track_caller]
fn open_with(repo: &TestRepo, server: &ModelServer, settings: &[(&str, &str)]) -> Pty {
    let url = server.base_url();
    let mut env = vec![("RHUMB_API_KEY", KEY), ("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL)];
    env.extend(settings);
    let pty = Pty::spawn(&rhumb(), &["--file", "harbour.py"], &repo.path(), &env, 160, 48);
    pty.wait_for("❯");
    pty.wait_for("test-model @ 127.0.0.1");
    pty
}

/// An edit of one line of the harbour.
fn edit(from: &str, to: &str) -> String {
    format!("Like so.\n\nharbour.py\n```python\n<<<<<<< SEARCH\n{from}\n=======\n{to}\n>>>>>>> REPLACE\n```\n")
}

/// Accepts everything and writes it.
#[track_caller]
fn write_all(pty: &Pty) {
    pty.wait_for("1 pending");
    pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the turn");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 1");
    pty.key("w");
}

fn is_running(number: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

#[track_caller]
fn goes(file: &Path) {
    let number = std::fs::read_to_string(file).unwrap();
    for _ in 0..1_000 {
        if !is_running(&number) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{number} still runs");
}

#[test]
fn what_does_not_parse_any_more_is_mended_by_the_model_and_reviewed_as_always() {
    let repo = harbour_repo();
    let broken = edit("    return TABLE[name]", "    return TABLE.get(name, 0.0");
    let mended = edit("    return TABLE.get(name, 0.0", "    return TABLE.get(name, 0.0)");
    let server = ModelServer::start(vec![Step::reply(&broken), Step::reply(&mended)]);
    let mut pty = open_with(&repo, &server, &[]);
    send(&pty, REQUEST);
    write_all(&pty);
    pty.wait_for("breaks the syntax of its file. Write it anyway?");
    pty.wait_for("harbour.py does not parse at line");
    assert_eq!(repo.read("harbour.py"), HARBOUR, "nothing is written before the answer");
    pty.key("y");
    let requests = server.wait_for_requests(2);
    let asked = requests[1].last_message();
    assert!(asked.contains("harbour.py does not parse any more") && asked.contains("█"), "{asked}");
    assert!(requests[1].body.to_string().contains(REQUEST), "the conversation goes along");
    pty.wait_for("1 pending");
    assert!(repo.read("harbour.py").contains("TABLE.get(name, 0.0\n"), "nothing is written unseen");
    write_all(&pty);
    pty.wait_until(|_| repo.read("harbour.py").contains("TABLE.get(name, 0.0)\n"), "the repair");
    pty.wait_until(|_| repo.subjects() == [SUBJECT, SUBJECT, "Start the harbour"], "its commit");
    quit(&mut pty);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_linter_of_the_language_gets_its_files_and_is_heard() {
    let repo = harbour_repo();
    let config = "[linters]\npython = \"sh lint.sh\"\n";
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/rhumb");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("rhumb.toml"), config).unwrap();
    repo.file(
        "lint.sh",
        "for f; do grep -q fathom $f && { grep -n fathom $f | sed \"s,^,$f:,\"; exit 1; }; done; exit 0\n",
    )
    .commit("lint");
    let first = edit("{metres} m'", "{metres} fathoms'").replace("    return f'{name}: ", "");
    let first = first.replace("{metres} m'\n", "    return f'{name}: {metres} m'\n");
    let first = first.replace("{metres} fathoms'\n", "    return f'{name}: {metres} fathoms'\n");
    let second = edit("    return f'{name}: {metres} fathoms'", "    return f'{name}: {metres} metres'");
    let server = ModelServer::start(vec![Step::reply(&first), Step::reply(&second)]);
    let home = home.path().to_str().unwrap().to_owned();
    let mut pty = open_with(&repo, &server, &[("HOME", home.as_str())]);
    send(&pty, REQUEST);
    write_all(&pty);
    let requests = server.wait_for_requests(2);
    let asked = requests[1].last_message();
    assert!(asked.contains("`sh lint.sh harbour.py` failed (exit code 1)") && asked.contains("fathoms"), "{asked}");
    assert!(asked.contains("█    return f'{name}: {metres} fathoms'"), "{asked}");
    write_all(&pty);
    pty.wait_until(|_| repo.read("harbour.py").contains("metres'"), "the repair");
    pty.wait_for("exit code 0");
    quit(&mut pty);
}

#[test]
fn tests_that_fail_are_repaired_and_run_again() {
    let repo = harbour_repo();
    repo.file("test.sh", "grep -q '0.0)' harbour.py && echo all well && exit 0\necho 'test_depth FAILED'\nexit 1\n");
    repo.commit("tests");
    let first = edit("    return TABLE[name]", "    return TABLE.get(name)");
    let second = edit("    return TABLE.get(name)", "    return TABLE.get(name, 0.0)");
    let server = ModelServer::start(vec![Step::reply(&first), Step::reply(&second)]);
    let mut pty = open_with(&repo, &server, &[("RHUMB_TEST", "true"), ("RHUMB_TEST_CMD", "sh test.sh")]);
    send(&pty, REQUEST);
    write_all(&pty);
    let requests = server.wait_for_requests(2);
    let asked = requests[1].last_message();
    assert!(asked.contains("`sh test.sh` failed (exit code 1)") && asked.contains("test_depth FAILED"), "{asked}");
    pty.wait_for("asked again, 1 of 3");
    write_all(&pty);
    pty.wait_for("all well");
    pty.wait_for("✓ exit code 0");
    assert_eq!(server.requests().len(), 2);
    quit(&mut pty);
}

#[test]
fn a_test_that_never_ends_is_stopped_and_reported_and_without_rounds_only_offered() {
    let repo = harbour_repo();
    repo.file("test.sh", "echo $$ > pid\necho waiting for the tide\nsleep 600\n").commit("tests");
    let server = ModelServer::start(vec![Step::reply(&edit("    return TABLE[name]", "    return TABLE.get(name)"))]);
    let settings = [
        ("RHUMB_TEST", "true"),
        ("RHUMB_TEST_CMD", "sh test.sh"),
        ("RHUMB_COMMAND_TIMEOUT", "1"),
        ("RHUMB_VERIFY_ROUNDS", "0"),
    ];
    let mut pty = open_with(&repo, &server, &settings);
    send(&pty, REQUEST);
    write_all(&pty);
    pty.wait_for("stopped at its time limit");
    pty.wait_for("did not end within 1 s");
    goes(&repo.path().join("pid"));
    pty.key("Alt-n");
    pty.wait_until(|screen| !screen.contains("Send it to the model?"), "the question to go");
    assert_eq!(server.requests().len(), 1);
    quit(&mut pty);
}

#[test]
fn a_suggested_command_runs_only_when_it_is_approved_and_gets_no_keys() {
    let repo = harbour_repo();
    let reply = "That needs a package.\n\n```sh\necho \"keys: [$RHUMB_API_KEY][$OTHER_TOKEN]\" > approved\ntouch refused\n```\n";
    let server = ModelServer::start(vec![Step::reply(reply), Step::reply("I see.")]);
    let mut pty = open_with(&repo, &server, &[("OTHER_TOKEN", "tok-123456789")]);
    send(&pty, REQUEST);
    pty.wait_for("Run it? echo \"keys:");
    assert!(server.requests()[0].body.to_string().contains("The developer decides whether it is run"));
    untouched(&repo, &["Start the harbour"]);
    pty.key("Alt-y");
    pty.wait_for("Run it? touch refused");
    pty.key("Alt-n");
    pty.wait_for("✓ exit code 0");
    assert_eq!(repo.read("approved"), "keys: [][]\n");
    assert!(!repo.has("refused"));
    quit(&mut pty);
}

#[test]
fn a_command_of_the_developers_shows_as_it_runs_and_its_output_is_shared_when_they_say_so() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("I see.")]);
    let mut pty = open_with(&repo, &server, &[]);
    send(&pty, "!printf '\\033[31mlow\\033[0m tide\\n'; cat; exit 3");
    pty.wait_for("✗ exit code 3");
    pty.wait_for("low tide");
    pty.wait_for("? Share the output of");
    pty.key("Alt-y");
    pty.wait_for("shared: `printf");
    pty.key("F6");
    pty.wait_for("log 1 of 1");
    pty.key("Esc");
    send(&pty, "Why?");
    let request = &server.wait_for_requests(1)[0];
    let body = request.body.to_string();
    assert!(body.contains("low tide") && body.contains("failed (exit code 3)") && !body.contains("\\u001b"), "{body}");
    pty.wait_for("I see.");
    send(&pty, "/git log --format=%s");
    pty.wait_for("$ git --no-pager log");
    pty.wait_until(|screen| screen.matches("Start the harbour").count() == 1, "what git says");
    assert!(!pty.screen().contains("Share the output of"));
    quit(&mut pty);
}

#[test]
fn escape_and_leaving_end_a_command_with_all_that_it_started() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![]);
    let mut pty = open_with(&repo, &server, &[]);
    send(&pty, "/run sh -c 'echo $$ > first; sleep 600' & wait");
    pty.wait_for("Esc stops it");
    pty.wait_until(|_| repo.has("first") && !repo.read("first").is_empty(), "the first grandchild");
    pty.key("Esc");
    pty.wait_for("stopped by you");
    goes(&repo.path().join("first"));
    send(&pty, "/run trap '' TERM; echo $$ > second; sleep 600");
    pty.wait_until(|_| repo.has("second") && !repo.read("second").is_empty(), "the second command");
    quit(&mut pty);
    goes(&repo.path().join("second"));
}

#[test]
fn a_message_is_written_in_the_editor() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![]);
    repo.file(
        "edit.sh",
        "printf 'in the editor: ' ; tty >/dev/null && echo on a terminal\nsed -i 's/draft/message/' \"$1\"\n",
    );
    let mut pty = open_with(&repo, &server, &[("EDITOR", "sh edit.sh")]);
    pty.type_text("my draft");
    pty.key("Ctrl-o");
    wait_for_draft(&pty, "my message");
    pty.type_text("!");
    wait_for_draft(&pty, "my message!");
    pty.key("Ctrl-c");
    send(&pty, "/editor a draft of mine");
    wait_for_draft(&pty, "a message of mine");
    assert!(String::from_utf8_lossy(&pty.raw()).contains("in the editor: on a terminal"));
    quit(&mut pty);
}

#[test]
fn an_editor_that_fails_or_is_missing_is_reported_and_the_draft_stays() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![]);
    let mut pty = open_with(&repo, &server, &[("RHUMB_EDITOR", "no-such-editor-of-ours")]);
    pty.type_text("my draft");
    pty.key("Ctrl-o");
    pty.wait_for("The editor no-such-editor-of-ours was not found.");
    pty.wait_until(|screen| composer(screen) == "my draft", "the draft");
    quit(&mut pty);
    let mut pty = open_with(&repo, &server, &[("VISUAL", "false")]);
    pty.type_text("my draft");
    pty.key("Ctrl-o");
    pty.wait_for("failed (exit status: 1)");
    pty.wait_until(|screen| composer(screen) == "my draft", "the draft");
    pty.key("Ctrl-u");
    pty.wait_for("Ask or say what to change");
    send(&pty, "/editor another draft");
    wait_for_draft(&pty, "another draft");
    quit(&mut pty);
    assert_eq!(repo.read("harbour.py"), HARBOUR);
}

#[test]
fn tests_that_the_developer_runs_are_offered_and_sent_when_they_say_so() {
    let repo = harbour_repo();
    repo.file("test.sh", "echo 'harbour.py:5: too shallow'\nexit 1\n").commit("tests");
    let server = ModelServer::start(vec![Step::reply("It is as it should be.")]);
    let mut pty = open_with(&repo, &server, &[("RHUMB_TEST_CMD", "sh test.sh")]);
    pty.wait_for("✎ harbour.py");
    send(&pty, "/test");
    pty.wait_for("? `sh test.sh` failed (exit code 1). Send it to the model?");
    assert!(server.requests().is_empty());
    pty.key("Alt-y");
    let requests = server.wait_for_requests(1);
    let asked = requests[0].last_message();
    assert!(asked.contains("harbour.py:5: too shallow") && asked.contains("█    return TABLE[name]"), "{asked}");
    assert!(!asked.contains("Your changes"), "{asked}");
    pty.wait_for("It is as it should be.");
    send(&pty, "/test true");
    pty.wait_for("Checks passed: `true`.");
    send(&pty, "/lint harbour.py");
    pty.wait_for("Checks passed: the syntax of 1 file.");
    send(&pty, "/run");
    pty.wait_for("/run expects COMMAND");
    quit(&mut pty);
}

#[test]
fn a_failed_trial_is_repaired_before_anything_is_written() {
    let repo = harbour_repo();
    let broken = edit("    return TABLE[name]", "    return TABLES[name]");
    let repaired = edit("    return TABLES[name]", "    return TABLE.get(name, 0.0)");
    let server = ModelServer::start(vec![Step::reply(&broken), Step::reply(&repaired)]);
    let test = "test ! -e ran || echo again; echo ran > ran; ! grep TABLES harbour.py && echo 3 passed";
    let mut pty = open_with(&repo, &server, &[("RHUMB_TEST_CMD", test)]);
    send(&pty, REQUEST);
    pty.wait_for("1 pending");
    pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the turn");
    pty.key("Enter");
    pty.key("b");
    pty.wait_for("Send it to the model?");
    pty.wait_for("✗ test ! -e ran");
    assert!(repo.read("harbour.py") == HARBOUR && !repo.path().join("ran").exists(), "the repository is untouched");
    pty.type_text("gb");
    pty.wait_for("makes the command fail");
    pty.wait_for("[fails the trial]");
    pty.key("Alt-y");
    let asked = server.wait_for_requests(2)[1].last_message().to_owned();
    assert!(asked.contains("TABLES[name]") && asked.contains("not written yet"), "{asked}");
    // The trial runs again by itself, on the corrected proposal.
    pty.wait_for("3 passed, with 1 proposed hunk.");
    pty.wait_for("round 1 of 3 · ✓");
    pty.wait_for("[round 1]");
    assert!(repo.read("harbour.py") == HARBOUR && !repo.path().join("ran").exists(), "the repository is untouched");
    // A decision right after a change of the review is not taken.
    for _ in 0..100 {
        if !pty.screen().contains("✓ 1") {
            pty.type_text("gy");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
    pty.wait_for("✓ 1");
    pty.key("w");
    pty.wait_for("Wrote 1 hunk");
    assert!(repo.read("harbour.py").contains("TABLE.get(name, 0.0)"));
    quit(&mut pty);
    let trials = pty.home().join(".local/state/rhumb/trials");
    let left = std::fs::read_dir(&trials).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{}", trials.display());
}

#[test]
fn hunks_whose_trial_failed_are_written_after_one_more_key() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&edit("    return TABLE[name]", "    return TABLES[name]"))]);
    let mut pty = open_with(&repo, &server, &[("RHUMB_TEST_CMD", "false"), ("RHUMB_VERIFY", "off")]);
    send(&pty, REQUEST);
    pty.wait_for("1 pending");
    pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the turn");
    pty.key("Enter");
    pty.type_text("gyB");
    pty.wait_for("Send it to the model?");
    pty.key("Alt-n");
    pty.key("w");
    pty.wait_for("The last trial of these hunks failed. Write them anyway?");
    assert_eq!(repo.read("harbour.py"), HARBOUR);
    pty.key("y");
    pty.wait_for("Wrote 1 hunk");
    quit(&mut pty);
}
