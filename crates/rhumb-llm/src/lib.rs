//! Language models: a request goes in, pieces of text come out as they are made.
//!
//! [`HttpProvider`] is one transport for all servers. What differs between them stands in five wire formats, which are values in
//! and values out; what one server turns out not to take is learnt from its complaints and left out from then on. What
//! follows an end, good or bad, is decided by [`next_step`], a pure function.
//!
//! An answer counts as complete only if the server said so; a stream that merely stops is [`LlmError::Interrupted`]. A key
//! goes to its one address, redirects are not followed, and what a server says is shown without any secret in it.

mod address;
mod answer;
mod classify;
mod clean;
mod client;
mod dialect;
mod discover;
pub mod embed;
mod endpoint;
mod error;
mod event;
mod format;
mod frames;
mod http;
mod lists;
mod message;
pub mod models;
mod numbers;
mod policy;
mod provider;
mod request;
mod retry;
mod scripted;
mod served;
mod surrogates;
mod thoughts;

pub use client::Timeouts;
pub use discover::{KNOWN_SERVERS, LocalServer, local_servers, local_servers_at};
pub use endpoint::{EmbeddingsApi, Endpoint, KeySource, shown_url};
pub use error::LlmError;
pub use event::{Completion, Finish, StreamEvent, Usage};
pub use http::HttpProvider;
pub use lists::{fetch_list, list_url, shown_list_url};
pub use message::{Image, Message, Role};
pub use policy::{Facts, MAX_CONTINUES, MAX_SHRINKS, Next, next_step};
pub use provider::Provider;
pub use request::{Request, Thinking};
pub use retry::RetryPolicy;
pub use scripted::{Scripted, ScriptedReply};
pub use thoughts::without_thoughts;

#[cfg(test)]
mod tests;
