//! How a row of the map is drawn: a file with its rank and its tokens, a symbol with its signature, a line between files.
//!
//! What differs in colour differs in a mark, too: `·` is left out by the budget, `+` comes with the next step of it, `★` is pinned,
//! `✗` is kept out.

use std::collections::HashMap;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::outline::cut;
use super::rows::{MapRow, Rule};
use super::rule_text;
use crate::tui::app::App;
use crate::tui::coloring::{Coloring, Colors, Language, pieces};
use crate::tui::theme::Role;
use crate::tui::widget::meter;
use crate::tui::widget::styled::StyledText;
use rhumb_index::repo_map::{RankedFile, RankedSymbol, RepoMap, symbol_choice};
use rhumb_text::fuzzy::FuzzyFilter;
use rhumb_text::{sanitize, width};

/// Cells of the gauge that shows a file's rank against the best.
const GAUGE: usize = 5;

/// From so many columns on, the tokens of a file stand behind it, and from so many on with their share of the map.
const WITH_TOKENS: usize = 42;
const WITH_SHARE: usize = 52;

/// Symbols of a file that are coloured together at most.
const MOST_COLORED: usize = 2_000;

/// What drawing the rows of one frame needs.
pub struct Drawing<'a> {
    app: &'a App,
    map: &'a RepoMap,
    columns: usize,
    /// The highest rank.
    best: f64,
    /// Colours of the signatures of a file, by its place.
    colors: HashMap<usize, Option<Colors>>,
    /// What the letters of a search are held against.
    pub filter: Option<FuzzyFilter>,
}

impl<'a> Drawing<'a> {
    pub fn new(app: &'a App, map: &'a RepoMap, columns: u16) -> Self {
        // A pinned file stands first whatever its rank.
        let best =
            map.files.iter().take(app.session.pinned.len() + 1).map(|file| file.rank).fold(f64::MIN_POSITIVE, f64::max);
        Self { app, map, columns: usize::from(columns), best, colors: HashMap::new(), filter: None }
    }

    /// A row as it is drawn.
    pub fn line(&mut self, row: MapRow, coloring: &mut Coloring) -> Line<'static> {
        match row {
            MapRow::File(place) => self.map.files.get(place).map(|file| self.file(place, file)),
            MapRow::Symbol(place, at) => {
                let symbol = self.map.symbols(place).get(at);
                symbol.map(|symbol| self.symbol(place, at, symbol, coloring))
            }
            MapRow::Rule(rule) => Some(self.rule(rule)),
            MapRow::Banned(at) => self.app.session.banned.iter().nth(at).map(|choice| self.banned(choice)),
        }
        .unwrap_or_default()
    }

    fn file(&mut self, place: usize, file: &RankedFile) -> Line<'static> {
        let theme = &self.app.theme;
        let arrow = match (file.definitions, self.app.map.rows.is_open(place)) {
            (0, _) => " ",
            (_, true) => "▾",
            (_, false) => "▸",
        };
        let filled = ((file.rank / self.best) * GAUGE as f64).ceil().clamp(0.0, GAUGE as f64) as usize;
        let count = if file.definitions > 0 { format!(" {}", file.definitions) } else { String::new() };
        let pinned = if self.app.session.pinned.contains(&*file.path) { " ★ pinned" } else { "" };
        let right = Some(self.weight(file)).filter(|right| !right.is_empty());
        let right = right.map_or_else(String::new, |right| format!(" {right}"));
        let fixed = GAUGE + 3 + width::columns(&count) + width::columns(pinned) + width::columns(&right);
        let role = if file.shown { Role::Text } else { Role::Muted };
        let path = self.name(&file.path, self.columns.saturating_sub(fixed), true, theme.style(role));
        let used: usize = path.iter().map(|span| width::columns(&span.content)).sum();
        let gap = self.columns.saturating_sub(fixed + used);
        let mut line = Line::from(vec![
            Span::styled(format!("{arrow} "), theme.style(Role::Accent)),
            Span::styled("▮".repeat(filled), theme.style(if file.shown { Role::MeterLow } else { Role::Muted })),
            Span::styled("▯".repeat(GAUGE - filled), theme.style(Role::MeterEmpty)),
            Span::raw(" "),
        ]);
        line.spans.extend(path);
        line.spans.extend([
            Span::styled(count, theme.style(Role::Muted)),
            Span::styled(pinned, theme.style(Role::Badge)),
            Span::raw(" ".repeat(gap)),
            Span::styled(right, theme.style(Role::Muted)),
        ]);
        line
    }

    /// What a file weighs in the map, or a mark that it is not in it.
    fn weight(&self, file: &RankedFile) -> String {
        let comes_next = self.map.growth().is_some_and(|growth| growth.files.contains(&file.file));
        match (file.shown, comes_next) {
            (false, true) => "+".into(),
            (false, false) => "·".into(),
            (true, _) if self.columns < WITH_TOKENS => String::new(),
            (true, _) if self.columns < WITH_SHARE => meter::tokens(file.tokens as u64),
            (true, _) => {
                let share = file.tokens as f64 * 100.0 / self.map.tokens.max(1) as f64;
                format!("{} {share:>2.0} %", meter::tokens(file.tokens as u64))
            }
        }
    }

    fn symbol(&mut self, place: usize, at: usize, symbol: &RankedSymbol, coloring: &mut Coloring) -> Line<'static> {
        let theme = &self.app.theme;
        let path = self.map.files.get(place).map_or("", |file| &*file.path);
        let choice = symbol_choice(path, &symbol.name);
        let (mark, role) = match () {
            () if self.app.session.pinned.contains(&choice) => ("★ ", Role::Badge),
            () if self.app.session.banned.contains(&choice) => ("✗ ", Role::Warning),
            () if symbol.shown => ("│ ", Role::Muted),
            () => ("· ", Role::Muted),
        };
        // Members stand below what they belong to.
        let indent = if symbol.container.is_some() { "  " } else { "" };
        let number = format!("{:>7} ", symbol.line);
        let room = self.columns.saturating_sub(number.len() + 2 + indent.len());
        let mut line = Line::from(vec![
            Span::styled(number, theme.style(Role::Gutter)),
            Span::styled(mark, theme.style(role)),
            Span::raw(indent),
        ]);
        let signature = sanitize::visible_line(&symbol.signature);
        if self.filter.is_some() {
            line.spans.extend(self.name(&signature, room, false, theme.style(Role::Text)));
        } else if symbol.shown {
            line.spans.extend(self.signature(place, at, symbol, room, coloring).spans);
        } else {
            line.spans.push(Span::styled(width::clip(&signature, room).into_owned(), theme.style(Role::Muted)));
        }
        line
    }

    /// The signature of a symbol in the colours of its language. Those of a file are coloured as one text.
    fn signature(
        &mut self,
        place: usize,
        at: usize,
        symbol: &RankedSymbol,
        room: usize,
        coloring: &mut Coloring,
    ) -> Line<'static> {
        let (map, theme) = (self.map, &self.app.theme);
        let colors = self.colors.entry(place).or_insert_with(|| {
            let path = map.files.get(place).map_or("", |file| &*file.path);
            let lines = map.symbols(place).iter().take(MOST_COLORED);
            let text: String =
                lines.map(|symbol| format!("{}\n", symbol.signature.replace(['\n', '\r'], " "))).collect();
            coloring.get(Language::Path(path), &text)
        });
        let spans = colors.as_ref().and_then(|colors| colors.get(at)).map_or(&[][..], Vec::as_slice);
        let mut text = StyledText::new();
        let mut column = 0;
        for (piece, style) in pieces(&symbol.signature, spans, theme.style(Role::Text), theme) {
            let shown = sanitize::visible_from(piece, column).replace('\n', " ");
            column += width::columns(&shown);
            text.push(&shown, style);
        }
        cut(&text, room.max(1), theme.style(Role::Muted))
    }

    fn rule(&self, rule: Rule) -> Line<'static> {
        let theme = &self.app.theme;
        let (dash, role) = match rule {
            Rule::Fits => ("─", Role::Accent),
            Rule::Next => ("┄", Role::Muted),
            Rule::Out => ("─", Role::Warning),
        };
        let text = format!("{} {} ", dash.repeat(2), rule_text(self.app, self.map, rule));
        let text = width::clip(&text, self.columns).into_owned();
        let rest = self.columns.saturating_sub(width::columns(&text));
        Line::styled(format!("{text}{}", dash.repeat(rest)), theme.style(role))
    }

    fn banned(&self, choice: &str) -> Line<'static> {
        let theme = &self.app.theme;
        let shown = sanitize::visible_line(choice);
        Line::from(vec![
            Span::styled("✗ ", theme.style(Role::Warning)),
            Span::styled(
                width::clip_start(&shown, self.columns.saturating_sub(2)).into_owned(),
                theme.style(Role::Muted),
            ),
        ])
    }

    /// A name in at most so many columns, with what a search matched in another style.
    fn name(&mut self, name: &str, columns: usize, keep_end: bool, style: Style) -> Vec<Span<'static>> {
        let name = sanitize::visible_line(name);
        let shown = if keep_end { width::clip_start(&name, columns) } else { width::clip(&name, columns) };
        let hits = self.filter.as_mut().map(|filter| filter.positions(&name)).unwrap_or_default();
        if hits.is_empty() {
            return vec![Span::styled(shown.into_owned(), style)];
        }
        // Characters that were cut off before what is shown; the mark of a cut stands for the last of them.
        let cut = if keep_end { name.chars().count().saturating_sub(shown.chars().count()) } else { 0 };
        let hit = style.patch(self.app.theme.style(Role::Match));
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut at = cut;
        for cluster in shown.graphemes(true) {
            let next = at + cluster.chars().count();
            let style = if (at..next).any(|at| hits.binary_search(&at).is_ok()) { hit } else { style };
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push_str(cluster),
                _ => spans.push(Span::styled(cluster.to_owned(), style)),
            }
            at = next;
        }
        spans
    }
}
