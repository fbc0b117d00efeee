//! What the next request holds: its parts in order, the tokens of each, the budget, and our prompts.

mod assemble;
mod budget;
mod fence;
mod message;
mod prompt;
mod refusals;

pub use assemble::{ContextFile, ContextInputs, Part, PartKind, Prompt, assemble};
pub use budget::{DEFAULT_WINDOW, Window, map_budget};
pub use fence::fence_for;
pub use message::{Message, Role};
pub use refusals::refusals;
