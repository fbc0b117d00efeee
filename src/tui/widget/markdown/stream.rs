//! Renders streaming Markdown: finished blocks are cached as lines, and only the open block at the end is rendered
//! again.

use ratatui::text::Line;

use super::{Highlighter, RETURN, RenderContext, Section, append, blocks, with_line_feeds};
use crate::tui::theme::Theme;

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
    lines: Vec<Line<'static>>,
    /// The blocks, and how many of them are finished.
    sections: Vec<Section>,
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

    /// The lines for that width and theme, equal to those of [`super::render`] for the whole source. Until [`Self::forget`], the
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
    pub fn lines_with(&mut self, tail: &str, width: u16, theme: &Theme, code: &Highlighter<'_>) -> Vec<Line<'static>> {
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

    /// The locations of the blocks with text, as of the last call of [`Self::lines`].
    pub fn sections(&self) -> &[Section] {
        &self.sections
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
fn append_below(lines: &mut Vec<Line<'static>>, source: &str, look: &RenderContext<'_>) {
    let at = lines.len();
    append(lines, source, look);
    if at > 0 && lines.get(at).is_some_and(|line| line.spans.is_empty()) {
        lines.remove(at);
    }
}
