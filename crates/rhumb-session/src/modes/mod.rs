//! Modes: how a message is meant, what goes along with it, and what becomes of its answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::codebase::SearchGoal;
use super::effect::{Effect, RequestSpec};
use super::proposal::edit_retries::EditRetries;
use super::question::Subject;
use super::request::mentions::{Attachment, MentionEffect, NamedFile};
use super::state::Session;
use super::transcript::{self, Entry, Level};
use super::turn::{Turn, TurnStatus};
use crate::codebase::context_requests::ContextRequestPolicy;
use crate::context::Mode;
use architect::Plan;
use file_search::Search;
use who::ModelRole;

/// What the settings say of modes, and of files that somebody names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModeRules {
    /// What happens with mentioned files that are not in the chat.
    pub mentions: MentionPolicy,
    /// Whether a plan is carried out without a look at it.
    pub accept_plan: bool,
    /// What happens when the model asks for more of the repository.
    pub more: ContextRequestPolicy,
    /// How often it may, for one question.
    pub more_rounds: usize,
    /// Whether a page whose address follows an `@` is read.
    pub reads_pages: bool,
}

/// What happens when a message or an answer mentions a file that is not in the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MentionPolicy {
    /// The user is asked.
    #[default]
    Ask,
    /// The file is added.
    Add,
    /// Nothing.
    Ignore,
}

/// What waits between a message and its turn, or between an answer and the next message.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The plan that is being changed in the composer.
    pub(super) plan: Option<Plan>,
    /// Questions that wait for the tokens of their files, each under its number.
    pub(super) weighing: Vec<(u64, Subject)>,
    /// Numbers given to such questions so far.
    pub(super) weighings: u64,
    /// Files that the last message names.
    pub(super) mentioned: Vec<NamedFile>,
    /// Files that the draft names.
    pub(super) drafted: Vec<NamedFile>,
    /// Files that are not to be offered any more.
    pub(super) declined: BTreeSet<String>,
    /// The files that a task needs, as far as the model has named them.
    pub(super) search: Option<Search>,
}

/// How messages are meant, and what waits between a message and its turn.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    mode: Mode,
    rules: ModeRules,
    waiting: Waiting,
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

    pub(crate) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    pub(crate) fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }
}

impl Session {
    /// How what is in the composer is meant.
    pub fn composing(&self) -> Mode {
        if self.modes.waiting.plan.is_some() { Mode::Editor } else { self.modes.mode }
    }

    /// Means a message in a mode, or without one all messages from now on.
    pub(super) fn mode_command(&mut self, mode: Mode, message: &str) -> Vec<Effect> {
        if message.is_empty() {
            return self.use_mode(mode);
        }
        let (sent, effects) = self.send_in(message, mode);
        if !sent {
            self.return_draft(self.as_typed(message, mode));
        }
        effects
    }

    fn use_mode(&mut self, mode: Mode) -> Vec<Effect> {
        self.modes.mode = mode;
        self.modes.waiting.plan = None;
        let hint = if mode == Mode::Code {
            ""
        } else {
            "/code goes back to changes; /code MESSAGE sends one message in code mode."
        };
        self.tell(Level::Info, format!("Mode {mode}: {}.", meaning(mode)), hint);
        self.measure()
    }

    /// Goes on to the next mode, without an entry in the transcript. What the mode is, in words; an error says why it stays, because the
    /// plan that is being changed in the composer belongs to its own mode.
    pub fn next_mode(&mut self) -> (Result<String, String>, Vec<Effect>) {
        if self.modes.waiting.plan.is_some() {
            return (Err("a plan is being changed; send it or clear it first".to_owned()), Vec::new());
        }
        self.modes.mode = self.modes.mode.next();
        (Ok(format!("mode {}: {}", self.modes.mode, meaning(self.modes.mode))), self.measure())
    }

    /// The message as it would be typed to be meant in that mode.
    pub(super) fn as_typed(&self, message: &str, mode: Mode) -> String {
        if mode == self.modes.mode || mode == Mode::Editor { message.to_owned() } else { format!("/{mode} {message}") }
    }

    /// Sends what was typed: a plan that was changed goes to the editor model, all else is meant as the mode says.
    pub(super) fn send_typed(&mut self, message: &str) -> (bool, Vec<Effect>) {
        match self.modes.waiting.plan.clone() {
            Some(plan) => self.send_plan(plan, message),
            None => self.send_in(message, self.modes.mode),
        }
    }

    /// Sends a message in that mode. False when it cannot be sent now.
    pub fn send_in(&mut self, message: &str, mode: Mode) -> (bool, Vec<Effect>) {
        // A message that is sent while the history is summarised goes out with the summary.
        if self.turns.is_running() || self.is_compacting() {
            self.enqueue(message.to_owned(), mode);
            return (true, Vec::new());
        }
        if self.is_empty_question(message) || !self.may_send(message) {
            return (false, Vec::new());
        }
        self.withdraw_offers();
        let mut effects = self.take_mentioned(message, mode);
        effects.extend(self.begin_message(message, mode));
        (true, effects)
    }

    /// Takes back what the last answer left to be decided: the next message is the answer to that.
    pub(super) fn withdraw_offers(&mut self) {
        self.modes.waiting.plan = None;
        self.modes.waiting.weighing.retain(|(_, subject)| !subject.is_of_an_answer());
        self.questions.withdraw(Subject::is_of_an_answer);
    }

    /// Sends a message that nothing stands in the way of.
    pub(super) fn begin_message(&mut self, message: &str, mode: Mode) -> Vec<Effect> {
        *self.proposals.retries_mut() = EditRetries::about(self.processes.shared_check.take());
        self.codebase.begin();
        self.drafts.set_message("");
        self.modes.waiting.search = (mode == Mode::Context).then(|| Search::new(message));
        self.transcript.push(Entry::User { text: message.to_owned(), mode, answered: false });
        let sought = Self::question_in(message, mode).map(SearchGoal::Question);
        let turn = Turn::new(self.turns.next_number(), message.to_owned()).in_mode(mode).seeking(sought);
        self.begin_turn(turn)
    }

    /// Begins a turn. Files that still wait for the list of files belong to it too.
    pub(super) fn begin_turn(&mut self, turn: Turn) -> Vec<Effect> {
        self.begin(turn);
        if self.waits_for_files() { Vec::new() } else { self.launch() }
    }

    /// Sends the running turn on its way. What it asks of the whole repository is searched for
    /// first, and what it names with an `@` is looked up.
    pub(super) fn launch(&mut self) -> Vec<Effect> {
        if let Some(search) = self.start_search() {
            return vec![search];
        }
        let names = self.names_to_look_up();
        let chat = self.chat_files.files().iter().map(|file| file.path.clone()).collect();
        let reads_pages = self.modes.rules.reads_pages;
        match self.turns.current_mut() {
            Some(turn) if !names.is_empty() => {
                turn.status = TurnStatus::LookingUpNames;
                vec![Effect::Mention(MentionEffect::LookUp { turn: turn.number, names, chat, reads_pages })]
            }
            Some(_) => self.ask_turn(&[]),
            None => Vec::new(),
        }
    }

    /// Asks what the running turn is about, with what is attached to its message.
    pub(super) fn ask_turn(&self, attached: &[Attachment]) -> Vec<Effect> {
        let Some(turn) = self.turns.current() else { return Vec::new() };
        let mut draft = turn.message.clone();
        for attachment in attached {
            draft.push_str("\n\n");
            draft.push_str(&attachment.text);
        }
        let order = RequestSpec { draft, ..self.order(turn.number) };
        let order = self.with_codebase(order, turn);
        vec![Effect::Ask(Box::new(self.in_mode(order, turn.mode)))]
    }

    /// The order as the mode wants it.
    pub(super) fn in_mode(&self, mut order: RequestSpec, mode: Mode) -> RequestSpec {
        order.mode = mode;
        match mode {
            // The plan says all there is to know, and the manual needs no code.
            Mode::Editor => {
                order.who = ModelRole::Editor(self.model.editor().cloned());
                order.history = Arc::default();
                order.passages.clear();
            }
            Mode::Help => {
                order.history = Arc::new(transcript::help_history(&self.transcript));
                order.passages.clear();
            }
            Mode::Context => {
                let shown = self.modes.waiting.search.as_ref().map(Search::files).unwrap_or_default();
                let new = |file: &super::ChatFile| order.files.iter().all(|known| known.path != file.path);
                let more: Vec<_> = shown.into_iter().filter(new).collect();
                order.files.extend(more);
            }
            Mode::Code | Mode::Ask | Mode::Architect => {}
        }
        order
    }

    /// The mode of the latest request.
    pub(super) fn asked_mode(&self) -> Mode {
        let typed = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::User { mode, .. } => Some(*mode),
            _ => None,
        });
        typed.unwrap_or(self.modes.mode)
    }

    /// An order that goes on with the latest request, whose messages so far are its exchange, as the mode of that wants it.
    pub(super) fn in_round(&self, order: RequestSpec) -> RequestSpec {
        let mode = self.asked_mode();
        let mut order = self.in_mode(order, mode);
        if let (Mode::Editor, Some(plan), Some(first)) = (mode, self.plan_asked(), order.exchange.first_mut()) {
            first.content = plan;
        }
        order
    }

    /// An answer is complete: what comes of it.
    pub(super) fn concluded(&mut self, reply: String, turn: &Turn) -> Vec<Effect> {
        if !turn.mode.edits() && !turn.edits.is_empty() {
            let text = format!("The answer holds edits, and in {} mode none are proposed.", turn.mode);
            self.tell(Level::Info, text, "/review takes them into review.");
        }
        if let Some(effects) = self.handle_context_requests(&reply, turn) {
            return effects;
        }
        match turn.mode {
            Mode::Code => {
                let offer = self.offer_wanted(&reply, turn, None);
                let mut effects = self.propose_answer(reply, turn);
                effects.extend(offer.unwrap_or_default());
                effects
            }
            Mode::Editor => self.propose_answer(reply, turn),
            Mode::Ask => self.offer_wanted(&reply, turn, None).unwrap_or_default(),
            Mode::Architect => self.planned(reply, turn),
            Mode::Context => self.named_for_task(&reply, turn),
            Mode::Help => Vec::new(),
        }
    }
}

/// What messages are in a mode, after its name.
fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Code => "messages ask for changes",
        Mode::Ask => "messages are questions, and the answers propose no edits",
        Mode::Architect => "messages ask for a plan, which the editor model then carries out",
        Mode::Context => "messages are tasks, and the model names the files that they need",
        Mode::Help | Mode::Editor => "messages are questions about rhumb",
    }
}

pub(super) mod architect;
mod file_search;
#[cfg(test)]
mod tests;
pub(super) mod who;
