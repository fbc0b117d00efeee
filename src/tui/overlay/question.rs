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

    fn sheet(&self, screen: Rect, theme: &Theme) -> Sheet<'_> {
        let width = screen.width.min(90);
        let columns = usize::from(width.saturating_sub(4)).max(8);
        let wrapped =
            |text: &str| -> Vec<String> { text.lines().flat_map(|line| wrap::hanging(line, columns)).collect() };
        let (head, text) = (wrapped(&self.title), wrapped(&self.text));
        let room = usize::from(width.saturating_sub(2));
        let mut foot: Vec<Line<'_>> =
            self.choices.iter().map(|choice| row(&choice.key.to_string(), &choice.label, room, theme)).collect();
        let hint = if self.unread {
            " PageDown shows the rest; then it can be answered"
        } else {
            " Esc leaves the question open"
        };
        foot.push(Line::styled(hint, theme.style(Role::Muted)));
        let area = centred(screen, width, cells(head.len() + text.len() + foot.len() + 4));
        Sheet { area, title: " a question ", head_rows: head.len() + 1, head, text, foot, spaced: false }
    }

    pub fn asked(&self) -> &Question {
        &self.asked
    }
}

impl Overlay for AskBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        // Esc and a letter that arrive together are parsed as a letter with Alt. The user meant Esc.
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

    fn fit(&mut self, screen: Rect, theme: &Theme, _: &Previews) {
        let (offset, height, lines) = self.sheet(screen, theme).fit(self.offset);
        self.offset = offset;
        self.unread &= offset + height < lines;
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        self.sheet(screen, theme).draw(self.offset, frame, theme);
    }
}

/// The contents of a box for an answer: a text that scrolls between a heading and the choices.
struct Sheet<'a> {
    area: Rect,
    title: &'a str,
    head: Vec<String>,
    head_rows: usize,
    text: Vec<String>,
    foot: Vec<Line<'static>>,
    /// Whether a row stays free above the choices if there is space.
    spaced: bool,
}

impl Sheet<'_> {
    /// The areas of heading, text and choices, in the space inside the frame.
    fn areas(&self, inner: Rect) -> [Rect; 3] {
        let gap = u16::from(self.spaced && usize::from(inner.height) > self.text.len() + self.foot.len());
        let foot = cells(self.foot.len());
        let parts = [Constraint::Length(cells(self.head_rows)), Constraint::Fill(1), Constraint::Length(gap + foot)];
        let [head, body, choices] = Layout::vertical(parts).areas(inner);
        let gap = gap.min(choices.height);
        [head, body, Rect { y: choices.y + gap, height: choices.height - gap, ..choices }]
    }

    /// The scroll position within its limits, and the rows and lines of the text.
    fn fit(&self, offset: usize) -> (usize, usize, usize) {
        let height = usize::from(self.areas(inner_area(self.area))[1].height);
        (offset.min(self.text.len().saturating_sub(height)), height, self.text.len())
    }

    fn draw(self, offset: usize, frame: &mut Frame<'_>, theme: &Theme) {
        let [head, body, choices] = self.areas(window(frame, self.area, self.title, theme));
        let styled = |lines: Vec<String>, role: Role| {
            let lines = lines.into_iter().map(|line| Line::styled(format!(" {line}"), theme.style(role)));
            Paragraph::new(lines.collect::<Vec<_>>())
        };
        frame.render_widget(styled(self.head, Role::Warning), head);
        let shown = self.text.into_iter().skip(offset).take(usize::from(body.height)).collect();
        frame.render_widget(styled(shown, Role::Text), body);
        frame.render_widget(Paragraph::new(self.foot), choices);
    }
}

/// Largest width, borders included, in columns.
const MAX_WIDTH: u16 = 76;

/// The action of a confirmation.
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
    /// The effect of Esc.
    stay: String,
    /// Additional keys of the first answer: those that opened the question.
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

    /// Sets the description of Esc, as the rest of a sentence that begins with Esc.
    pub fn stay(mut self, words: &str) -> Self {
        self.stay = words.to_owned();
        self
    }

    /// Adds keys that mean the first answer.
    pub fn again(mut self, keys: &[String]) -> Self {
        self.again = keys.to_vec();
        self
    }

    fn sheet(&self, screen: Rect, theme: &Theme) -> Sheet<'_> {
        let width = screen.width.min(MAX_WIDTH);
        let columns = usize::from(width.saturating_sub(4)).max(8);
        let pieces = |text: &'_ String| {
            wrap::wrap(text, columns).into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>()
        };
        let text: Vec<String> = self.text.iter().flat_map(pieces).collect();
        let mut foot: Vec<Line<'_>> =
            self.ways.iter().map(|way| row(&way.key.to_string(), &way.label, columns, theme)).collect();
        foot.push(row("Esc", &self.stay, columns, theme));
        let area = centred(screen, width, cells(text.len() + foot.len() + 3));
        Sheet { area, title: &self.title, head: Vec::new(), head_rows: 0, text, foot, spaced: true }
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

    fn fit(&mut self, screen: Rect, theme: &Theme, _: &Previews) {
        let (offset, height, lines) = self.sheet(screen, theme).fit(self.offset);
        (self.offset, self.is_long) = (offset, lines > height);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        self.sheet(screen, theme).draw(self.offset, frame, theme);
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
