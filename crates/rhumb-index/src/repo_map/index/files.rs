//! What is known of the files of an index without a request, and their lookup by name. Each table is computed at its first use.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rhumb_syntax::SymbolKind;

use super::MapIndex;
use crate::repo_map::path;

/// The kind of a file, by its path and its definitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FileKind {
    /// Whether it is a test, an example, documentation or vendored code.
    pub(crate) is_peripheral: bool,
    /// Whether it is a test.
    pub(crate) is_test: bool,
    /// Whether it represents its folder.
    pub(crate) is_entry: bool,
    /// Whether it is a README or a manifest at the root.
    pub(crate) is_landmark: bool,
    /// Whether it has definitions of code, not only sections of a document or keys.
    pub(crate) has_code: bool,
}

impl FileKind {
    fn new(index: &MapIndex, file: u32) -> Self {
        let path = index.path(file);
        let is_code = |kind: SymbolKind| !matches!(kind, SymbolKind::Section | SymbolKind::Key | SymbolKind::Selector);
        Self {
            is_peripheral: path::is_peripheral(path),
            is_test: path::is_test(path),
            is_entry: path::is_entry(path::stem(path)),
            is_landmark: path::is_landmark(path),
            has_code: index.definitions(file).any(|entry| is_code(entry.kind())),
        }
    }
}

/// The tables of an index.
#[derive(Debug, Default)]
pub(super) struct FileTables {
    kinds: OnceLock<Vec<FileKind>>,
    /// Files, sorted by file name.
    by_file_name: OnceLock<Vec<u32>>,
    /// Files, sorted by stem. A file that represents its folder is listed again by the name of the folder; then the second value is true.
    by_stem: OnceLock<Vec<(u32, bool)>>,
    packages: OnceLock<BTreeSet<String>>,
}

impl MapIndex {
    /// The kinds of all files.
    pub(crate) fn kinds(&self) -> &[FileKind] {
        let kinds = || (0..self.len() as u32).map(|file| FileKind::new(self, file)).collect();
        self.tables.kinds.get_or_init(kinds)
    }

    /// The kind of a file.
    pub(crate) fn kind(&self, file: u32) -> FileKind {
        self.kinds().get(file as usize).copied().unwrap_or_default()
    }

    /// The files with this file name.
    pub(crate) fn files_named(&self, file_name: &str) -> &[u32] {
        let name = |file: u32| path::file_name(self.path(file));
        let files = self.tables.by_file_name.get_or_init(|| {
            let mut files: Vec<u32> = (0..self.len() as u32).collect();
            files.sort_by_cached_key(|&file| name(file));
            files
        });
        equal_range(files, file_name, |&file| name(file))
    }

    /// The files with this file name without extension, and those that represent a folder of this name.
    pub(crate) fn files_of_stem(&self, stem: &str) -> impl Iterator<Item = u32> + '_ {
        let name = |&(file, by_folder): &(u32, bool)| {
            let path = self.path(file);
            if by_folder { path::folders(path).last().unwrap_or_default() } else { path::stem(path) }
        };
        let files = self.tables.by_stem.get_or_init(|| {
            let is_folder = |file: u32| self.kind(file).is_entry && path::folders(self.path(file)).next().is_some();
            let names = |file: u32| [(file, false)].into_iter().chain(is_folder(file).then_some((file, true)));
            let mut files: Vec<(u32, bool)> = (0..self.len() as u32).flat_map(names).collect();
            files.sort_by_cached_key(name);
            files
        });
        equal_range(files, stem, name).iter().map(|entry| entry.0)
    }

    /// The names of the packages of the repository in lower case: its top-level folders, and those below a source folder.
    pub(crate) fn packages(&self) -> &BTreeSet<String> {
        self.tables.packages.get_or_init(|| {
            let mut packages = BTreeSet::new();
            for file in self.files() {
                let mut folders = path::folders(&file.path);
                let first = folders.next();
                let inner = folders.next().filter(|_| first.is_some_and(path::is_source_folder));
                packages.extend([first, inner].into_iter().flatten().map(str::to_lowercase));
            }
            packages.retain(|name| !name.starts_with("test"));
            packages
        })
    }
}

/// The entries with this name. They must be sorted by name.
fn equal_range<'t, 's, T>(sorted: &'t [T], name: &str, name_of: impl Fn(&T) -> &'s str) -> &'t [T] {
    let from = sorted.partition_point(|entry| name_of(entry) < name);
    let rest = sorted.get(from..).unwrap_or_default();
    rest.get(..rest.partition_point(|entry| name_of(entry) == name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo_map::MapFile;

    #[test]
    fn files_are_found_by_name_and_by_the_folder_that_they_represent() {
        let paths = ["b/gate.rs", "gate/mod.rs", "a/gate.rs", "gate.rs", "mod.rs", "lib/pier/tests/a.rs"];
        let files: Vec<MapFile> =
            paths.iter().map(|path| MapFile { path: (*path).to_owned(), ..MapFile::default() }).collect();
        let index = MapIndex::of(&files);
        let paths = |files: &[u32]| files.iter().map(|&file| index.path(file).to_owned()).collect::<Vec<_>>();
        let of_stem = |stem| paths(&index.files_of_stem(stem).collect::<Vec<_>>());
        assert_eq!(paths(index.files_named("gate.rs")), ["a/gate.rs", "b/gate.rs", "gate.rs"]);
        assert_eq!(of_stem("gate"), ["a/gate.rs", "b/gate.rs", "gate.rs", "gate/mod.rs"]);
        assert_eq!(of_stem("mod"), ["gate/mod.rs", "mod.rs"]);
        assert!(index.files_named("gate").is_empty() && of_stem("g").is_empty() && of_stem("zz").is_empty());
        assert_eq!(index.packages().iter().collect::<Vec<_>>(), ["a", "b", "gate", "lib", "pier"]);
        assert!(index.kind(index.file_at("lib/pier/tests/a.rs").unwrap()).is_test);
        assert_eq!(index.kind(99), FileKind::default());
    }
}
