//! What became of a task. Each check looks at one thing, and one that cannot look mentions so instead of failing too.

use std::ops::RangeInclusive;

use crate::refactor::outline::{Function, Outline};
use crate::refactor::scan::ParsedFile;
use crate::refactor::task::Task;

/// How far a count may be off, as a share of what it should be.
const TOLERANCE: f64 = 0.10;

/// How much of the moved method a class may miss or keep. In a large class a tenth would be more than the method itself, and
/// leaving it there would pass.
const METHOD_SLACK: f64 = 0.5;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The file parses; in Python its indentation is sound as well.
    Parses,
    /// The function exists at the top level.
    AtTop,
    /// It has as many syntax nodes as the method had, but for the instance, within a tenth.
    Whole,
    /// The class exists.
    ClassStays,
    /// The class has as many syntax nodes less as the method had, and its calls: within a tenth of the rest, and within half of
    /// the method.
    ClassShrank,
}

impl Check {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 5] = [Self::Parses, Self::AtTop, Self::Whole, Self::ClassStays, Self::ClassShrank];

    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parses => "parses",
            Self::AtTop => "at-top",
            Self::Whole => "whole",
            Self::ClassStays => "class-stays",
            Self::ClassShrank => "class-shrank",
        }
    }

    /// What it demands, in words.
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

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    /// It is as it should be.
    Passed,
    /// It is not, and how it is.
    Failed(String),
    /// What it looks at is not there, which another check tells.
    Unseen,
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grade {
    /// Each check with what it found.
    pub checks: Vec<(Check, CheckResult)>,
    /// New lines that stand for code which is not there, such as `# ... existing code ...`.
    pub placeholders: usize,
    /// The function has fewer nodes than it may.
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

    /// Whether code was left out: a comment stands for it, or the function is too small.
    pub fn elided(&self) -> bool {
        self.placeholders > 0 || self.shortened
    }

    /// What is wrong, a line each.
    pub fn complaints(&self) -> Vec<String> {
        let failed = self.checks.iter().filter_map(|(check, verdict)| match verdict {
            CheckResult::Failed(how) => Some(format!("not so: {}: {how}", check.text())),
            _ => None,
        });
        failed.collect()
    }
}

/// Grades `text`, what the file of a task has become; `before` is what it was.
pub fn grade(task: &Task, before: &str, text: &str) -> Grade {
    let placeholders = placeholders(before, text);
    let Some(reading) = ParsedFile::of(&task.language, text) else {
        let unread = CheckResult::Failed("it is beyond what is parsed".into());
        let checks =
            Check::ALL.map(|check| (check, if check == Check::Parses { unread.clone() } else { CheckResult::Unseen }));
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
    let whole = function.map_or(CheckResult::Unseen, |nodes| near(nodes, wanted..=wanted, TOLERANCE * wanted as f64));
    let class = outline.classes.iter().find(|class| class.name == task.class).map(|class| reading.count_class(class));
    let stays =
        if class.is_some() { CheckResult::Passed } else { CheckResult::Failed(format!("{} is gone", task.class)) };
    let rest = task.nodes.class.saturating_sub(task.nodes.method);
    let slack = (TOLERANCE * rest as f64).min(METHOD_SLACK * task.nodes.method as f64);
    // Calls through the instance are shorter afterwards, unless a thin method stays for them.
    let least = rest.saturating_sub(task.nodes.calls);
    let shrank = class.map_or(CheckResult::Unseen, |nodes| near(nodes, least..=rest, slack));
    let shortened = function.is_some_and(|nodes| (nodes as f64) < (1.0 - TOLERANCE) * wanted as f64);
    let checks = Check::ALL.into_iter().zip([sound, at_top, whole, stays, shrank]).collect();
    Grade { checks, placeholders, shortened }
}

/// The nodes that the function should have.
fn whole(task: &Task) -> usize {
    task.nodes.method.saturating_sub(task.nodes.instance)
}

/// The nodes of the function; where there are several of the name, of the one that is nearest to what is wanted.
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

/// New lines that stand for code.
fn placeholders(before: &str, text: &str) -> usize {
    let known = |line: &str| before.lines().any(|old| old.trim() == line.trim());
    text.lines().filter(|line| rhumb_edit::is_placeholder(line) && !known(line)).count()
}
