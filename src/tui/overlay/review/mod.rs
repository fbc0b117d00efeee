//! What the review opens: a place for a comment, what a write will do, what goes back to the model, and where an edit without a
//! place may belong.

mod comment;
mod page;
mod place;
mod send;
mod write;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Reply, Sight};
use crate::session::WritePlan;
use crate::tui::theme::Theme;
pub use comment::{CommentBox, CommentPlace};
pub use place::{PlaceBox, PlaceDeed, Placing};
pub use send::SendBox;
pub use write::WriteBox;

/// What the review has opened.
#[derive(Debug)]
pub enum ReviewBox {
    /// A comment that is being written.
    Comment(Box<CommentBox>),
    /// What will be written?
    Write(WriteBox),
    /// What goes back to the model?
    Send(SendBox),
    /// Where does this belong?
    Place(Box<PlaceBox>),
}

/// What was said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewReply {
    /// Note this text there; an empty one takes the note away.
    Comment(Box<CommentPlace>, String),
    /// Write it so.
    Write(WritePlan),
    /// Send this to the model.
    Send(String),
    /// Put this into the composer, to be changed.
    Compose(String),
    /// Do this with an edit without a place.
    Place(Box<Placing>),
}

impl ReviewBox {
    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match self {
            Self::Comment(comment) => comment.key(key),
            Self::Write(write) => write.key(key),
            Self::Send(send) => send.key(key),
            Self::Place(place) => place.key(key),
        }
    }

    /// Takes a paste.
    pub fn paste(&mut self, text: &str) {
        if let Self::Comment(comment) = self {
            comment.paste(text);
        }
    }

    /// Draws it over `screen`.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, sight: Sight<'_>) {
        match self {
            Self::Comment(comment) => comment.draw(frame, screen, theme),
            Self::Write(write) => write.draw(frame, screen, theme),
            Self::Send(send) => send.draw(frame, screen, theme),
            Self::Place(place) => place.draw(frame, screen, theme, sight),
        }
    }
}
