//! Questions about the whole repository: a message with `@codebase` has it searched before it is sent, and what is found stays with
//! the conversation as passages, kept by place.

pub(crate) mod more;
mod passages;

use std::fmt;
use std::sync::Arc;

use super::effect::{Effect, Failure};
use super::repository::SurveyState;
use super::state::Session;
use super::transcript::Level;
use super::turn::{Turn, TurnStatus};
use crate::context::{CODEBASE, Mode, PassagePlace, codebase_question, extended};
use rhumb_index::retrieval::{ContextRequest, Related};
use rhumb_llm::models::Dollars;

pub use more::{MoreContextRequest, found_message};
pub use passages::PassageCommand;

/// Passages that a conversation keeps at most; those that were found longest ago go first. Far more than a window holds.
const MOST_KEPT: usize = 256;

/// What was found of the repository for a conversation.
#[derive(Debug, Default)]
pub struct Codebase {
    /// The passages, in the order in which they were found.
    pub places: Arc<Vec<PassagePlace>>,
    /// What is one reference away from what the latest question found. It goes along with that question alone.
    related: Vec<Related>,
    /// How often the model asked for more, for the question that is being answered.
    rounds: usize,
}

impl Codebase {
    /// Another question is asked.
    pub(super) fn begin(&mut self) {
        self.rounds = 0;
    }

    /// An earlier conversation is gone on with, with these passages.
    pub(super) fn resume(&mut self, places: Vec<PassagePlace>) {
        *self = Self { places: Arc::new(places), ..Self::default() };
    }

    /// Another conversation begins.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What the repository is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchGoal {
    /// What answers a question.
    Question(String),
    /// What the model asked for.
    Wants(Vec<ContextRequest>),
}

/// A search for passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodebaseSearch {
    /// The turn that waits for it.
    pub turn: u64,
    /// What is searched for.
    pub goal: SearchGoal,
    /// Files in the chat: they are sent whole.
    pub chat: Vec<String>,
    /// The passages that are there already.
    pub kept: Vec<PassagePlace>,
    /// What may still be spent on it; `None` for as much as it takes.
    pub allowance: Option<Dollars>,
    /// The model to help, if one was chosen since the app was started.
    pub weak_model: Option<String>,
}

/// A step of a search for passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// The weak model rewrites the question.
    Planning,
    /// The weak model writes code that could answer the question, to search for its like.
    Hypothesizing,
    /// It does so once more, with what was found first.
    HypothesizingAgain,
    /// The index is searched.
    Searching,
    /// The weak model puts the hits in order.
    Reranking,
}

impl fmt::Display for SearchStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Planning => "planning the search",
            Self::Hypothesizing => "guessing at the code",
            Self::HypothesizingAgain => "guessing at the code once more",
            Self::Searching => "searching the repository",
            Self::Reranking => "putting what was found in order",
        })
    }
}

/// What comes of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum CodebaseResponse {
    /// It goes on.
    Status {
        /// The turn.
        turn: u64,
        /// What is being done.
        step: SearchStep,
    },
    /// It is done.
    Found {
        /// The turn.
        turn: u64,
        /// What was found.
        found: FoundPassages,
    },
}

/// What was found of the repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundPassages {
    /// The passages, best first.
    pub places: Vec<PassagePlace>,
    /// What is one reference away from them, where a question was searched for.
    pub related: Vec<Related>,
    /// What was done, a sentence each.
    pub told: Vec<String>,
    /// What could not be done.
    pub notes: Vec<Failure>,
}

impl Session {
    /// Sends a question about the whole repository, meant as messages are now. It comes back where it cannot be sent.
    pub(super) fn ask_codebase(&mut self, question: &str) -> Vec<Effect> {
        let message = format!("@{CODEBASE} {question}");
        let (sent, effects) = self.send_in_mode(&message, self.modes.mode());
        if !sent {
            self.return_draft(message);
        }
        effects
    }

    /// Whether a message asks the whole repository and says nothing else, which is told.
    pub(super) fn asks_nothing(&mut self, message: &str) -> bool {
        let asks_nothing = codebase_question(message).is_some_and(|question| question.is_empty());
        if asks_nothing {
            self.report(
                Level::Warning,
                "There is no question beside @codebase, so nothing was sent.",
                "Say what you want to know: @codebase where are paths resolved?",
            );
        }
        asks_nothing
    }

    /// The question about the whole repository that a message asks, if it is meant so that one can be asked.
    pub(super) fn question_in(message: &str, mode: Mode) -> Option<String> {
        let can_ask = !matches!(mode, Mode::Editor | Mode::Help);
        codebase_question(message).filter(|question| can_ask && !question.is_empty())
    }

    /// Has the repository searched for what the running turn seeks, if that was not done yet.
    pub(super) fn start_search(&mut self) -> Option<Effect> {
        let turn = self.turns.current_mut()?;
        let goal = turn.search_goal.take()?;
        let number = turn.number;
        let status = self.search_status();
        if let Some(turn) = self.turns.current_mut() {
            turn.status = status;
        }
        Some(Effect::Codebase(CodebaseSearch {
            turn: number,
            goal,
            chat: self.chat_files.files().iter().map(|file| file.path.clone()).collect(),
            kept: self.codebase.places.to_vec(),
            allowance: self.allowance(),
            weak_model: self.next_request.overrides().weak_model.clone(),
        }))
    }

    fn search_status(&self) -> TurnStatus {
        match self.repository.survey() {
            SurveyState::Reading(read, total) => TurnStatus::ReadingRepository(read, total),
            SurveyState::Partial(..) | SurveyState::Done => TurnStatus::Searching(SearchStep::Searching),
        }
    }

    /// The reading of the repository went on: a turn that waits for it says how far it is.
    pub(super) fn update_search_status(&mut self) {
        let status = self.search_status();
        let waits = |turn: &&mut Turn| matches!(turn.status, TurnStatus::ReadingRepository(..));
        if let Some(turn) = self.turns.current_mut().filter(waits) {
            turn.status = status;
        }
    }

    /// A search goes on or is done.
    pub(super) fn handle_codebase(&mut self, report: CodebaseResponse) -> Vec<Effect> {
        let (CodebaseResponse::Status { turn: number, .. } | CodebaseResponse::Found { turn: number, .. }) = report;
        let Some(turn) = self.turns.current_mut().filter(|turn| turn.number == number) else { return Vec::new() };
        let found = match report {
            CodebaseResponse::Status { step, .. } => {
                turn.status = TurnStatus::Searching(step);
                return Vec::new();
            }
            CodebaseResponse::Found { found, .. } => found,
        };
        turn.status = TurnStatus::Waiting;
        let is_round = turn.context_requests.is_some();
        for told in &found.told {
            self.report(Level::Info, told, "");
        }
        found.notes.iter().for_each(|note| self.report_failure(Level::Warning, note.clone()));
        if found.places.is_empty() && !is_round {
            let hint = "It is sent all the same. Other words may find more: names, or what the comments would say.";
            self.report(Level::Warning, "No passage of the repository speaks of it.", hint);
        }
        let places = Arc::make_mut(&mut self.codebase.places);
        *places = extended(std::mem::take(places), found.places.clone());
        if !is_round {
            self.codebase.related.clone_from(&found.related);
        }
        let too_many = places.len().saturating_sub(MOST_KEPT);
        places.drain(..too_many);
        if is_round { self.ask_with_more(&found) } else { self.advance_turn() }
    }
}

#[cfg(test)]
mod tests;
