//! What a commit is going to change, as text.

use git2::{DiffOptions, Patch};

use super::error::GitError;
use super::repo::Repo;
use super::take::{Change, Held, Taken, apply, in_memory};

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

/// The text of one file before and after a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTexts {
    /// From the top of the work tree.
    pub path: String,
    /// The path that it had before, if the same content was at a path that is gone now.
    pub renamed_from: Option<String>,
    /// `None` if there was no file. Empty for what is no UTF-8 text of at most 1 MiB.
    pub before: Option<String>,
    /// `None` if the file is gone. Otherwise as `before`.
    pub after: Option<String>,
}

impl Repo {
    /// The files that the commit of `taken` changes.
    pub fn texts(&self, taken: &Taken) -> Vec<FileTexts> {
        let changes: Vec<&Change> =
            taken.changes.iter().filter(|change| change.held_after() != change.in_head).collect();
        let content = |held: Option<Held>| held.map(|(id, _)| id);
        let gone = |change: &&&Change| change.after.is_none();
        // The path whose content a new file has: it was renamed.
        let source = |change: &Change| {
            let is_source = |gone: &&&Change| content(gone.in_head) == content(change.held_after());
            change.in_head.is_none().then(|| changes.iter().filter(gone).find(is_source)).flatten()
        };
        let sources: Vec<&str> = changes.iter().filter_map(|change| Some(source(change)?.path.as_str())).collect();
        let kept = changes.iter().filter(|change| change.after.is_some() || !sources.contains(&change.path.as_str()));
        let text = |(id, _): Held| {
            let blob = self.inner.find_blob(id).ok();
            let blob = blob.filter(|blob| i64::try_from(blob.size()).is_ok_and(|size| size <= MOST_BYTES));
            blob.and_then(|blob| String::from_utf8(blob.content().to_vec()).ok()).unwrap_or_default()
        };
        kept.map(|change| {
            let source = source(change);
            FileTexts {
                path: change.path.clone(),
                renamed_from: source.map(|source| source.path.clone()),
                before: source.map_or(change.in_head, |source| source.in_head).map(text),
                after: change.held_after().map(text),
            }
        })
        .collect()
    }

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
