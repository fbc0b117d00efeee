//! A code-aware index of a repository: which files, symbols and lines are relevant to a request.
//!
//! The main result is a *repo map*: an outline of the most relevant files and definitions, within a token budget, for a language
//! model that cannot read the whole repository.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rhumb_index::lexical::Depth;
//! use rhumb_index::repo_map::{Digest, History, MapFile, MapIndex, MapRequest, Ranking, RepoMap, TagGraph, Weights};
//! use rhumb_syntax::{Language, tags};
//!
//! let sources = [
//!     ("src/tide.rs", "pub fn high_water(port: &Port) -> f64 {\n    port.depth() + 2.0\n}\n"),
//!     ("src/port.rs", "pub struct Port;\n\nimpl Port {\n    pub fn depth(&self) -> f64 {\n        7.5\n    }\n}\n"),
//!     ("src/main.rs", "fn main() {\n    println!(\"{}\", high_water(&Port));\n}\n"),
//! ];
//! let files: Vec<MapFile> = sources
//!     .iter()
//!     .map(|(path, text)| {
//!         let tags = Language::detect(path, text).map(|language| tags(language, text)).unwrap_or_default();
//!         let digest = Digest::new(text, &tags, Depth::Whole);
//!         MapFile { path: (*path).to_owned(), tags: Arc::new(tags), digest: Arc::new(digest) }
//!     })
//!     .collect();
//!
//! // The graph serves many requests. It can also use the history of the repository.
//! let weights = Weights::default();
//! let graph = Arc::new(TagGraph::new(Arc::new(MapIndex::of(&files)), &History::default(), &weights));
//!
//! let request = MapRequest { message: "why is high_water too low?".to_owned(), budget: 40, ..MapRequest::default() };
//! let ranking = Ranking::new(&graph, &request, &weights);
//! let counter = rhumb_tokens::counter_for_model("gpt-4o");
//! let map = RepoMap::of_ranking(ranking, &request, &*counter);
//!
//! println!("{}", map.text);
//! assert!(map.tokens <= 40);
//! assert_eq!(&*map.files[0].path, "src/tide.rs");
//! assert!(map.text.contains("pub fn high_water(port: &Port) -> f64 {"));
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`lexical`] | words inside of identifiers, BM25 over chunks, definitions, files and paths |
//! | [`repo_map`] | the stored index, the tag graph, the ranking for a request, the rendered map |
//! | [`retrieval`] | questions about a repository: search, chunks, vectors, references, passages within a budget, citations |
//!
//! # Limits
//!
//! - The crate reads no files, clock or environment (enforced by `clippy.toml`). Callers supply texts, commits and embeddings, and
//!   store [`Segment`](repo_map::Segment)s and [`QuantizedVector`](retrieval::QuantizedVector)s. Ranking uses all cores (`rayon`).
//! - References are resolved by name, with the help of imports. Types are not considered.
//! - Results are deterministic: they depend on the input only, not on the order of files or the number of threads.
//! - With [`Depth::Whole`](lexical::Depth::Whole) the index grows with all text of a repository; for very large ones use
//!   [`Depth::Headers`](lexical::Depth::Headers).

pub mod lexical;
pub mod repo_map;
pub mod retrieval;
