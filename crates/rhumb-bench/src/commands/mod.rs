//! The commands of `rhumb-bench`: each runs a benchmark and prints its figures as a table or as JSON.

mod context;
mod edits;
mod entry;
mod exercises;
mod performance;
mod questions;
mod refactor;
mod report;
mod run;
mod settings;
mod turn;

use rhumb::cli;
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::{print, print_json};
use serde_json::json;

use crate::args::{BenchCommand, MapBenchArgs};
use crate::{Figure, Unit};

/// Runs a benchmark and returns the exit code.
///
/// # Errors
/// What the benchmark needs is missing or wrong, or standard output cannot be written.
pub(crate) fn run(command: &BenchCommand) -> Result<u8, UserError> {
    match command {
        BenchCommand::Map(args) => map(args),
        BenchCommand::Context(args) => context::context(args),
        BenchCommand::Questions(args) => questions::questions(args),
        BenchCommand::Edits(args) => edits::edits(args),
        BenchCommand::Refactor(args) => refactor::refactor(&args.command),
        BenchCommand::Exercises(args) => exercises::exercises(args),
        BenchCommand::Compare(args) => report::compare(args),
        BenchCommand::Turn { request } => turn::perform(request),
    }
}

fn map(args: &MapBenchArgs) -> Result<u8, UserError> {
    let root = cli::find_root(args.root.as_ref())?;
    let scratch = scratch()?;
    let figures = crate::map(&root, scratch.path(), args.runs);
    if args.report.is_json() {
        let entry = |figure: &Figure| json!({"name": figure.name, "value": figure.value, "unit": figure.unit.as_str()});
        print_json(&json!({"figures": figures.iter().map(entry).collect::<Vec<_>>()}))?;
    } else {
        print(&figures.iter().map(line).collect::<String>())?;
    }
    Ok(0)
}

/// A folder that is removed when it goes out of scope.
pub(crate) fn scratch() -> Result<tempfile::TempDir, UserError> {
    tempfile::tempdir().map_err(|error| UserError::new(ErrorKind::Machine, error, "check the space in TMPDIR"))
}

fn line(figure: &Figure) -> String {
    let value = match figure.unit {
        Unit::Count => format!("{:.0}", figure.value),
        Unit::Ratio | Unit::Share => format!("{:.3}", figure.value),
        Unit::CpuMs | Unit::WallMs | Unit::Megabytes => format!("{:.1}", figure.value),
    };
    format!("{:<20} {value:>10} {:<7} {}\n", figure.name, figure.unit.as_str(), figure.meaning)
}
