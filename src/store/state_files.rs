//! Small files that are stored between runs: the layout state (positions of borders, and the chosen layout), calibrations of token
//! counts by provider, and the model lists that the user fetched.

use super::{StoreError, read_small_file, replace_file};
use rhumb_llm::models::{ListKind, ModelList};
use rhumb_tokens::Calibration;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const MAX_LAYOUT_BYTES: u64 = 64 * 1024;

/// The table of the layout. All other tables are borders.
const LAYOUT: &str = "layout";

/// The layout state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedLayout {
    /// The positions of moved borders in thousandths, by name.
    pub borders: BTreeMap<String, u16>,
    /// The chosen layout, if it differs from the settings.
    pub layout: Option<ChosenLayout>,
}

/// A layout that was chosen by a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenLayout {
    /// The name.
    pub chosen: String,
    /// The layout in the settings at that time. If the settings have changed since, they take precedence.
    pub instead_of: String,
}

/// The file in the state folder.
#[derive(Debug, Clone)]
pub struct LayoutFile {
    path: PathBuf,
}

impl LayoutFile {
    /// The file in the folder `state`.
    pub fn new(state: &Path) -> Self {
        Self { path: state.join("borders.toml") }
    }

    /// The stored state; the default if the file is missing or damaged.
    pub fn read(&self) -> SavedLayout {
        let text = read_small_file(&self.path, MAX_LAYOUT_BYTES).unwrap_or_default();
        let table: toml::Table = toml::from_str(&text).unwrap_or_default();
        let share =
            |value: &toml::Value| value.as_integer().and_then(|share| u16::try_from(share.clamp(0, 1_000)).ok());
        let layout = table.get(LAYOUT).and_then(|layout| {
            let text_of = |name: &str| layout.get(name).and_then(toml::Value::as_str).map(str::to_owned);
            Some(ChosenLayout { chosen: text_of("chosen")?, instead_of: text_of("instead-of")? })
        });
        let borders = table.iter().filter_map(|(name, value)| Some((name.clone(), share(value)?))).collect();
        SavedLayout { borders, layout }
    }

    /// Replaces the stored state.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, layout_state: &SavedLayout) -> std::io::Result<()> {
        let mut table: toml::Table =
            layout_state.borders.iter().map(|(name, share)| (name.clone(), i64::from(*share).into())).collect();
        if let Some(ChosenLayout { chosen, instead_of }) = &layout_state.layout {
            let words = [("chosen", chosen), ("instead-of", instead_of)];
            let words = words.into_iter().map(|(name, word)| (name.to_owned(), word.clone().into()));
            table.insert(LAYOUT.to_owned(), toml::Value::Table(words.collect()));
        }
        let text = toml::to_string(&table).map_err(std::io::Error::other)?;
        replace_file(&self.path, &text)
    }
}

const MAX_CALIBRATION_BYTES: u64 = 1024 * 1024;

/// The file in the state folder.
#[derive(Debug, Clone)]
pub struct CalibrationFile {
    path: PathBuf,
}

impl CalibrationFile {
    /// The file in the folder `state`.
    pub fn new(state: &Path) -> Self {
        Self { path: state.join("token-calibration.json") }
    }

    /// The stored calibrations; none if the file is missing or damaged.
    pub fn read(&self) -> Calibration {
        let text = read_small_file(&self.path, MAX_CALIBRATION_BYTES);
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Replaces the stored calibrations.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, calibration: &Calibration) -> std::io::Result<()> {
        replace_file(&self.path, &serde_json::to_string(calibration).map_err(std::io::Error::other)?)
    }
}

const MAX_LIST_BYTES: u64 = 16 * 1024 * 1024;

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
    ModelList::decode(&read_small_file(path, MAX_LIST_BYTES)?)
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
    fn a_saved_layout_is_read_back_and_a_damaged_one_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let file = LayoutFile::new(&folder.path().join("state"));
        assert_eq!(file.read(), SavedLayout::default());
        let borders = BTreeMap::from([("columns-chat".to_owned(), 612), ("rows-chat".to_owned(), 300)]);
        let layout = ChosenLayout { chosen: "rows".into(), instead_of: "auto".into() };
        let layout_state = SavedLayout { borders, layout: Some(layout) };
        file.write(&layout_state).unwrap();
        assert_eq!(file.read(), layout_state);
        std::fs::write(&file.path, "columns-chat = 70000\nother = \"x\"\nrows = -3\nlayout = 7\n").unwrap();
        let clamped = file.read();
        assert_eq!((clamped.borders.get("columns-chat"), clamped.borders.get("rows")), (Some(&1_000), Some(&0)));
        assert_eq!(clamped.layout, None);
        std::fs::write(&file.path, "columns-chat = ").unwrap();
        assert_eq!(file.read(), SavedLayout::default());
    }
}

#[cfg(test)]
mod model_lists_tests {
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
