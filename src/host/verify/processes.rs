//! Runs the commands of the session, each on a thread that may block, and reports their progress.

use super::{CheckContext, CommandEvent, check};
use crate::host::{Host, RequestEnv, caught, changes_of, isolation_notes, lock, sentence, trial_hint};
use crate::store::{output_file, save_output};
use rhumb_edit::review::{HunkId, failure_inducing_set};
use rhumb_edit::{FileChange, FileProposal};
use rhumb_llm::models::Model;
use rhumb_session::context::{Excerpt, excerpt, fence_for};
use rhumb_session::{
    Bisection, Failure, JobOutcome, Origin, Response, RunEffect, RunResponse, SharedText, TooLargeCopy, TrialCommand,
    TrialRequest, VerifyRequest,
};
use rhumb_tokens::TokenCounter;
use rhumb_trial::{ChangedFile, FileIsolation, Isolation, RunOptions, Trial, TrialError};
use rhumb_workspace::process::{
    self, CommandLine, CommandOutcome, End, Environment, Output, RunRequest, SecretMask, StopHandle,
};
use rhumb_workspace::{Root, WriteError};
use secrecy::ExposeSecret as _;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The variable of a key that is only for this program.
const OWN_KEY: &str = "RHUMB_API_KEY";

/// Keeps commands from prompting and from starting a pager: they have no terminal.
const NON_INTERACTIVE: [(&str, &str); 4] =
    [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_EDITOR", "false")];

/// An output may use one part in this many of the window, within the limits below.
const OUTPUT_SHARE: usize = 8;
const MIN_OUTPUT_TOKENS: usize = 1_024;
const MAX_OUTPUT_TOKENS: usize = 8_192;

/// How often to check whether the commands have ended, at the end of the program.
const POLL: Duration = Duration::from_millis(20);

/// How long the end of the program waits for them. Longer than the grace period of a command.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct RunningJobs {
    running: Mutex<BTreeMap<u64, StopHandle>>,
    runs: AtomicU64,
    reported_missing: Mutex<BTreeSet<String>>,
    /// How the files were isolated in the last trial. What an isolation lacks is reported when this changes.
    isolation: Mutex<Option<FileIsolation>>,
}

/// Maximum number of tokens of an output in a request to this model.
pub fn output_budget(env: &RequestEnv, model: &Model) -> usize {
    (env.window(model).max_input() / OUTPUT_SHARE).clamp(MIN_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS)
}

/// Runs one command line in the root.
///
/// # Errors
/// The command cannot be started.
pub(super) fn run_command(
    root: &Root,
    env: &RequestEnv,
    line: &CommandLine,
    origin: Origin,
    limit: Option<Duration>,
    stop: &StopHandle,
    watch: &mut dyn FnMut(process::LiveOutput, Duration),
) -> Result<CommandOutcome, Failure> {
    let environment = environment(env, origin);
    let masks = masks(env);
    let request = RunRequest { line, folder: root.path(), time_limit: limit, environment: &environment, masks: &masks };
    let mut create_file = || output_file_for(env, &line.text());
    process::run(&request, stop, &mut create_file, watch)
        .map_err(|error| Failure { message: format!("{error}."), hint: error.hint().into() })
}

fn output_file_for(env: &RequestEnv, what: &str) -> io::Result<Option<(PathBuf, File)>> {
    let Some(state) = env.settings.state_folder.as_deref() else { return Ok(None) };
    output_file(state, what).map(Some).map_err(|error| io::Error::other(error.to_string()))
}

/// The environment of a command. No command gets the key of this program, and one that the model suggested gets no key at all.
pub fn environment(env: &RequestEnv, origin: Origin) -> Environment {
    let with = NON_INTERACTIVE.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let mut without = vec![OWN_KEY.to_owned()];
    if origin == Origin::Model {
        without.extend(env.settings.keys.variables().map(|(name, _)| name.to_owned()));
    }
    Environment { without, guarded: origin == Origin::Model, with }
}

/// The keys, which no output may show.
pub fn masks(env: &RequestEnv) -> SecretMask {
    SecretMask::new(env.settings.keys.variables().map(|(name, key)| (name, key.expose_secret())))
}

pub(super) fn notes_of(line: &str, ended: &CommandOutcome) -> Vec<Failure> {
    let mut notes = Vec::new();
    if ended.left_running {
        let message = format!("{line} left processes in the background, which were ended.");
        notes.push(Failure { message, hint: "Start long-running processes in another terminal.".into() });
    }
    if ended.end == End::WantedTerminal {
        let message = format!("{line} tried to read from the terminal and was stopped.");
        notes.push(Failure::new(message, "Run it in another terminal, or pass its input on the command line."));
    }
    if let Some(why) = &ended.output.not_kept {
        let message = format!("The output of {line} is too long for memory, and could not be saved: {why}.");
        notes.push(Failure { message, hint: "Check the free space and permissions of the state folder.".into() });
    }
    notes
}

impl Host {
    pub(crate) fn run_commands(self, effect: RunEffect) {
        match effect {
            RunEffect::Command { job, line, origin } => {
                self.start_job(job, move |host, stop| host.run_one(job, &line, origin, stop));
            }
            RunEffect::Check { job, check } => {
                self.start_job(job, move |host, stop| host.run_checks(job, &check, stop));
            }
            RunEffect::Try { job, trial } => {
                self.start_job(job, move |host, stop| host.run_trial(job, &trial, stop));
            }
            RunEffect::Stop(job) => {
                if let Some(stop) = lock(&self.shared.running_jobs.running).get(&job) {
                    stop.stop();
                }
            }
        }
    }

    fn start_job(self, job: u64, work: impl FnOnce(&Self, &StopHandle) -> JobOutcome + Send + 'static) {
        let stop = StopHandle::default();
        lock(&self.shared.running_jobs.running).insert(job, stop.clone());
        tokio::task::spawn_blocking(move || {
            let outcome = caught(|| work(&self, &stop)).unwrap_or_else(|failure| JobOutcome {
                notes: vec![failure],
                failed: true,
                ..JobOutcome::default()
            });
            lock(&self.shared.running_jobs.running).remove(&job);
            self.respond_now(Response::Ran(RunResponse::Done { job, outcome }));
        });
    }

    /// Does work that [`RunEffect::Stop`] and the end of the program stop.
    pub(in crate::host) fn as_job<T>(&self, job: u64, stop: &StopHandle, work: impl FnOnce() -> T) -> T {
        lock(&self.shared.running_jobs.running).insert(job, stop.clone());
        let result = work();
        lock(&self.shared.running_jobs.running).remove(&job);
        result
    }

    /// Stops all commands, waits until they have ended, and removes the trial checkout. Blocks: only for the end of the program.
    pub fn end_commands(&self) {
        for stop in lock(&self.shared.running_jobs.running).values() {
            stop.stop();
        }
        let until = Instant::now() + STOP_TIMEOUT;
        while !lock(&self.shared.running_jobs.running).is_empty() && Instant::now() < until {
            std::thread::sleep(POLL);
        }
        // The program may end without dropping the host. If a trial still runs, the next one cleans up.
        if let Ok(mut trial) = self.shared.trial.try_lock() {
            trial.take();
        }
    }

    fn run_one(&self, job: u64, line: &CommandLine, origin: Origin, stop: &StopHandle) -> JobOutcome {
        let env = &self.shared.env;
        let text = line.text().into_owned();
        let mut on_event = self.event_sender(job);
        on_event(CommandEvent::Began { line: &text });
        let mut watch = |live, took: Duration| on_event(CommandEvent::Said { live, took });
        let result = run_command(&self.shared.root, env, line, origin, None, stop, &mut watch);
        on_event(CommandEvent::Ended { result: result.as_ref().map_err(Clone::clone) });
        let ended = match result {
            Ok(ended) => ended,
            Err(failure) => return JobOutcome { failed: true, notes: vec![failure], ..JobOutcome::default() },
        };
        let said = !ended.output.text.trim().is_empty();
        let outcome = self.outcome_of(&text, &ended);
        JobOutcome { shared: outcome.shared.filter(|_| said), ..outcome }
    }

    /// The outcome of a job that ran one command, with its output as a text for the model.
    fn outcome_of(&self, line: &str, ended: &CommandOutcome) -> JobOutcome {
        let (env, counter) = (&self.shared.env, self.counter());
        let mut notes = notes_of(line, ended);
        let title = format!("`{}`", short_name(line));
        let budget = output_budget(env, &self.model());
        let (shared, note) = shared_text(env, &*counter, budget, &title, &ended.output);
        notes.extend(note);
        let text = as_message(line, ended, &shared.text);
        let shared = Some(SharedText { tokens: counter.count(&text), text, ..shared });
        let stopped = ended.end == End::Stopped;
        JobOutcome { shared, failed: !ended.end.is_success(), stopped, notes, ..JobOutcome::default() }
    }

    /// Runs a command in the trial checkout, or searches for the hunks that make it fail.
    fn run_trial(&self, job: u64, request: &TrialRequest, stop: &StopHandle) -> JobOutcome {
        let env = &self.shared.env;
        let failed = |failure| JobOutcome { notes: vec![failure], ..failed_outcome() };
        let line = match &request.command {
            TrialCommand::Line(line) => Some(line.clone()),
            TrialCommand::Tests => env.settings.test_cmd.clone(),
        };
        let Some(line) = line else {
            let usual = super::usual_tests(self.shared.root.path()).unwrap_or("make test");
            let hint = format!("Set test_cmd in rhumb.toml, or give a command: /try {usual}.");
            return failed(Failure::new("No test command is set (test_cmd).", hint));
        };
        let mut run =
            TrialRun { host: self, job, request, line, stop, notes: Vec::new(), changed: Vec::new(), is_stale: false };
        match self.with_trial(|trial| run.all(trial)).map_err(NotRun::from).flatten() {
            Ok(outcome) => outcome,
            Err(NotRun { failure, is_too_large: true }) => {
                let refused = TooLargeCopy { trial: request.clone(), failure };
                JobOutcome { too_large: Some(Box::new(refused)), notes: run.notes, ..failed_outcome() }
            }
            Err(NotRun { failure, .. }) => {
                JobOutcome { notes: [run.notes, vec![failure]].concat(), ..failed_outcome() }
            }
        }
    }

    fn run_checks(&self, job: u64, request: &VerifyRequest, stop: &StopHandle) -> JobOutcome {
        let counter = self.counter();
        let mut on_event = self.event_sender(job);
        let mut context = CheckContext {
            root: &self.shared.root,
            env: &self.shared.env,
            counter: &*counter,
            budget: output_budget(&self.shared.env, &self.model()),
            stop,
            on_event: &mut on_event,
            reported_missing: &self.shared.running_jobs.reported_missing,
        };
        check(&mut context, request)
    }

    pub(in crate::host) fn event_sender(&self, job: u64) -> impl FnMut(CommandEvent<'_>) {
        let mut run = 0;
        move |event| {
            let response = match event {
                CommandEvent::Began { line } => {
                    run = self.shared.running_jobs.runs.fetch_add(1, Ordering::SeqCst) + 1;
                    RunResponse::Started { job, run, line: line.to_owned() }
                }
                CommandEvent::Said { live, took } => RunResponse::Output { run, live, seconds: took.as_secs() },
                CommandEvent::Ended { result: Ok(ended) } => RunResponse::Ended {
                    run,
                    end: Ok(ended.end),
                    output: Arc::from(ended.output.text.as_str()),
                    seconds: ended.took.as_secs(),
                },
                CommandEvent::Ended { result: Err(failure) } => {
                    let end = Err(failure.message.trim_end_matches('.').to_owned());
                    RunResponse::Ended { run, end, output: Arc::from(""), seconds: 0 }
                }
            };
            self.respond_now(Response::Ran(response));
        }
    }
}

/// A command that runs in a trial, once or on several sets of hunks.
struct TrialRun<'h> {
    host: &'h Host,
    job: u64,
    request: &'h TrialRequest,
    line: String,
    stop: &'h StopHandle,
    notes: Vec<Failure>,
    /// What the command of the last run changed.
    changed: Vec<FileProposal>,
    /// Whether files of the repository changed during a run.
    is_stale: bool,
}

/// Why a command was not run in a trial.
struct NotRun {
    failure: Failure,
    /// Whether the user can have the repository copied all the same.
    is_too_large: bool,
}

impl From<TrialError> for NotRun {
    fn from(error: TrialError) -> Self {
        let is_too_large = matches!(error, TrialError::TooLarge { .. });
        Self { failure: Failure::new(sentence(&format!("{error}.")), trial_hint(&error)), is_too_large }
    }
}

impl From<WriteError> for NotRun {
    fn from(error: WriteError) -> Self {
        Self { failure: Failure::new(format!("{error}."), error.hint()), is_too_large: false }
    }
}

impl TrialRun<'_> {
    /// Does what was requested.
    fn all(&mut self, trial: &mut Trial) -> Result<JobOutcome, NotRun> {
        let host = self.host;
        if self.request.may_copy {
            trial.set_max_copy_bytes(u64::MAX);
        }
        // What the isolation lacks is named before the first command.
        if lock(&host.shared.running_jobs.isolation).is_none() {
            host.report_isolation(&trial.probe(host.shared.env.settings.trial_network)?);
        }
        let hunks = self.request.review.proposed_hunks();
        if self.request.bisects { self.bisect(trial, &hunks) } else { self.once(trial, &hunks) }
    }

    /// Runs the command on these hunks.
    fn run(&mut self, trial: &mut Trial, hunks: &[HunkId]) -> Result<CommandOutcome, NotRun> {
        let (env, root) = (&self.host.shared.env, &self.host.shared.root);
        let changes = changes_of(root, &self.request.writes(hunks))?;
        let options = RunOptions {
            network: env.settings.trial_network,
            time_limit: Some(env.settings.command_timeout),
            environment: environment(env, Origin::Model),
            masks: masks(env),
            ..RunOptions::new(CommandLine::Shell(self.line.clone()))
        };
        let mut on_event = self.host.event_sender(self.job);
        on_event(CommandEvent::Began { line: &self.line });
        let mut log = || output_file_for(env, &self.line);
        let mut watch = |live, took: Duration| on_event(CommandEvent::Said { live, took });
        let result = trial.run(&changes, &options, self.stop, &mut log, &mut watch).map_err(NotRun::from);
        let outcome = result.as_ref().map(|result| &result.outcome).map_err(|not_run| not_run.failure.clone());
        on_event(CommandEvent::Ended { result: outcome });
        let result = result?;
        self.host.report_isolation(&result.isolation);
        self.is_stale |= !result.stale.is_empty();
        if !result.stale.is_empty() {
            let message =
                format!("{} changed while the trial ran, so its result may be wrong.", result.stale.join(", "));
            self.notes.push(Failure::new(message, "Run it again."));
        }
        self.changed = result.changed.iter().filter_map(proposed_change).collect();
        Ok(result.outcome)
    }

    fn once(&mut self, trial: &mut Trial, hunks: &[HunkId]) -> Result<JobOutcome, NotRun> {
        let ended = self.run(trial, hunks)?;
        let mut outcome = self.host.outcome_of(&self.line, &ended);
        outcome.notes.splice(..0, std::mem::take(&mut self.notes));
        if let Some(shared) = &mut outcome.shared {
            shared.title = format!("`{}` {}.", short_name(&self.line), super::how(ended.end, ended.took));
        }
        outcome.changed = std::mem::take(&mut self.changed);
        outcome.is_stale = self.is_stale;
        Ok(outcome)
    }

    /// Searches for a smallest set of hunks without which the command succeeds.
    fn bisect(&mut self, trial: &mut Trial, hunks: &[HunkId]) -> Result<JobOutcome, NotRun> {
        let needed = self.request.review.needed_hunks(hunks);
        let mut passes = |set: &[HunkId]| -> Result<bool, Option<NotRun>> {
            let ended = self.run(trial, set).map_err(Some)?;
            if matches!(ended.end, End::Stopped) { Err(None) } else { Ok(ended.end.is_success()) }
        };
        let mut search = || -> Result<Bisection, Option<NotRun>> {
            // The last result may be of other hunks, or a matter of chance.
            if passes(hunks)? {
                return Ok(Bisection::Passes);
            }
            if !passes(&[])? {
                return Ok(Bisection::FailsWithoutHunks);
            }
            let found = failure_inducing_set(hunks.len(), &needed, |set| {
                passes(&set.iter().filter_map(|at| hunks.get(*at).copied()).collect::<Vec<_>>())
            })?;
            Ok(Bisection::Culprits(found.into_iter().filter_map(|at| hunks.get(at).copied()).collect()))
        };
        let bisection = match search() {
            Ok(bisection) => Some(bisection),
            Err(None) => None,
            Err(Some(not_run)) => return Err(not_run),
        };
        let notes = std::mem::take(&mut self.notes);
        Ok(JobOutcome { stopped: bisection.is_none(), bisection, notes, ..JobOutcome::default() })
    }
}

impl Host {
    /// Reports what the isolation lacks, if the files are not isolated as in the trial before.
    fn report_isolation(&self, isolation: &Isolation) {
        if lock(&self.shared.running_jobs.isolation).replace(isolation.files) != Some(isolation.files) {
            let notes = isolation_notes(isolation).into_iter().map(RunResponse::Note);
            notes.for_each(|note| self.respond_now(Response::Ran(note)));
        }
    }
}

/// What a command changed in a file, as a change to review; `None` if the file is not text.
fn proposed_change(file: &ChangedFile) -> Option<FileProposal> {
    let text = |content: &Option<Arc<[u8]>>| -> Option<Option<Arc<str>>> {
        let Some(bytes) = content else { return Some(None) };
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.starts_with('\u{feff}'))?;
        Some(Some(text.into()))
    };
    let (base, proposed) = (text(&file.before)?, text(&file.after)?);
    let change = match (&base, &proposed) {
        (None, _) => FileChange::Create,
        (_, None) => FileChange::Delete,
        _ => FileChange::Modify,
    };
    Some(FileProposal { path: file.path.clone(), change, base, proposed })
}

fn failed_outcome() -> JobOutcome {
    JobOutcome { failed: true, ..JobOutcome::default() }
}

/// Maximum length of a short command name, in characters.
const MAX_NAME_CHARS: usize = 60;

fn short_name(command: &str) -> String {
    let first: String = command.lines().next().unwrap_or_default().chars().take(MAX_NAME_CHARS).collect();
    if first == command { first } else { format!("{first} …") }
}

/// An output as the model sees it: the command, its result, and what it printed.
fn as_message(line: &str, ended: &CommandOutcome, said: &str) -> String {
    let said = said.trim_end_matches('\n');
    let fence = fence_for([said, line]);
    let how = super::how(ended.end, ended.took);
    format!(
        "The developer ran this command, which {how}:\n{fence}sh\n{line}\n{fence}\nIt printed:\n{fence}\n{said}\n{fence}"
    )
}

/// An output for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedOutput {
    /// The part that the model sees.
    pub excerpt: Excerpt,
    /// The file with the whole output; `None` if nothing was omitted.
    pub whole: Option<PathBuf>,
    /// The error if it could not be saved.
    pub note: Option<Failure>,
}

/// The output of `what` (a command, a page) with at most `budget` tokens. A longer one is saved in a file.
pub fn shared_output(
    env: &RequestEnv,
    what: &str,
    text: &str,
    budget: usize,
    counter: &dyn TokenCounter,
) -> SharedOutput {
    let all = excerpt(text, budget, counter, None);
    let Some(state) = env.settings.state_folder.as_ref().filter(|_| all.omitted_bytes > 0) else {
        return SharedOutput { excerpt: all, whole: None, note: None };
    };
    match save_output(state, what, text) {
        Ok(path) => {
            let location = path.display().to_string();
            SharedOutput { excerpt: excerpt(text, budget, counter, Some(&location)), whole: Some(path), note: None }
        }
        Err(error) => {
            let message = format!("The output of {what} was shortened, and the whole could not be saved: {error}.");
            let note = Failure { message, hint: "Check its free space and permissions.".into() };
            SharedOutput { excerpt: all, whole: None, note: Some(note) }
        }
    }
}

/// The output of a command with at most `budget` tokens, under a title.
pub(super) fn shared_text(
    env: &RequestEnv,
    counter: &dyn TokenCounter,
    budget: usize,
    title: &str,
    output: &Output,
) -> (SharedText, Option<Failure>) {
    // An output that is too long for memory is in a file already.
    let (text, whole, note) = match &output.whole {
        Some(path) => {
            let location = path.display().to_string();
            (excerpt(&output.text, budget, counter, Some(&location)).text, Some(path.clone()), None)
        }
        None => {
            let shared = shared_output(env, title, &output.text, budget, counter);
            (shared.excerpt.text, shared.whole, shared.note)
        }
    };
    let tokens = counter.count(&text);
    (SharedText { title: title.to_owned(), text, tokens, whole }, note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::host::CachedCounter;

    #[test]
    fn a_long_output_names_the_file_with_the_whole() {
        let state = tempfile::tempdir().unwrap();
        let settings = Settings { state_folder: Some(state.path().to_owned()), ..Settings::default() };
        let (env, counter) = (RequestEnv::new(settings), CachedCounter::for_model("m"));
        let text: String = (0..2_000).map(|number| format!("test {number} ... ok\n")).collect();
        let shared = shared_output(&env, "cargo test", &text, 300, &counter);
        let whole = shared.whole.unwrap();
        assert_eq!(std::fs::read_to_string(&whole).unwrap(), text);
        assert!(shared.excerpt.text.contains(&whole.display().to_string()), "{}", shared.excerpt.text);
        assert!(shared.excerpt.text.starts_with("test 0 ") && shared.excerpt.text.ends_with("test 1999 ... ok\n"));
        assert!(counter.count(&shared.excerpt.text) <= 300);
        let short = shared_output(&env, "cargo test", "ok\n", 300, &counter);
        assert_eq!((short.excerpt.text.as_str(), short.whole), ("ok\n", None));
    }
}
