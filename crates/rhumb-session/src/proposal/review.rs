//! What the developer makes of a review beyond single decisions: what a write will do, and what goes back to the model about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::connect::Connection;
use crate::context::{self, Mode};
use crate::effect::{Effect, RequestSpec};
use crate::state::Session;
use crate::transcript::{self, Entry, Level};
use crate::turn::Turn;
use rhumb_edit::review::{Composed, Decision, ReviewHunk};
use rhumb_edit::{FileChange, Outcome};
use rhumb_workspace::is_secret_name;

/// How accepted hunks are to be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WritePlan {
    /// Whether the hunks that are not decided are rejected before; else they stay.
    pub reject_rest: bool,
    /// Whether a commit follows; `None` for what the settings say.
    pub commit: Option<bool>,
}

/// What a write would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WritePreview {
    /// The files: what happens to each, its path, how many of its hunks are accepted, and how many it has.
    pub files: Vec<(&'static str, String, usize, usize)>,
    /// Hunks that are written.
    pub accepted: usize,
    /// Hunks that are not decided.
    pub pending: usize,
    /// Hunks that are rejected.
    pub rejected: usize,
    /// Files with accepted hunks that stay as they are, because a conflict in them is open.
    pub held: Vec<String>,
    /// Whether a commit follows by itself; `None` where there is no repository.
    pub commits: Option<bool>,
}

impl Session {
    /// What a write would do now.
    pub fn write_preview(&self) -> WritePreview {
        let mut preview = WritePreview { commits: self.commits_by_itself(), ..WritePreview::default() };
        for file in &self.proposals.review.files {
            let counts = file.counts();
            preview.pending += counts.pending;
            preview.rejected += counts.rejected;
            let taken = file.hunks.iter().filter(|item| item.is_partly_accepted()).count();
            if taken == 0 {
                continue;
            }
            if self.proposals.review.has_conflict(&file.path) {
                preview.held.push(file.path.clone());
                continue;
            }
            preview.accepted += taken;
            if file.composed() == Composed::Untouched {
                continue;
            }
            let what = match &file.change {
                FileChange::Create => "new",
                FileChange::Modify => "changed",
                FileChange::Delete => "deleted",
                FileChange::Rename { .. } => "renamed",
            };
            preview.files.push((what, file.path.clone(), taken, counts.total()));
        }
        preview
    }

    /// Whether what is written is committed by itself; `None` where there is no repository.
    fn commits_by_itself(&self) -> Option<bool> {
        (!self.repository.head().is_empty()).then_some(!self.proposals.commits.off)
    }

    /// Writes what is accepted in that way.
    pub fn write_planned(&mut self, plan: WritePlan) -> Vec<Effect> {
        if plan.reject_rest && !self.proposals.is_writing {
            self.proposals.review.reject_pending();
        }
        self.proposals.commits.wanted = plan.commit;
        let effects = self.write_accepted();
        if effects.is_empty() {
            self.proposals.commits.wanted = None;
        }
        effects
    }

    /// The message about the review that would go to the model; `None` if there is nothing to tell.
    pub fn feedback(&self) -> Option<String> {
        context::feedback(&self.proposals.review, &self.proposals.feedback)
    }

    /// Whether there is something about the review to tell the model.
    pub fn has_feedback(&self) -> bool {
        let review = &self.proposals.review;
        let is_telling = |item: &ReviewHunk| item.decision() == Decision::Rejected || item.original().is_some();
        !self.proposals.feedback.is_empty()
            || review.comments().next().is_some()
            || review.refused.iter().any(Outcome::is_open)
            || review.files.iter().flat_map(|file| &file.hunks).any(is_telling)
    }

    /// Sends `text` about the review to the model. False when it cannot be sent now; a notice says why.
    pub fn send_feedback(&mut self, text: &str) -> (bool, Vec<Effect>) {
        if !self.may_send(text) {
            return (false, Vec::new());
        }
        self.withdraw_offers();
        self.take_in_what_it_is_about();
        self.proposals.feedback.clear();
        self.proposals.retries.begin_again(
            self.proposals.review.refused.iter().filter(|outcome| !outcome.is_conflict()).cloned().collect(),
        );
        // It is about the request that the review answers, and mends its answer.
        let request = self.proposals.request.clone();
        self.transcript.push(Entry::User { text: text.to_owned(), mode: Mode::Code, answered: false });
        let turn = Turn::follow_up(self.turns.next_number(), text.to_owned(), request);
        (true, self.begin_turn(turn))
    }

    /// Takes the files that the message about the review is about into the chat: without them the model would have to guess what they
    /// say.
    fn take_in_what_it_is_about(&mut self) {
        let said = self.proposals.review.files.iter().flat_map(context::said);
        let of_review = said.filter(|said| said.is_telling()).map(|said| said.path);
        let before = self.proposals.feedback.iter().filter(|said| said.is_telling()).map(|said| said.path.clone());
        let refused = self
            .proposals
            .review
            .refused
            .iter()
            .filter(|outcome| outcome.is_open())
            .map(|outcome| outcome.path.clone());
        let paths: BTreeSet<String> = of_review.chain(before).chain(refused).collect();
        let is_new = |path: &String| {
            self.repository.contains(path)
                && self.chat_files.files().iter().all(|file| file.path != *path)
                && !is_secret_name(path)
        };
        let new: Vec<String> = paths.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let joins = if new.len() == 1 { "joins" } else { "join" };
        self.report(Level::Info, format!("{} {joins} the chat: what you say is about it.", new.join(", ")), "");
        new.iter().for_each(|path| self.chat_files.add(path, false));
    }

    /// Sends a refused edit, or without a number all of them, back to the model.
    pub fn ask_for_refused(&mut self, one: Option<usize>) -> Vec<Effect> {
        let wanted = |index: usize| one.is_none_or(|one| one == index);
        let (asked, kept): (Vec<_>, Vec<_>) =
            self.proposals.review.refused.clone().into_iter().enumerate().partition(|(index, _)| wanted(*index));
        let asked: Vec<_> = asked.into_iter().map(|(_, outcome)| outcome).collect();
        let Some(message) = context::refusals(&asked) else {
            self.report(Level::Info, "The file says already what this edit asks for.", "");
            return Vec::new();
        };
        if self.proposals.is_writing || !self.may_send(&message) {
            return Vec::new();
        }
        self.proposals.retries.keep_aside(kept.into_iter().map(|(_, outcome)| outcome).collect());
        self.send_again(message, self.proposals.request.clone())
    }

    /// Why nothing can be sent about the review now; `None` if it can.
    pub fn cannot_send(&self) -> Option<&'static str> {
        match self.model.connection() {
            _ if self.turns.is_running() => Some("the model is still answering"),
            Connection::None => Some("no model is connected"),
            Connection::Demo | Connection::Remote { .. } => None,
        }
    }

    /// Sends a message about refused edits: one more round of the same request.
    pub(super) fn send_again(&mut self, message: String, request: String) -> Vec<Effect> {
        let (round, of) = self.proposals.retries.next(self.proposals.max_retries);
        // What the developer is typing meanwhile stays in the composer.
        let number = self.turns.next_number();
        let order = self.round_order(number, message.clone());
        self.transcript.push(Entry::FollowUp { text: message.clone(), round, of, answered: false });
        self.open_turn(Turn::follow_up(order.generation, message, request).with_mode(order.mode));
        vec![Effect::Ask(Box::new(order))]
    }

    /// The order for one more round of the same request, with that message.
    pub(crate) fn round_order(&self, number: u64, message: String) -> RequestSpec {
        let mut order = RequestSpec { draft: message, ..self.request_spec(number) };
        // The files are as they were for the request, so they stand before all that was said of it.
        let history = Arc::make_mut(&mut order.history);
        history.extend_from_slice(&order.exchange);
        order.split_exchange(transcript::exchange_len(&self.transcript));
        self.as_follow_up(order)
    }

    /// Remembers what was said of hunks that leave the review with a write, as far as the model should hear of it.
    pub(super) fn remember_said(&mut self, paths: &[String]) {
        for file in &self.proposals.review.files {
            let is_written = paths.contains(&file.path);
            let counts = file.counts();
            // A file whose every hunk is rejected leaves with the others.
            if !is_written && counts.rejected < counts.total() {
                continue;
            }
            let leaves = |said: &context::Said| said.verdict != Some(context::Verdict::Pending);
            let said = context::said(file).into_iter().filter(|said| leaves(said) && said.is_telling());
            let stays = is_written && counts.pending > 0;
            // The comment on the file stays with it.
            self.proposals
                .feedback
                .extend(said.filter(|said| said.verdict.is_some() || !stays).map(context::Said::written));
        }
    }

    /// Says that files stay as they are because of conflicts.
    pub(super) fn report_held(&mut self, held: &[String]) {
        if held.is_empty() {
            return;
        }
        let what = if held.len() == 1 { "a conflict in it is" } else { "conflicts in them are" };
        let text = format!("Not written, because {what} open: {}.", held.join(", "));
        self.report(
            Level::Warning,
            text,
            "The conflicts stand at the top of the review; settle them, then write again.",
        );
    }
}
