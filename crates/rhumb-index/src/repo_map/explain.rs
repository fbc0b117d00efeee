//! Why a file or a symbol stands where it does: the references that bring it most of its rank.

use std::collections::HashMap;

use super::standing::Ranking;

/// Reasons kept for a file or symbol.
const KEPT: usize = 5;

/// One reason for a rank: a file that references a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// The referencing file.
    pub from: String,
    /// The name that it references.
    pub ident: String,
    /// The rank that this reference brings.
    pub weight: f64,
}

/// A reason before it is spelled out: the file that votes, the symbol that it votes for, the rank that it brings.
type Reason = (u32, u32, f64);

/// The heaviest reasons of some files and of their symbols.
#[derive(Debug)]
pub(crate) struct Reasons {
    by_symbol: HashMap<u32, Vec<Reason>>,
    by_file: HashMap<u32, Vec<Reason>>,
}

impl Reasons {
    /// Looks at every vote once.
    pub(crate) fn new(ranking: &Ranking, files: &[u32]) -> Self {
        let graph = &ranking.graph;
        let mut by_file: HashMap<u32, Vec<Reason>> = files.iter().map(|&file| (file, Vec::new())).collect();
        let mut by_symbol: HashMap<u32, Vec<Reason>> =
            files.iter().flat_map(|&file| graph.symbols_of(file)).map(|&symbol| (symbol, Vec::new())).collect();
        let symbols = graph.symbols().len() as u32;
        for (from, &rank) in (0u32..).zip(&ranking.flow().files) {
            for (target, part) in graph.votes_of(from) {
                let is_own = target < symbols;
                let (definers, mass) = match target.checked_sub(symbols) {
                    // A name that nobody references keeps a little of its file's rank; that is no reason to show.
                    None if !graph.is_referenced(graph.symbols()[target as usize].name) => continue,
                    None => (std::slice::from_ref(&target), rank * part),
                    Some(name) => (graph.definers(name), rank * part / graph.definers(name).len() as f64),
                };
                for symbol in definers {
                    let Some(reasons) = by_symbol.get_mut(symbol) else { continue };
                    keep(reasons, (from, *symbol, mass));
                    // A file's votes for its own symbols tell them apart; they lift the file only as far as it may keep them.
                    let mass = if is_own { mass * ranking.weights.home } else { mass };
                    let file = graph.symbols()[*symbol as usize].file;
                    by_file
                        .get_mut(&file)
                        .filter(|_| mass > 0.0)
                        .into_iter()
                        .for_each(|of| keep(of, (from, *symbol, mass)));
                }
            }
        }
        Self { by_symbol, by_file }
    }

    /// The reasons of a file, heaviest first.
    pub(crate) fn of_file(&self, ranking: &Ranking, file: u32) -> Vec<Why> {
        self.by_file.get(&file).map_or_else(Vec::new, |reasons| spell_out(ranking, reasons))
    }

    /// The reasons of a symbol, heaviest first.
    pub(crate) fn of_symbol(&self, ranking: &Ranking, symbol: u32) -> Vec<Why> {
        self.by_symbol.get(&symbol).map_or_else(Vec::new, |reasons| spell_out(ranking, reasons))
    }
}

/// Puts a reason in its place among the heaviest.
fn keep(reasons: &mut Vec<Reason>, reason: Reason) {
    let heavier = |other: &Reason| {
        other.2.total_cmp(&reason.2).then((reason.0, reason.1).cmp(&(other.0, other.1))) == std::cmp::Ordering::Greater
    };
    let place = reasons.partition_point(heavier);
    if place < KEPT {
        reasons.insert(place, reason);
        reasons.truncate(KEPT);
    }
}

fn spell_out(ranking: &Ranking, reasons: &[Reason]) -> Vec<Why> {
    let index = ranking.index();
    let spell = |&(file, symbol, weight): &Reason| Why {
        from: index.path(file).to_owned(),
        ident: index.name(ranking.graph.symbols()[symbol as usize].name).to_owned(),
        weight,
    };
    reasons.iter().map(spell).collect()
}
