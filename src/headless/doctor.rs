//! `rhumb doctor`: checks what the program needs on this machine.

use super::{DoctorArgs, print, print_json};
use crate::config::Settings;
use crate::error::UserError;
use crate::headless::index::blocked;
use crate::host::{Check, Health, KEYS, RequestEnv, checks_text, checkup, connect, server_check};
use crate::tui::{self, action::key_notes};
use rhumb_workspace::Root;
use serde_json::json;

/// Runs all checks and prints their results. The exit code is 1 if a check failed.
///
/// # Errors
/// Standard output cannot be written, or no thread can be started.
pub fn doctor(root: &Root, settings: Settings, args: &DoctorArgs) -> Result<u8, UserError> {
    let (env, _) = RequestEnv::of_user(settings);
    let mut facts = tui::facts(|name| std::env::var(name).ok());
    facts.extend(key_notes(&env.settings).into_iter().map(|(note, _)| (KEYS.to_owned(), note)));
    let mut checks = checkup(root, &env, &facts);
    checks.push(server(&env)?);
    if args.json {
        let shown = |check: &Check| json!({"name": check.name, "health": check.health.name(), "text": check.text, "hint": check.hint});
        print_json(&json!({"checks": checks.iter().map(shown).collect::<Vec<_>>()}))?;
    } else {
        print(&checks_text(&checks))?;
    }
    Ok(u8::from(checks.iter().any(|check| check.health == Health::Bad)))
}

fn server(env: &RequestEnv) -> Result<Check, UserError> {
    match connect(env) {
        Ok(line) => blocked(server_check(line.as_ref())),
        Err(error) => {
            let (name, text) = ("model server".to_owned(), format!("{error}."));
            Ok(Check { name, health: Health::Bad, text, hint: error.hint() })
        }
    }
}
