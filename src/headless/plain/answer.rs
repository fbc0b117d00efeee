//! An answer in lines, as it arrives: its prose line by line, code with a word before and after it, each edit as one line. What an
//! edit changes is read in the review.

use rhumb_edit::{EditStream, FormatChoice, LineKind, StreamEvent};

/// An answer, growing.
pub(super) struct AnswerLines {
    stream: EditStream,
    /// Bytes of the answer that were taken in.
    taken: usize,
    /// The newest line of prose: it may turn out to be the file name above an edit.
    held: Option<String>,
    edit: Edit,
    /// The fence of the code that is being printed.
    fence: Option<String>,
    closed: bool,
    lines: Vec<String>,
}

/// The edit that is arriving.
#[derive(Default)]
struct Edit {
    path: Option<String>,
    added: usize,
    removed: usize,
    open: bool,
}

impl Default for AnswerLines {
    fn default() -> Self {
        let stream = EditStream::new(FormatChoice::Auto);
        let (held, fence, lines) = (None, None, Vec::new());
        Self { stream, taken: 0, held, edit: Edit::default(), fence, closed: false, lines }
    }
}

impl AnswerLines {
    /// For an answer of which so much has been printed and which goes on.
    pub(super) fn after(printed: &str) -> Self {
        let mut view = Self::default();
        drop(view.update(printed, false));
        view.held = None;
        view
    }

    /// Takes in the answer so far, and gives the lines that are new. `ended` once no more will come.
    pub(super) fn update(&mut self, answer: &str, ended: bool) -> Vec<String> {
        if let Some(new) = answer.get(self.taken..).filter(|new| !new.is_empty()) {
            self.stream.push(new);
            self.taken = answer.len();
        }
        let closes = ended && !std::mem::replace(&mut self.closed, ended);
        if closes && !answer.ends_with('\n') {
            self.stream.push("\n");
        }
        if closes && let Some(mark) = open_fence(answer) {
            // What stands in a fence is held back until that ends: it may be an edit.
            self.stream.push(&format!("{mark}\n"));
        }
        for event in self.stream.events() {
            self.take(event);
        }
        if closes {
            self.close();
        }
        std::mem::take(&mut self.lines)
    }

    /// Whether the answer is shorter than what was printed of it: part of it was none.
    pub(super) fn is_ahead_of(&self, answer: &str) -> bool {
        answer.len() < self.taken
    }

    fn take(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Prose { text, .. } => {
                if let Some(before) = self.held.replace(text) {
                    self.prose(before);
                }
            }
            StreamEvent::EditStarted { path, .. } => {
                // The line of the edit tells the name; the line above it need not.
                let names_it = |line: &String| path.as_ref().is_some_and(|path| line.contains(path.as_str()));
                if let Some(line) = self.held.take().filter(|line| !names_it(line)) {
                    self.prose(line);
                }
                self.end_code();
                self.edit = Edit { path, open: true, ..Edit::default() };
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
        if let Some(line) = self.held.take() {
            self.prose(line);
        }
        if self.edit.open {
            self.end_edit(false);
        }
        self.end_code();
    }

    fn end_edit(&mut self, complete: bool) {
        let Edit { path, added, removed, .. } = std::mem::take(&mut self.edit);
        let path = path.unwrap_or_else(|| "a file without a name".to_owned());
        let cut = if complete { "" } else { ", cut off" };
        let sizes = match (added, removed) {
            (0, 0) => String::new(),
            (added, 0) => format!(", {added} added"),
            (0, removed) => format!(", {removed} removed"),
            (added, removed) => format!(", {removed} removed, {added} added"),
        };
        self.lines.push(format!("edit: {path}{sizes}{cut}"));
    }

    fn prose(&mut self, line: String) {
        let mark = fence(&line);
        match (&self.fence, mark) {
            (None, Some((mark, language))) => {
                let language = if language.is_empty() { String::new() } else { format!(", {language}") };
                self.lines.push(format!("code{language}:"));
                self.fence = Some(mark);
            }
            (Some(open), Some((mark, ""))) if mark.starts_with(open.as_str()) => self.end_code(),
            _ => self.lines.push(line),
        }
    }

    fn end_code(&mut self) {
        if self.fence.take().is_some() {
            self.lines.push("end of code".to_owned());
        }
    }
}

/// The fence that an answer ends in, if it stands alone in it: one within an edit is the edit's.
fn open_fence(answer: &str) -> Option<String> {
    let mut open: Option<(String, usize)> = None;
    for (at, line) in answer.lines().enumerate() {
        match (&open, fence(line)) {
            (None, Some((mark, _))) => open = Some((mark, at)),
            (Some((mark, _)), Some((other, ""))) if other.starts_with(mark.as_str()) => open = None,
            _ => {}
        }
    }
    let (mark, from) = open?;
    let is_edit = |line: &str| EDITS.iter().any(|edit| line.starts_with(edit));
    (!answer.lines().skip(from).any(is_edit)).then_some(mark)
}

/// How lines of edits begin.
const EDITS: [&str; 5] = ["<<<<<<<", "*** ", "--- ", "+++ ", "@@"];

/// The fence that a line is, and the language behind it.
fn fence(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let mark = ['`', '~'].into_iter().find(|mark| line.starts_with(&mark.to_string().repeat(3)))?;
    let rest = line.trim_start_matches(mark);
    let language = rest.split_whitespace().next().unwrap_or_default();
    // Behind backticks no backtick follows: that is code within a sentence.
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
        let told: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        assert_eq!(told, ["First this.", "edit: a.py, 1 removed, 1 added", "Then **that**."]);
    }

    #[test]
    fn code_has_a_word_before_and_after_it() {
        let lines = of("Run this:\n\n```sh\ncargo test\n```\n\nor\n~~~\nx\n");
        let told: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        assert_eq!(told, ["Run this:", "code, sh:", "cargo test", "end of code", "or", "code:", "x", "end of code"]);
    }

    #[test]
    fn the_lines_are_the_same_however_the_answer_arrived() {
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
    fn file_headers_inside_a_fence_are_no_edits_and_no_removed_lines() {
        let diff = "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n--- a/b.py\n+++ b/b.py\n@@ -1 +1,2 @@\n-old\n+new\n+more\n```\n";
        assert_eq!(of(diff), ["edit: a.py, 1 removed, 1 added", "edit: b.py, 1 removed, 2 added"]);
    }

    #[test]
    fn an_edit_that_was_cut_off_says_so() {
        let cut = EDIT.split_once("new").map_or("", |(start, _)| start);
        assert!(of(cut).last().is_some_and(|line| line.ends_with("cut off")), "{:?}", of(cut));
    }
}
