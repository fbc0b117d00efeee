//! Chunks of the repository in a conversation. The user interface calls them passages. They are stored by location, cut from the
//! current files, and written with line numbers as in `rhumb search --context`, so that an answer can cite them.

use super::mention::at_references;
use rhumb_index::retrieval::numbered;
use rhumb_tokens::TokenCounter;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use xxhash_rust::xxh3::xxh3_64;

/// The name after `@` that requests chunks of the whole repository.
pub const CODEBASE: &str = "codebase";

/// Chunks of a file with at most this many lines in between are joined, because another heading costs as much.
const MAX_GAP_LINES: u32 = 3;

/// The definition that contains a chunk. If it has moved, the chunk moves with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The name.
    pub symbol: String,
    /// The definition that contains it.
    #[serde(default)]
    pub container: Option<String>,
    /// The first line when the chunk was found, 1-based.
    pub line: u32,
    /// The last line at that time, inclusive.
    pub end_line: u32,
}

/// A range of lines of a file in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkLocation {
    /// The path, relative to the root.
    pub path: String,
    /// The first line, 1-based.
    pub line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
    /// The definition that it is or is part of.
    pub anchor: Option<Anchor>,
    /// The last turn that found it. Chunks of later turns are ranked higher.
    pub turn: u64,
    /// The rank among the chunks of that turn, from 0.
    pub rank: u32,
    /// The hash of its lines when it was found; 0 if unknown. With another hash, the lines may have moved.
    #[serde(default)]
    pub hash: u64,
}

impl ChunkLocation {
    /// `path:first-last`, or `path:line`.
    pub fn label(&self) -> String {
        let Self { path, line, end_line, .. } = self;
        if line == end_line { format!("{path}:{line}") } else { format!("{path}:{line}-{end_line}") }
    }

    /// The same lines of the definition at its current position: the nearest definition with its name, preferably in the same
    /// container. `definitions` are names, containers, first and last lines.
    #[must_use]
    pub fn moved<'d>(&self, definitions: impl Iterator<Item = (&'d str, Option<&'d str>, u32, u32)>) -> Self {
        let Some(anchor) = &self.anchor else { return self.clone() };
        let named = definitions.filter(|(name, ..)| *name == anchor.symbol);
        let nearest = named.min_by_key(|(_, container, first, _)| {
            (*container != anchor.container.as_deref(), first.abs_diff(anchor.line))
        });
        let Some((_, _, first, last)) = nearest else { return self.clone() };
        let shifted = |line: u32, from: u32, to: u32| line.saturating_add(to).saturating_sub(from).max(1);
        let line = shifted(self.line, anchor.line, first);
        // A chunk to the end of the definition is extended to its new end.
        let reaches_end = self.end_line >= anchor.end_line;
        let end = if reaches_end {
            shifted(self.end_line, anchor.end_line, last)
        } else {
            shifted(self.end_line, anchor.line, first)
        };
        let anchor = Anchor { line: first, end_line: last, ..anchor.clone() };
        Self { line, end_line: end.max(line), anchor: Some(anchor), ..self.clone() }
    }

    /// Whether both were found by the same search, even if their lines have moved since.
    pub fn is_same(&self, other: &Self) -> bool {
        let symbol = |location: &Self| location.anchor.as_ref().map(|anchor| anchor.symbol.clone());
        (&self.path, self.turn, self.rank) == (&other.path, other.turn, other.rank) && symbol(self) == symbol(other)
    }

    fn touches(&self, other: &Self) -> bool {
        self.path == other.path
            && self.line <= other.end_line.saturating_add(MAX_GAP_LINES)
            && other.line <= self.end_line.saturating_add(MAX_GAP_LINES)
    }
}

/// Adds found chunks. Overlapping or adjacent chunks of a file are joined, with the later turn and rank, so that no line is
/// sent twice.
pub fn merge_locations(
    mut locations: Vec<ChunkLocation>,
    found: impl IntoIterator<Item = ChunkLocation>,
) -> Vec<ChunkLocation> {
    for mut new in found {
        while let Some(at) = locations.iter().position(|location| location.touches(&new)) {
            let old = locations.remove(at);
            let (turn, rank) = higher_priority(&old, &new);
            // The definition that begins first: everything after it moves with it.
            let anchor = [old.anchor, new.anchor].into_iter().flatten().min_by_key(|anchor| anchor.line);
            let (line, end_line) = (new.line.min(old.line), new.end_line.max(old.end_line));
            new = ChunkLocation { line, end_line, anchor, turn, rank, hash: 0, ..new };
        }
        locations.push(new);
    }
    locations
}

/// The turn and rank of higher priority.
fn higher_priority(old: &ChunkLocation, new: &ChunkLocation) -> (u64, u32) {
    let key = |location: &ChunkLocation| (Reverse(location.turn), location.rank);
    let better = if key(old) <= key(new) { old } else { new };
    (better.turn, better.rank)
}

/// A chunk in the current file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextChunk {
    /// The current location.
    pub location: ChunkLocation,
    /// The lines.
    pub text: String,
}

/// A chunk of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentChunk {
    /// The current location.
    pub location: ChunkLocation,
    /// The tokens, including its heading.
    pub tokens: usize,
}

impl ContextChunk {
    /// Cuts the lines of a location from the text of its file. Returns `None` if they are blank or beyond the end of the file.
    pub fn cut(location: &ChunkLocation, text: &str) -> Option<Self> {
        let first = location.line.max(1) as usize;
        let count = (location.end_line as usize + 1).saturating_sub(first);
        let lines: Vec<&str> = text.lines().skip(first - 1).take(count).collect();
        if lines.iter().all(|line| line.trim().is_empty()) {
            return None;
        }
        let end_line = location.end_line.min((first + lines.len() - 1) as u32);
        let text = lines.join("\n");
        let location =
            ChunkLocation { line: first as u32, end_line, hash: xxh3_64(text.as_bytes()), ..location.clone() };
        Some(Self { location, text })
    }

    /// The text of the chunk in a request: its location, and its lines with their numbers.
    pub fn written(&self) -> String {
        let ChunkLocation { end_line, line, anchor, .. } = &self.location;
        let inside = anchor.as_ref().filter(|anchor| anchor.line <= *line && *end_line <= anchor.end_line);
        // A chunk that begins within a definition does not show its header.
        let container = |anchor: &Anchor| {
            if anchor.line < *line { Some(anchor.symbol.clone()) } else { anchor.container.clone() }
        };
        let container = inside.and_then(container).map_or_else(String::new, |name| format!(" in {name}"));
        let lines: String =
            (*line..).zip(self.text.split('\n')).map(|(number, line)| numbered(number, line, *end_line)).collect();
        format!("{}{container}\n{lines}\n", self.location.label())
    }
}

/// The chunks in descending priority: the latest turn first, and within a turn by rank.
#[must_use]
pub fn ranked(mut chunks: Vec<ContextChunk>) -> Vec<ContextChunk> {
    chunks.sort_by_key(|chunk| (Reverse(chunk.location.turn), chunk.location.rank));
    chunks
}

/// The number of chunks at the beginning of `chunks` that together have at most `budget` tokens.
pub(super) fn chunks_within(chunks: &[ContextChunk], budget: usize, counter: &dyn TokenCounter) -> usize {
    let mut used = 0usize;
    let fits = |chunk: &&ContextChunk| {
        used = used.saturating_add(counter.count(&chunk.written()));
        used <= budget
    };
    chunks.iter().take_while(fits).count()
}

/// The text of the chunks: by turn, so that new chunks do not change the text before them, and within a turn by file and line.
pub(super) fn written_chunks(chunks: &[ContextChunk]) -> String {
    in_sent_order(chunks).into_iter().map(ContextChunk::written).collect()
}

/// The chunks of a request, in the order in which they are written.
pub(super) fn sent_chunks(chunks: &[ContextChunk], counter: &dyn TokenCounter) -> Vec<SentChunk> {
    let sent =
        |chunk: &ContextChunk| SentChunk { location: chunk.location.clone(), tokens: counter.count(&chunk.written()) };
    in_sent_order(chunks).into_iter().map(sent).collect()
}

fn in_sent_order(chunks: &[ContextChunk]) -> Vec<&ContextChunk> {
    let mut sorted: Vec<&ContextChunk> = chunks.iter().collect();
    sorted.sort_by(|a, b| {
        let (a, b) = (&a.location, &b.location);
        (a.turn, &a.path, a.line).cmp(&(b.turn, &b.path, b.line))
    });
    sorted
}

/// The message without `@codebase`; empty if it has no other words. `None` if the message does not contain `@codebase`.
pub fn codebase_question(message: &str) -> Option<String> {
    let references: Vec<_> = at_references(message).into_iter().filter(|at| at.name == CODEBASE).collect();
    if references.is_empty() {
        return None;
    }
    let mut question = message.to_owned();
    for at in references.into_iter().rev() {
        question.replace_range(at.range, "");
    }
    Some(if question.contains(char::is_alphanumeric) { question.trim().to_owned() } else { String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn location(path: &str, line: u32, end_line: u32, turn: u64, rank: u32) -> ChunkLocation {
        ChunkLocation { path: path.into(), line, end_line, anchor: None, turn, rank, hash: 0 }
    }

    #[test]
    fn the_question_is_the_message_without_its_mark() {
        for (message, question) in [
            ("@codebase how is it parsed?", Some("how is it parsed?")),
            ("how is it parsed, @codebase?", Some("how is it parsed, ?")),
            ("@codebase", Some("")),
            (" @codebase: ", Some("")),
            ("mail me@codebase now", None),
            ("`@codebase` is a word", None),
            ("@codebases", None),
        ] {
            assert_eq!(codebase_question(message).as_deref(), question, "{message}");
        }
    }

    #[test]
    fn every_line_of_a_chunk_is_numbered() {
        let text = (1..=12).map(|n| format!("line {n}\n")).collect::<String>();
        let passage = ContextChunk::cut(&location("a.py", 9, 11, 1, 0), &text).unwrap();
        assert_eq!(passage.written(), "a.py:9-11\n 9  line 9\n10  line 10\n11  line 11\n\n");
        let last = ContextChunk::cut(&location("a.py", 12, 40, 1, 0), &text).unwrap();
        assert_eq!((last.location.label().as_str(), last.text.as_str()), ("a.py:12", "line 12"));
        assert_eq!(ContextChunk::cut(&location("a.py", 13, 40, 1, 0), &text), None);
    }

    #[test]
    fn a_chunk_moves_with_its_definition() {
        let anchor = |symbol: &str| Some(Anchor { symbol: symbol.into(), container: None, line: 10, end_line: 20 });
        let whole = ChunkLocation { anchor: anchor("moor"), ..location("a.py", 10, 20, 1, 0) };
        let part = ChunkLocation { anchor: anchor("moor"), ..location("a.py", 12, 15, 1, 0) };
        let now = || [("moor", None, 50, 60), ("moor", None, 13, 25), ("moor", Some("Buoy"), 10, 12)].into_iter();
        assert_eq!((whole.moved(now()).line, whole.moved(now()).end_line), (13, 25));
        assert_eq!((part.moved(now()).line, part.moved(now()).end_line), (15, 18));
        let more = merge_locations(vec![whole.clone()], [location("a.py", 21, 30, 1, 1)]);
        assert_eq!(
            (more[0].moved(now()).line, more[0].moved(now()).end_line),
            (13, 35),
            "and what is joined to it, too"
        );
        assert_eq!(whole.moved([].into_iter()), whole, "what is defined no more is where it was");
    }

    #[test]
    fn a_chunk_that_is_found_again_is_kept_once_with_the_later_turn() {
        let before = vec![location("a.py", 1, 9, 1, 0), location("b.py", 1, 9, 1, 1)];
        let after = merge_locations(before, [location("b.py", 5, 12, 2, 0), location("a.py", 30, 40, 2, 1)]);
        let labels: Vec<_> = after.iter().map(|location| (location.label(), location.turn)).collect();
        let expected = [("a.py:1-9", 1), ("b.py:1-12", 2), ("a.py:30-40", 2)];
        assert_eq!(labels, expected.map(|(label, turn)| (label.to_owned(), turn)));
    }

    #[test]
    fn new_chunks_do_not_change_the_text_before_them() {
        let text = "x\n".repeat(40);
        let cut = |location: ChunkLocation| ContextChunk::cut(&location, &text).unwrap();
        let first = vec![cut(location("b.py", 1, 2, 1, 0)), cut(location("a.py", 1, 2, 1, 1))];
        let before = written_chunks(&first);
        let more = ranked([first, vec![cut(location("a.py", 20, 22, 2, 0))]].concat());
        assert_eq!(more[0].location.turn, 2, "what was found last is worth most");
        assert!(written_chunks(&more).starts_with(&before) && before.starts_with("a.py"));
    }

    proptest! {
        #[test]
        fn merging_keeps_every_line_exactly_once(
            found in prop::collection::vec((0usize..3, 1u32..60, 0u32..12, 1u64..4, 0u32..9), 0..24),
        ) {
            let new = found.iter().map(|(file, line, more, turn, rank)| {
                location(["a", "b", "c"][*file], *line, line + more, *turn, *rank)
            });
            let kept = merge_locations(Vec::new(), new.clone());
            let holds = |path: &str, line: u32| {
                kept.iter().filter(|location| location.path == path && (location.line..=location.end_line).contains(&line)).count()
            };
            for location in new {
                for line in location.line..=location.end_line {
                    prop_assert_eq!(holds(&location.path, line), 1);
                }
            }
        }

        #[test]
        fn any_location_in_any_text_is_cut_without_a_panic(text in "(\\PC|\n|\r|`){0,80}", line: u32, end_line: u32) {
            if let Some(passage) = ContextChunk::cut(&location("p", line, end_line, 0, 0), &text) {
                prop_assert!(passage.written().contains(passage.text.lines().next().unwrap_or_default()));
            }
        }
    }
}
