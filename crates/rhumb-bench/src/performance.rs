//! Figures of the performance suite: the programs in `benches/` append them to a file, and `rhumb-bench compare` compares two files.
//!
//! A file has one JSON object on each line. The first line is a [`SuiteInfo`], the others are [`Measured`] values. A suite that ran
//! several times has several values of each figure. The smallest value is the least disturbed one. The spread is the noise.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::{print, print_json};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::CompareBenchArgs;

/// A figure that grew by more than this share is worse.
pub const TOLERANCE: f64 = 0.10;

/// The program and the machine of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteInfo {
    /// The version of the program.
    pub program: String,
    /// Operating system and architecture.
    pub system: String,
    /// Number of hardware threads.
    pub threads: usize,
}

impl SuiteInfo {
    /// This program on this machine.
    pub fn here(program: impl Into<String>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        Self { program: program.into(), system, threads }
    }
}

/// One value of one figure. Less is better for every figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The program in `benches/` that measured it.
    pub suite: String,
    /// The name of the figure.
    pub name: String,
    /// The unit: `ms`, `MB`.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// The budget, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
}

/// All values of one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The first measurement, with the smallest value.
    pub best: Measured,
    /// The largest value.
    pub worst: f64,
}

/// A run of the suite.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteRun {
    /// The program and the machine.
    pub about: SuiteInfo,
    /// The figures, in the order in which they were first measured.
    pub figures: Vec<Series>,
}

/// How a figure changed between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// More than [`TOLERANCE`] above the best old value, and above all old values.
    Worse,
    /// More than [`TOLERANCE`] below the best old value, with all new values below it.
    Better,
    /// Neither better nor worse.
    Same,
    /// Only the new run has it.
    New,
    /// Only the old run has it.
    Gone,
}

/// One figure of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The program that measured it.
    pub suite: String,
    /// The name of the figure.
    pub name: String,
    /// The unit.
    pub unit: String,
    /// The best value of the old run.
    pub old: Option<f64>,
    /// The best value of the new run.
    pub new: Option<f64>,
    /// The change.
    #[serde(rename = "verdict")]
    pub change: Change,
}

/// Appends figures to a file. A new file begins with `about`.
///
/// # Errors
/// The file cannot be written.
pub fn append(file: &Path, about: &SuiteInfo, figures: &[Measured]) -> io::Result<()> {
    let mut lines = String::new();
    if !file.exists() {
        lines = serde_json::to_string(about)? + "\n";
    }
    for figure in figures {
        lines += &(serde_json::to_string(figure)? + "\n");
    }
    OpenOptions::new().append(true).create(true).open(file)?.write_all(lines.as_bytes())
}

impl SuiteRun {
    /// The run in a file.
    ///
    /// # Errors
    /// The file cannot be read, or a line is malformed; the error has the number of the line.
    pub fn read(file: &Path) -> io::Result<Self> {
        Self::parse(&fs::read_to_string(file)?)
    }

    /// The run in the text of a file.
    ///
    /// # Errors
    /// [`SuiteRun::read`]
    pub fn parse(text: &str) -> io::Result<Self> {
        let bad = |at: usize, error| io::Error::other(format!("line {}: {error}", at + 1));
        let mut lines = text.lines().enumerate();
        let (_, first) = lines.next().ok_or_else(|| io::Error::other("it is empty"))?;
        let about = serde_json::from_str(first).map_err(|error| bad(0, error))?;
        let mut run = Self { about, figures: Vec::new() };
        for (at, line) in lines {
            run.take(serde_json::from_str(line).map_err(|error| bad(at, error))?);
        }
        Ok(run)
    }

    fn take(&mut self, measured: Measured) {
        let same = |series: &&mut Series| series.best.suite == measured.suite && series.best.name == measured.name;
        match self.figures.iter_mut().find(same) {
            Some(series) => {
                series.worst = series.worst.max(measured.value);
                series.best.value = series.best.value.min(measured.value);
            }
            None => self.figures.push(Series { worst: measured.value, best: measured }),
        }
    }

    fn find(&self, like: &Measured) -> Option<&Series> {
        self.figures.iter().find(|series| series.best.suite == like.suite && series.best.name == like.name)
    }

    /// The differences to a newer run: the figures of that run in order, then those that it no longer has.
    pub fn compare(&self, newer: &Self) -> Vec<Difference> {
        let present = newer.figures.iter().map(|new| difference(self.find(&new.best), Some(new), &new.best));
        let gone = self.figures.iter().filter(|old| newer.find(&old.best).is_none());
        present.chain(gone.map(|old| difference(Some(old), None, &old.best))).collect()
    }
}

fn difference(old: Option<&Series>, new: Option<&Series>, named: &Measured) -> Difference {
    let change = match (old, new) {
        (None, _) => Change::New,
        (_, None) => Change::Gone,
        (Some(old), Some(new)) => change(old, new),
    };
    let best = |series: Option<&Series>| series.map(|series| series.best.value);
    let Measured { suite, name, unit, .. } = named.clone();
    Difference { suite, name, unit, old: best(old), new: best(new), change }
}

/// The spread of the values of a run is the noise. A difference counts only if all new values are on one side of the old ones.
fn change(old: &Series, new: &Series) -> Change {
    let (was, is) = (old.best.value, new.best.value);
    if is > was * (1.0 + TOLERANCE) && is > old.worst {
        Change::Worse
    } else if is < was * (1.0 - TOLERANCE) && new.worst < was {
        Change::Better
    } else {
        Change::Same
    }
}

/// Prints two runs side by side. The exit code is 1 if a figure became worse.
///
/// # Errors
/// A run cannot be read, the two have no figure in common, or standard output refuses.
pub(crate) fn compare_files(args: &CompareBenchArgs) -> Result<u8, UserError> {
    let (old, new) = (read(&args.a)?, read(&args.b)?);
    let differences = old.compare(&new);
    if !differences.iter().any(|difference| difference.old.is_some() && difference.new.is_some()) {
        let text = "the two runs have no figure in common";
        return Err(UserError::new(ErrorKind::Usage, text, "give two runs of scripts/performance.sh"));
    }
    let worse = differences.iter().filter(|difference| difference.change == Change::Worse).count();
    if args.json {
        print_json(
            &json!({"bench": "performance", "a": old.about, "b": new.about, "worse": worse, "figures": differences}),
        )?;
    } else {
        print(&side_by_side([&old.about, &new.about], &differences, worse))?;
    }
    Ok(u8::from(worse > 0))
}

fn read(file: &Path) -> Result<SuiteRun, UserError> {
    SuiteRun::read(file).map_err(|error| {
        let text = format!("{} is not a run of the performance suite: {error}", file.display());
        UserError::new(ErrorKind::Usage, text, "scripts/performance.sh makes one")
    })
}

fn side_by_side(abouts: [&SuiteInfo; 2], differences: &[Difference], worse: usize) -> String {
    let mut text = String::new();
    for (label, SuiteInfo { program, system, threads }) in ["A", "B"].into_iter().zip(abouts) {
        let _ = writeln!(text, "{label}  {program}, {system}, {threads} threads");
    }
    if (&abouts[0].system, abouts[0].threads) != (&abouts[1].system, abouts[1].threads) {
        text += "different machines: times cannot be compared\n";
    }
    let _ = writeln!(text, "{:<72}{:>12}{:>12}{:>10}", "", "A", "B", "B / A");
    for difference in differences {
        let Difference { suite, name, unit, old, new, .. } = difference;
        let cell = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        let ratio = old.zip(*new).filter(|(old, _)| *old > 0.0).map(|(old, new)| format!("{:.2}", new / old));
        let (ratio, what) = (ratio.unwrap_or_default(), format!("{suite}: {name}, {unit}"));
        let (old, new) = (cell(old), cell(new));
        let _ = writeln!(text, "{what:<72}{old:>12}{new:>12}{ratio:>10}{}", mark(difference.change));
    }
    let count = |change| differences.iter().filter(|difference| difference.change == change).count();
    let _ = writeln!(
        text,
        "{worse} worse by more than {:.0} %, {} better, {} neither",
        TOLERANCE * 100.0,
        count(Change::Better),
        count(Change::Same)
    );
    text
}

fn mark(change: Change) -> &'static str {
    match change {
        Change::Worse => "  WORSE",
        Change::Better => "  better",
        Change::Same => "",
        Change::New => "  new",
        Change::Gone => "  gone",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(figures: &[(&str, &[f64])]) -> SuiteRun {
        let mut run = SuiteRun::default();
        for (name, values) in figures {
            for value in *values {
                let (suite, unit) = ("frames".to_owned(), "ms".to_owned());
                run.take(Measured { suite, name: (*name).to_owned(), unit, value: *value, budget: None });
            }
        }
        run
    }

    fn verdicts(old: &SuiteRun, new: &SuiteRun) -> Vec<(String, Change)> {
        old.compare(new).into_iter().map(|difference| (difference.name, difference.change)).collect()
    }

    #[test]
    fn a_figure_that_grew_by_more_than_a_tenth_is_worse_and_noise_is_not() {
        let old = run(&[("a", &[1.0, 1.3]), ("b", &[1.0]), ("c", &[1.0]), ("d", &[1.0]), ("zero", &[0.0])]);
        let new = run(&[("a", &[1.2]), ("b", &[1.09]), ("c", &[1.11, 1.5]), ("d", &[0.8, 0.85]), ("zero", &[0.0])]);
        let expected = [Change::Same, Change::Same, Change::Worse, Change::Better, Change::Same];
        let found = verdicts(&old, &new);
        assert_eq!(found.iter().map(|(_, change)| *change).collect::<Vec<_>>(), expected);
        assert_eq!(verdicts(&run(&[("zero", &[0.0])]), &run(&[("zero", &[1.0])]))[0].1, Change::Worse);
    }

    #[test]
    fn figures_of_only_one_run_are_new_or_gone() {
        let found = verdicts(&run(&[("a", &[1.0]), ("b", &[1.0])]), &run(&[("b", &[1.0]), ("c", &[1.0])]));
        let expected = [("b", Change::Same), ("c", Change::New), ("a", Change::Gone)];
        assert_eq!(found, expected.map(|(name, change)| (name.to_owned(), change)));
    }

    #[test]
    fn a_written_file_reads_back_and_a_damaged_line_is_reported_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.jsonl");
        let about = SuiteInfo::here("rhumb 1");
        let figure =
            Measured { suite: "map".into(), name: "cold".into(), unit: "ms".into(), value: 2.0, budget: Some(3.0) };
        append(&file, &about, &[figure.clone(), Measured { value: 1.0, ..figure.clone() }]).unwrap();
        append(&file, &about, &[Measured { value: 4.0, ..figure.clone() }]).unwrap();
        let best = Series { best: Measured { value: 1.0, ..figure }, worst: 4.0 };
        assert_eq!(SuiteRun::read(&file).unwrap(), SuiteRun { about, figures: vec![best] });
        fs::write(&file, "{}\n").unwrap();
        assert!(SuiteRun::read(&file).is_err(), "nothing says of what");
        for (text, says) in [("", "empty"), ("{\"program\":\"\",\"system\":\"\",\"threads\":1}\n{}\n", "line 2")] {
            assert!(SuiteRun::parse(text).unwrap_err().to_string().contains(says), "{text}");
        }
    }
}
