//! Input from the terminal: keys, the mouse, pastes, and answers to queries.

#[cfg(not(unix))]
mod console;
#[cfg(unix)]
mod parser;
#[cfg(unix)]
mod stream;

use crossterm::event::Event;

#[cfg(not(unix))]
pub(crate) use self::console::Input;
#[cfg(unix)]
pub(crate) use self::stream::Input;

/// What the terminal said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TerminalInput {
    /// For the app.
    Event(Event),
    /// The background is light or dark. `None` for an answer that cannot be parsed.
    Background(Option<bool>),
    /// The user or the system has changed to light colours, or to dark ones.
    Scheme(bool),
}
