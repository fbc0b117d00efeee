//! The words of a text that may be names: each as written, then without each layer of quotes, punctuation and line numbers.

use std::ops::Range;

const MAX_NAME_BYTES: usize = 300;

/// Maximum number of layers that are removed.
const MAX_LAYERS: usize = 12;

const OPENERS: &[char] = &[
    '"', '\'', '`', '(', '[', '{', '<', '*', '_', '~', '“', '‘', '„', '«', '‹', '@', '#', '|', '=', ':', '>', '-', '+',
    '•',
];

const CLOSERS: &[char] = &[
    '"', '\'', '`', ')', ']', '}', '>', '*', '_', '~', '.', ',', ';', ':', '!', '?', '…', '”', '’', '»', '›', '|',
    '\\', '/', '。', '，', '、',
];

/// Characters that separate names within a word.
const BORDERS: &[char] = &['"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '|', '=', '*'];

/// Quotes around a name that may contain spaces, with their closing quotes.
const QUOTES: [(char, char); 9] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('«', '»'), ('<', '>'), ('(', ')'), ('[', ']')];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameCandidate {
    /// The byte range.
    pub(super) range: Range<usize>,
    /// The name, with `/` as separator and without a leading one.
    pub(super) name: String,
    pub(super) quoted: bool,
    /// Whether the quotes are backticks.
    pub(super) in_code: bool,
}

/// All candidates of a text, the longest of each word first.
pub(super) fn name_candidates(text: &str) -> Vec<NameCandidate> {
    let mut found = Vec::new();
    for span in spans(text) {
        peel(text, span, &mut found);
    }
    found
}

/// A range of text that may contain a name.
#[derive(Debug, Clone)]
struct Span {
    range: Range<usize>,
    quote: Option<char>,
}

/// Quoted texts, words between white space, and parts of words.
fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    for (at, open) in text.char_indices() {
        if let Some((_, close)) = QUOTES.iter().find(|(mark, _)| *mark == open) {
            let start = at + open.len_utf8();
            spans.extend(closed(text, start, *close).map(|end| Span { range: start..end, quote: Some(open) }));
        }
    }
    for word in text.split_whitespace() {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        if word.len() <= MAX_NAME_BYTES {
            spans.push(Span { range: start..start + word.len(), quote: None });
        }
        if !word.contains(BORDERS) {
            continue;
        }
        for part in word.split(BORDERS).filter(|part| !part.is_empty() && part.len() <= MAX_NAME_BYTES) {
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            spans.push(Span { range: start..start + part.len(), quote: None });
        }
    }
    spans
}

/// The end of a quote that begins at `start`: on the same line, and within the maximum length of a name.
fn closed(text: &str, start: usize, close: char) -> Option<usize> {
    let mut inside = text.get(start..)?.char_indices().take_while(|(at, c)| *at <= MAX_NAME_BYTES && *c != '\n');
    inside.find(|(at, c)| *c == close && *at > 0).map(|(at, _)| start + at)
}

fn peel(text: &str, span: Span, found: &mut Vec<NameCandidate>) {
    let mut range = span.range;
    let mut quote = span.quote;
    for _ in 0..MAX_LAYERS {
        let Some(shown) = text.get(range.clone()).filter(|shown| !shown.is_empty()) else { return };
        let name = normal(shown);
        if !name.is_empty() {
            let (quoted, in_code) = (quote.is_some_and(|mark| !"([".contains(mark)), quote == Some('`'));
            found.push(NameCandidate { range: range.clone(), name, quoted, in_code });
        }
        let Some((inner, mark)) = peeled(shown) else { return };
        quote = quote.or(mark);
        range = range.start + inner.start..range.start + inner.end;
    }
}

/// The text without its outermost layer, and the quote if it was one; `None` if there is no layer.
fn peeled(text: &str) -> Option<(Range<usize>, Option<char>)> {
    let trimmed = text.trim();
    if trimmed.len() < text.len() {
        let start = text.len() - text.trim_start().len();
        return Some((start..start + trimmed.len(), None));
    }
    let (first, last) = (text.chars().next()?, text.chars().next_back()?);
    let pair = QUOTES.iter().any(|(open, close)| *open == first && *close == last) && text.chars().nth(1).is_some();
    if pair {
        return Some((first.len_utf8()..text.len() - last.len_utf8(), Some(first)));
    }
    for possessive in ["'s", "’s"] {
        if let Some(rest) = text.strip_suffix(possessive) {
            return Some((0..rest.len(), None));
        }
    }
    if let Some(end) = without_lines(text) {
        return Some((0..end, None));
    }
    if CLOSERS.contains(&last) {
        return Some((0..text.len() - last.len_utf8(), None));
    }
    OPENERS.contains(&first).then(|| (first.len_utf8()..text.len(), None))
}

/// The end of a name that is followed by line numbers: `:12`, `:12-20`, `:12:3`, `#L10`, `#L10-L20`, `(12)`, `(12,3)`.
fn without_lines(text: &str) -> Option<usize> {
    let is_lines = |rest: &str| {
        let digits = rest.contains(|c: char| c.is_ascii_digit());
        digits && rest.chars().all(|c| c.is_ascii_digit() || ":-–,LlCc#".contains(c))
    };
    let colon = text.char_indices().find(|(at, c)| *at > 0 && ":#".contains(*c) && is_lines(&text[*at..]));
    if let Some((at, _)) = colon {
        return Some(at);
    }
    let at = text.rfind('(').filter(|at| *at > 0)?;
    let inside = text[at + 1..].strip_suffix(')')?;
    is_lines(inside).then_some(at)
}

/// The word as a path: backslashes become slashes, a leading `./` or `/` is removed, `%20` becomes a space.
fn normal(word: &str) -> String {
    let mut name = if word.contains('\\') { word.replace('\\', "/") } else { word.to_owned() };
    if name.contains("%20") {
        name = name.replace("%20", " ");
    }
    let mut bare = name.as_str();
    while let Some(rest) = bare.strip_prefix("./").or_else(|| bare.strip_prefix('/')) {
        bare = rest;
    }
    bare.to_owned()
}
