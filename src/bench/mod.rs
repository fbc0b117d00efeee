//! Benchmarks that anyone can run: what the program costs, and how good it is.

mod context;
pub mod edits;
pub mod exercises;
mod figure;
mod map;
mod mean;
pub mod performance;
mod questions;
pub mod refactor;
pub mod report;
pub mod results;

pub use context::{CASE, Case, CaseError, ContextBench, ContextError, Means, Task, TaskRecall, Variant, cases};
pub use figure::{Figure, Unit, median};
pub use map::map;
pub use questions::{QUESTION, QuestionBench, QuestionCase, QuestionError, QuestionScore, questions};
