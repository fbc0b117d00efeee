//! Reading the public lists of models. Which of them a text is shows in its shape.

mod litellm;
mod models_dev;
mod openrouter;

use serde_json::Value;

use super::listing::{ListKind, Listing, ModelList, is_day};

/// Why a text is no list of models.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// It is something else.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// It is JSON of no shape that we know.
    #[error("it is none of the lists that can be read (litellm, openrouter, models-dev)")]
    UnknownShape,
    /// It has the shape of a list without a model that we could use.
    #[error("it lists no model that answers in text with a known window")]
    Empty,
}

/// Reads a list as it was fetched on the day `date` from `source`, or as it was kept.
///
/// # Errors
/// The text is no list, or one without models.
pub fn parse(text: &str, date: &str, source: &str) -> Result<ModelList, ListError> {
    if let Some(kept) = ModelList::decode(text) {
        return Ok(kept);
    }
    let list: Value = serde_json::from_str(text).map_err(|error| ListError::NotJson(error.to_string()))?;
    let (kind, models) = models(&list).ok_or(ListError::UnknownShape)?;
    if models.is_empty() {
        return Err(ListError::Empty);
    }
    Ok(ModelList::new(kind, date, source, models))
}

fn models(list: &Value) -> Option<(ListKind, Vec<Listing>)> {
    let object = list.as_object()?;
    if let Some(data) = object.get("data").and_then(Value::as_array) {
        return Some((ListKind::OpenRouter, openrouter::read(data)));
    }
    let has = |field: &str| object.values().any(|entry| entry.get(field).is_some());
    if has("litellm_provider") {
        return Some((ListKind::Litellm, litellm::read(object)));
    }
    has("models").then(|| (ListKind::ModelsDev, models_dev::read(object)))
}

/// A number of tokens; lists have them as numbers, whole or with a point, and as text.
fn tokens(value: Option<&Value>) -> Option<u64> {
    number(value).filter(|number| *number >= 1.0).map(|number| number as u64)
}

/// A number as such or as text.
fn number(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
}

fn is_true(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool) == Some(true)
}

/// Whether the array in `field` holds `word`; `None` where there is no such array.
fn lists_word(value: Option<&Value>, word: &str) -> Option<bool> {
    Some(value?.as_array()?.iter().any(|entry| entry.as_str() == Some(word)))
}

/// A day as lists write it, if it is one; what follows of a moment is left away.
fn day(value: Option<&Value>) -> Option<String> {
    value?.as_str()?.get(..10).filter(|text| is_day(text)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_is_refused() {
        assert!(matches!(parse("<html>", "", ""), Err(ListError::NotJson(_))));
        for text in ["[]", "{}", "3", r#"{"a": {"b": 1}}"#] {
            assert_eq!(parse(text, "", ""), Err(ListError::UnknownShape), "{text}");
        }
        for text in [r#"{"data": []}"#, r#"{"a": {"litellm_provider": "openai"}}"#, r#"{"a": {"models": {}}}"#] {
            assert_eq!(parse(text, "", ""), Err(ListError::Empty), "{text}");
        }
    }

    #[test]
    fn a_list_that_was_kept_reads_as_itself() {
        let text = r#"{"data": [{"id": "a/b", "context_length": 1000}]}"#;
        let list = parse(text, "2026-11-20", "x").unwrap();
        assert_eq!(parse(&list.encode(), "another day", "elsewhere"), Ok(list));
    }

    #[test]
    fn a_day_is_told_from_other_text() {
        for (text, is) in
            [("2026-11-30", true), ("2026-11-30T00:00:00Z", true), ("when it is old", false), ("2026", false)]
        {
            assert_eq!(day(Some(&Value::from(text))).is_some(), is, "{text}");
        }
    }
}
