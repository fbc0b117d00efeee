//! The laws of chunks, over examples, over the sources of this program and the samples of all languages, and over any text.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::repo_map::{Digest, SegmentBuilder};
use rhumb_syntax::tag::FileTags;
use rhumb_syntax::tags;

fn cut(language: &str, text: &str) -> Vec<CodeChunk> {
    let language = Language::by_name(language).unwrap();
    let tags = tags(language, text);
    chunks(text, tags.definitions.iter().map(Outlined::from), Some(language))
}

/// The chunks as `symbol line-end_line`.
fn told(chunks: &[CodeChunk]) -> Vec<String> {
    let tell = |chunk: &CodeChunk| {
        let part = if chunk.parts > 1 { format!(" {}/{}", chunk.part, chunk.parts) } else { String::new() };
        format!("{} {}-{}{part}", chunk.symbol.as_deref().unwrap_or("-"), chunk.line, chunk.end_line)
    };
    chunks.iter().map(tell).collect()
}

/// Fails where a law of chunks does not hold for a text.
fn hold_laws(what: &str, text: &str, chunks: &[CodeChunk]) {
    let lines: Vec<&str> = text.lines().collect();
    let mut times = vec![0; lines.len() + 1];
    for chunk in chunks {
        for line in chunk.own.iter().cloned().flatten() {
            times[line as usize] += 1;
        }
        assert!(chunk.own.windows(2).all(|pair| pair[0].end() + 1 < *pair[1].start()), "{what}: {chunk:?}");
        assert!(chunk.own.iter().any(|range| range.contains(&chunk.line)), "{what}: {chunk:?}");
        assert!(chunk.shown.last().is_some_and(|last| *last.end() <= chunk.end_line), "{what}: {chunk:?}");
        assert!((1..=chunk.parts).contains(&chunk.part), "{what}: {chunk:?}");
        let shown: Vec<u32> = chunk.shown.iter().cloned().flatten().collect();
        let foreign = |line: &u32| chunk.members.contains(line);
        assert!(shown.iter().filter(|line| !foreign(line)).count() <= LONGEST_CHUNK, "{what}: {chunk:?}");
        let owned = |line: &u32| chunk.own.iter().any(|range| range.contains(line));
        assert!(shown.iter().all(|line| owned(line) != foreign(line)), "{what}: {chunk:?}");
        let text = chunk.text("a/b", &lines);
        let head = if chunk.part > 1 && !chunk.signature.is_empty() { 1 + chunk.signature.lines().count() } else { 1 };
        let exact: Vec<&str> = shown.iter().map(|line| lines[*line as usize - 1]).collect();
        assert_eq!(text.split('\n').skip(head).collect::<Vec<_>>().join("\n"), exact.join("\n") + "\n", "{what}");
    }
    assert!(times[1..].iter().all(|times| *times == 1), "{what}: each line is in one chunk: {times:?}");
}

#[test]
fn a_method_is_a_chunk_and_its_type_an_outline() {
    let text = "//! About.\n\nuse std::fmt;\n\n/// A gate.\npub struct Gate {\n    open: bool,\n}\n\nimpl Gate {\n    /// Opens it.\n    fn open(&mut self) {\n        self.open = true;\n    }\n\n    fn shut(&mut self) {}\n}\n\nconst MOST: u8 = 3;\n";
    let chunks = cut("rust", text);
    hold_laws("gate", text, &chunks);
    assert_eq!(told(&chunks), ["- 1-3", "Gate 5-8", "open 10-14", "shut 16-16", "MOST 19-19"]);
    assert_eq!(chunks[2].container.as_deref(), Some("Gate"));
    let lines: Vec<&str> = text.lines().collect();
    let opened = "src/gate.rs > Gate\nimpl Gate {\n    /// Opens it.\n    fn open(&mut self) {\n        self.open = true;\n    }\n";
    assert_eq!(chunks[2].text("src/gate.rs", &lines), opened);
}

#[test]
fn an_outline_has_one_line_for_each_member() {
    let text = "class Gate:\n    \"\"\"A gate.\"\"\"\n\n    wide = 3\n\n    @property\n    def open(self):\n        def inner():\n            return 1\n        return inner()\n\n    def shut(self):\n        pass\n";
    let chunks = cut("python", text);
    hold_laws("gate", text, &chunks);
    let gate = chunks.iter().find(|chunk| chunk.symbol.as_deref() == Some("Gate")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((gate.line, gate.end_line, gate.members.as_slice()), (1, 13, &[7, 12][..]));
    let shown = "class Gate:\n    \"\"\"A gate.\"\"\"\n\n    wide = 3\n    def open(self):\n    def shut(self):\n";
    assert!(gate.text("gate.py", &lines).ends_with(shown), "{}", gate.text("gate.py", &lines));
}

#[test]
fn a_section_of_a_document_ends_at_the_next_heading() {
    let text = "Before.\n\n# One\n\ntext\n\n## Two\n\nmore\n\n# Three\n";
    let chunks = cut("markdown", text);
    hold_laws("document", text, &chunks);
    assert_eq!(told(&chunks), ["- 1-1", "One 3-5", "Two 7-9", "Three 11-11"]);
}

#[test]
fn a_long_function_is_cut_between_statements_and_repeats_its_header() {
    let body: String = (0..40).map(|n| format!("    step(\n        {n},\n    );\n")).collect();
    let text = format!("/// Walks.\nfn walk(far: u32) -> u32 {{\n{body}    0\n}}\n");
    let chunks = cut("rust", &text);
    hold_laws("walk", &text, &chunks);
    assert_eq!(chunks.len(), 3, "{:?}", told(&chunks));
    let lines: Vec<&str> = text.lines().collect();
    for chunk in &chunks[1..] {
        let text = chunk.text("walk.rs", &lines);
        let mut lines = text.lines().skip(1);
        assert_eq!(lines.next(), Some("fn walk(far: u32) -> u32"));
        assert_eq!(lines.next(), Some("    step("), "{text}");
    }
}

#[test]
fn a_text_without_definitions_is_a_chunk_and_an_empty_one_is_none() {
    assert_eq!(told(&chunks("one\n\ntwo\n", [], None)), ["- 1-3"]);
    assert_eq!(told(&chunks("\n\n", [], None)), ["- 1-1"]);
    assert!(chunks("", [], None).is_empty());
}

#[test]
fn the_index_gives_the_same_chunks_as_the_tags() {
    let text = include_str!("mod.rs");
    let language = Language::by_name("rust").unwrap();
    let tags = tags(language, text);
    let mut builder = SegmentBuilder::default();
    let at = builder.add(&tags, &Digest::new(text, &tags, lexical::Depth::Whole), text.len() as u32);
    let segment = builder.finish();
    let of_index = chunks(text, segment.record(at).unwrap().definitions().map(Outlined::from), Some(language));
    assert_eq!(of_index, chunks(text, tags.definitions.iter().map(Outlined::from), Some(language)));
}

/// Every file below a folder of this package.
fn files_below(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found
}

#[test]
fn the_laws_hold_for_real_sources_of_all_languages() {
    let files = [files_below("src"), files_below("tests/fixtures/languages"), files_below("docs")].concat();
    let mut seen = 0;
    for path in files {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let name = path.to_string_lossy();
        let language = Language::detect(&name, &text);
        let tags = language.map(|language| tags(language, &text)).unwrap_or_default();
        let cut = || chunks(&text, tags.definitions.iter().map(Outlined::from), language);
        let chunks = cut();
        hold_laws(&name, &text, &chunks);
        assert_eq!(chunks, cut(), "{name}");
        seen += 1;
    }
    assert!(seen > 400, "{seen} files");
}

proptest! {
    #[test]
    fn the_laws_hold_for_any_text_and_any_definitions(
        text in "([ \t]{0,3}(fn [a-c]|[a-c{}();:/#@\"é]{0,6})\r?\n){0,90}[a-c]{0,3}",
        spans in prop::collection::vec((0u32..120, 0u32..120, 0u32..17, any::<bool>()), 0..12),
        language in 0usize..3,
    ) {
        let definition = |&(line, end_line, kind, inner): &(u32, u32, u32, bool)| Definition {
            name: format!("d{line}"),
            kind: SymbolKind::from_number(kind),
            line,
            end_line,
            signature: format!("fn d{line}"),
            container: inner.then(|| "c".to_owned()),
            doc: String::new(),
        };
        let tags = FileTags { definitions: spans.iter().map(definition).collect(), ..FileTags::default() };
        let language = [None, Language::by_name("rust"), Language::by_name("python")][language];
        let cut = chunks(&text, tags.definitions.iter().map(Outlined::from), language);
        hold_laws("generated", &text, &cut);
    }
}
