//! Source code in every language of the registry, damaged: tags, chunks, statements, errors and colours.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use proptest::prelude::{any, prop, proptest};
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use rhumb_index::retrieval::SourceFile;
use rhumb_syntax::{FileTags, Language, errors, highlight, lexical_tags, statements, tags};

use crate::cases;
use crate::damage::{damage, damaged};

/// Each language with the name of its sample and the sample.
static SOURCES: LazyLock<Vec<(&'static Language, String, String)>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/languages");
    let source = |language: &'static Language| {
        let name = match (language.extensions.first(), language.file_names.first()) {
            (Some(extension), _) => format!("sample.{extension}"),
            (None, name) => (*name.unwrap()).to_owned(),
        };
        let text = fs::read_to_string(folder.join(language.id).join(&name)).unwrap();
        (language, name, text)
    };
    Language::all().map(source).collect()
});

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn no_source_breaks_a_law(at in any::<Index>(), damages in prop::collection::vec(damage(), 0..8)) {
        let (language, name, text) = &SOURCES[at.index(SOURCES.len())];
        let others: Vec<&str> = SOURCES.iter().map(|(_, _, text)| text.as_str()).collect();
        let text = damaged(text, &damages, &others);
        let told = |why: TestCaseError| TestCaseError::fail(format!("{why}\n{name} is\n{text}"));
        tags_hold(&tags(language, &text), &text).map_err(told)?;
        tags_hold(&lexical_tags(&text), &text).map_err(told)?;
        chunks_hold(name, &text).map_err(told)?;
        let lines = text.split('\n').count();
        if let Some(starts) = statements(language, &text) {
            prop_assert_eq!(starts.len(), lines);
        }
        let whole = 0..lines;
        let faults = errors(name, &text, std::slice::from_ref(&whole));
        prop_assert!(faults.iter().flat_map(|faults| faults.lines()).all(|range| range.start < range.end.max(1) && range.start <= lines));
        for (spans, line) in highlight(name, &text).iter().zip(text.split('\n')) {
            let mut end = 0;
            for span in spans {
                let inside = span.start >= end && line.get(span.start..span.end).is_some();
                prop_assert!(inside, "{span:?} of {line:?}");
                end = span.end;
            }
        }
    }
}

/// Names are in their lines, and definitions end within the file.
fn tags_hold(tags: &FileTags, text: &str) -> Result<(), TestCaseError> {
    let lines: Vec<&str> = text.split('\n').collect();
    for definition in &tags.definitions {
        let (line, end) = (definition.line as usize, definition.end_line as usize);
        prop_assert!(1 <= line && line <= end && end <= lines.len(), "{definition:?} in {} lines", lines.len());
        prop_assert!(!definition.name.is_empty() && !definition.signature.contains('\n'), "{definition:?}");
    }
    for reference in &tags.references {
        let line = lines.get((reference.line as usize).wrapping_sub(1));
        prop_assert!(line.is_some(), "{reference:?} in {} lines", lines.len());
    }
    Ok(())
}

/// Every line of a file that is not empty is in exactly one chunk.
fn chunks_hold(name: &str, text: &str) -> Result<(), TestCaseError> {
    let file = SourceFile::new(name, Arc::from(text));
    let count = file.len() as usize;
    let mut owners = vec![0; count + 1];
    for chunk in file.chunks() {
        prop_assert!(1 <= chunk.part && chunk.part <= chunk.parts, "{chunk:?}");
        for line in chunk.own.iter().cloned().flatten() {
            prop_assert!(1 <= line && line as usize <= count, "{chunk:?} of {count} lines");
            owners[line as usize] += 1;
        }
        let shown = chunk.shown.iter().cloned().flatten();
        prop_assert!(shown.into_iter().all(|line| 1 <= line && line as usize <= count), "{chunk:?} of {count} lines");
    }
    for (line, count) in owners.iter().enumerate().skip(1) {
        let empty = file.line(line as u32).trim().is_empty();
        prop_assert!(*count == 1 || (empty && *count == 0), "line {line} is in {count} chunks");
    }
    Ok(())
}
