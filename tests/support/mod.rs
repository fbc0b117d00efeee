//! Test support: a pseudo-terminal, a model server and temporary repositories, independent of the user's environment.
//!
//! Helpers panic with a message if something cannot be set up.
#![allow(dead_code, unreachable_pub, missing_docs)] // each test binary uses its own part
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod attacks;
pub mod command;
pub mod embedding_server;
pub mod escapes;
pub mod exercise;
#[cfg(unix)]
pub mod pty;
pub mod repo;
pub mod server;
pub mod tiny_model;
pub mod wire;

use std::time::Duration;

/// How long a test waits for an event before it fails. Far more than needed, since the machine may be busy; a test
/// that passes never waits that long.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
