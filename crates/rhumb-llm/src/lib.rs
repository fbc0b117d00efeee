//! Clients for language models: one interface for all servers, streaming, retries, a model catalogue and embeddings.
//!
//! - [`Provider`] is the interface: a [`Request`] goes in, [`StreamEvent`]s come out, and a [`Completion`] ends them.
//! - [`HttpProvider`] implements it for the APIs of OpenAI (chat completions and Responses), Anthropic, Google and
//!   Ollama, and for the many servers that are compatible with one of them. See [`models::Api`].
//! - [`ScriptedProvider`] implements it without a network, for tests and demonstrations.
//! - [`next_step`] decides what to do after a request has ended: retry, shorten the prompt, continue the answer, ask.
//! - [`models`] knows the limits, prices and capabilities of models.
//! - [`embed`] computes embeddings, with a local model or a server.
//!
//! # Examples
//!
//! The price of a request:
//!
//! ```
//! use rhumb_llm::models::{Catalog, Tokens};
//!
//! let model = Catalog::bundled().find("openai/gpt-4o");
//! assert_eq!(model.window, 128_000);
//! let prices = model.prices.expect("the list has prices for this model");
//! let tokens = Tokens { fresh: 10_000, output: 500, ..Tokens::default() };
//! assert_eq!(prices.cost(tokens).to_string(), "$0.0300");
//! ```
//!
//! An answer, here from a script. With [`HttpProvider`] the code is the same.
//!
//! ```
//! use std::time::Duration;
//!
//! use rhumb_llm::{Finish, Message, Provider, Request, Role, ScriptedProvider, ScriptedReply, StreamEvent};
//! use tokio::sync::mpsc;
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), rhumb_llm::LlmError> {
//! let reply = ScriptedReply { match_words: vec![], reply: "Hello there.".to_owned() };
//! let provider = ScriptedProvider::new(vec![reply], Duration::ZERO);
//!
//! let (sender, mut events) = mpsc::channel(16);
//! let messages = vec![Message::new(Role::User, "Say hello.")];
//! let request = Request { model: "any".to_owned(), messages, ..Request::default() };
//! let end = provider.stream(request, CancellationToken::new(), sender).await?;
//!
//! let mut answer = String::new();
//! while let Some(StreamEvent::Text(text)) = events.recv().await {
//!     answer += &text;
//! }
//! assert_eq!((answer.as_str(), end.finish), ("Hello there.", Finish::Stop));
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees and limits
//!
//! - An answer is complete only if the server says so. A stream that just ends gives [`LlmError::Interrupted`].
//! - A key is sent only to the address of its [`Endpoint`]. Redirects are not followed. No error, `Debug` output or
//!   server message that the crate returns contains a key.
//! - Parameters that a server rejects are learned from its error message and omitted from then on.
//! - Sizes and waiting times are limited: see [`Timeouts`] and [`LlmError::TooMuch`].
//! - Tool calls are not supported.

mod answer;
mod calls;
mod classify;
mod discovery;
pub mod embed;
mod endpoint;
mod error;
mod format;
mod framing;
mod http;
pub mod models;
mod provider;
mod quirks;
mod retry;
mod sanitize;
mod scripted;
mod thinking;

#[cfg(test)]
mod tests;

pub use discovery::{KNOWN_SERVERS, LocalServer, fetch_list, list_url, local_servers, local_servers_at};
pub use endpoint::{EmbeddingsApi, Endpoint, KeySource, redacted_url};
pub use error::LlmError;
pub use http::{HttpProvider, Timeouts};
pub use provider::{
    Completion, Finish, Image, Message, Provider, Request, Role, StreamEvent, Thinking, Tool, ToolCall, ToolResult,
    Usage,
};
pub use retry::{AttemptState, MAX_CONTINUES, MAX_SHRINKS, NextStep, RetryPolicy, next_step};
pub use scripted::{ScriptedProvider, ScriptedReply};
pub use thinking::strip_thinking;
