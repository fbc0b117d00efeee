//! The read-only view that front ends have of a session.

use crate::context::Mode;
use crate::{
    Attachments, ChatFile, Codebase, Commits, Connecting, Connection, ContextView, CustomCommands, IndexState, Lookups,
    Persistence, Processes, Queue, RequestOverrides, Session, Spent, SurveyState, Transcript, Turn,
};
use rhumb_edit::review::Review;
use rhumb_index::repo_map::TagGraph;
use rhumb_llm::models::{Dollars, Ledger};
use std::sync::Arc;

impl Session {
    /// The conversation so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The running turn.
    pub fn turn(&self) -> Option<&Turn> {
        self.turns.current()
    }

    /// The messages that wait for the end of the running turn.
    pub fn queue(&self) -> &Queue {
        self.turns.queue()
    }

    /// The mode of messages.
    pub fn mode(&self) -> Mode {
        self.modes.mode()
    }

    /// The proposals under review.
    pub fn review(&self) -> &Review {
        self.proposals.review()
    }

    /// The proposals under review, to decide hunks.
    pub fn review_mut(&mut self) -> &mut Review {
        self.proposals.review_mut()
    }

    /// The number of proposals so far.
    pub fn proposal_count(&self) -> usize {
        self.proposals.count()
    }

    /// Whether files are being written.
    pub fn is_writing(&self) -> bool {
        self.proposals.is_writing()
    }

    /// Commits that are being made, and how they are made.
    pub fn commits(&self) -> &Commits {
        self.proposals.commits()
    }

    /// The connected model.
    pub fn connection(&self) -> &Connection {
        self.model.connection()
    }

    /// Why no model is connected although one was named: a sentence without its full stop.
    pub fn missing_model(&self) -> Option<&str> {
        self.model.missing()
    }

    /// The search for keys and servers, and the key that was entered.
    pub fn connecting(&self) -> &Connecting {
        self.model.connecting()
    }

    /// The editor model that was chosen in this session.
    pub fn editor_model(&self) -> Option<&str> {
        self.next_request.overrides().editor_model.as_deref()
    }

    /// The cost so far.
    pub fn ledger(&self) -> &Ledger {
        self.spending.ledger()
    }

    /// The maximum cost of the session.
    pub fn spending_cap(&self) -> Option<Dollars> {
        self.spending.cap()
    }

    /// The cost of the last request.
    pub fn last_spent(&self) -> Option<&Spent> {
        self.spending.last()
    }

    /// The files in the chat, in the order in which they were added.
    pub fn files(&self) -> &[ChatFile] {
        self.chat_files.files()
    }

    /// Pages, images and dictation.
    pub fn attachments(&self) -> &Attachments {
        &self.attachments
    }

    /// The last measurement of the next request.
    pub fn view(&self) -> Option<&ContextView> {
        self.next_request.view()
    }

    /// Choices of this session that take precedence over the settings.
    pub fn overrides(&self) -> &RequestOverrides {
        self.next_request.overrides()
    }

    /// The passages of `@codebase` questions.
    pub fn codebase(&self) -> &Codebase {
        &self.codebase
    }

    /// Running commands and their output.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// The paths of all files of the repository, sorted.
    pub fn paths(&self) -> &Arc<Vec<String>> {
        self.repository.paths()
    }

    /// Whether [`Session::paths`] is known.
    pub fn is_listed(&self) -> bool {
        self.repository.is_listed()
    }

    /// The definitions and references of the repository; `None` before it is indexed.
    pub fn symbols(&self) -> Option<&Arc<TagGraph>> {
        self.repository.symbols()
    }

    /// The progress of indexing the repository.
    pub fn survey(&self) -> SurveyState {
        self.repository.survey()
    }

    /// Whether the user stopped the indexing, which still runs.
    pub fn is_stopping(&self) -> bool {
        self.repository.is_stopping()
    }

    /// The branch; empty if unknown.
    pub fn head(&self) -> &str {
        self.repository.head()
    }

    /// The embedding index.
    pub fn index(&self) -> &IndexState {
        self.repository.index()
    }

    /// Whether the session watches files for comments for the model.
    pub fn is_watching(&self) -> bool {
        self.comment_watch.is_on()
    }

    /// Results of look-ups: models, themes, folders.
    pub fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// The custom commands.
    pub fn custom_commands(&self) -> &CustomCommands {
        &self.lookups.commands
    }

    /// The name, number and inputs of the session, as they are saved.
    pub fn persistence(&self) -> &Persistence {
        &self.persistence
    }
}
