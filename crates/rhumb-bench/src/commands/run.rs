//! A run of a benchmark with a model: tasks done by several workers, what became of each on the disk at once, within a budget.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::report::{as_json, report};
use crate::report::Entry;
use crate::results::{Header, Lost, Results, ResultsError};
use rhumb::config::Paths;
use rhumb::error::{ErrorKind, UserError};
use crate::args::RunBenchArgs;
use rhumb::headless::complain;
use rhumb_workspace::process::Stop;

/// So many tasks in a row that nobody answered end the run: the next would fare no better.
const PATIENCE: usize = 3;
/// Sums of dollars that differ by less are the same.
const MILLIONTH: f64 = 1e-6;
/// So many names are told where a wrong one was given.
const SOME: usize = 10;

/// What became of a task that a worker took.
pub(super) enum Done {
    /// It is done.
    Entry(Box<Entry>),
    /// Nobody answered; it can be tried again in another run. What it cost, in dollars.
    Trouble(String, Option<f64>),
    /// The money did not suffice for it.
    NoMoney(Option<f64>),
    /// It was stopped.
    Stopped(Option<f64>),
}

/// Tasks with what was done of them before.
pub(super) struct Course<'c, T> {
    args: &'c RunBenchArgs,
    header: &'c Header,
    results: Results,
    /// The names of the tasks that are wanted.
    wanted: BTreeSet<&'c str>,
    /// What is done of them.
    before: Vec<Entry>,
    /// What is not.
    open: Vec<&'c T>,
    /// What the run cost before, other tasks included.
    spent: f64,
}

/// What the workers share.
struct Board<'c, T> {
    open: VecDeque<&'c T>,
    entries: Vec<Entry>,
    all: usize,
    /// Dollars that were paid, and those that tasks which are being done may still take.
    spent: f64,
    promised: f64,
    /// Workers that have not gone home, and how many of them have a task.
    workers: usize,
    busy: usize,
    in_a_row: usize,
    /// Why no other task is begun.
    end: Option<UserError>,
}

impl<'c, T: Sync> Course<'c, T> {
    /// Opens the folder of a run for those of `tasks` that the flags want; `id` is the name of each.
    ///
    /// # Errors
    /// The flags want what is not there, the folder holds another run or cannot be used, or a budget cannot be kept.
    pub(super) fn open(
        args: &'c RunBenchArgs,
        header: &'c Header,
        tasks: &'c [T],
        id: impl Fn(&'c T) -> &'c str,
    ) -> Result<Self, UserError> {
        args.check(&tasks.iter().map(&id).collect::<Vec<_>>())?;
        if args.budget.is_some() && header.recital.is_some() {
            let text = "--budget means nothing to a model that is made up: it costs nothing";
            return Err(UserError::new(ErrorKind::Usage, text, "leave --budget or --recite out"));
        }
        let (results, mut before) = Results::open(&args.folder(), header).map_err(|error| results_error(&error))?;
        let mut costs = before.iter().map(|entry| entry.cost).chain(results.lost.iter().map(|lost| lost.cost));
        let spent = costs.try_fold(0.0, |sum, cost| Some(sum + cost?));
        if args.budget.is_some() && spent.is_none() {
            let text =
                format!("what {} has cost so far is not known, so no budget can be kept", args.folder().display());
            return Err(UserError::new(ErrorKind::Usage, text, "leave --budget out, or give another --out"));
        }
        let open = tasks.iter().filter(|task| {
            let id = id(task);
            args.wants(id) && before.iter().all(|entry| entry.id != id)
        });
        let open = open.collect();
        let wanted: BTreeSet<&str> = tasks.iter().map(&id).filter(|id| args.wants(id)).collect();
        before.retain(|entry| wanted.contains(entry.id.as_str()));
        Ok(Self { args, header, results, wanted, before, open, spent: spent.unwrap_or_default() })
    }

    /// Whether all that is wanted is done.
    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Does the tasks that are open and tells the figures of all that are wanted; `work` gets each with the dollars that it may
    /// cost. The exit code: 1 when some are open still.
    ///
    /// # Errors
    /// What ended the run before its end, or standard output refuses.
    pub(super) fn run(
        mut self,
        stop: &Stop,
        work: impl Fn(&T, Option<f64>) -> Result<Done, UserError> + Sync,
    ) -> Result<u8, UserError> {
        let board = Mutex::new(Board {
            open: std::mem::take(&mut self.open).into(),
            entries: std::mem::take(&mut self.before),
            all: self.wanted.len(),
            spent: self.spent,
            promised: 0.0,
            workers: self.args.jobs.get(),
            busy: 0,
            in_a_row: 0,
            end: None,
        });
        std::thread::scope(|scope| {
            for _ in 0..self.args.jobs.get() {
                scope.spawn(|| {
                    // The board is locked for each step, never while a task is done.
                    let next = || lock(&board).next(self.args.budget, stop);
                    let take = |task, done| lock(&board).take(&self, task, done);
                    while let Some((task, share)) = next() {
                        let done = work(task, share);
                        if !take((task, share), done) {
                            break;
                        }
                    }
                });
            }
        });
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.conclude(stop, &board.entries, board.end)
    }

    fn conclude(&self, stop: &Stop, entries: &[Entry], end: Option<UserError>) -> Result<u8, UserError> {
        let Self { args, header, wanted, .. } = self;
        if let Some(error) = end.as_ref().filter(|_| entries.is_empty()) {
            return Err(error.clone());
        }
        report(header, entries, wanted.len(), args.json)?;
        if let Some(file) = args.report_file() {
            save(file, &as_json(header, entries, wanted.len()))?;
        }
        if stop.is_asked() {
            complain(&format!("stopped; the same command goes on from here, in {}", args.folder().display()));
            return Ok(INTERRUPTED);
        }
        end.map_or(Ok(u8::from(entries.len() < wanted.len())), Err)
    }
}

/// The exit code of a run that was stopped.
const INTERRUPTED: u8 = 130;

impl RunBenchArgs {
    /// Refuses an `--only` that is in no name.
    fn check(&self, ids: &[&str]) -> Result<(), UserError> {
        let is_in_none = |part: &&String| !ids.iter().any(|id| id.contains(part.as_str()));
        let Some(part) = self.only.iter().find(is_in_none) else { return Ok(()) };
        Err(UserError::new(ErrorKind::Usage, format!("no task has {part:?} in its name"), named("tasks", ids)))
    }
}

/// What there is, or the beginning of it.
pub(super) fn named(what: &str, names: &[&str]) -> String {
    let some: Vec<&str> = names.iter().take(SOME).copied().collect();
    let more = if names.len() > SOME { format!(" and {} more", names.len() - SOME) } else { String::new() };
    format!("the {what} there are: {}{more}", some.join(", "))
}

fn save(file: &Path, report: &Value) -> Result<(), UserError> {
    std::fs::write(file, format!("{report:#}\n")).map_err(|error| {
        let text = format!("cannot write {}: {error}", file.display());
        UserError::new(ErrorKind::Machine, text, "the run is kept; give --out another name that ends in .json")
    })
}

fn lock<'b, 'c, T>(board: &'b Mutex<Board<'c, T>>) -> MutexGuard<'b, Board<'c, T>> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'c, T> Board<'c, T> {
    /// The next task for a worker, and its share of the dollars that are left; without one the worker goes home.
    fn next(&mut self, budget: Option<f64>, stop: &Stop) -> Option<(&'c T, Option<f64>)> {
        let is_over = self.end.is_some() || stop.is_asked();
        let next = if is_over { None } else { self.with_share(budget) };
        match next {
            Some((_, share)) => {
                self.busy += 1;
                self.promised += share.unwrap_or_default();
            }
            None => self.workers -= 1,
        }
        next
    }

    /// What is promised to one task is not given to another, and none takes what the others could begin with.
    fn with_share(&mut self, budget: Option<f64>) -> Option<(&'c T, Option<f64>)> {
        let left = budget.map(|budget| budget - self.spent - self.promised);
        if left.is_some_and(|left| left < MILLIONTH) && !self.open.is_empty() {
            // Who is busy may leave something, and goes on then.
            if self.busy == 0 {
                self.end = Some(no_money());
            }
            return None;
        }
        let idle = (self.workers - self.busy).min(self.open.len()).max(1);
        Some((self.open.pop_front()?, left.map(|left| left / idle as f64)))
    }

    /// Takes in what became of a task. Whether the worker goes on.
    fn take<S>(
        &mut self,
        course: &Course<'_, S>,
        (task, share): (&'c T, Option<f64>),
        done: Result<Done, UserError>,
    ) -> bool {
        self.busy -= 1;
        self.promised -= share.unwrap_or_default();
        match done {
            Ok(Done::Entry(entry)) => self.entered(course, *entry),
            Ok(Done::Trouble(why, cost)) => {
                complain(&why);
                self.lost(course, "trouble", cost);
                self.in_a_row += 1;
                if self.in_a_row >= PATIENCE {
                    let text = format!("{PATIENCE} tasks in a row went unanswered, the last because: {why}");
                    let hint = "run it again when that is mended; what is done stays done";
                    self.end.get_or_insert(UserError::new(ErrorKind::Provider, text, hint));
                }
            }
            Ok(Done::NoMoney(cost)) => {
                let left = course.args.budget.map_or(0.0, |budget| budget - self.spent);
                self.lost(course, "money", cost);
                return self.with_fewer(task, share.is_some_and(|share| share + MILLIONTH < left));
            }
            Ok(Done::Stopped(cost)) => self.lost(course, "stopped", cost),
            Err(error) => {
                self.end.get_or_insert(error);
            }
        }
        true
    }

    /// After a task whose share was too small: the worker goes home, so that the others have more each. The last one ends the
    /// run, unless it can have more itself.
    fn with_fewer(&mut self, task: &'c T, there_was_more: bool) -> bool {
        if self.workers == 1 && !there_was_more {
            self.end.get_or_insert(no_money());
            return true;
        }
        self.open.push_front(task);
        let goes_on = self.workers == 1;
        self.workers -= usize::from(!goes_on);
        goes_on
    }

    fn entered<S>(&mut self, course: &Course<'_, S>, entry: Entry) {
        self.in_a_row = 0;
        if let Err(error) = course.results.add(&entry) {
            self.end.get_or_insert(results_error(&error));
        }
        self.pay(course, entry.cost);
        self.entries.push(entry);
        self.tell();
    }

    /// Pays for what leaves no result, and remembers that: the next part of the run has so much less.
    fn lost<S>(&mut self, course: &Course<'_, S>, why: &str, cost: Option<f64>) {
        if cost != Some(0.0)
            && let Err(error) = course.results.lose(&Lost { why: why.to_owned(), cost })
        {
            self.end.get_or_insert(results_error(&error));
        }
        self.pay(course, cost);
    }

    fn pay<S>(&mut self, course: &Course<'_, S>, cost: Option<f64>) {
        if course.args.budget.is_some() && cost.is_none() {
            let text = "what this model costs is not known, so no budget can be kept";
            let hint = format!("say its prices below [models.\"NAME\"] in {}, or leave --budget out", own_settings());
            self.end.get_or_insert(UserError::new(ErrorKind::Usage, text, hint));
        }
        self.spent += cost.unwrap_or_default();
    }

    fn tell(&self) {
        let Some(entry) = self.entries.last() else { return };
        let outcome = match entry.passed {
            Some(1) => "passed".to_owned(),
            Some(nth) => format!("passed at try {nth}"),
            None => "failed".to_owned(),
        };
        let passed = self.entries.iter().filter(|entry| entry.passed.is_some()).count();
        let done = self.entries.len();
        complain(&format!("{done} of {}: {outcome}: {} ({passed} passed, ${:.2})", self.all, entry.id, self.spent));
    }
}

/// The one file that a benchmark takes settings from: the repository in which it is started is none that it works on.
fn own_settings() -> String {
    let file = Paths::of_user().map(|paths| paths.settings_file().display().to_string());
    file.map_or_else(|| "your own rhumb.toml".to_owned(), |file| format!("your own rhumb.toml ({file})"))
}

fn no_money() -> UserError {
    let hint = "what is done stays done; a larger --budget goes on from there";
    UserError::new(ErrorKind::Usage, "the budget does not suffice for the tasks that are left", hint)
}

/// A folder of a run that does not do.
pub(super) fn results_error(error: &ResultsError) -> UserError {
    match error {
        ResultsError::File { .. } => UserError::new(ErrorKind::Machine, error, "check the folder"),
        ResultsError::Busy { .. } => UserError::new(ErrorKind::Usage, error, "wait for its end, or give another --out"),
        ResultsError::Json { .. } => UserError::new(ErrorKind::Usage, error, "give another folder"),
        ResultsError::Other { .. } => {
            UserError::new(ErrorKind::Usage, error, "give another --out, or the settings that it was begun with")
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::time::Duration;

    use super::*;
    use crate::args::ModelArgs;

    fn args(folder: &Path, budget: f64) -> RunBenchArgs {
        RunBenchArgs {
            out: folder.to_owned(),
            model: ModelArgs::default(),
            jobs: NonZeroUsize::MIN,
            time_limit: Duration::from_secs(1),
            budget: Some(budget),
            only: Vec::new(),
            json: false,
        }
    }

    fn board(tasks: &[String], workers: usize) -> Board<'_, String> {
        let open: VecDeque<&String> = tasks.iter().collect();
        let (entries, all) = (Vec::new(), open.len());
        Board { open, entries, all, spent: 0.0, promised: 0.0, workers, busy: 0, in_a_row: 0, end: None }
    }

    /// A course of nobody's tasks with a budget of a dollar, and the next task of a board.
    fn with_a_dollar(
        tasks: &[String],
        test: impl Fn(&Course<'_, String>, &dyn Fn(&mut Board<'_, String>) -> Option<f64>),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (args, header) = (args(folder.path(), 1.0), Header::default());
        let course = Course::open(&args, &header, tasks, |task| task).unwrap();
        test(&course, &|board| board.next(Some(1.0), &Stop::default()).map(|(_, share)| share.unwrap()));
    }

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < MILLIONTH)
    }

    #[test]
    fn workers_share_the_budget() {
        let tasks: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        with_a_dollar(&tasks, |course, next| {
            let mut board = board(&tasks, 4);
            for _ in 0..4 {
                let share = next(&mut board);
                assert!(near(share, 0.25), "{share:?}");
            }
            let entry = Entry { cost: Some(0.05), ..Entry::default() };
            assert!(board.take(course, (&tasks[0], Some(0.25)), Ok(Done::Entry(Box::new(entry)))));
            let share = next(&mut board);
            assert!(near(share, 0.2), "what the others may take is not given twice: {share:?}");
        });
    }

    #[test]
    fn a_share_that_is_too_small_is_tried_again_with_all_that_is_left() {
        let tasks = ["a".to_owned(), "b".to_owned()];
        with_a_dollar(&tasks, |course, next| {
            let mut board = board(&tasks, 3);
            assert!(near(next(&mut board), 0.5) && near(next(&mut board), 0.5), "a third worker has nothing to do");
            assert_eq!(next(&mut board), None);
            let too_little = |cost: f64| Ok(Done::NoMoney(Some(cost)));
            assert!(!board.take(course, (&tasks[0], Some(0.5)), too_little(0.1)), "one worker fewer");
            let goes_on = board.take(course, (&tasks[1], Some(0.5)), too_little(0.0));
            assert!(goes_on && board.end.is_none(), "the last one can have more");
            assert!(near(next(&mut board), 0.9));
            board.take(course, (&tasks[0], Some(0.9)), too_little(0.0));
            assert!(board.end.is_some(), "there is no more");
            let lost = std::fs::read_to_string(course.args.folder().join("lost.jsonl")).unwrap();
            assert_eq!(lost, "{\"why\":\"money\",\"cost\":0.1}\n");
        });
    }
}
