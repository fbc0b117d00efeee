//! A Windows console, which delivers events instead of bytes. Answers to queries are not read.

use std::io;

use crossterm::event::{self, EventStream};
use futures::StreamExt as _;

use super::TerminalInput;
use crate::tui::prelude::*;

pub(crate) struct Input(EventStream);

impl Input {
    /// Starts reading.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(EventStream::new()))
    }

    /// The next input. Nothing is lost if the wait is cancelled.
    pub(crate) async fn next(&mut self) -> io::Result<TerminalInput> {
        let event = self.0.next().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
        event.map(TerminalInput::Event)
    }

    /// Input that is available without waiting, or `None`. It does not poll the stream, since that would register a
    /// waker that is then lost.
    pub(crate) fn try_next(&mut self) -> io::Result<Option<TerminalInput>> {
        if event::poll(Duration::ZERO)? {
            event::read().map(|event| Some(TerminalInput::Event(event)))
        } else {
            Ok(None)
        }
    }
}
