//! Line diffs: hunks (change blocks) between two texts, their partial application, and the unified format.

mod word;

use std::fmt::Write as _;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::lines::{self, LineEnding};

pub use word::{ChangedWords, changed_part, changed_words, pairs};

/// One change block: the lines `base` of the base text are replaced by the lines `proposed` of the proposed text.
///
/// Both ranges are 0-based line numbers as [`lines::split`] counts them. One of them may be empty: an insertion has an
/// empty `base`, a deletion an empty `proposed`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hunk {
    /// The removed lines of the base.
    pub base: Range<usize>,
    /// The added lines of the proposed text.
    pub proposed: Range<usize>,
}

/// Returns the hunks between `base` and `proposed` in order. At least one unchanged line separates two hunks.
///
/// Uses patience diff (Bram Cohen), which aligns on lines that are unique in both texts: a hunk rarely starts with the
/// closing brace of the previous function.
pub fn hunks(base: &str, proposed: &str) -> Vec<Hunk> {
    line_hunks(&lines::split(base), &lines::split(proposed))
}

/// Like [`hunks`], for texts that are already split into lines.
pub fn line_hunks(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let mut found: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (base, proposed) = (op.old_range(), op.new_range());
        match found.last_mut() {
            // A deletion directly followed by an insertion is one replacement.
            Some(last) if last.base.end == base.start && last.proposed.end == proposed.start => {
                last.base.end = base.end;
                last.proposed.end = proposed.end;
            }
            _ => found.push(Hunk { base, proposed }),
        }
    }
    found
}

/// Returns the base with those hunks applied whose index satisfies `chosen`. All other lines keep their bytes.
///
/// `hunks` must come from the same two texts. A hunk whose range exceeds them is skipped.
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

/// Unchanged lines shown before and after a hunk.
const CONTEXT: usize = 3;

/// Returns the unified diff from `base` to `proposed` of the file `path`, in the form that `git apply` reads. `None` means
/// that the file does not exist. The result is empty if the texts are equal.
pub fn unified(path: &str, base: Option<&str>, proposed: Option<&str>) -> String {
    let found = hunks(base.unwrap_or_default(), proposed.unwrap_or_default());
    if found.is_empty() && base.is_some() == proposed.is_some() {
        return String::new();
    }
    // For an empty file, git expects a header without hunks. It needs the mode to create or delete a file.
    let note = match (base, proposed) {
        (None, _) => "new file mode 100644\n",
        (_, None) => "deleted file mode 100644\n",
        _ => "",
    };
    let header = format!("diff --git a/{path} b/{path}\n{note}");
    let side = |text: Option<&str>, prefix: char| text.map_or("/dev/null".into(), |_| format!("{prefix}/{path}"));
    let names = (side(base, 'a'), side(proposed, 'b'));
    with_hunks(header, &names, &found, base.unwrap_or_default(), proposed.unwrap_or_default())
}

/// Returns the unified diff of a file that is renamed, with or without changes. Never empty.
pub fn unified_move(from: &str, to: &str, base: &str, proposed: &str) -> String {
    let header = format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    with_hunks(header, &(format!("a/{from}"), format!("b/{to}")), &hunks(base, proposed), base, proposed)
}

/// Appends the `---`/`+++` lines and the hunks to `header`, unless there are no hunks.
fn with_hunks(header: String, names: &(String, String), found: &[Hunk], base: &str, proposed: &str) -> String {
    let mut out = header;
    if found.is_empty() {
        return out;
    }
    let _ = writeln!(out, "--- {}\n+++ {}", names.0, names.1);
    let (old, new) = (lines::split(base), lines::split(proposed));
    for group in grouped(found) {
        push_group(&mut out, group, &old, &new);
    }
    out
}

/// Groups the hunks whose contexts touch: a group has one `@@` header.
fn grouped(hunks: &[Hunk]) -> impl Iterator<Item = &[Hunk]> {
    hunks.chunk_by(|a, b| b.base.start - a.base.end <= 2 * CONTEXT)
}

fn push_group(out: &mut String, group: &[Hunk], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let lead = first.base.start.min(CONTEXT);
    let tail = (old.len() - last.base.end).min(CONTEXT);
    let base = first.base.start - lead..last.base.end + tail;
    let proposed = first.proposed.start - lead..last.proposed.end + tail;
    // The unified format numbers an empty range by the line before it.
    let start = |range: &std::ops::Range<usize>| if range.is_empty() { range.start } else { range.start + 1 };
    let _ = writeln!(out, "@@ -{},{} +{},{} @@", start(&base), base.len(), start(&proposed), proposed.len());
    let mut at = base.start;
    for hunk in group {
        push_all(out, ' ', &old[at..hunk.base.start]);
        push_all(out, '-', &old[hunk.base.clone()]);
        push_all(out, '+', &new[hunk.proposed.clone()]);
        at = hunk.base.end;
    }
    push_all(out, ' ', &old[at..base.end]);
}

fn push_all(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
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
    fn a_line_without_a_terminator_gets_the_ending_of_the_file_when_another_line_follows() {
        let (base, proposed) = ("a\r\nb", "a\r\nb\r\nc");
        assert_eq!(apply(base, proposed, &[Hunk { base: 2..2, proposed: 2..3 }], |_| true), proposed);
    }

    #[test]
    fn one_hunk_of_two_can_be_skipped() {
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
        fn all_hunks_give_the_proposed_text_and_no_hunk_the_base(base in text(), proposed in text()) {
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

    #[test]
    fn a_change_carries_its_context() {
        let diff = unified("a.txt", Some("1\n2\n3\n4\n5\n"), Some("1\n2\nX\n4\n5\n"));
        insta::assert_snapshot!(diff, @r"
        diff --git a/a.txt b/a.txt
        --- a/a.txt
        +++ b/a.txt
        @@ -1,5 +1,5 @@
         1
         2
        -3
        +X
         4
         5
        ");
    }

    #[test]
    fn a_new_file_is_compared_with_dev_null() {
        let diff = unified("n", None, Some("x"));
        assert!(diff.contains("--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"), "{diff}");
    }

    #[test]
    fn a_rename_names_both_paths_and_shows_only_the_changes() {
        assert_eq!(
            unified_move("a b", "c/d", "x\n", "x\n"),
            "diff --git a/a b b/c/d\nrename from a b\nrename to c/d\n"
        );
        let diff = unified_move("a", "b", "x\n", "y\n");
        assert!(diff.ends_with("rename to b\n--- a/a\n+++ b/b\n@@ -1,1 +1,1 @@\n-x\n+y\n"), "{diff}");
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(unified("a", Some("x\n"), Some("x\n")), "");
    }
}
