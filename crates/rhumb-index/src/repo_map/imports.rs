//! Resolves imports to files, for any language: modules of most languages are paths with other separators.
//!
//! `crate::ui::menu`, `app.ui.menu`, `./ui/menu` and `ui/menu.h` all share their end with the path `…/ui/menu.*`. A module resolves to
//! the files that share its longest end. Names of symbols at the end of a module may be dropped, and a folder resolves to its
//! files. Among equal candidates, those nearest to the importing file are chosen. An external module shares one folder name at most
//! by chance, so short ends are treated with care.

use std::collections::HashMap;

use super::path;

/// Stems of files that represent their folder.
const FOLDER_FILES: [&str; 3] = ["__init__", "index", "mod"];
/// Maximum number of components at the end of a module that name symbols: `a::b::Type::CONSTANT`.
const MAX_SYMBOL_COMPONENTS: usize = 2;
/// Maximum number of files that an import can resolve to. Larger packages say little about each of their files.
const MAX_FILES: usize = 12;

/// A component that no path has.
const UNKNOWN: u32 = u32::MAX;

/// The files of a repository by the ends of their paths. Components of paths, in lower case, are numbered for fast comparison.
#[derive(Debug, Default)]
pub struct ModuleResolver {
    numbers: HashMap<String, u32>,
    /// The components of each file's module name.
    keys: Vec<Vec<u32>>,
    /// The folders of each file.
    folders: Vec<Vec<u32>>,
    /// Files by the last component of the module name.
    by_name: HashMap<u32, Vec<u32>>,
    /// Files by their folder.
    by_folder: HashMap<u32, Vec<u32>>,
}

impl ModuleResolver {
    /// Files are numbered in the order of `paths`.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut modules = Self::default();
        for (file, path) in (0u32..).zip(paths) {
            let folders: Vec<u32> = path::folders(path).map(|folder| modules.add(folder)).collect();
            let stem = path::stem(path).to_lowercase();
            let mut key = folders.clone();
            if key.is_empty() || !FOLDER_FILES.contains(&stem.as_str()) {
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

    /// The number of a component; [`UNKNOWN`] if no path has it.
    fn number(&self, component: &str) -> u32 {
        let known = self.numbers.get(component).or_else(|| {
            let has_capitals = component.chars().any(char::is_uppercase);
            if has_capitals { self.numbers.get(&component.to_lowercase()) } else { None }
        });
        known.copied().unwrap_or(UNKNOWN)
    }

    /// The files that `module`, as written in file `from`, refers to, sorted; empty for external modules.
    pub fn resolve(&self, module: &str, from: u32) -> Vec<u32> {
        let (Some(key), Some(folder)) = (self.keys.get(from as usize), self.folders.get(from as usize)) else {
            return Vec::new();
        };
        let wanted = self.components(module, key, folder);
        let shortest = wanted.len().saturating_sub(MAX_SYMBOL_COMPONENTS).max(1);
        for end in (shortest..=wanted.len()).rev() {
            let found = self.ending_in(wanted.get(..end).unwrap_or_default(), from);
            if !found.is_empty() {
                return if found.len() <= MAX_FILES { found } else { Vec::new() };
            }
        }
        Vec::new()
    }

    /// The files that share the longest end with `wanted`, among equals those nearest to `from`; files before folders.
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

    /// The components of a module. Those of a relative module start at the root, given the importing file.
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

    /// `base` followed by `parts`; each `up` among them removes a component.
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

/// Whether a module is the name of a header or script (`menu.h`), and not a dotted module.
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
        ModuleResolver::new(PATHS).resolve(module, from).into_iter().map(|file| PATHS[file as usize]).collect()
    }

    #[test]
    fn modules_of_many_languages_are_resolved() {
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
    fn a_package_resolves_to_the_files_of_its_folder() {
        let meant = resolve("github.com/someone/pkg/render", "src/text.rs");
        assert_eq!(meant, ["pkg/render/json.go", "pkg/render/xml.go"]);
    }

    #[test]
    fn the_nearest_of_equal_candidates_is_chosen() {
        assert_eq!(resolve("text", "web/src/ui/index.ts"), ["web/src/text.ts"]);
        assert_eq!(resolve("text", "src/ui/menu.rs"), ["src/text.rs"]);
    }

    #[test]
    fn external_modules_resolve_to_nothing() {
        for module in ["std::collections::HashMap", "react", "", "::", "/"] {
            assert!(resolve(module, "src/text.rs").is_empty(), "{module}");
        }
        assert!(ModuleResolver::default().resolve("a", 3).is_empty());
    }

    proptest! {
        #[test]
        fn any_import_can_be_resolved(module in "[a-z./:]{0,12}", paths in prop::collection::vec("[a-c/]{1,6}\\.rs", 1..6)) {
            let found = ModuleResolver::new(paths.iter().map(String::as_str)).resolve(&module, 0);
            prop_assert!(found.is_sorted() && !found.contains(&0) && found.len() <= MAX_FILES);
        }
    }
}
