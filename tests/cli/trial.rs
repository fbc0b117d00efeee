//! `rhumb try`, and `--try` of `rhumb apply` and `rhumb edit`.

use super::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A folder for the state, outside of `/tmp`, which is empty in a trial.
fn state() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// `rhumb try` with these flags, a reply on standard input if it is not empty, and a command line of the shell.
#[track_caller]
fn try_line(repo: &TestRepo, flags: &[&str], reply: &str, line: &str) -> (i32, String, String) {
    let state = state();
    let mut command = rhumb(&repo.path(), &["try"]);
    command.args(flags).env("XDG_STATE_HOME", state.path());
    if !reply.is_empty() {
        command.args(["--reply", "-"]).write_stdin(reply);
    }
    command.args(["--", "sh", "-c", line]);
    let result = run(command);
    assert_eq!(left(state.path()), [] as [PathBuf; 0], "nothing is left behind");
    result
}

/// What trials have left.
fn left(state: &Path) -> Vec<PathBuf> {
    let trials = fs::read_dir(state.join("rhumb/trials"));
    trials.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[test]
fn a_command_sees_the_reply_and_the_repository_stays_as_it_is() {
    let repo = harbour_repo();
    let line = "grep -c 0.0 harbour.py; echo problem >&2; rm notes.md; exit 3";
    let (code, out, err) = try_line(&repo, &[], &good(), line);
    assert_eq!((code, out.as_str()), (3, "1\n"), "{err}");
    assert!(err.contains("problem\n"), "{err}");
    untouched(&repo);
    let (code, out, _) = try_line(&repo, &[], "", "grep -c 0.0 harbour.py");
    assert_eq!((code, out.as_str()), (1, "0\n"), "without a reply the files are as they are");
}

#[test]
fn the_diff_has_what_the_command_changed_and_nothing_of_the_reply() {
    let repo = harbour_repo();
    repo.file(".gitignore", "out\n").commit("Ignore");
    let line = "echo formatted >> harbour.py; echo new > new.txt; echo x > out";
    let (code, out, err) = try_line(&repo, &["--diff"], &good(), line);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("+formatted\n") && out.contains("+++ b/new.txt"), "{out}");
    assert!(!out.contains("+    return TABLE.get") && !out.contains("b/out"), "{out}");
    untouched(&repo);
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let repo = harbour_repo();
    let (code, out, err) = try_line(&repo, &["--json"], "", "echo said; exit 5");
    let value = json(&out);
    assert_eq!(code, 5, "{err}");
    assert_eq!((&value["exit"], &value["output"], &value["truncated_bytes"]), (&5.into(), &"said\n".into(), &0.into()));
    assert_eq!(keys(&value), ["exit", "ms", "output", "truncated_bytes", "isolation", "stale", "diff"]);
    assert_eq!(keys(&value["isolation"]), ["files", "writes", "network"]);
    assert!(["overlay", "copy"].contains(&value["isolation"]["files"].as_str().unwrap()), "{value}");
}

#[test]
fn the_exit_code_tells_what_happened() {
    let repo = harbour_repo();
    assert_eq!(try_line(&repo, &["--timeout", "1"], "", "sleep 30").0, 124);
    let (code, _, err) = try_line(&repo, &[], &without_a_place(), "touch ran");
    assert!(code == 125 && err.contains("refused") && err.contains("not run"), "{code} {err}");
    assert_eq!(try_line(&repo, &[], "no edit here", "true").0, 125);
    assert_eq!(try_line(&repo, &[], "", "./notes.md").0, 126);
    assert_eq!(try_line(&repo, &[], "", "no-such-program").0, 127);
    assert_eq!(try_line(&repo, &[], "", "kill -9 $$").0, 137);
    let missing = run(rhumb(&repo.path(), &["try", "--", "no-such-program"]));
    assert_eq!(missing.0, 127, "{}", missing.2);
    untouched(&repo);
}

#[test]
fn keys_of_the_environment_are_not_passed_on() {
    let repo = harbour_repo();
    let state = state();
    let mut command = rhumb(&repo.path(), &["try", "--", "env"]);
    command.env("XDG_STATE_HOME", state.path()).env("OPENAI_API_KEY", KEY).env("RHUMB_API_KEY", KEY);
    let (code, out, err) = run(command);
    assert!(code == 0 && !out.contains(KEY), "{err}");
}

#[test]
fn ctrl_c_ends_the_trial_and_leaves_nothing() {
    let repo = harbour_repo();
    let state = state();
    let mark = format!("{}", 70_000 + std::process::id() % 9_000);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rhumb"));
    command.current_dir(repo.path()).env("XDG_STATE_HOME", state.path()).env("HOME", state.path());
    let mut child =
        command.args(["try", "--", "sh", "-c", &format!("setsid sleep {mark} & sleep {mark}")]).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while !is_running(&mark) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(is_running(&mark));
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_running(&mark));
    assert_eq!(left(state.path()), [] as [PathBuf; 0]);
}

fn is_running(argument: &str) -> bool {
    let wanted = format!("sleep\0{argument}\0");
    let mut processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.any(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
}

#[test]
fn a_reply_is_written_only_if_the_command_succeeds_on_it() {
    let repo = harbour_repo();
    let state = state();
    let apply = |line: &str, flags: &[&str]| {
        let mut command = rhumb(&repo.path(), &["apply", "--yes", "--try", line]);
        command.args(flags).arg("-").env("XDG_STATE_HOME", state.path()).write_stdin(good());
        run(command)
    };
    let (code, _, err) = apply("echo bad news; ! grep -q 0.0 harbour.py", &[]);
    assert!(code == 1 && err.contains("bad news") && err.contains("nothing was written"), "{code} {err}");
    untouched(&repo);
    let (code, out, _) = apply("exit 4", &["--json"]);
    let value = json(&out);
    assert_eq!((code, &value["try"]["exit"], &value["hunks"][0]["status"]), (1, &4.into(), &"refused".into()));
    assert_eq!(keys(&value["try"]), ["command", "exit", "ms", "output"]);
    untouched(&repo);
    let (code, out, err) = apply("grep 0.0 harbour.py", &["--json"]);
    assert_eq!((code, &json(&out)["try"]["exit"]), (0, &0.into()), "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
}

#[test]
fn a_turn_is_written_only_if_the_command_succeeds_on_it() {
    for (line, code, written) in [("grep 0.0 harbour.py", 0, true), ("! grep 0.0 harbour.py", 1, false)] {
        let repo = harbour_repo();
        let (server, state) = (ModelServer::start(vec![Step::reply(&good())]), state());
        let mut command =
            rhumb(&repo.path(), &["edit", "--yes", "--json", "--no-commit", "-m", "Change it", "--try", line]);
        command.args(["--file", "harbour.py", "--base-url", &server.base_url(), "--model", MODEL]);
        command.env("XDG_STATE_HOME", state.path());
        let (exit, out, err) = run(command);
        assert_eq!(exit, code, "{err}");
        let events: Vec<Value> = out.lines().map(json).collect();
        let tried = events.iter().find(|event| event["event"] == "try").unwrap();
        assert_eq!((&tried["try"]["exit"], &tried["try"]["command"]), (&code.into(), &line.into()));
        assert_eq!(repo.read("harbour.py") == changed(), written);
    }
}

#[test]
fn the_doctor_says_what_isolates_trials() {
    let repo = harbour_repo();
    let (_, out, err) = run(rhumb(&repo.path(), &["doctor"]));
    let line = out.lines().find(|line| line.contains("trials")).unwrap_or_default();
    assert!(line.contains("network"), "{out}{err}");
}
