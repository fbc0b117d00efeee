//! Where the user has moved the borders between the panes, kept between runs.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A larger file is none of ours, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The file below the user's folder for state: thousandths by the name of each border.
#[derive(Debug, Clone)]
pub struct BorderFile {
    path: PathBuf,
}

impl BorderFile {
    /// The file below `state`.
    pub fn new(state: &Path) -> Self {
        Self { path: state.join("borders.toml") }
    }

    /// What is kept; nothing where the file is absent or damaged.
    pub fn read(&self) -> BTreeMap<String, u16> {
        let small = self.path.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
        let text = small.then(|| std::fs::read_to_string(&self.path).ok()).flatten().unwrap_or_default();
        let table: toml::Table = toml::from_str(&text).unwrap_or_default();
        let share =
            |value: &toml::Value| value.as_integer().and_then(|share| u16::try_from(share.clamp(0, 1_000)).ok());
        table.iter().filter_map(|(name, value)| Some((name.clone(), share(value)?))).collect()
    }

    /// Keeps it in the place of what was kept.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, borders: &BTreeMap<String, u16>) -> std::io::Result<()> {
        let text = toml::to_string(borders).map_err(std::io::Error::other)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&self.path).map_err(|error| error.error).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_what_is_damaged_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = BorderFile::new(&folder.path().join("state"));
        assert_eq!(file.read(), BTreeMap::new());
        let borders = BTreeMap::from([("columns-chat".to_owned(), 612)]);
        file.write(&borders).unwrap();
        assert_eq!(file.read(), borders);
        std::fs::write(&file.path, "columns-chat = 70000\nother = \"x\"\nrows = -3\n").unwrap();
        let clamped = BTreeMap::from([("columns-chat".to_owned(), 1_000), ("rows".to_owned(), 0)]);
        assert_eq!(file.read(), clamped);
        std::fs::write(&file.path, "columns-chat = ").unwrap();
        assert_eq!(file.read(), BTreeMap::new());
    }
}
