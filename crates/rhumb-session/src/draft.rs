//! The text that the user is writing: a message, which is part of the next request, or a command.

use crate::{Effect, Session};

/// The draft of a message and that of a command. At most one of them is in the input at a time.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    message: String,
    command: String,
}

impl Drafts {
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn set_message(&mut self, message: &str) {
        message.clone_into(&mut self.message);
    }

    pub(crate) fn clear_command(&mut self) {
        self.command.clear();
    }

    /// The text in the input, which is saved with the session.
    pub(crate) fn text(&self) -> &str {
        if self.command.is_empty() { &self.message } else { &self.command }
    }
}

impl Session {
    /// Replaces the draft of a message, and measures the next request, of which it is a part.
    pub fn draft_changed(&mut self, draft: &str) -> Vec<Effect> {
        if self.drafts.message == draft {
            return Vec::new();
        }
        draft.clone_into(&mut self.drafts.message);
        if draft.is_empty() {
            self.ask_about_plan_again();
        }
        self.measure()
    }

    /// Replaces the draft of a command, which may be empty. It is saved, but it is not part of the next request.
    pub fn command_drafted(&mut self, text: &str) {
        text.clone_into(&mut self.drafts.command);
    }
}
