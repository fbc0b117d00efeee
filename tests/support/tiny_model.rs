//! A small static embedding model: a few words, some with the same meaning.

use std::path::Path;

/// Words of the same meaning, with a dimension for each meaning.
pub const MEANINGS: [&[&str]; 4] = [
    &["retry", "again", "backoff", "repeat"],
    &["parse", "read", "decode", "header"],
    &["lock", "gate", "sluice", "door"],
    &["map", "chart", "atlas", "draw"],
];

/// Creates `folder` and writes the model to it: tokenizer.json, model.safetensors, config.json. `extra` dimensions are all
/// zero, so that another number makes another model with the same meanings.
pub fn write(folder: &Path, extra: usize) {
    std::fs::create_dir_all(folder).unwrap();
    let words: Vec<&str> = MEANINGS.iter().flat_map(|words| words.iter().copied()).collect();
    let mut vocabulary = serde_json::Map::new();
    vocabulary.insert("[UNK]".into(), 0.into());
    for (at, word) in words.iter().enumerate() {
        vocabulary.insert((*word).into(), (at + 1).into());
    }
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.join("config.json"), "{\"normalize\": true}").unwrap();
    std::fs::write(folder.join("model.safetensors"), tensors(words.len() + 1, MEANINGS.len() + extra)).unwrap();
}

/// The table of vectors. The vector of the unknown token would change every result if it were used.
fn tensors(rows: usize, dims: usize) -> Vec<u8> {
    let mut numbers = vec![100.0f32; dims];
    for row in 1..rows {
        let meaning = (row - 1) / MEANINGS[0].len();
        numbers.extend((0..dims).map(|at| if at == meaning { 1.0 } else { 0.0 }));
    }
    let table = serde_json::json!({
        "embeddings": {"dtype": "F32", "shape": [rows, dims], "data_offsets": [0, numbers.len() * 4]},
    });
    let table = table.to_string();
    let mut bytes = (table.len() as u64).to_le_bytes().to_vec();
    bytes.extend(table.as_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// The vector of a text, for test servers.
pub fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let count = |meaning: &[&str]| words().filter(|word| meaning.contains(word)).count() as f32;
    MEANINGS.iter().map(|meaning| count(meaning)).collect()
}
