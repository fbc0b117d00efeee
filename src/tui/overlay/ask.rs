//! A question of the session in full, answered by a letter.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Reply, centred, window};
use crate::session::{Choice, Question};
use crate::tui::theme::{Role, Theme};
use rhumb_text::{sanitize, wrap};

/// A question with its choices.
#[derive(Debug)]
pub struct AskBox {
    title: String,
    text: String,
    choices: Vec<Choice>,
    /// First line of the text in view.
    offset: usize,
    /// Whether every choice but the harmless one waits until the end of the text has been in view.
    unread: bool,
    /// The question as it was asked.
    asked: Question,
}

impl AskBox {
    /// The box for a question.
    pub fn new(question: &Question) -> Self {
        let visible = |text: &str| sanitize::visible(text).into_owned();
        Self {
            title: visible(&question.title),
            text: visible(&question.text),
            choices: question.choices.clone(),
            offset: 0,
            unread: true,
            asked: question.clone(),
        }
    }

    /// The question as it was asked.
    pub fn asked(&self) -> &Question {
        &self.asked
    }

    /// Takes a key: a letter of a choice, arrows to read on, Esc to leave the question open.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        // Esc and a letter that come together are a letter with Alt, and meant to leave.
        let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Esc => return Reply::Close,
            KeyCode::Down => self.offset += 1,
            KeyCode::Up => self.offset = self.offset.saturating_sub(1),
            KeyCode::PageDown => self.offset += 10,
            KeyCode::PageUp => self.offset = self.offset.saturating_sub(10),
            KeyCode::Char(letter) if plain && self.choices.iter().any(|choice| choice.key == letter) => {
                let waits = self.unread && !self.asked.is_harmless(letter);
                return if waits { Reply::Stay } else { Reply::Answer(letter) };
            }
            _ => {}
        }
        Reply::Stay
    }

    /// Draws it over `screen`.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        let width = screen.width.min(90);
        let columns = usize::from(width.saturating_sub(4)).max(8);
        let wrapped =
            |text: &str| -> Vec<String> { text.lines().flat_map(|line| wrap::hanging(line, columns)).collect() };
        let title = wrapped(&self.title);
        let text = wrapped(&self.text);
        let height = u16::try_from(title.len() + text.len() + self.choices.len() + 5).unwrap_or(u16::MAX);
        let inner = window(frame, centred(screen, width, height.min(screen.height)), " a question ", theme);
        let [head, body, choices] = Layout::vertical([
            Constraint::Length(u16::try_from(title.len() + 1).unwrap_or(1)),
            Constraint::Fill(1),
            Constraint::Length(u16::try_from(self.choices.len() + 1).unwrap_or(1)),
        ])
        .areas(inner);
        let styled = |line: String, role: Role| Line::styled(format!(" {line}"), theme.style(role));
        let head_lines: Vec<Line<'_>> = title.into_iter().map(|line| styled(line, Role::Warning)).collect();
        frame.render_widget(Paragraph::new(head_lines), head);
        self.offset = self.offset.min(text.len().saturating_sub(usize::from(body.height)));
        self.unread &= self.offset + usize::from(body.height) < text.len();
        let shown = text.into_iter().skip(self.offset).take(usize::from(body.height));
        frame.render_widget(Paragraph::new(shown.map(|line| styled(line, Role::Text)).collect::<Vec<_>>()), body);
        let mut lines: Vec<Line<'_>> = self.choices.iter().map(|choice| row(choice, theme)).collect();
        let hint = if self.unread {
            "PageDown shows the rest; then it can be answered"
        } else {
            "Esc leaves the question open"
        };
        lines.push(styled(hint.into(), Role::Muted));
        frame.render_widget(Paragraph::new(lines), choices);
    }
}

fn row(choice: &Choice, theme: &Theme) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!(" {} ", choice.key), theme.style(Role::Key)),
        Span::styled(choice.label.clone(), theme.style(Role::Text)),
    ])
}
