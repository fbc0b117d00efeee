//! A fuzzy picker: the user types to filter a list, and chooses one or several items.

mod draw;
mod rank;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rhumb_index::repo_map::{RepoMap, TagGraph};
use rhumb_text::fuzzy::NamePart;
use rhumb_text::sanitize;

use self::rank::Ranking;
use super::input::LineInput;
use super::list_window::ListWindow;

pub use self::draw::{key_hints, list_and_look, rule, wide_area};
pub use self::rank::{RankJob, Ranked};

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

    /// Which items are dimmed.
    pub fn dimmed(mut self, dimmed: Vec<bool>) -> Self {
        self.dimmed = dimmed;
        self
    }

    pub fn query(&self) -> &str {
        self.query.text()
    }

    pub fn match_count(&self) -> usize {
        self.ranking.matches().len()
    }

    /// The index of the item under the cursor.
    pub fn selected(&self) -> Option<usize> {
        self.window.selected().and_then(|at| self.ranking.matches().get(at).copied())
    }

    /// The row of the cursor.
    pub fn row(&self) -> usize {
        self.window.selected().unwrap_or(0)
    }

    /// The listed items in order.
    pub fn listed(&self) -> impl Iterator<Item = String> {
        self.ranking.matches().iter().map(|at| self.items.text(*at, &mut String::new()).to_owned())
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

    /// A ranking that must run on another thread; each is returned once.
    pub fn take_job(&mut self) -> Option<RankJob> {
        self.ranking.take_job()
    }

    /// Stores the result of a job. Returns whether it was current.
    pub fn put(&mut self, ranked: Ranked) -> bool {
        let is_ours = self.ranking.put(ranked);
        if is_ours {
            self.is_behind = false;
            self.window.set_len(self.ranking.matches().len());
            self.window.first();
        }
        is_ours
    }

    pub fn set_query(&mut self, query: &str) {
        self.query = LineInput::new(query);
        self.rank();
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
        self.is_behind = !self.ranking.update(&self.items, self.query.text(), self.name);
        if self.is_behind {
            return;
        }
        self.window.set_len(self.ranking.matches().len());
        self.window.first();
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
            self.is_behind = false;
            self.window.set_len(self.ranking.matches().len());
            self.window.first();
        }
        if !self.marked.is_empty() {
            return PickerOutcome::Picked(self.marked.iter().copied().collect());
        }
        self.selected().map_or(PickerOutcome::Open, |item| PickerOutcome::Picked(vec![item]))
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

    /// The text that an item is matched by. A generated text is stored in `room`. Empty if the item does not exist.
    pub fn text<'a>(&'a self, at: usize, room: &'a mut String) -> &'a str {
        match self {
            Self::Texts(texts) => texts.get(at).map_or("", String::as_str),
            Self::Symbols(symbols) => {
                room.clear();
                if let Some(item) = symbols.get(at) {
                    let _ = write!(room, "{}  {}:{}", item.name, item.path, item.line);
                }
                room
            }
        }
    }

    /// The kind of a definition.
    pub fn detail(&self, at: usize) -> &str {
        match self {
            Self::Texts(_) => "",
            Self::Symbols(symbols) => symbols.get(at).map_or("", |item| item.kind),
        }
    }
}

#[cfg(test)]
mod tests;
