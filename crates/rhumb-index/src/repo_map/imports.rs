//! Which files an import means, for any language: the modules of most are paths with other separators.
//!
//! `crate::ui::menu`, `app.ui.menu`, `./ui/menu`, `ui/menu.h` all end as the path `…/ui/menu.*` does. So a module means the
//! files whose paths share its longest end; names of symbols at its own end may be left off, and a folder may stand for
//! the files in it. Of equals the nearest to the importing file are meant. Whoever imports from outside of the repository
//! shares no more than one folder name by accident, hence the care about short ends.

use std::collections::HashMap;

use super::path;

/// Files that stand for the folder that they are in.
const STANDS_FOR_FOLDER: [&str; 3] = ["__init__", "index", "mod"];
/// Components at the end of a module that may name symbols rather than files: `a::b::Type::CONSTANT`.
const SYMBOLS: usize = 2;
/// Files that one import can mean: a package of so many files still says something of each.
const MOST: usize = 12;

/// A word that no path has.
const UNKNOWN: u32 = u32::MAX;

/// The modules of a repository: its files by the ends of their paths. The components of paths, in lower case, are numbered,
/// so that comparing them costs nothing.
#[derive(Debug, Default)]
pub struct Modules {
    numbers: HashMap<String, u32>,
    /// The components of each file as a module.
    keys: Vec<Vec<u32>>,
    /// The folders of each file.
    folders: Vec<Vec<u32>>,
    /// Files by the last component of their key.
    by_name: HashMap<u32, Vec<u32>>,
    /// Files by the folder that they are in.
    by_folder: HashMap<u32, Vec<u32>>,
}

impl Modules {
    /// Files are numbered in the order of `paths`.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut modules = Self::default();
        for (file, path) in (0u32..).zip(paths) {
            let folders: Vec<u32> = path::folders(path).map(|folder| modules.add(folder)).collect();
            let stem = path::stem(path).to_lowercase();
            let mut key = folders.clone();
            if key.is_empty() || !STANDS_FOR_FOLDER.contains(&stem.as_str()) {
                key.push(modules.add(&stem));
            }
            for (table, last) in [(&mut modules.by_name, key.last()), (&mut modules.by_folder, folders.last())] {
                if let Some(last) = last {
                    table.entry(*last).or_default().push(file);
                }
            }
            modules.keys.push(key);
            modules.folders.push(folders);
        }
        modules
    }

    fn add(&mut self, component: &str) -> u32 {
        let fresh = self.numbers.len() as u32;
        *self.numbers.entry(component.to_lowercase()).or_insert(fresh)
    }

    /// The number of a component; [`UNKNOWN`] for one that no path has.
    fn number(&self, component: &str) -> u32 {
        let known = self.numbers.get(component).or_else(|| {
            let has_capitals = component.chars().any(char::is_uppercase);
            if has_capitals { self.numbers.get(&component.to_lowercase()) } else { None }
        });
        known.copied().unwrap_or(UNKNOWN)
    }

    /// The files that `module`, as written in file `from`, means: sorted, none for what lies outside of the repository.
    pub fn resolve(&self, module: &str, from: u32) -> Vec<u32> {
        let (Some(key), Some(folder)) = (self.keys.get(from as usize), self.folders.get(from as usize)) else {
            return Vec::new();
        };
        let wanted = self.components(module, key, folder);
        let shortest = wanted.len().saturating_sub(SYMBOLS).max(1);
        for end in (shortest..=wanted.len()).rev() {
            let found = self.ending_in(wanted.get(..end).unwrap_or_default(), from);
            if !found.is_empty() {
                return if found.len() <= MOST { found } else { Vec::new() };
            }
        }
        Vec::new()
    }

    /// The files that share the longest end with `wanted`, those nearest to `from` of equals; files before folders.
    fn ending_in(&self, wanted: &[u32], from: u32) -> Vec<u32> {
        let Some(last) = wanted.last() else { return Vec::new() };
        for (table, keys) in [(&self.by_name, &self.keys), (&self.by_folder, &self.folders)] {
            let candidates = table.get(last).map_or(&[][..], Vec::as_slice);
            let (mut best, mut found) = ((0, 0), Vec::new());
            for &file in candidates.iter().filter(|&&file| file != from) {
                let shared = shared_end(&keys[file as usize], wanted);
                let rank = (shared, shared_start(&self.folders[file as usize], &self.folders[from as usize]));
                if rank > best {
                    best = rank;
                    found.clear();
                }
                if rank == best {
                    found.push(file);
                }
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The components of a module; those of a relative one from the top, by the importing file's own.
    fn components(&self, module: &str, key: &[u32], folder: &[u32]) -> Vec<u32> {
        let module = module.trim();
        if module.starts_with("./") || module.starts_with("../") {
            let parts = module.split('/').map(|part| if part == ".." { ".." } else { path::stem(part) });
            return self.joined(folder, parts, "..");
        }
        if module.contains('/') {
            let stems = module.split('/').map(path::stem).filter(|part| !part.is_empty());
            return stems.map(|stem| self.number(stem)).collect();
        }
        if module.starts_with('.') {
            let up = module.bytes().take_while(|&byte| byte == b'.').count() - 1;
            let base = folder.get(..folder.len().saturating_sub(up)).unwrap_or_default();
            return self.joined(base, module.split('.'), "..");
        }
        let parts = || module.split([':', '.', '\\']).filter(|part| !part.is_empty());
        match parts().next() {
            Some("self" | "super") => self.joined(key, parts().filter(|part| *part != "self"), "super"),
            _ if is_file_name(module) => vec![self.number(path::stem(module))],
            _ => parts().filter(|part| *part != "crate").map(|part| self.number(part)).collect(),
        }
    }

    /// `base` with `parts` behind it; each `up` among them takes a component away.
    fn joined<'p>(&self, base: &[u32], parts: impl Iterator<Item = &'p str>, up: &str) -> Vec<u32> {
        let mut joined = base.to_vec();
        for part in parts {
            if part == up {
                joined.pop();
            } else if !part.is_empty() && part != "." {
                joined.push(self.number(part));
            }
        }
        joined
    }
}

/// True for the name of a header or script, `menu.h`, as opposed to a dotted module.
fn is_file_name(module: &str) -> bool {
    const EXTENSIONS: [&str; 14] =
        ["c", "cc", "cpp", "css", "h", "hh", "hpp", "hxx", "inc", "js", "php", "proto", "rb", "ts"];
    module.split_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

fn shared_end(key: &[u32], wanted: &[u32]) -> usize {
    key.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b && **a != UNKNOWN).count()
}

fn shared_start(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATHS: [&str; 10] = [
        "src/ui/menu.rs",
        "src/ui/mod.rs",
        "src/text.rs",
        "web/src/text.ts",
        "web/src/ui/index.ts",
        "pkg/render/json.go",
        "pkg/render/xml.go",
        "lib/python/app/ui/menu.py",
        "include/core/menu.h",
        "java/com/example/Menu.java",
    ];

    fn resolve(module: &str, from: &str) -> Vec<&'static str> {
        let from = PATHS.iter().position(|path| *path == from).unwrap() as u32;
        Modules::new(PATHS).resolve(module, from).into_iter().map(|file| PATHS[file as usize]).collect()
    }

    #[test]
    fn modules_of_every_language_mean_files() {
        for (module, from, meant) in [
            ("crate::ui::menu", "src/text.rs", "src/ui/menu.rs"),
            ("crate::ui::menu::Entry::NONE", "src/text.rs", "src/ui/menu.rs"),
            ("super::super::text", "src/ui/menu.rs", "src/text.rs"),
            ("crate::ui", "src/text.rs", "src/ui/mod.rs"),
            ("self::menu", "src/ui/mod.rs", "src/ui/menu.rs"),
            ("../text.js", "web/src/ui/index.ts", "web/src/text.ts"),
            ("./ui", "web/src/text.ts", "web/src/ui/index.ts"),
            ("app.ui.menu", "src/text.rs", "lib/python/app/ui/menu.py"),
            ("core/menu.h", "src/text.rs", "include/core/menu.h"),
            ("com.example.Menu", "src/text.rs", "java/com/example/Menu.java"),
        ] {
            assert_eq!(resolve(module, from), [meant], "{module} in {from}");
        }
    }

    #[test]
    fn a_package_means_the_files_of_its_folder() {
        let meant = resolve("github.com/someone/pkg/render", "src/text.rs");
        assert_eq!(meant, ["pkg/render/json.go", "pkg/render/xml.go"]);
    }

    #[test]
    fn the_nearest_of_equals_is_meant() {
        assert_eq!(resolve("text", "web/src/ui/index.ts"), ["web/src/text.ts"]);
        assert_eq!(resolve("text", "src/ui/menu.rs"), ["src/text.rs"]);
    }

    #[test]
    fn what_is_not_here_means_nothing() {
        for module in ["std::collections::HashMap", "react", "", "::", "/"] {
            assert!(resolve(module, "src/text.rs").is_empty(), "{module}");
        }
        assert!(Modules::default().resolve("a", 3).is_empty());
    }

    proptest! {
        #[test]
        fn any_import_can_be_looked_for(module in "[a-z./:]{0,12}", paths in prop::collection::vec("[a-c/]{1,6}\\.rs", 1..6)) {
            let found = Modules::new(paths.iter().map(String::as_str)).resolve(&module, 0);
            prop_assert!(found.is_sorted() && !found.contains(&0) && found.len() <= MOST);
        }
    }
}
