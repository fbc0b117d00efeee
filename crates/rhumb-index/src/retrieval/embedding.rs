//! The texts of a file that are embedded: each chunk with the place that it stands in.

use std::sync::Arc;

use super::chunk::{CodeChunk, Outlined, chunks};
use super::hit::Hit;
use crate::repo_map::MapIndex;
use rhumb_syntax::Language;

/// Bytes of a text that are embedded: some 2,000 tokens, which most models take. What follows seldom changes what it is about.
const MOST_BYTES: usize = 6_000;
/// Letters and digits that a text needs to be about anything.
const LEAST_SAID: usize = 12;

/// A text to embed, and the hit that it is if it is near to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingText {
    /// What is embedded: path and container on a line, then the lines.
    pub text: String,
    /// Where it stands. It has no score yet.
    pub hit: Hit,
}

/// The texts of a file of the index, in the order of their lines. `text` is the one that its record was made of.
pub fn embedding_texts(index: &MapIndex, file: u32, text: &str) -> Vec<EmbeddingText> {
    let Some(path) = index.record(file).and(index.files().get(file as usize)).map(|file| Arc::clone(&file.path)) else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let outline = index.definitions(file).map(Outlined::from);
    let cut = |chunk: CodeChunk| {
        let mut text = chunk.text(&path, &lines);
        let said = text.split_once('\n').map_or("", |(_, lines)| lines).chars().filter(|c| c.is_alphanumeric());
        if said.take(LEAST_SAID).count() < LEAST_SAID {
            return None;
        }
        text.truncate(text.floor_char_boundary(MOST_BYTES));
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
    fn each_text_says_where_it_stands_and_has_its_own_lines() {
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
    fn a_text_that_has_become_shorter_than_its_record_is_no_panic() {
        let text = "fn first_of_all() {\n    launch_everything();\n}\n";
        let index = index("a.rs", text);
        assert_eq!(embedding_texts(&index, 0, text).len(), 1);
        assert!(embedding_texts(&index, 0, "").is_empty());
        assert!(embedding_texts(&index, 7, text).is_empty());
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let text = format!("fn long() {{\n    let x = \"{}\";\n}}\n", "ü".repeat(MOST_BYTES));
        let texts = embedding_texts(&index("a.rs", &text), 0, &text);
        assert!(texts[0].text.len() <= MOST_BYTES && texts[0].text.contains("üüü"));
    }
}
