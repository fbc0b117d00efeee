//! Search/replace blocks. Only the REPLACE marker ends a block: fences inside are code.

use super::ReplyBuilder;
use super::markers;
use crate::format::EditFormat;
use crate::reply::{Change, Edit, EditAction, Hunk, LineKind};

/// Maximum number of dividers that are tried. More are underlined headings of a document.
const MAX_READINGS: usize = 16;

/// The open block.
#[derive(Debug)]
pub(crate) struct SearchBlock {
    path: Option<String>,
    heading: Option<usize>,
    format: EditFormat,
    width: usize,
    lines: Vec<String>,
    /// Indices in `lines` of all possible dividers.
    dividers: Vec<usize>,
    first: usize,
}

impl SearchBlock {
    pub(crate) fn new(
        heading: Option<usize>,
        format: EditFormat,
        width: usize,
        first: usize,
        sink: &mut ReplyBuilder,
    ) -> Self {
        let path = sink.reply.path_of(heading);
        sink.started(path.as_deref(), format);
        Self { path, heading, format, width, lines: Vec::new(), dividers: Vec::new(), first }
    }

    /// Reads a line. Returns `true` if it ends the block.
    pub(crate) fn read(&mut self, line: &str, number: usize, sink: &mut ReplyBuilder) -> bool {
        if !self.dividers.is_empty() && markers::replace_end(line) {
            sink.end(self.edit(number, true));
            return true;
        }
        if markers::divider(line).is_some() {
            self.dividers.push(self.lines.len());
        } else {
            sink.line(if self.dividers.is_empty() { LineKind::Delete } else { LineKind::Insert }, line);
        }
        self.lines.push(line.to_owned());
        false
    }

    /// Ends the block before its REPLACE marker: the reply stopped, or another block began.
    pub(crate) fn abandon(mut self, last: usize, sink: &mut ReplyBuilder) {
        sink.end(self.edit(last, false));
    }

    fn edit(&mut self, last: usize, complete: bool) -> Edit {
        let change = Change::Hunk(self.readings());
        let reply_lines = (self.first, last.max(self.first));
        Edit {
            path: self.path.take(),
            heading: self.heading,
            format: self.format,
            action: EditAction::Modify,
            change,
            reply_lines,
            complete,
        }
    }

    /// If exactly one divider is as wide as the opening marker, it is the divider. Otherwise each is tried.
    fn readings(&self) -> Vec<Hunk> {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        let equal = |at: &&usize| lines.get(**at).and_then(|line| markers::divider(line)) == Some(self.width);
        if let Some(repeated) = self.repeated_divider() {
            let (before, after) = lines.split_at(self.dividers.first().copied().unwrap_or_default());
            let after = after.iter().enumerate().skip(1).filter(|(at, _)| before.len() + at != repeated);
            let after: Vec<&str> = after.map(|(_, line)| *line).collect();
            let all = self.dividers.iter().map(|at| self.reading(*at));
            return std::iter::once(Hunk::between(before, &after)).chain(all).collect();
        }
        let mut exact = self.dividers.iter().filter(equal);
        let dividers = match (exact.next(), exact.next()) {
            (Some(only), None) => std::slice::from_ref(only),
            _ => self.dividers.as_slice(),
        };
        if dividers.is_empty() {
            return vec![Hunk::between(&lines, &lines)];
        }
        dividers.iter().take(MAX_READINGS).map(|at| self.reading(*at)).collect()
    }

    /// The hunk, if the line `at` is the divider.
    fn reading(&self, at: usize) -> Hunk {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        let (before, after) = lines.split_at(at.min(lines.len()));
        Hunk::between(before, after.get(1..).unwrap_or_default())
    }

    /// The index of a repeated divider: right below the first one, or right above the REPLACE marker. In a document
    /// it may underline a heading.
    fn repeated_divider(&self) -> Option<usize> {
        let [first, second] = *self.dividers.as_slice() else { return None };
        let wide = |at: usize| self.lines.get(at).and_then(|line| markers::divider(line)) == Some(self.width);
        let repeats = second == first + 1 || second + 1 == self.lines.len();
        let document = self.path.as_deref().is_none_or(markers::is_document);
        (repeats && !document && wide(first) && wide(second)).then_some(second)
    }
}
