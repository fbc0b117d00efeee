//! The commands for scripts: exit codes, JSON and files, as documented in the contract.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // the checks for tests do not know helper functions

#[path = "cli/agent.rs"]
mod agent;
#[path = "cli/agent_context.rs"]
mod agent_context;
#[path = "cli/agent_exercises.rs"]
mod agent_exercises;
#[path = "cli/agent_hostile.rs"]
mod agent_hostile;
#[path = "cli/apply.rs"]
mod apply;
#[path = "cli/certificates.rs"]
mod certificates;
#[path = "cli/codebase.rs"]
mod codebase;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/edit.rs"]
mod edit;
#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/index.rs"]
mod index;
#[path = "cli/kills.rs"]
mod kills;
#[path = "cli/man_and_completions.rs"]
mod man_and_completions;
#[path = "cli/map.rs"]
mod map;
#[path = "cli/modes.rs"]
mod modes;
#[path = "cli/plain.rs"]
mod plain;
#[path = "cli/search.rs"]
mod search;
#[path = "cli/secrets.rs"]
mod secrets;
#[path = "cli/settings.rs"]
mod settings;
mod support;
#[path = "cli/trial.rs"]
mod trial;
#[path = "cli/undo.rs"]
mod undo;
#[path = "cli/version.rs"]
mod version;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use edit::edit;
use serde_json::Value;
use support::command::{KEY, hermetic, json, run};
use support::pty::Pty;
use support::repo::{HARBOUR, TestRepo, changed, harbour_repo};
use support::server::{MODEL, ModelServer, Step, pieces};

/// A search/replace block.
fn block(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n```python\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n\n")
}

fn good() -> String {
    block("harbour.py", "    return TABLE[name]\n", "    return TABLE.get(name, 0.0)\n")
}

fn without_a_place() -> String {
    block("harbour.py", "    return lookup(ports, name, strict=True)\n", "    return None\n")
}

/// `rhumb` in `folder`, without the environment of the caller.
fn rhumb(folder: &Path, args: &[&str]) -> Command {
    let mut command = hermetic(env!("CARGO_BIN_EXE_rhumb"), folder);
    command.args(args);
    command
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Checks that the work tree has no changes.
#[track_caller]
fn untouched(repo: &TestRepo) {
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}
