//! Fences without a search block or a diff: a whole file, shell commands, or an example. Also tells code from prose
//! where a fence is not clearly closed.

use super::ReplyBuilder;
use super::fence::Fence;
use super::heading::{Heading, HeadingKind};
use super::markers;
use crate::file_name;
use crate::format::{EditFormat, FormatChoice};
use crate::reply::{Change, Edit, EditAction, LineKind};

/// Number of non-blank lines after which a fence cannot become a block of another format.
const UNDECIDED_LINES: usize = 2;

/// The possible kinds of a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FenceRole {
    /// A whole file.
    File,
    /// A whole file if its heading names one, otherwise an example.
    Maybe,
    /// An example. Only shell commands are kept.
    Example,
}

/// The open fence.
#[derive(Debug)]
pub(crate) struct CodeBlock {
    fence: Fence,
    path: Option<String>,
    heading: Option<usize>,
    role: FenceRole,
    lines: Vec<String>,
    written: usize,
    /// Number of open fences inside of this one.
    nested: usize,
    /// A line that closes this fence, or opens one in the document that it contains. The next line decides.
    held: Option<String>,
    first: usize,
    announced: usize,
}

impl CodeBlock {
    pub(crate) fn new(
        fence: Fence,
        path: Option<String>,
        heading: Option<usize>,
        role: FenceRole,
        first: usize,
    ) -> Self {
        Self { fence, path, heading, role, lines: Vec::new(), written: 0, nested: 0, held: None, first, announced: 0 }
    }

    /// Whether the fence may still turn out to be a block of another format.
    pub(crate) fn undecided(&self) -> bool {
        self.written < UNDECIDED_LINES
    }

    pub(crate) fn is_whole_only(&self, choice: FormatChoice) -> bool {
        choice == FormatChoice::Only(EditFormat::Whole)
    }

    /// Whether the fence may contain other edits: it is a tag without a file name, which may be markup that is
    /// never closed.
    pub(crate) fn is_loose(&self) -> bool {
        self.fence.is_tag() && self.role != FenceRole::File
    }

    /// Whether the fence contains a document, which may contain fences.
    fn is_document(&self) -> bool {
        match &self.path {
            Some(path) => markers::is_document(path),
            None => self.fence.is_document(),
        }
    }

    /// Whether `line`, below a file name, opens the fence of that file. Then this fence was never closed.
    pub(crate) fn is_interrupted_by(&self, line: &str) -> bool {
        self.nested == 0 && !self.is_document() && self.fence.nested_by(line) && !self.is_in_string()
    }

    /// As [`Self::is_interrupted_by`], for a fence without a language, which usually closes this one. Data may end
    /// with a file name.
    pub(crate) fn may_be_interrupted_by(&self, line: &str) -> bool {
        const DATA: [&str; 13] =
            ["cfg", "conf", "csv", "env", "ini", "json", "lock", "md", "rst", "toml", "txt", "yaml", "yml"];
        let extension = |path: &str| path.rsplit_once('.').map_or_else(String::new, |(_, end)| end.to_lowercase());
        let is_code = |path: &str| {
            file_name::knows_extension(path) && !file_name::is_script(path) && !DATA.contains(&extension(path).as_str())
        };
        let is_code = self.path.as_deref().is_some_and(is_code);
        self.nested == 0 && self.fence.closed_by(line) && is_code && !self.is_in_string()
    }

    /// Whether a multi-line Python string is open, which may contain fences.
    fn is_in_string(&self) -> bool {
        let is_open = |quotes: &str| self.lines.iter().map(|line| line.matches(quotes).count()).sum::<usize>() % 2 == 1;
        is_open("\"\"\"") || is_open("'''")
    }

    /// Whether the line before `line` closed the fence. It may also have opened a fence in the document, if code
    /// follows.
    pub(crate) fn was_closed_before(&mut self, line: &str, sink: &mut ReplyBuilder) -> bool {
        let Some(held) = self.held.take() else { return false };
        if !is_code(line) {
            return true;
        }
        self.nested += 1;
        self.take(&held, sink);
        false
    }

    /// Reads a line. Returns `true` if it closes the fence.
    pub(crate) fn read(&mut self, line: &str, sink: &mut ReplyBuilder) -> bool {
        if self.fence.closed_by(line) {
            if self.nested == 0 {
                let held = self.role == FenceRole::File
                    && self.is_document()
                    && !self.fence.is_tag()
                    && !self.lines.is_empty();
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

    fn take(&mut self, line: &str, sink: &mut ReplyBuilder) {
        self.written += usize::from(!line.trim().is_empty());
        self.lines.push(line.to_owned());
        if self.role == FenceRole::File && !self.undecided() {
            self.announce(sink);
        }
    }

    fn announce(&mut self, sink: &mut ReplyBuilder) {
        if self.announced == 0 {
            sink.started(self.path.as_deref(), EditFormat::Whole);
        }
        for line in self.lines.iter().skip(self.announced) {
            sink.line(LineKind::Insert, line);
        }
        self.announced = self.lines.len();
    }

    /// Emits a fence that is not an edit as prose.
    fn emit_as_prose(&self, closed: bool, sink: &mut ReplyBuilder) {
        let (opening, closing) = self.fence.lines(closed);
        sink.prose(self.first, &opening);
        let numbers = self.first + 1..;
        numbers.zip(&self.lines).for_each(|(number, line)| sink.prose(number, line));
        if closed {
            sink.prose(self.first + 1 + self.lines.len(), &closing);
        }
    }

    /// Ends the block. A block without a closing fence counts, unless the reply stops within a line or continues
    /// with prose.
    pub(crate) fn finish(mut self, closed: bool, cut: bool, last: usize, sink: &mut ReplyBuilder) {
        let closed = closed || self.held.is_some();
        if self.fence.is_shell() && self.role != FenceRole::File {
            let command = self.lines.join("\n");
            if closed && !command.trim().is_empty() {
                sink.reply.suggested_commands.push(command);
            }
        }
        if self.role != FenceRole::File {
            self.emit_as_prose(closed, sink);
        }
        if self.role == FenceRole::Example {
            return;
        }
        let goes_on = || !self.is_document() && ends_in_prose(&self.lines, self.path.as_deref().unwrap_or_default());
        let complete = closed || (!cut && self.nested == 0 && !goes_on());
        if self.role == FenceRole::File {
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
        if self.role == FenceRole::File {
            sink.end(edit);
        } else {
            sink.reply.fences.push(edit);
        }
    }
}

/// Minimum number of words of a sentence after a file.
const MIN_WORDS: usize = 3;

/// Whether a line below a fence without a language is code in a new fence, and not prose after the fence.
pub(crate) fn is_code(line: &str) -> bool {
    let text = line.trim();
    let markup = text.starts_with("##") || text.starts_with(['*', '-', '<', '>', '|']) || Fence::read(line).is_some();
    // One word is enough: a line of code rarely ends like a sentence.
    let sentence = is_sentence(line, 1);
    let names_file = || Heading::read(line).is_some_and(|heading| heading.kind == HeadingKind::Path);
    let marks = || markers::opens_block(line) || line.starts_with("*** ") || line.starts_with("diff --git ");
    !text.is_empty() && !markup && !sentence && !marks() && !names_file()
}

/// Whether the last of these lines of a file is prose.
pub(crate) fn ends_in_prose(lines: &[String], path: &str) -> bool {
    let mut solid = lines.iter().rev().filter(|line| !line.trim().is_empty());
    let Some(last) = solid.next() else { return false };
    let data = [".yml", ".yaml", ".txt", ".csv"].iter().any(|extension| path.ends_with(extension));
    let item = || file_name::is_item(last) && !last.starts_with(' ') && is_worded(last, MIN_WORDS);
    is_sentence(last, MIN_WORDS) || (!data && item())
}

/// Whether a line without indentation is a sentence: it begins with a capital letter, has at least `minimum` words
/// and nothing else, and ends with a punctuation mark.
fn is_sentence(line: &str, minimum: usize) -> bool {
    let text = line.trim_end();
    text.starts_with(char::is_uppercase) && text.ends_with(['.', '!', '?', ':']) && is_worded(text, minimum)
}

/// Whether a line has at least `minimum` words and nothing else.
fn is_worded(line: &str, minimum: usize) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '/' | '.' | '_'))
    };
    let words: Vec<&str> = line.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).collect();
    words.len() >= minimum && words.iter().all(is_word) && !line.ends_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_after_a_file_is_told_from_the_end_of_the_file() {
        let ends = |text: &str, path: &str| ends_in_prose(&text.lines().map(str::to_owned).collect::<Vec<_>>(), path);
        for text in [
            "x = 1\n\nThis raises the port, so that nothing is in the way.\n",
            "x = 1\n\nNotes:\n- the port is raised\n- nothing else changes\n",
            "x = 1\n\nThe port is **9000** now.\n",
            "}\n\nLet me know if this works for you!\n",
            "}\n\nShould `main.rs` be changed as well?\n\n",
        ] {
            assert!(ends(text, "src/a.py"), "{text}");
        }
        for text in [
            "x = 1\n",
            "    return \"So it goes on.\"\n",
            "# That is the end of it.\n",
            "SELECT name FROM users;\n",
            "class Gate:\n",
            "RUN apt-get install git\n",
            "export default App\n",
            "</html>\n",
            "",
        ] {
            assert!(!ends(text, "src/a.py"), "{text}");
        }
        assert!(!ends("steps:\n- build all the things\n", "ci.yml"));
    }

    #[test]
    fn code_follows_a_fence_in_a_document_at_once() {
        for line in ["pip install harbour", "# install it", "x = 1", "    indented", "$ ls", "SELECT 1;"] {
            assert!(is_code(line), "{line}");
        }
        for line in [
            "", "Done.", "That is the document.", "Here is the rest:", "## More", "src/a.py", "**Changes**",
            "```python", "<<<<<<< SEARCH",
        ] {
            assert!(!is_code(line), "{line}");
        }
    }
}
