//! Trial checkouts: `rhumb try`, and `--try` of `rhumb apply` and `rhumb edit`. They pass in a mounted trial and in a copy.

#![allow(clippy::print_stderr)] // skipped tests are reported

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// `rhumb try` with a reply on standard input, or none.
#[track_caller]
fn try_reply(repo: &TestRepo, reply: Option<&str>, args: &[&str]) -> (i32, String, String) {
    let mut command = rhumb(&repo.path(), &["try"]);
    if let Some(reply) = reply {
        command.args(["--reply", "-"]).write_stdin(reply);
    }
    command.args(args);
    run(command)
}

/// Whether trials are fully isolated here.
fn is_isolated() -> bool {
    let (_, out, _) = try_reply(&harbour_repo(), None, &["--json", "--", "true"]);
    json(&out)["isolation"]["files"] == "overlay"
}

/// A thread that is started too early would make it impossible.
#[test]
fn the_repository_is_mounted_where_the_kernel_allows_it() {
    let mut unshare = std::process::Command::new("unshare");
    let allowed = unshare.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: this kernel does not allow the namespaces");
        return;
    }
    let (_, out, _) = try_reply(&harbour_repo(), None, &["--json", "--", "true"]);
    assert_eq!(json(&out)["isolation"]["files"], "overlay", "{out}");
}

fn is_running(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()))
}

#[test]
fn a_command_sees_the_reply_and_nothing_is_written() {
    let repo = harbour_repo();
    let (code, out, err) = try_reply(&repo, Some(&good()), &["--", "cat", "harbour.py"]);
    assert_eq!((code, &*out), (0, &*changed()), "{err}");
    untouched(&repo);

    fs::write(repo.path().join("reply.md"), good()).unwrap();
    let args = ["--reply", "reply.md", "--", "sh", "-c", "cat harbour.py; rm -rf *; exit 1"];
    let (code, out, err) = try_reply(&repo, None, &args);
    assert_eq!((code, &*out), (1, &*changed()), "{err}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? reply.md\n");

    let (_, out, _) = try_reply(&repo, None, &["--", "cat", "harbour.py"]);
    assert_eq!(out, HARBOUR, "without a reply, the files are as they are");
}

#[test]
fn the_exit_code_is_that_of_the_command_or_says_why_there_is_none() {
    let repo = harbour_repo();
    for (args, expected) in [
        (&["--", "true"][..], 0),
        (&["--", "false"], 1),
        (&["--", "sh", "-c", "exit 7"], 7),
        (&["--timeout", "0.4", "--", "sleep", "600"], 124),
        (&["--", "./harbour.py"], 126),
        (&["--", "no-such-program"], 127),
        (&["--", "sh", "-c", "kill -9 $$"], 137),
        (&[], 125),
        (&["--telepathy", "--", "true"], 125),
        (&["--timeout", "soon", "--", "true"], 125),
        (&["--reply", "no-such-reply.md", "--", "true"], 125),
    ] {
        let (code, out, err) = try_reply(&repo, None, args);
        assert_eq!(code, expected, "{args:?}: {out}{err}");
        assert!(expected != 125 || (out.is_empty() && !err.is_empty()), "{args:?}: {out}");
    }
    let (code, _, _) = try_reply(&repo, None, &["--help"]);
    assert_eq!(code, 0);
    untouched(&repo);
}

#[test]
fn a_refused_edit_keeps_the_command_from_running() {
    let repo = harbour_repo();
    for reply in [without_a_place() + &good(), "Just words.\n".to_owned()] {
        let (code, out, err) = try_reply(&repo, Some(&reply), &["--", "echo", "ran"]);
        assert_eq!((code, &*out), (125, ""), "{err}");
        assert!(err.contains("refused") || err.contains("no edit"), "{err}");
    }
}

#[test]
fn both_outputs_pass_through_complete() {
    let repo = harbour_repo();
    let (code, out, err) =
        try_reply(&repo, None, &["--", "sh", "-c", "seq 1 200000; echo error >&2; printf 'no end of line'"]);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 200_002);
    assert_eq!((lines[0], lines[199_999]), ("1", "200000"));
    assert_eq!(lines[200_000..], ["error", "no end of line"]);
}

#[test]
fn the_diff_shows_what_the_command_changed_itself() {
    let repo = harbour_repo();
    repo.file(".gitignore", "build/\n").commit("Ignore build products");
    let script = "echo '# end' >> harbour.py; rm notes.md; mkdir build; echo x > build/x; printf '\\000\\001' > binary; printf open";
    let args = ["--diff", "--", "sh", "-c", script];
    let (code, out, err) = try_reply(&repo, Some(&good()), &args);
    assert_eq!(code, 0, "{err}");
    let (said, diff) = out.split_once('\n').unwrap();
    assert_eq!(said, "open");
    assert!(diff.contains("+# end\n") && !diff.contains("TABLE[name]"), "only what the command changed: {diff}");
    assert!(diff.contains("--- a/notes.md\n+++ /dev/null\n") && diff.contains("Binary files a/binary"), "{diff}");
    assert!(!diff.contains("build/x"), "{diff}");
    let (_, out, _) = try_reply(&repo, None, &["--diff", "--", "true"]);
    assert_eq!(out, "");
    untouched(&repo);
}

#[test]
fn json_is_one_object() {
    let repo = harbour_repo();
    let args = ["--json", "--", "sh", "-c", "echo said; echo x > new.txt; exit 3"];
    let (code, out, err) = try_reply(&repo, Some(&good()), &args);
    assert_eq!(code, 3, "{err}");
    let value = json(&out);
    assert_eq!(
        keys(&value),
        ["exit", "ms", "output", "truncated_bytes", "isolation", "stale", "diff"],
        "fields are only added"
    );
    assert_eq!(value["exit"], 3);
    assert_eq!(value["output"], "said\n");
    assert_eq!(value["truncated_bytes"], 0);
    assert!(value["diff"].as_str().unwrap().contains("+++ b/new.txt"), "{value}");
    assert!(["overlay", "copy"].contains(&value["isolation"]["files"].as_str().unwrap()));
    assert!(["landlock", "none"].contains(&value["isolation"]["writes"].as_str().unwrap()));
    let (_, out, _) = try_reply(&repo, None, &["--json", "--timeout", "0.3", "--", "sleep", "600"]);
    assert_eq!(json(&out)["exit"], 124);
    let (_, out, _) = try_reply(&repo, None, &["--json", "--", "seq", "1", "200000"]);
    let value = json(&out);
    let omitted = value["truncated_bytes"].as_u64().unwrap();
    assert!(omitted > 100_000 && value["output"].as_str().unwrap().contains(&format!("{omitted} bytes left out")));
}

#[test]
fn the_network_is_as_wide_as_requested() {
    if !is_isolated() {
        eprintln!("SKIPPED: this kernel does not allow the namespaces");
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let repo = harbour_repo();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    for (flags, reaches) in [(&[][..], false), (&["--network", "none"], false), (&["--network", "loopback"], true)] {
        let args = [flags, &["--", "bash", "-c", &connect]].concat();
        let (code, _, err) = try_reply(&repo, None, &args);
        assert_eq!(code == 0, reaches, "{flags:?}: {err}");
    }
}

#[test]
fn an_interrupt_ends_the_command_and_leaves_nothing_behind() {
    let repo = harbour_repo();
    let state = tempfile::tempdir().unwrap();
    let mark = format!("{}", 70_000 + std::process::id() % 5_000);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rhumb"));
    command.current_dir(repo.path()).env("XDG_STATE_HOME", state.path()).stdout(Stdio::piped());
    let script = format!("setsid sleep {mark} & echo started; sleep {mark}");
    let mut child = command.args(["try", "--", "sh", "-c", &script]).spawn().unwrap();
    let mut line = String::new();
    // Kept open: a command whose output nobody reads is ended.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let until = Instant::now() + support::WAIT_TIMEOUT;
    while !is_running(&mark) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(is_running(&mark), "{:?}", child.try_wait());
    let began = Instant::now();
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(!is_running(&mark), "also a process that left the group ends");
    assert_eq!(fs::read_dir(state.path().join("rhumb/trials")).unwrap().count(), 0);
    untouched(&repo);
}

#[test]
fn a_command_has_no_terminal_and_cannot_control_the_users() {
    let repo = harbour_repo();
    let script = "test -t 1 && echo TERMINAL; for t in /dev/pts/[0-9]* /dev/tty; do echo STOLEN > $t; done 2>&-; \
                  printf '\\033]52;c;eA==\\007the end\\n'";
    let bin = Path::new(env!("CARGO_BIN_EXE_rhumb"));
    let mut pty = Pty::spawn(bin, &["try", "--", "sh", "-c", script], &repo.path(), &[], 80, 24);
    pty.wait_exit();
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert!(raw.contains("the end") && !raw.contains("]52;"), "{raw:?}");
    assert!(!raw.contains("STOLEN") && !raw.contains("TERMINAL"), "{raw:?}");
}

#[test]
fn keys_of_the_environment_are_not_passed_on() {
    let repo = harbour_repo();
    let mut command = rhumb(&repo.path(), &["try", "--", "env"]);
    command.env("OPENAI_API_KEY", KEY);
    let (code, out, err) = run(command);
    assert!(code == 0 && out.contains("PATH="), "{err}");
}

#[test]
fn a_reply_is_applied_if_the_command_succeeds() {
    let repo = harbour_repo();
    let green = ["--try", "echo tried; grep -q TABLE.get harbour.py"];
    let apply = |flags: &[&str]| {
        let mut command = rhumb(&repo.path(), &["apply", "--yes"]);
        command.args(flags).arg("-").write_stdin(good());
        run(command)
    };
    let (code, out, err) = apply(&["--try", "echo red; exit 9"]);
    assert_eq!((code, &*out), (1, ""), "{err}");
    assert!(err.contains("red\n") && err.contains("failed in the trial checkout with exit code 9"), "{err}");
    untouched(&repo);

    let (code, out, err) = apply(&["--json", "--try", "echo red; exit 9"]);
    assert_eq!(code, 1, "{err}");
    let value = json(&out);
    assert_eq!(keys(&value["try"]), ["command", "exit", "ms", "output"]);
    assert_eq!((&value["try"]["exit"], &value["try"]["output"]), (&9.into(), &"red\n".into()));
    assert_eq!(value["hunks"][0]["status"], "refused");
    untouched(&repo);

    let (code, _, err) = apply(&[&green[..], &["--dry-run"]].concat());
    assert_eq!(code, 2, "a dry run writes nothing: {err}");

    let (code, out, err) = apply(&[&green[..], &["--json", "--try-network", "none"]].concat());
    assert_eq!(code, 0, "{err}");
    let value = json(&out);
    assert_eq!((&value["try"]["exit"], &value["try"]["output"]), (&0.into(), &"tried\n".into()));
    assert_eq!(repo.read("harbour.py"), changed());
}

#[test]
fn a_success_does_not_count_if_a_file_was_modified_meanwhile() {
    let repo = harbour_repo();
    let before = repo.read("harbour.py");
    let is_over = AtomicBool::new(false);
    let (code, out, err) = std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..1_500 {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                repo.file("notes.txt", &format!("{number}\n"));
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut command = rhumb(&repo.path(), &["apply", "--yes", "--try", "sleep 1"]);
        command.arg("-").write_stdin(good());
        let result = run(command);
        is_over.store(true, Ordering::Relaxed);
        result
    });
    assert_eq!((code, &*out), (1, ""), "{err}");
    assert!(err.contains("notes.txt changed while sleep 1 ran in the trial checkout"), "{err}");
    assert_eq!(repo.read("harbour.py"), before);
}

#[test]
fn a_turn_is_written_if_the_command_succeeds() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good()), Step::reply(&good())]);
    let (code, out, err) = edit(&repo, &server, &["--yes", "--json", "--try", "echo red; exit 9"]);
    assert_eq!(code, 1, "{err}");
    let tried = out.lines().map(json).find(|event| event["event"] == "try").unwrap();
    assert_eq!(keys(&tried["try"]), ["command", "exit", "ms", "output"]);
    assert_eq!((&tried["try"]["exit"], &tried["try"]["output"]), (&9.into(), &"red\n".into()));
    untouched(&repo);
    assert_eq!(repo.subjects(), ["Start the harbour"]);

    let (code, _, err) = edit(&repo, &server, &["--yes", "--try", "echo tried; grep -q TABLE.get harbour.py"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("tried\n"), "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
    assert_eq!(repo.subjects().len(), 2);
}

#[test]
fn doctor_says_what_isolates_a_trial() {
    let repo = harbour_repo();
    let (_, out, err) = run(rhumb(&repo.path(), &["doctor", "--json"]));
    let value = json(&out);
    let check = value["checks"].as_array().unwrap().iter().find(|check| check["name"] == "trials").unwrap();
    let text = check["text"].as_str().unwrap();
    assert!(text.contains("network") && (text.contains("Landlock")), "{text} {err}");
    assert_eq!(check["health"] == "good", is_isolated() && !text.contains(':'), "{check}");
    assert!(check["health"] == "good" || !check["hint"].as_str().unwrap().is_empty());
}
