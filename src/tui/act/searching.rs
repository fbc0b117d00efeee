//! The search of the code: what it asks, what comes back, and what is done with what was found; and the index that it reads.

use crate::session::{Command, Effect, IndexCommand, IndexReport, IndexState, LookOrder, LookReport, Report};
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Task, run};
use crate::tui::overlay::{CodeSearch, Overlay};

impl App {
    /// Opens the search with some words, which may be none.
    pub(crate) fn open_code_search(&mut self, words: &str) {
        self.overlay = Some(Overlay::Search(Box::new(CodeSearch::new(words))));
    }

    /// The search, if it is open, under another overlay or not.
    fn code_search(&mut self) -> Option<&mut CodeSearch> {
        self.overlay.iter_mut().chain(&mut self.under).find_map(|overlay| match overlay {
            Overlay::Search(search) => Some(&mut **search),
            _ => None,
        })
    }

    /// Asks for the passages, if other words were typed or more is known.
    pub(crate) fn search_code_anew(&mut self) -> Option<Task> {
        let survey = self.session.survey;
        let search = self.code_search()?;
        search.note_survey(survey);
        search.next().map(|question| Task::Run(Effect::Look(LookOrder::Search(question))))
    }

    /// Takes note of what was found, and of what makes another answer likely.
    pub(crate) fn note_search(&mut self, report: &Report) {
        let Some(search) = self.code_search() else { return };
        match report {
            Report::Looked(LookReport::Found { question, hits }) => search.found(question, hits.as_deref()),
            Report::Sketched | Report::Symbols(_) | Report::Indexing(IndexReport::Ready { .. }) => search.again(),
            Report::Failed(_) => search.failed(),
            _ => {}
        }
    }

    /// Does what an action wants of the index of meanings. One that rests goes on where it would be paused.
    pub(crate) fn command_index(&mut self, action: Action) -> Vec<Task> {
        let rests = matches!(self.session.index, IndexState::Paused(..));
        let wanted = match action {
            Action::PauseIndex => IndexCommand::Pause(!rests),
            Action::CancelIndex => IndexCommand::Cancel,
            _ => IndexCommand::Build { agreed: false },
        };
        self.command(Command::Index(wanted))
    }

    /// Adds the file of a passage to the chat.
    pub(super) fn add_found(&mut self, path: String, read_only: bool) -> Vec<Task> {
        let is_there = self.session.files.iter().any(|file| file.path == path && file.read_only == read_only);
        let said = match (is_there, read_only) {
            (true, _) => format!("{path} is in the chat already"),
            (false, false) => format!("{path} is added to the chat"),
            (false, true) => format!("{path} is added for reference"),
        };
        let effects = self.session.add_files(&[path], read_only);
        if let Some(search) = self.code_search() {
            search.tell(said);
        }
        run(effects)
    }

    /// Puts a question about the whole repository into the message.
    pub(super) fn ask_codebase(&mut self, text: &str) -> Vec<Task> {
        self.focus = Pane::Chat;
        self.under.clear();
        self.typed(|app| app.composer.insert_words(&format!("@codebase {text}")))
    }
}
