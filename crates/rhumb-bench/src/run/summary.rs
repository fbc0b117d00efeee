//! Figures of runs with a model: of one run, and of two runs compared task by task.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The 97.5 % quantile of the standard normal distribution, for 95 % confidence intervals.
const Z: f64 = 1.959_963_985;

/// The result of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The id of the task.
    pub id: String,
    /// The id of the language.
    pub language: String,
    /// The models that were used.
    #[serde(default)]
    pub models: BTreeSet<String>,
    /// The number of the try that passed, from 1.
    pub passed: Option<usize>,
    /// The number of tries.
    pub tries: usize,
    /// The checks that the last try failed.
    #[serde(default)]
    pub failed: BTreeSet<String>,
    /// Whether code was left out: there is a placeholder, or the function is too small.
    #[serde(default)]
    pub elided: bool,
    /// Number of answers without an edit, or with one that could not be applied.
    #[serde(default)]
    pub malformed: usize,
    /// Whether a file has syntax errors that it did not have before.
    #[serde(default)]
    pub syntax_errors: bool,
    /// Whether the request exceeded the context window, or the answer the output limit.
    #[serde(default)]
    pub exhausted: bool,
    /// Whether a turn reached the time limit.
    #[serde(default)]
    pub timed_out: bool,
    /// Whether the tests reached their time limit.
    #[serde(default)]
    pub tests_timed_out: bool,
    /// Tokens of all requests.
    pub input: u64,
    /// Tokens of all answers.
    pub output: u64,
    /// The cost in US dollars; `None` if a price is unknown.
    pub cost: Option<f64>,
    /// The time in seconds, for turns and tests.
    pub seconds: f64,
}

/// A proportion with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Proportion {
    /// Number of successes.
    pub count: usize,
    /// Number of trials.
    pub of: usize,
    /// The proportion, from 0 to 1.
    pub share: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Proportion {
    /// A proportion with its Wilson score interval, which is also valid at 0 and 1 and for few trials (E. B. Wilson, 1927).
    pub fn new(count: usize, of: usize) -> Self {
        if of == 0 {
            return Self { count, of, share: 0.0, low: 0.0, high: 1.0 };
        }
        let (n, share) = (of as f64, count as f64 / of as f64);
        let scale = 1.0 + Z * Z / n;
        let middle = (share + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        Self { count, of, share, low: (middle - half).max(0.0), high: (middle + half).min(1.0) }
    }
}

/// The figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The models that were used.
    pub models: BTreeSet<String>,
    /// Number of finished tasks.
    pub done: usize,
    /// The tasks that passed by the first try, by the second, and so on.
    pub passed: Vec<Proportion>,
    /// Tasks with code left out.
    pub elided: Proportion,
    /// Tasks with an answer that could not be applied.
    pub malformed: Proportion,
    /// Number of answers that could not be applied.
    pub malformed_answers: usize,
    /// Tasks that end with syntax errors.
    pub syntax_errors: Proportion,
    /// Tasks that exceeded a limit of the model.
    pub exhausted: Proportion,
    /// Tasks with a turn that reached the time limit.
    pub timed_out: Proportion,
    /// Tasks whose tests reached their time limit.
    pub tests_timed_out: Proportion,
    /// Number of tasks that failed each check.
    pub failed: BTreeMap<String, usize>,
    /// Tokens of all requests.
    pub input_tokens: u64,
    /// Tokens of all answers.
    pub output_tokens: u64,
    /// The cost of all tasks with known prices, in US dollars.
    pub cost: f64,
    /// Number of tasks with an unknown price.
    pub unpriced: usize,
    /// The sum of the times of all tasks, in seconds.
    pub seconds: f64,
    /// The tasks that passed by the last try, by language.
    pub languages: BTreeMap<String, Proportion>,
}

impl Summary {
    /// The figures of finished tasks.
    pub fn of(entries: &[TaskResult]) -> Self {
        let done = entries.len();
        let share =
            |is: &dyn Fn(&TaskResult) -> bool| Proportion::new(entries.iter().filter(|entry| is(entry)).count(), done);
        let tries = entries.iter().map(|entry| entry.tries).max().unwrap_or(1).max(1);
        let by = |last: usize| share(&|entry| entry.passed.is_some_and(|nth| nth <= last));
        let mut failed = BTreeMap::new();
        for check in entries.iter().flat_map(|entry| &entry.failed) {
            *failed.entry(check.clone()).or_default() += 1;
        }
        Self {
            models: entries.iter().flat_map(|entry| entry.models.iter().cloned()).collect(),
            done,
            passed: (1..=tries).map(by).collect(),
            elided: share(&|entry| entry.elided),
            malformed: share(&|entry| entry.malformed > 0),
            malformed_answers: entries.iter().map(|entry| entry.malformed).sum(),
            syntax_errors: share(&|entry| entry.syntax_errors),
            exhausted: share(&|entry| entry.exhausted),
            timed_out: share(&|entry| entry.timed_out),
            tests_timed_out: share(&|entry| entry.tests_timed_out),
            failed,
            input_tokens: entries.iter().map(|entry| entry.input).sum(),
            output_tokens: entries.iter().map(|entry| entry.output).sum(),
            cost: sum(entries.iter().filter_map(|entry| entry.cost)),
            unpriced: entries.iter().filter(|entry| entry.cost.is_none()).count(),
            seconds: sum(entries.iter().map(|entry| entry.seconds)),
            languages: languages(entries),
        }
    }

    /// The tasks that passed by the last try.
    pub fn passed_in_the_end(&self) -> Proportion {
        self.passed.last().copied().unwrap_or_else(|| Proportion::new(0, 0))
    }
}

/// A sum that is positive zero without values.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

fn languages(entries: &[TaskResult]) -> BTreeMap<String, Proportion> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for entry in entries {
        let (passed, all) = counts.entry(entry.language.clone()).or_default();
        *passed += usize::from(entry.passed.is_some());
        *all += 1;
    }
    counts.into_iter().map(|(language, (passed, all))| (language, Proportion::new(passed, all))).collect()
}

/// Two runs over the same tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The figures of the first run, for common tasks.
    pub a: Summary,
    /// The figures of the second run, for common tasks.
    pub b: Summary,
    /// Number of tasks that both runs finished.
    pub common: usize,
    /// Common tasks that only the first run passed.
    pub only_a: Vec<String>,
    /// Common tasks that only the second run passed.
    pub only_b: Vec<String>,
    /// The p-value of the exact McNemar test (two-sided) for the null hypothesis that both runs pass equally often.
    pub p: f64,
}

impl Comparison {
    /// Compares two runs task by task.
    pub fn of(a: &[TaskResult], b: &[TaskResult]) -> Self {
        let of_b: BTreeMap<&str, &TaskResult> = b.iter().map(|entry| (entry.id.as_str(), entry)).collect();
        let pairs: Vec<(&TaskResult, &TaskResult)> =
            a.iter().filter_map(|entry| Some((entry, *of_b.get(entry.id.as_str())?))).collect();
        let only = |in_a: bool| {
            let differs =
                move |(a, b): &&(&TaskResult, &TaskResult)| a.passed.is_some() == in_a && b.passed.is_some() != in_a;
            pairs.iter().filter(differs).map(|(a, _)| a.id.clone()).collect::<Vec<_>>()
        };
        let (only_a, only_b) = (only(true), only(false));
        let side = |entries: Vec<TaskResult>| Summary::of(&entries);
        Self {
            a: side(pairs.iter().map(|(a, _)| (*a).clone()).collect()),
            b: side(pairs.iter().map(|(_, b)| (*b).clone()).collect()),
            common: pairs.len(),
            p: sign_test(only_a.len(), only_b.len()),
            only_a,
            only_b,
        }
    }
}

/// The p-value of a two-sided sign test for `heads` and `tails`.
fn sign_test(heads: usize, tails: usize) -> f64 {
    let (n, few) = (heads + tails, heads.min(tails));
    let mut term = 0.5f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut sum = 0.0;
    for k in 0..=few {
        sum += term;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, passed: Option<usize>) -> TaskResult {
        TaskResult {
            id: id.into(),
            language: "python".into(),
            passed,
            tries: passed.unwrap_or(2),
            ..TaskResult::default()
        }
    }

    #[test]
    fn the_interval_is_that_of_wilson() {
        // Values of R's prop.test(..., correct = FALSE).
        for (count, of, low, high) in [
            (0, 10, 0.0, 0.277_53),
            (10, 10, 0.722_47, 1.0),
            (5, 10, 0.236_59, 0.763_41),
            (81, 263, 0.255_29, 0.366_21),
        ] {
            let share = Proportion::new(count, of);
            assert!((share.low - low).abs() < 1e-4 && (share.high - high).abs() < 1e-4, "{share:?}");
        }
        assert_eq!((Proportion::new(0, 0).low, Proportion::new(0, 0).high), (0.0, 1.0));
    }

    #[test]
    fn later_tries_include_earlier_ones_and_every_failure_counts() {
        let mut third = entry("c", None);
        (third.elided, third.malformed, third.cost) = (true, 3, Some(0.5));
        third.failed = ["whole".to_owned()].into();
        let summary = Summary::of(&[entry("a", Some(1)), entry("b", Some(2)), third]);
        let counts: Vec<usize> = summary.passed.iter().map(|share| share.count).collect();
        assert_eq!((counts, summary.done), (vec![1, 2], 3));
        assert_eq!((summary.elided.count, summary.malformed.count, summary.malformed_answers), (1, 1, 3));
        assert_eq!((summary.cost, summary.unpriced, summary.failed["whole"]), (0.5, 2, 1));
        assert_eq!(summary.languages["python"].count, 2);
    }

    #[test]
    fn runs_are_compared_over_common_tasks() {
        let a = [entry("a", Some(1)), entry("b", Some(1)), entry("c", None), entry("x", Some(1))];
        let b = [entry("c", Some(2)), entry("b", None), entry("a", Some(1))];
        let comparison = Comparison::of(&a, &b);
        assert_eq!((comparison.common, comparison.a.done), (3, 3));
        assert_eq!((comparison.only_a, comparison.only_b), (vec!["b".to_owned()], vec!["c".to_owned()]));
        assert_eq!(comparison.p, 1.0);
        // 0.0390625 is what R's binom.test(1, 9) gives.
        assert!((sign_test(1, 8) - 0.039_062_5).abs() < 1e-9 && sign_test(0, 0) == 1.0);
    }
}
