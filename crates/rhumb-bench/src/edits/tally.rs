//! The figures of a run: how many cases of a kind ended how.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Expect};
use super::defect::{DEFECTS, Layer};
use super::make::FORMATS;
use super::run::Run;
use super::score::Verdict;

/// Counts of cases by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All cases.
    pub cases: usize,
    /// As they should be.
    pub right: usize,
    /// Right but for white space.
    pub equiv: usize,
    /// Refused where that is not right.
    pub refused: usize,
    /// Neither changed nor told.
    pub lost: usize,
    /// Anything else.
    pub wrong: usize,
}

impl Tally {
    fn add(&mut self, expect: Expect, verdict: Verdict) {
        self.cases += 1;
        let count = match verdict {
            _ if verdict.is_right(expect) => &mut self.right,
            Verdict::Equiv => &mut self.equiv,
            Verdict::Refused => &mut self.refused,
            Verdict::Lost => &mut self.lost,
            Verdict::Exact | Verdict::Wrong => &mut self.wrong,
        };
        *count += 1;
    }

    /// A count as a part of all cases, in percent; 0 without cases.
    pub fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.cases.max(1) as f64
    }
}

/// What kind of case it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Without defects.
    Clean,
    /// With one.
    One,
    /// With two or three.
    Several,
    /// Refusing is right, or the reply is not whole.
    Hopeless,
    /// Any of these.
    All,
}

impl Group {
    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::One => "one defect",
            Self::Several => "two or three",
            Self::Hopeless => "hopeless",
            Self::All => "all",
        }
    }

    /// The group of a case.
    pub fn of(case: &Case) -> Self {
        let hopeless =
            |name: &String| DEFECTS.iter().any(|defect| defect.name == name && defect.layer == Layer::Hopeless);
        match case.defects.as_slice() {
            _ if matches!(case.expect, Expect::Refuse | Expect::Nothing) || case.defects.iter().any(hopeless) => {
                Self::Hopeless
            }
            [] => Self::Clean,
            [_] => Self::One,
            _ => Self::Several,
        }
    }
}

/// The figures of a run.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// By format and kind.
    pub groups: BTreeMap<(&'static str, Group), Tally>,
    /// By defect and format, for cases with this defect alone or, where it is a hopeless one, with another.
    pub classes: BTreeMap<(String, &'static str), Tally>,
    micros: Vec<f64>,
}

impl Figures {
    /// Counts a case in.
    pub fn add(&mut self, case: &Case, run: &Run) {
        let group = Group::of(case);
        for format in [case.format_name(), "all"] {
            for group in [group, Group::All] {
                self.groups.entry((format, group)).or_default().add(case.expect, run.verdict);
            }
            // A hopeless defect is always the last.
            let class = if group == Group::Hopeless { case.defects.last() } else { case.defects.first() };
            if let Some(only) = class.filter(|_| group == Group::Hopeless || case.defects.len() == 1) {
                self.classes.entry((only.clone(), format)).or_default().add(case.expect, run.verdict);
            }
        }
        self.micros.push(run.micros);
    }

    /// The formats that were counted, those that cases are made in first.
    pub fn formats(&self) -> Vec<&'static str> {
        let mut formats: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        formats.extend(self.groups.keys().map(|(format, _)| *format).filter(|format| *format != "all"));
        let mut seen = BTreeSet::new();
        formats.retain(|format| seen.insert(*format) && self.groups.contains_key(&(*format, Group::All)));
        formats
    }

    /// The names of the defects that were counted, in the order of the report; names that only a corpus has at the end.
    pub fn class_names(&self) -> Vec<&str> {
        let counted = |name: &str| self.classes.keys().any(|(class, _)| class == name);
        let known = DEFECTS.iter().map(|defect| defect.name).filter(|name| counted(name));
        let mut names: Vec<&str> = known.collect();
        for (class, _) in self.classes.keys() {
            if !names.contains(&class.as_str()) {
                names.push(class);
            }
        }
        names
    }

    /// Processor time that a reply took so that this part of all (0 to 1) took less, in microseconds.
    pub fn micros(&self, part: f64) -> f64 {
        let mut sorted = self.micros.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (sorted.len() as f64 * part) as usize;
        sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// How many cases that should be applied were not, hopeless ones aside. Those that were applied in another way are others.
    pub fn failed(&self) -> usize {
        let counted = [Group::Clean, Group::One, Group::Several].into_iter();
        counted.filter_map(|group| self.groups.get(&("all", group))).map(|tally| tally.refused + tally.lost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_applied_but_for_white_space_is_applied() {
        let mut figures = Figures::default();
        for (group, verdict) in [
            (Group::Clean, Verdict::Equiv),
            (Group::Clean, Verdict::Wrong),
            (Group::One, Verdict::Refused),
            (Group::Several, Verdict::Lost),
            (Group::Hopeless, Verdict::Lost),
        ] {
            figures.groups.entry(("all", group)).or_default().add(Expect::Apply, verdict);
        }
        assert_eq!(figures.failed(), 2);
    }

    #[test]
    fn a_refusal_counts_as_right_only_where_it_is() {
        let mut tally = Tally::default();
        tally.add(Expect::Apply, Verdict::Refused);
        tally.add(Expect::Refuse, Verdict::Refused);
        tally.add(Expect::Either, Verdict::Exact);
        tally.add(Expect::Apply, Verdict::Wrong);
        assert_eq!(tally, Tally { cases: 4, right: 2, refused: 1, wrong: 1, ..Tally::default() });
        assert_eq!(tally.percent(tally.right), 50.0);
    }
}
