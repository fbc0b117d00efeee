//! Definitions by universal-ctags, for files of languages without a grammar, where the program is installed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhumb_syntax::Definition;
use rhumb_syntax::ctags_line;

/// Longest that the program may run.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// How often it is looked whether the work is done, cancelled or overdue.
const POLL: Duration = Duration::from_millis(10);

/// Most output that is read, in bytes.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;

/// Longest line of output that is read, in bytes.
const MAX_LINE_BYTES: usize = 64 << 10;

/// No options from files: a repository must not choose what the program runs. It counts as the first argument alone.
const NO_OPTIONS: &str = "--options=NONE";

/// Whether a program of that name is on the path and writes JSON. Looked up once.
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

/// What `paths` (relative to `root`) define, by path. Empty without the program, or when it fails; what it said until it was
/// stopped when it takes too long or `cancel` becomes true.
pub fn definitions_by_ctags(root: &Path, paths: &[PathBuf], cancel: &AtomicBool) -> BTreeMap<PathBuf, Vec<Definition>> {
    let names: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).filter(|name| is_plain(name)).collect();
    if names.is_empty() || !has_ctags() {
        return BTreeMap::new();
    }
    let Ok(mut child) = start(root) else { return BTreeMap::new() };
    let (input, output) = (child.stdin.take(), child.stdout.take());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that stops reading has said why on its own; there is nobody to tell here.
            let _ = input.map(|mut input| input.write_all(names.join("\n").as_bytes()));
        });
        let reader = scope.spawn(move || output.map(read).unwrap_or_default());
        supervise(&mut child, cancel, || reader.is_finished());
        reader.join().unwrap_or_default()
    })
}

/// Whether the program takes a line for this name and nothing else: it would read a leading dash as an option.
fn is_plain(name: &str) -> bool {
    !name.starts_with('-') && !name.contains(['\n', '\r']) && name.trim() == name
}

fn start(root: &Path) -> std::io::Result<Child> {
    let mut command = Command::new("ctags");
    command.args([NO_OPTIONS, "--output-format=json", "--fields=+neKS", "--sort=no", "--links=no", "--quiet=yes"]);
    command.args(["-f", "-", "-L", "-"]).current_dir(root);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Waits until everything is read, and ends the program when it is cancelled or overdue.
fn supervise(child: &mut Child, cancel: &AtomicBool, is_read: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_read() {
        if cancel.load(Ordering::Relaxed) || started.elapsed() > TIME_LIMIT {
            break;
        }
        std::thread::sleep(POLL);
    }
    // It may be gone already; then there is nothing to end, and its status says nothing that the output did not.
    let _ = child.kill();
    let _ = child.wait();
}

fn read(output: impl Read) -> BTreeMap<PathBuf, Vec<Definition>> {
    let mut found: BTreeMap<PathBuf, Vec<Definition>> = BTreeMap::new();
    let mut lines = BufReader::new(output.take(MAX_OUTPUT_BYTES));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        if line.len() <= MAX_LINE_BYTES
            && let Some((path, definition)) = ctags_line(&String::from_utf8_lossy(&line))
        {
            found.entry(PathBuf::from(path)).or_default().push(definition);
        }
        line.clear();
    }
    for definitions in found.values_mut() {
        definitions.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
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

    #[test]
    fn ctags_knows_languages_without_a_grammar() {
        if !has_ctags() {
            eprintln!("skipped: universal-ctags is not installed");
            return;
        }
        let folder = folder();
        let paths = [PathBuf::from("tide.awk"), PathBuf::from("odd ö.tcl"), PathBuf::from("missing.awk")];
        let found = definitions_by_ctags(folder.path(), &paths, &AtomicBool::new(false));
        let names = |path: &str| found[Path::new(path)].iter().map(|found| found.name.clone()).collect::<Vec<_>>();
        assert_eq!(found.len(), 2);
        assert_eq!((names("tide.awk"), names("odd ö.tcl")), (vec!["high_water".to_owned()], vec!["ebb".to_owned()]));
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
        let paths = [PathBuf::from("--languages=-Awk"), PathBuf::from("tide.awk")];
        let found = definitions_by_ctags(folder.path(), &paths, &AtomicBool::new(false));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn nothing_is_read_when_cancelled_or_without_paths() {
        let folder = folder();
        assert!(definitions_by_ctags(folder.path(), &[], &AtomicBool::new(false)).is_empty());
        let found = definitions_by_ctags(folder.path(), &[PathBuf::from("tide.awk")], &AtomicBool::new(true));
        assert!(found.len() <= 1);
    }
}
