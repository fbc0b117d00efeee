//! `rhumb bench`: the benchmarks, printed as a table or as JSON.

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

use serde_json::json;

use crate::bench::{self, Figure, Unit};
use crate::config::Settings;
use crate::error::{ErrorKind, UserError};
use crate::headless::args::{BenchArgs, BenchCommand, MapBenchArgs};
use crate::headless::{print, print_json};
use context::context;
use edits::edits;
use exercises::exercises;
use questions::questions;
use refactor::refactor;
use report::compare;
use rhumb_workspace::Root;

/// Runs a benchmark; `settings` are those of the user, without those of any repository, and with the flags.
///
/// # Errors
/// No folder for what is kept between two maps, cases that cannot be run, or standard output cannot be written.
pub fn bench(
    root: &Root,
    args: &BenchArgs,
    settings: &dyn Fn() -> Result<Settings, UserError>,
) -> Result<u8, UserError> {
    match &args.command {
        BenchCommand::Map(args) => map(root, args),
        BenchCommand::Context(args) => context(args),
        BenchCommand::Questions(args) => questions(args),
        BenchCommand::Edits(args) => edits(args),
        BenchCommand::Refactor(command) => refactor(&command.command, &args.flags, settings),
        BenchCommand::Exercises(exercises) => self::exercises(exercises, &args.flags, &settings()?),
        BenchCommand::Compare(args) => compare(args),
    }
}

fn map(root: &Root, args: &MapBenchArgs) -> Result<u8, UserError> {
    let scratch = scratch()?;
    let figures = bench::map(root, scratch.path(), args.runs);
    if args.report.is_json() {
        let entry = |figure: &Figure| json!({"name": figure.name, "value": figure.value, "unit": figure.unit.as_str()});
        print_json(&json!({"figures": figures.iter().map(entry).collect::<Vec<_>>()}))?;
    } else {
        print(&figures.iter().map(line).collect::<String>())?;
    }
    Ok(0)
}

/// A folder that is removed at the end.
pub(super) fn scratch() -> Result<tempfile::TempDir, UserError> {
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
