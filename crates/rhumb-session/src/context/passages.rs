//! Passages of the repository in a conversation: stored by location, cut from the current files, and written with line numbers
//! as in `rhumb search --context`, so that an answer can cite them.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::mention::ats;
use rhumb_index::retrieval::numbered;
use rhumb_tokens::TokenCounter;

/// The name after `@` that requests passages of the whole repository.
pub const CODEBASE: &str = "codebase";

/// Passages of a file with at most this many lines in between are joined, because another heading costs as much.
const MAX_GAP_LINES: u32 = 3;

/// The definition that contains a passage. If it has moved, the passage moves with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The name.
    pub symbol: String,
    /// The definition that contains it.
    #[serde(default)]
    pub container: Option<String>,
    /// The first line when the passage was found, 1-based.
    pub line: u32,
    /// The last line at that time, inclusive.
    pub end_line: u32,
}

/// A range of lines of a file in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassagePlace {
    /// The path, relative to the root.
    pub path: String,
    /// The first line, 1-based.
    pub line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
    /// The definition that it is or is part of.
    pub anchor: Option<Anchor>,
    /// The last turn that found it. Passages of later turns are ranked higher.
    pub turn: u64,
    /// The rank among the passages of that turn, from 0.
    pub rank: u32,
    /// The hash of its lines when it was found; 0 if unknown. With another hash, the lines may have moved.
    #[serde(default)]
    pub hash: u64,
}

impl PassagePlace {
    /// `path:first-last`, or `path:line`.
    pub fn label(&self) -> String {
        label(&self.path, self.line, self.end_line)
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
        // A passage to the end of the definition is extended to its new end.
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
        let symbol = |place: &Self| place.anchor.as_ref().map(|anchor| anchor.symbol.clone());
        (&self.path, self.turn, self.rank) == (&other.path, other.turn, other.rank) && symbol(self) == symbol(other)
    }

    fn touches(&self, other: &Self) -> bool {
        self.path == other.path
            && self.line <= other.end_line.saturating_add(MAX_GAP_LINES)
            && other.line <= self.end_line.saturating_add(MAX_GAP_LINES)
    }
}

/// Adds found passages. Overlapping or adjacent passages of a file are joined, with the later turn and rank, so that no line is
/// sent twice.
pub fn extended(mut places: Vec<PassagePlace>, found: impl IntoIterator<Item = PassagePlace>) -> Vec<PassagePlace> {
    for mut new in found {
        while let Some(at) = places.iter().position(|place| place.touches(&new)) {
            let old = places.remove(at);
            let (turn, rank) = old_or_new(&old, &new);
            // The definition that begins first: everything after it moves with it.
            let anchor = [old.anchor, new.anchor].into_iter().flatten().min_by_key(|anchor| anchor.line);
            let (line, end_line) = (new.line.min(old.line), new.end_line.max(old.end_line));
            new = PassagePlace { line, end_line, anchor, turn, rank, hash: 0, ..new };
        }
        places.push(new);
    }
    places
}

/// The turn and rank that take precedence.
fn old_or_new(old: &PassagePlace, new: &PassagePlace) -> (u64, u32) {
    let key = |place: &PassagePlace| (Reverse(place.turn), place.rank);
    let better = if key(old) <= key(new) { old } else { new };
    (better.turn, better.rank)
}

/// A passage in the current file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPassage {
    /// The current location.
    pub place: PassagePlace,
    /// The lines.
    pub text: String,
}

/// A passage of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPassage {
    /// The current location.
    pub place: PassagePlace,
    /// The tokens, including its heading.
    pub tokens: usize,
}

impl ContextPassage {
    /// The lines of a place in the text of its file; `None` where the file ends before them.
    pub fn cut(place: &PassagePlace, text: &str) -> Option<Self> {
        let first = place.line.max(1) as usize;
        let count = (place.end_line as usize + 1).saturating_sub(first);
        let lines: Vec<&str> = text.lines().skip(first - 1).take(count).collect();
        if lines.iter().all(|line| line.trim().is_empty()) {
            return None;
        }
        let end_line = place.end_line.min((first + lines.len() - 1) as u32);
        let text = lines.join("\n");
        let place = PassagePlace { line: first as u32, end_line, hash: xxh3_64(text.as_bytes()), ..place.clone() };
        Some(Self { place, text })
    }

    /// The passage as it is written into a request: where it is, and its lines with their numbers.
    pub fn written(&self) -> String {
        let PassagePlace { end_line, line, anchor, .. } = &self.place;
        let inside = anchor.as_ref().filter(|anchor| anchor.line <= *line && *end_line <= anchor.end_line);
        // What begins within a definition does not show its header.
        let around = |anchor: &Anchor| {
            if anchor.line < *line { Some(anchor.symbol.clone()) } else { anchor.container.clone() }
        };
        let around = inside.and_then(around).map_or_else(String::new, |name| format!(" in {name}"));
        let lines: String =
            (*line..).zip(self.text.split('\n')).map(|(number, line)| numbered(number, line, *end_line)).collect();
        format!("{}{around}\n{lines}\n", self.place.label())
    }
}

/// The passages, those that are worth most first.
#[must_use]
pub fn by_worth(mut passages: Vec<ContextPassage>) -> Vec<ContextPassage> {
    passages.sort_by_key(|passage| (Reverse(passage.place.turn), passage.place.rank));
    passages
}

/// How many of the passages, those that are worth most first, have at most `budget` tokens together.
pub(super) fn within(passages: &[ContextPassage], budget: usize, counter: &dyn TokenCounter) -> usize {
    let mut used = 0usize;
    let fits = |passage: &&ContextPassage| {
        used = used.saturating_add(counter.count(&passage.written()));
        used <= budget
    };
    passages.iter().take_while(fits).count()
}

/// The passages one after the other: what was found first stays first, so that more of them change nothing before; within a turn
/// by file and line.
pub(super) fn all_written(passages: &[ContextPassage]) -> String {
    as_written(passages).into_iter().map(ContextPassage::written).collect()
}

/// The passages of a request, in the order in which they are written.
pub(super) fn sent(passages: &[ContextPassage], counter: &dyn TokenCounter) -> Vec<SentPassage> {
    let sent = |passage: &ContextPassage| SentPassage {
        place: passage.place.clone(),
        tokens: counter.count(&passage.written()),
    };
    as_written(passages).into_iter().map(sent).collect()
}

fn as_written(passages: &[ContextPassage]) -> Vec<&ContextPassage> {
    let mut sorted: Vec<&ContextPassage> = passages.iter().collect();
    sorted.sort_by(|a, b| {
        let (a, b) = (&a.place, &b.place);
        (a.turn, &a.path, a.line).cmp(&(b.turn, &b.path, b.line))
    });
    sorted
}

/// The question of a message that asks the whole repository: the message without `@codebase`. `None` if it asks nothing of that
/// kind; empty if there are no other words.
pub fn codebase_question(message: &str) -> Option<String> {
    let marks: Vec<_> = ats(message).into_iter().filter(|at| at.name == CODEBASE).collect();
    if marks.is_empty() {
        return None;
    }
    let mut question = message.to_owned();
    for at in marks.into_iter().rev() {
        question.replace_range(at.range, "");
    }
    let is_word = |c: char| c.is_alphanumeric();
    Some(if question.contains(is_word) { question.trim().to_owned() } else { String::new() })
}

fn label(path: &str, line: u32, end_line: u32) -> String {
    if line == end_line { format!("{path}:{line}") } else { format!("{path}:{line}-{end_line}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(path: &str, line: u32, end_line: u32, turn: u64, rank: u32) -> PassagePlace {
        PassagePlace { path: path.into(), line, end_line, anchor: None, turn, rank, hash: 0 }
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
    fn a_passage_is_written_with_the_number_of_every_line() {
        let text = (1..=12).map(|n| format!("line {n}\n")).collect::<String>();
        let passage = ContextPassage::cut(&place("a.py", 9, 11, 1, 0), &text).unwrap();
        assert_eq!(passage.written(), "a.py:9-11\n 9  line 9\n10  line 10\n11  line 11\n\n");
        let last = ContextPassage::cut(&place("a.py", 12, 40, 1, 0), &text).unwrap();
        assert_eq!((last.place.label().as_str(), last.text.as_str()), ("a.py:12", "line 12"));
        assert_eq!(ContextPassage::cut(&place("a.py", 13, 40, 1, 0), &text), None);
    }

    #[test]
    fn a_passage_goes_with_its_definition() {
        let anchor = |symbol: &str| Some(Anchor { symbol: symbol.into(), container: None, line: 10, end_line: 20 });
        let whole = PassagePlace { anchor: anchor("moor"), ..place("a.py", 10, 20, 1, 0) };
        let part = PassagePlace { anchor: anchor("moor"), ..place("a.py", 12, 15, 1, 0) };
        let now = || [("moor", None, 50, 60), ("moor", None, 13, 25), ("moor", Some("Buoy"), 10, 12)].into_iter();
        assert_eq!((whole.moved(now()).line, whole.moved(now()).end_line), (13, 25));
        assert_eq!((part.moved(now()).line, part.moved(now()).end_line), (15, 18));
        let more = extended(vec![whole.clone()], [place("a.py", 21, 30, 1, 1)]);
        assert_eq!(
            (more[0].moved(now()).line, more[0].moved(now()).end_line),
            (13, 35),
            "and what is joined to it, too"
        );
        assert_eq!(whole.moved([].into_iter()), whole, "what is defined no more is where it was");
    }

    #[test]
    fn what_is_found_again_counts_as_new_and_is_there_once() {
        let before = vec![place("a.py", 1, 9, 1, 0), place("b.py", 1, 9, 1, 1)];
        let after = extended(before, [place("b.py", 5, 12, 2, 0), place("a.py", 30, 40, 2, 1)]);
        let labels: Vec<_> = after.iter().map(|place| (place.label(), place.turn)).collect();
        let expected = [("a.py:1-9", 1), ("b.py:1-12", 2), ("a.py:30-40", 2)];
        assert_eq!(labels, expected.map(|(label, turn)| (label.to_owned(), turn)));
    }

    #[test]
    fn more_passages_change_nothing_before_them() {
        let text = "x\n".repeat(40);
        let cut = |place: PassagePlace| ContextPassage::cut(&place, &text).unwrap();
        let first = vec![cut(place("b.py", 1, 2, 1, 0)), cut(place("a.py", 1, 2, 1, 1))];
        let before = all_written(&first);
        let more = by_worth([first, vec![cut(place("a.py", 20, 22, 2, 0))]].concat());
        assert_eq!(more[0].place.turn, 2, "what was found last is worth most");
        assert!(all_written(&more).starts_with(&before) && before.starts_with("a.py"));
    }

    proptest! {
        #[test]
        fn no_line_is_kept_twice_and_none_is_lost(
            found in prop::collection::vec((0usize..3, 1u32..60, 0u32..12, 1u64..4, 0u32..9), 0..24),
        ) {
            let new = found.iter().map(|(file, line, more, turn, rank)| {
                place(["a", "b", "c"][*file], *line, line + more, *turn, *rank)
            });
            let kept = extended(Vec::new(), new.clone());
            let holds = |path: &str, line: u32| {
                kept.iter().filter(|place| place.path == path && (place.line..=place.end_line).contains(&line)).count()
            };
            for place in new {
                for line in place.line..=place.end_line {
                    prop_assert_eq!(holds(&place.path, line), 1);
                }
            }
        }

        #[test]
        fn any_place_in_any_text_is_cut_without_a_panic(text in "(\\PC|\n|\r|`){0,80}", line: u32, end_line: u32) {
            if let Some(passage) = ContextPassage::cut(&place("p", line, end_line, 0, 0), &text) {
                prop_assert!(passage.written().contains(passage.text.lines().next().unwrap_or_default()));
            }
        }
    }
}
