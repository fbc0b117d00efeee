//! The arguments of a call, read leniently where their meaning is certain.

use serde_json::{Map, Value};

/// The arguments of a call. Values are taken out, so that long texts are not copied.
#[derive(Debug)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads the JSON text of an object. Empty text and `null` are an object without fields. The object may be the content of a JSON
    /// string. Trailing commas and raw control characters in strings are repaired; nothing else is. Names are compared in snake case.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut value = parse_json(text)?;
        if let Value::String(inner) = &value {
            value = parse_json(inner)?;
        }
        match value {
            Value::Null => Ok(Self(Map::new())),
            Value::Object(fields) => Ok(Self::new(fields)),
            _ => Err("the arguments must be a JSON object".to_owned()),
        }
    }

    pub(crate) fn new(fields: Map<String, Value>) -> Self {
        let mut arguments = Map::new();
        for (name, value) in fields {
            let name = snake_case(&name);
            // An exact name wins over one that differs by its case.
            if !value.is_null() && !arguments.contains_key(&name) {
                arguments.insert(name, value);
            }
        }
        Self(arguments)
    }

    /// Takes the first of the named arguments that is there.
    pub(crate) fn take(&mut self, names: &[&str]) -> Option<Value> {
        names.iter().find_map(|name| self.0.remove(*name))
    }

    /// Takes a text. The first name is the one in the schema.
    pub(crate) fn text(&mut self, names: &[&str]) -> Result<Option<String>, String> {
        match self.take(names) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(Value::Array(mut items)) if items.len() == 1 && items[0].is_string() => {
                Ok(items.pop().and_then(|item| item.as_str().map(str::to_owned)))
            }
            Some(_) => Err(format!("`{}` must be a string", name(names))),
        }
    }

    /// Takes a text that must be there; it may be empty.
    pub(crate) fn required(&mut self, names: &[&str]) -> Result<String, String> {
        self.text(names)?.ok_or_else(|| format!("`{}` is missing", name(names)))
    }

    /// Takes a text that must be there and not blank, without white space around it.
    pub(crate) fn filled(&mut self, names: &[&str]) -> Result<String, String> {
        let text = self.required(names)?;
        match text.trim() {
            "" => Err(format!("`{}` is empty", name(names))),
            trimmed => Ok(trimmed.to_owned()),
        }
    }

    /// Takes a text without white space around it; `None` if it is blank.
    pub(crate) fn optional(&mut self, names: &[&str]) -> Result<Option<String>, String> {
        Ok(self.text(names)?.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
    }

    /// Takes an integer, perhaps written as a string.
    pub(crate) fn integer(&mut self, names: &[&str]) -> Result<Option<i64>, String> {
        self.take(names)
            .filter(|value| value.as_str().is_none_or(|text| !text.trim().is_empty()))
            .map_or(Ok(None), |value| {
                integer(&value).map(Some).ok_or_else(|| format!("`{}` must be an integer", name(names)))
            })
    }

    /// Takes a boolean, perhaps written as a string. Absent is `false`.
    pub(crate) fn boolean(&mut self, names: &[&str]) -> Result<bool, String> {
        match self.take(names) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(Value::Number(number)) if number.as_i64().is_some_and(|number| matches!(number, 0 | 1)) => {
                Ok(number.as_i64() == Some(1))
            }
            Some(Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Ok(true),
                "false" | "no" | "0" | "none" | "" => Ok(false),
                _ => Err(format!("`{}` must be true or false", name(names))),
            },
            Some(_) => Err(format!("`{}` must be true or false", name(names))),
        }
    }

    /// Takes a list, perhaps written as the JSON text of one. A text that is no JSON is a list of its lines.
    pub(crate) fn list(&mut self, names: &[&str]) -> Result<Option<Vec<Value>>, String> {
        match self.take(names) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => match parse_json(&text) {
                Ok(Value::Array(items)) => Ok(Some(items)),
                _ => Ok(Some(text.lines().filter(|line| !line.trim().is_empty()).map(Value::from).collect())),
            },
            Some(_) => Err(format!("`{}` must be an array", name(names))),
        }
    }
}

/// An integer as a number, a number without fraction, or a text.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        // Casts saturate.
        _ => value.as_i64().or_else(|| value.as_f64().filter(|float| float.fract() == 0.0).map(|float| float as i64)),
    }
}

/// Parses JSON, with one attempt to repair it. Empty text is `null`.
pub(crate) fn parse_json(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).or_else(|error| {
        serde_json::from_str(&repaired(text)).map_err(|_| match text.starts_with('{') {
            true => format!("the arguments are not valid JSON: {error}"),
            false => "the arguments cannot be read".to_owned(),
        })
    })
}

/// Escapes raw control characters in strings, and removes commas before a closing bracket.
fn repaired(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 16);
    let (mut in_string, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            '\n' if in_string => result.push_str("\\n"),
            '\r' if in_string => result.push_str("\\r"),
            '\t' if in_string => result.push_str("\\t"),
            '\0'..='\x1f' if in_string => result.push_str(&format!("\\u{:04x}", u32::from(c))),
            ',' if !in_string && text[at + 1..].trim_start().starts_with(['}', ']']) => {}
            _ => result.push(c),
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    result
}

/// `filePath`, `file-path` and `FilePath` as `file_path`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 4);
    for c in name.trim().chars() {
        if c.is_ascii_uppercase() && result.ends_with(|last: char| last.is_ascii_lowercase() || last.is_ascii_digit()) {
            result.push('_');
        }
        result.push(if matches!(c, '-' | ' ') { '_' } else { c.to_ascii_lowercase() });
    }
    result.trim_matches('_').to_owned()
}

fn name<'a>(names: &[&'a str]) -> &'a str {
    names.first().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn raw_line_breaks_and_trailing_commas_are_repaired() {
        let text = "{\"a\": \"x\n\\\"\ty\", \"b\": [1, 2, ], }";
        let mut arguments = Arguments::parse(text).unwrap();
        assert_eq!(arguments.text(&["a"]), Ok(Some("x\n\"\ty".to_owned())));
        assert_eq!(arguments.take(&["b"]), Some(serde_json::json!([1, 2])));
    }

    #[test]
    fn an_object_without_its_end_is_an_error() {
        assert!(Arguments::parse("{\"path\": \"a\"").is_err());
        assert!(Arguments::parse("{\"path\": \"a").is_err());
        assert!(Arguments::parse("[1]").is_err());
        assert!(Arguments::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn names_are_compared_in_snake_case() {
        for name in ["file_path", "filePath", "FilePath", "file-path", "-filePath"] {
            assert_eq!(snake_case(name), "file_path");
        }
    }

    proptest! {
        #[test]
        fn repair_leaves_valid_json_as_it_is(text in any::<String>()) {
            let json = serde_json::json!({"a": text, "b": [text, 1]}).to_string();
            prop_assert_eq!(repaired(&json), json);
        }

        #[test]
        fn raw_text_in_a_string_survives_the_repair(text in "[^\"\\\\]{0,40}") {
            let parsed = parse_json(&format!("{{\"a\":\"{text}\",}}"));
            prop_assert_eq!(parsed, Ok(serde_json::json!({"a": text})));
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = Arguments::parse(&text);
        }
    }
}
