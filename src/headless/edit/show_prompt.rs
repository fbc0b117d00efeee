//! `--show-prompt`: prints the request as it would be sent. And a summary of a request, for `--dry-run`.

use serde_json::{Value, json};

use super::one_shot::OneShot;
use super::out::secret_events;
use super::{UNREADABLE, advise, print, print_json, unsendable};
use crate::error::{ErrorKind, UserError};
use rhumb_llm::Message;
use rhumb_llm::models::{Dollars, Model, Tokens};
use rhumb_session::context::{Prompt, Section};
use rhumb_text::thousands;

impl OneShot<'_> {
    /// Prints the request to standard output and sends nothing. The exit code is 0, or 2 if the request could not be sent as it is.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(super) async fn show_prompt(mut self, message: &str) -> Result<u8, UserError> {
        self.begin(message).await?;
        self.settle().await?;
        let Some(order) = self.shown.take() else { return Ok(ErrorKind::Usage.exit_code()) };
        let view = self.runner.clone().composed_now(*order).await;
        if self.args.json {
            print_json(&prompt_json(&view.prompt))?
        } else {
            print(&view.prompt.render())?
        }
        let Some(failure) = unsendable(&view) else { return Ok(0) };
        let hint = if view.unreadable.is_empty() { &failure.hint } else { UNREADABLE };
        advise(&failure.message, hint);
        Ok(ErrorKind::Usage.exit_code())
    }
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
    for chunk in &prompt.sections {
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
        "trimmed": prompt.omitted.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "secrets": secret_events(&prompt.secrets),
        "chunks": prompt.sections.iter().map(chunk_json).collect::<Vec<_>>(),
        "messages": prompt.messages.iter().map(message_json).collect::<Vec<_>>(),
    })
}

fn chunk_json(chunk: &Section) -> Value {
    let Section { kind, title, message, tokens, cached, .. } = chunk;
    json!({"kind": kind.name(), "title": title, "message": message, "tokens": tokens, "cached": cached})
}

fn message_json(message: &Message) -> Value {
    let images: Vec<&str> = message.images.iter().map(|image| image.name.as_str()).collect();
    json!({"role": message.role.as_str(), "content": message.content, "images": images, "cached": message.cached})
}
