//! The rows of the map pane, stored as ranges: a map of 70,000 files is a few ranges, split at open files and at the
//! budget's limit. All files are visited once for each new map, never for a key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rhumb_index::repo_map::{MapMatches, RepoMap};

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

/// Consecutive rows.
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
    map: Option<Arc<RepoMap>>,
    open: BTreeSet<usize>,
    /// The last file within the budget, and within the next step of it.
    ends: [Option<usize>; 2],
    stretches: Vec<Stretch>,
    len: usize,
    /// How often all files were visited.
    passes: usize,
}

/// The parameters of the rows in addition to the map.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'s> {
    pub filtered: Option<&'s MapMatches>,
    /// The number of banned items.
    pub banned: usize,
}

impl MapRows {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn passes(&self) -> usize {
        self.passes
    }

    pub fn map(&self) -> Option<&Arc<RepoMap>> {
        self.map.as_ref()
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
    pub fn shape(&mut self, shape: Shape<'_>) {
        self.stretches.clear();
        self.len = 0;
        let Some(map) = self.map.clone() else { return };
        match shape.filtered {
            Some(filtered) => self.shape_sifted(&map, filtered),
            None => self.shape_all(&map),
        }
        if shape.banned > 0 && shape.filtered.is_none() {
            self.push(What::Rule(Rule::Out), 1);
            self.push(What::Banned, shape.banned);
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
    use proptest::prelude::*;

    use super::*;
    use rhumb_index::repo_map::{MapFile, MapRequest, MatchedFile};
    use rhumb_syntax::{Definition, FileTags, SymbolKind};
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
        rows.shape(Shape { filtered: None, banned: 0 });
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
        rows.shape(Shape { filtered: None, banned: 2 });
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
        rows.shape(Shape { filtered: Some(&filtered), banned: 1 });
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
            rows.shape(Shape { filtered: None, banned: 0 });
        }
        assert!(rows.stretches.len() < 12, "{}", rows.stretches.len());
        assert_eq!(rows.passes(), 1);
    }

    proptest! {
        #[test]
        fn every_row_is_found_where_it_is(open in prop::collection::btree_set(0usize..20, 0..6), banned in 0usize..4, budget in 0usize..400) {
            let map = map(20, budget);
            let mut rows = rows(&map);
            open.iter().for_each(|place| rows.set_open(*place, true));
            rows.shape(Shape { filtered: None, banned });
            for at in 0..rows.len() {
                let row = rows.get(at).unwrap();
                prop_assert_eq!(rows.position(row), Some(at), "{:?}", row);
            }
            prop_assert_eq!(rows.get(rows.len()), None);
        }
    }
}
