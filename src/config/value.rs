//! Values of settings: checked against their types, and parsed from the text of a variable or flag.

use rhumb_llm::Thinking;
use rhumb_session::SettingKind;
use rhumb_text::sanitize;
use std::fmt::Write as _;
use toml::Value;
use url::Url;

/// Checks a value from a file and converts it to the type of the setting, such as an integer to a float.
///
/// # Errors
/// The expected and the found type, in words.
pub(super) fn checked(kind: SettingKind, value: &Value) -> Result<Value, String> {
    let wrong = || format!("expected {}, found {}", kind.expected(), described(value));
    let fits = match (kind, value) {
        (SettingKind::Text | SettingKind::Command, Value::String(text)) => !text.trim().is_empty(),
        (SettingKind::Url, Value::String(text)) => is_address(text),
        (SettingKind::Whole(least, most), Value::Integer(number)) => {
            (i64::from(least)..=i64::from(most)).contains(number)
        }
        (SettingKind::Number, Value::Float(number)) => number.is_finite() && *number >= 0.0,
        (SettingKind::Number, Value::Integer(number)) if *number >= 0 => return Ok(Value::Float(*number as f64)),
        (SettingKind::Switch, Value::Boolean(_)) | (SettingKind::Tables, Value::Table(_)) => true,
        (SettingKind::OneOf(words), Value::String(word)) => words.contains(&word.as_str()),
        (SettingKind::Thinking, Value::String(word)) => Thinking::EFFORTS.contains(&word.as_str()),
        (SettingKind::Thinking, Value::Integer(tokens)) => u32::try_from(*tokens).is_ok(),
        (SettingKind::List, Value::Array(items)) => items.iter().all(Value::is_str),
        // A single text is a list, too.
        (SettingKind::List, Value::String(_)) => return Ok(Value::Array(vec![value.clone()])),
        _ => false,
    };
    if fits { Ok(value.clone()) } else { Err(wrong()) }
}

/// Parses the text of a variable or flag. Lists are separated by commas.
///
/// # Errors
/// As [`checked`].
pub(super) fn read(kind: SettingKind, text: &str) -> Result<Value, String> {
    let text = text.trim();
    let as_text = || Value::String(text.to_owned());
    let value = match kind {
        SettingKind::Whole(..) | SettingKind::Thinking => text.parse().map_or_else(|_| as_text(), Value::Integer),
        SettingKind::Number => text.parse().map_or_else(|_| as_text(), Value::Float),
        SettingKind::Switch => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Value::Boolean(true),
            "false" | "0" | "no" | "off" => Value::Boolean(false),
            _ => as_text(),
        },
        SettingKind::List => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
        }
        _ => as_text(),
    };
    checked(kind, &value)
}

fn is_address(text: &str) -> bool {
    Url::parse(text.trim()).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// A value as TOML on one line, without control characters, invisible characters and characters that change the direction of
/// text.
pub fn written(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Table(table) if table.is_empty() => "{}".into(),
        Value::Table(table) => {
            let fields: Vec<_> =
                table.iter().map(|(name, value)| format!("{} = {}", key(name), written(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        plain => plain.to_string(),
    }
}

/// The name of a setting as a TOML key, so that the name of a table cannot look like something else: `linters."a b"`.
pub(super) fn dotted(name: &str) -> String {
    name.split_once('.').map_or_else(|| key(name), |(table, name)| format!("{}.{}", key(table), key(name)))
}

/// A name as a TOML key, without control characters.
pub(super) fn key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.chars().all(|each| each.is_ascii_alphanumeric() || matches!(each, '_' | '-'));
    if is_bare { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for each in text.chars() {
        match each {
            '"' | '\\' => out.extend(['\\', each]),
            _ if !is_plain(each) && each as u32 > 0xffff => _ = write!(out, "\\U{:08X}", each as u32),
            _ if !is_plain(each) => _ = write!(out, "\\u{:04X}", each as u32),
            _ => out.push(each),
        }
    }
    out.push('"');
    out
}

/// Whether a character is visible as itself: not a control character, not invisible, and not changing the direction of text.
fn is_plain(each: char) -> bool {
    !sanitize::is_unsafe(each) && !matches!(each, '\u{fe0e}' | '\u{fe0f}')
}

/// The type of a value, with its text if that helps.
fn described(value: &Value) -> String {
    match value {
        // An address may hold a password.
        Value::String(text) if text.contains('@') => "a text".into(),
        Value::String(text) if text.chars().count() <= 40 => format!("`{text}`"),
        Value::String(_) => "a text".into(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(switch) => switch.to_string(),
        Value::Datetime(_) => "a date".into(),
        Value::Array(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_type_says_what_was_expected_and_found() {
        let said = |kind, text: &str| checked(kind, &Value::String(text.into())).unwrap_err();
        assert_eq!(said(SettingKind::Whole(0, 9), "3"), "expected a whole number from 0 to 9, found `3`");
        assert_eq!(said(SettingKind::OneOf(&["a", "b"]), "c"), "expected one of a, b, found `c`");
        assert!(said(SettingKind::Url, "u:canary@h").ends_with("found a text"));
        assert!(checked(SettingKind::Whole(1, 9), &Value::Integer(0)).is_err());
        assert!(checked(SettingKind::Number, &Value::Float(f64::NAN)).is_err());
    }

    proptest::proptest! {
        #[test]
        fn a_written_value_is_one_line_and_reads_back(text in "\\PC{0,12}[\u{0}-\u{1f}\u{202e}\u{e0041}\"\\\\']{0,4}", name in "\\PC{1,6}") {
            let mut table = toml::Table::new();
            table.insert(name, Value::Array(vec![Value::String(text), Value::Integer(1), Value::Float(0.5)]));
            let line = written(&Value::Table(table.clone()));
            proptest::prop_assert!(line.chars().all(is_plain), "{line}");
            let read: toml::Table = format!("v = {line}").parse().unwrap();
            proptest::prop_assert_eq!(read.get("v"), Some(&Value::Table(table)));
        }
    }

    #[test]
    fn variables_are_read_as_what_the_setting_takes() {
        assert_eq!(read(SettingKind::Whole(0, 9), " 7 "), Ok(Value::Integer(7)));
        assert_eq!(read(SettingKind::Switch, "off"), Ok(Value::Boolean(false)));
        assert_eq!(read(SettingKind::Number, "2"), Ok(Value::Float(2.0)));
        assert_eq!(read(SettingKind::Thinking, "8000"), Ok(Value::Integer(8000)));
        assert_eq!(read(SettingKind::List, "a.md, b.md,"), Ok(Value::Array(vec!["a.md".into(), "b.md".into()])));
        assert!(read(SettingKind::Whole(0, 9), "lots").is_err() && read(SettingKind::Thinking, "lots").is_err());
    }
}
