//! The next request: files in the chat, mentions, repo map, history summary, overrides, size and cost. And the citations of answers.

pub(crate) mod chat_files;
pub(super) mod citations;
pub(super) mod history_summary;
pub(super) mod map_choices;
pub(super) mod mentions;
pub(super) mod overrides;
pub(super) mod spending;

use crate::effect::ContextView;
use map_choices::{MapSettings, MapState};
use overrides::RequestOverrides;
use std::collections::BTreeSet;

/// The parts of the next request that belong to no other component.
#[derive(Debug, Default)]
pub(crate) struct NextRequest {
    /// The last measured request.
    view: Option<ContextView>,
    /// The number of the newest measurement that was requested. Results of older ones are dropped.
    generation: u64,
    map: MapState,
    /// Choices of this session that take precedence over the settings.
    overrides: RequestOverrides,
    /// Secrets that were reported: location, line and kind.
    reported_secrets: BTreeSet<(String, Option<usize>, &'static str)>,
    /// A message that was not sent because its request may exceed the context window. Sending it again confirms it.
    held_back: Option<String>,
    /// The tokens of the largest request that the user confirmed.
    accepted_tokens: usize,
}

impl NextRequest {
    pub(crate) fn overrides(&self) -> &RequestOverrides {
        &self.overrides
    }

    pub(crate) fn overrides_mut(&mut self) -> &mut RequestOverrides {
        &mut self.overrides
    }

    pub(crate) fn map(&self) -> &MapSettings {
        self.map.settings()
    }

    pub(crate) fn view(&self) -> Option<&ContextView> {
        self.view.as_ref()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Takes the number of the next measurement.
    pub(crate) fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    pub(crate) fn set_view(&mut self, view: ContextView) {
        self.view = Some(view);
    }

    /// Holds a message back whose request of `tokens` may exceed the context window. Returns `false` if it may be sent: the user has
    /// confirmed it, or a request of nearly the same size.
    pub(crate) fn holds_back(&mut self, message: &str, tokens: usize) -> bool {
        if tokens <= self.accepted_tokens + self.accepted_tokens / 4 {
            return false;
        }
        if self.held_back.take().is_some_and(|held_back| held_back == message) {
            self.accepted_tokens = tokens;
            return false;
        }
        self.held_back = Some(message.to_owned());
        true
    }

    /// Restores the choices about the repo map of a saved session.
    pub(crate) fn restore_map(&mut self, tokens: Option<usize>, pinned: &[String], banned: &[String]) {
        self.map.restore(tokens, pinned, banned);
    }

    /// Resets the confirmations of the user for the previous model.
    pub(crate) fn model_changed(&mut self) {
        self.accepted_tokens = 0;
    }
}
