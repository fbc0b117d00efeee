//! The map pane: files in rank order with their symbols and the limit of the budget, or the text that the model gets.

mod actions;
mod state;

use std::collections::HashMap;

use rhumb_index::repo_map::{RankedFile, RankedSymbol, RepoMap, symbol_choice};
use rhumb_session::SurveyState;
use rhumb_text::fuzzy::FuzzyFilter;

use super::widget::{mark_characters, meter};
use crate::tui::prelude::*;

pub use self::state::{MapPane, MapRow, Rule};

pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let map = app.map.rows.map.clone();
    let inner = pane_block(app, frame, area, Pane::Map, &note(app, map.as_deref()));
    let search = u16::from(app.map.filter.is_some());
    let [top, list] = Layout::vertical([Constraint::Length(search), Constraint::Fill(1)]).areas(inner);
    draw_filter(app, frame, top);
    cache.heights[0] = usize::from(list.height);
    let Some(map) = map.filter(|map| !map.files.is_empty() || !app.session.map().banned.is_empty()) else {
        let text = Line::styled(why_empty(app), app.theme().style(Role::Muted));
        return frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), list);
    };
    match &app.map.text {
        Some(text) => draw_rows(app, cache, frame, (Pane::Map, list), text.window, |at, cache| {
            text.line(at, usize::from(list.width), app, &mut cache.coloring)
        }),
        None => {
            let mut drawing = Drawing::new(app, &map, list.width);
            if let Some(filter) = app.map.filter.as_ref().filter(|filter| filter.found.is_some()) {
                drawing.filter = Some(FuzzyFilter::new(filter.input.text().trim()));
            }
            if app.map.rows.len() == 0 {
                let text = Line::styled("nothing matches", app.theme().style(Role::Muted));
                return frame.render_widget(text, list);
            }
            draw_rows(app, cache, frame, (Pane::Map, list), app.map.window, |at, cache| {
                Some(drawing.line(app.map.rows.get(at)?, &mut cache.coloring))
            });
        }
    }
}

/// The title: progress of reading, or the tokens of the map.
fn note(app: &App, map: Option<&RepoMap>) -> String {
    let provisional = app.session.view().is_some_and(|view| view.provisional);
    let note = match (app.session.survey(), map) {
        (SurveyState::Reading(..), None) if app.session.is_stopping() => "reading stops …".to_owned(),
        (SurveyState::Reading(found, 0), None) => format!("listing files: {}", meter::grouped(found)),
        (SurveyState::Reading(done, total), None) => {
            format!("reading {} of {}", meter::grouped(done), meter::grouped(total))
        }
        (_, None) => "ranking".to_owned(),
        (_, Some(map)) if map.budget == 0 => "no space for it".to_owned(),
        (_, Some(map)) => {
            let budget = meter::tokens(map.budget as u64);
            let first = match app.session.survey() {
                SurveyState::Partial(..) => "partial · ",
                _ if provisional => "first guess · ",
                _ => "",
            };
            format!("{first}{} of {budget} tokens", meter::tokens(map.tokens as u64))
        }
    };
    if app.map.text.is_some() { format!("as sent · {note}") } else { note }
}

fn why_empty(app: &App) -> &'static str {
    match (app.session.survey(), &app.map.rows.map) {
        (SurveyState::Done, Some(_)) if app.session.paths().is_empty() => "There are no files here yet.",
        (SurveyState::Done, Some(_)) => "Every file is in the chat.",
        _ => "The map appears as the repository is read.",
    }
}

fn draw_filter(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(filter) = app.map.filter.as_ref().filter(|_| area.height > 0) else { return };
    let theme = app.theme();
    let found = match &filter.found {
        Some(found) => format!(" {} files, {} symbols", found.total.0, found.total.1),
        None => String::new(),
    };
    let columns = usize::from(area.width);
    let prompt = "/ ";
    let available = columns.saturating_sub(width::columns(prompt) + width::columns(&found) + 1).max(4);
    let typed = sanitize::visible_line(filter.input.text());
    let typed = width::clip_start(&typed, available).into_owned();
    let x = width::columns(prompt) + filter.input.cursor_column().min(width::columns(&typed));
    let left = vec![Span::styled(prompt, theme.style(Role::Accent)), Span::styled(typed, theme.style(Role::Text))];
    frame.render_widget(spread(left, vec![Span::styled(found, theme.style(Role::Muted))], columns), area);
    if filter.typing && app.focus == Pane::Map && app.overlays.is_empty() {
        place_cursor(frame, area, x);
    }
}

fn rule_text(app: &App, map: &RepoMap, rule: Rule) -> String {
    let key = |action: Action| app.keys.first(action).to_owned();
    match rule {
        Rule::Fits => {
            let files = map.shown_files();
            let more = match map.growth().filter(|growth| growth.files.is_empty()) {
                Some(growth) if growth.symbols > 0 => {
                    format!(" · {} {} tokens: {} more symbols", key(Action::MapMore), growth.step, growth.symbols)
                }
                _ => String::new(),
            };
            format!("{} tokens hold {}{more}", meter::tokens(map.budget as u64), count(files, "file"))
        }
        Rule::Next => {
            let (files, symbols, step) =
                map.growth().map_or((0, 0, 0), |growth| (growth.files.len(), growth.symbols, growth.step));
            let noun = if files == 1 { "file" } else { "files" };
            let symbols = if symbols > 0 { format!(", {symbols} symbols") } else { String::new() };
            format!("{} {step} tokens: {files} more {noun}{symbols}", key(Action::MapMore))
        }
        Rule::Out => format!("banned by you · {} allows it again", key(Action::MapBan)),
    }
}

/// Cells of the gauge that shows a file's rank against the best.
const GAUGE: usize = 5;

/// From the first number of columns on, a file is followed by its tokens; from the second on, also by its share of the
/// map.
const MIN_TOKENS_COLUMNS: usize = 42;
const MIN_SHARE_COLUMNS: usize = 52;

/// Symbols of a file that are coloured together at most.
const MAX_COLORED_SYMBOLS: usize = 2_000;

pub struct Drawing<'a> {
    app: &'a App,
    map: &'a RepoMap,
    columns: usize,
    best: f64,
    /// Colours of the signatures of a file, by its index.
    colors: HashMap<usize, Option<Colors>>,
    pub filter: Option<FuzzyFilter>,
}

impl<'a> Drawing<'a> {
    pub fn new(app: &'a App, map: &'a RepoMap, columns: u16) -> Self {
        // Pinned files come first regardless of their rank.
        let best = map
            .files
            .iter()
            .take(app.session.map().pinned.len() + 1)
            .map(|file| file.rank)
            .fold(f64::MIN_POSITIVE, f64::max);
        Self { app, map, columns: usize::from(columns), best, colors: HashMap::new(), filter: None }
    }

    pub fn line(&mut self, row: MapRow, coloring: &mut Coloring) -> Line<'static> {
        match row {
            MapRow::File(place) => self.map.files.get(place).map(|file| self.file(place, file)),
            MapRow::Symbol(place, at) => {
                let symbol = self.map.symbols(place).get(at);
                symbol.map(|symbol| self.symbol(place, at, symbol, coloring))
            }
            MapRow::Rule(rule) => Some(self.rule(rule)),
            MapRow::Banned(at) => self.app.session.map().banned.iter().nth(at).map(|choice| self.banned(choice)),
        }
        .unwrap_or_default()
    }

    fn file(&mut self, place: usize, file: &RankedFile) -> Line<'static> {
        let theme = self.app.theme();
        let arrow = match (file.definitions, self.app.map.rows.is_open(place)) {
            (0, _) => " ",
            (_, true) => "▾",
            (_, false) => "▸",
        };
        let filled = ((file.rank / self.best) * GAUGE as f64).ceil().clamp(0.0, GAUGE as f64) as usize;
        let count = if file.definitions > 0 { format!(" {}", file.definitions) } else { String::new() };
        let pinned = if self.app.session.map().pinned.contains(&*file.path) { " ★ pinned" } else { "" };
        let right = Some(self.weight(file)).filter(|right| !right.is_empty());
        let right = right.map_or_else(String::new, |right| format!(" {right}"));
        let fixed = GAUGE + 3 + width::columns(&count) + width::columns(pinned) + width::columns(&right);
        let role = if file.shown { Role::Text } else { Role::Muted };
        let path = self.name(&file.path, self.columns.saturating_sub(fixed), true, theme.style(role));
        let mut left = vec![
            Span::styled(format!("{arrow} "), theme.style(Role::Accent)),
            Span::styled("▮".repeat(filled), theme.style(if file.shown { Role::MeterLow } else { Role::Muted })),
            Span::styled("▯".repeat(GAUGE - filled), theme.style(Role::MeterEmpty)),
            Span::raw(" "),
        ];
        left.extend(path);
        left.push(Span::styled(count, theme.style(Role::Muted)));
        left.push(Span::styled(pinned, theme.style(Role::Badge)));
        spread(left, vec![Span::styled(right, theme.style(Role::Muted))], self.columns)
    }

    /// The tokens of a file, or a mark that it is not in the map.
    fn weight(&self, file: &RankedFile) -> String {
        let comes_next = self.map.growth().is_some_and(|growth| growth.files.contains(&file.file));
        match (file.shown, comes_next) {
            (false, true) => "+".into(),
            (false, false) => "·".into(),
            (true, _) if self.columns < MIN_TOKENS_COLUMNS => String::new(),
            (true, _) if self.columns < MIN_SHARE_COLUMNS => meter::tokens(file.tokens as u64),
            (true, _) => {
                let share = file.tokens as f64 * 100.0 / self.map.tokens.max(1) as f64;
                format!("{} {share:>2.0} %", meter::tokens(file.tokens as u64))
            }
        }
    }

    fn symbol(&mut self, place: usize, at: usize, symbol: &RankedSymbol, coloring: &mut Coloring) -> Line<'static> {
        let theme = self.app.theme();
        let path = self.map.files.get(place).map_or("", |file| &*file.path);
        let choice = symbol_choice(path, &symbol.name);
        let (mark, role) = match () {
            () if self.app.session.map().pinned.contains(&choice) => ("★ ", Role::Badge),
            () if self.app.session.map().banned.contains(&choice) => ("✗ ", Role::Warning),
            () if symbol.shown => ("│ ", Role::Muted),
            () => ("· ", Role::Muted),
        };
        // Members are indented below their container.
        let indent = if symbol.container.is_some() { "  " } else { "" };
        let number = format!("{:>7} ", symbol.line);
        let available = self.columns.saturating_sub(number.len() + 2 + indent.len());
        let mut line = Line::from(vec![
            Span::styled(number, theme.style(Role::Gutter)),
            Span::styled(mark, theme.style(role)),
            Span::raw(indent),
        ]);
        let signature = sanitize::visible_line(&symbol.signature);
        if self.filter.is_some() {
            line.spans.extend(self.name(&signature, available, false, theme.style(Role::Text)));
        } else if symbol.shown {
            line.spans.extend(self.signature(place, at, symbol, available, coloring).spans);
        } else {
            line.spans.push(Span::styled(width::clip(&signature, available).into_owned(), theme.style(Role::Muted)));
        }
        line
    }

    /// The signature of a symbol in colours. The signatures of a file are coloured together.
    fn signature(
        &mut self,
        place: usize,
        at: usize,
        symbol: &RankedSymbol,
        available: usize,
        coloring: &mut Coloring,
    ) -> Line<'static> {
        let (map, theme) = (self.map, self.app.theme());
        let colors = self.colors.entry(place).or_insert_with(|| {
            let path = map.files.get(place).map_or("", |file| &*file.path);
            let lines = map.symbols(place).iter().take(MAX_COLORED_SYMBOLS);
            let text: String =
                lines.map(|symbol| format!("{}\n", symbol.signature.replace(['\n', '\r'], " "))).collect();
            coloring.get(Language::Path(path), &text)
        });
        let spans = colors.as_ref().and_then(|colors| colors.get(at)).map_or(&[][..], Vec::as_slice);
        cut(
            &colored(&symbol.signature.replace(['\n', '\r'], " "), spans, theme),
            available.max(1),
            theme.style(Role::Muted),
        )
    }

    fn rule(&self, rule: Rule) -> Line<'static> {
        let theme = self.app.theme();
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
        let theme = self.app.theme();
        let shown = sanitize::visible_line(choice);
        let shown = width::clip_start(&shown, self.columns.saturating_sub(2)).into_owned();
        Line::from(vec![Span::styled("✗ ", theme.style(Role::Warning)), Span::styled(shown, theme.style(Role::Muted))])
    }

    /// A name in at most `columns` columns, with highlighted matches.
    fn name(&mut self, name: &str, columns: usize, keep_end: bool, style: Style) -> Vec<Span<'static>> {
        let name = sanitize::visible_line(name);
        let shown = if keep_end { width::clip_start(&name, columns) } else { width::clip(&name, columns) };
        let hits = self.filter.as_mut().map(|filter| filter.positions(&name)).unwrap_or_default();
        if hits.is_empty() {
            return vec![Span::styled(shown.into_owned(), style)];
        }
        // Characters that were cut off before the shown part; the mark of the cut counts as the last of them.
        let cut = if keep_end { name.chars().count().saturating_sub(shown.chars().count()) } else { 0 };
        let hit = style.patch(self.app.theme().style(Role::Match));
        mark_characters(&shown, cut, &hits, style, hit)
    }
}

/// Longest part of a line that is drawn, in bytes. A line may list many names after its path.
const MAX_LINE_BYTES: usize = 4_000;

#[derive(Debug, Default)]
pub struct MapText {
    map: Option<Arc<RepoMap>>,
    lines: Vec<TextLine>,
    pub window: ListWindow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TextLine {
    bytes: Range<usize>,
    /// The index of the file. `None` for the name of a folder.
    place: Option<usize>,
    /// The length of the path at its beginning in bytes; 0 for the line of a symbol.
    named: usize,
    /// The bytes of the adjacent symbol lines, which are coloured together.
    block: Range<usize>,
}

impl MapText {
    pub fn new(map: Option<&Arc<RepoMap>>) -> Self {
        let mut text = Self::default();
        text.set_map(map);
        text
    }

    /// Replaces the map. The cursor stays on its line.
    pub fn set_map(&mut self, map: Option<&Arc<RepoMap>>) {
        self.map = map.map(Arc::clone);
        self.lines = map.map(|map| lines(map)).unwrap_or_default();
        self.window.set_len(self.lines.len());
    }

    /// The file and the symbol of the line under the cursor.
    pub fn target(&self) -> Option<(usize, Option<usize>)> {
        let line = self.lines.get(self.window.selected()?)?;
        let (map, place) = (self.map.as_ref()?, line.place?);
        if line.named > 0 {
            return Some((place, None));
        }
        let text = map.text.get(line.bytes.clone()).unwrap_or_default();
        // The line may be cut and shows the header instead of the signature, but both contain the name. Among several symbols of
        // that name, the position decides.
        let before = self.lines.get(..self.window.selected()?).unwrap_or_default().iter().rev();
        let before = before.take_while(|other| other.place == line.place && other.named == 0);
        let mut found: Vec<usize> = (0..map.symbols(place).len()).collect();
        found.retain(|at| map.symbols(place).get(*at).is_some_and(|symbol| has_word(text, &symbol.name)));
        found.sort_by_key(|at| map.symbols(place).get(*at).map(|symbol| (!symbol.shown, symbol.line)));
        let longest = found.iter().filter_map(|at| map.symbols(place).get(*at)).map(|symbol| symbol.name.len()).max();
        found.retain(|at| map.symbols(place).get(*at).map(|symbol| symbol.name.len()) == longest);
        let same = |other: &&TextLine| map.text.get(other.bytes.clone()) == Some(text);
        let nth = before.filter(same).count();
        Some((place, found.get(nth).or(found.last()).copied()))
    }

    pub fn select(&mut self, place: usize) {
        if let Some(at) = self.lines.iter().position(|line| line.place == Some(place)) {
            self.window.select(at);
        }
    }

    pub fn line(&self, at: usize, columns: usize, app: &App, coloring: &mut Coloring) -> Option<Line<'static>> {
        let (line, map) = (self.lines.get(at)?, self.map.as_ref()?);
        let text = map.text.get(line.bytes.clone())?;
        let text = text.get(..text.floor_char_boundary(MAX_LINE_BYTES)).unwrap_or(text);
        let theme = app.theme();
        let mut styled = StyledText::new();
        if line.named > 0 {
            let (name, rest) = text.split_at_checked(line.named).unwrap_or((text, ""));
            let role = if line.place.is_some() { Role::DiffHeader } else { Role::Muted };
            styled.push(name, theme.style(role));
            styled.push(rest, theme.style(Role::Muted));
        } else {
            let path = map.files.get(line.place?).map(|file| Arc::clone(&file.path))?;
            let block = map.text.get(line.block.clone())?;
            let number = block.get(..line.bytes.start.saturating_sub(line.block.start))?.matches('\n').count();
            let colors = coloring.get(Language::Path(&path), block);
            let spans = colors.as_ref().and_then(|colors| colors.get(number)).map_or(&[][..], Vec::as_slice);
            styled = colored(text, spans, theme);
        }
        Some(cut(&styled, columns, theme.style(Role::Muted)))
    }
}

/// The first line of a styled text, with a mark if it is cut.
pub fn cut(text: &StyledText, columns: usize, mark: ratatui::style::Style) -> Line<'static> {
    if text.columns() <= columns {
        return Line::from(text.spans(0..text.text().len()));
    }
    let mut line = text.hard_wrap(columns.saturating_sub(1).max(1)).into_iter().next().unwrap_or_default();
    line.push_span(Span::styled(width::ELLIPSIS, mark));
    line
}

/// Whether a text contains a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// The lines of a map's text, each with its file.
fn lines(map: &RepoMap) -> Vec<TextLine> {
    let shown = map.files.iter().enumerate().filter(|(_, file)| file.shown);
    let places: HashMap<&str, usize> = shown.map(|(place, file)| (&*file.path, place)).collect();
    let mut lines: Vec<TextLine> = Vec::new();
    let (mut at, mut folder, mut current) = (0, None, None);
    for whole in map.text.split_inclusive('\n') {
        let text = whole.trim_end_matches('\n');
        let bytes = at..at + text.len();
        at += whole.len();
        let inner = text.strip_prefix("  ").unwrap_or(text);
        let indent = text.len() - inner.len();
        let below = folder.filter(|_| indent > 0).map(|folder: &str| format!("{folder}{inner}"));
        let named = match &below {
            Some(path) => {
                named(path, &places).map(|(place, length)| (place, length + indent - (path.len() - inner.len())))
            }
            None => named(text, &places),
        };
        let (place, named) = match named {
            Some((place, length)) => (Some(place), length),
            None if indent == 0 && text.ends_with('/') => (None, text.len()),
            None => (current, 0),
        };
        if indent == 0 {
            folder = (place.is_none()).then_some(text);
        }
        current = place;
        lines.push(TextLine { block: bytes.clone(), bytes, place, named });
    }
    join_blocks(&mut lines);
    lines
}

/// The file whose path begins a line, and the length of the path.
fn named(line: &str, places: &HashMap<&str, usize>) -> Option<(usize, usize)> {
    let ends = line.match_indices(':').map(|(at, _)| at).chain([line.len()]);
    ends.filter_map(|end| Some((*places.get(line.get(..end)?)?, end))).next()
}

/// Sets `block` of adjacent symbol lines to the bytes of all of them.
fn join_blocks(lines: &mut [TextLine]) {
    for block in lines.chunk_by_mut(|a, b| a.named == 0 && b.named == 0) {
        let Some((first, last)) = block.first().zip(block.last()).filter(|(first, _)| first.named == 0) else {
            continue;
        };
        let bytes = first.bytes.start..last.bytes.end;
        block.iter_mut().for_each(|line| line.block = bytes.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_index::repo_map::MapFile;
    use rhumb_index::repo_map::MapRequest;
    use rhumb_syntax::Definition;
    use rhumb_syntax::FileTags;
    use rhumb_syntax::SymbolKind;
    use rhumb_tokens::counter_for_model;

    fn file(path: &str, names: &[&str]) -> MapFile {
        let definition = |(at, name): (usize, &&str)| Definition {
            name: (*name).into(),
            kind: SymbolKind::Function,
            line: at as u32 + 1,
            end_line: at as u32 + 9,
            signature: format!("fn {name}(ship: Ship)"),
            container: None,
            doc: String::new(),
        };
        let definitions = names.iter().enumerate().map(definition).collect();
        MapFile {
            path: path.into(),
            tags: Arc::new(FileTags { definitions, ..Default::default() }),
            digest: Arc::default(),
        }
    }

    fn map(budget: usize) -> Arc<RepoMap> {
        let files = [
            file("src/berth.rs", &["moor", "moor_all", "leave"]),
            file("src/empty.rs", &[]),
            file("src/void.rs", &[]),
            file("README.md", &[]),
        ];
        let request = MapRequest { budget, ..MapRequest::default() };
        Arc::new(RepoMap::build(&files, &request, counter_for_model("gpt-4").as_ref()))
    }

    fn told(text: &MapText, map: &RepoMap) -> Vec<String> {
        let mut text = MapText { map: text.map.clone(), lines: text.lines.clone(), window: text.window };
        (0..text.lines.len())
            .map(|at| {
                text.window.select(at);
                match text.target() {
                    None => "folder".into(),
                    Some((place, None)) => map.files[place].path.to_string(),
                    Some((place, Some(symbol))) => map.symbols(place)[symbol].name.clone(),
                }
            })
            .collect()
    }

    #[test]
    fn each_line_knows_what_it_tells_of() {
        let map = map(1_000);
        let text = MapText::new(Some(&map));
        let told = told(&text, &map);
        assert_eq!(told.len(), map.text.lines().count());
        for (line, told) in map.text.lines().zip(&told) {
            let name = told.rsplit('/').next().unwrap();
            assert!(line.contains(name) || told == "folder" && line.ends_with('/'), "{line:?} tells of {told}");
        }
        assert!(told.iter().any(|told| told == "moor") && told.iter().any(|told| told == "moor_all"), "{told:?}");
    }

    #[test]
    fn the_lines_of_symbols_of_a_file_are_coloured_together() {
        let map = map(1_000);
        let text = MapText::new(Some(&map));
        let symbols: Vec<&TextLine> = text.lines.iter().filter(|line| line.named == 0).collect();
        assert!(symbols.len() >= 2, "{}", map.text);
        assert!(symbols.iter().all(|line| line.block == symbols[0].block));
    }

    #[test]
    fn an_empty_map_has_no_lines() {
        let text = MapText::new(Some(&map(0)));
        assert!(text.lines.is_empty() && text.target().is_none());
    }
}
