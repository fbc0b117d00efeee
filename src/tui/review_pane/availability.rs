//! Why an action of the review is unavailable, and the guard against a key press that was meant for another hunk.

use std::time::Duration;

use rhumb_edit::FileChange;
use rhumb_edit::review::{EditState, FileReview};

use crate::clock::Clock;
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, ReviewItem};

const DECISION_GUARD_TIME: Duration = Duration::from_millis(300);

/// The time at which a report replaced the hunk under the cursor.
#[derive(Debug, Default)]
pub struct DecisionGuard {
    pub clock: Clock,
    changed: Option<Duration>,
}

impl DecisionGuard {
    fn holds(&self) -> bool {
        self.changed.is_some_and(|changed| self.clock.passed().saturating_sub(changed) < DECISION_GUARD_TIME)
    }
}

/// Identifies a hunk: its path, and its removed and added lines.
type HunkTexts = (String, (String, String));

impl App {
    /// The hunk under the cursor, if a key would decide it.
    pub(crate) fn guarded(&self) -> Option<HunkTexts> {
        if self.focus != Pane::Review || !self.overlays.is_empty() {
            return None;
        }
        let id = self.review.cursor;
        let file = self.session.review.files.get(id.file)?;
        Some((file.path.clone(), file.texts_of(id.hunk)?))
    }

    /// Starts the guard if a report replaced the hunk under the cursor, which was `before`.
    pub(crate) fn guard(&mut self, before: Option<&HunkTexts>) {
        let now = self.guarded();
        if now.is_some() && now.as_ref() != before {
            self.review.guard.changed = Some(self.review.guard.clock.passed());
        }
    }

    /// Whether a decision comes too soon after the hunk has appeared.
    pub(super) fn is_guarded(&self, action: Action) -> bool {
        action.is_decision() && self.review.guard.holds()
    }

    /// Why an action of the review is unavailable. `None` if it is available or not an action of the review.
    pub(crate) fn review_why_not(&self, action: Action) -> Option<&'static str> {
        let review = &self.session.review;
        let is_of_review = action.is_decision() || opens_from_review(action);
        if !is_of_review {
            return None;
        }
        if review.is_empty() && (action != Action::SendReview || !self.session.has_feedback()) {
            // What arrives can be seen already, and looks as if it could be decided.
            let arrives = self.session.turn.as_ref().is_some_and(|turn| !turn.edits.is_empty());
            return Some(if arrives { "the answer is still arriving" } else { "nothing is under review" });
        }
        if self.session.writing {
            return Some("a write is under way");
        }
        match action {
            Action::Undo if !review.can_undo() => Some("there is nothing to undo"),
            Action::Redo if !review.can_redo() => Some("there is nothing to redo"),
            Action::Write | Action::WriteOther if !review.has_accepted() => Some("nothing is accepted"),
            Action::WriteOther if self.session.write_preview().commits.is_none() => Some("there is no git repository"),
            Action::SendReview if !self.session.has_feedback() => {
                Some("there is no rejected hunk, comment or edit without a place to send")
            }
            Action::Reask | Action::Dismiss if self.refused_here().is_none() => {
                Some("the cursor is not on an edit without a place")
            }
            Action::Reask if self.state_here() == Some(EditState::AlreadyApplied) => {
                Some("the file already has this change")
            }
            Action::ReaskAll if review.refused.is_empty() => Some("every edit has a place"),
            Action::Reask | Action::ReaskAll => self.session.cannot_send(),
            Action::EditHunk | Action::EditFile | Action::OpenFile | Action::Comment | Action::CommentFile => {
                self.cannot_open(action)
            }
            action if action.is_decision() && review.files.is_empty() => Some("there is no hunk to accept or reject"),
            action if action.is_decision() && !is_bulk(action) => self.state_here().map(|state| match state {
                EditState::Conflict => "resolve the conflict first, or put it away",
                EditState::AlreadyApplied => "the file already has this change; put the edit away",
                EditState::Incomplete => "this edit is incomplete: place it by hand, ask again, or put it away",
                _ => "this edit has no place yet: place it by hand, ask again, or put it away",
            }),
            _ => None,
        }
    }

    fn state_here(&self) -> Option<EditState> {
        self.session.review.refused.get(self.refused_here()?).map(EditState::of_refused)
    }

    /// The reason why the item under the cursor cannot be opened or commented on.
    fn cannot_open(&self, action: Action) -> Option<&'static str> {
        let file = || self.file_here().and_then(|index| self.session.review.files.get(index));
        match (action, self.review_item()) {
            (_, None) => Some("the cursor is not on a hunk"),
            (Action::EditHunk, Some(ReviewItem::File(_))) => Some("the cursor is on a file; move it to a hunk"),
            (Action::Comment | Action::CommentFile | Action::EditFile, Some(ReviewItem::Refused(_))) => {
                Some("the edit has no place in the file yet")
            }
            (Action::EditHunk | Action::EditFile, _) if file().is_some_and(is_to_go) => {
                Some("this change deletes the file")
            }
            (Action::OpenFile, _) if file().is_some_and(|file| file.change == FileChange::Create) => {
                Some("the file is not on disk yet")
            }
            _ => None,
        }
    }
}

fn is_to_go(file: &FileReview) -> bool {
    file.change == FileChange::Delete
}

fn is_bulk(action: Action) -> bool {
    matches!(action, Action::AcceptAll | Action::RejectAll)
}

fn opens_from_review(action: Action) -> bool {
    use Action::{
        Comment, CommentFile, Dismiss, EditFile, EditHunk, OpenFile, Reask, ReaskAll, Redo, SendReview, Undo, Write,
        WriteOther,
    };
    let opens = matches!(action, EditHunk | EditFile | OpenFile | Comment | CommentFile | Undo | Redo);
    opens || matches!(action, SendReview | Reask | ReaskAll | Dismiss | Write | WriteOther)
}
