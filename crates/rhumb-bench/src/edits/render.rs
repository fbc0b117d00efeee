//! A sketch written out in its format.

use std::ops::Range;

use super::sketch::{Block, Fencing, Head, Line, Mark, Sketch};
use rhumb::context::fence_for;
use rhumb_edit::EditFormat;

/// The reply that a sketch comes to.
pub(super) fn render(sketch: &Sketch) -> String {
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

/// A position inside the last block, never at the end of a line.
fn cut_at(text: &str, last: &Range<usize>, before: usize, part: f64) -> usize {
    let length = last.len() as f64;
    let mut at = before + last.start + (length * part) as usize;
    while at > 0 && (!text.is_char_boundary(at) || text.get(..at).is_some_and(|head| head.ends_with('\n'))) {
        at -= 1;
    }
    at
}

/// Text, and where in it the last block stands, without its first line.
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

/// The fence that holds some lines; none without fences.
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

/// Closes a fence, unless it is the last one and is forgotten.
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

/// The sign of a line in a diff.
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
    use super::super::tests::sketch;
    use super::*;

    #[test]
    fn every_format_is_written_as_it_should_be() {
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
        assert_eq!(whole, format!("src/tide.py\n```python\n{}```\n", super::super::tests::AFTER));
    }

    #[test]
    fn a_reply_that_is_cut_ends_within_a_line_of_the_last_block() {
        for part in [0.2, 0.5, 0.9] {
            let mut whole = sketch(EditFormat::Whole);
            let full = render(&whole);
            whole.wrap.cut = Some(part);
            let text = render(&whole);
            assert!(full.starts_with(&text) && !text.ends_with('\n') && !text.ends_with("```"), "{text}");
        }
    }
}
