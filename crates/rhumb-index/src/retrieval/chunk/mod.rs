//! Chunks: a file cut along its syntax into pieces that can be read on their own, each line in exactly one of them.
//!
//! A chunk is a function, a method, a type as an outline of its members, a constant, a section of a document, or a run of
//! statements outside of all. The lines belong to definitions as in the lexical index, so that a hit of a search and a chunk
//! speak of the same thing. What says nothing by itself (blank lines, the brackets that close a module) belongs to what stands
//! before it, and what opens a block (`impl Display for Gate {`) to what stands first in it.

use std::ops::RangeInclusive;

use crate::lexical::{self, Extent};
use crate::repo_map::index::Entry;
use cut::Borders;
use rhumb_syntax::Language;
use rhumb_syntax::tag::{Definition, SymbolKind};

/// Longest chunk, in lines of its own: that of a passage of the lexical index, so that both mean about the same piece.
pub const LONGEST_CHUNK: usize = lexical::LONGEST as usize;

/// Most lines that open a block: a header of several lines with what stands right above it.
const MOST_OPENING: usize = 6;

/// A definition as the cutting needs it, from tags or from what the index keeps.
#[derive(Debug, Clone, Copy)]
pub struct Outlined<'t> {
    /// The bare name.
    pub name: &'t str,
    /// What it is.
    pub kind: SymbolKind,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// Name of the definition around it.
    pub container: Option<&'t str>,
    /// Its header on one line.
    pub signature: &'t str,
    /// The first line of its documentation.
    pub doc: &'t str,
}

impl<'t> From<&'t Definition> for Outlined<'t> {
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

impl<'t> From<Entry<'t>> for Outlined<'t> {
    fn from(entry: Entry<'t>) -> Self {
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
    /// The definition that it is (a part of), by its place in the outline; none for statements outside of all.
    pub definition: Option<u32>,
    /// Its own lines, 1-based, ascending and disjoint. Those of all chunks of a file make up the file.
    pub own: Vec<RangeInclusive<u32>>,
    /// The lines to show: its own without the empty ones around them, and those that name its members; ascending and disjoint.
    pub shown: Vec<RangeInclusive<u32>>,
    /// First line of what it says.
    pub line: u32,
    /// Last line, 1-based and inclusive: of an outline that of the definition, although the lines of members lie between.
    pub end_line: u32,
    /// The lines that name what is inside of it and has a chunk of its own.
    pub members: Vec<u32>,
    /// The name of the definition.
    pub symbol: Option<String>,
    /// What the definition is.
    pub kind: Option<SymbolKind>,
    /// Name of the definition around it.
    pub container: Option<String>,
    /// The header of the definition on one line; empty outside of all.
    pub signature: String,
    /// The first line of its documentation.
    pub doc: String,
    /// Which part of the definition it is, from 1.
    pub part: u32,
    /// Of how many.
    pub parts: u32,
}

impl CodeChunk {
    /// The chunk as an embedder or a model reads it: path and container on a line, the header again in a later part, then the lines to
    /// show, as they are in `lines`, those of the file.
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

    /// How many of the lines from `line` to `end_line` are its own.
    pub fn overlap(&self, line: u32, end_line: u32) -> u32 {
        let common =
            |range: &RangeInclusive<u32>| (*range.end().min(&end_line) + 1).saturating_sub(*range.start().max(&line));
        self.own.iter().map(common).sum()
    }
}

/// Cuts a file into chunks, in the order of their first lines. `outline` are the definitions of the same text; what they say of
/// lines beyond its end is ignored. Parses only where one of them is too long for one chunk.
pub fn chunks<'t>(
    text: &str,
    outline: impl IntoIterator<Item = Outlined<'t>>,
    language: Option<&'static Language>,
) -> Vec<CodeChunk> {
    let lines: Vec<&str> = text.lines().collect();
    let outline: Vec<Outlined<'t>> = outline.into_iter().collect();
    let extent = |definition: &Outlined<'_>| {
        Extent::new(definition.kind, (definition.line, definition.end_line), definition.container.is_some())
    };
    let owners = lexical::owners(&lines, &outline.iter().map(extent).collect::<Vec<_>>());
    let mut borders = None;
    let mut chunks = Vec::new();
    for piece in pieces(&lines, &owners) {
        let cuts = if piece.said.len() > LONGEST_CHUNK {
            borders.get_or_insert_with(|| Borders::new(text, &lines, language)).cuts(&piece.said, LONGEST_CHUNK)
        } else {
            Vec::new()
        };
        let definition = piece.owner.and_then(|owner| outline.get(owner as usize));
        chunks.extend(piece.into_chunks(&cuts, definition, &outline, &owners));
    }
    chunks.sort_by_key(|chunk| chunk.own.first().map_or(0, |range| *range.start()));
    chunks
}

/// Lines that belong together, from 0, before they are cut.
#[derive(Debug, Default)]
struct Piece {
    owner: Option<u32>,
    /// Those that are to be shown, ascending.
    said: Vec<u32>,
    /// The others.
    silent: Vec<u32>,
}

/// The pieces of a file: one for each definition that owns lines, and one for each run of statements outside of all.
fn pieces(lines: &[&str], owners: &[Option<u32>]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut of_definition: std::collections::HashMap<u32, usize> = std::collections::HashMap::new();
    let mut piece_of = vec![usize::MAX; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let end = (at..lines.len()).find(|&line| owners[line] != owners[at]).unwrap_or(lines.len());
        if let Some(owner) = owners[at] {
            let place = *of_definition.entry(owner).or_insert_with(|| {
                pieces.push(Piece { owner: Some(owner), ..Piece::default() });
                pieces.len() - 1
            });
            pieces[place].said.extend(at as u32..end as u32);
            piece_of[at..end].fill(place);
        }
        at = end;
    }
    at = 0;
    while at < lines.len() {
        let end = (at..lines.len()).find(|&line| owners[line] != owners[at]).unwrap_or(lines.len());
        if owners[at].is_none() {
            let before = at.checked_sub(1).and_then(|line| piece_of.get(line)).copied();
            settle(lines, (at, end), (before, piece_of.get(end).copied()), &mut pieces);
        }
        at = end;
    }
    pieces.iter_mut().for_each(|piece| piece.leave_out_margins(lines));
    pieces
}

/// Gives the lines of a run outside of all definitions (from 0, the end excluded) to the pieces before and after it, if there are
/// any, or to one of its own.
fn settle(
    lines: &[&str],
    (start, end): (usize, usize),
    (before, after): (Option<usize>, Option<usize>),
    pieces: &mut Vec<Piece>,
) {
    let numbers = |from: usize, to: usize| from as u32..to as u32;
    let opening = if after.is_some() { opening(lines, start, end) } else { end };
    if let Some(piece) = after.and_then(|after| pieces.get_mut(after)) {
        piece.said.extend(numbers(opening, end));
    }
    let spoken = (start..opening).find(|&line| says_something(lines[line]));
    match (spoken, before.or(after)) {
        (None, Some(neighbour)) => pieces[neighbour].silent.extend(numbers(start, opening)),
        (None, None) => pieces.push(Piece { said: numbers(start, opening).collect(), ..Piece::default() }),
        (Some(spoken), _) => {
            let first = if before.is_some() { spoken } else { start };
            if let Some(before) = before {
                pieces[before].silent.extend(numbers(start, first));
            }
            pieces.push(Piece { said: numbers(first, opening).collect(), ..Piece::default() });
        }
    }
}

/// Where the lines begin that open the block around what comes after the run; its end if there are none.
fn opening(lines: &[&str], start: usize, end: usize) -> usize {
    let Some(last) = (start..end).rev().find(|&line| !lines[line].trim().is_empty()) else { return end };
    if !lines[last].trim_end().ends_with(['{', '(', '[', ':']) {
        return end;
    }
    let is_border = |line: &str| !says_something(line) || line.trim_end().ends_with([';', '}']);
    let first = (start..last).rev().take(MOST_OPENING - 1).take_while(|&line| !is_border(lines[line])).last();
    first.unwrap_or(last)
}

fn says_something(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

impl Piece {
    /// Empty lines at the ends of what stands together are not shown.
    fn leave_out_margins(&mut self, lines: &[&str]) {
        self.said.sort_unstable();
        let is_empty = |line: &u32| lines[*line as usize].trim().is_empty();
        let mut said = Vec::with_capacity(self.said.len());
        for run in self.said.chunk_by(|a, b| a + 1 == *b) {
            let first = run.iter().position(|line| !is_empty(line)).unwrap_or(run.len());
            let end = run.iter().rposition(|line| !is_empty(line)).map_or(first, |last| last + 1);
            said.extend_from_slice(&run[first..end]);
            self.silent.extend(run[..first].iter().chain(&run[end..]));
        }
        if said.is_empty() {
            // A file that says nothing at all.
            said.extend(self.silent.iter().min());
            self.silent.retain(|line| !said.contains(line));
        }
        self.said = said;
    }

    /// The chunks of the piece, cut before those places of `said`. The silent lines belong to the last of them before each.
    fn into_chunks(
        mut self,
        cuts: &[usize],
        definition: Option<&Outlined<'_>>,
        outline: &[Outlined<'_>],
        owners: &[Option<u32>],
    ) -> Vec<CodeChunk> {
        self.silent.sort_unstable();
        let parts = cuts.len() + 1;
        let bounds: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([self.said.len()]).collect();
        let mut chunks = Vec::with_capacity(parts);
        let mut silent = self.silent.iter().copied().peekable();
        for (part, bound) in (1u32..).zip(bounds.windows(2)) {
            let said = self.said.get(bound[0]..bound[1]).unwrap_or_default();
            let next = self.said.get(bound[1]).copied();
            let mut own: Vec<u32> = said.to_vec();
            own.extend(std::iter::from_fn(|| silent.next_if(|&line| next.is_none_or(|next| line < next))));
            own.sort_unstable();
            let last = said.last().map_or(0, |line| line + 1);
            // An outline goes on behind its last own line, with members.
            let inner = definition.filter(|definition| has_members(definition.kind));
            let end = next.or(inner.map(|of| of.end_line.min(owners.len() as u32))).unwrap_or(last).max(last);
            let members = if inner.is_some() { members(self.owner, said, end, outline, owners) } else { Vec::new() };
            let mut shown: Vec<u32> = said.iter().map(|line| line + 1).chain(members.iter().copied()).collect();
            shown.sort_unstable();
            chunks.push(CodeChunk {
                definition: self.owner,
                own: ranges(own.into_iter().map(|line| line + 1)),
                shown: ranges(shown),
                line: said.first().map_or(0, |line| line + 1),
                end_line: if next.is_none() && inner.is_some() { end } else { last },
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

/// The lines (1-based) that name what stands in the gaps between those lines (from 0) of a definition, and behind them before `end`.
/// The definition, which may have been given lines before its own, is no member of itself.
fn members(of: Option<u32>, said: &[u32], end: u32, outline: &[Outlined<'_>], owners: &[Option<u32>]) -> Vec<u32> {
    let mut members = Vec::new();
    let ends = said.iter().skip(1).copied().chain([end]);
    for (&own, end) in said.iter().zip(ends) {
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

/// Whether a definition is shown with the names of what is inside of it. A document goes on in its next section.
fn has_members(kind: SymbolKind) -> bool {
    !matches!(
        kind,
        SymbolKind::Section | SymbolKind::Key | SymbolKind::Selector | SymbolKind::Target | SymbolKind::Table
    )
}

/// Ascending lines as ranges.
pub(super) fn ranges(lines: impl IntoIterator<Item = u32>) -> Vec<RangeInclusive<u32>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some(last) if line <= last.end().saturating_add(1) => *last = *last.start()..=line,
            _ => ranges.push(line..=line),
        }
    }
    ranges
}

mod cut;
pub(super) mod source;
#[cfg(test)]
mod tests;
