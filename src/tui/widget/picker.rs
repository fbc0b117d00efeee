//! A fuzzy picker: the user types to filter a list, and chooses one or several items. Short lists are ranked inline, long lists
//! as a job on another thread.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use ratatui::widgets::{Block, BorderType, Clear};
use rayon::prelude::*;
use rhumb_index::repo_map::{RepoMap, TagGraph};
use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, NamePart};

use super::mark_characters;
use crate::tui::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerOutcome {
    Open,
    Cancelled,
    /// The indices of the chosen items. Never empty.
    Picked(Vec<usize>),
}

#[derive(Debug, Clone)]
pub struct Picker {
    title: String,
    items: Items,
    /// The detail at the right of each item; may be shorter than `items`.
    details: Vec<String>,
    dimmed: Vec<bool>,
    query: LineInput,
    ranking: Ranking,
    window: ListWindow,
    marked: BTreeSet<usize>,
    multiple: bool,
    name: NamePart,
    /// Whether the listed items are those of an earlier query, until a job has run.
    is_behind: bool,
    /// The item to which the cursor goes after the job.
    held: Option<usize>,
    with_preview: bool,
    /// Additional keys for the line of hints.
    extra: Vec<(&'static str, &'static str)>,
}

impl Picker {
    /// A picker of one item. All items are listed until a query is typed.
    pub fn new(title: &str, items: Vec<String>) -> Self {
        // The query is matched with the displayed text.
        Self::of(title, Items::Texts(Arc::new(items.into_iter().map(safe).collect())))
    }

    /// A picker of items that may be many and are shared.
    pub fn of(title: &str, items: Items) -> Self {
        Self {
            title: sanitize::visible_line(title).into_owned(),
            details: Vec::new(),
            dimmed: Vec::new(),
            query: LineInput::default(),
            ranking: Ranking::all(items.len()),
            window: ListWindow::new(items.len()),
            marked: BTreeSet::new(),
            multiple: false,
            name: if matches!(items, Items::Symbols(_)) { NamePart::Symbol } else { NamePart::FirstWord },
            is_behind: false,
            held: None,
            with_preview: false,
            extra: Vec::new(),
            items,
        }
    }

    pub fn multiple(mut self) -> Self {
        self.multiple = true;
        self
    }

    /// The items are paths: file names weigh more, and an item that is too long keeps its end.
    pub fn paths(mut self) -> Self {
        self.name = NamePart::Path;
        self
    }

    /// Reserves an area for a preview.
    pub fn with_preview(mut self) -> Self {
        self.with_preview = true;
        self
    }

    /// Adds keys to the line of hints. The owner of the picker handles them.
    pub fn extra_keys(mut self, keys: &[(&'static str, &'static str)]) -> Self {
        self.extra = keys.to_vec();
        self
    }

    /// Texts at the right of the items, which are not searched.
    pub fn details(mut self, details: Vec<String>) -> Self {
        self.details = details.into_iter().map(safe).collect();
        self
    }

    pub fn dimmed(mut self, dimmed: Vec<bool>) -> Self {
        self.dimmed = dimmed;
        self
    }

    pub fn match_count(&self) -> usize {
        self.ranking.matches.len()
    }

    pub fn selected(&self) -> Option<usize> {
        self.window.selected().and_then(|at| self.ranking.matches.get(at).copied())
    }

    pub fn row(&self) -> usize {
        self.window.selected().unwrap_or(0)
    }

    /// Moves the cursor to a row. Returns false if it does not exist.
    pub fn point(&mut self, at: usize) -> bool {
        let is_there = at < self.match_count();
        if is_there {
            self.window.select(at);
        }
        is_there
    }

    pub fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
    }

    pub fn take_job(&mut self) -> Option<RankJob> {
        self.ranking.job.take().map(|job| *job)
    }

    /// Stores the result of a job. Returns whether it was current.
    pub fn put(&mut self, ranked: Ranked) -> bool {
        let is_ours = self.ranking.put(ranked);
        if is_ours {
            self.show_ranked();
        }
        is_ours
    }

    pub fn set_query(&mut self, query: &str) {
        self.query = LineInput::new(query);
        self.rank();
    }

    /// Takes the query, the cursor and the marks from the picker of an earlier version of the list. Items are identified by
    /// their text. If the item under the cursor is gone, the cursor stays on its row.
    pub fn carry_over(&mut self, earlier: &Self) {
        let place = |item: usize| {
            let (mut buffer, mut other) = (String::new(), String::new());
            let text = earlier.items.text(item, &mut buffer);
            (0..self.items.len()).find(|at| self.items.text(*at, &mut other) == text)
        };
        let held = earlier.held.or_else(|| earlier.selected()).and_then(place);
        self.marked = earlier.marked.iter().copied().filter_map(place).collect();
        self.query = earlier.query.clone();
        self.rank();
        self.held = held.filter(|_| self.is_behind);
        self.window = earlier.window;
        self.window.set_len(self.match_count());
        held.into_iter().for_each(|item| self.go_to(item));
    }

    /// Moves the cursor to an item, if it is listed.
    fn go_to(&mut self, item: usize) {
        if let Some(row) = self.ranking.matches.iter().position(|at| *at == item) {
            self.window.select(row);
        }
    }

    pub fn paste(&mut self, text: &str) {
        self.query.insert(text);
        self.rank();
    }

    /// Handles a key: arrows, Ctrl-n and Ctrl-p move with wrap-around, the page keys scroll by a page, Tab marks an item (if
    /// several may be chosen) or moves down, Enter chooses the marked items or else the selected one, Esc and Ctrl-c cancel,
    /// and other keys edit the query.
    pub fn key(&mut self, key: KeyEvent) -> PickerOutcome {
        match (key.modifiers, key.code) {
            (_, KeyCode::Esc) | (KeyModifiers::CONTROL, KeyCode::Char('c')) => return PickerOutcome::Cancelled,
            (_, KeyCode::Enter) => return self.picked(),
            (_, KeyCode::Down) | (KeyModifiers::CONTROL, KeyCode::Char('n')) => self.window.cycle(true),
            (_, KeyCode::Up) | (KeyModifiers::CONTROL, KeyCode::Char('p')) => self.window.cycle(false),
            (_, KeyCode::PageDown) => self.window.page_down(),
            (_, KeyCode::PageUp) => self.window.page_up(),
            (_, KeyCode::BackTab) => self.mark_and_go(false),
            (_, KeyCode::Tab) => self.mark_and_go(true),
            _ => self.edit_query(key),
        }
        PickerOutcome::Open
    }

    fn edit_query(&mut self, key: KeyEvent) {
        let before = self.query.text().to_owned();
        self.query.key(key);
        if self.query.text() != before {
            self.rank();
        }
    }

    fn rank(&mut self) {
        self.held = None;
        self.is_behind = !self.ranking.update(&self.items, self.query.text(), self.name);
        if !self.is_behind {
            self.show_ranked();
        }
    }

    /// Lists the items of the newest ranking. The cursor goes to the held item, or else to the first one.
    fn show_ranked(&mut self) {
        self.is_behind = false;
        self.window.set_len(self.match_count());
        self.window.first();
        self.held.take().into_iter().for_each(|item| self.go_to(item));
    }

    fn mark_and_go(&mut self, forward: bool) {
        if let Some(item) = self.selected().filter(|_| self.multiple)
            && !self.marked.remove(&item)
        {
            self.marked.insert(item);
        }
        self.window.cycle(forward);
    }

    fn picked(&mut self) -> PickerOutcome {
        if self.is_behind {
            // The chosen item must match the typed query, even if a ranking is still pending.
            self.ranking.catch_up(&self.items, self.query.text(), self.name);
            self.show_ranked();
        }
        if !self.marked.is_empty() {
            return PickerOutcome::Picked(self.marked.iter().copied().collect());
        }
        self.selected().map_or(PickerOutcome::Open, |item| PickerOutcome::Picked(vec![item]))
    }

    pub fn area(&self, screen: Rect) -> Rect {
        if self.with_preview { wide_area(screen) } else { area_within(screen, (MAX_WIDTH, MAX_HEIGHT)) }
    }

    /// Computes the height of the list for a screen, for paging and scrolling. To be called before drawing if the size of the
    /// screen may have changed.
    pub fn fit(&mut self, screen: Rect) {
        let (list, _) = self.parts(self.area(screen));
        self.window.set_height(usize::from(list.height));
    }

    /// The list, and the area of the preview.
    fn parts(&self, area: Rect) -> (Rect, Option<Rect>) {
        let inside = Block::bordered().inner(area);
        let [_, middle, _] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(inside);
        if self.with_preview { list_and_look(middle, MIN_COLUMNS_BESIDE) } else { (middle, None) }
    }

    /// Draws the overlay in the middle of the screen and notes the areas of its rows. Returns the area of the preview, if there
    /// is one.
    pub fn draw(&self, frame: &mut Frame<'_>, screen: Rect, hits: &mut Hits, theme: &Theme) -> Option<Rect> {
        let area = self.area(screen);
        let (list, look) = self.parts(area);
        let mut window = self.window;
        window.set_height(usize::from(list.height));
        let available = usize::from(area.width).saturating_sub(width::columns(&self.count()) + 5);
        let title = format!(" {} ", width::clip(&self.title, available));
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.style(Role::BorderFocused))
            .style(theme.style(Role::Overlay))
            .title_top(Line::styled(title, theme.style(Role::Title)))
            .title_top(Line::styled(self.count(), theme.style(Role::Muted)).right_aligned());
        let inside = block.inner(area);
        frame.render_widget(Clear, area);
        frame.render_widget(block, area);
        let layout = Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]);
        let [query, _, hints] = layout.areas(inside);
        self.query.draw(frame, query, "", theme);
        let rows = self.rows(window.visible(), window.selected(), usize::from(list.width), theme);
        frame.render_widget(Paragraph::new(rows), list);
        for (row, at) in (list.y..list.bottom()).zip(window.visible()) {
            hits.add(Rect { y: row, height: 1, ..list }, Hit::Item(at));
        }
        frame.render_widget(self.hints(usize::from(hints.width), theme), hints);
        if let Some(look) = look {
            rule(frame, list, look, theme);
        }
        look
    }

    fn count(&self) -> String {
        let marked = if self.marked.is_empty() { String::new() } else { format!("{} marked, ", self.marked.len()) };
        let behind = if self.is_behind { "… " } else { "" };
        format!(" {marked}{behind}{} of {} ", self.match_count(), self.items.len())
    }

    fn rows(&self, visible: Range<usize>, selected: Option<usize>, columns: usize, theme: &Theme) -> Lines {
        let listed = self.ranking.matches.get(visible.clone()).unwrap_or_default();
        if listed.is_empty() {
            return vec![Line::styled("  nothing matches", theme.style(Role::Muted))];
        }
        let texts: Vec<String> = listed
            .iter()
            .map(|at| sanitize::visible_line(self.items.text(*at, &mut String::new())).into_owned())
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let highlights = self.ranking.highlights(&texts);
        let rows = listed.iter().zip(texts).zip(highlights).zip(visible);
        rows.map(|(((item, text), hits), at)| {
            let detail = self.details.get(*item).map_or_else(|| self.items.detail(*item), String::as_str);
            let row = PickerRow {
                text,
                hits: &hits,
                detail,
                marked: self.multiple.then(|| self.marked.contains(item)),
                selected: selected == Some(at),
                dimmed: self.dimmed.get(*item) == Some(&true),
            };
            row.line(columns, self.name == NamePart::Path, theme)
        })
        .collect()
    }

    /// The available keys, as many as fit.
    fn hints(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let mark = self.multiple.then_some(("Tab", "mark"));
        let first = [Some(("Enter", "choose")), Some(("Esc", "close")), mark].into_iter().flatten();
        key_hints(first.chain(self.extra.iter().copied()).chain([("↑↓", "move")]), columns, theme)
    }
}

fn safe(text: String) -> String {
    match sanitize::visible_line(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(safe) => safe,
    }
}

#[derive(Debug, Clone)]
pub enum Items {
    Texts(Arc<Vec<String>>),
    Symbols(Arc<Symbols>),
}

/// Every definition of the repository: files in the order of the map, definitions by line.
#[derive(Debug)]
pub struct Symbols {
    graph: Arc<TagGraph>,
    /// File and index of the definition.
    places: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolItem<'a> {
    pub name: &'a str,
    /// Such as `function`.
    pub kind: &'static str,
    pub path: &'a str,
    /// 1-based.
    pub line: usize,
}

impl Symbols {
    /// The definitions in the order of the map, if there is one.
    pub fn new(graph: Arc<TagGraph>, map: Option<&RepoMap>) -> Self {
        let index = Arc::clone(graph.index());
        let mut files: Vec<u32> = (0..u32::try_from(index.len()).unwrap_or(u32::MAX)).collect();
        if let Some(map) = map {
            let ranks = map.ranks(index.files(), |file| &file.path);
            files.sort_by_key(|file| ranks.get(*file as usize).copied().unwrap_or(u32::MAX));
        }
        let of = |file: u32| {
            let count = index.record(file).map_or(0, |record| record.definitions().len());
            (0..u32::try_from(count).unwrap_or(0)).map(move |at| (file, at))
        };
        Self { places: files.into_iter().flat_map(of).collect(), graph }
    }

    pub fn get(&self, at: usize) -> Option<SymbolItem<'_>> {
        let &(file, place) = self.places.get(at)?;
        let index = self.graph.index();
        let entry = index.definition(file, place)?;
        let (kind, line) = (entry.kind().as_str(), entry.line() as usize);
        Some(SymbolItem { name: entry.name(), kind, path: index.path(file), line })
    }
}

impl Items {
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Symbols(symbols) => symbols.places.len(),
        }
    }

    /// The text that an item is matched by. A generated text is stored in `buffer`. Empty if the item does not exist.
    pub fn text<'a>(&'a self, at: usize, buffer: &'a mut String) -> &'a str {
        match self {
            Self::Texts(texts) => texts.get(at).map_or("", String::as_str),
            Self::Symbols(symbols) => {
                buffer.clear();
                if let Some(item) = symbols.get(at) {
                    let _ = write!(buffer, "{}  {}:{}", item.name, item.path, item.line);
                }
                buffer
            }
        }
    }

    pub fn detail(&self, at: usize) -> &str {
        match self {
            Self::Texts(_) => "",
            Self::Symbols(symbols) => symbols.get(at).map_or("", |item| item.kind),
        }
    }
}

/// The largest overlay, borders included, and the columns and lines of the screen that it leaves free around it.
const MAX_WIDTH: u16 = 84;
const MAX_HEIGHT: u16 = 22;
const MARGIN: u16 = 2;
/// The size of the largest overlay with a preview.
const MAX_WIDTH_WITH_PREVIEW: u16 = 180;
const MAX_HEIGHT_WITH_PREVIEW: u16 = 48;
/// With at least this many columns inside, the preview is beside the list; with at least this many lines, below it.
const MIN_COLUMNS_BESIDE: u16 = 96;
const MIN_LINES_BELOW: u16 = 16;

/// Keys and their effects, as many as fit.
pub fn key_hints<'a>(
    keys: impl IntoIterator<Item = (&'a str, &'a str)>,
    columns: usize,
    theme: &Theme,
) -> Line<'static> {
    let mut line = Line::default();
    for (key, meaning) in keys {
        let key = Span::styled(format!("  {key}"), theme.style(Role::Key));
        let meaning = Span::styled(format!(" {meaning}"), theme.style(Role::Muted));
        if line.width() + key.width() + meaning.width() > columns {
            break;
        }
        line.spans.extend([key, meaning]);
    }
    line
}

pub fn wide_area(screen: Rect) -> Rect {
    area_within(screen, (MAX_WIDTH_WITH_PREVIEW, MAX_HEIGHT_WITH_PREVIEW))
}

fn area_within(screen: Rect, (widest, tallest): (u16, u16)) -> Rect {
    // A small screen has no space for a margin.
    let margin = |available: u16, small: u16| if available <= small { 0 } else { MARGIN };
    let size = |available: u16, most: u16, small| {
        available.saturating_sub(2 * margin(available, small)).min(most).max(available.min(8))
    };
    let (width, height) = (size(screen.width, widest, 49), size(screen.height, tallest, 12));
    Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) / 2, width, height }
}

/// Divides an area into a list and a preview, if both fit: beside the list from `beside` columns on, otherwise below
/// it.
pub fn list_and_look(middle: Rect, beside: u16) -> (Rect, Option<Rect>) {
    let parts = |list: u16| [Constraint::Length(list), Constraint::Length(1), Constraint::Fill(1)];
    let layout = if middle.width >= beside {
        Layout::horizontal(parts((middle.width * 2 / 5).clamp(40, 80)))
    } else if middle.height >= MIN_LINES_BELOW {
        Layout::vertical(parts(middle.height * 3 / 5))
    } else {
        return (middle, None);
    };
    let [list, _, look] = layout.areas(middle);
    (list, Some(look))
}

struct PickerRow<'a> {
    text: &'a str,
    hits: &'a [usize],
    detail: &'a str,
    /// `None` if items cannot be marked.
    marked: Option<bool>,
    selected: bool,
    dimmed: bool,
}

impl PickerRow<'_> {
    fn line(&self, columns: usize, keep_end: bool, theme: &Theme) -> Line<'static> {
        let background = if self.selected { theme.style(Role::Selection) } else { Style::default() };
        let pointer = if self.selected { "▸ " } else { "  " };
        let mark = match self.marked {
            Some(true) => "✓ ",
            Some(false) => "  ",
            None => "",
        };
        let mut spans = vec![
            Span::styled(pointer, theme.style(Role::Accent).patch(background)),
            Span::styled(mark, theme.style(Role::Success).patch(background)),
        ];
        // One column stays free before the border.
        let available = columns.saturating_sub(width::columns(pointer) + width::columns(mark) + 1);
        let detail = width::clip(self.detail, available / 2);
        let gap = if detail.is_empty() { 0 } else { 2 };
        let label = available.saturating_sub(width::columns(&detail) + gap);
        let text = if self.dimmed { Role::Muted } else { Role::Overlay };
        let text = self.label(label, keep_end, theme.style(text).patch(background), theme.style(Role::Match));
        let used: usize = text.iter().map(|span| width::columns(&span.content)).sum();
        spans.extend(text);
        let gap = available.saturating_sub(used + width::columns(&detail));
        spans.push(Span::styled(" ".repeat(gap), background));
        spans.push(Span::styled(detail.into_owned(), theme.style(Role::Muted).patch(background)));
        let mut line = Line::from(spans);
        fill(&mut line, columns, background);
        line
    }

    /// The text in at most `columns` columns, with highlighted matches.
    fn label(&self, columns: usize, keep_end: bool, plain: Style, hit: Style) -> Vec<Span<'static>> {
        let mark = |part: &str, cut: usize| mark_characters(part, cut, self.hits, plain, plain.patch(hit));
        let shown = if keep_end { width::clip_start(self.text, columns) } else { width::clip(self.text, columns) };
        if shown == self.text {
            return mark(self.text, 0);
        }
        let ellipsis = Span::styled(width::ELLIPSIS, plain);
        if let Some(end) = shown.strip_prefix(width::ELLIPSIS).filter(|_| keep_end) {
            let cut = self.text.chars().count().saturating_sub(end.chars().count());
            return [vec![ellipsis], mark(end, cut)].concat();
        }
        let start = shown.strip_suffix(width::ELLIPSIS).unwrap_or("");
        [mark(start, 0), vec![ellipsis]].concat()
    }
}

pub fn rule(frame: &mut Frame<'_>, list: Rect, look: Rect, theme: &Theme) {
    let style = theme.style(Role::Border);
    if look.y == list.y {
        let lines: Vec<Line<'_>> = (0..list.height).map(|_| Line::styled("│", style)).collect();
        frame.render_widget(Paragraph::new(lines), Rect { x: list.right(), width: 1, ..list });
    } else {
        let line = Line::styled("─".repeat(usize::from(list.width)), style);
        frame.render_widget(line, Rect { y: list.bottom(), height: 1, ..list });
    }
}

/// Up to this many items are ranked while the key is handled, which takes less than a millisecond.
const MAX_INLINE_ITEMS: usize = 4_000;

/// Items that one thread ranks before it checks whether the result is still needed.
const CHUNK: usize = 4_096;

/// The matching items, best first.
#[derive(Debug, Clone)]
struct Ranking {
    query: String,
    filter: FuzzyFilter,
    matches: Vec<usize>,
    /// Counts the queries; jobs of earlier queries end early.
    newest: Arc<AtomicU64>,
    job: Option<Box<RankJob>>,
}

/// A query over many items, to be ranked on another thread.
#[derive(Debug, Clone)]
pub struct RankJob {
    items: Items,
    query: String,
    name: NamePart,
    /// The items that may match, if those of a wider query are known.
    among: Option<Vec<usize>>,
    number: u64,
    newest: Arc<AtomicU64>,
}

#[derive(Debug, Clone)]
pub struct Ranked {
    query: String,
    matches: Vec<usize>,
    number: u64,
    newest: Arc<AtomicU64>,
}

impl RankJob {
    /// Ranks. `None` if another query has been typed meanwhile.
    pub fn run(self) -> Option<Ranked> {
        let all: Vec<usize> = self.among.clone().unwrap_or_else(|| (0..self.items.len()).collect());
        let is_wanted = || self.newest.load(Ordering::Relaxed) == self.number;
        let filter = FuzzyFilter::new(&self.query);
        let matched =
            |part| if is_wanted() { matched(&self.items, part, filter.clone(), self.name) } else { Vec::new() };
        let parts: Vec<Vec<(FuzzyMatch, usize)>> = all.par_chunks(CHUNK).map(matched).collect();
        if !is_wanted() {
            return None;
        }
        let mut found = parts.concat();
        found.par_sort_unstable();
        let matches = found.into_iter().map(|(_, at)| at).collect();
        Some(Ranked { query: self.query, matches, number: self.number, newest: self.newest })
    }
}

impl Ranking {
    /// All of `len` items in their order, for no query.
    fn all(len: usize) -> Self {
        Self {
            query: String::new(),
            filter: FuzzyFilter::default(),
            matches: (0..len).collect(),
            newest: Arc::default(),
            job: None,
        }
    }

    /// Ranks the items for another query. Terms are separated by spaces and must all match, in any case. Returns whether the
    /// ranking is complete: a long list keeps the earlier matches until the job has run.
    fn update(&mut self, items: &Items, query: &str, name: NamePart) -> bool {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        self.filter = FuzzyFilter::new(query);
        self.job = None;
        if self.filter.is_empty() {
            self.take(query, (0..items.len()).collect());
            return true;
        }
        // Terms with an operator may match more than the earlier query.
        let is_narrower = query.starts_with(&self.query) && !query.contains(['!', '^', '$', '\'', '\\']);
        let among = is_narrower.then(|| self.matches.clone());
        if among.as_ref().map_or(items.len(), Vec::len) > MAX_INLINE_ITEMS {
            let newest = Arc::clone(&self.newest);
            let job = RankJob { items: items.clone(), query: query.to_owned(), name, among, number, newest };
            self.job = Some(Box::new(job));
            return false;
        }
        let among = among.unwrap_or_else(|| (0..items.len()).collect());
        let mut found = matched(items, &among, self.filter.clone(), name);
        found.sort_unstable();
        self.take(query, found.into_iter().map(|(_, at)| at).collect());
        true
    }

    fn catch_up(&mut self, items: &Items, query: &str, name: NamePart) {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        let newest = Arc::clone(&self.newest);
        let job = RankJob { items: items.clone(), query: query.to_owned(), name, among: None, number, newest };
        job.run().map(|ranked| self.put(ranked));
    }

    fn take(&mut self, query: &str, matches: Vec<usize>) {
        (self.query, self.matches) = (query.to_owned(), matches);
    }

    /// Stores the result of a job. Returns whether it was for the newest query of this list.
    fn put(&mut self, ranked: Ranked) -> bool {
        let is_ours = Arc::ptr_eq(&ranked.newest, &self.newest);
        let is_newest = self.newest.load(Ordering::Relaxed) == ranked.number;
        if is_ours && is_newest {
            self.take(&ranked.query, ranked.matches);
        }
        is_ours && is_newest
    }

    /// The matched characters of each text, as sorted positions.
    fn highlights(&self, texts: &[&str]) -> Vec<Vec<usize>> {
        let mut filter = self.filter.clone();
        texts.iter().map(|text| filter.positions(text)).collect()
    }
}

fn matched(items: &Items, among: &[usize], mut filter: FuzzyFilter, name: NamePart) -> Vec<(FuzzyMatch, usize)> {
    let mut buffer = String::new();
    let matched = among.iter().filter_map(|&at| Some((filter.matched(items.text(at, &mut buffer), name)?, at)));
    matched.collect()
}

#[cfg(test)]
mod tests;
