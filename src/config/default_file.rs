//! The table of settings as text: the default file and the table of the README.

use std::fmt::Write as _;

use super::setting::{Kind, SETTINGS, Setting, Trust};

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
        (Kind::Tables, name @ ("aliases" | "linters" | "keys")) => _ = writeln!(text, "#[{name}]\n#{example}"),
        (Kind::Tables, _) => {
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

/// The table of the README: name, default, who may set it, description.
pub fn settings_table() -> String {
    let mut table = String::from("| setting | default | of a repository | what |\n|---|---|---|---|\n");
    for Setting { name, trust, default, help, .. } in SETTINGS {
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let trust = match trust {
            Trust::Inert => "taken",
            Trust::Asks => "asked",
            Trust::User => "refused",
        };
        let _ = writeln!(table, "| `{name}` | {default} | {trust} | {help} |");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::layer::{Level, parse};
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
}
