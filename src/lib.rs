//! The program rhumb: a full-screen terminal pair programmer. This page describes the architecture.
//!
//! Code that is useful without the program is in library crates under `crates/`, so the compiler enforces the direction of
//! dependencies:
//!
//! | crate | contents |
//! |---|---|
//! | `rhumb-text` | lines, display widths, sanitising, detection of secrets, fuzzy filters, diffs |
//! | `rhumb-tokens` | token counts |
//! | `rhumb-syntax` | languages, tags queries, syntax errors, highlighting |
//! | `rhumb-index` | the word index, the tag graph, the ranked repo map, retrieval of chunks |
//! | `rhumb-edit` | reply parsers, edit location, proposals, the review model |
//! | `rhumb-llm` | wire formats, streaming, retry, the model catalogue, prices, embeddings |
//! | `rhumb-workspace` | root, walk, snapshots, journalled writes, git, commands |
//! | `rhumb-agent` | the tools of the agent loop, and when the loop stops |
//! | `rhumb-trial` | trial checkouts: a private view of the repository in which commands run |
//! | `rhumb-web` | fetching web pages and converting them to Markdown; connects to no local address without approval |
//! | `rhumb-session` | the conversation as a state machine without I/O, and the assembly of its requests |
//! | `rhumb-bench` | the benchmarks, a program that is not part of this one |
//!
//! The first five, `rhumb-agent` and `rhumb-session` are pure: they read no file, clock or environment, and open no connection. The
//! `clippy.toml` of each crate enforces that.
//!
//! The modules of the program:
//!
//! ```text
//! config, store         settings and keys; files that are kept between runs
//! host                  performs the effects of the session and returns responses
//! tui                   front end: the full-screen app
//! headless::line_ui     front end: the line UI (`rhumb --plain`)
//! headless::edit        front end: one request (`rhumb edit`, `rhumb ask`)
//! headless, cli         the other commands, and the command line
//! speech                recording and transcription
//! demo                  the sample repository with its recorded replies
//! clock, signals        time and signals of the system
//! error, version        errors of commands with their exit codes; the version of the build
//! ```
//!
//! Data flows in one direction. A front end calls a method of the [`rhumb_session::Session`] for each action of the user. The method changes the
//! state and returns [`rhumb_session::Effect`]s. The [`host::Host`] performs them without blocking the drawing, and returns
//! [`rhumb_session::Response`]s, which the front end passes to the session. All three front ends run the same session, so a turn has one
//! implementation: the request, the stream, the edits, the rounds for refused edits, the plan of the architect mode, the write, the checks and
//! their repair. A front end draws or prints the state, and decides whether the user or a flag such as `--yes` answers the session's questions.

pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod error;
pub mod headless;
pub mod host;
mod signals;
mod speech;
pub mod store;
pub mod tui;
pub mod version;
