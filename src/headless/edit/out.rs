//! Prints the events of `rhumb edit`: as text for people, or as JSON lines for programs. Missing and incomplete answers have an
//! error with its exit code for people, and a cause for programs.

use crate::error::{ErrorKind, UserError};
use crate::headless::event::{FailedFor, FileEvent, NotWrittenEvent, PassageEvent, SecretEvent, TurnEvent};
use crate::headless::{print_exactly, print_json, print_message};
use rhumb_llm::models::{Dollars, Model, Tokens};
use rhumb_llm::{Completion, Finish, LlmError, Message, StreamEvent};
use rhumb_session::context::{ChunkLocation, Prompt, PromptSecret, Section};
use rhumb_session::{AskError, AskEvent, WriteSummary, Written};
use rhumb_text::{sanitize, thousands, width};
use rhumb_workspace::process::End;
use serde_json::{Value, json};
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

/// Prints events as text for people or as JSON lines.
pub(super) struct Out {
    pub(crate) json: bool,
    /// Whether a summary of each request is printed before it is sent.
    prompts: bool,
    /// Whether standard error is a terminal on which a line can be overwritten.
    overwrites: bool,
    /// The attempt that the last wait was for; 0 after another event.
    attempt: AtomicU32,
    /// Whether the current line of the terminal is a countdown.
    is_counting: AtomicBool,
}

/// Columns that are assumed if the terminal does not report its width.
const DEFAULT_COLUMNS: u16 = 80;

impl Out {
    /// Prints JSON lines if `json`. With `prompts`, a summary of each request is printed before it is sent.
    pub(crate) fn new(json: bool, prompts: bool) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let overwrites = std::io::stderr().is_terminal() && !is_dumb;
        Self { json, prompts, overwrites, attempt: AtomicU32::new(0), is_counting: AtomicBool::new(false) }
    }

    /// Prints the time until the next attempt: on a terminal as a line that is overwritten, elsewhere once for each attempt.
    fn count_down(&self, attempt: u32, wait: Duration, reason: &str) -> Result<(), UserError> {
        let seconds = wait.as_secs_f64().ceil();
        let end = format!("; try {attempt} in {seconds:.0} s");
        let is_new = self.attempt.swap(attempt, Relaxed) != attempt;
        if self.overwrites {
            let columns = crossterm::terminal::size().map_or(DEFAULT_COLUMNS, |(columns, _)| columns);
            // The reason is clipped, and the last column stays free, because a full line would wrap.
            let start = format!("rhumb: {}", sanitize::visible_line(reason));
            let available = usize::from(columns).saturating_sub(end.len() + 1);
            let line = format!("\r{}{end}\x1b[K", width::clip(&start, available));
            let mut err = std::io::stderr();
            let _ = err.write_all(line.as_bytes()).and_then(|()| err.flush());
            self.is_counting.store(true, Relaxed);
        } else if is_new {
            print_message(&format!("{reason}{end}"));
        }
        if !is_new {
            return Ok(());
        }
        self.event(&TurnEvent::Retrying { attempt, seconds: wait.as_secs_f64(), reason: reason.to_owned() })
    }

    pub(crate) fn end_countdown(&self) {
        self.attempt.store(0, Relaxed);
        if self.is_counting.swap(false, Relaxed) {
            let mut err = std::io::stderr();
            let _ = err.write_all(b"\r\x1b[K").and_then(|()| err.flush());
        }
    }

    pub(crate) fn text(&self, text: &str) -> Result<(), UserError> {
        if self.json { self.event(&TurnEvent::Text { text: text.to_owned() }) } else { print_exactly(text) }
    }

    /// Events of a request to `model`. Entries of the transcript are not printed here for people.
    pub(crate) fn asked(&self, model: &str, facts: &Model, event: &AskEvent) -> Result<(), UserError> {
        if !matches!(event, AskEvent::Stream(StreamEvent::Retrying { .. })) {
            self.end_countdown();
        }
        match event {
            AskEvent::Sent { prompt, continues, tokens, prices } => {
                if !continues {
                    self.prompt(facts, prompt)?;
                }
                let (left_out, secrets) =
                    if *continues { Default::default() } else { (&prompt.omitted[..], &prompt.secrets[..]) };
                let left_out: Vec<String> = left_out.iter().map(ToString::to_string).collect();
                left_out.iter().for_each(|what| print_message(&format!("left out, because it does not fit: {what}")));
                self.event(&TurnEvent::Request {
                    model: model.to_owned(),
                    tokens: *tokens,
                    exact: prompt.exact,
                    left_out,
                    secrets: secret_events(secrets),
                    prices: *prices,
                })
            }
            AskEvent::Stream(StreamEvent::Text(text)) => self.text(text),
            AskEvent::Stream(StreamEvent::Reasoning(text)) => self.event(&TurnEvent::Reasoning { text: text.clone() }),
            AskEvent::Stream(StreamEvent::Retract) => self.event(&TurnEvent::TakeBack {}),
            // The call itself is an event, once it is complete.
            AskEvent::Stream(StreamEvent::ToolCall { .. }) => Ok(()),
            AskEvent::Stream(StreamEvent::Usage(usage)) => {
                self.event(&TurnEvent::Usage { input: usage.input, output: usage.output, cached: usage.cached })
            }
            AskEvent::Stream(StreamEvent::Retrying { attempt, wait, reason }) => {
                self.count_down(*attempt, *wait, reason)
            }
            AskEvent::Shrunk { time, of, limit } => {
                self.event(&TurnEvent::Shrunk { time: *time, of: *of, limit: *limit })
            }
            AskEvent::Continuing { time, of } => {
                print_message(&format!(
                    "the answer reached the output limit; the model continues it, part {time} of at most {of}"
                ));
                self.event(&TurnEvent::Continuing { time: *time, of: *of })
            }
            AskEvent::Editor { model, .. } => {
                print_message(&format!("the plan goes to {model}"));
                self.event(&TurnEvent::Editor { model: model.clone() })
            }
            AskEvent::DoubtfulSeam => self.event(&TurnEvent::DoubtfulSeam {}),
            AskEvent::PastTheCap => self.event(&TurnEvent::PastTheCap {}),
            AskEvent::CutByCap => self.event(&TurnEvent::CutByCap {}),
            AskEvent::Spent(spent) => {
                let cost = spent.model.prices.map(|prices| prices.cost(spent.tokens));
                if let Some(cost) = cost.filter(|_| !self.json) {
                    print_message(&format!("{} tokens in, {} out: {cost}", spent.tokens.input(), spent.tokens.output));
                }
                let cost = cost.map(Dollars::as_f64);
                self.event(&TurnEvent::Spent { tokens: spent.tokens, estimated: spent.estimated, cost })
            }
        }
    }

    /// The passages that a question about the repository found.
    pub(crate) fn passages(&self, places: &[ChunkLocation]) -> Result<(), UserError> {
        let passage = |place: &ChunkLocation| PassageEvent {
            path: place.path.clone(),
            start_line: place.line,
            end_line: place.end_line,
            symbol: place.anchor.as_ref().map(|anchor| anchor.symbol.clone()),
        };
        self.event(&TurnEvent::Passages { passages: places.iter().map(passage).collect() })
    }

    pub(crate) fn check_ended(&self, command: &str, end: End, seconds: u64) -> Result<(), UserError> {
        let words = match end {
            End::Exit(code) => format!("exit code {code}"),
            End::Signal(number) => format!("signal {number}"),
            End::TimeLimit => "time limit".into(),
            End::Stopped => "stopped".into(),
            End::WantedTerminal => "wanted the terminal".into(),
        };
        if !self.json {
            print_message(&format!("{command}: {words}, {seconds} s"));
        }
        let exit = if let End::Exit(code) = end { Some(code) } else { None };
        self.event(&TurnEvent::CheckEnded { line: command.to_owned(), end: words, exit, seconds: seconds as f64 })
    }

    pub(crate) fn event(&self, event: &TurnEvent) -> Result<(), UserError> {
        if self.json { print_json(event) } else { Ok(()) }
    }

    pub(crate) fn prompt(&self, model: &Model, prompt: &Prompt) -> Result<(), UserError> {
        if self.prompts && !self.json {
            print_message(&format!(
                "{}\n  → --show-prompt prints a whole request and sends nothing",
                summary(model, prompt)
            ));
        }
        if self.prompts { self.event(&TurnEvent::Prompt(prompt_json(prompt))) } else { Ok(()) }
    }

    pub(crate) fn diff(&self, diff: &str) -> Result<(), UserError> {
        if self.json { self.event(&TurnEvent::Diff { text: diff.to_owned() }) } else { print_exactly(diff) }
    }

    /// The end of the turn: every file that was written, and the last commit.
    pub(crate) fn done(&self, written: &Written) -> Result<(), UserError> {
        self.event(&TurnEvent::Done { written: written.paths.clone(), commit: written.commit.clone() })
    }

    pub(crate) fn written(&self, written: &Written, summary: &WriteSummary) -> Result<(), UserError> {
        let file = |path: &String, hunks: usize| FileEvent { path: path.clone(), hunks };
        let not_written = summary.not_written.iter().map(|hunks| NotWrittenEvent {
            reason: hunks.reason.name().to_owned(),
            files: hunks.files.iter().map(|(path, hunks)| file(path, *hunks)).collect(),
        });
        self.event(&TurnEvent::Written {
            written: written.paths.clone(),
            commit: written.commit.clone(),
            files: summary.written.iter().map(|written| file(&written.path, written.hunks)).collect(),
            not_written: not_written.collect(),
        })
    }
}

fn secret_events(secrets: &[PromptSecret]) -> Vec<SecretEvent> {
    let event = |secret: &PromptSecret| {
        let PromptSecret { title, line, kind, masked, .. } = secret;
        SecretEvent { place: title.clone(), line: *line, kind: (*kind).to_owned(), masked: *masked }
    };
    secrets.iter().map(event).collect()
}

/// A summary of a request: model, size, cost, and the tokens of each section.
fn summary(model: &Model, prompt: &Prompt) -> String {
    let about = if prompt.exact && prompt.error == 0 { "" } else { "about " };
    let cost = match model.prices.map(|prices| prices.cost(Tokens { fresh: prompt.tokens as u64, ..Tokens::default() }))
    {
        Some(cost) if cost > Dollars::ZERO => format!("at most {cost} without the answer"),
        Some(_) => "free".to_owned(),
        None => "price unknown".to_owned(),
    };
    let (tokens, window) = (thousands(prompt.tokens), thousands(prompt.window.max_input()));
    let mut text = format!("request to {}: {about}{tokens} of {window} tokens, {cost}", model.name);
    for chunk in &prompt.sections {
        text += &format!("\n  {:>9}  {}", thousands(chunk.tokens), chunk.label());
    }
    text
}

/// A request as JSON: its messages as they are sent, and the sections that they consist of.
pub(super) fn prompt_json(prompt: &Prompt) -> Value {
    json!({
        "tokens": prompt.tokens,
        "error": prompt.error,
        "exact": prompt.exact,
        "max_input": prompt.window.max_input(),
        "trimmed": prompt.omitted.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "secrets": secret_events(&prompt.secrets),
        "chunks": prompt.sections.iter().map(chunk_json).collect::<Vec<_>>(),
        "messages": prompt.messages.iter().map(message_json).collect::<Vec<_>>(),
    })
}

fn chunk_json(chunk: &Section) -> Value {
    let Section { kind, title, message, tokens, cached, .. } = chunk;
    json!({"kind": kind.name(), "title": title, "message": message, "tokens": tokens, "cached": cached})
}

fn message_json(message: &Message) -> Value {
    let images: Vec<&str> = message.images.iter().map(|image| image.name.as_str()).collect();
    let mut json =
        json!({"role": message.role.as_str(), "content": message.content, "images": images, "cached": message.cached});
    if !message.tool_calls.is_empty() {
        json["tool_calls"] = json!(message.tool_calls);
    }
    if !message.tool_results.is_empty() {
        json["tool_results"] = json!(message.tool_results);
    }
    json
}

/// The hint about a chat file that cannot be read.
pub(super) const UNREADABLE: &str = "Correct or leave out that --file or --read (or read in rhumb.toml).";

/// The kind of an error, which decides the exit code.
pub(in crate::headless) fn error_kind(error: &AskError) -> ErrorKind {
    match error {
        AskError::Provider(LlmError::Interrupted(_)) | AskError::UnfinishedWork(_) => ErrorKind::Incomplete,
        AskError::Unreadable(_) | AskError::Provider(LlmError::MissingKey { .. }) => ErrorKind::Usage,
        AskError::Provider(_) | AskError::Unsent(_) | AskError::TooLong(_) => ErrorKind::Provider,
    }
}

pub(super) fn cause(error: &AskError) -> FailedFor {
    match error {
        AskError::TooLong(_) | AskError::Provider(LlmError::Overflow { .. }) => FailedFor::Window,
        AskError::Unsent(_) => FailedFor::Money,
        AskError::Unreadable(_) => FailedFor::File,
        AskError::Provider(_) | AskError::UnfinishedWork(_) => FailedFor::Provider,
    }
}

/// The error for people. `began`: a part of the answer has arrived. `consequence` describes the effect on its edits.
pub(super) fn user_error(error: &AskError, began: bool, consequence: &str) -> UserError {
    let failure = error.failure();
    let hint = if matches!(error, AskError::Unreadable(_)) { UNREADABLE.to_owned() } else { failure.hint };
    let mut message = failure.message;
    if began {
        message.truncate(message.trim_end_matches('.').len());
        message.push_str("; the answer is incomplete");
        message.push_str(consequence);
    }
    UserError::new(error_kind(error), message, hint)
}

/// The cause and the error of an answer that ended without an error of the provider, but is incomplete or empty. `capped`: the
/// spending cap ended it.
pub(super) fn incomplete(
    completion: &Completion,
    reply: &str,
    consequence: &str,
    capped: bool,
) -> Option<(FailedFor, UserError)> {
    let (cause, hint) = match completion.finish {
        Finish::Length if capped => (FailedFor::Money, "ask for less at once, or raise spending_cap"),
        Finish::Length => (FailedFor::Output, completion.finish.hint()),
        _ => (FailedFor::Provider, completion.finish.hint()),
    };
    let (text, hint) = match completion.finish.incomplete_reason() {
        Some(reason) => (format!("the reply is incomplete{consequence}: {reason}"), hint),
        // An answer of the agent loop need not have text beside its calls.
        None if completion.finish == Finish::ToolCalls => return None,
        None if reply.trim().is_empty() => {
            ("the model gave an empty answer".to_owned(), "Send again, or ask in other words.")
        }
        None => return None,
    };
    Some((cause, UserError::new(ErrorKind::Incomplete, text, hint)))
}
