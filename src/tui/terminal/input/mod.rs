//! Input from the terminal: keys, the mouse, pastes, and whether the background is light, which the program queries (OSC 11)
//! and the terminal reports on a change of its colours (mode 2031).
//!
//! The program does not block on the answer, and a late or missing answer is harmless. Terminals without the mode are
//! queried again when they get the focus.

#[cfg(not(unix))]
mod console;
#[cfg(unix)]
mod unix;

use std::io::Write as _;

use crossterm::event::Event;
use tokio::time::{Instant, timeout_at};

use crate::tui::prelude::*;

#[cfg(not(unix))]
pub(crate) use self::console::Input;
#[cfg(unix)]
pub(crate) use self::unix::Input;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TerminalInput {
    Event(Event),
    /// The background is light or dark. `None` for an answer that cannot be parsed.
    Background(Option<bool>),
    /// The terminal has switched to light or dark colours.
    Scheme(bool),
}

/// The query. All terminals accept BEL as its end, and it is a single byte, which cannot be split.
const BACKGROUND_QUERY: &[u8] = b"\x1b]11;?\x07";

/// How long the program waits for an outstanding answer before it exits: the shell would read it as typed text.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(150);

/// The time of the query. `None` once it was answered.
#[derive(Debug, Default)]
pub(crate) struct BackgroundQuery(Option<Instant>);

/// Whether a terminal can be queried. Some print the query, or have no colours.
pub(crate) fn can_be_asked(env: impl Fn(&str) -> Option<String>) -> bool {
    let term = env("TERM").unwrap_or_default();
    let odd = ["linux", "dumb", "eterm", "emacs", "vt"].iter().any(|name| term.starts_with(name));
    cfg!(unix) && !term.is_empty() && !odd && env("STY").is_none()
}

impl BackgroundQuery {
    /// Queries the terminal, unless an answer is outstanding.
    pub(crate) fn ask(&mut self) {
        if self.0.is_some() {
            return;
        }
        let mut out = std::io::stdout();
        if out.write_all(BACKGROUND_QUERY).and_then(|()| out.flush()).is_ok() {
            self.0 = Some(Instant::now());
        }
    }

    pub(crate) fn answered(&mut self) {
        self.0 = None;
    }

    /// Waits for an outstanding answer before another program gets the terminal. Returns the input that arrived
    /// meanwhile.
    pub(crate) async fn settle(&mut self, input: &mut Input) -> Vec<TerminalInput> {
        let mut all = Vec::new();
        let Some(limit) = self.0.map(|asked| asked + ANSWER_TIMEOUT) else { return all };
        while self.0.is_some()
            && let Ok(Ok(terminal_input)) = timeout_at(limit, input.next()).await
        {
            if matches!(terminal_input, TerminalInput::Background(_)) {
                self.answered();
            }
            all.push(terminal_input);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_that_would_show_the_question_are_not_asked() {
        let can = |term: &str, sty: bool| {
            can_be_asked(|name| match name {
                "TERM" => Some(term.to_owned()),
                "STY" => sty.then(|| "1.pts".to_owned()),
                _ => None,
            })
        };
        assert!(can("xterm-256color", false) && can("tmux-256color", false) && can("foot", false));
        assert!(!can("linux", false) && !can("dumb", false) && !can("screen-256color", true) && !can("", false));
    }
}
