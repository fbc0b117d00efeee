//! Model lists that the user fetched, one file for each kind of list.

use super::{StoreError, read_small_file, replace_file};
use rhumb_llm::models::{ListKind, ModelList};
use std::path::{Path, PathBuf};

const MAX_BYTES: u64 = 16 * 1024 * 1024;

fn path(cache: &Path, kind: ListKind) -> PathBuf {
    cache.join("models").join(format!("{}.tsv", kind.name()))
}

/// The lists in the cache folder. A damaged one counts as missing.
pub fn model_lists(cache: &Path) -> Vec<ModelList> {
    ListKind::ALL
        .into_iter()
        .filter_map(|kind| read(&path(cache, kind)))
        .filter(|list| !list.models.is_empty())
        .collect()
}

fn read(path: &Path) -> Option<ModelList> {
    ModelList::decode(&read_small_file(path, MAX_BYTES)?)
}

/// Stores a list in the cache folder and replaces an older one of its kind.
///
/// # Errors
/// The folder or the file cannot be written. The older list is kept then.
pub fn save_model_list(cache: &Path, list: &ModelList) -> Result<(), StoreError> {
    let path = path(cache, list.kind);
    replace_file(&path, &list.encode()).map_err(|source| StoreError::Write { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_lists_are_read_back_and_damaged_ones_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"data": [{"id": "maker/model", "context_length": 1000}]}"#;
        let list = rhumb_llm::models::parse_list(text, "2026-11-20", "somewhere").unwrap();
        assert_eq!(model_lists(folder.path()), []);
        save_model_list(folder.path(), &list).unwrap();
        assert_eq!(model_lists(folder.path()), [list]);
        std::fs::write(path(folder.path(), ListKind::OpenRouter), "half a li").unwrap();
        assert_eq!(model_lists(folder.path()), []);
    }
}
