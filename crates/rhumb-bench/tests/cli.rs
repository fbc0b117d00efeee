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
use support::repo::TestRepo;
use support::server::{MODEL, ModelServer, Step};

const HARBOUR: &str = "\
def depth(name):
    return TABLE[name]


def report(name):
    metres = depth(name)
    return f'{name}: {metres} m'
";

fn changed() -> String {
    HARBOUR.replace("TABLE[name]", "TABLE.get(name, 0.0)")
}

fn harbour_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.file("harbour.py", HARBOUR)
        .file(
            "charts/compass.py",
            "from harbour import depth\n\n\nclass Compass:\n    def bearing(self, name):\n        return depth(name)\n",
        )
        .file("notes.md", "# Notes\n")
        .commit("Start the harbour");
    repo
}

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
