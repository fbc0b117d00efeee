//! Latency of the program in a pseudo-terminal: `cargo bench -p rhumb-bench --bench latency`.
//!
//! The time from the start to the first frame, and from a key to the first byte of output, when idle and while an answer streams in
//! and the repository is indexed; peak memory; and output, processor time and wake-ups when idle. Times are wall-clock times, so they
//! depend on the load of the machine.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints its figures and cannot go on without its setup"
)]

#[cfg(unix)]
mod report;
#[cfg(unix)]
#[path = "../../../tests/support/mod.rs"]
mod support;

#[cfg(not(unix))]
fn main() {
    println!("there are no pseudo-terminals here");
}

#[cfg(unix)]
fn main() {
    measured::all();
}

#[cfg(unix)]
mod measured {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::path::Path;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::report;
    use super::support::pty::Pty;
    use super::support::server::{MODEL, ModelServer, Step};

    /// Columns and rows of the screen.
    const SCREEN: (u16, u16) = (160, 50);
    /// Keys pressed for one figure.
    const KEYS: usize = 200;
    /// Starts for one figure.
    const STARTS: usize = 7;
    /// How long the idle program is observed.
    const IDLE_TIME: Duration = Duration::from_secs(5);

    pub fn all() {
        report::head("on a pseudo-terminal, ms");
        let repository = tempfile::tempdir().expect("a folder");
        fill(repository.path(), 10_000);
        let home = tempfile::tempdir().expect("a home folder");
        let program = report::program();
        starts(&program, repository.path(), home.path());
        idle(&program, repository.path(), home.path());
        busy(&program, repository.path());
    }

    /// Creates a repository with `files` files.
    fn fill(folder: &Path, files: usize) {
        for number in 0..files {
            let (area, other) = (number / 100, number * 31 % files);
            let path = folder.join(format!("src/area_{area}"));
            std::fs::create_dir_all(&path).expect("a folder");
            let text = format!(
                "use crate::area_{}::unit_{other};\n\n/// Unit {number}.\npub struct Unit{number} {{\n    pub tide: u64,\n}}\n\n\
                 impl Unit{number} {{\n    pub fn reading_{number}(&self) -> u64 {{\n        self.tide + reading_{other}()\n    }}\n}}\n",
                other / 100
            );
            std::fs::write(path.join(format!("unit_{number}.rs")), text).expect("a file");
        }
        let git = |arguments: &[&str]| {
            let who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", "-c", "commit.gpgsign=false"];
            let done = std::process::Command::new("git").args(who).args(arguments).current_dir(folder).output();
            assert!(done.is_ok_and(|done| done.status.success()), "git {arguments:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        git(&["commit", "-qm", "Start"]);
    }

    fn open(program: &Path, repository: &Path, env: &[(&str, &str)]) -> Pty {
        Pty::spawn(program, &[], repository, env, SCREEN.0, SCREEN.1)
    }

    /// The time from the start of the program to its first frame.
    fn starts(program: &Path, repository: &Path, home: &Path) {
        let home = home.to_string_lossy().into_owned();
        let mut spent = Vec::new();
        for number in 0..STARTS {
            let start = Instant::now();
            let mut app = open(program, repository, &[("HOME", &home)]);
            app.wait_until(|screen| screen.contains("repo map"), "the first frame");
            let first = ms(start.elapsed());
            if number == 0 {
                single("10,000 files, first start: the first frame", "ms", 100.0, first);
            } else {
                spent.push(first);
            }
            app.wait_until(|screen| screen.contains("tokens "), "the request measured");
            leave(&mut app);
        }
        row("10,000 files, later starts: the first frame", 100.0, spent);
    }

    fn idle(program: &Path, repository: &Path, home: &Path) {
        let home = home.to_string_lossy().into_owned();
        let mut app = open(program, repository, &[("HOME", &home)]);
        app.wait_until(|screen| screen.contains("tokens ") && !screen.contains("reading "), "the repository read");
        thread::sleep(Duration::from_secs(2));
        row("10,000 files, idle: key press to output", 5.0, press(&app));
        single("10,000 files: peak memory", "MB", 150.0, memory(&app));
        thread::sleep(Duration::from_secs(2));
        let (sent, ticks, woken) = (app.sent(), ticks(&app), woken(&app));
        thread::sleep(IDLE_TIME);
        single("idle for 5 s: output to the terminal", "bytes", 0.0, (app.sent() - sent) as f64);
        single("idle for 5 s: CPU time", "ms", 25.0, self::ticks(&app) - ticks);
        single("idle for 5 s: thread wake-ups", "times", 25.0, woken_since(&app, &woken));
        leave(&mut app);
    }

    /// An answer with 200 tokens per second while the repository is indexed for the first time.
    fn busy(program: &Path, repository: &Path) {
        let words = "The quay holds what the tide gives back, and `Berth::fits` says *whether* it does.\n\n";
        let chunks: Vec<String> = words.split_inclusive(' ').cycle().take(4_000).map(str::to_owned).collect();
        let server = ModelServer::start(vec![Step::Reply { chunks, gap_ms: 5 }]);
        let base = server.base_url();
        let env = [("OPENAI_API_BASE", base.as_str()), ("OPENAI_API_KEY", "sk-test"), ("RHUMB_MODEL", MODEL)];
        let mut app = open(program, repository, &env);
        app.wait_until(|screen| screen.contains("repo map"), "the first frame");
        app.type_text("go on\r");
        app.wait_for("The quay");
        row("an answer streams, 10,000 files are read: key press to output", 16.0, press(&app));
        drop(app.screen());
        app.key("Esc");
        leave(&mut app);
    }

    /// Types letters and waits for the first byte of output after each. Returns milliseconds.
    fn press(app: &Pty) -> Vec<f64> {
        let mut spent = Vec::new();
        for number in 0..KEYS {
            let text = if number % 2 == 0 { "x" } else { "\x7f" };
            let sent = app.sent();
            let start = Instant::now();
            app.type_text(text);
            spent.push(ms(app.wait_sent(sent).duration_since(start)));
            // Irregular, so that keys are not synchronized with frames.
            thread::sleep(Duration::from_millis(20 + (number as u64 * 7) % 13));
        }
        spent
    }

    fn leave(app: &mut Pty) {
        app.key("Ctrl-q");
        app.wait_exit();
    }

    fn memory(app: &Pty) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", app.process_id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes =
            line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<f64>().ok());
        kilobytes.unwrap_or(0.0) / 1_024.0
    }

    /// Milliseconds of processor time that the program has used.
    fn ticks(app: &Pty) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", app.process_id())).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect::<Vec<_>>()).unwrap_or_default();
        let field = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        // USER_HZ is 100 on Linux.
        (field(11) + field(12)) * 10.0
    }

    /// The number of voluntary context switches of each thread, which is the number of its wake-ups.
    fn woken(app: &Pty) -> BTreeMap<OsString, u64> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", app.process_id())).into_iter().flatten().flatten();
        let waits = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            Some((task.file_name(), line.trim().parse().ok()?))
        };
        tasks.filter_map(waits).collect()
    }

    /// The number of wake-ups since `before`, of threads that still run.
    fn woken_since(app: &Pty, before: &BTreeMap<OsString, u64>) -> f64 {
        let since = |(thread, count): (OsString, u64)| count - before.get(&thread).copied().unwrap_or(0);
        woken(app).into_iter().map(since).sum::<u64>() as f64
    }

    fn ms(time: Duration) -> f64 {
        time.as_secs_f64() * 1_000.0
    }

    fn row(name: &str, budget: f64, spent: Vec<f64>) {
        report::row("latency", name, budget, spent);
    }

    fn single(name: &str, unit: &str, budget: f64, value: f64) {
        report::single("latency", name, unit, budget, value);
    }
}
