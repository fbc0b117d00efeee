//! Thinking that a model writes into its answer, between tags.
//!
//! Tags are looked for at the beginning of an answer only, so that an answer may speak of them. Some templates begin the
//! thinking themselves, and only its end is in the answer: `…</think>`. Nothing tells such text from an answer until then,
//! so it goes out as text at once, and the closing tag takes it back ([`Piece::TakeBack`]). Such a tag counts only where a
//! template would put it: outside of fenced code, at the beginning or the end of a line, once.

/// Pairs of tags.
const TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("◁think▷", "◁/think▷"),
];

/// A complete answer without its thinking. Blank lines stand in its place, so that the other lines keep their numbers.
pub fn without_thoughts(answer: &str) -> String {
    let mut thoughts = Thoughts::new(false);
    let mut pieces = thoughts.feed(answer);
    pieces.extend(thoughts.end());
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(more) => text.push_str(&more),
            Piece::Reasoning(_) => {}
            Piece::TakeBack => text.clear(),
        }
    }
    let thinking = answer.strip_suffix(&text).unwrap_or_default();
    let lines = "\n".repeat(thinking.matches('\n').count());
    format!("{lines}{text}")
}

/// A piece of an answer, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Reasoning(String),
    /// All text so far was thinking.
    TakeBack,
}

/// Sorts an answer as it arrives. It is sorted alike wherever it is cut.
#[derive(Debug)]
pub(super) struct Thoughts {
    state: State,
    /// What cannot be sorted before more is known: at most a tag and blanks.
    held: String,
    /// The line so far of an answer that is in doubt, without what is held.
    line: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but blanks so far.
    Start,
    /// In thinking, until this tag.
    Inside(&'static str),
    /// After thinking: blanks before the answer are no part of it.
    After,
    /// In an answer that may turn out to have been thinking.
    Doubtful { fenced: bool },
    /// In an answer.
    Text,
}

impl Thoughts {
    /// For a new answer, or for the rest of one that was `begun`.
    pub(super) fn new(begun: bool) -> Self {
        let state = if begun { State::Text } else { State::Start };
        Self { state, held: String::new(), line: String::new() }
    }

    /// Thinking has come in a way of its own, so that the text is none.
    pub(super) fn told_apart(&mut self) {
        if let State::Doubtful { .. } = self.state {
            self.state = State::Text;
        }
    }

    /// Sorts the next piece.
    pub(super) fn feed(&mut self, text: &str) -> Vec<Piece> {
        self.held.push_str(text);
        self.sort(false)
    }

    /// Sorts what was held back, at the end of the answer.
    pub(super) fn end(&mut self) -> Vec<Piece> {
        self.sort(true)
    }

    fn sort(&mut self, at_end: bool) -> Vec<Piece> {
        let mut pieces = Vec::new();
        loop {
            let next = match self.state {
                State::Start => self.start(at_end),
                State::Inside(close) => self.inside(close, at_end, &mut pieces),
                State::After => {
                    self.held = self.held.trim_start().to_owned();
                    (!self.held.is_empty()).then_some(State::Text)
                }
                State::Doubtful { fenced } => self.doubt(fenced, at_end, &mut pieces),
                State::Text => {
                    push(&mut pieces, Piece::Text(self.take(self.held.len())));
                    None
                }
            };
            let Some(next) = next else { break };
            self.state = next;
        }
        pieces
    }

    fn start(&mut self, at_end: bool) -> Option<State> {
        let said = self.held.trim_start();
        if let Some((open, close)) = TAGS.iter().find(|(open, _)| said.starts_with(open)) {
            self.held = said.get(open.len()..).unwrap_or_default().to_owned();
            return Some(State::Inside(close));
        }
        let may_open = TAGS.iter().any(|(open, _)| open.starts_with(said));
        (at_end || !may_open).then_some(State::Doubtful { fenced: false })
    }

    fn inside(&mut self, close: &'static str, at_end: bool, pieces: &mut Vec<Piece>) -> Option<State> {
        let found = self.held.find(close);
        let kept = if at_end { 0 } else { unfinished(&self.held, close) };
        let thought = self.take(found.unwrap_or(self.held.len() - kept));
        push(pieces, Piece::Reasoning(thought));
        found?;
        self.take(close.len());
        Some(State::After)
    }

    /// Passes on what is held of one line. The tag at the beginning of a line counts at once, another one when the line
    /// has ended.
    fn doubt(&mut self, fenced: bool, at_end: bool, pieces: &mut Vec<Piece>) -> Option<State> {
        let line_end = self.held.find('\n').map(|at| at + 1);
        let line = self.held.get(..line_end.unwrap_or(self.held.len())).unwrap_or_default();
        if let Some((at, close)) = first_close(line).filter(|_| !fenced) {
            let after = line.get(at + close.len()..).unwrap_or_default();
            let starts = self.line.trim().is_empty() && line.get(..at).unwrap_or_default().trim().is_empty();
            let ends = after.trim().is_empty();
            if starts || (ends && line_end.is_some()) {
                push(pieces, Piece::Text(self.take(at)));
                pieces.push(Piece::TakeBack);
                self.take(close.len());
                return Some(State::After);
            }
            let waits = ends && !at_end;
            self.pass_on(if waits { at } else { at + close.len() }, pieces);
            return (!waits).then_some(State::Doubtful { fenced });
        }
        let tag_begins = || TAGS.iter().map(|(_, close)| unfinished(line, close)).max().unwrap_or(0);
        let kept = if line_end.is_some() || fenced || at_end { 0 } else { tag_begins() };
        self.pass_on(line.len() - kept, pieces);
        line_end?;
        let toggles = ["```", "~~~"].iter().any(|fence| self.line.trim_start().starts_with(fence));
        self.line.clear();
        Some(State::Doubtful { fenced: fenced != toggles })
    }

    fn pass_on(&mut self, bytes: usize, pieces: &mut Vec<Piece>) {
        let text = self.take(bytes);
        self.line.push_str(&text);
        push(pieces, Piece::Text(text));
    }

    /// The first bytes of what is held.
    fn take(&mut self, bytes: usize) -> String {
        self.held.drain(..bytes).collect()
    }
}

/// The first closing tag of a line.
fn first_close(line: &str) -> Option<(usize, &'static str)> {
    TAGS.iter().filter_map(|(_, close)| line.find(close).map(|at| (at, *close))).min()
}

/// How many bytes at the end may be the beginning of `tag`.
fn unfinished(text: &str, tag: &str) -> usize {
    let beginnings = tag.char_indices().map(|(at, _)| at).skip(1);
    beginnings.filter(|at| tag.get(..*at).is_some_and(|beginning| text.ends_with(beginning))).max().unwrap_or(0)
}

fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    if !matches!(&piece, Piece::Text(text) | Piece::Reasoning(text) if text.is_empty()) {
        pieces.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The thinking and the text in the end.
    fn sorted<'a>(portions: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut thoughts = Thoughts::new(false);
        let mut pieces: Vec<Piece> = portions.into_iter().flat_map(|portion| thoughts.feed(portion)).collect();
        pieces.extend(thoughts.end());
        let (mut reasoning, mut text) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                Piece::Reasoning(more) => reasoning.push_str(&more),
                Piece::TakeBack => reasoning.push_str(&std::mem::take(&mut text)),
            }
        }
        (reasoning, text)
    }

    #[test]
    fn thinking_is_told_from_the_answer() {
        let table = [
            ("<think>hm\n</think>\n\nyes", "hm\n", "yes"),
            ("\n <thinking>a</think>b</thinking>c", "a</think>b", "c"),
            ("<thought></thought>x", "", "x"),
            ("◁think▷hm◁/think▷yes", "hm", "yes"),
            ("<think>never ends", "never ends", ""),
            ("hm\n</think>\n\nyes", "hm\n", "yes"),
            ("hm.</think>\nyes", "hm.", "yes"),
            ("</think>\nyes", "", "yes"),
            ("```\na\n```\nhm</think>\r\nyes", "```\na\n```\nhm", "yes"),
        ];
        for (answer, reasoning, text) in table {
            assert_eq!(sorted([answer]), (reasoning.to_owned(), text.to_owned()), "{answer:?}");
        }
    }

    #[test]
    fn lines_keep_their_numbers_without_the_thinking() {
        for (answer, text) in [
            ("<think>hm\nno\n</think>\n\nyes\n", "\n\n\n\nyes\n"),
            ("<reasoning>hm</reasoning>yes", "yes"),
            ("hm\n</think>\nyes\n", "\n\nyes\n"),
            ("<think>never\nends", "\n"),
            ("```\n</think>\n```\n", "```\n</think>\n```\n"),
        ] {
            assert_eq!(without_thoughts(answer), text, "{answer:?}");
        }
    }

    #[test]
    fn an_answer_may_speak_of_the_tags() {
        for answer in [
            "Use `<think>` and `</think>` so.",
            "x <think>hm</think>",
            "```html\n<think>\n</think>\n```\nDone.",
            "<thin air>",
            "  ",
            "a </think> b\n",
            "ends with </think>",
            "The tag `</think>`\nends it.",
            "+</think>+\n",
        ] {
            assert_eq!(sorted([answer]), (String::new(), answer.to_owned()), "{answer:?}");
        }
    }

    #[test]
    fn text_is_not_held_back() {
        let mut thoughts = Thoughts::new(false);
        for word in ["An ", "answer", " < of", "\n", "words"] {
            assert_eq!(thoughts.feed(word), [Piece::Text(word.into())], "{word:?}");
        }
        let mut thoughts = Thoughts::new(true);
        assert_eq!(thoughts.feed("<think>"), [Piece::Text("<think>".into())]);
        let mut thoughts = Thoughts::new(false);
        thoughts.feed("a\n");
        thoughts.told_apart();
        assert_eq!(thoughts.feed("</think>\n"), [Piece::Text("</think>\n".into())]);
    }

    proptest! {
        #[test]
        fn the_cuts_of_the_network_do_not_matter(
            parts in proptest::collection::vec("(<think>|</think>|</thinking>|<reasoning>|</reasoning>|◁think▷|◁/think▷|<|/|think|>|a|```|\n|\r| |é)", 0..14),
            size in 1usize..9,
        ) {
            let answer = parts.concat();
            let chars: Vec<char> = answer.chars().collect();
            let portions: Vec<String> = chars.chunks(size).map(|part| part.iter().collect()).collect();
            prop_assert_eq!(sorted(portions.iter().map(String::as_str)), sorted([answer.as_str()]));
        }

        #[test]
        fn no_word_is_lost(answer in "(a|b|\n| |```){0,30}") {
            prop_assert_eq!(sorted([answer.as_str()]), (String::new(), answer));
        }
    }
}
