//! Resolves a file name as a model writes it to a path under the root. A path outside of the root or inside of
//! `.git` is refused.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::locate::similarity::Probe;
use crate::proposal::Files;
use crate::refusal::PathError;

/// Minimum similarity of the paths that are suggested for an unknown name. `bench edits`: with 0.95 instead, 4 replies
/// with a misspelt name create a file.
const MIN_SUGGESTION_SIMILARITY: f32 = 0.8;
/// Maximum number of suggested paths.
const MAX_SIMILAR_PATHS: usize = 5;

/// The files under the root by path and by base name. Files that are not listed are only found by exact path.
pub struct PathIndex<'a> {
    files: &'a dyn Files,
    /// The absolute path of the root with `/`, without a trailing slash.
    root: Option<String>,
    /// Listed on demand: a reply that names its files exactly does not need the list, which is slow for a large
    /// root.
    listed: OnceCell<Listed>,
}

/// The listed files.
struct Listed {
    paths: BTreeSet<String>,
    by_base: BTreeMap<String, Vec<String>>,
    /// Paths with white space and a slash or a dot.
    spaced: Vec<String>,
}

/// The meaning of a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Exactly this file.
    Exact(String),
    /// The only file with this base name, or the only one that shares the end of the path.
    Guessed(String),
    /// Several files that the name may mean.
    Several(Vec<String>),
    /// No file; a new file would have this path.
    Absent(String),
}

impl Listed {
    fn new(paths: Vec<String>) -> Self {
        let mut by_base: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in &paths {
            by_base.entry(base_name(path).to_owned()).or_default().push(path.clone());
        }
        let spaced = |path: &&String| path.contains(char::is_whitespace) && path.contains(['/', '.']);
        Self { spaced: paths.iter().filter(spaced).cloned().collect(), paths: paths.into_iter().collect(), by_base }
    }
}

impl<'a> PathIndex<'a> {
    /// The index of `files`.
    pub fn new(files: &'a dyn Files) -> Self {
        let root = files.root().map(|root| root.replace('\\', "/").trim_end_matches('/').to_owned());
        Self { files, root, listed: OnceCell::new() }
    }

    fn listed(&self) -> &Listed {
        self.listed.get_or_init(|| Listed::new(self.files.paths()))
    }

    /// Whether the file exists, listed or not.
    pub fn contains(&self, path: &str) -> bool {
        self.without_common_lines(path).is_ok_and(|plain| plain == path) && self.files.exists(path)
    }

    /// All listed paths, ascending.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.listed().paths.iter().map(String::as_str)
    }

    /// Whether a listed file is in the folder or below it.
    pub(crate) fn has_folder(&self, folder: &str) -> bool {
        let inside = format!("{folder}/");
        self.listed().paths.range(inside.clone()..).next().is_some_and(|known| known.starts_with(&inside))
    }

    /// Listed files with that base name, at most [`MAX_SIMILAR_PATHS`].
    pub(crate) fn of_base(&self, base: &str) -> Vec<String> {
        let all = self.listed().by_base.get(base).map(Vec::as_slice).unwrap_or_default();
        all.iter().take(MAX_SIMILAR_PATHS).cloned().collect()
    }

    /// The file with exactly this name, except for a leading `./` or the root.
    pub(crate) fn exact(&self, name: &str) -> Option<String> {
        let plain = self.without_common_lines(name).ok().filter(|_| self.contains(name));
        plain.map(|_| name.to_owned()).or_else(|| {
            let path = self.without_common_lines(&name.replace('\\', "/")).ok()?;
            self.contains(&path).then_some(path)
        })
    }

    /// The paths with white space that occur in a line, without those that are part of a longer one.
    pub(crate) fn spaced_in(&self, line: &str) -> Vec<String> {
        if !line.contains(char::is_whitespace) {
            return Vec::new();
        }
        let bounded = |path: &&String| {
            line.match_indices(path.as_str()).any(|(at, found)| {
                let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-'));
                let before = line.get(..at).and_then(|head| head.chars().next_back());
                let after = line.get(at + found.len()..).and_then(|tail| tail.chars().next());
                !part(before) && !part(after)
            })
        };
        let found: Vec<&String> = self.listed().spaced.iter().filter(bounded).collect();
        let longest =
            |path: &&&String| !found.iter().any(|other| other.len() > path.len() && other.contains(path.as_str()));
        found.iter().filter(longest).map(|path| (*path).clone()).collect()
    }

    /// Finds the file that `written` means. Fails if the name is not allowed.
    pub fn resolve(&self, written: &str) -> Result<Resolution, PathError> {
        if let Some(path) = self.exact(written) {
            return Ok(Resolution::Exact(path));
        }
        let path = self.bare(written)?;
        if self.contains(&path) {
            return Ok(Resolution::Exact(path));
        }
        if let Some(stripped) = ["a/", "b/"].into_iter().find_map(|side| path.strip_prefix(side))
            && self.contains(stripped)
        {
            return Ok(Resolution::Exact(stripped.to_owned()));
        }
        let same_base = self.listed().by_base.get(base_name(&path)).map(Vec::as_slice).unwrap_or_default();
        let suffix = |known: &&String| is_suffix(known, &path) || is_suffix(&path, known);
        let suffixes: Vec<String> = same_base.iter().filter(suffix).cloned().collect();
        match (suffixes.as_slice(), same_base) {
            ([only], _) | ([], [only]) => Ok(Resolution::Guessed(only.clone())),
            ([], []) => Ok(Resolution::Absent(path)),
            ([], several) => Ok(Resolution::Several(several.to_vec())),
            (several, _) => Ok(Resolution::Several(several.to_vec())),
        }
    }

    /// The path of a new file with this name. Fails if there can be none.
    pub fn new_path(&self, written: &str) -> Result<String, PathError> {
        let path = self.bare(written)?;
        if self.has_folder(&path) {
            return Err(PathError::IsFolder(path));
        }
        let parents = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        match parents.into_iter().find(|parent| self.listed().paths.contains(*parent)) {
            Some(parent) => Err(PathError::ParentIsFile(parent.to_owned())),
            None => Ok(path),
        }
    }

    /// Listed paths that are similar to `path`, most similar first.
    pub fn near(&self, path: &str) -> Vec<String> {
        let probe = Probe::new(path);
        let mut near: Vec<(f32, &String)> = self
            .listed()
            .paths
            .iter()
            .filter_map(|known| Some((probe.similarity(known, MIN_SUGGESTION_SIMILARITY)?, known)))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        near.into_iter().take(MAX_SIMILAR_PATHS).map(|(_, path)| path.clone()).collect()
    }

    /// The name without decoration, as a relative path with `/` and without dots.
    fn bare(&self, written: &str) -> Result<String, PathError> {
        self.without_common_lines(&crate::file_name::undecorated(written).replace('\\', "/"))
    }

    /// The name, with `/` as separator, as a relative path without dots.
    fn without_common_lines(&self, name: &str) -> Result<String, PathError> {
        if name.is_empty() {
            return Err(PathError::Empty);
        }
        if name.chars().any(char::is_control) {
            return Err(PathError::ControlCharacters);
        }
        if name.contains(char::REPLACEMENT_CHARACTER) {
            return Err(PathError::ReplacementCharacter);
        }
        let outside = || PathError::OutsideRoot(name.to_owned());
        let relative = self.relative(name).ok_or_else(outside)?;
        let mut parts: Vec<&str> = Vec::new();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop().ok_or_else(outside)?),
                _ => parts.push(part),
            }
        }
        // Some file systems ignore case, trailing dots and trailing spaces.
        let git = |part: &&str| part.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git");
        if parts.iter().any(git) {
            return Err(PathError::InsideGit(name.to_owned()));
        }
        // The removed parts may have hidden a drive letter.
        let drive =
            |part: &&str| part.as_bytes().get(1) == Some(&b':') && part.starts_with(|c: char| c.is_ascii_alphabetic());
        if parts.first().is_some_and(drive) {
            return Err(outside());
        }
        if parts.is_empty() { Err(PathError::NoFile(name.to_owned())) } else { Ok(parts.join("/")) }
    }

    /// The path below the root; `None` for an absolute path elsewhere.
    fn relative<'n>(&self, name: &'n str) -> Option<&'n str> {
        let mut chars = name.chars();
        let letter = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
        let absolute = name.starts_with('/') || (letter && chars.next() == Some(':'));
        if absolute {
            let root = self.root.as_deref().filter(|root| !root.is_empty())?;
            return name.strip_prefix(root).filter(|rest| rest.starts_with('/'));
        }
        (!name.starts_with('~')).then_some(name)
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether `path` ends with `/` and `tail`.
fn is_suffix(tail: &str, path: &str) -> bool {
    path.strip_suffix(tail).is_some_and(|head| head.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with one file that is not listed.
    struct Harbour;

    impl Files for Harbour {
        fn paths(&self) -> Vec<String> {
            let paths = ["src/tide.py", "src/buoy.rs", "lock/gate.go", "a/mod.rs", "c/mod.rs", "Makefile"];
            paths.map(str::to_owned).to_vec()
        }

        fn exists(&self, path: &str) -> bool {
            let odd = ["build/tide.py", "./build/tide.py", "src/../build/tide.py", "../tide.py"];
            odd.contains(&path) || self.paths().iter().any(|known| known == path)
        }

        fn read(&self, _path: &str) -> Result<Option<String>, crate::ReadError> {
            Ok(None)
        }

        fn in_chat(&self, _path: &str) -> bool {
            false
        }

        fn root(&self) -> Option<String> {
            Some("/home/me/harbour/".to_owned())
        }
    }

    fn index() -> PathIndex<'static> {
        PathIndex::new(&Harbour)
    }

    #[test]
    fn the_exact_name_of_a_file_that_is_not_listed_means_no_other_file() {
        for name in [
            "build/tide.py",
            "`./build/tide.py`:",
            "./build/tide.py",
            "src/../build/tide.py",
            "/home/me/harbour/build/tide.py",
        ] {
            assert_eq!(index().resolve(name), Ok(Resolution::Exact("build/tide.py".to_owned())), "{name}");
        }
        assert_eq!(index().resolve("dist/tide.py"), Ok(Resolution::Guessed("src/tide.py".to_owned())));
    }

    #[test]
    fn decorated_names_are_found() {
        for name in [
            "./src/tide.py",
            "`src/tide.py`",
            "**src/tide.py**",
            "### src/tide.py:",
            "a/src/tide.py",
            "b/src/tide.py",
            "src\\tide.py",
            "/home/me/harbour/src/tide.py",
            "src/../src/tide.py",
        ] {
            assert_eq!(index().resolve(name), Ok(Resolution::Exact("src/tide.py".to_owned())), "{name}");
        }
    }

    #[test]
    fn a_name_that_can_mean_one_file_is_guessed() {
        for name in ["harbour/src/tide.py", "tide.py", "lib/tide.py"] {
            assert_eq!(index().resolve(name), Ok(Resolution::Guessed("src/tide.py".to_owned())), "{name}");
        }
        assert!(matches!(index().resolve("mod.rs"), Ok(Resolution::Several(paths)) if paths.len() == 2));
        assert_eq!(index().resolve("new.py"), Ok(Resolution::Absent("new.py".to_owned())));
    }

    #[test]
    fn nothing_outside_the_root_has_a_path() {
        for name in [
            "../x",
            "src/../../x",
            "/etc/passwd",
            "~/x",
            "C:\\x",
            "C:x",
            "./C:\\x",
            "a\0b",
            "",
            ".git/config",
            ".GIT/x",
            "sub/.git/hooks/pre-commit",
            "/home/me/harbour2/x",
            "..",
            ".",
        ] {
            assert!(index().resolve(name).is_err(), "{name:?}");
            assert!(index().new_path(name).is_err(), "{name:?}");
        }
        assert!(index().new_path("src").is_err());
        assert!(index().new_path("Makefile/x").is_err());
        assert_eq!(index().new_path("new/file.rs"), Ok("new/file.rs".to_owned()));
    }

    #[test]
    fn a_misspelt_name_gets_its_neighbours() {
        assert_eq!(index().near("src/tides.py"), ["src/tide.py"]);
    }
}
