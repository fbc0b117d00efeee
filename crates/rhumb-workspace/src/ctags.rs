//! Runs universal-ctags, if it is installed, for files of languages without a grammar.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of one run.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How often to check whether the program has ended, was cancelled or exceeded its time limit.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum number of bytes of output that are read.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;

/// Maximum length in bytes of a line of output. Longer lines are skipped.
const MAX_LINE_BYTES: usize = 64 << 10;

/// Disables option files, since a repository must not choose what the program runs. Must be the first argument.
const NO_OPTIONS: &str = "--options=NONE";

/// Returns whether `ctags` is in `PATH` and can write JSON. The result of the first call is kept.
pub fn has_ctags() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut command = Command::new("ctags");
        command.args([NO_OPTIONS, "--list-features"]);
        let features = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        features
            .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line.starts_with("json")))
    })
}

/// Runs ctags on `paths` (relative to `root`) and returns what `parse` makes of the lines of its output, in their order.
///
/// Each line is a JSON object with the fields of `--fields=+neKS`. The result is empty without ctags. It is incomplete
/// if ctags fails or takes longer than 20 seconds, or if `cancel` becomes true.
pub fn run_ctags<T: Send>(
    root: &Path,
    paths: &[PathBuf],
    cancel: &AtomicBool,
    parse: impl Fn(&str) -> Option<T> + Send,
) -> Vec<T> {
    let names: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).filter(|name| is_safe(name)).collect();
    if names.is_empty() || !has_ctags() {
        return Vec::new();
    }
    let Ok(mut child) = start(root) else { return Vec::new() };
    let (input, output) = (child.stdin.take(), child.stdout.take());
    thread::scope(|scope| {
        scope.spawn(move || {
            // A broken pipe means that the program has ended, which the reader notices.
            let _ = input.map(|mut input| input.write_all(names.join("\n").as_bytes()));
        });
        let reader = scope.spawn(move || output.map(|output| read(output, parse)).unwrap_or_default());
        supervise(&mut child, cancel, || reader.is_finished());
        reader.join().unwrap_or_default()
    })
}

/// Returns whether ctags takes a line with this name for a file name. It takes a leading dash for an option.
fn is_safe(name: &str) -> bool {
    !name.starts_with('-') && !name.contains(['\n', '\r']) && name.trim() == name
}

fn start(root: &Path) -> io::Result<Child> {
    let mut command = Command::new("ctags");
    command.args([NO_OPTIONS, "--output-format=json", "--fields=+neKS", "--sort=no", "--links=no", "--quiet=yes"]);
    command.args(["-f", "-", "-L", "-"]).current_dir(root);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Waits until all output is read. Kills the program when it is cancelled or exceeds its time limit.
fn supervise(child: &mut Child, cancel: &AtomicBool, is_read: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_read() && !cancel.load(Ordering::Relaxed) && started.elapsed() <= TIMEOUT {
        thread::sleep(POLL_INTERVAL);
    }
    // The program may have ended already. Its exit status adds nothing to its output.
    let _ = child.kill();
    let _ = child.wait();
}

fn read<T>(output: impl Read, parse: impl Fn(&str) -> Option<T>) -> Vec<T> {
    let mut found = Vec::new();
    let mut lines = BufReader::new(output.take(MAX_OUTPUT_BYTES));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        if line.len() <= MAX_LINE_BYTES {
            found.extend(parse(&String::from_utf8_lossy(&line)));
        }
        line.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tide.awk"), "function high_water(day) {\n  return day * 24\n}\n").unwrap();
        std::fs::write(folder.path().join("odd ö.tcl"), "proc ebb {at} {\n  puts $at\n}\n").unwrap();
        folder
    }

    /// Path and name of each tag.
    fn tags(folder: &Path, paths: &[&str], cancelled: bool) -> Vec<(String, String)> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let field = |line: &serde_json::Value, name: &str| Some(line.get(name)?.as_str()?.to_owned());
        run_ctags(folder, &paths, &AtomicBool::new(cancelled), |line| {
            let line = serde_json::from_str(line).ok()?;
            Some((field(&line, "path")?, field(&line, "name")?))
        })
    }

    #[test]
    fn ctags_knows_languages_without_a_grammar() {
        if !has_ctags() {
            eprintln!("skipped: universal-ctags is not installed");
            return;
        }
        let folder = folder();
        let found = tags(folder.path(), &["tide.awk", "odd ö.tcl", "missing.awk"], false);
        let tag = |path: &str, name: &str| (path.to_owned(), name.to_owned());
        assert_eq!(found, [tag("tide.awk", "high_water"), tag("odd ö.tcl", "ebb")]);
    }

    #[test]
    fn a_repository_cannot_give_options() {
        if !has_ctags() {
            eprintln!("skipped: universal-ctags is not installed");
            return;
        }
        let folder = folder();
        std::fs::create_dir(folder.path().join(".ctags.d")).unwrap();
        std::fs::write(folder.path().join(".ctags.d/all.ctags"), "--languages=-Awk\n").unwrap();
        std::fs::write(folder.path().join("--languages=-Awk"), "").unwrap();
        assert_eq!(tags(folder.path(), &["--languages=-Awk", "tide.awk"], false).len(), 1);
    }

    #[test]
    fn nothing_is_read_when_cancelled_or_without_paths() {
        let folder = folder();
        assert!(tags(folder.path(), &[], false).is_empty());
        assert!(tags(folder.path(), &["tide.awk"], true).len() <= 1);
    }
}
