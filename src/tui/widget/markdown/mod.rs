//! Markdown as lines of the screen, whole or while it streams in.
//!
//! A text is split into its top-level blocks and each is rendered alone. This makes streaming cheap (a finished block is
//! not rendered again) and exact (rendering in pieces gives the same lines as rendering the whole). The drawback is that a
//! link reference is not resolved by a definition in another block; both are then shown as written.

mod block;

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::tui::prelude::*;

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
pub fn render(source: &str, width: u16, theme: &Theme, code: &Highlighter<'_>) -> Lines {
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
fn append(lines: &mut Lines, source: &str, look: &RenderContext<'_>) -> Vec<Section> {
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

/// A larger open block is rendered as a whole only when it has grown by a share of its size; otherwise, a text without empty
/// lines would take quadratic time. The text since then is rendered separately, below it.
const LARGE_BLOCK_BYTES: usize = 64 * 1024;
/// The divisor of that share.
const RENDER_GROWTH_DIVISOR: usize = 16;

/// A Markdown text that grows at the end.
#[derive(Debug, Clone, Default)]
pub struct StreamingMarkdown {
    source: String,
    /// The last character is a carriage return, which a line feed may turn into a line end.
    ends_with_return: bool,
    /// Bytes of `source` in finished blocks, and the number of their lines.
    finished: usize,
    finished_lines: usize,
    lines: Lines,
    /// The blocks, and how many of them are finished.
    pub(in crate::tui) sections: Vec<Section>,
    finished_sections: usize,
    /// Width and theme of `lines`. `None` if they must be rendered.
    made_for: Option<(u16, Theme)>,
    /// Bytes of `source` that were rendered as a whole, and the number of their lines.
    rendered: usize,
    rendered_lines: usize,
    /// Text has arrived that `lines` do not show.
    stale: bool,
}

impl StreamingMarkdown {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text that has arrived.
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.ends_with_return && text.starts_with('\n') {
            self.source.truncate(self.source.len() - RETURN.len());
        }
        self.source.push_str(&with_line_feeds(text));
        self.ends_with_return = text.ends_with('\r');
        self.stale = true;
    }

    /// Everything that has arrived, with `\n` for every line end.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The lines for that width and theme, equal to those of [`render`] for the whole source. Until [`Self::forget`], the
    /// end of a last block above `LARGE_BLOCK_BYTES` may differ. If text has arrived, the last block is rendered, or only
    /// the end of a large one.
    pub fn lines(&mut self, width: u16, theme: &Theme, code: &Highlighter<'_>) -> &[Line<'static>] {
        let same_look = self.made_for.as_ref().is_some_and(|(made_width, made)| *made_width == width && made == theme);
        if !same_look {
            self.forget();
            self.made_for = Some((width, theme.clone()));
        }
        let look = RenderContext { width: usize::from(width), theme, code };
        if !same_look || (self.stale && self.is_due()) {
            self.refresh(&look);
        } else if self.stale {
            self.add_end(&look);
        }
        &self.lines
    }

    /// The lines with `tail` after the text that has arrived, without storing it: an incomplete line is shown at its final
    /// position. An incomplete line of code is shown once it is complete.
    pub fn lines_with(&mut self, tail: &str, width: u16, theme: &Theme, code: &Highlighter<'_>) -> Lines {
        self.lines(width, theme, code);
        let open = self.source.get(self.finished..).unwrap_or("");
        let begins_code = open.trim_start().starts_with("```") || open.trim_start().starts_with("~~~");
        if open.len() > LARGE_BLOCK_BYTES {
            let mut lines = self.lines.clone();
            if !begins_code {
                append_below(&mut lines, tail, &RenderContext { width: usize::from(width), theme, code });
            }
            return lines;
        }
        if tail.trim().is_empty() || (begins_code && blocks(&format!("{open}{tail}")).len() < 2) {
            return self.lines.clone();
        }
        let mut lines = self.lines.get(..self.finished_lines).unwrap_or_default().to_vec();
        append(&mut lines, &format!("{open}{tail}"), &RenderContext { width: usize::from(width), theme, code });
        lines
    }

    /// Drops the lines, so that the next call renders everything, for example when new colours are available.
    pub fn forget(&mut self) {
        (self.finished, self.finished_lines, self.finished_sections) = (0, 0, 0);
        self.lines.clear();
        self.sections.clear();
        self.made_for = None;
    }

    /// Whether the open block must be rendered as a whole again.
    fn is_due(&self) -> bool {
        let open = self.source.len().saturating_sub(self.finished);
        open <= LARGE_BLOCK_BYTES || self.source.len().saturating_sub(self.rendered) >= open / RENDER_GROWTH_DIVISOR
    }

    /// Adds the text since the open block was rendered.
    fn add_end(&mut self, look: &RenderContext<'_>) {
        self.lines.truncate(self.rendered_lines);
        append_below(&mut self.lines, self.source.get(self.rendered..).unwrap_or(""), look);
        if let Some(last) = self.sections.last_mut() {
            (last.source.end, last.lines.end) = (self.source.len(), self.lines.len());
        }
        self.stale = false;
    }

    fn refresh(&mut self, look: &RenderContext<'_>) {
        self.lines.truncate(self.finished_lines);
        self.sections.truncate(self.finished_sections);
        let open = self.source.get(self.finished..).unwrap_or("");
        // An incomplete line may still join the block before it ("#" becomes "#a"), so only whole lines are parsed. The last of
        // their blocks may continue.
        let whole = open.rfind('\n').map_or(0, |at| at + 1);
        let last = blocks(open.get(..whole).unwrap_or("")).last().map_or(0, |range| range.start);
        let moved =
            |by: usize| move |Section { source, lines }| Section { source: source.start + by..source.end + by, lines };
        let finished = append(&mut self.lines, open.get(..last).unwrap_or(""), look);
        self.sections.extend(finished.into_iter().map(moved(self.finished)));
        (self.finished_lines, self.finished_sections) = (self.lines.len(), self.sections.len());
        let still_open = append(&mut self.lines, open.get(last..).unwrap_or(""), look);
        self.sections.extend(still_open.into_iter().map(moved(self.finished + last)));
        self.finished += last;
        (self.rendered, self.rendered_lines) = (self.source.len(), self.lines.len());
        self.stale = false;
    }
}

/// Renders `source` directly below `lines`.
fn append_below(lines: &mut Lines, source: &str, look: &RenderContext<'_>) {
    let at = lines.len();
    append(lines, source, look);
    if at > 0 && lines.get(at).is_some_and(|line| line.spans.is_empty()) {
        lines.remove(at);
    }
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
