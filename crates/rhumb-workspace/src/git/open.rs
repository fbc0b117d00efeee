//! Opens repositories after checking that git's own files are regular files.
//!
//! libgit2 opens its files without a check. A named pipe in their place blocks the open until another process writes
//! to it, possibly forever, and so may a device. Such a repository is rejected with an error that names the file. The
//! ignore and attribute files in the work tree are checked before the work tree is compared.

use super::error::GitError;
use super::repo::Repo;
use git2::{ErrorCode, Repository};
use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

/// Folders that git reads at any depth: references, their logs, objects, and the rules for attributes and exclusion.
const FOLDERS: [&str; 4] = ["refs", "logs", "objects", "info"];

/// Maximum depth of nested includes and borrowed object stores. libgit2 follows fewer.
const MAX_DEPTH: usize = 10;

/// Maximum size in bytes of a configuration file, or list of object stores, that is searched for further files.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// Opens the repository at `folder`, bare or with a work tree.
///
/// # Errors
/// There is no repository, it belongs to another user, or one of its files is a pipe or a device.
pub(crate) fn open(folder: &Path) -> Result<Repository, GitError> {
    check_any([folder.join(".git"), folder.to_owned()])?;
    Repository::open(folder).map_err(|error| match error.code() {
        ErrorCode::NotFound => GitError::NoRepository { path: folder.to_owned() },
        _ => failed(folder)(error),
    })
}

/// Opens the repository at or above `folder`. Returns `None` if there is none.
///
/// # Errors
/// The repository belongs to another user, it is damaged, or one of its files is a pipe or a device.
pub(crate) fn discover(folder: &Path) -> Result<Option<Repository>, GitError> {
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
    /// Checks the ignore and attribute files in the folders above these paths, which are relative to the top.
    pub(crate) fn check_rules_for(&self, paths: &[String]) -> Result<(), GitError> {
        let above = |path| Path::new(path).ancestors().skip(1);
        let folders: BTreeSet<&Path> = paths.iter().flat_map(above).collect();
        folders.into_iter().try_for_each(|folder| check_rules(&self.top.join(folder)))
    }

    /// Checks the ignore and attribute files in all folders that are not ignored.
    pub(crate) fn check_all_rules(&self) -> Result<(), GitError> {
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

/// Checks the ignore and attribute files of one folder.
fn check_rules(folder: &Path) -> Result<(), GitError> {
    [".gitattributes", ".gitignore"].iter().try_for_each(|name| check_file(&folder.join(name)))
}

/// Checks one file, which need not exist.
fn check_file(path: &Path) -> Result<(), GitError> {
    path.metadata().map_or(Ok(()), |meta| is_folder(path, meta.file_type()).map(drop))
}

fn failed(folder: &Path) -> impl Fn(git2::Error) -> GitError {
    move |error| match error.code() {
        ErrorCode::Owner => GitError::NotTrusted(folder.to_owned()),
        _ => GitError::when("open the repository")(error),
    }
}

/// Returns git's own folder of the repository at or above `folder`, without opening the repository.
pub(crate) fn git_folder(folder: &Path) -> Option<PathBuf> {
    first_git_folder(above(folder))
}

/// Returns the paths where git's own folder may be, nearest first.
fn above(folder: &Path) -> Vec<PathBuf> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    real.ancestors().flat_map(|folder| [folder.join(".git"), folder.to_owned()]).collect()
}

/// Returns the first of `candidates` that is git's own folder, directly or through a `.git` file.
fn first_git_folder(candidates: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let is_git = |folder: &PathBuf| {
        folder.join("HEAD").exists() && (folder.join("objects").is_dir() || folder.join("commondir").exists())
    };
    candidates.into_iter().filter_map(|path| named_folder(&path)).find(is_git)
}

/// Checks the first of `candidates` that is git's own folder.
fn check_any(candidates: impl IntoIterator<Item = PathBuf>) -> Result<(), GitError> {
    first_git_folder(candidates).map_or(Ok(()), |folder| Check::default().repository(&folder))
}

/// Returns the folder at `path`, or the one that a `.git` file (of a linked work tree or a submodule) names there.
fn named_folder(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.parent()?.join(text(path)?.strip_prefix("gitdir:")?.trim()));
    }
    path.is_dir().then(|| path.to_owned())
}

/// A search for special files.
#[derive(Default)]
struct Check {
    /// Folders that were searched, so that cycles of links end.
    done: BTreeSet<PathBuf>,
}

impl Check {
    fn repository(&mut self, folder: &Path) -> Result<(), GitError> {
        self.own_files(folder)?;
        let common = text(&folder.join("commondir")).map(|name| folder.join(name.trim()));
        common.map_or(Ok(()), |common| self.own_files(&common))
    }

    /// Checks the files that git reads in its own folder. Other programs store files in other subfolders.
    fn own_files(&mut self, folder: &Path) -> Result<(), GitError> {
        self.entries(folder, &|name| FOLDERS.contains(&name))?;
        for settings in ["config", "config.worktree"] {
            included(&folder.join(settings), MAX_DEPTH)?;
        }
        self.borrowed(&folder.join("objects"), MAX_DEPTH)
    }

    /// Checks the files in a folder and, recursively, in its subfolders whose names are `wanted`.
    fn entries(&mut self, folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        // Git cannot read the folder either and reports the error.
        folder.canonicalize().map_or(Ok(()), |real| self.entries_of(folder, &real, wanted))
    }

    /// Checks the folder whose path without links is `real`.
    fn entries_of(&mut self, folder: &Path, real: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        if !self.done.insert(real.to_owned()) {
            return Ok(());
        }
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() {
                continue;
            }
            let path = entry.path();
            if is_folder(&path, kind)? && entry.file_name().to_str().is_some_and(wanted) {
                match kind.is_symlink() {
                    true => self.entries(&path, &|_| true)?,
                    false => self.entries_of(&path, &real.join(entry.file_name()), &|_| true)?,
                }
            }
        }
        Ok(())
    }

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

/// Checks a configuration file and the files that it includes, whatever their conditions.
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

/// Removes the quotes of a configuration value, or the comment after it.
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

/// Returns whether a path leads to a folder.
///
/// # Errors
/// It leads to a pipe or a device.
fn is_folder(path: &Path, kind: FileType) -> Result<bool, GitError> {
    let kind = match kind.is_symlink() {
        true => match path.metadata() {
            Ok(meta) => meta.file_type(),
            // A dangling link.
            Err(_) => return Ok(false),
        },
        false => kind,
    };
    match unreadable(kind) {
        // To git the null device is an empty file.
        Some(kind) if path.canonicalize().is_ok_and(|real| real != Path::new("/dev/null")) => {
            Err(GitError::NotAFile { path: path.to_owned(), kind })
        }
        _ => Ok(kind.is_dir()),
    }
}

/// Returns the kind of a file that an open may block on. Sockets are not among them: they cannot be opened, and the
/// file system monitor of git uses one.
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

/// Reads a regular file of limited size.
fn text(path: &Path) -> Option<String> {
    let is_moderate = |meta: &fs::Metadata| meta.is_file() && meta.len() <= MAX_CONFIG_BYTES;
    path.metadata().ok().filter(is_moderate)?;
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::Command;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;

    use std::time::Duration;

    use super::*;
    use crate::git::tests::Fixture;
    use crate::git::{Revisions, common_folder};

    fn pipe(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.symlink_metadata().is_ok() {
            fs::remove_file(path).unwrap();
        }
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    /// Uses a repository in every way, on a thread that may block. Returns the first error.
    fn used(folder: PathBuf) -> Result<(), String> {
        let (send, receive) = mpsc::channel();
        let use_it = move || -> Result<(), GitError> {
            let _ = (common_folder(&folder), Revisions::open(&folder));
            let repo = Repo::open(&folder)?.unwrap();
            repo.head()?;
            repo.history(&Default::default(), &AtomicBool::new(false))?;
            let paths = vec!["a".to_owned()];
            fs::write(folder.join("a"), "2").unwrap();
            // Each of these calls alone would block.
            let compared = [
                repo.uncommitted_changes(&paths).map(drop),
                repo.dirty_paths().map(drop),
                repo.uncommitted_diff(&|_| true).map(drop),
            ];
            let also = [repo.untracked().map(drop), repo.modified_tracked().map(drop)];
            compared.into_iter().chain(also).collect::<Result<(), _>>()?;
            repo.commit_paths(&paths, "Change a").map(drop)
        };
        std::thread::spawn(move || send.send(use_it().map_err(|error| error.to_string())));
        receive.recv_timeout(Duration::from_secs(20)).expect("git is still busy")
    }

    fn own(fixture: &Fixture, path: &str) -> PathBuf {
        fixture.dir.path().join(".git").join(path)
    }

    fn loose(fixture: &Fixture, what: &str) -> PathBuf {
        let id = fixture.git.revparse_single(what).unwrap().id().to_string();
        own(fixture, &format!("objects/{}/{}", &id[..2], &id[2..]))
    }

    #[test]
    fn a_pipe_in_place_of_a_git_file_is_named_and_never_opened() {
        const PIPE_PATHS: [&str; 20] = [
            "HEAD",
            "config",
            "config.worktree",
            "index",
            "shallow",
            "gitdir",
            "commondir",
            "packed-refs",
            "info/grafts",
            "info/attributes",
            "info/exclude",
            "refs/heads/main",
            "logs/HEAD",
            "logs/refs/heads/main",
            "objects/info/alternates",
            "objects/info/commit-graph",
            "objects/pack/multi-pack-index",
            "objects/pack/pack-1.idx",
            "object HEAD",
            "object HEAD:a",
        ];
        for place in PIPE_PATHS {
            let fixture = Fixture::with(&[("a", "1"), ("b/c", "1")]);
            let object = place.strip_prefix("object ");
            let path = object.map_or_else(|| own(&fixture, place), |what| loose(&fixture, what));
            pipe(&path);
            let said = used(fixture.dir.path().join("b")).unwrap_err();
            assert_eq!(said, format!("git's {} is a named pipe, so the repository was not opened", path.display()));
            // A link to a pipe is rejected too.
            fs::rename(&path, fixture.dir.path().join("pipe")).unwrap();
            symlink(fixture.dir.path().join("pipe"), &path).unwrap();
            let said = used(fixture.dir.path().to_owned()).unwrap_err();
            assert!(said.contains(&*path.to_string_lossy()) && said.contains("is a named pipe"), "{said}");
        }
    }

    #[test]
    fn pipes_behind_includes_links_and_alternates_are_found() {
        let refused = |fixture: &Fixture| {
            let said = used(fixture.dir.path().to_owned()).unwrap_err();
            assert!(said.contains("/pipe is a named pipe"), "{said}");
        };
        for settings in [
            "[include]\n\tpath = ../pipe\n",
            "[Include] PATH=\"../pipe\" ; why\n",
            "[includeIf \"gitdir:/nowhere\"]\n  path = ../pipe # why\n",
            "[core]\n\tpath = ../b\n[include]\n\tpath = more\n",
        ] {
            let fixture = Fixture::with(&[("a", "1")]);
            pipe(&fixture.dir.path().join("pipe"));
            fs::write(own(&fixture, "more"), "[include]\npath = ../pipe\n").unwrap();
            fs::write(own(&fixture, "config"), settings).unwrap();
            refused(&fixture);
        }
        let (fixture, other) = (Fixture::with(&[("a", "1")]), Fixture::with(&[("a", "1")]));
        pipe(&own(&other, "objects/pack/pipe"));
        let stores = format!("# why\n{}\n", own(&other, "objects").display());
        fs::write(own(&fixture, "objects/info/alternates"), stores).unwrap();
        refused(&fixture);
        // Cycles end.
        fs::remove_file(own(&other, "objects/pack/pipe")).unwrap();
        fs::write(own(&other, "objects/info/alternates"), "../objects\n").unwrap();
        symlink("../..", own(&fixture, "info/up")).unwrap();
        assert_eq!(used(fixture.dir.path().to_owned()), Ok(()));
    }

    #[test]
    fn a_linked_work_tree_is_checked_with_its_common_folder() {
        for path in [
            ".git/worktrees/linked/gitdir",
            ".git/worktrees/linked/commondir",
            ".git/worktrees/linked/index",
            ".git/config",
        ] {
            let fixture = Fixture::with(&[("a", "1")]);
            let other = tempfile::tempdir().unwrap();
            let place = other.path().join("linked");
            fixture.git.worktree("linked", &place, None).unwrap();
            pipe(&fixture.dir.path().join(path));
            let said = used(place).unwrap_err();
            assert!(said.contains(path.trim_start_matches(".git/")) && said.contains("named pipe"), "{said}");
        }
    }

    #[test]
    fn devices_are_rejected_but_not_sockets_and_the_null_device() {
        let fixture = Fixture::with(&[("a", "1")]);
        let _monitor = std::os::unix::net::UnixListener::bind(own(&fixture, "fsmonitor--daemon.ipc")).unwrap();
        symlink("/dev/null", own(&fixture, "info/attributes")).unwrap();
        symlink("nowhere", own(&fixture, "dangling")).unwrap();
        pipe(&own(&fixture, "lfs/tmp/pipe"));
        assert_eq!(used(fixture.dir.path().to_owned()), Ok(()));
        symlink("/dev/zero", own(&fixture, "shallow")).unwrap();
        let said = used(fixture.dir.path().to_owned()).unwrap_err();
        assert!(said.ends_with("shallow is a device, so the repository was not opened"), "{said}");
    }

    #[test]
    fn a_pipe_in_place_of_an_ignore_file_is_named() {
        for path in [".gitattributes", ".gitignore", "b/.gitignore", "b/.gitattributes"] {
            let fixture = Fixture::with(&[("a", "1"), ("b/c", "1")]);
            pipe(&fixture.dir.path().join(path));
            let said = used(fixture.dir.path().to_owned()).unwrap_err();
            assert!(said.contains(&format!("/{path} is a named pipe")), "{said}");
        }
        for setting in ["core.attributesfile", "core.excludesfile"] {
            let fixture = Fixture::with(&[("a", "1")]);
            let path = fixture.dir.path().join("pipe");
            pipe(&path);
            fixture.git.config().unwrap().set_str(setting, &path.to_string_lossy()).unwrap();
            assert!(used(fixture.dir.path().to_owned()).unwrap_err().contains("/pipe is a named pipe"));
        }
    }

    #[test]
    fn pipes_that_git_does_not_read_are_ignored() {
        let fixture = Fixture::with(&[("a", "1"), (".gitignore", "build/\n")]);
        for path in [".gitmodules", "n/.git", "HEAD", "build/.gitignore", "pipe"] {
            pipe(&fixture.dir.path().join(path));
        }
        drop(Repository::init(fixture.dir.path().join("m")).unwrap());
        pipe(&fixture.dir.path().join("m/.git/config"));
        assert_eq!(used(fixture.dir.path().to_owned()), Ok(()));
    }
}
