//! Which models a server says that it has.

use serde_json::Value;

use super::clean::clean;

/// The ids in a list of models, as servers of any format write it.
pub(super) fn ids(list: &Value) -> Option<Vec<String>> {
    let models = list.get("data").or_else(|| list.get("models"))?.as_array()?;
    let id = |model: &Value| {
        let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
        // Gemini's are paths.
        Some(clean(name.strip_prefix("models/").unwrap_or(name)))
    };
    Some(models.iter().filter_map(id).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_of_any_format_are_read() {
        assert_eq!(ids(&json!({"data": [{"id": "a"}, {"id": "b"}, {}]})), Some(vec!["a".into(), "b".into()]));
        assert_eq!(ids(&json!({"models": [{"name": "models/gemini-x"}]})), Some(vec!["gemini-x".into()]));
        assert_eq!(ids(&json!({"error": "no"})), None);
    }
}
