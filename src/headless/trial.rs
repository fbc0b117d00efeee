//! `rhumb try`: runs a command in a trial checkout, with a reply applied. Also the trial before `rhumb apply` and `rhumb edit` write.

use super::args::TryArgs;
use super::report::outcome_line;
use super::{advise, complain, print_exactly, print_json, read_input};
use crate::config::Settings;
use crate::error::{ErrorKind, UserError};
use crate::host::{TrialSetup, changes_of, isolation_notes, propose_alone};
use crate::signals::EXIT_BY_SIGNAL;
use rhumb_edit::review::{Decision, Review};
use rhumb_edit::{FormatChoice, Status};
use rhumb_llm::strip_thinking;
use rhumb_session::{PendingWrite, pending_writes};
use rhumb_text::diff;
use rhumb_trial::{ChangedFile, Network, RunOptions, Trial, TrialResult};
use rhumb_workspace::Root;
use rhumb_workspace::process::{CommandLine, End, Environment, StopHandle};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::str::Utf8Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Exit codes, as those of timeout(1).
const TIMED_OUT: u8 = 124;
const NOT_RUN: u8 = 125;

/// Runs the command. The exit code is that of the command, 124 after the time limit, or 125 if it was not run.
pub fn try_command(root: &Root, settings: &Settings, args: &TryArgs) -> Result<u8, UserError> {
    run(root, settings, args).or_else(|error| {
        complain(&error.to_string());
        Ok(NOT_RUN)
    })
}

fn run(root: &Root, settings: &Settings, args: &TryArgs) -> Result<u8, UserError> {
    let writes = match &args.reply {
        Some(reply) => writes_of(root, &read_input(reply)?, args.format.as_deref())?,
        None => Vec::new(),
    };
    let mut options = options(settings, CommandLine::Program(args.command.clone()), args.network);
    options.time_limit = args.timeout.map(Duration::from_secs);
    options.attached = !args.json;
    let (result, signal) = run_trial(root, settings, &writes, &options)?;
    let exit = match signal {
        0 => exit_code(result.outcome.end),
        signal => EXIT_BY_SIGNAL.saturating_add(u8::try_from(signal).unwrap_or_default()),
    };
    if result.outcome.end == End::TimeLimit {
        complain("the command was stopped at its time limit");
    }
    let changes: String = result.changed.iter().map(changed_text).collect();
    if args.json {
        let output = &result.outcome.output;
        let isolation = &result.isolation;
        print_json(&json!({
            "exit": exit,
            "ms": milliseconds(result.outcome.took),
            "output": output.text,
            "truncated_bytes": output.bytes.saturating_sub(output.text.len() as u64),
            "isolation": {
                "files": isolation.files.name(),
                "writes": if isolation.landlock.is_some() { "landlock" } else { "none" },
                "network": isolation.reached_network().name(),
            },
            "stale": result.stale,
            "diff": changes,
        }))?;
    } else {
        warn_of_stale(&result);
        if args.diff {
            print_exactly(&changes)?;
        }
    }
    Ok(exit)
}

/// The changes of a reply, all of whose edits must be located.
fn writes_of(root: &Root, reply: &str, format: Option<&str>) -> Result<Vec<PendingWrite>, UserError> {
    let format: Result<FormatChoice, _> = format.unwrap_or("auto").parse();
    let format = format.map_err(|error| UserError::new(ErrorKind::Usage, error, ""))?;
    let proposal = propose_alone(root, None, &strip_thinking(reply), format);
    if proposal.outcomes.is_empty() {
        let hint = "It must hold search/replace blocks, a unified diff, whole files or a patch.";
        return Err(UserError::new(ErrorKind::Usage, "there is no edit in the reply", hint));
    }
    let mut is_refused = false;
    for (number, outcome) in (1..).zip(&proposal.outcomes).filter(|(_, outcome)| outcome.status == Status::Refused) {
        complain(&outcome_line(number, outcome, &proposal));
        is_refused = true;
    }
    if is_refused {
        let hint = "Correct the reply, or leave these edits out.";
        return Err(UserError::new(
            ErrorKind::Usage,
            "edits of the reply were refused, so the command was not run",
            hint,
        ));
    }
    let mut review = Review::new(proposal);
    review.decide_all(Decision::Accepted);
    Ok(review.files.iter().flat_map(pending_writes).collect())
}

fn options(settings: &Settings, line: CommandLine, network: Option<Network>) -> RunOptions {
    let without = settings.keys.variables().map(|(name, _)| name.to_owned()).collect();
    let environment = Environment { without, guarded: true, with: Vec::new() };
    RunOptions { network: network.unwrap_or(settings.trial_network), environment, ..RunOptions::new(line) }
}

/// Runs a command in a new trial checkout. Returns the result, and the number of the signal that stopped it, or 0.
fn run_trial(
    root: &Root,
    settings: &Settings,
    writes: &[PendingWrite],
    options: &RunOptions,
) -> Result<(TrialResult, usize), UserError> {
    let machine = |error: &dyn std::fmt::Display| UserError::new(ErrorKind::Machine, error, DOCTOR);
    let stop = StopHandle::default();
    let signal = stopped_by_signals(&stop);
    let changes = changes_of(root, writes).map_err(|error| UserError::new(ErrorKind::Usage, &error, error.hint()))?;
    let mut trial: Trial = TrialSetup::new(settings).open(root).map_err(|error| machine(&error))?;
    let result =
        trial.run(&changes, options, &stop, &mut || Ok(None), &mut |_, _| {}).map_err(|error| machine(&error))?;
    isolation_notes(&result.isolation).iter().for_each(|note| advise(&note.message, &note.hint));
    Ok((result, signal.load(Ordering::SeqCst)))
}

const DOCTOR: &str = "rhumb doctor shows what this machine allows";

/// Stops the command at the signals by which users and the system end a command. The number of the signal is stored.
fn stopped_by_signals(stop: &StopHandle) -> Arc<AtomicUsize> {
    let number = Arc::new(AtomicUsize::new(0));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // Without a handler the signal ends this program, and the kernel ends the command.
        let value = usize::try_from(signal).unwrap_or_default();
        signal_hook::flag::register_usize(signal, Arc::clone(&number), value).ok();
        signal_hook::flag::register(signal, stop.flag()).ok();
    }
    #[cfg(not(unix))]
    let _ = stop;
    number
}

fn warn_of_stale(result: &TrialResult) {
    if !result.stale.is_empty() {
        let text = format!("{} changed while the command ran, so the result may be wrong", result.stale.join(", "));
        advise(&text, "Run it again.");
    }
}

/// The exit code of a command, as a shell reports it.
fn exit_code(end: End) -> u8 {
    match end {
        End::Exit(code) => u8::try_from(code).unwrap_or(NOT_RUN),
        End::Signal(number) => EXIT_BY_SIGNAL.saturating_add(u8::try_from(number).unwrap_or_default()),
        End::TimeLimit => TIMED_OUT,
        End::Stopped | End::WantedTerminal => NOT_RUN,
    }
}

/// What a command changed in a file, as a unified diff. A file that is not text is named.
fn changed_text(file: &ChangedFile) -> String {
    fn text(content: &Option<Arc<[u8]>>) -> Result<Option<&str>, Utf8Error> {
        content.as_deref().map(std::str::from_utf8).transpose()
    }
    match (text(&file.before), text(&file.after)) {
        (Ok(before), Ok(after)) => diff::unified(&file.path, before, after),
        _ => format!("Binary file {} differs\n", file.path),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The trial of a command before a write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TryReport {
    /// The command line.
    pub command: String,
    /// The exit code, as a shell reports it.
    pub exit: u8,
    /// The time that it took, in milliseconds.
    pub ms: u64,
    /// The output, or its beginning and end.
    pub output: String,
}

/// Runs a command of the shell on files that are to be written. They may be written if the exit code is 0.
///
/// # Errors
/// The command was not run.
pub(super) fn try_before_write(
    root: &Root,
    settings: &Settings,
    writes: &[PendingWrite],
    (line, network): (&str, Option<Network>),
) -> Result<TryReport, UserError> {
    let options = options(settings, CommandLine::Shell(line.to_owned()), network);
    let (result, signal) = run_trial(root, settings, writes, &options)?;
    let exit = if signal == 0 { exit_code(result.outcome.end) } else { NOT_RUN };
    warn_of_stale(&result);
    let (ms, output) = (milliseconds(result.outcome.took), result.outcome.output.text);
    Ok(TryReport { command: line.to_owned(), exit, ms, output })
}

/// Reports a failed trial to people: the output, and that nothing was written.
pub(super) fn report_failure(report: &TryReport) {
    complain(report.output.trim_end());
    let text = format!("`{}` failed with exit code {}, so nothing was written", report.command, report.exit);
    advise(&text, "The output above is that of the trial.");
}
