//! A run of a benchmark with a model: tasks done by several workers, what became of each on the disk at once, within a budget.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::args::RunBenchArgs;
use super::bench_report::{as_json, report};
use super::complain;
use crate::bench::report::Entry;
use crate::bench::results::{Header, Results, ResultsError};
use crate::error::{ErrorKind, UserError};
use crate::process::Stop;

/// So many tasks in a row that nobody answered end the run: the next would fare no better.
const PATIENCE: usize = 3;

/// What became of a task that a worker took.
pub(super) enum Done {
    /// It is done.
    Entry(Box<Entry>),
    /// Nobody answered; it can be tried again in another run. What it cost, in dollars.
    Trouble(String, Option<f64>),
    /// The money did not suffice for it.
    NoMoney(Option<f64>),
    /// It was stopped.
    Stopped,
}

/// How a run goes.
pub(super) struct Course<'c> {
    pub(super) results: &'c Results,
    pub(super) jobs: usize,
    /// Dollars that the whole run may cost, earlier parts of it included.
    pub(super) budget: Option<f64>,
    pub(super) stop: &'c Stop,
}

/// What the workers share.
struct Board<T> {
    open: VecDeque<T>,
    entries: Vec<Entry>,
    spent: f64,
    all: usize,
    in_a_row: usize,
    /// Why no other task is begun.
    end: Option<UserError>,
}

/// Does the tasks that are open; `work` gets each with the dollars that are left. All that is done now, with what was done
/// `before`, and why the run ended before its end, if it did.
pub(super) fn run_all<T: Send>(
    course: &Course<'_>,
    before: Vec<Entry>,
    open: Vec<T>,
    work: impl Fn(&T, Option<f64>) -> Result<Done, UserError> + Sync,
) -> (Vec<Entry>, Option<UserError>) {
    let spent = before.iter().filter_map(|entry| entry.cost).fold(0.0, |sum, cost| sum + cost);
    let all = before.len() + open.len();
    let board = Mutex::new(Board { open: open.into(), entries: before, spent, all, in_a_row: 0, end: None });
    std::thread::scope(|scope| {
        for _ in 0..course.jobs.max(1) {
            scope.spawn(|| {
                while let Some((task, left)) = next(course, &board) {
                    let done = work(&task, left);
                    take(course, &board, done);
                }
            });
        }
    });
    let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
    (board.entries, board.end)
}

/// The exit code of a run that was stopped.
const INTERRUPTED: u8 = 130;

/// Tells the figures of what is done of so many tasks. The exit code: 1 when some are open.
///
/// # Errors
/// What ended the run before its end, or standard output refuses.
pub(super) fn conclude(
    args: &RunBenchArgs,
    course: &Course<'_>,
    header: &Header,
    (entries, wanted): (&[Entry], usize),
    end: Option<UserError>,
) -> Result<u8, UserError> {
    if let Some(error) = end.as_ref().filter(|_| entries.is_empty()) {
        return Err(error.clone());
    }
    report(header, entries, wanted, args.json)?;
    if let Some(file) = args.report_file() {
        save(file, &as_json(header, entries, wanted))?;
    }
    if course.stop.is_asked() {
        complain(&format!("stopped; the same command goes on from here, in {}", args.folder().display()));
        return Ok(INTERRUPTED);
    }
    end.map_or(Ok(u8::from(entries.len() < wanted)), Err)
}

fn save(file: &Path, report: &Value) -> Result<(), UserError> {
    std::fs::write(file, format!("{report:#}\n")).map_err(|error| {
        let text = format!("cannot write {}: {error}", file.display());
        UserError::new(ErrorKind::Machine, text, "the run is kept; give --out another name that ends in .json")
    })
}

fn lock<T>(board: &Mutex<Board<T>>) -> MutexGuard<'_, Board<T>> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next task, and the dollars that are left.
fn next<T>(course: &Course<'_>, board: &Mutex<Board<T>>) -> Option<(T, Option<f64>)> {
    let mut board = lock(board);
    if board.end.is_some() || course.stop.is_asked() {
        return None;
    }
    let left = course.budget.map(|budget| budget - board.spent);
    if left.is_some_and(|left| left <= 0.0) && !board.open.is_empty() {
        board.end = Some(no_money());
        return None;
    }
    board.open.pop_front().map(|task| (task, left))
}

fn take<T>(course: &Course<'_>, board: &Mutex<Board<T>>, done: Result<Done, UserError>) {
    let mut board = lock(board);
    match done {
        Ok(Done::Entry(entry)) => {
            board.in_a_row = 0;
            if let Err(error) = course.results.add(&entry) {
                board.end.get_or_insert(results_error(&error));
            }
            if course.budget.is_some() && entry.cost.is_none() {
                let text = "what this model costs is not known, so no budget can be kept";
                let hint = "say its prices in rhumb.toml below [models.\"NAME\"], or leave --budget out";
                board.end.get_or_insert(UserError::new(ErrorKind::Usage, text, hint));
            }
            board.spent += entry.cost.unwrap_or_default();
            board.entries.push(*entry);
            tell(&board);
        }
        Ok(Done::Trouble(why, cost)) => {
            complain(&why);
            board.spent += cost.unwrap_or_default();
            board.in_a_row += 1;
            if board.in_a_row >= PATIENCE {
                let text = format!("{PATIENCE} tasks in a row went unanswered, the last because: {why}");
                let hint = "run it again when that is mended; what is done stays done";
                board.end.get_or_insert(UserError::new(ErrorKind::Provider, text, hint));
            }
        }
        Ok(Done::NoMoney(cost)) => {
            board.spent += cost.unwrap_or_default();
            board.end.get_or_insert(no_money());
        }
        Ok(Done::Stopped) => {}
        Err(error) => {
            board.end.get_or_insert(error);
        }
    }
}

fn tell<T>(board: &Board<T>) {
    let Some(entry) = board.entries.last() else { return };
    let outcome = match entry.passed {
        Some(1) => "passed".to_owned(),
        Some(nth) => format!("passed at try {nth}"),
        None => "failed".to_owned(),
    };
    let passed = board.entries.iter().filter(|entry| entry.passed.is_some()).count();
    let done = board.entries.len();
    complain(&format!("{done} of {}: {outcome}: {} ({passed} passed, ${:.2})", board.all, entry.id, board.spent));
}

fn no_money() -> UserError {
    let hint = "what is done stays done; a larger --budget goes on from there";
    UserError::new(ErrorKind::Usage, "the budget does not suffice for the tasks that are left", hint)
}

/// A folder of a run that does not do.
pub(super) fn results_error(error: &ResultsError) -> UserError {
    match error {
        ResultsError::File { .. } => UserError::new(ErrorKind::Machine, error, "check the folder"),
        ResultsError::Json { .. } => UserError::new(ErrorKind::Usage, error, "give another folder"),
        ResultsError::Other { .. } => {
            UserError::new(ErrorKind::Usage, error, "give another --out, or the flags that it was begun with")
        }
    }
}

/// Has Ctrl-C and its like stop the run instead of leaving what it started behind.
pub(super) fn stop_on_signals() -> Stop {
    let stop = Stop::default();
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // A second one ends us at once. Where listening is refused, the first does.
        let _ = signal_hook::flag::register_conditional_default(signal, stop.flag());
        let _ = signal_hook::flag::register(signal, stop.flag());
    }
    stop
}
