//! Updates the app for an event. Synchronous and without I/O: work outside is returned as tasks.

use crossterm::event::Event;
use rhumb_session::{PassageCommand, Question, as_command, is_command};

use super::overlay::{AskBox, ConnectBox, FileList, Overlay, Reply};
use crate::tui::prelude::*;

/// Hint after a key that closed a question, since the user went on typing.
const QUESTION_CLOSED: &str = "the question was closed unanswered; what you type goes to the message";

impl App {
    /// Handles a terminal event.
    pub fn event(&mut self, event: Event) -> Vec<Task> {
        let mut tasks = match event {
            Event::Key(key) if key::counts(key) => self.key(key),
            Event::Mouse(event) => self.mouse(event),
            Event::Paste(text) => self.paste(&text),
            Event::FocusGained => self.focus_changed(true),
            Event::FocusLost => self.focus_changed(false),
            _ => Vec::new(),
        };
        tasks.extend(self.handle_session_output());
        tasks.extend(self.update_map_filter());
        tasks.extend(self.update_code_search());
        tasks.extend(self.request_previews());
        tasks.extend(self.update_completion());
        tasks
    }

    /// Handles the response to an effect.
    pub fn handle_response(&mut self, response: Response) -> Vec<Task> {
        let held = (self.context_title(), self.review_path());
        // These responses may change the hunk under the cursor without a key of the user.
        let by_itself = matches!(response, Response::Proposed { .. } | Response::Reread { .. });
        let guarded = if by_itself { self.guarded() } else { None };
        self.completion.note(&response);
        self.previews.note(&response);
        self.chat.citing.note(&response);
        self.note_for_map(&response);
        self.note_session_list(&response);
        self.note_search(&response);
        let asked = self.confirm_undo(&response);
        let under = matches!(response, Response::Proposed { .. }).then(|| self.under_cursor()).flatten();
        let lost = matches!(response, Response::Reread { .. }).then(|| self.session.review().refused.len());
        let is_connected = matches!(response, Response::Connected { .. });
        let effects = self.session.handle(response);
        self.note_connecting(is_connected);
        self.keep_context_cursor(held.0.as_deref());
        self.keep_review_cursor(held.1.as_deref());
        lost.into_iter().for_each(|before| self.go_to_lost_hunks(before));
        if let Some(overlay) = self.overlays.top_mut() {
            overlay.refresh(&self.session, &self.previews);
        }
        let mut tasks = run(effects);
        tasks.extend(asked);
        tasks.extend(self.update_citations());
        tasks.extend(self.handle_session_output());
        under.into_iter().for_each(|item| self.restore_cursor(&item));
        tasks.extend(self.update_map_filter());
        tasks.extend(self.update_code_search());
        tasks.extend(self.update_explanation());
        tasks.extend(self.request_previews());
        if by_itself {
            self.guard(guarded.as_ref());
        }
        tasks.extend(self.update_completion());
        tasks
    }

    /// Handles the output of the session after a change.
    fn handle_session_output(&mut self) -> Vec<Task> {
        let mut tasks = run(self.session.next_queued());
        self.show_voice();
        tasks.extend(self.news().map(Task::Notify));
        self.close_settled_question();
        tasks.extend(self.show_notices());
        self.settle();
        self.hint_unseen_warning();
        tasks
    }

    /// Notes whether the terminal has the focus.
    fn focus_changed(&mut self, focused: bool) -> Vec<Task> {
        self.attention.focused = Some(focused);
        self.attention.unseen &= !focused;
        if focused { self.recheck_files() } else { Vec::new() }
    }

    /// Reports that a text was copied. `native` means that the system's clipboard took it.
    pub fn copied(&mut self, native: bool, clip: &ClipboardText) {
        self.composer.history.note_copied(&clip.text);
        self.session.report(Level::Info, format!("{} is on the clipboard.", clip.what), clip.hint.clone());
        if !native {
            let text = format!("It was copied through the terminal (OSC 52, {} kB).", clip.text.len().div_ceil(1_000));
            self.session.report(Level::Info, text, "If pasting gives another text, the terminal does not allow it.");
        }
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Task> {
        let name = key::name(key);
        self.hint.clear();
        self.chat.welcome = false;
        let twice = self.sequence.take_interrupt();
        if self.overlays.is_empty() && self.review_search_key(key, &name) {
            return Vec::new();
        }
        if name == "Ctrl-c" {
            // Ctrl-C also cancels an incomplete key sequence.
            self.sequence.clear();
            return self.interrupt(twice);
        }
        if let Some(overlay) = self.overlays.top_mut() {
            let binding = self.keys.lookup(self.focus, &name);
            let closes = matches!(binding, Binding::Action(action) if overlay.closes_by(action));
            let reply = if closes { Reply::Close } else { overlay.key(key) };
            return self.overlay_reply(reply);
        }
        if self.focus == Pane::Map && self.map.is_typing() && !self.is_global_key(&name) {
            return self.map_filter_key(key);
        }
        if self.focus == Pane::Chat {
            let taken = self.reading_key(&name, key).or_else(|| self.completion_key(&name));
            if let Some(tasks) = taken.or_else(|| self.vi_key(&name, key)) {
                return tasks;
            }
        }
        let choice = name.strip_prefix("Alt-").and_then(|key| key.parse().ok());
        if let Some(choice) = choice.filter(|key| self.session.is_choice(*key)) {
            return self.choose(choice);
        }
        let sequence = self.sequence.complete(&name);
        match self.keys.lookup(self.focus, &sequence) {
            Binding::Action(action) => self.act(action),
            Binding::Prefix => {
                self.hint.set(format!("{sequence} …"));
                self.sequence.hold(sequence);
                Vec::new()
            }
            Binding::None if self.focus == Pane::Chat && self.recalls(&sequence) => self.recall(sequence == "Up"),
            Binding::None if self.focus == Pane::Chat => self.typed(|app| app.composer.input(key)),
            Binding::None => {
                let help = self.keys.first(Action::HelpHere);
                self.say(format!("{sequence} has no effect here; {help} shows the keys"))
            }
        }
    }

    /// Handles an answer to the first question. A question that must be read in full first, or is not on the screen, is
    /// opened instead: a repeated key must not answer a question that the user has not seen. The harmless answer is
    /// accepted immediately.
    fn choose(&mut self, choice: char) -> Vec<Task> {
        let Some(question) = self.session.questions().first() else { return Vec::new() };
        let is_seen = self.chat.has_shown(question) && !question.must_be_read();
        if is_seen || question.is_harmless(choice) {
            return self.answer(choice);
        }
        self.overlays.show(AskBox::new(question));
        Vec::new()
    }

    /// Closes the question and passes the key to the pane below.
    fn pass_key_below(&mut self, key: KeyEvent) -> Vec<Task> {
        let hint = self.closing_hint();
        self.overlays.close();
        let tasks = self.key(key);
        self.hint.set(hint);
        tasks
    }

    /// Hint after a key that closed the open overlay, since the user went on typing.
    fn closing_hint(&self) -> &'static str {
        if self.overlays.is_top::<ConnectBox>() { "no model is connected; /connect helps" } else { QUESTION_CLOSED }
    }

    fn paste(&mut self, text: &str) -> Vec<Task> {
        self.chat.welcome = false;
        if self.typing_continues() {
            self.hint.set(self.closing_hint());
            self.overlays.close();
        }
        if let Some(overlay) = self.overlays.top_mut() {
            overlay.paste(text);
            return Vec::new();
        }
        if (self.focus == Pane::Map && self.map_filter_paste(text)) || self.search_paste(text) {
            return Vec::new();
        }
        self.focus = Pane::Chat;
        if self.paste_into_search(text) {
            return Vec::new();
        }
        self.stop_reading();
        let taken = self.paste_dropped_paths(text).or_else(|| self.session.paste_image_path(text).map(run));
        taken.unwrap_or_else(|| self.typed(|app| app.composer.paste(text)))
    }

    pub(crate) fn typed(&mut self, edit: impl FnOnce(&mut Self)) -> Vec<Task> {
        edit(self);
        let text = self.composer.text();
        // A command is not a message, so it must not change the map.
        let draft = if is_command(&text) { "" } else { text.as_str() };
        run(self.session.draft_changed(draft))
    }

    /// Handles Ctrl-C: stops the most urgent work. Pressed twice, it exits.
    fn interrupt(&mut self, twice: bool) -> Vec<Task> {
        if self.session.attachments().recording.is_some() {
            return run(self.session.stop_recording(false));
        }
        if !self.overlays.is_empty() {
            let before = self.theme_before().map(str::to_owned);
            // The key is passed on as Esc, because an overlay may ask before it discards a text.
            let stays = |overlay: &mut dyn Overlay| overlay.key(KeyCode::Esc.into()) == Reply::Stay;
            if self.overlays.top_mut().is_some_and(stays) {
                return Vec::new();
            }
            before.into_iter().for_each(|before| self.apply_theme(&before));
            self.overlays.clear();
            return Vec::new();
        }
        if let Some(effects) = self.stop_what_runs() {
            return run(effects);
        }
        if !self.composer.is_empty() {
            if self.keep_draft() {
                self.hint.set(format!("{} brings it back", self.keys.first(Action::HistoryBack)));
            }
            return self.typed(|app| app.composer.clear());
        }
        if twice {
            // Queued messages are not saved; the rest of the session is.
            return if self.session.queue().waiting().is_empty() { vec![Task::Quit] } else { self.leave() };
        }
        self.sequence.interrupted = true;
        self.say(format!("{} again leaves", self.keys.first(Action::Interrupt)))
    }

    pub(super) fn overlay_reply(&mut self, reply: Reply) -> Vec<Task> {
        if let Reply::Run(name) = &reply {
            let word = name.split(' ').next().unwrap_or(name).to_owned();
            self.composer.history.note_run(&word);
            if self.ask_arguments(name) {
                return Vec::new();
            }
            // The overlays below are no longer needed.
            self.overlays.clear();
        }
        if let Reply::Typed(key) = reply {
            return if self.typing_continues() { self.pass_key_below(key) } else { Vec::new() };
        }
        let before = self.theme_before().map(str::to_owned);
        if !reply.stays() {
            self.overlays.close();
        }
        match reply {
            Reply::Stay => self.preview_theme(),
            Reply::Close | Reply::Typed(_) => {}
            Reply::Confirmed(confirmed_action) => return self.confirmed(confirmed_action),
            Reply::Model(part, name) => return run(self.session.choose_for(part, name)),
            // If no theme is chosen, the previous one is restored and follows the background again.
            Reply::Theme(name) if before.is_some_and(|before| before == name) => self.apply_theme(&name),
            Reply::Theme(name) => self.choose_theme(&name),
            Reply::Run(name) => return self.run_chosen(&name),
            Reply::Add(paths) => return run(self.session.add_files(&paths, false)),
            Reply::Connect { api, base_url, model } => return run(vec![Effect::Connect { api, base_url, model }]),
            Reply::Key(key) => return self.enter_key(key),
            Reply::SearchConnections => return self.search_connections(),
            Reply::Pasted(text) if text.trim().is_empty() => {}
            Reply::Pasted(text) => {
                // The prompt that was copied elsewhere is in the composer; with its reply it becomes part of the
                // transcript.
                let effects = self.session.take_reply(text);
                let mut tasks = self.typed(|app| app.composer.clear());
                tasks.extend(run(effects));
                return tasks;
            }
            Reply::Answer(key) => return self.answer(key),
            Reply::Spoken(keep) => return run(self.session.stop_recording(keep)),
            Reply::StopRun(number) => return run(self.session.stop_run(number)),
            Reply::Show(places) | Reply::ShowLocations(places) => return self.show_locations(places),
            Reply::Edit(path, line) | Reply::Visit(path, line) => {
                return vec![Task::Edit(Editing::File { path, line })];
            }
            Reply::Resume(number) => return run(self.session.resume(Some(number.to_string()))),
            Reply::Recall(text) => {
                self.keep_draft();
                self.completion.is_suppressed = true;
                return self.typed(|app| app.composer.set(&text));
            }
            Reply::Review(reply) => return self.review_reply(reply),
            Reply::Mention(name) => {
                self.focus = Pane::Chat;
                return self.typed(|app| app.composer.insert_words(&format!("@{name}")));
            }
            Reply::Copy(clip) => return vec![Task::Copy(clip)],
            Reply::Fork(number) => return run(self.session.fork_session(number)),
            Reply::AskFirst(question) => self.overlays.push(*question),
            Reply::AskLine(what, start) => self.ask_line(what, &start),
            Reply::ChangeSetting(row) => return self.change_setting(&row),
            Reply::KeepSetting(row) => self.confirm_keeping_current(&row),
            Reply::ForgetSetting(row) => self.confirm_forgetting(&row),
            Reply::Line(what, text) => return self.line_typed(what, text),
            Reply::AddFound(path, read_only) => return self.add_found(path, read_only),
            Reply::AskCodebase(text) => return self.ask_codebase(&text),
        }
        Vec::new()
    }

    pub(super) fn act(&mut self, action: Action) -> Vec<Task> {
        match self.focus {
            Pane::Map => self.act_on_map(action),
            Pane::Context => self.act_on_context(action),
            Pane::Review => self.act_on_review(action),
            Pane::Chat => self.act_on_transcript(action),
        }
        .unwrap_or_else(|| self.act_anywhere(action))
    }

    fn act_anywhere(&mut self, action: Action) -> Vec<Task> {
        match action {
            Action::Send => return self.send(),
            Action::SendQueued => return run(self.session.send_queued()),
            Action::TakeBackQueued => return self.take_back_queued(),
            Action::TakeOver => return self.take_over(),
            Action::DropPassages => return self.command(Command::Passages(PassageCommand::DropAll)),
            Action::Newline => return self.typed(|app| app.composer.newline()),
            Action::HistoryBack => return self.recall(true),
            Action::HistoryForward => return self.recall(false),
            Action::HistorySearch => self.search_inputs(),
            Action::ScrollUp => self.chat.scroll_up(self.layout.page_rows().cast_signed()),
            Action::ScrollDown => self.chat.scroll_up(-self.layout.page_rows().cast_signed()),
            Action::Escape => return self.escape(),
            Action::Quit => return self.leave(),
            Action::NextMode => {
                let (result, effects) = self.session.next_mode();
                self.hint.set(result.unwrap_or_else(|why| why));
                return run(effects);
            }
            Action::FocusNext => self.focus = self.neighbour(1),
            Action::FocusPrevious => self.focus = self.neighbour(Pane::ALL.len() - 1),
            Action::FocusChat | Action::Leave => self.focus = Pane::Chat,
            Action::FocusMap => self.focus = Pane::Map,
            Action::FocusContext => self.focus = Pane::Context,
            Action::FocusReview => self.focus = Pane::Review,
            Action::PickFile | Action::ContextAdd => {
                self.overlays.show(FileList::new(self.session.paths(), self.ranked_map().map(AsRef::as_ref)))
            }
            Action::PickSymbol => self.open_symbols(),
            Action::SearchCode => self.open_code_search(""),
            Action::FindServers => return self.command(Command::Servers),
            Action::CopyPrompt => return run(self.session.copy_prompt()),
            Action::PasteReply => return self.command(Command::Paste(None)),
            Action::ViewPrompt => self.view_prompt_at(None),
            Action::ViewLog => self.open_log(),
            Action::OpenPaste => return self.open_paste(),
            Action::EditMessage => return vec![Task::Edit(Editing::Message(self.composer.text()))],
            Action::Palette => self.open_palette(),
            Action::Zoom | Action::ZoomHere => self.zoom(),
            Action::Layout => self.next_layout(),
            Action::GrowPane => self.grow(1),
            Action::ShrinkPane => self.grow(-1),
            Action::ResetBorders => self.reset_borders(),
            Action::Mouse => self.toggle_mouse(),
            Action::StopReading => return self.stop_survey(),
            Action::ReadOn => return run(self.session.resume_indexing().unwrap_or_default()),
            Action::BuildIndex | Action::PauseIndex | Action::CancelIndex => return self.command_index(action),
            Action::Help | Action::HelpHere => self.open_help(true),
            Action::Redraw => return vec![Task::Redraw],
            Action::Suspend => return vec![Task::Suspend],
            _ => {}
        }
        Vec::new()
    }

    /// Stops the turn, a download, or a command. `None` if nothing runs.
    fn stop_what_runs(&mut self) -> Option<Vec<Effect>> {
        if self.session.turn().is_some() {
            let effects = self.session.interrupt();
            if self.session.agent_status().is_some_and(|agent| agent.is_pausing) {
                let key = self.keys.first(Action::Escape);
                self.hint.set(format!("pausing after this step; {key} again stops"));
            }
            return Some(effects);
        }
        let stopped = self.session.stop_compacting().or_else(|| self.stop_outside());
        stopped.or_else(|| self.session.processes().is_running().then(|| self.session.stop_command()))
    }

    fn escape(&mut self) -> Vec<Task> {
        if let Some(effects) = self.stop_what_runs() {
            return run(effects);
        }
        if self.focus == Pane::Chat && self.chat.from_bottom == 0 {
            return self.stop_survey();
        }
        self.focus = Pane::Chat;
        self.chat.from_bottom = 0;
        Vec::new()
    }

    /// Hands the last turn or the running one to the agent.
    fn take_over(&mut self) -> Vec<Task> {
        match self.why_not(Action::TakeOver.info()) {
            Some(why) => self.say(why),
            None => run(self.session.go_on_as_agent()),
        }
    }

    /// Moves the newest queued message back to the composer, after its text.
    fn take_back_queued(&mut self) -> Vec<Task> {
        let Some(text) = self.session.take_back_queued() else { return Vec::new() };
        self.focus = Pane::Chat;
        self.typed(|app| app.composer.append(&text))
    }

    /// The question that Enter in an empty composer opens. A review takes precedence over offers.
    pub(crate) fn question_on_enter(&self) -> Option<&Question> {
        self.session.questions().first().filter(|question| !question.subject.is_offer() || !self.reviewing())
    }

    fn neighbour(&self, by: usize) -> Pane {
        let at = Pane::ALL.iter().position(|pane| *pane == self.focus).unwrap_or(0);
        Pane::ALL[(at + by) % Pane::ALL.len()]
    }

    pub(super) fn send(&mut self) -> Vec<Task> {
        let text = self.composer.text();
        if text.trim().is_empty() {
            if let Some(question) = self.question_on_enter() {
                self.overlays.show(AskBox::new(question));
            } else if self.reviewing() {
                self.focus = Pane::Review;
            }
            return Vec::new();
        }
        self.chat.from_bottom = 0;
        let Some(rewound) = self.start_rerun(&text) else { return Vec::new() };
        let mut tasks = run(rewound);
        if let Some(line) = as_command(&text) {
            self.session.remember_input(&text);
            tasks.extend(self.run_line(line));
            return tasks;
        }
        let (sent, effects) = self.session.send(&text);
        if sent {
            self.session.remember_input(&text);
            self.composer.clear();
        }
        tasks.extend(run(effects));
        tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::{CommentBox, CommentContext, Menu, PasteBox};
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_edit::review::CommentTarget;
    use rhumb_llm::LocalServer;
    use rhumb_llm::models::Api;
    use rhumb_session::{Connection, PersistenceEffect, PersistenceResponse, Session};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn press(app: &mut App, keys: &str) {
        for key in keys.split(' ').filter_map(key::parse) {
            app.event(Event::Key(key));
        }
    }

    fn found() -> Response {
        let models = vec!["tide-7b".to_owned()];
        let base_url = "http://localhost:11434".into();
        Response::Servers(vec![LocalServer { name: "Ollama".into(), api: Api::Ollama, base_url, models }])
    }

    #[test]
    fn ctrl_c_ends_a_sequence_that_has_only_begun() {
        let mut app = app();
        app.focus = Pane::Review;
        press(&mut app, "g");
        assert!(!app.sequence.is_empty());
        press(&mut app, "Ctrl-c");
        assert!(app.sequence.is_empty());
    }

    #[test]
    fn ctrl_c_asks_before_it_discards_a_comment() {
        let mut app = app();
        let (place, hunk) = (CommentTarget::File(0), (String::new(), String::new()));
        let context = CommentContext { place, path: "a".into(), hunk, name: "a".into(), quoted: Vec::new() };
        app.overlays.show(CommentBox::new(context, "", "", app.theme(), [&[], &[]]));
        press(&mut app, "w h y Ctrl-c");
        assert!(app.overlays.is_top::<CommentBox>());
        press(&mut app, "Ctrl-c");
        assert!(app.overlays.is_empty());
    }

    #[test]
    fn shift_tab_goes_through_the_modes_and_leaves_the_focus_and_the_message_alone() {
        let mut app = app();
        press(&mut app, "h i");
        let before = app.session.transcript().len();
        let modes = ["ask", "architect", "context", "agent", "code"].map(|name| {
            press(&mut app, "Shift-Tab");
            assert!(app.hint.text().starts_with(&format!("mode {name}: ")), "{}", app.hint.text());
            app.session.mode().to_string()
        });
        assert_eq!(modes, ["ask", "architect", "context", "agent", "code"]);
        assert_eq!((app.focus, app.composer.text().as_str()), (Pane::Chat, "hi"));
        assert_eq!(app.session.transcript().len(), before, "it is a key, not an event of the conversation");
        press(&mut app, "Ctrl-Up");
        assert_eq!(app.focus, Pane::Review);
        press(&mut app, "Ctrl-Down Tab");
        assert_eq!(app.focus, Pane::Map);
    }

    #[test]
    fn shift_tab_chooses_in_the_completion_while_that_is_open() {
        let mut app = app();
        press(&mut app, "/ m o d Shift-Tab");
        let rows = app.completion.popup().map(|popup| (popup.candidates.len(), popup.selected)).unwrap();
        assert_eq!((rows.0 - 1, app.session.mode()), (rows.1, rhumb_session::context::Mode::Code));
    }

    #[test]
    fn servers_wait_until_the_open_overlay_closes() {
        let mut app = app();
        press(&mut app, "F4");
        app.event(Event::Paste("a reply".into()));
        app.handle_response(found());
        assert!(app.overlays.is_top::<PasteBox>(), "the pasted reply is not lost");
        assert!(app.hint.text().contains("found"), "{}", app.hint.text());
        press(&mut app, "Esc");
        assert!(app.overlays.is_top::<Menu>());
        press(&mut app, "Esc");
        assert!(app.overlays.is_empty() && app.overlays.waiting.is_empty(), "they are offered once");
    }

    #[test]
    fn a_command_with_a_message_is_kept_as_a_draft_until_it_is_gone() {
        let mut app = app();
        app.handle_response(Response::Persisted(PersistenceResponse::Opened(Vec::new())));
        let mut drafted = |keys: &str| {
            press(&mut app, keys);
            match app.session.unsaved_changes() {
                Some(PersistenceEffect::Save(change)) => change.draft,
                _ => None,
            }
        };
        assert_eq!(drafted("/ a s k"), None, "a name alone is not worth it");
        assert_eq!(drafted("Space w h y").as_deref(), Some("/ask why"));
        assert_eq!(drafted("Backspace").as_deref(), Some("/ask wh"));
        assert_eq!(drafted("Ctrl-u").as_deref(), Some(""));
    }

    #[test]
    fn servers_open_at_once_when_nothing_is_open() {
        let mut app = app();
        app.handle_response(found());
        assert!(app.overlays.is_top::<Menu>());
    }
}
