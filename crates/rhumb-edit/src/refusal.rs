//! Why an edit was refused. [`Outcome::reason`](crate::Outcome::reason) is the text of a [`Cause`]: it is written for the model that
//! has to send a better edit.

use rhumb_text::sanitize::visible_line;

use crate::outcome::{Candidate, Excerpt, Flag};

/// Maximum number of characters of a quoted line in a reason.
const MAX_SHOWN_CHARS: usize = 120;

/// A refused edit: the cause, and the locations that the edit may have meant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    /// Boxed, so that results stay small.
    pub(crate) cause: Box<Cause>,
    /// Best first.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) nearest: Vec<Excerpt>,
}

impl Refusal {
    pub(crate) fn is(&self, flag: Flag) -> bool {
        self.cause.flag() == Some(flag)
    }

    /// Whether the edit may fit another state of the file: it was not found, as opposed to forbidden.
    pub(crate) fn is_not_found(&self) -> bool {
        self.cause.is_not_found()
    }
}

impl From<Cause> for Refusal {
    fn from(cause: Cause) -> Self {
        Self { cause: Box::new(cause), candidates: Vec::new(), nearest: Vec::new() }
    }
}

impl From<PathError> for Refusal {
    fn from(error: PathError) -> Self {
        Cause::Path(error).into()
    }
}

/// Why a path is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathError {
    #[error("the file name is empty")]
    Empty,
    #[error("the file name contains control characters")]
    ControlCharacters,
    #[error("the file name contains U+FFFD, which replaces bytes that are not UTF-8")]
    ReplacementCharacter,
    #[error("`{0}` is outside the root")]
    OutsideRoot(String),
    #[error("`{0}` is inside .git")]
    InsideGit(String),
    #[error("`{0}` names no file")]
    NoFile(String),
    #[error("`{0}` is a folder")]
    IsFolder(String),
    #[error("`{0}` is a file, not a folder")]
    ParentIsFile(String),
}

/// Why an edit is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Cause {
    // The reply.
    #[error(
        "incomplete: the reply stopped before the end of this edit, or its fence is never closed; send it again in full"
    )]
    Incomplete,
    #[error(
        "malformed: the block has several `=======` lines, and one would be written into the file; send a block with just \
         one between SEARCH and REPLACE"
    )]
    SeveralDividers,
    #[error("ambiguous: the block has several lines that may be its divider")]
    AmbiguousDivider,
    #[error("the edit adds and removes nothing: mark added lines with + and removed ones with -")]
    ContextOnly,
    #[error(
        "damaged: the edit adds U+FFFD (�), which replaces bytes that are not UTF-8; send the characters \
         themselves, or an escape where U+FFFD is meant"
    )]
    ReplacementCharacter,
    #[error(
        "masked: the edit has a line with a mask in place of a key, which is no line of the file; leave such lines as they \
         are, or replace them by lines that need no key"
    )]
    MaskedLine,

    // The file.
    #[error("path refused: {0}")]
    Path(#[source] PathError),
    #[error("no file name: put the path on the line above the edit")]
    NoFileName,
    #[error("no file name: a new file needs one, on the line above the edit")]
    NewFileWithoutName,
    #[error("no file name{}", there_is(.similar))]
    SeveralChatFiles { similar: Vec<String> },
    #[error("which file is `{name}`?{}", there_is(.similar))]
    AmbiguousFile { name: String, similar: Vec<String> },
    #[error("which file is `{name}`? The text is not like the one file of that name; there is `{}`", visible_line(.path))]
    OtherFileOfThatName { name: String, path: String },
    #[error(
        "which file? The title says `{title}`, the sentence below it `{sentence}`, and the edit fits both; put the path on \
         the line above the edit"
    )]
    TitleAndSentence { title: String, sentence: String },
    #[error(
        "which file? `{line}` stands where the file name should, and there is no such file; put the path alone on the line \
         above the edit{}{}",
        if *.may_be_new { format!(", a new file as `./{plain}`") } else { String::new() },
        there_is(.similar)
    )]
    UnclearFileName { line: String, plain: String, may_be_new: bool, similar: Vec<String> },
    #[error("no such file: `{path}`{}", there_is(.similar))]
    NoSuchFile { path: String, similar: Vec<String> },
    /// As [`Cause::NoSuchFile`], where another edit of the reply may create the file.
    #[error("no such file: `{path}`")]
    NotCreatedYet { path: String },
    #[error("no such file: `{path}`, and a new file of that name seems a slip{}", there_is(.similar))]
    MisspeltNewFile { path: String, similar: Vec<String> },
    #[error("`{path}` cannot be edited: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("`{path}` exists already")]
    FileExists { path: String },
    #[error("an earlier edit of this reply deletes `{path}`")]
    DeletedEarlier { path: String },
    #[error("a file is only deleted by its full name; there is `{}`", visible_line(.path))]
    DeletedByPartOfName { path: String },
    #[error("the diff deletes `{path}` but does not quote all of its lines")]
    DeletionQuotesPart { path: String },
    #[error("kept: the edit that was to take its place is refused")]
    ReplacementRefused,

    // The location.
    #[error("no match: the file is empty")]
    EmptyFile,
    #[error("no match: the quoted lines are not in the file verbatim")]
    NotVerbatim,
    #[error("no match: none of the quoted lines is in the file")]
    NoQuotedLine,
    #[error("no match: none of the ways to read the dividers gives lines of the file")]
    NoDividerFits,
    #[error("no match: the quoted lines are not in the file as one place{}{}", first_difference(.difference.as_ref()), closest_lines(.closest))]
    NoMatch { difference: Option<Difference>, closest: Vec<usize> },
    #[error("no match: another edit that is kept has changed the lines that this one removes")]
    ChangedByOther,
    #[error(
        "no match: the quoted lines have lost their indentation, so that of the added lines is unknown; quote the lines \
         exactly"
    )]
    LostIndentation,
    #[error(
        "no match: some quoted lines have the indentation of the file and others have not, so the indentation of the added \
         lines is unknown; quote the lines exactly"
    )]
    MixedIndentation,
    #[error("ambiguous: the quoted lines fit equally well at lines {}; quote more of the lines around the one place you mean", listed(.0))]
    Ambiguous(Vec<usize>),
    #[error("no anchor: the edit quotes no line of the file, so its place is unknown")]
    NoQuote,
    #[error("no anchor: no quoted line around the added lines was found")]
    NoAnchor,
    #[error(
        "vague: the quote leaves out lines of the file just where lines are added; quote the lines directly above and below \
         them"
    )]
    SkipsInsertionPoint,
    #[error("already applied: the file says what this edit asks for; nothing was changed")]
    AlreadyApplied,

    // The new text.
    #[error("elision: the added line {} stands for code that is not shown; write that code out", quoted(.0))]
    Elision(String),
    #[error("`{path}` exists already and the edit quotes none of its lines; quote the lines around the place")]
    QuotesNothing { path: String },
    #[error("already applied: the file is exactly as the reply wants it; nothing was changed")]
    SameFile,
    #[error(
        "the fence is empty and the file is not; to empty the file, send a block that removes its lines, to delete it, a \
         patch with `*** Delete File`"
    )]
    EmptyFence,
    #[error(
        "fragment: the reply has {new} lines and drops most of the {old} lines of the file; send the whole file or a diff"
    )]
    Fragment { new: usize, old: usize },
    #[error(
        "the fence holds a diff (`+` and `-` before the lines) where the whole file should be; send it in a `diff` fence, or \
         the file without the signs"
    )]
    DiffAsFile,
    #[error("the lines have their numbers before them; send the file without the numbers")]
    NumberedLines,
    #[error(
        "the file indents with tabs and the reply with blanks; send the lines with tabs, or a diff of those that change"
    )]
    LostTabs,
    #[error(
        "the fence holds a block that begins with `{0}` where the whole file should be; blocks go by the markers \
         `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`"
    )]
    UnknownBlock(String),
}

impl Cause {
    /// The flag for a reviewer of the refused edit, if any.
    pub(crate) fn flag(&self) -> Option<Flag> {
        match self {
            Self::Incomplete => Some(Flag::Incomplete),
            Self::Path(_) => Some(Flag::OutsideRoot),
            Self::Ambiguous(_) | Self::AmbiguousDivider | Self::TitleAndSentence { .. } => Some(Flag::Ambiguous),
            Self::AlreadyApplied | Self::SameFile => Some(Flag::AlreadyApplied),
            Self::Elision(_) => Some(Flag::Elision),
            _ => None,
        }
    }

    fn is_not_found(&self) -> bool {
        matches!(
            self,
            Self::NotCreatedYet { .. }
                | Self::EmptyFile
                | Self::NotVerbatim
                | Self::NoQuotedLine
                | Self::NoDividerFits
                | Self::NoMatch { .. }
                | Self::ChangedByOther
                | Self::LostIndentation
                | Self::MixedIndentation
                | Self::Ambiguous(_)
                | Self::NoAnchor
                | Self::SkipsInsertionPoint
                | Self::AlreadyApplied
        )
    }
}

/// The first quoted line that was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Its number in the quote, 1-based.
    pub(crate) number: usize,
    pub(crate) text: String,
    pub(crate) instead: Instead,
}

/// The lines of the file in place of a quoted line. Line numbers are 1-based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Instead {
    /// The file has the quoted line elsewhere.
    Elsewhere {
        line: usize,
    },
    /// The file has another line there.
    Other {
        line: usize,
        text: String,
    },
    Nothing,
}

/// The refusal of a quote that fits several locations (0-based line, similarity) about equally well.
pub(crate) fn ambiguous(locations: impl IntoIterator<Item = (usize, f32)>) -> Refusal {
    let candidates = candidates(locations);
    let mut lines: Vec<usize> = candidates.iter().map(|candidate| candidate.line).collect();
    lines.sort_unstable();
    Refusal { candidates, ..Cause::Ambiguous(lines).into() }
}

/// Candidates at these lines (0-based), each with its similarity.
pub(crate) fn candidates(locations: impl IntoIterator<Item = (usize, f32)>) -> Vec<Candidate> {
    let candidate =
        |(line, similarity): (usize, f32)| Candidate { line: line + 1, similarity: similarity.clamp(0.0, 1.0) };
    locations.into_iter().map(candidate).collect()
}

fn first_difference(difference: Option<&Difference>) -> String {
    let Some(Difference { number, text, instead }) = difference else { return String::new() };
    let instead = match instead {
        Instead::Elsewhere { line } => format!("which the file has elsewhere, at line {line}"),
        Instead::Other { line, text } => format!("the file has {} at line {line}", quoted(text)),
        Instead::Nothing => "which is nowhere in the file".to_owned(),
    };
    format!(". The quote has {} as its line {number}, {instead}", quoted(text))
}

fn closest_lines(lines: &[usize]) -> String {
    if lines.is_empty() { String::new() } else { format!(". Closest: line {}", listed(lines)) }
}

/// `12`, `12 and 40`, `12, 40 and 55`.
fn listed(lines: &[usize]) -> String {
    let words: Vec<String> = lines.iter().map(usize::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The files that a name may mean.
fn there_is(paths: &[String]) -> String {
    let names: Vec<String> = paths.iter().map(|path| format!("`{}`", visible_line(path))).collect();
    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
}

/// A line in backticks, shortened.
fn quoted(line: &str) -> String {
    let text: String = line.trim().chars().take(MAX_SHOWN_CHARS).collect();
    let more = if line.trim().chars().nth(MAX_SHOWN_CHARS).is_some() { "…" } else { "" };
    format!("`{text}{more}`")
}
