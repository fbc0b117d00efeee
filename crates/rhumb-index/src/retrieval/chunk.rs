//! Chunks: a file cut along its syntax into pieces that can be read independently. Each line is in exactly one chunk.
//!
//! A chunk is a function, a method, a type with an outline of its members, a constant, a section of a document, or a run of statements
//! outside of all definitions. Lines are assigned to definitions as in the lexical index, so that search hits and chunks agree. Lines
//! without content (blank lines, closing brackets of a module) belong to the preceding chunk; lines that open a block (`impl Display for
//! Gate {`) belong to the first chunk inside.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rhumb_syntax::{Definition, Language, SymbolKind, statements};

use super::search::Hit;
use crate::lexical::{self, Extent, is_comment_line};
use crate::repo_map::MapIndex;
use crate::repo_map::index::IndexedDefinition;

/// Maximum length of a chunk, in its own lines.
pub const MAX_CHUNK_LINES: usize = lexical::MAX_CHUNK_LINES as usize;

/// Maximum number of lines that open a block: a multi-line header and the lines directly above.
const MAX_OPENING_LINES: usize = 6;

/// A definition for cutting, from tags or from the index.
#[derive(Debug, Clone, Copy)]
pub struct ChunkDefinition<'t> {
    /// The bare name.
    pub name: &'t str,
    /// The kind.
    pub kind: SymbolKind,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// Name of the innermost enclosing definition.
    pub container: Option<&'t str>,
    /// The header on one line.
    pub signature: &'t str,
    /// The first line of the documentation.
    pub doc: &'t str,
}

impl<'t> From<&'t Definition> for ChunkDefinition<'t> {
    fn from(definition: &'t Definition) -> Self {
        Self {
            name: &definition.name,
            kind: definition.kind,
            line: definition.line,
            end_line: definition.end_line,
            container: definition.container.as_deref(),
            signature: &definition.signature,
            doc: &definition.doc,
        }
    }
}

impl<'t> From<IndexedDefinition<'t>> for ChunkDefinition<'t> {
    fn from(entry: IndexedDefinition<'t>) -> Self {
        Self {
            name: entry.name(),
            kind: entry.kind(),
            line: entry.line(),
            end_line: entry.end_line(),
            container: entry.container(),
            signature: entry.signature(),
            doc: entry.doc(),
        }
    }
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeChunk {
    /// The definition that it is (or is a part of), by index; `None` for statements outside of all definitions.
    pub definition: Option<u32>,
    /// Its own lines, 1-based, ascending and disjoint. Those of all chunks make up the file.
    pub own: Vec<RangeInclusive<u32>>,
    /// The lines to show: its own without surrounding empty lines, plus those that name its members; ascending and disjoint.
    pub shown: Vec<RangeInclusive<u32>>,
    /// First line with content.
    pub line: u32,
    /// Last line, 1-based and inclusive. For an outline, the last line of the definition, although members are in between.
    pub end_line: u32,
    /// The lines that name inner definitions with chunks.
    pub members: Vec<u32>,
    /// The name of the definition.
    pub symbol: Option<String>,
    /// The kind of the definition.
    pub kind: Option<SymbolKind>,
    /// Name of the innermost enclosing definition.
    pub container: Option<String>,
    /// The header of the definition on one line; empty outside of all definitions.
    pub signature: String,
    /// The first line of the documentation.
    pub doc: String,
    /// The number of this part of the definition, 1-based.
    pub part: u32,
    /// The number of parts.
    pub parts: u32,
}

impl CodeChunk {
    /// The chunk as text for an embedder or a model: a line with path and container, the header again for a later part, and the shown
    /// lines. `lines` are those of the file.
    pub fn text(&self, path: &str, lines: &[&str]) -> String {
        let mut text = path.to_owned();
        if let Some(container) = &self.container {
            text.push_str(" > ");
            text.push_str(container);
        }
        text.push('\n');
        if self.part > 1 && !self.signature.is_empty() {
            text.push_str(&self.signature);
            text.push('\n');
        }
        for line in self.shown.iter().cloned().flatten() {
            text.push_str((line as usize).checked_sub(1).and_then(|at| lines.get(at)).copied().unwrap_or_default());
            text.push('\n');
        }
        text
    }

    /// The number of its lines in `line..=end_line`.
    pub fn overlap(&self, line: u32, end_line: u32) -> u32 {
        let common =
            |range: &RangeInclusive<u32>| (*range.end().min(&end_line) + 1).saturating_sub(*range.start().max(&line));
        self.own.iter().map(common).sum()
    }
}

/// Cuts a file into chunks, sorted by first line. `outline` contains the definitions of the text; lines beyond its end are ignored. Parses
/// the text only if a definition is too long for one chunk.
pub fn chunks<'t>(
    text: &str,
    outline: impl IntoIterator<Item = ChunkDefinition<'t>>,
    language: Option<&'static Language>,
) -> Vec<CodeChunk> {
    let lines: Vec<&str> = text.lines().collect();
    let outline: Vec<ChunkDefinition<'t>> = outline.into_iter().collect();
    let extent = |definition: &ChunkDefinition<'_>| {
        Extent::new(definition.kind, (definition.line, definition.end_line), definition.container.is_some())
    };
    let owners = lexical::owners(&lines, &outline.iter().map(extent).collect::<Vec<_>>());
    let mut cut_points = None;
    let mut chunks = Vec::new();
    for group in line_groups(&lines, &owners) {
        let cuts = if group.content.len() > MAX_CHUNK_LINES {
            cut_points
                .get_or_insert_with(|| CutPoints::new(text, &lines, language))
                .cuts(&group.content, MAX_CHUNK_LINES)
        } else {
            Vec::new()
        };
        let definition = group.owner.and_then(|owner| outline.get(owner as usize));
        chunks.extend(group.into_chunks(&cuts, definition, &outline, &owners));
    }
    chunks.sort_by_key(|chunk| chunk.own.first().map_or(0, |range| *range.start()));
    chunks
}

/// Lines (0-based) that belong together, before they are cut.
#[derive(Debug, Default)]
struct LineGroup {
    owner: Option<u32>,
    /// Lines to show, ascending.
    content: Vec<u32>,
    /// Other lines.
    blank: Vec<u32>,
}

/// The groups of a file: one per definition that owns lines, and one per run of statements outside of all definitions.
fn line_groups(lines: &[&str], owners: &[Option<u32>]) -> Vec<LineGroup> {
    let mut groups: Vec<LineGroup> = Vec::new();
    let mut of_definition: std::collections::HashMap<u32, usize> = std::collections::HashMap::new();
    let mut group_of = vec![usize::MAX; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let end = (at..lines.len()).find(|&line| owners[line] != owners[at]).unwrap_or(lines.len());
        if let Some(owner) = owners[at] {
            let group = *of_definition.entry(owner).or_insert_with(|| {
                groups.push(LineGroup { owner: Some(owner), ..LineGroup::default() });
                groups.len() - 1
            });
            groups[group].content.extend(at as u32..end as u32);
            group_of[at..end].fill(group);
        }
        at = end;
    }
    at = 0;
    while at < lines.len() {
        let end = (at..lines.len()).find(|&line| owners[line] != owners[at]).unwrap_or(lines.len());
        if owners[at].is_none() {
            let before = at.checked_sub(1).and_then(|line| group_of.get(line)).copied();
            settle(lines, (at, end), (before, group_of.get(end).copied()), &mut groups);
        }
        at = end;
    }
    groups.iter_mut().for_each(|group| group.move_margins_to_blank(lines));
    groups
}

/// Assigns the lines of a run outside of all definitions (0-based, half-open) to the adjacent groups, or to a new one.
fn settle(
    lines: &[&str],
    (start, end): (usize, usize),
    (before, after): (Option<usize>, Option<usize>),
    groups: &mut Vec<LineGroup>,
) {
    let numbers = |from: usize, to: usize| from as u32..to as u32;
    let opening = if after.is_some() { opening(lines, start, end) } else { end };
    if let Some(group) = after.and_then(|after| groups.get_mut(after)) {
        group.content.extend(numbers(opening, end));
    }
    let first_content = (start..opening).find(|&line| has_content(lines[line]));
    match (first_content, before.or(after)) {
        (None, Some(neighbour)) => groups[neighbour].blank.extend(numbers(start, opening)),
        (None, None) => groups.push(LineGroup { content: numbers(start, opening).collect(), ..LineGroup::default() }),
        (Some(first_content), _) => {
            let first = if before.is_some() { first_content } else { start };
            if let Some(before) = before {
                groups[before].blank.extend(numbers(start, first));
            }
            groups.push(LineGroup { content: numbers(first, opening).collect(), ..LineGroup::default() });
        }
    }
}

/// The first of the lines that open the block around what follows the run; the end of the run if there are none.
fn opening(lines: &[&str], start: usize, end: usize) -> usize {
    let Some(last) = (start..end).rev().find(|&line| !lines[line].trim().is_empty()) else { return end };
    if !lines[last].trim_end().ends_with(['{', '(', '[', ':']) {
        return end;
    }
    let is_border = |line: &str| !has_content(line) || line.trim_end().ends_with([';', '}']);
    let first = (start..last).rev().take(MAX_OPENING_LINES - 1).take_while(|&line| !is_border(lines[line])).last();
    first.unwrap_or(last)
}

fn has_content(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

impl LineGroup {
    /// Moves empty lines at the ends of each run to the blank lines.
    fn move_margins_to_blank(&mut self, lines: &[&str]) {
        self.content.sort_unstable();
        let is_empty = |line: &u32| lines[*line as usize].trim().is_empty();
        let mut content = Vec::with_capacity(self.content.len());
        for run in self.content.chunk_by(|a, b| a + 1 == *b) {
            let first = run.iter().position(|line| !is_empty(line)).unwrap_or(run.len());
            let end = run.iter().rposition(|line| !is_empty(line)).map_or(first, |last| last + 1);
            content.extend_from_slice(&run[first..end]);
            self.blank.extend(run[..first].iter().chain(&run[end..]));
        }
        if content.is_empty() {
            // A file without content.
            content.extend(self.blank.iter().min());
            self.blank.retain(|line| !content.contains(line));
        }
        self.content = content;
    }

    /// The chunks of the group, cut before these positions of `content`. Blank lines belong to the preceding part.
    fn into_chunks(
        mut self,
        cuts: &[usize],
        definition: Option<&ChunkDefinition<'_>>,
        outline: &[ChunkDefinition<'_>],
        owners: &[Option<u32>],
    ) -> Vec<CodeChunk> {
        self.blank.sort_unstable();
        let parts = cuts.len() + 1;
        let bounds: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([self.content.len()]).collect();
        let mut chunks = Vec::with_capacity(parts);
        let mut blank = self.blank.iter().copied().peekable();
        for (part, bound) in (1u32..).zip(bounds.windows(2)) {
            let content = self.content.get(bound[0]..bound[1]).unwrap_or_default();
            let next = self.content.get(bound[1]).copied();
            let mut own: Vec<u32> = content.to_vec();
            own.extend(std::iter::from_fn(|| blank.next_if(|&line| next.is_none_or(|next| line < next))));
            own.sort_unstable();
            let last = content.last().map_or(0, |line| line + 1);
            // An outline continues after its last own line, with members.
            let inner = definition.filter(|definition| has_members(definition.kind));
            let end = next.or(inner.map(|of| of.end_line.min(owners.len() as u32))).unwrap_or(last).max(last);
            let members = if inner.is_some() { members(self.owner, content, end, outline, owners) } else { Vec::new() };
            let mut shown: Vec<u32> = content.iter().map(|line| line + 1).chain(members.iter().copied()).collect();
            shown.sort_unstable();
            // A member that follows the last line of a part is shown in it.
            let last_shown = shown.last().copied().unwrap_or_default();
            chunks.push(CodeChunk {
                definition: self.owner,
                own: ranges(own.into_iter().map(|line| line + 1)),
                shown: ranges(shown),
                line: content.first().map_or(0, |line| line + 1),
                end_line: if next.is_none() && inner.is_some() { end } else { last_shown },
                members,
                symbol: definition.map(|definition| definition.name.to_owned()),
                kind: definition.map(|definition| definition.kind),
                container: definition.and_then(|definition| definition.container).map(str::to_owned),
                signature: definition.map(|definition| definition.signature.to_owned()).unwrap_or_default(),
                doc: definition.map(|definition| definition.doc.to_owned()).unwrap_or_default(),
                part,
                parts: parts as u32,
            });
        }
        chunks
    }
}

/// The lines (1-based) that name the definitions in the gaps between `content` (0-based) and after it up to `end`. The definition itself,
/// which may include lines above its first, is excluded.
fn members(
    of: Option<u32>,
    content: &[u32],
    end: u32,
    outline: &[ChunkDefinition<'_>],
    owners: &[Option<u32>],
) -> Vec<u32> {
    let mut members = Vec::new();
    let ends = content.iter().skip(1).copied().chain([end]);
    for (&own, end) in content.iter().zip(ends) {
        let mut at = own + 1;
        while at < end {
            let number = owners.get(at as usize).copied().flatten().filter(|&owner| Some(owner) != of);
            let owner = number.and_then(|owner| outline.get(owner as usize));
            let line = owner.map_or(0, |member| member.line);
            if owners.get(at as usize) != owners.get(own as usize) && (at + 1..=end).contains(&line) {
                members.push(line);
            }
            at = owner.filter(|_| line > at).map_or(0, |member| member.end_line).max(at + 1);
        }
    }
    members
}

/// Whether a definition is shown with the names of its inner definitions. Sections of documents and similar kinds are not.
fn has_members(kind: SymbolKind) -> bool {
    !matches!(
        kind,
        SymbolKind::Section | SymbolKind::Key | SymbolKind::Selector | SymbolKind::Target | SymbolKind::Table
    )
}

/// Converts ascending lines to ranges.
pub(crate) fn ranges(lines: impl IntoIterator<Item = u32>) -> Vec<RangeInclusive<u32>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some(last) if line <= last.end().saturating_add(1) => *last = *last.start()..=line,
            _ => ranges.push(line..=line),
        }
    }
    ranges
}

/// Added to the indent of a line at which no statement starts, so that any statement is a better cut point.
const NO_STATEMENT: u32 = 1 << 16;

/// How suitable each line of a file is as the start of a part.
#[derive(Debug, Clone, Default)]
pub(crate) struct CutPoints {
    /// By line, 0-based: the depth; lower is better.
    depth: Vec<u32>,
    /// By line, 0-based: whether it is a comment or an attribute.
    is_comment: Vec<bool>,
}

impl CutPoints {
    /// Uses the statements of the grammar, or indents without a grammar.
    pub(crate) fn new(text: &str, lines: &[&str], language: Option<&'static Language>) -> Self {
        let statements = language.and_then(|language| statements(language, text));
        let depth = |(at, line): (usize, &&str)| match &statements {
            Some(statements) => statements
                .get(at)
                .copied()
                .flatten()
                .map_or_else(|| indent(line).saturating_add(NO_STATEMENT), u32::from),
            None => indent(line),
        };
        Self {
            depth: lines.iter().enumerate().map(depth).collect(),
            is_comment: lines.iter().map(|line| is_comment_line(line)).collect(),
        }
    }

    /// Cuts `lines` (0-based, ascending) into parts of at most `limit` lines. Returns the start of each part after the first, as an
    /// ascending index into `lines`.
    pub(crate) fn cuts(&self, lines: &[u32], limit: usize) -> Vec<usize> {
        let (mut cuts, mut start) = (Vec::new(), 0);
        while lines.len() - start > limit {
            let left = lines.len() - start;
            let even = left.div_ceil(left.div_ceil(limit));
            start = self.best(lines, start + even.min(limit) / 2 + 1, start + limit, start + even);
            cuts.push(start);
        }
        cuts
    }

    /// The best cut in `from..=to`: the lowest depth, then the nearest to `aim`, before the comments of what follows.
    pub(crate) fn best(&self, lines: &[u32], from: usize, to: usize, aim: usize) -> usize {
        let depth = |at: usize| lines.get(at).and_then(|line| self.depth.get(*line as usize)).copied();
        let key = |at: &usize| (depth(*at).unwrap_or(u32::MAX), at.abs_diff(aim), *at);
        let mut cut = (from..=to).min_by_key(key).unwrap_or(to);
        let is_comment_line = |at: usize| lines.get(at).and_then(|line| self.is_comment.get(*line as usize)).copied();
        while cut > from && is_comment_line(cut - 1) == Some(true) && depth(cut - 1) == depth(cut) {
            cut -= 1;
        }
        cut
    }
}

/// The columns before the first visible character. An empty line is not a cut point.
fn indent(line: &str) -> u32 {
    let columns = |c: char| if c == '\t' { 4 } else { 1 };
    match line.find(|c: char| !c.is_whitespace()) {
        None => u32::MAX,
        Some(at) => line[..at].chars().take(NO_STATEMENT as usize / 8).map(columns).sum(),
    }
}

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
        evidence: Vec::new(),
        score: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;
    use rhumb_syntax::{FileTags, tags};

    use super::*;
    use crate::lexical::Depth;
    use crate::repo_map::{Digest, MapFile, SegmentBuilder};

    // The invariants of chunks are checked on examples, on the sources of this workspace, on samples of all languages, and on any text.

    fn cut(language: &str, text: &str) -> Vec<CodeChunk> {
        let language = Language::by_name(language).unwrap();
        let tags = tags(language, text);
        chunks(text, tags.definitions.iter().map(ChunkDefinition::from), Some(language))
    }

    /// The chunks as `symbol line-end_line`.
    fn described(chunks: &[CodeChunk]) -> Vec<String> {
        let describe = |chunk: &CodeChunk| {
            let part = if chunk.parts > 1 { format!(" {}/{}", chunk.part, chunk.parts) } else { String::new() };
            format!("{} {}-{}{part}", chunk.symbol.as_deref().unwrap_or("-"), chunk.line, chunk.end_line)
        };
        chunks.iter().map(describe).collect()
    }

    /// Checks the invariants of chunks.
    fn check_invariants(what: &str, text: &str, chunks: &[CodeChunk]) {
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
            assert!(shown.iter().filter(|line| !foreign(line)).count() <= MAX_CHUNK_LINES, "{what}: {chunk:?}");
            let owned = |line: &u32| chunk.own.iter().any(|range| range.contains(line));
            assert!(shown.iter().all(|line| owned(line) != foreign(line)), "{what}: {chunk:?}");
            let text = chunk.text("a/b", &lines);
            let head =
                if chunk.part > 1 && !chunk.signature.is_empty() { 1 + chunk.signature.lines().count() } else { 1 };
            let exact: Vec<&str> = shown.iter().map(|line| lines[*line as usize - 1]).collect();
            assert_eq!(text.split('\n').skip(head).collect::<Vec<_>>().join("\n"), exact.join("\n") + "\n", "{what}");
        }
        assert!(times[1..].iter().all(|times| *times == 1), "{what}: each line is in one chunk: {times:?}");
    }

    #[test]
    fn a_method_is_a_chunk_and_its_type_is_an_outline() {
        let text = "//! About.\n\nuse std::fmt;\n\n/// A gate.\npub struct Gate {\n    open: bool,\n}\n\nimpl Gate {\n    /// Opens it.\n    fn open(&mut self) {\n        self.open = true;\n    }\n\n    fn shut(&mut self) {}\n}\n\nconst MOST: u8 = 3;\n";
        let chunks = cut("rust", text);
        check_invariants("gate", text, &chunks);
        assert_eq!(described(&chunks), ["- 1-3", "Gate 5-8", "open 10-14", "shut 16-16", "MOST 19-19"]);
        assert_eq!(chunks[2].container.as_deref(), Some("Gate"));
        let lines: Vec<&str> = text.lines().collect();
        let opened = "src/gate.rs > Gate\nimpl Gate {\n    /// Opens it.\n    fn open(&mut self) {\n        self.open = true;\n    }\n";
        assert_eq!(chunks[2].text("src/gate.rs", &lines), opened);
    }

    #[test]
    fn an_outline_has_one_line_per_member() {
        let text = "class Gate:\n    \"\"\"A gate.\"\"\"\n\n    wide = 3\n\n    @property\n    def open(self):\n        def inner():\n            return 1\n        return inner()\n\n    def shut(self):\n        pass\n";
        let chunks = cut("python", text);
        check_invariants("gate", text, &chunks);
        let gate = chunks.iter().find(|chunk| chunk.symbol.as_deref() == Some("Gate")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((gate.line, gate.end_line, gate.members.as_slice()), (1, 13, &[7, 12][..]));
        let shown = "class Gate:\n    \"\"\"A gate.\"\"\"\n\n    wide = 3\n    def open(self):\n    def shut(self):\n";
        assert!(gate.text("gate.py", &lines).ends_with(shown), "{}", gate.text("gate.py", &lines));
    }

    #[test]
    fn a_section_ends_at_the_next_heading() {
        let text = "Before.\n\n# One\n\ntext\n\n## Two\n\nmore\n\n# Three\n";
        let chunks = cut("markdown", text);
        check_invariants("document", text, &chunks);
        assert_eq!(described(&chunks), ["- 1-1", "One 3-5", "Two 7-9", "Three 11-11"]);
    }

    #[test]
    fn a_long_function_is_cut_between_statements_and_repeats_its_header() {
        let body: String = (0..40).map(|n| format!("    step(\n        {n},\n    );\n")).collect();
        let text = format!("/// Walks.\nfn walk(far: u32) -> u32 {{\n{body}    0\n}}\n");
        let chunks = cut("rust", &text);
        check_invariants("walk", &text, &chunks);
        assert_eq!(chunks.len(), 3, "{:?}", described(&chunks));
        let lines: Vec<&str> = text.lines().collect();
        for chunk in &chunks[1..] {
            let text = chunk.text("walk.rs", &lines);
            let mut lines = text.lines().skip(1);
            assert_eq!(lines.next(), Some("fn walk(far: u32) -> u32"));
            assert_eq!(lines.next(), Some("    step("), "{text}");
        }
    }

    #[test]
    fn a_text_without_definitions_is_one_chunk() {
        assert_eq!(described(&chunks("one\n\ntwo\n", [], None)), ["- 1-3"]);
        assert_eq!(described(&chunks("\n\n", [], None)), ["- 1-1"]);
        assert!(chunks("", [], None).is_empty());
    }

    #[test]
    fn the_index_and_the_tags_give_the_same_chunks() {
        let text = include_str!("chunk.rs");
        let language = Language::by_name("rust").unwrap();
        let tags = tags(language, text);
        let mut builder = SegmentBuilder::default();
        let at = builder.add(&tags, &Digest::new(text, &tags, lexical::Depth::Whole), text.len() as u32);
        let segment = builder.finish();
        let of_index =
            chunks(text, segment.record(at).unwrap().definitions().map(ChunkDefinition::from), Some(language));
        assert_eq!(of_index, chunks(text, tags.definitions.iter().map(ChunkDefinition::from), Some(language)));
    }

    /// All files below a folder of the workspace.
    #[allow(clippy::disallowed_methods, reason = "the test reads files of this repository")]
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
    #[allow(clippy::disallowed_methods, reason = "the test reads files of this repository")]
    fn the_invariants_hold_for_sources_in_all_languages() {
        let folders = ["src", "crates", "tests/fixtures/languages", "docs"];
        let files = folders.map(files_below).concat();
        let mut seen = 0;
        for path in files {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let name = path.to_string_lossy();
            let language = Language::detect(&name, &text);
            let tags = language.map(|language| tags(language, &text)).unwrap_or_default();
            let cut = || chunks(&text, tags.definitions.iter().map(ChunkDefinition::from), language);
            let chunks = cut();
            check_invariants(&name, &text, &chunks);
            assert_eq!(chunks, cut(), "{name}");
            seen += 1;
        }
        assert!(seen > 400, "{seen} files");
    }

    proptest! {
        #[test]
        fn the_invariants_hold_for_any_text_and_any_definitions(
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
            let cut = chunks(&text, tags.definitions.iter().map(ChunkDefinition::from), language);
            check_invariants("generated", &text, &cut);
        }
    }

    fn cuts(text: &str, language: Option<&str>, limit: usize) -> Vec<usize> {
        let lines: Vec<&str> = text.lines().collect();
        let all: Vec<u32> = (0..lines.len() as u32).collect();
        CutPoints::new(text, &lines, language.and_then(Language::by_name)).cuts(&all, limit)
    }

    #[test]
    fn a_cut_is_between_statements() {
        let step = |name: &str| format!("    {name}(\n        1,\n        2,\n    );\n");
        let text = format!("fn f() {{\n{}{}{}{}}}\n", step("a"), step("b"), step("c"), step("d"));
        assert_eq!(cuts(&text, Some("rust"), 10), [9]);
    }

    #[test]
    fn comments_stay_with_what_they_document() {
        let text = "fn f() {\n    a();\n    b();\n    c();\n    // About d.\n    d();\n    e();\n    g();\n}\n";
        assert_eq!(cuts(text, Some("rust"), 5), [4]);
    }

    #[test]
    fn without_a_grammar_the_lowest_indent_decides() {
        let text = "one\n  a\n  b\n  c\ntwo\n  d\n  e\n  f\n";
        assert_eq!(cuts(text, None, 5), [4]);
    }

    proptest! {
        #[test]
        fn parts_are_within_the_limit_and_complete(
            text in "([ \t]{0,3}[a-z{};/]{0,6}\n){0,80}", limit in 1usize..20, language in 0usize..3,
        ) {
            let language = [None, Some("rust"), Some("python")][language];
            let (cuts, all) = (cuts(&text, language, limit), text.lines().count());
            let ends = cuts.iter().copied().chain([all]);
            let starts = [0].into_iter().chain(cuts.iter().copied());
            for (start, end) in starts.zip(ends) {
                prop_assert!(end - start <= limit && (start < end || all == 0), "{cuts:?}");
            }
        }
    }

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
