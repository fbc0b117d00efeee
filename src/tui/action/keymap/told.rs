//! What is the matter with the user's own keys, told with the line that says so.

use super::KeyMap;
use crate::config::Settings;

/// What of the table `[keys]` does not count or takes something away, each with its file and line and what to do.
pub fn key_notes(settings: &Settings) -> Vec<(String, String)> {
    let (_, problems) = KeyMap::with(&settings.display.keys);
    let told = |name: &str, text: &str| match settings.layers.origin(&format!("keys.{name}")) {
        Some(origin) => format!("{origin}: {text}{}", end(text)),
        None => format!("keys: {text}{}", end(text)),
    };
    let hint = "/keys shows the names of actions and the keys in force.";
    problems.iter().map(|problem| (told(&problem.name, &problem.text), hint.to_owned())).collect()
}

/// A sentence that asks what was meant has its mark already.
fn end(text: &str) -> &'static str {
    if text.ends_with('?') { "" } else { "." }
}
