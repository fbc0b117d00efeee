//! What is not committed, as a diff.

use git2::{DiffFormat, DiffOptions};

use super::error::GitError;
use super::repo::Repo;

/// A file larger than this is named in the diff and not quoted.
const LARGEST: i64 = 1024 * 1024;

impl Repo {
    /// What differs from HEAD below the opened folder, staged or not, new files included and ignored ones not: a unified diff of the
    /// files that `is_wanted`. No program of the user's is run for it.
    ///
    /// # Errors
    /// HEAD, the index or the work tree cannot be read.
    pub fn uncommitted(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<String, GitError> {
        let failed = GitError::when("compare the work tree");
        self.check_all_rules()?;
        let head = self.inner.head().ok().and_then(|head| head.peel_to_tree().ok());
        let mut options = DiffOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).show_untracked_content(true);
        options.ignore_submodules(true).max_size(LARGEST);
        let diff = self.inner.diff_tree_to_workdir_with_index(head.as_ref(), Some(&mut options)).map_err(failed)?;
        let mut text = String::new();
        diff.print(DiffFormat::Patch, |delta, _, line| {
            let path = delta.new_file().path().or_else(|| delta.old_file().path()).and_then(|path| path.to_str());
            if path.and_then(|path| self.below_folder(path)).is_some_and(|path| is_wanted(&path)) {
                if matches!(line.origin(), '+' | '-' | ' ') {
                    text.push(line.origin());
                }
                text.push_str(&String::from_utf8_lossy(line.content()));
            }
            true
        })
        .map_err(failed)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn changes_and_new_files_are_told_and_unwanted_ones_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs::write(folder.path().join(path), text).unwrap();
        };
        write("a.txt", "one\n");
        write("sub/b.txt", "two\n");
        write(".gitignore", "build\n");
        crate::git::init(folder.path(), "Mira Keel", "mira@example.org", "Start").unwrap();
        let repo = Repo::open(folder.path()).unwrap().unwrap();
        assert_eq!(repo.uncommitted(&|_| true).unwrap(), "");
        write("a.txt", "1\n");
        write("sub/c.txt", "three\n");
        write("build/x", "built\n");
        write(".env", "KEY=canary\n");
        let diff = repo.uncommitted(&|path| path != ".env").unwrap();
        assert!(diff.contains("-one\n+1\n") && diff.contains("+++ b/sub/c.txt") && diff.contains("+three"), "{diff}");
        assert!(!diff.contains("canary") && !diff.contains("built"), "{diff}");
        let below = Repo::open(&folder.path().join("sub")).unwrap().unwrap();
        let diff = below.uncommitted(&|_| true).unwrap();
        assert!(diff.contains("+three") && !diff.contains("+1\n"), "{diff}");
    }
}
