//! Converts file names of the command line to paths under the root.

use rhumb_workspace::Root;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The path under the root, with `/`, for a typed name: relative to the current folder if it exists there, else relative to the
/// root if it exists there, else relative to the current folder. `.` and `..` are resolved lexically. A name outside of the
/// root is returned unchanged; reading or writing it fails later.
pub fn path_under(root: &Root, typed: &str) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| here.strip_prefix(root.path()).ok());
    seen_from(root, below, typed)
}

/// As [`path_under`], for the current folder `below` the root, or outside of it.
fn seen_from(root: &Root, below: Option<&Path>, typed: &str) -> String {
    let name = Path::new(typed);
    if typed.is_empty() {
        return String::new();
    }
    if name.is_absolute() {
        return absolute(root, name).unwrap_or_else(|| typed.to_owned());
    }
    let from_here = below.and_then(|below| normal(&below.join(name)));
    let from_root = || normal(name);
    let stands = |path: &String| root.path().join(path).symlink_metadata().is_ok();
    let found = from_here.clone().filter(stands).or_else(|| from_root().filter(stands));
    found.or(from_here).or_else(from_root).unwrap_or_else(|| typed.to_owned())
}

/// An absolute name. The path to the root may have symbolic links.
fn absolute(root: &Root, name: &Path) -> Option<String> {
    let inside = |path: &Path| path.strip_prefix(root.path()).ok().and_then(normal);
    let plain = resolved(name)?;
    inside(&plain).or_else(|| inside(&plain.parent()?.canonicalize().ok()?.join(plain.file_name()?)))
}

/// A relative path without `.` and `..`; `None` if it leaves the root, is empty, or is not UTF-8.
fn normal(path: &Path) -> Option<String> {
    let plain = resolved(path)?;
    let names: Option<Vec<&str>> = plain.iter().map(OsStr::to_str).collect();
    names.filter(|names| !names.is_empty()).map(|names| names.join("/"))
}

/// `path` without `.` and `..`; `None` if it leaves its start.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.file_name()?;
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn root() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for path in ["harbour.py", "charts/compass.py", "charts/notes.md", "notes.md"] {
            let path = dir.path().join("in").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let root = Root::at(&dir.path().join("in")).unwrap();
        (dir, root)
    }

    #[track_caller]
    fn check(root: &Root, below: Option<&str>, names: &[(&str, &str)]) {
        for (typed, path) in names {
            assert_eq!(seen_from(root, below.map(Path::new), typed), *path, "{typed} in {below:?}");
        }
    }

    #[test]
    fn a_name_counts_from_the_current_folder_first() {
        let (_dir, root) = root();
        let names = [
            ("compass.py", "charts/compass.py"),
            ("./compass.py", "charts/compass.py"),
            ("notes.md", "charts/notes.md"),
            ("../notes.md", "notes.md"),
            ("../charts/./compass.py", "charts/compass.py"),
            ("new.py", "charts/new.py"),
        ];
        check(&root, Some("charts"), &names);
    }

    #[test]
    fn else_it_counts_from_the_root() {
        let (_dir, root) = root();
        let names = [("harbour.py", "harbour.py"), ("charts/compass.py", "charts/compass.py")];
        for below in [None, Some(""), Some("charts"), Some("no/such/folder")] {
            check(&root, below, &names);
        }
        for below in [None, Some("")] {
            check(&root, below, &[("./charts/../harbour.py", "harbour.py"), ("new/./a.py", "new/a.py")]);
        }
    }

    #[test]
    fn an_absolute_name_inside_of_the_root_is_cut_to_it() {
        let (dir, root) = root();
        let typed = |path: &str| root.path().join(path).to_str().unwrap().to_owned();
        for below in [None, Some("charts")] {
            let names = [
                (&*typed("harbour.py"), "harbour.py"),
                (&typed("charts/../harbour.py"), "harbour.py"),
                (&typed("new.py"), "new.py"),
            ];
            check(&root, below, &names);
        }
        #[cfg(unix)]
        {
            let link = dir.path().join("link");
            std::os::unix::fs::symlink(root.path(), &link).unwrap();
            check(&root, None, &[(link.join("harbour.py").to_str().unwrap(), "harbour.py")]);
        }
        drop(dir);
    }

    #[test]
    fn a_name_that_leads_out_is_left_to_be_refused() {
        let (_dir, root) = root();
        for typed in ["", ".", "..", "../outside.py", "charts/../../outside.py", "/etc/passwd", "/.."] {
            check(&root, Some(""), &[(typed, typed)]);
            check(&root, None, &[(typed, typed)]);
        }
        check(&root, Some("charts"), &[("../../outside.py", "../../outside.py")]);
    }

    proptest! {
        #[test]
        fn no_name_is_too_odd(typed in "(\\.\\.|\\.|charts|harbour\\.py|/|\\\\|\\PC){0,8}", deep in any::<bool>()) {
            let (_dir, root) = root();
            let path = seen_from(&root, deep.then_some(Path::new("charts")), &typed);
            let climbs = Path::new(&path).components().any(|part| part == Component::ParentDir);
            prop_assert!(path == typed || (!climbs && !Path::new(&path).is_absolute()));
        }
    }
}
