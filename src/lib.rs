//! rhumb: a full-screen terminal pair programmer.
//!
//! This page is the architecture. Rooms are folders; each is a noun that the user meets on the screen, and data flows
//! one way through them:
//!
//! ```text
//! text, diff, tokens      pure text: widths, lines, diffs, counts
//! syntax                  languages, tags (definitions and references), highlighting
//! lexical                 which files and symbols speak of the words of a message
//! repo_map                the ranked outline of the code that the model was not given
//! retrieval               passages that answer a question: chunks, references, meanings
//! edit → review           a reply becomes a proposal; the user decides each hunk of it
//! models                  what each language model takes, costs and can do; what was spent
//! context                 what the next request holds, part by part, with its tokens; our prompts; what gives way
//! ── the core above knows nothing of terminals, networks, files or clocks ──
//! workspace git llm store config    the world: files, commits, models, what is kept between runs, settings
//! process web speech      commands that run, pages that were asked for, what was spoken
//! session                 the conversation: one turn from draft to commit; the runner joins the rooms
//! tui headless cli        the faces: the full-screen app, one turn without it, the command line
//! ```
//!
//! A request goes through them like this: `config` says who is asked and with which key, `models` what that model takes,
//! `context` fits the request into its window, `llm` sends it in the format of the server and reads events from the stream,
//! and the runner of `session` goes on, shortens or asks again as `llm` advises. All of it is values until `llm` sends it:
//! what the prompt viewer shows is what goes out.
//!
//! A lower room never names a higher one; `tests/architecture.rs` reads every `use` and holds us to it.

pub mod cli;
pub mod clock;
pub mod config;
pub mod context;
pub mod demo;
pub mod error;
pub mod headless;
pub mod session;
pub mod speech;
pub mod store;
pub mod tui;
pub mod version;
pub mod web;
