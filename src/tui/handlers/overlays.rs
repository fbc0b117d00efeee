//! Handlers of overlays: previews, inputs, rankings, choices in lists, and the notices of the session.

use rhumb_session::{
    ConnectRequest, EffectKind, IndexEffect, IndexResponse, IndexState, LookupEffect, LookupResponse, NewKey, Notice,
    PersistenceResponse,
};

use crate::tui::overlay::{
    AskBox, CodeSearch, ConnectBox, LineBox, LineFor, Menu, PasteBox, PreviewTarget, SectionView, SessionList,
    SymbolList, TextView,
};
use crate::tui::prelude::*;
use crate::tui::widget::picker::{RankJob, Ranked};

impl App {
    pub(crate) fn open_symbols(&mut self) {
        match self.session.symbols() {
            Some(graph) => self.overlays.show(SymbolList::new(graph, self.ranked_map().map(AsRef::as_ref))),
            None => self.hint.set("the repository is still being read"),
        }
    }

    /// Requests the preview of the row under the cursor.
    pub(crate) fn request_previews(&mut self) -> Vec<Task> {
        match self.overlays.top().and_then(|overlay| overlay.preview()) {
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
            if let Some(sessions) = self.overlays.find_mut::<SessionList>() {
                sessions.note(*number, said.clone());
            }
        } else if let PersistenceResponse::Listed(_, lines) = report
            && lines.is_empty()
            && self.overlays.is_top::<SessionList>()
        {
            self.overlays.close();
        }
    }

    /// A ranking of the open list that must run on another thread.
    pub fn take_rank_job(&mut self) -> Option<RankJob> {
        self.overlays.top_mut()?.picker()?.take_job()
    }

    /// Passes the result of such a ranking to the list.
    pub fn ranked(&mut self, ranked: Ranked) -> Vec<Task> {
        if let Some(picker) = self.overlays.top_mut().and_then(|overlay| overlay.picker()) {
            picker.put(ranked);
        }
        self.request_previews()
    }

    /// Handles a click on a row of the top overlay.
    pub fn click_in_overlay(&mut self, row: usize, double: bool) -> Vec<Task> {
        let Some(overlay) = self.overlays.top_mut() else { return Vec::new() };
        let reply = overlay.click(row, double);
        let mut tasks = self.overlay_reply(reply);
        tasks.extend(self.request_previews());
        tasks
    }

    /// Scrolls the top overlay by `by` lines.
    pub fn wheel_in_overlay(&mut self, by: isize) -> Vec<Task> {
        if let Some(overlay) = self.overlays.top_mut() {
            overlay.wheel(by);
        }
        self.request_previews()
    }

    pub(crate) fn ask_line(&mut self, what: LineFor, start: &str) {
        let is_name = matches!(what, LineFor::RenameSession(_));
        let title = match &what {
            LineFor::RenameSession(number) => format!("a name for session {number}"),
            LineFor::Setting(name) | LineFor::Arguments(name) => name.clone(),
        };
        let line = LineBox::new(&title, [], start, what);
        self.overlays.push(if is_name { line.may_be_blank() } else { line });
    }

    pub(crate) fn line_typed(&mut self, what: LineFor, text: String) -> Vec<Task> {
        match what {
            LineFor::RenameSession(number) => run(self.session.rename_session(number, text)),
            LineFor::Setting(name) => self.setting_typed(&name, &text),
            LineFor::Arguments(name) => {
                self.overlays.clear();
                self.run_line_keeping_draft(format!("{name} {text}").trim_end())
            }
        }
    }

    /// Closes the open question if it is settled.
    pub(crate) fn close_settled_question(&mut self) {
        // A letter must answer the visible question: the next question may be whether to run a command.
        if let Some(open) = self.overlays.top_as::<AskBox>()
            && !self.session.ask_first(&open.asked)
        {
            self.overlays.close();
            self.hint.set("the open question is answered");
        }
    }

    /// Opens a question that the user's last key caused, if that key was pressed in the review. Elsewhere, the question stays
    /// above the composer, so that a user who is typing does not answer it with a letter.
    pub(crate) fn open_question(&mut self) {
        if self.overlays.is_empty() && self.focus == Pane::Review && self.sequence.is_empty() {
            let question = self.session.questions().first().map(AskBox::new);
            question.into_iter().for_each(|question| self.overlays.show(question));
        }
    }

    pub(crate) fn open_connection(&mut self, request: &ConnectRequest) -> Vec<Task> {
        let connected = match self.session.connection() {
            Connection::Remote { model, .. } => Some(model.as_str()).filter(|model| !model.is_empty()),
            Connection::Demo | Connection::None => None,
        };
        self.sequence.clear();
        self.overlays.show(ConnectBox::new(request, connected));
        run(self.session.search_connections())
    }

    pub(crate) fn enter_key(&mut self, key: NewKey) -> Vec<Task> {
        let tasks = run(self.session.enter_key(key));
        self.refresh_connecting();
        tasks
    }

    pub(crate) fn search_connections(&mut self) -> Vec<Task> {
        let tasks = run(self.session.search_connections());
        self.refresh_connecting();
        tasks
    }

    /// Shows the connections that were found. The overlay closes when a model was just connected.
    pub(crate) fn note_connecting(&mut self, is_connected: bool) {
        self.refresh_connecting();
        if is_connected && self.overlays.is_top::<ConnectBox>() {
            self.overlays.close();
            self.hint.set(match (self.session.connection(), self.composer.is_empty()) {
                (Connection::Remote { model, .. }, true) => format!("{model} is connected"),
                (Connection::Remote { model, .. }, false) => {
                    let send = self.keys.first(Action::Send);
                    format!("{model} is connected; {send} sends your message")
                }
                _ => String::new(),
            });
        }
    }

    fn refresh_connecting(&mut self) {
        if let Some(connect) = self.overlays.top_as_mut::<ConnectBox>() {
            connect.update(self.session.connecting());
        }
    }

    pub(crate) fn open_code_search(&mut self, words: &str) {
        self.overlays.show(CodeSearch::new(words));
    }

    /// The search, even if it is below another overlay.
    fn code_search(&mut self) -> Option<&mut CodeSearch> {
        self.overlays.find_mut()
    }

    /// Requests passages if the query has changed or the index has grown.
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

    pub(crate) fn add_found(&mut self, path: String, read_only: bool) -> Vec<Task> {
        let is_there = self.session.files().iter().any(|file| file.path == path && file.read_only == read_only);
        let said = match (is_there, read_only) {
            (true, _) => format!("{path} is in the chat already"),
            (false, false) => format!("{path} is added to the chat"),
            (false, true) => format!("{path} is added for reference"),
        };
        let effects = self.session.add_files(&[path], read_only);
        if let Some(search) = self.code_search() {
            search.set_note(said);
        }
        run(effects)
    }

    /// Puts a question about the whole repository into the composer.
    pub(crate) fn ask_codebase(&mut self, text: &str) -> Vec<Task> {
        self.focus = Pane::Chat;
        self.overlays.clear();
        self.typed(|app| app.composer.insert_words(&format!("@codebase {text}")))
    }

    /// Takes the notices of the session and shows those that can be shown now. The others wait: an open overlay may hold
    /// unsaved input, such as a pasted reply.
    pub(crate) fn show_notices(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        loop {
            for notice in self.session.take_notices() {
                self.overlays.waiting.retain(|other| !notice.replaces(other));
                self.overlays.waiting.push_back(notice);
            }
            for notice in std::mem::take(&mut self.overlays.waiting) {
                match self.show_notice(notice) {
                    Ok(more) => tasks.extend(more),
                    Err(notice) => self.overlays.waiting.push_back(notice),
                }
            }
            // A command that was run may have added notices.
            if self.session.notices().next().is_none() {
                return tasks;
            }
        }
    }

    /// Shows a notice. Returns it if it must wait.
    fn show_notice(&mut self, notice: Notice) -> Result<Vec<Task>, Notice> {
        match notice {
            Notice::Copy(text) => return Ok(vec![Task::Copy(text)]),
            Notice::AskNow => self.open_question(),
            Notice::Connected => {}
            Notice::ReturnDraft(draft) => self.restore_draft(&draft),
            Notice::Insert(text) => return Ok(self.typed(|app| app.composer.paste(&text))),
            Notice::InsertDictated(words) => return Ok(self.typed(|app| app.composer.insert_words(&words))),
            Notice::PastedText(text) => {
                // A text that was copied in the app is not a reply.
                if let Some(place) = self.overlays.top_as_mut::<PasteBox>()
                    && !self.composer.history.has_copied(&text)
                {
                    place.fill(&text);
                }
            }
            Notice::PastedImage => {
                if self.overlays.top_as().is_some_and(PasteBox::is_untouched) {
                    self.overlays.close();
                }
            }
            Notice::Run(command) => return Ok(self.command(command)),
            Notice::ShowHunk(id) => self.go_to(id),
            Notice::ChooseSession(query, lines) => {
                if let Some(open) = self.overlays.top_as_mut::<SessionList>() {
                    open.set_lines(&lines);
                } else if self.overlays.is_empty() {
                    self.overlays.show(SessionList::new(&query, &lines));
                } else {
                    return Err(Notice::ChooseSession(query, lines));
                }
            }
            Notice::Connect(request) if self.overlays.is_empty() || self.overlays.is_top::<ConnectBox>() => {
                return Ok(self.open_connection(&request));
            }
            Notice::ChooseServer(_) if !self.overlays.is_empty() => {
                self.hint.set("Model servers were found; the list opens when this closes.");
                return Err(notice);
            }
            notice if !self.overlays.is_empty() => return Err(notice),
            notice => self.open_notice(notice),
        }
        Ok(Vec::new())
    }

    fn open_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Diff(page) => return self.overlays.show(SectionView::diff(&page.title, &page.text)),
            Notice::Page(page) => self.overlays.show(TextView::new(&page.title, &page.text).table()),
            Notice::Settings(rows, query) => self.show_settings(rows, &query),
            Notice::ChooseModel(part, query) => self.open_models(part, &query),
            Notice::ChooseServer(servers) => self.overlays.show(Menu::servers(&servers)),
            _ => return,
        }
        self.hint.clear();
        self.sequence.clear();
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
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
        assert!(app.overlays.is_top::<AskBox>() && app.session.questions().len() == 1);
        app.overlays.close();
        let high = shown(&mut app, 40, 30);
        assert!(high.contains("Alt-y yes") && !high.contains("opens it"), "{high}");
        press(&mut app, "Alt-y");
        assert!(app.session.questions().is_empty());
    }

    #[test]
    fn a_new_connection_names_the_key_in_force_that_sends_the_message() {
        let mut app = app();
        app.keys = KeyMap::with(&[("send".to_owned(), vec!["F12".to_owned()])].into()).0;
        app.composer.set("hi");
        app.open_connection(&ConnectRequest::default());
        app.note_connecting(true);
        assert_eq!(app.hint.text(), "m is connected; F12 sends your message");
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
        assert!(app.overlays.is_top::<AskBox>());
        press(&mut app, "Esc");
        let file = FileProposal {
            path: "a.py".into(),
            change: FileChange::Modify,
            base: Some("1\n".into()),
            proposed: Some("2\n".into()),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        app.handle_response(rhumb_session::Response::Proposed { request: "do it".into(), proposal });
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
        app.handle_response(rhumb_session::Response::Head("main".into()));
        press(&mut app, "n");
        assert_eq!(*app.session.questions_mut(), [share("newer"), run.clone()]);
        // The visible question goes away: the next one is not answered instead.
        press(&mut app, "Enter");
        app.session.questions_mut().pop_front();
        app.handle_response(rhumb_session::Response::Head("main".into()));
        assert!(app.overlays.is_empty());
        let tasks = press(&mut app, "y");
        assert!(!tasks.iter().any(|task| matches!(task, crate::tui::app::Task::Run(rhumb_session::Effect::Run(_)))));
        assert_eq!(*app.session.questions_mut(), [run]);
    }
}
