//! The number of instructions of frequent commands: `cargo bench -p rhumb-bench --bench instructions`.
//!
//! Unlike times, instruction counts hardly depend on the load of the machine. They are counted by `perf`, which needs hardware counters
//! that few virtual machines have, or by `valgrind`, about fifty times slower. Without either program nothing is measured.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints its figures and cannot go on without its setup"
)]

mod report;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Number of files of the repository.
const FILES: usize = 400;

/// The measured commands, run in this order in one repository.
const CASES: [(&str, &[&str]); 4] = [
    ("start and end", &["--version"]),
    ("the map of 400 files, nothing known", &["map", "--tokens", "2048"]),
    ("the map of 400 files, all known", &["map", "--tokens", "2048"]),
    ("a search of 400 files, all known", &["search", "--query", "where is the reading of a unit"]),
];

/// A program that counts instructions.
#[derive(Clone, Copy)]
enum Counter {
    Perf,
    Valgrind,
}

fn main() {
    let (repository, home) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let program = report::program();
    let run = |counter: Counter, arguments: &[&str]| counter.count(&program, arguments, repository.path(), home.path());
    let counts = |counter: &Counter| run(*counter, &["--version"]).is_some();
    let Some(counter) = [Counter::Perf, Counter::Valgrind].into_iter().find(counts) else {
        println!("neither perf nor valgrind can count instructions here");
        return;
    };
    fill(repository.path());
    println!("{:<58} {:>8}", "the whole program, one thread", "million instructions");
    for (name, arguments) in CASES {
        let millions = run(counter, arguments).expect("the program ends well") / 1e6;
        println!("{name:<58} {millions:>8.1}");
        report::record("instructions", name, "million", millions, None);
    }
}

impl Counter {
    /// The number of instructions in user space; `None` if the program fails or cannot be counted.
    fn count(self, program: &Path, arguments: &[&str], repository: &Path, home: &Path) -> Option<f64> {
        let (counter, flags): (_, &[&str]) = match self {
            Self::Perf => ("perf", &["stat", "-x,", "-e", "instructions:u"]),
            Self::Valgrind => ("valgrind", &["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]),
        };
        let mut command = Command::new(counter);
        command.args(flags).arg(program).args(arguments).current_dir(repository);
        // One thread, because waiting threads execute a varying number of instructions.
        command.env("HOME", home).env("RAYON_NUM_THREADS", "1");
        let done = command.output().ok().filter(|done| done.status.success())?;
        let said = String::from_utf8_lossy(&done.stderr);
        said.lines().find_map(|line| self.read(line))
    }

    fn read(self, line: &str) -> Option<f64> {
        let number = match self {
            Self::Perf => line.contains("instructions:u").then(|| line.split(',').next())??.to_owned(),
            Self::Valgrind => line.split_once("refs:")?.1.trim().replace(',', ""),
        };
        number.parse().ok()
    }
}

/// Fills a repository with small files that use each other, always the same ones.
fn fill(root: &Path) {
    for number in 0..FILES {
        let mut text = format!("//! The reading of unit {number}.\n\n");
        for step in 0..10 {
            let other = (number * 31 + step * 97) % FILES;
            let _ = writeln!(
                text,
                "/// Reads part {step}.\npub fn read_{number}_{step}(tide: u64) -> u64 {{\n    read_{other}_0(tide + {step})\n}}\n"
            );
        }
        std::fs::write(root.join(format!("unit_{number}.rs")), text).expect("a file");
    }
}
