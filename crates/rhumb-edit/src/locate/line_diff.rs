//! Line diffs of quotes and of whole files, with a bounded run time.

use similar::{Algorithm, DiffTag};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of steps of a comparison. Above it, only the common head and tail are found. Bounds the time to
/// about a second.
const MAX_STEPS: usize = 100_000_000;

/// A step from the old lines to the new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DiffStep {
    /// These old lines are kept.
    Same(Range<usize>),
    /// The old lines become the new lines; either range may be empty.
    Replace(Range<usize>, Range<usize>),
}

/// The steps in order.
pub(crate) fn steps(old: &[&str], new: &[&str]) -> Vec<DiffStep> {
    if expected_steps(old, new) > MAX_STEPS {
        return head_and_tail(old, new);
    }
    let ops = similar::capture_diff_slices(Algorithm::Myers, old, new);
    let step = |op: similar::DiffOp| match op.tag() {
        DiffTag::Equal => DiffStep::Same(op.old_range()),
        _ => DiffStep::Replace(op.old_range(), op.new_range()),
    };
    ops.into_iter().map(step).collect()
}

/// Myers' algorithm takes about as many steps as there are lines times different lines.
fn expected_steps(old: &[&str], new: &[&str]) -> usize {
    let lines = old.len().saturating_add(new.len());
    if lines.saturating_mul(lines) <= MAX_STEPS {
        return 0;
    }
    let mut counts: BTreeMap<&str, isize> = BTreeMap::new();
    old.iter().for_each(|line| *counts.entry(line).or_default() += 1);
    new.iter().for_each(|line| *counts.entry(line).or_default() -= 1);
    let different: usize = counts.values().map(|count| count.unsigned_abs()).sum();
    lines.saturating_mul(different)
}

fn head_and_tail(old: &[&str], new: &[&str]) -> Vec<DiffStep> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (a, b) = (old.len() - head, new.len() - head);
    let tail = old.iter().rev().zip(new.iter().rev()).take(a.min(b)).take_while(|(a, b)| a == b).count();
    vec![
        DiffStep::Same(0..head),
        DiffStep::Replace(head..old.len() - tail, head..new.len() - tail),
        DiffStep::Same(old.len() - tail..old.len()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_never_overlap() {
        let steps = head_and_tail(&["a", "a"], &["a", "a", "a"]);
        assert_eq!(steps, [DiffStep::Same(0..2), DiffStep::Replace(2..2, 2..3), DiffStep::Same(2..2)]);
    }

    #[test]
    fn long_texts_without_common_lines_are_compared_quickly() {
        let text = |tag: &str| (0..60_000).map(|i| format!("{tag}{i}")).collect::<Vec<_>>();
        let (old, new) = (text("a"), text("b"));
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        assert_eq!(steps(&old, &new).len(), 3);
    }
}
