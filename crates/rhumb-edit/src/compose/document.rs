//! A file as lines that keep their bytes, and its text while edits are applied one after another.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::form::Forms;
use super::view::Meaning;
use rhumb_text::lines::{self, LineEnding};

const BOM: char = '\u{feff}';

/// The base text of a file, split.
#[derive(Debug)]
pub(crate) struct Document {
    base: Arc<str>,
    /// Byte ranges of the lines: start, end of the body, end with terminator. A byte order mark is outside.
    spans: Vec<(usize, usize, usize)>,
    ending: LineEnding,
    forms: Forms,
    /// By line; made when an exact search does not do.
    form_of: OnceCell<Vec<u32>>,
    meaning: OnceCell<Meaning>,
}

/// A line of the file under edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A line of the base, 0-based.
    Old(usize),
    /// An added line, without terminator.
    New(String),
}

impl Item {
    /// The line of the base that it is, if it is one.
    pub(crate) fn old(&self) -> Option<usize> {
        match self {
            Self::Old(line) => Some(*line),
            Self::New(_) => None,
        }
    }
}

impl Document {
    pub(crate) fn new(base: Arc<str>) -> Self {
        let mut at = if base.starts_with(BOM) { BOM.len_utf8() } else { 0 };
        let ending = LineEnding::dominant(&base);
        let mut spans = Vec::new();
        for line in lines::split(base.get(at..).unwrap_or_default()) {
            // A lone carriage return at the end of the file is a character, not a terminator. Several before a newline are part of
            // it: some tools write `\r\r\n`, and no model writes that for a new line.
            let body = line.strip_suffix('\n').map_or(line, |body| body.trim_end_matches('\r'));
            spans.push((at, at + body.len(), at + line.len()));
            at += line.len();
        }
        Self { base, spans, ending, forms: Forms::default(), form_of: OnceCell::new(), meaning: OnceCell::new() }
    }

    pub(crate) fn base(&self) -> &Arc<str> {
        &self.base
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        (0..self.spans.len()).map(Item::Old).collect()
    }

    /// What the lines of the base mean.
    pub(crate) fn meaning(&self) -> &Meaning {
        self.meaning.get_or_init(|| Meaning::new(self.form_of().to_vec(), &self.forms))
    }

    /// Number of lines of the base.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The body of a line of the base.
    pub(crate) fn body(&self, line: usize) -> &str {
        self.spans.get(line).and_then(|(start, end, _)| self.base.get(*start..*end)).unwrap_or_default()
    }

    /// The forms of the lines of this file and of those that edits add to it.
    pub(super) fn forms(&self) -> &Forms {
        &self.forms
    }

    /// By line of the base: its form.
    pub(super) fn form_of(&self) -> &[u32] {
        self.form_of.get_or_init(|| (0..self.spans.len()).map(|line| self.forms.number(self.body(line))).collect())
    }

    /// The bodies of all lines of the base.
    pub(crate) fn bodies(&self) -> Vec<&str> {
        (0..self.spans.len()).map(|line| self.body(line)).collect()
    }

    fn terminator(&self, line: usize) -> &str {
        self.spans.get(line).and_then(|(_, end, full)| self.base.get(*end..*full)).unwrap_or_default()
    }

    /// The text that the items make. Old lines keep their terminators. A new line gets that of the line that it replaces, or of
    /// the line before it, or of the line after it. Whether the text ends with a newline stays as it was.
    pub(crate) fn compose(&self, items: &[Item]) -> String {
        let closed = self.base.ends_with('\n') || self.spans.is_empty();
        let kept: BTreeSet<usize> = items.iter().filter_map(Item::old).collect();
        let mut text = String::with_capacity(self.base.len() + 64);
        if self.base.starts_with(BOM) {
            text.push(BOM);
        }
        let (mut before, mut next) = ("", 0);
        for (at, item) in items.iter().enumerate() {
            let (body, own) = match item {
                Item::Old(line) => {
                    next = line + 1;
                    (self.body(*line), self.terminator(*line))
                }
                // It replaces the next line of the base, unless that is kept.
                Item::New(body) if kept.contains(&next) => (body.as_str(), ""),
                Item::New(body) => {
                    next += 1;
                    (body.as_str(), self.terminator(next - 1))
                }
            };
            text.push_str(body);
            if at + 1 < items.len() || closed {
                let known = [own, before, self.terminator(next)].into_iter().find(|ending| !ending.is_empty());
                before = known.unwrap_or(self.ending.as_str());
                text.push_str(before);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untouched_items_compose_to_the_same_bytes() {
        for text in
            ["", "a", "a\r\nb\nc", "\u{feff}x\r\n", "\u{c}\n\r\n", "\r", "a\n\r", "\u{feff}", "a\r\r\n\r\r\r\nb\r"]
        {
            let document = Document::new(text.into());
            assert_eq!(document.compose(&document.items()), text);
        }
    }

    #[test]
    fn new_lines_take_the_ending_of_the_file() {
        let document = Document::new("a\r\nb".into());
        let items = [Item::New("0".into()), Item::Old(0), Item::Old(1), Item::New("c".into())];
        assert_eq!(document.compose(&items), "0\r\na\r\nb\r\nc");
    }

    #[test]
    fn new_lines_end_like_the_line_that_they_replace_or_its_neighbours() {
        let document = Document::new("a\r\nb\r\r\nc\nd\ne\n".into());
        let new = |body: &str| Item::New(body.into());
        let composed = |items: &[Item]| document.compose(items);
        let replaced = [Item::Old(0), new("B"), new("C"), new("more"), Item::Old(3), Item::Old(4)];
        assert_eq!(composed(&replaced), "a\r\nB\r\r\nC\nmore\nd\ne\n");
        let inserted = [new("first"), Item::Old(0), new("second"), Item::Old(1), Item::Old(2), new("x"), Item::Old(3)];
        assert_eq!(composed(&inserted), "first\r\na\r\nsecond\r\nb\r\r\nc\nx\nd\n");
        // Nothing is left to be like.
        assert_eq!(Document::new("".into()).compose(&[new("a"), new("b")]), "a\nb\n");
        assert_eq!(Document::new("a\r\nb".into()).compose(&[new("c"), new("d"), new("e")]), "c\r\nd\r\ne");
    }
}
