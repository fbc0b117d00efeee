//! A fence that holds neither a search block nor a diff: a whole file, shell commands, or an example.

use super::marker::Fence;
use crate::edit::format::{EditFormat, FormatChoice};
use crate::edit::reply::{Change, Edit, EditAction, LineKind};
use crate::edit::stream::Sink;

/// So many non-blank lines a fence may have before it is taken for what it looks like.
const HEAD: usize = 2;

/// What a fence may be besides an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) enum Role {
    /// A whole file.
    File,
    /// A whole file if the line above it is the name of one.
    Perhaps,
    /// Nothing that is kept, shell commands aside.
    Example,
}

/// The fence that is being read.
#[derive(Debug)]
pub(in crate::edit) struct CodeBlock {
    fence: Fence,
    path: Option<String>,
    heading: Option<usize>,
    role: Role,
    lines: Vec<String>,
    written: usize,
    /// Fences opened inside this one and not closed yet.
    nested: usize,
    first: usize,
    announced: usize,
}

impl CodeBlock {
    pub(in crate::edit) fn new(
        fence: Fence,
        path: Option<String>,
        heading: Option<usize>,
        role: Role,
        first: usize,
    ) -> Self {
        Self { fence, path, heading, role, lines: Vec::new(), written: 0, nested: 0, first, announced: 0 }
    }

    /// Whether the lines so far could still be the head of a block in another format.
    pub(in crate::edit) fn undecided(&self) -> bool {
        self.written < HEAD
    }

    pub(in crate::edit) fn is_whole_only(&self, choice: FormatChoice) -> bool {
        choice == FormatChoice::Only(EditFormat::Whole)
    }

    /// Reads a line; true when it closes the fence.
    pub(in crate::edit) fn read(&mut self, line: &str, sink: &mut Sink) -> bool {
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
        if self.role == Role::File && !self.undecided() {
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

    /// To a reader, a fence that is no edit is part of the prose.
    fn tell(&self, closed: bool, sink: &mut Sink) {
        let (opening, closing) = self.fence.lines();
        sink.prose(self.first, &opening);
        let numbers = self.first + 1..;
        numbers.zip(&self.lines).for_each(|(number, line)| sink.prose(number, line));
        if closed {
            sink.prose(self.first + 1 + self.lines.len(), &closing);
        }
    }

    /// Ends the block. Without a closing fence it still counts, unless the reply stops within a line.
    pub(in crate::edit) fn finish(mut self, closed: bool, cut: bool, last: usize, sink: &mut Sink) {
        if self.fence.is_shell() && self.role != Role::File {
            let command = self.lines.join("\n");
            if closed && !command.trim().is_empty() {
                sink.reply.suggested_commands.push(command);
            }
        }
        if self.role != Role::File {
            self.tell(closed, sink);
        }
        if self.role == Role::Example {
            return;
        }
        let complete = closed || (!cut && self.nested == 0);
        if self.role == Role::File {
            self.announce(sink);
        }
        let edit = Edit {
            path: self.path,
            heading: self.heading,
            format: EditFormat::Whole,
            action: EditAction::Modify,
            change: Change::Whole(self.fence.dedented(self.lines)),
            reply_lines: (self.first, last),
            complete,
        };
        if self.role == Role::File {
            sink.end(edit);
        } else {
            sink.reply.fences.push(edit);
        }
    }
}
