//! Settings as text: the default file, the table in `docs/settings.md`, and the effective values with their origins.

use super::setting_table::{SETTINGS, Setting, Trust};
use super::value::dotted;
use super::{Entry, Settings, written};
use rhumb_llm::{Endpoint, redacted_url};
use rhumb_session::SettingKind;
use rhumb_text::sanitize;
use std::fmt::Write as _;

/// The default file: every setting with its description, commented out. A `#` without a space before a name is a setting.
pub fn default_file() -> String {
    let mut file = String::from(
        "# Settings of rhumb. A line such as `#name = value` is a default, or an example where there is none:\n\
         # take the # away and change it.\n",
    );
    for setting in SETTINGS {
        file.push_str(&described(setting));
    }
    file
}

fn described(setting: &Setting) -> String {
    let Setting { name, kind, default, example, help, .. } = setting;
    let unset = if default.is_empty() { "; an example, unset by default" } else { "" };
    let mut text = format!("\n# {help}\n");
    match (kind, *name) {
        (SettingKind::Tables, name @ ("aliases" | "linters" | "keys")) => _ = writeln!(text, "#[{name}]\n#{example}"),
        (SettingKind::Tables, _) => {
            let lines: String = example.lines().map(|line| format!("#{line}\n")).collect();
            _ = write!(text, "#[{name}.{}]\n{lines}", if *name == "models" { "\"my-model\"" } else { "box" });
        }
        _ => _ = write!(text, "# {}{unset}\n#{name} = {default}{example}\n", capital(&kind.expected())),
    }
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The table in `docs/settings.md`: name, default, who may set it, description.
pub fn settings_table() -> String {
    let mut table = String::from("| setting | default | of a repository | what |\n|---|---|---|---|\n");
    for Setting { name, trust, default, help, kind, .. } in SETTINGS {
        let values = match kind {
            SettingKind::OneOf(values) => format!(" Values: `{}`.", values.join("`, `")),
            _ => String::new(),
        };
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let trust = match trust {
            Trust::Inert => "taken",
            Trust::Asks => "asked",
            Trust::User => "refused",
        };
        let _ = writeln!(table, "| `{name}` | {default} | {trust} | {help}{values} |");
    }
    table
}

/// Every setting, or those whose names contain `only`, one on each line. Without `only` also the files in every chat and the
/// endpoint.
pub fn settings_text(settings: &Settings, endpoint: Option<&Endpoint>, only: Option<&str>) -> String {
    let entries: Vec<&Entry> = settings.layers.effective().collect();
    let word = only.map(|word| word.trim().to_lowercase().replace('-', "_"));
    let mut text = String::new();
    for setting in SETTINGS {
        let table = format!("{}.", setting.name);
        let of_setting = entries.iter().filter(|entry| entry.name == setting.name || entry.name.starts_with(&table));
        let is_meant = |name: &str| word.as_ref().is_none_or(|word| name.to_lowercase().contains(word));
        let mut is_set = false;
        for entry in of_setting {
            is_set = true;
            if is_meant(&entry.name) {
                let _ = writeln!(text, "{} = {}  # {}", dotted(&entry.name), written(&entry.shown()), entry.origin);
            }
        }
        if !is_set && setting.kind != SettingKind::Tables && is_meant(setting.name) {
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
    use super::super::settings_file::{Level, parse};
    use super::super::{Overrides, Paths, Settings, Sources};
    use super::*;

    /// The file with settings uncommented: all, or those with a default.
    fn uncommented(which: impl Fn(&str) -> bool) -> String {
        let line = |line: &str| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') && which(setting) => setting.to_owned(),
            _ => line.to_owned(),
        };
        default_file().lines().map(|text| line(text) + "\n").collect()
    }

    fn loaded(text: &str) -> Settings {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let paths = Paths { home: at.into(), config: at.into(), cache: at.into(), state: at.into() };
        std::fs::write(paths.settings_file(), text).unwrap();
        Settings::load(&Sources { flags: Overrides::default(), env: &|_| None, paths: Some(&paths), dirs: None })
            .unwrap()
    }

    #[test]
    fn the_default_file_sets_nothing() {
        let (entries, problems) = parse("rhumb.toml", &default_file(), Level::User);
        assert!(entries.is_empty() && problems.is_empty(), "{entries:?} {problems:?}");
    }

    #[test]
    fn its_defaults_are_the_defaults() {
        let has_default = |line: &str| {
            let name = line.split(" =").next().unwrap_or_default();
            super::super::setting(name).is_some_and(|setting| !setting.default.is_empty())
        };
        let text = uncommented(has_default);
        let count = SETTINGS.iter().filter(|setting| !setting.default.is_empty()).count();
        let bare = |settings: Settings| {
            let keys = super::super::Keys::default();
            let layers = super::super::Layers::default();
            format!("{:?}", Settings { layers, keys, cache_folder: None, state_folder: None, ..settings })
        };
        let settings = loaded(&text);
        assert_eq!(settings.layers.effective().count(), count, "{text}");
        assert_eq!(bare(settings), bare(Settings::default()));
    }

    #[test]
    fn its_examples_are_right() {
        let (entries, problems) = parse("rhumb.toml", &uncommented(|_| true), Level::User);
        assert!(problems.is_empty(), "{problems:#?}");
        assert_eq!(entries.len(), SETTINGS.len());
    }

    #[test]
    fn the_table_of_the_readme_has_every_setting() {
        assert_eq!(settings_table().lines().count(), SETTINGS.len() + 2);
    }

    #[test]
    fn a_word_finds_the_settings_that_hold_it() {
        let text = settings_text(&Settings::default(), None, Some("Edit-format"));
        let names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["edit_format", "editor_edit_format"]);
        assert!(settings_text(&Settings::default(), None, Some("zebra")).is_empty());
        assert!(settings_text(&Settings::default(), None, None).lines().count() > 30);
    }
}
