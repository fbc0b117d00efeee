//! Which files and symbols of a map a few typed letters mean.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::build::RepoMap;

/// Files between two looks at whether the answer is still wanted.
const BETWEEN_LOOKS: usize = 512;

/// Files of an answer at most: nobody reads more, and the letters that are typed next leave fewer.
const MOST_FILES: usize = 2_000;

/// A query that texts are held against: terms separated by spaces, all of which must match; lower case matches any case.
#[derive(Debug, Clone, Default)]
pub struct Sieve {
    pattern: Pattern,
    matcher: Matcher,
    chars: Vec<char>,
}

impl Sieve {
    /// A sieve for a query.
    pub fn new(query: &str) -> Self {
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        Self { pattern, matcher: Matcher::new(Config::DEFAULT.match_paths()), chars: Vec::new() }
    }

    /// Whether everything passes.
    pub fn is_empty(&self) -> bool {
        self.pattern.atoms.is_empty()
    }

    /// How well a text matches, if it does.
    pub fn score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(haystack(text, &mut self.chars), &mut self.matcher)
    }

    /// The characters of a text that match, as sorted positions counted in characters.
    pub fn hits(&mut self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        self.pattern.indices(haystack(text, &mut self.chars), &mut self.matcher, &mut found);
        let mut hits: Vec<usize> = found.into_iter().map(|at| at as usize).collect();
        hits.sort_unstable();
        hits.dedup();
        hits
    }
}

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
        let mut sieve = Sieve::new(query);
        let mut found: Vec<(u32, usize, bool)> = Vec::new();
        let mut total = (0, 0);
        for (place, file) in self.files.iter().enumerate() {
            if place % BETWEEN_LOOKS == 0 && is_stale() {
                return None;
            }
            let by_path = sieve.score(&file.path);
            let names = self.ranking.index().definitions(file.file);
            let by_name = names
                .filter_map(|entry| sieve.score(entry.name()))
                .fold((0, 0), |(best, count), score| (score.max(best), count + 1));
            total.1 += by_name.1;
            if by_path.is_some() || by_name.1 > 0 {
                found.push((by_path.unwrap_or(0).max(by_name.0), place, by_name.1 > 0));
            }
        }
        total.0 = found.len();
        found.sort_by_key(|(score, place, _)| (std::cmp::Reverse(*score), *place));
        found.truncate(MOST_FILES);
        let file = |(_, place, has_symbols): &(u32, usize, bool)| SiftedFile {
            place: *place,
            symbols: if *has_symbols { self.sift_symbols(*place, &mut sieve) } else { Vec::new() },
        };
        Some(Sifted { files: found.iter().map(file).collect(), total })
    }

    fn sift_symbols(&self, place: usize, sieve: &mut Sieve) -> Vec<usize> {
        let scored = self.symbols(place).iter().enumerate();
        let mut symbols: Vec<(u32, usize)> =
            scored.filter_map(|(at, symbol)| Some((sieve.score(&symbol.name)?, at))).collect();
        symbols.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        symbols.into_iter().map(|(_, at)| at).collect()
    }
}

/// The text as the matcher reads it: bytes if it is ASCII, else characters.
fn haystack<'a>(text: &'a str, chars: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() {
        return Utf32Str::Ascii(text.as_bytes());
    }
    chars.clear();
    chars.extend(text.chars());
    Utf32Str::Unicode(chars)
}
