//! `rhumb config`: all settings with their values and origins.

use super::{ConfigArgs, print, print_json, print_message, print_with_hint};
use crate::config::{Level, Origin, Paths, SETTINGS, Settings, default_file, settings_text};
use crate::error::{ErrorKind, UserError};
use crate::tui::action::key_notes;
use rhumb_llm::{Endpoint, redacted_url};
use rhumb_session::SettingKind;
use rhumb_workspace::Root;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Prints the effective settings. Keys are shown by their source only, and no command is run.
///
/// # Errors
/// Standard output cannot be written.
pub fn config(settings: &Settings, args: &ConfigArgs) -> Result<u8, UserError> {
    let named = settings.model.clone().unwrap_or_default();
    let endpoint = settings.endpoint_without_key(&named);
    if args.json {
        print_json(&as_json(settings, endpoint.as_ref().ok().and_then(Option::as_ref)))?;
    } else {
        print(&settings_text(settings, endpoint.as_ref().ok().and_then(Option::as_ref), None))?;
    }
    settings.notes().iter().for_each(|(note, hint)| print_with_hint(note, hint));
    key_notes(settings).iter().for_each(|(note, hint)| print_with_hint(note, hint));
    settings.layers.remarks.iter().for_each(|remark| print_message(remark));
    match endpoint {
        Ok(Some(endpoint)) if endpoint.key_source.is_none() => {
            settings.notes_on(&named, &endpoint).iter().for_each(|(note, hint)| print_with_hint(note, hint));
        }
        Ok(_) => {}
        Err(error) => print_with_hint(&error.to_string(), &error.hint()),
    }
    Ok(0)
}

/// Prints the default file, or the paths of settings files.
///
/// # Errors
/// Standard output cannot be written, or there is no home folder.
pub fn config_files(root: &Root, args: &ConfigArgs) -> Result<u8, UserError> {
    if args.default {
        print(&default_file())?;
        return Ok(0);
    }
    let no_home = || UserError::new(ErrorKind::Machine, "there is no home folder", "set HOME");
    let paths = Paths::of_user().ok_or_else(no_home)?;
    let mut text = String::new();
    for (what, path) in [
        ("settings", paths.settings_file()),
        ("of the repository", root.path().join("rhumb.toml")),
        ("your themes", paths.themes_folder()),
        ("your commands", paths.commands_folder()),
        ("keys by host", paths.credentials_file()),
        ("key of base_url", paths.key_file()),
        ("approvals", paths.approvals_file()),
    ] {
        let there = if path.exists() { "" } else { "  (not there)" };
        let _ = writeln!(text, "{what:<18} {}{there}", path.display());
    }
    print(&text)?;
    Ok(0)
}

fn as_json(settings: &Settings, endpoint: Option<&Endpoint>) -> Value {
    let mut rows: Vec<Value> = settings
        .layers
        .effective()
        .map(|entry| json!({"name": entry.name, "value": entry.shown(), "source": source(&entry.origin)}))
        .collect();
    let said = |name: &str| settings.layers.effective().any(|entry| entry.name == name);
    for setting in SETTINGS.iter().filter(|setting| setting.kind != SettingKind::Tables && !said(setting.name)) {
        let default = format!("value = {}", setting.default).parse::<toml::Table>().ok();
        let value = default.and_then(|table| table.get("value").map(|value| json!(value))).unwrap_or(Value::Null);
        rows.push(json!({"name": setting.name, "value": value, "source": source(&Origin::Default)}));
    }
    let endpoint = endpoint.map(|endpoint| {
        json!({
            "provider": endpoint.provider,
            "api": endpoint.api.name(),
            "base_url": redacted_url(&endpoint.base_url),
            "model": endpoint.model,
            "key": endpoint.key_source.as_ref().map(|source| format!("set (from {source})")),
        })
    });
    let waiting: Vec<_> = settings.layers.unapproved.iter().map(|(proposed, _)| json!(proposed)).collect();
    let (read, remarks) = (settings.reference_files(), &settings.layers.remarks);
    json!({"settings": rows, "endpoint": endpoint, "waiting": waiting, "reference_files": read, "remarks": remarks})
}

fn source(origin: &Origin) -> Value {
    match origin {
        Origin::Default => json!({"kind": "default"}),
        Origin::File { level, path, line } => {
            let kind = if *level == Level::User { "user" } else { "repository" };
            json!({"kind": kind, "path": path, "line": line})
        }
        Origin::Variable(name) => json!({"kind": "variable", "name": name}),
        Origin::Flag(flag) => json!({"kind": "flag", "name": flag}),
    }
}
