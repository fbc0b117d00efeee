//! The rows of the settings list.

use crate::config::{Entry, Level, Origin, SETTINGS, Setting, Settings, read_regular_file, setting_line, written};
use rhumb_session::{SettingKind, SettingRow};
use std::path::Path;

/// All settings with their effective values. Each entry of a table is a row. `chosen` are the changes of this session; `file` is the
/// settings file of the user, if it may be written.
pub(super) fn setting_rows(settings: &Settings, file: Option<&Path>, chosen: &[(String, String)]) -> Vec<SettingRow> {
    let text = file.and_then(|file| read_regular_file(file).ok()).unwrap_or_default();
    let entries: Vec<&Entry> = settings.layers.effective().collect();
    let mut rows = Vec::new();
    for setting in SETTINGS {
        let prefix = format!("{}.", setting.name);
        let belongs = |entry: &&&Entry| entry.name == setting.name || entry.name.starts_with(&prefix);
        let set: Vec<&&Entry> = entries.iter().filter(belongs).collect();
        let location = || file.map_or_else(String::new, |file| location(file, &text, setting.name));
        // A change in the session may equal the saved value.
        let differs = |value: &String| {
            let current = set.last().map_or(setting.default.to_owned(), |entry| written(&entry.shown()));
            current != *value
        };
        let chosen = chosen.iter().find(|(name, value)| name == setting.name && differs(value));
        if let Some((_, value)) = chosen {
            rows.push(SettingRow {
                value: value.clone(),
                origin: "this session".into(),
                location: location(),
                ..row(setting)
            });
        } else if set.is_empty() {
            rows.push(SettingRow { location: location(), ..row(setting) });
        } else if setting.kind == SettingKind::List {
            // The values of a list are combined.
            let values: Vec<String> = set.iter().map(|entry| written(&entry.shown())).collect();
            let origins: Vec<String> = set.iter().map(|entry| entry.origin.to_string()).collect();
            let is_saved = set.iter().any(|entry| is_own(&entry.origin));
            rows.push(SettingRow {
                value: values.join(" + "),
                origin: origins.join(", "),
                location: location(),
                is_saved,
                ..row(setting)
            });
        } else {
            rows.extend(set.iter().map(|entry| SettingRow {
                name: entry.name.clone(),
                value: written(&entry.shown()),
                origin: entry.origin.to_string(),
                location: location(),
                is_saved: is_own(&entry.origin),
                ..row(setting)
            }));
        }
    }
    rows
}

fn row(setting: &Setting) -> SettingRow {
    SettingRow {
        name: setting.name.to_owned(),
        kind: setting.kind,
        value: setting.default.to_owned(),
        origin: "default".to_owned(),
        default: setting.default.to_owned(),
        help: setting.help.to_owned(),
        location: String::new(),
        is_saved: false,
    }
}

fn is_own(origin: &Origin) -> bool {
    matches!(origin, Origin::File { level: Level::User, .. })
}

/// The file and line of a setting, or where it would be added.
fn location(file: &Path, text: &str, name: &str) -> String {
    let line = setting_line(text, name).unwrap_or(1);
    format!("{}:{line}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Sources};

    #[test]
    fn every_setting_has_a_row_with_its_value_and_origin() {
        let env = |name: &str| (name == "RHUMB_MAP_TOKENS").then(|| "1024".to_owned());
        let sources = Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None };
        let settings = Settings::load(&sources).unwrap();
        let chosen = [("thinking".to_owned(), "8000".to_owned())];
        let rows = setting_rows(&settings, Some(Path::new("/nowhere/rhumb.toml")), &chosen);
        assert_eq!(rows.len(), SETTINGS.len());
        let shown = |name: &str| {
            let row = rows.iter().find(|row| row.name == name).unwrap();
            format!("{} from {} at {}", row.value, row.origin, row.location)
        };
        assert_eq!(shown("map_tokens"), "1024 from RHUMB_MAP_TOKENS at /nowhere/rhumb.toml:1");
        assert_eq!(shown("thinking"), "8000 from this session at /nowhere/rhumb.toml:1");
        assert_eq!(shown("mouse"), "true from default at /nowhere/rhumb.toml:1");
    }
}
