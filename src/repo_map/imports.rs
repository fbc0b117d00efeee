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

/// The modules of a repository: its files by the ends of their paths.
#[derive(Debug, Default)]
pub struct Modules {
    /// The components of each file as a module, in lower case.
    keys: Vec<Vec<String>>,
    /// Files by the last component of their key.
    by_name: HashMap<String, Vec<u32>>,
    /// Files by the name of the folder that they are in.
    by_folder: HashMap<String, Vec<u32>>,
    folders: Vec<Vec<String>>,
}

impl Modules {
    /// Files are numbered in the order of `paths`.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut modules = Self::default();
        for (file, path) in (0u32..).zip(paths) {
            let folders: Vec<String> = path::folders(path).map(str::to_lowercase).collect();
            let stem = path::stem(path).to_lowercase();
            let mut key = folders.clone();
            if key.is_empty() || !STANDS_FOR_FOLDER.contains(&stem.as_str()) {
                key.push(stem);
            }
            for (table, last) in [(&mut modules.by_name, key.last()), (&mut modules.by_folder, folders.last())] {
                if let Some(last) = last {
                    table.entry(last.clone()).or_default().push(file);
                }
            }
            modules.keys.push(key);
            modules.folders.push(folders);
        }
        modules
    }

    /// The files that `module`, as written in file `from`, means: sorted, none for what lies outside of the repository.
    pub fn resolve(&self, module: &str, from: u32) -> Vec<u32> {
        let (Some(key), Some(folder)) = (self.keys.get(from as usize), self.folders.get(from as usize)) else {
            return Vec::new();
        };
        let wanted = components(module, key, folder);
        let shortest = wanted.len().saturating_sub(SYMBOLS).max(1);
        for end in (shortest..=wanted.len()).rev() {
            let found = self.ending_in(&wanted[..end], from);
            if !found.is_empty() {
                return if found.len() <= MOST { found } else { Vec::new() };
            }
        }
        Vec::new()
    }

    /// The files that share the longest end with `wanted`, those nearest to `from` of equals; files before folders.
    fn ending_in(&self, wanted: &[String], from: u32) -> Vec<u32> {
        let Some(last) = wanted.last() else { return Vec::new() };
        for (table, keys) in [(&self.by_name, &self.keys), (&self.by_folder, &self.folders)] {
            let candidates =
                table.get(last).map_or(&[][..], Vec::as_slice).iter().copied().filter(|&file| file != from);
            let rank = |file: u32| {
                let shared = shared_end(&keys[file as usize], wanted);
                (shared, shared_start(&self.folders[file as usize], &self.folders[from as usize]))
            };
            let ranked: Vec<((usize, usize), u32)> = candidates.map(|file| (rank(file), file)).collect();
            if let Some(best) = ranked.iter().map(|entry| entry.0).max() {
                return ranked.into_iter().filter(|entry| entry.0 == best).map(|entry| entry.1).collect();
            }
        }
        Vec::new()
    }
}

/// The components of a module, in lower case; those of a relative one from the top, by the importing file's own.
fn components(module: &str, key: &[String], folder: &[String]) -> Vec<String> {
    let module = module.trim();
    if module.starts_with("./") || module.starts_with("../") {
        return joined(folder, module.split('/').map(|part| if part == ".." { ".." } else { path::stem(part) }), "..");
    }
    if module.contains('/') {
        let stems = module.split('/').map(path::stem).filter(|part| !part.is_empty());
        return stems.map(str::to_lowercase).collect();
    }
    if module.starts_with('.') {
        let up = module.bytes().take_while(|&byte| byte == b'.').count() - 1;
        let base = &folder[..folder.len().saturating_sub(up)];
        return joined(base, module.split('.'), "..");
    }
    let parts = || module.split([':', '.', '\\']).filter(|part| !part.is_empty());
    match parts().next() {
        Some("self" | "super") => joined(key, parts().filter(|part| *part != "self"), "super"),
        _ if is_file_name(module) => vec![path::stem(module).to_lowercase()],
        _ => parts().filter(|part| *part != "crate").map(str::to_lowercase).collect(),
    }
}

/// `base` with `parts` behind it; each `up` among them takes a component away.
fn joined<'p>(base: &[String], parts: impl Iterator<Item = &'p str>, up: &str) -> Vec<String> {
    let mut joined = base.to_vec();
    for part in parts {
        if part == up {
            joined.pop();
        } else if !part.is_empty() && part != "." {
            joined.push(part.to_lowercase());
        }
    }
    joined
}

/// True for the name of a header or script, `menu.h`, as opposed to a dotted module.
fn is_file_name(module: &str) -> bool {
    const EXTENSIONS: [&str; 14] =
        ["c", "cc", "cpp", "css", "h", "hh", "hpp", "hxx", "inc", "js", "php", "proto", "rb", "ts"];
    module.split_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

fn shared_end(key: &[String], wanted: &[String]) -> usize {
    key.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b).count()
}

fn shared_start(a: &[String], b: &[String]) -> usize {
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
