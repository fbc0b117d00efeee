//! Renders a streaming answer as lines: prose line by line, code between two marker lines, and each edit as one line. The
//! review shows what an edit changes.

use rhumb_edit::{EditStream, FormatChoice, LineKind, StreamEvent};

pub(super) struct AnswerLines {
    stream: EditStream,
    read: usize,
    /// The last line of prose. It is deferred because it may be the file name above an edit.
    deferred: Option<String>,
    edit: OpenEdit,
    /// The fence of the code block that is being printed.
    fence: Option<String>,
    is_closed: bool,
    lines: Vec<String>,
}

#[derive(Default)]
struct OpenEdit {
    path: Option<String>,
    added: usize,
    removed: usize,
    is_open: bool,
}

impl Default for AnswerLines {
    fn default() -> Self {
        Self {
            stream: EditStream::new(FormatChoice::Auto),
            read: 0,
            deferred: None,
            edit: OpenEdit::default(),
            fence: None,
            is_closed: false,
            lines: Vec::new(),
        }
    }
}

impl AnswerLines {
    pub(super) fn after(printed: &str) -> Self {
        let mut view = Self::default();
        drop(view.update(printed, false));
        view.deferred = None;
        view
    }

    /// Reads the answer so far and returns the new lines. `ended`: the answer is complete.
    pub(super) fn update(&mut self, answer: &str, ended: bool) -> Vec<String> {
        if let Some(new) = answer.get(self.read..).filter(|new| !new.is_empty()) {
            self.stream.push(new);
            self.read = answer.len();
        }
        let closes = ended && !std::mem::replace(&mut self.is_closed, ended);
        if closes && !answer.ends_with('\n') {
            self.stream.push("\n");
        }
        if closes && let Some(mark) = open_fence(answer) {
            // The parser holds the content of a fence back until its end, because it may be an edit.
            self.stream.push(&format!("{mark}\n"));
        }
        for event in self.stream.events() {
            self.add(event);
        }
        if closes {
            self.close();
        }
        std::mem::take(&mut self.lines)
    }

    /// Whether the answer is shorter than what was read of it, because its beginning was reclassified as reasoning.
    pub(super) fn is_ahead_of(&self, answer: &str) -> bool {
        answer.len() < self.read
    }

    fn add(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Prose { text, .. } => {
                if let Some(before) = self.deferred.replace(text) {
                    self.prose(before);
                }
            }
            StreamEvent::EditStarted { path, .. } => {
                // The line of the edit has the name, so a line above it with the name is omitted.
                let has_name = |line: &String| path.as_ref().is_some_and(|path| line.contains(path.as_str()));
                if let Some(line) = self.deferred.take().filter(|line| !has_name(line)) {
                    self.prose(line);
                }
                self.end_code();
                self.edit = OpenEdit { path, is_open: true, ..OpenEdit::default() };
            }
            StreamEvent::EditLine { kind, .. } => {
                self.edit.added += usize::from(kind == LineKind::Insert);
                self.edit.removed += usize::from(kind == LineKind::Delete);
            }
            StreamEvent::EditEnded { complete, lines } => {
                let edit = self.stream.finished_edits().iter().rev().find(|edit| edit.reply_lines == lines);
                if let Some((added, removed)) = edit.map(rhumb_edit::Edit::line_counts) {
                    (self.edit.added, self.edit.removed) = (added, removed);
                }
                self.end_edit(complete);
            }
        }
    }

    fn close(&mut self) {
        if let Some(line) = self.deferred.take() {
            self.prose(line);
        }
        if self.edit.is_open {
            self.end_edit(false);
        }
        self.end_code();
    }

    fn end_edit(&mut self, is_complete: bool) {
        let OpenEdit { path, added, removed, .. } = std::mem::take(&mut self.edit);
        let path = path.unwrap_or_else(|| "a file without a name".to_owned());
        let incomplete = if is_complete { "" } else { ", cut off" };
        let sizes = match (added, removed) {
            (0, 0) => String::new(),
            (added, 0) => format!(", {added} added"),
            (0, removed) => format!(", {removed} removed"),
            (added, removed) => format!(", {removed} removed, {added} added"),
        };
        self.lines.push(format!("edit: {path}{sizes}{incomplete}"));
    }

    fn prose(&mut self, line: String) {
        match (&self.fence, parse_fence(&line)) {
            (None, Some((fence, language))) => {
                let language = if language.is_empty() { String::new() } else { format!(", {language}") };
                self.lines.push(format!("code{language}:"));
                self.fence = Some(fence);
            }
            (Some(open), Some((fence, ""))) if fence.starts_with(open.as_str()) => self.end_code(),
            _ => self.lines.push(line),
        }
    }

    fn end_code(&mut self) {
        if self.fence.take().is_some() {
            self.lines.push("end of code".to_owned());
        }
    }
}

/// The fence that is open at the end of an answer, unless an edit begins within it.
fn open_fence(answer: &str) -> Option<String> {
    let mut open: Option<(String, usize)> = None;
    for (at, line) in answer.lines().enumerate() {
        match (&open, parse_fence(line)) {
            (None, Some((fence, _))) => open = Some((fence, at)),
            (Some((fence, _)), Some((other, ""))) if other.starts_with(fence.as_str()) => open = None,
            _ => {}
        }
    }
    let (fence, from) = open?;
    let is_edit = |line: &str| EDIT_PREFIXES.iter().any(|prefix| line.starts_with(prefix));
    (!answer.lines().skip(from).any(is_edit)).then_some(fence)
}

/// Prefixes of lines that belong to edits.
const EDIT_PREFIXES: [&str; 5] = ["<<<<<<<", "*** ", "--- ", "+++ ", "@@"];

fn parse_fence(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let mark = ['`', '~'].into_iter().find(|mark| line.starts_with(&mark.to_string().repeat(3)))?;
    let rest = line.trim_start_matches(mark);
    let language = rest.split_whitespace().next().unwrap_or_default();
    // A line with further backticks is inline code.
    (!rest.contains('`')).then(|| (mark.to_string().repeat(line.len() - rest.len()), language))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDIT: &str =
        "First this.\n\na.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n\nThen **that**.";

    fn of(answer: &str) -> Vec<String> {
        AnswerLines::default().update(answer, true)
    }

    #[test]
    fn an_edit_is_one_line_and_the_rest_is_prose() {
        let lines = of(EDIT);
        let printed: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        assert_eq!(printed, ["First this.", "edit: a.py, 1 removed, 1 added", "Then **that**."]);
    }

    #[test]
    fn code_is_between_marker_lines() {
        let lines = of("Run this:\n\n```sh\ncargo test\n```\n\nor\n~~~\nx\n");
        let printed: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        assert_eq!(printed, ["Run this:", "code, sh:", "cargo test", "end of code", "or", "code:", "x", "end of code"]);
    }

    #[test]
    fn the_lines_are_the_same_however_the_answer_arrives() {
        for answer in [EDIT, "a\n```rust\nfn main() {}\n```\nb"] {
            let mut view = AnswerLines::default();
            let mut lines = Vec::new();
            for end in (0..answer.len()).filter(|end| answer.is_char_boundary(*end)) {
                lines.extend(view.update(&answer[..end], false));
            }
            lines.extend(view.update(answer, true));
            assert_eq!(lines, of(answer));
        }
    }

    #[test]
    fn a_line_is_printed_as_soon_as_it_cannot_be_the_name_of_a_file() {
        let mut view = AnswerLines::default();
        assert!(view.update("One.\nTwo", false).is_empty());
        assert_eq!(view.update("One.\nTwo.\nThr", false), ["One."]);
    }

    #[test]
    fn file_headers_inside_a_fence_are_neither_edits_nor_removed_lines() {
        let diff = "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n--- a/b.py\n+++ b/b.py\n@@ -1 +1,2 @@\n-old\n+new\n+more\n```\n";
        assert_eq!(of(diff), ["edit: a.py, 1 removed, 1 added", "edit: b.py, 1 removed, 2 added"]);
    }

    #[test]
    fn an_edit_that_was_cut_off_says_so() {
        let cut = EDIT.split_once("new").map_or("", |(start, _)| start);
        assert!(of(cut).last().is_some_and(|line| line.ends_with("cut off")), "{:?}", of(cut));
    }
}
