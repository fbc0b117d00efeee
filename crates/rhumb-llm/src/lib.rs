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
//! A tool: the model calls it, and the results go back in the next message of the user.
//!
//! ```no_run
//! use rhumb_llm::{Finish, LlmError, Message, Provider, Request, Role, StreamEvent, Tool, ToolResult};
//! use tokio::sync::mpsc;
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example(provider: &dyn Provider) -> Result<(), LlmError> {
//! let parameters = serde_json::json!({
//!     "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
//! });
//! let description = "Returns the text of a file.".to_owned();
//! let tool = Tool { name: "read_file".to_owned(), description, parameters, built_in: false };
//! let messages = vec![Message::new(Role::User, "Which license has this project?")];
//! let mut request = Request { model: "any".to_owned(), messages, tools: vec![tool], ..Request::default() };
//! loop {
//!     let (sender, mut events) = mpsc::channel(16);
//!     let collect = async {
//!         let mut text = String::new();
//!         while let Some(event) = events.recv().await {
//!             if let StreamEvent::Text(part) = event {
//!                 text += &part;
//!             }
//!         }
//!         text
//!     };
//!     let (end, text) = tokio::join!(provider.stream(request.clone(), CancellationToken::new(), sender), collect);
//!     let end = end?;
//!     if end.finish != Finish::ToolCalls {
//!         break;
//!     }
//!     let mut results = Message::new(Role::User, "");
//!     for call in &end.tool_calls {
//!         // Here the program reads the file that `call.arguments` names.
//!         let (id, name, content) = (call.id.clone(), call.name.clone(), "MIT".to_owned());
//!         results.tool_results.push(ToolResult { id, name, content, ..ToolResult::default() });
//!     }
//!     let mut answer = Message::new(Role::Assistant, text);
//!     (answer.tool_calls, answer.thinking) = (end.tool_calls, end.thinking);
//!     request.messages.extend([answer, results]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees and limits
//!
//! - An answer is complete only if the server says so. A stream that just ends gives [`LlmError::Interrupted`].
//! - A key is sent only to the address of its [`Endpoint`]. Redirects are not followed. No error, `Debug` output or
//!   server message that the crate returns contains a key.
//! - Parameters that a server rejects for a model are learned from its error message and omitted from then on.
//! - Sizes and waiting times are limited: see [`Timeouts`] and [`LlmError::TooMuch`].
//! - Calls in an incomplete answer are dropped. The arguments of the others are those of the model: they may be invalid
//!   JSON, and the tool may not exist. In a request, invalid arguments become an object with the field `arguments`.
//! - A server or model without tool calls gives [`LlmError::NoTools`].

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
