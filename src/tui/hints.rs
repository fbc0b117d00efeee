//! The hint in the status line, and the time since the start of the app.

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
        let before = std::mem::replace(&mut self.attention.seen_entries, transcript.len());
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
