//! Whether the rules of a repository ignore one path, there or not.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::Gitignore;

use super::root::{Root, RootKind};

/// Files with rules, the strongest first.
const RULES: [&str; 3] = [".rhumbignore", ".ignore", ".gitignore"];

/// Whether `.gitignore`, `.ignore`, `.rhumbignore` or git's exclude files hide the file `path` (relative to the root). As for git
/// a rule deeper down wins, and within a folder that is ignored nothing is let back in. That git tracks a file does not count.
pub fn is_ignored(root: &Root, path: &str) -> bool {
    let top = root.path();
    let below = Path::new(path);
    let mut parents: Vec<&Path> = below.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    parents.reverse();
    parents.iter().any(|part| {
        let folders = part.ancestors().skip(1).map(|folder| top.join(folder));
        let rules = folders.flat_map(|folder| RULES.map(|name| folder.join(name)));
        let exclude = (root.kind() == RootKind::Git).then(|| top.join(".git/info/exclude"));
        let is_folder = *part != below;
        // Rules count from the folder that they stand in, those of the exclude file from the root.
        let verdict = |file: &Path, from: &Path| match file.is_file().then(|| rules_in(file, from)).flatten() {
            Some(rules) => decided(&rules.matched(top.join(part), is_folder)),
            None => None,
        };
        let own = rules.filter_map(|file| verdict(&file, file.parent().unwrap_or(top))).next();
        let own = own.or_else(|| exclude.and_then(|file| verdict(&file, top)));
        own.or_else(|| decided(&Gitignore::global().0.matched(part, is_folder))).unwrap_or(false)
    })
}

fn rules_in(file: &Path, from: &Path) -> Option<Gitignore> {
    let mut builder = ignore::gitignore::GitignoreBuilder::new(from);
    builder.add(file);
    builder.build().ok()
}

fn decided<T>(verdict: &Match<T>) -> Option<bool> {
    match verdict {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
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
