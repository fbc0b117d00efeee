//! The status of the index, for `rhumb index` and `/index`.

use super::IndexError;
use crate::config::{EmbeddingsSource, Settings};
use crate::store::MapStore;
use crate::store::vectors::{ModelVectors, VectorStore};
use rhumb_index::repo_map::TagGraph;
use rhumb_llm::embed::Embedder;
use rhumb_text::{byte_size, thousands};
use std::fmt::Write as _;
use std::path::Path;

/// The status of a repository's index.
#[derive(Debug)]
pub struct IndexStatus {
    /// Number of files in the word index.
    pub files: usize,
    /// Number of their passages.
    pub passages: usize,
    /// The cache folder of the repository.
    pub folder: String,
    /// Size of the word index and the map there, in bytes, with the stored ranks.
    pub words_bytes: u64,
    /// The embedding model, or the reason for its absence and a hint.
    pub model: Result<String, (String, String)>,
    /// The server that receives texts, if any.
    pub host: Option<String>,
    /// The stored vectors, by model.
    pub models: Vec<ModelVectors>,
    /// The path of the database.
    pub path: String,
    /// Its size in bytes; 0 if it does not exist.
    pub bytes: u64,
}

impl IndexStatus {
    /// The status of the index with vectors in `folder`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn of(
        settings: &Settings,
        graph: &TagGraph,
        embedder: Result<&dyn Embedder, &IndexError>,
        folder: &Path,
    ) -> Result<Self, IndexError> {
        let index = graph.index();
        let records = (0..index.len() as u32).filter_map(|file| index.record(file));
        let (files, passages) =
            records.fold((0, 0), |(files, passages), record| (files + 1, passages + record.terms().chunk_count()));
        let off = settings.embeddings.source == EmbeddingsSource::Off;
        let model = match embedder {
            Ok(embedder) => Ok(embedder.identity().to_owned()),
            Err(error) if off => Err(("none: the search is by words alone".into(), error.hint())),
            Err(error) => Err((error.to_string(), error.hint())),
        };
        let store = VectorStore::open_existing(folder)?;
        Ok(Self {
            files,
            passages,
            folder: folder.display().to_string(),
            words_bytes: MapStore::size_in(folder),
            model,
            host: embedder.ok().and_then(Embedder::host),
            models: store.map(|store| store.models()).transpose()?.unwrap_or_default(),
            path: VectorStore::path_in(folder).display().to_string(),
            bytes: VectorStore::size_in(folder),
        })
    }

    /// The status as text.
    pub fn text(&self) -> String {
        let mut text = format!("files     {}\n", thousands(self.files));
        let _ = writeln!(text, "passages  {}", thousands(self.passages));
        let _ = writeln!(text, "words     {}, {}", self.folder, byte_size(self.words_bytes));
        let _ = match &self.model {
            Ok(model) => writeln!(text, "model     {model}"),
            Err((why, hint)) => writeln!(text, "model     {why}\n          → {hint}"),
        };
        if let Some(host) = &self.host {
            let _ = writeln!(text, "sends to  {host}");
        }
        for ModelVectors { identity, dims, count } in &self.models {
            let _ = writeln!(text, "vectors   {} of {dims} numbers, by {identity}", thousands(*count));
        }
        let _ = match self.bytes {
            0 => writeln!(text, "database  none yet; it would be {}", self.path),
            bytes => writeln!(text, "database  {}, {}", self.path, byte_size(bytes)),
        };
        text
    }
}
