//! End-to-end tests: the program in a pseudo-terminal, driven by keys, checked by the screen and the files on disk.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // the checks for tests do not know helper functions

mod flows;
mod support;
