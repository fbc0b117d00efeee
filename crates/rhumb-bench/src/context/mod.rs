//! How good the repo map is: commits that people made, the request that each of them answers, and how much of what the
//! commit changed a map of the tree before it shows.

mod case;
mod measure;
mod score;
mod shown;
#[cfg(test)]
mod tests;

pub use case::{CASE, Case, CaseError, cases};
pub use measure::{ContextBench, ContextError, Task, TaskRecall, Variant};
pub use score::Means;
