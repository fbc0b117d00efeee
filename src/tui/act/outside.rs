//! What comes from outside into the app: a text or a picture of the clipboard, what was spoken, a page on its way.

use crate::session::{Command, Effect};
use crate::tui::app::{App, Task, run};
use crate::tui::overlay::Overlay;

impl App {
    /// `/paste` and its key: a place for a reply at once, filled with the clipboard as soon as that is read; with a name, a
    /// picture of the clipboard.
    pub(super) fn paste_command(&mut self, name: Option<String>) -> Vec<Task> {
        if name.is_none() {
            if self.session.turn.is_some() {
                self.hint = "the model is still answering; Esc cancels the turn".into();
                return Vec::new();
            }
            self.overlay = Some(Overlay::reply());
        }
        run(self.session.command(Command::Paste(name)))
    }

    /// Takes what the session has for the face.
    pub(crate) fn take_outside(&mut self) -> Vec<Task> {
        let outside = &mut self.session.outside;
        let (inserts, spoken) = (std::mem::take(&mut outside.inserts), outside.spoken.take());
        let (text, picture) = (outside.pasted.take(), std::mem::take(&mut outside.pasted_picture));
        if let Some(Overlay::Paste(place)) = &mut self.overlay {
            // What was copied here is no reply.
            if let Some(text) = text.filter(|text| self.own_clip.as_ref() != Some(text)) {
                place.fill(&text);
            }
            if picture && place.is_untouched() {
                self.overlay = None;
            }
        }
        self.show_voice();
        if inserts.is_empty() && spoken.is_none() {
            return Vec::new();
        }
        self.typed(|app| {
            inserts.iter().for_each(|text| app.composer.paste(text));
            spoken.iter().for_each(|words| app.composer.insert_words(words));
        })
    }

    /// Opens the meter of a recording, brings it up to date, or closes it.
    fn show_voice(&mut self) {
        match (&self.session.outside.recording, &self.overlay) {
            (Some(recording), None | Some(Overlay::Voice(_))) => self.overlay = Some(Overlay::voice(recording)),
            (None, Some(Overlay::Voice(_))) => self.overlay = None,
            _ => {}
        }
    }

    /// Stops what is on its way from outside; `None` if there is nothing.
    pub(crate) fn stop_outside(&mut self) -> Option<Vec<Effect>> {
        if self.session.outside.recording.is_some() {
            return Some(self.session.end_recording(false));
        }
        self.session.stop_page()
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::session::{Clip, Clipboard, Connection, FetchOrder, FetchReport, Report, Session};
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn press(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    fn clipboard(app: &mut App, text: &str) {
        let found = Clipboard::Text(text.into());
        app.report(Report::Fetched(FetchReport::Clipboard { name: None, found }));
    }

    fn pasted(app: &mut App) -> String {
        press(app, "Ctrl-d");
        let mut answers = app.session.transcript.iter().rev().filter_map(|entry| match entry {
            crate::session::Entry::Answer(answer) => Some(answer.text.clone()),
            _ => None,
        });
        answers.next().unwrap_or_default()
    }

    #[test]
    fn the_place_for_a_reply_is_filled_with_the_clipboard() {
        let mut app = app();
        let tasks = press(&mut app, "F4");
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchOrder::Clipboard { name: None }))]));
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
        app.copied(true, &Clip { what: "The prompt".into(), text: "prompt".into(), hint: String::new() });
        press(&mut app, "F4");
        clipboard(&mut app, "prompt");
        app.event(Event::Paste("reply".into()));
        assert_eq!(pasted(&mut app), "reply");
    }

    #[test]
    fn speaking_has_a_meter_and_ends_with_enter_or_esc() {
        let mut app = app();
        let tasks = app.command(Command::Voice);
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchOrder::Record { number: 1 }))]));
        app.report(Report::Fetched(FetchReport::Heard { number: 1, level: Some(0.5), seconds: 0.1 }));
        assert!(matches!(app.overlay, Some(Overlay::Voice(_))));
        app.composer.set("say");
        let tasks = press(&mut app, "x Enter");
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchOrder::EndRecording { keep: true }))]));
        assert!(matches!(app.overlay, Some(Overlay::Voice(_))), "until it is written down");
        app.report(Report::Fetched(FetchReport::Spoken { number: 1, result: Ok("it loud".into()) }));
        assert!(app.overlay.is_none());
        assert_eq!(app.composer.text(), "say it loud");
        for end in ["Esc", "Ctrl-c"] {
            app.command(Command::Voice);
            app.report(Report::Fetched(FetchReport::Heard { number: 1, level: None, seconds: 0.1 }));
            let tasks = press(&mut app, end);
            assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchOrder::EndRecording { keep: false }))]));
            assert!(app.overlay.is_none(), "{end}");
        }
    }

    #[test]
    fn esc_stops_a_page_that_is_on_its_way() {
        let mut app = app();
        app.command(Command::Web("https://example.com".into()));
        let tasks = press(&mut app, "Esc");
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchOrder::StopPage))]));
        assert!(app.session.outside.page.is_none());
    }

    #[test]
    fn the_path_of_a_picture_is_looked_up_and_other_text_is_typed() {
        let mut app = app();
        let tasks = app.event(Event::Paste("/tmp/shot.png".into()));
        assert!(matches!(tasks.as_slice(), [Task::Run(Effect::Fetch(FetchOrder::Picture { pasted: true, .. }))]));
        assert!(app.composer.is_empty());
        app.report(Report::Fetched(FetchReport::NoPicture("/tmp/shot.png".into())));
        assert_eq!(app.composer.text(), "/tmp/shot.png");
    }
}
