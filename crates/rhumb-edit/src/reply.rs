//! The edits of a parsed reply, in one form for all formats. No file has been looked at yet.

use crate::format::{EditFormat, FormatChoice};
use crate::locate::line_diff::{self, DiffStep};
use crate::parse::heading::{Heading, HeadingKind};

/// Maximum number of lines of a fence, below a sentence without a name, that is an example among whole files.
const MAX_EXAMPLE_LINES: usize = 12;

/// The kind of a line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineKind {
    /// Quoted and kept.
    Keep,
    /// Quoted and removed.
    Delete,
    /// Added.
    Insert,
    /// Any number of kept lines (`...` on both sides of a block).
    Gap,
}

/// A line of a hunk, without terminator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuotedLine {
    /// The kind of the line.
    pub kind: LineKind,
    /// The text as the model wrote it.
    pub text: String,
}

impl QuotedLine {
    /// A line of the given kind.
    pub fn new(kind: LineKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// A quoted location and its replacement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The lines in order.
    pub lines: Vec<QuotedLine>,
    /// Scopes in the hunk heading (`@@ class Gate`), outermost first. Only used if the quote is ambiguous.
    pub scopes: Vec<String>,
    /// Whether the text has to end with a newline, if the hunk changes that.
    pub final_newline: Option<bool>,
    /// The line (1-based) of the hunk heading (`@@ -12,3 +12,4 @@`). It is rarely right, and is only used if the
    /// quote is ambiguous.
    pub line: Option<usize>,
}

impl Hunk {
    /// The hunk that replaces one quoted text with another. Common lines are kept.
    pub fn between(before: &[&str], after: &[&str]) -> Self {
        let mut lines = Vec::with_capacity(before.len().max(after.len()));
        let part = |side: &[&str], range: std::ops::Range<usize>, kind| -> Vec<QuotedLine> {
            let lines = side.get(range).unwrap_or_default();
            lines.iter().map(|line| QuotedLine::new(kind, *line)).collect()
        };
        for step in line_diff::steps(before, after) {
            match step {
                DiffStep::Same(old) => lines.extend(part(before, old, LineKind::Keep)),
                DiffStep::Replace(old, new) => {
                    lines.extend(part(before, old, LineKind::Delete));
                    lines.extend(part(after, new, LineKind::Insert));
                }
            }
        }
        Self { lines, ..Self::default() }
    }

    /// Whether a line is added or removed.
    pub fn changes(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.kind, LineKind::Insert | LineKind::Delete))
    }

    /// Whether a line that is not blank is quoted from the file.
    pub fn quotes(&self) -> bool {
        self.lines.iter().any(|line| line.kind != LineKind::Insert && !line.text.trim().is_empty())
    }

    /// The quoted side (kept and removed lines), for display.
    pub fn quote(&self) -> String {
        self.side(LineKind::Insert)
    }

    /// The new side (kept and added lines), for display.
    pub fn replacement(&self) -> String {
        self.side(LineKind::Delete)
    }

    fn side(&self, without: LineKind) -> String {
        let mut text = String::new();
        for line in self.lines.iter().filter(|line| line.kind != without) {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

/// The changes of an edit in the text of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A quoted location. Usually one reading; several if lines like `=======` in the code make it ambiguous where
    /// the quote ends. Ordered by length of the quote, shortest first.
    Hunk(Vec<Hunk>),
    /// The complete text of the file, by line.
    Whole(Vec<String>),
    /// No change of the text (a deletion, a plain rename).
    Nothing,
}

/// The action of an edit on its file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditAction {
    /// Changes it. A whole file or an empty quote also creates it.
    Modify,
    /// Creates it. It must not exist.
    Create,
    /// Deletes it.
    Delete,
    /// Changes and renames it.
    Rename {
        /// The new path, as written.
        to: String,
    },
    /// Changes it under one of two names: a diff header has different names without saying that the file is
    /// renamed.
    EitherName {
        /// The second name, as written.
        to: String,
    },
}

/// One edit of a reply: a search/replace block, a hunk of a diff, or a whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file name according to the reply, without decoration and not resolved; `None` if the reply has none.
    pub path: Option<String>,
    /// Index of the heading of the edit in [`ParsedReply::headings`]. Which file it names depends on the existing
    /// files. `None` if the format itself gives the name.
    pub heading: Option<usize>,
    /// The format of the edit.
    pub format: EditFormat,
    /// The action on the file as a whole.
    pub action: EditAction,
    /// The changes in the text of the file.
    pub change: Change,
    /// First and last line in the reply, 1-based, inclusive.
    pub reply_lines: (usize, usize),
    /// `false` if the reply stopped before the end of the edit. Such an edit is never applied.
    pub complete: bool,
}

impl Edit {
    /// The edit of a tool call that replaces quoted lines of a file. An empty quote creates the file.
    pub fn replace(path: impl Into<String>, search: &str, replace: &str) -> Self {
        let (before, after): (Vec<&str>, Vec<&str>) = (search.lines().collect(), replace.lines().collect());
        let change = Change::Hunk(vec![Hunk::between(&before, &after)]);
        Self { change, ..Self::of_call(path, EditFormat::Diff, EditAction::Modify) }
    }

    /// The edit of a tool call that writes a whole file.
    pub fn write(path: impl Into<String>, content: &str) -> Self {
        let change = Change::Whole(content.lines().map(str::to_owned).collect());
        Self { change, ..Self::of_call(path, EditFormat::Whole, EditAction::Modify) }
    }

    /// The edit of a tool call that deletes a file.
    pub fn delete(path: impl Into<String>) -> Self {
        Self::of_call(path, EditFormat::Patch, EditAction::Delete)
    }

    fn of_call(path: impl Into<String>, format: EditFormat, action: EditAction) -> Self {
        Self {
            path: Some(path.into()),
            heading: None,
            format,
            action,
            change: Change::Nothing,
            reply_lines: (1, 1),
            complete: true,
        }
    }
}

impl ParsedReply {
    /// Adds a heading that falls back on `earlier`. Returns its index.
    pub(crate) fn add_heading(&mut self, heading: Heading, earlier: Option<usize>) -> usize {
        let said = earlier.and_then(|at| self.headings.get(at)).and_then(|heading| heading.path.clone());
        self.headings.push(Heading { path: heading.path.clone().or(said), earlier, ..heading });
        self.headings.len() - 1
    }

    /// The name of a heading according to the reply.
    pub(crate) fn path_of(&self, heading: Option<usize>) -> Option<String> {
        heading.and_then(|at| self.headings.get(at)).and_then(|heading| heading.path.clone())
    }

    /// Removes whole files under the name of a file that is edited in another format: these are illustrations.
    pub(crate) fn drop_illustrations(&mut self) {
        let whole = |edit: &Edit| edit.format == EditFormat::Whole;
        let edited = self.edits.iter().filter(|edit| !whole(edit)).map(|edit| edit.path.clone());
        let edited: Vec<Option<String>> = edited.collect();
        self.edits.retain(|edit| !whole(edit) || !edited.contains(&edit.path));
    }

    /// Refuses whole files without a name, unless the reply has only one, which may mean the only file of the chat.
    /// Announced examples are removed.
    pub(crate) fn refuse_unnamed(&mut self) {
        let is_whole = |edit: &Edit| edit.format == EditFormat::Whole;
        if self.edits.iter().filter(|edit| is_whole(edit)).count() < 2 {
            return;
        }
        let headings = &self.headings;
        let heading = |edit: &Edit| edit.heading.and_then(|at| headings.get(at));
        let unnamed = |edit: &Edit| is_whole(edit) && edit.path.is_none();
        self.edits.retain(|edit| !unnamed(edit) || !heading(edit).is_some_and(Heading::illustrates));
        let few = |edit: &Edit| matches!(&edit.change, Change::Whole(lines) if lines.len() <= MAX_EXAMPLE_LINES);
        let example = |edit: &mut Edit| unnamed(edit) && few(edit) && heading(edit).is_some_and(Heading::names_nothing);
        // They count if a file has the sentence as its name.
        self.fences.extend(self.edits.extract_if(.., example));
        for edit in self.edits.iter_mut().filter(|edit| unnamed(edit)) {
            let line = edit.heading.and_then(|at| self.headings.get(at)).map(|heading| heading.line.clone());
            let refused = Heading {
                line: line.unwrap_or_default(),
                kind: HeadingKind::Uncertain,
                path: None,
                mentions: Vec::new(),
                earlier: None,
            };
            self.headings.push(refused);
            edit.heading = Some(self.headings.len() - 1);
        }
    }
}

impl Edit {
    /// The quoted text, for display; empty for a whole file.
    pub fn quote(&self) -> String {
        match &self.change {
            Change::Hunk(readings) => readings.first().map(Hunk::quote).unwrap_or_default(),
            Change::Whole(_) | Change::Nothing => String::new(),
        }
    }

    /// The lines and what happens to each, for display.
    pub fn lines(&self) -> Vec<QuotedLine> {
        match &self.change {
            Change::Hunk(readings) => readings.first().map(|hunk| hunk.lines.clone()).unwrap_or_default(),
            Change::Whole(lines) => lines.iter().map(|line| QuotedLine::new(LineKind::Insert, line)).collect(),
            Change::Nothing => Vec::new(),
        }
    }

    /// The number of added and of removed lines as written. Lines on both sides of a search/replace block do not
    /// count.
    pub fn line_counts(&self) -> (usize, usize) {
        let lines = self.lines();
        let of = |kind| lines.iter().filter(|line| line.kind == kind).count();
        (of(LineKind::Insert), of(LineKind::Delete))
    }

    /// The new text, for display.
    pub fn replacement(&self) -> String {
        match &self.change {
            Change::Hunk(readings) => readings.first().map(Hunk::replacement).unwrap_or_default(),
            Change::Whole(lines) => lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect(),
            Change::Nothing => String::new(),
        }
    }
}

/// The parsed edits of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedReply {
    /// The formats that it was parsed for.
    pub choice: FormatChoice,
    /// The index of the answer in its session, 0-based; set by the caller.
    pub answer: Option<usize>,
    /// The edits in the order of the reply.
    pub edits: Vec<Edit>,
    /// The lines above (or first in) blocks and fences, in the order of the reply.
    pub headings: Vec<Heading>,
    /// Fences that are whole files if their heading names a file, and examples otherwise.
    pub fences: Vec<Edit>,
    /// The contents of shell fences: commands that the model suggests. Nothing here runs them.
    pub suggested_commands: Vec<String>,
}
