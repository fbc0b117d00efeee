//! How well a model programs: exercises with tests, in the layout of the public collections.
//!
//! An exercise is a folder with a `.meta/config.json` that names its files: those of the solution, which the model gets and may
//! change; those of the tests, which it never sees; and an example. `.docs/` says what to program.

pub(crate) mod command;
mod exercise;
mod test_runner;

pub use exercise::{Collection, Exercise, ExerciseError, exercises};
pub use test_runner::{TestRunner, enabled};
