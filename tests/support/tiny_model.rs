//! A model of word vectors that is made on the spot: a few words, of which some mean the same.

use std::path::Path;

/// Words that mean the same, a dimension for each meaning.
pub const MEANINGS: [&[&str]; 4] = [
    &["retry", "again", "backoff", "repeat"],
    &["parse", "read", "decode", "header"],
    &["lock", "gate", "sluice", "door"],
    &["map", "chart", "atlas", "draw"],
];

/// Writes the model into `folder`, which is made: tokenizer.json, model.safetensors, config.json. `extra` dimensions are all
/// zero, so that another number of them is another model with the same meanings.
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

/// The table of vectors. The word for unknown ones has one that would spoil everything if it counted.
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

/// The vector that the model would make of a text, for servers that stand in for one.
pub fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let count = |meaning: &[&str]| words().filter(|word| meaning.contains(word)).count() as f32;
    MEANINGS.iter().map(|meaning| count(meaning)).collect()
}
