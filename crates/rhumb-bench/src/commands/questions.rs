//! `rhumb bench questions`: how well the search answers questions, as one table.

use std::fs;

use serde_json::{Value, json};

use super::context::refused;
use super::scratch;
use crate::{QUESTION, QuestionBench, QuestionScore, median};
use rhumb::error::{ErrorKind, UserError};
use rhumb_workspace::git::Checkout;
use crate::args::QuestionBenchArgs;
use rhumb::headless::{print, print_json};
use rhumb_index::retrieval::SearchWeights;
use rhumb_workspace::Root;
use rhumb_workspace::git::Checkout;

/// Asks the questions.
///
/// # Errors
/// Questions that are none, a repository or a commit that is not there, no space.
pub(super) fn questions(args: &QuestionBenchArgs) -> Result<u8, UserError> {
    let hint = format!("each line is a question such as {QUESTION}");
    let usage = |message: String| UserError::new(ErrorKind::Usage, message, &hint);
    let name = args.cases.display();
    let text = fs::read_to_string(&args.cases).map_err(|error| usage(format!("cannot read {name}: {error}")))?;
    let cases = crate::questions(&text).map_err(|error| usage(format!("{name}: {error}")))?;
    let folder = scratch()?;
    let checkout = Checkout::new(&args.git_dir, folder.path()).map_err(|error| refused(&error, &error))?;
    checkout.to(&args.revision).map_err(|error| refused(&error, &error))?;
    let inner = args.folder.trim_matches('/').trim_start_matches("./");
    let inner = if inner == "." { "" } else { inner };
    let root = Root::at(&checkout.folder().join(inner))
        .map_err(|error| UserError::new(ErrorKind::Usage, format!("cannot read {}: {error}", args.folder), ""))?;
    let prefix = if inner.is_empty() { String::new() } else { format!("{inner}/") };
    let bench = QuestionBench::new(&root, &prefix);
    let score = bench.run(&cases, &SearchWeights::default());
    if args.report.is_json() {
        print_json(&as_json(&bench, &score))?;
    } else {
        print(&table(&bench, &score))?;
    }
    Ok(0)
}

fn table(bench: &QuestionBench, score: &QuestionScore) -> String {
    let categories: String = score.categories().map(|(name, value)| format!("{name:<14}{value:>8.3}\n")).collect();
    format!(
        "{:<14}{:>8}\n{:<14}{:>8.3}\n{categories}\n{} questions over {} passages, {:.1} ms each (median).\n",
        "",
        "nDCG@10",
        "all",
        score.ndcg_at_ten(),
        score.each.len(),
        bench.passages,
        median(score.ms.clone()),
    )
}

fn as_json(bench: &QuestionBench, score: &QuestionScore) -> Value {
    json!({
        "questions": score.each.len(),
        "passages": bench.passages,
        "ndcg_at_10": score.ndcg_at_ten(),
        "categories": score.categories().map(|(name, value)| (name.to_owned(), json!(value))).collect::<serde_json::Map<_, _>>(),
        "median_ms": median(score.ms.clone()),
        "each": score.each.iter().map(|(query, gain)| json!({"query": query, "ndcg_at_10": gain})).collect::<Vec<_>>(),
    })
}
