//! The effective settings as text: each with its value and origin, without secrets.

use std::fmt::Write as _;

use super::value::dotted;
use super::{Entry, Kind, SETTINGS, Settings, written};
use rhumb_llm::{Endpoint, redacted_url};
use rhumb_text::sanitize;

/// Every setting, or those whose names contain `only`, one on each line. Without `only` also the files in every chat and the
/// endpoint.
pub fn settings_text(settings: &Settings, endpoint: Option<&Endpoint>, only: Option<&str>) -> String {
    let entries: Vec<&Entry> = settings.layers.effective().collect();
    let word = only.map(|word| word.trim().to_lowercase().replace('-', "_"));
    let mut text = String::new();
    for setting in SETTINGS {
        let table = format!("{}.", setting.name);
        let said = entries.iter().filter(|entry| entry.name == setting.name || entry.name.starts_with(&table));
        let is_meant = |name: &str| word.as_ref().is_none_or(|word| name.to_lowercase().contains(word));
        let mut is_said = false;
        for entry in said {
            is_said = true;
            if is_meant(&entry.name) {
                let _ = writeln!(text, "{} = {}  # {}", dotted(&entry.name), written(&entry.shown()), entry.origin);
            }
        }
        if !is_said && setting.kind != Kind::Tables && is_meant(setting.name) {
            let value = if setting.default.is_empty() { "(unset)" } else { setting.default };
            let _ = writeln!(text, "{} = {value}  # default", setting.name);
        }
    }
    if only.is_some() {
        return text;
    }
    let read = settings.reference_files();
    if !read.is_empty() {
        let _ = writeln!(text, "\nread into every chat: {}", sanitize::visible_line(&read.join(", ")));
    }
    if let Some(endpoint) = endpoint {
        let key = endpoint.key_source.as_ref().map_or_else(|| "none".into(), |source| format!("set (from {source})"));
        let model = if endpoint.model.is_empty() { "no model yet" } else { &endpoint.model };
        let address = redacted_url(&endpoint.base_url);
        let (provider, api) = (&endpoint.provider, endpoint.api.name());
        let _ = writeln!(text, "\nasked: {model} of {provider} at {address}, by {api}; key: {key}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_finds_the_settings_that_hold_it() {
        let text = settings_text(&Settings::default(), None, Some("Edit-format"));
        let names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["edit_format", "editor_edit_format"]);
        assert!(settings_text(&Settings::default(), None, Some("zebra")).is_empty());
        assert!(settings_text(&Settings::default(), None, None).lines().count() > 30);
    }
}
