//! The actions of the review pane.

use std::ops::Range;

use crate::review::{Decision, HunkId};
use crate::tui::action::{Action, Pane, Scope};
use crate::tui::app::{App, ReviewItem, Task, run};
use crate::tui::overlay::Overlay;

impl App {
    pub(in crate::tui) fn act_on_review(&mut self, action: Action) -> Option<Vec<Task>> {
        let of_review = action.info().is_some_and(|info| info.scope == Scope::Pane(Pane::Review));
        if self.session.writing && of_review {
            self.hint = "writing …".into();
            return Some(Vec::new());
        }
        if let Some(tasks) = self.act_beyond_review(action) {
            return Some(tasks);
        }
        match action {
            Action::Write => return Some(run(self.session.write_accepted())),
            Action::Abandon if !self.reviewing() => self.hint = "there is nothing under review".into(),
            // What found no place cannot be decided, so there is nothing to lose and nothing to ask.
            Action::Abandon if self.session.review.files.is_empty() => self.session.abandon_review(),
            Action::Abandon => self.overlay = Some(Overlay::abandon(self.session.review.counts().total())),
            Action::Down => self.review.offset += 1,
            Action::Up => self.review.offset = self.review.offset.saturating_sub(1),
            Action::PageDown => self.review.offset += self.page,
            Action::PageUp => self.review.offset = self.review.offset.saturating_sub(self.page),
            Action::Undo | Action::Redo => self.take_back(action),
            action => {
                return self.move_in_review(action).or_else(|| self.decide(action)).map(|()| Vec::new());
            }
        }
        Some(Vec::new())
    }

    fn move_in_review(&mut self, action: Action) -> Option<()> {
        let review = &self.session.review;
        let at = self.review.cursor;
        let files = |wanted: usize| HunkId { file: wanted, hunk: 0 };
        let to = match action {
            Action::NextHunk => review.ids().find(|id| *id > at),
            Action::PreviousHunk => review.ids().take_while(|id| *id < at).last(),
            Action::NextFile => review.ids().find(|id| *id >= files(at.file + 1)),
            Action::PreviousFile => Some(files(at.file.saturating_sub(usize::from(at.hunk == 0)))),
            Action::Top => {
                // Above the first hunk stands what found no place.
                self.review.cursor = HunkId::default();
                (self.review.offset, self.review.follow) = (0, false);
                return Some(());
            }
            Action::Bottom => review.ids().last(),
            _ => return None,
        };
        self.go_to(to.unwrap_or(at));
        Some(())
    }

    /// The file of the hunk under the cursor.
    pub(in crate::tui) fn review_path(&self) -> Option<String> {
        Some(self.session.review.files.get(self.review.cursor.file)?.path.clone())
    }

    /// Keeps the cursor in the file of that path: after a write the files before it may be gone, and hunks of its own.
    pub(in crate::tui) fn hold_review(&mut self, path: Option<&str>) {
        let files = &self.session.review.files;
        let Some(file) = files.iter().position(|file| Some(file.path.as_str()) == path) else {
            return;
        };
        let hunk = self.review.cursor.hunk.min(files[file].hunks.len().saturating_sub(1));
        if self.review.cursor != (HunkId { file, hunk }) {
            self.go_to(HunkId { file, hunk });
        }
    }

    /// What the cursor of the review is on; `None` while nothing is under review.
    pub(in crate::tui) fn review_item(&self) -> Option<ReviewItem> {
        let review = &self.session.review;
        if review.files.is_empty() {
            return (!review.refused.is_empty()).then_some(ReviewItem::Refused(0));
        }
        Some(ReviewItem::Hunk(self.review.cursor))
    }

    /// The lines that are selected, of one hunk, 0-based with its removed lines first.
    pub(in crate::tui) fn selected_lines(&self) -> Option<(HunkId, Range<usize>)> {
        None
    }

    /// Brings the cursor of the review to a hunk, for somebody who comes from elsewhere.
    pub(in crate::tui) fn go_to_hunk(&mut self, id: HunkId) {
        self.go_to(id);
    }

    fn go_to(&mut self, id: HunkId) {
        self.review.cursor = id;
        self.review.follow = true;
    }

    fn decide(&mut self, action: Action) -> Option<()> {
        let at = self.review.cursor;
        if is_for_one(action) && self.reviewing() && !self.review.seen {
            // Nobody decides on what is not on the screen.
            self.go_to(at);
            self.hint = "this is the hunk; decide now".into();
            return Some(());
        }
        let review = &mut self.session.review;
        if review.files.is_empty() {
            self.hint = "there is no hunk to decide".into();
            return is_decision(action).then_some(());
        }
        let changed = match action {
            Action::Accept => review.decide(at, Decision::Accepted),
            Action::Reject => review.decide(at, Decision::Rejected),
            Action::Pend => review.decide(at, Decision::Pending),
            Action::Toggle => {
                let toggled = review.decision(at).toggled();
                review.decide(at, toggled)
            }
            Action::AcceptFile => review.decide_file(at.file, Decision::Accepted),
            Action::RejectFile => review.decide_file(at.file, Decision::Rejected),
            Action::AcceptAll => review.decide_all(Decision::Accepted),
            Action::RejectAll => review.decide_all(Decision::Rejected),
            _ => return None,
        };
        let moves_on = !matches!(action, Action::Pend | Action::Toggle);
        let next = if moves_on { review.next_pending(at) } else { Some(at) };
        let counts = review.counts();
        self.hint = match next {
            None => format!("all decided: {} accepted, {} rejected; w writes", counts.accepted, counts.rejected),
            Some(_) if changed > 1 => format!("{changed} hunks changed; u takes it back"),
            Some(_) => format!("{} pending", counts.pending),
        };
        self.go_to(next.unwrap_or(at));
        Some(())
    }

    fn take_back(&mut self, action: Action) {
        let review = &mut self.session.review;
        match if action == Action::Undo { review.undo() } else { review.redo() } {
            Some(id) => self.go_to(id),
            None => self.hint = "nothing to take back".into(),
        }
    }
}

fn is_for_one(action: Action) -> bool {
    matches!(action, Action::Accept | Action::Reject | Action::Toggle | Action::Pend)
}

fn is_decision(action: Action) -> bool {
    use Action::{Accept, AcceptAll, AcceptFile, Pend, Reject, RejectAll, RejectFile, Toggle};
    matches!(action, Accept | Reject | Toggle | Pend | AcceptFile | RejectFile | AcceptAll | RejectAll)
}
