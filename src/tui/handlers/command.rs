//! Slash commands of the app. Commands for the conversation, its files, the network or processes are passed to the
//! session.

use rhumb_session::{Command, Effect, Level, LookupEffect, ParsedLine, is_command};

use crate::tui::action::{ACTIONS, Action};
use crate::tui::app::{App, Editing, Task, run};
use crate::tui::overlay::{PasteBox, VoiceMeter};

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
            Command::Copy => self.copy_answer(),
            other => return run(self.session.command(other)),
        }
        Vec::new()
    }

    fn copy_answer(&mut self) {
        match self.session.last_answer() {
            Some(clip) => self.session.copy(clip),
            None => self.session.report(Level::Warning, "There is no answer to copy yet.", ""),
        }
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
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_session::{Clipboard, ClipboardText, Connection, FetchEffect, FetchResponse, Response, Session};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn press(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    fn clipboard(app: &mut App, text: &str) {
        let found = Clipboard::Text(text.into());
        app.report(Response::Fetched(FetchResponse::Clipboard { name: None, found }));
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
        app.report(Response::Fetched(FetchResponse::RecordingProgress { number: 1, level: Some(0.5), seconds: 0.1 }));
        assert!(app.overlays.is_top::<VoiceMeter>());
        app.composer.set("say");
        let tasks = press(&mut app, "x Enter");
        assert!(matches!(
            tasks.as_slice(),
            [Task::Run(Effect::Fetch(FetchEffect::StopRecording { transcribe: true }))]
        ));
        assert!(app.overlays.is_top::<VoiceMeter>(), "until it is written down");
        app.report(Response::Fetched(FetchResponse::Transcribed { number: 1, result: Ok("it loud".into()) }));
        assert!(app.overlays.is_empty());
        assert_eq!(app.composer.text(), "say it loud");
        for end in ["Esc", "Ctrl-c"] {
            app.command(Command::Voice);
            app.report(Response::Fetched(FetchResponse::RecordingProgress { number: 1, level: None, seconds: 0.1 }));
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
        app.report(Response::Fetched(FetchResponse::NotAnImage("/tmp/shot.png".into())));
        assert_eq!(app.composer.text(), "/tmp/shot.png");
    }
}
