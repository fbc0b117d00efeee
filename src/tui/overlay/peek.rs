//! A look at places in files: where something is defined, or used, in colours, with what stands around it.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Look, Reply, Sight, centred, window};
use crate::tui::key;
use crate::tui::preview::Preview;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::preview::{self, Marked};
use rhumb_text::{lines, sanitize, width};

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: String,
    /// The line, 1-based; none for the file as a whole.
    pub line: Option<u32>,
    /// The last line, 1-based and inclusive, where there are several.
    pub end: Option<u32>,
    /// What is there; empty for the file itself.
    pub name: String,
}

impl Place {
    /// A line of a file, or the file as a whole.
    pub fn at(path: &str, line: Option<u32>, name: &str) -> Self {
        Self { path: path.to_owned(), line, end: None, name: name.to_owned() }
    }

    fn marked(&self) -> Option<Marked> {
        let first = self.line? as usize;
        Some(Marked { first, last: self.end.map_or(first, |end| end as usize) })
    }
}

/// The places, one at a time.
#[derive(Debug)]
pub struct Peek {
    places: Vec<Place>,
    at: usize,
    /// Lines that the view was moved by.
    moved: isize,
    /// The keys that add the file and open it in the editor, as in the map pane.
    keys: [String; 2],
    rows: usize,
}

impl Peek {
    /// A look at the first of some places.
    pub fn new(places: Vec<Place>, keys: [String; 2]) -> Self {
        Self { places, at: 0, moved: 0, keys, rows: 10 }
    }

    fn place(&self) -> Option<&Place> {
        self.places.get(self.at)
    }

    fn turn(&mut self, forward: bool) {
        let count = self.places.len().max(1);
        self.at = (self.at + if forward { 1 } else { count - 1 }) % count;
        self.moved = 0;
    }

    /// What is looked at.
    pub fn look(&self) -> Option<Look> {
        self.place().map(|place| Look::File(place.path.clone(), place.marked()))
    }

    /// Moves by so many lines.
    pub fn wheel(&mut self, by: isize) {
        self.moved = self.moved.saturating_add(by);
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        let page = isize::try_from(self.rows.saturating_sub(1).max(1)).unwrap_or(1);
        match key::name(key).as_str() {
            "n" | "]" | "Right" => self.turn(true),
            "p" | "N" | "[" | "Left" => self.turn(false),
            "j" | "Down" => self.moved += 1,
            "k" | "Up" => self.moved -= 1,
            "PageDown" | "Space" | "Ctrl-d" => self.moved += page,
            "PageUp" | "Ctrl-u" => self.moved -= page,
            "Home" | "g" => self.moved = isize::MIN / 2,
            "End" | "G" => self.moved = isize::MAX / 2,
            "Esc" | "q" | "Enter" => return Reply::Close,
            name => {
                let place = self.place().cloned();
                let [add, edit] = &self.keys;
                return match place {
                    Some(place) if name == add => Reply::Add(vec![place.path]),
                    Some(place) if name == edit => Reply::Edit(place.path, place.line.map_or(1, |line| line as usize)),
                    _ => Reply::Stay,
                };
            }
        }
        Reply::Stay
    }

    /// Draws it over most of the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, sight: Sight<'_>) {
        let Sight { coloring, previews, .. } = sight;
        let area = centred(screen, screen.width.saturating_sub(4).min(130), screen.height.saturating_sub(2));
        let Some(place) = self.place().cloned() else { return };
        let inner = window(frame, area, &self.title(&place, usize::from(area.width.saturating_sub(4))), theme);
        let [body, hints] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(inner);
        self.rows = usize::from(body.height);
        let hint = |text: String| {
            Line::styled(width::clip(&text, usize::from(hints.width)).into_owned(), theme.style(Role::Muted))
        };
        frame.render_widget(hint(self.hint()), hints);
        match previews.get(&place.path) {
            Some(Preview::Text(text)) => {
                let text = std::sync::Arc::clone(text);
                let marked = place.marked();
                let first = self.first(&text, marked);
                preview::draw_from(frame, body, (&place.path, &text), (first, marked), coloring, theme);
            }
            Some(Preview::None(reason)) => {
                let text = Line::styled(sanitize::visible_line(reason).into_owned(), theme.style(Role::Warning));
                frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), body);
            }
            Some(Preview::Reading) | None => frame.render_widget(hint("reading …".into()), body),
        }
    }

    /// The first line in view, 0-based. What was moved beyond the ends is forgotten.
    fn first(&mut self, text: &str, marked: Option<Marked>) -> usize {
        let count = lines::split(text).len();
        let most = count.saturating_sub(self.rows);
        let start = marked.map_or(0, |marked| marked.top(count, self.rows));
        let first = start.saturating_add_signed(self.moved).min(most);
        self.moved = isize::try_from(first).unwrap_or(0) - isize::try_from(start).unwrap_or(0);
        first
    }

    fn title(&self, place: &Place, columns: usize) -> String {
        let count = match self.places.len() {
            0 | 1 => String::new(),
            count => format!(" · {} of {count}", self.at + 1),
        };
        let line = place.line.map_or_else(String::new, |line| format!(":{line}"));
        let name = if place.name.is_empty() { String::new() } else { format!("{} · ", place.name) };
        let text = format!("{name}{}{line}", place.path);
        let text = sanitize::visible_line(&text);
        format!(" {}{count} ", width::clip_start(&text, columns.saturating_sub(width::columns(&count))))
    }

    fn hint(&self) -> String {
        let others = if self.places.len() > 1 { "n p others · " } else { "" };
        let [add, edit] = &self.keys;
        format!("Esc closes · {others}j k scroll · {add} adds the file · {edit} editor")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peek(count: u32) -> Peek {
        let place = |line| Place::at("a.rs", Some(line), "moor");
        Peek::new((1..=count).map(place).collect(), ["a".into(), "o".into()])
    }

    fn press(peek: &mut Peek, name: &str) -> Reply {
        peek.key(key::parse(name).unwrap())
    }

    #[test]
    fn places_are_turned_to_in_a_ring() {
        let mut peek = peek(3);
        press(&mut peek, "n");
        assert_eq!(peek.place().unwrap().line, Some(2));
        press(&mut peek, "p");
        press(&mut peek, "p");
        assert_eq!(peek.place().unwrap().line, Some(3));
        assert_eq!(press(&mut peek, "o"), Reply::Edit("a.rs".into(), 3));
        assert_eq!(press(&mut peek, "a"), Reply::Add(vec!["a.rs".into()]));
    }

    #[test]
    fn scrolling_stops_at_the_ends() {
        let mut peek = peek(1);
        peek.rows = 4;
        let text = "x\n".repeat(20);
        press(&mut peek, "G");
        assert_eq!(peek.first(&text, Some(Marked::line(10))), 16);
        press(&mut peek, "k");
        assert_eq!(peek.first(&text, Some(Marked::line(10))), 15);
        press(&mut peek, "g");
        assert_eq!(peek.first(&text, Some(Marked::line(10))), 0);
        press(&mut peek, "j");
        assert_eq!(peek.first(&text, Some(Marked::line(10))), 1, "not a step that is used up beyond the end");
    }
}
