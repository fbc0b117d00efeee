//! The texts of a file that are embedded: each passage of the lexical index with the place that it stands in.

use super::hit::Hit;
use crate::lexical::Passage;
use crate::repo_map::MapIndex;

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
    let Some(terms) = index.record(file).map(|record| record.terms()) else { return Vec::new() };
    let passages: Vec<Passage> = (0..terms.passages()).filter_map(|at| terms.passage(at)).collect();
    let lines: Vec<&str> = text.lines().collect();
    let mut owned: Vec<Vec<&str>> = vec![Vec::new(); passages.len()];
    for (line, owner) in lines.iter().zip(owners(&passages, lines.len())) {
        if let Some(own) = owner.and_then(|owner| owned.get_mut(owner)) {
            own.push(line);
        }
    }
    let cut = |(passage, own): (&Passage, &Vec<&str>)| {
        let said = own.iter().flat_map(|line| line.chars()).filter(|c| c.is_alphanumeric());
        (said.take(LEAST_SAID).count() == LEAST_SAID).then(|| {
            let hit = Hit::of_passage(index, file, *passage, 0.0);
            EmbeddingText { text: written(&hit, own), hit }
        })
    };
    passages.iter().zip(&owned).filter_map(cut).collect()
}

/// The passage that each line belongs to: the innermost one around it.
fn owners(passages: &[Passage], lines: usize) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..passages.len()).collect();
    let span = |at: &usize| passages.get(*at).map_or(0, |passage| passage.end_line.saturating_sub(passage.line));
    order.sort_by_key(|at| (std::cmp::Reverse(span(at)), *at));
    let mut owners = vec![None; lines];
    for at in order {
        let Some(passage) = passages.get(at) else { continue };
        let first = (passage.line.max(1) as usize - 1).min(lines);
        let last = (passage.end_line as usize).clamp(first, lines);
        owners.get_mut(first..last).unwrap_or_default().fill(Some(at));
    }
    owners
}

fn written(hit: &Hit, lines: &[&str]) -> String {
    let mut text = hit.path.to_string();
    if let Some(container) = &hit.container {
        text.push_str(" > ");
        text.push_str(container);
    }
    for line in lines {
        text.push('\n');
        text.push_str(line);
        if text.len() > MOST_BYTES {
            text.truncate(text.floor_char_boundary(MOST_BYTES));
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::Depth;
    use crate::repo_map::{Digest, MapFile};
    use crate::syntax::{Language, tags};

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
        assert!(texts[0].text.len() <= MOST_BYTES && texts[0].text.ends_with('ü'));
    }
}
