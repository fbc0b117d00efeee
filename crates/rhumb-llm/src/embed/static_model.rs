//! A model on this machine: a vector for each word, and the mean of them for a text. Takes microseconds a text and no network.
//!
//! The tokenizer of such a model may be any that its makers trained, so the library of those makers reads it. All else is a table
//! of numbers, which is read here: the wrapper crates bring more code than that is.

use std::fs;
use std::path::{Path, PathBuf};

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use rayon::prelude::*;
use serde_json::Value;
use tokenizers::Tokenizer;
use xxhash_rust::xxh3::xxh3_64;

use super::safetensors::Tensors;
use super::{BatchLimit, EmbedError, Embedder, OnWait, TextKind};

/// Words of a text that count, as where these models were trained.
const MOST_WORDS: usize = 512;
/// Texts that are embedded in one go: enough to keep all threads busy, few enough that progress moves and a batch is soon kept.
const BATCH: BatchLimit = BatchLimit { texts: 512, bytes: 4 << 20 };
/// The names that the table of vectors has, by the program that wrote it.
const TABLES: [&str; 3] = ["embeddings", "0", "embedding.weight"];

/// Vectors of words, and what cuts a text into them.
pub(super) struct StaticModel {
    identity: String,
    name: String,
    tokenizer: Tokenizer,
    /// The word that stands for all unknown ones, which says nothing.
    unknown: Option<u32>,
    /// The characters of a text that are looked at.
    most_chars: usize,
    dims: usize,
    table: Vec<f32>,
    /// What a word counts, if they count differently.
    weights: Vec<f32>,
    /// The row of a word, if several share one.
    rows: Vec<usize>,
}

impl StaticModel {
    /// Reads the model of a folder. It is what its files are: another revision has another identity.
    pub(super) fn open(name: &str, folder: &Path) -> Result<Self, EmbedError> {
        // Some publish it as a part of a larger one.
        let inner = folder.join("0_StaticEmbedding");
        let place = if inner.is_dir() { inner } else { folder.to_owned() };
        let read = |file: &str| {
            let path = place.join(file);
            match fs::read(&path) {
                Ok(bytes) => Ok((path, bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    Err(EmbedError::NoModel { folder: folder.to_owned() })
                }
                Err(error) => Err(EmbedError::Unusable { path, reason: error.to_string() }),
            }
        };
        let (words, numbers) = (read("tokenizer.json")?, read("model.safetensors")?);
        let hash = xxh3_64(&numbers.1) ^ xxh3_64(&words.1).rotate_left(1);
        let (tokenizer, unknown, median) = tokenizer(&words)?;
        let unusable = |reason: String| EmbedError::Unusable { path: numbers.0.clone(), reason };
        let tensors = Tensors::read(&numbers.1).map_err(unusable)?;
        let get = |name: &str| tensors.get(name).map_err(unusable);
        let mut table = None;
        for name in TABLES {
            table = table.or(get(name)?);
        }
        let table = table.ok_or_else(|| unusable("it holds no table of vectors".into()))?;
        let dims = match table.shape.as_slice() {
            &[_, dims] if dims > 0 => dims,
            _ => return Err(unusable("its table of vectors has another shape".into())),
        };
        Ok(Self {
            identity: format!("{name}@{hash:016x}/{dims}"),
            name: name.to_owned(),
            tokenizer,
            unknown,
            most_chars: MOST_WORDS.saturating_mul(median.max(1)),
            dims,
            weights: get("weights")?.map(|tensor| tensor.numbers()).unwrap_or_default(),
            rows: get("mapping")?.map(|tensor| tensor.places()).unwrap_or_default(),
            table: table.numbers(),
        })
    }

    /// The mean of the words of a text; zeros where it has none that are known.
    fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let end = text.char_indices().nth(self.most_chars).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| EmbedError::Unusable {
            path: PathBuf::from(&self.name),
            reason: format!("its tokenizer fails: {error}"),
        })?;
        let mut sum = vec![0.0; self.dims];
        for &word in encoding.get_ids().iter().take(MOST_WORDS).filter(|word| Some(**word) != self.unknown) {
            let word = word as usize;
            let row = self.rows.get(word).copied().unwrap_or(word);
            let weight = self.weights.get(word).copied().unwrap_or(1.0);
            // A word past the end of the table has no vector.
            let start = row.saturating_mul(self.dims);
            let numbers = self.table.get(start..start.saturating_add(self.dims)).unwrap_or_default();
            sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += weight * number);
        }
        if sum.iter().any(|number| !number.is_finite()) {
            return Err(EmbedError::NoNumber { who: self.name.clone() });
        }
        // Only the direction counts, so nothing is divided.
        Ok(sum)
    }
}

impl Embedder for StaticModel {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn host(&self) -> Option<String> {
        None
    }

    fn batch(&self) -> BatchLimit {
        BATCH
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        _: TextKind,
        _: OnWait<'a>,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        ready(texts.par_iter().map(|text| self.vector(text)).collect()).boxed()
    }
}

/// The tokenizer, the word for unknown ones, and the median length of its words in bytes.
fn tokenizer((path, bytes): &(PathBuf, Vec<u8>)) -> Result<(Tokenizer, Option<u32>, usize), EmbedError> {
    let unusable = |reason: String| EmbedError::Unusable { path: path.clone(), reason };
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| unusable(error.to_string()))?;
    tokenizer.with_truncation(None).map_err(|error| unusable(error.to_string()))?;
    tokenizer.with_padding(None);
    let written: Value = serde_json::from_slice(bytes).map_err(|error| unusable(error.to_string()))?;
    let model = written.get("model");
    let field = |name: &str| model.and_then(|model| model.get(name));
    let named = field("unk_token").and_then(Value::as_str).and_then(|word| tokenizer.token_to_id(word));
    let numbered = field("unk_id").and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let vocabulary = tokenizer.get_vocab(false);
    let mut lengths: Vec<usize> = vocabulary.keys().map(String::len).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(1);
    Ok((tokenizer, named.or(numbered), median))
}
