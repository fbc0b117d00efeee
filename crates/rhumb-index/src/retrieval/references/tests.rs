//! References over a small repository.

use std::sync::Arc;

use super::*;
use crate::repo_map::{Digest, History, MapFile, Weights};
use crate::retrieval::{Question, SearchWeights, search};
use rhumb_syntax::{Language, tags};

const FILES: [(&str, &str); 4] = [
    (
        "encoder.py",
        "class Encoder:\n    def encode(self, text):\n        return pack_bits(text)\n\n\ndef pack_bits(text):\n    frame = Frame(text)\n    return frame\n",
    ),
    ("frame.py", "class Frame:\n    def __init__(self, text):\n        self.text = text\n"),
    (
        "decoder.py",
        "from frame import Frame\n\n\nclass Decoder:\n    def decode(self, bits):\n        return Frame(bits)\n",
    ),
    (
        "app.py",
        "from encoder import Encoder\nfrom decoder import Decoder\n\n\ndef round_trip(text):\n    return Decoder().decode(Encoder().encode(text))\n\n\ndef only(text):\n    return Encoder().encode(text)\n",
    ),
];

fn graph() -> Arc<TagGraph> {
    let file = |&(path, text): &(&str, &str)| {
        let tags = tags(Language::by_name("python").unwrap(), text);
        let digest = Digest::new(text, &tags, crate::lexical::Depth::Whole);
        MapFile { path: path.to_owned(), tags: tags.into(), digest: digest.into() }
    };
    let files: Vec<MapFile> = FILES.iter().map(file).collect();
    Arc::new(TagGraph::new(Arc::new(MapIndex::of(&files)), &History::default(), &Weights::default()))
}

fn text(path: &str) -> Option<Arc<str>> {
    FILES.iter().find(|file| file.0 == path).map(|file| file.1.into())
}

fn at(references: &References<'_>, path: &str, symbol: &str) -> DefinitionAt {
    let file = references.index().file_at(path).unwrap();
    let place = Place { path: path.into(), line: 1, end_line: 1, symbol: Some(symbol.to_owned()), container: None };
    let found = references.definition_of(&place).unwrap();
    assert_eq!(found.file, file);
    found
}

fn named(references: &References<'_>, hits: &[Hit]) -> Vec<String> {
    let _ = references;
    hits.iter().filter_map(|hit| hit.symbol.clone()).collect()
}

#[test]
fn a_definition_knows_its_users_with_their_lines() {
    let (graph, sources) = (graph(), Sources::new(&text));
    let references = References::new(&graph, &sources);
    let used: Vec<(String, u32, u32, String)> = references
        .used(at(&references, "encoder.py", "Encoder"))
        .into_iter()
        .map(|uses| (uses.path.to_string(), uses.line, uses.count, uses.within.map_or_else(String::new, |w| w.symbol)))
        .collect();
    for (line, within) in [(6, "round_trip"), (10, "only")] {
        assert!(used.contains(&("app.py".into(), line, 1, within.into())), "{used:?}");
    }
}

#[test]
fn a_definition_knows_what_it_uses_and_a_type_what_its_members_use() {
    let (graph, sources) = (graph(), Sources::new(&text));
    let references = References::new(&graph, &sources);
    let uses = |path: &str, symbol: &str| -> Vec<String> {
        let used = references.uses(at(&references, path, symbol));
        used.into_iter().filter_map(|(found, _)| Some(references.entry(found)?.name().to_owned())).collect()
    };
    assert_eq!(uses("encoder.py", "pack_bits"), ["Frame"]);
    assert_eq!(uses("encoder.py", "Encoder"), ["pack_bits"]);
    assert!(uses("app.py", "round_trip").contains(&"decode".to_owned()));
}

#[test]
fn what_is_one_reference_away_is_told_with_its_direction() {
    let (graph, sources) = (graph(), Sources::new(&text));
    let references = References::new(&graph, &sources);
    let hit = references.hit(at(&references, "encoder.py", "pack_bits"), 1.0).unwrap();
    let told: Vec<String> = references.related(&[hit], 9).iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|line| line.starts_with("encoder.py:2") && line.ends_with("(uses pack_bits)")), "{told:?}");
    assert!(
        told.iter().any(|line| line.starts_with("frame.py:1") && line.ends_with("(used by pack_bits)")),
        "{told:?}"
    );
}

#[test]
fn what_connects_two_things_of_a_question_comes_first() {
    let (graph, sources) = (graph(), Sources::new(&text));
    let references = References::new(&graph, &sources);
    let asked = |question: &str| {
        let hits = search(&graph, &Question::new(question, 10), &SearchWeights::default());
        named(&references, &references.connecting(question, hits, 10))
    };
    assert_eq!(asked("How does Encoder relate to Decoder?")[0], "round_trip");
    assert_eq!(asked("What has Encoder to do with Frame?")[..3], ["Encoder", "pack_bits", "Frame"]);
}

#[test]
fn a_question_about_one_thing_or_none_stays_as_it_is() {
    let (graph, sources) = (graph(), Sources::new(&text));
    let references = References::new(&graph, &sources);
    for question in ["How does Encoder work?", "how is text packed", "", "é `"] {
        let hits = search(&graph, &Question::new(question, 10), &SearchWeights::default());
        assert_eq!(references.connecting(question, hits.clone(), 10), hits, "{question}");
    }
    assert_eq!(sources.read(), 0, "no file is read for that");
}

#[test]
fn files_that_cannot_be_read_have_no_neighbours() {
    let nothing = |_: &str| None;
    let (graph, sources) = (graph(), Sources::new(&nothing));
    let references = References::new(&graph, &sources);
    let hit = references.hit(at(&references, "encoder.py", "Encoder"), 1.0).unwrap();
    assert!(references.related(&[hit], 9).is_empty());
}
