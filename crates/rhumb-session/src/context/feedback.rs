//! The messages about the model's changes: which hunks were accepted, rejected or changed by the user, with comments; and which
//! edits could not be located. They state facts only, each with its location.

use super::excerpt::fence_for;
use rhumb_edit::review::{Decision, FileReview, Review, ReviewHunk};
use rhumb_edit::{Excerpt, Flag, Outcome, Status};
use rhumb_text::lines;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::Range;

/// Maximum number of quoted lines of a hunk.
const MAX_QUOTED_LINES: usize = 40;

/// The state of a hunk: the decision on it, and whether it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HunkState {
    /// Accepted and written.
    Written,
    /// Accepted, not written yet.
    Accepted,
    /// Rejected.
    Rejected,
    /// Pending.
    Pending,
}

/// A hunk with its decision and comments, or the comments on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkFeedback {
    /// The file.
    pub path: String,
    /// The added lines (1-based, in the text with all changes), or the position if it adds none.
    #[serde(rename = "place")]
    pub lines: Range<usize>,
    /// The decision; `None` for a file.
    #[serde(rename = "verdict")]
    pub state: Option<HunkState>,
    /// The lines with `-` and `+`.
    pub change: String,
    /// The proposed text, if the user changed it.
    pub original: Option<String>,
    /// The comments: the line number and line, unless a comment is about the whole hunk; and the text.
    pub notes: Vec<(Option<(usize, String)>, String)>,
}

impl HunkFeedback {
    /// Whether there is more to report than that the hunk was accepted or is pending.
    pub fn has_content(&self) -> bool {
        self.state == Some(HunkState::Rejected) || self.original.is_some() || !self.notes.is_empty()
    }

    /// The same hunk after it was written.
    pub fn written(mut self) -> Self {
        self.state = self.state.map(|state| match state {
            HunkState::Accepted => HunkState::Written,
            other => other,
        });
        self
    }
}

/// The feedback on a file under review and its hunks, in reading order.
pub fn file_feedback(file: &FileReview) -> Vec<HunkFeedback> {
    let base = lines::split(file.base.as_deref().unwrap_or_default());
    let proposed = lines::split(file.proposed.as_deref().unwrap_or_default());
    let whole = HunkFeedback {
        path: file.path.clone(),
        lines: 0..0,
        state: None,
        change: String::new(),
        original: None,
        notes: vec![(None, file.comment.clone())],
    };
    let hunks = file.hunks.iter().map(|item| hunk_feedback(&file.path, item, &base, &proposed));
    (!file.comment.is_empty()).then_some(whole).into_iter().chain(hunks).collect()
}

fn hunk_feedback(path: &str, item: &ReviewHunk, base: &[&str], proposed: &[&str]) -> HunkFeedback {
    let (old, new) = (item.hunk.base.clone(), item.hunk.proposed.clone());
    let removed = base.get(old.clone()).unwrap_or_default();
    let added = proposed.get(new.clone()).unwrap_or_default();
    let signed = |sign: char, line: &&str| format!("{sign}{}\n", lines::body(line));
    let all: Vec<String> =
        removed.iter().map(|line| signed('-', line)).chain(added.iter().map(|line| signed('+', line))).collect();
    let number = |line: usize| if line < old.len() { old.start + line + 1 } else { new.start + line - old.len() + 1 };
    let note = |(line, text): (Option<usize>, &str)| {
        let line = line.map(|line| (number(line), all.get(line).map_or("", |line| line.trim_end()).to_owned()));
        (line, text.to_owned())
    };
    let state = match item.decision() {
        Decision::Accepted => HunkState::Accepted,
        Decision::Rejected => HunkState::Rejected,
        Decision::Pending => HunkState::Pending,
    };
    let location = if new.is_empty() { &old } else { &new };
    HunkFeedback {
        path: path.to_owned(),
        lines: location.start + 1..location.end.max(location.start + 1) + 1,
        state: Some(state),
        change: cut(&all),
        original: item.original().map(str::to_owned),
        notes: item.comments().map(note).collect(),
    }
}

/// The first lines, and the number of the others.
fn cut(all: &[String]) -> String {
    let mut text: String = all.iter().take(MAX_QUOTED_LINES).map(String::as_str).collect();
    if all.len() > MAX_QUOTED_LINES {
        let _ = writeln!(text, "… {} more lines", all.len() - MAX_QUOTED_LINES);
    }
    text
}

/// The message about hunks under review, and about hunks `before` that are no longer. `None` if there is nothing to report
/// except accepted or pending hunks.
pub fn feedback(review: &Review, before: &[HunkFeedback]) -> Option<String> {
    let now: Vec<HunkFeedback> = review.files.iter().flat_map(file_feedback).collect();
    let all: Vec<&HunkFeedback> = before.iter().chain(&now).collect();
    let open: Vec<&Outcome> = review.refused.iter().filter(|outcome| outcome.is_open()).collect();
    if open.is_empty() && !all.iter().any(|feedback| feedback.has_content()) {
        return None;
    }
    let mut text = "This is what became of your changes.".to_owned();
    push_counts(&mut text, &all);
    let rejected =
        all.iter().filter(|feedback| feedback.state == Some(HunkState::Rejected) && feedback.notes.is_empty());
    push_all(&mut text, "Rejected; these are not made:", rejected, |text, feedback| {
        let _ = write!(text, "\n{}:", feedback.label());
        push_fenced(text, "diff", &feedback.change);
    });
    let edited = all.iter().filter(|feedback| feedback.original.is_some());
    push_all(&mut text, "Accepted with other words than yours:", edited, |text, feedback| {
        let _ = write!(text, "\n{}, as it is now:", feedback.label());
        push_fenced(text, "diff", &feedback.change);
    });
    let noted = all.iter().filter(|feedback| !feedback.notes.is_empty());
    push_all(&mut text, "Comments:", noted, push_notes);
    if !open.is_empty() {
        text.push_str("\n\nThese edits found no location and were left out:");
        text.push_str(&listed(&open));
    }
    text.push_str(
        "\n\nWhat is accepted or not decided is kept: do not send it again, though the files do not show all of it yet. Send edits \
         for what the comments ask for and for what found no location, and no others.",
    );
    Some(text)
}

impl HunkFeedback {
    /// `src/a.rs, lines 12 to 15 (rejected)`.
    fn label(&self) -> String {
        let path = &self.path;
        let (first, last) = (self.lines.start, self.lines.end.saturating_sub(1));
        match self.lines.len() {
            0 => path.clone(),
            1 => format!("{path}, line {first}"),
            _ => format!("{path}, lines {first} to {last}"),
        }
    }

    fn state_note(&self) -> &'static str {
        match self.state {
            Some(HunkState::Written) => " (accepted and written)",
            Some(HunkState::Accepted) => " (accepted)",
            Some(HunkState::Rejected) => " (rejected)",
            Some(HunkState::Pending) => " (not decided)",
            None => "",
        }
    }
}

fn push_notes(text: &mut String, feedback: &HunkFeedback) {
    for (line, note) in &feedback.notes {
        match line {
            Some((number, quoted)) => {
                let _ = write!(text, "\n{}:{number}{}:", feedback.path, feedback.state_note());
                push_fenced(text, "diff", &format!("{quoted}\n"));
            }
            None if feedback.state.is_some() => {
                let _ = write!(text, "\n{}{}:", feedback.label(), feedback.state_note());
                push_fenced(text, "diff", &feedback.change);
            }
            None => {
                let _ = write!(text, "\n{}, the file as a whole:", feedback.path);
            }
        }
        let _ = write!(text, "\n{}\n", note.trim());
    }
}

fn push_all<'s>(
    text: &mut String,
    heading: &str,
    all: impl Iterator<Item = &'s &'s HunkFeedback>,
    push: impl Fn(&mut String, &HunkFeedback),
) {
    for (number, feedback) in all.enumerate() {
        if number == 0 {
            let _ = write!(text, "\n\n{heading}\n");
        }
        push(text, feedback);
    }
    text.truncate(text.trim_end().len());
}

/// The number of hunks of each file by decision.
fn push_counts(text: &mut String, all: &[&HunkFeedback]) {
    let mut paths: Vec<&str> = all.iter().map(|feedback| feedback.path.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(*path));
    for path in paths {
        let count =
            |state| all.iter().filter(|feedback| feedback.path == path && feedback.state == Some(state)).count();
        let labels = [
            (HunkState::Written, "accepted and written"),
            (HunkState::Accepted, "accepted, not written yet"),
            (HunkState::Rejected, "rejected"),
            (HunkState::Pending, "not decided"),
        ];
        let parts: Vec<String> = labels
            .into_iter()
            .filter_map(|(state, label)| {
                Some(count(state)).filter(|count| *count > 0).map(|count| format!("{count} {label}"))
            })
            .collect();
        if !parts.is_empty() {
            let _ = write!(text, "\n- {path}: {}", parts.join("; "));
        }
    }
}

fn push_fenced(text: &mut String, word: &str, quoted: &str) {
    let fence = fence_for([quoted]);
    let _ = write!(text, "\n{fence}{word}\n{quoted}{fence}");
}

/// Number of quoted lines of a refused edit, which identify it.
const MAX_REFUSED_LINES: usize = 12;

/// The message about edits to try again; `None` if there are none.
pub fn refusals(outcomes: &[Outcome]) -> Option<String> {
    let open: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.is_open()).collect();
    if open.is_empty() {
        return None;
    }
    let located = outcomes.iter().filter(|outcome| outcome.status == Status::Applied).count();
    let mut text = match open.len() {
        1 => "1 edit of your answer found no location and was left out.".to_owned(),
        count => format!("{count} edits of your answer found no location and were left out."),
    };
    match located {
        0 => {}
        1 => text.push_str(KEPT_ONE),
        count => {
            let _ = write!(
                text,
                " The other {count} found theirs and are kept: do not send them again, though the files do not show them yet."
            );
        }
    }
    let (forbidden, unlocated): (Vec<&Outcome>, Vec<&Outcome>) =
        open.into_iter().partition(|outcome| outcome.flags.contains(&Flag::OutsideRoot));
    text.push_str(&listed(&unlocated));
    if !unlocated.is_empty() {
        text.push_str("\n\nSend these edits again and no others, in the same format, each whole, quoting the lines of the file exactly as they are.");
    }
    if !forbidden.is_empty() {
        text.push_str(FORBIDDEN);
        text.push_str(&listed(&forbidden));
    }
    Some(text)
}

/// Whether the edits to try again, and the reasons, are the same as in `before`: another round would not help.
pub fn same_refusals(before: &[Outcome], outcomes: &[Outcome]) -> bool {
    fn refusal(outcome: &Outcome) -> [&str; 4] {
        [&outcome.path, &outcome.reason, &outcome.quote, &outcome.replacement]
    }
    let open = |outcome: &&Outcome| outcome.is_open();
    before.iter().filter(open).map(refusal).eq(outcomes.iter().filter(open).map(refusal))
}

/// A path that must not be written cannot be tried again, but the path may have been a mistake.
const FORBIDDEN: &str = "\n\nNothing may be written to these paths. Do not send their edits again, unless one was meant for another \
     file of the repository: then with the path of that file.";

const KEPT_ONE: &str =
    " The other one found its location and is kept: do not send it again, though the files do not show it yet.";

/// Each of these edits with its reason and the text of the file there.
pub(super) fn listed(open: &[&Outcome]) -> String {
    let mut text = String::new();
    open.iter().enumerate().for_each(|(index, outcome)| push_refusal(&mut text, index + 1, outcome));
    text
}

fn push_refusal(text: &mut String, number: usize, outcome: &Outcome) {
    let path = if outcome.path.is_empty() { "(no file name)" } else { &outcome.path };
    let _ = write!(text, "\n\n{number}. {path}: {}", outcome.reason.trim());
    let meant = if outcome.quote.trim().is_empty() { &outcome.replacement } else { &outcome.quote };
    let cut = meant.lines().count() > MAX_REFUSED_LINES;
    let meant = meant.lines().take(MAX_REFUSED_LINES).collect::<Vec<_>>().join("\n");
    if !meant.trim().is_empty() {
        push_quoted(text, if cut { "It begins with these lines:" } else { "It is about these lines:" }, &meant);
    }
    for Excerpt { line, text: lines, with_edits } in &outcome.nearest {
        let last = line + lines.lines().count().max(1) - 1;
        let what = if *with_edits { ", with the edits that are kept, are" } else { " really are" };
        push_quoted(text, &format!("Lines {line} to {last} of {path}{what}:"), lines);
    }
}

fn push_quoted(text: &mut String, heading: &str, quoted: &str) {
    let fence = fence_for([quoted]);
    let _ = write!(text, "\n{heading}\n{fence}\n{quoted}\n{fence}");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use rhumb_edit::FileChange;
    use rhumb_edit::review::{CommentTarget, HunkId};

    fn review() -> Review {
        let (base, proposed) = ("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
        let text = |text: &str| Some(Arc::from(text));
        let file = FileReview::new("src/a.rs".into(), FileChange::Modify, text(base), text(proposed), |_| Vec::new());
        let mut review = Review::default();
        review.files.extend(file);
        review
    }

    fn id(hunk: usize) -> HunkId {
        HunkId { file: 0, hunk }
    }

    #[test]
    fn without_a_decision_or_comment_there_is_no_message() {
        let mut review = review();
        review.decide(id(0), Decision::Accepted);
        assert_eq!(feedback(&review, &[]), None);
    }

    #[test]
    fn the_message_lists_the_state_of_each_change_and_quotes_commented_lines() {
        let mut review = review();
        review.decide(id(0), Decision::Rejected);
        review.edit(id(1), "mine\n");
        review.comment(CommentTarget::Line(id(2), 1), "why E?");
        review.comment(CommentTarget::File(0), "nearly there");
        let written = file_feedback(&review.files[0]).remove(1).written();
        let text = feedback(&review, &[HunkFeedback { state: Some(HunkState::Written), ..written }]).unwrap();
        assert!(
            text.contains("- src/a.rs: 1 accepted and written; 1 accepted, not written yet; 1 rejected; 1 not decided"),
            "{text}"
        );
        assert!(text.contains("not made:\n\nsrc/a.rs, line 1:\n```diff\n-a\n+A\n```"), "{text}");
        assert!(text.contains("src/a.rs, line 3, as it is now:\n```diff\n-c\n+mine\n```"), "{text}");
        assert!(text.contains("src/a.rs, the file as a whole:\nnearly there"), "{text}");
        assert!(text.contains("src/a.rs:5 (not decided):\n```diff\n+E\n```\nwhy E?"), "{text}");
    }

    #[test]
    fn a_comment_on_a_rejected_hunk_says_so_and_quotes_it_once() {
        let mut review = review();
        review.decide(id(0), Decision::Rejected);
        review.comment(CommentTarget::Hunk(id(0)), "use `b`");
        let text = feedback(&review, &[]).unwrap();
        assert_eq!(text.matches("+A").count(), 1, "{text}");
        assert!(text.contains("src/a.rs, line 1 (rejected):"), "{text}");
    }
}

#[cfg(test)]
mod refusals_tests {
    use std::collections::BTreeMap;

    use super::*;
    use rhumb_edit::{Files, FormatChoice};

    struct MemoryFiles(BTreeMap<&'static str, &'static str>);

    impl Files for MemoryFiles {
        fn paths(&self) -> Vec<String> {
            self.0.keys().map(|path| (*path).to_owned()).collect()
        }

        fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
            Ok(self.0.get(path).map(|text| (*text).to_owned()))
        }

        fn in_chat(&self, _: &str) -> bool {
            true
        }

        fn root(&self) -> Option<String> {
            None
        }
    }

    fn block(path: &str, search: &str, replace: &str) -> String {
        format!("{path}\n````\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n````\n\n")
    }

    fn outcomes(reply: &str, files: &[(&'static str, &'static str)]) -> Vec<Outcome> {
        rhumb_edit::propose(
            &rhumb_edit::parse(reply, FormatChoice::Auto),
            &MemoryFiles(files.iter().copied().collect()),
        )
        .outcomes
    }

    const LAMP: &str = "def light():\n    lamp.on(3)\n    door.unlock()\n    horn.sound()\n    return True\n";

    #[test]
    fn a_refused_edit_is_returned_with_the_reason_and_the_real_lines() {
        let wrong = "    lamp.on(3)\n    window.wash()\n    horn.sound()\n";
        let reply = block("a.py", wrong, "    pass\n") + &block("a.py", "    return True\n", "    return False\n");
        let text = refusals(&outcomes(&reply, &[("a.py", LAMP)])).unwrap();
        assert!(text.starts_with("1 edit of your answer found no location"), "{text}");
        assert!(text.contains("do not send it again") && text.contains("1. a.py: no match"), "{text}");
        assert!(text.contains("window.wash()") && text.contains("    door.unlock()\n    horn.sound()\n"), "{text}");
    }

    #[test]
    fn an_ambiguous_edit_is_returned_with_all_its_locations_and_fences_hold() {
        let markdown = "# A\n```\nsame\n```\n# B\nx\ny\nz\n1\n2\n3\n4\n```\nsame\n```\n";
        let text = refusals(&outcomes(&block("a.md", "same\n", "other\n"), &[("a.md", markdown)])).unwrap();
        assert_eq!(text.matches("really are:\n````\n").count(), 2, "{text}");
    }

    #[test]
    fn without_an_open_edit_there_is_no_message() {
        let placed = block("a.py", "    lamp.on(3)\n", "    lamp.on(4)\n");
        assert_eq!(refusals(&outcomes(&placed, &[("a.py", LAMP)])), None);
        assert_eq!(refusals(&[]), None);
    }

    #[test]
    fn refusals_are_the_same_only_with_the_same_edits_and_reasons() {
        let files = [("a.py", LAMP)];
        let placed = block("a.py", "    return True\n", "    return False\n");
        let wrong = block("a.py", "    window.wash()\n", "    pass\n");
        let before = outcomes(&(placed.clone() + &wrong), &files);
        assert!(same_refusals(&before, &before));
        assert!(same_refusals(&before, &outcomes(&wrong, &files)), "an edit with a place does not count");
        for other in [
            block("a.py", "    window.wash()\n", "    return\n"),
            block("a.py", "    window.clean()\n", "    pass\n"),
            block("b.py", "    window.wash()\n", "    pass\n"),
            wrong.clone() + &block("a.py", "    roof.mend()\n", "    pass\n"),
            placed,
        ] {
            assert!(!same_refusals(&before, &outcomes(&other, &files)), "{other}");
        }
        let twice = "def wash():\n    window.wash()\n\n\ndef dry():\n    window.wash()\n";
        assert!(!same_refusals(&before, &outcomes(&wrong, &[("a.py", twice)])), "the reason is another one");
    }

    #[test]
    fn an_edit_of_a_forbidden_path_is_not_asked_for_again() {
        let outside = block("../a.py", "x\n", "y\n");
        let text = refusals(&outcomes(&outside, &[("a.py", LAMP)])).unwrap();
        assert!(!text.contains("Send these edits again") && text.contains("Do not send their edits again"), "{text}");
        let both = outside + &block("a.py", "    window.wash()\n", "    pass\n");
        let text = refusals(&outcomes(&both, &[("a.py", LAMP)])).unwrap();
        let (asked, forbidden) = text.split_once("Nothing may be written").expect("both are told of");
        assert!(asked.contains("a.py: no match") && !asked.contains("../a.py"), "{text}");
        assert!(forbidden.contains("../a.py"), "{text}");
    }
}
