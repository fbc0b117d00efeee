//! The texts of a file to embed: each chunk with its path and container.

use std::sync::Arc;

use rhumb_syntax::Language;

use super::chunk::{ChunkDefinition, CodeChunk, chunks};
use super::search::Hit;
use crate::repo_map::MapIndex;

/// Maximum size of a text, in bytes: about 2,000 tokens, which most models accept. The rest of a chunk seldom changes its meaning.
const MAX_TEXT_BYTES: usize = 6_000;
/// Minimum number of letters and digits in a text.
const MIN_ALPHANUMERIC: usize = 12;

/// A text to embed, and the search hit for it.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingText {
    /// The text: a line with path and container, then the lines of the chunk.
    pub text: String,
    /// The location, with a score of 0.
    pub hit: Hit,
}

/// The texts of a file of the index, in the order of their lines. `text` must be the text of its record.
pub fn embedding_texts(index: &MapIndex, file: u32, text: &str) -> Vec<EmbeddingText> {
    let Some(path) = index.record(file).and(index.files().get(file as usize)).map(|file| Arc::clone(&file.path)) else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let outline = index.definitions(file).map(ChunkDefinition::from);
    let cut = |chunk: CodeChunk| {
        let mut text = chunk.text(&path, &lines);
        let letters = text.split_once('\n').map_or("", |(_, lines)| lines).chars().filter(|c| c.is_alphanumeric());
        if letters.take(MIN_ALPHANUMERIC).count() < MIN_ALPHANUMERIC {
            return None;
        }
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        Some(EmbeddingText { text, hit: hit(&path, file, chunk) })
    };
    chunks(text, outline, Language::detect(&path, text)).into_iter().filter_map(cut).collect()
}

fn hit(path: &Arc<str>, file: u32, chunk: CodeChunk) -> Hit {
    Hit {
        path: Arc::clone(path),
        file,
        definition: chunk.definition,
        line: chunk.line,
        end_line: chunk.end_line,
        symbol: chunk.symbol,
        kind: chunk.kind,
        container: chunk.container,
        signature: chunk.signature,
        score: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::Depth;
    use crate::repo_map::{Digest, MapFile};
    use rhumb_syntax::tags;

    fn index(path: &str, text: &str) -> MapIndex {
        let tags = tags(Language::for_path(path).unwrap(), text);
        let digest = Digest::new(text, &tags, Depth::Whole);
        MapIndex::of(&[MapFile { path: path.into(), tags: tags.into(), digest: digest.into() }])
    }

    #[test]
    fn each_text_names_its_location_and_has_its_own_lines() {
        let text = "//! Gates of the lock.\n\nimpl Gate {\n    /// Opens it.\n    fn open(&self) {\n        self.motor.start();\n    }\n\n    fn close(&self) {\n        self.motor.reverse();\n    }\n}\n";
        let index = index("src/gate.rs", text);
        let texts = embedding_texts(&index, 0, text);
        let open = texts.iter().find(|text| text.hit.symbol.as_deref() == Some("open")).unwrap();
        assert!(open.text.starts_with("src/gate.rs > Gate\n"), "{}", open.text);
        assert!(open.text.contains("/// Opens it.") && open.text.contains("motor.start()"), "{}", open.text);
        assert!(!open.text.contains("reverse"), "{}", open.text);
        for line in text.lines().filter(|line| line.contains("motor")) {
            assert_eq!(texts.iter().filter(|text| text.text.contains(line)).count(), 1, "{line}");
        }
    }

    #[test]
    fn a_text_shorter_than_its_record_is_accepted() {
        let text = "fn first_of_all() {\n    launch_everything();\n}\n";
        let index = index("a.rs", text);
        assert_eq!(embedding_texts(&index, 0, text).len(), 1);
        assert!(embedding_texts(&index, 0, "").is_empty());
        assert!(embedding_texts(&index, 7, text).is_empty());
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let text = format!("fn long() {{\n    let x = \"{}\";\n}}\n", "ü".repeat(MAX_TEXT_BYTES));
        let texts = embedding_texts(&index("a.rs", &text), 0, &text);
        assert!(texts[0].text.len() <= MAX_TEXT_BYTES && texts[0].text.contains("üüü"));
    }
}
