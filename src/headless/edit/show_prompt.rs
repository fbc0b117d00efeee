//! `rhumb edit --show-prompt`: the request as it would be sent. And how `rhumb edit` puts requests together and sums them up.

use std::sync::Arc;

use serde_json::{Value, json};

use super::chat_files;
use super::codebase::Codebase;
use super::named::with_named;
use super::out::Out;
use super::out::secret_events;
use super::unanswered::UNREADABLE;
use crate::context::{Chunk, Prompt, Window};
use crate::error::{ErrorKind, UserError};
use crate::headless::args::EditArgs;
use crate::headless::survey::surveyed;
use crate::headless::{advise, print, print_json};
use crate::session::runner::{
    CachedCounter, KeptMap, MapSource, Means, Outfit, Survey, compose, facts, map_store, unsendable,
};
use crate::session::{ContextOrder, ContextView};
use rhumb_llm::Message;
use rhumb_llm::models::{Dollars, Model, Tokens};
use rhumb_text::thousands;
use rhumb_tokens::TokenCounter;
use rhumb_workspace::Root;

/// What the requests of a turn are put together with.
pub(crate) struct Sheet<'a> {
    root: &'a Root,
    outfit: &'a Outfit,
    survey: &'a Survey,
    model: &'a Model,
    counter: CachedCounter,
    kept: KeptMap,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(root: &'a Root, outfit: &'a Outfit, survey: &'a Survey, model: &'a Model) -> Self {
        Self { root, outfit, survey, model, counter: outfit.counter(model), kept: KeptMap::default() }
    }

    pub(crate) fn counter(&self) -> &dyn TokenCounter {
        &self.counter
    }

    /// The request as things stand on disk, for a window that holds so many tokens of input, or for the one that is known.
    pub(crate) fn composed(&self, order: &ContextOrder, limit: Option<usize>) -> ContextView {
        let source = MapSource { graph: &self.survey.graph, edited: &self.survey.edited, provisional: false };
        let means = Means {
            outfit: self.outfit,
            model: self.model,
            window: limit.map_or_else(|| self.outfit.window(self.model), Window::holding),
            counter: &self.counter,
            kept: &self.kept,
        };
        compose(self.root, Some(source), order, &means)
    }
}

/// Prints the request to standard output. The exit code is 0, or 2 when it could not be sent as it is.
///
/// # Errors
/// Standard output is not to be had.
pub(crate) fn show_prompt(
    root: &Root,
    outfit: &Outfit,
    args: &EditArgs,
    (message, asked): (&str, String),
) -> Result<u8, UserError> {
    let survey = Arc::new(surveyed(root, true, map_store(&outfit.settings, root).as_ref()));
    let settings = &outfit.settings;
    let model = facts(outfit);
    let mut files = chat_files(root, args, &settings.reference_files());
    let codebase = Codebase::new(root, outfit, &survey, &model);
    let draft = with_named(root, outfit, (&survey, &model), &mut files, asked);
    let chat: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    codebase.look_up(message, args.mode(), &chat, &Out::new(false, false))?;
    let order = codebase.with(ContextOrder { files, draft, mode: args.mode(), ..ContextOrder::default() });
    let view = Sheet::new(root, outfit, &survey, &model).composed(&order, None);
    if args.json {
        print_json(&prompt_json(&view.prompt))?
    } else {
        print(&view.prompt.render())?
    }
    let Some(failure) = unsendable(&view) else { return Ok(0) };
    let hint = if view.unreadable.is_empty() { &failure.hint } else { UNREADABLE };
    advise(&failure.message, hint);
    Ok(ErrorKind::Usage.exit_code())
}

/// A request in a few lines: the model, its size, what it costs, and the tokens of each of its sections.
pub(super) fn summary(model: &Model, prompt: &Prompt) -> String {
    let about = if prompt.exact && prompt.error == 0 { "" } else { "about " };
    let cost = match model.prices.map(|prices| prices.cost(Tokens { fresh: prompt.tokens as u64, ..Tokens::default() }))
    {
        Some(cost) if cost > Dollars::ZERO => format!("at most {cost} without the answer"),
        Some(_) => "free".to_owned(),
        None => "price unknown".to_owned(),
    };
    let (tokens, window) = (thousands(prompt.tokens), thousands(prompt.window.max_input()));
    let mut text = format!("request to {}: {about}{tokens} of {window} tokens, {cost}", model.name);
    for chunk in &prompt.chunks {
        text += &format!("\n  {:>9}  {}", thousands(chunk.tokens), chunk.label());
    }
    text
}

/// A request for programs: its messages as they are sent, and the chunks that they are made of.
pub(super) fn prompt_json(prompt: &Prompt) -> Value {
    json!({
        "tokens": prompt.tokens,
        "error": prompt.error,
        "exact": prompt.exact,
        "max_input": prompt.window.max_input(),
        "trimmed": prompt.trimmed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "secrets": secret_events(&prompt.secrets),
        "chunks": prompt.chunks.iter().map(chunk_json).collect::<Vec<_>>(),
        "messages": prompt.messages.iter().map(message_json).collect::<Vec<_>>(),
    })
}

fn chunk_json(chunk: &Chunk) -> Value {
    let Chunk { kind, title, message, tokens, cached, .. } = chunk;
    json!({"kind": kind.name(), "title": title, "message": message, "tokens": tokens, "cached": cached})
}

fn message_json(message: &Message) -> Value {
    let images: Vec<&str> = message.images.iter().map(|image| image.name.as_str()).collect();
    json!({"role": message.role.as_str(), "content": message.content, "images": images, "cached": message.cached})
}
