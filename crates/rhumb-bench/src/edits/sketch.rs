//! A reply before it is written out: what is meant, how it will be put, and how the file is stored. Defects change a
//! sketch; what was meant stays known.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Expect, Tree};
use super::sample::Sample;
use rhumb_edit::EditFormat;

/// The root that absolute names are below.
pub(super) const ROOT: &str = "/home/me/harbour";

/// Stands in a stored line for a byte that is not UTF-8.
pub(super) const NOT_UTF8: char = '\u{f8e9}';

/// What is to happen to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Keep,
    Delete,
    Insert,
}

/// A line of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) mark: Mark,
    /// The line of the file, 0-based; for a new line the one before which it goes. None for a line that is not in the
    /// file, such as dots.
    pub(super) at: Option<usize>,
    /// As the reply writes it.
    pub(super) text: String,
    /// As it should be in the file.
    pub(super) meant: String,
    /// Whether its plus sign is forgotten.
    pub(super) unsigned: bool,
}

impl Line {
    pub(super) fn new(mark: Mark, at: usize, text: &str) -> Self {
        Self { mark, at: Some(at), text: text.to_owned(), meant: text.to_owned(), unsigned: false }
    }

    /// A line that is quoted but is nowhere in the file.
    pub(super) fn unfounded(text: &str) -> Self {
        Self { mark: Mark::Keep, at: None, text: text.to_owned(), meant: String::new(), unsigned: false }
    }

    /// Whether the line is quoted from the file.
    pub(super) fn is_quoted(&self) -> bool {
        self.mark != Mark::Insert
    }

    /// Whether there is more to it than white space.
    pub(super) fn is_solid(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

/// What stands after the `@@` of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    Bare,
    Dots,
    /// Line numbers (1-based) in the old and the new file, seldom right.
    Numbers(usize, usize),
    Scope(String),
}

/// One place that is quoted, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) lines: Vec<Line>,
    /// In diffs: all old lines first, then all new ones.
    pub(super) blockwise: bool,
    pub(super) head: Head,
    /// Whether its changes belong to the intended text; not so for repetitions and for what must be refused.
    pub(super) counts: bool,
}

impl Block {
    /// First and one past the last line of the file that it quotes.
    pub(super) fn range(&self) -> (usize, usize) {
        let quoted = || self.lines.iter().filter(|line| line.is_quoted()).filter_map(|line| line.at);
        let first = quoted().min().unwrap_or_default();
        (first, quoted().max().map_or(first, |last| last + 1))
    }

    /// The lines that are added or removed.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.mark != Mark::Keep)
    }
}

/// How the file is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) bom: bool,
    pub(super) crlf: bool,
    /// The line (0-based) that ends with a line feed all the same.
    pub(super) lone_lf: Option<usize>,
    /// No newline at the end.
    pub(super) open_end: bool,
}

impl Form {
    /// The bytes of lines, each with its position in the file if it is an old one.
    fn bytes(&self, lines: &[(Option<usize>, &str)]) -> Vec<u8> {
        let mut bytes = if self.bom { "\u{feff}".as_bytes().to_vec() } else { Vec::new() };
        for (nth, (at, text)) in lines.iter().enumerate() {
            for (part, piece) in text.split(NOT_UTF8).enumerate() {
                bytes.extend_from_slice(if part > 0 { b"\xe9" } else { b"" });
                bytes.extend_from_slice(piece.as_bytes());
            }
            if nth + 1 < lines.len() || !self.open_end {
                let lone = at.is_some() && *at == self.lone_lf;
                bytes.extend_from_slice(if self.crlf && !lone { b"\r\n" } else { b"\n" });
            }
        }
        bytes
    }
}

/// The fence around code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fencing {
    /// With what stands after the opening backticks.
    Closed(String),
    /// The last one stays open.
    Open(String),
    None,
}

/// How the reply is wrapped.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wrap {
    /// The name of the file as it is written.
    pub(super) name: Option<String>,
    /// In diffs: `a/` and `b/` before the name.
    pub(super) sided: bool,
    pub(super) fencing: Fencing,
    /// What stands before and after all blocks.
    pub(super) before: String,
    pub(super) after: String,
    /// Search blocks of a file share a fence.
    pub(super) one_fence: bool,
    /// Blank context lines of diffs have no leading space.
    pub(super) bare_blanks: bool,
    pub(super) crlf: bool,
    /// Where in the last block the reply stops, as a part of its text from 0 to 1.
    pub(super) cut: Option<f64>,
}

/// A reply in the making.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sketch {
    pub(super) origin: String,
    pub(super) format: EditFormat,
    pub(super) path: String,
    /// The lines of the file as they are stored.
    pub(super) base: Vec<String>,
    pub(super) form: Form,
    /// Other files.
    pub(super) around: BTreeMap<String, String>,
    pub(super) blocks: Vec<Block>,
    /// The text of a whole-file reply where it is not just what is meant.
    pub(super) whole: Option<Vec<String>>,
    /// The blocks make a new file, which they are the text of.
    pub(super) creates: bool,
    pub(super) wrap: Wrap,
    pub(super) expect: Expect,
}

impl Sketch {
    /// The lines that are meant, each with its position in the file if it is an old one.
    pub(super) fn meant(&self) -> Vec<(Option<usize>, &str)> {
        let mut deletes = BTreeSet::new();
        let mut inserts: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for line in self.blocks.iter().filter(|block| block.counts).flat_map(|block| &block.lines) {
            match (line.mark, line.at) {
                (Mark::Delete, Some(at)) => drop(deletes.insert(at)),
                (Mark::Insert, Some(at)) => inserts.entry(at).or_default().push(&line.meant),
                _ => {}
            }
        }
        let mut lines = Vec::with_capacity(self.base.len());
        for at in 0..=self.base.len() {
            lines.extend(inserts.get(&at).into_iter().flatten().map(|text| (None, *text)));
            let old = self.base.get(at).filter(|_| !deletes.contains(&at));
            lines.extend(old.map(|text| (Some(at), text.as_str())));
        }
        lines
    }

    /// The tree before.
    pub(super) fn tree(&self) -> Tree {
        let lines: Vec<_> = self.base.iter().enumerate().map(|(at, text)| (Some(at), text.as_str())).collect();
        self.with(self.form.bytes(&lines))
    }

    /// The tree that is meant.
    pub(super) fn wanted(&self) -> Tree {
        self.with(self.form.bytes(&self.meant()))
    }

    fn with(&self, file: Vec<u8>) -> Tree {
        let around = self.around.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes()));
        around.chain([(self.path.clone(), file)]).collect()
    }

    /// The text of a whole-file reply.
    pub(super) fn whole_text(&self) -> Vec<String> {
        self.whole.clone().unwrap_or_else(|| self.meant().into_iter().map(|(_, text)| text.to_owned()).collect())
    }

    /// Puts lines into the stored file before the line `at` (0-based); what is quoted moves along.
    pub(super) fn store(&mut self, at: usize, new: Vec<String>) {
        let count = new.len();
        self.base.splice(at..at, new);
        let lines = self.blocks.iter_mut().flat_map(|block| &mut block.lines);
        lines.filter_map(|line| line.at.as_mut()).filter(|place| **place >= at).for_each(|place| *place += count);
    }

    /// Whether a block quotes or changes the line `at` (0-based) of the file.
    pub(super) fn quotes(&self, at: usize) -> bool {
        self.blocks.iter().flat_map(|block| &block.lines).any(|line| line.at == Some(at))
    }

    /// Quotes up to so many more lines above and below a block, as far as no other block begins.
    pub(super) fn widen(&mut self, nth: usize, above: usize, below: usize) {
        let Some((first, end)) = self.blocks.get(nth).map(Block::range) else { return };
        let others = self.blocks.iter().enumerate().filter(|(at, _)| *at != nth).map(|(_, block)| block.range());
        let (mut floor, mut ceiling) = (0, self.base.len());
        for (other_first, other_end) in others {
            if other_end <= first {
                floor = floor.max(other_end);
            }
            if other_first >= end {
                ceiling = ceiling.min(other_first);
            }
            if other_end > first && other_first < end {
                return;
            }
        }
        let (from, to) = (first.saturating_sub(above).max(floor), (end + below).min(ceiling));
        let quoted = |range: std::ops::Range<usize>| -> Vec<Line> {
            let texts = self.base.get(range.clone()).unwrap_or_default();
            range.zip(texts).map(|(at, text)| Line::new(Mark::Keep, at, text)).collect()
        };
        let (head, tail) = (quoted(from..first), quoted(end..to));
        if let Some(block) = self.blocks.get_mut(nth) {
            block.lines.splice(..0, head);
            block.lines.extend(tail);
        }
    }

    /// All lines that the reply writes, those of a whole file aside.
    pub(super) fn lines_mut(&mut self) -> impl Iterator<Item = &mut Line> {
        self.blocks.iter_mut().flat_map(|block| &mut block.lines)
    }
}

impl Sample {
    /// The sketch of a reply without blocks yet.
    pub(super) fn sketch(&self, format: EditFormat, wrap: Wrap) -> Sketch {
        Sketch {
            origin: self.origin.clone(),
            format,
            path: self.path.clone(),
            base: self.before.clone(),
            form: Form::default(),
            around: self.around.clone(),
            blocks: Vec::new(),
            whole: None,
            creates: false,
            wrap,
            expect: Expect::Apply,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sketch;
    use super::*;

    #[test]
    fn what_is_meant_is_the_text_after() {
        let sketch = sketch(EditFormat::Udiff);
        let meant: Vec<&str> = sketch.meant().into_iter().map(|(_, text)| text).collect();
        assert_eq!(meant, super::super::tests::AFTER.lines().collect::<Vec<_>>());
    }

    #[test]
    fn stored_lines_move_what_is_quoted() {
        let mut sketch = sketch(EditFormat::Udiff);
        let before = sketch.wanted();
        sketch.store(0, vec!["first".to_owned()]);
        let path = sketch.path.clone();
        assert_eq!(sketch.wanted()[&path], [b"first\n", before[&path].as_slice()].concat());
    }

    #[test]
    fn the_form_decides_on_the_bytes() {
        let form = Form { bom: true, crlf: true, lone_lf: Some(1), open_end: true };
        let bytes = form.bytes(&[(Some(0), "a"), (None, "b"), (Some(1), "c\u{f8e9}"), (Some(2), "d")]);
        assert_eq!(bytes, b"\xef\xbb\xbfa\r\nb\r\nc\xe9\nd");
    }
}
