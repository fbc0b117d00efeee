//! Measures how many programming exercises with tests a model solves, in the layout of the public collections.
//!
//! An exercise is a folder with a `.meta/config.json` that names its files: those of the solution, which the model gets and may
//! change; those of the tests, which it never sees; and an example. `.docs/` contains the instructions.

mod exercise;
mod test_runner;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use exercise::{Exercise, ExerciseError, exercises};
use rhumb::cli::load_settings;
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::print_message;
use rhumb_edit::is_placeholder;
use rhumb_session::context::fence_for;
use rhumb_workspace::process::{CommandLine, CommandOutcome, End, Environment, RunRequest, SecretMask, StopHandle};
use test_runner::{TestRunner, enabled};

use crate::args::ExercisesBenchArgs;
use crate::run::folder::RunHeader;
use crate::run::summary::TaskResult;
use crate::run::turn::{TurnRequest, refused, turn};
use crate::run::{BenchRun, TaskOutcome, keep, named, new_entry, of_a_turn, stop_on_signals, take_turn, whole_path};
use crate::scratch_folder;

/// The state that all exercises of a run share.
struct ExerciseRun<'d> {
    args: &'d ExercisesBenchArgs,
    /// Test commands of the user, by language.
    tests: BTreeMap<String, String>,
    stop: &'d StopHandle,
}

/// The command that tests an exercise.
struct TestCommand {
    /// The shell command.
    line: String,
    /// The test runner; `None` for a command of the user, of which only the exit code is used.
    runner: Option<TestRunner>,
}

impl TestCommand {
    /// Whether the tests passed and at least one ran.
    fn passed(&self, ended: &CommandOutcome) -> bool {
        ended.end.is_success() && self.ran(ended)
    }

    fn ran(&self, ended: &CommandOutcome) -> bool {
        self.runner.is_none_or(|runner| runner.ran(&ended.output.text))
    }
}

/// Runs the exercises.
///
/// # Errors
/// Exercises cannot be read, the test command of a language is unknown, the settings are wrong, the provider fails, or the budget is
/// spent.
pub(crate) fn command(args: &ExercisesBenchArgs) -> Result<u8, UserError> {
    let settings = load_settings(args.run.model.overrides(), None)?;
    let stop = stop_on_signals();
    let run = ExerciseRun { args, tests: commands(&args.tests)?, stop: &stop };
    let all = run.exercises()?;
    let oracle_reply = args.recite.then(|| "example".to_owned());
    let mut made_with = of_a_turn(&settings, args.recite);
    made_with.insert("time_limit".to_owned(), format!("{:?}", args.run.time_limit));
    made_with.insert("test_time_limit".to_owned(), format!("{:?}", args.test_time_limit));
    made_with.extend(run.tests.iter().map(|(language, line)| (format!("test of {language}"), line.clone())));
    let header = RunHeader {
        bench: "exercises".to_owned(),
        tasks: whole_path(&args.from)?,
        fingerprint: fingerprint(&all)?,
        flags: args.run.model.as_typed(),
        tries: args.tries.get(),
        oracle: oracle_reply,
        settings: made_with,
    };
    let bench_run = BenchRun::open(&args.run, &header, &all, |exercise| &exercise.id)?;
    if !bench_run.is_done() && !args.recite {
        print_message(
            "tests run code that a model wrote, with your permissions: run them in a container or on another machine",
        );
    }
    bench_run.run(&stop, |exercise, share| run.exercise(exercise, share))
}

fn exercise_error(error: &ExerciseError) -> UserError {
    let kind = if matches!(error, ExerciseError::File { .. }) { ErrorKind::Machine } else { ErrorKind::Usage };
    UserError::new(kind, error, "an exercise is a folder with .meta/config.json, its solution and its tests")
}

/// `LANG=COMMAND` as a table.
fn commands(flags: &[String]) -> Result<BTreeMap<String, String>, UserError> {
    let split = |flag: &String| flag.split_once('=').map(|(name, line)| (name.to_owned(), line.to_owned()));
    let wrong = |flag: &String| UserError::new(ErrorKind::Usage, format!("--test {flag}: expected LANG=COMMAND"), "");
    flags.iter().map(|flag| split(flag).ok_or_else(|| wrong(flag))).collect()
}

fn fingerprint(all: &[Exercise]) -> Result<String, UserError> {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for exercise in all {
        hash.update(exercise.id.as_bytes());
        hash.update(exercise.text.as_bytes());
        for file in exercise.solution.iter().chain(&exercise.tests) {
            hash.update(exercise.file(file).map_err(|error| exercise_error(&error))?.as_bytes());
        }
    }
    Ok(format!("{:016x}", hash.digest()))
}

impl ExerciseRun<'_> {
    /// The exercises that can be run here. Prints which cannot, and why.
    fn exercises(&self) -> Result<Vec<Exercise>, UserError> {
        let args = self.args;
        let found = exercises(&args.from).map_err(|error| exercise_error(&error))?;
        for error in &found.left_out {
            print_message(&format!("left out: {error}"));
        }
        let mut all = found.exercises;
        let languages: BTreeSet<&str> = all.iter().map(|exercise| exercise.language.as_str()).collect();
        if let Some(unknown) = args.languages.iter().find(|language| !languages.contains(language.as_str())) {
            let text = format!("there is no exercise in {unknown} below {}", args.from.display());
            let hint = named("languages", &languages.into_iter().collect::<Vec<_>>());
            return Err(UserError::new(ErrorKind::Usage, text, hint));
        }
        all.retain(|exercise| args.languages.is_empty() || args.languages.contains(&exercise.language));
        let mut usable = BTreeMap::new();
        let mut runs = Vec::new();
        for exercise in all {
            let Some(tests) = self.tests(&exercise)? else {
                let text = format!("no test command is known for {}", exercise.id);
                let hint =
                    format!("give --test {}=COMMAND, or choose other languages with --language", exercise.language);
                return Err(UserError::new(ErrorKind::Usage, text, hint));
            };
            match tests.runner.and_then(TestRunner::probe) {
                Some(probe) if !*usable.entry(probe).or_insert_with(|| is_usable(probe)) => {
                    print_message(&format!("left out: {}: its tests cannot be run here: `{probe}` fails", exercise.id));
                }
                _ => runs.push(exercise),
            }
        }
        if runs.is_empty() {
            let text = format!("there is no exercise below {} that can be run", args.from.display());
            let hint = "an exercise is a folder with .meta/config.json, its solution and its tests";
            return Err(UserError::new(ErrorKind::Usage, text, hint));
        }
        Ok(runs)
    }

    /// The command that tests an exercise; `None` for an unknown language.
    fn tests(&self, exercise: &Exercise) -> Result<Option<TestCommand>, UserError> {
        if let Some(line) = self.tests.get(&exercise.language) {
            return Ok(Some(TestCommand { line: line.clone(), runner: None }));
        }
        let runner = TestRunner::of(exercise).map_err(|error| exercise_error(&error))?;
        Ok(runner.map(|runner| TestCommand { line: runner.line(exercise), runner: Some(runner) }))
    }

    /// Does an exercise in a separate folder.
    fn exercise(&self, exercise: &Exercise, left: Option<f64>) -> Result<TaskOutcome, UserError> {
        let folder = scratch_folder()?;
        copy(&exercise.folder, folder.path(), &exercise.tests)?;
        let oracle_reply = if self.args.recite { Some(oracle(exercise)?) } else { None };
        let mut entry = new_entry(&exercise.id, &exercise.language);
        let (out, name) = (self.args.run.folder(), exercise.id.replace('/', "_"));
        let aside = scratch_folder()?;
        let said = aside.path().join("output");
        for nth in 1..=self.args.tries.get() {
            let message = if nth == 1 { exercise.instruction() } else { exercise.again() };
            let request = TurnRequest {
                root: folder.path().to_owned(),
                message,
                output: (nth > 1).then(|| said.clone()),
                files: exercise.solution.clone(),
                model: self.args.run.model.clone(),
                oracle_reply: oracle_reply.clone(),
                spending_cap: left.map(|left| left - entry.cost.unwrap_or_default()),
            };
            let log = out.join("logs").join(format!("{name}-{nth}.jsonl"));
            let report = turn(&request, self.args.run.time_limit, &log, self.stop)?;
            if let Some(end) = take_turn(&mut entry, report, nth) {
                return Ok(end);
            }
            let Some((tests, ended)) = self.test(exercise, folder.path())? else {
                return Ok(TaskOutcome::Stopped(entry.cost));
            };
            entry.seconds += ended.took.as_secs_f64();
            let text = test_output(&tests, &ended, self.args.test_time_limit);
            keep(&out.join("logs").join(format!("{name}-{nth}.tests.txt")), &text)?;
            fs::write(&said, &text).map_err(|error| refused(&said, &error))?;
            take_tests(&mut entry, &tests, &ended);
            if entry.passed.is_some() {
                break;
            }
        }
        self.check(exercise, folder.path(), &mut entry)?;
        Ok(TaskOutcome::TaskResult(Box::new(entry)))
    }

    /// Runs the original tests in a copy of the folder; `None` if the run was stopped.
    fn test(&self, exercise: &Exercise, folder: &Path) -> Result<Option<(TestCommand, CommandOutcome)>, UserError> {
        let apart = scratch_folder()?;
        copy(folder, apart.path(), &[])?;
        for test in &exercise.tests {
            let text = exercise.file(test).map_err(|error| exercise_error(&error))?;
            keep(&apart.path().join(test), &enabled(&exercise.language, &text))?;
        }
        let Some(tests) = self.tests(exercise)? else { return Ok(None) };
        let line = CommandLine::Shell(tests.line.clone());
        let order = RunRequest {
            line: &line,
            folder: apart.path(),
            time_limit: Some(self.args.test_time_limit),
            environment: &Environment { guarded: true, ..Environment::default() },
            masks: &SecretMask::default(),
        };
        let ended = rhumb_workspace::process::run(&order, self.stop, &mut || Ok(None), &mut |_, _| {})
            .map_err(|error| UserError::new(ErrorKind::Machine, &error, error.hint()))?;
        Ok((ended.end != End::Stopped).then_some((tests, ended)))
    }

    /// Saves the solution and checks it for placeholders and syntax errors.
    fn check(&self, exercise: &Exercise, folder: &Path, entry: &mut TaskResult) -> Result<(), UserError> {
        for name in &exercise.solution {
            let before = exercise.file(name).map_err(|error| exercise_error(&error))?;
            let text = fs::read(folder.join(name)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            keep(&self.args.run.folder().join("files").join(&exercise.id).join(name), &text)?;
            let known = |line: &str| before.lines().any(|old| old.trim() == line.trim());
            entry.elided |= text.lines().any(|line| is_placeholder(line) && !known(line));
            let broken = |text: &str| rhumb_syntax::errors(name, text, &[]).is_some_and(|errors| errors.count() > 0);
            entry.syntax_errors |= broken(&text) && !broken(&before);
        }
        Ok(())
    }
}

/// Whether a shell command succeeds.
fn is_usable(line: &str) -> bool {
    let quiet = std::process::Stdio::null;
    let status =
        std::process::Command::new("sh").args(["-c", line]).stdin(quiet()).stdout(quiet()).stderr(quiet()).status();
    status.is_ok_and(|status| status.success())
}

fn take_tests(entry: &mut TaskResult, tests: &TestCommand, ended: &CommandOutcome) {
    let passed = tests.passed(ended);
    entry.passed = passed.then_some(entry.tries);
    entry.tests_timed_out |= ended.end == End::TimeLimit;
    entry.failed = if passed { [].into() } else { ["tests".to_owned()].into() };
}

/// The output of the tests, and how they ended if that is not an exit code.
fn test_output(tests: &TestCommand, ended: &CommandOutcome, limit: Duration) -> String {
    let end = match ended.end {
        end if end.is_success() && !tests.ran(ended) => "\nNo test ran to its end.\n".to_owned(),
        End::TimeLimit => format!("\nThe tests took longer than {} s and were stopped.\n", limit.as_secs()),
        End::Signal(number) => format!("\nThe tests ended by signal {number}.\n"),
        _ => String::new(),
    };
    format!("{}{end}", ended.output.text)
}

/// The reply of the oracle model: the example as whole files.
fn oracle(exercise: &Exercise) -> Result<String, UserError> {
    let files = exercise.answer().map_err(|error| exercise_error(&error))?;
    let block = |(name, text): (String, String)| {
        let fence = fence_for(text.lines());
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("{name}\n{fence}\n{text}{end}{fence}\n\n")
    };
    Ok(files.into_iter().map(block).collect())
}

/// Copies the files of a folder except those in `without`. Hidden files, which may contain solutions, and links are not copied.
fn copy(from: &Path, to: &Path, without: &[String]) -> Result<(), UserError> {
    let failed = |error: std::io::Error| {
        UserError::new(
            ErrorKind::Machine,
            format!("cannot copy {}: {error}", from.display()),
            "check the space in TMPDIR",
        )
    };
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().map_err(failed)?;
        if name.starts_with('.') || without.contains(&name) {
            continue;
        }
        if kind.is_dir() {
            let inner: Vec<String> =
                without.iter().filter_map(|file| file.strip_prefix(&format!("{name}/")).map(str::to_owned)).collect();
            fs::create_dir_all(to.join(&name)).map_err(failed)?;
            copy(&entry.path(), &to.join(&name), &inner)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(&name)).map_err(failed)?;
        }
    }
    Ok(())
}
