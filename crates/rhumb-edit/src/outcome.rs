//! The outcome of an edit, from which reviews, reports and the next message to the model are made.

use std::fmt;

use rhumb_text::diff;
use serde::{Deserialize, Serialize};

use crate::format::EditFormat;

/// Whether an edit was located.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The edit is part of the proposed text.
    Applied,
    /// The edit is refused; the reason says why.
    Refused,
}

impl Status {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Refused => "refused",
        }
    }
}

/// How exactly the quote matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Byte for byte.
    Exact,
    /// White space within or after lines, or typographic punctuation, differs.
    Whitespace,
    /// The indentation differs.
    Indentation,
    /// The quote has gaps.
    Elision,
    /// Lines are misspelt, missing, or lack their plus sign.
    Fuzzy,
    /// A new file.
    Created,
    /// The whole text of the file.
    Whole,
    /// The file is deleted.
    Deleted,
    /// The file is renamed.
    Renamed,
    /// The edit changes nothing, or repeats an earlier one.
    Unchanged,
}

impl Strategy {
    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Whitespace => "whitespace",
            Self::Indentation => "indentation",
            Self::Elision => "elision",
            Self::Fuzzy => "fuzzy",
            Self::Created => "created",
            Self::Whole => "whole",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Unchanged => "unchanged",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a reviewer should know about an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// It omits code, or its quote has gaps.
    Elision,
    /// Its file is not in the chat.
    OutsideChat,
    /// The file already has the change.
    AlreadyApplied,
    /// The reply stopped before the end of the edit.
    Incomplete,
    /// It fits several locations.
    Ambiguous,
    /// Its path is outside the root or protected.
    OutsideRoot,
    /// The reply has the same edit before.
    Repeated,
    /// It adds syntax errors to the file.
    SyntaxError,
    /// The file was guessed from a name that is not its path.
    PathGuessed,
    /// The file is generated, kept by a package manager, or vendored.
    Generated,
    /// The repository ignores the file.
    Ignored,
    /// The file changed on disk at the location of the edit.
    Conflict,
    /// The file is open in an editor, perhaps with unsaved changes.
    OpenInEditor,
    /// The file cannot be written.
    ReadOnly,
    /// The file has other hard links, which keep the old content.
    HardLinked,
    /// Tools run or obey the file automatically: with the next build, test run, install or push.
    RunsLater,
    /// It adds a network address that is not in the file.
    NewAddress,
    /// It creates a file whose name may not be meant as a file name.
    DoubtfulName,
}

impl Flag {
    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elision => "elision",
            Self::OutsideChat => "outside-chat",
            Self::AlreadyApplied => "already-applied",
            Self::Incomplete => "incomplete",
            Self::Ambiguous => "ambiguous",
            Self::OutsideRoot => "outside-root",
            Self::Repeated => "repeated",
            Self::SyntaxError => "syntax-error",
            Self::PathGuessed => "path-guessed",
            Self::Generated => "generated",
            Self::Ignored => "ignored",
            Self::Conflict => "conflict",
            Self::OpenInEditor => "open-in-editor",
            Self::ReadOnly => "read-only",
            Self::HardLinked => "hard-linked",
            Self::RunsLater => "runs-later",
            Self::NewAddress => "new-address",
            Self::DoubtfulName => "doubtful-name",
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A possible location of a quote.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// First line, 1-based.
    pub line: usize,
    /// Similarity of the quote to the lines there, 0 to 1.
    pub similarity: f32,
}

/// An excerpt of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// First line, 1-based.
    pub line: usize,
    /// The lines.
    pub text: String,
    /// Whether the file has these lines only with edits that are not written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_edits: bool,
}

/// Identifies an edit of a session by its answer and its lines there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EditId {
    /// Index of the answer in the session, 0-based.
    pub answer: usize,
    /// First and last line in the answer, 1-based, inclusive.
    pub lines: (usize, usize),
}

/// The outcome of an edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The resolved path, or the path as written if it could not be resolved.
    pub path: String,
    /// The format of the edit.
    pub format: EditFormat,
    /// Applied or refused.
    pub status: Status,
    /// How the edit was located; `None` if it was refused.
    pub strategy: Option<Strategy>,
    /// 1 for an exact match, lower for a looser one; 0 if refused.
    pub confidence: f32,
    /// First and last line of the location in the base, 1-based, inclusive; `None` if it is in added text.
    pub lines: Option<(usize, usize)>,
    /// Why the edit was refused, written for the model. Empty or a note if it was applied.
    pub reason: String,
    /// Possible locations, most similar first.
    pub candidates: Vec<Candidate>,
    /// Excerpts around the most similar location, or around each if several are equally similar, when the edit was
    /// tried.
    pub nearest: Vec<Excerpt>,
    /// What a reviewer should know, sorted.
    pub flags: Vec<Flag>,
    /// The quoted text.
    pub quote: String,
    /// The text that replaces it.
    pub replacement: String,
    /// First and last line in the reply, 1-based, inclusive.
    pub reply_lines: (usize, usize),
    /// The edits of the session that this outcome is about: one, or several for a conflict of a hunk that they made
    /// together. Empty outside of a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditId>,
}

impl Outcome {
    /// Whether the edit may have made a hunk of its file: it was applied there, or its location is unknown.
    pub fn may_have_made(&self, hunk: &diff::Hunk) -> bool {
        self.status == Status::Applied && (self.lines.is_none() || self.touches(hunk))
    }

    /// Whether a hunk of its file changes lines of the location, or adds lines within it or at its edges.
    pub fn touches(&self, hunk: &diff::Hunk) -> bool {
        // The lines of an outcome are 1-based and inclusive. A hunk that only adds lines is between two lines.
        let between = usize::from(hunk.base.is_empty());
        let touches = |(first, last)| hunk.base.start < last + between && first <= hunk.base.end + between;
        self.lines.is_some_and(touches)
    }

    /// Whether the edit lost its location to a change on disk.
    pub fn is_conflict(&self) -> bool {
        self.flags.contains(&Flag::Conflict)
    }

    /// Whether the edit creates a file with a doubtful name, which has to be accepted explicitly.
    pub fn has_doubtful_name(&self) -> bool {
        self.status == Status::Applied && self.flags.contains(&Flag::DoubtfulName)
    }

    /// Whether the edit was refused and should be corrected. An edit that is already applied needs no correction.
    pub fn is_open(&self) -> bool {
        self.status == Status::Refused && !self.flags.contains(&Flag::AlreadyApplied)
    }
}

/// An applied edit and its location.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AppliedEdit {
    pub(crate) strategy: Strategy,
    pub(crate) confidence: f32,
    pub(crate) lines: Option<(usize, usize)>,
    pub(crate) flags: Vec<Flag>,
    pub(crate) note: String,
}

impl AppliedEdit {
    pub(crate) fn new(strategy: Strategy, note: impl Into<String>) -> Self {
        Self { strategy, confidence: 1.0, lines: None, flags: Vec::new(), note: note.into() }
    }

    /// The reply made the same edit before.
    pub(crate) fn repeated() -> Self {
        let applied_edit = Self::new(Strategy::Unchanged, "the same edit stands earlier in the reply");
        Self { flags: vec![Flag::Repeated], ..applied_edit }
    }
}
