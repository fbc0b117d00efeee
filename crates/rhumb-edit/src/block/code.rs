//! A fence that holds neither a search block nor a diff: a whole file, shell commands, or an example.

use super::fence::Fence;
use super::{marker, prose};
use crate::format::{EditFormat, FormatChoice};
use crate::name;
use crate::reply::{Change, Edit, EditAction, LineKind};
use crate::stream::Sink;

/// So many non-blank lines a fence may have before it is taken for what it looks like.
const HEAD: usize = 2;

/// What a fence may be besides an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A whole file.
    File,
    /// A whole file if the line above it is the name of one.
    Perhaps,
    /// Nothing that is kept, shell commands aside.
    Example,
}

/// The fence that is being read.
#[derive(Debug)]
pub(crate) struct CodeBlock {
    fence: Fence,
    path: Option<String>,
    heading: Option<usize>,
    role: Role,
    lines: Vec<String>,
    written: usize,
    /// Fences opened inside this one and not closed yet.
    nested: usize,
    /// A line that closes the fence or opens one in the document that it holds: the next line decides.
    held: Option<String>,
    first: usize,
    announced: usize,
}

impl CodeBlock {
    pub(crate) fn new(fence: Fence, path: Option<String>, heading: Option<usize>, role: Role, first: usize) -> Self {
        Self { fence, path, heading, role, lines: Vec::new(), written: 0, nested: 0, held: None, first, announced: 0 }
    }

    /// Whether the lines so far could still be the head of a block in another format.
    pub(crate) fn undecided(&self) -> bool {
        self.written < HEAD
    }

    pub(crate) fn is_whole_only(&self, choice: FormatChoice) -> bool {
        choice == FormatChoice::Only(EditFormat::Whole)
    }

    /// Whether other edits may stand in it: it has a tag for a fence, which may be markup of the prose that is never closed, and no
    /// file name.
    pub(crate) fn is_loose(&self) -> bool {
        self.fence.is_tag() && self.role != Role::File
    }

    /// Whether it holds a document, which may hold fences itself.
    fn is_document(&self) -> bool {
        match &self.path {
            Some(path) => marker::is_document(path),
            None => self.fence.is_document(),
        }
    }

    /// Whether `line`, below the name of a file, opens the fence of that file, as no code has such a line: the fence that is open
    /// was never closed then.
    pub(crate) fn is_interrupted_by(&self, line: &str) -> bool {
        self.nested == 0 && !self.is_document() && self.fence.nested_by(line) && !self.is_in_string()
    }

    /// The same of a fence without a language, which as a rule closes the one that is open. Data may end with the name of a file.
    pub(crate) fn may_be_interrupted_by(&self, line: &str) -> bool {
        const DATA: [&str; 13] =
            ["cfg", "conf", "csv", "env", "ini", "json", "lock", "md", "rst", "toml", "txt", "yaml", "yml"];
        let extension = |path: &str| path.rsplit_once('.').map_or_else(String::new, |(_, end)| end.to_lowercase());
        let is_code = |path: &str| {
            name::knows_extension(path) && !name::is_script(path) && !DATA.contains(&extension(path).as_str())
        };
        let is_code = self.path.as_deref().is_some_and(is_code);
        self.nested == 0 && self.fence.closed_by(line) && is_code && !self.is_in_string()
    }

    /// Whether a string of several lines, as Python has them, is open: it may hold fences, as prompts do.
    fn is_in_string(&self) -> bool {
        let is_open = |quotes: &str| self.lines.iter().map(|line| line.matches(quotes).count()).sum::<usize>() % 2 == 1;
        is_open("\"\"\"") || is_open("'''")
    }

    /// Whether the fence was closed by the line before `line`. A fence of the same width without a language may also be one in the
    /// document, where code follows it at once.
    pub(crate) fn was_closed_before(&mut self, line: &str, sink: &mut Sink) -> bool {
        let Some(held) = self.held.take() else { return false };
        if !prose::is_code(line) {
            return true;
        }
        self.nested += 1;
        self.take(&held, sink);
        false
    }

    /// Reads a line; true when it closes the fence.
    pub(crate) fn read(&mut self, line: &str, sink: &mut Sink) -> bool {
        if self.fence.closed_by(line) {
            if self.nested == 0 {
                let held =
                    self.role == Role::File && self.is_document() && !self.fence.is_tag() && !self.lines.is_empty();
                self.held = held.then(|| line.to_owned());
                return !held;
            }
            self.nested -= 1;
        } else if self.fence.nested_by(line) {
            self.nested += 1;
        }
        self.take(line, sink);
        false
    }

    fn take(&mut self, line: &str, sink: &mut Sink) {
        self.written += usize::from(!line.trim().is_empty());
        self.lines.push(line.to_owned());
        if self.role == Role::File && !self.undecided() {
            self.announce(sink);
        }
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
        let (opening, closing) = self.fence.lines(closed);
        sink.prose(self.first, &opening);
        let numbers = self.first + 1..;
        numbers.zip(&self.lines).for_each(|(number, line)| sink.prose(number, line));
        if closed {
            sink.prose(self.first + 1 + self.lines.len(), &closing);
        }
    }

    /// Ends the block. Without a closing fence it still counts, unless the reply stops within a line or goes on in prose.
    pub(crate) fn finish(mut self, closed: bool, cut: bool, last: usize, sink: &mut Sink) {
        let closed = closed || self.held.is_some();
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
        let goes_on =
            || !self.is_document() && prose::ends_in_prose(&self.lines, self.path.as_deref().unwrap_or_default());
        let complete = closed || (!cut && self.nested == 0 && !goes_on());
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
