//! Orders for requests: what the next one is made of, as things stand.

use crate::effect::{CodebaseQuestion, Effect, RequestSpec};
use crate::modes::who::ModelRole;
use crate::state::Session;

impl Session {
    /// The order for the next request as things stand, under that number.
    pub(crate) fn order(&self, generation: u64) -> RequestSpec {
        let (history, exchange) = self.history_and_shared();
        RequestSpec {
            generation,
            files: self.chat_files.files().to_vec(),
            images: self.attachments.images.clone(),
            mode: self.modes.mode(),
            suggest: self.processes.suggestions,
            who: ModelRole::Main,
            history,
            exchange,
            passages: self.codebase.locations.clone(),
            related: Vec::new(),
            codebase: CodebaseQuestion::No,
            draft: self.drafts.message().to_owned(),
            partial: String::new(),
            allowance: self.allowance(),
            may_drop_history: false,
            map: self.next_request.map().clone(),
            choices: self.next_request.choices().clone(),
        }
    }

    /// Asks for the panes to be brought up to date.
    pub fn measure(&mut self) -> Vec<Effect> {
        let generation = self.next_request.next_generation();
        vec![Effect::Measure(Box::new(self.order(generation)))]
    }

    /// The order for the next turn.
    pub(crate) fn next_order(&mut self) -> RequestSpec {
        let number = self.turns.next_number();
        self.order(number)
    }
}
