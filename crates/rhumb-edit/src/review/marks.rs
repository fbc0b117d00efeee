//! Marks of hunks: how their edits were located, flags, and syntax errors. Syntax is checked again when decisions
//! change, because half of a construct may be accepted without the other half.

use std::collections::BTreeSet;
use std::fmt;

use rhumb_text::diff::Hunk;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as UnknownName;
use serde::{Deserialize, Serialize};

use super::file::{Composed, FileReview};
use super::hunk::{Decision, ReviewHunk};
use super::{HunkId, Review, Saved, Step};
use crate::flags::HunkFlags;
use crate::flags::syntax::{SyntaxFault, syntax_faults};
use crate::outcome::{Flag, Outcome, Status, Strategy};
use crate::proposal::FileProposal;

/// What a reviewer should know about a hunk. A saved review contains its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum HunkMark {
    /// The edit was located by a strategy that is not exact, with a confidence in percent.
    Located(Strategy, u8),
    /// A flag of the hunk, or of its edit.
    Flag(Flag),
    /// The user placed it.
    ByHand,
    /// It repeats lines next to it.
    RepeatsLines,
    /// The file changed on disk, and the lines of the hunk have other numbers there.
    Moved,
    /// The step of the agent loop that made it, from 1.
    Step(usize),
    /// The round of repairs that made it, from 1.
    Round(usize),
    /// The last command that the agent loop ran with it, and whether it succeeded.
    Ran {
        /// The first line of the command.
        command: String,
        /// Whether it succeeded.
        passed: bool,
    },
    /// The text of a mark that this version does not know, from a review that a later version saved.
    Unknown(String),
}

impl fmt::Display for HunkMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Located(strategy, percent) => write!(f, "{strategy} {percent} %"),
            Self::Flag(flag) => f.write_str(flag.name()),
            Self::ByHand => f.write_str(BY_HAND),
            Self::RepeatsLines => f.write_str(REPEATS_LINES),
            Self::Moved => f.write_str(MOVED),
            Self::Step(number) => write!(f, "{STEP}{number}"),
            Self::Round(number) => write!(f, "{ROUND}{number}"),
            Self::Ran { command, passed } => write!(f, "{}{command}", if *passed { PASSED } else { FAILED }),
            Self::Unknown(text) => f.write_str(text),
        }
    }
}

const BY_HAND: &str = "by hand";
const REPEATS_LINES: &str = "repeats-lines";
const MOVED: &str = "moved";
const STEP: &str = "step ";
const ROUND: &str = "round ";
const PASSED: &str = "✓ ";
const FAILED: &str = "✗ ";

impl From<HunkMark> for String {
    fn from(mark: HunkMark) -> Self {
        mark.to_string()
    }
}

impl From<String> for HunkMark {
    fn from(text: String) -> Self {
        let number = |prefix: &str| text.strip_prefix(prefix)?.parse().ok();
        let ran = |prefix: &str, passed: bool| {
            text.strip_prefix(prefix).map(|command| Self::Ran { command: command.to_owned(), passed })
        };
        let located = || {
            let (strategy, percent) = text.strip_suffix(" %")?.split_once(' ')?;
            Some(Self::Located(named(strategy)?, percent.parse().ok()?))
        };
        let known = match text.as_str() {
            BY_HAND => Some(Self::ByHand),
            REPEATS_LINES => Some(Self::RepeatsLines),
            MOVED => Some(Self::Moved),
            name => named(name).map(Self::Flag),
        };
        known
            .or_else(|| number(STEP).map(Self::Step))
            .or_else(|| number(ROUND).map(Self::Round))
            .or_else(|| ran(PASSED, true))
            .or_else(|| ran(FAILED, false))
            .or_else(located)
            .unwrap_or(Self::Unknown(text))
    }
}

/// The flag or strategy with this stable name.
fn named<'d, T: Deserialize<'d>>(name: &'d str) -> Option<T> {
    let name: serde::de::value::StrDeserializer<'d, UnknownName> = name.into_deserializer();
    T::deserialize(name).ok()
}

impl HunkMark {
    /// Describes the mark in words, for output without symbols.
    pub fn describe(&self) -> String {
        let description = match self {
            Self::Located(strategy, percent) => return format!("located by {strategy} {percent} percent"),
            Self::Flag(flag) => match flag {
                Flag::Elision => "leaves out code that it means to keep",
                Flag::OutsideChat => "the file is not in the chat",
                Flag::AlreadyApplied => "the file has this change already",
                Flag::Incomplete => "the reply stopped within it",
                Flag::Ambiguous => "fits several locations",
                Flag::OutsideRoot => "outside the repository",
                Flag::Repeated => "sent twice",
                Flag::SyntaxError => "breaks the syntax of the file",
                Flag::PathGuessed => "the file name was guessed",
                Flag::Generated => "the file is generated",
                Flag::Ignored => "git ignores the file",
                Flag::Conflict => "the file changed on disk there",
                Flag::OpenInEditor => "the file is open in an editor",
                Flag::ReadOnly => "the file is read-only",
                Flag::HardLinked => "the file has other hard links, which keep the old content",
                Flag::RunsLater => "tools run this file automatically",
                Flag::DoubtfulName => "the name may not be meant as a file name",
                Flag::NewAddress => "adds a network address that is not in the file",
            },
            Self::ByHand => "placed by hand",
            Self::RepeatsLines => "repeats adjacent lines",
            Self::Ran { command, passed: true } => return format!("{command} passed"),
            Self::Ran { command, passed: false } => return format!("{command} failed"),
            Self::Moved | Self::Step(_) | Self::Round(_) => return self.to_string(),
            Self::Unknown(text) => return text.replace('-', " "),
        };
        description.to_owned()
    }
}

/// The marks of a hunk of `file`, in the order of their texts.
pub(crate) fn marks(file: &FileProposal, hunk: &Hunk, outcomes: &[Outcome], flags: &[HunkFlags]) -> Vec<HunkMark> {
    let is_one = file.is_one_hunk();
    let landed = outcomes.iter().filter(|outcome| outcome.status == Status::Applied && file.has_name(&outcome.path));
    let behind = landed.filter(|outcome| is_one || outcome.may_have_made(hunk));
    let own = flags.iter().filter(|flagged| flagged.path == file.path && (is_one || flagged.hunk == *hunk));
    let own = own.flat_map(|flagged| &flagged.flags).copied().map(HunkMark::Flag);
    let mut marks: Vec<HunkMark> = behind.flat_map(marks_of).chain(own).collect();
    marks.sort_by_cached_key(ToString::to_string);
    marks.dedup();
    marks
}

/// The marks of an edit: its strategy and confidence if it is not exact, and the flags that are about the edit and
/// not about a hunk.
fn marks_of(outcome: &Outcome) -> impl Iterator<Item = HunkMark> + '_ {
    // Between 0 and 100.
    let percent = (outcome.confidence * 100.0).floor() as u8;
    let how = outcome.strategy.filter(|_| percent < 100).map(|strategy| HunkMark::Located(strategy, percent));
    let of_hunks = |flag: &Flag| match flag {
        Flag::SyntaxError | Flag::Generated | Flag::Ignored | Flag::RunsLater | Flag::NewAddress => true,
        Flag::OpenInEditor | Flag::ReadOnly | Flag::HardLinked => true,
        Flag::Elision => outcome.strategy != Some(Strategy::Elision),
        Flag::OutsideChat | Flag::PathGuessed | Flag::DoubtfulName | Flag::OutsideRoot | Flag::Conflict => false,
        Flag::AlreadyApplied | Flag::Incomplete | Flag::Ambiguous | Flag::Repeated => false,
    };
    let flags = outcome.flags.iter().copied().filter(move |flag| !of_hunks(flag));
    how.into_iter().chain(flags.map(HunkMark::Flag))
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
        if !self.is_divisible() || self.hunks.iter().any(|item| item.has_flag(Flag::Generated)) {
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
            let mark = HunkMark::Flag(Flag::SyntaxError);
            match (item.breaks_syntax(), broken.contains(&at)) {
                (true, false) => item.marks.retain(|known| *known != mark),
                (false, true) => item.marks.push(mark),
                (true, true) | (false, false) => {}
            }
        }
    }
}

impl ReviewHunk {
    /// Whether it was located exactly: no mark states another strategy.
    pub fn is_located_exactly(&self) -> bool {
        !self.marks.iter().any(|mark| matches!(mark, HunkMark::Located(..)))
    }

    /// Whether a flag of the hunk or of its edit is among its marks.
    pub fn has_flag(&self, flag: Flag) -> bool {
        self.marks.contains(&HunkMark::Flag(flag))
    }

    /// Whether it adds a syntax error to its file.
    pub fn breaks_syntax(&self) -> bool {
        self.has_flag(Flag::SyntaxError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileChange, FileProposal, Proposal};
    use std::sync::Arc;

    #[test]
    fn marks_are_described_in_words() {
        let describe = |text: &str| HunkMark::from(text.to_owned()).describe();
        assert_eq!(describe("fuzzy 93 %"), "located by fuzzy 93 percent");
        assert_eq!(describe("syntax-error"), "breaks the syntax of the file");
        assert_eq!(describe("✗ cargo test -p berth"), "cargo test -p berth failed");
        assert_eq!(describe("some-new-mark"), "some new mark");
        let hunk = |marks| ReviewHunk::new(Hunk { base: 0..1, proposed: 0..1 }, marks);
        assert!(hunk(vec![HunkMark::Flag(Flag::OutsideChat)]).is_located_exactly());
        assert!(!hunk(vec![HunkMark::Located(Strategy::Whole, 80)]).is_located_exactly());
        assert!(hunk(vec![HunkMark::Flag(Flag::SyntaxError)]).breaks_syntax());
        assert!(!hunk(vec![HunkMark::Flag(Flag::Elision)]).breaks_syntax());
    }

    #[test]
    fn a_mark_is_saved_as_its_text() {
        let ran = |passed| HunkMark::Ran { command: "make -j 2".into(), passed };
        let marks = [
            (HunkMark::Located(Strategy::Fuzzy, 93), "fuzzy 93 %"),
            (HunkMark::Located(Strategy::Elision, 80), "elision 80 %"),
            (HunkMark::Flag(Flag::Elision), "elision"),
            (HunkMark::Flag(Flag::OutsideChat), "outside-chat"),
            (HunkMark::ByHand, "by hand"),
            (HunkMark::RepeatsLines, "repeats-lines"),
            (HunkMark::Moved, "moved"),
            (HunkMark::Step(3), "step 3"),
            (HunkMark::Round(2), "round 2"),
            (ran(true), "✓ make -j 2"),
            (ran(false), "✗ make -j 2"),
            (HunkMark::Unknown("step by step".into()), "step by step"),
        ];
        for (mark, text) in marks {
            assert_eq!(serde_json::to_value(&mark).unwrap(), text);
            assert_eq!(serde_json::from_value::<HunkMark>(text.into()).unwrap(), mark);
        }
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
        review.files[0].hunks.iter().map(ReviewHunk::breaks_syntax).collect()
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
