//! Modes: how the mode of a message changes its request and how the answer is handled.

pub(super) mod architect;
mod file_search;
#[cfg(test)]
mod tests;

use crate::context::Mode;
use crate::transcript::{self};
use crate::{ContextRequestPolicy, Effect, Entry, FileQuestion, Level, ModelRole, RequestSpec, Session, Subject, Turn};
use architect::Plan;
use file_search::FileSearch;
use std::sync::Arc;

/// The settings of modes and mentioned files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModeRules {
    /// Whether files that are mentioned and not in the chat are added; `None` asks each time.
    pub mentions: MentionPolicy,
    /// Whether plans are carried out without a question.
    pub accept_plan: bool,
    /// The policy for context requests of the model.
    pub more: ContextRequestPolicy,
    /// The maximum number of such requests for one question.
    pub more_rounds: usize,
    /// Whether pages are read whose address follows an `@`.
    pub reads_pages: bool,
}

/// The policy for files that a message or an answer mentions and that are not in the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MentionPolicy {
    /// Ask the user.
    #[default]
    Ask,
    /// The file is added.
    Add,
    /// The file is not added.
    Ignore,
}

/// The mode of messages, and the state of a plan or a file search.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    mode: Mode,
    rules: ModeRules,
    /// The plan that the user is changing in the input.
    pub(super) plan_in_input: Option<Plan>,
    /// The files that the model has named for the task of context mode.
    search: Option<FileSearch>,
}

impl Modes {
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    pub(crate) fn rules(&self) -> &ModeRules {
        &self.rules
    }

    pub(crate) fn rules_mut(&mut self) -> &mut ModeRules {
        &mut self.rules
    }

    /// Begins a file search if the message is a task of context mode, and ends the last one.
    pub(crate) fn begin_search(&mut self, message: &str, mode: Mode) {
        self.search = (mode == Mode::Context).then(|| FileSearch::new(message));
    }

    pub(crate) fn end_search(&mut self) {
        self.search = None;
    }
}

impl Session {
    /// The mode of the text in the input.
    pub fn input_mode(&self) -> Mode {
        if self.modes.plan_in_input.is_some() { Mode::Editor } else { self.modes.mode }
    }

    /// Sends a message in a mode, or without a message changes the mode of the session.
    pub(super) fn mode_command(&mut self, mode: Mode, message: &str) -> Vec<Effect> {
        if message.is_empty() {
            return self.use_mode(mode);
        }
        self.note_addresses(message);
        let (is_sent, effects) = self.send_in_mode(message, mode);
        if !is_sent {
            self.return_draft(self.as_typed(message, mode));
        }
        effects
    }

    fn use_mode(&mut self, mode: Mode) -> Vec<Effect> {
        self.modes.mode = mode;
        self.modes.plan_in_input = None;
        let hint = if mode == Mode::Code {
            ""
        } else {
            "/code returns to code mode; /code MESSAGE sends one message in code mode."
        };
        self.report(Level::Info, format!("Mode {mode}: {}.", description(mode)), hint);
        self.measure()
    }

    /// Switches to the next mode without an entry in the transcript. Returns a description of the mode, or an error if a plan in the
    /// input prevents the switch.
    pub fn next_mode(&mut self) -> (Result<String, String>, Vec<Effect>) {
        if self.modes.plan_in_input.is_some() {
            return (Err("a plan is being changed; send it or clear it first".to_owned()), Vec::new());
        }
        self.modes.mode = self.modes.mode.next();
        (Ok(format!("mode {}: {}", self.modes.mode, description(self.modes.mode))), self.measure())
    }

    /// The input that sends this message in this mode.
    pub(super) fn as_typed(&self, message: &str, mode: Mode) -> String {
        if mode == self.modes.mode || mode == Mode::Editor { message.to_owned() } else { format!("/{mode} {message}") }
    }

    /// Withdraws questions and offers about the last answer, which the next message supersedes.
    pub(super) fn withdraw_offers(&mut self) {
        self.modes.plan_in_input = None;
        self.file_offers.withdraw(FileQuestion::is_about_answer);
        self.questions.withdraw(Subject::is_about_answer);
    }

    pub(super) fn apply_mode(&self, mut spec: RequestSpec, mode: Mode) -> RequestSpec {
        spec.mode = mode;
        match mode {
            // The plan contains all that the editor model needs.
            Mode::Editor => {
                spec.role = ModelRole::Editor;
                spec.history = Arc::default();
                spec.passages = Arc::default();
            }
            // Questions about the program need no code.
            Mode::Help => {
                spec.history = Arc::new(transcript::help_history(&self.transcript));
                spec.passages = Arc::default();
            }
            Mode::Context => {
                let named = self.modes.search.as_ref().map(FileSearch::files).unwrap_or_default();
                let more: Vec<_> = named.into_iter().filter(|file| !self.is_in_chat(&file.path)).collect();
                Arc::make_mut(&mut spec.files).extend(more);
            }
            Mode::Agent => self.as_agent_request(&mut spec),
            Mode::Code | Mode::Ask | Mode::Architect => {}
        }
        spec
    }

    pub(super) fn last_mode(&self) -> Mode {
        let last = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::User { mode, .. } => Some(*mode),
            _ => None,
        });
        last.unwrap_or(self.modes.mode)
    }

    /// Adapts a request that continues the last request of the user to the mode of that request.
    pub(super) fn as_follow_up(&self, spec: RequestSpec) -> RequestSpec {
        let mode = self.last_mode();
        let mut spec = self.apply_mode(spec, mode);
        if let (Mode::Editor, Some(plan)) = (mode, self.last_plan())
            && let Some(first) = Arc::make_mut(&mut spec.exchange).first_mut()
        {
            first.content = plan;
        }
        spec
    }

    pub(super) fn answer_completed(&mut self, reply: String, turn: &Turn) -> Vec<Effect> {
        if !turn.mode.edits() && !turn.edits.is_empty() {
            let text = format!("The answer contains edits, but {} mode proposes none.", turn.mode);
            self.report(Level::Info, text, "/review takes them into review.");
        }
        if let Some(effects) = self.handle_context_requests(&reply, turn) {
            return effects;
        }
        match turn.mode {
            Mode::Code => {
                let offer = self.offer_requested(&reply, turn, None);
                let mut effects = self.propose_answer(reply, turn);
                effects.extend(offer.unwrap_or_default());
                effects
            }
            Mode::Editor => self.propose_answer(reply, turn),
            Mode::Ask => self.offer_requested(&reply, turn, None).unwrap_or_default(),
            Mode::Architect => self.plan_completed(reply, turn),
            Mode::Context => self.handle_named_files(&reply, turn),
            // Agent turns end elsewhere.
            Mode::Agent | Mode::Help => Vec::new(),
        }
    }
}

fn description(mode: Mode) -> &'static str {
    match mode {
        Mode::Code => "messages ask for changes",
        Mode::Ask => "messages are questions, and the answers propose no edits",
        Mode::Architect => "messages ask for a plan, which the editor model then carries out",
        Mode::Context => "messages are tasks, and the model names the files that they need",
        Mode::Agent => "messages are tasks for the agent, which reads, edits and runs commands until it is done",
        Mode::Help | Mode::Editor => "messages are questions about rhumb",
    }
}
