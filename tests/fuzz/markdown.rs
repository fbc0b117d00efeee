//! Markdown of models at any width, complete and streamed.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::{any, prop, proptest};
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use ratatui::text::Line;
use rhumb::tui::theme::{ColorDepth, Theme};
use rhumb::tui::widget::markdown::{StreamingMarkdown, no_highlight, render, sections};
use rhumb_text::width::columns;

use crate::cases;
use crate::damage::{Damage, boundary, damage, damaged};

/// Replies of the corpus, and the documents of this repository.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let papers = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/commands.md"].map(|name| root.join(name));
    let replies =
        fs::read_dir(root.join("tests/edit_formats")).unwrap().map(|entry| entry.unwrap().path().join("reply.md"));
    let mut texts: Vec<String> =
        papers.into_iter().chain(replies).filter_map(|path| fs::read_to_string(path).ok()).collect();
    texts.sort();
    texts
});

/// Lines with Markdown syntax.
const MARKS: [&str; 24] = [
    "# a",
    "## a ##",
    "===",
    "---",
    "> a",
    "> > b",
    "- a",
    "  1. b",
    "      c",
    "- [x] a",
    "|a|b|",
    "|-|:-:|",
    "| `a|b` | c |",
    "```rust",
    "````",
    "~~~",
    "[a]: https://sea.example",
    "[a][a] ![b](c) <https://d.example> https://e.example",
    "<div><b>",
    "<!-- a",
    "**a *b** c*",
    "a\\",
    "a\tb\u{1b}[31m",
    "[!WARNING]",
];

fn source() -> impl Strategy<Value = String> {
    let marks = prop::collection::vec((any::<Index>(), prop::sample::select(MARKS.to_vec())), 0..8);
    let piece = (any::<Index>(), any::<Index>(), 0..40usize);
    let damages = prop::collection::vec(damage(), 0..5);
    (piece, marks, damages).prop_map(|((text, from, count), marks, damages): (_, _, Vec<Damage>)| {
        let text = &TEXTS[text.index(TEXTS.len())];
        let from = from.index(text.lines().count().max(1));
        let mut lines: Vec<&str> = text.lines().skip(from).take(count).collect();
        for (at, mark) in marks {
            lines.insert(at.index(lines.len() + 1), mark);
        }
        damaged(&lines.join("\n"), &damages, &[])
    })
}

fn plain(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn no_markdown_breaks_a_law(source in source(), width in 0u16..100, cuts in prop::collection::vec(any::<Index>(), 0..6)) {
        let theme = Theme::plain(ColorDepth::None);
        let lines = plain(&render(&source, width, &theme, &no_highlight));
        for line in &lines {
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            prop_assert!(width < 10 || columns(line) <= usize::from(width), "{line:?} in {width}");
        }
        // In a narrow column the name of a fence is cut.
        if width >= 60 {
            words_are_kept(&source, &lines)?;
        }
        let mut places: Vec<usize> = cuts.iter().map(|cut| boundary(&source, cut)).chain([0, source.len()]).collect();
        places.sort_unstable();
        let mut stream = StreamingMarkdown::new();
        for pair in places.windows(2) {
            stream.push(&source[pair[0]..pair[1]]);
            stream.lines(width, &theme, &no_highlight);
        }
        prop_assert_eq!(plain(stream.lines(width, &theme, &no_highlight)), lines, "in pieces as in one");
        let source = stream.source().to_owned();
        let mut end = 0;
        for range in sections(&source) {
            prop_assert!(range.start >= end && source.get(range.clone()).is_some(), "{range:?}");
            end = range.end;
        }
    }
}

/// All letters are shown, in order.
fn words_are_kept(source: &str, lines: &[String]) -> Result<(), TestCaseError> {
    // Tables show their cells line by line or field by field, an entity becomes its character, a ticked box is a box, and an
    // address that a link shows as its text is shown once.
    let is_ticked = source.contains("[x]") || source.contains("[X]");
    if is_ticked || source.contains(['|', '&']) {
        return Ok(());
    }
    let letters = |text: &str| text.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect::<Vec<char>>();
    let shown = letters(&lines.concat());
    let mut rest = shown.iter();
    let mut told = source.split("](");
    let first = told.next().unwrap_or_default();
    let bare = told.map(|part| part.split_once(')').map_or("", |(_, rest)| rest));
    let lost = std::iter::once(first).chain(bare).flat_map(letters).find(|letter| !rest.any(|shown| shown == letter));
    prop_assert!(lost.is_none(), "{lost:?} is lost of {source:?}\n{lines:#?}");
    Ok(())
}
