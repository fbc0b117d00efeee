//! Runs a command without the environment of the caller, and checks what holds for every command.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The key of every provider in tests. It must never be printed.
pub const KEY: &str = "sk-canary-0123456789";

/// A program in `folder`, without the environment of the caller.
pub fn hermetic(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("RHUMB_API_KEY", KEY);
    command
}

/// Runs a command. Its output must not contain the key, and its standard output no escape sequence.
#[track_caller]
pub fn run(mut command: Command) -> (i32, String, String) {
    let output: Output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!out.contains(KEY) && !err.contains(KEY), "the key is printed:\n{out}\n{err}");
    assert!(!out.contains('\x1b') && !err.contains('\x1b'), "escapes without a terminal:\n{out}\n{err}");
    assert!(!err.contains("panicked"), "{err}");
    (output.status.code().unwrap_or(-1), out, err)
}

#[track_caller]
pub fn json(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error} in {out}"))
}
