//! The commands of `rhumb-bench`: exit codes, tables, JSON and files.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // the checks for tests do not know helper functions

#[path = "cli/exercises.rs"]
mod exercises;
#[path = "cli/measures.rs"]
mod measures;
#[path = "cli/refactor.rs"]
mod refactor;
#[path = "../../../tests/support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use support::command::{hermetic, json, run};
use support::repo::{TestRepo, changed, harbour_repo};
use support::server::{MODEL, ModelServer, Step};

/// `rhumb-bench` in `folder`, without the environment of the caller.
fn bench(folder: &Path, args: &[&str]) -> Command {
    let mut command = hermetic(env!("CARGO_BIN_EXE_rhumb-bench"), folder);
    command.args(args);
    command
}

/// The root of the repository of rhumb.
fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
