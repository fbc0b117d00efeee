//! What can be seen beforehand of a write: whether the system would allow it, whether an editor holds the file, and whether the
//! file has other names.

use std::fs;

use super::resolve::resolve;
use super::root::Root;
use super::write;

/// Whether the system would let the file at `path` (relative to the root, there or not) be written now. A name that leads
/// nowhere is refused by the write itself, with the reason.
#[cfg(unix)]
pub fn may_write(root: &Root, path: &str) -> bool {
    use rustix::fs::{Access, access};
    let Ok(place) = resolve(root, path) else { return true };
    // A new version is laid down beside the old one, so that both the file and its folder count. The system decides: mode bits
    // know nothing of access lists, immutable files and file systems that are mounted read-only.
    let target = place.found.is_some().then_some(&place.target);
    target.into_iter().chain([&place.existing_folder]).all(|path| access(path, Access::WRITE_OK).is_ok())
}

/// Whether the system would let the file at `path` (relative to the root) be written now.
#[cfg(not(unix))]
pub fn may_write(root: &Root, path: &str) -> bool {
    let found = resolve(root, path).ok().and_then(|place| place.found);
    found.is_none_or(|meta| !meta.permissions().readonly())
}

/// Whether the file at `path` has other names (hard links): they keep the old content when it is written.
pub fn has_other_names(root: &Root, path: &str) -> bool {
    let found = resolve(root, path).ok().and_then(|place| place.found);
    found.is_some_and(|meta| meta.is_file() && write::has_other_names(&meta))
}

/// The name of what an editor has put beside the file at `path` because it holds it: unsaved changes may be in the editor, and
/// saving them there would write over what is written here.
pub fn editor_trace(root: &Root, path: &str) -> Option<String> {
    let target = resolve(root, path).ok()?.target;
    let name = target.file_name()?.to_str()?;
    // The lock of Emacs is a link that leads nowhere.
    traces(name).into_iter().find(|trace| fs::symlink_metadata(target.with_file_name(trace)).is_ok())
}

/// What editors call the files that say that they hold `name`.
fn traces(name: &str) -> [String; 6] {
    // Vim and nano; Vim takes the next ones where several of it are open. Vim puts no second dot before a hidden name.
    let hidden = name.strip_prefix('.').unwrap_or(name);
    let [first, second, third] = ["swp", "swo", "swn"].map(|ending| format!(".{hidden}.{ending}"));
    // Emacs while there are changes, and what it saves of them by itself; Kate.
    [first, second, third, format!(".#{name}"), format!("#{name}#"), format!(".{name}.kate-swp")]
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn editors_that_hold_a_file_are_seen_by_what_they_put_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let (root, folder) = (Root::at(dir.path()).unwrap(), dir.path().join("src"));
        fs::create_dir(&folder).unwrap();
        for name in ["calc.py", ".env", "other.py"] {
            fs::write(folder.join(name), "1\n").unwrap();
        }
        symlink("src/calc.py", dir.path().join("link.py")).unwrap();
        assert_eq!(editor_trace(&root, "src/calc.py"), None);
        for trace in [".calc.py.swp", ".calc.py.swo", ".calc.py.swn", "#calc.py#", ".calc.py.kate-swp"] {
            fs::write(folder.join(trace), "").unwrap();
            assert_eq!(editor_trace(&root, "src/calc.py").as_deref(), Some(trace));
            // It lies beside the file itself, not beside a link to it.
            assert_eq!(editor_trace(&root, "link.py").as_deref(), Some(trace));
            assert_eq!(editor_trace(&root, "src/other.py"), None);
            fs::remove_file(folder.join(trace)).unwrap();
        }
        symlink("mira@harbour.4711:1764000000", folder.join(".#calc.py")).unwrap();
        assert_eq!(editor_trace(&root, "src/calc.py").as_deref(), Some(".#calc.py"));
        fs::write(folder.join(".env.swp"), "").unwrap();
        assert_eq!(editor_trace(&root, "src/.env").as_deref(), Some(".env.swp"));
        assert_eq!((editor_trace(&root, "../calc.py"), editor_trace(&root, "gone/calc.py")), (None, None));
    }

    #[test]
    fn what_the_system_would_not_let_be_written_is_known_beforehand() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path()).unwrap();
        fs::create_dir(dir.path().join("shut")).unwrap();
        for path in ["a", "shut/b"] {
            fs::write(dir.path().join(path), "1\n").unwrap();
            assert!(may_write(&root, path));
        }
        assert!(may_write(&root, "new/deep/c") && may_write(&root, "../out"));
        fs::set_permissions(dir.path().join("a"), fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(dir.path().join("shut"), fs::Permissions::from_mode(0o555)).unwrap();
        // To root these bits say nothing; that is what makes it right to ask the system.
        let is_root = fs::OpenOptions::new().write(true).open(dir.path().join("a")).is_ok();
        for path in ["a", "shut/b", "shut/new"] {
            assert_eq!(may_write(&root, path), is_root, "{path}");
        }
        fs::set_permissions(dir.path().join("shut"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}
