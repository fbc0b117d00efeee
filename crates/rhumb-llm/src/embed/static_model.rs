//! A local model: a table of vectors, one per token. The vector of a text is the sum over its tokens.

use super::{BatchLimit, EmbedError, Embedder, OnWait, TextKind};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use rayon::prelude::*;
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tokenizers::Tokenizer;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of tokens of a text, as in the training of these models.
const MAX_TOKENS: usize = 512;
/// Batch size: large enough to use all threads, small enough for progress reports.
const BATCH: BatchLimit = BatchLimit { texts: 512, bytes: 4 << 20 };
/// Names of the table of vectors, by the program that wrote the file.
const TABLES: [&str; 3] = ["embeddings", "0", "embedding.weight"];

/// A table of vectors with its tokenizer.
pub(crate) struct StaticModel {
    identity: String,
    name: String,
    tokenizer: Tokenizer,
    /// The token for unknown words. It is ignored.
    unknown: Option<u32>,
    /// Maximum number of characters of a text that are tokenized.
    max_chars: usize,
    dims: usize,
    table: Vec<f32>,
    /// Weights of the tokens. Empty if all are equal.
    weights: Vec<f32>,
    /// Rows of the tokens. Empty if each token has its own.
    rows: Vec<usize>,
}

impl StaticModel {
    /// Reads the model in a folder. Its identity depends on the content of its files.
    pub(crate) fn open(name: &str, folder: &Path) -> Result<Self, EmbedError> {
        // Some models are published as a part of a larger one.
        let inner = folder.join("0_StaticEmbedding");
        let model_folder = if inner.is_dir() { inner } else { folder.to_owned() };
        let read = |file: &str| {
            let path = model_folder.join(file);
            match fs::read(&path) {
                Ok(bytes) => Ok((path, bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    Err(EmbedError::NoModel(folder.to_owned()))
                }
                Err(error) => Err(EmbedError::Unusable { path, reason: error.to_string() }),
            }
        };
        let (words, numbers) = (read("tokenizer.json")?, read("model.safetensors")?);
        let hash = xxh3_64(&numbers.1) ^ xxh3_64(&words.1).rotate_left(1);
        let (tokenizer, unknown, median) = tokenizer(&words)?;
        let unusable = |reason: String| EmbedError::Unusable { path: numbers.0.clone(), reason };
        let tensors = SafeTensors::deserialize(&numbers.1).map_err(|error| unusable(error.to_string()))?;
        let tensor = |name: &str| match tensors.tensor(name) {
            Ok(tensor) => Ok(Some(tensor)),
            Err(SafeTensorError::TensorNotFound(_)) => Ok(None),
            Err(error) => Err(unusable(error.to_string())),
        };
        let unsupported = |name: &str| unusable(format!("the tensor {name} has an unsupported type"));
        let mut table = None;
        for name in TABLES {
            table = table.or(tensor(name)?.map(|tensor| (name, tensor)));
        }
        let (table_name, table) = table.ok_or_else(|| unusable("it has no table of vectors".into()))?;
        let dims = match table.shape() {
            &[_, dims] if dims > 0 => dims,
            _ => return Err(unusable("its table of vectors is not two-dimensional".into())),
        };
        let weights = tensor("weights")?.map(|tensor| floats(&tensor).ok_or_else(|| unsupported("weights")));
        let rows = tensor("mapping")?.map(|tensor| indices(&tensor).ok_or_else(|| unsupported("mapping")));
        Ok(Self {
            identity: format!("{name}@{hash:016x}/{dims}"),
            name: name.to_owned(),
            tokenizer,
            unknown,
            max_chars: MAX_TOKENS.saturating_mul(median.max(1)),
            dims,
            weights: weights.transpose()?.unwrap_or_default(),
            rows: rows.transpose()?.unwrap_or_default(),
            table: floats(&table).ok_or_else(|| unsupported(table_name))?,
        })
    }

    /// Returns the vector of a text. Zeros if it has no known tokens.
    fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let end = text.char_indices().nth(self.max_chars).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| EmbedError::Unusable {
            path: PathBuf::from(&self.name),
            reason: format!("its tokenizer fails: {error}"),
        })?;
        let mut sum = vec![0.0; self.dims];
        for &word in encoding.get_ids().iter().take(MAX_TOKENS).filter(|word| Some(**word) != self.unknown) {
            let word = word as usize;
            let row = self.rows.get(word).copied().unwrap_or(word);
            let weight = self.weights.get(word).copied().unwrap_or(1.0);
            // A token without a row has no vector.
            let start = row.saturating_mul(self.dims);
            let numbers = self.table.get(start..start.saturating_add(self.dims)).unwrap_or_default();
            sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += weight * number);
        }
        if sum.iter().any(|number| !number.is_finite()) {
            return Err(EmbedError::NotFinite(self.name.clone()));
        }
        // Only the direction matters, so the sum is not divided.
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

/// Returns the tokenizer, its token for unknown words, and the median length of its tokens in bytes.
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

/// Converts the numbers of a tensor. Returns `None` for types that such models do not use.
fn floats(tensor: &TensorView<'_>) -> Option<Vec<f32>> {
    let bytes = tensor.data();
    Some(match tensor.dtype() {
        Dtype::F64 => each(bytes, |bytes| f64::from_le_bytes(bytes) as f32),
        Dtype::F32 => each(bytes, f32::from_le_bytes),
        Dtype::F16 => each(bytes, |bytes| half(u16::from_le_bytes(bytes))),
        Dtype::BF16 => each(bytes, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)),
        Dtype::I64 => each(bytes, |bytes| i64::from_le_bytes(bytes) as f32),
        Dtype::I32 => each(bytes, |bytes| i32::from_le_bytes(bytes) as f32),
        Dtype::I8 => each(bytes, |[byte]: [u8; 1]| f32::from(byte.cast_signed())),
        _ => return None,
    })
}

/// Converts the row numbers of a tensor. A negative one becomes an index that no table has.
fn indices(tensor: &TensorView<'_>) -> Option<Vec<usize>> {
    let index = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    Some(match tensor.dtype() {
        Dtype::I64 => each(tensor.data(), |bytes| index(i64::from_le_bytes(bytes))),
        Dtype::I32 => each(tensor.data(), |bytes| index(i64::from(i32::from_le_bytes(bytes)))),
        _ => return None,
    })
}

fn each<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|bytes| read(*bytes)).collect()
}

/// Converts an IEEE 754 half-precision number: a sign bit, five bits of exponent and ten of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff) / 1_024.0);
    let size = match exponent {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2f32.powi(exponent - 15),
    };
    sign * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_type_are_converted() {
        let view = |dtype, bytes: &'static [u8], count| TensorView::new(dtype, vec![count], bytes).unwrap();
        let number = |dtype, bytes: &'static [u8]| floats(&view(dtype, bytes, 1)).map(|numbers| numbers[0]);
        assert_eq!(number(Dtype::F64, &[0, 0, 0, 0, 0, 0, 0xd0, 0x3f]), Some(0.25));
        assert_eq!(number(Dtype::F32, &[0, 0, 0xc0, 0x3f]), Some(1.5));
        assert_eq!(number(Dtype::BF16, &[0xc0, 0x3f]), Some(1.5));
        assert_eq!(number(Dtype::I8, &[255]), Some(-1.0));
        assert_eq!(number(Dtype::U8, &[255]), None);
        let halves = view(Dtype::F16, &[0, 0x3c, 0, 0xc0, 1, 0, 0x55, 0x35], 4);
        assert_eq!(floats(&halves).unwrap(), [1.0, -2.0, 2f32.powi(-24), 0.333_251_95]);
        let rows = view(Dtype::I32, &[7, 0, 0, 0, 255, 255, 255, 255], 2);
        assert_eq!((indices(&rows), floats(&rows)), (Some(vec![7, usize::MAX]), Some(vec![7.0, -1.0])));
    }
}
