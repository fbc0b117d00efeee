//! The unified diff of two texts, as `git apply` reads it.

use std::fmt::Write as _;

use super::hunk::{Hunk, hunks};
use crate::text::lines;

/// Unchanged lines around a hunk.
const CONTEXT: usize = 3;

/// The unified diff from `base` to `proposed` of the file `path`; `None` stands for a file that is not there. Empty when
/// the texts are equal.
pub fn unified(path: &str, base: Option<&str>, proposed: Option<&str>) -> String {
    let (old_text, new_text) = (base.unwrap_or_default(), proposed.unwrap_or_default());
    let found = hunks(old_text, new_text);
    let existence_changes = base.is_some() != proposed.is_some();
    if found.is_empty() && !existence_changes {
        return String::new();
    }
    let (old, new) = (lines::split(old_text), lines::split(new_text));
    let mut out = format!("diff --git a/{path} b/{path}\n");
    // A header without hunks is how git tells of an empty file; git needs the mode to create or delete.
    match (base, proposed) {
        (None, _) => out.push_str("new file mode 100644\n"),
        (_, None) => out.push_str("deleted file mode 100644\n"),
        _ => {}
    }
    if found.is_empty() {
        return out;
    }
    let side = |text: Option<&str>, prefix: char| text.map_or("/dev/null".into(), |_| format!("{prefix}/{path}"));
    let _ = writeln!(out, "--- {}\n+++ {}", side(base, 'a'), side(proposed, 'b'));
    for group in grouped(&found) {
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
    fn equal_texts_have_no_diff() {
        assert_eq!(unified("a", Some("x\n"), Some("x\n")), "");
    }
}
