//! How good the repo map is: commits from real histories, the request that each of them answers, and the share of what the commit
//! changed that a map of the tree before it shows.

mod case;
pub(crate) mod command;
mod measure;
mod score;
#[cfg(test)]
mod tests;

pub use case::{CASE, CaseError, CommitCase, cases};
pub use measure::{ChatScenario, ContextBench, ContextError, ScenarioRecall, Variant};
pub use score::MeanRecall;
