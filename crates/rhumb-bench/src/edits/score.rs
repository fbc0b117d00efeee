//! Runs cases, judges the results, and counts verdicts by kind of case.

use std::collections::{BTreeMap, BTreeSet};

use rhumb::clock::ThreadWatch;
use rhumb_edit::{FileChange, Flag, Matching, Outcome, Proposal, Status, Strategy};
use similar::{Algorithm, DiffTag};

use crate::edits::case::{Case, Expect, Tree, TreeFiles};
use crate::edits::defects::{DEFECTS, Layer};
use crate::edits::make::FORMATS;
use crate::edits::sketch::ROOT;

/// The verdict on the result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every byte is as intended, and no edit was refused.
    Exact,
    /// An edit was refused, and only intended changes were made.
    Refused,
    /// The text is as intended except for white space.
    Equiv,
    /// Nothing changed, and no edit was refused.
    Lost,
    /// Any other result.
    Wrong,
}

impl Verdict {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Refused => "refused",
            Self::Equiv => "equiv",
            Self::Lost => "lost",
            Self::Wrong => "WRONG",
        }
    }

    /// Whether the verdict is the expected one.
    pub fn is_right(self, expect: Expect) -> bool {
        match self {
            Self::Exact => matches!(expect, Expect::Apply | Expect::Either),
            Self::Refused => matches!(expect, Expect::Either | Expect::Refuse),
            Self::Lost => expect == Expect::Nothing,
            Self::Equiv | Self::Wrong => false,
        }
    }
}

/// The tree with the whole proposal written.
pub(crate) fn written(before: &Tree, proposal: &Proposal) -> Tree {
    let mut tree = before.clone();
    proposal.write_to(&mut tree);
    tree
}

/// Judges the proposal for a case.
pub fn verdict(case: &Case, proposal: &Proposal) -> Verdict {
    let found = written(&case.before, proposal);
    let refused = proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused);
    if !is_honest(case, proposal, &found) {
        return Verdict::Wrong;
    }
    let applies = matches!(case.expect, Expect::Apply | Expect::Either);
    if applies && found == case.after {
        return if complains(case, proposal) { Verdict::Refused } else { Verdict::Exact };
    }
    if refused && is_part(&case.before, &case.after, &found) {
        return Verdict::Refused;
    }
    if !refused && found == case.before {
        return Verdict::Lost;
    }
    if applies && squeezed(&found) == squeezed(&case.after) {
        return Verdict::Equiv;
    }
    Verdict::Wrong
}

/// Whether an edit was refused for another reason than that it is already applied.
fn complains(case: &Case, proposal: &Proposal) -> bool {
    if case.defects.iter().any(|name| name == "sent-twice") {
        return false;
    }
    let there = |outcome: &Outcome| outcome.flags.iter().any(|flag| matches!(flag, Flag::AlreadyApplied));
    proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused && !there(outcome))
}

/// Whether the statuses of the outcomes agree with the changed files.
fn is_honest(case: &Case, proposal: &Proposal, found: &Tree) -> bool {
    let changes = || {
        let applied = proposal.outcomes.iter().filter(|outcome| outcome.status == Status::Applied);
        applied.filter(|outcome| outcome.strategy != Some(Strategy::Unchanged))
    };
    let paths: BTreeSet<&String> = case.before.keys().chain(found.keys()).collect();
    let changed: Vec<&String> = paths.into_iter().filter(|path| case.before.get(*path) != found.get(*path)).collect();
    let told = |path: &&String| changes().any(|outcome| outcome.path == **path) || renamed(proposal, path);
    let done = changed.is_empty() == (changes().count() == 0);
    done && changed.iter().all(told)
}

fn renamed(proposal: &Proposal, path: &str) -> bool {
    proposal.files.iter().any(|file| match &file.change {
        FileChange::Rename { from } => from == path || file.path == path,
        _ => false,
    })
}

/// Whether every file of `found` has only some of the intended changes.
fn is_part(before: &Tree, after: &Tree, found: &Tree) -> bool {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).chain(found.keys()).collect();
    paths.into_iter().all(|path| match (before.get(path), after.get(path), found.get(path)) {
        (old, _, new) if old == new => true,
        (_, wanted, new) if wanted == new => true,
        (Some(old), Some(wanted), Some(new)) => is_part_of_file(old, wanted, new),
        _ => false,
    })
}

/// Whether `found` is `old` with some of the changes to `wanted`, each applied as a whole or not at all.
fn is_part_of_file(old: &[u8], wanted: &[u8], found: &[u8]) -> bool {
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (old, wanted) = (lines(old), lines(wanted));
    // The byte offsets in `found` that can be reached with the changes so far.
    let mut reached = BTreeSet::from([0]);
    for op in similar::capture_diff_slices(Algorithm::Myers, &old, &wanted) {
        let before = old.get(op.old_range()).unwrap_or_default().concat();
        let after = wanted.get(op.new_range()).unwrap_or_default().concat();
        let step = |from: &usize, part: &[u8]| {
            found.get(*from..).is_some_and(|rest| rest.starts_with(part)).then(|| from + part.len())
        };
        let stays = reached.iter().filter_map(|from| step(from, &before));
        let goes = reached.iter().filter_map(|from| step(from, &after)).filter(|_| op.tag() != DiffTag::Equal);
        reached = stays.chain(goes).collect();
    }
    reached.contains(&found.len())
}

/// The tree without any white space.
fn squeezed(tree: &Tree) -> Tree {
    let file = |bytes: &Vec<u8>| bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    tree.iter().map(|(path, bytes)| (path.clone(), file(bytes))).collect()
}

/// The result of a case.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// The verdict.
    pub verdict: Verdict,
    /// Processor time of parsing and locating, in microseconds.
    pub micros: f64,
    /// The proposal for the reply.
    pub proposal: Proposal,
}

/// The proposal for the reply of a case.
pub(crate) fn proposed(case: &Case, flexibility: Matching) -> Proposal {
    let parsed = rhumb_edit::parse(&case.reply, case.format);
    rhumb_edit::propose_with(&parsed, &TreeFiles { tree: &case.before, root: ROOT }, flexibility)
}

/// Runs a case.
pub fn run(case: &Case, flexibility: Matching) -> CaseResult {
    let watch = ThreadWatch::start();
    let proposal = proposed(case, flexibility);
    let micros = watch.ms() * 1_000.0;
    CaseResult { verdict: verdict(case, &proposal), micros, proposal }
}

/// Counts of cases by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All cases.
    pub cases: usize,
    /// The verdict is the expected one.
    pub right: usize,
    /// Right except for white space.
    pub equiv: usize,
    /// Refused, and should not be.
    pub refused: usize,
    /// Neither changed nor refused.
    pub lost: usize,
    /// Applied wrongly.
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

    /// A count as a percentage of all cases; 0 without cases.
    pub fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.cases.max(1) as f64
    }
}

/// The kind of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Without defects.
    Clean,
    /// With one.
    One,
    /// With two or three.
    Several,
    /// Must be refused, or the reply is incomplete.
    Hopeless,
    /// All cases.
    All,
}

impl Group {
    /// The name in reports.
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
    /// By edit format and kind.
    pub groups: BTreeMap<(&'static str, Group), Tally>,
    /// By defect and edit format: cases with this defect alone, or, for an unanswerable defect, also with another one.
    pub classes: BTreeMap<(String, &'static str), Tally>,
    micros: Vec<f64>,
}

impl Figures {
    /// Counts a case.
    pub fn add(&mut self, case: &Case, run: &CaseResult) {
        let group = Group::of(case);
        for format in [case.format_name(), "all"] {
            for group in [group, Group::All] {
                self.groups.entry((format, group)).or_default().add(case.expect, run.verdict);
            }
            // An unanswerable defect is always the last.
            let class = if group == Group::Hopeless { case.defects.last() } else { case.defects.first() };
            if let Some(only) = class.filter(|_| group == Group::Hopeless || case.defects.len() == 1) {
                self.classes.entry((only.clone(), format)).or_default().add(case.expect, run.verdict);
            }
        }
        self.micros.push(run.micros);
    }

    /// The counted edit formats, those of [`FORMATS`] first.
    pub fn formats(&self) -> Vec<&'static str> {
        let mut formats: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        formats.extend(self.groups.keys().map(|(format, _)| *format).filter(|format| *format != "all"));
        let mut seen = BTreeSet::new();
        formats.retain(|format| seen.insert(*format) && self.groups.contains_key(&(*format, Group::All)));
        formats
    }

    /// The names of the counted defects, in the order of the report, then those that only a corpus has.
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

    /// The quantile `part` (0 to 1) of the processor time of a reply, in microseconds.
    pub fn micros(&self, part: f64) -> f64 {
        let mut sorted = self.micros.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (sorted.len() as f64 * part) as usize;
        sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// The number of cases that should be applied and were not. Cases that were applied wrongly do not count.
    pub fn failed(&self) -> usize {
        let counted = [Group::Clean, Group::One, Group::Several].into_iter();
        counted.filter_map(|group| self.groups.get(&("all", group))).map(|tally| tally.refused + tally.lost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::cases;
    use crate::edits::tests::samples;
    use rhumb_edit::{EditFormat, FileProposal, FormatChoice, Matching};
    use std::sync::Arc;

    fn case(expect: Expect, after: &str) -> Case {
        let tree = |text: &str| Tree::from([("a".to_owned(), text.as_bytes().to_vec())]);
        let reply = "a\n```\n<<<<<<< SEARCH\ntwo\n=======\nzwei\n>>>>>>> REPLACE\n```\n".to_owned();
        let (before, after) = (tree("one\ntwo\nthree\n"), tree(after));
        let (name, origin) = (String::new(), String::new());
        Case { name, origin, format: FormatChoice::Auto, defects: Vec::new(), expect, before, after, reply }
    }

    fn judged(case: &Case, change: impl Fn(&mut Proposal)) -> Verdict {
        let mut proposal = proposed(case, Matching::Lenient);
        change(&mut proposal);
        verdict(case, &proposal)
    }

    fn says(text: &str) -> impl Fn(&mut Proposal) {
        move |proposal| proposal.files[0].proposed = Some(text.into())
    }

    fn refuses(proposal: &mut Proposal) {
        proposal.outcomes[0].status = Status::Refused;
    }

    #[test]
    fn every_verdict_can_be_reached() {
        let apply = case(Expect::Apply, "one\nzwei\nthree\n");
        assert_eq!(judged(&apply, |_| {}), Verdict::Exact);
        assert_eq!(judged(&apply, says("one\n  zwei\nthree\n")), Verdict::Equiv);
        assert_eq!(judged(&apply, says("one\ntwo\nzwei\nthree\n")), Verdict::Wrong);
        let nothing = |proposal: &mut Proposal| proposal.files.clear();
        assert_eq!(
            judged(&apply, |p| {
                nothing(p);
                refuses(p);
            }),
            Verdict::Refused
        );
        assert_eq!(
            judged(&apply, |p| {
                nothing(p);
                p.outcomes.clear();
            }),
            Verdict::Lost
        );
        let elsewhere = |proposal: &mut Proposal| {
            let proposed = Some(Arc::from("x"));
            proposal.files.push(FileProposal { path: "b".into(), change: FileChange::Create, base: None, proposed });
        };
        assert_eq!(judged(&apply, elsewhere), Verdict::Wrong);
    }

    #[test]
    fn a_status_that_contradicts_the_files_is_wrong() {
        let apply = case(Expect::Apply, "one\nzwei\nthree\n");
        assert_eq!(judged(&apply, refuses), Verdict::Wrong, "changed, and said to be refused");
        assert_eq!(judged(&apply, |p| p.files.clear()), Verdict::Wrong, "not changed, and said to be applied");
    }

    #[test]
    fn a_lucky_guess_is_wrong_where_edits_must_be_refused() {
        let refuse = case(Expect::Refuse, "one\ntwo\nthree\n");
        assert_eq!(judged(&refuse, |_| {}), Verdict::Wrong);
        let both = case(Expect::Either, "one\nzwei\nthree\n");
        assert!(judged(&both, |_| {}).is_right(Expect::Either));
    }

    #[test]
    fn some_whole_changes_are_a_part_and_half_a_change_is_not() {
        let part = |found: &str| is_part_of_file(b"a\nb\nc\nd\ne\n", b"A\nb\nC\nD\ne\nf\n", found.as_bytes());
        for found in ["a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nC\nD\ne\nf\n", "A\nb\nC\nD\ne\nf\n"] {
            assert!(part(found), "{found}");
        }
        for found in ["a\nb\nC\nd\ne\n", "a\nb\nc\nd\n", "x\n", "A\nA\nb\nc\nd\ne\n"] {
            assert!(!part(found), "{found}");
        }
    }

    #[test]
    fn a_small_corpus_has_nothing_wrong() {
        for format in FORMATS {
            let cases = cases(&samples(), format, 120, 1);
            assert!(cases.len() > 60, "{format}: {}", cases.len());
            for case in &cases {
                assert_ne!(judged(case, |_| {}), Verdict::Wrong, "{}\n{}", case.name, case.reply);
            }
        }
    }

    #[test]
    fn an_engine_that_loses_a_line_is_detected() {
        for case in cases(&samples(), EditFormat::Udiff, 30, 1) {
            let damage = |proposal: &mut Proposal| {
                for file in &mut proposal.files {
                    let text = file.proposed.clone().unwrap_or_default();
                    file.proposed =
                        Some(text.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>().into());
                }
            };
            let verdict = judged(&case, damage);
            assert!(matches!(verdict, Verdict::Wrong | Verdict::Refused), "{}: {verdict:?}", case.name);
        }
    }

    #[test]
    fn a_case_with_other_white_space_counts_as_applied() {
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
    fn a_refusal_counts_as_right_only_where_it_is_expected() {
        let mut tally = Tally::default();
        tally.add(Expect::Apply, Verdict::Refused);
        tally.add(Expect::Refuse, Verdict::Refused);
        tally.add(Expect::Either, Verdict::Exact);
        tally.add(Expect::Apply, Verdict::Wrong);
        assert_eq!(tally, Tally { cases: 4, right: 2, refused: 1, wrong: 1, ..Tally::default() });
        assert_eq!(tally.percent(tally.right), 50.0);
    }
}
