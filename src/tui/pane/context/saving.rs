//! What the next request would save without the chunk under the cursor, and how to get rid of it.

use crate::context::{Chunk, ChunkKind, Prompt};
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::widget::meter;
use rhumb_llm::models::Dollars;

/// The sentence; nothing where the cursor is on no chunk.
pub fn line(app: &App, prompt: &Prompt) -> Option<String> {
    let place = app.context_place()?;
    let chunk = prompt.chunks.get(place)?;
    let key = |action: Action| app.keys.first(action).to_owned();
    if let Some(passage) = app.context_passage() {
        let (drop, view) = (key(Action::ContextDrop), key(Action::ContextView));
        let saves = weighs(app, prompt, passage.tokens);
        return Some(format!("{view} shows it, {drop} drops it: saves {saves}{}", uncached(prompt, place)));
    }
    let saves = saves(app, prompt, chunk);
    let text = match &chunk.kind {
        ChunkKind::ChatFile(_) | ChunkKind::ReadOnlyFile(_) | ChunkKind::Image(_) => {
            format!("{} drops it: {saves}{}", key(Action::ContextDrop), uncached(prompt, place))
        }
        ChunkKind::RepoMap => format!("{} in the map gives it fewer tokens; all of it: {saves}", key(Action::MapLess)),
        ChunkKind::Passages => {
            let (drop, view) = (key(Action::ContextDrop), key(Action::ContextView));
            let does = if app.passages_open { "folds" } else { "lists" };
            format!("{view} {does} them, {drop} drops all: {saves}{}", uncached(prompt, place))
        }
        ChunkKind::History => format!("/clear leaves it out: {saves}{}", uncached(prompt, place)),
        ChunkKind::System | ChunkKind::Examples => format!("always sent: {}", weighs(app, prompt, chunk.tokens)),
        ChunkKind::Current | ChunkKind::Reminder => {
            format!("the request itself: {}", weighs(app, prompt, chunk.tokens))
        }
    };
    Some(text)
}

/// `saves 511 tokens, 12 % of all, $0.0013`
fn saves(app: &App, prompt: &Prompt, chunk: &Chunk) -> String {
    format!("saves {}", weighs(app, prompt, chunk.tokens))
}

fn weighs(app: &App, prompt: &Prompt, tokens: usize) -> String {
    let share = tokens as f64 * 100.0 / prompt.tokens.max(1) as f64;
    let price = app.session.price_of(tokens as u64).filter(|price| *price > Dollars::ZERO);
    let price = price.map_or_else(String::new, |price| format!(", {price}"));
    format!("{} tokens, {share:.0} % of all{price}", meter::tokens(tokens as u64))
}

/// What the server would have to read anew, where it keeps the request beyond this chunk.
fn uncached(prompt: &Prompt, place: usize) -> String {
    let Some(last) = prompt.chunks.iter().rposition(|chunk| chunk.cached).filter(|last| *last > place) else {
        return String::new();
    };
    let after = prompt.chunks.get(place + 1..=last).unwrap_or_default();
    let tokens: usize = after.iter().map(|chunk| chunk.tokens).sum();
    format!("; {} after it are read anew once", meter::tokens(tokens as u64))
}
