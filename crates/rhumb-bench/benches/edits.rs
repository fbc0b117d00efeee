//! The cost of parsing and locating edits: `cargo bench -p rhumb-bench --bench edits`. `rhumb-bench edits` measures their quality.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints what it measured")]

mod report;

use std::fmt::Write as _;

use rhumb_bench::CpuWatch;
use rhumb_edit::{EditFormat, EditStream, Files, FormatChoice, Status, parse, propose};

/// Size of the streamed reply in bytes.
const REPLY: usize = 1 << 20;
/// Size of its pieces in bytes.
const PIECE: usize = 16;
/// Lines of the edited file.
const LINES: usize = 20_000;
/// Hunks of the reply.
const HUNKS: usize = 100;
/// Number of runs; the fastest counts.
const RUNS: usize = 5;

struct OneFile(String);

impl Files for OneFile {
    fn paths(&self) -> Vec<String> {
        vec!["src/unit.py".to_owned()]
    }

    fn read(&self, _path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        Ok(Some(self.0.clone()))
    }
}

fn main() {
    println!("reading a reply of {REPLY} bytes in pieces of {PIECE}");
    for format in EditFormat::ALL {
        for choice in [FormatChoice::Only(format), FormatChoice::Auto] {
            let reply = long_reply(format);
            let ms = best(|| stream(&reply, choice));
            let per_byte = ms * 1e6 / reply.len() as f64;
            report::record("edits", &format!("reading {format} as {choice}"), "ns/byte", per_byte, None);
            println!("{:<14} read as {:<14} {:>8.1} ns/byte", format.to_string(), choice.to_string(), per_byte);
        }
    }
    println!("locating {HUNKS} hunks in a file of {LINES} lines");
    let files = OneFile((0..LINES).map(line).collect());
    for format in [EditFormat::Udiff, EditFormat::Diff, EditFormat::Patch] {
        for (what, misspelt) in [("clean", false), ("a typo in each", true)] {
            let parsed = parse(&hunks(format, misspelt), FormatChoice::Only(format));
            let mut applied = 0;
            let ms = best(|| {
                let proposal = propose(&parsed, &files);
                applied = proposal.outcomes.iter().filter(|outcome| outcome.status == Status::Applied).count();
            });
            let hunks = format!("locating {HUNKS} hunks of {format} in {LINES} lines, {what}");
            report::record("edits", &hunks, "ms", ms, None);
            println!("{:<14} {what:<16} {:>8.1} ms, {applied} applied", format.to_string(), ms);
        }
    }
}

/// Processor time of the fastest run, in milliseconds.
fn best(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let watch = CpuWatch::start();
        run();
        best = best.min(watch.ms());
    }
    best
}

fn stream(reply: &str, choice: FormatChoice) {
    let mut stream = EditStream::new(choice);
    let mut rest = reply;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(PIECE.min(rest.len()));
        stream.push(piece);
        stream.events();
        rest = tail;
    }
    assert!(!stream.finish().edits.is_empty(), "the reply holds edits");
}

/// A generated line of the file.
fn line(number: usize) -> String {
    match number % 5 {
        0 => format!("def unit_{number}(reading, tide):\n"),
        1 => format!("    height = reading.at({})\n", number * 31 % 977),
        2 => format!("    if height > tide.limit_{}:\n", number % 13),
        3 => format!("        return height * {number}\n"),
        _ => "\n".to_owned(),
    }
}

/// A reply with many edits, in ASCII.
fn long_reply(format: EditFormat) -> String {
    let mut reply = String::with_capacity(REPLY + 1024);
    if format == EditFormat::Patch {
        reply.push_str("*** Begin Patch\n");
    }
    if format == EditFormat::Whole {
        reply.push_str("src/unit.py\n```python\n");
    }
    let mut number = 0;
    while reply.len() < REPLY {
        if format == EditFormat::Whole {
            reply.push_str(&line(number));
        } else {
            let _ = writeln!(reply, "{}", edit(format, number * 5, false));
        }
        number += 1;
    }
    reply.push_str(if format == EditFormat::Patch { "*** End Patch\n" } else { "```\n" });
    reply
}

/// An edit of every 200th line.
fn hunks(format: EditFormat, misspelt: bool) -> String {
    let body: String = (0..HUNKS).map(|hunk| edit(format, hunk * (LINES / HUNKS), misspelt)).collect();
    if format == EditFormat::Patch { format!("*** Begin Patch\n{body}*** End Patch\n") } else { body }
}

/// One edit of the unit at a line.
fn edit(format: EditFormat, number: usize, misspelt: bool) -> String {
    let context = |number: usize| if misspelt { line(number).replace("ei", "ie") } else { line(number) };
    let (before, old, after) = (context(number) + &context(number + 1), line(number + 2), line(number + 3));
    let new = old.replace('>', ">=");
    let marked = |mark: &str, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let hunk = marked(" ", &before) + &marked("-", &old) + &marked("+", &new) + &marked(" ", &after);
    match format {
        EditFormat::Udiff => format!("```diff\n--- src/unit.py\n+++ src/unit.py\n@@ ... @@\n{hunk}```\n"),
        EditFormat::Patch => format!("*** Update File: src/unit.py\n@@\n{hunk}"),
        EditFormat::DiffFenced => {
            format!(
                "```\nsrc/unit.py\n<<<<<<< SEARCH\n{before}{old}{after}=======\n{before}{new}{after}>>>>>>> REPLACE\n```\n"
            )
        }
        EditFormat::Diff | EditFormat::Whole => {
            format!(
                "src/unit.py\n```\n<<<<<<< SEARCH\n{before}{old}{after}=======\n{before}{new}{after}>>>>>>> REPLACE\n```\n"
            )
        }
    }
}
