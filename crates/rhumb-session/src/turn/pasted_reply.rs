//! Using a chat in another program: copying the prompt and pasting the reply.

use crate::proposal::edit_retries::EditRetries;
use crate::{Answer, AnswerState, ClipboardText, Effect, Entry, Level, Session};
use rhumb_edit::PendingChanges;

impl Session {
    /// Adds a pasted reply to the transcript and locates its edits. The reply answers the draft.
    pub fn take_reply(&mut self, reply: String) -> Vec<Effect> {
        if self.turns.current.is_some() {
            self.report(Level::Warning, "The model is still answering.", "Cancel the turn, then /paste again.");
            return Vec::new();
        }
        let request = self.drafts.message().to_owned();
        let text =
            if request.trim().is_empty() { "(a reply pasted from elsewhere)".to_owned() } else { request.clone() };
        self.transcript.push(Entry::User { text, mode: self.modes.mode(), answered: true });
        self.transcript.push(Entry::Answer(Answer {
            text: reply.clone(),
            reasoning: String::new(),
            state: AnswerState::Complete,
            edits: Vec::new(),
        }));
        self.suggest(&reply);
        let number = self.last_answer_number();
        self.propose_alone(reply, Some(number), request)
    }

    /// Locates the edits of the last answer again, even if it is incomplete.
    pub fn review_last_answer(&mut self) -> Vec<Effect> {
        let is_answer =
            |entry: &Entry| matches!(entry, Entry::Answer(answer) if answer.state != AnswerState::Streaming);
        let Some(at) = self.transcript.iter().rposition(is_answer) else {
            self.report(Level::Warning, "There is no answer to review yet.", "");
            return Vec::new();
        };
        let Entry::Answer(answer) = &self.transcript[at] else { return Vec::new() };
        let reply = answer.text.clone();
        let number = self.answer_number(at);
        self.propose_alone(reply, Some(number), self.request_at(at))
    }

    /// Locates the edits of a reply that does not belong to the last turn. `answer` is its number among the answers of the session, if
    /// it is one.
    pub(crate) fn propose_alone(&mut self, reply: String, answer: Option<usize>, request: String) -> Vec<Effect> {
        *self.proposals.retries_mut() = EditRetries::default();
        self.proposals.begin_locating();
        let pending = PendingChanges { files: self.proposals.review().pending_changes(), refused: Vec::new() };
        let (answers, files) = (vec![answer], self.chat_files.files().to_vec());
        vec![Effect::Propose { request, pending, earlier: Vec::new(), reply, answers, files }]
    }

    /// The text of the last answer, for the clipboard.
    pub fn last_answer(&self) -> Option<ClipboardText> {
        let last = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Answer(answer) if !answer.text.is_empty() => Some(answer.text.clone()),
            _ => None,
        });
        last.map(|text| ClipboardText { what: "The last answer".into(), text, hint: String::new() })
    }

    /// Assembles the next request as one text.
    pub fn copy_prompt(&self) -> Vec<Effect> {
        vec![Effect::CopyPrompt(Box::new(self.request_spec(self.next_request.generation())))]
    }

    pub(crate) fn prompt_clip(&self, text: String) -> ClipboardText {
        let tokens = self.next_request.view().map_or(0, |view| view.prompt.tokens);
        let what = format!("The prompt (about {tokens} tokens)");
        ClipboardText { what, text, hint: "Paste it into any chat, copy the whole reply, then /paste here.".into() }
    }
}
