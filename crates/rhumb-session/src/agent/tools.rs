//! The calls of a step: which run next, the questions that they ask, and what their results change.

use super::{AgentEffect, AgentView, PendingCall, ToolOutcome};
use crate::processes::Purpose;
use crate::processes::suggested_commands::title_text;
use crate::{Choice, Effect, Entry, Question, Session, Subject, ToolState, ToolUse};
use rhumb_agent::{Action, MAX_OPTIONS, PatchTool, PlanItem, StepFacts, ToolSet, parse_call};
use rhumb_edit::review::{Decision, HunkMark, Review};
use rhumb_edit::{Outcome, Status, Strategy};
use rhumb_llm::ToolCall;
use rhumb_llm::models::Dollars;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// The keys of the answers to a question of the model, in order.
const ANSWER_KEYS: [char; MAX_OPTIONS] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// Maximum number of sub-tasks that run at once. They share what may be spent.
const MAX_PARALLEL_TASKS: usize = 4;

/// A question of the agent loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentQuestion {
    /// The model asks the user: the number of the call, and the answers to choose from.
    Answer(usize, Vec<String>),
    /// Whether a command may run: the number of the call, and the command line.
    Run(usize, String),
    /// Whether a page may be fetched: the number of the call, and the address.
    Fetch(usize, String),
}

impl Session {
    fn tool_mut(&mut self, number: usize) -> Option<&mut ToolUse> {
        let is_it = |entry: &Entry| matches!(entry, Entry::Tool(tool) if tool.number == number);
        match self.transcript.rfind_mut(is_it) {
            Some(Entry::Tool(tool)) => Some(tool),
            _ => None,
        }
    }

    /// The calls of the last step.
    fn step_calls(&self) -> impl Iterator<Item = &ToolUse> {
        let last = self.last_step();
        let calls = self.transcript.iter().rev().map_while(move |entry| match entry {
            Entry::Answer(_) | Entry::User { .. } => None,
            entry => Some(entry),
        });
        let calls = calls.filter_map(move |entry| match entry {
            Entry::Tool(tool) if tool.step == last => Some(tool),
            _ => None,
        });
        calls.collect::<Vec<_>>().into_iter().rev()
    }

    fn parsed(&self, call: &ToolCall) -> Result<Action, String> {
        // A patch is understood whether or not it was offered.
        let set = ToolSet { patch: PatchTool::Function, ..self.tool_set() };
        parse_call(call, &set).map_err(|error| error.to_string())
    }

    pub(super) fn plan_of(&self, call: &ToolCall) -> Option<Vec<PlanItem>> {
        match self.parsed(call) {
            Ok(Action::Plan { items }) => Some(items),
            _ => None,
        }
    }

    /// Performs the next calls of the step: all that only read, up to the first other one, or that one.
    pub(super) fn perform_calls(&mut self) -> Vec<Effect> {
        loop {
            let calls: Vec<(usize, ToolState, ToolCall)> =
                self.step_calls().map(|tool| (tool.number, tool.state, tool.call.clone())).collect();
            if calls.iter().any(|(_, state, _)| *state == ToolState::Running) {
                return Vec::new();
            }
            let waiting = calls.into_iter().filter(|(_, state, _)| *state == ToolState::Waiting);
            let mut batch = Vec::new();
            let mut is_settled = false;
            for (number, _, call) in waiting {
                match self.parsed(&call) {
                    Ok(action) if action.is_read_only() => {
                        batch.push((number, action));
                        let tasks = batch.iter().filter(|(_, action)| matches!(action, Action::Task { .. }));
                        if tasks.count() == MAX_PARALLEL_TASKS {
                            break;
                        }
                    }
                    _ if !batch.is_empty() => break,
                    Ok(Action::Plan { items }) => {
                        let done = rhumb_text::count(items.len(), "item");
                        self.settle(number, true, "The plan is shown to the developer.".into(), done);
                        is_settled = true;
                        break;
                    }
                    Ok(Action::AskUser { question, options }) => return self.ask_user(number, &question, options),
                    Ok(Action::FetchUrl { url }) if !self.is_named_by_user(&url) => {
                        return self.ask_to_fetch(number, url);
                    }
                    Ok(action) => {
                        batch.push((number, action));
                        break;
                    }
                    Err(problem) => {
                        self.settle(number, false, problem, "not understood".into());
                        is_settled = true;
                        break;
                    }
                }
            }
            if is_settled {
                continue;
            }
            if batch.is_empty() {
                return self.step_done();
            }
            return self.perform(batch, false);
        }
    }

    fn perform(&mut self, batch: Vec<(usize, Action)>, is_approved: bool) -> Vec<Effect> {
        let Some(turn) = self.turns.current().map(|turn| turn.number) else { return Vec::new() };
        let mut calls = Vec::new();
        for (number, action) in batch {
            if let Some(tool) = self.tool_mut(number) {
                tool.state = ToolState::Running;
            }
            let is_run = matches!(action, Action::Run { .. });
            let job = if is_run { self.new_job(Purpose::Agent(number)) } else { 0 };
            calls.push(PendingCall { number, action, job, is_approved });
        }
        vec![Effect::Agent(AgentEffect::Perform { turn, calls, view: self.agent_view() })]
    }

    fn agent_view(&self) -> AgentView {
        let review = self.proposals.review();
        let kept: Vec<_> = review.ids().filter(|id| review.decision(*id) != Decision::Rejected).collect();
        AgentView {
            pending: review.pending_changes(),
            review: Arc::new(review.with_hunks(&kept)),
            chat: self.chat_files.shared(),
            run: self.agent.rules.run,
            overrides: self.next_request.overrides().clone(),
            allowance: self.task_allowance(),
        }
    }

    /// The maximum cost of each sub-task: a part of what the session and the loop may still cost.
    fn task_allowance(&self) -> Option<Dollars> {
        let of_loop =
            self.agent.rules.caps.dollars.map(|cap| Dollars::new((cap - self.agent_spent().dollars).max(0.0)));
        let left = [self.allowance(), of_loop].into_iter().flatten().map(Dollars::as_f64).reduce(f64::min);
        left.map(|left| Dollars::new(left / MAX_PARALLEL_TASKS as f64))
    }

    /// Ends a call that needs no host.
    fn settle(&mut self, number: usize, ok: bool, text: String, summary: String) {
        let tokens = rhumb_tokens::estimate(&text);
        self.set_result(number, ToolOutcome { ok, text, tokens, summary, ..ToolOutcome::default() });
    }

    /// Tells the model that it repeats itself, at the end of the last result.
    pub(super) fn warn_model(&mut self, warning: Option<String>) {
        let is_tool = |entry: &Entry| matches!(entry, Entry::Tool(_));
        if let (Some(warning), Some(Entry::Tool(tool))) = (warning, self.transcript.rfind_mut(is_tool)) {
            tool.result = format!("{}\n\n{warning}", tool.result);
        }
    }

    fn set_result(&mut self, number: usize, outcome: ToolOutcome) {
        let call = self.tool_mut(number).map(|tool| tool.call.clone());
        if let (Some(run), Some(call)) = (&mut self.agent.current, call) {
            let mut hasher = DefaultHasher::new();
            (call.name, call.arguments, &outcome.text).hash(&mut hasher);
            run.calls.push(hasher.finish());
        }
        if let Some(tool) = self.tool_mut(number) {
            tool.state = if outcome.ok { ToolState::Done } else { ToolState::Failed };
            (tool.result, tool.outcome) = (outcome.text, outcome.summary);
            (tool.tokens, tool.ms) = (outcome.tokens, outcome.ms);
        }
    }

    /// Handles the result of a call.
    pub(super) fn call_done(&mut self, number: usize, mut outcome: ToolOutcome) -> Vec<Effect> {
        self.processes.end_job(|purpose| *purpose == Purpose::Agent(number));
        let is_running = |tool: &ToolUse| tool.number == number && tool.state == ToolState::Running;
        if !self.step_calls().any(is_running) {
            return Vec::new();
        }
        if let Some(proposal) = outcome.proposal.take() {
            self.take_edits(number, proposal);
        }
        if let Some((line, passed)) = outcome.run.take() {
            self.agent_ran(&line, passed);
        }
        self.set_result(number, outcome);
        self.perform_calls()
    }

    /// Adds edits of the loop to the review. Edits that were refused are not shown: the model has the reason, and tries again.
    fn take_edits(&mut self, number: usize, proposal: rhumb_edit::Proposal) {
        let changes_text =
            |outcome: &&Outcome| outcome.status == Status::Applied && outcome.strategy != Some(Strategy::Unchanged);
        let edited: Vec<String> =
            proposal.outcomes.iter().filter(changes_text).map(|outcome| outcome.path.clone()).collect();
        if proposal.files.is_empty() && edited.is_empty() {
            return;
        }
        self.take_snapshot(number);
        let step = self.last_step();
        let changes = self.proposals.review().changes();
        let mut newer = Review::new(proposal);
        newer.refused.clear();
        // A file whose changes were taken back has no hunks, and is not in the proposal.
        let undone = |path: &String| edited.contains(path) && newer.files.iter().all(|file| file.path != *path);
        let review = self.proposals.review_mut();
        review.files.retain(|file| !undone(&file.path));
        let refused = std::mem::take(&mut review.refused);
        review.merge_complete(newer);
        review.refused = refused;
        review.mark_others(&changes, &HunkMark::Step(step));
        if let Some(run) = &mut self.agent.current {
            run.progressed = true;
        }
    }

    /// Marks all hunks of the checkout with the command that ran in it. Rejected hunks are not part of it.
    fn agent_ran(&mut self, line: &str, passed: bool) {
        let command = line.lines().next().unwrap_or_default().to_owned();
        let mark = HunkMark::Ran { command, passed };
        let review = self.proposals.review_mut();
        for hunk in review.files.iter_mut().flat_map(|file| &mut file.hunks) {
            hunk.marks.retain(|mark| !matches!(mark, HunkMark::Ran { .. }));
            if hunk.decision() != Decision::Rejected {
                hunk.marks.push(mark.clone());
            }
        }
    }

    pub(super) fn step_facts(&self) -> StepFacts {
        let run = self.agent.current.as_ref();
        run.map(|run| StepFacts { calls: run.calls.clone(), progressed: run.progressed }).unwrap_or_default()
    }

    /// Marks calls that have not ended as stopped.
    pub(crate) fn stop_calls(&mut self, why: &str) {
        let is_open = |entry: &Entry| matches!(entry, Entry::Tool(tool) if !tool.is_over());
        while let Some(Entry::Tool(tool)) = self.transcript.rfind_mut(is_open) {
            let was_running = tool.state == ToolState::Running;
            tool.state = ToolState::Stopped;
            let text = if was_running { "stopped before it ended" } else { "not run" };
            tool.result = format!("{text}: {why}");
            text.clone_into(&mut tool.outcome);
        }
        self.processes.end_job(|purpose| matches!(purpose, Purpose::Agent(_)));
        self.questions.withdraw(|subject| matches!(subject, Subject::Agent(_)));
    }

    fn ask_user(&mut self, number: usize, question: &str, options: Vec<String>) -> Vec<Effect> {
        if let Some(tool) = self.tool_mut(number) {
            tool.state = ToolState::Running;
        }
        let mut choices: Vec<Choice> =
            ANSWER_KEYS.iter().zip(&options).map(|(key, option)| Choice::new(*key, option)).collect();
        choices.push(Choice::new('n', "no answer"));
        let title = format!("The model asks: {}", question.lines().next().unwrap_or_default());
        let mut text: String = question.lines().skip(1).map(|line| format!("{line}\n")).collect();
        text.push_str("Choose an answer, or type one and send it.");
        self.question(Question {
            subject: Subject::Agent(AgentQuestion::Answer(number, options)),
            title,
            text,
            choices,
        });
        Vec::new()
    }

    /// Takes a message as the answer to the question of the model. `None` if it has not asked.
    pub(super) fn answer_in_words(&mut self, message: &str) -> Option<Vec<Effect>> {
        let asked = self.questions.iter().find_map(|question| match &question.subject {
            Subject::Agent(AgentQuestion::Answer(number, _)) => Some(*number),
            _ => None,
        })?;
        self.questions.withdraw(|subject| matches!(subject, Subject::Agent(AgentQuestion::Answer(..))));
        self.drafts.set_message("");
        Some(self.user_answered(asked, message.to_owned()))
    }

    fn user_answered(&mut self, number: usize, answer: String) -> Vec<Effect> {
        if let Some(run) = &mut self.agent.current {
            run.progressed = true;
        }
        let summary = answer.lines().next().unwrap_or_default().to_owned();
        self.settle(number, true, answer, summary);
        self.perform_calls()
    }

    pub(super) fn ask_for_approval(&mut self, number: usize, command: String, reason: &str) -> Vec<Effect> {
        self.processes.end_job(|purpose| *purpose == Purpose::Agent(number));
        self.question(Question {
            title: format!("Run `{}`?", title_text(&command)),
            text: format!("{command}\n\nThe model wants to run this in a trial checkout. {reason}"),
            subject: Subject::Agent(AgentQuestion::Run(number, command)),
            choices: vec![Choice::new('y', "run it"), Choice::new('n', "do not run it")],
        });
        Vec::new()
    }

    /// Remembers the addresses in a message that the user has typed.
    pub fn note_addresses(&mut self, message: &str) {
        let words = message.split(|c: char| c.is_whitespace() || "<>()\"'`".contains(c));
        let addresses = words.map(|word| word.trim_start_matches('@').trim_end_matches(['.', ',', ';', ':', '!', '?']));
        self.agent.named_pages.extend(addresses.filter(|word| word.contains("://")).map(str::to_owned));
    }

    /// Whether the user has written this address. Another one may carry what the model has read to somebody else.
    fn is_named_by_user(&self, url: &str) -> bool {
        self.agent.named_pages.contains(url)
    }

    fn ask_to_fetch(&mut self, number: usize, url: String) -> Vec<Effect> {
        if !self.agent.rules.asks {
            let text = "Only pages whose address is in the request can be fetched here.";
            self.settle(number, false, text.into(), "not allowed".into());
            return self.perform_calls();
        }
        if let Some(tool) = self.tool_mut(number) {
            tool.state = ToolState::Running;
        }
        self.question(Question {
            title: format!("Fetch {}?", title_text(&url)),
            text: format!(
                "{url}\n\nThe model wants to read this page. The address alone tells its server what is in it."
            ),
            subject: Subject::Agent(AgentQuestion::Fetch(number, url)),
            choices: vec![Choice::new('y', "fetch it"), Choice::new('n', "do not fetch it")],
        });
        Vec::new()
    }

    /// Handles the answer to a question of the loop.
    pub(crate) fn answer_agent(&mut self, question: AgentQuestion, key: char) -> Vec<Effect> {
        match question {
            AgentQuestion::Answer(number, options) => {
                let chosen = ANSWER_KEYS.iter().position(|own| *own == key).and_then(|at| options.get(at).cloned());
                let answer = chosen.unwrap_or_else(|| "The developer gave no answer. Use your judgement.".to_owned());
                self.user_answered(number, answer)
            }
            AgentQuestion::Run(number, _) | AgentQuestion::Fetch(number, _) if key == 'y' => {
                let call = self.step_calls().find(|tool| tool.number == number).map(|tool| tool.call.clone());
                match call.map(|call| self.parsed(&call)) {
                    Some(Ok(action)) => self.perform(vec![(number, action)], true),
                    _ => {
                        self.settle(number, false, "The call cannot be performed any more.".into(), "not run".into());
                        self.perform_calls()
                    }
                }
            }
            AgentQuestion::Run(number, _) | AgentQuestion::Fetch(number, _) => {
                let text = "The developer did not allow this. Do without it, or choose another way.";
                self.settle(number, false, text.into(), "not allowed".into());
                self.perform_calls()
            }
        }
    }
}
