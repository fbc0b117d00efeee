//! The whole program in a real terminal, driven by keys and judged by what a user would see and find on disk.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // the checks for tests do not know helper functions

mod flows;
mod support;
