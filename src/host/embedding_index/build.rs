//! Builds the vectors of a surveyed repository: known ones are read from the store, the others are embedded in batches. Also the
//! vectors in memory.

use super::{IndexControl, IndexError};
use crate::host::Survey;
use crate::store::vectors::{TextKey, VectorStore};
use rayon::prelude::*;
use rhumb_index::repo_map::MapIndex;
use rhumb_index::retrieval::{
    EmbeddingText, Hit, Neighbour, QuantizedVector, VectorIndex, diversified, embedding_texts,
};
use rhumb_llm::embed::{Embedder, TextKind, batches};
use rhumb_session::IndexEstimate;
use rhumb_workspace::{FileEntry, Root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Number of files that are read at once: enough to fill batches, few enough to need little memory.
const FILES_AT_ONCE: usize = 64;
/// Assumed bytes per token for the estimate. Code rarely has fewer, so that the estimate is not too low.
const BYTES_PER_TOKEN: usize = 3;

/// The parameters of [`index`].
#[derive(Clone, Copy)]
pub struct IndexRequest<'o> {
    /// The root.
    pub root: &'o Root,
    /// The survey of the repository.
    pub survey: &'o Survey,
    /// The previous vectors in this process.
    pub before: Option<&'o PassageVectors>,
    /// The embedder.
    pub embedder: &'o dyn Embedder,
    /// The folder of the vectors.
    pub folder: &'o Path,
    /// Whether to embed texts without a vector. Otherwise they are omitted.
    pub embed: bool,
}

/// Progress of [`index`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexStep {
    /// Number of finished files, and of all files.
    Files(usize, usize),
    /// The server asks to wait: how long, and why.
    Waiting(Duration, String),
}

/// The result of [`index`].
#[derive(Debug)]
pub struct Indexed {
    /// The vectors.
    pub vectors: PassageVectors,
    /// Number of texts that were embedded.
    pub embedded: usize,
    /// Number of texts without a vector.
    pub missing: usize,
    /// The new path of a damaged database.
    pub aside: Option<PathBuf>,
}

/// Builds the index. Each batch is saved, so that a stopped build resumes after it. Computes on the calling thread.
///
/// # Errors
/// The embedder or the store fails, or the build was cancelled.
pub async fn index(
    request: IndexRequest<'_>,
    control: &IndexControl,
    progress: &(dyn Fn(IndexStep) + Send + Sync),
) -> Result<Indexed, IndexError> {
    let (store, mut aside) = VectorStore::open(request.folder)?;
    let indexed = match pass(request, store, control, progress).await {
        Err(IndexError::Store(error)) if error.is_damage() => {
            let (store, moved) = VectorStore::reopen(request.folder)?;
            aside = moved.or(aside);
            pass(request, store, control, progress).await
        }
        done => done,
    };
    indexed.map(|indexed| Indexed { aside, ..indexed })
}

/// Estimates what a build would embed.
///
/// # Errors
/// The store cannot be read, or the estimate was cancelled.
pub fn estimate(request: IndexRequest<'_>, control: &IndexControl) -> Result<IndexEstimate, IndexError> {
    let mut store = VectorStore::open_existing(request.folder)?;
    let mut estimate = IndexEstimate::default();
    for slice in request.survey.files.chunks(FILES_AT_ONCE) {
        if control.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        for file in cut(request, slice) {
            let rows = match (&mut store, &file.texts) {
                (_, Texts::Known(_)) => continue,
                (Some(store), Texts::Cut(texts)) => store.rows(request.embedder.identity(), &keys(texts.iter()))?,
                (None, Texts::Cut(texts)) => vec![None; texts.len()],
            };
            let Texts::Cut(texts) = &file.texts else { continue };
            let new = texts.iter().zip(&rows).filter(|(_, row)| row.is_none());
            let bytes: Vec<usize> = new.map(|(text, _)| text.text.len()).collect();
            estimate.files += usize::from(!bytes.is_empty());
            estimate.texts += bytes.len();
            estimate.tokens += bytes.iter().map(|bytes| bytes.div_ceil(BYTES_PER_TOKEN)).sum::<usize>();
        }
    }
    Ok(estimate)
}

async fn pass(
    request: IndexRequest<'_>,
    mut store: VectorStore,
    control: &IndexControl,
    progress: &(dyn Fn(IndexStep) + Send + Sync),
) -> Result<Indexed, IndexError> {
    let identity = request.embedder.identity();
    let mut indexed = Indexed { vectors: PassageVectors::new(identity), embedded: 0, missing: 0, aside: None };
    let total = request.survey.files.len();
    for (at, slice) in request.survey.files.chunks(FILES_AT_ONCE).enumerate() {
        // An update after an edit is too short for progress.
        if request.before.is_none() || indexed.embedded > 0 {
            progress(IndexStep::Files(at * FILES_AT_ONCE, total));
        }
        control.wait_while_paused().await?;
        let files = cut(request, slice);
        let texts: Vec<&EmbeddingText> = files.iter().flat_map(FileTexts::cut).collect();
        let mut known = known_rows(&mut store, identity, &texts)?;
        if request.embed {
            indexed.embedded += embed_missing(request, &mut store, &texts, &mut known, control, progress).await?;
        }
        indexed.missing += texts.iter().filter(|text| !known.contains_key(&TextKey::of(&text.text))).count();
        for file in files {
            let rows: Vec<(Hit, QuantizedVector)> = match file.texts {
                Texts::Known(rows) => rows,
                Texts::Cut(texts) => {
                    let row = |text: EmbeddingText| Some((text.hit, known.get(&TextKey::of(&text.text))?.clone()));
                    texts.into_iter().filter_map(row).collect()
                }
            };
            indexed.vectors.add(&file.path, file.stamp, rows);
        }
    }
    store.sweep()?;
    Ok(indexed)
}

fn known_rows(
    store: &mut VectorStore,
    identity: &str,
    texts: &[&EmbeddingText],
) -> Result<BTreeMap<TextKey, QuantizedVector>, IndexError> {
    let keys = keys(texts.iter().copied());
    let rows = store.rows(identity, &keys)?;
    Ok(keys.into_iter().zip(rows).filter_map(|(key, row)| Some((key, row?))).collect())
}

/// Embeds the texts without a vector, saves the vectors, and returns their number.
async fn embed_missing(
    request: IndexRequest<'_>,
    store: &mut VectorStore,
    texts: &[&EmbeddingText],
    known: &mut BTreeMap<TextKey, QuantizedVector>,
    control: &IndexControl,
    progress: &(dyn Fn(IndexStep) + Send + Sync),
) -> Result<usize, IndexError> {
    // Without repetition, in the order of the files.
    let mut seen = BTreeSet::new();
    let is_new = |text: &&&EmbeddingText| {
        let key = TextKey::of(&text.text);
        !known.contains_key(&key) && seen.insert(key)
    };
    let missing: Vec<String> = texts.iter().filter(is_new).map(|text| text.text.clone()).collect();
    let on_wait = |wait, why: &str| progress(IndexStep::Waiting(wait, why.to_owned()));
    for batch in batches(&missing, request.embedder.batch()) {
        control.wait_while_paused().await?;
        let batch = missing.get(batch).unwrap_or_default();
        let embed = request.embedder.embed(batch, TextKind::Passage, &on_wait);
        let vectors = control.unless_cancelled(embed).await??;
        let row =
            |vector: &Vec<f32>| QuantizedVector::new(vector).unwrap_or_else(|| QuantizedVector::zero(vector.len()));
        let rows: Vec<(TextKey, QuantizedVector)> =
            batch.iter().zip(&vectors).map(|(text, vector)| (TextKey::of(text), row(vector))).collect();
        store.save(request.embedder.identity(), &rows)?;
        known.extend(rows);
    }
    Ok(missing.len())
}

struct FileTexts {
    path: Arc<str>,
    stamp: u64,
    texts: Texts,
}

enum Texts {
    Known(Vec<(Hit, QuantizedVector)>),
    /// Read again.
    Cut(Vec<EmbeddingText>),
}

impl FileTexts {
    fn cut(&self) -> &[EmbeddingText] {
        match &self.texts {
            Texts::Known(_) => &[],
            Texts::Cut(texts) => texts,
        }
    }
}

fn keys<'t>(texts: impl Iterator<Item = &'t EmbeddingText>) -> Vec<TextKey> {
    texts.map(|text| TextKey::of(&text.text)).collect()
}

/// The texts of files. Secret files have none, and neither have files without a record: ignored, too large, data or binary ones.
fn cut(request: IndexRequest<'_>, files: &[FileEntry]) -> Vec<FileTexts> {
    let before = request.before.filter(|before| before.identity == request.embedder.identity());
    let index = request.survey.graph.index();
    let of_file = |entry: &FileEntry| {
        let file = index.file_at(&entry.path).filter(|file| !entry.secret && index.record(*file).is_some())?;
        let path = Arc::clone(&index.files().get(file as usize)?.path);
        let unchanged = before.and_then(|before| before.unchanged(&entry.path, entry.stamp));
        let texts = match unchanged {
            Some(rows) => Texts::Known(rows.collect()),
            None => Texts::Cut(read_and_cut(request.root, index, file, &entry.path)?),
        };
        Some(FileTexts { path, stamp: entry.stamp, texts })
    };
    files.par_iter().filter_map(of_file).collect()
}

fn read_and_cut(root: &Root, index: &MapIndex, file: u32, path: &str) -> Option<Vec<EmbeddingText>> {
    let snapshot = rhumb_workspace::read(root, path).ok()?;
    Some(embedding_texts(index, file, &snapshot.text))
}

/// The vectors of a repository's passages by one model.
#[derive(Debug, Default, PartialEq)]
pub struct PassageVectors {
    /// The identity of the model.
    pub identity: String,
    vectors: VectorIndex,
    hits: Vec<Hit>,
    /// The files in path order.
    files: Vec<FileRows>,
}

#[derive(Debug, PartialEq)]
struct FileRows {
    path: Arc<str>,
    stamp: u64,
    rows: std::ops::Range<u32>,
}

impl PassageVectors {
    fn new(identity: &str) -> Self {
        Self { identity: identity.to_owned(), ..Self::default() }
    }

    /// Number of passages.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether there are no passages.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Adds the passages of the next file in path order. `stamp` changes with its content; 0 if that is not certain.
    fn add(&mut self, path: &Arc<str>, stamp: u64, rows: impl IntoIterator<Item = (Hit, QuantizedVector)>) {
        let first = self.hits.len() as u32;
        for (hit, row) in rows {
            if self.vectors.is_empty() {
                self.vectors = VectorIndex::new(row.dims());
            }
            if self.vectors.push(&row).is_some() {
                self.hits.push(hit);
            }
        }
        self.files.push(FileRows { path: Arc::clone(path), stamp, rows: first..self.hits.len() as u32 });
    }

    /// The passages of an unchanged file; `None` if that is not certain.
    fn unchanged(&self, path: &str, stamp: u64) -> Option<impl Iterator<Item = (Hit, QuantizedVector)>> {
        let at = self.files.binary_search_by(|file| file.path.as_ref().cmp(path)).ok()?;
        let file = self.files.get(at).filter(|file| stamp != 0 && file.stamp == stamp)?;
        Some(file.rows.clone().filter_map(|row| Some((self.hits.get(row as usize)?.clone(), self.vectors.row(row)?))))
    }

    /// The passages nearest to a vector, best first, diversified by file. Files that are not in `index` are omitted.
    pub fn nearest(&self, vector: &[f32], limit: usize, index: &MapIndex) -> Vec<Hit> {
        let near = self.vectors.nearest(vector, limit).into_iter();
        let hit = |near: Neighbour| {
            let hit = self.hits.get(near.row as usize)?;
            Some(Hit { file: index.file_at(&hit.path)?, score: f64::from(near.score), ..hit.clone() })
        };
        diversified(near.filter_map(hit).collect())
    }
}
