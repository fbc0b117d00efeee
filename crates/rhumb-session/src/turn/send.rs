//! Sending a message: whether it can be sent now, and what it waits for.

use crate::connect::Connection;
use crate::connect::{ConnectRequest, HOW_TO_CONNECT};
use crate::effect::Effect;
use crate::state::Session;
use crate::transcript::Level;

impl Session {
    /// Sends `message`. False when it cannot be sent now; the composer then keeps it, and a notice says why.
    pub fn send(&mut self, message: &str) -> (bool, Vec<Effect>) {
        self.send_typed(message)
    }

    /// Whether a message can be sent now; a notice says why not.
    pub(crate) fn may_send(&mut self, message: &str) -> bool {
        if self.turns.current.is_some() {
            self.tell(Level::Warning, "The model is still answering.", "Cancel the turn, then send again.");
            return false;
        }
        self.is_connected() && !self.doubts_that_it_fits(message)
    }

    /// Whether there is a model to ask; a notice says why not.
    pub(crate) fn is_connected(&mut self) -> bool {
        match self.model.connection() {
            Connection::None => {
                let why = self.model.missing().unwrap_or("No model is connected");
                let reason = format!("{why}, so the message was not sent.");
                let hint = format!(
                    "{HOW_TO_CONNECT} Without a model, /copy-context copies the whole prompt for a chat window, and /paste takes the \
                     reply into review."
                );
                self.tell(Level::Warning, reason.clone(), hint);
                let at_start = self.model.at_start().clone();
                self.ask_to_connect(ConnectRequest { reason, is_for_message: true, ..at_start });
                false
            }
            Connection::Remote { model, .. } if model.is_empty() => {
                self.tell(Level::Warning, "No model is named, so the message was not sent.", "Name one: /model NAME.");
                false
            }
            Connection::Remote { .. } | Connection::Demo => true,
        }
    }

    /// Whether the request of the turn waits for files that wait for the list of files.
    pub(crate) fn waits_for_files(&mut self) -> bool {
        self.turns.waits_for_files = self.chat_files.are_waiting();
        self.turns.waits_for_files
    }
}
