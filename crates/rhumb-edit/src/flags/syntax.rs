//! Syntax errors that a write would bring into a file: the same judgement as the flag on a hunk, made of the text that would
//! be written. Accepting one hunk of two can break a file that parses with both or with neither.

use std::collections::BTreeSet;
use std::ops::Range;

use rhumb_syntax::SyntaxErrors;
use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use super::slice;

/// A place where a text does not parse and the text before it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// The file, under the root.
    pub path: String,
    /// The line of the new text that does not parse, 0-based.
    pub line: usize,
    /// That line, without its end.
    pub text: String,
    /// The lines of the old text that the hunk replaces which brings the error in, 0-based.
    pub replaced: Range<usize>,
}

/// The hunks between `before` and `after` that break the syntax of a file. Empty if the file parses, if it has no more errors
/// than before, and if its language has no strict grammar.
pub fn syntax_faults(path: &str, before: Option<&str>, after: &str) -> Vec<SyntaxFault> {
    let base = before.unwrap_or_default();
    if before.is_some() && rhumb_syntax::is_generated(path, base) {
        return Vec::new();
    }
    let hunks = diff::hunks(base, after);
    let at_fault = broken(path, before, after, &hunks);
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
        // A parser often sees an open bracket only much later: then the hunk itself is the place to look at.
        let inside = new.iter().map(|error| error.start).find(|line| hunk.proposed.contains(line));
        let line = inside.unwrap_or(hunk.proposed.start).min(lines.len().saturating_sub(1));
        let text = lines.get(line).map(|line| lines::body(line).trim().to_owned()).unwrap_or_default();
        SyntaxFault { path: path.to_owned(), line, text, replaced: hunk.base.clone() }
    };
    at_fault.into_iter().filter_map(|at| hunks.get(at)).map(fault).collect()
}

/// The hunks that break the syntax of the file: those where it has errors now that it had not. A file without a base is new.
pub(crate) fn broken(path: &str, base: Option<&str>, proposed: &str, hunks: &[Hunk]) -> BTreeSet<usize> {
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
            let tilted = tilted(base.unwrap_or_default(), proposed, hunks);
            match tilted.is_empty() {
                // A grammar that finds faults in the code as it was finds them in more of its kind.
                true if before.count() > 0 => BTreeSet::new(),
                true => blamed(&errors, hunks),
                false => tilted_at(&errors, &tilted, hunks),
            }
        }
        _ => BTreeSet::new(),
    }
}

/// The errors of the proposed text that the base has not got at the same place.
fn new_errors(before: &SyntaxErrors, after: &SyntaxErrors, hunks: &[Hunk]) -> Vec<Range<usize>> {
    let mut old: Vec<usize> = before.lines().iter().map(|lines| lines.start).collect();
    let mut is_new = |line: usize| {
        let place = before_lines(line, hunks);
        match old.iter().position(|old| place.contains(old)) {
            Some(at) => {
                old.remove(at);
                false
            }
            None => true,
        }
    };
    after.lines().iter().filter(|lines| is_new(lines.start)).cloned().collect()
}

/// Where a line of the proposed text stood in the base: one line, or those that its hunk replaced.
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

/// The hunks that open more than they close, or close more, if that does not come out even. A parser often sees only much later
/// that something was left open.
fn tilted(base: &str, proposed: &str, hunks: &[Hunk]) -> Vec<usize> {
    let (old, new) = (lines::split(base), lines::split(proposed));
    let tilts: Vec<[i32; 4]> = hunks
        .iter()
        .map(|hunk| {
            let (removed, added) = (tilt(slice(&old, &hunk.base)), tilt(slice(&new, &hunk.proposed)));
            std::array::from_fn(|at| added[at] - removed[at])
        })
        .collect();
    let uneven = |at: &usize| tilts.iter().map(|tilt| tilt[*at]).sum::<i32>() != 0;
    let marks: Vec<usize> = (0..4).filter(uneven).collect();
    let is_tilted = |tilt: &[i32; 4]| marks.iter().any(|at| tilt[*at] != 0);
    tilts.iter().enumerate().filter(|(_, tilt)| is_tilted(tilt)).map(|(at, _)| at).collect()
}

/// How many more brackets of each kind lines open than close, and whether their quotes come in pairs.
fn tilt(lines: &[&str]) -> [i32; 4] {
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

/// For each error the nearest of the tilted hunks at or above it, else the first of them.
fn tilted_at(errors: &[Range<usize>], tilted: &[usize], hunks: &[Hunk]) -> BTreeSet<usize> {
    let is_above =
        |at: &usize, error: &Range<usize>| hunks.get(*at).is_some_and(|hunk| hunk.proposed.start < error.end);
    let culprit = |error| tilted.iter().rev().find(|at| is_above(at, error)).or(tilted.first());
    errors.iter().filter_map(culprit).copied().collect()
}

/// The hunks at which errors point. A wide error, as one brace too few makes it, points at many: it counts if no other points
/// at one; and what points at none is the work of the nearest.
fn blamed(errors: &[Range<usize>], hunks: &[Hunk]) -> BTreeSet<usize> {
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
