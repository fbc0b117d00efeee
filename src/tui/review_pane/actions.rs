//! The actions of the review pane.

use std::ops::Range;

use rhumb_edit::FileChange;
use rhumb_edit::review::{Decision, HunkId, ReviewHunk};
use rhumb_text::sanitize;

use crate::tui::action::{Action, Pane, Scope};
use crate::tui::app::{App, ReviewItem, Task, run};
use crate::tui::overlay::{Overlay, ReviewBox, ReviewReply, SendBox, WriteBox};
use rhumb_session::{Level, SHOW_FAULT, WritePlan};

impl App {
    pub(crate) fn act_on_review(&mut self, action: Action) -> Option<Vec<Task>> {
        let of_review = action.info().is_some_and(|info| info.scope == Scope::Pane(Pane::Review));
        if self.session.is_writing() && of_review {
            self.hint.set("writing …".into());
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
                self.hint.set("nothing is under review".into());
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

    /// Edits that stream in are scrolled from their end.
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

    /// Moves the cursor of the review to a hunk, from another pane.
    pub(crate) fn go_to_hunk(&mut self, id: HunkId) {
        self.go_to(id);
    }

    fn decide(&mut self, action: Action) -> Option<()> {
        if !action.is_decision() {
            return None;
        }
        if self.session.review().files.is_empty() {
            self.hint.set("there is no hunk to accept or reject".into());
            return Some(());
        }
        if is_single(action) {
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
                self.hint.set("the cursor is not in a file".into());
                return Some(());
            }
        };
        self.go_on(at, changed, true);
        if action == Action::AcceptAll {
            self.hint_files_left_pending(changed);
        }
        Some(())
    }

    /// Says which files a yes to everything has left alone.
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

    /// Decides the hunk under the cursor, or the lines of it that are selected.
    fn decide_one(&mut self, action: Action) {
        let here = self.hunk_here();
        let Some(at) = here.filter(|id| self.review.shows(*id)) else {
            // A hunk that is not on the screen is not decided.
            let after = || self.review.rows.from(self.review.number()).filter_map(|(_, row)| row.hunk());
            let pending = || after().find(|id| self.session.review().decision(*id) == Decision::Pending);
            let next = here.or_else(pending).or_else(|| after().next()).unwrap_or(self.review.cursor);
            self.go_to(next);
            self.hint.set("this is the hunk: press the key again".into());
            return;
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
            // What one stays on must not fold under one's eyes.
            self.review.fold(self.session.review(), &[at], false);
        }
        self.go_on(at, changed, moves_on);
    }

    fn decide_selected(&mut self, at: HunkId, runs: &[Range<usize>], decision: Decision) {
        let review = self.session.review_mut();
        let changed = review.decide_runs(at, runs, decision);
        if changed == 0 && review.files.get(at.file).is_some_and(|file| file.change != FileChange::Modify) {
            self.hint.set("a new, deleted or renamed file is accepted or rejected as a whole".into());
            return;
        }
        self.review.anchor = None;
        if review.decision(at) == Decision::Pending || decision == Decision::Pending {
            let lines = if changed == 1 { "line" } else { "lines" };
            self.hint.set(format!("{changed} {lines} changed; the other lines of the hunk are pending"));
            return;
        }
        self.go_on(at, 1, true);
    }

    /// Says what was done, and goes to the next pending hunk.
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

    /// Takes the hunk apart around the lines that are selected, at the line under the cursor, or into its smallest parts.
    fn split_here(&mut self) {
        if let Some((id, runs)) = self.selected_runs() {
            return self.split_selected(id, &runs);
        }
        let Some(id) = self.hunk_here() else {
            self.hint.set("there is no hunk here to split".into());
            return;
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
        let whole = review.files.get(id.file).is_some_and(|file| file.change != FileChange::Modify);
        let lines = review.hunk(id).map_or(0, ReviewHunk::line_count);
        self.hint.set(match (whole, lines) {
            (true, _) => "a new, deleted or renamed file is a single hunk".into(),
            (false, 0..=1) => "a single line cannot be split".into(),
            (false, _) => {
                "the hunk has no smaller parts; move the cursor to the line where the second part begins".into()
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
            None if review.files.get(id.file).is_some_and(|file| file.change != FileChange::Modify) => {
                "a new, deleted or renamed file is a single hunk".into()
            }
            None => "these lines are the whole hunk".into(),
        };
        self.hint.set(hint);
    }

    fn join_here(&mut self) {
        let Some(id) = self.hunk_here() else {
            self.hint.set("there is no hunk here to join".into());
            return;
        };
        let review = self.session.review_mut();
        if review.join(id) {
            self.go_to(id);
            self.hint.set(format!("joined into one hunk; {} undoes it", self.keys.first(Action::Undo)));
            return;
        }
        let whole = review.files.get(id.file).is_some_and(|file| file.change != FileChange::Modify);
        self.hint.set(if whole {
            "a new, deleted or renamed file is a single hunk".into()
        } else {
            "no hunk follows in this file".into()
        });
    }

    fn take_back(&mut self, action: Action) {
        let review = self.session.review_mut();
        let refused = review.refused.clone();
        let undo = action == Action::Undo;
        let Some(id) = (if undo { review.undo() } else { review.redo() }) else {
            self.hint.set(if undo { "there is nothing to undo" } else { "there is nothing to redo" }.into());
            return;
        };
        let back = review.refused.iter().zip(refused.iter().map(Some).chain(std::iter::repeat(None)));
        let back = back.enumerate().find(|(_, (now, before))| Some(*now) != *before).map(|(index, _)| index);
        // An edit that was put in or away is without its place again: that is what came back, and no hunk.
        match back.filter(|_| review.refused.len() > refused.len()) {
            Some(index) => self.go_to_refused(index),
            None => self.go_to(id),
        }
        let (key, does) = if undo { (Action::Redo, "does it again") } else { (Action::Undo, "takes it back") };
        let did = if undo { "taken back" } else { "done again" };
        self.hint.set(format!("{did}; {} {does}", self.keys.first(key)));
    }
}

fn is_single(action: Action) -> bool {
    matches!(action, Action::Accept | Action::Reject | Action::Toggle | Action::Pend)
}

impl App {
    /// Writes what is accepted; asks first if hunks are not decided. With `other` a commit follows if the settings want none, and
    /// none if they do.
    pub(super) fn write_review(&mut self, other: bool) -> Vec<Task> {
        let preview = self.session.write_preview();
        let commit = preview.commits.map(|commits| commits != other);
        if preview.pending > 0 && preview.accepted > 0 {
            let write = WriteBox::new(preview, commit.unwrap_or(false));
            self.overlays.show(Overlay::Review(ReviewBox::Write(write)));
            return Vec::new();
        }
        let plan = WritePlan { reject_rest: false, commit: commit.filter(|_| other) };
        run(self.session.write_planned(plan))
    }

    /// Takes the answer to the first question. One of them goes to a hunk of the review.
    pub(crate) fn answer(&mut self, key: char) -> Vec<Task> {
        let hunk = self.session.hunk_at_fault().filter(|_| key == SHOW_FAULT);
        let tasks = run(self.session.answer(key));
        if let Some(id) = hunk {
            self.focus = Pane::Review;
            // A decided hunk is folded, and its lines are what the question is about.
            self.review.fold(self.session.review(), &[id], false);
            self.show_hunk(id);
        }
        tasks
    }

    /// Shows what would go to the model about the review.
    pub(super) fn show_feedback(&mut self) -> Vec<Task> {
        match self.session.feedback() {
            Some(text) => {
                let send = SendBox::new(text, self.session.cannot_send());
                self.overlays.show(Overlay::Review(ReviewBox::Send(send)));
                Vec::new()
            }
            None => {
                let (reject, comment) = (self.keys.first(Action::Reject), self.keys.first(Action::Comment));
                let told = format!("nothing to send: {reject} rejects a hunk, {comment} comments on it");
                self.say(&told)
            }
        }
    }

    /// Does what was said in a box of the review.
    pub(crate) fn review_reply(&mut self, reply: ReviewReply) -> Vec<Task> {
        match reply {
            ReviewReply::Comment(place, text) => self.take_comment(&place, &text),
            ReviewReply::Write(plan) => run(self.session.write_planned(plan)),
            ReviewReply::Send(text) => {
                let (sent, effects) = self.session.send_feedback(&text);
                if sent {
                    self.chat.scroll_to_end();
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

    /// Puts a text into the composer to be changed, after what is there.
    fn compose(&mut self, text: &str) -> Vec<Task> {
        self.focus = Pane::Chat;
        self.typed(|app| {
            if app.composer.is_empty() {
                app.composer.open(text);
            } else {
                app.composer.newline();
                app.composer.paste(text);
            }
        })
    }

    /// Puts the review away, after a question where that loses a decision.
    pub(crate) fn abandon_review(&mut self) -> Vec<Task> {
        let refused = self.session.review().refused.len();
        match self.session.review().counts().total() {
            _ if !self.reviewing() => return self.say("nothing is under review"),
            // What found no place cannot be decided, so there is nothing to lose and nothing to ask.
            0 if refused > 0 => self.session.abandon_review(),
            _ => self.confirm_abandoning(),
        }
        Vec::new()
    }

    /// Says that something settled in the review, and goes there.
    pub(crate) fn settled(&mut self, id: Option<HunkId>, words: &str) -> Vec<Task> {
        id.into_iter().for_each(|id| self.show_hunk(id));
        self.say(words)
    }

    /// Says in the transcript what could not be done.
    pub(crate) fn refuse(&mut self, text: String, hint: &str) -> Vec<Task> {
        self.session.report(Level::Warning, text, hint);
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
