//! The unified diff of two texts, as `git apply` reads it.

use std::fmt::Write as _;

use super::hunk::{Hunk, hunks};
use crate::lines;

/// Unchanged lines around a hunk.
const CONTEXT: usize = 3;

/// The unified diff from `base` to `proposed` of the file `path`; `None` stands for a file that is not there. Empty when
/// the texts are equal.
pub fn unified(path: &str, base: Option<&str>, proposed: Option<&str>) -> String {
    let found = hunks(base.unwrap_or_default(), proposed.unwrap_or_default());
    if found.is_empty() && base.is_some() == proposed.is_some() {
        return String::new();
    }
    // A header without hunks is how git tells of an empty file; git needs the mode to create or delete.
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

/// The unified diff of a file that moves from one path to another, and may change on the way. Never empty.
pub fn unified_move(from: &str, to: &str, base: &str, proposed: &str) -> String {
    let header = format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    with_hunks(header, &(format!("a/{from}"), format!("b/{to}")), &hunks(base, proposed), base, proposed)
}

/// A header and, where something changes, the names of both sides and the hunks.
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

/// Hunks whose contexts would touch share one header.
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
    // An empty side is numbered by the line before it.
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
    use super::*;

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
    fn a_new_file_comes_from_nowhere() {
        let diff = unified("n", None, Some("x"));
        assert!(diff.contains("--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"), "{diff}");
    }

    #[test]
    fn a_move_names_both_paths_and_only_what_changes() {
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
