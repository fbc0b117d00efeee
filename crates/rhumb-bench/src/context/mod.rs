//! Measures the quality of the repo map with commits from real histories: the request is the message of the commit or the query of a
//! case, and the result is the share of the changed code that a map of the parent commit shows.

mod case;
mod measure;
mod score;
#[cfg(test)]
mod tests;

use std::fs;

pub(crate) use case::CASE;
use case::CommitCase;
pub(crate) use case::cases;
use measure::{ContextBench, ContextError, ScenarioRecall, Variant};
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::{print, print_json};
use rhumb_index::repo_map::SIGNALS;
use rhumb_workspace::git::Checkout;
use serde_json::{Value, json};

use crate::args::ContextBenchArgs;
use crate::{git_error, scratch_folder};

/// Width of a table cell in columns.
const CELL_WIDTH: usize = 19;

/// Runs the cases. The exit code is 1 when a map was over its budget.
///
/// # Errors
/// A signal does not exist, the cases cannot be read, they are not from this repository, or there is no space on the disk.
pub(crate) fn command(args: &ContextBenchArgs) -> Result<u8, UserError> {
    if let Some(unknown) = args.without.iter().find(|signal| !SIGNALS.contains(&signal.as_str())) {
        return Err(usage(format!("there is no signal {unknown:?}"), &format!("signals: {}", SIGNALS.join(", "))));
    }
    let cases: Vec<CommitCase> = read(args)?.into_iter().step_by(args.stride.get()).collect();
    let (folder, kept) = (scratch_folder()?, scratch_folder()?);
    let checkout = Checkout::new(&args.git_dir, folder.path()).map_err(|error| git_error(&error, &error))?;
    let failed = |error: ContextError| match &error {
        ContextError::Git { source, .. } => git_error(&error, source),
        ContextError::NoLine { .. } => usage(&error, "the cases are not from this repository"),
        ContextError::Root(source) => UserError::new(ErrorKind::Machine, &error, source.hint()),
    };
    let bench = ContextBench::new(&checkout, kept.path(), &args.budgets).map_err(failed)?;
    let variants = bench.run(&cases, &args.without).map_err(failed)?;
    if args.report.is_json() {
        print_json(&as_json(&variants, cases.len()))?;
    } else {
        print(&table(&variants, cases.len()))?;
    }
    Ok(u8::from(variants.iter().any(|variant| variant.over > 0)))
}

fn read(args: &ContextBenchArgs) -> Result<Vec<CommitCase>, UserError> {
    let name = args.cases.display();
    let hint = format!("each line is a case such as {CASE}");
    let text = fs::read_to_string(&args.cases).map_err(|error| usage(format!("cannot read {name}: {error}"), &hint))?;
    cases(&text).map_err(|error| usage(format!("{name}: {error}"), &hint))
}

fn usage(message: impl std::fmt::Display, hint: &str) -> UserError {
    UserError::new(ErrorKind::Usage, message, hint)
}

fn table(variants: &[Variant], cases: usize) -> String {
    let columns = variants.first().into_iter().flat_map(Variant::recall);
    let titles = columns.map(|cell| format!("{:>CELL_WIDTH$}", format!("{} {}", cell.task.as_str(), cell.budget)));
    let head = format!("{:<18}{}{:>8}{:>9}{:>6}\n", "", titles.collect::<String>(), "R@10", "nDCG@10", "over");
    let rows: String = variants.iter().map(row).collect();
    let plural = if cases == 1 { "" } else { "s" };
    format!(
        "{head}{rows}\n{cases} case{plural}. Recall of files / names / signatures. M1: nothing in the chat; M2: one file of the \
         commit in the chat.\nover: maps with more tokens than their budget.\n"
    )
}

fn row(variant: &Variant) -> String {
    let name = variant.without.as_ref().map_or_else(|| "all".to_owned(), |signal| format!("without {signal}"));
    let cell = |ScenarioRecall { means, .. }: ScenarioRecall| {
        let parts = format!("{:.3}/{:.3}/{:.3}", means.file(), means.name(), means.signature());
        format!("{parts:>CELL_WIDTH$}")
    };
    let cells: String = variant.recall().map(cell).collect();
    format!("{name:<18}{cells}{:>8.3}{:>9.3}{:>6}\n", variant.recall_at_ten(), variant.ndcg_at_ten(), variant.over)
}

fn as_json(variants: &[Variant], cases: usize) -> Value {
    let cell = |ScenarioRecall { task, budget, means }: ScenarioRecall| {
        json!({
            "task": task.as_str(), "budget": budget,
            "file": means.file(), "name": means.name(), "signature": means.signature(),
        })
    };
    let entry = |variant: &Variant| {
        json!({
            "without": variant.without,
            "recall": variant.recall().map(cell).collect::<Vec<_>>(),
            "recall_at_10": variant.recall_at_ten(),
            "ndcg_at_10": variant.ndcg_at_ten(),
            "over_budget": variant.over,
        })
    };
    json!({"cases": cases, "variants": variants.iter().map(entry).collect::<Vec<_>>()})
}
