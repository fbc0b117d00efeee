//! The agent loop in the app: cards, steering, pauses, kills, and the review of its net changes.

#![allow(clippy::print_stderr)] // skipped tests are reported

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{KEY, quit, rhumb, send, untouched};
use crate::support::WAIT_TIMEOUT;
use crate::support::exercise::{GREET, greet_repo, greeted, script, steps};
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer, Step};
use crate::support::wire::Answer;

/// Whether commands run without a question here. Otherwise the test is skipped.
fn runs_commands() -> bool {
    let (repo, state) = (greet_repo(), tempfile::tempdir().unwrap());
    let mut command = Command::new(rhumb());
    command.args(["try", "--json", "--", "true"]).current_dir(repo.path()).env("XDG_STATE_HOME", state.path());
    let output = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
    let value: serde_json::Value = serde_json::from_str(&output).unwrap_or_default();
    let isolation = &value["isolation"];
    let is_isolated = isolation["files"] == "overlay" && isolation["writes"] == "landlock";
    if !is_isolated {
        eprintln!("SKIPPED: trials are not fully isolated here");
    }
    is_isolated
}

/// The app in the home folder of the test, so that a session can be continued.
fn open_at(home: &std::path::Path, repo: &TestRepo, server: &ModelServer, args: &[&str]) -> Pty {
    let (url, home) = (server.base_url(), home.to_string_lossy().into_owned());
    let env = [("HOME", home.as_str()), ("RHUMB_BASE_URL", &url), ("RHUMB_MODEL", MODEL), ("RHUMB_API_KEY", KEY)];
    let pty = Pty::spawn(&rhumb(), args, &repo.path(), &env, 160, 48);
    pty.wait_for("❯");
    pty
}

fn is_running(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()))
}

#[track_caller]
fn wait_until(holds: impl Fn() -> bool, what: &str) {
    let limit = Instant::now() + WAIT_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < limit, "waited for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn run(command: &str) -> Step {
    Step::Answer(Answer::calls([("run", json!({"command": command}))]))
}

fn read() -> Step {
    Step::Answer(Answer::calls([("read_file", json!({"path": "test.sh"}))]))
}

#[test]
fn a_task_goes_from_the_request_to_a_commit_of_its_net_change() {
    if !runs_commands() {
        return;
    }
    let repo = greet_repo();
    let mut script = script();
    let last = script.pop().unwrap();
    let mut all = steps(script);
    all.push(Step::HeldAnswer(last));
    let server = ModelServer::start(all);
    let home = tempfile::tempdir().unwrap();
    let mut pty = open_at(home.path(), &repo, &server, &[]);
    send(&pty, "/agent Make the test pass");
    // The server holds the last answer, so the loop still runs.
    server.wait_for_requests(6);
    for card in ["✓ read_file greet.sh", "✓ edit greet.sh", "✗ run sh test.sh", "✓ run sh test.sh", "step 6/100"]
    {
        pty.wait_for(card);
    }
    assert_eq!(repo.read("greet.sh"), GREET, "written before it was asked for");
    server.go_on();
    pty.wait_for("The test passes.");
    pty.wait_for("review · 1 pending");
    pty.key("Enter");
    pty.wait_for("Hello, $1!");
    assert!(!pty.screen().contains("+    echo \"Hello, $1\"\n"), "only the net change is shown");
    pty.type_text("gy");
    pty.wait_for("0 pending · ✓ 1");
    untouched(&repo, &["Start"]);
    pty.key("w");
    pty.wait_for("Committed as");
    assert_eq!(repo.read("greet.sh"), greeted());
    quit(&mut pty);
}

#[test]
fn what_the_user_types_meanwhile_is_part_of_the_next_request() {
    if !runs_commands() {
        return;
    }
    let repo = greet_repo();
    let server = ModelServer::start(vec![run("sleep 3; echo slept"), Step::Answer(Answer::text("Understood."))]);
    let home = tempfile::tempdir().unwrap();
    let mut pty = open_at(home.path(), &repo, &server, &[]);
    send(&pty, "/agent Make the test pass");
    pty.wait_for("⋯ run sleep 3");
    send(&pty, "and keep it short");
    pty.wait_for("goes with the next result");
    pty.wait_for("Understood.");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let messages = requests[1].body["messages"].as_array().unwrap();
    let at = |text: &str| messages.iter().position(|message| message["content"].to_string().contains(text)).unwrap();
    assert!(at("slept") < at("and keep it short"), "{messages:#?}");
    quit(&mut pty);
    untouched(&repo, &["Start"]);
}

#[test]
fn esc_pauses_after_the_step_and_twice_stops_at_once() {
    if !runs_commands() {
        return;
    }
    let mark = format!("{}", 85_000 + std::process::id() % 5_000);
    let repo = greet_repo();
    let long = format!("setsid sleep {mark} & sleep {mark}");
    let server = ModelServer::start(vec![run("sleep 2"), run(&long), Step::Answer(Answer::text("Well then."))]);
    let home = tempfile::tempdir().unwrap();
    let mut pty = open_at(home.path(), &repo, &server, &[]);
    send(&pty, "/agent Make the test pass");
    pty.wait_for("⋯ run sleep 2");
    pty.key("Esc");
    pty.wait_for("pausing");
    pty.wait_for("Paused after step 1.");
    pty.wait_for("✓ run sleep 2");
    assert_eq!(server.requests().len(), 1);

    send(&pty, "/continue");
    wait_until(|| is_running(&mark), "the command");
    pty.key("Esc");
    pty.wait_for("pausing");
    pty.key("Esc");
    pty.wait_for("The agent loop was stopped.");
    wait_until(|| !is_running(&mark), "the end of its processes");

    send(&pty, "/continue");
    pty.wait_for("Well then.");
    let last = server.requests().last().cloned().unwrap();
    let messages = last.body["messages"].as_array().unwrap();
    let results: Vec<&serde_json::Value> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results.len(), 2);
    assert!(results[1]["content"].to_string().contains("stopped"), "{results:?}");
    quit(&mut pty);
    untouched(&repo, &["Start"]);
}

#[test]
fn a_killed_loop_is_continued_where_it_was() {
    if !runs_commands() {
        return;
    }
    let mark = format!("{}", 90_000 + std::process::id() % 5_000);
    // The steps before the kill, and the one that hangs.
    for (before, hangs) in
        [(0, Step::Hang), (1, Step::Hang), (2, Step::Hang), (2, run(&format!("sleep {mark}"))), (4, Step::Hang)]
    {
        let repo = greet_repo();
        let home = tempfile::tempdir().unwrap();
        let script = script();
        let in_command = matches!(hangs, Step::Answer(_));
        let mut all = steps(script[..before].to_vec());
        all.push(hangs);
        let server = ModelServer::start(all);
        let mut pty = open_at(home.path(), &repo, &server, &[]);
        send(&pty, "/agent Make the test pass");
        server.wait_for_requests(before + 1);
        if in_command {
            wait_until(|| is_running(&mark), "the command");
        }
        // Changes are saved after a quarter of a second.
        std::thread::sleep(Duration::from_millis(600));
        pty.signal("KILL");
        pty.wait_exit();
        wait_until(|| !is_running(&mark), "the end of the command");
        untouched(&repo, &["Start"]);

        server.push(steps(script[before..].to_vec()));
        let mut pty = open_at(home.path(), &repo, &server, &["--continue"]);
        pty.wait_for("Make the test pass");
        for card in ["✓ read_file test.sh", "✓ edit greet.sh", "✗ run sh test.sh"].iter().take(before) {
            pty.wait_for(card);
        }
        if before >= 2 {
            pty.wait_for("1 pending");
        }
        send(&pty, "/continue");
        pty.wait_for("The test passes.");
        pty.wait_for("review · 1 pending");
        let requests = server.requests();
        let sent = requests.last().unwrap().body["messages"].as_array().unwrap();
        let results = sent.iter().filter(|message| message["role"] == "tool").count();
        assert_eq!(results, 6 + usize::from(in_command), "kept before the kill: {before}");
        pty.key("Enter");
        pty.type_text("gy");
        pty.wait_for("0 pending · ✓ 1");
        pty.key("w");
        pty.wait_for("Committed as");
        assert_eq!(repo.read("greet.sh"), greeted());
        quit(&mut pty);
    }
}

#[test]
fn a_step_can_be_gone_back_to() {
    let repo = greet_repo();
    let script = script();
    let mut all = steps([script[0].clone(), script[1].clone(), script[3].clone()]);
    all.extend([
        Step::Answer(Answer::text("Both edits are made.")),
        read(),
        Step::Answer(Answer::text("Only one edit is made.")),
    ]);
    let server = ModelServer::start(all);
    let home = tempfile::tempdir().unwrap();
    let mut pty = open_at(home.path(), &repo, &server, &[]);
    send(&pty, "/agent Make the test pass");
    pty.wait_for("Both edits are made.");
    pty.wait_until(|screen| screen.contains("review · 1 pending") && !screen.contains("/100"), "the end of the loop");
    send(&pty, "/rewind step 2");
    pty.wait_for("Back after step 2.");
    pty.wait_until(|screen| !screen.contains("Both edits are made."), "the later steps to go");
    send(&pty, "/continue");
    pty.wait_for("Only one edit is made.");
    let requests = server.requests();
    let sent = requests[4].body["messages"].as_array().unwrap();
    assert_eq!(sent.iter().filter(|message| message["role"] == "tool").count(), 3, "{sent:#?}");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 1");
    pty.key("w");
    pty.wait_for("Committed as");
    assert_eq!(repo.read("greet.sh"), GREET.replace("Hello $1", "Hello, $1"));
    quit(&mut pty);
}
