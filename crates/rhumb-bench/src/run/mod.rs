//! A run of a benchmark with a model: several workers do tasks within a budget, and each result is written to the run folder at once,
//! so that a stopped run can continue.
//!
//! | module | contents |
//! |---|---|
//! | `turn` | one turn of rhumb in a separate process |
//! | `folder` | the files of a run |
//! | [`summary`] | figures of a run, and of two runs |
//! | `report` | tables and JSON; `rhumb-bench compare` |

pub(crate) mod folder;
pub(crate) mod report;
pub mod summary;
pub(crate) mod turn;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rhumb::config::{Paths, Settings};
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::print_message;
use rhumb::host::{RequestEnv, facts};
use rhumb_llm::redacted_url;
use rhumb_workspace::process::StopHandle;
use serde_json::Value;

use crate::args::RunBenchArgs;
use folder::{RunFolder, RunFolderError, RunHeader, UnfinishedCost};
use report::{as_json, report};
use summary::TaskResult;
use turn::{TurnReport, refused};

/// Number of consecutive tasks without an answer of the provider after which the run ends.
const MAX_FAILURES_IN_A_ROW: usize = 3;
/// Sums of dollars that differ by less are considered equal.
const COST_EPSILON: f64 = 1e-6;
/// Maximum number of names in an error message.
const MAX_LISTED_NAMES: usize = 10;

/// The outcome of a task.
pub(crate) enum TaskOutcome {
    /// The task is done.
    TaskResult(Box<TaskResult>),
    /// The provider failed; the task stays open. The reason, and the cost in dollars.
    Trouble(String, Option<f64>),
    /// The budget did not suffice. The cost in dollars.
    NoMoney(Option<f64>),
    /// The user stopped the run. The cost in dollars.
    Stopped(Option<f64>),
}

/// The tasks of a run, with the results of earlier parts of it.
pub(crate) struct BenchRun<'c, T> {
    args: &'c RunBenchArgs,
    header: &'c RunHeader,
    results: RunFolder,
    /// The ids of the selected tasks.
    wanted: BTreeSet<&'c str>,
    /// The results of selected tasks that are done.
    before: Vec<TaskResult>,
    /// The selected tasks that are open.
    open: Vec<&'c T>,
    /// The cost of earlier parts of the run in dollars, including tasks that are not selected.
    spent: f64,
}

/// The state that the workers share.
struct Schedule<'c, T> {
    open: VecDeque<&'c T>,
    entries: Vec<TaskResult>,
    all: usize,
    /// Dollars that were spent, and those reserved for tasks in progress.
    spent: f64,
    promised: f64,
    /// Number of active workers, and of those that have a task.
    workers: usize,
    busy: usize,
    in_a_row: usize,
    /// Why no further task is started.
    end: Option<UserError>,
}

impl<'c, T: Sync> BenchRun<'c, T> {
    /// Opens the folder of a run for the tasks that the flags select. `id` gives the id of a task.
    ///
    /// # Errors
    /// The flags select no task, the folder holds another run or cannot be used, or the budget cannot be enforced.
    pub(crate) fn open(
        args: &'c RunBenchArgs,
        header: &'c RunHeader,
        tasks: &'c [T],
        id: impl Fn(&'c T) -> &'c str,
    ) -> Result<Self, UserError> {
        args.check(&tasks.iter().map(&id).collect::<Vec<_>>())?;
        if args.budget.is_some() && header.oracle.is_some() {
            let text = "--budget has no meaning for an oracle model, which costs nothing";
            return Err(UserError::new(ErrorKind::Usage, text, "leave --budget or --recite out"));
        }
        let (results, mut before) = RunFolder::open(&args.folder(), header).map_err(|error| results_error(&error))?;
        let mut costs = before.iter().map(|entry| entry.cost).chain(results.lost.iter().map(|lost| lost.cost));
        let spent = costs.try_fold(0.0, |sum, cost| Some(sum + cost?));
        if args.budget.is_some() && spent.is_none() {
            let text =
                format!("the cost of {} so far is unknown, so no budget can be enforced", args.folder().display());
            return Err(UserError::new(ErrorKind::Usage, text, "leave --budget out, or give another --out"));
        }
        let open = tasks.iter().filter(|task| {
            let id = id(task);
            args.selects(id) && before.iter().all(|entry| entry.id != id)
        });
        let open = open.collect();
        let wanted: BTreeSet<&str> = tasks.iter().map(&id).filter(|id| args.selects(id)).collect();
        before.retain(|entry| wanted.contains(entry.id.as_str()));
        Ok(Self { args, header, results, wanted, before, open, spent: spent.unwrap_or_default() })
    }

    /// Whether all selected tasks are done.
    pub(crate) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Does the open tasks and prints the figures of all selected ones. `work` gets a task and the dollars that it may cost. Returns the
    /// exit code: 1 if tasks are still open.
    ///
    /// # Errors
    /// Why the run ended early, or standard output cannot be written.
    pub(crate) fn run(
        mut self,
        stop: &StopHandle,
        work: impl Fn(&T, Option<f64>) -> Result<TaskOutcome, UserError> + Sync,
    ) -> Result<u8, UserError> {
        let schedule = Mutex::new(Schedule {
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
                    // The schedule is locked between tasks, never during one.
                    let next = || lock(&schedule).next(self.args.budget, stop);
                    let take = |task, done| lock(&schedule).take(&self, task, done);
                    while let Some((task, share)) = next() {
                        let done = work(task, share);
                        if !take((task, share), done) {
                            break;
                        }
                    }
                });
            }
        });
        let schedule = schedule.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.conclude(stop, &schedule.entries, schedule.end)
    }

    fn conclude(&self, stop: &StopHandle, entries: &[TaskResult], end: Option<UserError>) -> Result<u8, UserError> {
        let Self { args, header, wanted, .. } = self;
        if let Some(error) = end.as_ref().filter(|_| entries.is_empty()) {
            return Err(error.clone());
        }
        report(header, entries, wanted.len(), args.json)?;
        if let Some(file) = args.report_file() {
            save(file, &as_json(header, entries, wanted.len()))?;
        }
        if stop.is_stopped() {
            print_message(&format!("stopped; the same command continues the run in {}", args.folder().display()));
            return Ok(INTERRUPTED);
        }
        end.map_or(Ok(u8::from(entries.len() < wanted.len())), Err)
    }
}

/// The exit code of a run that was stopped.
const INTERRUPTED: u8 = 130;

impl RunBenchArgs {
    /// Fails if a text of `--only` is in no id.
    fn check(&self, ids: &[&str]) -> Result<(), UserError> {
        let is_in_none = |part: &&String| !ids.iter().any(|id| id.contains(part.as_str()));
        let Some(part) = self.only.iter().find(is_in_none) else { return Ok(()) };
        Err(UserError::new(ErrorKind::Usage, format!("no task has {part:?} in its name"), named("tasks", ids)))
    }
}

/// A hint with the available names, or the first of them.
pub(crate) fn named(what: &str, names: &[&str]) -> String {
    let some: Vec<&str> = names.iter().take(MAX_LISTED_NAMES).copied().collect();
    let more = if names.len() > MAX_LISTED_NAMES {
        format!(" and {} more", names.len() - MAX_LISTED_NAMES)
    } else {
        String::new()
    };
    format!("available {what}: {}{more}", some.join(", "))
}

fn save(file: &Path, report: &Value) -> Result<(), UserError> {
    std::fs::write(file, format!("{report:#}\n")).map_err(|error| {
        let text = format!("cannot write {}: {error}", file.display());
        UserError::new(ErrorKind::Machine, text, "the run is kept; give --out another name that ends in .json")
    })
}

fn lock<'b, 'c, T>(schedule: &'b Mutex<Schedule<'c, T>>) -> MutexGuard<'b, Schedule<'c, T>> {
    schedule.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'c, T> Schedule<'c, T> {
    /// The next task for a worker and its share of the remaining budget. Without one the worker ends.
    fn next(&mut self, budget: Option<f64>, stop: &StopHandle) -> Option<(&'c T, Option<f64>)> {
        let is_over = self.end.is_some() || stop.is_stopped();
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

    /// Reserves a share of the budget for the next task. Idle workers get equal shares of the unreserved budget.
    fn with_share(&mut self, budget: Option<f64>) -> Option<(&'c T, Option<f64>)> {
        let left = budget.map(|budget| budget - self.spent - self.promised);
        if left.is_some_and(|left| left < COST_EPSILON) && !self.open.is_empty() {
            // A task in progress may leave some of its share. Its worker continues then.
            if self.busy == 0 {
                self.end = Some(no_money());
            }
            return None;
        }
        let idle = (self.workers - self.busy).min(self.open.len()).max(1);
        Some((self.open.pop_front()?, left.map(|left| left / idle as f64)))
    }

    /// Records the outcome of a task. Returns whether the worker continues.
    fn take<S>(
        &mut self,
        run: &BenchRun<'_, S>,
        (task, share): (&'c T, Option<f64>),
        done: Result<TaskOutcome, UserError>,
    ) -> bool {
        self.busy -= 1;
        self.promised -= share.unwrap_or_default();
        match done {
            Ok(TaskOutcome::TaskResult(entry)) => self.record_result(run, *entry),
            Ok(TaskOutcome::Trouble(why, cost)) => {
                print_message(&why);
                self.record_cost(run, "trouble", cost);
                self.in_a_row += 1;
                if self.in_a_row >= MAX_FAILURES_IN_A_ROW {
                    let text = format!("{MAX_FAILURES_IN_A_ROW} tasks in a row got no answer, the last because: {why}");
                    let hint = "run the command again when the cause is gone; results are kept";
                    self.end.get_or_insert(UserError::new(ErrorKind::Provider, text, hint));
                }
            }
            Ok(TaskOutcome::NoMoney(cost)) => {
                let left = run.args.budget.map_or(0.0, |budget| budget - self.spent);
                self.record_cost(run, "money", cost);
                return self.with_fewer(task, share.is_some_and(|share| share + COST_EPSILON < left));
            }
            Ok(TaskOutcome::Stopped(cost)) => self.record_cost(run, "stopped", cost),
            Err(error) => {
                self.end.get_or_insert(error);
            }
        }
        true
    }

    /// After a task whose share was too small, the worker ends, so that the others get more. The last worker continues if it can get
    /// more itself; otherwise the run ends.
    fn with_fewer(&mut self, task: &'c T, there_was_more: bool) -> bool {
        if self.workers == 1 && !there_was_more {
            self.end.get_or_insert(no_money());
            return true;
        }
        self.open.push_front(task);
        let continues = self.workers == 1;
        self.workers -= usize::from(!continues);
        continues
    }

    fn record_result<S>(&mut self, run: &BenchRun<'_, S>, entry: TaskResult) {
        self.in_a_row = 0;
        if let Err(error) = run.results.add(&entry) {
            self.end.get_or_insert(results_error(&error));
        }
        self.pay(run, entry.cost);
        self.entries.push(entry);
        self.report_progress();
    }

    /// Records a cost without a result, so that later parts of the run have less budget.
    fn record_cost<S>(&mut self, run: &BenchRun<'_, S>, why: &str, cost: Option<f64>) {
        if cost != Some(0.0)
            && let Err(error) = run.results.add_cost(&UnfinishedCost { why: why.to_owned(), cost })
        {
            self.end.get_or_insert(results_error(&error));
        }
        self.pay(run, cost);
    }

    fn pay<S>(&mut self, run: &BenchRun<'_, S>, cost: Option<f64>) {
        if run.args.budget.is_some() && cost.is_none() {
            let text = "the price of this model is unknown, so no budget can be enforced";
            let hint = format!("set its prices in [models.\"NAME\"] of {}, or leave --budget out", own_settings());
            self.end.get_or_insert(UserError::new(ErrorKind::Usage, text, hint));
        }
        self.spent += cost.unwrap_or_default();
    }

    fn report_progress(&self) {
        let Some(entry) = self.entries.last() else { return };
        let outcome = match entry.passed {
            Some(1) => "passed".to_owned(),
            Some(nth) => format!("passed at try {nth}"),
            None => "failed".to_owned(),
        };
        let passed = self.entries.iter().filter(|entry| entry.passed.is_some()).count();
        let done = self.entries.len();
        print_message(&format!(
            "{done} of {}: {outcome}: {} ({passed} passed, ${:.2})",
            self.all, entry.id, self.spent
        ));
    }
}

/// The settings file of benchmarks. The repository in which a benchmark is started has no influence.
fn own_settings() -> String {
    let file = Paths::of_user().map(|paths| paths.settings_file().display().to_string());
    file.map_or_else(|| "your own rhumb.toml".to_owned(), |file| format!("your own rhumb.toml ({file})"))
}

fn no_money() -> UserError {
    let hint = "results are kept; continue with a larger --budget";
    UserError::new(ErrorKind::Usage, "the budget does not suffice for the remaining tasks", hint)
}

/// The error for the folder of a run that cannot be used.
pub(crate) fn results_error(error: &RunFolderError) -> UserError {
    match error {
        RunFolderError::File { .. } => UserError::new(ErrorKind::Machine, error, "check the folder"),
        RunFolderError::Busy { .. } => {
            UserError::new(ErrorKind::Usage, error, "wait until it ends, or give another --out")
        }
        RunFolderError::Json { .. } => UserError::new(ErrorKind::Usage, error, "give another folder"),
        RunFolderError::Other { .. } => UserError::new(
            ErrorKind::Usage,
            error,
            "give another --out, or the settings with which the run was started",
        ),
    }
}

/// Makes SIGINT, SIGTERM and SIGHUP stop the run together with the processes that it started.
pub(crate) fn stop_on_signals() -> StopHandle {
    let stop = StopHandle::default();
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // A second signal ends the program at once. If registering fails, the first one does.
        let _ = signal_hook::flag::register_conditional_default(signal, stop.flag());
        let _ = signal_hook::flag::register(signal, stop.flag());
    }
    stop
}

/// The absolute path of a folder.
pub(crate) fn whole_path(folder: &Path) -> Result<PathBuf, UserError> {
    folder.canonicalize().map_err(|error| {
        UserError::new(ErrorKind::Usage, format!("cannot use {}: {error}", folder.display()), "give an existing folder")
    })
}

/// The result of a task before its first turn.
pub(crate) fn new_entry(id: &str, language: &str) -> TaskResult {
    TaskResult { id: id.to_owned(), language: language.to_owned(), cost: Some(0.0), ..TaskResult::default() }
}

/// Adds the report of a turn. Returns an outcome if the turn cannot be graded.
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

/// Writes a file of the run and creates its folder.
pub(crate) fn keep(path: &Path, text: &str) -> Result<(), UserError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|error| refused(path, &error))
}

/// The settings that influence requests and results, apart from those of the model. Prices and keys are left out, because correcting
/// them does not make it another run.
const OF_A_TURN: [&str; 14] = [
    "context_window", "conventions", "edit_rounds", "language", "lint", "lint_cmd", "map_tokens", "max_output_tokens",
    "mentions", "prompts", "suggest_commands", "temperature", "thinking", "verify_rounds",
];

/// The settings that identify a run, by name, whether set by a flag, a variable or the settings file.
pub(crate) fn of_a_turn(settings: &Settings, is_oracle: bool) -> BTreeMap<String, String> {
    let entries = settings.layers.effective().filter(|entry| OF_A_TURN.contains(&entry.name.as_str()));
    let mut all: BTreeMap<String, String> =
        entries.map(|entry| (entry.name.clone(), entry.shown().to_string())).collect();
    let mut say = |name: &str, value: String| all.insert(name.to_owned(), value);
    if is_oracle {
        settings.edit_format.map(|format| say("edit_format", format.to_string()));
        return all;
    }
    // If the model cannot be used, the first task reports why.
    let named = settings.model.clone().unwrap_or_default();
    match settings.endpoint_without_key(&named) {
        Ok(Some(endpoint)) => {
            say("model", endpoint.model);
            say("base_url", redacted_url(&endpoint.base_url));
            say("api", endpoint.api.name().to_owned());
        }
        _ => {
            say("model", named);
        }
    }
    let format = settings.edit_format.unwrap_or_else(|| facts(&RequestEnv::new(settings.clone())).edit_format);
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

    fn schedule(tasks: &[String], workers: usize) -> Schedule<'_, String> {
        let open: VecDeque<&String> = tasks.iter().collect();
        let (entries, all) = (Vec::new(), open.len());
        Schedule { open, entries, all, spent: 0.0, promised: 0.0, workers, busy: 0, in_a_row: 0, end: None }
    }

    /// A run with a budget of one dollar, and a function that takes the next task of a schedule.
    fn with_a_dollar(
        tasks: &[String],
        test: impl Fn(&BenchRun<'_, String>, &dyn Fn(&mut Schedule<'_, String>) -> Option<f64>),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (args, header) = (args(folder.path(), 1.0), RunHeader::default());
        let run = BenchRun::open(&args, &header, tasks, |task| task).unwrap();
        test(&run, &|schedule| schedule.next(Some(1.0), &StopHandle::default()).map(|(_, share)| share.unwrap()));
    }

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < COST_EPSILON)
    }

    #[test]
    fn workers_share_the_budget() {
        let tasks: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        with_a_dollar(&tasks, |run, next| {
            let mut schedule = schedule(&tasks, 4);
            for _ in 0..4 {
                let share = next(&mut schedule);
                assert!(near(share, 0.25), "{share:?}");
            }
            let entry = TaskResult { cost: Some(0.05), ..TaskResult::default() };
            assert!(schedule.take(run, (&tasks[0], Some(0.25)), Ok(TaskOutcome::TaskResult(Box::new(entry)))));
            let share = next(&mut schedule);
            assert!(near(share, 0.2), "reserved dollars are not given twice: {share:?}");
        });
    }

    #[test]
    fn a_task_whose_share_was_too_small_is_tried_again_with_more() {
        let tasks = ["a".to_owned(), "b".to_owned()];
        with_a_dollar(&tasks, |run, next| {
            let mut schedule = schedule(&tasks, 3);
            assert!(
                near(next(&mut schedule), 0.5) && near(next(&mut schedule), 0.5),
                "a third worker has nothing to do"
            );
            assert_eq!(next(&mut schedule), None);
            let too_little = |cost: f64| Ok(TaskOutcome::NoMoney(Some(cost)));
            assert!(!schedule.take(run, (&tasks[0], Some(0.5)), too_little(0.1)), "one worker fewer");
            let continues = schedule.take(run, (&tasks[1], Some(0.5)), too_little(0.0));
            assert!(continues && schedule.end.is_none(), "the last one can have more");
            assert!(near(next(&mut schedule), 0.9));
            schedule.take(run, (&tasks[0], Some(0.9)), too_little(0.0));
            assert!(schedule.end.is_some(), "there is no more");
            let lost = std::fs::read_to_string(run.args.folder().join("lost.jsonl")).unwrap();
            assert_eq!(lost, "{\"why\":\"money\",\"cost\":0.1}\n");
        });
    }

    #[test]
    fn a_run_is_identified_by_its_settings_wherever_they_are_set() {
        let of = |flag: Option<&str>, vars: &[(&str, &str)]| {
            let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let flags = Overrides { model: flag.map(str::to_owned), ..Overrides::default() };
            of_a_turn(&Settings::load(&Sources { flags, env: &env, paths: None, dirs: None }).unwrap(), false)
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
