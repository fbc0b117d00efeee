//! Which files and symbols of a map a few typed letters mean.

use super::build::RepoMap;
use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, Name};

/// Files between two looks at whether the answer is still wanted.
const BETWEEN_LOOKS: usize = 512;

/// Files of an answer at most: nobody reads more, and the letters that are typed next leave fewer.
const MOST_FILES: usize = 2_000;

/// A file that passed, by its own path or by what it defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiftedFile {
    /// Its place in the map.
    pub place: usize,
    /// Its symbols that passed, as indices into [`RepoMap::symbols`], best first.
    pub symbols: Vec<usize>,
}

/// What passed a sieve.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sifted {
    /// The files, best match first.
    pub files: Vec<SiftedFile>,
    /// How many passed in all, and how many symbols.
    pub total: (usize, usize),
}

impl RepoMap {
    /// The files and symbols that match a query, best first, equal ones in the order of the map; `None` as soon as
    /// `is_stale` says that nobody waits for the answer any more. Looks at every definition: never call it while drawing.
    pub fn sift(&self, query: &str, is_stale: &dyn Fn() -> bool) -> Option<Sifted> {
        let mut filter = FuzzyFilter::new(query);
        let mut found: Vec<(FuzzyMatch, usize, bool)> = Vec::new();
        let mut symbols = 0;
        for (place, file) in self.files.iter().enumerate() {
            if place % BETWEEN_LOOKS == 0 && is_stale() {
                return None;
            }
            let by_path = filter.matched(&file.path, Name::Path);
            let names = self.ranking.index().definitions(file.file);
            let by_name: Vec<FuzzyMatch> =
                names.filter_map(|entry| filter.matched(entry.name(), Name::Symbol)).collect();
            symbols += by_name.len();
            let best = by_path.into_iter().chain(by_name.iter().copied()).min();
            found.extend(best.map(|best| (best, place, !by_name.is_empty())));
        }
        let total = (found.len(), symbols);
        found.sort_by_key(|(best, place, _)| (*best, *place));
        found.truncate(MOST_FILES);
        let file = |(_, place, has_symbols): &(FuzzyMatch, usize, bool)| SiftedFile {
            place: *place,
            symbols: if *has_symbols { self.sift_symbols(*place, &mut filter) } else { Vec::new() },
        };
        Some(Sifted { files: found.iter().map(file).collect(), total })
    }

    fn sift_symbols(&self, place: usize, filter: &mut FuzzyFilter) -> Vec<usize> {
        let matched = self.symbols(place).iter().enumerate();
        let mut symbols: Vec<(FuzzyMatch, usize)> =
            matched.filter_map(|(at, symbol)| Some((filter.matched(&symbol.name, Name::Symbol)?, at))).collect();
        symbols.sort_unstable();
        symbols.into_iter().map(|(_, at)| at).collect()
    }
}
