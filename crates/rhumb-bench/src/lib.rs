//! Benchmarks of rhumb that anyone can run: what the program costs, and how good it is.
//!
//! This crate is a program of its own, so that the program of the user has no code for benchmarks. It calls the engines
//! (`rhumb-edit`, `rhumb-index` …) and the library `rhumb` directly; only a turn with a model runs in a separate process.

mod args;
mod commands;
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

use std::process::ExitCode;

use clap::Parser as _;

pub use args::Args;
pub use context::{CASE, Case, CaseError, ContextBench, ContextError, Means, Task, TaskRecall, Variant, cases};
pub use figure::{CpuWatch, Figure, Unit, median};
pub use map::map;
pub use questions::{QUESTION, QuestionBench, QuestionCase, QuestionError, QuestionScore, questions};

/// Reads the command line and runs the benchmark.
pub fn main() -> ExitCode {
    match commands::run(&Args::parse().command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            rhumb::headless::complain(&error.to_string());
            ExitCode::from(error.kind.exit_code())
        }
    }
}
