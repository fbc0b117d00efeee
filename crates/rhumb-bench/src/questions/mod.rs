//! How good the search is: questions that people ask of a repository, and the files that answer them.

mod case;
mod measure;

pub use case::{QUESTION, QuestionCase, QuestionError, questions};
pub use measure::{QuestionBench, QuestionScore};
