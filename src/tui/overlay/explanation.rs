//! Explains the rank of a file or a symbol in the map: the contributions to its score, and the references with the
//! largest weights.

use rhumb_index::repo_map::{Contribution, Explanation, LocatedReference};
use rhumb_session::MapIdentity;

use super::{Overlay, OverlayContext, Place, Reply, centred, window};
use crate::tui::prelude::*;
use crate::tui::widget::meter;

const GAUGE: usize = 8;

#[derive(Debug)]
pub struct ExplanationView {
    map: MapIdentity,
    of: (usize, Option<usize>),
    explanation: Option<Explanation>,
    window: ListWindow,
    /// The newest map that was searched for the item.
    newest: MapIdentity,
}

impl ExplanationView {
    /// An explanation that is being computed.
    pub fn new(map: &MapIdentity, place: usize, symbol: Option<usize>) -> Self {
        let of = (place, symbol);
        Self { map: map.clone(), of, explanation: None, window: ListWindow::default(), newest: map.clone() }
    }

    /// Switches to a newer map. Returns the position of the item there, to request its explanation. The old explanation stays
    /// until the new one arrives, or permanently if the newer map does not contain the item.
    pub fn follow(&mut self, newer: &MapIdentity) -> Option<(usize, Option<usize>)> {
        if self.newest == *newer {
            return None;
        }
        self.newest = newer.clone();
        let (place, symbol) = self.of;
        let path = &self.map.0.files.get(place)?.path;
        let there = newer.0.files.iter().position(|file| file.path == *path)?;
        let symbol = match symbol {
            None => None,
            Some(at) => {
                let known = self.map.0.symbols(place);
                let known = known.get(at)?;
                let symbols = newer.0.symbols(there);
                let same = |exact: bool| {
                    let is_it = |line: u32| !exact || line == known.line;
                    symbols.iter().position(|other| other.name == known.name && is_it(other.line))
                };
                Some(same(true).or_else(|| same(false))?)
            }
        };
        (self.map, self.of) = (newer.clone(), (there, symbol));
        Some(self.of)
    }

    /// Stores the explanation, if it is of this item.
    pub fn answer(&mut self, map: &MapIdentity, of: (usize, Option<usize>), explanation: &Explanation) {
        if (&self.map, self.of) == (map, of) {
            let at = self.window.selected();
            self.window = ListWindow::new(explanation.references.len());
            at.into_iter().for_each(|at| self.window.select(at));
            self.explanation = Some(explanation.clone());
        }
    }

    fn places(&self) -> Vec<Place> {
        let Some(explanation) = &self.explanation else { return Vec::new() };
        let place = |reference: &LocatedReference| {
            let line = Some(reference.line).filter(|line| *line > 0);
            Place::at(&reference.from, line, &reference.ident)
        };
        let mut places: Vec<Place> = explanation.references.iter().map(place).collect();
        let first = self.window.selected().unwrap_or(0).min(places.len());
        places.rotate_left(first);
        places
    }

    fn title(&self, columns: usize) -> String {
        let (place, symbol) = self.of;
        let path = self.map.0.files.get(place).map_or("", |file| &*file.path);
        let symbol = symbol.and_then(|at| self.map.0.symbols(place).get(at));
        let name = symbol.map_or_else(|| path.to_owned(), |symbol| format!("{} in {path}", symbol.name));
        format!(" why {} ", width::clip_start(&sanitize::visible_line(&name), columns.saturating_sub(6)))
    }

    fn head(&self, theme: &Theme) -> Lines {
        let (place, symbol) = self.of;
        let map = &self.map.0;
        let symbols = map.symbols(place);
        let (what, shown) = match symbol.and_then(|at| Some((at, symbols.get(at)?))) {
            Some((at, symbol)) => (format!("symbol {} of {} of its file", at + 1, symbols.len()), symbol.shown),
            None => {
                let shown = map.files.get(place).is_some_and(|file| file.shown);
                (format!("place {} of {}", place + 1, map.files.len()), shown)
            }
        };
        let state = if shown { "in the map" } else { "not in the map" };
        let when = if self.map == self.newest { "" } else { " when this was opened" };
        vec![Line::styled(format!("{what} · {state}{when}"), theme.style(Role::Text)), Line::default()]
    }

    fn references(&self, explanation: &Explanation, columns: usize, theme: &Theme) -> Lines {
        if explanation.references.is_empty() {
            return vec![Line::styled("No file references it.", theme.style(Role::Muted))];
        }
        let mut lines = vec![Line::styled("the references that weigh most", theme.style(Role::Title))];
        let best = explanation.references.iter().map(|reference| reference.weight).fold(f64::MIN_POSITIVE, f64::max);
        for (at, reference) in explanation.references.iter().enumerate() {
            let line = if reference.line > 0 { format!(":{}", reference.line) } else { String::new() };
            let name = format!("  uses {}", sanitize::visible_line(&reference.ident));
            let name = width::clip(&name, columns / 2).into_owned();
            let available = columns.saturating_sub(GAUGE + 3 + width::columns(&name));
            let path = sanitize::visible_line(&reference.from).into_owned() + &line;
            let pointer = if self.window.selected() == Some(at) { "▸ " } else { "  " };
            let mut row = Line::from(vec![Span::styled(pointer, theme.style(Role::Accent))]);
            row.spans.extend(gauge(reference.weight / best, Role::MeterLow, theme));
            row.spans.push(Span::styled(format!(" {}", width::clip_start(&path, available)), theme.style(Role::Text)));
            row.spans.push(Span::styled(name, theme.style(Role::Muted)));
            lines.push(if self.window.selected() == Some(at) { under_cursor(row, cells(columns), theme) } else { row });
        }
        lines
    }
}

impl Overlay for ExplanationView {
    fn key(&mut self, key: KeyEvent) -> Reply {
        match key::name(key).as_str() {
            "j" | "Down" => self.window.step(1),
            "k" | "Up" => self.window.step(-1),
            "Home" | "g" => self.window.first(),
            "End" | "G" => self.window.last(),
            "Enter" if !self.window.is_empty() => return Reply::ShowLocations(self.places()),
            "Esc" | "q" | "Enter" | "w" => return Reply::Close,
            _ => {}
        }
        Reply::Stay
    }

    fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let columns = screen.width.saturating_sub(4).min(90);
        let mut lines = self.head(theme);
        let inside = usize::from(columns.saturating_sub(2));
        match &self.explanation {
            None => lines.push(Line::styled("looking at every reference …", theme.style(Role::Muted))),
            Some(explanation) => {
                lines.extend(contributions(explanation, inside, theme));
                lines.extend(self.references(explanation, inside, theme));
            }
        }
        let hint =
            if self.window.is_empty() { "Esc closes" } else { "j k choose · Enter shows the reference · Esc closes" };
        let rows = cells(lines.len() + 3).min(screen.height.saturating_sub(2));
        let area = centred(screen, columns, rows);
        let inner = window(frame, area, &self.title(inside.saturating_sub(2)), theme);
        let last = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let body = Rect { height: inner.height.saturating_sub(1), ..inner };
        // The row under the cursor stays visible if the text does not fit.
        let under = lines.len().saturating_sub(self.window.len()) + self.window.selected().unwrap_or(0) + 1;
        let skip = if self.window.is_empty() { 0 } else { under.saturating_sub(usize::from(body.height)) };
        frame.render_widget(Paragraph::new(lines.split_off(skip.min(lines.len()))), body);
        frame.render_widget(Line::styled(hint, theme.style(Role::Muted)), last);
    }
}

fn contributions(explanation: &Explanation, columns: usize, theme: &Theme) -> Lines {
    let title = if explanation.requested { "what the message says for it" } else { "what its rank comes from" };
    let mut lines = vec![Line::styled(title, theme.style(Role::Title))];
    let most = explanation
        .contributions
        .iter()
        .map(|contribution| contribution.weight.abs())
        .fold(f64::MIN_POSITIVE, f64::max);
    if explanation.contributions.is_empty() {
        lines.push(Line::styled("  nothing", theme.style(Role::Muted)));
    }
    for Contribution { label, weight } in &explanation.contributions {
        let (sign, role) = if *weight < 0.0 { ("−", Role::MeterHigh) } else { ("+", Role::MeterLow) };
        let mut row = Line::from(Span::raw("  "));
        row.spans.extend(gauge(weight.abs() / most, role, theme));
        let text = format!(" {sign}{:<5.2} {label}", weight.abs());
        let text = width::clip(&text, columns.saturating_sub(GAUGE + 2)).into_owned();
        row.spans.push(Span::styled(text, theme.style(Role::Text)));
        lines.push(row);
    }
    lines.push(Line::default());
    lines
}

fn gauge(share: f64, role: Role, theme: &Theme) -> [Span<'static>; 2] {
    let filled = ((share * GAUGE as f64).ceil() as usize).min(GAUGE);
    meter::gauge(filled, GAUGE, role, theme)
}
