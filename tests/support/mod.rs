//! What the flow tests stand on: a terminal, a model server and throw-away repositories, all hermetic.
//!
//! Everything here is for tests and fails loudly: a thing that cannot be set up panics with what it was.
#![allow(dead_code, unreachable_pub, missing_docs)] // each test binary uses its own part
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod attacks;
pub mod command;
pub mod embedding_server;
pub mod escapes;
#[cfg(unix)]
pub mod pty;
pub mod repo;
pub mod server;
pub mod tiny_model;

use std::time::Duration;

/// How long a test waits for something that must happen. Far more than it needs, since the machine may be busy; a test
/// that passes never waits for it.
pub const PATIENCE: Duration = Duration::from_secs(20);
