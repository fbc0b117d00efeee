//! Resolution of relative names to paths that are certain to be inside the root.
//!
//! Names come from users, models and stored sessions. Resolution starts at the root, handles one component at a time,
//! and checks every symbolic link on the way. It opens no file.

use super::root::Root;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

#[derive(Debug, Clone)]
pub(crate) struct ResolvedPath {
    /// Absolute path, without symbolic links as far as it exists.
    pub(crate) target: PathBuf,
    /// The deepest existing folder above the target.
    pub(crate) existing_ancestor: PathBuf,
    /// Metadata of the target, or `None` if it does not exist.
    pub(crate) found: Option<fs::Metadata>,
    /// Whether the last component of the name is a symbolic link.
    pub(crate) is_link: bool,
}

/// Why a name cannot be resolved.
#[derive(Debug)]
pub(crate) enum ResolveError {
    /// The name breaks the rule that is described here.
    Outside(&'static str),
    /// A component that should be a folder is something else.
    NotAFolder,
    /// The operating system reported an error.
    Io(io::Error),
}

/// Resolves `path` (relative, with `/`) from the root.
pub(crate) fn resolve(root: &Root, path: &str) -> Result<ResolvedPath, ResolveError> {
    let resolved = follow(root, path)?;
    if root.git_folder().is_some_and(|git| resolved.target.starts_with(git)) {
        return Err(ResolveError::Outside("it is inside git's own folder"));
    }
    if root.excludes(&resolved.target) {
        return Err(ResolveError::Outside("it is one of rhumb's own files: settings, state or cache"));
    }
    Ok(resolved)
}

fn follow(root: &Root, path: &str) -> Result<ResolvedPath, ResolveError> {
    let names = components(path)?;
    let mut resolved = ResolvedPath {
        target: root.path().to_owned(),
        existing_ancestor: root.path().to_owned(),
        found: None,
        is_link: false,
    };
    for (i, name) in names.iter().enumerate() {
        if resolved.found.as_ref().is_some_and(|meta| !meta.is_dir()) {
            return Err(ResolveError::NotAFolder);
        }
        resolved.existing_ancestor.clone_from(&resolved.target);
        let next = resolved.target.join(name);
        match fs::symlink_metadata(&next) {
            Ok(meta) if meta.is_symlink() => {
                let target = followed(root, &next)?;
                let found = fs::symlink_metadata(&target).map_err(refused)?;
                let existing_ancestor = target.parent().unwrap_or(&target).to_owned();
                resolved = ResolvedPath { target, existing_ancestor, found: Some(found), is_link: true };
            }
            Ok(meta) => resolved = ResolvedPath { target: next, found: Some(meta), is_link: false, ..resolved },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                resolved.target.extend(names.get(i..).unwrap_or_default());
                return Ok(ResolvedPath { found: None, is_link: false, ..resolved });
            }
            Err(error) => return Err(refused(error)),
        }
    }
    Ok(resolved)
}

/// Returns `path` with symbolic links resolved, relative to the root. Returns it unchanged if it cannot be resolved.
pub fn resolve_links(root: &Root, path: &str) -> String {
    let resolved = resolve(root, path).ok();
    resolved.and_then(|resolved| relative(root, &resolved.target)).unwrap_or_else(|| path.to_owned())
}

/// Returns other names of the file at `path` (which need not exist), relative to the root: those through symbolic
/// links in the folders above it. Links elsewhere are not found, since that would take a walk of the whole
/// root.
pub fn symlink_aliases(root: &Root, path: &str) -> Vec<String> {
    let target = root.path().join(resolve_links(root, path));
    let folders = target.ancestors().skip(1).take_while(|folder| folder.starts_with(root.path()));
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flat_map(Iterator::flatten);
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let names = links.filter_map(|link| {
        let rest = target.strip_prefix(fs::canonicalize(link.path()).ok()?).ok()?;
        relative(root, &link.path().join(rest))
    });
    names.collect()
}

/// Returns whether something other than a folder exists at the relative name `path`, listed or hidden.
///
/// A dangling link, a link out of the root and an inaccessible entry count too: the name cannot be used for a new
/// file.
pub fn path_is_taken(root: &Root, path: &str) -> bool {
    if components(path).is_err() {
        return false;
    }
    match resolve(root, path) {
        Ok(resolved) => resolved.found.is_some_and(|meta| !meta.is_dir()),
        Err(ResolveError::Outside(_)) => true,
        Err(ResolveError::NotAFolder) => false,
        Err(ResolveError::Io(error)) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

/// Returns `target` relative to the root, with `/`. `None` if it is not UTF-8 or not inside the root.
pub(crate) fn relative(root: &Root, target: &Path) -> Option<String> {
    let rest = target.strip_prefix(root.path()).ok()?;
    let parts: Option<Vec<&str>> = rest.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn components(path: &str) -> Result<Vec<&str>, ResolveError> {
    if path.is_empty() {
        return Err(ResolveError::Outside("the path is empty"));
    }
    if path.contains('\0') {
        return Err(ResolveError::Outside("the path contains a NUL byte"));
    }
    let mut names = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => match name.to_str() {
                Some(name) if is_git_folder(name) => return Err(ResolveError::Outside("it is inside .git")),
                Some(name) => names.push(name),
                None => return Err(ResolveError::Outside("the path is not UTF-8")),
            },
            Component::CurDir => {}
            Component::ParentDir => return Err(ResolveError::Outside("the path contains ..")),
            Component::RootDir | Component::Prefix(_) => return Err(ResolveError::Outside("the path is absolute")),
        }
    }
    if names.is_empty() { Err(ResolveError::Outside("the path names the root itself")) } else { Ok(names) }
}

/// Returns whether some file system opens git's own folder by this name.
///
/// Several file systems ignore case. macOS also ignores invisible characters. Windows ignores trailing dots and
/// spaces, treats the part after a colon as a stream of the file, and knows the short name `GIT~1`.
fn is_git_folder(name: &str) -> bool {
    let is_invisible =
        |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let visible: String = name.chars().filter(|&c| !is_invisible(c)).collect();
    let name = visible.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

fn followed(root: &Root, link: &Path) -> Result<PathBuf, ResolveError> {
    let real = fs::canonicalize(link).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ResolveError::Outside("it is a link to nothing"),
        _ => refused(error),
    })?;
    let Ok(inside) = real.strip_prefix(root.path()) else {
        return Err(ResolveError::Outside("it is a link out of the root"));
    };
    let into_git = |part: Component<'_>| part.as_os_str().to_str().is_some_and(is_git_folder);
    if inside.components().any(into_git) { Err(ResolveError::Outside("it is a link into .git")) } else { Ok(real) }
}

fn refused(error: io::Error) -> ResolveError {
    if error.kind() == io::ErrorKind::NotADirectory { ResolveError::NotAFolder } else { ResolveError::Io(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::symlink;

    fn root() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("in/src")).unwrap();
        fs::write(dir.path().join("in/src/a.rs"), "a").unwrap();
        fs::write(dir.path().join("out"), "secret").unwrap();
        let root = Root::at(&dir.path().join("in")).unwrap();
        (dir, root)
    }

    #[test]
    fn names_that_leave_the_root_are_rejected() {
        let (_dir, root) = root();
        for path in ["", ".", "..", "../out", "src/../../out", "/etc/passwd", "a\0b", ".git/config", "src/.GIT/x"] {
            assert!(matches!(resolve(&root, path), Err(ResolveError::Outside(_))), "{path:?}");
        }
    }

    #[test]
    fn excluded_paths_are_rejected_whatever_leads_to_them() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("dots/rhumb/commands")).unwrap();
        fs::create_dir_all(at("home/.config")).unwrap();
        fs::create_dir_all(at("home/src")).unwrap();
        symlink(at("dots"), at("home/dots")).unwrap();
        symlink(at("dots/rhumb"), at("home/.config/rhumb")).unwrap();
        symlink("../.config", at("home/src/link")).unwrap();
        let own = [at("home/.config/rhumb"), at("home/.local/state/rhumb")];
        let refused = |folder: &str, path: &str| {
            let root = Root::at(&at(folder)).unwrap().excluding(&own);
            matches!(resolve(&root, path), Err(ResolveError::Outside(_)))
        };
        assert!(refused("home", ".config/rhumb/rhumb.toml"));
        assert!(refused("home", "src/link/rhumb/rhumb.toml"));
        assert!(refused("home", ".local/state/rhumb/approved.json"), "it need not be there yet");
        assert!(refused("home", ".local/State/Rhumb/approved.json"));
        assert!(refused(".", "dots/rhumb/commands/x.md"), "what the folder is a link to");
        assert!(refused("dots/rhumb", "rhumb.toml"));
        assert!(!refused("home", ".config/rhumb-other/x") && !refused("dots", "rhumb.toml"));
        fs::write(at("dots/rhumb/rhumb.toml"), "").unwrap();
        let listed = super::super::files(
            &Root::at(&at("dots")).unwrap().excluding(&own),
            &std::sync::atomic::AtomicBool::new(false),
            &mut |_| {},
        );
        assert!(listed.files.is_empty());
    }

    #[test]
    fn links_are_followed_inside_and_refused_outside() {
        let (dir, root) = root();
        symlink(dir.path().join("out"), root.path().join("leak")).unwrap();
        symlink("src", root.path().join("dir")).unwrap();
        symlink("loop", root.path().join("loop")).unwrap();
        symlink("gone", root.path().join("dangling")).unwrap();
        assert!(matches!(resolve(&root, "leak"), Err(ResolveError::Outside(_))));
        assert!(matches!(resolve(&root, "dangling"), Err(ResolveError::Outside(_))));
        assert!(resolve(&root, "loop").is_err());
        let resolved = resolve(&root, "dir/a.rs").unwrap();
        assert_eq!(relative(&root, &resolved.target).as_deref(), Some("src/a.rs"));
    }

    #[test]
    fn existing_names_count_as_taken_wherever_they_lead() {
        let (dir, root) = root();
        symlink(dir.path(), root.path().join("leak")).unwrap();
        symlink("gone", root.path().join("dangling")).unwrap();
        symlink("src", root.path().join("dir")).unwrap();
        for path in ["src/a.rs", "dir/a.rs", "leak", "leak/out", "dangling"] {
            assert!(path_is_taken(&root, path), "{path}");
        }
        let long = "x".repeat(5000);
        for path in ["src", "dir", "src/b.rs", "src/a.rs/b", "../out", "", ".git/config", long.as_str()] {
            assert!(!path_is_taken(&root, path), "{path}");
        }
    }

    #[test]
    fn every_name_of_gits_own_folder_is_rejected() {
        let (_dir, root) = root();
        let names =
            [".git", ".GiT", ".git.", ".git ", "GIT~1", ".g\u{200c}it", "\u{feff}.git", ".git::$INDEX_ALLOCATION"];
        for name in names {
            for path in [name.to_owned(), format!("{name}/hooks/pre-commit"), format!("src/{name}/config")] {
                assert!(matches!(resolve(&root, &path), Err(ResolveError::Outside(_))), "{path:?}");
            }
        }
        for name in [".gitignore", ".github/x", "git", "a.git", ".git-hooks/x"] {
            assert!(resolve(&root, name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn the_folder_that_a_git_file_or_link_names_is_rejected() {
        let (dir, _) = root();
        let inside = dir.path().join("in");
        fs::create_dir_all(inside.join("meta/hooks")).unwrap();
        fs::write(inside.join("meta/HEAD"), "ref: refs/heads/main\n").unwrap();
        let refused = |root: &Root| {
            for path in ["meta/HEAD", "meta/hooks/pre-commit", "meta/new"] {
                assert!(matches!(resolve(root, path), Err(ResolveError::Outside(_))), "{path:?}");
            }
            assert!(resolve(root, "src/a.rs").is_ok() && resolve(root, "metal").is_ok());
        };
        fs::write(inside.join(".git"), "gitdir: meta\n").unwrap();
        refused(&Root::at(&inside).unwrap());
        fs::remove_file(inside.join(".git")).unwrap();
        symlink("meta", inside.join(".git")).unwrap();
        refused(&Root::at(&inside).unwrap());
    }

    #[test]
    fn a_root_in_git_or_a_bare_repository_has_no_files() {
        let dir = tempfile::tempdir().unwrap();
        for path in
            ["work/.git/hooks", "work/.git/objects", "work/.git/refs", "bare/objects", "bare/refs", "bare/hooks"]
        {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        for path in ["work/.git/HEAD", "bare/HEAD"] {
            fs::write(dir.path().join(path), "ref: refs/heads/main\n").unwrap();
        }
        for (folder, path) in [("work/.git", "config"), ("work/.git/hooks", "pre-commit"), ("bare", "hooks/update")] {
            let root = Root::at(&dir.path().join(folder)).unwrap();
            assert!(matches!(resolve(&root, path), Err(ResolveError::Outside(_))), "{folder}/{path}");
        }
        // A linked work tree may be inside git's folder.
        let tree = dir.path().join("work/.git/trees/a");
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../../worktrees/a\n").unwrap();
        assert!(resolve(&Root::at(&tree).unwrap(), "src/a.rs").is_ok());
    }

    #[test]
    fn a_new_file_resolves_below_the_deepest_existing_folder() {
        let (_dir, root) = root();
        let resolved = resolve(&root, "src/new/deep.rs").unwrap();
        assert!(resolved.found.is_none());
        assert!(resolved.existing_ancestor.ends_with("in/src"));
        assert!(resolved.target.ends_with("in/src/new/deep.rs"));
        assert!(matches!(resolve(&root, "src/a.rs/b"), Err(ResolveError::NotAFolder)));
    }

    proptest! {
        #[test]
        fn no_name_leads_out_of_the_root(path in "(\\.\\.|\\.|src|a\\.rs|/|~|\\\\|\\PC){0,12}") {
            let (_dir, root) = root();
            if let Ok(resolved) = resolve(&root, &path) {
                prop_assert!(resolved.target.starts_with(root.path()));
                prop_assert!(resolved.target != root.path());
            }
        }
    }
}
