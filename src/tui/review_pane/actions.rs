//! The actions of the review pane, the reasons why they are unavailable, and the guard against a key press that was
//! meant for another hunk.

use rhumb_edit::FileChange;
use rhumb_edit::review::{Decision, EditState, HunkId, ReviewHunk};
use rhumb_session::{CommitChoice, SHOW_FAULT, WritePlan};

use crate::clock::Clock;
use crate::tui::overlay::{ReviewReply, SendBox, WriteBox};
use crate::tui::prelude::*;

impl App {
    pub(crate) fn act_on_review(&mut self, action: Action) -> Option<Vec<Task>> {
        let of_review = action.info().scope == Scope::Pane(Pane::Review);
        if self.session.is_writing() && of_review {
            self.hint.set("writing …");
            return Some(Vec::new());
        }
        if let Some(tasks) = self.open_from_review(action) {
            return Some(tasks);
        }
        if let Some(index) = self.refused_here().filter(|_| action == Action::OpenHere && !self.review.in_tree) {
            return Some(self.open_refused(index));
        }
        match action {
            Action::Escape if self.end_in_review() => {}
            Action::Down | Action::Up | Action::PageDown | Action::PageUp | Action::Top | Action::Bottom
                if !self.reviewing() =>
            {
                self.scroll_arriving(action);
            }
            Action::Undo | Action::Redo => self.take_back(action),
            _ if of_review && !self.reviewing() => {
                self.hint.set("nothing is under review");
            }
            Action::SelectLines => self.select_lines(),
            Action::Split => self.split_here(),
            Action::Join => self.join_here(),
            action => {
                let done = self.move_in_review(action).or_else(|| self.view_in_review(action));
                return done.or_else(|| self.decide(action)).map(|()| Vec::new());
            }
        }
        Some(Vec::new())
    }

    /// Scrolls streaming edits from their end.
    fn scroll_arriving(&mut self, action: Action) {
        let by = isize::try_from(self.layout.page_rows()).unwrap_or(1);
        match action {
            Action::Down => self.scroll_review(1),
            Action::Up => self.scroll_review(-1),
            Action::PageDown => self.scroll_review(by),
            Action::PageUp => self.scroll_review(-by),
            Action::Top => self.review.offset = self.arriving_lines(),
            _ => self.review.offset = 0,
        }
    }

    fn decide(&mut self, action: Action) -> Option<()> {
        if !action.is_decision() {
            return None;
        }
        if self.session.review().files.is_empty() {
            self.hint.set("there is no hunk to accept or reject");
            return Some(());
        }
        if matches!(action, Action::Accept | Action::Reject | Action::Toggle | Action::Pend) {
            self.decide_one(action);
            return Some(());
        }
        let at = self.review.cursor;
        let file = self.file_here();
        let review = self.session.review_mut();
        let changed = match (action, file) {
            (Action::AcceptFile, Some(file)) => review.decide_file(file, Decision::Accepted),
            (Action::RejectFile, Some(file)) => review.decide_file(file, Decision::Rejected),
            (Action::AcceptAll, _) => review.accept_all(),
            (Action::RejectAll, _) => review.decide_all(Decision::Rejected),
            _ => {
                self.hint.set("the cursor is not in a file");
                return Some(());
            }
        };
        self.go_on(at, changed, true);
        if action == Action::AcceptAll {
            self.hint_files_left_pending(changed);
        }
        Some(())
    }

    /// Names the files that `accept all` has left pending.
    fn hint_files_left_pending(&mut self, changed: usize) {
        if let [first, more @ ..] = self.session.review().files_awaiting_confirmation().as_slice() {
            let others = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let accept = self.keys.first(Action::AcceptFile);
            let first = sanitize::visible_line(first);
            self.hint.set(format!(
                "{changed} accepted; {first}{others} must be accepted on its own: {accept} on it, if you want it"
            ));
        }
    }

    /// Decides the hunk under the cursor, or its selected lines.
    fn decide_one(&mut self, action: Action) {
        let here = self.hunk_here();
        let Some(at) = here.filter(|id| self.review.shows(*id)) else {
            // A hunk that is not on the screen is not decided.
            let after = || self.review.rows.from(self.review.number()).filter_map(|(_, row)| row.hunk());
            let pending = || after().find(|id| self.session.review().decision(*id) == Decision::Pending);
            let next = here.or_else(pending).or_else(|| after().next()).unwrap_or(self.review.cursor);
            self.go_to(next);
            return self.hint.set("this is the hunk: press the key again");
        };
        let selected = self.selected_runs();
        let review = self.session.review_mut();
        let before = match &selected {
            Some((_, runs)) => review.hunk(at).zip(runs.first()).map(|(item, run)| item.line_decision(run.start)),
            None => Some(review.decision(at)),
        };
        let decision = match action {
            Action::Accept => Decision::Accepted,
            Action::Reject => Decision::Rejected,
            Action::Toggle => before.unwrap_or_default().toggled(),
            _ => Decision::Pending,
        };
        if let Some((_, runs)) = selected {
            self.decide_selected(at, &runs, decision);
            return;
        }
        let changed = review.decide(at, decision);
        let moves_on = matches!(action, Action::Accept | Action::Reject);
        if !moves_on {
            // If the cursor stays, its hunk is not folded.
            self.review.fold(self.session.review(), &[at], false);
        }
        self.go_on(at, changed, moves_on);
    }

    fn decide_selected(&mut self, at: HunkId, runs: &[Range<usize>], decision: Decision) {
        let review = self.session.review_mut();
        let changed = review.decide_runs(at, runs, decision);
        if changed == 0 && review.files.get(at.file).is_some_and(|file| !file.is_divisible()) {
            return self.hint.set("a new, deleted or renamed file is accepted or rejected as a whole");
        }
        self.review.anchor = None;
        if review.decision(at) == Decision::Pending || decision == Decision::Pending {
            let lines = if changed == 1 { "line" } else { "lines" };
            return self.hint.set(format!("{changed} {lines} changed; the other lines of the hunk are pending"));
        }
        self.go_on(at, 1, true);
    }

    /// Shows the result, and moves to the next pending hunk.
    fn go_on(&mut self, at: HunkId, changed: usize, moves_on: bool) {
        let review = self.session.review();
        let next = if moves_on { review.next_pending(at) } else { Some(at) };
        let counts = review.counts();
        self.hint.set(match next {
            None => {
                let (accepted, rejected) = (counts.accepted, counts.rejected);
                let write = self.keys.first(Action::Write);
                format!("all decided: {accepted} accepted, {rejected} rejected; {write} writes")
            }
            Some(_) if changed > 1 => {
                format!("{changed} hunks changed; {} undoes it", self.keys.first(Action::Undo))
            }
            Some(_) => format!("{} pending", counts.pending),
        });
        if moves_on || next.is_none() {
            self.go_to(next.unwrap_or(at));
        }
    }

    /// Splits the hunk: at the selected lines, at the line under the cursor, or into its smallest parts.
    fn split_here(&mut self) {
        if let Some((id, runs)) = self.selected_runs() {
            return self.split_selected(id, &runs);
        }
        let Some(id) = self.hunk_here() else {
            return self.hint.set("there is no hunk here to split");
        };
        let line = match self.review_item() {
            Some(ReviewItem::Line(_, line)) => Some(line),
            _ => None,
        };
        let review = self.session.review_mut();
        let parts = match line {
            Some(line) if review.split_at(id, line) => 2,
            _ => review.split(id),
        };
        if parts > 1 {
            self.hint.set(format!("split into {parts} hunks; {} joins them", self.keys.first(Action::Join)));
            if line.is_none() {
                self.go_to(id);
            }
            return;
        }
        let whole = review.files.get(id.file).is_some_and(|file| !file.is_divisible());
        let lines = review.hunk(id).map_or(0, ReviewHunk::line_count);
        self.hint.set(match (whole, lines) {
            (true, _) => "a new, deleted or renamed file is a single hunk".to_owned(),
            (false, 0..=1) => "a single line cannot be split".to_owned(),
            (false, _) => {
                "the hunk has no smaller parts; move the cursor to the line where the second part begins".to_owned()
            }
        });
    }

    fn split_selected(&mut self, id: HunkId, runs: &[Range<usize>]) {
        let review = self.session.review_mut();
        let hint = match review.split_out(id, runs) {
            Some(own) => {
                self.go_to(own);
                let undo = self.keys.first(Action::Undo);
                format!("the lines are a separate hunk now; {undo} undoes it")
            }
            None if review.files.get(id.file).is_some_and(|file| !file.is_divisible()) => {
                "a new, deleted or renamed file is a single hunk".into()
            }
            None => "these lines are the whole hunk".into(),
        };
        self.hint.set(hint);
    }

    fn join_here(&mut self) {
        let Some(id) = self.hunk_here() else {
            return self.hint.set("there is no hunk here to join");
        };
        let review = self.session.review_mut();
        if review.join(id) {
            self.go_to(id);
            return self.hint.set(format!("joined into one hunk; {} undoes it", self.keys.first(Action::Undo)));
        }
        let whole = review.files.get(id.file).is_some_and(|file| !file.is_divisible());
        self.hint.set(if whole {
            "a new, deleted or renamed file is a single hunk".to_owned()
        } else {
            "no hunk follows in this file".to_owned()
        });
    }

    fn take_back(&mut self, action: Action) {
        let review = self.session.review_mut();
        let refused = review.refused.clone();
        let undo = action == Action::Undo;
        let Some(id) = (if undo { review.undo() } else { review.redo() }) else {
            return self.hint.set(if undo { "there is nothing to undo" } else { "there is nothing to redo" });
        };
        let back = review.refused.iter().zip(refused.iter().map(Some).chain(std::iter::repeat(None)));
        let back = back.enumerate().find(|(_, (now, before))| Some(*now) != *before).map(|(index, _)| index);
        // A placed or dismissed edit is unplaced again: the undo restored this edit and not a hunk.
        match back.filter(|_| review.refused.len() > refused.len()) {
            Some(index) => self.go_to_refused(index),
            None => self.go_to(id),
        }
        let (key, does) = if undo { (Action::Redo, "does it again") } else { (Action::Undo, "takes it back") };
        let did = if undo { "taken back" } else { "done again" };
        self.hint.set(format!("{did}; {} {does}", self.keys.first(key)));
    }

    /// Writes the accepted hunks, after a question if some are pending. `other` inverts the setting for commits.
    pub(super) fn write_review(&mut self, other: bool) -> Vec<Task> {
        let preview = self.session.write_preview();
        let commit = preview.commits.map(|commits| commits != other);
        if preview.pending > 0 && preview.accepted > 0 {
            let write = WriteBox::new(preview, commit.unwrap_or(false));
            self.overlays.show(write);
            return Vec::new();
        }
        let commit = commit.filter(|_| other).map_or(CommitChoice::BySetting, CommitChoice::from);
        let plan = WritePlan { reject_rest: false, commit };
        run(self.session.write_planned(plan))
    }

    /// Answers the first question. One answer shows a hunk of the review.
    pub(crate) fn answer(&mut self, key: char) -> Vec<Task> {
        let hunk = self.session.hunk_at_fault().filter(|_| key == SHOW_FAULT);
        let tasks = run(self.session.answer(key));
        if let Some(id) = hunk {
            self.focus = Pane::Review;
            // A decided hunk is folded, but the question is about its lines.
            self.review.fold(self.session.review(), &[id], false);
            self.go_to(id);
        }
        tasks
    }

    pub(super) fn show_feedback(&mut self) -> Vec<Task> {
        match self.session.feedback() {
            Some(text) => {
                let send = SendBox::new(text, self.session.cannot_send());
                self.overlays.show(send);
                Vec::new()
            }
            None => {
                let (reject, comment) = (self.keys.first(Action::Reject), self.keys.first(Action::Comment));
                let message = format!("nothing to send: {reject} rejects a hunk, {comment} comments on it");
                self.say(message)
            }
        }
    }

    pub(crate) fn review_reply(&mut self, reply: ReviewReply) -> Vec<Task> {
        match reply {
            ReviewReply::Comment(place, text) => self.take_comment(&place, &text),
            ReviewReply::Write(plan) => run(self.session.write_planned(plan)),
            ReviewReply::Send(text) => {
                let (sent, effects) = self.session.send_feedback(&text);
                if sent {
                    self.chat.from_bottom = 0;
                    return run(effects);
                }
                let mut tasks = run(effects);
                tasks.extend(self.compose(&text));
                tasks
            }
            ReviewReply::Compose(text) => self.compose(&text),
            ReviewReply::Place(placement_reply) => self.placed(*placement_reply),
        }
    }

    /// Puts a text into the composer after the message.
    fn compose(&mut self, text: &str) -> Vec<Task> {
        self.focus = Pane::Chat;
        self.typed(|app| if app.composer.is_empty() { app.composer.open(text) } else { app.composer.append(text) })
    }

    /// Abandons the review, after a confirmation if a decision would be lost.
    pub(crate) fn abandon_review(&mut self) -> Vec<Task> {
        let refused = self.session.review().refused.len();
        match self.session.review().counts().total() {
            _ if !self.reviewing() => return self.say("nothing is under review"),
            // Unplaced edits have no decisions that could be lost, so no confirmation is needed.
            0 if refused > 0 => self.session.abandon_review(),
            _ => self.confirm_abandoning(),
        }
        Vec::new()
    }

    /// The hunk under the cursor, if a key would decide it.
    pub(crate) fn guarded(&self) -> Option<HunkTexts> {
        if self.focus != Pane::Review || !self.overlays.is_empty() {
            return None;
        }
        let id = self.review.cursor;
        let file = self.session.review().files.get(id.file)?;
        Some((file.path.clone(), file.texts_of(id.hunk)?))
    }

    /// Starts the guard if a report replaced the hunk under the cursor, which was `before`.
    pub(crate) fn guard(&mut self, before: Option<&HunkTexts>) {
        let now = self.guarded();
        if now.is_some() && now.as_ref() != before {
            self.review.guard.changed = Some(self.review.guard.clock.passed());
        }
    }

    /// Why an action of the review is unavailable. `None` if it is available or not an action of the review.
    pub(crate) fn review_why_not(&self, action: Action) -> Option<&'static str> {
        let review = self.session.review();
        let is_of_review = action.is_decision() || opens_from_review(action);
        if !is_of_review {
            return None;
        }
        if review.is_empty() && (action != Action::SendReview || !self.session.has_feedback()) {
            // Streaming edits are visible and look as if they could be decided.
            let arrives = self.session.turn().is_some_and(|turn| !turn.edits.is_empty());
            return Some(if arrives { "the answer is still arriving" } else { "nothing is under review" });
        }
        if self.session.is_writing() {
            return Some("a write is under way");
        }
        match action {
            Action::Undo if !review.can_undo() => Some("there is nothing to undo"),
            Action::Redo if !review.can_redo() => Some("there is nothing to redo"),
            Action::Write | Action::WriteOther if !review.has_accepted() => Some("nothing is accepted"),
            Action::TryAccepted if !review.has_accepted() => Some("nothing is accepted"),
            Action::BisectHunks if self.session.trial().is_none_or(|(last, _)| last.passed) => {
                Some("no trial of these hunks has failed")
            }
            Action::WriteOther if self.session.write_preview().commits.is_none() => Some("there is no git repository"),
            Action::SendReview if !self.session.has_feedback() => {
                Some("there is no rejected hunk, comment or edit without a location to send")
            }
            Action::Reask | Action::Dismiss if self.refused_here().is_none() => {
                Some("the cursor is not on an edit without a location")
            }
            Action::Reask if self.state_here() == Some(EditState::AlreadyApplied) => {
                Some("the file already has this change")
            }
            Action::ReaskAll if review.refused.is_empty() => Some("every edit has a location"),
            Action::Reask | Action::ReaskAll => self.session.cannot_send(),
            Action::EditHunk | Action::EditFile | Action::OpenFile | Action::Comment | Action::CommentFile => {
                self.cannot_open(action)
            }
            action if action.is_decision() && review.files.is_empty() => Some("there is no hunk to accept or reject"),
            Action::AcceptAll | Action::RejectAll => None,
            action if action.is_decision() => self.state_here().map(|state| match state {
                EditState::Conflict => "resolve the conflict first, or put it away",
                EditState::AlreadyApplied => "the file already has this change; put the edit away",
                EditState::Incomplete => "this edit is incomplete: place it by hand, ask again, or put it away",
                _ => "this edit has no location yet: place it by hand, ask again, or put it away",
            }),
            _ => None,
        }
    }

    fn state_here(&self) -> Option<EditState> {
        self.session.review().refused.get(self.refused_here()?).map(EditState::of_refused)
    }

    /// The reason why the item under the cursor cannot be opened or commented on.
    fn cannot_open(&self, action: Action) -> Option<&'static str> {
        let file = || self.file_here().and_then(|index| self.session.review().files.get(index));
        match (action, self.review_item()) {
            (_, None) => Some("the cursor is not on a hunk"),
            (Action::EditHunk, Some(ReviewItem::File(_))) => Some("the cursor is on a file; move it to a hunk"),
            (Action::Comment | Action::CommentFile | Action::EditFile, Some(ReviewItem::Refused(_))) => {
                Some("the edit has no location in the file yet")
            }
            (Action::EditHunk | Action::EditFile, _)
                if file().is_some_and(|file| file.change == FileChange::Delete) =>
            {
                Some("this change deletes the file")
            }
            (Action::OpenFile, _) if file().is_some_and(|file| file.change == FileChange::Create) => {
                Some("the file is not on disk yet")
            }
            _ => None,
        }
    }
}

const DECISION_GUARD_TIME: Duration = Duration::from_millis(300);

/// The time at which a report replaced the hunk under the cursor.
#[derive(Debug, Default)]
pub struct DecisionGuard {
    pub clock: Clock,
    changed: Option<Duration>,
}

impl DecisionGuard {
    /// Whether a decision comes too soon after the hunk has appeared.
    pub(super) fn holds(&self) -> bool {
        self.changed.is_some_and(|changed| self.clock.passed().saturating_sub(changed) < DECISION_GUARD_TIME)
    }
}

/// Identifies a hunk: its path, and its removed and added lines.
type HunkTexts = (String, (String, String));

fn opens_from_review(action: Action) -> bool {
    use Action::{
        BisectHunks, Comment, CommentFile, Dismiss, EditFile, EditHunk, OpenFile, Reask, ReaskAll, Redo, SendReview,
        TryAccepted, TryHunks, Undo, Write, WriteOther,
    };
    let opens = matches!(action, EditHunk | EditFile | OpenFile | Comment | CommentFile | Undo | Redo);
    let tries = matches!(action, TryHunks | TryAccepted | BisectHunks);
    opens || tries || matches!(action, SendReview | Reask | ReaskAll | Dismiss | Write | WriteOther)
}

#[cfg(test)]
mod tests;
