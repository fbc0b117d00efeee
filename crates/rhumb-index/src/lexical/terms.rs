//! The posting list of one file: which term occurs how often in which passage.

use super::passage::{Extent, LONGEST, Passage, is_remark, owners};
use super::recent::Recent;
use super::word::Term;
use rhumb_syntax::tag::{Definition, FileTags};

/// Largest text that is counted, in bytes; the rest is left out. Code that people write is far below.
const MAX_BYTES: usize = 512 << 10;

/// What an occurrence in the name of a definition, or in the comments of it, counts beyond one elsewhere: BM25F with
/// whole-number weights (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004).
const IN_NAME: u32 = 2;
const IN_REMARK: u32 = 1;

/// How much of a text is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Every line.
    #[default]
    Whole,
    /// The lines that begin a definition, and comments: for repositories whose every word would take more memory than it
    /// is worth.
    Heads,
}

impl Depth {
    fn counts(self, line: u32, text: &str, owner: Option<&Definition>) -> bool {
        self == Self::Whole || owner.is_some_and(|owner| line == owner.line) || is_remark(text)
    }
}

/// The terms of a file by passage. Depends on nothing but the text and the tags that it was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTerms {
    passages: Box<[Passage]>,
    /// Distinct terms, sorted.
    terms: Box<[Term]>,
    /// Where the postings of each term end.
    ends: Box<[u32]>,
    /// By term and passage.
    postings: Box<[Posting]>,
    length: u32,
}

/// A term in a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) passage: u16,
    /// Occurrences, weighted by where they are.
    pub(super) weight: u16,
}

impl FileTerms {
    /// Counts the terms of a text. `tags` are those of the same text; lines that they name beyond its end are ignored.
    pub fn new(text: &str, tags: &FileTags, depth: Depth) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let lines: Vec<&str> = text.lines().collect();
        let mut counted = Counted::default();
        Recent::with(|recent| {
            let owners = owners(&lines, &extents(tags));
            let owned = (1u32..).zip(lines.iter().copied()).zip(owners);
            let definition = |owner: Option<u32>| tags.definitions.get(owner? as usize);
            let counted_lines = owned.filter(|&((line, text), owner)| depth.counts(line, text, definition(owner)));
            counted.count_lines(counted_lines, tags, recent);
            counted.count_names(tags, recent);
        });
        counted.finish()
    }

    /// Passages in the order of their first lines.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// Number of terms in the file, repeated ones included.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The sorted terms, where the postings of each one end, and the postings by term.
    pub(super) fn lists(&self) -> (&[Term], &[u32], &[Posting]) {
        (&self.terms, &self.ends, &self.postings)
    }
}

fn extents(tags: &FileTags) -> Vec<Extent> {
    let extent = |definition: &Definition| {
        Extent::new(definition.kind, (definition.line, definition.end_line), definition.container.is_some())
    };
    tags.definitions.iter().map(extent).collect()
}

/// Term, passage and weight of an occurrence, from the upper bits to the lower: numbers sort faster than tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Occurrence(u64);

impl Occurrence {
    fn new(term: Term, passage: u16, weight: u32) -> Self {
        Self(u64::from(term) << 32 | u64::from(passage) << 16 | u64::from(weight))
    }

    fn term(self) -> Term {
        (self.0 >> 32) as Term
    }

    fn passage(self) -> u16 {
        (self.0 >> 16) as u16
    }

    fn weight(self) -> u16 {
        self.0 as u16
    }
}

/// A list in the making.
#[derive(Default)]
struct Counted {
    passages: Vec<Passage>,
    occurrences: Vec<Occurrence>,
    /// The first passage of each definition that has one, by definition.
    first: Vec<Option<u16>>,
    length: u32,
}

impl Counted {
    /// Counts lines (number, text and the definition that owns it).
    fn count_lines<'t>(
        &mut self,
        lines: impl Iterator<Item = ((u32, &'t str), Option<u32>)>,
        tags: &FileTags,
        recent: &mut Recent,
    ) {
        self.first = vec![None; tags.definitions.len()];
        // The passage that is being filled, by definition; the last is for lines outside of all.
        let mut filling: Vec<Option<(u16, u32)>> = vec![None; tags.definitions.len() + 1];
        for ((line, text), owner) in lines {
            let slot = owner.map_or(tags.definitions.len(), |owner| owner as usize);
            let full = filling[slot].is_none_or(|(_, lines)| lines >= LONGEST);
            if full {
                let Some(passage) = self.open(owner, line) else { return };
                filling[slot] = Some((passage, 0));
            }
            if let Some((passage, lines)) = &mut filling[slot] {
                *lines += 1;
                let weight = if owner.is_some() && is_remark(text) { 1 + IN_REMARK } else { 1 };
                self.add_line(text, line, *passage, weight, recent);
            }
        }
    }

    fn open(&mut self, definition: Option<u32>, line: u32) -> Option<u16> {
        let passage = u16::try_from(self.passages.len()).ok()?;
        self.passages.push(Passage { definition, line, end_line: line, length: 0 });
        if let Some(definition) = definition {
            self.first[definition as usize].get_or_insert(passage);
        }
        Some(passage)
    }

    fn add_line(&mut self, text: &str, line: u32, passage: u16, weight: u32, recent: &mut Recent) {
        let before = self.occurrences.len();
        recent.each_term(text, |term| self.occurrences.push(Occurrence::new(term, passage, weight)));
        let added = u32::try_from(self.occurrences.len() - before).unwrap_or(u32::MAX);
        let place = &mut self.passages[passage as usize];
        place.end_line = line;
        place.length = place.length.saturating_add(added);
        self.length = self.length.saturating_add(added);
    }

    /// The name of a definition counts in its first passage, once more than the line that it stands on.
    fn count_names(&mut self, tags: &FileTags, recent: &mut Recent) {
        for (definition, first) in tags.definitions.iter().zip(&self.first) {
            if let Some(passage) = *first {
                let name = &definition.name;
                recent.each_term(name, |term| self.occurrences.push(Occurrence::new(term, passage, IN_NAME)));
            }
        }
    }

    fn finish(mut self) -> FileTerms {
        self.occurrences.sort_unstable();
        let (mut terms, mut ends, mut postings) = (Vec::new(), Vec::new(), Vec::new());
        for same in self.occurrences.chunk_by(|a, b| a.term() == b.term()) {
            terms.push(same[0].term());
            for there in same.chunk_by(|a, b| a.passage() == b.passage()) {
                let weight = there.iter().fold(0u16, |sum, occurrence| sum.saturating_add(occurrence.weight()));
                postings.push(Posting { passage: there[0].passage(), weight });
            }
            ends.push(u32::try_from(postings.len()).unwrap_or(u32::MAX));
        }
        FileTerms {
            passages: self.passages.into(),
            terms: terms.into(),
            ends: ends.into(),
            postings: postings.into(),
            length: self.length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::each_term;
    use super::super::packed::PackedTerms;
    use super::*;
    use rhumb_syntax::{Language, tags};

    const SOURCE: &str = "import os\n\n\n# Opens the gate.\ndef open_gate():\n    gate = 1\n    def inner():\n        return 2\n    return gate\n";

    fn digest(source: &str) -> FileTerms {
        FileTerms::new(source, &tags(Language::by_name("python").unwrap(), source), Depth::Whole)
    }

    fn weight(terms: &FileTerms, word: &str, passage: u16) -> u16 {
        let mut words = Vec::new();
        terms.pack(&mut words);
        let packed = PackedTerms::new(&words);
        let mut weight = 0;
        each_term(word, |term| {
            let postings = packed.find(term, 0).into_iter().flat_map(|at| packed.postings(at));
            weight += postings.filter(|posting| posting.passage == passage).map(|posting| posting.weight).sum::<u16>();
        });
        weight
    }

    #[test]
    fn passages_follow_the_definitions_and_take_their_comments_along() {
        let terms = digest(SOURCE);
        let places: Vec<(Option<u32>, u32, u32)> =
            terms.passages().iter().map(|passage| (passage.definition, passage.line, passage.end_line)).collect();
        assert_eq!(places, [(None, 1, 3), (Some(0), 4, 9), (Some(1), 7, 8)]);
        let lengths: u32 = terms.passages().iter().map(|passage| passage.length).sum();
        assert_eq!(lengths, terms.length());
    }

    #[test]
    fn names_and_comments_count_more() {
        let terms = digest(SOURCE);
        assert_eq!(weight(&terms, "os", 0), 1);
        // In the comment, in the header, in the name once more, and twice in the body.
        assert_eq!(weight(&terms, "gate", 1), 2 + 1 + 2 + 2);
        assert_eq!(weight(&terms, "gate", 2), 0);
    }

    #[test]
    fn heads_are_the_lines_that_begin_definitions_and_their_comments() {
        let tags = tags(Language::by_name("python").unwrap(), SOURCE);
        let terms = FileTerms::new(SOURCE, &tags, Depth::Heads);
        let places: Vec<(Option<u32>, u32, u32)> =
            terms.passages().iter().map(|passage| (passage.definition, passage.line, passage.end_line)).collect();
        assert_eq!(places, [(Some(0), 4, 5), (Some(1), 7, 7)]);
        assert_eq!(weight(&terms, "gate", 0), 2 + 1 + 2);
        assert_eq!(weight(&terms, "os", 0), 0);
    }

    #[test]
    fn a_long_function_becomes_several_passages() {
        let source = format!("def long():\n{}", "    step()\n".repeat(150));
        let terms = digest(&source);
        let ends: Vec<u32> = terms.passages().iter().map(|passage| passage.end_line).collect();
        assert_eq!(ends, [60, 120, 151]);
        assert!(terms.passages().iter().all(|passage| passage.definition == Some(0)));
    }

    #[test]
    fn more_passages_than_can_be_numbered_are_left_out() {
        let source = "def f(): pass\n".repeat(70_000);
        let source = &source[..source.len().min(MAX_BYTES)];
        assert!(digest(source).passages().len() <= usize::from(u16::MAX) + 1);
    }

    proptest::proptest! {
        #[test]
        fn any_text_and_any_tags_can_be_counted(
            text in "[a-cA-C_ #\n]{0,60}", spans in proptest::collection::vec((0u32..12, proptest::prelude::any::<u32>()), 0..6)
        ) {
            use rhumb_syntax::tag::{Definition, SymbolKind};
            let definition = |(line, end_line): (u32, u32)| Definition {
                name: "aB".into(), kind: SymbolKind::Function, line, end_line, signature: String::new(), container: None, doc: String::new(),
            };
            let tags = FileTags { definitions: spans.into_iter().map(definition).collect(), ..FileTags::default() };
            let terms = FileTerms::new(&text, &tags, Depth::Whole);
            proptest::prop_assert_eq!(&terms, &FileTerms::new(&text, &tags, Depth::Whole));
            let mut count = 0u32;
            each_term(&text, |_| count += 1);
            proptest::prop_assert_eq!(terms.length(), count);
            proptest::prop_assert!(terms.terms.is_sorted());
        }
    }
}
