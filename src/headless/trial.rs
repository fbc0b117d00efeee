//! `rhumb try`, and the trials of `rhumb apply --try` and `rhumb edit --try`: a command runs on edits that are not written.

use super::args::{NetworkArg, TryArgs};
use super::event::TriedEvent;
use super::index::blocked;
use super::report::outcome_line;
use super::{print_exactly, print_json, print_message, print_with_hint, read_input};
use crate::config::Settings;
use crate::error::{ErrorKind, UserError};
use crate::host::{RequestEnv, TrialSetup, changes_of, environment, isolation_notes, masks, propose_alone, trial_hint};
use crate::signals::{EXIT_BY_SIGNAL, Signal, Signals};
use rhumb_edit::Status;
use rhumb_edit::review::{Decision, Review};
use rhumb_llm::strip_thinking;
use rhumb_session::{Origin, PendingWrite, pending_writes};
use rhumb_text::{diff, sanitize};
use rhumb_trial::{Change, ChangedFile, RunOptions, TrialError, TrialResult};
use rhumb_workspace::Root;
use rhumb_workspace::process::{CommandLine, End, LiveOutput, StopHandle, Watch};
use serde_json::json;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;
use std::time::Duration;

/// Exit code of `rhumb try` if the command was not run, as for env(1) and timeout(1).
pub const NOT_RUN: u8 = 125;
/// Exit code of a command that exceeded its time limit, as for timeout(1).
const TIMED_OUT: u8 = 124;
/// The signal of a process that reads from a terminal in the background.
const SIGTTIN: u8 = 21;
/// The signal of a process that writes to a closed pipe.
const SIGPIPE: u8 = 13;

/// Where the output of a command is printed as it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputTarget {
    Stdout,
    Stderr,
    /// Only the result has it.
    Nowhere,
}

/// A command that runs in trial checkouts.
pub(super) struct TrialCommand {
    root: Root,
    setup: TrialSetup,
    options: RunOptions,
    target: OutputTarget,
}

/// A command that has run.
pub(super) struct Tried {
    command: String,
    /// Its exit code, as a shell would give it.
    pub(super) exit: u8,
    /// The signal to this program that ended it.
    pub(super) interrupted_by: Option<u8>,
    result: TrialResult,
}

impl Tried {
    /// Whether the command succeeded, on files that did not change meanwhile.
    pub(super) fn succeeded(&self) -> bool {
        self.exit == 0 && self.result.stale.is_empty()
    }

    /// The object `try` of `rhumb apply --json` and `rhumb edit --json`.
    pub(super) fn event(&self) -> TriedEvent {
        let output = self.result.outcome.output.text.clone();
        TriedEvent { command: self.command.clone(), exit: self.exit, ms: self.ms(), output }
    }

    fn ms(&self) -> u64 {
        u64::try_from(self.result.outcome.took.as_millis()).unwrap_or(u64::MAX)
    }

    /// Why nothing is written.
    pub(super) fn reason(&self) -> String {
        match self.exit {
            0 => format!("{} changed while {} ran in the trial checkout", self.result.stale.join(", "), self.command),
            TIMED_OUT if self.result.outcome.end == End::TimeLimit => {
                format!("{} exceeded the time limit of command_timeout in the trial checkout", self.command)
            }
            code => format!("{} failed in the trial checkout with exit code {code}", self.command),
        }
    }
}

impl TrialCommand {
    pub(super) fn new(
        root: &Root,
        env: &RequestEnv,
        line: CommandLine,
        network: Option<NetworkArg>,
        time_limit: Option<Duration>,
        target: OutputTarget,
    ) -> Arc<Self> {
        let options = RunOptions {
            network: network.map_or(env.settings.trial_network, Into::into),
            time_limit,
            environment: environment(env, Origin::Model),
            masks: masks(env),
            watch: Watch::All,
            ..RunOptions::new(line)
        };
        Arc::new(Self { root: root.clone(), setup: TrialSetup::new(&env.settings), options, target })
    }

    /// The command of `--try`, with the time limit of the settings.
    pub(super) fn of_flag(
        root: &Root,
        env: &RequestEnv,
        line: &str,
        network: Option<NetworkArg>,
        json: bool,
    ) -> Arc<Self> {
        let target = if json { OutputTarget::Nowhere } else { OutputTarget::Stderr };
        let (line, limit) = (CommandLine::Shell(line.to_owned()), Some(env.settings.command_timeout));
        Self::new(root, env, line, network, limit, target)
    }

    /// Runs the command on the files as they are, with these writes. A signal to this program ends it.
    ///
    /// # Errors
    /// The files could not be written, or the command cannot be started in a trial.
    pub(super) async fn run(
        self: &Arc<Self>,
        writes: &[PendingWrite],
        signals: &mut Signals,
    ) -> Result<Tried, UserError> {
        let changes =
            changes_of(&self.root, writes).map_err(|error| UserError::new(ErrorKind::Machine, &error, error.hint()))?;
        let stop = StopHandle::default();
        let running = tokio::task::spawn_blocking({
            let (command, stop) = (Arc::clone(self), stop.clone());
            move || command.run_blocking(&changes, &stop)
        });
        tokio::pin!(running);
        let mut interrupted_by = None;
        let ended = loop {
            tokio::select! {
                ended = &mut running => break ended,
                signal = signals.next() => if let Signal::Fatal(number) = signal {
                    interrupted_by = interrupted_by.or(Some(number));
                    stop.stop();
                },
            }
        };
        let result = ended.map_err(|error| UserError::new(ErrorKind::Machine, error, ""))?;
        let result = result.map_err(|error| UserError::new(ErrorKind::Machine, &error, trial_hint(&error)))?;
        if !result.stale.is_empty() {
            let message =
                format!("{} changed while the command ran, so its result may be wrong", result.stale.join(", "));
            print_with_hint(&message, "Run it again.");
        }
        if result.outcome.end == End::WantedTerminal {
            print_with_hint("the command tried to use the terminal", "In a trial checkout a command has no terminal.");
        }
        let exit = match result.outcome.end {
            End::Exit(code) => u8::try_from(code).unwrap_or(u8::MAX),
            End::Signal(number) => EXIT_BY_SIGNAL.saturating_add(u8::try_from(number).unwrap_or_default()),
            End::TimeLimit => TIMED_OUT,
            // Without a signal, the output could not be printed.
            End::Stopped => EXIT_BY_SIGNAL + interrupted_by.unwrap_or(SIGPIPE),
            End::WantedTerminal => EXIT_BY_SIGNAL + SIGTTIN,
        };
        Ok(Tried { command: self.options.line.text().into_owned(), exit, interrupted_by, result })
    }

    fn run_blocking(&self, changes: &[Change], stop: &StopHandle) -> Result<TrialResult, TrialError> {
        let mut trial = self.setup.open(&self.root)?;
        let isolation = trial.probe(self.options.network)?;
        isolation_notes(&isolation).iter().for_each(|note| print_with_hint(&note.message, &note.hint));
        let mut printer = Printer { target: self.target, open_line: String::new() };
        let mut watch = |live: LiveOutput, _| {
            if printer.print(&live).is_err() {
                stop.stop();
            }
        };
        let result = trial.run(changes, &self.options, stop, &mut || Ok(None), &mut watch)?;
        if result.isolation.files != isolation.files {
            isolation_notes(&result.isolation).iter().for_each(|note| print_with_hint(&note.message, &note.hint));
        }
        Ok(result)
    }
}

/// Prints the output of a command as it arrives.
struct Printer {
    target: OutputTarget,
    /// The part of the incomplete last line that was printed.
    open_line: String,
}

impl Printer {
    fn print(&mut self, live: &LiveOutput) -> io::Result<()> {
        let all = format!("{}{}", live.text, live.open_line);
        let open_line = std::mem::replace(&mut self.open_line, live.open_line.clone());
        // A program can overwrite the incomplete line, such as a progress bar.
        let text = match all.strip_prefix(&open_line) {
            Some(rest) => rest.to_owned(),
            None => format!("\n{all}"),
        };
        match self.target {
            OutputTarget::Stdout => write_to(&mut io::stdout().lock(), io::stdout().is_terminal(), &text),
            OutputTarget::Stderr => write_to(&mut io::stderr().lock(), io::stderr().is_terminal(), &text),
            OutputTarget::Nowhere => Ok(()),
        }
    }
}

fn write_to(out: &mut impl Write, is_terminal: bool, text: &str) -> io::Result<()> {
    let visible = if is_terminal { sanitize::visible(text) } else { text.into() };
    out.write_all(visible.as_bytes()).and_then(|()| out.flush())
}

/// Runs the command of `rhumb try`. The exit code is that of the command, or as timeout(1) gives it.
///
/// # Errors
/// The command was not run: the reply cannot be read or one of its edits is refused, or no trial is possible.
pub fn try_command(root: &Root, settings: Settings, args: &TryArgs) -> Result<u8, UserError> {
    if args.command.is_empty() {
        let hint = "Write it after two dashes: rhumb try -- cargo test.";
        return Err(UserError::new(ErrorKind::Usage, "there is no command to try", hint));
    }
    let writes = match &args.reply {
        Some(reply) => writes_of_reply(root, &read_input(reply)?, args)?,
        None => Vec::new(),
    };
    let env = RequestEnv::new(settings);
    let target = if args.json { OutputTarget::Nowhere } else { OutputTarget::Stdout };
    let line = CommandLine::Program(args.command.clone());
    let limit = args.timeout.map(Duration::from_secs_f64);
    let command = TrialCommand::new(root, &env, line, args.network, limit, target);
    let tried = blocked(run_now(&command, &writes))??;
    let diff: String = tried.result.changed.iter().map(changed_diff).collect();
    if args.json {
        let TrialResult { outcome, isolation, stale, .. } = &tried.result;
        print_json(&json!({
            "exit": tried.exit,
            "ms": tried.ms(),
            "output": outcome.output.text,
            "truncated_bytes": outcome.output.omitted,
            "isolation": {
                "files": isolation.files.name(),
                "writes": isolation.writes.name(),
                "network": isolation.reached_network().name(),
                "missing": isolation.missing,
            },
            "stale": stale,
            "diff": diff,
        }))?;
    } else if args.diff && !diff.is_empty() {
        let output = &tried.result.outcome.output.text;
        let has_open_line = !output.is_empty() && !output.ends_with('\n');
        print_exactly(&format!("{}{diff}", if has_open_line { "\n" } else { "" }))?;
    }
    if tried.result.outcome.end == End::TimeLimit {
        print_message(&format!("{} exceeded the time limit and was ended", tried.command));
    }
    Ok(tried.exit)
}

/// Runs a command outside of an event loop.
pub(super) async fn run_now(command: &Arc<TrialCommand>, writes: &[PendingWrite]) -> Result<Tried, UserError> {
    let mut signals = Signals::for_lines().map_err(|error| UserError::new(ErrorKind::Machine, error, ""))?;
    command.run(writes, &mut signals).await
}

/// What a reply would write. All of its edits must be located.
fn writes_of_reply(root: &Root, reply: &str, args: &TryArgs) -> Result<Vec<PendingWrite>, UserError> {
    let format = args.format.as_deref().unwrap_or("auto").parse();
    let format = format.map_err(|error| UserError::new(ErrorKind::Usage, error, ""))?;
    let mut proposal = propose_alone(root, None, &strip_thinking(reply), format);
    if proposal.outcomes.is_empty() {
        let hint = "It must hold search/replace blocks, a unified diff, whole files or a patch.";
        return Err(UserError::new(ErrorKind::Usage, "there is no edit in the reply", hint));
    }
    proposal.refuse_doubtful_names();
    let refused = proposal.outcomes.iter().enumerate().filter(|(_, outcome)| outcome.status == Status::Refused);
    let reasons: Vec<String> = refused.map(|(index, outcome)| outcome_line(index + 1, outcome, &proposal)).collect();
    if !reasons.is_empty() {
        reasons.iter().for_each(|reason| print_message(reason));
        let hint = "Correct the reply, or leave these edits out.";
        return Err(UserError::new(ErrorKind::Usage, "the command was not run, because edits were refused", hint));
    }
    let mut review = Review::new(proposal);
    review.decide_all(Decision::Accepted);
    Ok(review.files.iter().flat_map(pending_writes).collect())
}

/// The change of a file by the command as a unified diff.
fn changed_diff(file: &ChangedFile) -> String {
    let text = |content: &Option<Arc<[u8]>>| match content.as_deref().map(std::str::from_utf8) {
        None => Ok(None),
        Some(Ok(text)) if !text.contains('\0') => Ok(Some(text.to_owned())),
        Some(_) => Err(()),
    };
    match (text(&file.before), text(&file.after)) {
        (Ok(before), Ok(after)) => diff::unified(&file.path, before.as_deref(), after.as_deref()),
        _ => format!("diff --git a/{0} b/{0}\nBinary files a/{0} and b/{0} differ\n", file.path),
    }
}
