//! An input of one line: a new name, the value of a setting, the argument of a command.

use crate::tui::overlay::{OverlayComponent, OverlayContext};
use crate::tui::previews::Previews;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use rhumb_text::{sanitize, width, wrap};

use super::{Reply, centred, window};
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::input::LineInput;

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
}

impl OverlayComponent for LineBox {
    /// Takes a key: Enter hands the line in, Esc leaves, all else is typed.
    fn key(&mut self, key: KeyEvent) -> Reply {
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

    fn paste(&mut self, text: &str) {
        self.input.insert(text);
    }

    fn fit(&mut self, _: Rect, _: &Theme, _: &Previews) {}

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
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
        draw_input(frame, line, &self.input, "", theme);
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

/// What stands before the text.
const PROMPT: &str = "› ";

/// Draws the line with its cursor; `empty` stands there while nothing is typed.
pub(super) fn draw_input(frame: &mut Frame<'_>, area: Rect, input: &LineInput, empty: &str, theme: &Theme) {
    let room = usize::from(area.width).saturating_sub(width::columns(PROMPT) + 1);
    let column = input.cursor_column();
    let shown = sanitize::visible_line(input.text());
    let (text, skipped) = width::skip(&shown, column.saturating_sub(room));
    let mut line = Line::from(Span::styled(PROMPT, theme.style(Role::Accent)));
    if shown.is_empty() {
        line.spans.push(Span::styled(width::clip(empty, room).into_owned(), theme.style(Role::Muted)));
    } else {
        line.spans.push(Span::styled(text.to_owned(), theme.style(Role::Overlay)));
    }
    frame.render_widget(line, area);
    let at = width::columns(PROMPT) + column.saturating_sub(skipped);
    let x = area.x.saturating_add(u16::try_from(at).unwrap_or(u16::MAX)).min(area.right().saturating_sub(1));
    frame.set_cursor_position(Position { x, y: area.y });
}
