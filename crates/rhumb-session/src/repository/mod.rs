//! The repository: its files and index, the embedding index, comments for the model in its files, and look-ups.

pub(super) mod comment_watch;
pub(super) mod embedding_index;
pub(super) mod lookup;
mod survey;

use embedding_index::IndexState;
use rhumb_index::repo_map::TagGraph;
use std::sync::Arc;

pub use survey::SurveyState;

/// The state of the repository that the session knows.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    /// Definitions and references; `None` before the repository is indexed.
    symbols: Option<Arc<TagGraph>>,
    /// The paths of all files, sorted.
    paths: Arc<Vec<String>>,
    is_listed: bool,
    survey: SurveyState,
    /// Whether the user stopped the indexing, which still runs.
    is_stopping: bool,
    /// The files that the running survey left out.
    unread: UnreadFiles,
    head: String,
    index: IndexState,
    /// Whether a status message has reported that the embedding index is ready.
    index_announced: bool,
}

/// The number of files that a survey left out.
#[derive(Debug, Clone, Copy, Default)]
struct UnreadFiles {
    unread: usize,
    /// The number of all files.
    total: usize,
}

impl Repository {
    pub(crate) fn symbols(&self) -> Option<&Arc<TagGraph>> {
        self.symbols.as_ref()
    }

    pub(crate) fn set_symbols(&mut self, symbols: Arc<TagGraph>) {
        self.symbols = Some(symbols);
    }

    pub(crate) fn paths(&self) -> &Arc<Vec<String>> {
        &self.paths
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.paths.binary_search_by(|other| other.as_str().cmp(path)).is_ok()
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
    }

    pub(crate) fn set_paths(&mut self, paths: Arc<Vec<String>>) {
        (self.paths, self.is_listed) = (paths, true);
    }

    pub(crate) fn survey(&self) -> SurveyState {
        self.survey
    }

    /// Sets the number of files that were read, and of all files, unless the user stopped the indexing. Returns whether they were set.
    pub(crate) fn set_progress(&mut self, done: usize, total: usize) -> bool {
        if !self.is_stopping {
            self.survey = SurveyState::Reading(done, total);
        }
        !self.is_stopping
    }

    pub(crate) fn set_unread(&mut self, unread: usize, total: usize) {
        self.unread = UnreadFiles { unread, total };
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    pub(crate) fn index(&self) -> &IndexState {
        &self.index
    }

    pub(crate) fn head(&self) -> &str {
        &self.head
    }

    pub(crate) fn set_head(&mut self, head: String) {
        self.head = head;
    }
}
