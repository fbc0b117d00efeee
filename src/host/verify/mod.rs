//! Checks: syntax of files, linters and tests, in that order.
//!
//! Commands come from the effective settings (those of a repository need the approval of the user) or from the input of the
//! user. Nothing else is run.

pub(super) mod processes;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use super::{RequestEnv, lock};
use processes::shared_text;
use processes::{notes_of, run_command};
use rhumb_session::context::{Finding, findings, marked_outline, referenced_lines};
use rhumb_session::{CheckMode, Failure, JobOutcome, Origin, SharedText, VerifyRequest};
use rhumb_syntax::Language;
use rhumb_text::diff;
use rhumb_tokens::TokenCounter;
use rhumb_workspace::Root;
use rhumb_workspace::process::{CommandLine, CommandOutcome, End, LiveOutput, Output, StopHandle, quoted};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Exit codes of a shell for a program that is not found, and for one that is not executable.
const NOT_RUNNABLE: [i32; 2] = [127, 126];

/// Maximum number of syntax errors that are reported per file.
const MAX_ERRORS_PER_FILE: usize = 8;

/// Progress of a command.
#[derive(Debug)]
pub enum CommandEvent<'e> {
    /// The command starts.
    Began {
        /// The command line.
        line: &'e str,
    },
    /// The command printed something, or a second passed.
    Said {
        /// The new output.
        live: LiveOutput,
        /// The time since the start.
        took: Duration,
    },
    /// The command ended, or could not be started.
    Ended {
        /// The result.
        result: Result<&'e CommandOutcome, Failure>,
    },
}

/// The parameters of checks.
pub struct CheckContext<'b> {
    /// The root.
    pub root: &'b Root,
    /// The settings.
    pub env: &'b RequestEnv,
    /// The token counter of the model.
    pub counter: &'b dyn TokenCounter,
    /// Maximum number of tokens of each output.
    pub budget: usize,
    /// Stops all checks.
    pub stop: &'b StopHandle,
    /// Receives the progress of the commands.
    pub on_event: &'b mut dyn FnMut(CommandEvent<'_>),
    /// Programs that were already reported as missing.
    pub reported_missing: &'b Mutex<BTreeSet<String>>,
}

/// A file to check, with its current text.
struct CheckedFile {
    path: String,
    text: Arc<str>,
    base: Option<Arc<str>>,
}

/// Runs the requested checks.
pub fn check(context: &mut CheckContext<'_>, request: &VerifyRequest) -> JobOutcome {
    let settings = &context.env.settings;
    let is_on = |mode: CheckMode, set: bool| mode == CheckMode::On || (mode == CheckMode::FromSettings && set);
    let (lint, test) = (is_on(request.lint, settings.lint), is_on(request.test, settings.test));
    let mut run = CheckRun { context, files: Vec::new(), found: Vec::new(), outcome: JobOutcome::default() };
    run.read(request);
    if lint {
        run.syntax();
        run.linters();
        run.lint_command();
    }
    if let Some(line) = &request.rerun
        && !(test && settings.test_cmd.as_ref() == Some(line))
    {
        run.command(line, line);
    }
    if test {
        run.tests(request);
    }
    // Only checks after a write depend on the settings.
    run.finish(request.lint == CheckMode::FromSettings || request.test == CheckMode::FromSettings)
}

/// A run of checks.
struct CheckRun<'c, 'b> {
    context: &'c mut CheckContext<'b>,
    files: Vec<CheckedFile>,
    found: Vec<Finding>,
    outcome: JobOutcome,
}

impl CheckRun<'_, '_> {
    /// Reads the files. Files that cannot be read as text are skipped.
    fn read(&mut self, request: &VerifyRequest) {
        for (path, base) in &request.files {
            if let Ok(snapshot) = rhumb_workspace::read(self.context.root, path) {
                self.files.push(CheckedFile { path: path.clone(), text: snapshot.text, base: base.clone() });
            }
        }
    }

    /// Finds new syntax errors.
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

    /// Runs the linter of each language on its files.
    fn linters(&mut self) {
        let linters = self.context.env.settings.linters.clone();
        for (name, line) in linters {
            let Some(language) = Language::by_name(&name) else {
                let message = format!("The setting linters has an unknown language: {name}.");
                self.note_once(&name, Failure { message, hint: "Correct it in rhumb.toml.".into() });
                continue;
            };
            let matches =
                |file: &&CheckedFile| Language::detect(&file.path, &file.text).is_some_and(|own| own.id == language.id);
            let names: Vec<String> = self.files.iter().filter(matches).map(|file| argument(&file.path)).collect();
            if !names.is_empty() {
                self.command(&format!("{line} {}", names.join(" ")), &line);
            }
        }
    }

    fn lint_command(&mut self) {
        if let Some(line) = self.context.env.settings.lint_cmd.clone() {
            self.command(&line, &line);
        }
    }

    fn tests(&mut self, request: &VerifyRequest) {
        let set = &self.context.env.settings.test_cmd;
        match request.test_command.clone().or_else(|| set.clone()) {
            Some(line) => self.command(&line, &line),
            None => {
                let message = "No test command is set (test_cmd).".to_owned();
                let usual = usual_tests(self.context.root.path()).unwrap_or("make test");
                let hint = format!("Set test_cmd in rhumb.toml, or give a command: /test {usual}.");
                let note = Failure { message, hint };
                if request.test == CheckMode::On {
                    self.outcome.failed = true;
                    self.outcome.notes.push(note);
                } else {
                    self.note_once("test_cmd", note);
                }
            }
        }
    }

    /// Runs a command line and adds its findings. `named` is the command line in the settings.
    fn command(&mut self, line: &str, named: &str) {
        if self.context.stop.is_stopped() {
            self.outcome.stopped = true;
            return;
        }
        let CheckContext { root, env, stop, on_event, .. } = &mut *self.context;
        on_event(CommandEvent::Began { line });
        let limit = env.settings.command_timeout;
        let shell = CommandLine::Shell(line.to_owned());
        let mut watch = |live, took| on_event(CommandEvent::Said { live, took });
        let result = run_command(root, env, &shell, Origin::Developer, Some(limit), stop, &mut watch);
        on_event(CommandEvent::Ended { result: result.as_ref().map_err(Clone::clone) });
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
            End::Exit(code) if NOT_RUNNABLE.contains(&code) && is_shell_error(&ended.output) => {
                let said = ended.output.text.trim().lines().last().unwrap_or_default().to_owned();
                let message = format!("`{named}` cannot be run: {said}.");
                let hint = "Install it, or change lint_cmd, test_cmd or linters in rhumb.toml.".to_owned();
                self.note_once(named, Failure { message, hint });
            }
            End::WantedTerminal => self.outcome.failed = true,
            End::Exit(_) | End::Signal(_) | End::TimeLimit => self.add_finding(line, ended),
        }
    }

    fn add_finding(&mut self, line: &str, ended: &CommandOutcome) {
        let CheckContext { env, counter, budget, .. } = &*self.context;
        let (shared, note) = shared_text(env, *counter, *budget, line, &ended.output);
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
        if lock(self.context.reported_missing).insert(what.to_owned()) {
            self.outcome.notes.push(note);
        }
    }

    fn finish(mut self, written: bool) -> JobOutcome {
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
            several => format!("{} checks failed.", several.len()),
        };
        let tokens = self.context.counter.count(&text);
        self.outcome.shared = Some(SharedText { title, text, tokens, whole: None });
        self.outcome
    }
}

/// Whether the message comes from the shell and not from a program with the same exit code.
fn is_shell_error(output: &Output) -> bool {
    let said = output.text.to_ascii_lowercase();
    ["not found", "permission denied", "no such file", "cannot execute", "not recognized"]
        .iter()
        .any(|complaint| said.contains(complaint))
}

/// How a command ended, as a predicate for its name.
pub(super) fn how(end: End, took: Duration) -> String {
    match end {
        End::Exit(0) => "succeeded (exit code 0)".into(),
        End::Exit(code) => format!("failed (exit code {code})"),
        End::Signal(number) => format!("was ended by signal {number}"),
        End::TimeLimit => format!("did not end within {} s and was stopped", took.as_secs()),
        End::Stopped => "was stopped by the developer".into(),
        End::WantedTerminal => "tried to read from the terminal and was stopped".into(),
    }
}

/// A path as a quoted argument that cannot be parsed as a flag.
fn argument(path: &str) -> String {
    if path.starts_with('-') { quoted(&format!("./{path}")) } else { quoted(path) }
}

/// The lines (0-based) of new syntax errors; `None` if the file has no grammar.
fn new_errors(file: &CheckedFile) -> Option<Vec<usize>> {
    // Only errors near the changes are reported.
    let base = file.base.as_deref().unwrap_or_default();
    let hunks = diff::hunks(base, &file.text);
    let near = |side: fn(&diff::Hunk) -> Range<usize>| hunks.iter().map(side).collect::<Vec<_>>();
    let after = rhumb_syntax::errors(&file.path, &file.text, &near(|hunk| hunk.proposed.clone()))?;
    let old = file.base.as_deref();
    let before = old.and_then(|base| rhumb_syntax::errors(&file.path, base, &near(|hunk| hunk.base.clone())));
    // If the grammar already reported errors before the change, it does not fit the file, and further errors mean little.
    if before.is_some_and(|before| before.count() > 0 && before.count() >= after.count()) {
        return Some(Vec::new());
    }
    let mut places: Vec<usize> = after.lines().iter().map(|lines| lines.start).collect();
    places.dedup();
    places.truncate(MAX_ERRORS_PER_FILE);
    Some(places)
}

/// Files of build tools, and their usual test command. The first file that exists counts.
const TEST_COMMANDS: [(&str, &str); 22] = [
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("pytest.ini", "pytest"),
    ("tox.ini", "tox"),
    ("noxfile.py", "nox"),
    ("pyproject.toml", "pytest"),
    ("setup.py", "pytest"),
    ("pnpm-lock.yaml", "pnpm test"),
    ("yarn.lock", "yarn test"),
    ("bun.lock", "bun test"),
    ("deno.json", "deno test"),
    ("package.json", "npm test"),
    ("gradlew", "./gradlew test"),
    ("build.gradle", "gradle test"),
    ("pom.xml", "mvn test"),
    ("build.sbt", "sbt test"),
    ("mix.exs", "mix test"),
    ("Gemfile", "bundle exec rake test"),
    ("composer.json", "composer test"),
    ("Package.swift", "swift test"),
    ("build.zig", "zig build test"),
    ("CMakeLists.txt", "ctest --test-dir build"),
];

/// The usual test command of the tool in a folder. It is only suggested.
fn usual_tests(folder: &Path) -> Option<&'static str> {
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    usual_test_command(&is_there).map(|(_, command)| command)
}

/// The first known file, and its usual test command. `is_there` returns whether a file exists at the root.
pub(super) fn usual_test_command(is_there: &dyn Fn(&str) -> bool) -> Option<(&'static str, &'static str)> {
    TEST_COMMANDS.iter().find(|(file, _)| is_there(file)).copied()
}
