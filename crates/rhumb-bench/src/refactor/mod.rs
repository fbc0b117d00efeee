//! How lazy a model is: the task is to move a method that does not use its instance out of its class by cutting and pasting.
//! A body that the model replaced by a comment is detected by counting syntax nodes.
//!
//! | module | contents |
//! |---|---|
//! | `syntax_tree` | walks over syntax trees; syntax nodes, counted as Python's `ast` counts them |
//! | `outline` | classes, methods and functions of a file, by language |
//! | `scan` | which methods of a file make a task |
//! | `task` | a task, and tasks as a folder |
//! | `grade` | the checks of a result |
//! | `oracle` | scripted models with right and wrong answers, which prove the grader |

mod grade;
mod oracle;
mod outline;
mod scan;
mod syntax_tree;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
pub use grade::{Check, CheckResult, Grade, grade};
pub use oracle::Oracle;
use rhumb::cli::load_settings;
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::{print, print_json};
use rhumb_edit::EditFormat;
use rhumb_workspace::Root;
use rhumb_workspace::process::StopHandle;
pub use scan::{LeftOut, Scan, scan, scan_bytes};
use serde_json::json;
pub use task::{Nodes, Task, TaskError, Tasks};

use crate::args::{BuildRefactorArgs, GradeRefactorArgs, RefactorCommand, RunRefactorArgs};
use crate::run::folder::{RunHeader, read};
use crate::run::report::report;
use crate::run::summary::TaskResult;
use crate::run::turn::{TurnRequest, refused, turn};
use crate::run::{
    BenchRun, TaskOutcome, keep, new_entry, of_a_turn, results_error, stop_on_signals, take_turn, whole_path,
};
use crate::scratch_folder;

/// Does a step of the benchmark.
///
/// # Errors
/// Tasks or a run cannot be read or written, the settings are wrong, the provider fails, or the budget is spent.
pub(crate) fn command(command: &RefactorCommand) -> Result<u8, UserError> {
    match command {
        RefactorCommand::Build(args) => build(args),
        RefactorCommand::Run(args) => run(args),
        RefactorCommand::Grade(args) => grade_again(args),
    }
}

fn task_error(error: &TaskError) -> UserError {
    let hint = "rhumb-bench refactor build --from DIR --out DIR makes tasks";
    match error {
        TaskError::Write { .. } => UserError::new(ErrorKind::Machine, error, "give another folder as --out"),
        TaskError::File { .. } => UserError::new(ErrorKind::Machine, error, hint),
        _ => UserError::new(ErrorKind::Usage, error, hint),
    }
}

/// The tasks of a folder.
#[derive(Default)]
struct Found {
    tasks: Tasks,
    /// Number of files in a supported language.
    files: usize,
    left_out: BTreeMap<LeftOut, usize>,
}

fn build(args: &BuildRefactorArgs) -> Result<u8, UserError> {
    let root = Root::at(&args.from).map_err(|error| UserError::new(ErrorKind::Usage, &error, error.hint()))?;
    let own = args.out.canonicalize().unwrap_or_else(|_| args.out.clone()).join("files");
    let excluded = globs(&args.exclude)?;
    // The sources of tasks that were built before are not scanned again.
    let is_own = |path: &str| root.path().join(path).starts_with(&own) || Tasks::hold(root.path(), path);
    let is_excluded = |path: &str| Path::new(path).ancestors().any(|part| excluded.is_match(part));
    let mut found = Found::default();
    for file in rhumb_workspace::files(&root, &AtomicBool::new(false), &mut |_| {}).files {
        if is_own(&file.path) || is_excluded(&file.path) {
            continue;
        }
        // A file that cannot be read counts like one that is not UTF-8.
        let bytes = fs::read(root.path().join(&file.path)).unwrap_or_else(|_| vec![u8::MAX]);
        let Some(scan) = scan_bytes(&file.path, &bytes, args.min_nodes) else { continue };
        found.files += 1;
        for (why, count) in scan.left_out {
            *found.left_out.entry(why).or_default() += count;
        }
        found.tasks.add(scan.tasks, &String::from_utf8_lossy(&bytes));
    }
    if found.tasks.all.is_empty() {
        tell(args, &found)?;
        let text = format!("{} has no method that makes a task", args.from.display());
        let fewer = if args.min_nodes > 1 { ", or fewer --min-nodes" } else { "" };
        return Err(UserError::new(ErrorKind::Usage, text, format!("take another folder{fewer}")));
    }
    found.tasks.write(&args.out).map_err(|error| task_error(&error))?;
    tell(args, &found)?;
    Ok(0)
}

/// Globs of paths below the scanned folder; a folder includes everything in it.
fn globs(patterns: &[String]) -> Result<GlobSet, UserError> {
    let wrong = |error: globset::Error| UserError::new(ErrorKind::Usage, format!("--exclude: {error}"), "");
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let pattern = pattern.trim_end_matches('/');
        set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(wrong)?);
    }
    set.build().map_err(wrong)
}

fn tell(args: &BuildRefactorArgs, found: &Found) -> Result<(), UserError> {
    let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
    let mut origins: Vec<&str> = Vec::new();
    for (task, _) in &found.tasks.all {
        *languages.entry(&task.language).or_default() += 1;
        origins.push(&task.origin);
    }
    origins.sort_unstable();
    origins.dedup();
    let tasks = found.tasks.all.len();
    if args.json {
        let left_out: BTreeMap<_, _> = found.left_out.iter().map(|(why, count)| (why.text(), count)).collect();
        return print_json(&json!({
            "out": (tasks > 0).then_some(&args.out), "tasks": tasks, "from_files": origins.len(), "files": found.files, "languages": languages,
            "left_out": left_out,
        }));
    }
    let folder = if tasks > 0 { format!(", in {}", args.out.display()) } else { String::new() };
    let mut text = format!("{tasks} tasks from {} of {} files{folder}\n", origins.len(), found.files);
    text.extend(languages.iter().map(|(language, count)| format!("  {count:>6} in {language}\n")));
    text.push_str(&format!("Left out of {} syntax nodes or more:\n", args.min_nodes));
    text.extend(found.left_out.iter().map(|(why, count)| format!("  {count:>6} {}\n", why.text())));
    print(&text)
}

/// The state that all tasks of a run share.
struct RefactorRun<'d> {
    args: &'d RunRefactorArgs,
    /// The edit format of the oracle model.
    format: EditFormat,
    stop: &'d StopHandle,
}

fn run(args: &RunRefactorArgs) -> Result<u8, UserError> {
    let settings = load_settings(args.run.model.overrides(), None)?;
    let tasks = Tasks::read(&args.tasks).map_err(|error| task_error(&error))?;
    let mut made_with = of_a_turn(&settings, args.recite.is_some());
    made_with.insert("time_limit".to_owned(), format!("{:?}", args.run.time_limit));
    let header = RunHeader {
        bench: "refactor".to_owned(),
        tasks: whole_path(&args.tasks)?,
        fingerprint: fingerprint(&tasks),
        flags: args.run.model.as_typed(),
        tries: args.tries.get(),
        oracle: args.recite.map(|oracle| oracle.name().to_owned()),
        settings: made_with,
    };
    let format = settings.edit_format.unwrap_or(EditFormat::Diff);
    let bench_run = BenchRun::open(&args.run, &header, &tasks.all, |(task, _)| &task.id)?;
    let stop = stop_on_signals();
    let desk = RefactorRun { args, format, stop: &stop };
    bench_run.run(&stop, |(task, source), share| desk.task(task, source, share))
}

/// A hash of everything that decides how tasks are done and graded.
fn fingerprint(tasks: &Tasks) -> String {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for (task, source) in &tasks.all {
        hash.update(json!(task).to_string().as_bytes());
        hash.update(source.as_bytes());
    }
    format!("{:016x}", hash.digest())
}

impl RefactorRun<'_> {
    /// Does a task in a separate folder.
    fn task(&self, task: &Task, source: &str, left: Option<f64>) -> Result<TaskOutcome, UserError> {
        let folder = scratch_folder()?;
        let file = folder.path().join(&task.file);
        fs::write(&file, source).map_err(|error| refused(&file, &error))?;
        let oracle_reply = self.args.recite.map(|oracle| oracle.reply(task, source, self.format));
        if oracle_reply == Some(None) {
            let failed = ["recital".to_owned()].into();
            let entry = TaskResult {
                id: task.id.clone(),
                language: task.language.clone(),
                tries: 1,
                failed,
                ..TaskResult::default()
            };
            return Ok(TaskOutcome::TaskResult(Box::new(entry)));
        }
        let mut entry = new_entry(&task.id, &task.language);
        let mut graded = grade(task, source, source);
        for nth in 1..=self.args.tries.get() {
            let cap = left.map(|left| left - entry.cost.unwrap_or_default());
            let request = TurnRequest {
                root: folder.path().to_owned(),
                message: message(task, &graded, nth),
                output: None,
                files: vec![task.file.clone()],
                model: self.args.run.model.clone(),
                oracle_reply: oracle_reply.clone().flatten(),
                spending_cap: cap,
            };
            let log = self.args.run.folder().join("logs").join(format!("{}-{nth}.jsonl", task.id));
            let report = turn(&request, self.args.run.time_limit, &log, self.stop)?;
            if let Some(end) = take_turn(&mut entry, report, nth) {
                return Ok(end);
            }
            // A deleted file is graded as an empty one.
            let text = text_of(&file)?.unwrap_or_default();
            graded = grade(task, source, &text);
            keep(&self.args.run.folder().join("files").join(&task.id).join(&task.file), &text)?;
            take_grade(&mut entry, &graded);
            if entry.passed.is_some() {
                break;
            }
        }
        Ok(TaskOutcome::TaskResult(Box::new(entry)))
    }
}

fn take_grade(entry: &mut TaskResult, graded: &Grade) {
    entry.passed = graded.passed().then_some(entry.tries);
    entry.failed =
        Check::ALL.into_iter().filter(|check| graded.failed(*check)).map(|check| check.name().to_owned()).collect();
    entry.elided |= graded.elided();
    entry.syntax_errors = graded.failed(Check::Parses);
}

fn message(task: &Task, graded: &Grade, nth: usize) -> String {
    if nth == 1 {
        return task.instruction.clone();
    }
    let complaints: String = graded.complaints().iter().map(|complaint| format!("- {complaint}\n")).collect();
    format!("{}\n\nThis was tried before, and is not done yet:\n{complaints}Finish it.", task.instruction)
}

/// The text of a file, with invalid UTF-8 replaced; `None` if there is no file.
fn text_of(path: &Path) -> Result<Option<String>, UserError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let text = format!("cannot read {}: {error}", path.display());
            Err(UserError::new(ErrorKind::Machine, text, "check the file"))
        }
    }
}

fn grade_again(args: &GradeRefactorArgs) -> Result<u8, UserError> {
    let (header, mut entries) = read(&args.run).map_err(|error| results_error(&error))?;
    if header.bench != "refactor" {
        let text = format!("{} is a run of {}", args.run.display(), header.bench);
        return Err(UserError::new(ErrorKind::Usage, text, "give the folder of a refactoring run"));
    }
    let tasks = Tasks::read(&header.tasks).map_err(|error| task_error(&error))?;
    unchanged(&header, &tasks, &entries)?;
    let mut complaints = String::new();
    for entry in &mut entries {
        let Some((task, source)) = tasks.all.iter().find(|(task, _)| task.id == entry.id) else { continue };
        let path = args.run.join("files").join(&task.id).join(&task.file);
        // Without a file nothing was written, and the source is unchanged.
        let text = text_of(&path)?.unwrap_or_else(|| source.clone());
        let graded = grade(task, source, &text);
        take_grade(entry, &graded);
        for complaint in graded.complaints() {
            complaints.push_str(&format!("{}: {complaint}\n", entry.id));
        }
    }
    if !args.json {
        print(&complaints)?;
    }
    report(&header, &entries, tasks.all.len(), args.json)?;
    Ok(0)
}

/// Fails if the tasks are not those that the model did.
fn unchanged(header: &RunHeader, tasks: &Tasks, entries: &[TaskResult]) -> Result<(), UserError> {
    if header.fingerprint == fingerprint(tasks) {
        return Ok(());
    }
    let is_gone = |entry: &&TaskResult| tasks.all.iter().all(|(task, _)| task.id != entry.id);
    let gone: Vec<&str> = entries.iter().filter(is_gone).map(|entry| entry.id.as_str()).collect();
    let gone = if gone.is_empty() { String::new() } else { format!("; gone: {}", gone.join(", ")) };
    let text = format!("the tasks in {} were changed since the run{gone}", header.tasks.display());
    Err(UserError::new(ErrorKind::Usage, text, "put them back as they were, or run them again with another --out"))
}
