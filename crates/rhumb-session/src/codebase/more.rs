//! The model asks for more of the repository: whether it gets it, and the round that follows.

use std::fmt::Write as _;

use super::super::effect::{Effect, RequestSpec};
use super::super::question::{Choice, Question, Subject};
use super::super::state::Session;
use super::super::transcript::{Entry, Level};
use super::super::turn::Turn;
use super::FoundPassages;
use crate::context::Mode;
use rhumb_index::retrieval::{ContextRequest, context_requests};

/// Passages that the message after a search names; all of them stand in the request.
const NAMED: usize = 20;

/// What happens when a model requests more of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextRequestPolicy {
    /// The user is asked.
    #[default]
    Ask,
    /// The request is answered.
    Always,
    /// The model is not offered to request more.
    Never,
}

impl ContextRequestPolicy {
    /// The values of the setting.
    pub const WORDS: &'static [&'static str] = &["ask", "always", "never"];

    /// The policy of a name; [`Self::Ask`] for an unknown one.
    pub fn named(name: &str) -> Self {
        match name {
            "always" => Self::Always,
            "never" => Self::Never,
            _ => Self::Ask,
        }
    }
}

/// What an answer asks for of the repository, and what it takes to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoreContextRequest {
    /// What it asks for.
    pub wants: Vec<ContextRequest>,
    /// How the message was meant that it answers.
    pub mode: Mode,
    /// What the developer had asked for.
    pub request: String,
}

impl Session {
    /// The order of a turn with what belongs to a question about the whole repository, if it asks one.
    pub(crate) fn with_codebase(&self, order: RequestSpec, turn: &Turn) -> RequestSpec {
        if !turn.asks_codebase {
            return order;
        }
        let may = self.modes.rules().more != ContextRequestPolicy::Never
            && self.codebase.rounds < self.modes.rules().more_rounds;
        RequestSpec { codebase: Some(may), related: self.codebase.related.clone(), ..order }
    }

    /// What comes of an answer that asks for more; `None` if it does not.
    pub(crate) fn wants_more(&mut self, reply: &str, turn: &Turn) -> Option<Vec<Effect>> {
        if !turn.asks_codebase || !turn.edits.is_empty() {
            return None;
        }
        let more =
            MoreContextRequest { wants: context_requests(reply), mode: turn.mode, request: turn.request.clone() };
        if more.wants.is_empty() {
            return None;
        }
        if self.modes.rules().more == ContextRequestPolicy::Never {
            let text = "The model asks for more of the repository, which codebase_more does not allow.";
            self.report(Level::Warning, text, "");
            return None;
        }
        if self.codebase.rounds >= self.modes.rules().more_rounds {
            let text =
                format!("The model asks for more of the repository, after {} rounds already.", self.codebase.rounds);
            let hint =
                "Ask again with @codebase and its words, or /add the files; codebase_rounds says how often it may.";
            self.report(Level::Warning, text, hint);
            return Some(Vec::new());
        }
        if self.modes.rules().more == ContextRequestPolicy::Always {
            return Some(self.search_more(more));
        }
        self.question(Question {
            title: "The model asks for more of the repository.".into(),
            text: more.wants.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            subject: Subject::More(more),
            choices: vec![
                Choice::new('y', "look it up"),
                Choice::new('a', "always in this session"),
                Choice::new('n', "no"),
            ],
        });
        Some(Vec::new())
    }

    /// What becomes of it.
    pub(crate) fn answer_more(&mut self, key: char, question: Question, more: MoreContextRequest) -> Vec<Effect> {
        if key == 'n' {
            return Vec::new();
        }
        if self.reject_if_answering() {
            self.questions.push_front(question);
            return Vec::new();
        }
        if key == 'a' {
            self.modes.rules_mut().more = ContextRequestPolicy::Always;
        }
        self.search_more(more)
    }

    /// Begins a round: what is asked for is looked up, and then the model is asked again.
    fn search_more(&mut self, more: MoreContextRequest) -> Vec<Effect> {
        self.codebase.rounds += 1;
        let MoreContextRequest { wants, mode, request } = more;
        let turn = Turn::follow_up(self.turns.next_number(), String::new(), request).with_mode(mode);
        self.open_turn(turn.with_context_requests(wants));
        self.start_search().into_iter().collect()
    }

    /// What was asked for is there, as far as it was found: the model is asked again.
    pub(super) fn ask_with_more(&mut self, found: &FoundPassages) -> Vec<Effect> {
        let Some(turn) = self.turns.current() else { return Vec::new() };
        let (round, of) = (self.codebase.rounds, self.modes.rules().more_rounds.max(self.codebase.rounds));
        let text = found_message(found);
        let order = self.with_codebase(self.round_order(turn.number, text.clone()), turn);
        let at = self.transcript.iter().rposition(Entry::is_streaming).unwrap_or(self.transcript.len());
        self.transcript.insert(at, Entry::FollowUp { text: text.clone(), round, of, answered: false });
        if let Some(turn) = self.turns.current_mut() {
            turn.message = text;
        }
        vec![Effect::Ask(Box::new(order))]
    }
}

/// What the model is told of what was found for it.
pub fn found_message(found: &FoundPassages) -> String {
    let mut text = String::new();
    if found.places.is_empty() {
        text.push_str("Nothing was found of what you asked for.");
    } else {
        let named: Vec<String> = found.places.iter().take(NAMED).map(|place| format!("`{}`", place.label())).collect();
        let _ = write!(text, "Among the passages are now: {}", named.join(", "));
        let more = found.places.len().saturating_sub(NAMED);
        text.push_str(if more > 0 { ", and more." } else { "." });
    }
    found.notes.iter().for_each(|note| {
        let _ = write!(text, " {}", note.message);
    });
    text.push_str(" Answer the question now, and say what is missing, if anything is.");
    text
}
