//! Building a map: rank, choose, write, and keep what the panes and the command line show of it.

use super::explain::{Reasons, Why};
use super::fit::{Fitted, fit};
use super::plan::{Shelf, shelves, steps};
use super::render::Writer;
use super::request::{MapFile, MapRequest};
use super::standing::Ranking;
use super::weights::Weights;
use crate::syntax::tag::SymbolKind;
use crate::tokens::TokenCounter;

/// Estimated tokens of the steps that a map is fitted from, in budgets: estimates may be off, and a step may not fit.
const ENOUGH: usize = 2;

/// The repo map for one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepoMap {
    /// Exactly what the model sees.
    pub text: String,
    /// Most tokens that the text may have.
    pub budget: usize,
    /// Tokens that it has.
    pub tokens: usize,
    /// All files outside of the chat, best first.
    pub files: Vec<RankedFile>,
    /// Sizes of what was ranked.
    pub stats: MapStats,
}

/// A file with its rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankedFile {
    /// Path relative to the root.
    pub path: String,
    /// Its rank for this request; only the order means something.
    pub rank: f64,
    /// Whether the text names it.
    pub shown: bool,
    /// Its definitions, best first.
    pub symbols: Vec<RankedSymbol>,
    /// What raised it, heaviest first; empty unless asked for.
    pub why: Vec<Why>,
}

/// A definition with its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedSymbol {
    /// The bare name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// Its header on one line.
    pub signature: String,
    /// Name of the definition around it.
    pub container: Option<String>,
    /// Its rank for this request among the symbols of its file; only the order means something.
    pub rank: f64,
    /// Whether it was chosen for the text. (A container may appear in the text for the sake of its members alone.)
    pub shown: bool,
    /// What raised it, heaviest first; empty unless asked for.
    pub why: Vec<Why>,
}

/// Sizes of what was ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapStats {
    /// Files, those in the chat included.
    pub files: usize,
    /// Definitions in them.
    pub definitions: usize,
    /// References in them.
    pub references: usize,
}

impl RepoMap {
    /// Ranks `files` for `request` and writes what fits its budget. The order of `files` does not matter.
    pub fn build(files: &[MapFile], request: &MapRequest, counter: &dyn TokenCounter) -> Self {
        Self::build_with(files, request, counter, &Weights::default())
    }

    /// [`RepoMap::build`] with other weights.
    pub fn build_with(files: &[MapFile], request: &MapRequest, counter: &dyn TokenCounter, weights: &Weights) -> Self {
        Self::of_ranking(&Ranking::new(files, request, weights), request, counter, weights)
    }

    /// The second half of [`RepoMap::build_with`]: chooses from a ranking and writes what fits.
    pub fn of_ranking(
        ranking: &Ranking<'_>,
        request: &MapRequest,
        counter: &dyn TokenCounter,
        weights: &Weights,
    ) -> Self {
        let shelves = shelves(ranking);
        let gains = if ranking.requested { weights.asked } else { weights.unasked };
        let choices = steps(ranking, &shelves, gains, ENOUGH * request.budget);
        let mut writer = Writer::new(&ranking.files, request.style);
        let fitted = fit(&mut writer, &choices, request.budget, counter);
        let reasons = request.explain.then(|| Reasons::new(ranking));
        let stats = MapStats {
            files: ranking.files.len(),
            definitions: ranking.files.iter().map(|file| file.tags.definitions.len()).sum(),
            references: ranking.files.iter().map(|file| file.tags.references.len()).sum(),
        };
        let files = ranked_files(ranking, &shelves, &fitted, reasons.as_ref());
        Self { text: fitted.text, budget: request.budget, tokens: fitted.tokens, files, stats }
    }

    /// The file of that path, if it is outside of the chat.
    pub fn file(&self, path: &str) -> Option<&RankedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// What raised a file, or a symbol of it, heaviest first. Empty unless the request asked to explain.
    pub fn why(&self, path: &str, symbol: Option<&str>) -> &[Why] {
        let Some(file) = self.file(path) else { return &[] };
        match symbol {
            None => &file.why,
            Some(name) => file.symbols.iter().find(|symbol| symbol.name == name).map_or(&[], |symbol| &symbol.why),
        }
    }
}

/// The files outside of the chat in rank order, with their symbols in rank order.
fn ranked_files(
    ranking: &Ranking<'_>,
    shelves: &[Shelf],
    fitted: &Fitted,
    reasons: Option<&Reasons>,
) -> Vec<RankedFile> {
    let mut shown: Vec<(u32, Option<u32>)> =
        fitted.choices.iter().map(|choice| (choice.file, choice.definition)).collect();
    shown.sort_unstable();
    let symbol = |file: u32, (index, rank): (u32, f64)| {
        let tag = &ranking.files[file as usize].tags.definitions[index as usize];
        let names = &ranking.graph.names;
        let id = names.id(&tag.name).and_then(|name| names.symbol(file, name));
        RankedSymbol {
            name: tag.name.clone(),
            kind: tag.kind,
            line: tag.line,
            end_line: tag.end_line,
            signature: tag.signature.clone(),
            container: tag.container.clone(),
            rank,
            shown: shown.binary_search(&(file, Some(index))).is_ok(),
            why: reasons.zip(id).map_or_else(Vec::new, |(reasons, id)| reasons.of_symbol(ranking, id)),
        }
    };
    let ranked = |shelf: &Shelf| RankedFile {
        path: ranking.files[shelf.file as usize].path.clone(),
        rank: ranking.file_scores[shelf.file as usize],
        shown: shown.binary_search_by_key(&shelf.file, |choice| choice.0).is_ok(),
        symbols: shelf.symbols.iter().map(|&entry| symbol(shelf.file, entry)).collect(),
        why: reasons.map_or_else(Vec::new, |reasons| reasons.of_file(ranking, shelf.file)),
    };
    shelves.iter().map(ranked).collect()
}
