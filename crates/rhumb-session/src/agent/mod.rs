//! The agent loop: the model calls tools until it has an answer. Its edits go to the review, and its commands run in a trial checkout.
//!
//! One answer of the model with its tool calls is a *step*. The whole loop is one [`Turn`](crate::Turn). The transcript has every
//! answer, call and result, and requests are made from it, so that a loop can be continued after a restart.

mod context;
pub(crate) mod messages;
#[cfg(test)]
mod soak;
#[cfg(test)]
mod tests;
mod tools;

use crate::context::Mode;
use crate::proposal::edit_retries::EditRetries;
use crate::transcript;
use crate::{AskError, Effect, Entry, Level, RequestSpec, Session, ToolState, ToolUse, Turn, TurnStatus};
use rhumb_agent::{Caps, Guard, PatchTool, PlanItem, Stop, ToolSet, definitions, protocol};
use rhumb_edit::review::Review;
use rhumb_edit::{EditFormat, PendingFile, Proposal};
use rhumb_llm::{Completion, LlmError, Message, ToolCall};
use rhumb_text::count;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub use tools::AgentQuestion;

/// When the model may run commands without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPolicy {
    /// Where a trial checkout is completely isolated.
    #[default]
    Sandboxed,
    /// In whatever trial checkout is possible.
    All,
    /// Never: each command is a question.
    Ask,
    /// The model gets no tool for commands.
    None,
}

/// The settings of agent mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentRules {
    /// When commands run without a question.
    pub run: RunPolicy,
    /// The limits of a loop.
    pub caps: Caps,
    /// Whether there is a user who can answer questions.
    pub asks: bool,
    /// Whether pages may be fetched.
    pub pages: bool,
    /// Whether calls are written as text, for models and servers without tool calls.
    pub text_protocol: bool,
}

impl Default for AgentRules {
    fn default() -> Self {
        let caps = Caps { steps: Some(100), ..Caps::default() };
        Self { run: RunPolicy::default(), caps, asks: true, pages: true, text_protocol: false }
    }
}

/// A task of the agent loop for the host. All are ended by [`Effect::Cancel`].
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEffect {
    /// Performs tool calls. Calls that only read run in parallel.
    Perform {
        /// The turn.
        turn: u64,
        /// The calls.
        calls: Vec<PendingCall>,
        /// The proposal so far.
        view: AgentView,
    },
    /// Reports when the time of a loop is over.
    Timer {
        /// The turn.
        turn: u64,
        /// The time.
        time: Duration,
    },
}

/// A tool call to perform.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCall {
    /// Its number in the session.
    pub number: usize,
    /// What to do.
    pub action: rhumb_agent::Action,
    /// The job of a command.
    pub job: u64,
    /// Whether the user has allowed it.
    pub is_approved: bool,
}

/// What the tools need of the session.
#[derive(Debug, Clone, Default)]
pub struct AgentView {
    /// The proposal so far.
    pub pending: Vec<PendingFile>,
    /// The review with all hunks that are not rejected, as accepted ones: what a trial applies.
    pub review: Arc<Review>,
    /// The files in the chat.
    pub chat: Arc<Vec<crate::ChatFile>>,
    /// When commands run without a question.
    pub run: RunPolicy,
    /// Choices of this session that take precedence over the settings.
    pub overrides: crate::RequestOverrides,
    /// The maximum cost of a sub-task.
    pub allowance: Option<rhumb_llm::models::Dollars>,
}

impl PartialEq for AgentView {
    fn eq(&self, other: &Self) -> bool {
        (&self.pending, self.run) == (&other.pending, other.run)
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutcome {
    /// Whether it succeeded.
    pub ok: bool,
    /// The result for the model.
    pub text: String,
    /// The tokens of `text`.
    pub tokens: usize,
    /// The result in a few words, for display.
    pub summary: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The located edits of a call that edits.
    pub proposal: Option<Proposal>,
    /// For a command: the command line, and whether it succeeded.
    pub run: Option<(String, bool)>,
}

/// The progress of the agent loop.
#[derive(Debug, Clone)]
pub enum AgentResponse {
    /// A call has ended.
    Done {
        /// The turn.
        turn: u64,
        /// The number of the call.
        number: usize,
        /// Its result.
        outcome: Box<ToolOutcome>,
    },
    /// A command needs the approval of the user.
    NeedsApproval {
        /// The turn.
        turn: u64,
        /// The number of the call.
        number: usize,
        /// The command line.
        command: String,
        /// Why it is not run without a question.
        reason: String,
    },
    /// The time of the loop is over.
    TimeUp {
        /// The turn.
        turn: u64,
    },
}

/// How an agent loop ended.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEnd {
    /// The model has finished.
    Finished,
    /// A cap or a guard stopped it.
    Stopped(Stop),
    /// The user paused or stopped it.
    Paused,
    /// A request failed, or its answer is incomplete.
    Failed,
}

/// The state of the agent loop.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    pub(crate) rules: AgentRules,
    /// The loop that runs.
    current: Option<AgentLoop>,
    /// How the last loop ended; `None` while one runs.
    end: Option<AgentEnd>,
    /// What earlier runs of the loop have used for the same message.
    spent: rhumb_agent::Spent,
    /// Whether the model or its server was found to have no tool calls.
    has_no_tools: bool,
    /// The reviews before steps that changed them: the number of the step in the transcript (see [`ToolUse::number`] of its
    /// first call), and the review.
    snapshots: Vec<(usize, Review)>,
    /// The addresses that the user has typed.
    pub(crate) named_pages: BTreeSet<String>,
    /// The number of the last call whose snapshot is not kept.
    snapshots_after: usize,
    /// The messages of the agent turns, and the revision of the transcript to which they belong.
    exchange: RefCell<(Option<u64>, Arc<Vec<Message>>)>,
}

/// A running loop.
#[derive(Debug, Default)]
struct AgentLoop {
    turn: u64,
    /// The sent message, with its attachments.
    message: Option<String>,
    /// Steps of this run of the loop.
    steps: usize,
    guard: Guard,
    /// The calls of the current step with their results, hashed. Warnings of the guard are not part of the results.
    calls: Vec<u64>,
    /// Whether the current step changed the proposal, ran something new, or has an answer of the user.
    progressed: bool,
    /// Whether the loop ends after this step.
    is_pausing: bool,
    /// Messages of the user for the next request.
    steering: Vec<String>,
}

/// What the status line shows of a running loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentStatus {
    /// The current step, from 1.
    pub step: usize,
    /// The limits.
    pub caps: Caps,
    /// Tokens of all requests and answers of the loop.
    pub tokens: u64,
    /// Its cost in dollars, as far as the prices are known.
    pub dollars: f64,
    /// Whether it ends after this step.
    pub is_pausing: bool,
    /// The number of messages that wait for the next request.
    pub steering: usize,
}

/// The maximum number of snapshots. Older ones are dropped.
const MAX_SNAPSHOTS: usize = 500;

/// The message after an answer that stops in the middle of a call.
const UNFINISHED_CALL: &str = "Your answer ends within a tool call. Write the whole call again.";

/// The message that continues a loop whose last answer is incomplete.
const GO_ON: &str = "Go on.";

impl Session {
    /// The state of the running agent loop; `None` if none runs.
    pub fn agent_status(&self) -> Option<AgentStatus> {
        let run = self.agent.current.as_ref()?;
        let spent = self.agent_spent();
        Some(AgentStatus {
            step: run.steps + 1,
            caps: self.agent.rules.caps,
            tokens: spent.tokens,
            dollars: spent.dollars,
            is_pausing: run.is_pausing,
            steering: run.steering.len(),
        })
    }

    /// The newest checklist of the model since the last message of the user; empty without one.
    pub fn agent_plan(&self) -> Vec<PlanItem> {
        // Models also know the tool as `update_plan` and `todo_write`.
        let may_be_plan = |name: &str| ["plan", "todo", "Plan", "Todo"].iter().any(|part| name.contains(part));
        let since_message = self.transcript.iter().rev().take_while(|entry| !matches!(entry, Entry::User { .. }));
        let plan = since_message.into_iter().find_map(|entry| match entry {
            Entry::Tool(tool) if tool.state == ToolState::Done && may_be_plan(&tool.call.name) => {
                self.plan_of(&tool.call)
            }
            _ => None,
        });
        plan.unwrap_or_default()
    }

    /// Sets the rules of agent mode.
    pub fn set_agent_rules(&mut self, rules: AgentRules) {
        self.agent.rules = rules;
    }

    /// The rules of agent mode.
    pub fn agent_rules(&self) -> &AgentRules {
        &self.agent.rules
    }

    /// Whether calls are written as text.
    fn writes_calls(&self) -> bool {
        self.agent.rules.text_protocol || self.agent.has_no_tools
    }

    /// Another model was connected, which may have tool calls.
    pub(crate) fn agent_model_changed(&mut self) {
        self.agent.has_no_tools = false;
    }

    /// The tools that are offered.
    pub(crate) fn tool_set(&self) -> ToolSet {
        let rules = &self.agent.rules;
        // The newer models of OpenAI are trained on the patch tool of their API.
        let knows_patches = self.model.facts().is_some_and(|facts| facts.edit_format == EditFormat::Patch);
        ToolSet {
            edits: true,
            patch: if knows_patches { PatchTool::BuiltIn } else { PatchTool::None },
            run: rules.run != RunPolicy::None,
            ask_user: rules.asks,
            fetch_url: rules.pages,
            task: true,
        }
    }

    /// What the loop has used since the message that it answers.
    pub(crate) fn agent_spent(&self) -> rhumb_agent::Spent {
        let before = self.agent.spent;
        let Some(run) = &self.agent.current else { return before };
        let spend = self.spending.ledger().turn(run.turn);
        let tokens = spend.tokens.input() + spend.tokens.output;
        let (tokens, dollars) = (before.tokens + tokens, before.dollars + spend.known.as_f64());
        rhumb_agent::Spent { steps: run.steps, tokens, dollars }
    }

    /// Begins the loop of a turn, if it is one of agent mode.
    pub(crate) fn open_loop(&mut self, turn: &Turn) {
        self.agent.current = None;
        if turn.mode == Mode::Agent {
            self.agent.current = Some(AgentLoop { turn: turn.number, ..AgentLoop::default() });
            (self.agent.end, self.agent.spent) = (None, rhumb_agent::Spent::default());
        }
    }

    /// Starts the timer of the loop that was begun last, if its time is limited.
    pub(crate) fn start_timer(&self) -> Vec<Effect> {
        let Some(run) = &self.agent.current else { return Vec::new() };
        let timer = |time| Effect::Agent(AgentEffect::Timer { turn: run.turn, time });
        self.agent.rules.caps.time.map(timer).into_iter().collect()
    }

    /// Makes a request one of agent mode: with tools, and with the agent turns as they were.
    pub(crate) fn as_agent_request(&self, spec: &mut RequestSpec) {
        spec.tools = Some(self.tool_set());
        spec.text_protocol = self.writes_calls();
        let Some(start) = messages::start(&self.transcript) else { return };
        let entries = &self.transcript[start..];
        let shared = std::mem::take(&mut spec.exchange);
        Arc::make_mut(&mut spec.history).extend_from_slice(&shared);
        spec.split_exchange(transcript::history(entries).count());
        spec.exchange = self.exchange(entries);
        let message = entries.iter().rev().find_map(|entry| match entry {
            Entry::User { text, .. } => Some(text.clone()),
            _ => None,
        });
        spec.topic = message.unwrap_or_default();
    }

    /// The messages of the agent turns. A long loop has megabytes, and they are needed after each key.
    fn exchange(&self, entries: &[Entry]) -> Arc<Vec<Message>> {
        let revision = self.transcript.revision();
        let mut cache = self.agent.exchange.borrow_mut();
        if cache.0 != Some(revision) {
            *cache = (Some(revision), Arc::new(messages::messages(entries)));
        }
        Arc::clone(&cache.1)
    }

    /// Whether the turn is one of agent mode that has done something.
    pub(crate) fn has_worked(&self, turn: &Turn) -> bool {
        turn.mode == Mode::Agent && !self.is_first_request()
    }

    /// Remembers the first message that the loop sent.
    pub(crate) fn agent_message_sent(&mut self, draft: &str) {
        if let Some(run) = &mut self.agent.current {
            run.message = Some(draft.to_owned());
        }
    }

    /// Whether an agent loop runs.
    pub fn is_agent_running(&self) -> bool {
        self.agent.current.is_some() && self.turns.is_running()
    }

    /// Takes a message of the user for the next request of the running loop, or as the answer to a question of the model.
    pub(crate) fn steer(&mut self, message: &str) -> Vec<Effect> {
        self.note_addresses(message);
        if let Some(effects) = self.answer_in_words(message) {
            return effects;
        }
        if let Some(run) = &mut self.agent.current {
            run.steering.push(message.to_owned());
            run.is_pausing = false;
        }
        self.drafts.set_message("");
        Vec::new()
    }

    /// The messages that wait for the next request of the loop.
    pub fn steering(&self) -> &[String] {
        self.agent.current.as_ref().map_or(&[], |run| &run.steering)
    }

    /// Stops what runs, at the request of the user: an agent loop first pauses after its step, and stops at the second request.
    pub fn interrupt(&mut self) -> Vec<Effect> {
        match self.agent.current.as_mut().filter(|run| !run.is_pausing) {
            Some(run) if self.turns.current().is_some() => {
                run.is_pausing = true;
                Vec::new()
            }
            _ => self.cancel(),
        }
    }

    /// Ends the loop because the turn was cancelled. Its calls count as stopped.
    pub(crate) fn agent_cancelled(&mut self) {
        if self.agent.current.is_none() {
            return;
        }
        self.stop_calls("the developer stopped the loop");
        self.end_loop(AgentEnd::Paused, "The agent loop was stopped.", "/continue goes on, or say what to do instead.");
    }

    /// Handles an answer in agent mode. The turn is still the current one if the loop goes on.
    pub(crate) fn agent_answered(&mut self, turn: Turn, completion: &Completion) -> Vec<Effect> {
        if let Some(run) = &mut self.agent.current {
            run.calls.clear();
        }
        let cut = completion.finish.incomplete_reason();
        let calls = self.close_step(completion, cut.clone());
        self.mark_answered();
        if let Some(reason) = cut {
            let hint = "/continue goes on.";
            let text = format!("The agent loop ended: the answer is incomplete, {reason}.");
            self.end_loop(AgentEnd::Failed, &text, hint);
            return self.measure();
        }
        let step = self.last_step() + 1;
        if calls.is_empty() && self.ends_within_call() {
            let (text, answered) = (UNFINISHED_CALL.to_owned(), true);
            self.transcript.push(Entry::FollowUp { text, round: step, of: step, answered });
            self.turns.resume(turn, TurnStatus::Waiting);
            return self.step_done();
        }
        if calls.is_empty() {
            return self.agent_finished(turn);
        }
        let first = self.last_tool_number() + 1;
        for (offset, call) in calls.into_iter().enumerate() {
            self.transcript.push(Entry::Tool(ToolUse {
                number: first + offset,
                step,
                call,
                state: ToolState::Waiting,
                result: String::new(),
                outcome: String::new(),
                tokens: 0,
                ms: 0,
                is_dropped: false,
                is_pinned: false,
            }));
        }
        self.turns.resume(turn, TurnStatus::Tools);
        if let Some(run) = &mut self.agent.current {
            run.progressed = false;
        }
        self.perform_calls()
    }

    /// Ends the answer of a step. Returns its calls.
    fn close_step(&mut self, completion: &Completion, cut: Option<String>) -> Vec<ToolCall> {
        let first = self.last_tool_number() + 1;
        let text_protocol = self.writes_calls();
        // A model that has called tools natively quotes such a block.
        let is_native = |entry: &Entry| matches!(entry, Entry::Tool(tool) if !tool.call.id.starts_with("text_"));
        let has_native = self.transcript.iter().any(is_native);
        let known: Vec<String> = definitions(&self.tool_set()).into_iter().map(|tool| tool.name).collect();
        let Some(at) = self.transcript.iter().rposition(Entry::is_streaming) else { return Vec::new() };
        let Some(Entry::Answer(answer)) = self.transcript.get_mut(at) else { return Vec::new() };
        let mut calls = completion.tool_calls.clone();
        // A server that does not parse the calls of its model passes them on as text.
        if calls.is_empty() && cut.is_none() {
            let (text, found) = protocol::calls(&answer.text, first);
            let is_meant = text_protocol || (!has_native && found.iter().all(|call| known.contains(&call.name)));
            if !found.is_empty() && is_meant {
                answer.text = text;
                calls = found;
            }
        }
        answer.thinking.clone_from(&completion.thinking);
        answer.state = cut.map_or(crate::AnswerState::Complete, crate::AnswerState::Incomplete);
        if answer.text.is_empty() && calls.is_empty() {
            self.transcript.remove(at);
        }
        calls
    }

    /// Whether the last answer stops in the middle of a call that is written as text.
    fn ends_within_call(&self) -> bool {
        let last = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Answer(answer) => Some(answer.text.as_str()),
            _ => None,
        });
        self.writes_calls() && last.is_some_and(protocol::is_unfinished)
    }

    /// Handles an answer without calls: the loop goes on if the user has said something meanwhile.
    fn agent_finished(&mut self, turn: Turn) -> Vec<Effect> {
        if self.push_steering() {
            self.turns.resume(turn, TurnStatus::Waiting);
            if let Some(run) = &mut self.agent.current {
                run.steps += 1;
            }
            return self.next_step();
        }
        self.leave(AgentEnd::Finished);
        // A model that does not use its tools may write its edits into the answer.
        let mut effects =
            match self.last_answer().filter(|_| self.proposals.review().is_empty() && !turn.edits.is_empty()) {
                Some(answer) => self.propose_answer(answer.text, &turn),
                None => self.show_proposal(&turn.request),
            };
        effects.extend(self.measure());
        effects
    }

    /// Takes the proposal of the loop into review.
    fn show_proposal(&mut self, request: &str) -> Vec<Effect> {
        if self.proposals.review().is_empty() {
            return Vec::new();
        }
        self.proposals.count_proposal(request);
        self.try_proposal()
    }

    fn leave(&mut self, end: AgentEnd) {
        // What the user said must not be lost: the next request contains it.
        self.push_steering();
        self.agent.spent = self.agent_spent();
        self.agent.current = None;
        self.agent.end = Some(end);
    }

    /// How the last agent loop ended; `None` while one runs, and before the first.
    pub fn agent_end(&self) -> Option<&AgentEnd> {
        self.agent.end.as_ref()
    }

    /// Adds the messages that the user sent meanwhile. Returns whether there were any.
    fn push_steering(&mut self) -> bool {
        let Some(run) = &mut self.agent.current else { return false };
        let steering = std::mem::take(&mut run.steering);
        if steering.is_empty() {
            return false;
        }
        run.guard.reset();
        self.transcript.extend(steering.into_iter().map(|text| Entry::Steering { text }));
        true
    }

    /// Handles the end of the last call of a step.
    pub(crate) fn step_done(&mut self) -> Vec<Effect> {
        let facts = self.step_facts();
        let spent = self.agent_spent();
        let caps = self.agent.rules.caps;
        let Some(run) = &mut self.agent.current else { return Vec::new() };
        run.steps += 1;
        let spent = rhumb_agent::Spent { steps: run.steps, ..spent };
        let stop = run.guard.observe(&facts);
        let warning = run.guard.warning();
        let was_pausing = run.is_pausing;
        self.warn_model(warning);
        self.push_steering();
        let stop = caps.reached(&spent).or(stop);
        if let Some(stop) = stop {
            return self.guard_stopped(stop);
        }
        if was_pausing {
            let text = format!("Paused after step {}.", self.last_step());
            let effects = self.leave_loop(AgentEnd::Paused);
            self.report(Level::Info, text, "/continue goes on, or say what to do instead.");
            return effects;
        }
        self.next_step()
    }

    fn guard_stopped(&mut self, stop: Stop) -> Vec<Effect> {
        let hint = match stop {
            Stop::Repeated(_) | Stop::NoProgress(_) => "Say what to do instead, or /continue.",
            _ => "Raise the cap with /cap, then /continue.",
        };
        let effects = self.leave_loop(AgentEnd::Stopped(stop));
        self.report(Level::Warning, format!("The agent loop was stopped: {stop}. All its work is kept."), hint);
        effects
    }

    /// Ends the running loop between two steps, and shows its proposal.
    fn leave_loop(&mut self, end: AgentEnd) -> Vec<Effect> {
        self.leave(end);
        let request = self.turns.cancel().map(|turn| turn.request).unwrap_or_default();
        self.hold_queue();
        let mut effects = vec![Effect::Cancel];
        if !self.proposals.review().is_empty() {
            self.proposals.count_proposal(&request);
        }
        effects.extend(self.measure());
        effects
    }

    /// Ends the loop whose turn has ended already.
    fn end_loop(&mut self, end: AgentEnd, text: &str, hint: &str) {
        let level = if end == AgentEnd::Paused { Level::Info } else { Level::Warning };
        self.leave(end);
        self.questions.withdraw(|subject| matches!(subject, crate::Subject::Agent(_)));
        if !self.proposals.review().is_empty() {
            let request = self.proposals.request().to_owned();
            self.proposals.count_proposal(&request);
        }
        self.report(level, text, hint);
    }

    /// Sends the next request of the loop.
    pub(crate) fn next_step(&mut self) -> Vec<Effect> {
        let Some(turn) = self.turns.current_mut() else { return Vec::new() };
        turn.next_step();
        let number = turn.number;
        self.fit_results();
        self.open_answer();
        let spec = self.agent_spec(self.request_spec(number));
        let mut effects = vec![Effect::Ask(Box::new(spec))];
        effects.extend(self.measure());
        effects
    }

    /// The next request of the running loop. The message of the user is part of it already, except in the first request.
    pub(crate) fn agent_spec(&self, spec: RequestSpec) -> RequestSpec {
        let message = self.agent.current.as_ref().and_then(|run| run.message.clone());
        let draft = message.filter(|_| self.is_first_request()).unwrap_or_default();
        let spec = RequestSpec { draft, ..spec };
        let spec = match self.turns.current() {
            Some(turn) => self.with_codebase(spec, turn),
            None => spec,
        };
        self.apply_mode(spec, Mode::Agent)
    }

    /// Handles a failed request of the loop. Returns the effects of the loop, or the turn if it has done nothing and ends like any other.
    pub(crate) fn agent_failed(&mut self, turn: Turn, error: &AskError) -> Result<Vec<Effect>, Box<Turn>> {
        let has_no_tools = matches!(error, AskError::Provider(LlmError::NoTools { .. }));
        if has_no_tools && !self.writes_calls() {
            self.agent.has_no_tools = true;
            let text = "The model or its server has no tool calls, so the calls are written as text.";
            self.report(Level::Info, text, "");
            return Ok(self.ask_again(turn));
        }
        let is_too_long = matches!(error, AskError::TooLong(_) | AskError::Provider(LlmError::Overflow { .. }));
        if is_too_long && self.drop_half_of_results() {
            self.report(Level::Info, "The request is too long, so old results of tools were dropped.", "");
            return Ok(self.ask_again(turn));
        }
        self.hold_queue();
        if self.last_step() == 0 || self.agent.current.as_ref().is_none_or(|run| run.steps == 0) {
            self.leave(AgentEnd::Failed);
            return Err(Box::new(turn));
        }
        let failure = error.failure();
        let _ = self.close_answer(Some("interrupted".into()));
        self.report_failure(Level::Error, failure);
        self.end_loop(AgentEnd::Failed, "The agent loop ended. All its work is kept.", "/continue goes on.");
        Ok(self.measure())
    }

    /// Begins the answer of a failed request anew, and sends the request again.
    fn ask_again(&mut self, turn: Turn) -> Vec<Effect> {
        let number = turn.number;
        self.turns.resume(turn, TurnStatus::Waiting);
        if let Some(at) = self.transcript.iter().rposition(Entry::is_streaming) {
            self.transcript.remove(at);
        }
        self.open_answer();
        let spec = self.agent_spec(self.request_spec(number));
        vec![Effect::Ask(Box::new(spec))]
    }

    /// Whether the current message has no step yet.
    fn is_first_request(&self) -> bool {
        let mut after_user = self.transcript.iter().rev().take_while(|entry| !matches!(entry, Entry::User { .. }));
        let is_later = |entry: &Entry| {
            matches!(entry, Entry::Tool(_) | Entry::Steering { .. } | Entry::FollowUp { answered: true, .. })
        };
        !after_user.any(is_later)
    }

    /// Goes on with a loop that was paused, stopped or interrupted. `None` if the last turn was none, or is complete.
    pub(crate) fn continue_agent(&mut self) -> Option<Vec<Effect>> {
        if self.last_mode() != Mode::Agent {
            return None;
        }
        let start = messages::start(&self.transcript)?;
        let is_told = |entry: &&Entry| !matches!(entry, Entry::Status(_) | Entry::Ran(_));
        let last = self.transcript[start..].iter().rev().find(is_told);
        let ends_with_answer = match last {
            Some(Entry::Answer(answer)) if answer.state == crate::AnswerState::Complete => return None,
            last => matches!(last, Some(Entry::Answer(_))),
        };
        // The loop may have been interrupted before its first answer.
        if let Some(Entry::User { answered, .. }) =
            self.transcript.rfind_mut(|entry| matches!(entry, Entry::User { .. }))
        {
            *answered = true;
        }
        let request = self.request_at(self.transcript.len().saturating_sub(1));
        let steps = self.steps_of_message();
        let number = self.turns.next_number();
        let turn = Turn::follow_up(number, request.clone(), request).with_mode(Mode::Agent);
        if ends_with_answer {
            self.transcript.push(Entry::Steering { text: GO_ON.to_owned() });
        }
        let spent = self.agent.spent;
        self.open_loop(&turn);
        // The caps are for all that answers a message.
        self.agent.spent = spent;
        if let Some(run) = &mut self.agent.current {
            run.steps = steps;
        }
        self.turns.resume(turn, TurnStatus::Waiting);
        let mut effects = self.start_timer();
        effects.extend(self.next_step());
        Some(effects)
    }

    /// Makes a one-shot turn an agent turn: the running one once its answer has ended, or the last one.
    pub fn go_on_as_agent(&mut self) -> Vec<Effect> {
        if self.is_agent_running() {
            return Vec::new();
        }
        if let Some(turn) = self.turns.current_mut() {
            turn.becomes_agent = !turn.becomes_agent;
            let text = if turn.becomes_agent {
                "The agent takes over when this answer is complete."
            } else {
                "The agent does not take over."
            };
            self.report(Level::Info, text, "");
            return Vec::new();
        }
        self.take_over()
    }

    /// Starts an agent loop that continues the last turn.
    pub(crate) fn take_over(&mut self) -> Vec<Effect> {
        let has_message = self.transcript.iter().any(|entry| matches!(entry, Entry::User { answered: true, .. }));
        if !has_message {
            self.report(
                Level::Warning,
                "There is no turn that the agent could take over.",
                "/agent MESSAGE starts one.",
            );
            return Vec::new();
        }
        let text = "Carry on with this request with your tools: check what is proposed so far, complete it, and run the tests.";
        self.send_in_mode(text, Mode::Agent).1
    }

    /// Handles a response about the agent loop.
    pub(crate) fn agent_response(&mut self, response: AgentResponse) -> Vec<Effect> {
        let (AgentResponse::Done { turn, .. }
        | AgentResponse::NeedsApproval { turn, .. }
        | AgentResponse::TimeUp { turn }) = &response;
        if self.agent.current.as_ref().is_none_or(|run| run.turn != *turn) {
            return Vec::new();
        }
        match response {
            AgentResponse::Done { number, outcome, .. } => self.call_done(number, *outcome),
            AgentResponse::NeedsApproval { number, command, reason, .. } => {
                self.ask_for_approval(number, command, &reason)
            }
            AgentResponse::TimeUp { .. } => {
                self.stop_calls("the time of the loop is over");
                let _ = self.close_answer(Some("out of time".into()));
                self.guard_stopped(Stop::Time(self.agent.rules.caps.time.unwrap_or_default()))
            }
        }
    }

    /// Returns to the state after a step of the agent turns at the end of the transcript, with the proposal of that time. 0 is the
    /// state before the first step.
    pub(crate) fn rewind_to_step(&mut self, step: usize) -> Vec<Effect> {
        if self.reject_if_answering() || self.proposals.is_writing() {
            return Vec::new();
        }
        let start = messages::start(&self.transcript);
        let last = self.last_step();
        let Some(start) = start.filter(|_| step < last) else {
            let text = match last {
                0 => "There is no step to go back to.".to_owned(),
                last => format!("Step {step} is not before the last one, which is {last}."),
            };
            self.report(Level::Warning, text, "");
            return Vec::new();
        };
        let is_later = |entry: &Entry| matches!(entry, Entry::Tool(tool) if tool.step > step);
        let Some(first) = self.transcript[start..].iter().position(is_later).map(|at| at + start) else {
            return Vec::new();
        };
        let number = match &self.transcript[first] {
            Entry::Tool(tool) => tool.number,
            _ => 0,
        };
        // The answer that made the calls goes too.
        let is_answer = |entry: &Entry| matches!(entry, Entry::Answer(_));
        let at = self.transcript[..first].iter().rposition(is_answer).unwrap_or(first);
        self.transcript.truncate(at);
        let is_known = number > self.agent.snapshots_after;
        let later = self.agent.snapshots.iter().position(|(of, _)| *of >= number);
        if let Some((_, review)) = later.and_then(|at| self.agent.snapshots.drain(at..).next()).filter(|_| is_known) {
            *self.proposals.review_mut() = review;
        }
        *self.proposals.retries_mut() = EditRetries::default();
        let hint = "/continue goes on from here, or say what to do instead.";
        if is_known {
            self.report(Level::Info, format!("Back after step {step}."), hint);
        } else {
            let text = format!("Back after step {step}. Its proposal is not kept, so the review stays as it is.");
            self.report(Level::Warning, text, hint);
        }
        self.measure()
    }

    /// Forgets what is kept of the last loop beside the transcript, because the conversation has changed.
    pub(crate) fn forget_loop(&mut self) {
        self.forget_snapshots();
        self.agent.spent = rhumb_agent::Spent::default();
    }

    /// Forgets the proposals of earlier steps, because the files or the conversation have changed.
    pub(crate) fn forget_snapshots(&mut self) {
        self.agent.snapshots.clear();
        self.agent.snapshots_after = self.last_tool_number();
    }

    /// Saves the review before a call changes it.
    fn take_snapshot(&mut self, number: usize) {
        let review = self.proposals.review().without_history();
        self.agent.snapshots.push((number, review));
        let surplus = self.agent.snapshots.len().saturating_sub(MAX_SNAPSHOTS);
        if let Some((dropped, _)) = self.agent.snapshots.drain(..surplus).next_back() {
            self.agent.snapshots_after = dropped;
        }
    }

    /// The number of steps since the last message of the user.
    fn steps_of_message(&self) -> usize {
        let since = self.transcript.iter().rev().take_while(|entry| !matches!(entry, Entry::User { .. }));
        let steps = since.filter_map(|entry| match entry {
            Entry::Tool(tool) => Some(tool.step),
            _ => None,
        });
        steps.collect::<BTreeSet<_>>().len()
    }

    pub(crate) fn last_step(&self) -> usize {
        let start = messages::start(&self.transcript).unwrap_or(self.transcript.len());
        let last = self.transcript[start..].iter().rev().find_map(|entry| match entry {
            Entry::Tool(tool) => Some(tool.step),
            _ => None,
        });
        last.unwrap_or(0)
    }

    fn last_tool_number(&self) -> usize {
        let last = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Tool(tool) => Some(tool.number),
            _ => None,
        });
        last.unwrap_or(0)
    }

    /// What the loop has done, as one line: `12 steps, 3 files changed`.
    pub fn agent_summary(&self) -> String {
        let files = self.proposals.review().files.len();
        format!("{}, {} changed", count(self.last_step(), "step"), count(files, "file"))
    }
}

/// A change of a cap of the agent loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CapChange {
    /// The maximum number of steps.
    Steps(Option<usize>),
    /// The maximum number of tokens.
    Tokens(Option<u64>),
    /// The maximum cost in dollars.
    Cost(Option<f64>),
    /// The maximum time, which counts from the next start of the loop.
    Time(Option<Duration>),
}

// No value is NaN: the parser accepts only finite numbers.
impl Eq for CapChange {}

impl Session {
    /// Changes a cap, and reports all caps.
    pub(crate) fn change_cap(&mut self, change: Option<CapChange>) {
        let caps = &mut self.agent.rules.caps;
        match change {
            Some(CapChange::Steps(steps)) => caps.steps = steps,
            Some(CapChange::Tokens(tokens)) => caps.tokens = tokens,
            Some(CapChange::Cost(dollars)) => caps.dollars = dollars,
            Some(CapChange::Time(time)) => caps.time = time,
            None => {}
        }
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
        let text = format!(
            "Caps of the agent loop: steps {}, tokens {}, cost {}, time {}.",
            or_none(caps.steps.map(|steps| steps.to_string())),
            or_none(caps.tokens.map(|tokens| tokens.to_string())),
            or_none(caps.dollars.map(|dollars| format!("${dollars}"))),
            or_none(caps.time.map(|time| format!("{} s", time.as_secs()))),
        );
        let hint = if change.is_some() { "" } else { "/cap steps 50 sets one; /cap steps off removes it." };
        self.report(Level::Info, text, hint);
    }
}
