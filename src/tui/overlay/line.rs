//! A line that is asked for: a new name, the value of a setting, what a command takes.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Reply, centred, field, window};
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::input::LineInput;
use rhumb_text::{sanitize, width, wrap};

/// What a line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineFor {
    /// The name of the session of this number.
    RenameSession(i64),
    /// The value of the setting of this name, for this session.
    Setting(String),
    /// What the command of this name takes.
    Arguments(String),
}

/// The line while it is typed.
#[derive(Debug)]
pub struct LineBox {
    title: String,
    /// What to know: a paragraph each.
    text: Vec<String>,
    /// Why what was typed last is not taken; empty for nothing.
    wrong: String,
    input: LineInput,
    what: LineFor,
    /// Whether nothing is an answer, too.
    may_be_blank: bool,
}

impl LineBox {
    /// Asks for a line that begins as `start`.
    pub fn new(title: &str, text: impl IntoIterator<Item = String>, start: &str, what: LineFor) -> Self {
        let safe = |text: &str| sanitize::visible_line(text).into_owned();
        Self {
            title: format!(" {} ", safe(title)),
            text: text.into_iter().filter(|line| !line.is_empty()).map(|line| safe(&line)).collect(),
            wrong: String::new(),
            input: LineInput::new(start),
            what,
            may_be_blank: false,
        }
    }

    /// Nothing is an answer, too.
    pub fn may_be_blank(mut self) -> Self {
        self.may_be_blank = true;
        self
    }

    /// Says why what was typed is not taken.
    pub fn refuse(&mut self, why: &str) {
        self.wrong = sanitize::visible_line(why).into_owned();
    }

    /// Takes a key: Enter hands the line in, Esc leaves, all else is typed.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match key.code {
            KeyCode::Esc => return Reply::Close,
            KeyCode::Enter if self.may_be_blank || !self.input.text().trim().is_empty() => {
                return Reply::Line(self.what.clone(), self.input.text().trim().to_owned());
            }
            _ => {
                if self.input.key(key) {
                    self.wrong.clear();
                }
            }
        }
        Reply::Stay
    }

    /// Takes a paste.
    pub fn paste(&mut self, text: &str) {
        self.input.insert(text);
    }

    /// Draws it over `screen`.
    pub fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        let wide = screen.width.min(84);
        let columns = usize::from(wide.saturating_sub(4)).max(8);
        let mut text: Vec<Line<'_>> = Vec::new();
        let told = self
            .text
            .iter()
            .map(|text| (text, Role::Text))
            .chain(Some(&self.wrong).filter(|wrong| !wrong.is_empty()).map(|wrong| (wrong, Role::Error)));
        for (paragraph, role) in told {
            let pieces = wrap::wrap(paragraph, columns).into_iter();
            text.extend(pieces.map(|range| Line::styled(format!(" {}", &paragraph[range]), theme.style(role))));
        }
        let height = u16::try_from(text.len() + 5).unwrap_or(u16::MAX).min(screen.height);
        let inner = window(frame, centred(screen, wide, height), &self.title, theme);
        let [body, line, hint] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(1), Constraint::Length(1)]).areas(inner);
        // What is wrong stands last and must be seen.
        let first = if self.wrong.is_empty() { 0 } else { text.len().saturating_sub(usize::from(body.height)) };
        frame.render_widget(Paragraph::new(text.split_off(first)), body);
        field::draw(frame, line, &self.input, "", theme);
        let words = if self.may_be_blank {
            " Enter takes it, empty too · Esc goes back"
        } else {
            " Enter takes it · Esc goes back"
        };
        frame.render_widget(
            Line::styled(width::clip(words, usize::from(hint.width)).into_owned(), theme.style(Role::Muted)),
            hint,
        );
    }
}
