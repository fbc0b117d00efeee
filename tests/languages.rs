//! The tags of a code sample of every language of the registry.
//!
//! The expected tags of each sample are in `sample.tags`. After an intended change, run the test with
//! `RHUMB_BLESS=1` and check the difference.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rhumb_syntax::{FileTags, Language, errors, highlight, tags};

fn folder(language: &Language) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/languages").join(language.id)
}

/// `sample.<extension>`, or the first file name of the language if it has no extension.
fn sample_name(language: &Language) -> String {
    match (language.extensions.first(), language.file_names.first()) {
        (Some(extension), _) => format!("sample.{extension}"),
        (None, Some(name)) => (*name).to_owned(),
        (None, None) => panic!("{} has no file", language.id),
    }
}

fn sample(language: &Language) -> String {
    let path = folder(language).join(sample_name(language));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn describe(tags: &FileTags) -> String {
    let mut text = String::from("# definitions: line, kind, name, signature\n");
    for definition in &tags.definitions {
        let container = definition.container.as_ref().map(|name| format!("{name}::")).unwrap_or_default();
        let (line, end_line, kind) = (definition.line, definition.end_line, definition.kind.as_str());
        let place = format!("{line}-{end_line}");
        writeln!(text, "{place:<7} {kind} {container}{} | {}", definition.name, definition.signature).unwrap();
        if !definition.doc.is_empty() {
            writeln!(text, "        doc: {}", definition.doc).unwrap();
        }
    }
    text.push_str("# imports\n");
    for module in &tags.imports {
        writeln!(text, "{module}").unwrap();
    }
    text.push_str("# references\n");
    let names: BTreeSet<&str> = tags.references.iter().map(|reference| reference.name.as_str()).collect();
    for name in names {
        writeln!(text, "{name}").unwrap();
    }
    text
}

#[test]
fn every_sample_has_the_tags_that_are_written_down() {
    let bless = std::env::var_os("RHUMB_BLESS").is_some();
    for language in Language::all() {
        let expected = folder(language).join("sample.tags");
        let actual = describe(&tags(language, &sample(language)));
        if bless {
            fs::write(&expected, actual).unwrap();
        } else {
            assert_eq!(fs::read_to_string(&expected).unwrap(), actual, "{} (RHUMB_BLESS=1 rewrites it)", language.id);
        }
    }
}

#[test]
fn every_sample_is_sound_and_coloured() {
    for language in Language::all() {
        let source = sample(language);
        // Languages whose grammar reports errors in correct code are skipped.
        let faults = errors(&sample_name(language), &source, &[]).map_or(0, |errors| errors.count());
        assert_eq!(faults, 0, "{}", language.id);
        let spans: usize = highlight(&sample_name(language), &source).iter().map(Vec::len).sum();
        assert!(spans > source.lines().count(), "{}: {spans} spans", language.id);
    }
}

#[test]
fn line_endings_and_byte_order_marks_change_nothing() {
    for language in Language::all() {
        let source = sample(language);
        let odd = format!("\u{feff}{}", source.replace('\n', "\r\n"));
        assert_eq!(describe(&tags(language, &source)), describe(&tags(language, &odd)), "{}", language.id);
    }
}

#[test]
fn a_truncated_sample_never_panics_and_keeps_its_lines_in_range() {
    for language in Language::all() {
        let source = sample(language);
        for end in (0..source.len()).filter(|end| source.is_char_boundary(*end)).step_by(7) {
            let tags = tags(language, &source[..end]);
            let lines = source[..end].lines().count().max(1) as u32;
            for definition in &tags.definitions {
                assert!(1 <= definition.line && definition.line <= definition.end_line, "{definition:?}");
                assert!(definition.end_line <= lines, "{}: {definition:?} in {lines} lines", language.id);
            }
        }
    }
}
