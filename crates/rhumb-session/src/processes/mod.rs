//! Commands that run during the conversation: the user's own, tests and linters, and those that the model suggested.
//!
//! A *job* is one command, or a check of several steps. Each command of a job is a *run*, with its own log and a card in the
//! transcript. Esc stops the job that was started last.

use crate::proposal::trial::RunningTrial;
use crate::{Effect, Entry, Failure, Level, Session, TooLargeCopy, TrialRequest};
use rhumb_edit::FileProposal;
use rhumb_edit::review::HunkId;
use rhumb_text::count;
use rhumb_workspace::process::{CommandLine, End, LiveOutput};
use std::path::PathBuf;
use std::sync::Arc;
use verify::Verification;

mod log;
pub(super) mod suggested_commands;
pub(super) mod verify;

pub use log::RunLog;

/// A job to run, or to stop.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEffect {
    /// Run one command.
    Command {
        /// The job.
        job: u64,
        /// The command.
        line: CommandLine,
        /// The author of the command.
        origin: Origin,
    },
    /// Check files.
    Check {
        /// The job.
        job: u64,
        /// What to check.
        check: VerifyRequest,
    },
    /// Run a command in a trial checkout.
    Try {
        /// The job.
        job: u64,
        /// What to run, on which hunks.
        trial: TrialRequest,
    },
    /// Stop a job.
    Stop(u64),
}

/// The author of a command. It determines the environment of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user, directly or in trusted settings.
    Developer,
    /// The model; the user approved it.
    Model,
}

/// Whether checks of a kind are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckMode {
    /// They are not run.
    #[default]
    Off,
    /// The settings decide.
    FromSettings,
    /// They are run.
    On,
}

/// What to check.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerifyRequest {
    /// The files, each with its text before the change. Faults of that text are not reported.
    pub files: Vec<(String, Option<Arc<str>>)>,
    /// Whether syntax and linters are checked.
    pub lint: CheckMode,
    /// Whether the tests run.
    pub test: CheckMode,
    /// The test command; `None` for that of the settings.
    pub test_command: Option<String>,
    /// A command that failed before and runs again.
    pub rerun: Option<String>,
}

/// A check that failed and is repeated after each write of the fix, until it passes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepeatedCheck {
    /// The command that failed.
    pub line: Option<String>,
    /// Whether the tests of the settings failed.
    pub test: bool,
    /// Whether the linters found something.
    pub lint: bool,
}

impl RepeatedCheck {
    /// The check as the subject of a sentence, with its verb: ``"`make` passes"`` or `"The checks pass"`.
    fn with_verb(&self, singular: &str, plural: &str) -> String {
        match &self.line {
            Some(line) => format!("`{}` {singular}", line.lines().next().unwrap_or_default()),
            None => format!("The checks {plural}"),
        }
    }
}

/// The progress of a job.
#[derive(Debug, Clone)]
pub enum RunResponse {
    /// A command of a job was started.
    Started {
        /// The job.
        job: u64,
        /// The run.
        run: u64,
        /// The command line.
        line: String,
    },
    /// A command printed something, or a second passed.
    Output {
        /// The run.
        run: u64,
        /// The new output.
        live: LiveOutput,
        /// Seconds since it was started.
        seconds: u64,
    },
    /// A command ended.
    Ended {
        /// The run.
        run: u64,
        /// How it ended, or why it could not be started.
        end: Result<End, String>,
        /// The output: all of it, or its beginning and end.
        output: Arc<str>,
        /// Seconds that it took.
        seconds: u64,
    },
    /// Something that the user should know before the job ends.
    Note(Failure),
    /// The job is done.
    Done {
        /// The job.
        job: u64,
        /// The outcome.
        outcome: JobOutcome,
    },
}

/// An output, ready to be shared with the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedText {
    /// A title of one line.
    pub title: String,
    /// The text for the model.
    pub text: String,
    /// The number of its tokens.
    pub tokens: usize,
    /// The file with the whole output, if the text is cut.
    pub whole: Option<PathBuf>,
}

/// The outcome of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobOutcome {
    /// The output of a command, or the findings of a check.
    pub shared: Option<SharedText>,
    /// Whether the command failed or the check found something.
    pub failed: bool,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// Short descriptions of the checks that ran.
    pub checks: Vec<String>,
    /// The files with findings, or else those that were checked.
    pub files: Vec<String>,
    /// Of a search for the hunks that make a command fail, if it came to its end.
    pub bisection: Option<Bisection>,
    /// Of a trial: whether files of the repository changed meanwhile, so that the result may be wrong.
    pub is_stale: bool,
    /// Of a trial: the text files that the command itself changed.
    pub changed: Vec<FileProposal>,
    /// Of a trial that was not run: the copy that the user has to agree to.
    pub too_large: Option<Box<TooLargeCopy>>,
    /// Warnings for the user.
    pub notes: Vec<Failure>,
}

/// The result of a search for the hunks that make a command fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bisection {
    /// The command succeeds with all hunks.
    Passes,
    /// It fails without any of them as well.
    FailsWithoutHunks,
    /// It fails with these hunks, and succeeds without them.
    Culprits(Vec<HunkId>),
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum RunState {
    /// It runs.
    Running,
    /// It ended.
    Ended(End),
    /// It could not be started, for this reason.
    Failed(String),
}

impl RunState {
    /// A short description, with the time that it took so far.
    pub fn words(&self, seconds: u64) -> String {
        let time = if seconds > 0 { format!(" · {seconds} s") } else { String::new() };
        let words = match self {
            Self::Running => "running".to_owned(),
            Self::Ended(End::Exit(code)) => format!("exit code {code}"),
            Self::Ended(End::Signal(number)) => format!("ended by signal {number}"),
            Self::Ended(End::TimeLimit) => "stopped at its time limit".to_owned(),
            Self::Ended(End::Stopped) => "stopped by you".to_owned(),
            Self::Ended(End::WantedTerminal) => "ended because it tried to read from the terminal".to_owned(),
            Self::Failed(reason) => format!("not run: {reason}"),
        };
        words + &time
    }
}

/// The card of a run in the transcript.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommandRun {
    /// The run.
    pub run: u64,
    /// The command line.
    pub line: String,
    /// The state.
    pub state: RunState,
    /// Seconds that it took so far.
    pub seconds: u64,
    /// The first lines of the output, if lines after them are omitted.
    #[serde(default)]
    pub head: String,
    /// The number of lines that are omitted before `tail`. The log contains them.
    #[serde(default)]
    pub omitted: usize,
    /// The last lines of the output.
    pub tail: String,
}

impl CommandRun {
    /// The output as shown: the first lines, the number of omitted lines followed by `suffix`, and the last lines.
    pub fn excerpt(&self, suffix: &str) -> String {
        let omitted = (self.omitted > 0).then(|| format!("… {}{suffix}", count(self.omitted, "more line")));
        let parts = [Some(self.head.clone()), omitted, Some(self.tail.trim_end().to_owned())];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Determines how the outcome of a job is used.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Purpose {
    /// The user's own command: sharing its output with the model is offered.
    Run(RepeatedCheck),
    /// A git command: its output is never sent.
    Git,
    /// A command that the model suggested: sharing its output is offered.
    Suggested,
    /// Checks that the user requested: sharing the findings is offered.
    Check(RepeatedCheck),
    /// Checks after a write: the findings are sent, or sharing them is offered.
    Verify(Verification),
    /// A command of the agent loop: the number of its call. The loop has its outcome.
    Agent(usize),
    /// A command on hunks that are not written.
    Trial(RunningTrial),
    /// The search for the hunks that make a command fail.
    Bisect(RunningTrial),
}

#[derive(Debug)]
struct Job {
    number: u64,
    purpose: Purpose,
    /// The command that runs; empty before the first one.
    line: String,
    seconds: u64,
    run: Option<u64>,
    is_stopping: bool,
}

/// Maximum number of logs. The oldest ones are dropped.
const MAX_LOGS: usize = 30;

/// Running commands, and the logs of commands.
#[derive(Debug, Default)]
pub struct Processes {
    logs: Vec<RunLog>,
    offers_suggestions: bool,
    /// Patterns of suggested commands that run in a trial checkout without a question.
    allowed: Vec<String>,
    /// Suggested commands that wait for the edits of their answer.
    waiting: Vec<String>,
    max_rounds: usize,
    /// The failed check that the user shared last: the next request is about it.
    shared_check: Option<RepeatedCheck>,
    written: Vec<String>,
    /// The files that one request writes, with their texts before the request.
    bases: Vec<(String, Option<Arc<str>>)>,
    jobs: Vec<Job>,
    last_job: u64,
}

impl Processes {
    /// Before any command runs. Suggested commands that match a pattern of `allowed` run in a trial checkout without a question.
    pub(super) fn new(max_rounds: usize, offers_suggestions: bool, allowed: Vec<String>) -> Self {
        Self { max_rounds, offers_suggestions, allowed, ..Self::default() }
    }

    /// The logs, the oldest first.
    pub fn logs(&self) -> &[RunLog] {
        &self.logs
    }

    /// How often findings of checks are sent to the model without a question, for one request.
    pub fn max_rounds(&self) -> usize {
        self.max_rounds
    }

    pub(super) fn set_max_rounds(&mut self, rounds: usize) {
        self.max_rounds = rounds;
    }

    /// Whether commands that the model suggests are offered.
    pub(super) fn offers_suggestions(&self) -> bool {
        self.offers_suggestions
    }

    pub(super) fn set_offers_suggestions(&mut self, on: bool) {
        self.offers_suggestions = on;
    }

    /// The failed check that the next request is about. Returns it only once.
    pub(super) fn take_shared_check(&mut self) -> Option<RepeatedCheck> {
        self.shared_check.take()
    }

    /// Whether a job runs.
    pub fn is_running(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// A line about the job that was started last, and the number of the others.
    pub fn status(&self) -> Option<String> {
        let job = self.jobs.last()?;
        let more = match self.jobs.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let line = job.line.lines().next().unwrap_or_default();
        if line.is_empty() {
            return Some(format!("checking the files{more}"));
        }
        let time = if job.seconds > 0 { format!(", {} s", job.seconds) } else { String::new() };
        let verb = if job.is_stopping { "stopping" } else { "running" };
        Some(format!("{verb} {line}{time}{more}"))
    }

    /// Whether a job with such a purpose runs.
    pub(super) fn has_job(&self, is_meant: impl Fn(&Purpose) -> bool) -> bool {
        self.jobs.iter().any(|job| is_meant(&job.purpose))
    }

    /// Removes the jobs with such a purpose, which have ended.
    pub(super) fn end_job(&mut self, is_meant: impl Fn(&Purpose) -> bool) {
        self.jobs.retain(|job| !is_meant(&job.purpose));
    }

    /// Stops the latest job for which `is_meant` holds.
    fn stop(&mut self, is_meant: impl Fn(&Job) -> bool) -> Vec<Effect> {
        let Some(job) = self.jobs.iter_mut().rev().find(|job| is_meant(job)) else { return Vec::new() };
        job.is_stopping = true;
        vec![Effect::Run(RunEffect::Stop(job.number))]
    }

    fn log_mut(&mut self, run: u64) -> Option<&mut RunLog> {
        self.logs.iter_mut().find(|log| log.run == run)
    }
}

impl Session {
    /// Runs a command line of the user.
    pub fn run_line(&mut self, line: String) -> Vec<Effect> {
        let recheck = RepeatedCheck { line: Some(line.clone()), ..RepeatedCheck::default() };
        self.begin_command(Purpose::Run(recheck), CommandLine::Shell(line), Origin::Developer)
    }

    /// Runs git with these arguments.
    pub fn run_git(&mut self, arguments: Vec<String>) -> Vec<Effect> {
        let words = ["git", "--no-pager"].into_iter().map(str::to_owned).chain(arguments).collect();
        self.begin_command(Purpose::Git, CommandLine::Program(words), Origin::Developer)
    }

    pub(super) fn begin_command(&mut self, purpose: Purpose, line: CommandLine, origin: Origin) -> Vec<Effect> {
        let job = self.new_job(purpose);
        vec![Effect::Run(RunEffect::Command { job, line, origin })]
    }

    pub(super) fn begin_check(&mut self, purpose: Purpose, check: VerifyRequest) -> Vec<Effect> {
        let job = self.new_job(purpose);
        vec![Effect::Run(RunEffect::Check { job, check })]
    }

    pub(super) fn new_job(&mut self, purpose: Purpose) -> u64 {
        self.processes.last_job += 1;
        let number = self.processes.last_job;
        let job = Job { number, purpose, line: String::new(), seconds: 0, run: None, is_stopping: false };
        self.processes.jobs.push(job);
        number
    }

    /// The command line of a run; empty if its log was dropped.
    pub fn line_of_run(&self, run: u64) -> &str {
        self.processes.logs.iter().find(|log| log.run == run).map_or("", |log| log.line.as_str())
    }

    /// Stops the latest job that is not being stopped already.
    pub fn stop_command(&mut self) -> Vec<Effect> {
        self.processes.stop(|job| !job.is_stopping)
    }

    /// Stops the job of a run, if it still runs.
    pub fn stop_run(&mut self, run: u64) -> Vec<Effect> {
        self.processes.stop(|job| job.run == Some(run))
    }

    /// Handles the progress of a job.
    pub(super) fn ran(&mut self, response: RunResponse) -> Vec<Effect> {
        match response {
            RunResponse::Started { job, run, line } => self.run_started(job, run, line),
            RunResponse::Output { run, live, seconds } => {
                if let Some(job) = self.processes.jobs.iter_mut().find(|job| job.run == Some(run)) {
                    job.seconds = seconds;
                }
                if let Some(log) = self.processes.log_mut(run) {
                    log.push(&live, seconds);
                }
                self.update_card(run);
            }
            RunResponse::Ended { run, end, output, seconds } => {
                let state = end.map_or_else(RunState::Failed, RunState::Ended);
                if let Some(log) = self.processes.log_mut(run) {
                    log.end(state, &output, seconds);
                }
                self.update_card(run);
            }
            RunResponse::Note(note) => self.report(Level::Warning, note.message, note.hint),
            RunResponse::Done { job, outcome } => return self.job_done(job, outcome),
        }
        Vec::new()
    }

    fn run_started(&mut self, job: u64, run: u64, line: String) {
        if let Some(job) = self.processes.jobs.iter_mut().find(|other| other.number == job) {
            (job.line, job.run, job.seconds) = (line.clone(), Some(run), 0);
        }
        let log = RunLog::new(run, line);
        self.transcript.push(Entry::Ran(log.card()));
        self.processes.logs.push(log);
        let surplus = self.processes.logs.len().saturating_sub(MAX_LOGS);
        self.processes.logs.drain(..surplus);
    }

    fn update_card(&mut self, run: u64) {
        let Some(log) = self.processes.logs.iter().find(|log| log.run == run) else { return };
        // A resumed session has cards of earlier runs with the same numbers. None of them is running.
        let is_card =
            |entry: &Entry| matches!(entry, Entry::Ran(ran) if ran.run == run && ran.state == RunState::Running);
        if let Some(card) = self.transcript.rfind_mut(is_card) {
            *card = Entry::Ran(log.card());
        }
    }

    fn job_done(&mut self, number: u64, outcome: JobOutcome) -> Vec<Effect> {
        let Some(at) = self.processes.jobs.iter().position(|job| job.number == number) else { return Vec::new() };
        let job = self.processes.jobs.remove(at);
        for note in &outcome.notes {
            self.report(Level::Warning, note.message.clone(), note.hint.clone());
        }
        if let Some(refused) = outcome.too_large {
            self.ask_about_copy(job.purpose, *refused);
            return Vec::new();
        }
        match job.purpose {
            Purpose::Git | Purpose::Agent(_) => {}
            Purpose::Run(recheck) => self.offer_output(outcome, Some(recheck)),
            Purpose::Suggested => {
                self.offer_changes(&job.line, outcome.changed.clone());
                self.offer_output(outcome, None);
            }
            Purpose::Check(recheck) => self.check_done(outcome, recheck),
            Purpose::Verify(verification) => return self.verification_done(verification, outcome),
            Purpose::Trial(trial) => {
                let log = job.run.and_then(|run| self.processes.logs.iter().find(|log| log.run == run));
                let said: String = log.iter().flat_map(|log| &log.lines).map(|line| format!("{line}\n")).collect();
                return self.trial_done(trial, outcome, job.line, &said);
            }
            Purpose::Bisect(_) => self.bisect_done(&outcome),
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
