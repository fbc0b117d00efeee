//! What a commit is going to change, as text.

use git2::{DiffOptions, Patch};

use super::error::GitError;
use super::repo::Repo;
use super::take::{Taken, apply, in_memory};

/// Files larger than this many bytes are only named.
const MOST_BYTES: i64 = 1 << 20;

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// From the top of the work tree.
    pub path: String,
    /// The unified diff, with its header.
    pub text: String,
}

impl Repo {
    /// What the commit of `taken` changes, file by file. With `on`, the commit of that one comes before.
    ///
    /// # Errors
    /// HEAD cannot be read, or the object store not be written.
    pub fn patches(&self, taken: &Taken, on: Option<&Taken>) -> Result<Vec<FilePatch>, GitError> {
        let failed = GitError::when("compare the files");
        let mut index = in_memory(self.parent()?.as_ref())?;
        if let Some(on) = on {
            apply(&mut index, &on.changes.iter().collect::<Vec<_>>())?;
        }
        let before = index.write_tree_to(&self.inner).map_err(failed)?;
        apply(&mut index, &taken.changes.iter().collect::<Vec<_>>())?;
        let after = index.write_tree_to(&self.inner).map_err(failed)?;
        let tree = |id| self.inner.find_tree(id).map_err(failed);
        let mut options = DiffOptions::new();
        options.max_size(MOST_BYTES);
        let diff = self.inner.diff_tree_to_tree(Some(&tree(before)?), Some(&tree(after)?), Some(&mut options));
        let diff = diff.map_err(failed)?;
        let mut patches = Vec::new();
        for at in 0..diff.deltas().len() {
            let Some(mut patch) = Patch::from_diff(&diff, at).map_err(failed)? else { continue };
            let text = String::from_utf8_lossy(&patch.to_buf().map_err(failed)?).into_owned();
            let delta = patch.delta();
            let path = delta.new_file().path().or_else(|| delta.old_file().path());
            let path = path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
            patches.push(FilePatch { path, text });
        }
        Ok(patches)
    }
}
