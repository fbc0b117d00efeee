//! Context requests: the model requests more of the repository, and the request is answered in another round.

use crate::context::Mode;
use crate::{
    Choice, CodebaseQuestion, Effect, Entry, FoundPassages, Level, Question, RequestSpec, Session, Subject, Turn,
};
use rhumb_index::retrieval::{ContextRequest, context_requests};
use serde::Deserialize;
use std::fmt::Write as _;

/// Maximum number of chunks that the message after a search names. All of them are in the request.
const MAX_NAMED: usize = 20;

/// The policy for context requests of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContextRequestPolicy {
    /// Ask the user.
    #[default]
    Ask,
    /// The request is answered.
    Always,
    /// The prompt does not offer context requests.
    Never,
}

/// A context request of an answer, with what is needed to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoreContextRequest {
    /// The requests.
    pub wants: Vec<ContextRequest>,
    /// The mode of the turn.
    pub mode: Mode,
    /// The request of the user.
    pub request: String,
}

impl Session {
    /// Completes the request of a turn that is a question about the whole repository.
    pub(crate) fn with_codebase(&self, spec: RequestSpec, turn: &Turn) -> RequestSpec {
        if !turn.asks_codebase {
            return spec;
        }
        if turn.mode == Mode::Agent {
            return RequestSpec { related: self.codebase.related.clone(), ..spec };
        }
        let may_request = self.modes.rules().more != ContextRequestPolicy::Never
            && self.codebase.rounds < self.modes.rules().more_rounds;
        let codebase = if may_request { CodebaseQuestion::MayRequestMore } else { CodebaseQuestion::Final };
        RequestSpec { codebase, related: self.codebase.related.clone(), ..spec }
    }

    /// Handles the context requests of an answer; `None` if it has none.
    pub(crate) fn handle_context_requests(&mut self, reply: &str, turn: &Turn) -> Option<Vec<Effect>> {
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

    pub(crate) fn answer_context_request(
        &mut self,
        key: char,
        question: Question,
        more: MoreContextRequest,
    ) -> Vec<Effect> {
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

    /// Begins a round: performs the requested search, before the request is sent again.
    fn search_more(&mut self, more: MoreContextRequest) -> Vec<Effect> {
        self.codebase.rounds += 1;
        let MoreContextRequest { wants, mode, request } = more;
        let turn = Turn::follow_up(self.turns.next_number(), String::new(), request).with_mode(mode);
        self.open_turn(turn.with_context_requests(wants));
        self.start_search().into_iter().collect()
    }

    /// Asks the model again, with the result of the search.
    pub(super) fn ask_with_found(&mut self, found: &FoundPassages) -> Vec<Effect> {
        let Some(turn) = self.turns.current() else { return Vec::new() };
        let (round, of) = (self.codebase.rounds, self.modes.rules().more_rounds.max(self.codebase.rounds));
        let text = found_message(found);
        let spec = self.with_codebase(self.round_spec(turn.number, text.clone()), turn);
        let at = self.transcript.iter().rposition(Entry::is_streaming).unwrap_or(self.transcript.len());
        self.transcript.insert(at, Entry::FollowUp { text: text.clone(), round, of, answered: false });
        if let Some(turn) = self.turns.current_mut() {
            turn.message = text;
        }
        vec![Effect::Ask(Box::new(spec))]
    }
}

/// The message to the model about the result of its context requests.
pub fn found_message(found: &FoundPassages) -> String {
    let mut text = String::new();
    if found.locations.is_empty() {
        text.push_str("Nothing was found of what you asked for.");
    } else {
        let named: Vec<String> =
            found.locations.iter().take(MAX_NAMED).map(|location| format!("`{}`", location.label())).collect();
        let _ = write!(text, "Among the passages are now: {}", named.join(", "));
        let more = found.locations.len().saturating_sub(MAX_NAMED);
        text.push_str(if more > 0 { ", and more." } else { "." });
    }
    found.notes.iter().for_each(|note| {
        let _ = write!(text, " {}", note.message);
    });
    text.push_str(" Answer the question now, and say what is missing, if anything is.");
    text
}
