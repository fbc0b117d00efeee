//! The store of the repo map of one repository.

use super::StoreError;
use super::database::make_folder;
use super::map_files::{
    KnownFile, StoredSegment, Tree, read_counts, read_history, read_ranks, read_status, write_counts, write_history,
    write_ranks, write_status,
};
use super::sealed::Section;
use rhumb_index::repo_map::{GraphRanks, History};
use rhumb_tokens::LineCount;
use rhumb_workspace::git::WorkTreeStatus;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::xxh3_64;

/// Age at which an unreferenced segment is removed. Another process may be about to reference a newer one.
const MAX_SEGMENT_AGE: Duration = Duration::from_secs(3_600);
/// Age at which an unused tree is removed.
const MAX_TREE_AGE: Duration = Duration::from_secs(60 * 86_400);
/// Maximum number of other repositories that are kept, most recently surveyed first.
const MAX_REPOSITORIES: usize = 200;
/// Maximum number of repositories that are removed at once, so that a survey is not delayed.
const MAX_REMOVED_AT_ONCE: usize = 20;

/// The folder of one repository in the cache.
#[derive(Debug, Clone)]
pub struct MapStore {
    folder: PathBuf,
    root: PathBuf,
}

/// The content of the store for a root.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The segments with the records of the files.
    pub segments: Vec<StoredSegment>,
    /// The files of the last survey, sorted by path.
    pub files: Vec<KnownFile>,
    /// Whether stored data was damaged or from another version.
    pub rebuilt: bool,
}

impl MapStore {
    /// The store of a root in the `cache` folder. Roots of one `repository` (its worktrees) share segments. Nothing is created
    /// or read yet.
    pub fn new(cache: &Path, repository: &Path, root: &Path) -> Self {
        let name: String =
            repository.file_name().unwrap_or(OsStr::new("root")).to_string_lossy().chars().take(40).collect();
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let folder = cache.join("maps").join(format!("{plain}-{:016x}", hash(repository)));
        Self { folder, root: root.to_owned() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Loads what is stored for the root; empty if nothing is stored or it is damaged.
    pub fn load(&self, with_terms: bool) -> Loaded {
        let path = self.tree_path();
        if !path.exists() {
            return Loaded::default();
        }
        let read = Tree::read(&path).and_then(|tree| {
            let segments = tree.segments.iter().map(|&id| StoredSegment::read(&self.segment_path(id), with_terms));
            Some(Loaded { segments: segments.collect::<Option<_>>()?, files: tree.files, rebuilt: false })
        });
        read.unwrap_or(Loaded { rebuilt: true, ..Loaded::default() })
    }

    /// Stores the files of a root with the segments of their records, and removes unreferenced segments. `terms` are those of the last
    /// segment, if it does not have them.
    ///
    /// # Errors
    /// The folder or a file in it cannot be written.
    pub fn save(
        &self,
        segments: &[StoredSegment],
        mut terms: Option<Vec<u32>>,
        files: Vec<KnownFile>,
    ) -> Result<(), StoreError> {
        if !self.folder.exists() {
            self.remove_old_repositories();
        }
        for folder in [self.folder.join("segments"), self.folder.join("trees")] {
            make_folder(&folder).map_err(|source| StoreError::Folder { path: folder.clone(), source })?;
        }
        let tree = Tree { segments: segments.iter().map(StoredSegment::id).collect(), files };
        for (at, (stored, id)) in segments.iter().zip(&tree.segments).enumerate() {
            let path = self.segment_path(*id);
            if stored.stored && path.exists() {
                continue;
            }
            let given = terms.take_if(|_| at + 1 == segments.len()).map(Section::from);
            let Some(terms) = stored.segment.terms().map(Section::from).or(given) else {
                // The segment was loaded without terms and has been removed since. Without the tree the next run makes
                // everything again.
                let _ = fs::remove_file(self.tree_path());
                return Ok(());
            };
            stored.write(&path, terms)?;
        }
        tree.write(&self.tree_path())?;
        self.sweep();
        Ok(())
    }

    /// The stored commit history; empty without one.
    pub fn history(&self) -> History {
        read_history(&self.history_path())
    }

    /// Stores the commit history.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save_history(&self, history: &History) -> Result<(), StoreError> {
        self.make_folder()?;
        write_history(&self.history_path(), history)
    }

    /// The stored status of the work tree; empty without one.
    pub fn status(&self) -> WorkTreeStatus {
        read_status(&self.status_path())
    }

    /// Stores the status of the work tree.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save_status(&self, status: &WorkTreeStatus) -> Result<(), StoreError> {
        let folder = self.folder.join("status");
        make_folder(&folder).map_err(|source| StoreError::Folder { path: folder, source })?;
        write_status(&self.status_path(), status)
    }

    /// The stored ranks of the graph with that key.
    pub fn ranks(&self, key: u64) -> Option<GraphRanks> {
        read_ranks(&self.ranks_path(), key)
    }

    /// Stores the ranks of a graph, instead of those of an earlier one.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save_ranks(&self, key: u64, ranks: &GraphRanks) -> Result<(), StoreError> {
        let folder = self.folder.join("ranks");
        make_folder(&folder).map_err(|source| StoreError::Folder { path: folder, source })?;
        write_ranks(&self.ranks_path(), key, ranks)
    }

    fn ranks_path(&self) -> PathBuf {
        self.folder.join("ranks").join(format!("{:016x}", hash(&self.root)))
    }

    fn status_path(&self) -> PathBuf {
        self.folder.join("status").join(format!("{:016x}", hash(&self.root)))
    }

    fn history_path(&self) -> PathBuf {
        self.folder.join("history")
    }

    fn make_folder(&self) -> Result<(), StoreError> {
        make_folder(&self.folder).map_err(|source| StoreError::Folder { path: self.folder.clone(), source })
    }

    /// The stored token counts of the tokenizer with that name.
    pub fn line_counts(&self, name: &str) -> Vec<LineCount> {
        read_counts(&self.counts_path(name))
    }

    /// Stores token counts of lines.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save_line_counts(&self, name: &str, lines: &[LineCount]) -> Result<(), StoreError> {
        self.make_folder()?;
        write_counts(&self.counts_path(name), lines)
    }

    fn counts_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("tokens-{name}"))
    }

    /// The size of the index in a folder, in bytes: its segments, trees and ranks.
    pub fn size_in(folder: &Path) -> u64 {
        let files = ["segments", "trees", "ranks"].iter().flat_map(|part| entries(&folder.join(part)));
        files.filter_map(|file| fs::metadata(file).ok()).map(|file| file.len()).sum()
    }

    /// Removes everything that is stored for the repository.
    pub fn clear(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    fn tree_path(&self) -> PathBuf {
        self.folder.join("trees").join(format!("{:016x}", hash(&self.root)))
    }

    fn segment_path(&self, id: u64) -> PathBuf {
        self.folder.join("segments").join(format!("{id:016x}"))
    }

    /// Removes repositories that were not surveyed for long, and the oldest if there are too many.
    fn remove_old_repositories(&self) {
        let now = SystemTime::now();
        let others = entries(self.folder.parent().unwrap_or(&self.folder)).into_iter();
        let mut others: Vec<(Duration, PathBuf)> = others.map(|other| (unused_for(&other, now), other)).collect();
        others.sort();
        let kept = others.partition_point(|(age, _)| *age < MAX_TREE_AGE).min(MAX_REPOSITORIES);
        for (_, other) in others.drain(kept..).rev().take(MAX_REMOVED_AT_ONCE) {
            let _ = fs::remove_dir_all(&other);
        }
    }

    /// Removes unused trees, statuses and ranks, and unreferenced segments.
    fn sweep(&self) {
        let mut named = BTreeSet::new();
        for path in entries(&self.folder.join("trees")) {
            if is_older(&path, MAX_TREE_AGE) {
                let _ = fs::remove_file(&path);
            } else if let Some(tree) = Tree::read(&path) {
                named.extend(tree.segments.iter().map(|&id| self.segment_path(id)));
            }
        }
        for path in ["status", "ranks"].iter().flat_map(|part| entries(&self.folder.join(part))) {
            if is_older(&path, MAX_TREE_AGE) {
                let _ = fs::remove_file(&path);
            }
        }
        for path in entries(&self.folder.join("segments")) {
            if !named.contains(&path) && is_older(&path, MAX_SEGMENT_AGE) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// The age of the folder of a repository. Each survey that finds something new writes a tree there.
fn unused_for(folder: &Path, now: SystemTime) -> Duration {
    let times =
        [folder.join("trees"), folder.to_owned()].into_iter().filter_map(|path| path.metadata().ok()?.modified().ok());
    times.max().and_then(|last| now.duration_since(last).ok()).unwrap_or_default()
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|elapsed| elapsed > age)
}

fn hash(path: &Path) -> u64 {
    xxh3_64(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store of the repository `number`, last surveyed `hours` ago.
    fn surveyed(cache: &Path, number: u64, hours: u64) -> MapStore {
        let path = PathBuf::from(format!("/work/repository-{number}"));
        let store = MapStore::new(cache, &path, &path);
        store.save(&[], None, Vec::new()).unwrap();
        let then = SystemTime::now() - Duration::from_secs(hours * 3_600);
        for folder in [store.folder().join("trees"), store.folder().to_owned()] {
            fs::File::open(folder).unwrap().set_modified(then).unwrap();
        }
        store
    }

    #[test]
    fn the_size_of_the_index_includes_the_ranks() {
        let cache = tempfile::tempdir().unwrap();
        let store = surveyed(cache.path(), 0, 0);
        let without = MapStore::size_in(store.folder());
        store.save_ranks(1, &GraphRanks { files: vec![0.5; 1_000], ..GraphRanks::default() }).unwrap();
        assert!(MapStore::size_in(store.folder()) >= without + 8_000);
    }

    #[test]
    fn a_new_repository_makes_room_where_there_are_too_many_or_some_are_old() {
        let cache = tempfile::tempdir().unwrap();
        let old = surveyed(cache.path(), 0, 61 * 24);
        let most = MAX_REPOSITORIES as u64;
        let stores: Vec<MapStore> = (1..=most + 2).map(|number| surveyed(cache.path(), number, number)).collect();
        assert!(!old.folder().exists() && stores[0].folder().exists());
        surveyed(cache.path(), 1_000, 0);
        let is_there = |store: &&MapStore| store.folder().exists();
        assert_eq!(stores.iter().filter(is_there).count() as u64, most);
        assert!(stores[..MAX_REPOSITORIES].iter().all(|store| is_there(&store)), "the oldest go");
        // Storing into an existing folder removes no other repository.
        surveyed(cache.path(), 1_000, 0);
        assert_eq!(stores.iter().filter(is_there).count() as u64, most);
    }
}
