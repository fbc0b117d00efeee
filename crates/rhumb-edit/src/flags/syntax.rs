//! Syntax errors that a change adds to a file. Used for the flags of a proposal, and for the text that would be
//! written: one of two hunks can break a file that parses with both or with neither.

use std::collections::BTreeSet;
use std::ops::Range;

use rhumb_syntax::SyntaxErrors;
use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use super::slice;

/// A syntax error that a change adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// The file, under the root.
    pub path: String,
    /// The line of the new text that does not parse, 0-based.
    pub line: usize,
    /// The text of that line, trimmed.
    pub text: String,
    /// The lines of the old text (0-based) that the hunk with the error replaces.
    pub replaced: Range<usize>,
}

/// The hunks between `before` and `after` that add syntax errors. Empty if the file parses, has no more errors than
/// before, or has no strict grammar.
pub fn syntax_faults(path: &str, before: Option<&str>, after: &str) -> Vec<SyntaxFault> {
    let base = before.unwrap_or_default();
    if before.is_some() && rhumb_syntax::is_generated(path, base) {
        return Vec::new();
    }
    let hunks = diff::hunks(base, after);
    let at_fault = hunks_with_new_errors(path, before, after, &hunks);
    if at_fault.is_empty() {
        return Vec::new();
    }
    let near = |side: fn(&Hunk) -> Range<usize>| hunks.iter().map(side).collect::<Vec<_>>();
    let errors = |text: &str, near: &[Range<usize>]| rhumb_syntax::errors(path, text, near).unwrap_or_default();
    let now = errors(after, &near(|hunk| hunk.proposed.clone()));
    let was = before.map_or_else(SyntaxErrors::default, |base| errors(base, &near(|hunk| hunk.base.clone())));
    let new = new_errors(&was, &now, &hunks);
    let lines = lines::split(after);
    let fault = |hunk: &Hunk| {
        // A parser often reports an open bracket only much later. Then the hunk itself is the location.
        let inside = new.iter().map(|error| error.start).find(|line| hunk.proposed.contains(line));
        let line = inside.unwrap_or(hunk.proposed.start).min(lines.len().saturating_sub(1));
        let text = lines.get(line).map(|line| lines::body(line).trim().to_owned()).unwrap_or_default();
        SyntaxFault { path: path.to_owned(), line, text, replaced: hunk.base.clone() }
    };
    at_fault.into_iter().filter_map(|at| hunks.get(at)).map(fault).collect()
}

/// The indices of the hunks that add syntax errors. A file without a base is new.
pub(crate) fn hunks_with_new_errors(path: &str, base: Option<&str>, proposed: &str, hunks: &[Hunk]) -> BTreeSet<usize> {
    let near = |side: fn(&Hunk) -> Range<usize>| hunks.iter().map(side).collect::<Vec<_>>();
    let after = rhumb_syntax::errors(path, proposed, &near(|hunk| hunk.proposed.clone()));
    let Some(after) = after.filter(|after| after.count() > 0) else {
        return BTreeSet::new();
    };
    let before = match base {
        Some(base) => rhumb_syntax::errors(path, base, &near(|hunk| hunk.base.clone())),
        None => Some(SyntaxErrors::default()),
    };
    match before {
        Some(before) if before.count() < after.count() => {
            let errors = new_errors(&before, &after, hunks);
            let tilted = unbalanced(base.unwrap_or_default(), proposed, hunks);
            match tilted.is_empty() {
                // A grammar that reports errors in the existing code may report more of the same kind.
                true if before.count() > 0 => BTreeSet::new(),
                true => hunks_near(&errors, hunks),
                false => unbalanced_near(&errors, &tilted, hunks),
            }
        }
        _ => BTreeSet::new(),
    }
}

/// The errors of the proposed text that the base does not have at the same location.
fn new_errors(before: &SyntaxErrors, after: &SyntaxErrors, hunks: &[Hunk]) -> Vec<Range<usize>> {
    let mut old: Vec<usize> = before.lines().iter().map(|lines| lines.start).collect();
    let mut is_new = |line: usize| {
        let range = before_lines(line, hunks);
        match old.iter().position(|old| range.contains(old)) {
            Some(at) => {
                old.remove(at);
                false
            }
            None => true,
        }
    };
    after.lines().iter().filter(|lines| is_new(lines.start)).cloned().collect()
}

/// The lines of the base for a line of the proposed text: one line, or those that its hunk replaced.
fn before_lines(line: usize, hunks: &[Hunk]) -> Range<usize> {
    let above = hunks.partition_point(|hunk| hunk.proposed.start <= line);
    let Some(hunk) = above.checked_sub(1).and_then(|at| hunks.get(at)) else {
        return line..line + 1;
    };
    if hunk.proposed.contains(&line) {
        return hunk.base.clone();
    }
    let line = hunk.base.end + (line - hunk.proposed.end);
    line..line + 1
}

/// The hunks that open or close more brackets than they close or open, if the sums of all hunks are not zero. A
/// parser often reports an open bracket only much later.
fn unbalanced(base: &str, proposed: &str, hunks: &[Hunk]) -> Vec<usize> {
    let (old, new) = (lines::split(base), lines::split(proposed));
    let balances: Vec<[i32; 4]> = hunks
        .iter()
        .map(|hunk| {
            let (removed, added) =
                (bracket_balance(slice(&old, &hunk.base)), bracket_balance(slice(&new, &hunk.proposed)));
            std::array::from_fn(|at| added[at] - removed[at])
        })
        .collect();
    let uneven = |at: &usize| balances.iter().map(|tilt| tilt[*at]).sum::<i32>() != 0;
    let marks: Vec<usize> = (0..4).filter(uneven).collect();
    let is_tilted = |tilt: &[i32; 4]| marks.iter().any(|at| tilt[*at] != 0);
    balances.iter().enumerate().filter(|(_, tilt)| is_tilted(tilt)).map(|(at, _)| at).collect()
}

/// How many more brackets of each kind the lines open than close, and whether the number of quotes is odd.
fn bracket_balance(lines: &[&str]) -> [i32; 4] {
    let mut tilt = [0; 4];
    for byte in lines.iter().flat_map(|line| line.bytes()) {
        match byte {
            b'(' => tilt[0] += 1,
            b')' => tilt[0] -= 1,
            b'[' => tilt[1] += 1,
            b']' => tilt[1] -= 1,
            b'{' => tilt[2] += 1,
            b'}' => tilt[2] -= 1,
            b'"' => tilt[3] ^= 1,
            _ => {}
        }
    }
    tilt
}

/// For each error, the nearest unbalanced hunk at or above it, or the first one.
fn unbalanced_near(errors: &[Range<usize>], tilted: &[usize], hunks: &[Hunk]) -> BTreeSet<usize> {
    let is_above =
        |at: &usize, error: &Range<usize>| hunks.get(*at).is_some_and(|hunk| hunk.proposed.start < error.end);
    let culprit = |error| tilted.iter().rev().find(|at| is_above(at, error)).or(tilted.first());
    errors.iter().filter_map(culprit).copied().collect()
}

/// The hunks near the errors. A wide error, as of one missing brace, is near many hunks, and counts only if no
/// error is near exactly one hunk. An error that is near no hunk counts for the nearest one.
fn hunks_near(errors: &[Range<usize>], hunks: &[Hunk]) -> BTreeSet<usize> {
    let near = |error: &Range<usize>| -> Vec<usize> {
        let is_near = |hunk: &Hunk| error.start <= hunk.proposed.end && hunk.proposed.start <= error.end;
        hunks.iter().enumerate().filter(|(_, hunk)| is_near(hunk)).map(|(at, _)| at).collect()
    };
    let pointed: Vec<Vec<usize>> = errors.iter().map(near).collect();
    let sharp: BTreeSet<usize> = pointed.iter().filter(|hunks| hunks.len() == 1).flatten().copied().collect();
    if !sharp.is_empty() {
        return sharp;
    }
    let wide: BTreeSet<usize> = pointed.into_iter().flatten().collect();
    if !wide.is_empty() {
        return wide;
    }
    let away = |hunk: &Hunk, error: &Range<usize>| {
        error.start.saturating_sub(hunk.proposed.end).max(hunk.proposed.start.saturating_sub(error.end))
    };
    let nearest = |error: &Range<usize>| (0..hunks.len()).min_by_key(|at| hunks.get(*at).map(|hunk| away(hunk, error)));
    errors.iter().filter_map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "def a():\n    return f(1)\n\n\ndef b():\n    return 2\n";

    #[test]
    fn the_hunk_and_the_line_that_break_a_file_are_named() {
        let broken = WHOLE.replace("f(1)", "f(1");
        let faults = syntax_faults("a.py", Some(WHOLE), &broken);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!((faults[0].line, faults[0].text.as_str(), faults[0].replaced.clone()), (1, "return f(1", 1..2));
    }

    #[test]
    fn a_file_that_parses_or_was_broken_before_has_no_fault() {
        assert!(syntax_faults("a.py", Some(WHOLE), &WHOLE.replace('2', "3")).is_empty());
        let broken = WHOLE.replace("f(1)", "f(1");
        assert!(syntax_faults("a.py", Some(&broken), &broken.replace('2', "3")).is_empty());
        assert!(syntax_faults("a.py", Some(&broken), WHOLE).is_empty());
        assert!(syntax_faults("notes.txt", Some("a (\n"), "b ((\n").is_empty());
    }

    #[test]
    fn a_new_file_that_does_not_parse_has_a_fault() {
        let faults = syntax_faults("new.py", None, "x = 1\ndef f(:\n    pass\n");
        assert_eq!(faults.iter().map(|fault| fault.path.as_str()).collect::<Vec<_>>(), ["new.py"]);
    }
}
