//! Why a file or a symbol stands where it does, to be read by a person: what speaks for it, and the heaviest references.

use super::build::RepoMap;
use super::explain::{Reasons, Why};
use super::score::{grounds, symbol_grounds};
use super::standing::Ranking;

/// Why something stands where it does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Whence {
    /// What speaks for it and against it, strongest first: in log-odds where the request says something of the files, else in
    /// parts of the highest rank.
    pub grounds: Vec<(&'static str, f64)>,
    /// Whether the request says something of the files, so that the grounds are log-odds.
    pub requested: bool,
    /// The references that weigh most, heaviest first.
    pub references: Vec<Reference>,
}

/// A reference that brings rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// From where, to what, how heavy.
    pub why: Why,
    /// The first line of the referencing file that has it, 1-based; 0 if that is not known.
    pub line: u32,
}

impl Ranking {
    /// What speaks for a file of the index, and against it, strongest first: in log-odds where the request says something of the
    /// files, else in parts of the highest rank.
    pub fn grounds(&self, file: u32) -> Vec<(&'static str, f64)> {
        grounds(self, file)
    }
}

impl RepoMap {
    /// Why the file at a place, or a symbol of it by its index in [`RepoMap::symbols`], stands where it does. Looks at every
    /// reference of the repository: never call it while drawing.
    pub fn whence(&self, place: usize, symbol: Option<usize>) -> Whence {
        let Some(file) = self.files.get(place).map(|file| file.file) else { return Whence::default() };
        let ranking = &self.ranking;
        let reasons = Reasons::new(ranking, &[file]);
        let symbol = symbol.and_then(|at| self.symbols(place).get(at));
        let (grounds, whys) = match symbol {
            None => (grounds(ranking, file), reasons.of_file(ranking, file)),
            Some(symbol) => (symbol_grounds(ranking, file, symbol.index), reasons.of_symbol(ranking, symbol.symbol)),
        };
        let reference = |why: Why| Reference { line: self.line_of_use(&why).unwrap_or(0), why };
        Whence { grounds, requested: ranking.is_requested(), references: whys.into_iter().map(reference).collect() }
    }

    /// The first line on which a file uses a name.
    fn line_of_use(&self, why: &Why) -> Option<u32> {
        let index = self.ranking.index();
        let (file, name) = (index.file_at(&why.from)?, index.name_number(&why.ident)?);
        index.references(file).find(|uses| uses.name == name).map(|uses| uses.line)
    }
}
