//! Markdown as lines of the screen, whole or while it streams in.
//!
//! A text is split into its top-level blocks and each is rendered alone. This makes streaming cheap (a finished block is
//! not rendered again) and exact (rendering in pieces gives the same lines as rendering the whole). The drawback is that a
//! link reference is not resolved by a definition in another block; both are then shown as written.

mod block;
mod stream;
mod table;

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;
use ratatui::text::Line;

use crate::tui::theme::Theme;

pub use self::stream::StreamingMarkdown;

/// A top-level block with text: its bytes in the source, and its lines on the screen, which may be none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// Bytes of the source.
    pub source: Range<usize>,
    /// Lines among those of the whole text.
    pub lines: Range<usize>,
}

/// The top-level blocks with text, as ranges of whole lines of `source`, which has line feeds only.
pub fn sections(source: &str) -> Vec<Range<usize>> {
    let has_text = |range: &Range<usize>| source.get(range.clone()).is_some_and(|text| !text.trim().is_empty());
    blocks(source).into_iter().filter(has_text).collect()
}

/// Colours code: language (the first word of a fence's info string, may be empty) and code to one list of styled pieces
/// for each line. The pieces of a line must join to the line, else it is shown without colours.
pub type Highlighter<'a> = dyn Fn(&str, &str) -> Vec<Vec<(String, Style)>> + 'a;

/// A highlighter that colours nothing.
pub fn no_highlight(_language: &str, _code: &str) -> Vec<Vec<(String, Style)>> {
    Vec::new()
}

/// Renders `source` to lines of at most `width` columns (from 10 columns up; narrower panes may be overrun). All text is
/// made safe to draw.
pub fn render(source: &str, width: u16, theme: &Theme, code: &Highlighter<'_>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let look = RenderContext { width: usize::from(width), theme, code };
    append(&mut lines, &with_line_feeds(source), &look);
    lines
}

/// `source` with `\n` for every line end. Unlike in Markdown, a single carriage return is not a line end: it could hide
/// text, so it is shown.
fn with_line_feeds(source: &str) -> Cow<'_, str> {
    if !source.contains('\r') {
        return Cow::Borrowed(source);
    }
    Cow::Owned(source.replace("\r\n", "\n").replace('\r', RETURN))
}

/// How a carriage return inside a line is shown.
const RETURN: &str = "␍";

/// The parameters of rendering in addition to the source.
struct RenderContext<'a> {
    width: usize,
    theme: &'a Theme,
    code: &'a Highlighter<'a>,
}

/// Appends the lines of all blocks of `source`, which has line feeds only, with an empty line between two blocks. Returns
/// the location of each block with text.
fn append(lines: &mut Vec<Line<'static>>, source: &str, look: &RenderContext<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    for range in blocks(source) {
        let text = source.get(range.clone()).unwrap_or("");
        let block = block::render(text, look);
        if !lines.is_empty() && !block.is_empty() {
            lines.push(Line::default());
        }
        let start = lines.len();
        lines.extend(block);
        if !text.trim().is_empty() {
            sections.push(Section { source: range, lines: start..lines.len() });
        }
    }
    sections
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_GFM
}

/// The top-level blocks as ranges of whole lines that cover `source`. The parser does not report link definitions as blocks,
/// but the text after one may continue its paragraph, so they start the block after them.
fn blocks(source: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let (mut depth, mut end) = (0usize, 0usize);
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            starts.extend(text_start(source, end, range.start));
            end = end.max(range.end);
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([source.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// The start of the first line with text after byte `end`, before the block at byte `next`.
fn text_start(source: &str, end: usize, next: usize) -> Option<usize> {
    let between = source.get(end..next)?;
    let text = next - between.trim_start().len();
    let line = source.get(..text)?.rfind('\n').map_or(0, |at| at + 1);
    (line >= end).then_some(line)
}

/// A code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The first word of the info string; may be empty.
    pub language: String,
    /// Its text, without the line feed at the end.
    pub text: String,
}

/// The code of a block that consists of code only.
pub fn code_of(block: &str) -> Option<Code> {
    let mut events = Parser::new_ext(block, options());
    let Some(Event::Start(Tag::CodeBlock(kind))) = events.next() else { return None };
    let info = match kind {
        CodeBlockKind::Fenced(info) => info.into_string(),
        CodeBlockKind::Indented => String::new(),
    };
    let language = info.split([' ', ',', '{']).next().unwrap_or("").to_owned();
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(piece) => text.push_str(&piece),
            Event::End(TagEnd::CodeBlock) => break,
            _ => {}
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    Some(Code { language, text })
}

/// The targets of the links of a block, in order, each once.
pub fn links_of(block: &str) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for event in Parser::new_ext(block, options()) {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            && !dest_url.is_empty()
            && !links.iter().any(|link| **link == *dest_url)
        {
            links.push(dest_url.into_string());
        }
    }
    links
}

#[cfg(test)]
mod block_content_tests {
    use super::*;

    #[test]
    fn a_code_block_gives_its_code_and_prose_none() {
        let code = code_of("```rust,ignore\nfn a() {}\n\n```\n").unwrap();
        assert_eq!((code.language.as_str(), code.text.as_str()), ("rust", "fn a() {}"));
        assert_eq!(code_of("````md\n```\nx\n```\n````").unwrap().text, "```\nx\n```");
        assert_eq!(code_of("some `code` in prose"), None);
        assert_eq!(code_of("- ```\n  x\n  ```"), None, "a list with code in it is a list");
    }

    #[test]
    fn links_are_found_wherever_they_stand() {
        assert_eq!(links_of("- [a](https://a.example) and <https://b.example> and [a](https://a.example)").len(), 2);
        assert!(links_of("no link").is_empty());
    }
}

#[cfg(test)]
mod tests;
