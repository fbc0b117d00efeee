//! The hunks that make a command fail: a search for the smallest set to reject, which keeps hunks together that need each other.

use std::collections::{BTreeMap, BTreeSet};

use rhumb_syntax::Language;

use super::{Decision, FileReview, HunkId, Review};

/// Minimum length in bytes of a name that connects two hunks. Shorter names occur by chance.
const MIN_NAME_BYTES: usize = 3;

impl Review {
    /// The hunks that are not rejected, in reading order.
    pub fn proposed_hunks(&self) -> Vec<HunkId> {
        self.ids().filter(|id| self.decision(*id) != Decision::Rejected).collect()
    }

    /// The review with exactly these hunks, except for their rejected lines, accepted, and all others rejected.
    pub fn with_hunks(&self, accepted: &[HunkId]) -> Self {
        let mut review = Self { files: self.files.clone(), ..Self::default() };
        for (index, file) in review.files.iter_mut().enumerate() {
            for (hunk, item) in file.hunks.iter_mut().enumerate() {
                if accepted.contains(&HunkId { file: index, hunk }) {
                    item.decide_pending(Decision::Accepted);
                } else {
                    item.decide(Decision::Rejected);
                }
            }
        }
        review
    }

    /// For each hunk the positions of those that it needs: its added lines use a name that only they define. Without them, it fails for
    /// want of the definition.
    pub fn needed_hunks(&self, ids: &[HunkId]) -> Vec<Vec<usize>> {
        let files: Vec<NewNames<'_>> = self.files.iter().map(NewNames::of).collect();
        let mut definers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (at, id) in ids.iter().enumerate() {
            for name in files.get(id.file).and_then(|file| file.defined.get(id.hunk)).into_iter().flatten() {
                definers.entry(name).or_default().insert(at);
            }
        }
        let needed = |(at, id): (usize, &HunkId)| {
            let words = files.get(id.file).and_then(|file| file.used.get(id.hunk)).into_iter().flatten();
            let definers = words.filter_map(|word| definers.get(word)).filter(|by| !by.contains(&at));
            definers.flatten().copied().collect::<BTreeSet<usize>>().into_iter().collect()
        };
        ids.iter().enumerate().map(needed).collect()
    }
}

/// The names in the added lines of the hunks of a file.
struct NewNames<'f> {
    /// By hunk: the names that it defines and the file did not define before.
    defined: Vec<BTreeSet<String>>,
    /// By hunk: all words.
    used: Vec<BTreeSet<&'f str>>,
}

impl<'f> NewNames<'f> {
    fn of(file: &'f FileReview) -> Self {
        let (base, proposed) = (file.base.as_deref().unwrap_or_default(), file.proposed.as_deref().unwrap_or_default());
        let (_, lines) = file.split_texts();
        let added = |item: &super::ReviewHunk| lines.get(item.hunk.proposed.clone()).unwrap_or_default().to_vec();
        let used = file.hunks.iter().map(|item| added(item).into_iter().flat_map(words).collect()).collect();
        let definitions = |text: &str| -> Vec<(usize, String)> {
            let language = Language::detect(&file.path, text);
            let tags = language.map(|language| rhumb_syntax::tags(language, text)).unwrap_or_default();
            tags.definitions.into_iter().map(|entry| (entry.line as usize, entry.name)).collect()
        };
        let before: BTreeSet<String> = definitions(base).into_iter().map(|(_, name)| name).collect();
        let new: Vec<(usize, String)> = definitions(proposed)
            .into_iter()
            .filter(|(_, name)| name.len() >= MIN_NAME_BYTES && !before.contains(name))
            .collect();
        let in_hunk = |item: &super::ReviewHunk| {
            // Lines of definitions are 1-based.
            let own = new.iter().filter(|(line, _)| item.hunk.proposed.contains(&line.saturating_sub(1)));
            own.map(|(_, name)| name.clone()).collect()
        };
        Self { defined: file.hunks.iter().map(in_hunk).collect(), used }
    }
}

/// The words of a line that can be names.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c == '_' || c.is_alphanumeric())).filter(|word| word.len() >= MIN_NAME_BYTES)
}

/// The positions below `count` that turn the result of a test from passed to failed: a minimal set such that `passes` returns true for
/// all others, and false once one of the set, with what it needs, is added to them. No position at all must pass, and all positions
/// together must fail. `needed` is that of [`Review::needed_hunks`].
///
/// The search adds ever smaller parts, as in delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
/// Input", 2002). It looks for what to take away from the whole, and not for a smallest input that fails: a new test alone fails as
/// well, for want of the change that it tests. No set is tested twice.
///
/// # Errors
/// The first error of `passes`.
pub fn failure_inducing_set<E>(
    count: usize,
    needed: &[Vec<usize>],
    mut passes: impl FnMut(&[usize]) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    let mut left_out: Vec<usize> = (0..count).collect();
    let mut failed: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut size = count.div_ceil(2);
    while size > 0 {
        let (mut at, mut is_reduced) = (0, false);
        while at < left_out.len() {
            let added = with_needed(&left_out[at..(at + size).min(left_out.len())], needed);
            let rest: Vec<usize> = left_out.iter().copied().filter(|position| !added.contains(position)).collect();
            if !rest.is_empty() && !failed.contains(&rest) {
                let others: Vec<usize> = (0..count).filter(|position| !rest.contains(position)).collect();
                if passes(&others)? {
                    (left_out, is_reduced) = (rest, true);
                    continue;
                }
                failed.insert(rest);
            }
            at += size;
        }
        if size > 1 {
            size = size.div_ceil(2);
        } else if !is_reduced {
            break;
        }
    }
    Ok(left_out)
}

/// The positions, and those that they need.
fn with_needed(added: &[usize], needed: &[Vec<usize>]) -> BTreeSet<usize> {
    let (mut all, mut open) = (BTreeSet::new(), added.to_vec());
    while let Some(position) = open.pop() {
        if all.insert(position) {
            open.extend(needed.get(position).into_iter().flatten());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::Composed;
    use super::*;
    use crate::{FileChange, FileProposal, Proposal};
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn review(files: &[(&str, &str, &str)]) -> Review {
        let file = |(path, base, proposed): &(&str, &str, &str)| FileProposal {
            path: (*path).into(),
            change: FileChange::Modify,
            base: Some((*base).into()),
            proposed: Some((*proposed).into()),
        };
        Review::new(Proposal { files: files.iter().map(file).collect(), ..Proposal::default() })
    }

    /// The found set where the `culprits` fail together, and the number of tests.
    fn found(count: usize, needed: &[Vec<usize>], culprits: &[usize]) -> (Vec<usize>, usize) {
        let mut runs = 0;
        let found: Result<_, Infallible> = failure_inducing_set(count, needed, |set| {
            runs += 1;
            Ok(!culprits.iter().all(|culprit| set.contains(culprit)))
        });
        (found.unwrap(), runs)
    }

    #[test]
    fn a_hunk_that_calls_a_new_function_needs_the_hunk_that_defines_it() {
        let base = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";
        let proposed = "def a():\n    return helper()\n\n\ndef b():\n    return 2\n\n\ndef helper():\n    return 3\n";
        let review = review(&[("a.py", base, proposed), ("b.py", "x = 1\n", "x = helper()\n")]);
        let ids = review.proposed_hunks();
        assert_eq!(review.needed_hunks(&ids), [vec![1], vec![], vec![1]]);
    }

    #[test]
    fn a_single_hunk_of_many_is_found_with_few_runs() {
        let none = vec![Vec::new(); 32];
        let (found, runs) = found(32, &none, &[13]);
        assert_eq!(found, [13]);
        assert!(runs <= 16, "{runs}");
    }

    #[test]
    fn a_set_without_a_definition_is_not_tested() {
        // Hunk 1 needs hunk 0. Alone it would fail as well, for want of the definition.
        let needed = [Vec::new(), vec![0], Vec::new()];
        let found: Result<_, Infallible> = failure_inducing_set(3, &needed, |set| {
            assert!(!set.contains(&1) || set.contains(&0), "{set:?}");
            Ok(!set.contains(&2))
        });
        assert_eq!(found.unwrap(), [2]);
    }

    /// Hunk 3 is a test of the change in hunk 0, and fails without it. Hunk 1 is wrong.
    #[test]
    fn a_new_test_that_fails_alone_is_not_the_cause() {
        let found: Result<_, Infallible> = failure_inducing_set(4, &vec![Vec::new(); 4], |set| {
            Ok(!set.contains(&1) && (!set.contains(&3) || set.contains(&0)))
        });
        assert_eq!(found.unwrap(), [1]);
    }

    #[test]
    fn exactly_the_given_hunks_are_composed() {
        let review = review(&[("a.txt", "a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n")]);
        let ids = review.proposed_hunks();
        let only = review.with_hunks(&ids[1..2]);
        assert_eq!(only.files[0].composed(), Composed::Text("a\nb\nC\nd\ne\n".into()));
        assert_eq!(review.files[0].composed_with_pending(), Composed::Text("A\nb\nC\nd\nE\n".into()));
    }

    proptest! {
        #[test]
        fn without_the_set_it_passes_and_the_set_is_minimal(
            count in 1usize..12, seeds in prop::collection::vec(0usize..12, 1..4), links in prop::collection::vec((0usize..12, 0usize..12), 0..6)
        ) {
            let mut needed = vec![Vec::new(); count];
            for (from, to) in links {
                if from % count != to % count {
                    needed[from % count].push(to % count);
                }
            }
            let culprits: Vec<usize> = seeds.iter().map(|seed| seed % count).collect();
            let (found, _) = found(count, &needed, &culprits);
            let fails = |left_out: &[usize]| !culprits.iter().any(|culprit| left_out.contains(culprit));
            prop_assert!(!fails(&found));
            for position in &found {
                let added = with_needed(&[*position], &needed);
                let rest: Vec<usize> = found.iter().copied().filter(|other| !added.contains(other)).collect();
                prop_assert!(fails(&rest));
            }
        }
    }
}
