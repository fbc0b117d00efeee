//! The hint in the status line, the time since the start of the app, and notifications for a user whose terminal does not have the
//! focus.

use std::io;
use std::io::Write as _;

use crate::config::Notify;
use crate::tui::prelude::*;

const HINT_TIMEOUT: Duration = Duration::from_secs(8);

/// A hint about the last key. It is shown until the next key or for [`HINT_TIMEOUT`]; a warning that the user may have missed stays until
/// the next key.
#[derive(Debug, Default)]
pub struct Hint {
    text: String,
    /// `None` until the event loop asks for its end.
    since: Option<Duration>,
    stays: bool,
}

impl Hint {
    pub fn set(&mut self, text: impl Into<String>) {
        *self = Self { text: text.into(), since: None, stays: false };
    }

    pub fn set_until_key(&mut self, text: impl Into<String>) {
        *self = Self { text: text.into(), since: None, stays: true };
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// Time since the start of the app, as set by the event loop.
#[derive(Debug, Default)]
pub struct Uptime {
    pub now: Duration,
    busy_since: Option<Duration>,
}

impl Uptime {
    pub(super) fn note_busy(&mut self, busy: bool) {
        self.busy_since = busy.then(|| self.busy_since.unwrap_or(self.now));
    }

    /// The duration of the current work. Zero if no work is running.
    pub(super) fn busy_time(&self) -> Duration {
        self.busy_since.map_or(Duration::ZERO, |since| self.now.saturating_sub(since))
    }
}

impl App {
    /// Shows a hint. No task follows.
    pub(crate) fn say(&mut self, text: impl Into<String>) -> Vec<Task> {
        self.hint.set(text);
        Vec::new()
    }

    /// When the hint ends, as time since the start; `None` if there is no hint or it stays.
    pub(crate) fn hint_ends(&mut self) -> Option<Duration> {
        // A key sequence that has begun waits for its next key.
        if self.hint.is_empty() || self.hint.stays || !self.sequence.is_empty() {
            return None;
        }
        Some(*self.hint.since.get_or_insert(self.uptime.now) + HINT_TIMEOUT)
    }

    /// Removes the hint if its time is over. Returns whether it was removed.
    pub(crate) fn expire_hint(&mut self) -> bool {
        let is_old = self.hint_ends().is_some_and(|end| self.uptime.now >= end);
        if is_old {
            self.hint.clear();
            // The hint said that a second Ctrl-C leaves.
            self.sequence.interrupted = false;
        }
        is_old
    }

    /// Shows a new warning of the chat in the status line while the chat is not on the screen.
    pub(crate) fn hint_unseen_warning(&mut self) {
        let transcript = self.session.transcript();
        let before = std::mem::replace(&mut self.attention.told, transcript.len());
        let new = transcript.get(before..).unwrap_or_default();
        let panes = &self.layout.places.panes;
        // Many new entries at once come from a loaded session and are old.
        if new.len() > 3
            || panes.is_empty()
            || panes.iter().any(|(pane, _)| *pane == Pane::Chat)
            || !self.hint.is_empty()
        {
            return;
        }
        let warns = |entry: &Entry| match entry {
            Entry::Status(notice) if notice.level != Level::Info => Some(notice.text.clone()),
            _ => None,
        };
        if let Some(text) = new.iter().rev().find_map(warns) {
            let text = sanitize::visible_line(&text).into_owned();
            self.hint.set_until_key(text);
        }
    }

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
    told: usize,
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
    use crossterm::event::Event;
    use crossterm::event::KeyCode;
    use crossterm::event::KeyEvent;
    use crossterm::event::KeyModifiers;

    use super::super::theme::ColorDepth;
    use super::super::theme::Theme;
    use super::*;
    use rhumb_session::Connection;
    use rhumb_session::Session;

    fn app() -> App {
        let (session, effects) = Session::start(Connection::Demo);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    #[test]
    fn a_hint_goes_when_it_is_old_and_a_new_one_counts_from_its_own_time() {
        let mut app = app();
        assert_eq!(app.hint_ends(), None);
        app.hint.set("copied 1 line");
        assert_eq!(app.hint_ends(), Some(HINT_TIMEOUT));
        app.uptime.now = Duration::from_secs(5);
        assert!(!app.expire_hint());
        app.hint.set("copied 2 lines");
        assert_eq!(app.hint_ends(), Some(Duration::from_secs(5) + HINT_TIMEOUT));
        app.uptime.now = Duration::from_secs(5) + HINT_TIMEOUT;
        assert!(app.expire_hint() && app.hint.is_empty() && app.hint_ends().is_none());
    }

    #[test]
    fn what_went_wrong_unseen_stays_until_a_key() {
        let mut app = app();
        app.hint.set_until_key("Nothing was written.");
        app.uptime.now = HINT_TIMEOUT * 9;
        assert!(!app.expire_hint());
        app.event(Event::Key(KeyEvent::from(KeyCode::Char('a'))));
        assert!(app.hint.is_empty());
    }

    #[test]
    fn ctrl_c_leaves_only_while_the_footer_says_so() {
        let mut app = app();
        let interrupt = Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
        app.event(interrupt.clone());
        assert!(app.hint.text().contains("again leaves"), "{}", app.hint.text());
        app.uptime.now = HINT_TIMEOUT * 2;
        assert!(app.hint_ends().is_some());
        app.uptime.now += HINT_TIMEOUT;
        assert!(app.expire_hint());
        let tasks = app.event(interrupt);
        assert!(!tasks.iter().any(|task| matches!(task, crate::tui::app::Task::Quit)), "it is said once more first");
    }
}

#[cfg(test)]
mod attention_tests {
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
