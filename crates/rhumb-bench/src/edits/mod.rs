//! How well edits are applied: replies made from real changes, clean and with the defects that models produce, and what
//! the engine makes of them.
//!
//! ```text
//! sample    a change of a file, from the history of a repository
//! blocks    what of it a reply quotes      fit: whether a quote means one place
//! sketch    a reply in the making          render: written out in its format
//! defect    everything that can be wrong   elision, words, margin, pieces, storing, wrapping, hopeless
//! make      cases from all this            corpus: cases as folders
//! run       what the engine makes of a case, and how long it takes      score: judged    tally: counted
//! ```

mod blocks;
mod case;
mod corpus;
mod defect;
mod elision;
mod fit;
mod hopeless;
mod make;
mod margin;
mod pieces;
mod render;
mod run;
mod sample;
mod score;
mod sketch;
mod storing;
mod tally;
#[cfg(test)]
mod tests;
mod words;
mod wrapping;

pub use case::{Case, Expect, Tree};
pub use corpus::{CorpusError, read as read_corpus, write as write_case};
pub use defect::defect_names;
pub use make::{FORMATS, cases};
pub use run::{Run, run};
pub use sample::{Sample, samples};
pub use score::{Verdict, verdict};
pub use tally::{Figures, Group, Tally};
