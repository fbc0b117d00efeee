//! What goes back to the model about the review, to be read before it goes.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::page::{Page, Styled, choice};
use super::{Reply, ReviewReply};
use crate::tui::key;
use crate::tui::theme::{Role, Theme};

/// In fewer columns than this the keys say less, so that they take one row.
const NARROW: u16 = 60;

/// The message.
#[derive(Debug)]
pub struct SendBox {
    text: String,
    /// Why it cannot go now, if so.
    why_not: Option<&'static str>,
    page: Page,
}

impl SendBox {
    /// A box with a message.
    pub fn new(text: String, why_not: Option<&'static str>) -> Self {
        Self { text, why_not, page: Page::default() }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        match name.as_str() {
            "y" if self.why_not.is_none() => Reply::Review(ReviewReply::Send(self.text.clone())),
            "e" => Reply::Review(ReviewReply::Compose(self.text.clone())),
            "Esc" | "q" | "n" => Reply::Close,
            name => {
                self.page.key(name);
                Reply::Stay
            }
        }
    }

    /// Draws it over `screen`.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        let text = marked(&self.text);
        let first = match self.why_not {
            Some(why) => choice("y", format!("cannot send it: {why}")),
            None => choice("y", "send"),
        };
        let change = if screen.width < NARROW { "change it" } else { "change it in the composer" };
        let choices = [first, choice("e", change), choice("Esc", "back")];
        self.page.draw(frame, screen, theme, ("to the model", 100), &text, &choices);
    }
}

/// The lines with what they are: quoted changes have their colours.
fn marked(text: &str) -> Vec<Styled> {
    let mut fenced = false;
    let line = |line: &str| {
        let is_fence = line.starts_with("```");
        fenced ^= is_fence;
        let role = match line.chars().next() {
            _ if is_fence => Role::Muted,
            Some('+') if fenced => Role::Added,
            Some('-') if fenced => Role::Removed,
            _ if fenced => Role::Gutter,
            _ => Role::Text,
        };
        (role, line.to_owned())
    };
    text.lines().map(line).collect()
}
