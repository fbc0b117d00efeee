//! Language models: a request goes in, pieces of text come out as they are made.
//!
//! An answer counts as complete only if the server said so; a stream that merely stops is [`LlmError::Interrupted`].

mod body;
mod classify;
mod discover;
mod error;
mod event;
mod openai;
mod provider;
mod request;
mod retry;
mod scripted;
mod sse;
mod wire;

pub use discover::{KNOWN_SERVERS, LocalServer, local_servers, local_servers_at};
pub use error::LlmError;
pub use event::{Completion, Finish, StreamEvent, Usage};
pub use openai::{OpenAi, Timeouts};
pub use provider::Provider;
pub use request::Request;
pub use retry::RetryPolicy;
pub use scripted::{Scripted, ScriptedReply};
pub use sse::{SseDecoder, SseEvent, TooLong};

#[cfg(test)]
mod tests;
