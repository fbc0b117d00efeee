//! Architect mode: the answer is a plan, which the editor model carries out after the user accepts it.

use crate::context::Mode;
use crate::proposal::edit_retries::EditRetries;
use crate::{AnswerState, Choice, Effect, Entry, Failure, Level, Question, Session, Subject, Turn, TurnStatus};
use rhumb_text::sanitize;

/// A plan that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its text.
    pub text: String,
    /// The request that it answers, for the commit message.
    pub request: String,
    /// Whether the user changed it.
    pub edited: bool,
}

/// The entry of the transcript for a plan that is carried out unchanged.
const CARRY_OUT: &str = "Carry the plan out.";

impl Session {
    /// Handles a plan. First offers the files that it names and that are not in the chat, because the editor model gets only the
    /// files in the chat.
    pub(crate) fn plan_completed(&mut self, text: String, turn: &Turn) -> Vec<Effect> {
        let plan = Plan { text, request: turn.request.clone(), edited: false };
        self.offer_requested(&plan.text, turn, Some(&plan)).unwrap_or_else(|| self.offer_plan(plan))
    }

    /// Asks whether to carry out a plan, or carries it out if the settings say so.
    pub(crate) fn offer_plan(&mut self, plan: Plan) -> Vec<Effect> {
        // The user may have sent another message while the plan waited for the offer of its files.
        if self.modes.rules().accept_plan && !self.turns.is_running() {
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
                   send another message instead, the plan is not carried out."
                .into(),
            choices: vec![
                Choice::new('y', "carry it out"),
                Choice::new('e', "change it first"),
                Choice::new('n', "no"),
            ],
        });
    }

    pub(crate) fn answer_plan(&mut self, key: char, question: Question, plan: Plan) -> Vec<Effect> {
        match key {
            'y' if self.reject_if_answering() => {
                self.questions.push_front(question);
                Vec::new()
            }
            'y' => self.carry_out(plan),
            'e' if !self.drafts.message().trim().is_empty() => {
                self.questions.push_front(question);
                let hint = "Send or discard it, then answer again.";
                self.report(Level::Warning, "There is a draft already.", hint);
                Vec::new()
            }
            'e' => {
                // The text of a model may contain control characters.
                let text = sanitize::visible(&plan.text).into_owned();
                self.return_draft(text.clone());
                self.drafts.set_message(&text);
                self.modes.plan_in_input = Some(Plan { text, ..plan });
                self.report(Level::Info, "The plan is the draft now.", "Change it, then send it to the editor model.");
                self.measure()
            }
            _ => Vec::new(),
        }
    }

    /// Asks again about a plan that the user cleared from the input.
    pub(crate) fn ask_about_plan_again(&mut self) {
        if let Some(plan) = self.modes.plan_in_input.take() {
            self.ask_about_plan(plan);
        }
    }

    pub(crate) fn send_plan(&mut self, plan: Plan, text: &str) -> (bool, Vec<Effect>) {
        if !self.may_send(text) {
            return (false, Vec::new());
        }
        self.modes.plan_in_input = None;
        self.drafts.set_message("");
        let edited = plan.edited || text.trim() != plan.text.trim();
        (true, self.carry_out(Plan { text: text.to_owned(), edited, ..plan }))
    }

    /// Sends a plan to the editor model.
    pub(crate) fn carry_out(&mut self, plan: Plan) -> Vec<Effect> {
        *self.proposals.retries_mut() = EditRetries::default();
        let text = if plan.edited { plan.text.clone() } else { CARRY_OUT.to_owned() };
        self.transcript.push(Entry::User { text, mode: Mode::Editor, answered: false });
        let mut turn = Turn::follow_up(self.turns.next_number(), plan.text, plan.request).with_mode(Mode::Editor);
        turn.status = TurnStatus::AskingEditor(None);
        self.begin_turn(turn)
    }

    /// The plan that the entry at index `at` sends to the editor model.
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

    pub(super) fn last_plan(&self) -> Option<String> {
        self.plan_at(self.transcript.iter().rposition(|entry| matches!(entry, Entry::User { .. }))?)
    }

    /// Handles [`AskEvent::Editor`](crate::AskEvent::Editor).
    pub(crate) fn editor_asked(&mut self, number: u64, model: &str, note: Option<Failure>) {
        if let Some(turn) = self.turns.current_mut().filter(|turn| turn.number == number) {
            turn.status = TurnStatus::AskingEditor(Some(model.to_owned()));
        }
        if let Some(note) = note {
            self.report_failure(Level::Warning, note);
        }
    }

    /// Asks again about the plan of a turn that has no answer. Returns whether the turn was one of the editor model.
    pub(crate) fn return_plan(&mut self, turn: &Turn) -> bool {
        let is_plan = turn.mode == Mode::Editor && self.last_plan().is_some_and(|plan| plan == turn.message);
        if is_plan {
            self.ask_about_plan(Plan { text: turn.message.clone(), request: turn.request.clone(), edited: true });
        }
        turn.mode == Mode::Editor
    }
}
