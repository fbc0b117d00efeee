//! How well a model programs: exercises with tests, in the layout of the public collections.
//!
//! ```text
//! find     the exercises below a folder       exercise: one of them, and its files
//! testing  what runs the tests of a language, whether a test was run, and tests that a collection keeps switched off
//! ```
//!
//! An exercise is a folder with a `.meta/config.json` that names its files: those of the solution, which the model is given and may
//! change, those of the tests, which it never sees, and an example. What it is about stands in `.docs/`.

mod exercise;
mod find;
mod testing;

pub use exercise::{Exercise, ExerciseError};
pub use find::{Collection, exercises};
pub use testing::{Runner, enabled};
