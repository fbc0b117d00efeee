//! Files to which a call is limited: a file, a folder, or those that match a glob.

use super::RepositoryView;
use globset::{ErrorKind, GlobBuilder, GlobSet, GlobSetBuilder};

/// Files to which a call is limited.
#[derive(Debug)]
pub(super) enum Scope {
    /// All files.
    All,
    /// One file, perhaps an ignored one.
    File(String),
    /// The files below a folder.
    Folder(String),
    /// The files that match a glob.
    Glob(GlobSet),
}

impl Scope {
    /// The files below a folder; all files for `""`.
    pub(super) fn folder(path: &str) -> Self {
        if path.is_empty() { Self::All } else { Self::Folder(path.to_owned()) }
    }

    /// What a model means by a path or pattern. `paths` are the listed files, sorted. A pattern without a slash matches in every folder.
    ///
    /// # Errors
    /// There is no such file or folder, or the pattern is not valid.
    pub(super) fn new(view: &RepositoryView<'_>, written: Option<&str>, paths: &[&str]) -> Result<Self, String> {
        let path = written.map(|written| view.relative(written)).unwrap_or_default();
        if path.is_empty() {
            return Ok(Self::All);
        }
        if paths.binary_search(&path.as_str()).is_ok() {
            return Ok(Self::File(path));
        }
        let folder = Self::folder(&path);
        if paths.iter().any(|known| folder.contains(known)) {
            return Ok(folder);
        }
        if !path.contains(['*', '?', '[', '{']) {
            return view.named_text(&path).map(|_| Self::File(path));
        }
        let pattern = if path.contains('/') { path } else { format!("**/{path}") };
        // A set, because the matcher of a single glob panics if its expression is nested too deeply.
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        let set = glob.and_then(|glob| GlobSetBuilder::new().add(glob).build());
        set.map(Self::Glob).map_err(|error| match error.kind() {
            ErrorKind::Regex(_) => "Not a valid glob: it is too large or too deeply nested.".to_owned(),
            kind => format!("Not a valid glob: {kind}."),
        })
    }

    /// Whether a file belongs to it.
    pub(super) fn contains(&self, path: &str) -> bool {
        match self {
            Self::All => true,
            Self::File(file) => file == path,
            Self::Folder(folder) => path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')),
            Self::Glob(glob) => glob.is_match(path),
        }
    }

    /// Its files, sorted. `paths` are the listed files.
    pub(super) fn files<'p>(&'p self, paths: &[&'p str]) -> Vec<&'p str> {
        match self {
            Self::File(file) => vec![file],
            _ => paths.iter().copied().filter(|path| self.contains(path)).collect(),
        }
    }
}
