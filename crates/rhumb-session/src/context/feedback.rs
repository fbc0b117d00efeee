//! The message about the review of the model's changes: which hunks were accepted, rejected or changed by the user, and
//! comments. It states facts only, each with its location.

use std::fmt::Write as _;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::fence::fence_for;
use super::refusals;
use rhumb_edit::Outcome;
use rhumb_edit::review::{Decision, FileReview, Review, ReviewHunk};
use rhumb_text::lines;

/// Maximum number of quoted lines of a hunk.
const MAX_QUOTED_LINES: usize = 40;

/// The decision on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
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
pub struct Said {
    /// The file.
    pub path: String,
    /// The added lines (1-based, in the text with all changes), or the position if it adds none.
    pub place: Range<usize>,
    /// The decision; `None` for a file.
    pub verdict: Option<Verdict>,
    /// The lines with `-` and `+`.
    pub change: String,
    /// The proposed text, if the user changed it.
    pub original: Option<String>,
    /// The comments: the line number and line, unless a comment is about the whole hunk; and the text.
    pub notes: Vec<(Option<(usize, String)>, String)>,
}

impl Said {
    /// Whether there is more to report than that it was accepted or is pending.
    pub fn is_telling(&self) -> bool {
        self.verdict == Some(Verdict::Rejected) || self.original.is_some() || !self.notes.is_empty()
    }

    /// The same hunk after it was written.
    pub fn written(mut self) -> Self {
        self.verdict = self.verdict.map(|verdict| match verdict {
            Verdict::Accepted => Verdict::Written,
            other => other,
        });
        self
    }
}

/// The feedback on a file under review and its hunks, in reading order.
pub fn said(file: &FileReview) -> Vec<Said> {
    let base = lines::split(file.base.as_deref().unwrap_or_default());
    let proposed = lines::split(file.proposed.as_deref().unwrap_or_default());
    let whole = Said {
        path: file.path.clone(),
        place: 0..0,
        verdict: None,
        change: String::new(),
        original: None,
        notes: vec![(None, file.comment.clone())],
    };
    let hunks = file.hunks.iter().map(|item| said_of(&file.path, item, &base, &proposed));
    (!file.comment.is_empty()).then_some(whole).into_iter().chain(hunks).collect()
}

fn said_of(path: &str, item: &ReviewHunk, base: &[&str], proposed: &[&str]) -> Said {
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
    let verdict = match item.decision() {
        Decision::Accepted => Verdict::Accepted,
        Decision::Rejected => Verdict::Rejected,
        Decision::Pending => Verdict::Pending,
    };
    let place = if new.is_empty() { &old } else { &new };
    Said {
        path: path.to_owned(),
        place: place.start + 1..place.end.max(place.start + 1) + 1,
        verdict: Some(verdict),
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
pub fn feedback(review: &Review, before: &[Said]) -> Option<String> {
    let now: Vec<Said> = review.files.iter().flat_map(said).collect();
    let all: Vec<&Said> = before.iter().chain(&now).collect();
    let open: Vec<&Outcome> = review.refused.iter().filter(|outcome| outcome.is_open()).collect();
    if open.is_empty() && !all.iter().any(|said| said.is_telling()) {
        return None;
    }
    let mut text = "This is what became of your changes.".to_owned();
    push_counts(&mut text, &all);
    let rejected = all.iter().filter(|said| said.verdict == Some(Verdict::Rejected) && said.notes.is_empty());
    push_all(&mut text, "Rejected; these are not made:", rejected, |text, said| {
        let _ = write!(text, "\n{}:", said.named());
        push_fenced(text, "diff", &said.change);
    });
    let edited = all.iter().filter(|said| said.original.is_some());
    push_all(&mut text, "Accepted with other words than yours:", edited, |text, said| {
        let _ = write!(text, "\n{}, as it is now:", said.named());
        push_fenced(text, "diff", &said.change);
    });
    let noted = all.iter().filter(|said| !said.notes.is_empty());
    push_all(&mut text, "Comments:", noted, push_notes);
    if !open.is_empty() {
        text.push_str("\n\nThese edits found no place and were left out:");
        text.push_str(&refusals::listed(&open));
    }
    text.push_str(
        "\n\nWhat is accepted or not decided is kept: do not send it again, though the files do not show all of it yet. Send edits \
         for what the comments ask for and for what found no place, and no others.",
    );
    Some(text)
}

impl Said {
    /// `src/a.rs, lines 12 to 15 (rejected)`.
    fn named(&self) -> String {
        let path = &self.path;
        let (first, last) = (self.place.start, self.place.end.saturating_sub(1));
        match self.place.len() {
            0 => path.clone(),
            1 => format!("{path}, line {first}"),
            _ => format!("{path}, lines {first} to {last}"),
        }
    }

    fn state(&self) -> &'static str {
        match self.verdict {
            Some(Verdict::Written) => " (accepted and written)",
            Some(Verdict::Accepted) => " (accepted)",
            Some(Verdict::Rejected) => " (rejected)",
            Some(Verdict::Pending) => " (not decided)",
            None => "",
        }
    }
}

fn push_notes(text: &mut String, said: &Said) {
    for (line, note) in &said.notes {
        match line {
            Some((number, quoted)) => {
                let _ = write!(text, "\n{}:{number}{}:", said.path, said.state());
                push_fenced(text, "diff", &format!("{quoted}\n"));
            }
            None if said.verdict.is_some() => {
                let _ = write!(text, "\n{}{}:", said.named(), said.state());
                push_fenced(text, "diff", &said.change);
            }
            None => {
                let _ = write!(text, "\n{}, the file as a whole:", said.path);
            }
        }
        let _ = write!(text, "\n{}\n", note.trim());
    }
}

fn push_all<'s>(
    text: &mut String,
    heading: &str,
    all: impl Iterator<Item = &'s &'s Said>,
    push: impl Fn(&mut String, &Said),
) {
    for (number, said) in all.enumerate() {
        if number == 0 {
            let _ = write!(text, "\n\n{heading}\n");
        }
        push(text, said);
    }
    text.truncate(text.trim_end().len());
}

/// The number of hunks of each file by decision.
fn push_counts(text: &mut String, all: &[&Said]) {
    let mut paths: Vec<&str> = all.iter().map(|said| said.path.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(*path));
    for path in paths {
        let count = |verdict| all.iter().filter(|said| said.path == path && said.verdict == Some(verdict)).count();
        let words = [
            (Verdict::Written, "accepted and written"),
            (Verdict::Accepted, "accepted, not written yet"),
            (Verdict::Rejected, "rejected"),
            (Verdict::Pending, "not decided"),
        ];
        let parts: Vec<String> = words
            .into_iter()
            .filter_map(|(verdict, word)| {
                Some(count(verdict)).filter(|count| *count > 0).map(|count| format!("{count} {word}"))
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
    fn without_a_word_of_the_user_there_is_nothing_to_send() {
        let mut review = review();
        review.decide(id(0), Decision::Accepted);
        assert_eq!(feedback(&review, &[]), None);
    }

    #[test]
    fn the_message_tells_what_became_of_each_change_and_quotes_what_comments_are_about() {
        let mut review = review();
        review.decide(id(0), Decision::Rejected);
        review.edit(id(1), "mine\n");
        review.comment(CommentTarget::Line(id(2), 1), "why E?");
        review.comment(CommentTarget::File(0), "nearly there");
        let written = said(&review.files[0]).remove(1).written();
        let text = feedback(&review, &[Said { verdict: Some(Verdict::Written), ..written }]).unwrap();
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
