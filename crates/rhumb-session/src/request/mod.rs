//! What goes out with a message and what that may cost: the files of the chat, what is named, the map, summaries, keys,
//! the model's settings, money; and what answers cite of it.

pub(super) mod chat_files;
pub(super) mod citations;
pub(super) mod history_summary;
pub(super) mod map_choices;
pub(super) mod mentions;
pub(super) mod overrides;
mod oversize;
mod secrets;
pub(super) mod spending;
mod token_report;

use std::collections::BTreeSet;

use super::effect::ContextView;
use map_choices::{MapSettings, MapState};
use overrides::Choices;

/// The next request, as far as it is not part of another component.
#[derive(Debug, Default)]
pub(crate) struct NextRequest {
    /// The request as it was last measured.
    view: Option<ContextView>,
    /// The number of the newest measurement that was requested. Results of older ones are dropped.
    generation: u64,
    map: MapState,
    /// Choices that take precedence over the settings.
    choices: Choices,
    /// Secrets that the user was warned of: where, in which line, what kind.
    reported_secrets: BTreeSet<(String, Option<usize>, &'static str)>,
    /// A message that was not sent because its request may be too large. It is sent if the user sends it again.
    held_back: Option<String>,
    /// The tokens of the largest request that the user sent although it may be too large.
    accepted_tokens: usize,
}

impl NextRequest {
    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
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

    /// The number of the next measurement, which is used up.
    pub(crate) fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    pub(crate) fn set_view(&mut self, view: ContextView) {
        self.view = Some(view);
    }

    /// Restores the choices about the repo map of a saved session.
    pub(crate) fn restore_map(&mut self, tokens: Option<usize>, pinned: &[String], banned: &[String]) {
        self.map.restore(tokens, pinned, banned);
    }

    /// Another model is connected: what the user accepted for the last one is void.
    pub(crate) fn model_changed(&mut self) {
        self.accepted_tokens = 0;
    }
}
