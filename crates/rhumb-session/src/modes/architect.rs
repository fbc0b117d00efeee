//! Architect mode: the answer is a plan, which the editor model carries out once the developer has seen it.

use crate::context::Mode;
use crate::effect::{Effect, Failure};
use crate::proposal::edit_retries::EditRetries;
use crate::question::{Choice, Question, Subject};
use crate::state::Session;
use crate::transcript::{AnswerState, Entry, Level};
use crate::turn::{Turn, TurnStatus};
use rhumb_text::sanitize;

/// A plan, and what the developer asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The plan.
    pub text: String,
    /// The request that it answers, for the commit message.
    pub request: String,
    /// Whether the developer changed it.
    pub edited: bool,
}

/// What stands in the transcript for a plan that goes to the editor model as it is.
const CARRY_OUT: &str = "Carry the plan out.";

impl Session {
    /// A plan is there. The files that it names and that the editor model would not see are offered first.
    pub(crate) fn planned(&mut self, text: String, turn: &Turn) -> Vec<Effect> {
        let plan = Plan { text, request: turn.request.clone(), edited: false };
        match self.offer_wanted(&plan.text.clone(), turn, Some(plan.clone())) {
            Some(effects) => effects,
            None => self.offer_plan(plan),
        }
    }

    /// Asks whether a plan is to be carried out, or has that done where the settings say so.
    pub(crate) fn offer_plan(&mut self, plan: Plan) -> Vec<Effect> {
        // A plan that waited for something else may come while another turn runs.
        if self.modes.rules.accept_plan && !self.turns.is_running() {
            return self.carry_out(plan);
        }
        self.ask_about_plan(plan);
        Vec::new()
    }

    pub(super) fn ask_about_plan(&mut self, plan: Plan) {
        self.question(Question {
            subject: Subject::Plan(plan),
            title: "The plan is ready. Carry it out?".into(),
            text: "The editor model gets the plan and the files of the chat, and writes the edits; you review each of them. If you \
                   send another message instead, the conversation goes on and nothing is carried out."
                .into(),
            choices: vec![
                Choice::new('y', "carry it out"),
                Choice::new('e', "change it first"),
                Choice::new('n', "no"),
            ],
        });
    }

    /// What is to become of a plan.
    pub(crate) fn answer_plan(&mut self, key: char, question: Question, plan: Plan) -> Vec<Effect> {
        match key {
            'y' if self.is_answering() => {
                self.questions.push_front(question);
                Vec::new()
            }
            'y' => self.carry_out(plan),
            'e' if !self.drafts.message().trim().is_empty() => {
                self.questions.push_front(question);
                let hint = "Send or discard it, then answer again.";
                self.tell(Level::Warning, "There is a draft already.", hint);
                Vec::new()
            }
            'e' => {
                // What a model writes is shown before it is typed.
                let text = sanitize::visible(&plan.text).into_owned();
                self.return_draft(text.clone());
                self.drafts.set_message(&text);
                self.modes.waiting.plan = Some(Plan { text, ..plan });
                self.tell(Level::Info, "The plan is the draft now.", "Change it, then send it to the editor model.");
                self.measure()
            }
            _ => Vec::new(),
        }
    }

    /// The composer was emptied: a plan in it is one to be decided on again.
    pub(crate) fn put_plan_back(&mut self) {
        if let Some(plan) = self.modes.waiting.plan.take() {
            self.ask_about_plan(plan);
        }
    }

    /// Sends a plan that was changed in the composer.
    pub(super) fn send_plan(&mut self, plan: Plan, text: &str) -> (bool, Vec<Effect>) {
        if !self.may_send(text) {
            return (false, Vec::new());
        }
        self.modes.waiting.plan = None;
        self.drafts.set_message("");
        let edited = plan.edited || text.trim() != plan.text.trim();
        (true, self.carry_out(Plan { text: text.to_owned(), edited, ..plan }))
    }

    /// Has the editor model carry a plan out.
    pub(crate) fn carry_out(&mut self, plan: Plan) -> Vec<Effect> {
        *self.proposals.retries_mut() = EditRetries::default();
        let text = if plan.edited { plan.text.clone() } else { CARRY_OUT.to_owned() };
        self.transcript.push(Entry::User { text, mode: Mode::Editor, answered: false });
        let mut turn = Turn::again(self.turns.next_number(), plan.text, plan.request).in_mode(Mode::Editor);
        turn.status = TurnStatus::AskingEditor(None);
        self.begin_turn(turn)
    }

    /// The plan behind the message of the editor model at `at`.
    pub(crate) fn plan_at(&self, at: usize) -> Option<String> {
        let Entry::User { text, mode: Mode::Editor, .. } = self.transcript.get(at)? else { return None };
        if text != CARRY_OUT {
            return Some(text.clone());
        }
        self.transcript[..at].iter().rev().find_map(|entry| match entry {
            Entry::Answer(answer) if answer.state == AnswerState::Complete => Some(answer.text.clone()),
            _ => None,
        })
    }

    /// The plan that was asked last, if the latest request was one.
    pub(super) fn plan_asked(&self) -> Option<String> {
        self.transcript.iter().rposition(|entry| matches!(entry, Entry::User { .. })).and_then(|at| self.plan_at(at))
    }

    /// The editor model is asked.
    pub(crate) fn editor_asked(&mut self, number: u64, model: &str, note: Option<Failure>) {
        if let Some(turn) = self.turns.current_mut().filter(|turn| turn.number == number) {
            turn.status = TurnStatus::AskingEditor(Some(model.to_owned()));
        }
        if let Some(note) = note {
            self.tell_failure(Level::Warning, note);
        }
    }

    /// Whether `turn` was to carry a plan out, which is then to be decided on again.
    pub(crate) fn gives_plan_back(&mut self, turn: &Turn) -> bool {
        let is_plan = turn.mode == Mode::Editor && self.plan_asked().is_some_and(|plan| plan == turn.message);
        if is_plan {
            self.ask_about_plan(Plan { text: turn.message.clone(), request: turn.request.clone(), edited: true });
        }
        turn.mode == Mode::Editor
    }
}
