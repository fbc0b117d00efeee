//! The repo map: a ranked outline of the code that the model was not given, within a token budget.
//!
//! Tags of all files become a graph (`graph`), the graph a rank of files and symbols (`rank`, `standing`), drawn towards
//! what the request is about (`mention`, `seed`); the best symbols that fit the budget (`fit`) become text (`render`).

mod build;
mod digest;
mod evidence;
mod explain;
mod fit;
mod graph;
mod header;
mod history;
mod imports;
pub mod index;
mod mention;
mod neighbourhood;
mod outline;
mod path;
mod plan;
mod rank;
mod refresh;
mod render;
mod request;
mod score;
mod seed;
mod standing;
mod weights;

pub use build::{Explanation, RankedFile, RankedSymbol, RepoMap};
pub use digest::Digest;
pub use evidence::{FileWeights, SymbolEvidence, SymbolWeights};
pub use explain::Why;
pub use graph::{MapStats, Symbol, TagGraph};
pub use history::{History, Past, PastCommit};
pub use imports::Modules;
pub use index::{IndexFile, MapIndex, RecordAt, Segment, SegmentBuilder};
pub use neighbourhood::{FileUses, Neighbourhood};
pub use plan::Gains;
pub use rank::{Arcs, PageRank, pagerank};
pub use refresh::Refresh;
pub use request::{MapFile, MapRequest, MapStyle};
pub use standing::Ranking;
pub use weights::{SIGNALS, Weights};

#[cfg(test)]
mod tests;
