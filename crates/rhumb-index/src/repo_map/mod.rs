//! The repo map: a ranked outline of the code that the model was not given, within a token budget.
//!
//! Tags of all files become a graph (`graph`), the graph a rank of files and symbols (`rank`, `standing`), drawn towards
//! what the request is about (`mention`, `seed`); the best symbols that fit the budget (`fit`) become text (`render`).

mod build;
mod choice;
mod digest;
mod evidence;
mod explain;
mod fit;
mod graph;
mod growth;
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
mod sieve;
mod standing;
mod weights;
mod whence;

pub use build::{Explanation, RankedFile, RankedSymbol, RepoMap};
pub use choice::{symbol_choice, symbol_readings};
pub use digest::Digest;
pub use evidence::{FileWeights, SymbolEvidence, SymbolWeights};
pub use explain::Why;
pub use graph::{MapStats, Symbol, TagGraph};
pub use growth::Growth;
pub use history::{History, Past, PastCommit};
pub use imports::Modules;
pub use index::{Entry, IndexFile, MapIndex, RecordAt, Segment, SegmentBuilder};
pub(crate) use neighbourhood::meant;
pub use neighbourhood::{FileUses, Neighbourhood};
pub(crate) use path::is_aside;
pub use plan::Gains;
pub use rank::{Arcs, PageRank, pagerank};
pub use refresh::Refresh;
pub use request::{MapFile, MapRequest, MapStyle};
pub(crate) use score::is_test;
pub use sieve::{Sifted, SiftedFile};
pub use standing::Ranking;
pub use weights::is_compound;
pub use weights::{SIGNALS, Weights};
pub use whence::{Reference, Whence};

#[cfg(test)]
mod tests;
