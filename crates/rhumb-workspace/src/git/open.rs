//! Opening a repository, after a look at what kinds of files git would read in it.
//!
//! libgit2 opens its files without looking. A named pipe in the place of one holds the open until somebody writes to the
//! pipe, which is forever, and so may a device. A repository that holds one is refused, and the error names the file. The rule files
//! in the work tree are checked before the work tree is compared.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use git2::{ErrorCode, Repository};

use super::error::GitError;
use super::repo::Repo;

/// Folders that git reads, at any depth: its references, their logs, its objects, and the rules of attributes and exclusion.
const FOLDERS: [&str; 4] = ["refs", "logs", "objects", "info"];

/// How many files may include, or borrow from, one another in a row; libgit2 follows fewer.
const MAX_DEPTH: usize = 10;

/// A larger settings file or list of object stores is not searched for what it names.
const MAX_BYTES: u64 = 1024 * 1024;

/// The repository at `folder`, bare or with a work tree.
///
/// # Errors
/// There is no repository, or it is another user's, or it holds a pipe or a device.
pub(super) fn open(folder: &Path) -> Result<Repository, GitError> {
    check_any([folder.join(".git"), folder.to_owned()])?;
    Repository::open(folder).map_err(|error| match error.code() {
        ErrorCode::NotFound => GitError::NoRepository { path: folder.to_owned() },
        _ => failed(folder)(error),
    })
}

/// The repository at or above `folder`; `None` where libgit2 finds none.
///
/// # Errors
/// It is another user's, or it holds a pipe or a device, or it is damaged.
pub(super) fn discover(folder: &Path) -> Result<Option<Repository>, GitError> {
    check_any(above(folder))?;
    let repo = match Repository::discover(folder) {
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
        opened => opened.map_err(failed(folder))?,
    };
    if let Ok(config) = repo.config() {
        let named = ["core.attributesfile", "core.excludesfile"].map(|name| config.get_path(name));
        named.iter().flatten().try_for_each(|path| check_file(path))?;
    }
    Ok(Some(repo))
}

impl Repo {
    /// Checks the rule files that git reads for these paths, which start at the top: those in the folders that lead there.
    pub(super) fn check_rules_for(&self, paths: &[String]) -> Result<(), GitError> {
        let above = |path| Path::new(path).ancestors().skip(1);
        let folders: BTreeSet<&Path> = paths.iter().flat_map(above).collect();
        folders.into_iter().try_for_each(|folder| check_rules(&self.top.join(folder)))
    }

    /// Checks all rule files that git reads to compare the work tree: those in every folder that is not ignored.
    pub(super) fn check_all_rules(&self) -> Result<(), GitError> {
        let mut folders = vec![self.top.clone()];
        while let Some(folder) = folders.pop() {
            check_rules(&folder)?;
            let inner = fs::read_dir(&folder).into_iter().flatten().flatten();
            let inner = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let is_read = |path: &PathBuf| {
                let from_top = path.strip_prefix(&self.top).unwrap_or(path);
                !path.ends_with(".git") && !self.inner.is_path_ignored(from_top).unwrap_or(true)
            };
            folders.extend(inner.map(|entry| entry.path()).filter(is_read));
        }
        Ok(())
    }
}

/// Checks the files with the rules of a folder.
fn check_rules(folder: &Path) -> Result<(), GitError> {
    [".gitattributes", ".gitignore"].iter().try_for_each(|name| check_file(&folder.join(name)))
}

/// Checks one file, which need not exist.
fn check_file(path: &Path) -> Result<(), GitError> {
    path.metadata().map_or(Ok(()), |meta| is_folder(path, meta.file_type()).map(drop))
}

fn failed(folder: &Path) -> impl Fn(git2::Error) -> GitError {
    move |error| match error.code() {
        ErrorCode::Owner => GitError::NotTrusted { path: folder.to_owned() },
        _ => GitError::when("open the repository")(error),
    }
}

/// Git's own folder of the repository at or above `folder`, without opening the repository.
pub(super) fn git_folder(folder: &Path) -> Option<PathBuf> {
    first_git_folder(above(folder))
}

/// Where git's own folder may be for a folder in a work tree, nearest first.
fn above(folder: &Path) -> Vec<PathBuf> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    real.ancestors().flat_map(|folder| [folder.join(".git"), folder.to_owned()]).collect()
}

/// The first of `places` that is git's own folder, or that a file there names.
fn first_git_folder(places: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let is_git = |folder: &PathBuf| {
        folder.join("HEAD").exists() && (folder.join("objects").is_dir() || folder.join("commondir").exists())
    };
    places.into_iter().filter_map(|place| named_folder(&place)).find(is_git)
}

/// Checks the first of `places` that is git's own folder.
fn check_any(places: impl IntoIterator<Item = PathBuf>) -> Result<(), GitError> {
    first_git_folder(places).map_or(Ok(()), |folder| Check::default().repository(&folder))
}

/// The folder at `place`, or the one that the `.git` file of a linked work tree or a submodule names there.
fn named_folder(place: &Path) -> Option<PathBuf> {
    if place.is_file() {
        return Some(place.parent()?.join(text(place)?.strip_prefix("gitdir:")?.trim()));
    }
    place.is_dir().then(|| place.to_owned())
}

/// A search for files that cannot be read like files.
#[derive(Default)]
struct Check {
    /// Folders that were looked through, so that a circle of links ends.
    done: BTreeSet<PathBuf>,
}

impl Check {
    fn repository(&mut self, folder: &Path) -> Result<(), GitError> {
        self.own_files(folder)?;
        let common = text(&folder.join("commondir")).map(|name| folder.join(name.trim()));
        common.map_or(Ok(()), |common| self.own_files(&common))
    }

    /// Checks what git reads in its folder. Other programs keep files there as well, in folders of their own.
    fn own_files(&mut self, folder: &Path) -> Result<(), GitError> {
        self.entries(folder, &|name| FOLDERS.contains(&name))?;
        for settings in ["config", "config.worktree"] {
            included(&folder.join(settings), MAX_DEPTH)?;
        }
        self.borrowed(&folder.join("objects"), MAX_DEPTH)
    }

    /// Checks the files in a folder and those in the folders in it that are `wanted`, by name.
    fn entries(&mut self, folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        // What cannot be listed is not read either: git says what is wrong with it.
        let Ok(real) = folder.canonicalize() else { return Ok(()) };
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        if !self.done.insert(real) {
            return Ok(());
        }
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() {
                continue;
            }
            let path = entry.path();
            if is_folder(&path, kind)? && entry.file_name().to_str().is_some_and(wanted) {
                self.entries(&path, &|_| true)?;
            }
        }
        Ok(())
    }

    /// Checks the other stores whose objects `objects` borrows.
    fn borrowed(&mut self, objects: &Path, depth: usize) -> Result<(), GitError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
        for line in text(&objects.join("info/alternates")).iter().flat_map(|text| text.lines()) {
            let other = objects.join(line);
            self.entries(&other, &|_| true)?;
            self.borrowed(&other, depth)?;
        }
        Ok(())
    }
}

/// Checks a settings file and those that it includes, whatever their conditions.
fn included(settings: &Path, depth: usize) -> Result<(), GitError> {
    check_file(settings)?;
    let (Some(depth), Some(text)) = (depth.checked_sub(1), text(settings)) else { return Ok(()) };
    let mut is_include = false;
    for line in text.lines() {
        let mut line = line.trim();
        if let Some((header, rest)) = line.strip_prefix('[').and_then(|header| header.rsplit_once(']')) {
            is_include = header.trim_start().get(..7).is_some_and(|name| name.eq_ignore_ascii_case("include"));
            line = rest.trim();
        }
        let Some((key, value)) = line.split_once('=').filter(|_| is_include) else { continue };
        if key.trim().eq_ignore_ascii_case("path") {
            let path = in_home(unquoted(value.trim()));
            included(&settings.parent().unwrap_or(settings).join(path), depth)?;
        }
    }
    Ok(())
}

/// The value of a setting without its quotes, or without the comment that follows it.
fn unquoted(value: &str) -> &str {
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or(quoted),
        None => value.split([';', '#']).next().unwrap_or(value).trim_end(),
    }
}

fn in_home(path: &str) -> PathBuf {
    let home = path.strip_prefix("~/").and_then(|rest| Some(std::env::home_dir()?.join(rest)));
    home.unwrap_or_else(|| path.into())
}

/// Whether a path leads to a folder; an error if it leads to what must not be opened.
fn is_folder(path: &Path, kind: FileType) -> Result<bool, GitError> {
    let kind = match kind.is_symlink() {
        true => match path.metadata() {
            Ok(meta) => meta.file_type(),
            // It leads nowhere.
            Err(_) => return Ok(false),
        },
        false => kind,
    };
    match unreadable(kind) {
        // The null device is an empty file to git.
        Some(kind) if path.canonicalize().is_ok_and(|real| real != Path::new("/dev/null")) => {
            Err(GitError::NotAFile { path: path.to_owned(), kind })
        }
        _ => Ok(kind.is_dir()),
    }
}

/// What kind of file it is that an open may wait for. A socket is none of them: it cannot be opened at all, and git has its
/// monitor listen at one.
#[cfg(unix)]
fn unreadable(kind: FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let is_device = kind.is_char_device() || kind.is_block_device();
    kind.is_fifo().then_some("a named pipe").or(is_device.then_some("a device"))
}

#[cfg(not(unix))]
fn unreadable(_kind: FileType) -> Option<&'static str> {
    None
}

/// The text of a plain file of a moderate size.
fn text(path: &Path) -> Option<String> {
    let is_moderate = |meta: &fs::Metadata| meta.is_file() && meta.len() <= MAX_BYTES;
    path.metadata().ok().filter(is_moderate)?;
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}
