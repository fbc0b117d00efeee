//! Hunks: the maximal runs of changed lines between two texts, and putting some of them back together.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::lines::{self, LineEnding};

/// One change block: these lines of the base stand where those lines of the proposed text do.
///
/// Both ranges count lines from 0 as [`lines::split`] gives them; one of them may be empty (an insertion, a deletion).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hunk {
    /// Lines of the base that go.
    pub base: Range<usize>,
    /// Lines of the proposed text that come.
    pub proposed: Range<usize>,
}

/// The hunks between `base` and `proposed`, in order; at least one unchanged line lies between two of them.
///
/// Patience diff (Bram Cohen): it anchors on lines that are unique in both texts, so that a hunk does not begin with the
/// closing brace of the function before.
pub fn hunks(base: &str, proposed: &str) -> Vec<Hunk> {
    line_hunks(&lines::split(base), &lines::split(proposed))
}

/// Like [`hunks`], between lines that stand apart already.
pub fn line_hunks(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let mut found: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (base, proposed) = (op.old_range(), op.new_range());
        match found.last_mut() {
            // A deletion and an insertion at the same place are one change to a reader.
            Some(last) if last.base.end == base.start && last.proposed.end == proposed.start => {
                last.base.end = base.end;
                last.proposed.end = proposed.end;
            }
            _ => found.push(Hunk { base, proposed }),
        }
    }
    found
}

/// The base with the hunks that `chosen` names put in place, and every other line as it was.
///
/// `hunks` must come from the same two texts; a hunk that reaches past them is left out rather than trusted.
pub fn apply(base: &str, proposed: &str, hunks: &[Hunk], chosen: impl Fn(usize) -> bool) -> String {
    let (old, new) = (lines::split(base), lines::split(proposed));
    let mut text = String::with_capacity(base.len().max(proposed.len()));
    let ending = LineEnding::dominant(base);
    let mut push_all = |lines: &[&str]| lines.iter().for_each(|line| lines::push(&mut text, line, ending));
    let mut at = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        if !chosen(index) || hunk.base.start < at {
            continue;
        }
        let (Some(kept), Some(added)) = (old.get(at..hunk.base.start), new.get(hunk.proposed.clone())) else {
            continue;
        };
        push_all(kept);
        push_all(added);
        at = hunk.base.end;
    }
    push_all(old.get(at..).unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_replaced_line_is_one_hunk() {
        assert_eq!(hunks("a\nb\nc\n", "a\nB\nc\n"), [Hunk { base: 1..2, proposed: 1..2 }]);
    }

    #[test]
    fn a_missing_final_newline_is_a_change() {
        assert_eq!(hunks("a\nb", "a\nb\n"), [Hunk { base: 1..2, proposed: 1..2 }]);
    }

    #[test]
    fn a_line_without_an_end_gets_that_of_the_file_when_another_follows() {
        let (base, proposed) = ("a\r\nb", "a\r\nb\r\nc");
        assert_eq!(apply(base, proposed, &[Hunk { base: 2..2, proposed: 2..3 }], |_| true), proposed);
    }

    #[test]
    fn one_hunk_of_two_can_be_kept_out() {
        let (base, proposed) = ("a\nb\nc\nd\n", "A\nb\nc\nD\n");
        let found = hunks(base, proposed);
        assert_eq!(apply(base, proposed, &found, |index| index == 1), "a\nb\nc\nD\n");
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec("[ab]{0,2}(\n|\r\n)", 0..12)
            .prop_flat_map(|lines| (Just(lines.concat()), "[a]{0,1}").prop_map(|(body, tail)| body + &tail))
    }

    proptest! {
        #[test]
        fn all_hunks_give_the_proposed_text_and_none_the_base(base in text(), proposed in text()) {
            let found = hunks(&base, &proposed);
            prop_assert_eq!(&apply(&base, &proposed, &found, |_| true), &proposed);
            prop_assert_eq!(&apply(&base, &proposed, &found, |_| false), &base);
        }

        #[test]
        fn no_choice_of_hunks_invents_a_line(base in text(), proposed in text(), mask in any::<u32>()) {
            let found = hunks(&base, &proposed);
            let composed = apply(&base, &proposed, &found, |index| mask >> (index % 32) & 1 == 1);
            for line in lines::split(&composed) {
                let body = lines::body(line);
                let known = |text: &str| lines::split(text).iter().any(|other| lines::body(other) == body);
                prop_assert!(known(&base) || known(&proposed));
            }
        }
    }
}
