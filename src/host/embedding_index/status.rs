//! How the index is, in words.

use std::fmt::Write as _;
use std::path::Path;

use super::IndexError;
use crate::config::{EmbeddingsSource, Settings};
use crate::store::MapStore;
use crate::store::vectors::{ModelVectors, VectorStore};
use rhumb_index::repo_map::TagGraph;
use rhumb_llm::embed::Embedder;
use rhumb_text::{byte_size, thousands};

/// How the index of a repository is.
#[derive(Debug)]
pub struct IndexStatus {
    /// Files of the repository that the index of words knows.
    pub files: usize,
    /// Passages of them.
    pub passages: usize,
    /// The folder of everything that is kept of the repository's code.
    pub folder: String,
    /// Bytes in it of the words and names, which the map and the search share.
    pub words_bytes: u64,
    /// The model that makes vectors now, or in words why none does and what to do.
    pub model: Result<String, (String, String)>,
    /// The machine that texts are sent to, if any.
    pub host: Option<String>,
    /// What is kept, by model.
    pub kept: Vec<ModelVectors>,
    /// The database.
    pub path: String,
    /// Its size in bytes; 0 where there is none.
    pub bytes: u64,
}

impl IndexStatus {
    /// Looks at the index whose vectors are in `folder`.
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
            records.fold((0, 0), |(files, passages), record| (files + 1, passages + record.terms().passages()));
        let off = settings.embeddings.source == EmbeddingsSource::Off;
        let model = match embedder {
            Ok(embedder) => Ok(embedder.identity().to_owned()),
            Err(error) if off => Err(("none: passages are searched by words alone".into(), error.hint())),
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
            kept: store.map(|store| store.models()).transpose()?.unwrap_or_default(),
            path: VectorStore::path_in(folder).display().to_string(),
            bytes: VectorStore::size_in(folder),
        })
    }

    /// The same as a text to read.
    pub fn text(&self) -> String {
        let mut text = format!("files     {}\n", thousands(self.files));
        let _ = writeln!(text, "passages  {}", thousands(self.passages));
        let _ = writeln!(text, "words     {}, {}", self.folder, byte_size(self.words_bytes));
        match &self.model {
            Ok(model) => {
                let _ = writeln!(text, "model     {model}");
            }
            Err((why, hint)) => {
                let _ = writeln!(text, "model     {why}\n          → {hint}");
            }
        }
        if let Some(host) = &self.host {
            let _ = writeln!(text, "sends to  {host}");
        }
        for ModelVectors { identity, dims, count } in &self.kept {
            let _ = writeln!(text, "vectors   {} of {dims} numbers, by {identity}", thousands(*count));
        }
        match self.bytes {
            0 => {
                let _ = writeln!(text, "database  none yet; it would be {}", self.path);
            }
            bytes => {
                let _ = writeln!(text, "database  {}, {}", self.path, byte_size(bytes));
            }
        }
        text
    }
}
