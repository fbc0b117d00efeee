//! Why a file or a symbol stands where it does: the references that bring it most of its rank.

use petgraph::Direction;

use super::graph::{Node, TagGraph};
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

/// A reason before it is spelled out: the file, the symbol that it votes for, the rank that it brings.
type Reason = (u32, u32, f64);

/// The heaviest reasons of all symbols and files, kept so that asking for each costs little.
#[derive(Debug)]
pub(crate) struct Reasons {
    by_symbol: Vec<Vec<Reason>>,
    by_file: Vec<Vec<Reason>>,
}

impl Reasons {
    /// Looks at every vote once a name.
    pub(crate) fn new(ranking: &Ranking<'_>) -> Self {
        let graph = &ranking.graph;
        let totals = file_totals(graph, ranking.files.len());
        let shared: Vec<Vec<(u32, f64)>> =
            (0..graph.names.texts.len() as u32).map(|name| incoming(ranking, &totals, graph.name_node(name))).collect();
        let mut by_file: Vec<Vec<Reason>> = vec![Vec::new(); ranking.files.len()];
        let mut by_symbol = Vec::with_capacity(graph.names.symbols.len());
        for (id, symbol) in (0u32..).zip(&graph.names.symbols) {
            let definers = graph.names.symbols_of[symbol.name as usize].len() as f64;
            // A name that nobody references keeps a little of its file's rank; that is no reason to show.
            let referenced = graph.referenced[symbol.name as usize];
            let local = if referenced { incoming(ranking, &totals, graph.symbol_node(id)) } else { Vec::new() };
            let votes = shared[symbol.name as usize].iter().map(|&(file, mass)| (file, mass / definers));
            let mut reasons: Vec<Reason> = votes.chain(local).map(|(file, mass)| (file, id, mass)).collect();
            keep_heaviest(&mut reasons);
            by_file[symbol.file as usize].extend_from_slice(&reasons);
            by_symbol.push(reasons);
        }
        by_file.iter_mut().for_each(keep_heaviest);
        Self { by_symbol, by_file }
    }

    /// The reasons of a file, heaviest first.
    pub(crate) fn of_file(&self, ranking: &Ranking<'_>, file: u32) -> Vec<Why> {
        self.by_file.get(file as usize).map_or_else(Vec::new, |reasons| spell_out(ranking, reasons))
    }

    /// The reasons of a symbol, heaviest first.
    pub(crate) fn of_symbol(&self, ranking: &Ranking<'_>, symbol: u32) -> Vec<Why> {
        self.by_symbol.get(symbol as usize).map_or_else(Vec::new, |reasons| spell_out(ranking, reasons))
    }
}

/// All votes of each file together.
fn file_totals(graph: &TagGraph<'_>, files: usize) -> Vec<f64> {
    let mut totals = vec![0.0; files];
    for edge in graph.graph.raw_edges() {
        if let Some(total) = totals.get_mut(edge.source().index()) {
            *total += edge.weight;
        }
    }
    totals
}

/// The files that vote for a node with the rank that they bring, heaviest first.
fn incoming(ranking: &Ranking<'_>, totals: &[f64], node: petgraph::graph::NodeIndex) -> Vec<(u32, f64)> {
    use petgraph::visit::EdgeRef;
    let graph = &ranking.graph.graph;
    let mut votes: Vec<(u32, f64)> = graph
        .edges_directed(node, Direction::Incoming)
        .filter_map(|edge| match graph.node_weight(edge.source()) {
            Some(&Node::File(file)) => {
                let share = edge.weight() / totals[file as usize];
                Some((file, ranking.file_ranks[file as usize] * share))
            }
            _ => None,
        })
        .collect();
    votes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    votes.truncate(KEPT);
    votes
}

fn keep_heaviest(reasons: &mut Vec<Reason>) {
    reasons.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    reasons.truncate(KEPT);
}

fn spell_out(ranking: &Ranking<'_>, reasons: &[Reason]) -> Vec<Why> {
    let names = &ranking.graph.names;
    let spell = |&(file, symbol, weight): &Reason| Why {
        from: ranking.files[file as usize].path.clone(),
        ident: names.texts[names.symbols[symbol as usize].name as usize].to_owned(),
        weight,
    };
    reasons.iter().map(spell).collect()
}
