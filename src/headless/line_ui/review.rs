//! The review in lines: hunks are printed, decided by number, edited, commented on, and written.

use super::editor::EditTarget;
use super::questions::Confirmation;
use super::review_commands::{ReviewCommand, parse};
use super::review_text::{self, body, heading, summary, write_line};
use super::{LineUi, commands};
use crate::error::ErrorKind;
use rhumb_edit::review::{CommentTarget, Decision, HunkId};
use rhumb_text::count;

/// Lines of a new proposal that are printed at once. Only headings of further hunks are printed.
const MAX_PROPOSAL_LINES: usize = 400;

/// The state of the review that the session does not have.
#[derive(Debug)]
pub(super) struct ReviewState {
    /// Whether the user left the review for later.
    is_deferred: bool,
    printed_proposals: usize,
    /// The hunk that was printed last.
    cursor: Option<HunkId>,
    /// Unchanged lines around a hunk.
    context: usize,
    commits: bool,
}

impl ReviewState {
    pub(super) fn new(commits: bool) -> Self {
        Self { is_deferred: false, printed_proposals: 0, cursor: None, context: 2, commits }
    }
}

impl LineUi {
    pub(super) fn is_reviewing(&self) -> bool {
        !self.review.is_deferred && !self.session.review().is_empty()
    }

    /// Prints a new proposal. Returns `false` without one.
    pub(super) fn print_new_proposal(&mut self) -> bool {
        if self.session.proposal_count() == self.review.printed_proposals {
            return false;
        }
        self.review.printed_proposals = self.session.proposal_count();
        if self.session.review().is_empty() {
            return false;
        }
        (self.review.is_deferred, self.review.cursor) = (false, None);
        self.out.line(&summary(self.session.review()));
        let ids: Vec<HunkId> = self.session.review().ids().collect();
        self.show_hunks(&ids, MAX_PROPOSAL_LINES);
        self.out.line("hint: 1,3 accepts hunks, all accepts everything, write writes, help lists the commands.");
        true
    }

    /// Prints hunks. After `max_lines`, only headings are printed.
    pub(super) fn show_hunks(&mut self, ids: &[HunkId], max_lines: usize) {
        let mut left = Some(max_lines);
        for id in ids {
            self.out.line(&heading(self.session.review(), *id));
            let lines = body(self.session.review(), *id, self.review.context, false);
            left = left.and_then(|left| left.checked_sub(lines.len()));
            if left.is_some() {
                self.out.lines(lines);
            }
        }
        if left.is_none() {
            self.out.line("hint: Some hunks were not printed in full: show 5 prints hunk 5.");
        }
        if let [id] = ids {
            self.review.cursor = Some(*id);
        }
    }

    pub(super) fn review_command(&mut self, line: &str) {
        match parse(line, self.session.review()) {
            Ok(command) => self.run_review_command(command),
            Err(error) => self.out.line(&error),
        }
    }

    fn run_review_command(&mut self, command: ReviewCommand) {
        match command {
            ReviewCommand::Accept(ids) => self.decide(&ids, Decision::Accepted),
            ReviewCommand::Reject(ids) => self.decide(&ids, Decision::Rejected),
            ReviewCommand::Pend(ids) => self.decide(&ids, Decision::Pending),
            ReviewCommand::AcceptAll => self.accept_all_except(&[]),
            ReviewCommand::AcceptAllExcept(rejected) => self.accept_all_except(&rejected),
            ReviewCommand::RejectAll => {
                let changed = self.session.review_mut().decide_all(Decision::Rejected);
                self.print_decided(&count(changed, "hunk"));
            }
            ReviewCommand::AcceptLines(id, lines) => self.decide_lines(id, lines, Decision::Accepted),
            ReviewCommand::RejectLines(id, lines) => self.decide_lines(id, lines, Decision::Rejected),
            ReviewCommand::Show(ids) => self.show_hunks(&ids, usize::MAX),
            ReviewCommand::ShowNext => self.show_next(),
            ReviewCommand::ShowNumbered(id) => self.out.lines(body(self.session.review(), id, 0, true)),
            ReviewCommand::Split(id, at) => self.split(id, at),
            ReviewCommand::Join(id) => self.out.line(match self.session.review_mut().join(id) {
                true => "joined with the next hunk; later hunks have new numbers",
                false => "No hunk follows in that file, or the file is decided as a whole.",
            }),
            ReviewCommand::Edit(id) => match self.session.review().files.get(id.file) {
                Some(file) if file.proposed.is_none() => {
                    self.out.line("The file is deleted, so there is nothing to edit.");
                }
                Some(_) => self.to_edit = Some(EditTarget::Hunk(id)),
                None => {}
            },
            ReviewCommand::Comment(target, text) => self.comment(target, &text),
            ReviewCommand::Undo => {
                let is_done = self.session.review_mut().undo().is_some();
                self.print_undone(is_done, "undone", "There is nothing to undo.");
            }
            ReviewCommand::Redo => {
                let is_done = self.session.review_mut().redo().is_some();
                self.print_undone(is_done, "redone", "There is nothing to redo.");
            }
            ReviewCommand::ShowRefused => self.show_refused(),
            ReviewCommand::SendBack => self.send_back(),
            ReviewCommand::Status => self.out.line(&review_text::status(self.session.review())),
            ReviewCommand::Write => self.write(),
            ReviewCommand::Later => {
                self.review.is_deferred = true;
                self.out.line("The review stays as it is: /hunks returns to it.");
            }
            ReviewCommand::Abandon => {
                let total = count(self.session.review().counts().total(), "hunk");
                self.out.line(&format!("This discards the whole review, {total}. Nothing of it is written."));
                self.questions.confirm(Confirmation::Abandon);
            }
            ReviewCommand::Say(text) => self.send(&text),
            ReviewCommand::Help => self.out.lines(commands::review_help()),
        }
    }

    fn accept_all_except(&mut self, rejected: &[HunkId]) {
        let changed = self.session.review_mut().accept_all_except(rejected);
        self.print_decided(&count(changed, "hunk"));
        for path in self.session.review().files_awaiting_confirmation() {
            self.out.line(&format!("warning: {path} must be accepted separately; accept its hunks by number."));
        }
    }

    fn decide(&mut self, ids: &[HunkId], decision: Decision) {
        let changed = self.session.review_mut().decide_each(ids.iter().map(|id| (*id, decision)));
        self.print_decided(&count(changed, "hunk"));
    }

    fn decide_lines(&mut self, id: HunkId, lines: std::ops::Range<usize>, decision: Decision) {
        if self.session.review().files.get(id.file).is_some_and(|file| !file.is_divisible()) {
            self.out.line("A new, deleted or moved file is decided as a whole.");
            return;
        }
        let changed = self.session.review_mut().decide_lines(id, lines, decision);
        self.print_decided(&count(changed, "line"));
    }

    fn print_decided(&mut self, changed: &str) {
        self.out.line(&format!("{changed} changed: {}", review_text::status(self.session.review())));
        let counts = self.session.review().counts();
        if counts.pending == 0 && counts.accepted > 0 {
            self.out.line("hint: All is decided; write writes what is accepted.");
        }
    }

    fn show_next(&mut self) {
        let review = self.session.review();
        let next = match self.review.cursor {
            Some(cursor) => review.next_pending(cursor),
            None => review.first_pending(),
        };
        match next {
            Some(id) => self.show_hunks(&[id], usize::MAX),
            None => self.out.line(&format!("Nothing is undecided: {}", review_text::status(review))),
        }
    }

    fn split(&mut self, id: HunkId, at: Option<usize>) {
        let parts = match at {
            Some(line) => 1 + usize::from(self.session.review_mut().split_at(id, line)),
            None => self.session.review_mut().split(id),
        };
        if parts < 2 {
            self.out.line("That hunk cannot be split there.");
            return;
        }
        self.out.line(&format!("split into {parts} hunks; later hunks have new numbers"));
        let ids: Vec<HunkId> = self.session.review().ids().skip_while(|other| *other != id).take(parts).collect();
        self.show_hunks(&ids, usize::MAX);
    }

    /// Replaces the added lines of a hunk with a text from the editor.
    pub(super) fn hunk_edited(&mut self, id: HunkId, text: &str) {
        if !self.session.review_mut().edit(id, text) {
            self.out.line("The text is unchanged.");
            return;
        }
        self.out.line("changed, and accepted with that; undo undoes it");
        // The edited text may be equal to the base, which leaves no hunk.
        if self.session.review().hunk(id).is_some() {
            self.show_hunks(&[id], usize::MAX);
        }
    }

    fn comment(&mut self, target: CommentTarget, text: &str) {
        let message = match (self.session.review_mut().comment(target, text), text.trim().is_empty()) {
            (true, false) => "noted; send back sends it",
            (true, true) => "The comment is removed.",
            (false, true) => "There is no comment to remove.",
            (false, false) => "The comment is unchanged.",
        };
        self.out.line(message);
    }

    fn print_undone(&mut self, is_done: bool, done: &str, nothing: &str) {
        match is_done {
            true => self.out.line(&format!("{done}: {}", review_text::status(self.session.review()))),
            false => self.out.line(nothing),
        }
    }

    fn show_refused(&mut self) {
        let refused = &self.session.review().refused;
        if refused.is_empty() {
            self.out.line("No edit was refused.");
            return;
        }
        for (at, outcome) in refused.iter().enumerate() {
            self.out.lines(review_text::refused(outcome, at + 1, refused.len()));
        }
        self.out.line("hint: send back asks the model to correct them.");
    }

    fn send_back(&mut self) {
        let Some(text) = self.session.feedback() else {
            self.out.line("There are no comments and no rejected or refused edits, so there is nothing to send.");
            return;
        };
        self.print_text("This goes to the model", &text);
        if self.session.review().counts().accepted > 0 {
            self.out.line(
                "warning: A new proposal for a file replaces its accepted hunks that are not written yet. write keeps them.",
            );
        }
        self.questions.confirm(Confirmation::SendBack(text));
    }

    pub(super) fn send_feedback(&mut self, text: &str) {
        self.transcript.set_typed(Some(text.to_owned()));
        let (is_sent, effects) = self.session.send_feedback(text);
        if !is_sent {
            self.transcript.set_typed(None);
            self.failed = Some(ErrorKind::Usage);
        }
        self.perform(effects);
    }

    /// Writes the accepted hunks, after a question if some are undecided.
    fn write(&mut self) {
        let counts = self.session.review().counts();
        if counts.accepted == 0 {
            self.out.line("Nothing is accepted, so there is nothing to write.");
            return;
        }
        self.out.lines(self.session.review().files.iter().filter_map(write_line));
        if counts.pending == 0 {
            return self.write_accepted();
        }
        let verb = if counts.pending == 1 { "is undecided and stays" } else { "are undecided and stay" };
        let commit = if self.review.commits { " and commit" } else { "" };
        let (pending, accepted) = (count(counts.pending, "hunk"), count(counts.accepted, "hunk"));
        self.out.line(&format!("{pending} {verb} under review. Write{commit} the {accepted} accepted?"));
        self.questions.confirm(Confirmation::Write);
    }

    pub(super) fn write_accepted(&mut self) {
        let effects = self.session.write_accepted();
        self.perform(effects);
    }

    pub(super) fn resume_review(&mut self) {
        self.review.is_deferred = false;
        let review = self.session.review();
        if review.is_empty() {
            self.out.line("Nothing is under review.");
            return;
        }
        self.out.line(&format!("{} {} show prints them.", summary(review), review_text::status(review)));
    }

    /// Sets the number of unchanged lines around a hunk, or prints it.
    pub(super) fn set_context(&mut self, argument: &str) {
        let lines = |lines| count(lines, "unchanged line");
        match argument.parse() {
            Ok(context) => {
                self.review.context = context;
                self.out.line(&format!("{} around a hunk.", lines(context)));
            }
            Err(_) => self.out.line(&format!("{} around a hunk. /verbosity 5 makes it 5.", lines(self.review.context))),
        }
    }
}
