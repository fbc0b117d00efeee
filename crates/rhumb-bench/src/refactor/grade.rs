//! Grades the result of a task. Each check is about one thing. A check whose subject is missing does not apply; another check fails
//! for that.

use std::ops::RangeInclusive;

use crate::refactor::outline::{Function, Outline};
use crate::refactor::scan::ParsedFile;
use crate::refactor::task::Task;

/// Tolerance of node counts, as a share of the expected count.
const TOLERANCE: f64 = 0.10;

/// Tolerance of the size of the class, as a share of the method. In a large class `TOLERANCE` would be more than the method itself,
/// and a class that kept it would pass.
const METHOD_SLACK: f64 = 0.5;

/// A check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The file parses; in Python the indentation is also valid.
    Parses,
    /// The function exists at the top level.
    AtTop,
    /// The function has as many syntax nodes as the method without its instance, within `TOLERANCE`.
    Whole,
    /// The class exists.
    ClassStays,
    /// The class became smaller by the syntax nodes of the method and its calls, within `TOLERANCE` of the rest and `METHOD_SLACK`
    /// of the method.
    ClassShrank,
}

impl Check {
    /// All checks, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Parses, Self::AtTop, Self::Whole, Self::ClassStays, Self::ClassShrank];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parses => "parses",
            Self::AtTop => "at-top",
            Self::Whole => "whole",
            Self::ClassStays => "class-stays",
            Self::ClassShrank => "class-shrank",
        }
    }

    /// The requirement, in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Parses => "the file parses",
            Self::AtTop => "the function is at the top level",
            Self::Whole => "the function is whole",
            Self::ClassStays => "the class is there",
            Self::ClassShrank => "the class is smaller by the method",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    /// The requirement is met.
    Passed,
    /// The requirement is not met, with the reason.
    Failed(String),
    /// The subject of the check is missing; another check fails for that.
    NotApplicable,
}

/// The grade of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grade {
    /// Each check with its result.
    pub checks: Vec<(Check, CheckResult)>,
    /// Number of new placeholder lines such as `# ... existing code ...`.
    pub placeholders: usize,
    /// Whether the function has too few nodes.
    pub shortened: bool,
}

impl Grade {
    /// Whether every check passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|(_, verdict)| *verdict == CheckResult::Passed)
    }

    /// Whether a check failed.
    pub fn failed(&self, check: Check) -> bool {
        self.checks.iter().any(|(of, verdict)| *of == check && matches!(verdict, CheckResult::Failed(_)))
    }

    /// Whether code was left out: there is a placeholder, or the function is too small.
    pub fn elided(&self) -> bool {
        self.placeholders > 0 || self.shortened
    }

    /// What is wrong, one line for each failed check.
    pub fn complaints(&self) -> Vec<String> {
        let failed = self.checks.iter().filter_map(|(check, verdict)| match verdict {
            CheckResult::Failed(how) => Some(format!("not so: {}: {how}", check.text())),
            _ => None,
        });
        failed.collect()
    }
}

/// Grades `text`, the new content of the file of a task; `before` is the old content.
pub fn grade(task: &Task, before: &str, text: &str) -> Grade {
    let placeholders = placeholders(before, text);
    let Some(reading) = ParsedFile::of(&task.language, text) else {
        let unread = CheckResult::Failed("it is too large to be parsed".into());
        let checks = Check::ALL
            .map(|check| (check, if check == Check::Parses { unread.clone() } else { CheckResult::NotApplicable }));
        return Grade { checks: checks.to_vec(), placeholders, shortened: false };
    };
    let outline = reading.outline();
    let function = function(task, &reading, &outline);
    let sound =
        if reading.is_sound() { CheckResult::Passed } else { CheckResult::Failed("it has syntax errors".into()) };
    let at_top = match function {
        Some(_) => CheckResult::Passed,
        None => CheckResult::Failed(format!("{} is not there", task.method)),
    };
    let wanted = whole(task);
    let whole =
        function.map_or(CheckResult::NotApplicable, |nodes| near(nodes, wanted..=wanted, TOLERANCE * wanted as f64));
    let class = outline.classes.iter().find(|class| class.name == task.class).map(|class| reading.count_class(class));
    let stays =
        if class.is_some() { CheckResult::Passed } else { CheckResult::Failed(format!("{} is gone", task.class)) };
    let rest = task.nodes.class.saturating_sub(task.nodes.method);
    let slack = (TOLERANCE * rest as f64).min(METHOD_SLACK * task.nodes.method as f64);
    // Calls through the instance become shorter, unless a wrapper method stays for them.
    let least = rest.saturating_sub(task.nodes.calls);
    let shrank = class.map_or(CheckResult::NotApplicable, |nodes| near(nodes, least..=rest, slack));
    let shortened = function.is_some_and(|nodes| (nodes as f64) < (1.0 - TOLERANCE) * wanted as f64);
    let checks = Check::ALL.into_iter().zip([sound, at_top, whole, stays, shrank]).collect();
    Grade { checks, placeholders, shortened }
}

/// The expected number of nodes of the function.
fn whole(task: &Task) -> usize {
    task.nodes.method.saturating_sub(task.nodes.instance)
}

/// The number of nodes of the function; of several with the name, of the one nearest to the expected number.
fn function(task: &Task, reading: &ParsedFile<'_>, outline: &Outline<'_>) -> Option<usize> {
    let is_it = |function: &&Function<'_>| function.name == task.method && function.home == task.home;
    let counts = outline.functions.iter().filter(is_it).map(|function| reading.count(function.node));
    counts.min_by_key(|nodes| nodes.abs_diff(whole(task)))
}

fn near(nodes: usize, wanted: RangeInclusive<usize>, slack: f64) -> CheckResult {
    let (least, most) = (*wanted.start() as f64 - slack, *wanted.end() as f64 + slack);
    if (least..=most).contains(&(nodes as f64)) {
        CheckResult::Passed
    } else {
        CheckResult::Failed(format!("{nodes} syntax nodes instead of about {}", wanted.end()))
    }
}

/// The number of new placeholder lines.
fn placeholders(before: &str, text: &str) -> usize {
    let known = |line: &str| before.lines().any(|old| old.trim() == line.trim());
    text.lines().filter(|line| rhumb_edit::is_placeholder(line) && !known(line)).count()
}
