//! Reports of runs with a model as tables or as JSON, and `rhumb-bench compare`.

use std::fmt::Write as _;

use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::{print, print_json};
use serde_json::{Value, json};

use super::folder::{RunHeader, read};
use super::results_error;
use super::summary::{Comparison, Proportion, Summary, TaskResult};
use crate::args::CompareBenchArgs;

/// Prints the figures of a run with `all` tasks.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn report(header: &RunHeader, entries: &[TaskResult], all: usize, json: bool) -> Result<(), UserError> {
    if json {
        return print_json(&as_json(header, entries, all));
    }
    let summary = Summary::of(entries);
    let mut text = title(header, &summary, all);
    if entries.is_empty() {
        // Without results there are no proportions.
        return print(&text);
    }
    for (label, value) in rows(&summary, header.oracle.is_some()) {
        let _ = writeln!(text, "{label:<34}{value}");
    }
    for (check, count) in &summary.failed {
        let _ = writeln!(text, "  failed: {check:<24}{count:>6}");
    }
    if summary.languages.len() > 1 {
        for (language, share) in &summary.languages {
            let _ = writeln!(text, "  {language:<32}{}", percent(share));
        }
    }
    print(&text)
}

/// The figures of a run and the result of each task.
pub(crate) fn as_json(header: &RunHeader, entries: &[TaskResult], all: usize) -> Value {
    json!({
        "bench": header.bench, "flags": header.flags, "recital": header.oracle, "tries": header.tries, "tasks": all,
        "summary": Summary::of(entries), "entries": entries,
    })
}

fn title(header: &RunHeader, summary: &Summary, all: usize) -> String {
    let models: Vec<&str> = summary.models.iter().map(String::as_str).collect();
    let flags = if header.flags.is_empty() { String::new() } else { format!(" ({})", header.flags.join(" ")) };
    let who = match &header.oracle {
        Some(oracle) => format!(", oracle model {oracle}"),
        None if models.is_empty() => String::new(),
        None => format!(", {}", models.join(", ")),
    };
    format!("{}: {} of {all} tasks{who}{flags}\n", header.bench, summary.done)
}

/// A proportion in percent with its confidence interval.
fn percent(share: &Proportion) -> String {
    let Proportion { count, of, share, low, high } = share;
    format!("{:>6.1} %   {count:>4} of {of:<5} 95 %: {:.1}–{:.1}", share * 100.0, low * 100.0, high * 100.0)
}

fn rows(summary: &Summary, is_oracle: bool) -> Vec<(String, String)> {
    let nth = |at: usize| if at == 1 { "passed at the first try".to_owned() } else { format!("passed by try {at}") };
    let passed = summary.passed.iter().enumerate().map(|(at, share)| (nth(at + 1), percent(share)));
    let shares = [
        ("bodies left out", &summary.elided),
        ("edits that could not be applied", &summary.malformed),
        ("syntax errors", &summary.syntax_errors),
        ("windows exhausted", &summary.exhausted),
        ("timed out", &summary.timed_out),
        ("tests timed out", &summary.tests_timed_out),
    ];
    let shares = shares.into_iter().map(|(label, share)| (label.to_owned(), percent(share)));
    let each = |sum: f64| sum / summary.done.max(1) as f64;
    let unpriced = match summary.unpriced {
        0 => String::new(),
        count => format!("   ({count} tasks at an unknown price)"),
    };
    let amounts = [
        ("tokens in, out", format!("{:>8}, {}", summary.input_tokens, summary.output_tokens)),
        ("cost", format!("{:>8.2} $ in all, {:.4} $ a task{unpriced}", summary.cost, each(summary.cost))),
        ("time", format!("{:>8.1} s in all, {:.1} s a task", summary.seconds, each(summary.seconds))),
    ];
    // An oracle model uses no tokens and costs nothing.
    let amounts = amounts.into_iter().filter(|(label, _)| !is_oracle || *label == "time");
    passed.chain(shares).chain(amounts.map(|(label, value)| (label.to_owned(), value))).collect()
}

/// Runs `rhumb-bench compare`: prints two runs side by side.
///
/// # Errors
/// A run cannot be read, the runs have different tasks or no task in common, or standard output cannot be written.
pub(crate) fn compare(args: &CompareBenchArgs) -> Result<u8, UserError> {
    if args.a.is_file() && args.b.is_file() {
        return crate::performance::compare_files(args);
    }
    for path in [&args.a, &args.b] {
        if !path.join("run.json").is_file() {
            let text = format!("{} is not the folder of a run: it has no run.json", path.display());
            return Err(UserError::new(
                ErrorKind::Usage,
                text,
                "give the folders that were --out of runs, or two files of the performance suite",
            ));
        }
    }
    let read = |folder| read(folder).map_err(|error| results_error(&error));
    let ((head_a, a), (head_b, b)) = (read(&args.a)?, read(&args.b)?);
    let same = head_a.bench == head_b.bench && head_a.fingerprint == head_b.fingerprint;
    let comparison = Comparison::of(&a, &b);
    if !same {
        let text = "the two runs have different tasks";
        return Err(UserError::new(ErrorKind::Usage, text, "give two runs over the same --tasks or --from"));
    }
    if comparison.common == 0 {
        let text = format!("no task is finished in both runs: {} in A, {} in B", a.len(), b.len());
        return Err(UserError::new(ErrorKind::Usage, text, "continue one of them; --only selects tasks"));
    }
    if args.json {
        let value: Value = json!({
            "bench": head_a.bench, "a": head_a, "b": head_b, "done_a": a.len(), "done_b": b.len(), "comparison": comparison,
        });
        print_json(&value)?;
    } else {
        print(&side_by_side([(&head_a, a.len()), (&head_b, b.len())], &comparison))?;
    }
    Ok(0)
}

fn side_by_side(runs: [(&RunHeader, usize); 2], comparison: &Comparison) -> String {
    let Comparison { a, b, common, only_a, only_b, p } = comparison;
    let [(head_a, done_a), (head_b, done_b)] = runs;
    let mut text = format!("A  {}B  {}", title(head_a, a, done_a), title(head_b, b, done_b));
    if done_a.max(done_b) > *common {
        let _ = writeln!(text, "{common} tasks are finished in both runs; the figures below are for these");
    }
    let (of_a, of_b) = (a.passed_in_the_end(), b.passed_in_the_end());
    let shares = [
        ("passed", of_a, of_b),
        ("bodies left out", a.elided, b.elided),
        ("edits that could not be applied", a.malformed, b.malformed),
        ("syntax errors", a.syntax_errors, b.syntax_errors),
        ("windows exhausted", a.exhausted, b.exhausted),
        ("timed out", a.timed_out, b.timed_out),
    ];
    let _ = writeln!(text, "{:<34}{:>18}{:>22}{:>10}", "%", "A", "B", "B - A");
    for (label, a, b) in shares {
        let cell = |share: &Proportion| {
            format!("{:.1} ({:.1}–{:.1})", share.share * 100.0, share.low * 100.0, share.high * 100.0)
        };
        let _ = writeln!(text, "{label:<34}{:>18}{:>22}{:>+10.1}", cell(&a), cell(&b), (b.share - a.share) * 100.0);
    }
    let amounts = [
        ("tokens out", a.output_tokens as f64, b.output_tokens as f64),
        ("cost, $", a.cost, b.cost),
        ("time, s", a.seconds, b.seconds),
    ];
    for (label, a, b) in amounts {
        let _ = writeln!(text, "{label:<34}{a:>18.2}{b:>22.2}{:>+10.2}", b - a);
    }
    let _ = writeln!(text, "only A passed {}, only B {}; p = {p:.3} (exact McNemar test)", only_a.len(), only_b.len());
    for (label, only) in [("only A", only_a), ("only B", only_b)].into_iter().filter(|(_, only)| !only.is_empty()) {
        let _ = writeln!(text, "{label}: {}", only.join(", "));
    }
    text
}
