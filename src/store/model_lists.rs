//! Model lists that the user fetched, one file for each kind of list.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::database::make_folder;
use super::error::StoreError;
use rhumb_llm::models::{ListKind, ModelList};

/// Maximum size of a list in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

fn folder(cache: &Path) -> PathBuf {
    cache.join("models")
}

fn path(cache: &Path, kind: ListKind) -> PathBuf {
    folder(cache).join(format!("{}.tsv", kind.name()))
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
    path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES)?;
    ModelList::decode(&fs::read_to_string(path).ok()?)
}

/// Stores a list in the cache folder and replaces an older one of its kind.
///
/// # Errors
/// The folder or the file cannot be written. The older list is kept then.
pub fn save_model_list(cache: &Path, list: &ModelList) -> Result<(), StoreError> {
    let folder = folder(cache);
    make_folder(&folder).map_err(|source| StoreError::Folder { path: folder.clone(), source })?;
    let path = path(cache, list.kind);
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(list.encode().as_bytes())?;
        file.persist(&path).map_err(|error| error.error)
    };
    write().map(drop).map_err(|source| StoreError::Write { path: path.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_and_damaged_ones_are_absent() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"data": [{"id": "maker/model", "context_length": 1000}]}"#;
        let list = rhumb_llm::models::parse_list(text, "2026-11-20", "somewhere").unwrap();
        assert_eq!(model_lists(folder.path()), []);
        save_model_list(folder.path(), &list).unwrap();
        assert_eq!(model_lists(folder.path()), [list]);
        fs::write(path(folder.path(), ListKind::OpenRouter), "half a li").unwrap();
        assert_eq!(model_lists(folder.path()), []);
    }
}
