//! A reply under construction: the intended change, how it is written, and how the file is stored. Defects change a sketch, and the
//! intended result stays known. [`render`] writes a sketch in its edit format.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rhumb_edit::EditFormat;
use rhumb_session::context::fence_for;

use crate::edits::case::{Expect, Tree};
use crate::edits::sample::Sample;

/// The root of the tree in absolute paths.
pub(crate) const ROOT: &str = "/home/me/harbour";

/// Placeholder in a stored line for a byte that is not UTF-8.
pub(crate) const NOT_UTF8: char = '\u{f8e9}';

/// The change of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Keep,
    Delete,
    Insert,
}

/// A line of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) mark: Mark,
    /// The line of the file, 0-based; for a new line, the line before which it is inserted. `None` for a line that is not in the
    /// file, such as dots.
    pub(crate) at: Option<usize>,
    /// The text in the reply.
    pub(crate) text: String,
    /// The intended text in the file.
    pub(crate) meant: String,
    /// Whether the plus sign is missing.
    pub(crate) unsigned: bool,
}

impl Line {
    pub(crate) fn new(mark: Mark, at: usize, text: &str) -> Self {
        Self { mark, at: Some(at), text: text.to_owned(), meant: text.to_owned(), unsigned: false }
    }

    /// A quoted line that is not in the file.
    pub(crate) fn unfounded(text: &str) -> Self {
        Self { mark: Mark::Keep, at: None, text: text.to_owned(), meant: String::new(), unsigned: false }
    }

    /// Whether the line is quoted from the file.
    pub(crate) fn is_quoted(&self) -> bool {
        self.mark != Mark::Insert
    }

    /// Whether the line has more than white space.
    pub(crate) fn is_solid(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

/// The text after the `@@` of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Head {
    Bare,
    Dots,
    /// Line numbers (1-based) in the old and the new file, often wrong.
    Numbers(usize, usize),
    Scope(String),
}

/// One change block: the quoted lines and the lines that replace them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) lines: Vec<Line>,
    /// In diffs: all old lines before all new lines.
    pub(crate) blockwise: bool,
    pub(crate) head: Head,
    /// Whether the changes belong to the intended text. False for repetitions and for blocks that must be refused.
    pub(crate) counts: bool,
}

impl Block {
    /// The first and one past the last quoted line of the file, 0-based.
    pub(crate) fn range(&self) -> (usize, usize) {
        let quoted = || self.lines.iter().filter(|line| line.is_quoted()).filter_map(|line| line.at);
        let first = quoted().min().unwrap_or_default();
        (first, quoted().max().map_or(first, |last| last + 1))
    }

    /// The lines that are added or removed.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.mark != Mark::Keep)
    }
}

/// How a file is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) bom: bool,
    pub(crate) crlf: bool,
    /// The one line (0-based) of a CRLF file that ends with a line feed.
    pub(crate) lone_lf: Option<usize>,
    /// Whether the final newline is missing.
    pub(crate) open_end: bool,
}

impl Form {
    /// The bytes of a file with these lines, each with its old position if it has one.
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

/// The Markdown fence around a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fencing {
    /// With the info string after the opening backticks.
    Closed(String),
    /// Without the last closing fence.
    Open(String),
    None,
}

/// The parts of a reply around its blocks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wrap {
    /// The name of the file as the reply writes it.
    pub(crate) name: Option<String>,
    /// In diffs: `a/` and `b/` in front of the name.
    pub(crate) sided: bool,
    pub(crate) fencing: Fencing,
    /// The text before and after all blocks.
    pub(crate) before: String,
    pub(crate) after: String,
    /// Whether the search blocks of a file share a fence.
    pub(crate) one_fence: bool,
    /// Whether blank context lines of diffs lack their leading space.
    pub(crate) bare_blanks: bool,
    pub(crate) crlf: bool,
    /// Where the reply ends within its last block, from 0 to 1.
    pub(crate) cut: Option<f64>,
}

/// A reply under construction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sketch {
    pub(crate) origin: String,
    pub(crate) format: EditFormat,
    pub(crate) path: String,
    /// The lines of the file.
    pub(crate) base: Vec<String>,
    pub(crate) form: Form,
    /// Other files.
    pub(crate) around: BTreeMap<String, String>,
    pub(crate) blocks: Vec<Block>,
    /// The text of a whole-file reply if it differs from the intended text.
    pub(crate) whole: Option<Vec<String>>,
    /// Whether the blocks are the text of a new file.
    pub(crate) creates: bool,
    pub(crate) wrap: Wrap,
    pub(crate) expect: Expect,
}

impl Sketch {
    /// The intended lines, each with its old position if it has one.
    pub(crate) fn meant(&self) -> Vec<(Option<usize>, &str)> {
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
    pub(crate) fn tree(&self) -> Tree {
        let lines: Vec<_> = self.base.iter().enumerate().map(|(at, text)| (Some(at), text.as_str())).collect();
        self.with(self.form.bytes(&lines))
    }

    /// The intended tree.
    pub(crate) fn wanted(&self) -> Tree {
        self.with(self.form.bytes(&self.meant()))
    }

    fn with(&self, file: Vec<u8>) -> Tree {
        let around = self.around.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes()));
        around.chain([(self.path.clone(), file)]).collect()
    }

    /// The text of a whole-file reply.
    pub(crate) fn whole_text(&self) -> Vec<String> {
        self.whole.clone().unwrap_or_else(|| self.meant().into_iter().map(|(_, text)| text.to_owned()).collect())
    }

    /// Inserts lines into the stored file before the line `at` (0-based) and moves the positions of quoted lines.
    pub(crate) fn store(&mut self, at: usize, new: Vec<String>) {
        let count = new.len();
        self.base.splice(at..at, new);
        let lines = self.blocks.iter_mut().flat_map(|block| &mut block.lines);
        lines.filter_map(|line| line.at.as_mut()).filter(|line| **line >= at).for_each(|line| *line += count);
    }

    /// Whether a block quotes or changes the line `at` (0-based) of the file.
    pub(crate) fn quotes(&self, at: usize) -> bool {
        self.blocks.iter().flat_map(|block| &block.lines).any(|line| line.at == Some(at))
    }

    /// Quotes up to `above` and `below` more lines around a block, as far as no other block begins.
    pub(crate) fn widen(&mut self, nth: usize, above: usize, below: usize) {
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

    /// All lines of all blocks.
    pub(crate) fn lines_mut(&mut self) -> impl Iterator<Item = &mut Line> {
        self.blocks.iter_mut().flat_map(|block| &mut block.lines)
    }
}

impl Sample {
    /// A sketch without blocks.
    pub(crate) fn sketch(&self, format: EditFormat, wrap: Wrap) -> Sketch {
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

/// The text of the reply.
pub(crate) fn render(sketch: &Sketch) -> String {
    let mut page = Page::default();
    match sketch.format {
        EditFormat::Diff | EditFormat::DiffFenced => search_blocks(sketch, &mut page),
        EditFormat::Udiff => unified(sketch, &mut page),
        EditFormat::Whole => whole(sketch, &mut page),
        EditFormat::Patch => patch(sketch, &mut page),
    }
    let mut text = format!("{}{}", sketch.wrap.before, page.text);
    match sketch.wrap.cut {
        Some(part) => text.truncate(cut_at(&text, &page.last, sketch.wrap.before.len(), part)),
        None => text.push_str(&sketch.wrap.after),
    }
    if sketch.wrap.crlf { text.replace('\n', "\r\n") } else { text }
}

/// The byte at which a reply is cut off: inside the last block, never at the end of a line.
fn cut_at(text: &str, last: &Range<usize>, before: usize, part: f64) -> usize {
    let length = last.len() as f64;
    let mut at = before + last.start + (length * part) as usize;
    while at > 0 && (!text.is_char_boundary(at) || text.get(..at).is_some_and(|head| head.ends_with('\n'))) {
        at -= 1;
    }
    at
}

/// The text so far, and the byte range of the last block in it, without the first line of the block.
#[derive(Default)]
struct Page {
    text: String,
    last: Range<usize>,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes the lines of a block.
    fn block(&mut self, lines: &[String]) {
        let start = self.text.len() + lines.first().map_or(0, |line| line.len() + 1);
        lines.iter().for_each(|line| self.line(line));
        self.last = start.min(self.text.len())..self.text.len();
    }
}

/// The opening and the closing fence for some lines.
fn fence(sketch: &Sketch, lines: &[String]) -> Option<(String, String)> {
    match &sketch.wrap.fencing {
        Fencing::Closed(info) | Fencing::Open(info) => {
            let marks = fence_for(lines.iter().map(String::as_str));
            Some((format!("{marks}{info}"), marks))
        }
        Fencing::None => None,
    }
}

fn open(page: &mut Page, fence: Option<&(String, String)>) {
    if let Some((opening, _)) = fence {
        page.line(opening);
    }
}

/// Closes a fence, unless the last closing fence is missing.
fn close(page: &mut Page, fence: Option<&(String, String)>, sketch: &Sketch, last: bool) {
    let forgotten = last && matches!(sketch.wrap.fencing, Fencing::Open(_));
    if let Some((_, closing)) = fence.filter(|_| !forgotten) {
        page.line(closing);
    }
}

fn search_block(block: &Block) -> Vec<String> {
    let side = |without: Mark| {
        let lines = block.lines.iter().filter(move |line| line.mark != without);
        lines.map(|line| line.text.clone())
    };
    let mut lines = vec!["<<<<<<< SEARCH".to_owned()];
    lines.extend(side(Mark::Insert));
    lines.push("=======".to_owned());
    lines.extend(side(Mark::Delete));
    lines.push(">>>>>>> REPLACE".to_owned());
    lines
}

fn search_blocks(sketch: &Sketch, page: &mut Page) {
    let blocks: Vec<Vec<String>> = sketch.blocks.iter().map(search_block).collect();
    let pages =
        if sketch.wrap.one_fence { vec![blocks] } else { blocks.into_iter().map(|block| vec![block]).collect() };
    let count = pages.len();
    for (nth, blocks) in pages.into_iter().enumerate() {
        if nth > 0 {
            page.line("");
        }
        if let Some(name) = &sketch.wrap.name {
            page.line(name);
        }
        let fence = fence(sketch, &blocks.concat());
        open(page, fence.as_ref());
        blocks.iter().for_each(|block| page.block(block));
        close(page, fence.as_ref(), sketch, nth + 1 == count);
    }
}

/// A line of a diff with its sign.
fn signed(line: &Line, bare_blanks: bool) -> String {
    let sign = match line.mark {
        Mark::Delete => '-',
        Mark::Insert if !line.unsigned => '+',
        _ if bare_blanks && line.text.is_empty() => return String::new(),
        _ => ' ',
    };
    format!("{sign}{}", line.text)
}

fn diff_lines(block: &Block, bare_blanks: bool) -> Vec<String> {
    if !block.blockwise {
        return block.lines.iter().map(|line| signed(line, bare_blanks)).collect();
    }
    let old = block.lines.iter().filter(|line| line.mark != Mark::Insert).map(|line| format!("-{}", line.text));
    let new = block.lines.iter().filter(|line| line.mark != Mark::Delete).map(|line| format!("+{}", line.text));
    old.chain(new).collect()
}

fn head(block: &Block) -> String {
    match &block.head {
        Head::Bare => "@@".to_owned(),
        Head::Dots => "@@ ... @@".to_owned(),
        Head::Numbers(old, new) => {
            let count = |without: Mark| block.lines.iter().filter(|line| line.mark != without).count();
            format!("@@ -{old},{} +{new},{} @@", count(Mark::Insert), count(Mark::Delete))
        }
        Head::Scope(scope) => format!("@@ {scope}"),
    }
}

fn unified(sketch: &Sketch, page: &mut Page) {
    let mut blocks = Vec::new();
    for block in &sketch.blocks {
        let mut lines = vec![head(block)];
        lines.extend(diff_lines(block, sketch.wrap.bare_blanks));
        blocks.push(lines);
    }
    let fence = fence(sketch, &blocks.concat());
    open(page, fence.as_ref());
    if let Some(name) = &sketch.wrap.name {
        let (old, new) = if sketch.wrap.sided { ("a/", "b/") } else { ("", "") };
        page.line(&if sketch.creates { "--- /dev/null".to_owned() } else { format!("--- {old}{name}") });
        page.line(&format!("+++ {new}{name}"));
    }
    blocks.iter().for_each(|block| page.block(block));
    close(page, fence.as_ref(), sketch, true);
}

fn whole(sketch: &Sketch, page: &mut Page) {
    let text = sketch.whole_text();
    if let Some(name) = &sketch.wrap.name {
        page.line(name);
    }
    let fence = fence(sketch, &text);
    open(page, fence.as_ref());
    page.block(&text);
    close(page, fence.as_ref(), sketch, true);
}

fn patch(sketch: &Sketch, page: &mut Page) {
    let blocks: Vec<Vec<String>> =
        sketch.blocks.iter().map(|block| diff_lines(block, sketch.wrap.bare_blanks)).collect();
    let fence = fence(sketch, &blocks.concat());
    open(page, fence.as_ref());
    page.line("*** Begin Patch");
    if let Some(name) = &sketch.wrap.name {
        page.line(&format!("*** {} File: {name}", if sketch.creates { "Add" } else { "Update" }));
    }
    for (block, lines) in sketch.blocks.iter().zip(&blocks) {
        if !sketch.creates {
            page.line(&head(block));
        }
        page.block(lines);
    }
    page.line("*** End Patch");
    close(page, fence.as_ref(), sketch, true);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::tests::sketch;

    #[test]
    fn the_intended_text_is_the_text_after() {
        let sketch = sketch(EditFormat::Udiff);
        let meant: Vec<&str> = sketch.meant().into_iter().map(|(_, text)| text).collect();
        assert_eq!(meant, crate::edits::tests::AFTER.lines().collect::<Vec<_>>());
    }

    #[test]
    fn inserted_lines_move_quoted_lines() {
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

    #[test]
    fn every_edit_format_is_rendered() {
        let mut udiff = sketch(EditFormat::Udiff);
        assert_eq!(
            render(&udiff),
            "```diff\n--- src/tide.py\n+++ src/tide.py\n@@ ... @@\n \n     # The sea is flat at first.\n-    level = 0\n\
             +    level = 1\n     for hour in range(day):\n         level += hour\n```\n"
        );
        udiff.blocks[0].blockwise = true;
        assert!(
            render(&udiff).contains("-        level += hour\n+\n+    # The sea is flat at first.\n+    level = 1\n")
        );
        let diff = render(&sketch(EditFormat::Diff));
        assert!(
            diff.starts_with(
                "src/tide.py\n```python\n<<<<<<< SEARCH\n\n    # The sea is flat at first.\n    level = 0\n"
            )
        );
        assert!(diff.ends_with("=======\n\n    # The sea is flat at first.\n    level = 1\n    for hour in range(day):\n        level += hour\n>>>>>>> REPLACE\n```\n"), "{diff}");
        let patch = render(&sketch(EditFormat::Patch));
        assert!(patch.contains("*** Begin Patch\n*** Update File: src/tide.py\n@@ ... @@\n \n"), "{patch}");
        let whole = render(&sketch(EditFormat::Whole));
        assert_eq!(whole, format!("src/tide.py\n```python\n{}```\n", crate::edits::tests::AFTER));
    }

    #[test]
    fn a_truncated_reply_ends_within_a_line_of_the_last_block() {
        for part in [0.2, 0.5, 0.9] {
            let mut whole = sketch(EditFormat::Whole);
            let full = render(&whole);
            whole.wrap.cut = Some(part);
            let text = render(&whole);
            assert!(full.starts_with(&text) && !text.ends_with('\n') && !text.ends_with("```"), "{text}");
        }
    }
}
