//! Prints figures, and appends them to the file that `RHUMB_BENCH_JSON` names: see `scripts/performance.sh`.

#![allow(dead_code, reason = "no benchmark uses every function")]

use std::path::{Path, PathBuf};
use std::process::Command;

use rhumb_bench::performance::{Measured, SuiteInfo, append};

/// Records a figure of which less is better.
pub fn record(suite: &str, name: &str, unit: &str, value: f64, budget: Option<f64>) {
    let Some(file) = std::env::var_os("RHUMB_BENCH_JSON") else { return };
    let about = SuiteInfo::here(env!("CARGO_PKG_VERSION"));
    let figure = Measured { suite: suite.into(), name: name.into(), unit: unit.into(), value, budget };
    append(Path::new(&file), &about, &[figure]).expect("the file that RHUMB_BENCH_JSON names");
}

/// Builds the program of the user for release, as this benchmark is built, and returns its path.
pub fn program() -> PathBuf {
    let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--release", "--package", "rhumb"]).status();
    assert!(built.is_ok_and(|status| status.success()), "the program is built");
    // Benchmarks are in `deps`, beside which the program is.
    let own = std::env::current_exe().expect("the path of this program");
    let folder = own.parent().and_then(Path::parent).expect("the folder of the build");
    folder.join("rhumb").with_extension(std::env::consts::EXE_EXTENSION)
}

/// Prints the head of a table.
pub fn head(title: &str) {
    println!("{title:<58} {:>8} {:>8} {:>8}  budget", "median", "p95", "most");
}

/// Prints a row of many values in milliseconds. The 95th percentile is compared with the budget.
pub fn row(suite: &str, name: &str, budget: f64, mut spent: Vec<f64>) {
    spent.sort_by(f64::total_cmp);
    let last = spent.len().saturating_sub(1);
    let at = |share: f64| spent.get(((spent.len() as f64 * share) as usize).min(last)).copied().unwrap_or(0.0);
    println!("{name:<58} {:>8.2} {:>8.2} {:>8.2}  {}", at(0.5), at(0.95), at(1.0), against(at(0.95), budget));
    record(suite, name, "ms", at(0.95), Some(budget));
}

/// Prints a row with one value.
pub fn single(suite: &str, name: &str, unit: &str, budget: f64, value: f64) {
    println!("{:<58} {value:>8.2} {:>8} {:>8}  {}", format!("{name}, {unit}"), "", "", against(value, budget));
    record(suite, name, unit, value, Some(budget));
}

fn against(value: f64, budget: f64) -> String {
    format!("{budget:.0}{}", if value > budget { " OVER" } else { "" })
}
