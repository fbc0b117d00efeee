//! The program rhumb: a full-screen terminal pair programmer. This page describes the architecture.
//!
//! What is useful without the program is a library crate under `crates/`, so the compiler enforces the direction of dependencies:
//!
//! | crate | contents |
//! |---|---|
//! | `rhumb-text` | lines, display widths, sanitising, secrets, fuzzy filters, diffs |
//! | `rhumb-tokens` | token counts |
//! | `rhumb-syntax` | languages, tags queries, syntax errors, highlighting |
//! | `rhumb-index` | lexical relevance, the tag graph, the ranked repo map, retrieval of passages |
//! | `rhumb-edit` | reply parsers, edit location, proposals, the review model |
//! | `rhumb-llm` | wire formats, streaming, retry, the model catalogue, prices, embeddings |
//! | `rhumb-workspace` | root, walk, snapshots, journalled writes, git, commands |
//! | `rhumb-web` | web pages as Markdown, without reaching machines that the user did not approve |
//! | `rhumb-session` | the conversation as a state machine without I/O, and the assembly of its requests |
//! | `rhumb-bench` | the benchmarks, a program that is not part of this one |
//!
//! The first five and `rhumb-session` are pure: they read no file, clock or environment, and open no connection. clippy enforces that.
//!
//! The modules of the program:
//!
//! ```text
//! config, store         settings and keys; what is kept between runs
//! host                  performs the effects of the session and answers with responses
//! tui                   front end: the full-screen app
//! headless::line_ui     front end: the line UI (`rhumb --plain`)
//! headless::edit        front end: one request (`rhumb edit`, `rhumb ask`)
//! headless, cli         the other commands, and the command line
//! speech                recordings that become part of a request
//! ```
//!
//! Data flows in one direction. A front end calls a method of the [`rhumb_session::Session`] for each action of the user. The method changes the
//! state and returns [`rhumb_session::Effect`]s. The [`host::Host`] performs them off the draw path and answers with
//! [`rhumb_session::Response`]s, which the front end hands to the session. All three front ends run the same session, so a turn has one
//! implementation: the request, the stream, the edits, the rounds for refused edits, the plan of the architect mode, the write, the checks
//! and their repair. A front end draws or prints the state, and decides who answers the session's questions.

pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod error;
pub mod headless;
pub mod host;
mod signals;
pub mod speech;
pub mod store;
pub mod tui;
pub mod version;
