//! Continues an answer that was cut off: the request, and joining the parts.
//!
//! A model that continues often repeats its last lines, opens its fence again, or announces the continuation. So the request
//! tells it to begin with its own last lines, the anchor. Everything before the new text is removed, also if the model repeats
//! more. Without a repetition nothing is removed.

use super::excerpt::fence_for;
use rhumb_llm::{Message, Role};

/// Minimum number of letters and digits of an anchor.
const MIN_ANCHOR_ALPHANUMERICS: usize = 12;
/// Minimum number of letters and digits of a repeated line.
const MIN_LINE_ALPHANUMERICS: usize = 4;
const MAX_ANCHOR_LINES: usize = 10;
/// Maximum characters of an anchor, for very long lines.
const MAX_ANCHOR_CHARS: usize = 400;
const MAX_PREAMBLE_LINES: usize = 3;
/// Number of bytes at the end of the first part that are searched for repetitions. If the anchor is longer, its length is used.
const TAIL_BYTES: usize = 1024;
/// Additional bytes that are held back until the start of the new text is known.
const HELD_BACK_BYTES: usize = 512;

/// The messages that request a continuation of `partial`, after the request that it answers.
pub fn continuation(partial: &str) -> Vec<Message> {
    let anchor = anchor(partial);
    let fence = fence_for([anchor]);
    let ask = format!(
        "Your answer was cut off because it reached the limit on output. Go on exactly where it ends. Write nothing before \
         that: no introduction, no summary of what you wrote, no new fence if one is open. So that the two parts can be \
         joined, begin by repeating these last lines of yours to the letter:\n{fence}\n{anchor}\n{fence}"
    );
    vec![Message::new(Role::Assistant, partial), Message::new(Role::User, ask)]
}

/// The anchor: the end of `partial`, with which the continuation has to begin. It consists of whole lines (the last may be cut)
/// with enough letters and digits to be distinct.
fn anchor(partial: &str) -> &str {
    let text = partial.trim_end();
    let mut start = text.len();
    for (seen, (at, _)) in text.rmatch_indices('\n').chain([(usize::MAX, "")]).enumerate() {
        start = at.wrapping_add(1);
        let lines = text.get(start..).unwrap_or_default();
        if seen + 1 >= MAX_ANCHOR_LINES || alphanumerics(lines) >= MIN_ANCHOR_ALPHANUMERICS {
            break;
        }
    }
    let lines = text.get(start..).unwrap_or_default();
    let over = lines.chars().count().saturating_sub(MAX_ANCHOR_CHARS);
    lines.char_indices().nth(over).map_or("", |(at, _)| lines.get(at..).unwrap_or_default())
}

fn alphanumerics(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Joins a continuation to the first part while it streams.
#[derive(Debug)]
pub struct Joiner {
    /// The end of the first part, with the anchor and the lines before it.
    tail: String,
    /// The byte offset of the anchor in it.
    anchor: usize,
    /// The number of backticks of the open code fence.
    fence: Option<usize>,
    held: String,
    joined: bool,
    /// Whether the first part ends inside a possible edit.
    in_edit: bool,
    /// Whether the continuation repeated the anchor, so that the seam is right.
    matched: bool,
}

impl Joiner {
    /// Joins a continuation to `partial`.
    pub fn new(partial: &str) -> Self {
        let anchor = partial.trim_end().len() - anchor(partial).len();
        let start = tail_start(partial, anchor);
        let tail = partial.get(start..).unwrap_or_default().to_owned();
        let fence = open_fence(partial);
        let in_patch = partial.rfind("*** Begin Patch") > partial.rfind("*** End Patch");
        let in_edit = fence.is_some() || in_patch;
        Self { tail, anchor: anchor - start, fence, held: String::new(), joined: false, in_edit, matched: false }
    }

    /// Whether the parts were joined inside a possible edit without a repetition that shows the seam.
    pub fn is_uncertain(&self) -> bool {
        self.joined && self.in_edit && !self.matched
    }

    /// Adds a piece of the continuation and returns the new text.
    pub fn push(&mut self, piece: &str) -> String {
        if self.joined {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        if self.held.len() < 2 * self.tail.len() + HELD_BACK_BYTES { String::new() } else { self.join() }
    }

    /// Ends the continuation and returns the text that was held back.
    pub fn finish(&mut self) -> String {
        if self.joined { String::new() } else { self.join() }
    }

    fn join(&mut self) -> String {
        self.joined = true;
        let held = std::mem::take(&mut self.held);
        let mut at = 0;
        for line in held.split_inclusive('\n').take(MAX_PREAMBLE_LINES + 1) {
            let rest = held.get(at..).unwrap_or_default();
            if let Some(repeated) = repeated(&self.tail, self.anchor, rest) {
                self.matched = true;
                return rest.get(repeated..).unwrap_or_default().to_owned();
            }
            at += line.len();
        }
        let preamble = self.fence.and_then(|width| after_reopened_fence(&held, width)).unwrap_or(0);
        held.get(preamble..).unwrap_or_default().to_owned()
    }
}

/// The byte offset of the first line at which a repetition is recognized, at the latest `anchor`.
fn tail_start(partial: &str, anchor: usize) -> usize {
    let from = partial.trim_end().len().saturating_sub(TAIL_BYTES);
    match from {
        0 => 0,
        _ => partial.bytes().skip(from - 1).position(|byte| byte == b'\n').map_or(anchor, |at| (from + at).min(anchor)),
    }
}

/// The byte offset after a line that opens a fence with a language. If a fence of that width is open at the end of the first part,
/// the model has announced the continuation and opened the same fence again.
fn after_reopened_fence(text: &str, width: usize) -> Option<usize> {
    let opens = |line: &str| {
        let language = line.trim_start_matches('`');
        line.len() - language.len() == width && language.trim_end().chars().any(char::is_alphabetic)
    };
    let mut end = 0;
    for line in text.split_inclusive('\n').take(MAX_PREAMBLE_LINES + 1) {
        end += line.len();
        if opens(line) && line.ends_with('\n') {
            return Some(end);
        }
    }
    None
}

/// The number of bytes at the beginning of `text` that repeat the end of `tail`. The repetition may start before the anchor (byte
/// offset `anchor`), at it, or within it if the rest of the anchor is distinctive. Blank lines at the beginning of `text` are
/// ignored; blanks at the end of `tail` belong to the repetition if they are repeated.
fn repeated(tail: &str, anchor: usize, text: &str) -> Option<usize> {
    let trimmed = tail.trim_end();
    let blanks = text.len() - text.trim_start().len();
    let body = text.get(blanks..)?;
    let starts = [0].into_iter().chain(trimmed.match_indices('\n').map(|(at, _)| at + 1)).chain([anchor]);
    let is_distinct = |&at: &usize| {
        at <= anchor || trimmed.get(at..).is_some_and(|lines| alphanumerics(lines) >= MIN_LINE_ALPHANUMERICS)
    };
    let lines = starts.filter(is_distinct).filter_map(|at| trimmed.get(at..)).map(str::trim_start);
    let start = lines.filter(|lines| !lines.is_empty() && body.starts_with(lines)).max_by_key(|lines| lines.len())?;
    let end = blanks + start.len();
    // The blanks after it are already there.
    let after = tail.get(trimmed.len()..).unwrap_or_default();
    let rest = text.get(end..)?;
    let common = after.bytes().zip(rest.bytes()).take_while(|(a, b)| a == b).count();
    Some(end + common)
}

/// The number of backticks of the fence that is open at the end of `text`.
fn open_fence(text: &str) -> Option<usize> {
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match open {
            None if ticks >= 3 => open = Some(ticks),
            Some(width) if ticks >= width && line.trim_matches('`').trim().is_empty() => open = None,
            _ => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(partial: &str, continuation: &str) -> String {
        let mut joiner = Joiner::new(partial);
        let mut text = partial.to_owned();
        for piece in continuation.split_inclusive(' ') {
            text.push_str(&joiner.push(piece));
        }
        text + &joiner.finish()
    }

    const CODE: &str = "a.rs\n```rust\nfn depth() -> u32 {\n    let tide = stat";

    #[test]
    fn the_anchor_is_distinct_and_short() {
        assert_eq!(anchor(CODE), "fn depth() -> u32 {\n    let tide = stat");
        assert_eq!(anchor("x"), "x");
        assert_eq!(anchor(""), "");
        assert!(anchor(&"word ".repeat(1_000)).chars().count() <= MAX_ANCHOR_CHARS);
        assert!(anchor(&"}\n".repeat(100)).lines().count() <= MAX_ANCHOR_LINES);
    }

    #[test]
    fn a_repeated_anchor_is_removed() {
        let whole = format!("{CODE}ion.tide();\n}}\n```\n");
        for continuation in [
            "fn depth() -> u32 {\n    let tide = station.tide();\n}\n```\n",
            "\n  fn depth() -> u32 {\n    let tide = station.tide();\n}\n```\n",
            "Continuing:\n\n```rust\nfn depth() -> u32 {\n    let tide = station.tide();\n}\n```\n",
            "let tide = station.tide();\n}\n```\n",
            "ion.tide();\n}\n```\n",
            "```rust\nion.tide();\n}\n```\n",
            "Sure, going on:\n\n```rust\nion.tide();\n}\n```\n",
            "a.rs\n```rust\nfn depth() -> u32 {\n    let tide = station.tide();\n}\n```\n",
            "Here it is again:\n\n```rust\nfn depth() -> u32 {\n    let tide = station.tide();\n}\n```\n",
        ] {
            assert_eq!(joined(CODE, continuation), whole, "{continuation}");
        }
    }

    #[test]
    fn an_answer_that_starts_over_is_joined_at_the_cut() {
        let block = "Here it is:\n\na.py\n```python\n<<<<<<< SEARCH\nprint('hello')\n=======\nprint('hello, world')\n>>>>>>> REPLACE\n```\n";
        let cuts = (block.find(" SEARCH").unwrap() + 5..block.len()).filter(|at| !block[..*at].ends_with('\n'));
        for cut in cuts {
            for from in [0, block.find("a.py").unwrap(), block.find("<<<").unwrap()] {
                assert_eq!(joined(&block[..cut], &block[from..]), block, "cut at {cut}, from {from}");
            }
        }
    }

    #[test]
    fn a_fence_within_a_wider_one_is_text() {
        let partial = "a.md\n````markdown\n# Use\n\nRun this:\n";
        let more = "\n```sh\nmake\n```\n````\n";
        assert_eq!(joined(partial, more), format!("{partial}{more}"));
    }

    #[test]
    fn a_seam_within_an_edit_that_nothing_shows_is_uncertain() {
        let uncertain = |partial: &str, continuation: &str| {
            let mut joiner = Joiner::new(partial);
            joiner.push(continuation);
            joiner.finish();
            joiner.is_uncertain()
        };
        assert!(!uncertain(CODE, "fn depth() -> u32 {\n    let tide = station;\n"));
        assert!(uncertain(CODE, "ion.tide();\n}\n```\n"));
        assert!(uncertain("*** Begin Patch\n*** Update File: a.rs\n-old", "something else"));
        assert!(!uncertain("The tide rises and", " falls."), "prose may be joined anywhere");
    }

    #[test]
    fn a_closing_fence_is_kept() {
        let partial = "a.rs\n```rust\nfn main() { println!(); }\n";
        assert_eq!(joined(partial, "```\nDone.\n"), "a.rs\n```rust\nfn main() { println!(); }\n```\nDone.\n");
    }

    #[test]
    fn the_question_quotes_the_anchor_and_follows_the_partial_answer() {
        let messages = continuation(CODE);
        assert_eq!((messages[0].role, messages[0].content.as_str()), (Role::Assistant, CODE));
        assert!(messages[1].content.contains("```\nfn depth() -> u32 {\n    let tide = stat\n```"));
    }

    proptest! {
        #[test]
        fn a_model_that_repeats_the_anchor_loses_nothing(
            text in "([a-z]{1,9}[ =(){};]{0,3}|\n {0,4}|```\n|é){1,60}", at in any::<prop::sample::Index>(),
        ) {
            let cut = (0..=at.index(text.len() + 1)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let (partial, rest) = text.split_at(cut);
            let anchored = partial.len() - (partial.len() - (partial.trim_end().len() - anchor(partial).len()));
            prop_assume!(!anchor(partial).trim().is_empty());
            prop_assert_eq!(joined(partial, &format!("{}{rest}", &partial[anchored..])), text);
        }

        #[test]
        fn any_two_texts_can_be_joined(partial in "\\PC{0,80}", continuation in "\\PC{0,80}") {
            prop_assert!(joined(&partial, &continuation).starts_with(&partial));
        }
    }
}
