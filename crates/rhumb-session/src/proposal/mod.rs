//! Proposals: the edits of an answer on their way through the review into files and commits.

pub(super) mod commits;
pub(super) mod edit_records;
pub(super) mod edit_retries;
mod feedback;
pub(super) mod undo;
pub(super) mod write;
pub(super) mod write_questions;

use crate::context::{self, Said};
use crate::effect::{Effect, Failure, RequestSpec};
use crate::repository::lookup::LookupEffect;
use crate::state::Session;
use crate::transcript::Level;
use crate::turn::Turn;
use commits::Commits;
use edit_retries::EditRetries;
use rhumb_edit::Proposal;
use rhumb_edit::review::{EditState, Review};
use rhumb_text::count;

/// The file that `/init` proposes.
const AGENTS_FILE: &str = "AGENTS.md";

/// The proposals under review, and what is being written of them.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    review: Review,
    /// The number of proposals so far.
    count: usize,
    /// The number of replies whose edits are being located.
    locating: usize,
    retries: EditRetries,
    /// How often refused edits are sent to the model without a question, for one request.
    max_retries: usize,
    is_writing: bool,
    commits: Commits,
    /// Comments on hunks that were written or rejected, for the next message about the review.
    feedback: Vec<Said>,
    /// The request behind the review, for the commit message.
    request: String,
}

impl Proposals {
    pub(crate) fn review(&self) -> &Review {
        &self.review
    }

    pub(crate) fn review_mut(&mut self) -> &mut Review {
        &mut self.review
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn request(&self) -> &str {
        &self.request
    }

    #[cfg(test)]
    pub(crate) fn set_request(&mut self, request: &str) {
        request.clone_into(&mut self.request);
    }

    pub(crate) fn feedback(&self) -> &[Said] {
        &self.feedback
    }

    pub(crate) fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Whether the edits of a reply are being located.
    pub(crate) fn is_locating(&self) -> bool {
        self.locating > 0
    }

    /// The edits of one more reply are being located.
    pub(crate) fn begin_locating(&mut self) {
        self.locating += 1;
    }

    pub(crate) fn end_locating(&mut self) {
        self.locating = self.locating.saturating_sub(1);
    }

    pub(crate) fn retries(&self) -> &EditRetries {
        &self.retries
    }

    pub(crate) fn retries_mut(&mut self) -> &mut EditRetries {
        &mut self.retries
    }

    pub(crate) fn commits(&self) -> &Commits {
        &self.commits
    }

    /// Sets whether writes are committed.
    pub(crate) fn set_commits(&mut self, on: bool) {
        self.commits.off = !on;
    }

    pub(crate) fn set_max_retries(&mut self, max: usize) {
        self.max_retries = max;
    }

    /// Replaces the review by that of a saved session.
    pub(crate) fn resume(&mut self, review: Review, request: String, feedback: Vec<Said>) {
        self.count += usize::from(!review.is_empty());
        (self.review, self.request, self.feedback, self.retries) = (review, request, feedback, EditRetries::default());
    }

    pub(crate) fn discard_review(&mut self) {
        self.review = Review::default();
    }
}

impl Session {
    /// Locates the edits of an answer that has just ended. The answer may correct edits of earlier ones.
    pub(crate) fn propose_answer(&mut self, reply: String, turn: &Turn) -> Vec<Effect> {
        let number = self.last_answer_number();
        let review = &self.proposals.review;
        let earlier =
            self.proposals.retries.add_reply(&reply, number, !turn.edits.is_empty(), || review.pending_changes());
        self.proposals.locating += 1;
        let (pending, answers) = self.proposals.retries.pending_and_answers();
        let (request, files) = (turn.request.clone(), self.chat_files.files().to_vec());
        vec![Effect::Propose { request, pending, earlier, reply, answers, files }]
    }

    /// A proposal arrived. Files of earlier proposals that it does not touch stay under review.
    pub(crate) fn proposed(&mut self, request: String, proposal: Proposal) -> Vec<Effect> {
        let message = context::refusals(&proposal.outcomes);
        let (outcomes, repeated) = (proposal.outcomes.clone(), proposal.repeated.clone());
        let before = self.proposals.review.edits();
        let newer = Review::new(proposal);
        if newer.is_empty() {
            self.record_edits(&outcomes, &repeated, &before);
            return Vec::new();
        }
        self.proposals.count += 1;
        if self.proposals.request != request {
            // Feedback on the hunks of another request does not apply to this one.
            self.proposals.feedback.clear();
        }
        self.proposals.request.clone_from(&request);
        let is_unchanged = message.is_some() && self.proposals.retries.has_same_refusals(&outcomes);
        self.report_refused(&newer.refused_states(), is_unchanged);
        for path in self.proposals.review.merge(newer) {
            self.tell(Level::Info, format!("The new answer replaces some changes under review in {path}."), "");
        }
        self.proposals.review.refused.append(&mut self.proposals.retries.take_other_refused());
        self.record_edits(&outcomes, &repeated, &before);
        match message.filter(|_| !is_unchanged) {
            Some(message) => self.retry_refused(message, request, outcomes),
            None => Vec::new(),
        }
    }

    /// Reports the edits that were not applied; `is_unchanged` if a retry had the same result.
    fn report_refused(&mut self, states: &[(EditState, usize)], is_unchanged: bool) {
        if states.is_empty() {
            return;
        }
        let sentence = |(state, number): &(EditState, usize)| {
            let verb = if *number == 1 { "is" } else { "are" };
            let edits = count(*number, "edit");
            match state {
                EditState::AlreadyApplied => format!("{edits} {verb} already applied."),
                EditState::Incomplete => format!("{edits} {verb} incomplete."),
                _ => format!("{edits} found no place in the files."),
            }
        };
        let mut text: Vec<String> = states.iter().map(sentence).collect();
        if is_unchanged {
            text.push("The last answer changed nothing about that, so the model is not asked again.".into());
        }
        self.tell(Level::Warning, text.join(" "), "The review shows the reason and the nearest places.");
    }

    /// `/init`: asks for the text of a first `AGENTS.md`.
    pub(crate) fn init(&mut self) -> Vec<Effect> {
        if self.turns.is_running() {
            self.tell(Level::Warning, "The model is still answering.", "Esc cancels the turn; then /init again.");
            return Vec::new();
        }
        if self.proposals.review.files.iter().any(|file| file.path == AGENTS_FILE) {
            let text = format!("{AGENTS_FILE} is under review already.");
            self.tell(Level::Warning, text, "Decide on it there first.");
            return Vec::new();
        }
        // The draft must not influence the ranking of the files.
        let spec = RequestSpec { draft: String::new(), ..self.order(0) };
        vec![Effect::Lookup(LookupEffect::AgentsFile(Box::new(spec)))]
    }

    /// Proposes a first `AGENTS.md` as a new file.
    pub(crate) fn propose_agents_file(&mut self, text: Result<String, Failure>) -> Vec<Effect> {
        let text = match text {
            Ok(text) => text,
            Err(failure) => {
                self.tell_failure(Level::Warning, failure);
                return Vec::new();
            }
        };
        let hint = "Edit and write it in the review. Once written, it is part of every request after the next start.";
        self.tell(Level::Info, format!("{AGENTS_FILE} is proposed as a new file."), hint);
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let reply = format!("*** Begin Patch\n*** Add File: {AGENTS_FILE}\n{lines}*** End Patch\n");
        self.propose_alone(reply, None, format!("Add {AGENTS_FILE}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Connection, LookupResponse, Response};

    #[test]
    fn a_first_agents_file_is_proposed_as_a_new_file() {
        let (mut session, _) = Session::start(Connection::None);
        session.draft_changed("something else");
        let effects = session.command(Command::Init);
        let [Effect::Lookup(LookupEffect::AgentsFile(spec))] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(spec.draft, "");
        let text = Ok("# AGENTS.md\n\n- Test: `make test`\n".to_owned());
        let effects = session.handle(Response::LookedUp(LookupResponse::AgentsFile(text)));
        let [Effect::Propose { reply, request, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(reply.contains("*** Add File: AGENTS.md\n+# AGENTS.md\n+\n+- Test: `make test`\n"), "{reply}");
        assert_eq!(request, "Add AGENTS.md");
    }
}
