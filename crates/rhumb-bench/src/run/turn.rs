//! One turn of a benchmark with a model, performed in a separate process.
//!
//! The process is a second run of `rhumb-bench` (the hidden command `turn`), which calls the library of the program. A process can be
//! ended at its time limit together with all commands that it started, several can run at once, and a crash costs one task. The
//! process reports the turn as the events of `rhumb edit --json`, which are parsed into the type that printed them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rhumb::cli;
use rhumb::config::{Overrides, Settings};
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::event::{FailedFor, HunkStatus, TurnEvent};
use rhumb::headless::{EditArgs, EditOptions, edit_with};
use rhumb::host::ModelClient;
use rhumb_llm::models::{Dollars, Prices, Tokens};
use rhumb_llm::{ScriptedProvider, ScriptedReply};
use rhumb_tokens::estimate_of;
use rhumb_workspace::process::{
    CommandLine, End, Environment, RunRequest, SecretMask, StopHandle, end_with_parent, run,
};
use serde::{Deserialize, Serialize};

use crate::args::ModelArgs;

/// Context window of an oracle model, in tokens. Larger than any file of a task, so that nothing is left out.
const ORACLE_CONTEXT_WINDOW: usize = 1 << 24;
/// Name of an oracle model in results.
const ORACLE_NAME: &str = "recital";

/// A turn to perform.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TurnRequest {
    /// The folder that the model may change.
    pub(crate) root: PathBuf,
    /// The message to the model.
    pub(crate) message: String,
    /// A file with the output of tests, sent along with the message.
    pub(crate) output: Option<PathBuf>,
    /// The files of the chat, relative to the root.
    pub(crate) files: Vec<String>,
    /// Which model is used, and how.
    pub(crate) model: ModelArgs,
    /// The reply of an oracle model. No real model is used then.
    pub(crate) oracle_reply: Option<String>,
    /// US dollars that the turn may cost.
    pub(crate) spending_cap: Option<f64>,
}

/// The outcome of a turn.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct TurnReport {
    pub(crate) models: BTreeSet<String>,
    /// Answers without an edit, or with one that could not be applied.
    pub(crate) malformed: usize,
    /// An edit was refused because it has a comment in the place of code.
    pub(crate) elided: bool,
    /// The context window or the output limit did not suffice.
    pub(crate) exhausted: bool,
    /// The turn reached the time limit.
    pub(crate) timed_out: bool,
    /// The turn reached its spending cap.
    pub(crate) no_money: bool,
    /// The user stopped the turn.
    pub(crate) stopped: bool,
    /// Why no whole answer came, if that is not the model's fault.
    pub(crate) trouble: Option<String>,
    /// Input tokens, cached ones included.
    pub(crate) input: u64,
    /// Output tokens.
    pub(crate) output: u64,
    /// US dollars; `None` if a price is unknown.
    pub(crate) cost: Option<f64>,
    pub(crate) seconds: f64,
}

/// Performs a turn in this process and prints its events. The process that [`turn`] starts calls this.
///
/// # Errors
/// The request or the settings are wrong, or the turn fails.
pub(crate) fn perform(request: &Path) -> Result<u8, UserError> {
    end_with_parent();
    let usage = |error: &dyn std::fmt::Display| UserError::new(ErrorKind::Usage, error, "");
    let text = fs::read_to_string(request).map_err(|error| usage(&error))?;
    let request: TurnRequest = serde_json::from_str(&text).map_err(|error| usage(&error))?;
    let root = cli::find_root(Some(&request.root))?;
    let flags = Overrides { auto_commit: Some(false), ..request.model.overrides() };
    let settings = cli::load_settings(flags, Some(&root))?;
    let root = root.ignoring(&settings.ignore);
    let oracle = request.oracle_reply.is_some();
    let settings = Settings {
        context_window: if oracle { Some(ORACLE_CONTEXT_WINDOW) } else { settings.context_window },
        spending_cap: request.spending_cap.map(Dollars::new).or(settings.spending_cap),
        // A benchmark leaves nothing among the user's own sessions, calibrations and journals.
        state_folder: None,
        ..settings
    };
    let args = EditArgs {
        message: Some(request.message),
        with_output: request.output,
        // Names are relative to the current folder, which is the root. One may begin with a dash.
        files: request.files.iter().map(|file| format!("./{file}")).collect(),
        yes: true,
        json: true,
        no_commit: true,
        no_test: true,
        ..EditArgs::default()
    };
    let client = request.oracle_reply.map(|reply| {
        let reply = ScriptedReply { match_words: Vec::new(), reply };
        ModelClient::new(Arc::new(ScriptedProvider::new(vec![reply], Duration::ZERO)), ORACLE_NAME.to_owned())
    });
    edit_with(&root, settings, &args, EditOptions { client, no_cache: true })
}

/// Performs a turn in a separate process and leaves its events in the file `log`.
///
/// # Errors
/// The process cannot be started, the settings are wrong, or this machine fails it.
pub(crate) fn turn(
    request: &TurnRequest,
    time_limit: Duration,
    log: &Path,
    stop: &StopHandle,
) -> Result<TurnReport, UserError> {
    let aside = crate::scratch_folder()?;
    let file = aside.path().join("request.json");
    let json = serde_json::to_string(request).map_err(|error| UserError::new(ErrorKind::Machine, error, ""))?;
    fs::write(&file, json).map_err(|error| refused(&file, &error))?;
    let program = std::env::current_exe().map_err(|error| UserError::new(ErrorKind::Machine, error, ""))?;
    let word = |path: &Path| path.to_string_lossy().into_owned();
    let line = CommandLine::Program(vec![word(&program), "turn".to_owned(), word(&file)]);
    let what = RunRequest {
        line: &line,
        folder: &request.root,
        time_limit: Some(time_limit),
        environment: &Environment::default(),
        masks: &SecretMask::default(),
    };
    let whole = aside.path().join("events");
    let mut keep = || Ok(Some((whole.clone(), File::create(&whole)?)));
    let ended = run(&what, stop, &mut keep, &mut |_, _| {})
        .map_err(|error| UserError::new(ErrorKind::Machine, &error, error.hint()))?;
    let text = match &ended.output.whole {
        Some(path) => fs::read_to_string(path).unwrap_or(ended.output.text),
        None => ended.output.text,
    };
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
    }
    fs::write(log, &text).map_err(|error| refused(log, &error))?;
    let mut report = read(&text, ended.end)?;
    report.seconds = ended.took.as_secs_f64();
    Ok(report)
}

/// The error for a file of a run that cannot be written.
pub(crate) fn refused(path: &Path, error: &std::io::Error) -> UserError {
    UserError::new(
        ErrorKind::Machine,
        format!("cannot write {}: {error}", path.display()),
        "check the space on the disk",
    )
}

/// Reads the output of a turn: events, and messages between them.
fn read(text: &str, end: End) -> Result<TurnReport, UserError> {
    let mut report = TurnReport { cost: Some(0.0), ..TurnReport::default() };
    let (mut hunks, mut refused, mut after_checks) = (0, 0, false);
    let (mut failed, mut messages) = (None, Vec::new());
    let mut open: Option<OpenRequest> = None;
    for line in text.lines() {
        let Ok(event) = serde_json::from_str::<TurnEvent>(line) else {
            messages.push(line);
            continue;
        };
        match event {
            TurnEvent::Request { model, tokens, prices, .. } => {
                report.models.insert(model);
                open = Some(OpenRequest { tokens: tokens as u64, prices, bytes: 0 });
            }
            TurnEvent::Text { text } | TurnEvent::Reasoning { text } => {
                open.iter_mut().for_each(|request| request.bytes += text.len());
            }
            TurnEvent::Spent { tokens, cost, .. } => {
                open = None;
                report.spend(tokens, cost);
            }
            // After checks, the follow-up is about their findings, otherwise about edits that could not be located.
            TurnEvent::Again { .. } => {
                report.malformed += usize::from(!after_checks);
                after_checks = false;
            }
            TurnEvent::Hunk(hunk) => {
                hunks += 1;
                let is_flagged = |name: &str| hunk.flags.iter().any(|flag| flag == name);
                let is_refused = hunk.status == HunkStatus::Refused;
                // An edit that the file already has is refused too, and there is nothing wrong with it.
                refused += usize::from(is_refused && !is_flagged("already-applied"));
                report.elided |= is_refused && is_flagged("elision");
            }
            TurnEvent::Shrunk { .. } => report.exhausted = true,
            // An answer that the cap cut off says nothing about the ability of the model.
            TurnEvent::CutByCap {} | TurnEvent::PastTheCap {} => report.no_money = true,
            TurnEvent::Failed { why } => failed = Some(why),
            TurnEvent::Checked { .. } => after_checks = true,
            _ => {}
        }
    }
    report.malformed += usize::from(refused > 0);
    report.exhausted |= matches!(failed, Some(FailedFor::Window | FailedFor::Output));
    report.no_money |= failed == Some(FailedFor::Money);
    // A process that was ended did not print the cost of its last request.
    if let Some(request) = open.filter(|_| !matches!(end, End::Exit(_))) {
        request.charge(&mut report);
    }
    match end {
        End::Exit(0) => {}
        End::Exit(1) => report.malformed += usize::from(hunks == 0),
        End::TimeLimit => report.timed_out = true,
        End::Stopped => report.stopped = true,
        // A limit explains why the answer is incomplete.
        End::Exit(4 | 5) if report.exhausted || report.no_money => {}
        End::Exit(5) if failed.is_none() => report.exhausted = true,
        End::Exit(code @ (2 | 3)) => {
            let kind = if code == 2 { ErrorKind::Usage } else { ErrorKind::Machine };
            return Err(UserError::new(kind, last_message(&messages), ""));
        }
        _ => report.trouble = Some(last_message(&messages)),
    }
    Ok(report)
}

impl TurnReport {
    fn spend(&mut self, tokens: Tokens, cost: Option<f64>) {
        self.input += tokens.input();
        self.output += tokens.output;
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum + cost);
    }
}

/// A request whose cost is not known yet.
struct OpenRequest {
    tokens: u64,
    prices: Option<Prices>,
    /// Bytes of text and reasoning that arrived.
    bytes: usize,
}

impl OpenRequest {
    /// Adds the cost by our own count: of the request, and of the part of the answer that arrived.
    fn charge(&self, report: &mut TurnReport) {
        let output = estimate_of(self.bytes) as u64;
        let tokens = Tokens { fresh: self.tokens, output, ..Tokens::default() };
        report.spend(tokens, self.prices.map(|prices| prices.cost(tokens).as_f64()));
    }
}

/// The last message with its hint, without the name of the program in front of it.
fn last_message(lines: &[&str]) -> String {
    let last = lines.iter().rposition(|line| line.starts_with("rhumb: ")).unwrap_or(0);
    let message: Vec<&str> = lines.get(last..).unwrap_or_default().iter().map(|line| line.trim()).collect();
    let text = message.join(" ");
    let text = text.strip_prefix("rhumb: ").unwrap_or(&text);
    if text.is_empty() { "the turn ended without a message".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPENT: &str = r#"{"event":"spent","tokens":{"fresh":10,"cache_read":5,"cache_write":0,"output":7},"estimated":false,"cost":0.5}"#;

    fn request(tokens: usize, prices: &str) -> String {
        format!(
            r#"{{"event":"request","model":"m","tokens":{tokens},"exact":true,"left_out":[],"secrets":[],"prices":{prices}}}"#
        )
    }

    fn hunk(status: &str) -> String {
        format!(
            r#"{{"event":"hunk","path":"a","format":"diff","status":"{status}","strategy":"","confidence":1.0,"lines":null,"reason":"","candidates":[],"nearest":[],"flags":["elision"]}}"#
        )
    }

    #[test]
    fn answers_that_could_not_be_applied_are_told_from_faults_that_checks_find() {
        let again = r#"{"event":"again","round":1,"of":3,"text":"x"}"#;
        let checked = r#"{"event":"checked","failed":true,"stopped":false,"checks":[],"text":null}"#;
        let text = [&request(7, "null"), SPENT, again, SPENT, &hunk("applied"), checked, again, SPENT];
        let report = read(&text.join("\n"), End::Exit(0)).unwrap();
        assert_eq!((report.malformed, report.input, report.output, report.cost), (1, 45, 21, Some(1.5)));
        assert!(report.models.contains("m") && !report.exhausted);
        let report = read(&format!("{}\n{}", hunk("applied"), hunk("refused")), End::Exit(1)).unwrap();
        assert_eq!((report.malformed, report.elided), (1, true));
        let report = read(&hunk("refused").replace("elision", "already-applied"), End::Exit(1)).unwrap();
        assert_eq!((report.malformed, report.elided), (0, false));
        assert_eq!(read(SPENT, End::Exit(1)).unwrap().malformed, 1, "no edit at all");
    }

    #[test]
    fn a_turn_that_is_cut_short_is_not_free() {
        let prices = r#"{"input":1000.0,"output":10000.0,"cache_read":0.0,"cache_write":0.0,"long":null}"#;
        let request = |prices: &str| request(500, prices);
        let text = format!(r#"{{"event":"text","text":"{}"}}"#, "word ".repeat(80));
        let first = format!("{}\n{SPENT}\n", request(prices));
        for end in [End::TimeLimit, End::Stopped, End::Signal(9)] {
            let report = read(&format!("{first}{}\n{text}\n{text}", request(prices)), end).unwrap();
            let answer = estimate_of(800);
            let cost = 0.5 + 0.5 + answer as f64 / 100.0;
            assert!(report.cost.is_some_and(|it| (it - cost).abs() < 1e-9), "{report:?}");
            assert_eq!((report.input, report.output), (515, 7 + answer as u64));
            assert_eq!(read(&first, end).unwrap().cost, Some(0.5), "all was told");
            assert_eq!(read(&request("null"), end).unwrap().cost, None);
        }
        // A request that a server refused is free.
        assert_eq!(read(&request(prices), End::Exit(4)).unwrap().cost, Some(0.0));
    }

    #[test]
    fn the_cause_of_a_failure_is_recognized() {
        let failed = |why: &str, code: i32| {
            read(
                &format!("rhumb: note\n{{\"event\":\"failed\",\"why\":\"{why}\"}}\nrhumb: no luck\n  → wait"),
                End::Exit(code),
            )
        };
        assert!(failed("window", 4).unwrap().exhausted && failed("output", 5).unwrap().exhausted);
        assert!(failed("money", 4).unwrap().no_money);
        for event in ["cut_by_cap", "past_the_cap"] {
            let text = format!("{{\"event\":\"{event}\"}}\n{SPENT}");
            assert!(read(&text, End::Exit(1)).unwrap().no_money, "{event}");
        }
        assert_eq!(failed("provider", 4).unwrap().trouble.as_deref(), Some("no luck → wait"));
        assert!(failed("provider", 4).unwrap().cost.is_some());
        assert!(failed("", 2).unwrap_err().message.contains("no luck"));
        assert!(read("", End::TimeLimit).unwrap().timed_out);
        assert_eq!(read(&SPENT.replace("0.5", "null"), End::Exit(0)).unwrap().cost, None);
    }
}
