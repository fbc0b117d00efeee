//! The settings that a run of a benchmark is made with: whatever in them tells one run from another.

use std::collections::BTreeMap;

use rhumb::config::Settings;
use rhumb_llm::shown_url;
use rhumb::session::runner::{Outfit, facts};

/// Those that decide what a model is asked, and what becomes of its answer, besides the ones that are told as they take effect.
/// Prices and keys are left out: to mend them makes no other run of it.
const OF_A_TURN: [&str; 14] = [
    "context_window",
    "conventions",
    "edit_rounds",
    "language",
    "lint",
    "lint_cmd",
    "map_tokens",
    "max_output_tokens",
    "mentions",
    "prompts",
    "suggest_commands",
    "temperature",
    "thinking",
    "verify_rounds",
];

/// What a turn is made with, by name, wherever it was said: by a flag, a variable or the user's settings.
pub(super) fn of_a_turn(settings: &Settings, recites: bool) -> BTreeMap<String, String> {
    let entries = settings.layers.effective().filter(|entry| OF_A_TURN.contains(&entry.name.as_str()));
    let mut all: BTreeMap<String, String> =
        entries.map(|entry| (entry.name.clone(), entry.shown().to_string())).collect();
    let mut say = |name: &str, value: String| all.insert(name.to_owned(), value);
    if recites {
        settings.edit_format.map(|format| say("edit_format", format.to_string()));
        return all;
    }
    // Where nobody can be asked, the first task tells why.
    let named = settings.model.clone().unwrap_or_default();
    match settings.endpoint_without_key(&named) {
        Ok(Some(endpoint)) => {
            say("model", endpoint.model);
            say("base_url", shown_url(&endpoint.base_url));
            say("api", endpoint.api.name().to_owned());
        }
        _ => {
            say("model", named);
        }
    }
    let format = settings.edit_format.unwrap_or_else(|| facts(&Outfit::new(settings.clone())).edit_format);
    say("edit_format", format.to_string());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb::config::{Overrides, Sources};

    #[test]
    fn a_run_is_known_by_its_settings_wherever_they_are_said() {
        let of = |flag: Option<&str>, vars: &[(&str, &str)]| {
            let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let flags = Overrides { model: flag.map(str::to_owned), ..Overrides::default() };
            of_a_turn(&Settings::load(&Sources { flags, env: &env, paths: None, place: None }).unwrap(), false)
        };
        let address = ("RHUMB_BASE_URL", "http://me:secret@127.0.0.1:1/v1");
        let by_flag = of(Some("m"), &[address]);
        assert_eq!(by_flag, of(None, &[address, ("RHUMB_MODEL", "m"), ("RHUMB_THEME", "nord")]));
        assert_eq!(by_flag["model"], "m");
        assert!(!by_flag["base_url"].contains("secret"), "{by_flag:?}");
        for other in [("RHUMB_MODEL", "n"), ("RHUMB_MAP_TOKENS", "7"), ("RHUMB_THINKING", "high")] {
            assert_ne!(by_flag, of(Some("m").filter(|_| other.0 != "RHUMB_MODEL"), &[address, other]), "{other:?}");
        }
        assert_ne!(by_flag["edit_format"], "udiff");
        assert_eq!(of(Some("m"), &[address, ("RHUMB_EDIT_FORMAT", "udiff")])["edit_format"], "udiff");
    }
}
