//! How well edits are applied: replies made from real changes, clean and with the defects that models produce, and the results of
//! applying them.
//!
//! | module | contents |
//! |---|---|
//! | `sample` | changes of single files from the history of a repository; how much of a file a reply has to quote to be unambiguous |
//! | `sketch` | a reply under construction, and its text in each edit format |
//! | `defects` | the table of everything that can be wrong with a reply |
//! | `make` | cases from samples and defects |
//! | `case` | a case, and cases as folders |
//! | `score` | runs, verdicts and figures |
//! | `command` | `rhumb-bench edits` |

mod case;
pub(crate) mod command;
mod defects;
mod make;
mod sample;
mod score;
mod sketch;
#[cfg(test)]
mod tests;

pub use case::{Case, CorpusError, Expect, Tree, read as read_corpus, write as write_case};
pub use defects::defect_names;
pub use make::{FORMATS, cases};
pub use sample::{Sample, samples};
pub use score::{CaseResult, Figures, Group, Tally, Verdict, run, verdict};
