//! The repo map: a ranked outline of the code outside of the chat, within a token budget.
//!
//! 1. The tags of all files are stored in an index ([`index`]) and become a graph of references ([`TagGraph`]).
//! 2. A request is compared with the files: mentioned paths and names, words in the text, past commits, references to the files of
//!    the chat. The result is a [`Ranking`] of files and symbols.
//! 3. The best entries that fit the budget are rendered as text ([`RepoMap`]).

mod definitions;
mod digest;
mod evidence;
mod explanation;
mod features;
mod fit;
mod graph;
mod history;
mod imports;
pub mod index;
mod learned;
mod map;
mod named;
mod neighbourhood;
mod pagerank;
mod path;
mod plan;
mod ranking;
mod render;
mod request;
mod score;
mod seed;
mod weights;

pub(crate) use definitions::is_test;
pub use definitions::is_value;
pub use digest::Digest;
pub use explanation::{Contribution, Explanation, LocatedReference, RankReference, TopReferences};
pub use features::{FileFeature, LinearModel, SymbolFeature, SymbolRow};
pub use graph::{GraphRanks, MapStats, Symbol, TagGraph};
pub use history::{CommitIndex, History, PastCommit, SimilarCommits};
pub use imports::ModuleResolver;
pub use index::{
    IndexFile, IndexedDefinition, MapIndex, NameTable, RecordId, SEGMENT_LAYOUT, Segment, SegmentBuilder, SegmentTables,
};
pub use map::{GrowthForecast, MapMatches, MatchedFile, RankedFile, RankedSymbol, RepoMap};
pub(crate) use neighbourhood::referenced_files;
pub use neighbourhood::{FileUses, Neighbourhood};
pub use pagerank::{CsrGraph, PageRank, pagerank};
pub use path::is_peripheral;
pub use plan::Gains;
pub use ranking::{RankedDefinition, Ranking};
pub use request::{MapFile, MapRequest, MapStyle, Refresh, symbol_choice, symbol_readings};
pub(crate) use score::row_contributions;
pub use weights::{SIGNALS, Weights, is_compound};

#[cfg(test)]
mod tests;
