//! A view of locations in files, such as definitions or uses, in colours and with the lines around them.

use rhumb_session::Speaker;

use super::{Overlay, OverlayContext, Reply, centred, inner_area, scroll_by, window};
use crate::tui::prelude::*;
use crate::tui::widget::{Marked, file_preview};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: String,
    /// The line, 1-based; none for the file as a whole.
    pub line: Option<u32>,
    /// The last line, 1-based and inclusive, where there are several.
    pub end: Option<u32>,
    /// The name of the symbol; empty for a file.
    pub name: String,
}

impl Place {
    pub fn at(path: &str, line: Option<u32>, name: &str) -> Self {
        Self { path: path.to_owned(), line, end: None, name: name.to_owned() }
    }

    fn marked(&self) -> Option<Marked> {
        let first = self.line? as usize;
        Some(Marked { first, last: self.end.map_or(first, |end| end as usize) })
    }
}

#[derive(Debug)]
pub struct LocationView {
    places: Vec<Place>,
    at: usize,
    /// Lines by which the view was scrolled.
    moved: isize,
    /// The keys that add the file and open it in the editor.
    keys: [String; 2],
    rows: usize,
}

impl LocationView {
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

    fn area(screen: Rect) -> Rect {
        centred(screen, screen.width.saturating_sub(4).min(130), screen.height.saturating_sub(2))
    }

    /// Limits scrolling to the ends of a text of `count` lines. Returns the first visible line (0-based).
    fn clamp(&mut self, count: usize, marked: Option<Marked>) -> usize {
        let (start, first) = self.first(count, marked);
        self.moved = isize::try_from(first).unwrap_or(0) - isize::try_from(start).unwrap_or(0);
        first
    }

    /// The first line (0-based) that a text of `count` lines shows before and after it was moved.
    fn first(&self, count: usize, marked: Option<Marked>) -> (usize, usize) {
        let start = marked.map_or(0, |marked| marked.top(count, self.rows));
        (start, start.saturating_add_signed(self.moved).min(count.saturating_sub(self.rows)))
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

impl Overlay for LocationView {
    fn key(&mut self, key: KeyEvent) -> Reply {
        match key::name(key).as_str() {
            "n" | "]" | "Right" => self.turn(true),
            "p" | "N" | "[" | "Left" => self.turn(false),
            "Esc" | "q" | "Enter" => return Reply::Close,
            name => match (scroll_by(name, self.rows.saturating_sub(1)), self.place().cloned()) {
                (Some(by), _) => self.moved = self.moved.saturating_add(by),
                (None, Some(place)) if name == self.keys[0] => return Reply::Add(vec![place.path]),
                (None, Some(place)) if name == self.keys[1] => {
                    return Reply::Edit(place.path, place.line.map_or(1, |line| line as usize));
                }
                _ => {}
            },
        }
        Reply::Stay
    }

    fn wheel(&mut self, by: isize) {
        self.moved = self.moved.saturating_add(by);
    }

    fn preview(&self) -> Option<PreviewTarget> {
        self.place().map(|place| PreviewTarget::File(place.path.clone(), place.marked()))
    }

    fn fit(&mut self, screen: Rect, _: &Theme, previews: &Previews) {
        self.rows = usize::from(inner_area(Self::area(screen)).height.saturating_sub(1));
        let Some(place) = self.place().cloned() else { return };
        if let Some(Preview::Text(text)) = previews.get(&place.path) {
            self.clamp(lines::split(text).len(), place.marked());
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        let OverlayContext { coloring, previews, .. } = context;
        let area = Self::area(screen);
        let Some(place) = self.place() else { return };
        let inner = window(frame, area, &self.title(place, usize::from(area.width.saturating_sub(4))), theme);
        let [body, hints] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(inner);
        let hint = |text: &str| clipped(text, hints.width, theme.style(Role::Muted));
        frame.render_widget(hint(&self.hint()), hints);
        match previews.get(&place.path) {
            Some(Preview::Text(text)) => {
                let marked = place.marked();
                let (_, first) = self.first(lines::split(text).len(), marked);
                file_preview::draw_from(frame, body, (&place.path, text), (first, marked), coloring, theme);
            }
            Some(Preview::None(reason)) => {
                let text = Line::styled(sanitize::visible_line(reason).into_owned(), theme.style(Role::Warning));
                frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), body);
            }
            Some(Preview::Reading) | None => frame.render_widget(hint("reading …"), body),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewTarget {
    File(String, Option<Marked>),
    Session(i64),
}

pub(super) fn draw_file_peek(
    frame: &mut Frame<'_>,
    area: Rect,
    at: (&str, Option<Marked>),
    context: OverlayContext<'_>,
    theme: &Theme,
) {
    let (path, marked) = at;
    let OverlayContext { coloring, previews, .. } = context;
    let word = match previews.get(path) {
        Some(Preview::Text(text)) if text.is_empty() => "the file is empty",
        Some(Preview::Text(text)) => {
            return file_preview::draw(frame, area, (path, text), marked, coloring, theme);
        }
        Some(Preview::None(why)) => why.as_str(),
        Some(Preview::Reading) | None => "reading …",
    };
    remark(frame, area, word, theme);
}

/// Draws the last messages of a session. `None` while they are being read.
pub(super) fn draw_session_peek(frame: &mut Frame<'_>, area: Rect, said: Option<&[(Speaker, String)]>, theme: &Theme) {
    let said = match said {
        None => return remark(frame, area, "reading …", theme),
        Some([]) => return remark(frame, area, "nothing was said in it", theme),
        Some(said) => said,
    };
    let columns = area.width.saturating_sub(2);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut last = 0;
    for (who, text) in said {
        last = lines.len();
        let (name, role) = match who {
            Speaker::You => ("you", Role::User),
            Speaker::Model => ("model", Role::Assistant),
        };
        lines.push(Line::styled(format!(" {name}"), theme.style(role)));
        for line in text.lines().map(sanitize::visible_line) {
            lines.extend(wrapped(&line, " ", columns, theme.style(Role::Text)));
        }
        lines.push(Line::default());
    }
    lines.pop();
    // The end of a conversation identifies it best, but the last message is recognised by its beginning.
    let first = lines.len().saturating_sub(usize::from(area.height)).min(last);
    frame.render_widget(Paragraph::new(lines.split_off(first)), area);
}

fn remark(frame: &mut Frame<'_>, area: Rect, text: &str, theme: &Theme) {
    let line =
        clipped(&format!(" {}", sanitize::visible_line(text)), area.width.saturating_sub(1), theme.style(Role::Muted));
    frame.render_widget(line, Rect { height: area.height.min(1), ..area });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(count: u32) -> LocationView {
        let place = |line| Place::at("a.rs", Some(line), "moor");
        LocationView::new((1..=count).map(place).collect(), ["a".into(), "o".into()])
    }

    fn press(view: &mut LocationView, name: &str) -> Reply {
        view.key(key::parse(name).unwrap())
    }

    #[test]
    fn places_are_turned_to_in_a_ring() {
        let mut view = view(3);
        press(&mut view, "n");
        assert_eq!(view.place().unwrap().line, Some(2));
        press(&mut view, "p");
        press(&mut view, "p");
        assert_eq!(view.place().unwrap().line, Some(3));
        assert_eq!(press(&mut view, "o"), Reply::Edit("a.rs".into(), 3));
        assert_eq!(press(&mut view, "a"), Reply::Add(vec!["a.rs".into()]));
    }

    #[test]
    fn scrolling_stops_at_the_ends() {
        let mut view = view(1);
        view.rows = 4;
        press(&mut view, "G");
        assert_eq!(view.clamp(20, Some(Marked::line(10))), 16);
        press(&mut view, "k");
        assert_eq!(view.clamp(20, Some(Marked::line(10))), 15);
        press(&mut view, "g");
        assert_eq!(view.clamp(20, Some(Marked::line(10))), 0);
        press(&mut view, "j");
        assert_eq!(view.clamp(20, Some(Marked::line(10))), 1, "not a step that is used up beyond the end");
    }
}
