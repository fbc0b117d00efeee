//! The table of `docs/performance.md` is generated from `docs/performance.jsonl`. `RHUMB_BLESS=1 cargo test -p rhumb-bench --test readme`
//! rewrites it.
#![allow(clippy::expect_used)] // the checks for tests do not know helper functions

use std::fmt::Write as _;
use std::path::Path;

use rhumb_bench::performance::{Series, SuiteInfo, SuiteRun};

const OPEN: &str = "<!-- performance -->\n";
const CLOSE: &str = "<!-- /performance -->";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The figures with a budget, from the recorded run of the performance suite.
fn performance() -> String {
    let run = SuiteRun::read(&root().join("docs/performance.jsonl")).expect("docs/performance.jsonl");
    let SuiteInfo { program, system, threads } = &run.about;
    let mut table = format!(
        "Measured with rhumb {program} on {threads} threads of {system}, minimum and maximum over all runs.\n\n\
         | what | measured | limit |\n|---|---|---|\n"
    );
    for Series { best, worst } in &run.figures {
        let Some(budget) = best.budget else { continue };
        let (least, most) = (format!("{:.1}", best.value), format!("{worst:.1}"));
        let range = if least == most { least } else { format!("{least}–{most}") };
        let _ = writeln!(table, "| {} | {range} {} | {budget:.0} |", best.name, best.unit);
    }
    table
}

#[test]
fn the_performance_table_has_the_figures_of_the_recorded_run() {
    let path = root().join("docs/performance.md");
    let mut document = std::fs::read_to_string(&path).expect("docs/performance.md");
    let start = document.find(OPEN).expect("the opening mark") + OPEN.len();
    let table = start..document.find(CLOSE).expect("the closing mark");
    let expected = performance();
    if std::env::var_os("RHUMB_BLESS").is_some() {
        document.replace_range(table, &expected);
        std::fs::write(&path, document).expect("docs/performance.md");
    } else {
        assert_eq!(&document[table], expected, "stale: RHUMB_BLESS=1 cargo test -p rhumb-bench --test readme");
    }
}
