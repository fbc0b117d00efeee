//! Checks: the syntax of files, linters, tests, one after the other. The same with and without the app.
//!
//! Commands come from the settings in force, where those of a repository count only once the user has approved them, or from the
//! developer's own words. Nothing else is run.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{RequestEnv, lock};
use processes::{notes_of, run, shared_text};
use rhumb_session::context::{Finding, findings, marked_outline, referenced_lines};
use rhumb_session::{Failure, Origin, Outcome, SharedText, VerifyRequest, When};
use rhumb_syntax::Language;
use rhumb_text::diff;
use rhumb_tokens::TokenCounter;
use rhumb_workspace::Root;
use rhumb_workspace::process::{CommandLine, CommandOutcome, End, LiveOutput, Output, StopHandle, quoted};
use usual_tests::usual_tests;

/// What a shell says of a program that it does not find, and of one that it may not run.
const ABSENT: [i32; 2] = [127, 126];

/// Most places of syntax errors that are told of one file.
const MOST_PLACES: usize = 8;

/// What a command does.
#[derive(Debug)]
pub enum CommandEvent<'e> {
    /// It begins.
    Began {
        /// What runs.
        line: &'e str,
    },
    /// It printed something, or a second went by.
    Said {
        /// What is new.
        live: LiveOutput,
        /// How long it has been running.
        took: Duration,
    },
    /// It ended, or could not be started.
    Ended {
        /// How.
        result: Result<&'e CommandOutcome, Failure>,
    },
}

/// What checks are done with.
pub struct Bench<'b> {
    /// Where.
    pub root: &'b Root,
    /// The settings.
    pub outfit: &'b RequestEnv,
    /// What counts the tokens of what is found.
    pub counter: &'b dyn TokenCounter,
    /// The most that each output may have.
    pub budget: usize,
    /// Ends all of it.
    pub stop: &'b StopHandle,
    /// Gets what the commands do.
    pub tell: &'b mut dyn FnMut(CommandEvent<'_>),
    /// Programs that were told to be absent already.
    pub told_absent: &'b Mutex<BTreeSet<String>>,
}

/// A file that is checked, as it is now.
struct Checked {
    path: String,
    text: Arc<str>,
    base: Option<Arc<str>>,
}

/// Does the checks that were asked for.
pub fn check(bench: &mut Bench<'_>, order: &VerifyRequest) -> Outcome {
    let settings = &bench.outfit.settings;
    let is_on = |when: When, set: bool| when == When::Now || (when == When::AsSet && set);
    let (lint, test) = (is_on(order.lint, settings.lint), is_on(order.test, settings.test));
    let mut course = Course { bench, files: Vec::new(), found: Vec::new(), outcome: Outcome::default() };
    course.read(order);
    if lint {
        course.syntax();
        course.linters();
        course.lint_command();
    }
    if let Some(line) = &order.again
        && !(test && settings.test_cmd.as_ref() == Some(line))
    {
        course.command(line, line);
    }
    if test {
        course.tests(order);
    }
    // Only what follows a write is done as it is set.
    course.concluded(order.lint == When::AsSet || order.test == When::AsSet)
}

/// Checks under way.
struct Course<'c, 'b> {
    bench: &'c mut Bench<'b>,
    files: Vec<Checked>,
    found: Vec<Finding>,
    outcome: Outcome,
}

impl Course<'_, '_> {
    /// Reads the files. What is no text, or not there any more, has nothing to be looked over.
    fn read(&mut self, order: &VerifyRequest) {
        for (path, base) in &order.files {
            if let Ok(snapshot) = rhumb_workspace::read(self.bench.root, path) {
                self.files.push(Checked { path: path.clone(), text: snapshot.text, base: base.clone() });
            }
        }
    }

    /// Looks for what does not parse.
    fn syntax(&mut self) {
        let mut count = 0;
        for file in &self.files {
            let Some(lines) = new_errors(file) else { continue };
            count += 1;
            if lines.is_empty() {
                continue;
            }
            let numbers: Vec<String> = lines.iter().map(|line| (line + 1).to_string()).collect();
            let noun = if numbers.len() == 1 { "line" } else { "lines" };
            let title = format!("{} does not parse any more, at {noun} {}.", file.path, numbers.join(", "));
            let outline = marked_outline(&file.path, &file.text, &lines);
            self.found.push(Finding { title, output: String::new(), outlines: vec![(file.path.clone(), outline)] });
            self.outcome.files.push(file.path.clone());
        }
        match count {
            0 => {}
            1 => self.outcome.checks.push("the syntax of 1 file".into()),
            count => self.outcome.checks.push(format!("the syntax of {count} files")),
        }
    }

    /// Runs the linters of the languages that the files are in, each on its files.
    fn linters(&mut self) {
        let linters = self.bench.outfit.settings.linters.clone();
        for (name, line) in linters {
            let Some(language) = Language::by_name(&name) else {
                let message = format!("The setting linters names {name}, which is no language that rhumb knows.");
                self.note_once(&name, Failure { message, hint: "Correct it in rhumb.toml.".into() });
                continue;
            };
            let is_its =
                |file: &&Checked| Language::detect(&file.path, &file.text).is_some_and(|own| own.id == language.id);
            let names: Vec<String> = self.files.iter().filter(is_its).map(|file| argument(&file.path)).collect();
            if !names.is_empty() {
                self.command(&format!("{line} {}", names.join(" ")), &line);
            }
        }
    }

    fn lint_command(&mut self) {
        if let Some(line) = self.bench.outfit.settings.lint_cmd.clone() {
            self.command(&line, &line);
        }
    }

    fn tests(&mut self, order: &VerifyRequest) {
        let set = &self.bench.outfit.settings.test_cmd;
        match order.test_line.clone().or_else(|| set.clone()) {
            Some(line) => self.command(&line, &line),
            None => {
                let message = "No test command is set (test_cmd).".to_owned();
                let usual = usual_tests(self.bench.root.path()).unwrap_or("make test");
                let hint = format!("Set test_cmd in rhumb.toml, or name it: /test {usual}.");
                let note = Failure { message, hint };
                if order.test == When::Now {
                    self.outcome.failed = true;
                    self.outcome.notes.push(note);
                } else {
                    self.note_once("test_cmd", note);
                }
            }
        }
    }

    /// Runs a command line and takes in what it found. `named` is what it is called in the settings.
    fn command(&mut self, line: &str, named: &str) {
        if self.bench.stop.is_stopped() {
            self.outcome.stopped = true;
            return;
        }
        let Bench { root, outfit, stop, tell, .. } = &mut *self.bench;
        tell(CommandEvent::Began { line });
        let limit = outfit.settings.command_timeout;
        let shell = CommandLine::Shell(line.to_owned());
        let mut watch = |live, took| tell(CommandEvent::Said { live, took });
        let result = run(root, outfit, &shell, Origin::Developer, Some(limit), stop, &mut watch);
        tell(CommandEvent::Ended { result: result.as_ref().map_err(Clone::clone) });
        match result {
            Ok(ended) => self.ended(line, named, &ended),
            Err(failure) => {
                self.outcome.failed = true;
                self.outcome.notes.push(failure);
            }
        }
    }

    fn ended(&mut self, line: &str, named: &str, ended: &CommandOutcome) {
        self.outcome.notes.extend(notes_of(line, ended));
        match ended.end {
            End::Exit(0) => self.outcome.checks.push(format!("`{line}`")),
            End::Stopped => self.outcome.stopped = true,
            End::Exit(code) if ABSENT.contains(&code) && is_about_shell(&ended.output) => {
                let said = ended.output.text.trim().lines().last().unwrap_or_default().to_owned();
                let message = format!("`{named}` cannot be run: {said}.");
                let hint = "Install it, or change lint_cmd, test_cmd or linters in rhumb.toml.".to_owned();
                self.note_once(named, Failure { message, hint });
            }
            End::WantedTerminal => self.outcome.failed = true,
            End::Exit(_) | End::Signal(_) | End::TimeLimit => self.found_by(line, ended),
        }
    }

    /// A command found something.
    fn found_by(&mut self, line: &str, ended: &CommandOutcome) {
        let Bench { outfit, counter, budget, .. } = &*self.bench;
        let (shared, note) = shared_text(outfit, *counter, *budget, line, &ended.output);
        self.outcome.notes.extend(note);
        let paths: Vec<String> = self.files.iter().map(|file| file.path.clone()).collect();
        let named = referenced_lines(&ended.output.text, &paths);
        let mut places = Vec::new();
        for file in &self.files {
            if let Some(lines) = named.get(file.path.as_str()) {
                places.push((file.path.clone(), marked_outline(&file.path, &file.text, lines)));
                self.outcome.files.push(file.path.clone());
            }
        }
        let title = format!("`{line}` {}.", how(ended.end, ended.took));
        self.outcome.checks.push(format!("`{line}`"));
        self.found.push(Finding { title, output: shared.text, outlines: places });
    }

    fn note_once(&mut self, what: &str, note: Failure) {
        if lock(self.bench.told_absent).insert(what.to_owned()) {
            self.outcome.notes.push(note);
        }
    }

    fn concluded(mut self, written: bool) -> Outcome {
        if self.found.is_empty() {
            return self.outcome;
        }
        self.outcome.failed = true;
        if self.outcome.files.is_empty() {
            self.outcome.files = self.files.iter().map(|file| file.path.clone()).collect();
        }
        self.outcome.files.sort();
        self.outcome.files.dedup();
        let text = findings(&self.found, written);
        let title = match self.found.as_slice() {
            [only] => only.title.clone(),
            several => format!("{} checks found something.", several.len()),
        };
        let tokens = self.bench.counter.count(&text);
        self.outcome.shared = Some(SharedText { title, text, tokens, whole: None });
        self.outcome
    }
}

/// Whether it is the shell that complains, and not a program whose own exit code is the same.
fn is_about_shell(output: &Output) -> bool {
    let said = output.text.to_ascii_lowercase();
    ["not found", "permission denied", "no such file", "cannot execute", "not recognized"]
        .iter()
        .any(|complaint| said.contains(complaint))
}

/// How a command ended, to follow its name.
pub(super) fn how(end: End, took: Duration) -> String {
    match end {
        End::Exit(0) => "ended well (exit code 0)".into(),
        End::Exit(code) => format!("failed (exit code {code})"),
        End::Signal(number) => format!("was ended by signal {number}"),
        End::TimeLimit => format!("did not end within {} s and was stopped", took.as_secs()),
        End::Stopped => "was stopped by the developer".into(),
        End::WantedTerminal => "wanted to ask at the terminal, and was stopped".into(),
    }
}

/// A path as an argument that is no flag.
fn argument(path: &str) -> String {
    if path.starts_with('-') { quoted(&format!("./{path}")) } else { quoted(path) }
}

/// The lines (0-based) of what does not parse now and did before; `None` where nothing can be said.
fn new_errors(file: &Checked) -> Option<Vec<usize>> {
    // Of a long file only what changed is parsed.
    let base = file.base.as_deref().unwrap_or_default();
    let hunks = diff::hunks(base, &file.text);
    let near = |side: fn(&diff::Hunk) -> Range<usize>| hunks.iter().map(side).collect::<Vec<_>>();
    let after = rhumb_syntax::errors(&file.path, &file.text, &near(|hunk| hunk.proposed.clone()))?;
    let old = file.base.as_deref();
    let before = old.and_then(|base| rhumb_syntax::errors(&file.path, base, &near(|hunk| hunk.base.clone())));
    // A grammar that finds faults in the code as it was finds them in more of its kind.
    if before.is_some_and(|before| before.count() > 0 && before.count() >= after.count()) {
        return Some(Vec::new());
    }
    let mut places: Vec<usize> = after.lines().iter().map(|lines| lines.start).collect();
    places.dedup();
    places.truncate(MOST_PLACES);
    Some(places)
}

pub(super) mod output;
pub(super) mod processes;
#[cfg(test)]
#[cfg(unix)]
mod tests;
pub(super) mod usual_tests;
