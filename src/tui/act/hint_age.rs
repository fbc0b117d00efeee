//! How long a hint of the status line is shown: until the next key, or until it is old. What went wrong where nobody saw it stays until
//! a key is pressed.

use std::time::Duration;

use crate::tui::app::App;

/// How long a hint is shown.
const HINT_TIMEOUT: Duration = Duration::from_secs(8);

/// Since when a hint is shown.
#[derive(Debug, Default)]
pub struct HintAge {
    hint: String,
    since: Duration,
    /// Whether it stays until the next key.
    stays: bool,
}

impl App {
    /// Shows a hint that stays until the next key.
    pub(crate) fn show_until_key(&mut self, hint: String) {
        self.hint = hint;
        self.hint_age = HintAge { hint: self.hint.clone(), since: self.desk.now, stays: true };
    }

    /// When the hint is to go, on the clock of the event loop; `None` where none is, or it stays.
    pub(crate) fn hint_ends(&mut self) -> Option<Duration> {
        if self.hint_age.hint != self.hint {
            self.hint_age = HintAge { hint: self.hint.clone(), since: self.desk.now, stays: false };
        }
        // A sequence that has begun waits for its next key.
        let stays = self.hint.is_empty() || self.hint_age.stays || !self.pending_keys.is_empty();
        (!stays).then(|| self.hint_age.since + HINT_TIMEOUT)
    }

    /// Takes away a hint that is old; whether there was one.
    pub(crate) fn expire_hint(&mut self) -> bool {
        let is_old = self.hint_ends().is_some_and(|end| self.desk.now >= end);
        if is_old {
            self.hint.clear();
            // "again leaves" is not said any more.
            self.interrupted_once = false;
        }
        is_old
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    use super::*;
    use crate::session::{Connection, Session};
    use crate::tui::theme::{ColorDepth, Theme};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::Demo);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    #[test]
    fn a_hint_goes_when_it_is_old_and_a_new_one_counts_from_its_own_time() {
        let mut app = app();
        assert_eq!(app.hint_ends(), None);
        app.hint = "copied 1 line".into();
        assert_eq!(app.hint_ends(), Some(HINT_TIMEOUT));
        app.desk.now = Duration::from_secs(5);
        assert!(!app.expire_hint());
        app.hint = "copied 2 lines".into();
        assert_eq!(app.hint_ends(), Some(Duration::from_secs(5) + HINT_TIMEOUT));
        app.desk.now = Duration::from_secs(5) + HINT_TIMEOUT;
        assert!(app.expire_hint() && app.hint.is_empty() && app.hint_ends().is_none());
    }

    #[test]
    fn what_went_wrong_unseen_stays_until_a_key() {
        let mut app = app();
        app.show_until_key("Nothing was written.".into());
        app.desk.now = HINT_TIMEOUT * 9;
        assert!(!app.expire_hint());
        app.event(Event::Key(KeyEvent::from(KeyCode::Char('a'))));
        assert!(app.hint.is_empty());
    }

    #[test]
    fn ctrl_c_leaves_only_while_the_footer_says_so() {
        let mut app = app();
        let interrupt = Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
        app.event(interrupt.clone());
        assert!(app.hint.contains("again leaves"), "{}", app.hint);
        app.desk.now = HINT_TIMEOUT * 2;
        assert!(app.hint_ends().is_some());
        app.desk.now += HINT_TIMEOUT;
        assert!(app.expire_hint());
        let tasks = app.event(interrupt);
        assert!(!tasks.iter().any(|task| matches!(task, crate::tui::app::Task::Quit)), "it is said once more first");
    }
}
