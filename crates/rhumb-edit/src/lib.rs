//! Applies edits that a language model wrote, and reviews them hunk by hunk.
//!
//! Models answer with search/replace blocks, unified diffs, V4A patches or whole files. They misquote: indentation is
//! lost, a line is misspelt or left out, a plus sign is missing, line numbers are wrong, a file name is decorated. This
//! crate parses such replies, locates each edit in the files, and either applies it at the only location that matches,
//! or refuses it with a reason that can be sent to the model. An edit is never applied at a guessed location.
//!
//! It reads files through the [`Files`] trait and writes nothing: the result is text. It uses no network, clock or
//! terminal.
//!
//! # From a reply to a proposal
//!
//! ````
//! use std::collections::BTreeMap;
//!
//! use rhumb_edit::{FormatChoice, Status, parse, propose};
//!
//! let source = "def open(self):\n    self.width = 12\n    self.log()\n";
//! let files = BTreeMap::from([("src/gate.py".to_owned(), source.as_bytes().to_vec())]);
//!
//! // The quote has lost its indentation.
//! let reply = "\
//! The gate is wider now.
//!
//! src/gate.py
//! ```python
//! <<<<<<< SEARCH
//! self.width = 12
//! =======
//! self.width = 20
//! >>>>>>> REPLACE
//! ```
//! ";
//! let proposal = propose(&parse(reply, FormatChoice::Auto), &files);
//!
//! assert_eq!(proposal.outcomes[0].status, Status::Applied);
//! assert_eq!(
//!     proposal.files[0].proposed.as_deref(),
//!     Some("def open(self):\n    self.width = 20\n    self.log()\n"),
//! );
//! ````
//!
//! An edit that cannot be located has [`Status::Refused`], a reason, and candidate locations. [`propose_all`] takes the
//! model's second attempt together with the first reply. A program that edits a repository implements [`Files`] for
//! that repository. For files in memory a map from paths to contents is enough, as above, and [`Proposal::write_to`]
//! updates it.
//!
//! # From a proposal to texts
//!
//! ```
//! # use std::sync::Arc;
//! use rhumb_edit::review::{Composed, Decision, HunkId, Review};
//! use rhumb_edit::{FileChange, FileProposal, Proposal};
//!
//! let file = FileProposal {
//!     path: "notes.txt".to_owned(),
//!     change: FileChange::Modify,
//!     base: Some(Arc::from("title\none\ntwo\nthree\n")),
//!     proposed: Some(Arc::from("title\n1\ntwo\n3\n")),
//! };
//! let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
//!
//! review.decide(HunkId { file: 0, hunk: 0 }, Decision::Accepted);
//! review.decide(HunkId { file: 0, hunk: 1 }, Decision::Rejected);
//! assert_eq!(review.files[0].composed(), Composed::Text("title\n1\ntwo\nthree\n".to_owned()));
//!
//! // The file changed on disk in the meantime: decisions move along with their lines.
//! review.rebase("notes.txt", Some("new\ntitle\none\ntwo\nthree\n"));
//! assert_eq!(review.files[0].composed(), Composed::Text("new\ntitle\n1\ntwo\nthree\n".to_owned()));
//! ```
//!
//! # Main types
//!
//! | type | contents |
//! |---|---|
//! | [`EditFormat`], [`FormatChoice`] | the formats, and which of them to parse |
//! | [`EditStream`], [`parse`] | the parser, for a stream or a complete reply |
//! | [`ParsedReply`], [`Edit`], [`Hunk`] | the edits of a reply in one form for all formats |
//! | [`Files`] | the files that edits may change; implemented by the caller |
//! | [`propose`], [`Proposal`], [`FileProposal`] | the located edits, as texts before and after |
//! | [`Outcome`], [`Strategy`], [`Flag`] | for each edit: applied or refused, how, and what a reviewer should know |
//! | [`add_flags`], [`syntax_faults`] | flags of hunks: syntax errors, omitted code, files that tools run, new network hosts |
//! | [`PendingChanges`] | unwritten changes of earlier replies, on top of which a reply is applied |
//! | [`review::Review`] | decisions, comments, splitting and joining of hunks, undo, rebasing |
//!
//! # Limits
//!
//! - Files are UTF-8 text in memory. Line endings, a byte order mark and a missing final newline are kept.
//! - Edit location works on lines, not on syntax. Hunks are located in the order of the reply, and once more after
//!   all others.
//! - A location that is ambiguous, or that differs from the quote by a number, an operator or a declared name, is
//!   refused.
//! - A proposal names no path outside of [`Files::root`] or inside of `.git`.
//!
//! # Modules
//!
//! ```text
//! parse         replies to edits          fence, heading, markers; search_replace, unified, patch, code_block
//! file_name, path_index, naming           which file an edit means
//! locate        hunk against file         align, normalize, similarity, placement, line_diff; suggest: for refused edits
//! apply         edits to files in memory  document, file, whole_file
//! proposal, outcome, refusal              results
//! altered_text, elision                   text that must not be written: masked keys, placeholders
//! flags         warnings for the reviewer syntax, hosts, auto_run
//! review        decisions on hunks
//! ```

mod altered_text;
mod apply;
mod elision;
mod file_name;
mod flags;
mod format;
mod locate;
mod naming;
mod outcome;
mod parse;
mod path_index;
mod proposal;
mod refusal;
mod reply;
pub mod review;

#[cfg(test)]
mod tests;

pub use elision::is_placeholder;
pub use flags::auto_run::runs_later;
pub use flags::syntax::{SyntaxFault, syntax_faults};
pub use flags::{HunkFlags, add_flags};
pub use format::{EditError, EditFormat, FormatChoice};
pub use locate::suggest::{DuplicateLines, duplicate_lines, first_declaration, likely_lines, range_near, similar_line};
pub use outcome::{Candidate, EditId, Excerpt, Flag, Outcome, Status, Strategy};
pub use parse::fence::may_begin_tag;
pub use parse::heading::{Heading, HeadingKind};
pub use parse::{EditStream, StreamEvent, parse};
pub use proposal::{
    FileChange, FileProposal, Files, Matching, PendingChanges, PendingFile, Proposal, ReadError, propose, propose_all,
    propose_with,
};
pub use reply::{Change, Edit, EditAction, Hunk, LineKind, ParsedReply, QuotedLine};
