//! What became of a case.

use std::collections::BTreeSet;

use similar::{Algorithm, DiffTag};

use super::case::{Case, Expect, Tree};
use rhumb_edit::{FileChange, Flag, Outcome, Proposal, Status, Strategy};

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every byte as intended, and nothing complained about.
    Exact,
    /// Refused, with nothing changed but what is true.
    Refused,
    /// As intended but for white space.
    Equiv,
    /// Nothing changed and nothing said.
    Lost,
    /// Anything else.
    Wrong,
}

impl Verdict {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Refused => "refused",
            Self::Equiv => "equiv",
            Self::Lost => "lost",
            Self::Wrong => "WRONG",
        }
    }

    /// Whether it is what was expected.
    pub fn is_right(self, expect: Expect) -> bool {
        match self {
            Self::Exact => matches!(expect, Expect::Apply | Expect::Either),
            Self::Refused => matches!(expect, Expect::Either | Expect::Refuse),
            Self::Lost => expect == Expect::Nothing,
            Self::Equiv | Self::Wrong => false,
        }
    }
}

/// The tree when all of a proposal is written.
pub(super) fn written(before: &Tree, proposal: &Proposal) -> Tree {
    let mut tree = before.clone();
    for file in &proposal.files {
        match &file.change {
            FileChange::Delete => drop(tree.remove(&file.path)),
            FileChange::Rename { from } => drop(tree.remove(from)),
            FileChange::Create | FileChange::Modify => {}
        }
        if let Some(text) = &file.proposed {
            tree.insert(file.path.clone(), text.as_bytes().to_vec());
        }
    }
    tree
}

/// Judges what a proposal makes of a case.
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

/// Whether an edit is refused though it is not one that is there already.
fn complains(case: &Case, proposal: &Proposal) -> bool {
    if case.defects.iter().any(|name| name == "sent-twice") {
        return false;
    }
    let there = |outcome: &Outcome| outcome.flags.iter().any(|flag| matches!(flag, Flag::AlreadyApplied));
    proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused && !there(outcome))
}

/// Whether the statuses agree with what changed.
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

/// Whether every file of `found` is as before but for some of the intended changes.
fn is_part(before: &Tree, after: &Tree, found: &Tree) -> bool {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).chain(found.keys()).collect();
    paths.into_iter().all(|path| match (before.get(path), after.get(path), found.get(path)) {
        (old, _, new) if old == new => true,
        (_, wanted, new) if wanted == new => true,
        (Some(old), Some(wanted), Some(new)) => is_part_of_file(old, wanted, new),
        _ => false,
    })
}

/// Whether some of the changes between two texts, each whole or not at all, give the third.
fn is_part_of_file(old: &[u8], wanted: &[u8], found: &[u8]) -> bool {
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (old, wanted) = (lines(old), lines(wanted));
    // How far into `found` the text can have come.
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

/// The tree without white space.
fn squeezed(tree: &Tree) -> Tree {
    let file = |bytes: &Vec<u8>| bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    tree.iter().map(|(path, bytes)| (path.clone(), file(bytes))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::run::proposed;
    use super::super::tests::samples;
    use super::*;
    use crate::edits::cases;
    use rhumb_edit::{EditFormat, FileProposal, Flexibility, FormatChoice};

    fn case(expect: Expect, after: &str) -> Case {
        let tree = |text: &str| Tree::from([("a".to_owned(), text.as_bytes().to_vec())]);
        let reply = "a\n```\n<<<<<<< SEARCH\ntwo\n=======\nzwei\n>>>>>>> REPLACE\n```\n".to_owned();
        let (before, after) = (tree("one\ntwo\nthree\n"), tree(after));
        let (name, origin) = (String::new(), String::new());
        Case { name, origin, format: FormatChoice::Auto, defects: Vec::new(), expect, before, after, reply }
    }

    fn judged(case: &Case, change: impl Fn(&mut Proposal)) -> Verdict {
        let mut proposal = proposed(case, Flexibility::On);
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
    fn a_status_that_the_files_belie_is_wrong() {
        let apply = case(Expect::Apply, "one\nzwei\nthree\n");
        assert_eq!(judged(&apply, refuses), Verdict::Wrong, "changed, and said to be refused");
        assert_eq!(judged(&apply, |p| p.files.clear()), Verdict::Wrong, "not changed, and said to be applied");
    }

    #[test]
    fn a_lucky_guess_is_wrong_where_refusing_is_right() {
        let refuse = case(Expect::Refuse, "one\ntwo\nthree\n");
        assert_eq!(judged(&refuse, |_| {}), Verdict::Wrong);
        let both = case(Expect::Either, "one\nzwei\nthree\n");
        assert!(judged(&both, |_| {}).is_right(Expect::Either));
    }

    #[test]
    fn some_of_the_changes_are_a_part_and_half_a_change_is_not() {
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
        for format in super::super::FORMATS {
            let cases = cases(&samples(), format, 120, 1);
            assert!(cases.len() > 60, "{format}: {}", cases.len());
            for case in &cases {
                assert_ne!(judged(case, |_| {}), Verdict::Wrong, "{}\n{}", case.name, case.reply);
            }
        }
    }

    #[test]
    fn an_engine_that_loses_a_line_is_found_out() {
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
}
