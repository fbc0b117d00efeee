//! Changes one setting in the file of the user. Comments, white space and the order of lines are preserved.
//!
//! `toml_edit` is not used here: it would also remove the comment above a removed setting, and cannot place a new one below its
//! commented default.

use super::layers::read_regular_file;
use super::paths::{private_folder, replace_file};
use super::setting_table::setting;
use super::settings_file::{Level, line_of, parse};
use super::value::{read, written};
use rhumb_session::SettingKind;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Parses a typed value of a setting. Returns it as TOML.
///
/// # Errors
/// The expected and the typed value, in words.
pub fn typed_value(name: &str, text: &str) -> Result<String, String> {
    let kind = setting(name).ok_or_else(|| format!("there is no setting {name}"))?.kind;
    if kind == SettingKind::Tables {
        return Err("it is a table, to be written in the file".into());
    }
    // As TOML, or else without quotes.
    let quoted = format!("v = {text}").parse::<toml::Table>().ok().and_then(|table| table.get("v").cloned());
    let from_toml = quoted.and_then(|value| super::value::checked(kind, &value).ok());
    from_toml.map_or_else(|| read(kind, text), Ok).map(|value| written(&value))
}

/// The line (1-based) of a setting in a file, or the line where it would be inserted; `None` if the text is not TOML.
pub fn setting_line(text: &str, name: &str) -> Option<usize> {
    let value = "0";
    changed(text, name, Some(value)).ok().map(|(_, line)| line)
}

/// The text with the setting set to `value` (as TOML), or removed; and the line of the change, 1-based.
///
/// # Errors
/// The text is not TOML, in words.
pub fn changed(text: &str, name: &str, value: Option<&str>) -> Result<(String, usize), String> {
    let table = DeTable::parse(text).map_err(|error| error.message().to_owned())?.into_inner();
    let found = table.iter().find(|(key, _)| key.get_ref().as_ref() == name);
    if let Some((key, old)) = found {
        let (start, span) = (key.span().start, old.span());
        let line = line_of(text, start);
        let new = match value {
            Some(value) => [head(text, span.start), value, tail(text, span.end)].concat(),
            None => [head(text, line_start(text, start)), tail(text, line_end(text, span.end))].concat(),
        };
        return Ok((new, line));
    }
    let Some(value) = value else { return Ok((text.to_owned(), 1)) };
    let is_header = |at: usize| tail(text, line_start(text, at)).trim_start().starts_with('[');
    let tables = table.iter().filter(|(key, _)| is_header(key.span().start));
    let first_table = tables.map(|(key, _)| line_start(text, key.span().start)).min().unwrap_or(text.len());
    let at = default_line(text, name, first_table).unwrap_or_else(|| {
        let plain = table.iter().filter(|(key, value)| {
            key.span().start < first_table
                && !(is_header(key.span().start) && matches!(value.get_ref(), DeValue::Table(_)))
        });
        let last = plain.map(|(_, value)| line_end(text, value.span().end)).filter(|end| *end <= first_table).max();
        last.unwrap_or(first_table)
    });
    let (before, after) = (head(text, at), tail(text, at));
    let break_before = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let gap = if after.trim_start_matches([' ', '\t']).starts_with('[') { "\n" } else { "" };
    let new = format!("{before}{break_before}{name} = {value}\n{gap}{after}");
    Ok((new, line_of(text, at) + usize::from(!break_before.is_empty())))
}

/// The offset after the line with the commented default of the setting, above the first table.
fn default_line(text: &str, name: &str, first_table: usize) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_default = line
            .strip_prefix('#')
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.trim_start().starts_with('='));
        at += line.len();
        if is_default && at <= first_table {
            return Some(at);
        }
    }
    None
}

fn head(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or(text)
}

fn tail(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or("")
}

fn line_start(text: &str, at: usize) -> usize {
    head(text, at).rfind('\n').map_or(0, |before| before + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    tail(text, at).find('\n').map_or(text.len(), |after| at + after + 1)
}

/// Writes a setting to a file, or removes it with `None`. Creates the file if it is missing. Returns the file with links
/// resolved, and the line.
///
/// # Errors
/// Why the file was not changed, in words.
pub fn write_setting(file: &Path, name: &str, value: Option<&str>) -> Result<(PathBuf, usize), String> {
    // The file may be a symbolic link, which is kept.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let shown = file.display().to_string();
    let failed = |error: &dyn std::fmt::Display| format!("{shown} cannot be written: {error}");
    let old = match read_regular_file(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    let (new, line) = changed(&old, name, value).map_err(|error| format!("{shown} is malformed: {error}"))?;
    let (entries, problems) = parse(&shown, &new, Level::User);
    if let Some(problem) = problems.first() {
        return Err(format!("the change would be wrong: {problem}"));
    }
    if value.is_some() != entries.iter().any(|entry| entry.name == name) {
        return Err(format!("{shown} has {name} in a place where it cannot be changed automatically"));
    }
    let folder = file.parent().ok_or_else(|| failed(&"it has no folder"))?;
    private_folder(folder).map_err(|error| failed(&error))?;
    let permissions = file.metadata().ok().map(|metadata| metadata.permissions());
    replace_file(&file, new.as_bytes(), permissions).map_err(|error| failed(&error))?;
    Ok((file, line))
}

#[cfg(test)]
mod tests {
    use super::super::default_file;
    use super::*;

    #[test]
    fn a_value_changes_and_nothing_else_does() {
        let text = "# mine\nmodel = \"a\" # the good one\nmouse   =   true\n\n[keys]\naccept = [\"y\"]\n";
        let (new, line) = changed(text, "mouse", Some("false")).unwrap();
        assert_eq!(
            (new.as_str(), line),
            ("# mine\nmodel = \"a\" # the good one\nmouse   =   false\n\n[keys]\naccept = [\"y\"]\n", 3)
        );
        let (new, line) = changed(text, "model", Some("\"b\"")).unwrap();
        assert!(new.contains("model = \"b\" # the good one") && line == 2, "{new}");
    }

    #[test]
    fn a_new_value_stands_above_the_tables_or_below_its_default() {
        let text = "model = \"a\"\n\n[keys]\naccept = [\"y\"]\n";
        let (new, line) = changed(text, "mouse", Some("false")).unwrap();
        assert_eq!((new.as_str(), line), ("model = \"a\"\nmouse = false\n\n[keys]\naccept = [\"y\"]\n", 2));
        assert_eq!(changed("[keys]\n", "mouse", Some("false")).unwrap(), ("mouse = false\n\n[keys]\n".into(), 1));
        assert_eq!(changed("", "mouse", Some("false")).unwrap(), ("mouse = false\n".into(), 1));
        assert_eq!(
            changed("model = \"a\"", "mouse", Some("false")).unwrap(),
            ("model = \"a\"\nmouse = false\n".into(), 2)
        );
        let (new, line) = changed(&default_file(), "mouse", Some("false")).unwrap();
        assert!(new.contains("#mouse = true\nmouse = false\n"), "{new}");
        assert_eq!(new.lines().nth(line - 1), Some("mouse = false"));
    }

    #[test]
    fn taking_it_out_leaves_the_default() {
        let (new, line) = changed("a = 1\nread = [\n  \"x\",\n] # files\nb = 2\n", "read", None).unwrap();
        assert_eq!((new.as_str(), line), ("a = 1\nb = 2\n", 2));
        assert_eq!(changed("a = 1\n", "read", None).unwrap().0, "a = 1\n");
    }

    #[test]
    fn a_typed_value_is_read_as_people_write_it() {
        assert_eq!(typed_value("editor", "nvim -p").as_deref(), Ok("\"nvim -p\""));
        assert_eq!(typed_value("editor", "\"nvim\"").as_deref(), Ok("\"nvim\""));
        assert_eq!(typed_value("mouse", "off").as_deref(), Ok("false"));
        assert_eq!(typed_value("read", "a.md, b.md").as_deref(), Ok("[\"a.md\", \"b.md\"]"));
        assert!(typed_value("map_tokens", "many").unwrap_err().contains("expected a whole number"));
        assert!(typed_value("keys", "x").is_err() && typed_value("zebra", "x").is_err());
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all_and_a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("dotfiles.toml");
        std::fs::write(&real, "# mine\n").unwrap();
        let link = folder.path().join("sub/rhumb.toml");
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&real, &link).unwrap();
        #[cfg(not(unix))]
        std::fs::copy(&real, &link).unwrap();
        let (at, line) = write_setting(&link, "theme", Some("\"rhumb-light\"")).unwrap();
        assert_eq!(std::fs::read_to_string(&at).unwrap(), "# mine\ntheme = \"rhumb-light\"\n");
        assert_eq!(line, 2);
        assert!(write_setting(&link, "map_tokens", Some("\"many\"")).is_err());
        assert!(std::fs::read_to_string(&at).unwrap().starts_with("# mine\ntheme"));
        write_setting(&link, "theme", None).unwrap();
        assert_eq!(std::fs::read_to_string(&at).unwrap(), "# mine\n");
        let new = folder.path().join("new/rhumb.toml");
        assert!(write_setting(&new, "mouse", Some("false")).is_ok() && new.exists());
    }
}
