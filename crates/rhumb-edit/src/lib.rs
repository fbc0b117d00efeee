//! Edits: from a model's reply to a proposal. The edits land in the right place or are refused with the reason.
//!
//! ```text
//! stream   the reply, line by line    block: one block of it in each format (search_replace, unified, v4a, code, …)
//! reply    one form for all formats
//! heading  lines that may name files, without their decoration: name
//! resolve  file names    naming: headings against the files that there are; new_name: names of new files that may not be meant
//! locate   hunk against file          align: costs and the best place; placement, indent; explain: refusals;
//!                                 by_hand: where a reviewer may put an edit without a place
//!          masks: lines that were sent without their keys
//! compose  several edits of a file    document: lines that keep their bytes; view, form: what they mean; whole_file;
//!          draft, open_file: the files meanwhile
//! proposal what would change, what became of each edit
//! lost_text bytes of the reply that were no text
//! rounds   refused edits that were sent again            standing: what earlier replies proposed
//! flags    what a reviewer should know of each hunk           omission: code that is left out; later: files that tools run;
//!          addresses: where it would go
//! ```

mod block;
mod compose;
mod flags;
pub mod format;
pub mod heading;
mod locate;
mod lost_text;
mod name;
mod naming;
mod new_name;
pub mod outcome;
pub mod proposal;
pub mod reply;
pub mod resolve;
pub mod review;
mod rounds;
pub mod standing;
pub mod stream;

#[cfg(test)]
mod tests;

pub use block::fence::may_begin_tag;
pub use flags::later::runs_later;
pub use flags::omission::is_placeholder;
pub use flags::{HunkFlags, SyntaxFault, flag, syntax_faults};
pub use format::{EditFormat, FormatChoice};
pub use heading::{Heading, Shape};
pub use locate::by_hand::{Repeated, first_declaration, place_near, repeats, similar_line};
pub use locate::explain::likely_lines;
pub use outcome::{Candidate, EditId, Excerpt, Flag, Outcome, Status, Strategy};
pub use proposal::{FileChange, FileProposal, Files, Flexibility, Proposal, propose, propose_all, propose_with};
pub use reply::{Change, Edit, EditAction, Hunk, LineKind, ParsedReply, QuotedLine};
pub use standing::{Standing, StandingFile};
pub use stream::{EditStream, StreamEvent, parse};

/// What can be wrong with a request to read edits. Edits that do not fit are no errors but [`Outcome`]s.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no such format.
    #[error("unknown edit format `{name}`: use auto, diff, diff-fenced, udiff, whole or patch")]
    UnknownFormat {
        /// As it was given.
        name: String,
    },
}
