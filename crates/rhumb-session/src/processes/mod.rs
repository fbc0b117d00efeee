//! Commands that run beside the conversation: the developer's own, tests and linters, and what the model suggested.
//!
//! A *job* is what was asked for: one command, or a check of several steps. Each command of a job is a *run* with a log of its own
//! and a card in the transcript. Esc stops the job that began last.

use std::path::PathBuf;
use std::sync::Arc;

use super::effect::{Effect, Failure};
use super::state::Session;
use super::transcript::{Entry, Level};
use rhumb_text::count;
use rhumb_workspace::process::{CommandLine, End, LiveOutput};
use verify::Verification;

mod log;
pub(super) mod suggested_commands;
pub(super) mod verify;

pub use log::RunLog;

/// A command to run, or to stop.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEffect {
    /// Run one command.
    Command {
        /// The job.
        job: u64,
        /// What.
        line: CommandLine,
        /// Whose idea it was.
        origin: Origin,
    },
    /// Check files.
    Check {
        /// The job.
        job: u64,
        /// What to check.
        check: VerifyRequest,
    },
    /// Stop a job.
    Stop(u64),
}

/// Whose idea a command was: what it gets of the environment depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The developer's, or that of settings that they trust.
    Developer,
    /// The model's; the developer approved it.
    Model,
}

/// Whether a kind of check is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// No.
    #[default]
    Never,
    /// If the settings say so.
    AsSet,
    /// Yes.
    Now,
}

/// What to check.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerifyRequest {
    /// Files, each with its text before the change, which may have had faults too.
    pub files: Vec<(String, Option<Arc<str>>)>,
    /// Whether they are looked over: their syntax, and with linters.
    pub lint: When,
    /// Whether the tests run.
    pub test: When,
    /// The line that tests; that of the settings without one.
    pub test_line: Option<String>,
    /// A command that failed and is run again, beside what the settings want.
    pub again: Option<String>,
}

/// A check that failed and is repeated after each write of the fix, until it passes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepeatedCheck {
    /// The command line that failed.
    pub line: Option<String>,
    /// Whether the tests of the settings failed.
    pub test: bool,
    /// Whether the linters found something.
    pub lint: bool,
}

impl RepeatedCheck {
    /// What is repeated, with its verb: ``"`make` passes"``.
    fn with_verb(&self, verbs: [&str; 2]) -> String {
        match &self.line {
            Some(line) => format!("`{}` {}", line.lines().next().unwrap_or_default(), verbs[0]),
            None => format!("The checks {}", verbs[1]),
        }
    }
}

/// What a command does while it runs, and how it ended.
#[derive(Debug, Clone)]
pub enum RunResponse {
    /// A command of a job begins.
    Began {
        /// The job.
        job: u64,
        /// The run.
        run: u64,
        /// What runs.
        line: String,
    },
    /// It goes on.
    Said {
        /// The run.
        run: u64,
        /// What is new of its output.
        live: LiveOutput,
        /// Seconds since it began.
        seconds: u64,
    },
    /// It ended.
    Ended {
        /// The run.
        run: u64,
        /// How; in words where it could not be started.
        end: Result<End, String>,
        /// Its output: all of it, or its beginning and its end.
        output: Arc<str>,
        /// Seconds that it took.
        seconds: u64,
    },
    /// The job is done.
    Done {
        /// The job.
        job: u64,
        /// What came of it.
        outcome: Outcome,
    },
}

/// An output, ready to be shared with the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedText {
    /// What it is, in a line.
    pub title: String,
    /// It, as the model will see it.
    pub text: String,
    /// Its tokens.
    pub tokens: usize,
    /// The file that holds all of it, where the text is cut.
    pub whole: Option<PathBuf>,
}

/// What came of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What there is to share: the output of a command, or what a check found.
    pub shared: Option<SharedText>,
    /// Whether something is wrong.
    pub failed: bool,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// The checks that were done, each in a few words.
    pub checks: Vec<String>,
    /// Files that something was found in, or that were checked.
    pub files: Vec<String>,
    /// What else to know.
    pub notes: Vec<Failure>,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum RunState {
    /// It runs.
    Running,
    /// It ended.
    Ended(End),
    /// It could not be started.
    Failed(String),
}

impl RunState {
    /// In a few words; `seconds` that it has been running.
    pub fn words(&self, seconds: u64) -> String {
        let time = if seconds > 0 { format!(" · {seconds} s") } else { String::new() };
        let words = match self {
            Self::Running => "running".to_owned(),
            Self::Ended(end) => end_words(*end),
            Self::Failed(reason) => format!("not run: {reason}"),
        };
        words + &time
    }
}

/// How a command ended, in a few words.
pub(super) fn end_words(end: End) -> String {
    match end {
        End::Exit(code) => format!("exit code {code}"),
        End::Signal(number) => format!("ended by signal {number}"),
        End::TimeLimit => "stopped at its time limit".to_owned(),
        End::Stopped => "stopped by you".to_owned(),
        End::WantedTerminal => "ended, because it wanted to ask at the terminal".to_owned(),
    }
}

/// A command in the transcript.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommandRun {
    /// The run.
    pub run: u64,
    /// What ran.
    pub line: String,
    /// How it stands.
    pub state: RunState,
    /// Seconds that it has been running, or took.
    pub seconds: u64,
    /// The first lines that it printed, where lines after them are left out.
    #[serde(default)]
    pub head: String,
    /// Lines that are left out before `tail`. The log has them.
    #[serde(default)]
    pub omitted: usize,
    /// The last lines that it printed.
    pub tail: String,
}

impl CommandRun {
    /// What is shown of the output: the first lines, the number of those left out, the last lines. `more` follows the number.
    pub fn excerpt(&self, more: &str) -> String {
        let omitted = (self.omitted > 0).then(|| format!("… {}{more}", count(self.omitted, "more line")));
        let parts = [Some(self.head.clone()), omitted, Some(self.tail.trim_end().to_owned())];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Why a job was begun.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Purpose {
    /// The developer's own command: its output is offered.
    Run(RepeatedCheck),
    /// A command of git: nothing of it is sent.
    Git,
    /// What the model suggested.
    Suggested,
    /// Checks that the developer asked for.
    Check(RepeatedCheck),
    /// Checks after a write.
    Verify(Verification),
}

/// A job that runs.
#[derive(Debug)]
struct Job {
    number: u64,
    purpose: Purpose,
    /// The command that runs, once one does.
    line: String,
    seconds: u64,
    run: Option<u64>,
    stopping: bool,
}

/// Logs that are kept; the oldest go first.
const LOGS: usize = 30;

/// Everything about commands.
#[derive(Debug, Default)]
pub struct Processes {
    /// What commands printed, oldest first.
    pub logs: Vec<RunLog>,
    /// Whether commands that the model suggests are offered.
    pub suggestions: bool,
    /// How often what checks found goes back by itself, for one request.
    pub rounds: usize,
    /// The failed check that the developer shared last: the next request is about it.
    pub(super) shared_check: Option<RepeatedCheck>,
    /// Files that were written in this session.
    pub(super) written: Vec<String>,
    /// The files that one request wrote, or that are being written for it, as they were.
    pub(super) bases: Vec<(String, Option<Arc<str>>)>,
    jobs: Vec<Job>,
    last: u64,
}

impl Processes {
    /// Whether something runs.
    pub fn is_running(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// What runs, in a line.
    pub fn status(&self) -> Option<String> {
        let job = self.jobs.last()?;
        let line = job.line.lines().next().unwrap_or_default();
        let line = if line.is_empty() { "checking the files" } else { line };
        let time = if job.seconds > 0 { format!(", {} s", job.seconds) } else { String::new() };
        let more = match self.jobs.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let verb = if job.stopping { "stopping" } else { "running" };
        Some(if job.line.is_empty() { format!("{line}{more}") } else { format!("{verb} {line}{time}{more}") })
    }
}

impl Session {
    /// Runs a command line of the developer's.
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

    fn new_job(&mut self, purpose: Purpose) -> u64 {
        self.processes.last += 1;
        let number = self.processes.last;
        let job = Job { number, purpose, line: String::new(), seconds: 0, run: None, stopping: false };
        self.processes.jobs.push(job);
        number
    }

    /// The command line of a run; empty where its log is not kept any more.
    pub fn line_of_run(&self, run: u64) -> &str {
        self.processes.logs.iter().find(|log| log.run == run).map_or("", |log| log.line.as_str())
    }

    /// Stops the job that began last and was not told to stop yet.
    pub fn stop_command(&mut self) -> Vec<Effect> {
        let Some(job) = self.processes.jobs.iter_mut().rev().find(|job| !job.stopping) else { return Vec::new() };
        job.stopping = true;
        vec![Effect::Run(RunEffect::Stop(job.number))]
    }

    /// Stops the job that a run belongs to, if it still runs.
    pub fn stop_run(&mut self, run: u64) -> Vec<Effect> {
        let Some(job) = self.processes.jobs.iter_mut().find(|job| job.run == Some(run)) else { return Vec::new() };
        job.stopping = true;
        vec![Effect::Run(RunEffect::Stop(job.number))]
    }

    /// Takes in what a command does.
    pub(super) fn ran(&mut self, report: RunResponse) -> Vec<Effect> {
        match report {
            RunResponse::Began { job, run, line } => self.began(job, run, line),
            RunResponse::Said { run, live, seconds } => self.said(run, &live, seconds),
            RunResponse::Ended { run, end, output, seconds } => self.command_ended(run, end, &output, seconds),
            RunResponse::Done { job, outcome } => return self.job_done(job, outcome),
        }
        Vec::new()
    }

    fn began(&mut self, job: u64, run: u64, line: String) {
        if let Some(job) = self.processes.jobs.iter_mut().find(|other| other.number == job) {
            (job.line, job.run, job.seconds) = (line.clone(), Some(run), 0);
        }
        self.processes.logs.push(RunLog::new(run, line.clone()));
        let gone = self.processes.logs.len().saturating_sub(LOGS);
        self.processes.logs.drain(..gone);
        let ran = RunLog::new(run, line).card();
        self.transcript.push(Entry::Ran(ran));
    }

    fn said(&mut self, run: u64, live: &LiveOutput, seconds: u64) {
        if let Some(job) = self.processes.jobs.iter_mut().find(|job| job.run == Some(run)) {
            job.seconds = seconds;
        }
        if let Some(log) = self.processes.logs.iter_mut().find(|log| log.run == run) {
            log.push(live, seconds);
        }
        self.update_card(run);
    }

    fn command_ended(&mut self, run: u64, end: Result<End, String>, output: &str, seconds: u64) {
        let state = end.map_or_else(RunState::Failed, RunState::Ended);
        if let Some(log) = self.processes.logs.iter_mut().find(|log| log.run == run) {
            log.end(state, output, seconds);
        }
        self.update_card(run);
    }

    /// Brings the card of a run up to date with its log.
    fn update_card(&mut self, run: u64) {
        let Some(log) = self.processes.logs.iter().find(|log| log.run == run) else { return };
        // A session that was gone on with holds cards of other runs with the same numbers; none of them runs.
        let is_card =
            |entry: &Entry| matches!(entry, Entry::Ran(ran) if ran.run == run && ran.state == RunState::Running);
        if let Some(card) = self.transcript.rfind_mut(is_card) {
            *card = Entry::Ran(log.card());
        }
    }

    fn job_done(&mut self, number: u64, outcome: Outcome) -> Vec<Effect> {
        let Some(at) = self.processes.jobs.iter().position(|job| job.number == number) else { return Vec::new() };
        let job = self.processes.jobs.remove(at);
        for note in &outcome.notes {
            self.report(Level::Warning, note.message.clone(), note.hint.clone());
        }
        match job.purpose {
            Purpose::Git => Vec::new(),
            Purpose::Run(recheck) => {
                self.offer_output(outcome, Some(recheck));
                Vec::new()
            }
            Purpose::Suggested => {
                self.offer_output(outcome, None);
                Vec::new()
            }
            Purpose::Check(recheck) => {
                self.offer_findings_of_check(outcome, recheck);
                Vec::new()
            }
            Purpose::Verify(written) => self.verified(written, outcome),
        }
    }
}

#[cfg(test)]
mod tests;
