//! Finding the folder that the work happens in.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::WorkspaceError;

/// What kind of folder the root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// A git work tree, or a folder inside one.
    Git,
    /// A git repository without a work tree: there are no files to edit.
    Bare,
    /// Any other folder.
    Plain,
}

/// The folder that every path is relative to. Nothing outside it is read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    kind: RootKind,
    git_folder: Option<PathBuf>,
    ignored: Vec<String>,
    kept_out: Vec<PathBuf>,
}

impl Root {
    /// The root for someone who stands in `start`: the git work tree around it, else `start` itself. Reads folder
    /// entries only; no git configuration is looked at.
    pub fn discover(start: &Path) -> Result<Self, WorkspaceError> {
        let start = folder(start)?;
        let top = enclosing(&start).map(|(top, _)| top.to_owned());
        Ok(Self::new(top.unwrap_or(start)))
    }

    /// Exactly `dir` as root, wherever it lies.
    pub fn at(dir: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self::new(folder(dir)?))
    }

    fn new(path: PathBuf) -> Self {
        let (top, kind) = enclosing(&path).unwrap_or((&path, RootKind::Plain));
        let git_folder = git_folder(top, &path, kind);
        Self { git_folder, kind, path, ignored: Vec::new(), kept_out: Vec::new() }
    }

    /// The same root without the files that `patterns` hide from every list, written as in a `.gitignore` at the root.
    #[must_use]
    pub fn ignoring(self, patterns: &[String]) -> Self {
        Self { ignored: patterns.to_vec(), ..self }
    }

    /// The same root without these folders and files, absolute, there or not: nothing in them is listed, read or written,
    /// wherever the root is. They are rhumb's own, and what stands in them is believed and run.
    #[must_use]
    pub fn keeping_out(self, own: &[PathBuf]) -> Self {
        // Most lie elsewhere, and each file of a walk is held against what is left.
        let is_near = |own: &PathBuf| lies_in(own, &self.path) || lies_in(&self.path, own);
        let mut kept_out: Vec<PathBuf> =
            own.iter().flat_map(|path| [path.clone(), real(path)]).filter(is_near).collect();
        kept_out.dedup();
        Self { kept_out, ..self }
    }

    /// Whether a path below the root, absolute, is one of [`Root::keeping_out`] or lies in it.
    pub(super) fn keeps_out(&self, path: &Path) -> bool {
        self.kept_out.iter().any(|own| lies_in(path, own))
    }

    /// The patterns of [`Root::ignoring`].
    pub(super) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The folder, absolute and free of links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder in which git keeps its own files, where its name does not tell: nothing in it is read or written.
    pub(super) fn git_folder(&self) -> Option<&Path> {
        self.git_folder.as_deref()
    }

    /// The top of the work tree that the root is or lies in.
    pub(super) fn work_tree(&self) -> Option<&Path> {
        enclosing(&self.path).filter(|(_, kind)| *kind == RootKind::Git).map(|(top, _)| top)
    }

    /// What kind of folder it is.
    pub fn kind(&self) -> RootKind {
        self.kind
    }
}

fn folder(path: &Path) -> Result<PathBuf, WorkspaceError> {
    let unreachable = |source| WorkspaceError::Unreachable { path: path.to_owned(), source };
    let real = fs::canonicalize(path).map_err(unreachable)?;
    if !fs::metadata(&real).map_err(unreachable)?.is_dir() {
        return Err(WorkspaceError::NotAFolder { path: path.to_owned() });
    }
    Ok(real)
}

/// The path free of links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|part| Some((part, fs::canonicalize(part).ok()?)));
    known.and_then(|(part, known)| Some(known.join(path.strip_prefix(part).ok()?))).unwrap_or_else(|| path.to_owned())
}

/// The nearest folder at or above `start` that git would call a repository.
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

/// Git's own folder for the work tree `top`, if it goes by another name than `.git` below it: a `.git` that is a link, or a
/// file that names it. For a root which is itself git's own, that is all of it.
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

/// Whether `dir` is the top of a git work tree: it holds a `.git` folder with a HEAD, or the `.git` file of a linked
/// work tree or submodule. An empty `.git` folder does not count, as it does not for git.
pub(super) fn has_work_tree(dir: &Path) -> bool {
    let entry = dir.join(".git");
    match fs::metadata(&entry) {
        Ok(meta) if meta.is_dir() => entry.join("HEAD").symlink_metadata().is_ok(),
        Ok(meta) if meta.is_file() && meta.len() < 64 * 1024 => {
            fs::read(&entry).is_ok_and(|bytes| bytes.starts_with(b"gitdir:"))
        }
        _ => false,
    }
}

/// Whether `path` is `folder` or lies in it. Some file systems ignore case, so it is ignored.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let mut parts = path.components();
    folder.components().all(|own| parts.next().is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(own)))
}

/// The inside of a work tree's own `.git` folder looks bare, but the work is one folder up.
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
    fn a_bare_repository_and_the_inside_of_a_git_folder_are_told_apart() {
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
        assert_eq!(Root::discover(dir.path()).unwrap().kind(), RootKind::Plain);
    }

    #[test]
    fn a_chosen_root_stays_where_it_was_put() {
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
        assert!(matches!(Root::discover(&dir.path().join("a")), Err(WorkspaceError::NotAFolder { .. })));
        assert!(matches!(Root::at(&dir.path().join("b")), Err(WorkspaceError::Unreachable { .. })));
    }
}
