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

/// Input from the terminal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TerminalInput {
    Event(Event),
    /// The background is light or dark. `None` for an answer that cannot be parsed.
    Background(Option<bool>),
    /// The terminal has switched to light or dark colours.
    Scheme(bool),
}
