//! Separates thinking from an answer that contains it between tags.
//!
//! Opening tags count only at the beginning of an answer, so that an answer can mention them. Some chat templates
//! open the tag themselves, and only the closing tag, such as `</think>`, is in the answer. Until then nothing
//! distinguishes the thinking from an answer, so it is passed on as text, and the closing tag retracts it
//! ([`Segment::Retract`]). Such a closing tag counts once, outside of fenced code, and only at the beginning or the
//! end of a line.

/// Pairs of opening and closing tags.
const TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("◁think▷", "◁/think▷"),
];

/// Removes the thinking from a complete answer. Newlines replace it, so that line numbers stay the same.
pub fn strip_thinking(answer: &str) -> String {
    let mut thinking = ThinkingFilter::new(false);
    let mut pieces = thinking.feed(answer);
    pieces.extend(thinking.end());
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Segment::Text(more) => text.push_str(&more),
            Segment::Reasoning(_) => {}
            Segment::Retract => text.clear(),
        }
    }
    let thinking = answer.strip_suffix(&text).unwrap_or_default();
    let lines = "\n".repeat(thinking.matches('\n').count());
    format!("{lines}{text}")
}

/// A classified part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Text(String),
    Reasoning(String),
    /// All text so far was thinking.
    Retract,
}

/// Classifies an answer as it arrives. The result does not depend on how the answer is cut into parts.
#[derive(Debug)]
pub(crate) struct ThinkingFilter {
    state: FilterState,
    /// Text that cannot be classified yet: at most a tag and whitespace.
    held: String,
    /// Current line of an undecided answer, without the held text.
    line: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilterState {
    /// Nothing but whitespace so far.
    Start,
    /// Inside thinking that ends with this tag.
    Inside(&'static str),
    /// After thinking. Whitespace before the answer is dropped.
    After,
    /// In text that may turn out to be thinking.
    Undecided {
        fenced: bool,
    },
    Text,
}

impl ThinkingFilter {
    /// Starts with a new answer, or, if `begun`, with the rest of one.
    pub(crate) fn new(begun: bool) -> Self {
        let state = if begun { FilterState::Text } else { FilterState::Start };
        Self { state, held: String::new(), line: String::new() }
    }

    /// The server sends thinking separately, so the text contains none.
    pub(crate) fn reasoning_is_separate(&mut self) {
        if let FilterState::Start | FilterState::Undecided { .. } = self.state {
            self.state = FilterState::Text;
        }
    }

    /// Classifies the next part.
    pub(crate) fn feed(&mut self, text: &str) -> Vec<Segment> {
        self.held.push_str(text);
        self.sort(false)
    }

    /// Classifies the held text at the end of the answer.
    pub(crate) fn end(&mut self) -> Vec<Segment> {
        self.sort(true)
    }

    fn sort(&mut self, at_end: bool) -> Vec<Segment> {
        let mut pieces = Vec::new();
        loop {
            let next = match self.state {
                FilterState::Start => self.start(at_end),
                FilterState::Inside(close) => self.inside(close, at_end, &mut pieces),
                FilterState::After => {
                    self.held = self.held.trim_start().to_owned();
                    (!self.held.is_empty()).then_some(FilterState::Text)
                }
                FilterState::Undecided { fenced } => self.undecided(fenced, at_end, &mut pieces),
                FilterState::Text => {
                    push(&mut pieces, Segment::Text(self.take(self.held.len())));
                    None
                }
            };
            let Some(next) = next else { break };
            self.state = next;
        }
        pieces
    }

    fn start(&mut self, at_end: bool) -> Option<FilterState> {
        let said = self.held.trim_start();
        if let Some((open, close)) = TAGS.iter().find(|(open, _)| said.starts_with(open)) {
            self.held = said.get(open.len()..).unwrap_or_default().to_owned();
            return Some(FilterState::Inside(close));
        }
        let may_open = TAGS.iter().any(|(open, _)| open.starts_with(said));
        (at_end || !may_open).then_some(FilterState::Undecided { fenced: false })
    }

    fn inside(&mut self, close: &'static str, at_end: bool, pieces: &mut Vec<Segment>) -> Option<FilterState> {
        let found = self.held.find(close);
        let kept = if at_end { 0 } else { unfinished(&self.held, close) };
        let thought = self.take(found.unwrap_or(self.held.len() - kept));
        push(pieces, Segment::Reasoning(thought));
        found?;
        self.take(close.len());
        Some(FilterState::After)
    }

    /// Passes on held text of one line. A closing tag at the beginning of a line counts immediately, one at the end
    /// when the line is complete.
    fn undecided(&mut self, fenced: bool, at_end: bool, pieces: &mut Vec<Segment>) -> Option<FilterState> {
        let line_end = self.held.find('\n').map(|at| at + 1);
        let line = self.held.get(..line_end.unwrap_or(self.held.len())).unwrap_or_default();
        if let Some((at, close)) = first_close(line).filter(|_| !fenced) {
            let after = line.get(at + close.len()..).unwrap_or_default();
            let starts = self.line.trim().is_empty() && line.get(..at).unwrap_or_default().trim().is_empty();
            let ends = after.trim().is_empty();
            if starts || (ends && line_end.is_some()) {
                push(pieces, Segment::Text(self.take(at)));
                pieces.push(Segment::Retract);
                self.take(close.len());
                return Some(FilterState::After);
            }
            let waits = ends && !at_end;
            self.pass_on(if waits { at } else { at + close.len() }, pieces);
            return (!waits).then_some(FilterState::Undecided { fenced });
        }
        let tag_begins = || TAGS.iter().map(|(_, close)| unfinished(line, close)).max().unwrap_or(0);
        let kept = if line_end.is_some() || fenced || at_end { 0 } else { tag_begins() };
        self.pass_on(line.len() - kept, pieces);
        line_end?;
        let toggles = ["```", "~~~"].iter().any(|fence| self.line.trim_start().starts_with(fence));
        self.line.clear();
        Some(FilterState::Undecided { fenced: fenced != toggles })
    }

    fn pass_on(&mut self, bytes: usize, pieces: &mut Vec<Segment>) {
        let text = self.take(bytes);
        self.line.push_str(&text);
        push(pieces, Segment::Text(text));
    }

    /// Removes the first bytes of the held text.
    fn take(&mut self, bytes: usize) -> String {
        self.held.drain(..bytes).collect()
    }
}

fn first_close(line: &str) -> Option<(usize, &'static str)> {
    TAGS.iter().filter_map(|(_, close)| line.find(close).map(|at| (at, *close))).min()
}

/// Returns the number of bytes at the end of `text` that may be the beginning of `tag`.
fn unfinished(text: &str, tag: &str) -> usize {
    let beginnings = tag.char_indices().map(|(at, _)| at).skip(1);
    beginnings.filter(|at| tag.get(..*at).is_some_and(|beginning| text.ends_with(beginning))).max().unwrap_or(0)
}

fn push(pieces: &mut Vec<Segment>, piece: Segment) {
    if !matches!(&piece, Segment::Text(text) | Segment::Reasoning(text) if text.is_empty()) {
        pieces.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The thinking and the text at the end.
    fn sorted<'a>(portions: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut thinking = ThinkingFilter::new(false);
        let mut pieces: Vec<Segment> = portions.into_iter().flat_map(|portion| thinking.feed(portion)).collect();
        pieces.extend(thinking.end());
        let (mut reasoning, mut text) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Segment::Text(more) => text.push_str(&more),
                Segment::Reasoning(more) => reasoning.push_str(&more),
                Segment::Retract => reasoning.push_str(&std::mem::take(&mut text)),
            }
        }
        (reasoning, text)
    }

    #[test]
    fn thinking_is_separated_from_the_answer() {
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
            assert_eq!(strip_thinking(answer), text, "{answer:?}");
        }
    }

    #[test]
    fn an_answer_may_mention_the_tags() {
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
        let mut thinking = ThinkingFilter::new(false);
        for word in ["An ", "answer", " < of", "\n", "words"] {
            assert_eq!(thinking.feed(word), [Segment::Text(word.into())], "{word:?}");
        }
        let mut thinking = ThinkingFilter::new(true);
        assert_eq!(thinking.feed("<think>"), [Segment::Text("<think>".into())]);
        let mut thinking = ThinkingFilter::new(false);
        thinking.feed("a\n");
        thinking.reasoning_is_separate();
        assert_eq!(thinking.feed("</think>\n"), [Segment::Text("</think>\n".into())]);
    }

    #[test]
    fn an_answer_after_separate_thinking_contains_none() {
        for answer in ["The tag\n</think>\nends it.", "<think> begins it."] {
            let mut thinking = ThinkingFilter::new(false);
            thinking.reasoning_is_separate();
            assert_eq!(thinking.feed(answer), [Segment::Text(answer.into())]);
        }
    }

    proptest! {
        #[test]
        fn the_result_does_not_depend_on_how_the_input_is_cut(
            parts in proptest::collection::vec("(<think>|</think>|</thinking>|<reasoning>|</reasoning>|◁think▷|◁/think▷|<|/|think|>|a|```|\n|\r| |é)", 0..14),
            size in 1usize..9,
        ) {
            let answer = parts.concat();
            let chars: Vec<char> = answer.chars().collect();
            let portions: Vec<String> = chars.chunks(size).map(|part| part.iter().collect()).collect();
            prop_assert_eq!(sorted(portions.iter().map(String::as_str)), sorted([answer.as_str()]));
        }

        #[test]
        fn text_without_tags_is_unchanged(answer in "(a|b|\n| |```){0,30}") {
            prop_assert_eq!(sorted([answer.as_str()]), (String::new(), answer));
        }
    }
}
