//! How the user has arranged the panes, kept between runs: where the borders were moved to, and the layout that was chosen.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::database::make_folder;

/// A larger file is none of ours, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The table of the layout; everything else in the file is a border.
const LAYOUT: &str = "layout";

/// How the panes were arranged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Thousandths by the name of each border that was moved.
    pub borders: BTreeMap<String, u16>,
    /// The layout that was chosen, if it is another than the settings say.
    pub layout: Option<ChosenLayout>,
}

/// A layout that was chosen by a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenLayout {
    /// Its name.
    pub chosen: String,
    /// What the settings said then. Where they say something else by now, that was said later.
    pub instead_of: String,
}

/// The file below the user's folder for state.
#[derive(Debug, Clone)]
pub struct DeskFile {
    path: PathBuf,
}

impl DeskFile {
    /// The file below `state`.
    pub fn new(state: &Path) -> Self {
        Self { path: state.join("borders.toml") }
    }

    /// What is kept; nothing where the file is absent or damaged.
    pub fn read(&self) -> Arrangement {
        let small = self.path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES);
        let text = small.then(|| std::fs::read_to_string(&self.path).ok()).flatten().unwrap_or_default();
        let table: toml::Table = toml::from_str(&text).unwrap_or_default();
        let share =
            |value: &toml::Value| value.as_integer().and_then(|share| u16::try_from(share.clamp(0, 1_000)).ok());
        let layout = table.get(LAYOUT).and_then(|layout| {
            let word = |name: &str| layout.get(name).and_then(toml::Value::as_str).map(str::to_owned);
            Some(ChosenLayout { chosen: word("chosen")?, instead_of: word("instead-of")? })
        });
        let borders = table.iter().filter_map(|(name, value)| Some((name.clone(), share(value)?))).collect();
        Arrangement { borders, layout }
    }

    /// Keeps it in the place of what was kept.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, arrangement: &Arrangement) -> std::io::Result<()> {
        let mut table: toml::Table =
            arrangement.borders.iter().map(|(name, share)| (name.clone(), i64::from(*share).into())).collect();
        if let Some(ChosenLayout { chosen, instead_of }) = &arrangement.layout {
            let words = [("chosen", chosen), ("instead-of", instead_of)];
            let words = words.into_iter().map(|(name, word)| (name.to_owned(), word.clone().into()));
            table.insert(LAYOUT.to_owned(), toml::Value::Table(words.collect()));
        }
        let text = toml::to_string(&table).map_err(std::io::Error::other)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        make_folder(folder)?;
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
        let file = DeskFile::new(&folder.path().join("state"));
        assert_eq!(file.read(), Arrangement::default());
        let borders = BTreeMap::from([("columns-chat".to_owned(), 612), ("rows-chat".to_owned(), 300)]);
        let layout = ChosenLayout { chosen: "rows".into(), instead_of: "auto".into() };
        let arrangement = Arrangement { borders, layout: Some(layout) };
        file.write(&arrangement).unwrap();
        assert_eq!(file.read(), arrangement);
        std::fs::write(&file.path, "columns-chat = 70000\nother = \"x\"\nrows = -3\nlayout = 7\n").unwrap();
        let clamped = file.read();
        assert_eq!((clamped.borders.get("columns-chat"), clamped.borders.get("rows")), (Some(&1_000), Some(&0)));
        assert_eq!(clamped.layout, None);
        std::fs::write(&file.path, "columns-chat = ").unwrap();
        assert_eq!(file.read(), Arrangement::default());
    }
}
