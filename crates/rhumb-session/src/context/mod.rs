//! The content of the next request: its sections in order, their tokens, the budgets of the context window, and the prompts.
//!
//! [`fit`] makes a [`Prompt`] from [`ContextInputs`]: the request as a value, exactly as it will be sent.

mod ai_comment;
mod assemble;
mod budget;
mod change_message;
mod chunk;
mod comment_order;
mod commit;
mod continuation;
mod excerpt;
mod feedback;
mod fence;
mod fill;
mod findings;
mod fit;
mod instructions;
mod manual;
mod mention;
mod mode;
mod passages;
mod prompt;
mod prompts;
mod refusals;
mod summary;
mod trim;

pub use ai_comment::{AiComment, CommentKind, ai_comments};
pub use assemble::{ContextFile, ContextInputs, assemble};
pub use budget::{BudgetPlan, Overflow, Shares, Window, map_budget, shorter};
pub use change_message::{ChangedFile, change_message};
pub use chunk::{Chunk, ChunkKind};
pub use comment_order::{FoundComment, comment_order, found_comments};
pub use commit::{Committing, commit_message_in, commit_request, shortened};
pub use continuation::{Joiner, continuation};
pub use excerpt::{Excerpt, excerpt};
pub use feedback::{Said, Verdict, feedback, said};
pub use fence::fence_for;
pub use findings::{Finding, findings, marked_outline, places_named};
pub use fit::fit;
pub use manual::manual;
pub use mention::{At, AtMeaning, KnownFiles, Mention, NamedBy, at_meaning, ats, mentioned_paths, mentions, prose};
pub use mode::{Mode, Surroundings, Task, UnknownMode};
pub use passages::{
    Anchor, CODEBASE, ContextPassage, PassagePlace, SentPassage, by_worth, codebase_question, extended,
};
pub use prompt::{Prompt, PromptSecret};
pub use prompts::{BundledPrompt, PLACEHOLDERS, PromptNote, Prompts};
pub use refusals::{refusals, same_refusals};
pub use summary::{Folding, SummaryPlan, history_tokens, summary};
pub use trim::{Candidate, Overfull, Trimmed};

#[cfg(test)]
mod tests;
