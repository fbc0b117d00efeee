//! Which files are not as they were committed, told from what is at hand: the index and the times of the files.

use std::collections::BTreeSet;

use super::error::GitError;
use super::repo::Repo;

/// Files above which the times are not believed: those of a copied work tree are all new. Then git compares the contents.
const BELIEVED: usize = 64;

/// A file as it lies on disk.
#[derive(Debug, Clone, Copy)]
pub struct OnDisk<'f> {
    /// Path relative to the opened folder, with `/`.
    pub path: &'f str,
    /// Size in bytes.
    pub bytes: u64,
    /// Seconds and nanoseconds of its last change, since 1970.
    pub modified: (i64, u32),
}

impl Repo {
    /// The files that git tracks below the opened folder, links and submodules left out.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn tracked(&self) -> Result<BTreeSet<String>, GitError> {
        /// The type of a regular file in the mode of an entry.
        const REGULAR: u32 = 0o100_000;
        const TYPE: u32 = 0o170_000;
        let index = self.inner.index().map_err(GitError::when("read the index"))?;
        let regular = index.iter().filter(|entry| entry.mode & TYPE == REGULAR);
        Ok(regular.filter_map(|entry| self.below_folder(std::str::from_utf8(&entry.path).ok()?)).collect())
    }

    /// Those of `files` that differ from the index by size or time, that it does not have, or that differ from HEAD in it.
    /// A file that was only touched is taken for edited: someone had it in hand.
    ///
    /// # Errors
    /// The index or HEAD cannot be read.
    pub fn edited<'f>(&self, files: impl Iterator<Item = OnDisk<'f>>) -> Result<BTreeSet<String>, GitError> {
        let failed = GitError::when("read the index");
        let index = self.inner.index().map_err(failed)?;
        let mut edited = BTreeSet::new();
        for file in files {
            let entry = index.get_path(self.to_top(file.path).as_ref(), 0);
            let same = entry.is_some_and(|entry| {
                let time = (i64::from(entry.mtime.seconds()), entry.mtime.nanoseconds());
                // An index that knows whole seconds alone says no more than those.
                let time_fits = time == file.modified || (time.1 == 0 && time.0 == file.modified.0);
                u64::from(entry.file_size) == file.bytes & u64::from(u32::MAX) && time_fits
            });
            if !same {
                edited.insert(file.path.to_owned());
            }
        }
        if edited.len() > BELIEVED {
            return self.dirty_paths();
        }
        let head = self.inner.head().ok().and_then(|head| head.peel_to_tree().ok());
        let staged = self.inner.diff_tree_to_index(head.as_ref(), Some(&index), None).map_err(failed)?;
        let paths = staged.deltas().filter_map(|delta| delta.new_file().path().and_then(|path| path.to_str()));
        edited.extend(paths.filter_map(|path| self.below_folder(path)));
        Ok(edited)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn on_disk<'f>(root: &Path, path: &'f str) -> OnDisk<'f> {
        let meta = fs::metadata(root.join(path)).unwrap();
        let time = meta.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
        OnDisk { path, bytes: meta.len(), modified: (time.as_secs() as i64, time.subsec_nanos()) }
    }

    fn edited(root: &Path, paths: &[&str]) -> Vec<String> {
        let repo = Repo::open(root).unwrap().unwrap();
        repo.edited(paths.iter().map(|path| on_disk(root, path))).unwrap().into_iter().collect()
    }

    #[test]
    fn changed_new_and_staged_files_are_edited() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a", "b", "c"] {
            fs::write(root.join(path), "as committed").unwrap();
        }
        crate::git::init(root, "You", "you@example.com", "Begin").unwrap();
        assert!(edited(root, &["a", "b", "c"]).is_empty());
        fs::write(root.join("a"), "changed").unwrap();
        fs::write(root.join("new"), "").unwrap();
        fs::write(root.join("b"), "staged").unwrap();
        let repo = git2::Repository::open(root).unwrap();
        let mut index = repo.index().unwrap();
        index.add_path(Path::new("b")).unwrap();
        index.write().unwrap();
        assert_eq!(edited(root, &["a", "b", "c", "new"]), ["a", "b", "new"]);
    }

    #[test]
    fn a_copied_work_tree_is_not_taken_for_edited() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let names: Vec<String> = (0..80).map(|n| format!("f{n:02}")).collect();
        names.iter().for_each(|name| fs::write(root.join(name), "text").unwrap());
        crate::git::init(root, "You", "you@example.com", "Begin").unwrap();
        let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(999);
        for name in &names {
            fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(earlier).unwrap();
        }
        fs::write(root.join("f07"), "other").unwrap();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(edited(root, &names), ["f07"]);
    }
}
