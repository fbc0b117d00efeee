//! Convention files: `AGENTS.md` and `CONVENTIONS.md` at the root, and `AGENTS.md` in each folder down to the current one, the
//! nearest last. They are text for the model and have no other effect.

use super::layers::file_below;
use rhumb_workspace::is_secret_name;
use std::path::{Path, PathBuf};

/// The names at the root, in reading order.
const AT_ROOT: [&str; 2] = ["AGENTS.md", "CONVENTIONS.md"];

/// The name in other folders.
const BELOW: &str = "AGENTS.md";

/// Maximum size in bytes of a file that is added without asking, because it costs tokens in every request.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The files, relative to `root` with `/`, and the files that are too long. `folders` are the root and the folders down to the
/// current one.
pub(super) fn found(root: &Path, folders: &[PathBuf]) -> (Vec<String>, Vec<String>) {
    let names = |folder: &PathBuf| if folder == root { &AT_ROOT[..] } else { &[BELOW] };
    let paths = folders.iter().flat_map(|folder| names(folder).iter().map(move |name| folder.join(name)));
    let (mut found, mut long, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        let Some(real) = file_below(root, &path).filter(|real| !is_secret_name(&real.to_string_lossy())) else {
            continue;
        };
        let (Ok(meta), Some(name)) = (real.metadata(), name_below(root, &path)) else { continue };
        if meta.len() == 0 || seen.contains(&real) {
            continue;
        }
        seen.push(real);
        if meta.len() > MAX_FILE_BYTES { long.push(name) } else { found.push(name) }
    }
    (found, long)
}

fn name_below(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.components().map(|part| part.as_os_str().to_str());
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conventions_are_read_from_the_root_down() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let folders = [root.clone(), root.join("a"), root.join("a/b")];
        std::fs::create_dir_all(&folders[2]).unwrap();
        assert_eq!(found(&root, &folders), (Vec::new(), Vec::new()));
        for name in ["AGENTS.md", "CONVENTIONS.md", "a/CONVENTIONS.md", "a/b/AGENTS.md"] {
            std::fs::write(root.join(name), "Use tabs.\n").unwrap();
        }
        let long = " ".repeat(MAX_FILE_BYTES as usize + 1);
        std::fs::write(root.join("a/AGENTS.md"), long).unwrap();
        let expected = ["AGENTS.md", "CONVENTIONS.md", "a/b/AGENTS.md"].map(str::to_owned);
        assert_eq!(found(&root, &folders), (expected.to_vec(), vec!["a/AGENTS.md".to_owned()]));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_repository_or_to_its_secrets_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("repo");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("AGENTS.md")).unwrap();
        std::fs::write(root.join("STYLE.md"), "x").unwrap();
        std::os::unix::fs::symlink("STYLE.md", root.join("CONVENTIONS.md")).unwrap();
        assert_eq!(found(&root, std::slice::from_ref(&root)).0, ["CONVENTIONS.md"]);
        std::fs::write(root.join(".env"), "x").unwrap();
        std::fs::remove_file(root.join("CONVENTIONS.md")).unwrap();
        std::os::unix::fs::symlink(".env", root.join("CONVENTIONS.md")).unwrap();
        assert!(found(&root, std::slice::from_ref(&root)).0.is_empty());
    }
}
