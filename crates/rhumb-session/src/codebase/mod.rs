//! Questions about the whole repository. A message with `@codebase` starts a search before it is sent. The chunks that are found, which
//! the user interface calls passages, are stored by location and stay in the conversation.

pub(crate) mod context_requests;

use crate::context::{CODEBASE, ChunkLocation, Mode, SectionKind, codebase_question, merge_locations};
use crate::{Effect, Failure, Level, Session, SurveyState, Turn, TurnStatus};
use rhumb_index::retrieval::{ContextRequest, Related};
use rhumb_llm::models::Dollars;
use rhumb_text::count;
use std::fmt;
use std::sync::Arc;

pub use context_requests::{MoreContextRequest, found_message};

/// Maximum number of chunks in a conversation, far more than a context window holds. The oldest are removed first.
const MAX_CHUNKS: usize = 256;

/// The chunks of the repository in a conversation.
#[derive(Debug, Default)]
pub struct Codebase {
    /// The chunks, in the order in which they were found.
    pub locations: Arc<Vec<ChunkLocation>>,
    /// Definitions that are one reference away from the chunks of the last question. They are sent only with that question.
    related: Vec<Related>,
    /// The number of context requests of the model for the current question.
    rounds: usize,
}

impl Codebase {
    pub(super) fn begin(&mut self) {
        self.rounds = 0;
    }

    pub(super) fn resume(&mut self, locations: Vec<ChunkLocation>) {
        *self = Self { locations: Arc::new(locations), ..Self::default() };
    }

    /// Begins another conversation.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The goal of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchGoal {
    /// To answer a question.
    Question(String),
    /// To answer context requests of the model.
    Requests(Vec<ContextRequest>),
}

/// A search for chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodebaseSearch {
    /// The turn that waits for the search.
    pub turn: u64,
    /// The goal.
    pub goal: SearchGoal,
    /// Files in the chat. They are sent completely and not searched.
    pub chat: Vec<String>,
    /// The chunks that are in the conversation already.
    pub known: Vec<ChunkLocation>,
    /// The maximum cost; `None` for no limit.
    pub allowance: Option<Dollars>,
    /// The weak model, if one was chosen in this session.
    pub weak_model: Option<String>,
}

/// A step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// The weak model rewrites the question.
    Planning,
    /// The weak model writes code that could answer the question, and similar code is searched for.
    Hypothesizing,
    /// The weak model does that again, with the first results.
    HypothesizingAgain,
    /// The index is searched.
    Searching,
    /// The weak model ranks the results.
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

/// The progress or result of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum CodebaseResponse {
    /// The search is in progress.
    Status {
        /// The turn.
        turn: u64,
        /// The current step.
        step: SearchStep,
    },
    /// The search is finished.
    Found {
        /// The turn.
        turn: u64,
        /// The result.
        found: FoundPassages,
    },
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundPassages {
    /// The chunks, best first.
    pub locations: Vec<ChunkLocation>,
    /// For a question, definitions that are one reference away from the chunks.
    pub related: Vec<Related>,
    /// The performed steps, as sentences for the user.
    pub summary: Vec<String>,
    /// Failures.
    pub notes: Vec<Failure>,
}

/// A `/passages` command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassageCommand {
    /// List the passages.
    Show,
    /// Drop all passages.
    DropAll,
    /// Drop those of a file or one of them: `path`, `path:line` or `path:first-last`.
    Drop(String),
}

impl PassageCommand {
    /// Parses the arguments: nothing, `drop`, or `drop PATH:LINE`.
    pub fn parse(arguments: &str) -> Option<Self> {
        match arguments.split_once(char::is_whitespace) {
            None if arguments.is_empty() => Some(Self::Show),
            None if arguments == "drop" => Some(Self::DropAll),
            Some(("drop", location)) => Some(Self::Drop(location.trim().to_owned())),
            _ => None,
        }
    }
}

impl Session {
    /// Sends a question about the whole repository in the current mode. If it cannot be sent, it is returned to the composer.
    pub(super) fn ask_codebase(&mut self, question: &str) -> Vec<Effect> {
        let message = format!("@{CODEBASE} {question}");
        let (sent, effects) = self.send_in_mode(&message, self.modes.mode());
        if !sent {
            self.return_draft(message);
        }
        effects
    }

    /// Whether a message consists of `@codebase` alone, which is reported.
    pub(super) fn is_empty_question(&mut self, message: &str) -> bool {
        let is_empty = codebase_question(message).is_some_and(|question| question.is_empty());
        if is_empty {
            self.report(
                Level::Warning,
                "The message has no question, only @codebase, so nothing was sent.",
                "Say what you want to know: @codebase where are paths resolved?",
            );
        }
        is_empty
    }

    /// The question about the whole repository in a message, if the mode allows one.
    pub(super) fn question_in(message: &str, mode: Mode) -> Option<String> {
        // The agent loop starts with the code that the message is about.
        if mode == Mode::Agent {
            return Some(message.to_owned()).filter(|message| !message.trim().is_empty());
        }
        let is_allowed = !matches!(mode, Mode::Editor | Mode::Help);
        codebase_question(message).filter(|question| is_allowed && !question.is_empty())
    }

    /// Starts the search of the running turn, if it has one that was not started.
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
            known: self.codebase.locations.to_vec(),
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

    /// Updates the status of a turn that waits until the repository is read.
    pub(super) fn update_search_status(&mut self) {
        let status = self.search_status();
        let waits = |turn: &&mut Turn| matches!(turn.status, TurnStatus::ReadingRepository(..));
        if let Some(turn) = self.turns.current_mut().filter(waits) {
            turn.status = status;
        }
    }

    /// Handles the progress or the result of a search.
    pub(super) fn codebase_response(&mut self, response: CodebaseResponse) -> Vec<Effect> {
        let (CodebaseResponse::Status { turn: number, .. } | CodebaseResponse::Found { turn: number, .. }) = response;
        let Some(turn) = self.turns.current_mut().filter(|turn| turn.number == number) else { return Vec::new() };
        let found = match response {
            CodebaseResponse::Status { step, .. } => {
                turn.status = TurnStatus::Searching(step);
                return Vec::new();
            }
            CodebaseResponse::Found { found, .. } => found,
        };
        turn.status = TurnStatus::Waiting;
        let is_round = turn.context_requests.is_some();
        let is_question = turn.mode != Mode::Agent;
        for sentence in &found.summary {
            self.report(Level::Info, sentence, "");
        }
        found.notes.iter().for_each(|note| self.report_failure(Level::Warning, note.clone()));
        if found.locations.is_empty() && !is_round && is_question {
            let hint = "It is sent all the same. Other words may find more: names, or what the comments would say.";
            self.report(Level::Warning, "No passage of the repository matches it.", hint);
        }
        let locations = Arc::make_mut(&mut self.codebase.locations);
        *locations = merge_locations(std::mem::take(locations), found.locations.clone());
        if !is_round {
            self.codebase.related.clone_from(&found.related);
        }
        let excess = locations.len().saturating_sub(MAX_CHUNKS);
        locations.drain(..excess);
        if is_round { self.ask_with_found(&found) } else { self.advance_turn() }
    }

    pub(crate) fn passage_command(&mut self, command: PassageCommand) -> Vec<Effect> {
        if self.codebase.locations.is_empty() {
            let hint = "@codebase in a message finds some: @codebase where are paths resolved?";
            self.report(Level::Info, "There are no passages of the repository in this conversation.", hint);
            return Vec::new();
        }
        match command {
            PassageCommand::Show => {
                self.list_passages();
                Vec::new()
            }
            PassageCommand::DropAll => {
                let all = count(self.codebase.locations.len(), "passage");
                self.report(Level::Info, format!("Dropped {all} of the repository."), "");
                self.drop_passages(|_| true)
            }
            PassageCommand::Drop(name) => {
                let effects = self.drop_passages(|location| is_meant(&name, location));
                if effects.is_empty() {
                    let hint = "/passages lists them.";
                    self.report(Level::Warning, format!("There is no passage {name} in this conversation."), hint);
                } else {
                    self.report(Level::Info, format!("Dropped the passages of {name}."), "");
                }
                effects
            }
        }
    }

    /// Whether the next request contains chunks of earlier questions although it is not such a question itself.
    pub fn keeps_passages(&self) -> bool {
        let asks = self.turns.current().is_some_and(|turn| turn.asks_codebase)
            || Self::question_in(self.drafts.message(), self.input_mode()).is_some();
        !asks && !self.codebase.locations.is_empty()
    }

    /// The number and tokens of these chunks in the measured request; `None` without any.
    pub fn kept_passages(&self) -> Option<(usize, usize)> {
        let prompt = &self.next_request.view()?.prompt;
        let sections = prompt.sections.iter().filter(|section| section.kind == SectionKind::Passages);
        let tokens = sections.map(|section| section.tokens).sum();
        (self.keeps_passages() && !prompt.passages.is_empty()).then_some((prompt.passages.len(), tokens))
    }

    /// Removes chunks from the conversation. Returns no effects if none matches.
    pub fn drop_passages(&mut self, is_meant: impl Fn(&ChunkLocation) -> bool) -> Vec<Effect> {
        let before = self.codebase.locations.len();
        Arc::make_mut(&mut self.codebase.locations).retain(|location| !is_meant(location));
        if self.codebase.locations.len() == before { Vec::new() } else { self.measure() }
    }

    fn list_passages(&mut self) {
        let line = |location: &ChunkLocation| {
            let inside = location.anchor.as_ref().map_or_else(String::new, |anchor| format!("  {}", anchor.symbol));
            let note = if self.is_in_chat(&location.path) { "  (the file is in the chat whole)" } else { "" };
            format!("\n{}{inside}{note}", location.label())
        };
        let lines: String = self.codebase.locations.iter().map(line).collect();
        let sections = self.next_request.view().into_iter().flat_map(|view| &view.prompt.sections);
        let passages = sections.filter(|section| section.kind == SectionKind::Passages);
        let tokens: usize = passages.map(|section| section.tokens).sum();
        let count = count(self.codebase.locations.len(), "passage");
        let text = format!("{count} of the repository, {tokens} tokens of the next request:{lines}");
        self.report(
            Level::Info,
            text,
            "/passages drop PATH:LINE takes one out, /passages drop all of them, as /clear does.",
        );
    }
}

/// Whether `path`, `path:line` or `path:first-last` names a location.
fn is_meant(name: &str, location: &ChunkLocation) -> bool {
    if name == location.path || name == location.label() {
        return true;
    }
    let line = name.rsplit_once(':').filter(|(path, _)| *path == location.path).map(|(_, lines)| lines);
    let first = line.and_then(|lines| lines.split('-').next()?.parse::<u32>().ok());
    first.is_some_and(|line| (location.line..=location.end_line).contains(&line))
}

#[cfg(test)]
mod tests;
