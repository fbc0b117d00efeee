//! Notifications for a user whose terminal does not have the focus, and the title of the window.

use std::io;
use std::io::Write as _;

use crate::config::Notify;
use crate::tui::prelude::*;

impl App {
    /// The notification that the work has just ended, for a user whose terminal does not have the focus.
    pub(crate) fn news(&mut self) -> Option<String> {
        let busy = self.session.is_busy();
        let was_busy = std::mem::replace(&mut self.attention.busy, busy);
        let at_work = self.is_working();
        self.uptime.note_busy(at_work);
        self.attention.unseen &= !busy;
        // A terminal that does not report its focus may be out of sight.
        if !was_busy || busy || self.attention.focused == Some(true) {
            return None;
        }
        self.attention.unseen = true;
        let pending = self.session.review().counts().pending;
        let asks = self.session.questions().first().is_some_and(|question| !question.subject.is_offer());
        Some(match (asks, pending) {
            (true, _) => "rhumb has a question".to_owned(),
            (false, 0) => "rhumb is done".to_owned(),
            (false, 1) => "rhumb: a hunk waits for your decision".to_owned(),
            (false, hunks) => format!("rhumb: {hunks} hunks wait for your decision"),
        })
    }

    /// The title of the window: the state of the work, and the folder.
    pub(crate) fn window_title(&self) -> String {
        let pending = self.session.review().counts().pending;
        let asks = self.session.questions().first().is_some_and(|question| !question.subject.is_offer());
        let state = match (asks, self.session.is_busy(), pending) {
            (true, ..) => "? ".to_owned(),
            (false, true, _) => "… ".to_owned(),
            (false, false, 0) if self.attention.unseen => "✓ ".to_owned(),
            (false, false, 0) => String::new(),
            (false, false, pending) => format!("({pending}) "),
        };
        format!("{state}rhumb · {}", sanitize::visible_line(&self.environment.root))
    }
}

/// Whether the user looks at the terminal, and whether work is under way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attention {
    /// Whether the terminal has the focus. `None` until it has reported that.
    pub(crate) focused: Option<bool>,
    busy: bool,
    pub(crate) unseen: bool,
    /// Number of transcript entries when the chat was last on the screen.
    pub(super) seen_entries: usize,
}

/// Notifies through the terminal. The text contains nothing from a model or a file.
pub(crate) fn by_terminal(notify: Notify, text: &str) {
    let mut out = io::stdout();
    let _ = match notify {
        Notify::None => Ok(()),
        Notify::Bell => write!(out, "\x07"),
        Notify::Osc9 => write!(out, "\x1b]9;{text}\x07"),
        Notify::Osc777 => write!(out, "\x1b]777;notify;rhumb;{text}\x07"),
    };
    let _ = out.flush();
}

#[cfg(test)]
mod tests {
    use super::super::theme::ColorDepth;
    use super::super::theme::Theme;
    use super::*;
    use crossterm::event::Event;
    use rhumb_session::Connection;
    use rhumb_session::Session;

    fn app() -> App {
        let (session, effects) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    #[test]
    fn the_title_tells_what_goes_on_and_what_is_done_until_somebody_looks() {
        let mut app = app();
        assert_eq!(app.window_title(), "rhumb · root");
        app.session.send("go");
        app.event(Event::FocusLost);
        assert_eq!(app.window_title(), "… rhumb · root");
        app.session.cancel();
        app.news();
        assert_eq!(app.window_title(), "✓ rhumb · root");
        app.event(Event::FocusGained);
        assert_eq!(app.window_title(), "rhumb · root");
        app.environment.root = "a\x1b]0;b\x07".into();
        assert!(!app.window_title().contains(char::is_control));
    }

    #[test]
    fn the_end_of_a_turn_is_news_to_those_who_look_elsewhere() {
        for (event, told) in [(None, true), (Some(Event::FocusLost), true), (Some(Event::FocusGained), false)] {
            let mut app = app();
            app.session.send("go");
            event.into_iter().for_each(|event| drop(app.event(event)));
            assert_eq!(app.news(), None, "it is under way");
            app.session.cancel();
            assert_eq!(app.news().is_some(), told);
            assert_eq!(app.news(), None, "told once");
        }
    }
}
