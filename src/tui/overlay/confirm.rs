//! A question before something that loses or changes much: what will happen, what stays, and a letter that says so. Enter, which a
//! hand presses by itself, never does it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Reply, centred, window};
use crate::session::Command;
use crate::tui::key;
use crate::tui::theme::{Role, Theme};
use rhumb_text::{sanitize, width, wrap};

/// The widest that it gets, borders included.
const WIDEST: u16 = 76;

/// What is done after a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Abandon the review.
    Abandon,
    /// Carry a command out.
    Run(Box<Command>),
    /// Leave.
    Quit,
    /// Delete the session of this number.
    DeleteSession(i64),
    /// Write a setting to the user's file: its name, and the value as TOML; without one, take it out.
    Keep(String, Option<String>),
}

/// One way on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    key: char,
    label: String,
    deed: Deed,
}

/// The question while it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    title: String,
    text: Vec<String>,
    ways: Vec<Way>,
    /// What Esc comes to.
    stay: String,
    /// A key that means the first way too: the one that led here, pressed again.
    again: Vec<String>,
    offset: usize,
    /// Whether the text has more lines than there is room for, as it was last drawn.
    is_long: bool,
}

impl Confirm {
    /// A question with that title; `text` says what will happen, a paragraph each.
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

    /// A way on, by a letter.
    pub fn way(mut self, key: char, label: &str, deed: Deed) -> Self {
        let label = sanitize::visible_line(label).into_owned();
        self.ways.push(Way { key, label, deed });
        self
    }

    /// What Esc comes to, as the rest of a sentence that begins with it.
    pub fn stay(mut self, words: &str) -> Self {
        self.stay = words.to_owned();
        self
    }

    /// Keys that mean the first way as well.
    pub fn again(mut self, keys: &[String]) -> Self {
        self.again = keys.to_vec();
        self
    }

    /// Takes a key: a letter of a way, arrows to read on; Esc, Enter, n and q go back. Any other character was meant for something
    /// else, which is told; other keys do nothing.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let mut letters = name.chars();
        let letter = letters.next().filter(|_| letters.next().is_none());
        if let Some(way) = self.ways.iter().find(|way| Some(way.key) == letter) {
            return Reply::Confirmed(way.deed.clone());
        }
        if let Some(way) = self.ways.first().filter(|_| self.again.contains(&name)) {
            return Reply::Confirmed(way.deed.clone());
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

    /// Draws it over `screen`.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        let wide = screen.width.min(WIDEST);
        let columns = usize::from(wide.saturating_sub(4)).max(8);
        let mut text: Vec<&str> = Vec::new();
        for paragraph in &self.text {
            let pieces = wrap::wrap(paragraph, columns).into_iter();
            text.extend(pieces.filter_map(|range| paragraph.get(range)));
        }
        let mut ways: Vec<Line<'_>> =
            self.ways.iter().map(|way| row(&way.key.to_string(), &way.label, columns, theme)).collect();
        ways.push(row("Esc", &self.stay, columns, theme));
        let height = text.len() + ways.len() + 3;
        let height = u16::try_from(height).unwrap_or(u16::MAX).min(screen.height);
        let inner = window(frame, centred(screen, wide, height), &self.title, theme);
        let below = u16::try_from(ways.len()).unwrap_or(u16::MAX);
        let gap = u16::from(usize::from(inner.height) > text.len() + ways.len());
        let [body, _, choices] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(gap), Constraint::Length(below)]).areas(inner);
        self.is_long = text.len() > usize::from(body.height);
        self.offset = self.offset.min(text.len().saturating_sub(usize::from(body.height)));
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
    use crate::tui::theme::ColorDepth;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn confirm() -> Confirm {
        let text = ["Seven hunks are pending.", "Nothing of them will be written."].map(str::to_owned);
        Confirm::new("abandon?", text).way('y', "abandon 7 hunks", Deed::Abandon)
    }

    #[test]
    fn only_its_letter_does_it_and_enter_never_does() {
        let press = |name: &str| confirm().key(key::parse(name).unwrap());
        assert_eq!(press("y"), Reply::Confirmed(Deed::Abandon));
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
        assert_eq!(confirm.key(key::parse("Ctrl-q").unwrap()), Reply::Confirmed(Deed::Abandon));
    }

    #[test]
    fn what_to_press_is_always_in_view() {
        for (width, height) in [(80, 24), (40, 10), (20, 4)] {
            let mut screen = Terminal::new(TestBackend::new(width, height)).unwrap();
            let draw = |frame: &mut Frame<'_>| confirm().draw(frame, frame.area(), &Theme::plain(ColorDepth::None));
            screen.draw(draw).unwrap();
            let shown = screen.backend().to_string();
            assert!(shown.contains("y abandon 7") && shown.contains("Esc cancels"), "{shown}");
        }
    }
}
