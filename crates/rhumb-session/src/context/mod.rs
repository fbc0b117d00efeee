//! The content of the next request: its sections in order, their tokens, the budgets of the context window, and the prompts.
//!
//! [`fit`] makes a [`Prompt`] from [`ContextInputs`]: the request as a value, exactly as it will be sent.

mod ai_comment;
mod assemble;
mod budget;
mod chunks;
mod commit_message;
mod continuation;
mod excerpt;
mod feedback;
mod findings;
mod fit;
mod instructions;
mod manual;
mod mention;
mod mode;
mod prompt;
mod prompts;
mod summary;

pub use ai_comment::{AiComment, CommentKind, FoundComment, ai_comments, comment_request, found_comments};
pub use assemble::{ContextFile, ContextInputs, OfferedTools};
pub use budget::{BudgetOverrides, BudgetPlan, Overflow, Window, map_budget, reduced_input};
pub use chunks::{
    Anchor, CODEBASE, ChunkLocation, ContextChunk, SentChunk, codebase_question, merge_locations, ranked,
};
pub use commit_message::{
    ChangedFile, CommitMessageInputs, change_message, commit_message_in, commit_request, shortened_subject,
};
pub use continuation::{Joiner, continuation};
pub use excerpt::fence_for;
pub use excerpt::{Excerpt, excerpt};
pub use feedback::{HunkFeedback, HunkState, feedback, file_feedback};
pub use feedback::{refusals, same_refusals};
pub use findings::{Finding, findings, marked_outline, referenced_lines};
pub use fit::fit;
pub use manual::manual;
pub use mention::{
    AtReference, AtTarget, KnownFiles, Mention, NamedBy, at_references, at_target, mentioned_paths, mentions, prose,
};
pub use mode::{Mode, Task, UnknownMode, UserEnvironment};
pub use prompt::{DroppableFile, Omission, OversizedRequest, Prompt, PromptSecret, Section, SectionKind};
pub use prompts::{BundledPrompt, PLACEHOLDERS, PromptNote, Prompts};
pub use summary::{SummaryInputs, SummaryPlan, history_tokens, summary};

#[cfg(test)]
mod tests;
