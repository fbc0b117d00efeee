//! Runs the commands that the session asks for, each on a thread that may block, and reports what they do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use secrecy::ExposeSecret as _;

use super::{Bench, CommandEvent, check};
use crate::host::{Host, RequestEnv, caught, lock, shared_output};
use crate::store::output_file;
use rhumb_llm::models::Model;
use rhumb_session::context::excerpt;
use rhumb_session::{Failure, JobOutcome, Origin, Response, RunEffect, RunResponse, SharedText, VerifyRequest};
use rhumb_tokens::TokenCounter;
use rhumb_workspace::Root;
use rhumb_workspace::process::{
    self, CommandLine, CommandOutcome, End, Environment, Output, RunRequest, SecretMask, StopHandle,
};

/// The variable whose key is meant for this program alone.
const OWN_KEY: &str = "RHUMB_API_KEY";

/// What keeps commands from asking at a terminal, or from waiting in a pager: they have neither.
const UNATTENDED: [(&str, &str); 4] =
    [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_EDITOR", "false")];

/// The share of the window that an output may have, in tokens: an eighth, between these bounds.
const BOUNDS: (usize, usize) = (1_024, 8_192);

/// How often to look whether the commands have ended, when the program leaves.
const POLL: Duration = Duration::from_millis(20);

/// How long leaving waits for that. Longer than a command that is told to end is given.
const PATIENCE: Duration = Duration::from_secs(5);

/// The jobs that run.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    running: Mutex<BTreeMap<u64, StopHandle>>,
    runs: AtomicU64,
    /// Programs that were told to be absent already.
    told_absent: Mutex<BTreeSet<String>>,
}

/// The most tokens that an output has in a request to this model.
pub fn output_budget(outfit: &RequestEnv, model: &Model) -> usize {
    (outfit.window(model).max_input() / 8).clamp(BOUNDS.0, BOUNDS.1)
}

/// Runs one command line in the root, and gives the output as it would be shared, too.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run(
    root: &Root,
    outfit: &RequestEnv,
    line: &CommandLine,
    origin: Origin,
    limit: Option<Duration>,
    stop: &StopHandle,
    watch: &mut dyn FnMut(process::LiveOutput, Duration),
) -> Result<CommandOutcome, Failure> {
    let environment = environment(outfit, origin);
    let masks = masks(outfit);
    let order = RunRequest { line, folder: root.path(), time_limit: limit, environment: &environment, masks: &masks };
    let mut keep = || kept_file(outfit, &line.text());
    process::run(&order, stop, &mut keep, watch)
        .map_err(|error| Failure { message: format!("{error}."), hint: error.hint().into() })
}

fn kept_file(outfit: &RequestEnv, what: &str) -> io::Result<Option<(PathBuf, File)>> {
    let Some(state) = outfit.settings.state_folder.as_deref() else { return Ok(None) };
    output_file(state, what).map(Some).map_err(|error| io::Error::other(error.to_string()))
}

/// What a command gets of our environment: the key of this program it never gets; what the model suggested gets no key at all.
fn environment(outfit: &RequestEnv, origin: Origin) -> Environment {
    let with = UNATTENDED.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let mut without = vec![OWN_KEY.to_owned()];
    if origin == Origin::Model {
        without.extend(outfit.settings.keys.variables().map(|(name, _)| name.to_owned()));
    }
    Environment { without, guarded: origin == Origin::Model, with }
}

fn masks(outfit: &RequestEnv) -> SecretMask {
    SecretMask::new(outfit.settings.keys.variables().map(|(name, key)| (name, key.expose_secret())))
}

/// An output with at most `budget` tokens, to be shared under a title.
pub(super) fn shared_text(
    outfit: &RequestEnv,
    counter: &dyn TokenCounter,
    budget: usize,
    title: &str,
    output: &Output,
) -> (SharedText, Option<Failure>) {
    // What was too long for memory is in a file already.
    let (text, whole, note) = match &output.whole {
        Some(path) => {
            let place = path.display().to_string();
            (excerpt(&output.text, budget, counter, Some(&place)).text, Some(path.clone()), None)
        }
        None => {
            let shared = shared_output(outfit, title, &output.text, budget, counter);
            (shared.excerpt.text, shared.whole, shared.note)
        }
    };
    let tokens = counter.count(&text);
    (SharedText { title: title.to_owned(), text, tokens, whole }, note)
}

/// What else is to be known of a command that ended.
pub(super) fn notes_of(line: &str, ended: &CommandOutcome) -> Vec<Failure> {
    let mut notes = Vec::new();
    if ended.left_running {
        let message = format!("{line} left something running in the background, which was ended with it.");
        notes.push(Failure { message, hint: "Start what has to keep running in another terminal.".into() });
    }
    if ended.end == End::WantedTerminal {
        let message = format!("{line} tried to read from the terminal and was stopped.");
        notes.push(Failure {
            message,
            hint: "Run it in another terminal, or pass its input on the command line.".into(),
        });
    }
    if let Some(why) = &ended.output.not_kept {
        let message = format!("The output of {line} is too long for memory, and could not be kept: {why}.");
        notes.push(Failure { message, hint: "Check the space and the permissions of the state folder.".into() });
    }
    notes
}

impl Host {
    /// Carries out an order about commands.
    pub(crate) fn run_order(self, order: RunEffect) {
        match order {
            RunEffect::Command { job, line, origin } => {
                self.job(job, move |runner, stop| runner.one_command(job, &line, origin, stop));
            }
            RunEffect::Check { job, check } => {
                self.job(job, move |runner, stop| runner.checked(job, &check, stop));
            }
            RunEffect::Stop(job) => {
                if let Some(stop) = lock(&self.shared.jobs.running).get(&job) {
                    stop.stop();
                }
            }
        }
    }

    fn job(self, job: u64, work: impl FnOnce(&Self, &StopHandle) -> JobOutcome + Send + 'static) {
        let stop = StopHandle::default();
        lock(&self.shared.jobs.running).insert(job, stop.clone());
        tokio::task::spawn_blocking(move || {
            let outcome = caught(|| work(&self, &stop)).unwrap_or_else(|failure| JobOutcome {
                notes: vec![failure],
                failed: true,
                ..JobOutcome::default()
            });
            lock(&self.shared.jobs.running).remove(&job);
            self.report_now(Response::Ran(RunResponse::Done { job, outcome }));
        });
    }

    /// Ends every command, and waits until they have. Blocks; for when the program leaves.
    pub fn end_commands(&self) {
        for stop in lock(&self.shared.jobs.running).values() {
            stop.stop();
        }
        let until = Instant::now() + PATIENCE;
        while !lock(&self.shared.jobs.running).is_empty() && Instant::now() < until {
            std::thread::sleep(POLL);
        }
    }

    pub(crate) fn model(&self) -> Arc<Model> {
        self.line().map_or_else(|| Arc::new(Model::unknown("")), |line| line.facts)
    }

    /// Runs one command, and makes its output ready to be shared.
    fn one_command(&self, job: u64, line: &CommandLine, origin: Origin, stop: &StopHandle) -> JobOutcome {
        let outfit = &self.shared.outfit;
        let text = line.text().into_owned();
        let mut report = self.reporter(job);
        report(CommandEvent::Began { line: &text });
        let mut watch = |live, took: Duration| report(CommandEvent::Said { live, took });
        let result = run(&self.shared.root, outfit, line, origin, None, stop, &mut watch);
        report(CommandEvent::Ended { result: result.as_ref().map_err(Clone::clone) });
        let ended = match result {
            Ok(ended) => ended,
            Err(failure) => return JobOutcome { failed: true, notes: vec![failure], ..JobOutcome::default() },
        };
        let mut notes = notes_of(&text, &ended);
        let title = format!("`{}`", in_short(&text));
        let budget = output_budget(outfit, &self.model());
        let (shared, note) = shared_text(outfit, &*self.counter(), budget, &title, &ended.output);
        notes.extend(note);
        let said = !ended.output.text.trim().is_empty();
        let shared = said.then(|| {
            let text = as_message(&text, &ended, &shared.text);
            SharedText { tokens: self.counter().count(&text), text, ..shared }
        });
        let stopped = ended.end == End::Stopped;
        JobOutcome { shared, failed: !ended.end.is_success(), stopped, notes, ..JobOutcome::default() }
    }

    fn checked(&self, job: u64, order: &VerifyRequest, stop: &StopHandle) -> JobOutcome {
        let counter = self.counter();
        let mut report = self.reporter(job);
        let mut bench = Bench {
            root: &self.shared.root,
            outfit: &self.shared.outfit,
            counter: &*counter,
            budget: output_budget(&self.shared.outfit, &self.model()),
            stop,
            tell: &mut report,
            told_absent: &self.shared.jobs.told_absent,
        };
        check(&mut bench, order)
    }

    /// Reports what the commands of a job do.
    fn reporter(&self, job: u64) -> impl FnMut(CommandEvent<'_>) {
        let mut run = 0;
        move |event| {
            let report = match event {
                CommandEvent::Began { line } => {
                    run = self.shared.jobs.runs.fetch_add(1, Ordering::SeqCst) + 1;
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
            self.report_now(Response::Ran(report));
        }
    }
}

/// Characters of a command that name it.
const NAME: usize = 60;

/// A command in a line.
fn in_short(command: &str) -> String {
    let first: String = command.lines().next().unwrap_or_default().chars().take(NAME).collect();
    if first == command { first } else { format!("{first} …") }
}

/// An output as the model reads it: which command, how it ended, what it printed.
fn as_message(line: &str, ended: &CommandOutcome, said: &str) -> String {
    let said = said.trim_end_matches('\n');
    let fence = rhumb_session::context::fence_for([said, line]);
    let how = super::how(ended.end, ended.took);
    format!(
        "The developer ran this command, which {how}:\n{fence}sh\n{line}\n{fence}\nIt printed:\n{fence}\n{said}\n{fence}"
    )
}
