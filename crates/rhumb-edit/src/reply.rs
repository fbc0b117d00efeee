//! What a reply asks for, before any file is looked at: one form for every edit format.

use crate::format::{EditFormat, FormatChoice};
use crate::locate::line_diff::{self, Step};
use crate::parse::heading::{Heading, Shape};

/// A fence of at most this many lines below a sentence that names nothing is an example where other fences are whole files.
const MAX_EXAMPLE_LINES: usize = 12;

/// What a line of a hunk asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineKind {
    /// Quoted, stays.
    Keep,
    /// Quoted, goes.
    Delete,
    /// New.
    Insert,
    /// Stands for any number of lines that stay (`...` on both sides of a block).
    Gap,
}

/// One line of a hunk, without its terminator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuotedLine {
    /// What happens to the line.
    pub kind: LineKind,
    /// Its text as the model wrote it.
    pub text: String,
}

impl QuotedLine {
    /// A line of the given kind.
    pub fn new(kind: LineKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// One quoted place and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// Its lines in order.
    pub lines: Vec<QuotedLine>,
    /// Headings that say in which scope the place is (`@@ class Gate`), outermost first. Hints, never proofs.
    pub scopes: Vec<String>,
    /// Whether the text ends with a newline afterwards, where the hunk changes just that at the end of the file.
    pub final_newline: Option<bool>,
    /// The line (1-based) at which the quote begins, as the heading has it (`@@ -12,3 +12,4 @@`). Seldom right, and
    /// heeded only between places that fit alike.
    pub line: Option<usize>,
}

impl Hunk {
    /// The hunk that turns one quoted text into another: their common lines are kept.
    pub fn between(before: &[&str], after: &[&str]) -> Self {
        let mut lines = Vec::with_capacity(before.len().max(after.len()));
        let part = |side: &[&str], range: std::ops::Range<usize>, kind| -> Vec<QuotedLine> {
            let lines = side.get(range).unwrap_or_default();
            lines.iter().map(|line| QuotedLine::new(kind, *line)).collect()
        };
        for step in line_diff::steps(before, after) {
            match step {
                Step::Same(old) => lines.extend(part(before, old, LineKind::Keep)),
                Step::Replace(old, new) => {
                    lines.extend(part(before, old, LineKind::Delete));
                    lines.extend(part(after, new, LineKind::Insert));
                }
            }
        }
        Self { lines, ..Self::default() }
    }

    /// Whether any line is added or removed.
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

/// The substance of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A quoted place. Usually one reading; several when lines like `=======` in the code leave open where the quote
    /// ends. In order of the length of the quote, shortest first.
    Hunk(Vec<Hunk>),
    /// The complete text of the file, line by line.
    Whole(Vec<String>),
    /// Nothing inside the file (a deletion, a mere rename).
    Nothing,
}

/// What the edit does to the file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditAction {
    /// Changes it; a whole-file edit or an empty quote also creates it.
    Modify,
    /// Creates it; it must not exist.
    Create,
    /// Removes it.
    Delete,
    /// Changes it and moves it.
    Rename {
        /// The new path, as written.
        to: String,
    },
    /// Changes it under one of two names: the header of a diff gives different ones without saying that the file moves.
    EitherName {
        /// The second name, as written.
        to: String,
    },
}

/// One edit of a reply: one search/replace block, one hunk of a diff, one whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file name as far as the reply alone tells, freed of decoration and not yet resolved; absent when it gives
    /// none.
    pub path: Option<String>,
    /// The line that stands where the name does, by its position among the reply's headings. The files say what it
    /// means. Absent where the format itself gives the name.
    pub heading: Option<usize>,
    /// The format it was written in.
    pub format: EditFormat,
    /// What happens to the file.
    pub action: EditAction,
    /// What happens in the file.
    pub change: Change,
    /// First and last line in the reply, 1-based, inclusive.
    pub reply_lines: (usize, usize),
    /// False when the reply stopped before the edit was finished; such an edit is never applied.
    pub complete: bool,
}

impl ParsedReply {
    /// Takes a heading in that falls back on `earlier`; its position.
    pub(crate) fn add_heading(&mut self, heading: Heading, earlier: Option<usize>) -> usize {
        let said = earlier.and_then(|at| self.headings.get(at)).and_then(|heading| heading.path.clone());
        self.headings.push(Heading { path: heading.path.clone().or(said), earlier, ..heading });
        self.headings.len() - 1
    }

    /// The name that a heading gives as far as the reply alone tells.
    pub(crate) fn path_of(&self, heading: Option<usize>) -> Option<String> {
        heading.and_then(|at| self.headings.get(at)).and_then(|heading| heading.path.clone())
    }

    /// Where a reply edits a file by search block or diff, a plain fence under the same name only illustrates.
    pub(crate) fn drop_illustrations(&mut self) {
        let whole = |edit: &Edit| edit.format == EditFormat::Whole;
        let edited = self.edits.iter().filter(|edit| !whole(edit)).map(|edit| edit.path.clone());
        let edited: Vec<Option<String>> = edited.collect();
        self.edits.retain(|edit| !whole(edit) || !edited.contains(&edit.path));
    }

    /// A whole file without a name may be meant for the only file of the chat when it is the only whole file of the reply.
    /// Among others it is refused, unless it is announced as an example.
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
        // They count if a file has the sentence for its name.
        self.fences.extend(self.edits.extract_if(.., example));
        for edit in self.edits.iter_mut().filter(|edit| unnamed(edit)) {
            let line = edit.heading.and_then(|at| self.headings.get(at)).map(|heading| heading.line.clone());
            let refused = Heading {
                line: line.unwrap_or_default(),
                shape: Shape::Doubtful,
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

    /// Its lines, with what happens to each, for display.
    pub fn lines(&self) -> Vec<QuotedLine> {
        match &self.change {
            Change::Hunk(readings) => readings.first().map(|hunk| hunk.lines.clone()).unwrap_or_default(),
            Change::Whole(lines) => lines.iter().map(|line| QuotedLine::new(LineKind::Insert, line)).collect(),
            Change::Nothing => Vec::new(),
        }
    }

    /// How many lines it adds and removes as written. Lines that both sides of a search/replace block quote do not count.
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

/// Everything a reply asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedReply {
    /// The formats that it was read for.
    pub choice: FormatChoice,
    /// Which answer of a session it is, 0-based; set by whoever knows.
    pub answer: Option<usize>,
    /// The edits in the order of the reply.
    pub edits: Vec<Edit>,
    /// The lines above (or first in) blocks and fences, in the order of the reply.
    pub headings: Vec<Heading>,
    /// Fences that are whole files if the line above them turns out to be the name of one, and examples otherwise.
    pub fences: Vec<Edit>,
    /// The contents of shell fences: commands that the model suggests to run. Never run from here.
    pub suggested_commands: Vec<String>,
}
