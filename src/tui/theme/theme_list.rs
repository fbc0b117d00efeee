//! The list of themes: built-in ones, and the files in the user's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{BUILTIN, ColorDepth, Theme, ThemeError};

/// Maximum number of theme files that are read: a folder with more is not a folder of themes.
const MAX_THEME_FILES: usize = 200;

/// Largest file of a theme, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The themes by name. Only the user's folder is read. A repository cannot define themes, because colours can hide lines of
/// a review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Themes {
    own: BTreeMap<String, (PathBuf, String)>,
}

impl Themes {
    /// Reads the built-in themes and each `NAME.toml` in `folder`, which may be missing.
    pub fn read(folder: &Path) -> Self {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let own = paths.into_iter().filter_map(|path| Some((name(&path)?, path))).take(MAX_THEME_FILES);
        let own = own.filter_map(|(name, path)| {
            let text = read(&path)?;
            Some((name, (path, text)))
        });
        Self { own: own.collect() }
    }

    /// Their names: the default, then the other built-in themes, then the user's.
    pub fn names(&self) -> Vec<&str> {
        let inside = BUILTIN.iter().map(|(name, _)| *name);
        let own = self.own.keys().map(String::as_str).filter(|name| !BUILTIN.iter().any(|(inside, _)| inside == name));
        inside.chain(own).collect()
    }

    /// Whether a theme has that name.
    pub fn has(&self, name: &str) -> bool {
        self.own.contains_key(name) || BUILTIN.iter().any(|(inside, _)| *inside == name)
    }

    /// The user's file of that name.
    pub fn file(&self, name: &str) -> Option<&Path> {
        self.own.get(name).map(|(path, _)| path.as_path())
    }

    /// Loads the theme of that name.
    ///
    /// # Errors
    ///
    /// The theme is unknown, or its file is malformed. [`Self::explain`] describes the fault.
    pub fn load(&self, name: &str, depth: ColorDepth) -> Result<Theme, ThemeError> {
        Theme::load(name, depth, &|name| self.own.get(name).map(|(_, text)| text.clone()))
    }

    /// The user's themes that cannot be used, each with the reason: `themes/mine.toml:7: …`.
    pub fn faults(&self) -> Vec<String> {
        let wrong = |name: &String| self.load(name, ColorDepth::True).err();
        self.own.keys().filter_map(wrong).map(|error| self.explain(&error)).collect()
    }

    /// An error with the file and line that it is about.
    pub fn explain(&self, error: &ThemeError) -> String {
        let (theme, line) = error.place();
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        match self.file(theme) {
            Some(file) => format!("{}{line}: {error}", file.display()),
            None => error.to_string(),
        }
    }
}

/// The theme name of a file. `None` for files such as backups of editors.
fn name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".toml")?;
    let fit = !name.starts_with('.') && !name.chars().any(|c| c.is_control() || c.is_whitespace());
    Some(name.to_owned()).filter(|_| fit)
}

/// The text of a regular file of limited size.
fn read(path: &Path) -> Option<String> {
    let plain = fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let mut text = String::new();
    let file = fs::File::open(path).ok().filter(|_| plain)?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Role;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    #[test]
    fn the_users_themes_stand_beside_those_inside() {
        let folder = folder(&[
            ("mine.toml", "inherits = \"nord\"\n[styles]\ntitle = \"red\"\n"),
            ("nord.toml", "inherits = \"nord\"\n[styles]\nkey = \"red\"\n"),
            (".hidden.toml", ""),
            ("notes.txt", ""),
            ("two words.toml", ""),
        ]);
        let themes = Themes::read(folder.path());
        assert_eq!(themes.names().last(), Some(&"mine"));
        assert_eq!(themes.names().iter().filter(|name| **name == "nord").count(), 1);
        assert_eq!(themes.names().len(), BUILTIN.len() + 1);
        let mine = themes.load("mine", ColorDepth::True).unwrap();
        let red = Some(ratatui::style::Color::Red);
        assert_eq!((mine.style(Role::Title).fg, mine.style(Role::Key).fg), (red, red));
        assert_eq!(themes.faults(), [""; 0]);
    }

    #[test]
    fn a_wrong_file_is_told_with_its_place() {
        let folder = folder(&[
            ("a.toml", "[styles]\n\ntittle = \"red\"\n"),
            ("b.toml", "[styles]\ntitle = \"brass\"\n"),
            ("c.toml", "inherits = \"nord\"\n[styles\n"),
            ("d.toml", "inherits = \"b\"\n"),
            ("e.toml", "[palette]\nsea = \"#12\"\n"),
            ("f.toml", "[styles]\ntitle = { fg = \"red\", bolt = true }\n"),
        ]);
        let at = |name: &str| folder.path().join(name).display().to_string();
        let faults = Themes::read(folder.path()).faults();
        let begins = [
            at("a.toml:3: "),
            at("b.toml:2: "),
            at("c.toml:2: "),
            at("b.toml:2: "),
            at("e.toml:2: "),
            at("f.toml:2: "),
        ];
        assert_eq!(faults.len(), begins.len());
        for (fault, begin) in faults.iter().zip(begins) {
            assert!(fault.starts_with(&begin) && !fault.contains('\n'), "{fault:?} does not begin with {begin:?}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_holds_none() {
        assert_eq!(Themes::read(Path::new("/nowhere/at/all")), Themes::default());
    }
}
