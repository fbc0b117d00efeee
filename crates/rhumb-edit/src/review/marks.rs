//! Marks of hunks: how their edits were located, flags, and syntax errors. Syntax is checked again when decisions
//! change, because half of a construct may be accepted without the other half.

use std::collections::BTreeSet;

use rhumb_text::diff::Hunk;

use super::file::{Composed, FileReview};
use super::hunk::{Decision, ReviewHunk};
use super::manual::{BY_HAND, REPEATS};
use super::{HunkId, Review, Saved, Step};
use crate::flags::HunkFlags;
use crate::flags::syntax::{SyntaxFault, syntax_faults};
use crate::outcome::{Flag, Outcome, Status, Strategy};
use crate::proposal::FileProposal;

/// The marks of a hunk of `file`, sorted.
pub(crate) fn marks(file: &FileProposal, hunk: &Hunk, outcomes: &[Outcome], flags: &[HunkFlags]) -> Vec<String> {
    let is_one = file.is_one_hunk();
    let landed = outcomes.iter().filter(|outcome| outcome.status == Status::Applied && file.has_name(&outcome.path));
    let behind = landed.filter(|outcome| is_one || outcome.may_have_made(hunk));
    let own = flags.iter().filter(|flagged| flagged.path == file.path && (is_one || flagged.hunk == *hunk));
    let own = own.flat_map(|flagged| &flagged.flags).map(ToString::to_string);
    let mut marks: Vec<String> = behind.flat_map(marks_of).chain(own).collect();
    marks.sort();
    marks.dedup();
    marks
}

/// The marks of an edit: its strategy and confidence if it is not exact, and the flags that are about the edit and
/// not about a hunk.
fn marks_of(outcome: &Outcome) -> impl Iterator<Item = String> + '_ {
    let percent = (outcome.confidence * 100.0).floor();
    let how = outcome.strategy.filter(|_| percent < 100.0).map(|strategy| format!("{strategy} {percent:.0} %"));
    let of_hunks = |flag: &&Flag| match flag {
        Flag::SyntaxError | Flag::Generated | Flag::Ignored | Flag::RunsLater | Flag::NewAddress => true,
        Flag::OpenInEditor | Flag::ReadOnly | Flag::HardLinked => true,
        Flag::Elision => outcome.strategy != Some(Strategy::Elision),
        _ => false,
    };
    let flags = outcome.flags.iter().filter(move |flag| !of_hunks(flag));
    how.into_iter().chain(flags.map(ToString::to_string))
}

impl Review {
    /// The accepted hunk that adds a syntax error to its file: the nearest one in the base.
    pub fn hunk_at_fault(&self, fault: &SyntaxFault) -> Option<HunkId> {
        let (at, file) = self.files.iter().enumerate().find(|(_, file)| file.path == fault.path)?;
        let distance = |item: &ReviewHunk| {
            let (own, other) = (&item.hunk.base, &fault.replaced);
            other.start.saturating_sub(own.end).max(own.start.saturating_sub(other.end))
        };
        let taken = file.hunks.iter().enumerate().filter(|(_, item)| item.is_partly_accepted());
        let (hunk, _) =
            taken.min_by_key(|(_, item)| (distance(item), item.hunk.base.start.abs_diff(fault.replaced.start)))?;
        Some(HunkId { file: at, hunk })
    }

    /// Checks the syntax of the files that a step changed, if their hunks may depend on each other: they touch,
    /// were split or joined, or have line decisions. Other hunks keep the marks of the proposal.
    pub(crate) fn check_syntax_after(&mut self, step: &Step) {
        let changed: BTreeSet<usize> = step
            .before
            .iter()
            .filter_map(|before| match before {
                Saved::Hunk(id, item) => {
                    let file = self.files.get(id.file)?;
                    (item.has_line_decisions() || file.has_parts()).then_some(id.file)
                }
                Saved::File(file, _) => Some(*file),
                Saved::All(..) => Some(step.cursor.file),
            })
            .collect();
        for file in changed {
            self.files.get_mut(file).into_iter().for_each(FileReview::check_syntax);
        }
    }
}

impl FileReview {
    /// Whether hunks were split, or lines decided separately.
    fn has_parts(&self) -> bool {
        let mut pairs = self.hunks.iter().zip(self.hunks.iter().skip(1));
        pairs.any(|(one, next)| one.hunk.base.end == next.hunk.base.start)
            || self.hunks.iter().any(ReviewHunk::has_line_decisions)
    }

    /// Marks the hunks that add syntax errors, if the accepted hunks are written, or if no further hunk is
    /// rejected.
    fn check_syntax(&mut self) {
        let (mark, generated) = (Flag::SyntaxError.name(), Flag::Generated.name());
        let is_generated = |item: &ReviewHunk| item.marks.iter().any(|mark| mark == generated);
        if !self.is_divisible() || self.hunks.iter().any(is_generated) {
            return;
        }
        let mut broken: BTreeSet<usize> = BTreeSet::new();
        let choices: [fn(Decision) -> bool; 2] = [|it| it == Decision::Accepted, |it| it != Decision::Rejected];
        for take in choices {
            let Composed::Text(text) = self.composed_where(take) else { continue };
            let faults = syntax_faults(&self.path, Some(self.base.as_deref().unwrap_or_default()), &text);
            let breaks = |item: &ReviewHunk| {
                let own = &item.hunk.base;
                let is_partly_accepted =
                    item.line_count() == 0 || (0..item.line_count()).any(|line| take(item.line_decision(line)));
                is_partly_accepted
                    && faults.iter().any(|fault| fault.replaced.start <= own.end && own.start <= fault.replaced.end)
            };
            broken.extend(self.hunks.iter().enumerate().filter(|(_, item)| breaks(item)).map(|(at, _)| at));
        }
        for (at, item) in self.hunks.iter_mut().enumerate() {
            let is_marked = item.marks.iter().any(|known| known == mark);
            match (is_marked, broken.contains(&at)) {
                (true, false) => item.marks.retain(|known| known != mark),
                (false, true) => item.marks.push(mark.to_owned()),
                _ => {}
            }
        }
    }
}

/// Prefixes of marks that state how a hunk was located.
const LOCATED: [&str; 5] = ["whitespace ", "indentation ", "elision ", "fuzzy ", "whole "];

fn states_location(mark: &str) -> bool {
    LOCATED.iter().any(|strategy| mark.starts_with(strategy))
}

impl ReviewHunk {
    /// Whether it was located exactly: no mark states another strategy.
    pub fn is_located_exactly(&self) -> bool {
        !self.marks.iter().any(|mark| states_location(mark))
    }

    /// Whether it adds a syntax error to its file.
    pub fn breaks_syntax(&self) -> bool {
        self.marks.iter().any(|mark| mark == Flag::SyntaxError.name())
    }
}

/// Describes a mark of a hunk in words, for output without symbols.
pub fn describe_mark(mark: &str) -> String {
    let description = match mark {
        "elision" => "leaves out code that it means to keep",
        "outside-chat" => "the file is not in the chat",
        "already-applied" => "the file has this change already",
        "incomplete" => "the reply stopped within it",
        "ambiguous" => "fits several locations",
        "outside-root" => "outside the repository",
        "repeated" => "sent twice",
        "syntax-error" => "breaks the syntax of the file",
        "path-guessed" => "the file name was guessed",
        "generated" => "the file is generated",
        "ignored" => "git ignores the file",
        "open-in-editor" => "the file is open in an editor",
        "read-only" => "the file is read-only",
        "hard-linked" => "the file has other hard links, which keep the old content",
        "runs-later" => "tools run this file automatically",
        "doubtful-name" => "the name may not be meant as a file name",
        "new-address" => "adds a network address that is not in the file",
        REPEATS => "repeats adjacent lines",
        BY_HAND => "placed by hand",
        _ if states_location(mark) => return format!("located by {}", mark.replace(" %", " percent")),
        _ => return mark.replace('-', " "),
    };
    description.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileChange, FileProposal, Proposal};
    use std::sync::Arc;

    #[test]
    fn marks_are_described_in_words() {
        assert_eq!(describe_mark("fuzzy 93 %"), "located by fuzzy 93 percent");
        assert_eq!(describe_mark("syntax-error"), "breaks the syntax of the file");
        assert_eq!(describe_mark("some-new-mark"), "some new mark");
        let hunk = |marks: &[&str]| {
            let marks = marks.iter().map(|mark| (*mark).to_owned()).collect();
            ReviewHunk::new(Hunk { base: 0..1, proposed: 0..1 }, marks)
        };
        assert!(hunk(&["outside-chat"]).is_located_exactly() && !hunk(&["whole 80 %"]).is_located_exactly());
        assert!(hunk(&["syntax-error"]).breaks_syntax() && !hunk(&["elision"]).breaks_syntax());
    }

    const BASE: &str = "def f():\n    try:\n        a()\n    finally:\n        b()\n    return 1\n";
    const PROPOSED: &str = "def f():\n    try:\n        a()\n    except E as e:\n\n        log(e)\n    finally:\n        b()\n    return 1\n";

    fn id(hunk: usize) -> HunkId {
        HunkId { file: 0, hunk }
    }

    fn review() -> Review {
        let (base, proposed) = (Some(Arc::from(BASE)), Some(Arc::from(PROPOSED)));
        let file = FileProposal { path: "a.py".into(), change: FileChange::Modify, base, proposed };
        let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
        assert_eq!(review.split(id(0)), 2);
        review
    }

    fn marked(review: &Review) -> Vec<bool> {
        review.files[0].hunks.iter().map(|item| item.marks.contains(&"syntax-error".to_owned())).collect()
    }

    #[test]
    fn half_of_a_construct_is_marked_until_the_other_half_is_accepted_too() {
        let mut review = review();
        assert_eq!(marked(&review), [false, false], "as a whole it is sound");
        review.decide(id(0), Decision::Accepted);
        assert_eq!(marked(&review), [true, false], "`except` without its body");
        review.decide(id(1), Decision::Rejected);
        assert_eq!(marked(&review), [true, false]);
        review.decide(id(1), Decision::Accepted);
        assert_eq!(marked(&review), [false, false]);
        review.undo();
        assert_eq!(marked(&review), [true, false]);
        review.redo();
        assert_eq!(marked(&review), [false, false]);
    }

    #[test]
    fn the_mark_goes_when_the_parts_are_joined_again() {
        let mut review = review();
        review.decide(id(1), Decision::Rejected);
        assert_eq!(marked(&review), [true, false], "what is left of it breaks the file");
        assert!(review.join(id(0)));
        review.decide(id(0), Decision::Accepted);
        assert_eq!(marked(&review), [false]);
    }

    #[test]
    fn lines_that_are_decided_apart_are_looked_at_too() {
        let mut review = review();
        assert!(review.join(id(0)));
        review.decide_lines(id(0), 0..1, Decision::Accepted);
        assert_eq!(marked(&review), [true]);
        review.decide_lines(id(0), 1..3, Decision::Accepted);
        assert_eq!(marked(&review), [false]);
    }
}
