//! `/passages`: what was found of the repository, shown and dropped.

use super::super::effect::Effect;
use super::super::state::Session;
use super::super::transcript::Level;
use crate::context::{ChunkKind, PassagePlace};
use rhumb_text::count;
use std::sync::Arc;

/// What to do with the passages of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassageCommand {
    /// List them.
    Show,
    /// Drop all of them.
    DropAll,
    /// Drop those of a file, or the one there: `path` or `path:line`, `path:first-last`.
    Drop(String),
}

impl PassageCommand {
    /// What `/passages` is given: nothing, `drop`, or `drop PLACE`. `None` for anything else.
    pub fn named(words: &str) -> Option<Self> {
        match words.split_once(char::is_whitespace) {
            None if words.is_empty() => Some(Self::Show),
            None if words == "drop" => Some(Self::DropAll),
            Some(("drop", place)) => Some(Self::Drop(place.trim().to_owned())),
            _ => None,
        }
    }
}

impl Session {
    /// Lists or drops passages.
    pub(crate) fn choose_passages(&mut self, choice: PassageCommand) -> Vec<Effect> {
        if self.codebase.places.is_empty() {
            let hint = "@codebase in a message finds some: @codebase where are paths resolved?";
            self.report(Level::Info, "There are no passages of the repository in this conversation.", hint);
            return Vec::new();
        }
        match choice {
            PassageCommand::Show => {
                self.list_passages();
                Vec::new()
            }
            PassageCommand::DropAll => {
                let all = count(self.codebase.places.len(), "passage");
                self.report(Level::Info, format!("Dropped {all} of the repository."), "");
                self.drop_passages(|_| true)
            }
            PassageCommand::Drop(name) => {
                let effects = self.drop_passages(|place| is_meant(&name, place));
                if effects.is_empty() {
                    let hint = "/passages lists them.";
                    self.report(Level::Warning, format!("There is no passage {name} in this conversation."), hint);
                } else {
                    self.report(Level::Info, format!("Dropped the passages of {name}."), "");
                }
                effects
            }
        }
    }

    /// Whether passages that earlier questions found go along with a request that does not itself ask the whole repository.
    pub fn keeps_passages(&self) -> bool {
        let asks = self.turns.current().is_some_and(|turn| turn.asks_codebase)
            || Self::question_in(self.drafts.message(), self.input_mode()).is_some();
        !asks && !self.codebase.places.is_empty()
    }

    /// How many such passages the next request has, as it was measured last, and their tokens; `None` where it has none.
    pub fn kept_passages(&self) -> Option<(usize, usize)> {
        let prompt = &self.next_request.view()?.prompt;
        let chunks = prompt.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Passages);
        let tokens = chunks.map(|chunk| chunk.tokens).sum();
        (self.keeps_passages() && !prompt.passages.is_empty()).then_some((prompt.passages.len(), tokens))
    }

    /// Takes passages out of the conversation; no effects where none is meant.
    pub fn drop_passages(&mut self, is_meant: impl Fn(&PassagePlace) -> bool) -> Vec<Effect> {
        let before = self.codebase.places.len();
        Arc::make_mut(&mut self.codebase.places).retain(|place| !is_meant(place));
        if self.codebase.places.len() == before { Vec::new() } else { self.measure() }
    }

    fn list_passages(&mut self) {
        let line = |place: &PassagePlace| {
            let inside = place.anchor.as_ref().map_or_else(String::new, |anchor| format!("  {}", anchor.symbol));
            let note = if self.is_in_chat(&place.path) { "  (the file is in the chat whole)" } else { "" };
            format!("\n{}{inside}{note}", place.label())
        };
        let lines: String = self.codebase.places.iter().map(line).collect();
        let chunks = self.next_request.view().into_iter().flat_map(|view| &view.prompt.chunks);
        let tokens: usize = chunks.filter(|chunk| chunk.kind == ChunkKind::Passages).map(|chunk| chunk.tokens).sum();
        let count = count(self.codebase.places.len(), "passage");
        let text = format!("{count} of the repository, {tokens} tokens of the next request:{lines}");
        self.report(
            Level::Info,
            text,
            "/passages drop PATH:LINE takes one out, /passages drop all of them, as /clear does.",
        );
    }
}

/// Whether `path`, `path:line` or `path:first-last` means that place.
fn is_meant(name: &str, place: &PassagePlace) -> bool {
    if name == place.path || name == place.label() {
        return true;
    }
    let line = name.rsplit_once(':').filter(|(path, _)| *path == place.path).map(|(_, lines)| lines);
    let first = line.and_then(|lines| lines.split('-').next()?.parse::<u32>().ok());
    first.is_some_and(|line| (place.line..=place.end_line).contains(&line))
}
