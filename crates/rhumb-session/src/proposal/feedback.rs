//! Feedback: the message about the review that the user sends to the model.

use crate::context::{self, HunkFeedback, HunkState, Mode};
use crate::{Connection, Effect, Entry, Level, Session, Turn};
use rhumb_edit::Outcome;
use rhumb_edit::review::{Decision, ReviewHunk};
use rhumb_workspace::is_secret_name;
use std::collections::BTreeSet;

impl Session {
    /// The message about the review for the model; `None` if there is nothing to report.
    pub fn feedback(&self) -> Option<String> {
        context::feedback(&self.proposals.review, &self.proposals.feedback)
    }

    /// Whether there is anything about the review to report to the model.
    pub fn has_feedback(&self) -> bool {
        let review = &self.proposals.review;
        let is_telling = |item: &ReviewHunk| item.decision() == Decision::Rejected || item.original().is_some();
        !self.proposals.feedback.is_empty()
            || review.comments().next().is_some()
            || review.refused.iter().any(Outcome::is_open)
            || review.files.iter().flat_map(|file| &file.hunks).any(is_telling)
    }

    /// Sends `text` about the review to the model. Returns `false` if it cannot be sent now; a status message says why.
    pub fn send_feedback(&mut self, text: &str) -> (bool, Vec<Effect>) {
        if !self.may_send(text) {
            return (false, Vec::new());
        }
        self.withdraw_offers();
        self.add_files_of_feedback();
        self.proposals.feedback.clear();
        let refused = self.proposals.review.refused.iter().filter(|outcome| !outcome.is_conflict()).cloned();
        self.proposals.retries.restart(refused.collect());
        // It belongs to the request that the review answers.
        let request = self.proposals.request.clone();
        // Feedback on the work of the agent goes back into its loop.
        let mode = if self.last_mode() == Mode::Agent { Mode::Agent } else { Mode::Code };
        self.transcript.push(Entry::User { text: text.to_owned(), mode, answered: false });
        let turn = Turn::follow_up(self.turns.next_number(), text.to_owned(), request).with_mode(mode);
        (true, self.begin_turn(turn))
    }

    /// Adds the files to the chat that the feedback is about: without them the model would have to guess their text.
    fn add_files_of_feedback(&mut self) {
        let review = &self.proposals.review;
        let of_review = review.files.iter().flat_map(context::file_feedback);
        let telling = of_review.chain(self.proposals.feedback.iter().cloned()).filter(HunkFeedback::has_content);
        let refused = review.refused.iter().filter(|outcome| outcome.is_open()).map(|outcome| outcome.path.clone());
        let paths: BTreeSet<String> = telling.map(|said| said.path).chain(refused).collect();
        let is_new =
            |path: &String| self.repository.contains(path) && !self.chat_files.contains(path) && !is_secret_name(path);
        let new: Vec<String> = paths.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let were = if new.len() == 1 { "was" } else { "were" };
        let text = format!("{} {were} added to the chat, because your feedback is about it.", new.join(", "));
        self.report(Level::Info, text, "");
        new.iter().for_each(|path| self.chat_files.add(path, false));
    }

    /// Why nothing can be sent about the review now; `None` if it can.
    pub fn cannot_send(&self) -> Option<&'static str> {
        match self.model.connection() {
            _ if self.turns.is_running() => Some("the model is still answering"),
            Connection::None => Some("no model is connected"),
            Connection::Demo | Connection::Remote { .. } => None,
        }
    }

    /// Remembers the feedback on hunks that leave the review with a write of these files.
    pub(super) fn remember_feedback(&mut self, paths: &[String]) {
        for file in &self.proposals.review.files {
            let is_written = paths.contains(&file.path);
            let counts = file.counts();
            // A file with only rejected hunks also leaves.
            if !is_written && counts.rejected < counts.total() {
                continue;
            }
            // The comment on the file stays in the review as long as the file does.
            let file_stays = is_written && counts.pending > 0;
            let leaves = |said: &HunkFeedback| match said.state {
                Some(verdict) => verdict != HunkState::Pending,
                None => !file_stays,
            };
            let feedback = context::file_feedback(file).into_iter().filter(|said| leaves(said) && said.has_content());
            self.proposals.feedback.extend(feedback.map(HunkFeedback::written));
        }
    }
}
