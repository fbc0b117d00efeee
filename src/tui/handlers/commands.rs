//! Slash commands, which are passed to the session unless they are about the app, and the palette, which lists every action
//! and command with description, keys, and the reason when it is unavailable. A slash and the name of an action runs it, too.

use rhumb_session::{
    Argument, COMMANDS, CommandInfo, Completer, CompletionItem, LookupEffect, ParsedLine, SurveyState,
    completion_target, is_command, origin,
};

use crate::tui::overlay::{LineBox, LineFor, Menu, MenuRow, PasteBox, VoiceMeter};
use crate::tui::prelude::*;

/// Whether a text is a command with arguments, which the user may not want to lose.
pub(crate) fn is_long_command(text: &str) -> bool {
    is_command(text) && text.trim().contains(char::is_whitespace)
}

impl App {
    pub(crate) fn command(&mut self, command: Command) -> Vec<Task> {
        match command {
            Command::Help => self.open_help(true),
            Command::Keys => self.open_help(false),
            Command::Map => self.view_map(),
            Command::Search(words) => self.open_code_search(&words),
            Command::Theme(name) => return self.ask_for_theme(name.as_deref()),
            Command::Doctor => {
                self.hint.set("looking …");
                return run(vec![Effect::Lookup(LookupEffect::Doctor { terminal: self.terminal_facts() })]);
            }
            Command::Report(title) => return run(self.session.request_fault_report(title, self.terminal_facts())),
            Command::Quit => return self.leave(),
            Command::Paste(name) => return self.paste_command(name),
            Command::Editor(text) => {
                // The text stays if the editor fails.
                let mut tasks = self.typed(|app| app.composer.set(&text));
                tasks.push(Task::Edit(Editing::Message(text)));
                return tasks;
            }
            Command::MapRefresh(_) => {
                let effects = self.session.command(command);
                self.hint.set(format!("the map is recomputed (from now on: {})", self.session.map().refresh.as_str()));
                return run(effects);
            }
            Command::Copy => match self.session.last_answer() {
                Some(clip) => self.session.copy(clip),
                None => self.session.report(Level::Warning, "There is no answer to copy yet.", ""),
            },
            other => return run(self.session.command(other)),
        }
        Vec::new()
    }

    /// Runs a command line. It stays in the composer if it cannot be parsed.
    pub(crate) fn run_line(&mut self, line: &str) -> Vec<Task> {
        // A command from a file takes precedence over an action with its name.
        let is_free = |name: &&str| self.session.lookups().commands.named(name).is_none();
        let actions: Vec<&'static str> = ACTIONS.iter().map(|info| info.name).filter(is_free).collect();
        match self.session.parse_line(line, &actions) {
            Ok(ParsedLine::FrontEnd(name, _)) => {
                self.composer.clear();
                let action = ACTIONS.iter().find(|info| info.name == name);
                action.map_or_else(Vec::new, |info| self.run_action(info))
            }
            Ok(ParsedLine::Command(command)) => {
                self.composer.clear();
                self.run_user_command(command)
            }
            Ok(ParsedLine::Compose(message)) => self.typed(|app| app.composer.open(&message)),
            Ok(ParsedLine::SwitchModel { model, message }) => {
                // Connecting may take a while, so the message stays in the composer.
                let mut tasks = run(self.session.use_model(model));
                tasks.extend(self.typed(|app| app.composer.set(&message)));
                let send = self.keys.first(Action::Send);
                self.hint.set(format!("the command names another model; {send} sends once it is connected"));
                tasks
            }
            Ok(ParsedLine::Send(message)) => {
                self.composer.clear();
                let (sent, effects) = self.session.send(&message);
                if !sent {
                    // The text returns to the composer, so that it can be sent again after the problem is fixed.
                    self.composer.set(&message);
                }
                run(effects)
            }
            Err(error) => {
                self.session.report(Level::Error, error.to_string(), error.hint());
                Vec::new()
            }
        }
    }

    /// Runs a command line that was not typed in the composer. The draft there stays.
    pub(crate) fn run_line_keeping_draft(&mut self, line: &str) -> Vec<Task> {
        let draft = self.composer.text();
        let mut tasks = self.run_line(line);
        if self.composer.is_empty() && !draft.trim().is_empty() {
            tasks.extend(self.typed(|app| app.composer.set(&draft)));
        }
        tasks
    }

    /// `/paste` and its key: opens an input for a reply, which is filled with the clipboard as soon as that is read.
    /// With a name, pastes an image from the clipboard.
    pub(super) fn paste_command(&mut self, name: Option<String>) -> Vec<Task> {
        if name.is_none() {
            if self.session.turn().is_some() {
                return self.say("the model is still answering; Esc cancels the turn");
            }
            self.overlays.show(PasteBox::default());
        }
        run(self.session.command(Command::Paste(name)))
    }

    /// Opens, updates or closes the meter of a recording.
    pub(crate) fn show_voice(&mut self) {
        let is_open = self.overlays.is_top::<VoiceMeter>();
        match &self.session.attachments().recording {
            Some(recording) if is_open || self.overlays.is_empty() => self.overlays.show(VoiceMeter::new(recording)),
            None if is_open => self.overlays.close(),
            _ => {}
        }
    }

    /// Cancels a download or recording. `None` if neither is running.
    pub(crate) fn stop_outside(&mut self) -> Option<Vec<Effect>> {
        if self.session.attachments().recording.is_some() {
            return Some(self.session.stop_recording(false));
        }
        self.session.stop_page()
    }

    pub(crate) fn open_palette(&mut self) {
        let mut rows = Vec::new();
        let is_narrow = (1..MIN_NAME_COLUMN_WIDTH).contains(&self.layout.screen.0);
        let row = |name: &str, usage: &str, help: &str, detail: String, enabled: bool| {
            let shown = format!("{name} {usage}");
            let (shown, help) = (shown.trim(), help.trim());
            let (label, detail) = match is_narrow {
                true => (format!("{name} · {help}"), String::new()),
                false => (format!("{shown:<NAME_COLUMNS$} {help}"), detail),
            };
            MenuRow { command: name.to_owned(), label, detail, enabled }
        };
        for info in COMMANDS {
            rows.push(row(&format!("/{}", info.name), info.arguments, info.help, String::new(), true));
        }
        for own in self.session.lookups().commands.usable() {
            let detail = origin(own.source).to_owned();
            rows.push(row(&format!("/{}", own.name), &own.arguments, &own.description, detail, true));
        }
        let others = ACTIONS.iter().filter(|info| info.action != Action::Palette);
        let mut actions: Vec<(&ActionInfo, Option<&str>)> = others.map(|info| (info, self.why_not(info))).collect();
        actions.sort_by_key(|(info, why)| (why.is_some(), info.scope != Scope::Pane(self.focus)));
        for (info, why) in actions {
            let keys = self.keys.of(info.action).join("  ");
            let detail = why.map_or_else(|| keys.clone(), |why| format!("{why}  {keys}"));
            rows.push(row(info.name, "", info.help, detail, why.is_none()));
        }
        let recent = self.recently_run();
        let place = |name: &str| recent.iter().position(|known| known == name).unwrap_or(usize::MAX);
        // Unavailable entries are not listed first.
        rows.sort_by_key(|row| if row.enabled { place(&row.command) } else { usize::MAX });
        self.overlays.show(Menu::commands("what to do", rows));
    }

    fn recently_run(&self) -> Vec<String> {
        let typed = self.session.persistence().inputs.iter().rev().filter(|text| text.starts_with('/'));
        let typed = typed.filter_map(|text| text.split_whitespace().next()).map(str::to_owned);
        let mut names: Vec<String> = Vec::new();
        for name in self.composer.history.recent.iter().rev().cloned().chain(typed) {
            if names.len() == MAX_RECENT {
                break;
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Asks for the argument of a command, above the palette, if it is a word or a line. Returns whether it asks. Messages and
    /// files are typed in the composer, which completes them.
    pub(crate) fn ask_arguments(&mut self, name: &str) -> bool {
        let Some(info) = name.strip_prefix('/').and_then(|name| COMMANDS.iter().find(|info| info.name == name)) else {
            return false;
        };
        match info.takes {
            Argument::Effort | Argument::EditFormat | Argument::Refresh | Argument::Turn => {
                let words = completion_target(&format!("{name} "))
                    .map(|target| Completer::default().completions(&target, &self.session, &[]));
                let row = |word: CompletionItem| MenuRow {
                    command: format!("{name} {}", word.insert.trim()),
                    label: format!("{:<NAME_COLUMNS$} {}", word.label, word.help),
                    detail: String::new(),
                    enabled: true,
                };
                let rows: Vec<_> = words.into_iter().flatten().map(row).collect();
                if rows.is_empty() {
                    return false;
                }
                self.overlays.push(Menu::commands(name, rows));
            }
            Argument::Tokens | Argument::Text | Argument::Url
                if !opens_a_list(info) && !["watch", "paste", "editor"].contains(&info.name) =>
            {
                let usage = format!("{name} {}", info.arguments);
                let text = [format!("{}.", info.help), format!("For example: {}", info.example)];
                let line = LineBox::new(&usage, text, "", LineFor::Arguments(name.to_owned()));
                let line = if info.arguments.starts_with('[') { line.may_be_blank() } else { line };
                self.overlays.push(line);
            }
            _ => return false,
        }
        true
    }

    /// The reason why an action is unavailable. `None` if it is available.
    pub(crate) fn why_not(&self, info: &ActionInfo) -> Option<&'static str> {
        let session = &self.session;
        if let Some(why) = self.review_why_not(info.action) {
            return Some(why);
        }
        match info.action {
            Action::Send if self.composer.is_empty() => Some("there is no message"),
            Action::SendQueued | Action::TakeBackQueued if session.queue().waiting().is_empty() => {
                Some("no message is waiting")
            }
            Action::PickSymbol if session.symbols().is_none() => Some("the repository is still being read"),
            Action::OpenPaste if !self.composer.has_chips() => Some("the message has no folded paste"),
            Action::ToggleThoughts if !session.transcript().iter().any(has_details) => Some("no answer has reasoning"),
            Action::TakeOver if session.is_agent_running() => Some("the agent is at work already"),
            Action::TakeOver if session.turn().is_none() && !session.transcript().iter().any(is_answered) => {
                Some("there is no turn to go on with")
            }
            Action::CopyPrompt | Action::ViewPrompt if session.view().is_none() => Some("nothing is measured yet"),
            Action::FindServers if *session.connection() == Connection::Demo => Some("this is the demo"),
            Action::DropPassages if session.codebase().locations.is_empty() => Some("no passages are sent"),
            Action::NextMatch | Action::PreviousMatch if self.chat.reading.search.is_none() => {
                Some("no search is active")
            }
            Action::NextLink | Action::PreviousLink if !self.chat.citing.any() => {
                Some("no answer names a place in the code")
            }
            Action::ReadTranscript | Action::SearchTranscript if session.transcript().is_empty() => {
                Some("there are no messages yet")
            }
            Action::StopReading if !matches!(session.survey(), SurveyState::Reading(..)) => {
                Some("nothing is being read")
            }
            Action::StopReading if session.is_stopping() => Some("it is already stopping"),
            Action::ReadOn if matches!(session.survey(), SurveyState::Reading(..)) => Some("it is still being read"),
            Action::ReadOn if !matches!(session.survey(), SurveyState::Partial(..)) => Some("no file was left out"),
            Action::BuildIndex if session.index().is_building() => Some("the index is already being built"),
            Action::PauseIndex | Action::CancelIndex if !session.index().is_building() => {
                Some("no index is being built")
            }
            Action::Zoom | Action::ZoomHere if self.is_alone() => Some("the pane already has the whole screen"),
            Action::GrowPane | Action::ShrinkPane if self.layout.places.borders.is_empty() => {
                Some("there is no border")
            }
            Action::ResetBorders if self.layout.borders.is_empty() => Some("no border has been moved"),
            _ => match info.scope {
                Scope::Pane(Pane::Review) if !self.reviewing() => self.review_why_not(Action::Accept),
                Scope::Pane(Pane::Map) => self.why_not_map(info.action),
                Scope::Reading if session.transcript().is_empty() => Some("there are no messages yet"),
                Scope::Lists if self.focus == Pane::Chat && !self.chat.reading.on => {
                    Some("works in map, context and review only")
                }
                Scope::Pane(Pane::Context) => self.why_not_context(info.action),
                _ => None,
            },
        }
    }

    /// Runs an entry chosen in the palette: an action by its name, a command by its name with a slash. A command that needs an
    /// argument is put into the composer.
    pub(crate) fn run_chosen(&mut self, name: &str) -> Vec<Task> {
        let Some(command) = name.strip_prefix('/') else {
            let action = ACTIONS.iter().find(|info| info.name == name);
            return action.map_or_else(Vec::new, |info| self.run_action(info));
        };
        let takes = COMMANDS
            .iter()
            .find(|info| info.name == command)
            .map(|info| if opens_a_list(info) { "" } else { info.arguments });
        let own = self.session.lookups().commands.named(command).map(|own| own.arguments.as_str());
        if takes.or(own).is_some_and(|arguments| !arguments.is_empty()) {
            self.focus = Pane::Chat;
            let text = format!("{name} ");
            self.keep_draft();
            return self.typed(|app| app.composer.set(&text));
        }
        self.run_line_keeping_draft(name)
    }

    /// Runs an action in its pane.
    pub(crate) fn run_action(&mut self, info: &ActionInfo) -> Vec<Task> {
        if let Some(why) = self.why_not(info) {
            return self.say(format!("{}: {why}", info.name));
        }
        if let Scope::Pane(pane) = info.scope {
            self.focus = pane;
        }
        if info.scope == Scope::Reading {
            self.start_reading();
        }
        self.act(info.action)
    }
}

/// Columns of the names; the description of each row follows.
const NAME_COLUMNS: usize = 24;

/// On a screen with fewer columns the rows have neither names nor keys, but only descriptions.
const MIN_NAME_COLUMN_WIDTH: u16 = 50;

/// Most recently run entries that are listed first.
const MAX_RECENT: usize = 8;

fn opens_a_list(info: &CommandInfo) -> bool {
    let is_list = matches!(info.takes, Argument::Model | Argument::Theme);
    is_list || ["sessions", "models", "settings"].contains(&info.name)
}

fn has_details(entry: &Entry) -> bool {
    match entry {
        Entry::Answer(answer) => !answer.reasoning.is_empty(),
        entry => matches!(entry, Entry::Tool(_)),
    }
}

fn is_answered(entry: &Entry) -> bool {
    matches!(entry, Entry::User { answered: true, .. })
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::theme::ColorDepth;
    use crate::tui::theme::Theme;
    use rhumb_session::Clipboard;
    use rhumb_session::ClipboardText;
    use rhumb_session::Connection;
    use rhumb_session::FetchEffect;
    use rhumb_session::FetchResponse;
    use rhumb_session::Response;
    use rhumb_session::Session;

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn press(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    fn clipboard(app: &mut App, text: &str) {
        let found = Clipboard::Text(text.into());
        app.handle_response(Response::Fetched(FetchResponse::Clipboard { name: None, found }));
    }

    fn pasted(app: &mut App) -> String {
        press(app, "Ctrl-d");
        let mut answers = app.session.transcript().iter().rev().filter_map(|entry| match entry {
            rhumb_session::Entry::Answer(answer) => Some(answer.text.clone()),
            _ => None,
        });
        answers.next().unwrap_or_default()
    }

    #[test]
    fn the_place_for_a_reply_is_filled_with_the_clipboard() {
        let mut app = app();
        let tasks = press(&mut app, "F4");
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchEffect::Clipboard { name: None }))]));
        clipboard(&mut app, "a reply");
        assert_eq!(pasted(&mut app), "a reply");
    }

    #[test]
    fn what_is_pasted_takes_the_place_of_what_was_filled_in_and_never_the_other_way_round() {
        let mut app = app();
        press(&mut app, "F4");
        clipboard(&mut app, "of the clipboard");
        app.event(Event::Paste("pasted".into()));
        assert_eq!(pasted(&mut app), "pasted");
        press(&mut app, "F4");
        app.event(Event::Paste("pasted first".into()));
        clipboard(&mut app, "of the clipboard");
        assert_eq!(pasted(&mut app), "pasted first");
    }

    #[test]
    fn the_prompt_that_was_copied_here_is_no_reply() {
        let mut app = app();
        app.copied(true, &ClipboardText { what: "The prompt".into(), text: "prompt".into(), hint: String::new() });
        press(&mut app, "F4");
        clipboard(&mut app, "prompt");
        app.event(Event::Paste("reply".into()));
        assert_eq!(pasted(&mut app), "reply");
    }

    #[test]
    fn speaking_has_a_meter_and_ends_with_enter_or_esc() {
        let mut app = app();
        let tasks = app.command(Command::Voice);
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchEffect::StartRecording { number: 1 }))]));
        app.handle_response(Response::Fetched(FetchResponse::RecordingProgress {
            number: 1,
            level: Some(0.5),
            seconds: 0.1,
        }));
        assert!(app.overlays.is_top::<VoiceMeter>());
        app.composer.set("say");
        let tasks = press(&mut app, "x Enter");
        assert!(matches!(
            tasks.as_slice(),
            [Task::Run(Effect::Fetch(FetchEffect::StopRecording { transcribe: true }))]
        ));
        assert!(app.overlays.is_top::<VoiceMeter>(), "until it is written down");
        app.handle_response(Response::Fetched(FetchResponse::Transcribed { number: 1, result: Ok("it loud".into()) }));
        assert!(app.overlays.is_empty());
        assert_eq!(app.composer.text(), "say it loud");
        for end in ["Esc", "Ctrl-c"] {
            app.command(Command::Voice);
            app.handle_response(Response::Fetched(FetchResponse::RecordingProgress {
                number: 1,
                level: None,
                seconds: 0.1,
            }));
            let tasks = press(&mut app, end);
            assert!(matches!(
                tasks.as_slice(),
                [Task::Run(Effect::Fetch(FetchEffect::StopRecording { transcribe: false }))]
            ));
            assert!(app.overlays.is_empty(), "{end}");
        }
    }

    #[test]
    fn esc_stops_a_page_that_is_on_its_way() {
        let mut app = app();
        app.command(Command::Web("https://example.com".into()));
        let tasks = press(&mut app, "Esc");
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchEffect::StopPage))]));
        assert!(app.session.attachments().page.is_none());
    }

    #[test]
    fn the_path_of_a_picture_is_looked_up_and_other_text_is_typed() {
        let mut app = app();
        let tasks = app.event(Event::Paste("/tmp/shot.png".into()));
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchEffect::Image { pasted: true, .. }))]));
        assert!(app.composer.is_empty());
        app.handle_response(Response::Fetched(FetchResponse::NotAnImage("/tmp/shot.png".into())));
        assert_eq!(app.composer.text(), "/tmp/shot.png");
    }
}

#[cfg(test)]
mod palette_tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::theme::ColorDepth;
    use crate::tui::theme::Theme;
    use rhumb_session::Connection;
    use rhumb_session::Session;

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn typed(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    #[test]
    fn every_action_and_command_is_in_the_palette() {
        let mut app = app();
        typed(&mut app, "Alt-x");
        let menu = app.overlays.top_as::<Menu>().expect("the palette");
        assert_eq!(menu.picker.match_count(), ACTIONS.len() - 1 + COMMANDS.len());
    }

    #[test]
    fn a_command_that_needs_something_goes_to_the_composer_and_others_run() {
        let mut app = app();
        app.run_chosen("/add");
        assert_eq!(app.composer.text(), "/add ");
        assert_eq!(app.run_chosen("/quit"), [Task::Quit]);
        app.run_chosen("focus-map");
        assert_eq!(app.focus, Pane::Map);
    }

    #[test]
    fn what_was_run_lately_stands_first_and_what_cannot_be_done_never_does() {
        let mut app = app();
        ["accept", "focus-map"].iter().for_each(|name| app.composer.history.note_run(name));
        app.session.remember_input("/cost");
        app.session.remember_input("/tokens now");
        typed(&mut app, "Alt-x");
        let menu = app.overlays.top_as::<Menu>().expect("the palette");
        let first: Vec<String> = menu.picker.listed().take(3).collect();
        let names: Vec<&str> = first.iter().filter_map(|item| item.split(' ').next()).collect();
        assert_eq!(names, ["focus-map", "/tokens", "/cost"]);
    }

    #[test]
    fn what_a_command_takes_is_asked_for_over_the_palette_which_comes_back() {
        let mut app = app();
        typed(&mut app, "Alt-x m a p - t o k e n s Enter");
        assert!(app.overlays.is_top::<LineBox>());
        typed(&mut app, "Esc");
        assert!(app.overlays.is_top::<Menu>());
        typed(&mut app, "Enter 2 0 4 8 Enter");
        assert_eq!((app.session.map().tokens, app.overlays.is_empty()), (Some(2_048), true));
        typed(&mut app, "Alt-x e d i t - f o r m a t Enter w h o l e Enter");
        assert!(app.overlays.is_empty() && app.session.overrides().settings()[0].1 == "\"whole\"");
    }

    #[test]
    fn a_command_that_asks_for_its_argument_leaves_the_draft() {
        let mut app = app();
        app.composer.set("a draft");
        typed(&mut app, "Alt-x m a p - t o k e n s Enter 2 0 4 8 Enter");
        assert_eq!((app.session.map().tokens, app.composer.text().as_str()), (Some(2_048), "a draft"));
    }

    #[test]
    fn of_two_of_one_name_the_one_that_can_be_done_comes_first() {
        let mut app = app();
        typed(&mut app, "Alt-x u n d o");
        let menu = app.overlays.top_as::<Menu>().expect("the palette");
        let first = menu.picker.listed().next().unwrap();
        assert!(first.starts_with("/undo "), "{first}, while nothing is under review");
    }

    #[test]
    fn what_cannot_be_done_says_why_and_is_not_done() {
        let mut app = app();
        app.run_chosen("accept-all");
        assert_eq!((app.hint.text(), app.focus), ("accept-all: nothing is under review", Pane::Chat));
        typed(&mut app, "Alt-x a c c e p t - a l l Enter");
        assert!(!app.overlays.is_empty(), "it stays open");
    }
}
