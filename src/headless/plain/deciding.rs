//! The review in lines: hunks are read out, decided by number, changed, noted on, and written.

use super::asking::Confirm;
use super::desk::{Desk, Editing};
use super::hunks::{self, body, heading, standing, summary};
use super::words::{Word, parse};
use crate::error::ErrorKind;
use rhumb_edit::FileChange;
use rhumb_edit::review::{CommentTarget, Composed, Decision, FileReview, HunkId, ReviewHunk};
use rhumb_text::{count, lines};

/// Lines of a proposal that are read out by themselves; of the hunks after them the headings are.
const MOST_LINES: usize = 400;

impl Desk {
    /// Reads a new proposal out; false if there is none.
    pub(super) fn reads_review(&mut self) -> bool {
        if self.session.proposal_count() == self.seen_proposals {
            return false;
        }
        self.seen_proposals = self.session.proposal_count();
        if self.session.review().is_empty() {
            return false;
        }
        (self.later, self.cursor) = (false, None);
        self.voice.line(&summary(self.session.review()));
        let ids: Vec<HunkId> = self.session.review().ids().collect();
        self.show(&ids, MOST_LINES);
        self.voice.line("hint: 1,3 accepts hunks, all accepts everything, write writes, help lists the words.");
        true
    }

    /// Reads hunks out; after so many lines only where they stand.
    pub(super) fn show(&mut self, ids: &[HunkId], most: usize) {
        let all: Vec<HunkId> = self.session.review().ids().collect();
        let mut left = most;
        let mut is_short = false;
        for id in ids {
            let number = all.iter().position(|other| other == id).map_or(0, |at| at + 1);
            self.voice.line(&heading(self.session.review(), *id, number, all.len()));
            let lines = body(self.session.review(), *id, self.context, false);
            is_short |= lines.len() > left;
            if !is_short {
                left -= lines.len();
                self.voice.lines(lines);
            }
        }
        if is_short {
            self.voice.line("hint: That was not all: show 5 reads hunk 5.");
        }
        if let [id] = ids {
            self.cursor = Some(*id);
        }
    }

    /// Takes a word of the review.
    pub(super) fn review_word(&mut self, line: &str) {
        match parse(line, self.session.review()) {
            Ok(word) => self.act_on_review(word),
            Err(error) => self.voice.line(&error),
        }
    }

    fn act_on_review(&mut self, word: Word) {
        match word {
            Word::Accept(ids) => self.decide(ids.into_iter().map(|id| (id, Decision::Accepted)).collect()),
            Word::Reject(ids) => self.decide(ids.into_iter().map(|id| (id, Decision::Rejected)).collect()),
            Word::Pend(ids) => self.decide(ids.into_iter().map(|id| (id, Decision::Pending)).collect()),
            Word::All => self.accept_all(),
            Word::None => self.decide(self.session.review().ids().map(|id| (id, Decision::Rejected)).collect()),
            Word::Not(without) => {
                let review = self.session.review();
                let own = |id: &HunkId| review.hunk(*id).is_some_and(ReviewHunk::needs_confirmation);
                let decision = |id: &HunkId| if without.contains(id) { Decision::Rejected } else { Decision::Accepted };
                let wanted = review.ids().filter(|id| without.contains(id) || !own(id));
                self.decide(wanted.map(|id| (id, decision(&id))).collect());
                self.tell_what_wants_own_yes();
            }
            Word::AcceptLines(id, lines) => self.decide_lines(id, lines, Decision::Accepted),
            Word::RejectLines(id, lines) => self.decide_lines(id, lines, Decision::Rejected),
            Word::Show(ids) => self.show(&ids, usize::MAX),
            Word::Next => self.show_next(),
            Word::Lines(id) => {
                let lines = body(self.session.review(), id, 0, true);
                self.voice.lines(lines);
            }
            Word::Split(id, at) => self.split(id, at),
            Word::Join(id) => {
                let told = if self.session.review_mut().join(id) {
                    "joined with the next hunk; later hunks have new numbers"
                } else {
                    "There is no next hunk in that file, or it is decided as a whole."
                };
                self.voice.line(told);
            }
            Word::Edit(id) => self.edit_hunk(id),
            Word::Comment(place, text) => self.comment(place, &text),
            Word::Undo => self.take_back(true),
            Word::Redo => self.take_back(false),
            Word::Refused => self.read_refused(),
            Word::SendBack => self.send_back(),
            Word::Status => self.voice.line(&standing(self.session.review())),
            Word::Write => self.write(),
            Word::Later => {
                self.later = true;
                self.voice.line("The review waits: /hunks goes back to it.");
            }
            Word::Abandon => {
                let total = count(self.session.review().counts().total(), "hunk");
                self.voice.line(&format!("The whole review is given up: {total}. Nothing of it is written."));
                self.confirm = Some(Confirm::Abandon);
            }
            Word::Say(text) => self.send(&text),
            Word::Help => self.review_help(),
        }
    }

    fn accept_all(&mut self) {
        let changed = self.session.review_mut().accept_all();
        self.tell_decided(&count(changed, "hunk"));
        self.tell_what_wants_own_yes();
    }

    fn tell_what_wants_own_yes(&mut self) {
        for path in self.session.review().files_awaiting_confirmation() {
            self.voice.line(&format!("warning: {path} must be accepted on its own; accept its hunks by number."));
        }
    }

    fn decide(&mut self, wanted: Vec<(HunkId, Decision)>) {
        let changed = self.session.review_mut().decide_each(wanted);
        self.tell_decided(&count(changed, "hunk"));
    }

    fn decide_lines(&mut self, id: HunkId, lines: std::ops::Range<usize>, decision: Decision) {
        let is_whole = self.session.review().files.get(id.file).is_some_and(|file| file.change != FileChange::Modify);
        if is_whole {
            self.voice.line("A file that is new, deleted or moved is decided as a whole.");
            return;
        }
        let changed = self.session.review_mut().decide_lines(id, lines, decision);
        self.tell_decided(&count(changed, "line"));
    }

    fn tell_decided(&mut self, changed: &str) {
        let standing = standing(self.session.review());
        self.voice.line(&format!("{changed} changed: {standing}"));
        let counts = self.session.review().counts();
        if counts.pending == 0 && counts.accepted > 0 {
            self.voice.line("hint: All is decided; write writes what is accepted.");
        }
    }

    fn show_next(&mut self) {
        let review = self.session.review();
        let from = self.cursor;
        let next = match from {
            Some(cursor) => review.next_pending(cursor),
            None => review.ids().find(|id| review.decision(*id) == Decision::Pending),
        };
        match next {
            Some(id) => self.show(&[id], usize::MAX),
            None => {
                let standing = standing(review);
                self.voice.line(&format!("Nothing is undecided: {standing}"));
            }
        }
    }

    fn split(&mut self, id: HunkId, at: Option<usize>) {
        let parts = match at {
            Some(line) => 1 + usize::from(self.session.review_mut().split_at(id, line)),
            None => self.session.review_mut().split(id),
        };
        if parts < 2 {
            self.voice.line("That hunk cannot be split there.");
            return;
        }
        self.voice.line(&format!("split into {parts} hunks; later hunks have new numbers"));
        let first = self.session.review().ids().skip_while(|other| *other != id);
        let ids: Vec<HunkId> = first.take(parts).collect();
        self.show(&ids, usize::MAX);
    }

    fn edit_hunk(&mut self, id: HunkId) {
        match self.session.review().files.get(id.file) {
            Some(file) if file.proposed.is_none() => {
                self.voice.line("The file is deleted; there is nothing to change.")
            }
            Some(_) => self.to_edit = Some(Editing::Hunk(id)),
            None => {}
        }
    }

    /// The file of a hunk, and the text that it adds.
    pub(super) fn hunk_text(&self, id: HunkId) -> Option<(String, String)> {
        let file = self.session.review().files.get(id.file)?;
        let proposed = lines::split(file.proposed.as_deref()?);
        let added = proposed.get(self.session.review().hunk(id)?.hunk.proposed.clone())?;
        Some((file.path.clone(), added.concat()))
    }

    /// Takes what the editor made of a hunk.
    pub(super) fn hunk_edited(&mut self, id: HunkId, text: &str) {
        if !self.session.review_mut().edit(id, text) {
            self.voice.line("The text is as it was, so nothing changed.");
            return;
        }
        self.voice.line("changed, and accepted with that; undo takes it back");
        // It may have become none, or several.
        if self.session.review().hunk(id).is_some() {
            self.show(&[id], usize::MAX);
        }
    }

    fn comment(&mut self, place: CommentTarget, text: &str) {
        let told = match (self.session.review_mut().comment(place, text), text.trim().is_empty()) {
            (true, false) => "noted; send back sends it",
            (true, true) => "The note was taken away.",
            (false, true) => "There is no note there.",
            (false, false) => "The same is noted there.",
        };
        self.voice.line(told);
    }

    fn take_back(&mut self, back: bool) {
        let review = self.session.review_mut();
        let done = if back { review.undo() } else { review.redo() };
        match done {
            Some(_) => {
                let standing = standing(self.session.review());
                let verb = if back { "taken back" } else { "done again" };
                self.voice.line(&format!("{verb}: {standing}"));
            }
            None => {
                self.voice.line(if back { "There is nothing to take back." } else { "There is nothing to do again." })
            }
        }
    }

    fn read_refused(&mut self) {
        let refused = &self.session.review().refused;
        if refused.is_empty() {
            self.voice.line("Every edit found its place.");
            return;
        }
        let each = refused.iter().enumerate();
        let lines: Vec<String> =
            each.flat_map(|(at, outcome)| hunks::refused(outcome, at + 1, refused.len())).collect();
        self.voice.lines(lines);
        self.voice.line("hint: send back asks the model to mend them.");
    }

    fn send_back(&mut self) {
        let Some(text) = self.session.feedback() else {
            self.voice.line("Nothing was noted, rejected or refused, so there is nothing to send.");
            return;
        };
        self.read("This goes to the model", &text);
        if self.session.review().counts().accepted > 0 {
            self.voice.line("warning: Accepted hunks are not written yet, and a new proposal for their file takes their place; write first keeps them.");
        }
        self.confirm = Some(Confirm::SendBack(text));
    }

    /// Sends what was said of the review, in whatever mode the conversation is.
    pub(super) fn send_feedback(&mut self, text: &str) {
        self.told.typed = Some(text.to_owned());
        let (sent, effects) = self.session.send_feedback(text);
        if !sent {
            self.told.typed = None;
            self.failed = Some(ErrorKind::Usage);
        }
        self.perform(effects);
    }

    /// Says what a write does, and does it; asks first where something is undecided.
    fn write(&mut self) {
        let counts = self.session.review().counts();
        if counts.accepted == 0 {
            self.voice.line("Nothing is accepted, so there is nothing to write.");
            return;
        }
        let lines: Vec<String> = self.session.review().files.iter().filter_map(write_line).collect();
        self.voice.lines(lines);
        if counts.pending == 0 {
            self.write_now();
            return;
        }
        let verb = if counts.pending == 1 { "is undecided and stays" } else { "are undecided and stay" };
        let commit = if self.commits { " and commit" } else { "" };
        let pending = count(counts.pending, "hunk");
        let accepted = count(counts.accepted, "hunk");
        self.voice.line(&format!("{pending} {verb} under review. Write{commit} the {accepted} accepted?"));
        self.confirm = Some(Confirm::Write);
    }

    pub(super) fn write_now(&mut self) {
        let effects = self.session.write_accepted();
        self.perform(effects);
    }
}

/// What a write does to a file; nothing if that is nothing.
fn write_line(file: &FileReview) -> Option<String> {
    let hunks = count(file.counts().accepted, "hunk");
    match (file.composed(), &file.change) {
        (Composed::Untouched, _) => None,
        (Composed::Deleted, _) => Some(format!("deletes {}", file.path)),
        (Composed::Text(_), FileChange::Create) => Some(format!("creates {}", file.path)),
        (Composed::Text(_), FileChange::Rename { from }) => Some(format!("moves {from} to {}", file.path)),
        (Composed::Text(_), _) => Some(format!("changes {}: {hunks}", file.path)),
    }
}
