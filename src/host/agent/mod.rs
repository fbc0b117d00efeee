//! Performs the tool calls of the agent loop: reads and searches, locates edits, and runs commands in a trial checkout.

mod edits;
mod run;
mod task;
pub(crate) mod tools;

use super::{Host, lock, on_blocking_thread};
use rhumb_agent::{Action, Keep, clip};
use rhumb_session::{AgentEffect, AgentResponse, AgentView, PendingCall, Response, ToolOutcome};
use rhumb_text::count;
use rhumb_text::secrets::masked;
use rhumb_tokens::TokenCounter as _;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Maximum size of a result, in bytes and in lines.
const MAX_RESULT_BYTES: usize = 24_000;
const MAX_RESULT_LINES: usize = 600;

/// Maximum size in bytes of all texts that are kept for `result:N`.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// The whole texts of results that were cut, by the number of the call, and the token that stops calls.
#[derive(Default)]
pub(super) struct AgentState {
    kept: Mutex<BTreeMap<usize, Arc<str>>>,
    cancel: Mutex<CancellationToken>,
}

impl AgentState {
    /// Stops all calls, and the timer.
    pub(super) fn cancel(&self) {
        lock(&self.cancel).cancel();
    }

    /// The token of the calls that start now.
    fn token(&self) -> CancellationToken {
        let mut token = lock(&self.cancel);
        if token.is_cancelled() {
            *token = CancellationToken::new();
        }
        token.clone()
    }

    fn keep(&self, number: usize, text: &str) {
        let mut kept = lock(&self.kept);
        kept.insert(number, Arc::from(text));
        let mut size: usize = kept.values().map(|text| text.len()).sum();
        while size > MAX_KEPT_BYTES
            && let Some((_, dropped)) = kept.pop_first()
        {
            size -= dropped.len();
        }
    }

    /// Forgets the text of an earlier call with the same number, such as one of another session.
    fn forget(&self, number: usize) {
        lock(&self.kept).remove(&number);
    }

    fn kept(&self, number: usize) -> Option<Arc<str>> {
        lock(&self.kept).get(&number).cloned()
    }
}

/// The result of a call, before it is cut.
struct CallResult {
    ok: bool,
    text: String,
    /// The part to keep if it is too long.
    keep: Keep,
    /// The result in a few words; empty for the number of lines.
    summary: String,
    /// The whole text, if `text` is cut already.
    rest: Option<String>,
    outcome: ToolOutcome,
}

impl CallResult {
    fn new(ok: bool, text: impl Into<String>) -> Self {
        let (summary, outcome) = (String::new(), ToolOutcome::default());
        Self { ok, text: text.into(), keep: Keep::Head, summary, rest: None, outcome }
    }
}

impl Host {
    pub(crate) fn agent(self, effect: AgentEffect) {
        let cancel = self.shared.agent.token();
        match effect {
            AgentEffect::Perform { turn, calls, view } => {
                let view = Arc::new(view);
                for call in calls {
                    tokio::spawn(self.clone().perform(turn, call, Arc::clone(&view), cancel.clone()));
                }
            }
            AgentEffect::Timer { turn, time } => {
                tokio::spawn(async move {
                    tokio::select! {
                        () = cancel.cancelled() => {}
                        () = tokio::time::sleep(time) => {
                            self.respond(Response::Agent(AgentResponse::TimeUp { turn })).await;
                        }
                    }
                });
            }
        }
    }

    async fn perform(self, turn: u64, call: PendingCall, view: Arc<AgentView>, cancel: CancellationToken) {
        let started = Instant::now();
        let number = call.number;
        if let Some(command) = run::Command::of(&call).filter(|command| !command.is_approved) {
            let (host, line, policy) = (self.clone(), command.line.clone(), view.run);
            // An unknown command needs the user's consent.
            let reason = match on_blocking_thread(move || host.needs_approval(&command, policy)).await {
                Ok(reason) => reason,
                Err(failure) => Some(failure.message),
            };
            if let Some(reason) = reason {
                return self.respond_agent(AgentResponse::NeedsApproval { turn, number, command: line, reason }).await;
            }
        }
        let result = tokio::select! {
            biased;
            result = self.result_of(turn, call, view, cancel.clone()) => result,
            // The session has marked the call as stopped. A command is stopped by its own handle.
            () = cancel.cancelled() => return,
        };
        let outcome = self.outcome(number, result, started);
        self.respond_agent(AgentResponse::Done { turn, number, outcome: Box::new(outcome) }).await;
    }

    async fn respond_agent(&self, response: AgentResponse) {
        self.respond(Response::Agent(response)).await;
    }

    async fn result_of(
        &self,
        turn: u64,
        call: PendingCall,
        view: Arc<AgentView>,
        cancel: CancellationToken,
    ) -> CallResult {
        let host = self.clone();
        let command = run::Command::of(&call);
        match call.action {
            Action::FetchUrl { url } => match self.page_for_message(&url).await {
                Ok(page) => CallResult::new(true, page.text),
                Err(failure) => CallResult::new(false, failure.message),
            },
            Action::Task { prompt } => self.task(turn, &prompt, &view, &cancel).await,
            Action::Run { .. } => {
                let Some(command) = command else { return CallResult::new(false, "There is no command.") };
                let stop = rhumb_workspace::process::StopHandle::default();
                let handle = stop.clone();
                tokio::spawn(async move {
                    cancel.cancelled().await;
                    handle.stop();
                });
                blocking(move || host.as_job(command.job, &stop, || host.run_in_trial(&command, &view, &stop))).await
            }
            action if action.is_edit() => blocking(move || host.edit(&action, &view)).await,
            action => {
                let stop = Arc::new(AtomicBool::new(false));
                let _stops = StopOnDrop(Arc::clone(&stop));
                blocking(move || host.read(&action, &view, &stop)).await
            }
        }
    }

    /// Performs a call that only reads.
    fn read(&self, action: &Action, view: &AgentView, stop: &AtomicBool) -> CallResult {
        if let Action::ReadFile { path, start_line, end_line } = action
            && let Some(number) = path.strip_prefix("result:").and_then(|number| number.trim().parse().ok())
        {
            return match self.shared.agent.kept(number) {
                Some(text) => match tools::read_lines(&text, *start_line, *end_line, "") {
                    Ok(lines) => CallResult::new(true, lines.text),
                    Err(reason) => CallResult::new(false, reason),
                },
                None => {
                    CallResult::new(false, format!("There is no result {number} to read more of. Call the tool again."))
                }
            };
        }
        let survey = self.shared.survey.borrow().clone();
        let paths: Vec<String> = survey.iter().flat_map(|survey| &survey.files).map(|file| file.path.clone()).collect();
        let repository = tools::RepositoryView {
            root: &self.shared.root,
            paths: &paths,
            pending: &view.pending,
            survey: survey.as_deref(),
            masks: !self.shared.env.settings.send_secrets,
            counter: &*self.counter(),
        };
        match tools::perform(action, &repository, stop) {
            Ok(found) => CallResult { rest: found.rest, ..CallResult::new(true, found.text) },
            Err(reason) => CallResult::new(false, reason),
        }
    }

    /// Cuts a result to its budget, and counts its tokens.
    fn outcome(&self, number: usize, result: CallResult, started: Instant) -> ToolOutcome {
        let rest = format!("read_file path=\"result:{number}\" with start_line and end_line");
        // A part of a secret is not recognised, so the text is masked before it is cut.
        let text = if self.shared.env.settings.send_secrets { result.text } else { masked(&result.text).into_owned() };
        let clipped = clip(&text, result.keep, MAX_RESULT_BYTES, MAX_RESULT_LINES, &rest);
        if clipped.missing_bytes > 0 || result.rest.is_some() {
            self.shared.agent.keep(number, result.rest.as_deref().unwrap_or(&text));
        } else {
            self.shared.agent.forget(number);
        }
        let mut shown = clipped.text;
        if result.rest.is_some() && clipped.missing_bytes == 0 {
            shown.push_str(&format!("\n[the rest: {rest}]"));
        }
        let summary = match result.summary.is_empty() {
            true if result.ok => count(text.lines().count(), "line"),
            true => text.lines().next().unwrap_or_default().chars().take(80).collect(),
            false => result.summary,
        };
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let tokens = self.counter().count(&shown);
        ToolOutcome { ok: result.ok, tokens, text: shown, summary, ms, ..result.outcome }
    }
}

async fn blocking(work: impl FnOnce() -> CallResult + Send + 'static) -> CallResult {
    on_blocking_thread(work).await.unwrap_or_else(|failure| CallResult::new(false, failure.message))
}

/// Stops a search when its call was cancelled.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
