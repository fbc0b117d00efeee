//! A fence that holds neither a search block nor a diff: a whole file, shell commands, or an example.

use super::format::{EditFormat, FormatChoice};
use super::marker::Fence;
use super::reply::{Change, Edit, EditAction, LineKind};
use super::stream::Sink;

/// So many non-blank lines a fence may have before it is taken for what it looks like.
const HEAD: usize = 2;

/// The fence that is being read.
#[derive(Debug)]
pub(super) struct CodeBlock {
    fence: Fence,
    path: Option<String>,
    whole: bool,
    lines: Vec<String>,
    written: usize,
    /// Fences opened inside this one and not closed yet.
    nested: usize,
    first: usize,
    announced: usize,
}

impl CodeBlock {
    pub(super) fn new(fence: Fence, path: Option<String>, whole: bool, first: usize) -> Self {
        Self { fence, path, whole, lines: Vec::new(), written: 0, nested: 0, first, announced: 0 }
    }

    /// Whether the lines so far could still be the head of a block in another format.
    pub(super) fn undecided(&self) -> bool {
        self.written < HEAD
    }

    pub(super) fn is_whole_only(&self, choice: FormatChoice) -> bool {
        choice == FormatChoice::Only(EditFormat::Whole)
    }

    /// Reads a line; true when it closes the fence.
    pub(super) fn read(&mut self, line: &str, sink: &mut Sink) -> bool {
        if self.fence.closed_by(line) {
            if self.nested == 0 {
                return true;
            }
            self.nested -= 1;
        } else if self.fence.nested_by(line) {
            self.nested += 1;
        }
        self.written += usize::from(!line.trim().is_empty());
        self.lines.push(line.to_owned());
        if self.whole && !self.undecided() {
            self.announce(sink);
        }
        false
    }

    fn announce(&mut self, sink: &mut Sink) {
        if self.announced == 0 {
            sink.started(self.path.as_deref(), EditFormat::Whole);
        }
        for line in self.lines.iter().skip(self.announced) {
            sink.line(LineKind::Insert, line);
        }
        self.announced = self.lines.len();
    }

    /// Ends the block. Without a closing fence it still counts, unless the reply stops within a line.
    pub(super) fn finish(mut self, closed: bool, cut: bool, last: usize, sink: &mut Sink) {
        if self.fence.is_shell() {
            let command = self.lines.join("\n");
            if closed && !command.trim().is_empty() {
                sink.reply.suggested_commands.push(command);
            }
            return;
        }
        if !self.whole {
            return;
        }
        let complete = closed || (!cut && self.nested == 0);
        self.announce(sink);
        sink.ended(complete);
        sink.reply.edits.push(Edit {
            path: self.path,
            format: EditFormat::Whole,
            action: EditAction::Modify,
            change: Change::Whole(self.lines),
            reply_lines: (self.first, last),
            complete,
        });
    }
}
