//! Whether the rules of a repository ignore one path, there or not.

use std::path::Path;

use super::root::Root;
use super::rules::Rules;

/// Whether `.gitignore`, `.ignore`, `.rhumbignore` or git's exclude files hide the file `path` (relative to the root). As for git
/// a rule deeper down wins, and within a folder that is ignored nothing is let back in. That git tracks a file does not count.
pub fn is_ignored(root: &Root, path: &str) -> bool {
    let below = Path::new(path);
    let mut parts: Vec<&Path> = below.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    parts.reverse();
    let mut rules = Rules::of(root, true);
    parts.iter().zip(1..).any(|(part, depth)| {
        let (at, is_folder) = (root.path().join(part), *part != below);
        if rules.hide(&at, depth, is_folder) {
            return true;
        }
        if is_folder {
            rules.enter(&at, depth);
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_for_files_that_are_not_there() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("web")).unwrap();
        std::fs::write(dir.path().join(".gitignore"), "*.log\n/build/\n").unwrap();
        std::fs::write(dir.path().join("web/.gitignore"), "!keep.log\n/dist\n").unwrap();
        std::fs::write(dir.path().join(".rhumbignore"), "secret.txt\n").unwrap();
        let root = Root::at(dir.path()).unwrap();
        for path in ["a.log", "build/x/y.rs", "web/dist/a.js", "deep/down/secret.txt"] {
            assert!(is_ignored(&root, path), "{path}");
        }
        for path in ["a.rs", "web/keep.log", "web/src/build/x.rs", "dist/a.js"] {
            assert!(!is_ignored(&root, path), "{path}");
        }
    }
}
