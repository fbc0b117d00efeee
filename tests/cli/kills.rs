//! Kills and errors at the system calls of a write with its commit, by strace. A few in every run; all of them with
//! `RHUMB_SWEEP=all cargo test --test cli kills -- --nocapture`, which prints how many there were.

#![allow(clippy::print_stderr)] // skipped tests and results are reported

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::faults::works;
use super::*;

/// Calls that change something on disk.
const CALLS: [&str; 12] = [
    "openat", "write", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "fsync", "flock",
    "ftruncate",
];

/// How long one run may take, in seconds. A run takes less than two.
const TIMEOUT: &str = "30";

/// After an interruption git must show nothing as staged but the user's own file.
const STAGED: &str = "notes.md\n";

struct Scene {
    repo: TestRepo,
    state: tempfile::TempDir,
    server: ModelServer,
}

/// What is interrupted: a write with its commit, or the undo of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Edit,
    /// The git program makes the commit, and may be killed itself.
    EditWithHook,
    Undo,
}

/// The state after an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The files are as before, and so is the branch.
    Before,
    Written,
    Committed,
    /// The files are as before the commit, which is still there.
    Undone,
}

impl Scene {
    /// A repository before the work.
    fn new(work: Work) -> Self {
        let repo = harbour_repo();
        repo.file("notes.md", "# Notes\n\nMine.\n");
        repo.git(&["add", "notes.md"]);
        let server = ModelServer::start(vec![Step::reply(&good())]);
        let scene = Self { repo, state: tempfile::tempdir().unwrap(), server };
        if work == Work::EditWithHook {
            let hook = scene.repo.path().join(".git/hooks/pre-commit");
            fs::create_dir_all(hook.parent().unwrap()).unwrap();
            fs::write(&hook, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        }
        if work == Work::Undo {
            let mut command = hermetic(env!("CARGO_BIN_EXE_rhumb"), &scene.repo.path());
            command.args(scene.args(Work::Edit)).env("XDG_STATE_HOME", scene.state.path());
            assert_eq!(run(command).0, 0);
        }
        scene
    }

    /// Runs rhumb under strace with these arguments. An error at the write that wakes the event loop, which no system gives, makes the
    /// program wait forever: it is killed then, and git must be consistent too.
    fn run(&self, work: Work, strace: &[String]) {
        let mut command = hermetic("timeout", &self.repo.path());
        command
            .args(["-s", "KILL", TIMEOUT, "strace"])
            .args(["-f", "-qq", "-e", &format!("trace={}", CALLS.join(","))])
            .args(strace);
        command.arg(env!("CARGO_BIN_EXE_rhumb")).args(self.args(work));
        command.env("RHUMB_COMMIT_HOOKS", (work == Work::EditWithHook).to_string());
        command.env("XDG_STATE_HOME", self.state.path()).output().unwrap();
    }

    fn args(&self, work: Work) -> Vec<String> {
        let url = self.server.base_url();
        let args: &[&str] = match work {
            Work::Edit | Work::EditWithHook => {
                &["edit", "-m", "Be lenient", "--yes", "--file", "harbour.py", "--base-url", &url, "--model", MODEL]
            }
            Work::Undo => &["undo"],
        };
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    /// Starts rhumb again and determines the state.
    fn outcome(&self, work: Work, case: &str) -> Outcome {
        let mut command = rhumb(&self.repo.path(), &["apply", "--yes", "-"]);
        command.env("XDG_STATE_HOME", self.state.path()).write_stdin("Nothing.\n");
        let (_, _, told) = run(command);
        let subjects = self.repo.subjects();
        let outcome = match (self.repo.read("harbour.py") == changed(), subjects.len()) {
            (false, 1) => Outcome::Before,
            (true, 1) => Outcome::Written,
            (true, 2) => Outcome::Committed,
            (false, 2)
                if ["before it committed", "before its commit", "still contains the changes"]
                    .iter()
                    .any(|note| told.contains(note)) =>
            {
                Outcome::Undone
            }
            _ => panic!("{case}: {subjects:?}\n{}\n{told}", self.repo.read("harbour.py")),
        };
        assert_eq!(self.repo.git(&["diff", "--cached", "--name-only"]), STAGED, "{case}: {outcome:?}\n{told}");
        let is_half = matches!(outcome, Outcome::Written | Outcome::Undone);
        let unstaged = if is_half { "harbour.py\n" } else { "" };
        assert_eq!(self.repo.git(&["diff", "--name-only"]), unstaged, "{case}: {outcome:?}\n{told}");
        assert_eq!(self.repo.git(&["ls-files", "--others"]), "", "{case}");
        let git = self.repo.path().join(".git");
        for folder in [git.clone(), git.join("refs/heads")] {
            for file in fs::read_dir(&folder).unwrap() {
                let name = file.unwrap().file_name().to_string_lossy().into_owned();
                // A killed git leaves its own locks.
                let is_gits = work == Work::EditWithHook && name != "index.lock";
                if is_gits && name.ends_with(".lock") {
                    fs::remove_file(folder.join(&name)).unwrap();
                    continue;
                }
                assert!(!name.ends_with(".lock") && !name.starts_with("rhumb-"), "{case}: {name} was left\n{told}");
            }
        }
        // The user's own git works.
        self.repo.git(&["commit", "--quiet", "-m", "Mine"]);
        outcome
    }
}

/// How often the run makes each call, counted for each of its threads by the most.
fn counts(work: Work) -> BTreeMap<&'static str, usize> {
    let scene = Scene::new(work);
    let trace = scene.state.path().join("trace");
    scene.run(work, &["-o".into(), trace.to_string_lossy().into_owned()]);
    let end = if work == Work::Undo { Outcome::Before } else { Outcome::Committed };
    assert_eq!(scene.outcome(work, "without a fault"), end);
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

/// Runs once for each call and the fault that strace injects there.
fn sweep(work: Work, injection: &str) {
    if !works("strace", &["-o", "/dev/null", "true"]) {
        return;
    }
    let all = std::env::var("RHUMB_SWEEP").is_ok_and(|sweep| sweep == "all");
    let mut seen: BTreeMap<Outcome, usize> = BTreeMap::new();
    let points: Vec<(&str, usize)> =
        counts(work).into_iter().flat_map(|(call, count)| (1..=count).map(move |at| (call, at))).collect();
    let step = if all { 1 } else { points.len().div_ceil(16).max(1) };
    for (call, at) in points.iter().step_by(step) {
        let scene = Scene::new(work);
        let inject = format!("inject={call}:{injection}:when={at}");
        scene.run(work, &["-o".into(), "/dev/null".into(), "-e".into(), inject.clone()]);
        *seen.entry(scene.outcome(work, &inject)).or_default() += 1;
    }
    eprintln!("{work:?}, {injection}: {} of {} points, {seen:?}", seen.values().sum::<usize>(), points.len());
}

#[test]
fn a_kill_at_any_call_of_a_write_with_its_commit_leaves_git_consistent() {
    sweep(Work::Edit, "signal=KILL");
}

#[test]
fn an_error_at_any_call_of_a_write_with_its_commit_leaves_git_consistent() {
    sweep(Work::Edit, "error=EIO");
}

#[test]
fn a_kill_at_any_call_of_a_commit_by_the_git_program_leaves_git_consistent() {
    sweep(Work::EditWithHook, "signal=KILL");
}

#[test]
fn a_kill_at_any_call_of_an_undo_leaves_git_consistent() {
    sweep(Work::Undo, "signal=KILL");
}
