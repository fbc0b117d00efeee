//! The state of the map pane: open files, search, display options and the cursor.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rhumb_index::repo_map::{MapMatches, MatchedFile, RepoMap};

use super::outline::MapText;
use super::rows::{MapRow, MapRows, Shape};
use crate::tui::action::Action;
use crate::tui::widget::input::LineInput;
use crate::tui::widget::list_window::ListWindow;

#[derive(Debug, Default)]
pub struct MapPane {
    /// Paths of the files that show their symbols.
    pub(super) open: BTreeSet<String>,
    pub(super) window: ListWindow,
    pub(super) rows: MapRows,
    pub(super) filter: Option<MapFilter>,
    /// The text that the model gets, while it is shown instead of the list.
    pub(super) text: Option<MapText>,
    /// The item under the cursor, to be found again in another map.
    anchor: Option<Anchor>,
    /// The number of banned items when the rows were last computed.
    banned: usize,
}

/// A fuzzy filter of files and symbols.
#[derive(Debug, Default)]
pub struct MapFilter {
    pub input: LineInput,
    pub typing: bool,
    /// `None` until the first result arrives.
    pub found: Option<MapMatches>,
    /// The query of `found`.
    shown: String,
    /// The last requested query and its map.
    asked: Option<(String, Arc<RepoMap>)>,
}

/// The item under the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Anchor {
    place: usize,
    path: Arc<str>,
    symbol: Option<(String, u32)>,
}

impl MapPane {
    pub fn window(&self) -> ListWindow {
        self.window
    }

    pub fn select(&mut self, row: usize) {
        self.window.select(row);
    }

    pub fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// How often all files of a map were visited to compute its rows.
    pub fn passes(&self) -> usize {
        self.rows.passes()
    }

    pub fn set_height(&mut self, height: usize) {
        self.window.set_height(height);
        if let Some(text) = &mut self.text {
            text.window.set_height(height);
        }
    }

    /// The row under the cursor.
    pub fn row(&self) -> Option<MapRow> {
        self.rows.get(self.window.selected()?)
    }

    pub fn path(&self) -> Option<&str> {
        self.anchor.as_ref().map(|anchor| &*anchor.path)
    }

    /// Whether the filter is being typed.
    pub fn is_typing(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    /// Updates the rows to the map and the exclusions. With `follow` the cursor follows its item, otherwise it stays on
    /// its line.
    pub fn settle(&mut self, map: Option<&Arc<RepoMap>>, banned: usize, follow: bool) {
        if !self.rows.is_of(map) {
            let before = self.rows.map().cloned();
            self.rows.set_map(map, &self.open);
            // The matches are indices into the previous map. They stay until the result for this map arrives.
            if let Some(filter) = &mut self.filter {
                let found = filter.found.take().zip(before).zip(map);
                filter.found = found.map(|((found, before), map)| carried(&found, &before, map));
            }
            if let Some(text) = &mut self.text {
                text.set_map(map);
            }
            self.reshape(banned);
            if follow {
                self.restore_cursor(map);
            }
        } else if banned != self.banned {
            self.reshape(banned);
            self.restore_cursor(map);
        }
        self.note_anchor(map);
    }

    fn reshape(&mut self, banned: usize) {
        self.banned = banned;
        let filtered = self.filter.as_ref().and_then(|filter| filter.found.as_ref());
        self.rows.shape(Shape { filtered, banned });
        self.window.set_len(self.rows.len());
    }

    /// Stores the item under the cursor.
    fn note_anchor(&mut self, map: Option<&Arc<RepoMap>>) {
        let Some((map, row)) = map.zip(self.row()) else { return };
        let (place, symbol) = match row {
            MapRow::File(place) => (place, None),
            MapRow::Symbol(place, symbol) => (place, map.symbols(place).get(symbol)),
            MapRow::Rule(_) | MapRow::Banned(_) => return self.anchor = None,
        };
        let symbol = symbol.map(|symbol| (symbol.name.clone(), symbol.line));
        self.anchor = map.files.get(place).map(|file| Anchor { place, path: Arc::clone(&file.path), symbol });
    }

    /// Moves the cursor back to the stored item.
    fn restore_cursor(&mut self, map: Option<&Arc<RepoMap>>) {
        let Some((map, anchor)) = map.zip(self.anchor.as_ref()) else { return };
        let is_there = map.files.get(anchor.place).is_some_and(|file| file.path == anchor.path);
        let place = if is_there { Some(anchor.place) } else { map.position(&anchor.path) };
        let Some(place) = place else { return };
        let symbol = anchor.symbol.as_ref().and_then(|(name, line)| {
            let by_name = |own: &rhumb_index::repo_map::RankedSymbol| own.name == *name;
            let symbols = map.symbols(place);
            symbols
                .iter()
                .position(|own| by_name(own) && own.line == *line)
                .or_else(|| symbols.iter().position(by_name))
        });
        let row = symbol.and_then(|symbol| self.rows.position(MapRow::Symbol(place, symbol)));
        if let Some(at) = row.or_else(|| self.rows.position(MapRow::File(place))) {
            self.window.select(at);
        }
    }

    /// Opens or closes a file. The cursor stays on its item, or moves to the file.
    pub fn set_open(&mut self, map: &Arc<RepoMap>, place: usize, open: bool) {
        let Some(file) = map.files.get(place) else { return };
        if open {
            self.open.insert(file.path.to_string());
        } else {
            self.open.remove(&*file.path);
        }
        self.rows.set_open(place, open);
        self.note_anchor(Some(map));
        self.reshape(self.banned);
        self.restore_cursor(Some(map));
    }

    /// Opens the filter, or continues typing it.
    pub fn open_filter(&mut self) {
        self.text = None;
        self.filter.get_or_insert_default().typing = true;
    }

    /// Removes the filter. The cursor stays on its item.
    pub fn close_filter(&mut self) {
        let map = self.rows.map().cloned();
        self.note_anchor(map.as_ref());
        self.filter = None;
        self.reshape(self.banned);
        self.restore_cursor(map.as_ref());
    }

    /// The query to be requested, if it or the map has changed.
    pub fn next_filter_request(&mut self) -> Option<(Arc<RepoMap>, String)> {
        let map = self.rows.map()?;
        let filter = self.filter.as_mut()?;
        let letters = filter.input.text().trim();
        if filter.asked.as_ref().is_some_and(|(asked, of)| asked == letters && Arc::ptr_eq(of, map)) {
            return None;
        }
        filter.asked = Some((letters.to_owned(), Arc::clone(map)));
        if letters.is_empty() {
            // An empty filter matches everything.
            filter.found = None;
            let map = Arc::clone(map);
            self.reshape(self.banned);
            self.restore_cursor(Some(&map));
            return None;
        }
        Some((Arc::clone(map), letters.to_owned()))
    }

    /// Stores the search results. For another query the cursor moves to the best match; in another map it stays on its
    /// item.
    pub fn filtered(&mut self, map: &Arc<RepoMap>, letters: &str, found: Option<MapMatches>) {
        if !self.rows.is_of(Some(map)) {
            return;
        }
        let Some(filter) = self.filter.as_mut().filter(|filter| filter.input.text().trim() == letters) else { return };
        let Some(found) = found else { return };
        let same = filter.shown == letters;
        filter.shown = letters.to_owned();
        filter.found = Some(found);
        self.reshape(self.banned);
        if same {
            self.restore_cursor(Some(map));
        } else {
            self.window.first();
        }
        self.note_anchor(Some(map));
    }

    /// The window of the visible list or text.
    pub(super) fn shown_window(&mut self) -> &mut ListWindow {
        self.text.as_mut().map_or(&mut self.window, |text| &mut text.window)
    }

    /// Moves the cursor; skips rules. Returns false for any other action.
    pub fn move_cursor(&mut self, action: Action) -> bool {
        let moves = self.shown_window().act(action);
        let by = if matches!(action, Action::Up | Action::PageUp | Action::Bottom) { -1 } else { 1 };
        for by in [by, -by] {
            if moves && self.text.is_none() && matches!(self.row(), Some(MapRow::Rule(_))) {
                self.window.step(by);
            }
        }
        moves
    }
}

fn carried(found: &MapMatches, before: &RepoMap, now: &RepoMap) -> MapMatches {
    let path = |file: &MatchedFile| before.files.get(file.position).map(|ranked| &*ranked.path);
    let wanted: HashMap<&str, usize> =
        found.files.iter().enumerate().filter_map(|(at, file)| Some((path(file)?, at))).collect();
    let mut places: Vec<Option<usize>> = vec![None; found.files.len()];
    for (place, file) in now.files.iter().enumerate() {
        let cell = wanted.get(&*file.path).and_then(|at| places.get_mut(*at));
        cell.into_iter().for_each(|cell| *cell = Some(place));
    }
    let carry = |(file, place): (&MatchedFile, Option<usize>)| {
        let (own, symbols) = (before.symbols(file.position), now.symbols(place?));
        let again = |at: &usize| {
            let symbol = own.get(*at)?;
            symbols.iter().position(|other| (&other.name, other.line) == (&symbol.name, symbol.line))
        };
        Some(MatchedFile { position: place?, symbols: file.symbols.iter().filter_map(again).collect() })
    };
    MapMatches { files: found.files.iter().zip(places).filter_map(carry).collect(), total: found.total }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_index::repo_map::{MapFile, MapRequest};
    use rhumb_syntax::{Definition, FileTags, SymbolKind};
    use rhumb_tokens::counter_for_model;

    fn map(pinned: &[&str]) -> Arc<RepoMap> {
        let definition = |name: &str, line| Definition {
            name: name.into(),
            kind: SymbolKind::Function,
            line,
            end_line: line,
            signature: format!("fn {name}()"),
            container: None,
            doc: String::new(),
        };
        let file = |path: &str| MapFile {
            path: path.into(),
            tags: Arc::new(FileTags {
                definitions: vec![definition("moor", 2), definition("leave", 5)],
                ..FileTags::default()
            }),
            digest: Arc::default(),
        };
        let files = ["a.rs", "b.rs", "c.rs", "d.rs"].map(file);
        let pinned = pinned.iter().map(|path| (*path).to_owned()).collect();
        let request = MapRequest { budget: 10_000, pinned, ..MapRequest::default() };
        Arc::new(RepoMap::build(&files, &request, counter_for_model("gpt-4").as_ref()))
    }

    fn pane(map: &Arc<RepoMap>) -> MapPane {
        let mut pane = MapPane::default();
        pane.settle(Some(map), 0, true);
        pane
    }

    #[test]
    fn the_cursor_stays_on_its_symbol_while_files_change_their_places() {
        let before = map(&[]);
        let mut pane = pane(&before);
        let place = before.position("c.rs").unwrap();
        pane.set_open(&before, place, true);
        let symbol = before.symbols(place).iter().position(|symbol| symbol.name == "leave").unwrap();
        pane.window.select(pane.rows.position(MapRow::Symbol(place, symbol)).unwrap());
        pane.settle(Some(&before), 0, true);
        let after = map(&["c.rs"]);
        pane.settle(Some(&after), 0, true);
        assert!(
            matches!(pane.row(), Some(MapRow::Symbol(0, at)) if after.symbols(0)[at].name == "leave"),
            "{:?}",
            pane.row()
        );
        assert_eq!(pane.path(), Some("c.rs"));
    }

    #[test]
    fn without_the_focus_the_cursor_stays_on_its_line() {
        let before = map(&[]);
        let mut pane = pane(&before);
        pane.settle(Some(&map(&["d.rs"])), 0, false);
        assert_eq!((pane.window.selected(), pane.path()), (Some(0), Some("d.rs")));
    }

    #[test]
    fn only_the_answer_to_the_letters_that_stand_there_counts() {
        let map = map(&[]);
        let mut pane = pane(&map);
        pane.open_filter();
        assert!(pane.next_filter_request().is_none(), "no letters, no question");
        pane.filter.as_mut().unwrap().input.insert("b.r");
        let (_, letters) = pane.next_filter_request().unwrap();
        assert!(pane.next_filter_request().is_none(), "asked once");
        pane.filtered(&map, "b", map.filter("b", &|| false));
        assert_eq!(pane.rows.len(), 4, "an answer to other letters");
        pane.filtered(&map, &letters, map.filter(&letters, &|| false));
        assert_eq!((pane.rows.len(), pane.row()), (1, Some(MapRow::File(map.position("b.rs").unwrap()))));
        pane.close_filter();
        assert_eq!((pane.rows.len(), pane.row()), (4, Some(MapRow::File(map.position("b.rs").unwrap()))));
    }

    #[test]
    fn what_passed_is_carried_over_to_another_map() {
        let (before, after) = (map(&[]), map(&["d.rs"]));
        let found = before.filter("leave", &|| false).unwrap();
        let carried = carried(&found, &before, &after);
        assert_eq!(carried.files.len(), 4);
        for (old, new) in found.files.iter().zip(&carried.files) {
            assert_eq!(before.files[old.position].path, after.files[new.position].path);
            assert_eq!(after.symbols(new.position)[new.symbols[0]].name, "leave");
        }
    }

    #[test]
    fn an_empty_map_holds_no_cursor() {
        let mut pane = MapPane::default();
        pane.settle(None, 0, true);
        pane.move_cursor(Action::Down);
        assert!(pane.row().is_none() && pane.path().is_none() && pane.next_filter_request().is_none());
    }
}
