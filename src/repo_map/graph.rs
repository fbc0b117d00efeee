//! The tag graph: files vote for names, names share their votes among the definitions of that name.
//!
//! The graph that is ranked has an arc from each referencing file to each defining file, one for every name. Its size is
//! the product of both, which explodes for a `new` that thousands of files define and use. A name shares its votes
//! equally among its definitions, so the same ranks come out of the two halves of each arc: file → name → definition.

use std::collections::{BTreeSet, HashMap};

use petgraph::graph::{DiGraph, NodeIndex};
use rayon::prelude::*;

use super::rank::Arcs;
use super::request::MapFile;
use super::weights::Weights;

/// A node of the tag graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A file, by its position in the file list.
    File(u32),
    /// The definitions of one name in one file.
    Symbol(u32),
    /// A name that other files define.
    Name(u32),
}

/// The definitions of one name in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The file that defines it.
    pub(crate) file: u32,
    /// The name, as an index of [`TagGraph::names`].
    pub(crate) name: u32,
    /// How many definitions of that name the file has.
    pub(crate) definitions: u32,
}

/// Names and where they are defined, in the order of the files. Names that nobody defines are not kept.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    ids: HashMap<&'a str, u32>,
    /// The names by id.
    pub(crate) texts: Vec<&'a str>,
    /// For each name, its symbols in file order.
    pub(crate) symbols_of: Vec<Vec<u32>>,
    /// All symbols, those of a file next to each other.
    pub(crate) symbols: Vec<Symbol>,
}

impl<'a> Names<'a> {
    /// Collects what `files` define.
    pub(crate) fn new(files: &[&'a MapFile]) -> Self {
        let mut names = Self::default();
        for (file, map_file) in (0u32..).zip(files) {
            for definition in &map_file.tags.definitions {
                names.add(file, &definition.name);
            }
        }
        names
    }

    fn add(&mut self, file: u32, text: &'a str) {
        let fresh = self.texts.len() as u32;
        let name = *self.ids.entry(text).or_insert(fresh);
        if name == fresh {
            self.texts.push(text);
            self.symbols_of.push(Vec::new());
        }
        let symbols = &mut self.symbols_of[name as usize];
        match symbols.last().map(|&last| &mut self.symbols[last as usize]) {
            Some(symbol) if symbol.file == file => symbol.definitions += 1,
            _ => {
                symbols.push(self.symbols.len() as u32);
                self.symbols.push(Symbol { file, name, definitions: 1 });
            }
        }
    }

    /// The id of a name that some file defines.
    pub(crate) fn id(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied()
    }

    /// The symbol of a name in a file.
    pub(crate) fn symbol(&self, file: u32, name: u32) -> Option<u32> {
        let symbols = self.symbols_of.get(name as usize)?;
        let at = symbols.binary_search_by_key(&file, |&symbol| self.symbols[symbol as usize].file).ok()?;
        symbols.get(at).copied()
    }

    /// The defined names that a file references, with their counts, by id.
    fn references(&self, file: &MapFile) -> Vec<(u32, usize)> {
        let mut ids: Vec<u32> = file.tags.references.iter().filter_map(|tag| self.id(&tag.name)).collect();
        ids.sort_unstable();
        ids.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
    }
}

/// The tag graph of a list of files.
#[derive(Debug)]
pub struct TagGraph<'a> {
    /// Nodes in the order files, symbols, names; an edge's weight is the vote that it carries.
    pub graph: DiGraph<Node, f64>,
    pub(crate) names: Names<'a>,
    /// By name: whether any file references it.
    pub(crate) referenced: Vec<bool>,
    files: usize,
}

impl<'a> TagGraph<'a> {
    /// The graph of `files`. `chat[i]` says that file `i` is in the chat; `mentioned` holds the names of the request.
    pub(crate) fn new(
        files: &[&'a MapFile],
        names: Names<'a>,
        chat: &[bool],
        mentioned: &BTreeSet<u32>,
        weights: &Weights,
    ) -> Self {
        let mut graph = DiGraph::with_capacity(files.len() + names.symbols.len() + names.texts.len(), 0);
        for file in 0..files.len() as u32 {
            graph.add_node(Node::File(file));
        }
        for symbol in 0..names.symbols.len() as u32 {
            graph.add_node(Node::Symbol(symbol));
        }
        for name in 0..names.texts.len() as u32 {
            graph.add_node(Node::Name(name));
        }
        let referenced = vec![false; names.texts.len()];
        let mut tag_graph = Self { graph, names, referenced, files: files.len() };
        let factors = tag_graph.factors(mentioned, weights);
        // Looking up every reference is most of the work of a map, and the files do not depend on each other.
        let references: Vec<Vec<(u32, usize)>> =
            files.par_iter().map(|file| tag_graph.names.references(file)).collect();
        for (file, counts) in (0u32..).zip(references) {
            let from_chat = chat.get(file as usize).copied().unwrap_or(false);
            for (name, count) in counts {
                tag_graph.referenced[name as usize] = true;
                let vote = weights.of_reference(factors[name as usize], count, from_chat);
                tag_graph.add_reference(file, name, vote, weights.prefer_local);
            }
        }
        tag_graph.add_definitions(weights.unused);
        tag_graph
    }

    fn factors(&self, mentioned: &BTreeSet<u32>, weights: &Weights) -> Vec<f64> {
        let names = (0u32..).zip(&self.names.texts).zip(&self.names.symbols_of);
        names.map(|((id, text), symbols)| weights.of_name(text, symbols.len(), mentioned.contains(&id))).collect()
    }

    /// Each definer of the name gets `vote`; a local definition may keep it all at home.
    fn add_reference(&mut self, file: u32, name: u32, vote: f64, prefer_local: bool) {
        let from = NodeIndex::new(file as usize);
        let definers = self.names.symbols_of[name as usize].len();
        let local = if prefer_local || definers == 1 { self.names.symbol(file, name) } else { None };
        match local {
            Some(symbol) => self.graph.add_edge(from, self.symbol_node(symbol), vote),
            None => self.graph.add_edge(from, self.name_node(name), vote * definers as f64),
        };
    }

    /// Names hand their votes to their symbols, symbols to their files; what nobody references keeps a little.
    fn add_definitions(&mut self, unused: f64) {
        for (symbol, &Symbol { file, name, .. }) in (0u32..).zip(&self.names.symbols) {
            let node = NodeIndex::new(self.files + symbol as usize);
            let file_node = NodeIndex::new(file as usize);
            if self.referenced[name as usize] {
                let name_node = NodeIndex::new(self.files + self.names.symbols.len() + name as usize);
                self.graph.add_edge(name_node, node, 1.0);
            } else {
                self.graph.add_edge(file_node, node, unused);
            }
            self.graph.add_edge(node, file_node, 1.0);
        }
    }

    pub(crate) fn symbol_node(&self, symbol: u32) -> NodeIndex {
        NodeIndex::new(self.files + symbol as usize)
    }

    pub(crate) fn name_node(&self, name: u32) -> NodeIndex {
        NodeIndex::new(self.files + self.names.symbols.len() + name as usize)
    }

    /// The votes of the files: rows are files, targets are symbols and, behind them, names.
    pub(crate) fn votes(&self) -> Arcs {
        let from_files = self.graph.raw_edges().iter().filter(|edge| edge.source().index() < self.files);
        let arcs: Vec<(u32, u32, f64)> = from_files
            .map(|edge| (edge.source().index() as u32, (edge.target().index() - self.files) as u32, edge.weight))
            .collect();
        Arcs::new(self.files, &arcs)
    }
}
