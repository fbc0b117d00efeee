//! A run of a benchmark with a model: tasks done by several workers, what became of each on the disk at once, within a budget.
//! What a run enters of a task, whatever its kind.
//! The settings that a run of a benchmark is made with: whatever in them tells one run from another.

pub(crate) mod folder;
pub(crate) mod report;
pub mod summary;
pub(crate) mod turn;

use crate::args::RunBenchArgs;
use folder::{RunFolder, RunFolderError, RunHeader, UnfinishedCost};
use report::{as_json, report};
use rhumb::config::{Paths, Settings};
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::complain;
use rhumb::session::runner::{Outfit, facts};
use rhumb_llm::shown_url;
use rhumb_workspace::process::Stop;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use summary::TaskResult;
use turn::{TurnReport, refused};

/// So many tasks in a row that nobody answered end the run: the next would fare no better.
const MAX_FAILURES_IN_A_ROW: usize = 3;
/// Sums of dollars that differ by less are the same.
const COST_EPSILON: f64 = 1e-6;
/// So many names are told where a wrong one was given.
const MAX_LISTED_NAMES: usize = 10;

/// What became of a task that a worker took.
pub(crate) enum TaskOutcome {
    /// It is done.
    TaskResult(Box<TaskResult>),
    /// Nobody answered; it can be tried again in another run. What it cost, in dollars.
    Trouble(String, Option<f64>),
    /// The money did not suffice for it.
    NoMoney(Option<f64>),
    /// It was stopped.
    Stopped(Option<f64>),
}

/// Tasks with what was done of them before.
pub(crate) struct BenchRun<'c, T> {
    args: &'c RunBenchArgs,
    header: &'c RunHeader,
    results: RunFolder,
    /// The names of the tasks that are wanted.
    wanted: BTreeSet<&'c str>,
    /// What is done of them.
    before: Vec<TaskResult>,
    /// What is not.
    open: Vec<&'c T>,
    /// What the run cost before, other tasks included.
    spent: f64,
}

/// What the workers share.
struct Schedule<'c, T> {
    open: VecDeque<&'c T>,
    entries: Vec<TaskResult>,
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

impl<'c, T: Sync> BenchRun<'c, T> {
    /// Opens the folder of a run for those of `tasks` that the flags want; `id` is the name of each.
    ///
    /// # Errors
    /// The flags want what is not there, the folder holds another run or cannot be used, or a budget cannot be kept.
    pub(crate) fn open(
        args: &'c RunBenchArgs,
        header: &'c RunHeader,
        tasks: &'c [T],
        id: impl Fn(&'c T) -> &'c str,
    ) -> Result<Self, UserError> {
        args.check(&tasks.iter().map(&id).collect::<Vec<_>>())?;
        if args.budget.is_some() && header.recital.is_some() {
            let text = "--budget means nothing to a model that is made up: it costs nothing";
            return Err(UserError::new(ErrorKind::Usage, text, "leave --budget or --recite out"));
        }
        let (results, mut before) = RunFolder::open(&args.folder(), header).map_err(|error| results_error(&error))?;
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
    pub(crate) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Does the tasks that are open and tells the figures of all that are wanted; `work` gets each with the dollars that it may
    /// cost. The exit code: 1 when some are open still.
    ///
    /// # Errors
    /// What ended the run before its end, or standard output refuses.
    pub(crate) fn run(
        mut self,
        stop: &Stop,
        work: impl Fn(&T, Option<f64>) -> Result<TaskOutcome, UserError> + Sync,
    ) -> Result<u8, UserError> {
        let board = Mutex::new(Schedule {
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

    fn conclude(&self, stop: &Stop, entries: &[TaskResult], end: Option<UserError>) -> Result<u8, UserError> {
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
pub(crate) fn named(what: &str, names: &[&str]) -> String {
    let some: Vec<&str> = names.iter().take(MAX_LISTED_NAMES).copied().collect();
    let more = if names.len() > MAX_LISTED_NAMES {
        format!(" and {} more", names.len() - MAX_LISTED_NAMES)
    } else {
        String::new()
    };
    format!("the {what} there are: {}{more}", some.join(", "))
}

fn save(file: &Path, report: &Value) -> Result<(), UserError> {
    std::fs::write(file, format!("{report:#}\n")).map_err(|error| {
        let text = format!("cannot write {}: {error}", file.display());
        UserError::new(ErrorKind::Machine, text, "the run is kept; give --out another name that ends in .json")
    })
}

fn lock<'b, 'c, T>(board: &'b Mutex<Schedule<'c, T>>) -> MutexGuard<'b, Schedule<'c, T>> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'c, T> Schedule<'c, T> {
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
        if left.is_some_and(|left| left < COST_EPSILON) && !self.open.is_empty() {
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
        course: &BenchRun<'_, S>,
        (task, share): (&'c T, Option<f64>),
        done: Result<TaskOutcome, UserError>,
    ) -> bool {
        self.busy -= 1;
        self.promised -= share.unwrap_or_default();
        match done {
            Ok(TaskOutcome::TaskResult(entry)) => self.entered(course, *entry),
            Ok(TaskOutcome::Trouble(why, cost)) => {
                complain(&why);
                self.lost(course, "trouble", cost);
                self.in_a_row += 1;
                if self.in_a_row >= MAX_FAILURES_IN_A_ROW {
                    let text =
                        format!("{MAX_FAILURES_IN_A_ROW} tasks in a row went unanswered, the last because: {why}");
                    let hint = "run it again when that is mended; what is done stays done";
                    self.end.get_or_insert(UserError::new(ErrorKind::Provider, text, hint));
                }
            }
            Ok(TaskOutcome::NoMoney(cost)) => {
                let left = course.args.budget.map_or(0.0, |budget| budget - self.spent);
                self.lost(course, "money", cost);
                return self.with_fewer(task, share.is_some_and(|share| share + COST_EPSILON < left));
            }
            Ok(TaskOutcome::Stopped(cost)) => self.lost(course, "stopped", cost),
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

    fn entered<S>(&mut self, course: &BenchRun<'_, S>, entry: TaskResult) {
        self.in_a_row = 0;
        if let Err(error) = course.results.add(&entry) {
            self.end.get_or_insert(results_error(&error));
        }
        self.pay(course, entry.cost);
        self.entries.push(entry);
        self.tell();
    }

    /// Pays for what leaves no result, and remembers that: the next part of the run has so much less.
    fn lost<S>(&mut self, course: &BenchRun<'_, S>, why: &str, cost: Option<f64>) {
        if cost != Some(0.0)
            && let Err(error) = course.results.lose(&UnfinishedCost { why: why.to_owned(), cost })
        {
            self.end.get_or_insert(results_error(&error));
        }
        self.pay(course, cost);
    }

    fn pay<S>(&mut self, course: &BenchRun<'_, S>, cost: Option<f64>) {
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
pub(crate) fn results_error(error: &RunFolderError) -> UserError {
    match error {
        RunFolderError::File { .. } => UserError::new(ErrorKind::Machine, error, "check the folder"),
        RunFolderError::Busy { .. } => {
            UserError::new(ErrorKind::Usage, error, "wait for its end, or give another --out")
        }
        RunFolderError::Json { .. } => UserError::new(ErrorKind::Usage, error, "give another folder"),
        RunFolderError::Other { .. } => {
            UserError::new(ErrorKind::Usage, error, "give another --out, or the settings that it was begun with")
        }
    }
}

/// Has Ctrl-C and its like stop the run instead of leaving what it started behind.
pub(crate) fn stop_on_signals() -> Stop {
    let stop = Stop::default();
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // A second one ends us at once. Where listening is refused, the first does.
        let _ = signal_hook::flag::register_conditional_default(signal, stop.flag());
        let _ = signal_hook::flag::register(signal, stop.flag());
    }
    stop
}

/// The folder as it can be found from elsewhere.
pub(crate) fn whole_path(folder: &Path) -> Result<PathBuf, UserError> {
    folder.canonicalize().map_err(|error| {
        UserError::new(
            ErrorKind::Usage,
            format!("cannot use {}: {error}", folder.display()),
            "give a folder that is there",
        )
    })
}

/// Nothing has become of a task yet.
pub(crate) fn new_entry(id: &str, language: &str) -> TaskResult {
    TaskResult { id: id.to_owned(), language: language.to_owned(), cost: Some(0.0), ..TaskResult::default() }
}

/// Enters what a turn came to. Gives an end where the turn says nothing of the model.
pub(crate) fn take_turn(entry: &mut TaskResult, report: TurnReport, nth: usize) -> Option<TaskOutcome> {
    entry.tries = nth;
    entry.models.extend(report.models);
    entry.malformed += report.malformed;
    entry.elided |= report.elided;
    entry.exhausted |= report.exhausted;
    entry.timed_out |= report.timed_out;
    entry.input += report.input;
    entry.output += report.output;
    entry.cost = entry.cost.zip(report.cost).map(|(sum, cost)| sum + cost);
    entry.seconds += report.seconds;
    if report.stopped {
        return Some(TaskOutcome::Stopped(entry.cost));
    }
    if report.no_money {
        return Some(TaskOutcome::NoMoney(entry.cost));
    }
    report.trouble.map(|why| TaskOutcome::Trouble(format!("{}: {why}", entry.id), entry.cost))
}

/// Keeps what a file has become.
pub(crate) fn keep(path: &Path, text: &str) -> Result<(), UserError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|error| refused(path, &error))
}

/// Those that decide what a model is asked, and what becomes of its answer, besides the ones that are told as they take effect.
/// Prices and keys are left out: to mend them makes no other run of it.
const OF_A_TURN: [&str; 14] = [
    "context_window",
    "conventions",
    "edit_rounds",
    "language",
    "lint",
    "lint_cmd",
    "map_tokens",
    "max_output_tokens",
    "mentions",
    "prompts",
    "suggest_commands",
    "temperature",
    "thinking",
    "verify_rounds",
];

/// What a turn is made with, by name, wherever it was said: by a flag, a variable or the user's settings.
pub(crate) fn of_a_turn(settings: &Settings, recites: bool) -> BTreeMap<String, String> {
    let entries = settings.layers.effective().filter(|entry| OF_A_TURN.contains(&entry.name.as_str()));
    let mut all: BTreeMap<String, String> =
        entries.map(|entry| (entry.name.clone(), entry.shown().to_string())).collect();
    let mut say = |name: &str, value: String| all.insert(name.to_owned(), value);
    if recites {
        settings.edit_format.map(|format| say("edit_format", format.to_string()));
        return all;
    }
    // Where nobody can be asked, the first task tells why.
    let named = settings.model.clone().unwrap_or_default();
    match settings.endpoint_without_key(&named) {
        Ok(Some(endpoint)) => {
            say("model", endpoint.model);
            say("base_url", shown_url(&endpoint.base_url));
            say("api", endpoint.api.name().to_owned());
        }
        _ => {
            say("model", named);
        }
    }
    let format = settings.edit_format.unwrap_or_else(|| facts(&Outfit::new(settings.clone())).edit_format);
    say("edit_format", format.to_string());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ModelArgs;
    use rhumb::config::{Overrides, Sources};
    use std::num::NonZeroUsize;
    use std::time::Duration;

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

    fn board(tasks: &[String], workers: usize) -> Schedule<'_, String> {
        let open: VecDeque<&String> = tasks.iter().collect();
        let (entries, all) = (Vec::new(), open.len());
        Schedule { open, entries, all, spent: 0.0, promised: 0.0, workers, busy: 0, in_a_row: 0, end: None }
    }

    /// A course of nobody's tasks with a budget of a dollar, and the next task of a board.
    fn with_a_dollar(
        tasks: &[String],
        test: impl Fn(&BenchRun<'_, String>, &dyn Fn(&mut Schedule<'_, String>) -> Option<f64>),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (args, header) = (args(folder.path(), 1.0), RunHeader::default());
        let course = BenchRun::open(&args, &header, tasks, |task| task).unwrap();
        test(&course, &|board| board.next(Some(1.0), &Stop::default()).map(|(_, share)| share.unwrap()));
    }

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < COST_EPSILON)
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
            let entry = TaskResult { cost: Some(0.05), ..TaskResult::default() };
            assert!(board.take(course, (&tasks[0], Some(0.25)), Ok(TaskOutcome::TaskResult(Box::new(entry)))));
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
            let too_little = |cost: f64| Ok(TaskOutcome::NoMoney(Some(cost)));
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

    #[test]
    fn a_run_is_known_by_its_settings_wherever_they_are_said() {
        let of = |flag: Option<&str>, vars: &[(&str, &str)]| {
            let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let flags = Overrides { model: flag.map(str::to_owned), ..Overrides::default() };
            of_a_turn(&Settings::load(&Sources { flags, env: &env, paths: None, place: None }).unwrap(), false)
        };
        let address = ("RHUMB_BASE_URL", "http://me:secret@127.0.0.1:1/v1");
        let by_flag = of(Some("m"), &[address]);
        assert_eq!(by_flag, of(None, &[address, ("RHUMB_MODEL", "m"), ("RHUMB_THEME", "nord")]));
        assert_eq!(by_flag["model"], "m");
        assert!(!by_flag["base_url"].contains("secret"), "{by_flag:?}");
        for other in [("RHUMB_MODEL", "n"), ("RHUMB_MAP_TOKENS", "7"), ("RHUMB_THINKING", "high")] {
            assert_ne!(by_flag, of(Some("m").filter(|_| other.0 != "RHUMB_MODEL"), &[address, other]), "{other:?}");
        }
        assert_ne!(by_flag["edit_format"], "udiff");
        assert_eq!(of(Some("m"), &[address, ("RHUMB_EDIT_FORMAT", "udiff")])["edit_format"], "udiff");
    }
}
