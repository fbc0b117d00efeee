//! Line diffs: hunks (change blocks) between two texts, their partial application, and the unified format.

use std::fmt::Write as _;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::lines::{self, LineEnding};

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

/// Two lines are versions of each other if at most this share of their visible characters differs.
const MAX_LINE_DIFFERENCE: f64 = 0.6;

/// Changed words are marked only if at most this share of a line differs. Above it nearly everything would be marked.
const MAX_MARKED: f64 = 0.5;

/// Maximum length in bytes of a line that is compared word by word. Longer lines are compared by their common prefix and suffix.
const MAX_LINE_BYTES: usize = 400;

/// Number of added lines that are compared with a removed line.
const MAX_COMPARED_LINES: usize = 12;

/// The words that changed between two versions of a line, as byte ranges of each version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedWords {
    /// Removed words, in the old line.
    pub removed: Vec<Range<usize>>,
    /// Added words, in the new line.
    pub added: Vec<Range<usize>>,
}

/// Pairs of a removed and an added line that are versions of each other, as indices, ascending on both sides.
///
/// The algorithm of delta (`dandavison/delta`): each removed line takes the first added line that is similar enough. The
/// cost is linear in the number of lines.
pub fn pairs(removed: &[&str], added: &[&str]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut next = 0;
    for (old, line) in removed.iter().enumerate() {
        let tries = added.iter().enumerate().skip(next).take(MAX_COMPARED_LINES);
        let near = |(new, other): &(usize, &&str)| {
            let blank = line.trim().is_empty() || other.trim().is_empty();
            // All blank lines are equal, so they are paired only where they are adjacent.
            if blank { line.trim() == other.trim() && *new == next } else { is_near(line, other) }
        };
        let found = tries.filter(near).map(|(new, _)| new).next();
        if let Some(new) = found {
            pairs.push((old, new));
            next = new + 1;
        }
    }
    pairs
}

/// The words that changed between two versions of a line. `None` if more than half of the line differs, because marks
/// would then cover most of it.
///
/// Of a line above 400 bytes only the part between the common prefix and the common suffix is compared. If that part is
/// itself above 400 bytes, all of it is returned as changed.
pub fn changed_words(old: &str, new: &str) -> Option<ChangedWords> {
    if old.len().max(new.len()) <= MAX_LINE_BYTES {
        return words_between(old, new, MAX_MARKED);
    }
    let [removed, added] = changed_part(old, new);
    let (old_part, new_part) = (old.get(removed.clone())?, new.get(added.clone())?);
    if ratio(old_part.len() + new_part.len(), old.len() + new.len()) > MAX_MARKED {
        return None;
    }
    if old_part.len().max(new_part.len()) > MAX_LINE_BYTES {
        let some = |range: Range<usize>| Some(range).filter(|range| !range.is_empty()).into_iter().collect();
        return Some(ChangedWords { removed: some(removed), added: some(added) });
    }
    let mut words = words_between(old_part, new_part, 1.0)?;
    let moved = |ranges: &mut Vec<Range<usize>>, by: usize| {
        ranges.iter_mut().for_each(|range| *range = range.start + by..range.end + by);
    };
    moved(&mut words.removed, removed.start);
    moved(&mut words.added, added.start);
    Some(words)
}

/// The byte ranges of two versions of a line between their common prefix and their common suffix. A range is empty if the
/// other version only adds text; both are empty if the versions are equal.
pub fn changed_part(old: &str, new: &str) -> [Range<usize>; 2] {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let start = old.floor_char_boundary(same).min(new.floor_char_boundary(same));
    let rest = a.iter().skip(start).rev().zip(b.iter().skip(start).rev());
    let after = rest.take_while(|(a, b)| a == b).count();
    // The last bytes of two different characters may be equal.
    let after = (0..=after).rev().find(|after| old.is_char_boundary(a.len() - after)).unwrap_or(0);
    [start..a.len() - after, start..b.len() - after]
}

fn words_between(old: &str, new: &str, max_difference: f64) -> Option<ChangedWords> {
    let (before, after) = (tokens(old), tokens(new));
    let ops = compare(&before, &after);
    if differing_share(&before, &after, &ops) > max_difference {
        return None;
    }
    let mut words = ChangedWords::default();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        push(&mut words.removed, bytes(&before, op.old_range()), old);
        push(&mut words.added, bytes(&after, op.new_range()), new);
    }
    Some(words)
}

fn is_near(old: &str, new: &str) -> bool {
    if old.len().max(new.len()) > MAX_LINE_BYTES {
        let [removed, added] = changed_part(old, new);
        return ratio(removed.len() + added.len(), old.len() + new.len()) <= MAX_LINE_DIFFERENCE;
    }
    let (before, after) = (tokens(old), tokens(new));
    let (short, long) = (weight(&before).min(weight(&after)), weight(&before).max(weight(&after)));
    // The difference in length is a lower bound of the difference.
    let lower_bound = if long == 0 { 0.0 } else { ratio(long - short, long + short) };
    lower_bound <= MAX_LINE_DIFFERENCE
        && differing_share(&before, &after, &compare(&before, &after)) <= MAX_LINE_DIFFERENCE
}

type Token<'t> = (usize, &'t str);

/// The words, runs of white space and single other characters of a line, each with its byte offset.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let goes_on = chars.peek().is_some_and(|(_, next)| kind(c) != 2 && kind(*next) == kind(c));
        if !goes_on {
            tokens.push((start, line.get(start..end).unwrap_or_default()));
            start = end;
        }
    }
    tokens
}

fn compare(old: &[Token<'_>], new: &[Token<'_>]) -> Vec<DiffOp> {
    let texts = |tokens: &[Token<'_>]| tokens.iter().map(|(_, text)| (*text).to_owned()).collect::<Vec<String>>();
    capture_diff_slices(Algorithm::Myers, &texts(old), &texts(new))
}

/// Number of characters of the tokens that are not white space.
fn weight(tokens: &[Token<'_>]) -> usize {
    tokens.iter().filter(|(_, text)| !text.trim().is_empty()).map(|(_, text)| text.chars().count()).sum()
}

fn differing_share(old: &[Token<'_>], new: &[Token<'_>], ops: &[DiffOp]) -> f64 {
    let all = weight(old) + weight(new);
    let of = |tokens: &[Token<'_>], range: Range<usize>| weight(tokens.get(range).unwrap_or_default());
    let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let differing = changed.map(|op| of(old, op.old_range()) + of(new, op.new_range())).sum();
    if all == 0 { 0.0 } else { ratio(differing, all) }
}

fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}

/// The byte range of a run of tokens.
fn bytes(tokens: &[Token<'_>], range: Range<usize>) -> Range<usize> {
    let run = tokens.get(range).unwrap_or_default();
    match (run.first(), run.last()) {
        (Some((start, _)), Some((end, text))) => *start..end + text.len(),
        _ => 0..0,
    }
}

/// Adds a range. It is merged with the last one if only white space separates them.
fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>, line: &str) {
    if range.is_empty() {
        return;
    }
    match ranges.last_mut() {
        Some(last) if line.get(last.end..range.start).is_some_and(|between| between.trim().is_empty()) => {
            last.end = range.end;
        }
        _ => ranges.push(range),
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

    fn marked(old: &str, new: &str) -> Option<(Vec<String>, Vec<String>)> {
        let words = changed_words(old, new)?;
        let texts =
            |ranges: Vec<Range<usize>>, line: &str| ranges.into_iter().map(|range| line[range].to_owned()).collect();
        Some((texts(words.removed, old), texts(words.added, new)))
    }

    #[test]
    fn the_words_that_changed_are_found() {
        let found = marked("return ship.length < self.length", "return ship.length <= self.width");
        assert_eq!(found, Some((vec!["length".into()], vec!["=".into(), "width".into()])));
        assert_eq!(marked("let été = 1;", "let été = 12;"), Some((vec!["1".into()], vec!["12".into()])));
    }

    #[test]
    fn adjacent_words_are_one_mark() {
        let found = marked("call(one two, x, y, z, last)", "call(three four, x, y, z, last)");
        assert_eq!(found, Some((vec!["one two".into()], vec!["three four".into()])));
    }

    #[test]
    fn a_line_that_differs_for_the_most_part_is_not_marked() {
        assert_eq!(changed_words("alpha beta", "gamma delta"), None);
        assert_eq!(changed_words(&"a ".repeat(300), &"b ".repeat(300)), None);
    }

    #[test]
    fn a_long_line_is_marked_between_its_common_prefix_and_suffix() {
        let long = |middle: &str| format!("{}{middle}{}", "let a = 1; ".repeat(200), "let z = 2; ".repeat(200));
        let found = marked(&long("one(x), two(y)"), &long("one(x), three(y)"));
        assert_eq!(found, Some((vec!["wo".into()], vec!["hree".into()])));
        // If that part is long, too, all of it is marked.
        let (old, new) = (format!("{}1", "old ".repeat(200)), format!("{}2", "new ".repeat(300)));
        assert_eq!(marked(&long(&old), &long(&new)), Some((vec![old], vec![new])));
        assert_eq!(marked(&long(""), &long("more ")), Some((vec![], vec!["more ".into()])));
        assert_eq!(pairs(&[&long("a")], &["b", &long("b")]), [(0, 1)]);
    }

    #[test]
    fn lines_are_paired_with_their_new_versions() {
        let removed = ["let a = one();", "let b = two();"];
        let added = ["// first", "let a = one(1);", "", "let b = two(2);"];
        assert_eq!(pairs(&removed, &added), [(0, 1), (1, 3)]);
        assert_eq!(pairs(&["alpha"], &["omega"]), []);
        assert_eq!(pairs(&["", "x"], &["", "x"]), [(0, 0), (1, 1)]);
    }

    proptest! {
        #[test]
        fn the_changed_parts_of_two_lines_are_all_that_differs(
            old in "[a-bé€ë]{0,12}", new in "[a-bé€ë]{0,12}", both in "[a-bé]{0,4}",
        ) {
            let (old, new) = (format!("{both}{old}{both}"), format!("{both}{new}{both}"));
            let [removed, added] = changed_part(&old, &new);
            let put = format!("{}{}{}", &old[..removed.start], &new[added.clone()], &old[removed.end..]);
            prop_assert_eq!(&put, &new);
            let (gone, come) = (&old[removed], &new[added]);
            let first = gone.chars().next().is_some_and(|c| come.starts_with(c));
            let last = gone.chars().next_back().is_some_and(|c| come.ends_with(c));
            prop_assert!(!first && !last, "{} {}", gone, come);
        }

        #[test]
        fn marks_are_at_character_boundaries_and_pairs_ascend(old in "[a-cé ,.(]{0,20}", new in "[a-cé ,.(]{0,20}") {
            if let Some(words) = changed_words(&old, &new) {
                prop_assert!(words.removed.iter().all(|range| old.get(range.clone()).is_some_and(|text| !text.is_empty())));
                prop_assert!(words.added.iter().all(|range| new.get(range.clone()).is_some_and(|text| !text.is_empty())));
            }
            let (old, new): (Vec<&str>, Vec<&str>) = (old.split('.').collect(), new.split('.').collect());
            let found = pairs(&old, &new);
            prop_assert!(found.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            prop_assert!(found.iter().all(|(i, j)| *i < old.len() && *j < new.len()));
        }
    }
}
