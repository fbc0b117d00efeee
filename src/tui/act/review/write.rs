//! Writing what is accepted, and sending back what is to be done about the rest.

use crate::session::{Level, SHOW_FAULT, WritePlan};
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Task, run};
use crate::tui::overlay::{Overlay, ReviewBox, ReviewReply, SendBox, WriteBox};
use rhumb_edit::review::HunkId;

impl App {
    /// Writes what is accepted; asks first if hunks are not decided. With `other` a commit follows if the settings want none, and
    /// none if they do.
    pub(super) fn write_review(&mut self, other: bool) -> Vec<Task> {
        let preview = self.session.write_preview();
        let commit = preview.commits.map(|commits| commits != other);
        if preview.pending > 0 && preview.accepted > 0 {
            let write = WriteBox::new(preview, commit.unwrap_or(false));
            self.overlay = Some(Overlay::Review(ReviewBox::Write(write)));
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
            self.review.fold(&self.session.review, &[id], false);
            self.show_hunk(id);
        }
        tasks
    }

    /// Shows what would go to the model about the review.
    pub(super) fn show_feedback(&mut self) -> Vec<Task> {
        match self.session.feedback() {
            Some(text) => {
                let send = SendBox::new(text, self.session.cannot_send());
                self.overlay = Some(Overlay::Review(ReviewBox::Send(send)));
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
                    self.chat.from_bottom = 0;
                    return run(effects);
                }
                let mut tasks = run(effects);
                tasks.extend(self.compose(&text));
                tasks
            }
            ReviewReply::Compose(text) => self.compose(&text),
            ReviewReply::Place(placing) => self.placed(*placing),
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
        let refused = self.session.review.refused.len();
        match self.session.review.counts().total() {
            _ if !self.reviewing() => return self.say("nothing is under review"),
            // What found no place cannot be decided, so there is nothing to lose and nothing to ask.
            0 if refused > 0 => self.session.abandon_review(),
            _ => self.ask_to_abandon(),
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
        self.session.tell(Level::Warning, text, hint);
        Vec::new()
    }
}
