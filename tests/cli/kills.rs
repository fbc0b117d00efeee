//! Kills and errors at the system calls of a write with its commit, by strace. A few in every run; all of them with
//! `RHUMB_SWEEP=all cargo test --test cli kills -- --nocapture`, which prints how many there were.

#![allow(clippy::print_stderr)] // what is skipped and what was done is told

use std::collections::BTreeMap;

use super::faults::works;
use super::*;

/// Calls that change something on disk.
const CALLS: [&str; 12] = [
    "openat",
    "write",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "fsync",
    "flock",
    "ftruncate",
];

/// What git must never show as staged after an interruption: anything but the user's own file.
const STAGED: &str = "notes.md\n";

struct Scene {
    repo: TestRepo,
    state: tempfile::TempDir,
    server: ModelServer,
}

/// How things stand after an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Nothing,
    Written,
    Committed,
}

impl Scene {
    fn new() -> Self {
        let repo = harbour_repo();
        repo.file("notes.md", "# Notes\n\nMine.\n");
        repo.git(&["add", "notes.md"]);
        let server = ModelServer::start(vec![Step::reply(&good())]);
        Self { repo, state: tempfile::tempdir().unwrap(), server }
    }

    /// Runs the edit under strace with these arguments; its standard error.
    fn edit(&self, strace: &[String]) -> String {
        let mut command = hermetic("strace", &self.repo.path());
        command.args(["-f", "-qq", "-e", &format!("trace={}", CALLS.join(","))]).args(strace);
        command.args([env!("CARGO_BIN_EXE_rhumb"), "edit", "-m", "Be lenient", "--yes", "--file", "harbour.py"]);
        command
            .args(["--base-url", &self.server.base_url(), "--model", MODEL])
            .env("XDG_STATE_HOME", self.state.path());
        String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned()
    }

    /// Starts rhumb once more, and looks at what is there.
    fn outcome(&self, case: &str) -> Outcome {
        let mut command = rhumb(&self.repo.path(), &["apply", "--yes", "-"]);
        command.env("XDG_STATE_HOME", self.state.path()).write_stdin("Nothing.\n");
        let (_, _, told) = run(command);
        let subjects = self.repo.subjects();
        let outcome = match (self.repo.read("harbour.py") == changed(), subjects.len()) {
            (false, 1) => Outcome::Nothing,
            (true, 1) => Outcome::Written,
            (true, 2) => Outcome::Committed,
            _ => panic!("{case}: {subjects:?}\n{}\n{told}", self.repo.read("harbour.py")),
        };
        assert_eq!(self.repo.git(&["diff", "--cached", "--name-only"]), STAGED, "{case}: {outcome:?}\n{told}");
        let unstaged = if outcome == Outcome::Written { "harbour.py\n" } else { "" };
        assert_eq!(self.repo.git(&["diff", "--name-only"]), unstaged, "{case}: {outcome:?}\n{told}");
        assert_eq!(self.repo.git(&["status", "--porcelain", "--untracked-files"]).contains("?? "), false, "{case}");
        let git = self.repo.path().join(".git");
        for folder in [git.clone(), git.join("refs/heads")] {
            for file in fs::read_dir(&folder).unwrap() {
                let name = file.unwrap().file_name().to_string_lossy().into_owned();
                assert!(!name.ends_with(".lock") && !name.starts_with("rhumb-"), "{case}: {name} was left\n{told}");
            }
        }
        // The user's own git works.
        self.repo.git(&["commit", "--quiet", "-m", "Mine"]);
        outcome
    }
}

/// How often the run makes each call, counted for each of its threads by the most.
fn counts() -> BTreeMap<&'static str, usize> {
    let scene = Scene::new();
    let trace = scene.state.path().join("trace");
    scene.edit(&["-o".into(), trace.to_string_lossy().into_owned()]);
    assert_eq!(scene.outcome("without a fault"), Outcome::Committed);
    let trace = fs::read_to_string(trace).unwrap();
    let mut by_thread: BTreeMap<(&str, &'static str), usize> = BTreeMap::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(char::is_whitespace) else { continue };
        let name = call.trim_start().split('(').next().unwrap_or_default();
        if let Some(name) = CALLS.iter().find(|known| **known == name) {
            *by_thread.entry((thread, name)).or_default() += 1;
        }
    }
    let mut most = BTreeMap::new();
    for ((_, name), count) in by_thread {
        let most = most.entry(name).or_insert(0);
        *most = count.max(*most);
    }
    most
}

/// Goes through the calls, each with what strace is to do at it.
fn sweep(what: &str, injection: &str) {
    if !works("strace", &["-o", "/dev/null", "true"]) {
        return;
    }
    let all = std::env::var("RHUMB_SWEEP").is_ok_and(|sweep| sweep == "all");
    let mut seen: BTreeMap<Outcome, usize> = BTreeMap::new();
    let points: Vec<(&str, usize)> =
        counts().into_iter().flat_map(|(call, count)| (1..=count).map(move |at| (call, at))).collect();
    // Those that matter most are few and stand at the end of each thread's work; the rest is sampled.
    let step = if all { 1 } else { points.len().div_ceil(24).max(1) };
    for (call, at) in points.iter().step_by(step) {
        let scene = Scene::new();
        let inject = format!("inject={call}:{injection}:when={at}");
        scene.edit(&["-o".into(), "/dev/null".into(), "-e".into(), inject.clone()]);
        *seen.entry(scene.outcome(&inject)).or_default() += 1;
    }
    eprintln!("{what}: {} of {} points, {seen:?}", seen.values().sum::<usize>(), points.len());
}

#[test]
fn a_kill_at_any_call_of_a_write_with_its_commit_leaves_git_consistent() {
    sweep("kills", "signal=KILL");
}

#[test]
fn an_error_at_any_call_of_a_write_with_its_commit_leaves_git_consistent() {
    sweep("errors", "error=EIO");
}
