//! Making the vectors of a surveyed repository: what is known is taken from the store, the rest is embedded batch by batch.

use rhumb_session::IndexEstimate;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use super::{IndexControl, IndexError, PassageVectors};
use crate::host::Survey;
use crate::store::vectors::{TextKey, VectorStore};
use rhumb_index::repo_map::MapIndex;
use rhumb_index::retrieval::{EmbeddingText, Hit, QuantizedVector, embedding_texts};
use rhumb_llm::embed::{Embedder, TextKind, batches};
use rhumb_workspace::{FileEntry, Root};

/// Files that are read and cut in one go: enough to fill batches, few enough that their texts need no memory to speak of.
const SLICE: usize = 64;
/// Bytes of code for a token, of which there are seldom less than three: better to say too many tokens than too few.
const BYTES_OF_A_TOKEN: usize = 3;

/// What is to be indexed, and by whom.
#[derive(Clone, Copy)]
pub struct IndexRequest<'o> {
    /// Where the files are.
    pub root: &'o Root,
    /// What is known of them.
    pub survey: &'o Survey,
    /// What the same model made of them before, in this process.
    pub before: Option<&'o PassageVectors>,
    /// ModelRole makes vectors.
    pub embedder: &'o dyn Embedder,
    /// Where vectors are kept.
    pub folder: &'o Path,
    /// Whether texts without a vector are embedded; else they are left out.
    pub embed: bool,
}

/// How far an index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexStep {
    /// So many files of so many are done.
    Files(usize, usize),
    /// The server wants a pause: how long, and why.
    Waiting(Duration, String),
}

/// An index that was made.
#[derive(Debug)]
pub struct Indexed {
    /// The vectors.
    pub meaning: PassageVectors,
    /// How many texts were embedded for it.
    pub embedded: usize,
    /// How many texts have no vector.
    pub missing: usize,
    /// Where a damaged database was moved to, if there was one.
    pub aside: Option<PathBuf>,
}

/// Makes the index. Vectors are kept as they come, a batch at a time, so that whoever is stopped goes on from there. Keeps the
/// calling thread busy: it is for one that has nothing else to do.
///
/// # Errors
/// The embedder or the store fails, or it was cancelled.
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

/// What an index would have to embed. Nothing is embedded or kept.
///
/// # Errors
/// The store cannot be read, or it was cancelled.
pub fn estimate(request: IndexRequest<'_>, control: &IndexControl) -> Result<IndexEstimate, IndexError> {
    let mut store = VectorStore::open_existing(request.folder)?;
    let mut estimate = IndexEstimate::default();
    for slice in request.survey.files.chunks(SLICE) {
        if control.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        for file in cut(request, slice) {
            let rows = match (&mut store, &file.texts) {
                (_, Texts::Known(_)) => continue,
                (Some(store), Texts::Cut(texts)) => store.rows(request.embedder.identity(), &keys(texts))?,
                (None, Texts::Cut(texts)) => vec![None; texts.len()],
            };
            let Texts::Cut(texts) = &file.texts else { continue };
            let new = texts.iter().zip(&rows).filter(|(_, row)| row.is_none());
            let bytes: Vec<usize> = new.map(|(text, _)| text.text.len()).collect();
            estimate.files += usize::from(!bytes.is_empty());
            estimate.texts += bytes.len();
            estimate.tokens += bytes.iter().map(|bytes| bytes.div_ceil(BYTES_OF_A_TOKEN)).sum::<usize>();
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
    let mut indexed = Indexed { meaning: PassageVectors::new(identity), embedded: 0, missing: 0, aside: None };
    let total = request.survey.files.len();
    for (at, slice) in request.survey.files.chunks(SLICE).enumerate() {
        // Bringing it up to date after an edit is over before anybody could read how far it is.
        if request.before.is_none() || indexed.embedded > 0 {
            progress(IndexStep::Files(at * SLICE, total));
        }
        control.point().await?;
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
            indexed.meaning.add(&file.path, file.stamp, rows);
        }
    }
    store.sweep()?;
    Ok(indexed)
}

/// The vectors that the store has of these texts.
fn known_rows(
    store: &mut VectorStore,
    identity: &str,
    texts: &[&EmbeddingText],
) -> Result<BTreeMap<TextKey, QuantizedVector>, IndexError> {
    let keys: Vec<TextKey> = texts.iter().map(|text| TextKey::of(&text.text)).collect();
    let rows = store.rows(identity, &keys)?;
    Ok(keys.into_iter().zip(rows).filter_map(|(key, row)| Some((key, row?))).collect())
}

/// Embeds the texts that are not known and keeps their vectors; how many there were.
async fn embed_missing(
    request: IndexRequest<'_>,
    store: &mut VectorStore,
    texts: &[&EmbeddingText],
    known: &mut BTreeMap<TextKey, QuantizedVector>,
    control: &IndexControl,
    progress: &(dyn Fn(IndexStep) + Send + Sync),
) -> Result<usize, IndexError> {
    // Each once, in the request of the files.
    let mut seen = std::collections::BTreeSet::new();
    let is_new = |text: &&&EmbeddingText| {
        let key = TextKey::of(&text.text);
        !known.contains_key(&key) && seen.insert(key)
    };
    let missing: Vec<String> = texts.iter().filter(is_new).map(|text| text.text.clone()).collect();
    let on_wait = |wait, why: &str| progress(IndexStep::Waiting(wait, why.to_owned()));
    for batch in batches(&missing, request.embedder.batch()) {
        control.point().await?;
        let batch = missing.get(batch).unwrap_or_default();
        let embed = request.embedder.embed(batch, TextKind::Passage, &on_wait);
        let vectors = control.unless_cancelled(embed).await??;
        let row =
            |vector: &Vec<f32>| QuantizedVector::new(vector).unwrap_or_else(|| QuantizedVector::zero(vector.len()));
        let rows: Vec<(TextKey, QuantizedVector)> =
            batch.iter().zip(&vectors).map(|(text, vector)| (TextKey::of(text), row(vector))).collect();
        store.keep(request.embedder.identity(), &rows)?;
        known.extend(rows);
    }
    Ok(missing.len())
}

/// A file with its texts.
struct FileTexts {
    path: Arc<str>,
    stamp: u64,
    texts: Texts,
}

enum Texts {
    /// As they were before.
    Known(Vec<(Hit, QuantizedVector)>),
    /// As they are now.
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

fn keys(texts: &[EmbeddingText]) -> Vec<TextKey> {
    texts.iter().map(|text| TextKey::of(&text.text)).collect()
}

/// The texts of some files. Those with secrets have none, nor have those that the index did not take in: what is ignored, too large,
/// data or no text.
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
