//! `rhumb bench compare` of two runs of the performance suite: what became slower, and what faster.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use crate::performance::{About, Difference, Run, TOLERANCE, Verdict};
use rhumb::error::{ErrorKind, UserError};
use crate::args::CompareBenchArgs;
use rhumb::headless::{print, print_json};

/// Prints the figures side by side. The exit code is 1 where one is worse.
///
/// # Errors
/// A run cannot be read, the two have no figure in common, or standard output refuses.
pub(super) fn performance(args: &CompareBenchArgs) -> Result<u8, UserError> {
    let (old, new) = (read(&args.a)?, read(&args.b)?);
    let differences = old.compare(&new);
    if !differences.iter().any(|difference| difference.old.is_some() && difference.new.is_some()) {
        let text = "the two runs have no figure in common";
        return Err(UserError::new(ErrorKind::Usage, text, "give two runs of scripts/performance.sh"));
    }
    let worse = differences.iter().filter(|difference| difference.verdict == Verdict::Worse).count();
    if args.json {
        print_json(
            &json!({"bench": "performance", "a": old.about, "b": new.about, "worse": worse, "figures": differences}),
        )?;
    } else {
        print(&side_by_side([&old.about, &new.about], &differences, worse))?;
    }
    Ok(u8::from(worse > 0))
}

fn read(file: &Path) -> Result<Run, UserError> {
    Run::read(file).map_err(|error| {
        let text = format!("{} is no run of the performance suite: {error}", file.display());
        UserError::new(ErrorKind::Usage, text, "scripts/performance.sh makes one")
    })
}

fn side_by_side(abouts: [&About; 2], differences: &[Difference], worse: usize) -> String {
    let mut text = String::new();
    for (label, About { program, system, threads }) in ["A", "B"].into_iter().zip(abouts) {
        let _ = writeln!(text, "{label}  {program}, {system}, {threads} threads");
    }
    if (&abouts[0].system, abouts[0].threads) != (&abouts[1].system, abouts[1].threads) {
        text += "not the same machine: only what is no time can be compared\n";
    }
    let _ = writeln!(text, "{:<72}{:>12}{:>12}{:>10}", "", "A", "B", "B / A");
    for difference in differences {
        let Difference { suite, name, unit, old, new, .. } = difference;
        let cell = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        let ratio = old.zip(*new).filter(|(old, _)| *old > 0.0).map(|(old, new)| format!("{:.2}", new / old));
        let (ratio, what) = (ratio.unwrap_or_default(), format!("{suite}: {name}, {unit}"));
        let (old, new) = (cell(old), cell(new));
        let _ = writeln!(text, "{what:<72}{old:>12}{new:>12}{ratio:>10}{}", mark(difference.verdict));
    }
    let count = |verdict| differences.iter().filter(|difference| difference.verdict == verdict).count();
    let _ = writeln!(
        text,
        "{worse} worse by more than {:.0} %, {} better, {} neither",
        TOLERANCE * 100.0,
        count(Verdict::Better),
        count(Verdict::Same)
    );
    text
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "  WORSE",
        Verdict::Better => "  better",
        Verdict::Same => "",
        Verdict::New => "  new",
        Verdict::Gone => "  gone",
    }
}
