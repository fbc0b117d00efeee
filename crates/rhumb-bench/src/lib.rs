//! Benchmarks of rhumb that anyone can run. They measure the quality of its results and their cost in time, memory and
//! tokens.
//!
//! | command | module | question |
//! |---|---|---|
//! | `edits` | `edits` | how are replies applied, clean and with the defects that models produce? |
//! | `context` | `context` | how much of what a commit changed does the repo map show? |
//! | `rank` | `rank` | which weights find the files and definitions to change, and how well? |
//! | `questions` | `questions` | how well does the search answer questions about a repository? |
//! | `map` | [`map`] | how long does the repo map of a repository take, compared with parsing its files? |
//! | `mine` | `mine` | writes the cases of `context` from a history |
//! | `refactor` | [`refactor`] | does a model move a complete method, or omit a part? |
//! | `exercises` | `exercises` | how many programming exercises with tests does a model solve? |
//! | `compare` | `run`, [`performance`] | how do two runs differ? |
//!
//! This crate is a separate program, so that `rhumb` contains no code for benchmarks. It calls the library crates
//! (`rhumb-edit`, `rhumb-index` …) and the library `rhumb` directly. Only a turn with a model runs in a separate
//! process, see `run/turn.rs`. `benches/` contains the performance suite.

mod args;
mod context;
mod edits;
mod exercises;
mod figure;
pub mod map;
mod mine;
pub mod performance;
mod questions;
mod rank;
pub mod refactor;
mod run;

use std::process::ExitCode;

use clap::Parser as _;
use rhumb::error::{ErrorKind, UserError};
use rhumb_workspace::git::GitError;

use args::{Args, BenchCommand};

pub use figure::{CpuWatch, Figure, Unit, median};

/// Reads the command line and runs the benchmark.
pub fn main() -> ExitCode {
    match start(&Args::parse().command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            rhumb::headless::print_message(&error.to_string());
            ExitCode::from(error.kind.exit_code())
        }
    }
}

fn start(command: &BenchCommand) -> Result<u8, UserError> {
    match command {
        BenchCommand::Map(args) => map::command(args),
        BenchCommand::Context(args) => context::command(args),
        BenchCommand::Rank(command) => rank::command(command),
        BenchCommand::Mine(args) => mine::command(args),
        BenchCommand::Questions(args) => questions::command(args),
        BenchCommand::Edits(args) => edits::command(args),
        BenchCommand::Refactor(args) => refactor::command(&args.command),
        BenchCommand::Exercises(args) => exercises::command(args),
        BenchCommand::Compare(args) => run::report::compare(args),
        BenchCommand::Turn { request } => run::turn::perform(request),
    }
}

/// A temporary folder, removed when it goes out of scope.
fn scratch_folder() -> Result<tempfile::TempDir, UserError> {
    tempfile::tempdir().map_err(|error| UserError::new(ErrorKind::Machine, error, "check the space in TMPDIR"))
}

/// The error for a repository or a commit that cannot be used.
fn git_error(error: &dyn std::fmt::Display, source: &GitError) -> UserError {
    let kind = match source {
        GitError::NoRepository { .. } | GitError::NoCommit { .. } => ErrorKind::Usage,
        _ => ErrorKind::Machine,
    };
    UserError::new(kind, error, source.hint())
}
