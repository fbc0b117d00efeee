//! A question of the session with its full text, answered by a letter.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use rhumb_session::{Choice, Command, Question};
use rhumb_text::{sanitize, width, wrap};

use super::{Overlay, OverlayContext, Reply, centred, inner_area, window};
use crate::tui::key;
use crate::tui::previews::Previews;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::styled::cells;

/// A question with its choices.
#[derive(Debug)]
pub struct AskBox {
    title: String,
    text: String,
    choices: Vec<Choice>,
    offset: usize,
    /// Whether choices other than the harmless one are disabled until the end of the text was visible.
    unread: bool,
    asked: Question,
}

impl AskBox {
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

    /// The wrapped title, the wrapped text, and the area of the box.
    fn parts(&self, screen: Rect) -> (Vec<String>, Vec<String>, Rect) {
        let width = screen.width.min(90);
        let columns = usize::from(width.saturating_sub(4)).max(8);
        let wrapped =
            |text: &str| -> Vec<String> { text.lines().flat_map(|line| wrap::hanging(line, columns)).collect() };
        let (title, text) = (wrapped(&self.title), wrapped(&self.text));
        let height = cells(title.len() + text.len() + self.choices.len() + 5);
        (title, text, centred(screen, width, height))
    }

    fn areas(&self, inner: Rect, screen: Rect) -> [Rect; 3] {
        let (title, _, _) = self.parts(screen);
        Layout::vertical([
            Constraint::Length(cells(title.len() + 1)),
            Constraint::Fill(1),
            Constraint::Length(cells(self.choices.len() + 1)),
        ])
        .areas(inner)
    }

    pub fn asked(&self) -> &Question {
        &self.asked
    }
}

impl Overlay for AskBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
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

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let (_, text, area) = self.parts(screen);
        let [_, body, _] = self.areas(inner_area(area), screen);
        let height = usize::from(body.height);
        self.offset = self.offset.min(text.len().saturating_sub(height));
        self.unread &= self.offset + height < text.len();
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let (title, text, area) = self.parts(screen);
        let [head, body, choices] = self.areas(window(frame, area, " a question ", theme), screen);
        let styled = |line: String, role: Role| Line::styled(format!(" {line}"), theme.style(role));
        let head_lines: Vec<Line<'_>> = title.into_iter().map(|line| styled(line, Role::Warning)).collect();
        frame.render_widget(Paragraph::new(head_lines), head);
        let shown = text.into_iter().skip(self.offset).take(usize::from(body.height));
        frame.render_widget(Paragraph::new(shown.map(|line| styled(line, Role::Text)).collect::<Vec<_>>()), body);
        let columns = usize::from(choices.width);
        let mut lines: Vec<Line<'_>> =
            self.choices.iter().map(|choice| row(&choice.key.to_string(), &choice.label, columns, theme)).collect();
        let hint = if self.unread {
            "PageDown shows the rest; then it can be answered"
        } else {
            "Esc leaves the question open"
        };
        lines.push(styled(hint.into(), Role::Muted));
        frame.render_widget(Paragraph::new(lines), choices);
    }
}

/// Largest width, borders included, in columns.
const MAX_WIDTH: u16 = 76;

/// What a confirmation runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmedAction {
    Abandon,
    Run(Box<Command>),
    Quit,
    DeleteSession(i64),
    /// Save a setting: its name, and its value as TOML; without a value, remove it.
    Keep(String, Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    key: char,
    label: String,
    confirmed_action: ConfirmedAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    title: String,
    text: Vec<String>,
    ways: Vec<Way>,
    /// What Esc does.
    stay: String,
    /// Keys that mean the first way too: those that opened the question.
    again: Vec<String>,
    offset: usize,
    /// Whether the text is longer than its area.
    is_long: bool,
}

impl Confirm {
    /// `text` is a list of paragraphs.
    pub fn new(title: &str, text: impl IntoIterator<Item = String>) -> Self {
        let safe = |text: &str| sanitize::visible_line(text).into_owned();
        Self {
            title: format!(" {} ", safe(title)),
            text: text.into_iter().filter(|line| !line.is_empty()).map(|line| safe(&line)).collect(),
            ways: Vec::new(),
            stay: "cancels".to_owned(),
            again: Vec::new(),
            offset: 0,
            is_long: false,
        }
    }

    /// Adds an answer with its letter.
    pub fn way(mut self, key: char, label: &str, confirmed_action: ConfirmedAction) -> Self {
        let label = sanitize::visible_line(label).into_owned();
        self.ways.push(Way { key, label, confirmed_action });
        self
    }

    /// Sets what Esc does, as the rest of a sentence that begins with Esc.
    pub fn stay(mut self, words: &str) -> Self {
        self.stay = words.to_owned();
        self
    }

    /// Adds keys that mean the first answer.
    pub fn again(mut self, keys: &[String]) -> Self {
        self.again = keys.to_vec();
        self
    }

    /// The wrapped text, and the area of the box.
    fn parts(&self, screen: Rect) -> (Vec<String>, Rect) {
        let width = screen.width.min(MAX_WIDTH);
        let columns = usize::from(width.saturating_sub(4)).max(8);
        let pieces = |text: &'_ String| {
            wrap::wrap(text, columns).into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>()
        };
        let text: Vec<String> = self.text.iter().flat_map(pieces).collect();
        let height = cells(text.len() + self.ways.len() + 4);
        (text, centred(screen, width, height))
    }

    fn areas(&self, inner: Rect, lines: usize) -> [Rect; 3] {
        let choices = self.ways.len() + 1;
        let gap = u16::from(usize::from(inner.height) > lines + choices);
        Layout::vertical([Constraint::Fill(1), Constraint::Length(gap), Constraint::Length(cells(choices))])
            .areas(inner)
    }
}

impl Overlay for Confirm {
    /// Handles a key: the letter of an answer, or an arrow to scroll; Esc, Enter, n and q cancel. Any other character
    /// was meant for another pane and is reported as such; other keys do nothing.
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let mut letters = name.chars();
        let letter = letters.next().filter(|_| letters.next().is_none());
        if let Some(way) = self.ways.iter().find(|way| Some(way.key) == letter) {
            return Reply::Confirmed(way.confirmed_action.clone());
        }
        if let Some(way) = self.ways.first().filter(|_| self.again.contains(&name)) {
            return Reply::Confirmed(way.confirmed_action.clone());
        }
        match name.as_str() {
            "Esc" | "Enter" | "n" | "q" => return Reply::Close,
            "Down" => self.offset += 1,
            "j" if self.is_long => self.offset += 1,
            "k" if self.is_long => self.offset = self.offset.saturating_sub(1),
            "Up" => self.offset = self.offset.saturating_sub(1),
            "PageDown" => self.offset += 5,
            "PageUp" => self.offset = self.offset.saturating_sub(5),
            _ if types(key) => return Reply::Typed(key),
            _ => {}
        }
        Reply::Stay
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let (text, area) = self.parts(screen);
        let [body, _, _] = self.areas(inner_area(area), text.len());
        let (lines, height) = (text.len(), usize::from(body.height));
        self.is_long = lines > height;
        self.offset = self.offset.min(lines.saturating_sub(height));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let wide = screen.width.min(MAX_WIDTH);
        let columns = usize::from(wide.saturating_sub(4)).max(8);
        let (text, area) = self.parts(screen);
        let mut ways: Vec<Line<'_>> =
            self.ways.iter().map(|way| row(&way.key.to_string(), &way.label, columns, theme)).collect();
        ways.push(row("Esc", &self.stay, columns, theme));
        let [body, _, choices] = self.areas(window(frame, area, &self.title, theme), text.len());
        let shown = text.into_iter().skip(self.offset).take(usize::from(body.height));
        let shown: Vec<Line<'_>> =
            shown.map(|line| Line::styled(format!(" {line}"), theme.style(Role::Text))).collect();
        frame.render_widget(Paragraph::new(shown), body);
        frame.render_widget(Paragraph::new(ways), choices);
    }
}

/// Whether the key types a character.
fn types(key: KeyEvent) -> bool {
    matches!(key.code, KeyCode::Char(_)) && (key.modifiers - KeyModifiers::SHIFT).is_empty()
}

fn row(key: &str, label: &str, columns: usize, theme: &Theme) -> Line<'static> {
    let label = width::clip(label, columns.saturating_sub(key.len() + 1)).into_owned();
    Line::from(vec![
        Span::styled(format!(" {key} "), theme.style(Role::Key)),
        Span::styled(label, theme.style(if key == "Esc" { Role::Muted } else { Role::Text })),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn confirm() -> Confirm {
        let text = ["Seven hunks are pending.", "Nothing of them will be written."].map(str::to_owned);
        Confirm::new("abandon?", text).way('y', "abandon 7 hunks", ConfirmedAction::Abandon)
    }

    #[test]
    fn only_its_letter_does_it_and_enter_never_does() {
        let press = |name: &str| confirm().key(key::parse(name).unwrap());
        assert_eq!(press("y"), Reply::Confirmed(ConfirmedAction::Abandon));
        for back in ["Esc", "Enter", "n", "q"] {
            assert_eq!(press(back), Reply::Close, "{back}");
        }
        for other in ["Alt-y", "Ctrl-y", "Tab"] {
            assert_eq!(press(other), Reply::Stay, "{other}");
        }
        for typed in ["a", "j", "Y", "Space"] {
            assert_eq!(press(typed), Reply::Typed(key::parse(typed).unwrap()), "{typed}");
        }
    }

    #[test]
    fn the_key_that_led_here_means_yes_when_pressed_again() {
        let mut confirm = confirm().again(&["Ctrl-q".to_owned()]);
        assert_eq!(confirm.key(key::parse("Ctrl-q").unwrap()), Reply::Confirmed(ConfirmedAction::Abandon));
    }

    #[test]
    fn what_to_press_is_always_in_view() {
        for (width, height) in [(80, 24), (40, 10), (20, 4)] {
            let mut screen = Terminal::new(TestBackend::new(width, height)).unwrap();
            let draw = |frame: &mut Frame<'_>| crate::tui::overlay::render(&mut confirm(), frame);
            screen.draw(draw).unwrap();
            let shown = screen.backend().to_string();
            assert!(shown.contains("y abandon 7") && shown.contains("Esc cancels"), "{shown}");
        }
    }
}
