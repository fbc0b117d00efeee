//! What became of each edit: the values that reviews, reports and the next message to the model are made of.

use std::fmt;

use rhumb_text::diff;
use serde::{Deserialize, Serialize};

use crate::format::EditFormat;

/// Whether an edit found its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is part of the proposed text.
    Applied,
    /// It is not; the reason says why.
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

/// How far the match was from exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Byte for byte.
    Exact,
    /// White space within or after lines, or typographic punctuation, differs.
    Whitespace,
    /// The indentation differs.
    Indentation,
    /// The quote leaves code out.
    Elision,
    /// Lines are misspelt, left out, or lack their plus sign.
    Fuzzy,
    /// A new file.
    Created,
    /// The whole text of the file.
    Whole,
    /// The file goes.
    Deleted,
    /// The file moves.
    Renamed,
    /// The edit asks for nothing, or repeats an earlier one.
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
    /// It stands in for code that it does not show.
    Elision,
    /// It touches a file that is not in the chat.
    OutsideChat,
    /// The file says already what it asks for.
    AlreadyApplied,
    /// The reply stopped before its end.
    Incomplete,
    /// It fits several places.
    Ambiguous,
    /// Its path leaves the root or is protected.
    OutsideRoot,
    /// The same edit stands earlier in the reply.
    Repeated,
    /// The file has more syntax errors after the edit than before, and they are here.
    SyntaxError,
    /// The file is not the one named, but the only one that the name can mean.
    PathGuessed,
    /// The file is made by a tool, kept by a package manager, or a copy of another project's.
    Generated,
    /// The file is one that the rules of the repository ignore.
    Ignored,
    /// The file changed on disk where it was to go.
    Conflict,
    /// An editor holds the file, perhaps with changes that are not saved.
    OpenInEditor,
    /// The system would not let the file be written.
    ReadOnly,
    /// The file has other names (hard links), which keep the old content.
    HardLinked,
    /// Tools run or obey the file by themselves, with the next build, test run, install or push.
    RunsLater,
    /// It names an address on the network that the file did not name.
    NewAddress,
    /// The file would be new, and its name may not be meant as that of a new file.
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

/// A place that a quote may mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// First line, 1-based.
    pub line: usize,
    /// How well the quote fits there, 0 to 1.
    pub similarity: f32,
}

/// Lines of a file, quoted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The first of them, 1-based.
    pub line: usize,
    /// The lines.
    pub text: String,
    /// Whether the file shows them so only with edits that are not written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_edits: bool,
}

/// Names an edit of a session: the answer that holds it, and its lines there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EditId {
    /// Which answer of the session, 0-based.
    pub answer: usize,
    /// First and last line in the answer, 1-based, inclusive.
    pub lines: (usize, usize),
}

/// What became of one edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The resolved path, or the path as written when it could not be resolved.
    pub path: String,
    /// The format the edit was written in.
    pub format: EditFormat,
    /// Applied or refused.
    pub status: Status,
    /// How it was located; absent when it was refused.
    pub strategy: Option<Strategy>,
    /// 1 for an exact match, lower the more had to be forgiven; 0 when refused.
    pub confidence: f32,
    /// First and last line of the place in the base, 1-based, inclusive; absent when it lies in added text.
    pub lines: Option<(usize, usize)>,
    /// Why it was refused, written for the model; empty or a note when applied.
    pub reason: String,
    /// The places that it may have meant, best first.
    pub candidates: Vec<Candidate>,
    /// What stands around the best of them, or around each if none is better, as the file was when it was tried.
    pub nearest: Vec<Excerpt>,
    /// What a reviewer should know, sorted.
    pub flags: Vec<Flag>,
    /// The quoted text.
    pub quote: String,
    /// The text meant to stand there.
    pub replacement: String,
    /// First and last line in the reply, 1-based, inclusive.
    pub reply_lines: (usize, usize),
    /// The edits of the session that this is about: one, or several where a conflict took the place of a hunk that they made
    /// together. Empty outside of a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditId>,
}

impl Outcome {
    /// Whether the edit may be behind a hunk of its file: it landed there, or nobody knows where.
    pub fn is_behind(&self, hunk: &diff::Hunk) -> bool {
        self.status == Status::Applied && (self.lines.is_none() || self.touches(hunk))
    }

    /// Whether a hunk of its file changes lines of the place, or adds some within or at its edges.
    pub fn touches(&self, hunk: &diff::Hunk) -> bool {
        // The lines of an outcome count from 1 and both belong to it; a hunk that only adds stands between two lines.
        let between = usize::from(hunk.base.is_empty());
        let touches = |(first, last)| hunk.base.start < last + between && first <= hunk.base.end + between;
        self.lines.is_some_and(touches)
    }

    /// Whether it had a place, which a change on disk took.
    pub fn is_conflict(&self) -> bool {
        self.flags.contains(&Flag::Conflict)
    }

    /// Whether it makes a file under a name that may not be meant as one: somebody has to accept it by itself.
    pub fn is_doubtful(&self) -> bool {
        self.status == Status::Applied && self.flags.contains(&Flag::DoubtfulName)
    }

    /// Whether the edit was refused and its author should try again: the file does not say already what it asks for.
    pub fn is_open(&self) -> bool {
        self.status == Status::Refused && !self.flags.contains(&Flag::AlreadyApplied)
    }
}

/// Where an edit landed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Landing {
    pub(crate) strategy: Strategy,
    pub(crate) confidence: f32,
    pub(crate) lines: Option<(usize, usize)>,
    pub(crate) flags: Vec<Flag>,
    pub(crate) note: String,
}

impl Landing {
    pub(crate) fn new(strategy: Strategy, note: impl Into<String>) -> Self {
        Self { strategy, confidence: 1.0, lines: None, flags: Vec::new(), note: note.into() }
    }

    /// The edit has been made already, by this reply.
    pub(crate) fn repeated() -> Self {
        let landing = Self::new(Strategy::Unchanged, "the same edit stands earlier in the reply");
        Self { flags: vec![Flag::Repeated], ..landing }
    }
}
