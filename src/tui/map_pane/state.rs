//! The state of the map pane: open files, search, display options and the cursor. Rows are stored as ranges: a map of 70,000
//! files is a few ranges, split at open files and at the budget's limit. All files are visited once for each new map, never for
//! a key.

use std::collections::HashMap;

use rhumb_index::repo_map::{MapMatches, MatchedFile, RepoMap};

use super::MapText;
use crate::tui::prelude::*;

#[derive(Debug, Default)]
pub struct MapPane {
    /// Paths of the files that show their symbols.
    pub(super) open: BTreeSet<String>,
    pub window: ListWindow,
    pub rows: MapRows,
    pub filter: Option<MapFilter>,
    /// The text that the model gets, while it is shown instead of the list.
    pub(super) text: Option<MapText>,
    /// The item under the cursor, to be found again in another map.
    anchor: Option<Anchor>,
    /// The number of banned items when the rows were last computed.
    banned: usize,
}

#[derive(Debug, Default)]
pub struct MapFilter {
    pub input: LineInput,
    pub typing: bool,
    /// `None` until the first result arrives.
    pub found: Option<MapMatches>,
    /// The query of `found`.
    shown: String,
    asked: Option<(String, Arc<RepoMap>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Anchor {
    place: usize,
    path: Arc<str>,
    symbol: Option<(String, u32)>,
}

impl MapPane {
    pub fn set_height(&mut self, height: usize) {
        self.window.set_height(height);
        if let Some(text) = &mut self.text {
            text.window.set_height(height);
        }
    }

    pub fn row(&self) -> Option<MapRow> {
        self.rows.get(self.window.selected()?)
    }

    pub fn path(&self) -> Option<&str> {
        self.anchor.as_ref().map(|anchor| &*anchor.path)
    }

    pub fn is_typing(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    /// Updates the rows to the map and the exclusions. With `follow` the cursor follows its item, otherwise it stays on
    /// its line.
    pub fn settle(&mut self, map: Option<&Arc<RepoMap>>, banned: usize, follow: bool) {
        if !self.rows.is_of(map) {
            let before = self.rows.map.clone();
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
        self.rows.shape(filtered, banned);
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
        let map = self.rows.map.clone();
        self.note_anchor(map.as_ref());
        self.filter = None;
        self.reshape(self.banned);
        self.restore_cursor(map.as_ref());
    }

    /// The query to be requested, if it or the map has changed.
    pub fn next_filter_request(&mut self) -> Option<(Arc<RepoMap>, String)> {
        let map = self.rows.map.as_ref()?;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapRow {
    /// A file, by its index in the map.
    File(usize),
    /// A symbol of a file, by both indices.
    Symbol(usize, usize),
    Rule(Rule),
    /// A banned item, by its index.
    Banned(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The approximate end of the budget.
    Fits,
    /// The approximate end of the budget after one more step.
    Next,
    /// The beginning of the banned items.
    Out,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    start: usize,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Files(usize),
    File(usize),
    Symbols(usize, Vec<usize>),
    Rule(Rule),
    Banned,
}

#[derive(Debug, Default)]
pub struct MapRows {
    pub map: Option<Arc<RepoMap>>,
    open: BTreeSet<usize>,
    /// The last file within the budget, and within the next step of it.
    ends: [Option<usize>; 2],
    stretches: Vec<Stretch>,
    len: usize,
    /// How often all files of a map were visited.
    pub passes: usize,
}

impl MapRows {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_of(&self, map: Option<&Arc<RepoMap>>) -> bool {
        match (&self.map, map) {
            (Some(own), Some(map)) => Arc::ptr_eq(own, map),
            (None, None) => true,
            _ => false,
        }
    }

    /// Replaces the map. The files with these paths are open.
    pub fn set_map(&mut self, map: Option<&Arc<RepoMap>>, open: &BTreeSet<String>) {
        self.map = map.map(Arc::clone);
        self.open.clear();
        self.ends = [None, None];
        let Some(map) = &self.map else { return };
        self.passes += 1;
        if !open.is_empty() {
            let is_open = |(_, file): &(usize, &rhumb_index::repo_map::RankedFile)| open.contains(&*file.path);
            self.open = map.files.iter().enumerate().filter(is_open).map(|(place, _)| place).collect();
        }
        let growth = map.growth();
        let fits = end(map.files.iter().map(|file| file.shown));
        let next = growth
            .filter(|growth| !growth.files.is_empty())
            .and_then(|growth| end(map.files.iter().map(|file| file.shown || growth.files.contains(&file.file))));
        self.ends = [fits, next.filter(|next| fits.is_some_and(|fits| *next > fits))];
    }

    pub fn is_open(&self, place: usize) -> bool {
        self.open.contains(&place)
    }

    pub fn set_open(&mut self, place: usize, open: bool) {
        if open {
            self.open.insert(place);
        } else {
            self.open.remove(&place);
        }
    }

    /// Computes the rows. The cost depends on open files and bans, not on the number of files.
    pub fn shape(&mut self, filtered: Option<&MapMatches>, banned: usize) {
        self.stretches.clear();
        self.len = 0;
        let Some(map) = self.map.clone() else { return };
        match filtered {
            Some(filtered) => self.shape_sifted(&map, filtered),
            None => self.shape_all(&map),
        }
        if banned > 0 && filtered.is_none() {
            self.push(What::Rule(Rule::Out), 1);
            self.push(What::Banned, banned);
        }
    }

    fn shape_all(&mut self, map: &RepoMap) {
        // Ends of the stretches of closed files: at an open file or at a rule.
        let mut cuts: BTreeMap<usize, Vec<Rule>> = self.open.iter().map(|place| (*place, Vec::new())).collect();
        for (end, rule) in self.ends.iter().zip([Rule::Fits, Rule::Next]) {
            if let Some(place) = end {
                cuts.entry(*place).or_default().push(rule);
            }
        }
        let mut from = 0;
        for (place, rules) in cuts {
            if place >= map.files.len() {
                break;
            }
            self.push(What::Files(from), place + 1 - from);
            if self.open.contains(&place) {
                self.push_symbols(map, place);
            }
            for rule in rules {
                self.push(What::Rule(rule), 1);
            }
            from = place + 1;
        }
        self.push(What::Files(from), map.files.len().saturating_sub(from));
    }

    fn shape_sifted(&mut self, map: &RepoMap, filtered: &MapMatches) {
        for file in &filtered.files {
            self.push(What::File(file.position), 1);
            if self.open.contains(&file.position) {
                self.push_symbols(map, file.position);
            } else {
                self.push(What::Symbols(file.position, file.symbols.clone()), file.symbols.len());
            }
        }
    }

    /// Adds the symbols of a file in the order of the file.
    fn push_symbols(&mut self, map: &RepoMap, place: usize) {
        let symbols = map.symbols(place);
        let mut order: Vec<usize> = (0..symbols.len()).collect();
        order.sort_by_key(|at| symbols.get(*at).map(|symbol| symbol.line));
        let count = order.len();
        self.push(What::Symbols(place, order), count);
    }

    fn push(&mut self, what: What, rows: usize) {
        if rows > 0 {
            self.stretches.push(Stretch { start: self.len, what });
            self.len += rows;
        }
    }

    pub fn get(&self, at: usize) -> Option<MapRow> {
        if at >= self.len {
            return None;
        }
        let stretch =
            self.stretches.get(self.stretches.partition_point(|stretch| stretch.start <= at).checked_sub(1)?)?;
        let within = at - stretch.start;
        Some(match &stretch.what {
            What::Files(first) => MapRow::File(first + within),
            What::File(place) => MapRow::File(*place),
            What::Symbols(place, symbols) => MapRow::Symbol(*place, *symbols.get(within)?),
            What::Rule(rule) => MapRow::Rule(*rule),
            What::Banned => MapRow::Banned(within),
        })
    }

    pub fn position(&self, row: MapRow) -> Option<usize> {
        self.stretches.iter().enumerate().find_map(|(number, stretch)| {
            let end = self.stretches.get(number + 1).map_or(self.len, |next| next.start);
            let within = match (&stretch.what, row) {
                (What::Files(first), MapRow::File(place)) => place.checked_sub(*first)?,
                (What::File(own), MapRow::File(place)) if *own == place => 0,
                (What::Symbols(own, symbols), MapRow::Symbol(place, symbol)) if *own == place => {
                    symbols.iter().position(|at| *at == symbol)?
                }
                (What::Rule(own), MapRow::Rule(rule)) if *own == rule => 0,
                (What::Banned, MapRow::Banned(at)) => at,
                _ => return None,
            };
            (stretch.start + within < end).then_some(stretch.start + within)
        })
    }
}

/// The last index of the shown files: the split with the fewest files on the wrong side. A map maximizes usefulness per
/// token, so that some later files may be shown, too. `None` if none or all are shown.
fn end(shown: impl Iterator<Item = bool>) -> Option<usize> {
    let (mut score, mut best, mut place, mut hidden) = (0i64, 0i64, None, false);
    for (at, shown) in shown.enumerate() {
        score += if shown { 1 } else { -1 };
        hidden |= !shown;
        if score >= best && shown {
            (best, place) = (score, Some(at));
        }
    }
    place.filter(|_| hidden)
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

#[cfg(test)]
mod rows_tests {
    use proptest::prelude::*;

    use super::*;
    use rhumb_index::repo_map::MapFile;
    use rhumb_index::repo_map::MapRequest;
    use rhumb_index::repo_map::MatchedFile;
    use rhumb_syntax::Definition;
    use rhumb_syntax::FileTags;
    use rhumb_syntax::SymbolKind;
    use rhumb_tokens::counter_for_model;

    /// A map of `files` files with three symbols each.
    fn map(files: usize, budget: usize) -> Arc<RepoMap> {
        let definition = |file: usize, number: usize| Definition {
            name: format!("moor_{file}_{number}"),
            kind: SymbolKind::Function,
            line: 3 - number as u32,
            end_line: 9,
            signature: format!("fn moor_{file}_{number}()"),
            container: None,
            doc: String::new(),
        };
        let file = |number: usize| MapFile {
            path: format!("src/berth_{number:05}.rs"),
            tags: Arc::new(FileTags {
                definitions: (0..3).map(|at| definition(number, at)).collect(),
                ..Default::default()
            }),
            digest: Arc::default(),
        };
        let files: Vec<MapFile> = (0..files).map(file).collect();
        let request = MapRequest { budget, ..MapRequest::default() };
        Arc::new(RepoMap::build(&files, &request, counter_for_model("gpt-4").as_ref()))
    }

    fn rows(map: &Arc<RepoMap>) -> MapRows {
        let mut rows = MapRows::default();
        rows.set_map(Some(map), &BTreeSet::new());
        rows.shape(None, 0);
        rows
    }

    #[test]
    fn the_line_stands_where_most_of_what_is_shown_ends() {
        let end = |text: &str| end(text.chars().map(|c| c == '#'));
        assert_eq!(
            [end("###..."), end("##.##....#"), end("...."), end("####"), end("#....#")],
            [Some(2), Some(4), None, None, Some(0)]
        );
    }

    #[test]
    fn an_open_file_shows_its_symbols_in_the_order_of_the_file() {
        let map = map(5, 10_000);
        let mut rows = rows(&map);
        rows.set_open(1, true);
        rows.shape(None, 2);
        let lines: Vec<u32> = (2..5)
            .map(|at| match rows.get(at) {
                Some(MapRow::Symbol(1, symbol)) => map.symbols(1)[symbol].line,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(lines, [1, 2, 3]);
        assert_eq!(rows.get(5), Some(MapRow::File(2)));
        assert_eq!(
            (rows.get(8), rows.get(10), rows.get(11)),
            (Some(MapRow::Rule(Rule::Out)), Some(MapRow::Banned(1)), None)
        );
    }

    #[test]
    fn what_passed_the_filter_stands_with_its_symbols() {
        let mut rows = rows(&map(5, 10_000));
        let filtered = MapMatches {
            files: vec![MatchedFile { position: 3, symbols: vec![2] }, MatchedFile { position: 0, symbols: vec![] }],
            total: (2, 1),
        };
        rows.shape(Some(&filtered), 1);
        let all: Vec<MapRow> = (0..rows.len()).filter_map(|at| rows.get(at)).collect();
        assert_eq!(all, [MapRow::File(3), MapRow::Symbol(3, 2), MapRow::File(0)]);
    }

    #[test]
    fn the_files_are_gone_through_once_for_a_map() {
        let map = map(70_000, 512);
        let mut rows = rows(&map);
        assert!(rows.len() > 70_000, "with the line");
        for place in [0, 1, 69_999] {
            rows.set_open(place, true);
            rows.shape(None, 0);
        }
        assert!(rows.stretches.len() < 12, "{}", rows.stretches.len());
        assert_eq!(rows.passes, 1);
    }

    proptest! {
        #[test]
        fn every_row_is_found_where_it_is(open in prop::collection::btree_set(0usize..20, 0..6), banned in 0usize..4, budget in 0usize..400) {
            let map = map(20, budget);
            let mut rows = rows(&map);
            open.iter().for_each(|place| rows.set_open(*place, true));
            rows.shape(None, banned);
            for at in 0..rows.len() {
                let row = rows.get(at).unwrap();
                prop_assert_eq!(rows.position(row), Some(at), "{:?}", row);
            }
            prop_assert_eq!(rows.get(rows.len()), None);
        }
    }
}
