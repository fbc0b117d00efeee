//! Discovery of the root folder that all paths are relative to.

use super::error::WorkspaceError;
use std::fs;
use std::path::{Path, PathBuf};

/// Kind of the root folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// A git work tree, or a folder inside one.
    Git,
    /// A git repository without a work tree. It has no files to edit.
    Bare,
    /// Any other folder.
    Directory,
}

/// The folder that every path is relative to. Nothing outside it is read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    kind: RootKind,
    git_folder: Option<PathBuf>,
    ignored: Vec<String>,
    excluded: Vec<PathBuf>,
}

impl Root {
    /// Returns the git work tree that contains `start`, or `start` itself if there is none.
    ///
    /// Only folder entries are read, never a git configuration.
    pub fn discover(start: &Path) -> Result<Self, WorkspaceError> {
        let start = folder(start)?;
        let top = enclosing(&start).map(|(top, _)| top.to_owned());
        Ok(Self::new(top.unwrap_or(start)))
    }

    /// Returns `dir` as the root, even if it is inside a larger work tree.
    pub fn at(dir: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self::new(folder(dir)?))
    }

    fn new(path: PathBuf) -> Self {
        let (top, kind) = enclosing(&path).unwrap_or((&path, RootKind::Directory));
        let git_folder = git_folder(top, &path, kind);
        Self { git_folder, kind, path, ignored: Vec::new(), excluded: Vec::new() }
    }

    /// Hides files that match `patterns` (in `.gitignore` syntax, relative to the root) from every listing.
    #[must_use]
    pub fn ignoring(self, patterns: &[String]) -> Self {
        Self { ignored: patterns.to_vec(), ..self }
    }

    /// Excludes these absolute paths, which need not exist: nothing in them is listed, read or written.
    ///
    /// Use it for the program's own settings and state, because their content is trusted.
    #[must_use]
    pub fn excluding(self, own: &[PathBuf]) -> Self {
        // Drops paths that cannot be inside the root, since each file of a walk is compared with the rest.
        let is_near = |own: &PathBuf| lies_in(own, &self.path) || lies_in(&self.path, own);
        let mut excluded: Vec<PathBuf> =
            own.iter().flat_map(|path| [path.clone(), real(path)]).filter(is_near).collect();
        excluded.dedup();
        Self { excluded, ..self }
    }

    /// Returns whether an absolute path below the root is excluded. See [`Root::excluding`].
    pub(crate) fn excludes(&self, path: &Path) -> bool {
        self.excluded.iter().any(|own| lies_in(path, own))
    }

    pub(crate) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The folder, absolute and without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Git's own folder, if it is not `<top>/.git`. Nothing in it is read or written.
    pub(crate) fn git_folder(&self) -> Option<&Path> {
        self.git_folder.as_deref()
    }

    /// Top of the work tree that contains the root.
    pub(crate) fn work_tree(&self) -> Option<&Path> {
        enclosing(&self.path).filter(|(_, kind)| *kind == RootKind::Git).map(|(top, _)| top)
    }

    /// The kind of folder.
    pub fn kind(&self) -> RootKind {
        self.kind
    }
}

fn folder(path: &Path) -> Result<PathBuf, WorkspaceError> {
    let unreachable = |source| WorkspaceError::Unreachable { path: path.to_owned(), source };
    let real = fs::canonicalize(path).map_err(unreachable)?;
    if !fs::metadata(&real).map_err(unreachable)?.is_dir() {
        return Err(WorkspaceError::NotAFolder(path.to_owned()));
    }
    Ok(real)
}

/// Resolves symbolic links in the part of the path that exists.
fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|part| Some((part, fs::canonicalize(part).ok()?)));
    known.and_then(|(part, known)| Some(known.join(path.strip_prefix(part).ok()?))).unwrap_or_else(|| path.to_owned())
}

/// Returns the nearest folder at or above `start` that git would call a repository.
fn enclosing(start: &Path) -> Option<(&Path, RootKind)> {
    start.ancestors().find_map(|dir| {
        if has_work_tree(dir) {
            Some((dir, RootKind::Git))
        } else if is_bare(dir) {
            Some((dir, RootKind::Bare))
        } else {
            None
        }
    })
}

/// Returns git's own folder for the work tree `top` if `.git` is a symbolic link or a file that names another folder.
/// If the root itself is inside git's folder, returns the root.
fn git_folder(top: &Path, root: &Path, kind: RootKind) -> Option<PathBuf> {
    let below_top = root.strip_prefix(top).unwrap_or(root);
    if kind == RootKind::Bare || below_top.components().any(|part| part.as_os_str() == ".git") {
        return Some(root.to_owned());
    }
    let entry = top.join(".git");
    let meta = fs::symlink_metadata(&entry).ok()?;
    if meta.is_dir() {
        return None;
    }
    if !fs::metadata(&entry).ok()?.is_file() {
        return fs::canonicalize(entry).ok();
    }
    let text = fs::read_to_string(&entry).ok()?;
    fs::canonicalize(top.join(text.strip_prefix("gitdir:")?.trim())).ok()
}

/// Returns whether `dir` is the top of a git work tree: it has a `.git` folder with a HEAD, or the `.git` file of a
/// linked work tree or submodule. Like git, ignores an empty `.git` folder.
pub(crate) fn has_work_tree(dir: &Path) -> bool {
    let entry = dir.join(".git");
    match fs::metadata(&entry) {
        Ok(meta) if meta.is_dir() => entry.join("HEAD").symlink_metadata().is_ok(),
        Ok(meta) if meta.is_file() && meta.len() < 64 * 1024 => {
            fs::read(&entry).is_ok_and(|bytes| bytes.starts_with(b"gitdir:"))
        }
        _ => false,
    }
}

/// Returns whether `path` is `folder` or inside it. Ignores ASCII case, as some file systems do.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let mut parts = path.components();
    folder.components().all(|own| parts.next().is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(own)))
}

/// Returns whether `dir` is a bare repository. The `.git` folder of a work tree has the same layout but does not
/// count.
fn is_bare(dir: &Path) -> bool {
    dir.file_name().is_none_or(|name| name != ".git")
        && dir.join("HEAD").is_file()
        && dir.join("objects").is_dir()
        && dir.join("refs").is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(dir: &Path, files: &[&str]) {
        for file in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    }

    #[test]
    fn a_folder_in_a_work_tree_finds_its_top() {
        let dir = tempfile::tempdir().unwrap();
        made(dir.path(), &[".git/HEAD", "src/deep/a.rs"]);
        let root = Root::discover(&dir.path().join("src/deep")).unwrap();
        assert_eq!(root.path(), dir.path().canonicalize().unwrap());
        assert_eq!(root.kind(), RootKind::Git);
    }

    #[test]
    fn a_linked_work_tree_has_a_git_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".git"), "gitdir: /elsewhere\n").unwrap();
        assert_eq!(Root::discover(dir.path()).unwrap().kind(), RootKind::Git);
    }

    #[test]
    fn a_bare_repository_is_distinguished_from_a_git_folder() {
        let dir = tempfile::tempdir().unwrap();
        made(dir.path(), &["bare/HEAD", "bare/objects/x", "bare/refs/x"]);
        made(dir.path(), &["work/.git/HEAD", "work/.git/objects/x", "work/.git/refs/x"]);
        assert_eq!(Root::discover(&dir.path().join("bare")).unwrap().kind(), RootKind::Bare);
        let inside = Root::discover(&dir.path().join("work/.git/refs")).unwrap();
        assert_eq!(inside.kind(), RootKind::Git);
        assert!(inside.path().ends_with("work"));
    }

    #[test]
    fn an_empty_git_folder_is_no_repository() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert_eq!(Root::discover(dir.path()).unwrap().kind(), RootKind::Directory);
    }

    #[test]
    fn a_chosen_root_is_not_replaced_by_the_top() {
        let dir = tempfile::tempdir().unwrap();
        made(dir.path(), &[".git/HEAD", "src/a.rs"]);
        let root = Root::at(&dir.path().join("src")).unwrap();
        assert!(root.path().ends_with("src"));
        assert_eq!(root.kind(), RootKind::Git);
    }

    #[test]
    fn a_file_or_nothing_is_refused_as_root() {
        let dir = tempfile::tempdir().unwrap();
        made(dir.path(), &["a"]);
        assert!(matches!(Root::discover(&dir.path().join("a")), Err(WorkspaceError::NotAFolder(_))));
        assert!(matches!(Root::at(&dir.path().join("b")), Err(WorkspaceError::Unreachable { .. })));
    }
}
