//! TODO

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
pub use flags::{HunkFlags, flag};
pub use format::{EditError, EditFormat, FormatChoice};
pub use locate::suggest::{Repeated, first_declaration, likely_lines, place_near, repeats, similar_line};
pub use outcome::{Candidate, EditId, Excerpt, Flag, Outcome, Status, Strategy};
pub use parse::fence::may_begin_tag;
pub use parse::heading::{Heading, Shape};
pub use parse::{EditStream, StreamEvent, parse};
pub use proposal::{
    FileChange, FileProposal, Files, Flexibility, Proposal, Standing, StandingFile, propose, propose_all, propose_with,
};
pub use reply::{Change, Edit, EditAction, Hunk, LineKind, ParsedReply, QuotedLine};
