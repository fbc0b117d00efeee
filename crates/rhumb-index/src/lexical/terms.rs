//! The posting list of a file: the occurrences of each term in each chunk.

use rhumb_syntax::{Definition, FileTags, SymbolKind};

use super::words::{Term, TermCache};

/// Maximum size of a text that is indexed, in bytes; the rest is ignored. Hand-written code is far smaller.
const MAX_BYTES: usize = 512 << 10;

/// The weight of an occurrence in the name and in the documentation of a definition, relative to one in its code: BM25F (Robertson,
/// Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004). The name also counts in its line.
const NAME_WEIGHT: u16 = 2;
const DOC_WEIGHT: u16 = 2;

/// How much of a text is indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Every line.
    #[default]
    Whole,
    /// Comments, and the lines on which definitions start: for repositories in which indexing every word would take too much
    /// memory.
    Headers,
}

impl Depth {
    fn counts(self, line: u32, text: &str, owner: Option<&Definition>) -> bool {
        self == Self::Whole || owner.is_some_and(|owner| line == owner.line) || is_comment_line(text)
    }
}

/// The terms of a file by chunk. Depends only on the text and its tags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTerms {
    chunks: Box<[Chunk]>,
    /// Distinct terms, sorted.
    terms: Box<[Term]>,
    /// The end of the postings of each term.
    ends: Box<[u32]>,
    /// Sorted by term and chunk.
    postings: Box<[Posting]>,
    length: u32,
}

/// The occurrences of a term in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) chunk: u16,
    pub(crate) counts: FieldCounts,
}

/// The number of occurrences of a term by field: in the name of the definition, in its comments and documentation, in its code. The counts
/// saturate at 3, 63 and 255.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FieldCounts(u16);

/// A field of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Name,
    Doc,
    Code,
}

impl FieldCounts {
    /// Number of fields.
    pub(crate) const FIELDS: usize = 3;

    fn new(name: u32, doc: u32, code: u32) -> Self {
        Self((name.min(3) << 14 | doc.min(63) << 8 | code.min(255)) as u16)
    }

    /// The counts of name, documentation and code.
    pub(crate) fn fields(self) -> [u16; Self::FIELDS] {
        [self.0 >> 14, self.0 >> 8 & 63, self.0 & 255]
    }

    /// The weighted number of occurrences.
    pub(crate) fn weight(self) -> u16 {
        let [name, doc, code] = self.fields();
        name * NAME_WEIGHT + doc * DOC_WEIGHT + code
    }
}

impl FileTerms {
    /// Counts the terms of a text. `tags` must belong to it; lines beyond its end are ignored.
    pub fn new(text: &str, tags: &FileTags, depth: Depth) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let lines: Vec<&str> = text.lines().collect();
        let mut counted = Counted::default();
        TermCache::with(|cache| {
            let owners = owners(&lines, &extents(tags));
            let owned = (1u32..).zip(lines.iter().copied()).zip(owners);
            let definition = |owner: Option<u32>| tags.definitions.get(owner? as usize);
            let counted_lines = owned.filter(|&((line, text), owner)| depth.counts(line, text, definition(owner)));
            counted.count_lines(counted_lines, tags, cache);
            counted.count_names(tags, cache);
        });
        counted.finish()
    }

    /// The chunks, sorted by first line.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Number of terms in the file, with repetitions.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The sorted terms, the end of the postings of each, and the postings by term.
    pub(crate) fn lists(&self) -> (&[Term], &[u32], &[Posting]) {
        (&self.terms, &self.ends, &self.postings)
    }
}

fn extents(tags: &FileTags) -> Vec<Extent> {
    let extent = |definition: &Definition| {
        Extent::new(definition.kind, (definition.line, definition.end_line), definition.container.is_some())
    };
    tags.definitions.iter().map(extent).collect()
}

/// Term, chunk and field, from the upper to the lower bits. Integers sort faster than tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Occurrence(u64);

impl Occurrence {
    fn new(term: Term, chunk: u16, field: Field) -> Self {
        Self(u64::from(term) << 32 | u64::from(chunk) << 16 | field as u64)
    }

    fn term(self) -> Term {
        (self.0 >> 32) as Term
    }

    fn chunk(self) -> u16 {
        (self.0 >> 16) as u16
    }

    fn is_in(self, field: Field) -> bool {
        self.0 as u16 == field as u16
    }
}

/// Collects occurrences.
#[derive(Default)]
struct Counted {
    chunks: Vec<Chunk>,
    occurrences: Vec<Occurrence>,
    /// The first chunk of each definition, if it has one.
    first: Vec<Option<u16>>,
    length: u32,
}

impl Counted {
    /// Counts lines, given as (number, text) and owning definition.
    fn count_lines<'t>(
        &mut self,
        lines: impl Iterator<Item = ((u32, &'t str), Option<u32>)>,
        tags: &FileTags,
        cache: &mut TermCache,
    ) {
        self.first = vec![None; tags.definitions.len()];
        // The open chunk of each definition; the last slot is for lines outside of all definitions.
        let mut filling: Vec<Option<(u16, u32)>> = vec![None; tags.definitions.len() + 1];
        let mut strings = TripleQuoted::default();
        for ((line, text), owner) in lines {
            let field = if strings.is_docstring(text) || is_comment_line(text) { Field::Doc } else { Field::Code };
            let slot = owner.map_or(tags.definitions.len(), |owner| owner as usize);
            let full = filling[slot].is_none_or(|(_, lines)| lines >= MAX_CHUNK_LINES);
            if full {
                let Some(chunk) = self.open(owner, line) else { return };
                filling[slot] = Some((chunk, 0));
            }
            if let Some((chunk, lines)) = &mut filling[slot] {
                *lines += 1;
                self.add_line(text, line, *chunk, field, cache);
            }
        }
    }

    fn open(&mut self, definition: Option<u32>, line: u32) -> Option<u16> {
        let chunk = u16::try_from(self.chunks.len()).ok()?;
        self.chunks.push(Chunk { definition, line, end_line: line, length: 0 });
        if let Some(definition) = definition {
            self.first[definition as usize].get_or_insert(chunk);
        }
        Some(chunk)
    }

    fn add_line(&mut self, text: &str, line: u32, chunk: u16, field: Field, cache: &mut TermCache) {
        let before = self.occurrences.len();
        cache.each_term(text, |term| self.occurrences.push(Occurrence::new(term, chunk, field)));
        let added = u32::try_from(self.occurrences.len() - before).unwrap_or(u32::MAX);
        let owner = &mut self.chunks[chunk as usize];
        owner.end_line = line;
        owner.length = owner.length.saturating_add(added);
        self.length = self.length.saturating_add(added);
    }

    /// Adds the names of definitions to their first chunks, in addition to the lines that contain them.
    fn count_names(&mut self, tags: &FileTags, cache: &mut TermCache) {
        for (definition, first) in tags.definitions.iter().zip(&self.first) {
            if let Some(chunk) = *first {
                let name = &definition.name;
                cache.each_term(name, |term| self.occurrences.push(Occurrence::new(term, chunk, Field::Name)));
            }
        }
    }

    fn finish(mut self) -> FileTerms {
        self.occurrences.sort_unstable();
        let (mut terms, mut ends, mut postings) = (Vec::new(), Vec::new(), Vec::new());
        for same in self.occurrences.chunk_by(|a, b| a.term() == b.term()) {
            terms.push(same[0].term());
            for there in same.chunk_by(|a, b| a.chunk() == b.chunk()) {
                let count = |field: Field| there.iter().filter(|occurrence| occurrence.is_in(field)).count() as u32;
                let counts = FieldCounts::new(count(Field::Name), count(Field::Doc), count(Field::Code));
                postings.push(Posting { chunk: there[0].chunk(), counts });
            }
            ends.push(u32::try_from(postings.len()).unwrap_or(u32::MAX));
        }
        FileTerms {
            chunks: self.chunks.into(),
            terms: terms.into(),
            ends: ends.into(),
            postings: postings.into(),
            length: self.length,
        }
    }
}

const COUNTS: usize = 4;
const CHUNK_WORDS: usize = 4;
const NONE: u32 = u32::MAX;

/// A view of the packed terms of a file. Inconsistent words are read as an empty list.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedTerms<'w> {
    chunks: &'w [[u32; CHUNK_WORDS]],
    terms: &'w [Term],
    ends: &'w [u32],
    postings: &'w [u32],
    length: u32,
}

impl FileTerms {
    /// Appends the words that [`PackedTerms::new`] reads.
    pub fn pack(&self, words: &mut Vec<u32>) {
        let (terms, ends, postings) = self.lists();
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        words.extend([count(self.chunks().len()), count(terms.len()), count(postings.len()), self.length()]);
        words.extend(
            self.chunks()
                .iter()
                .flat_map(|chunk| [chunk.definition.unwrap_or(NONE), chunk.line, chunk.end_line, chunk.length]),
        );
        words.extend_from_slice(terms);
        words.extend_from_slice(ends);
        words.extend(postings.iter().map(|posting| u32::from(posting.chunk) << 16 | u32::from(posting.counts.0)));
    }
}

impl<'w> PackedTerms<'w> {
    /// Reads the words of one file.
    pub fn new(words: &'w [u32]) -> Self {
        Self::read(words).unwrap_or_default()
    }

    fn read(words: &'w [u32]) -> Option<Self> {
        let ([chunks, terms, postings, length], rest) = words.split_first_chunk::<COUNTS>()?;
        let (chunks, rest) = rest.split_at_checked((*chunks as usize).checked_mul(CHUNK_WORDS)?)?;
        let (terms_list, rest) = rest.split_at_checked(*terms as usize)?;
        let (ends, rest) = rest.split_at_checked(*terms as usize)?;
        (rest.len() == *postings as usize).then_some(Self {
            chunks: chunks.as_chunks().0,
            terms: terms_list,
            ends,
            postings: rest,
            length: *length,
        })
    }

    /// Number of chunks.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// A chunk.
    pub fn chunk(&self, at: usize) -> Option<Chunk> {
        let &[definition, line, end_line, length] = self.chunks.get(at)?;
        Some(Chunk { definition: (definition != NONE).then_some(definition), line, end_line, length })
    }

    /// Number of terms in the file, with repetitions.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The position of a term in the list at or after `from`; `Err` with the insertion position if it is absent.
    pub(crate) fn find(&self, term: Term, from: usize) -> Result<usize, usize> {
        let rest = self.terms.get(from..).unwrap_or_default();
        rest.binary_search(&term).map(|at| at + from).map_err(|at| at + from)
    }

    /// The postings of the term at a position of the list.
    pub(crate) fn postings(&self, at: usize) -> impl Iterator<Item = Posting> + use<'w> {
        let end = self.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        let postings = self.postings.get(start..end).unwrap_or_default();
        let posting = |&word: &u32| Posting { chunk: (word >> 16) as u16, counts: FieldCounts(word as u16) };
        postings.iter().map(posting)
    }
}

/// Maximum length of a chunk, in lines. A longer function becomes several chunks.
pub const MAX_CHUNK_LINES: u32 = 60;

/// Lines of a file that belong together: a definition (or a part of it) without its inner definitions, or lines outside of all
/// definitions. [`CodeChunk`](crate::retrieval::CodeChunk) is the chunk of a text with the lines to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The definition, as an index in the tags of the file.
    pub definition: Option<u32>,
    /// First line, 1-based. Comments and attributes directly above a definition are included.
    pub line: u32,
    /// Last line, 1-based and inclusive. Lines of inner definitions may be in between.
    pub end_line: u32,
    /// Number of terms.
    pub length: u32,
}

/// The lines of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// Whether lines belong to it: it is not a field or a value inside of another definition.
    pub owns_lines: bool,
}

impl Extent {
    /// The extent of a definition of this kind with these first and last lines (1-based). `is_inner` if it has a container.
    pub fn new(kind: SymbolKind, (line, end_line): (u32, u32), is_inner: bool) -> Self {
        Self { line, end_line, owns_lines: owns_lines(kind, is_inner) }
    }
}

/// For each line (0-based), the definition that it belongs to: the innermost one that owns lines, as an index into `definitions`.
/// Comments and attributes directly above a definition belong to it. Lines of definitions beyond the end are ignored.
pub fn owners(lines: &[&str], definitions: &[Extent]) -> Vec<Option<u32>> {
    let mut order: Vec<u32> =
        (0u32..).zip(definitions).filter(|(_, extent)| extent.owns_lines).map(|(index, _)| index).collect();
    let span = |index: u32| {
        let extent = &definitions[index as usize];
        (extent.line.max(1) as usize - 1, extent.end_line as usize)
    };
    order.sort_by_key(|&index| (span(index).0, usize::MAX - span(index).1, index));
    let mut owners: Vec<Option<u32>> = vec![None; lines.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut next = order.iter().copied().peekable();
    for line in 0..lines.len() {
        while open.last().is_some_and(|&last| span(last).1 <= line) {
            open.pop();
        }
        let mut began = None;
        while let Some(index) = next.next_if(|&index| span(index).0 <= line) {
            open.push(index);
            began = Some(index);
        }
        owners[line] = open.last().copied();
        if began.is_some() {
            claim_above(lines, &mut owners, line, began);
        }
    }
    owners
}

/// Assigns the comments and attributes directly above `line` to the definition that starts there.
fn claim_above(lines: &[&str], owners: &mut [Option<u32>], line: usize, definition: Option<u32>) {
    let around = line.checked_sub(1).and_then(|above| owners.get(above).copied().flatten());
    for above in (0..line).rev().take(MAX_CHUNK_LINES as usize) {
        if owners[above] != around || !is_comment_line(lines[above]) {
            return;
        }
        owners[above] = definition;
    }
}

/// Whether a line is a comment or an attribute in one of the usual notations.
pub fn is_comment_line(line: &str) -> bool {
    match line.trim_start().as_bytes() {
        [b'#' | b'*' | b'@' | b'%', ..] => true,
        start => [&b"//"[..], b"/*", b"--", b";;", b"\"\"\""].iter().any(|mark| start.starts_with(mark)),
    }
}

/// The marks of strings that can span lines.
const TRIPLE_QUOTES: [&str; 2] = [r#"""""#, "'''"];

/// Follows the triple-quoted strings of Python. One at the start of a line is a docstring, whose lines do not look like comments.
/// The others are code.
#[derive(Debug, Default)]
struct TripleQuoted {
    /// The marks that end the open string, and whether it is a docstring.
    open: Option<(&'static str, bool)>,
}

impl TripleQuoted {
    /// Whether the next line belongs to a docstring.
    fn is_docstring(&mut self, line: &str) -> bool {
        if let Some((marks, is_docstring)) = self.open {
            let ends = if is_docstring { line.contains(marks) } else { line.matches(marks).count() % 2 == 1 };
            self.open = self.open.filter(|_| !ends);
            return is_docstring;
        }
        let start = line.trim_start().trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B', 'f', 'F']);
        let docstring = TRIPLE_QUOTES.into_iter().find(|marks| start.starts_with(marks));
        self.open = match docstring {
            Some(marks) => (!start[marks.len()..].contains(marks)).then_some((marks, true)),
            None => opened_string(line).map(|marks| (marks, false)),
        };
        docstring.is_some()
    }
}

/// The marks of the string that starts in a line of code and does not end there. Marks in a comment, or directly after another
/// quote (`'"""'`), start no string.
fn opened_string(line: &str) -> Option<&'static str> {
    let (at, marks) = TRIPLE_QUOTES.into_iter().filter_map(|marks| Some((line.find(marks)?, marks))).min()?;
    let is_quoted = line.trim_start().starts_with('#') || line[..at].ends_with(['"', '\'']);
    (!is_quoted && line.matches(marks).count() % 2 == 1).then_some(marks)
}

/// Fields, modules, and values inside of other definitions do not own lines.
fn owns_lines(kind: SymbolKind, is_inner: bool) -> bool {
    match kind {
        SymbolKind::Field => false,
        SymbolKind::Constant | SymbolKind::Variable => !is_inner,
        SymbolKind::Module => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rhumb_syntax::{Language, SymbolKind, tags};

    use super::*;
    use crate::lexical::each_term;

    const SOURCE: &str = "import os\n\n\n# Opens the gate.\ndef open_gate():\n    gate = 1\n    def inner():\n        return 2\n    return gate\n";

    fn digest(source: &str) -> FileTerms {
        FileTerms::new(source, &tags(Language::by_name("python").unwrap(), source), Depth::Whole)
    }

    fn weight(terms: &FileTerms, word: &str, chunk: u16) -> u16 {
        let mut words = Vec::new();
        terms.pack(&mut words);
        let packed = PackedTerms::new(&words);
        let mut weight = 0;
        each_term(word, |term| {
            let postings = packed.find(term, 0).into_iter().flat_map(|at| packed.postings(at));
            weight +=
                postings.filter(|posting| posting.chunk == chunk).map(|posting| posting.counts.weight()).sum::<u16>();
        });
        weight
    }

    #[test]
    fn chunks_follow_the_definitions_and_include_their_comments() {
        let terms = digest(SOURCE);
        let spans: Vec<(Option<u32>, u32, u32)> =
            terms.chunks().iter().map(|chunk| (chunk.definition, chunk.line, chunk.end_line)).collect();
        assert_eq!(spans, [(None, 1, 3), (Some(0), 4, 9), (Some(1), 7, 8)]);
        let lengths: u32 = terms.chunks().iter().map(|chunk| chunk.length).sum();
        assert_eq!(lengths, terms.length());
    }

    #[test]
    fn names_and_comments_have_more_weight() {
        let terms = digest(SOURCE);
        assert_eq!(weight(&terms, "os", 0), 1);
        // In the comment, in the header, in the name, and twice in the body.
        assert_eq!(weight(&terms, "gate", 1), 2 + 1 + 2 + 2);
        assert_eq!(weight(&terms, "gate", 2), 0);
    }

    #[test]
    fn headers_are_the_first_lines_of_definitions_and_their_comments() {
        let tags = tags(Language::by_name("python").unwrap(), SOURCE);
        let terms = FileTerms::new(SOURCE, &tags, Depth::Headers);
        let spans: Vec<(Option<u32>, u32, u32)> =
            terms.chunks().iter().map(|chunk| (chunk.definition, chunk.line, chunk.end_line)).collect();
        assert_eq!(spans, [(Some(0), 4, 5), (Some(1), 7, 7)]);
        assert_eq!(weight(&terms, "gate", 0), 2 + 1 + 2);
        assert_eq!(weight(&terms, "os", 0), 0);
    }

    #[test]
    fn only_a_string_at_the_start_of_a_line_is_a_docstring() {
        let marked = [
            (r#"QUERY = f""" select gate"#, false),
            ("    from pier", false),
            (r#"""" % "tide""#, false),
            ("def open_gate():", false),
            (r#"    r"""Opens the gate."#, true),
            ("    The tide is high.", true),
            (r#"    """"#, true),
            ("    return gate", false),
            (r#"    """One line.""""#, true),
            (r#"    empty = """""" + """one line""""#, false),
            ("    '''", true),
            ("    Ends.'''", true),
            // These start no string.
            (r#"    # Ends with """."#, false),
            (r#"    if line.startswith('"""'):"#, false),
            (r#"    """Doc."#, true),
            (r#"    Ends.""""#, true),
            ("    text = dedent('''\\", false),
            (r#"    """ of another kind"#, false),
            ("    ''')", false),
            ("    return text", false),
        ];
        let mut strings = TripleQuoted::default();
        for (line, is_docstring) in marked {
            assert_eq!(strings.is_docstring(line), is_docstring, "{line}");
        }
    }

    #[test]
    fn a_long_function_becomes_several_chunks() {
        let source = format!("def long():\n{}", "    step()\n".repeat(150));
        let terms = digest(&source);
        let ends: Vec<u32> = terms.chunks().iter().map(|chunk| chunk.end_line).collect();
        assert_eq!(ends, [60, 120, 151]);
        assert!(terms.chunks().iter().all(|chunk| chunk.definition == Some(0)));
    }

    #[test]
    fn chunks_beyond_the_maximum_number_are_dropped() {
        let source = "def f(): pass\n".repeat(70_000);
        let source = &source[..source.len().min(MAX_BYTES)];
        assert!(digest(source).chunks().len() <= usize::from(u16::MAX) + 1);
    }

    proptest! {
        #[test]
        fn any_text_and_any_tags_can_be_counted(
            text in "[a-cA-C_ #\n]{0,60}", spans in prop::collection::vec((0u32..12, any::<u32>()), 0..6)
        ) {
            let definition = |(line, end_line): (u32, u32)| Definition {
                name: "aB".into(), kind: SymbolKind::Function, line, end_line, signature: String::new(), container: None, doc: String::new(),
            };
            let tags = FileTags { definitions: spans.into_iter().map(definition).collect(), ..FileTags::default() };
            let terms = FileTerms::new(&text, &tags, Depth::Whole);
            prop_assert_eq!(&terms, &FileTerms::new(&text, &tags, Depth::Whole));
            let mut count = 0u32;
            each_term(&text, |_| count += 1);
            prop_assert_eq!(terms.length(), count);
            prop_assert!(terms.terms.is_sorted());
        }
    }

    proptest! {
        #[test]
        fn packing_is_lossless(source in "[a-c]{0,3}( |\n|def [a-z]{1,4}\\(\\):\n    [a-z ]{1,9}\n){0,12}") {
            let terms = FileTerms::new(&source, &tags(Language::by_name("python").unwrap(), &source), Depth::Whole);
            let mut words = Vec::new();
            terms.pack(&mut words);
            let packed = PackedTerms::new(&words);
            prop_assert_eq!(packed.length(), terms.length());
            let chunks: Vec<Chunk> = (0..packed.chunk_count()).filter_map(|at| packed.chunk(at)).collect();
            prop_assert_eq!(&chunks[..], terms.chunks());
            let (list, _, postings) = terms.lists();
            let mut all = Vec::new();
            for (at, term) in list.iter().enumerate() {
                prop_assert_eq!(packed.find(*term, 0), Ok(at));
                all.extend(packed.postings(at));
            }
            prop_assert_eq!(&all[..], postings);
        }

        #[test]
        fn any_words_can_be_read(words in prop::collection::vec(prop_oneof![0u32..9, any::<u32>()], 0..40)) {
            let packed = PackedTerms::new(&words);
            for at in 0..8 {
                let _ = (packed.chunk(at), packed.find(at as u32, 0), packed.postings(at).count());
            }
        }
    }
}
