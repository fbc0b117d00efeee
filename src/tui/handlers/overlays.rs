//! Handlers of overlays: previews, inputs, rankings, and choices in lists.

use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Editing, Task, run};
use crate::tui::overlay::{CodeSearch, ConnectBox, LineBox, LineFor, Overlay, PreviewTarget, Reply};
use crate::tui::widget::picker::{RankJob, Ranked};
use rhumb_session::{
    Command, ConnectRequest, Connection, Effect, EffectKind, IndexEffect, IndexResponse, IndexState, LookupEffect,
    LookupResponse, NewKey, PersistenceResponse, Response,
};

impl App {
    /// Opens the list of the repository's definitions.
    pub(crate) fn open_symbols(&mut self) {
        match self.session.symbols() {
            Some(graph) => self.overlays.show(Overlay::symbols(graph, self.ranked_map().map(AsRef::as_ref))),
            None => self.hint.set("the repository is still being read".into()),
        }
    }

    /// Requests the preview of the item under the cursor of a list.
    pub(crate) fn request_previews(&mut self) -> Vec<Task> {
        match self.overlays.top().and_then(Overlay::preview) {
            Some(PreviewTarget::File(path, _)) => self.previews.want(&path).into_iter().collect(),
            Some(PreviewTarget::Session(number)) if self.overlays.note_session(Some(number)) => {
                run(self.session.peek_session(number))
            }
            Some(PreviewTarget::Session(_)) | None => Vec::new(),
        }
    }

    /// Passes details of earlier sessions to the open list.
    pub(crate) fn note_session_list(&mut self, report: &Response) {
        let Response::Persisted(report) = report else { return };
        if let PersistenceResponse::Peeked(number, said) = report {
            self.overlays.note_session(None);
            for overlay in self.overlays.iter_mut() {
                if let Overlay::Sessions(sessions) = overlay {
                    sessions.note(*number, said.clone());
                }
            }
        } else if let PersistenceResponse::Listed(_, lines) = report
            && lines.is_empty()
            && matches!(self.overlays.top(), Some(Overlay::Sessions(_)))
        {
            self.overlays.close();
        }
    }

    /// A ranking of the open list that must run on another thread.
    pub fn take_rank_job(&mut self) -> Option<RankJob> {
        self.overlays.top_mut()?.component().picker()?.take_job()
    }

    /// Passes the result of such a ranking to the list.
    pub fn ranked(&mut self, ranked: Ranked) -> Vec<Task> {
        if let Some(overlay) = self.overlays.top_mut() {
            if let Some(picker) = overlay.component().picker() {
                picker.put(ranked);
            }
        }
        self.request_previews()
    }

    /// Handles a click on a row of the top overlay.
    pub fn click_in_overlay(&mut self, row: usize, double: bool) -> Vec<Task> {
        let Some(overlay) = self.overlays.top_mut() else { return Vec::new() };
        let reply = overlay.component().click(row, double);
        let mut tasks = self.overlay_reply(reply);
        tasks.extend(self.request_previews());
        tasks
    }

    /// Scrolls the top overlay by `by` lines.
    pub fn wheel_in_overlay(&mut self, by: isize) -> Vec<Task> {
        if let Some(overlay) = self.overlays.top_mut() {
            overlay.component().wheel(by);
        }
        self.request_previews()
    }

    /// Handles the choice in a list.
    pub(crate) fn chosen_in_list(&mut self, reply: Reply) -> Vec<Task> {
        match reply {
            Reply::Mention(name) => {
                self.focus = crate::tui::action::Pane::Chat;
                self.typed(|app| app.composer.insert_words(&format!("@{name}")))
            }
            Reply::Copy(clip) => vec![Task::Copy(clip)],
            Reply::Fork(number) => run(self.session.fork_session(number)),
            Reply::AskFirst(question) => {
                self.overlays.push(Overlay::Confirm(*question));
                Vec::new()
            }
            Reply::AskLine(what, start) => {
                let line = self.line_for(what, &start);
                self.overlays.push(Overlay::Line(line));
                Vec::new()
            }
            Reply::ChangeSetting(row) => self.change_setting(&row),
            Reply::KeepSetting(row) => {
                self.confirm_keeping_current(&row);
                Vec::new()
            }
            Reply::ForgetSetting(row) => {
                self.confirm_forgetting(&row);
                Vec::new()
            }
            Reply::Line(what, text) => self.line_typed(what, text),
            Reply::Show(places) => self.show_locations(places),
            Reply::AddFound(path, read_only) => self.add_found(path, read_only),
            Reply::Visit(path, line) => vec![Task::Edit(Editing::File { path, line })],
            Reply::AskCodebase(text) => self.ask_codebase(&text),
            _ => Vec::new(),
        }
    }

    fn line_for(&self, what: LineFor, start: &str) -> LineBox {
        match &what {
            LineFor::RenameSession(number) => {
                LineBox::new(&format!("a name for session {number}"), [], start, what).may_be_blank()
            }
            LineFor::Setting(name) => LineBox::new(&name.clone(), [], start, what),
            LineFor::Arguments(name) => LineBox::new(&name.clone(), [], start, what),
        }
    }

    fn line_typed(&mut self, what: LineFor, text: String) -> Vec<Task> {
        match what {
            LineFor::RenameSession(number) => run(self.session.rename_session(number, text)),
            LineFor::Setting(name) => self.setting_typed(&name, &text),
            LineFor::Arguments(name) => {
                self.overlays.clear();
                self.run_line(format!("{name} {text}").trim_end())
            }
        }
    }
}

impl App {
    /// Closes the open question if it is settled.
    pub(crate) fn close_settled_question(&mut self) {
        // A letter must answer the visible question: the next question may be whether to run a command.
        if let Some(Overlay::Ask(open)) = self.overlays.top()
            && !self.session.ask_first(open.asked())
        {
            self.overlays.close();
            self.hint.set("the open question is answered".into());
        }
    }

    /// Opens a question that the user's last key caused. It opens in the review only, where that key was pressed: a user
    /// who has begun to type must not answer it with a letter, so elsewhere it stays above the composer.
    pub(crate) fn open_question(&mut self) {
        if self.overlays.is_empty() && self.focus == Pane::Review && self.sequence.is_empty() {
            let question = self.session.questions().first().map(Overlay::question);
            question.into_iter().for_each(|question| self.overlays.show(question));
        }
    }
}

impl App {
    /// Opens the connection overlay.
    pub(crate) fn open_connection(&mut self, request: &ConnectRequest) -> Vec<Task> {
        let connected = match self.session.connection() {
            Connection::Remote { model, .. } => Some(model.as_str()).filter(|model| !model.is_empty()),
            Connection::Demo | Connection::None => None,
        };
        self.sequence.clear();
        self.overlays.show(Overlay::Connect(Box::new(ConnectBox::new(request, connected))));
        run(self.session.search_connections())
    }

    /// Requests the check and the storage of a key.
    pub(crate) fn enter_key(&mut self, key: NewKey) -> Vec<Task> {
        let tasks = run(self.session.enter_key(key));
        self.refresh_connecting();
        tasks
    }

    /// Searches for keys and servers again.
    pub(crate) fn search_connections(&mut self) -> Vec<Task> {
        let tasks = run(self.session.search_connections());
        self.refresh_connecting();
        tasks
    }

    /// Shows the connections that were found. The overlay closes when a model was just connected.
    pub(crate) fn note_connecting(&mut self, is_connected: bool) {
        self.refresh_connecting();
        if is_connected && matches!(self.overlays.top(), Some(Overlay::Connect(_))) {
            self.overlays.close();
            self.hint.set(match (self.session.connection(), self.composer.is_empty()) {
                (Connection::Remote { model, .. }, true) => format!("{model} is connected"),
                (Connection::Remote { model, .. }, false) => format!("{model} is connected; Enter sends your message"),
                _ => String::new(),
            });
        }
    }

    fn refresh_connecting(&mut self) {
        if let Some(Overlay::Connect(connect)) = self.overlays.top_mut() {
            connect.refresh(self.session.connecting());
        }
    }
}

impl App {
    /// Opens the search with a query, which may be empty.
    pub(crate) fn open_code_search(&mut self, words: &str) {
        self.overlays.show(Overlay::Search(Box::new(CodeSearch::new(words))));
    }

    /// The search, if it is open, even below another overlay.
    fn code_search(&mut self) -> Option<&mut CodeSearch> {
        self.overlays.iter_mut().find_map(|overlay| match overlay {
            Overlay::Search(search) => Some(&mut **search),
            _ => None,
        })
    }

    /// Requests the passages if the query has changed or the index has grown.
    pub(crate) fn update_code_search(&mut self) -> Option<Task> {
        let survey = self.session.survey();
        let search = self.code_search()?;
        search.note_survey(survey);
        search.next().map(|question| Task::Run(Effect::Lookup(LookupEffect::Search(question))))
    }

    /// Passes search results, and reports that may change the results, to the open search.
    pub(crate) fn note_search(&mut self, report: &Response) {
        let Some(search) = self.code_search() else { return };
        match report {
            Response::LookedUp(LookupResponse::Found { question, hits }) => search.found(question, hits.as_deref()),
            Response::ProvisionalMap | Response::Symbols(_) | Response::Indexing(IndexResponse::Ready { .. }) => {
                search.again()
            }
            Response::Failed { effect: EffectKind::Lookup, .. } => search.failed(),
            _ => {}
        }
    }

    /// Controls the index of embeddings. An action that would pause it continues it if it is paused.
    pub(crate) fn command_index(&mut self, action: Action) -> Vec<Task> {
        let rests = matches!(self.session.index(), IndexState::Paused(..));
        let wanted = match action {
            Action::PauseIndex => IndexEffect::Pause(!rests),
            Action::CancelIndex => IndexEffect::Cancel,
            _ => IndexEffect::Build { agreed: false },
        };
        self.command(Command::Index(wanted))
    }

    /// Adds the file of a passage to the chat.
    pub(super) fn add_found(&mut self, path: String, read_only: bool) -> Vec<Task> {
        let is_there = self.session.files().iter().any(|file| file.path == path && file.read_only == read_only);
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

    /// Puts a question about the whole repository into the composer.
    pub(super) fn ask_codebase(&mut self, text: &str) -> Vec<Task> {
        self.focus = Pane::Chat;
        self.overlays.clear();
        self.typed(|app| app.composer.insert_words(&format!("@codebase {text}")))
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};
    use crate::tui::view::{self, ViewCache};
    use rhumb_edit::{FileChange, FileProposal, Proposal};
    use rhumb_session::{
        Choice, Connection, FileQuestion, NamedFile, ProcessSubject, Question, Session, SharedText, Subject,
    };

    fn app() -> App {
        let (session, effects) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn press(app: &mut App, keys: &str) -> Vec<crate::tui::app::Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    fn question(subject: ProcessSubject, title: &str) -> Question {
        let choices = vec![Choice::new('y', "yes"), Choice::new('n', "no")];
        Question { subject: Subject::Process(subject), title: title.into(), text: String::new(), choices }
    }

    fn share(text: &str) -> Question {
        let shared = SharedText { title: text.into(), text: text.into(), tokens: 1, whole: None };
        question(ProcessSubject::Share(shared, None), text)
    }

    fn shown(app: &mut App, width: u16, height: u16) -> String {
        let mut cache = ViewCache::default();
        let mut screen = Terminal::new(TestBackend::new(width, height)).unwrap();
        screen.draw(|frame| view::render(app, &mut cache, frame)).unwrap();
        screen.backend().to_string()
    }

    #[test]
    fn on_a_low_screen_a_question_takes_a_line_and_is_opened_before_it_is_answered() {
        let mut app = app();
        let names = "The answer mentions one.go, two.go and 2 more files (12k tokens), which is a long line.";
        app.session.questions_mut().push_back(share(names));
        let low = shown(&mut app, 40, 12);
        assert_eq!(low.matches("opens it").count(), 1, "{low}");
        assert!(!low.contains("Alt-y"), "{low}");
        press(&mut app, "Alt-y");
        assert!(matches!(app.overlays.top(), Some(Overlay::Ask(_))) && app.session.questions().len() == 1);
        app.overlays.close();
        let high = shown(&mut app, 40, 30);
        assert!(high.contains("Alt-y yes") && !high.contains("opens it"), "{high}");
        press(&mut app, "Alt-y");
        assert!(app.session.questions().is_empty());
    }

    #[test]
    fn the_questions_that_follow_are_named_at_any_width() {
        let mut app = app();
        let run = question(ProcessSubject::Run("cargo test".into()), "Run cargo test?");
        app.session.questions_mut().extend([share("git diff"), run, share("notes")]);
        for (width, height, follow) in [
            (80, 24, "  then: run cargo test?  share the output of notes?"),
            (120, 35, "  then: run cargo test?  share the output of notes?"),
            (80, 12, "? git diff · Enter opens it · then: run cargo test?  share the output of"),
        ] {
            let screen = shown(&mut app, width, height);
            assert!(screen.contains(follow), "{screen}");
        }
    }

    #[test]
    fn an_offer_of_files_does_not_hide_the_review_from_enter() {
        let mut app = app();
        let file = NamedFile { path: "a.py".into(), symbol: None };
        let subject = Subject::Files(FileQuestion::Mentioned(vec![file]));
        let choices = vec![Choice::new('y', "add it"), Choice::new('n', "no")];
        let title = "Your message mentions a.py (7 tokens).".to_owned();
        app.session.questions_mut().push_back(Question { subject, title, text: String::new(), choices });
        press(&mut app, "Enter");
        assert!(matches!(app.overlays.top(), Some(Overlay::Ask(_))));
        press(&mut app, "Esc");
        let file = FileProposal {
            path: "a.py".into(),
            change: FileChange::Modify,
            base: Some("1\n".into()),
            proposed: Some("2\n".into()),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        app.report(rhumb_session::Response::Proposed { request: "do it".into(), proposal });
        press(&mut app, "Alt-1 Enter");
        assert!(app.overlays.is_empty() && app.focus == Pane::Review);
    }

    #[test]
    fn a_question_takes_a_line_while_the_transcript_is_read() {
        let mut app = app();
        app.session.questions_mut().push_back(share("Share it?"));
        assert!(shown(&mut app, 80, 24).contains("Alt-y yes"));
        app.session.send("what is it?");
        app.session.cancel();
        press(&mut app, "Alt-r");
        let read = shown(&mut app, 80, 24);
        assert!(read.contains("? Share it? · Alt-y opens it"), "{read}");
    }

    #[test]
    fn a_letter_answers_the_question_that_is_open_and_no_other() {
        let mut app = app();
        let run = question(ProcessSubject::Run("rm -r build".into()), "Run it?");
        app.session.questions_mut().extend([share("old"), run.clone()]);
        press(&mut app, "Enter");
        // A newer question is queued before it: the visible one is still the one that is answered.
        app.session.questions_mut().push_front(share("newer"));
        app.report(rhumb_session::Response::Head("main".into()));
        press(&mut app, "n");
        assert_eq!(*app.session.questions_mut(), [share("newer"), run.clone()]);
        // The visible question goes away: the next one is not answered instead.
        press(&mut app, "Enter");
        app.session.questions_mut().pop_front();
        app.report(rhumb_session::Response::Head("main".into()));
        assert!(app.overlays.is_empty());
        let tasks = press(&mut app, "y");
        assert!(!tasks.iter().any(|task| matches!(task, crate::tui::app::Task::Run(rhumb_session::Effect::Run(_)))));
        assert_eq!(*app.session.questions_mut(), [run]);
    }
}
