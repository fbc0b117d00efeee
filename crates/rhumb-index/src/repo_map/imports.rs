//! Resolves imports to files, for any language: modules of most languages are paths with other separators.
//!
//! `crate::ui::menu`, `app.ui.menu`, `./ui/menu` and `ui/menu.h` all share their end with the path `…/ui/menu.*`. A module resolves to
//! the files that share its longest end. Names of symbols at the end of a module may be dropped, and a folder resolves to its
//! files. Among equal candidates, those nearest to the importing file are chosen.
//!
//! An external module can share its last component with a file by chance: `java.util.List` and `…/app/List.java`. A module of several
//! components therefore has to share two of them, or the whole path of the file, unless it begins in the repository (`crate`, `./`). Paths
//! have folders that modules omit: `rhumb_index::map` is `rhumb-index/src/map.rs`, and a Go package `render` has the file
//! `render/render.go`. Each file is therefore also known by its path without them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::path;

/// Stems of files that represent their folder. `lib` is not one of them: each test with `use super::*` would import it.
const FOLDER_FILES: [&str; 3] = ["__init__", "index", "mod"];
/// Maximum number of components at the end of a module that name symbols: `a::b::Type::CONSTANT`.
const MAX_SYMBOL_COMPONENTS: usize = 2;
/// Maximum number of files that an import can resolve to. Larger packages say little about each of their files.
const MAX_FILES: usize = 12;

/// A component that no path has.
const UNKNOWN: u32 = u32::MAX;

/// The files of a repository by the ends of their paths. Components of paths are numbered for fast comparison.
#[derive(Debug, Default)]
pub struct ModuleResolver {
    numbers: HashMap<String, u32>,
    /// By file: the folders of its path.
    folders: Vec<Vec<u32>>,
    /// By file: the components of its module name.
    modules: Vec<Vec<u32>>,
    by_name: EndTable,
    by_folder: EndTable,
}

/// Files by paths whose components are in reverse order. The table is sorted, so that paths that share an end are adjacent.
#[derive(Debug, Default)]
struct EndTable(Vec<(Vec<u32>, u32)>);

impl EndTable {
    fn add<'c>(&mut self, path: impl DoubleEndedIterator<Item = &'c u32>, file: u32) {
        let reversed: Vec<u32> = path.rev().copied().collect();
        if !reversed.is_empty() {
            self.0.push((reversed, file));
        }
    }

    /// The entries that share the longest end with `wanted`. If that is one component and `one_is_enough` is false, only those that have no
    /// other component.
    fn ending_in(&self, wanted: &[u32], one_is_enough: bool) -> &[(Vec<u32>, u32)] {
        let (mut found, mut shared) = (&self.0[..], 0);
        for component in wanted.iter().rev() {
            let at = |entry: &(Vec<u32>, u32)| entry.0.get(shared).copied();
            let from = found.partition_point(|entry| at(entry) < Some(*component));
            let to = found.partition_point(|entry| at(entry) <= Some(*component));
            if from == to {
                break;
            }
            (found, shared) = (&found[from..to], shared + 1);
        }
        match shared {
            0 => &[],
            // The shortest are first.
            1 if !one_is_enough => &found[..found.partition_point(|entry| entry.0.len() == 1)],
            _ => found,
        }
    }
}

impl ModuleResolver {
    /// Files are numbered in the order of `paths`.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut modules = Self::default();
        for (file, path) in (0u32..).zip(paths) {
            modules.add(file, path);
        }
        for table in [&mut modules.by_name, &mut modules.by_folder] {
            table.0.sort_unstable();
            table.0.dedup();
        }
        modules
    }

    fn add(&mut self, file: u32, path: &str) {
        let names: Vec<&str> = path::folders(path).flat_map(parts_of).collect();
        let folders: Vec<u32> = names.iter().map(|name| self.number_or_add(name)).collect();
        let stem = path::stem(path);
        // A file that represents its folder has the name of the folder, too.
        let represents_folder = FOLDER_FILES.contains(&stem.to_lowercase().as_str()) && !folders.is_empty();
        let stem = self.number_or_add(stem);
        for stem in [Some(stem), None] {
            let next = |at: usize| folders.get(at + 1).copied().or(stem);
            let is_omitted =
                |at: usize| path::is_source_folder(&normalized(names[at])) || next(at) == Some(folders[at]);
            let short: Vec<u32> = (0..folders.len()).filter(|&at| !is_omitted(at)).map(|at| folders[at]).collect();
            for folders in [&folders, &short] {
                if stem.is_some() || represents_folder {
                    self.by_name.add(folders.iter().chain(&stem), file);
                }
                if stem.is_none() {
                    self.by_folder.add(folders.iter(), file);
                }
            }
        }
        self.modules.push(folders.iter().copied().chain((!represents_folder).then_some(stem)).collect());
        self.folders.push(folders);
    }

    fn number_or_add(&mut self, component: &str) -> u32 {
        let fresh = self.numbers.len() as u32;
        *self.numbers.entry(normalized(component).into_owned()).or_insert(fresh)
    }

    /// The number of a component; [`UNKNOWN`] if no path has it.
    fn number(&self, component: &str) -> u32 {
        self.numbers.get(normalized(component).as_ref()).copied().unwrap_or(UNKNOWN)
    }

    /// The files that `module`, as written in file `from`, refers to, sorted; empty for external modules.
    pub fn resolve(&self, module: &str, from: u32) -> Vec<u32> {
        let (Some(folders), Some(own)) = (self.folders.get(from as usize), self.modules.get(from as usize)) else {
            return Vec::new();
        };
        let (wanted, begins_inside) = self.components(module, folders, own);
        let one_is_enough = begins_inside || wanted.len() == 1;
        let shortest = wanted.len().saturating_sub(MAX_SYMBOL_COMPONENTS).max(1);
        for end in (shortest..=wanted.len()).rev() {
            let wanted = &wanted[..end];
            let mut found = self.nearest(self.by_name.ending_in(wanted, one_is_enough), from);
            // The first component of a longer module can only be a file: `java` of `java.util.List` is not the folder `src/main/java`.
            if found.is_empty() && (one_is_enough || end > 1) {
                found = self.nearest(self.by_folder.ending_in(wanted, one_is_enough), from);
            }
            if !found.is_empty() {
                return if found.len() <= MAX_FILES { found } else { Vec::new() };
            }
        }
        Vec::new()
    }

    /// The files of `entries` nearest to the file `from`, without it, sorted.
    fn nearest(&self, entries: &[(Vec<u32>, u32)], from: u32) -> Vec<u32> {
        let (mut best, mut found) = (0, Vec::new());
        for &(_, file) in entries.iter().filter(|entry| entry.1 != from) {
            let shared = shared_start(&self.folders[file as usize], &self.folders[from as usize]);
            if shared > best {
                best = shared;
                found.clear();
            }
            if shared == best {
                found.push(file);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The components of a module, and whether it begins in the repository. Those of a relative module start at the root, given the
    /// folders and the module name of the importing file.
    fn components(&self, module: &str, folders: &[u32], own: &[u32]) -> (Vec<u32>, bool) {
        let module = module.trim();
        if module.starts_with("./") || module.starts_with("../") {
            let parts = module.split('/').map(|part| if part == ".." { ".." } else { path::stem(part) });
            return (self.joined(folders, parts, ".."), true);
        }
        if module.contains('/') {
            let below_root = module.strip_prefix("@/").or_else(|| module.strip_prefix("~/"));
            let stems = below_root.unwrap_or(module).split('/').map(path::stem).filter(|part| !part.is_empty());
            return (stems.map(|stem| self.number(stem)).collect(), below_root.is_some());
        }
        if module.starts_with('.') {
            let up = module.bytes().take_while(|&byte| byte == b'.').count() - 1;
            let base = folders.get(..folders.len().saturating_sub(up)).unwrap_or_default();
            return (self.joined(base, module.split('.'), ".."), true);
        }
        let parts = || module.split([':', '.', '\\']).filter(|part| !part.is_empty());
        match parts().next() {
            Some("self" | "super") => (self.joined(own, parts().filter(|part| *part != "self"), "super"), true),
            _ if is_file_name(module) => (vec![self.number(path::stem(module))], true),
            first => {
                let numbers = parts().filter(|part| *part != "crate").map(|part| self.number(part));
                (numbers.collect(), first == Some("crate"))
            }
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

/// A component as it is compared: in lower case, without `-` and `_` between its words. The crate `rhumb-index` is the module `rhumb_index`, and
/// the folder `my_app` is `MyApp` in Elixir. `_private` is not `private`.
fn normalized(component: &str) -> Cow<'_, str> {
    let words = component.trim_start_matches('_');
    if words.bytes().all(|byte| byte.is_ascii() && !matches!(byte, b'-' | b'_' | b'A'..=b'Z')) {
        return Cow::Borrowed(component);
    }
    let prefix = &component[..component.len() - words.len()];
    Cow::Owned(format!("{prefix}{}", words.to_lowercase().replace(['-', '_'], "")))
}

/// The components of a folder. `Core.Net` has those of a namespace.
fn parts_of(folder: &str) -> impl Iterator<Item = &str> {
    let is_hidden = folder.starts_with('.');
    folder.split(move |c| c == '.' && !is_hidden).filter(|part| !part.is_empty())
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

    /// The files among `paths` that the first one imports as `module`.
    fn imported(module: &str, paths: &[&str]) -> Vec<String> {
        let found = ModuleResolver::new(paths.iter().copied()).resolve(module, 0);
        found.into_iter().map(|file| paths[file as usize].to_owned()).collect()
    }

    #[test]
    fn an_external_module_that_shares_one_component_resolves_to_nothing() {
        for (module, path) in [
            ("java.util.List", "src/main/java/com/foo/app/List.java"),
            ("java.util.List", "src/main/java/com/foo/util/Text.java"),
            ("java.util", "src/main/java/com/foo/util/Text.java"),
            ("java.io.IOException", "src/main/java/module-info.java"),
            ("kotlin.collections.List", "app/src/main/kotlin/com/foo/List.kt"),
            ("scala.util.Try", "core/src/main/scala/com/foo/Try.scala"),
            ("System.Text", "Source/Foo.Bar/Text/Pad.cs"),
            ("Symfony\\Component\\Request", "app/Http/Request.php"),
            ("os.path", "src/app/path.py"),
            ("app.private", "src/app/_private.py"),
            ("std::path::PathBuf", "crates/edit/src/path.rs"),
            ("encoding/json", "internal/render/json.go"),
            ("github.com/other/lib/render", "internal/render/json.go"),
            ("@scope/utils", "web/utils/text.ts"),
            ("node:path", "web/path.ts"),
        ] {
            assert!(imported(module, &["a/b.c", path]).is_empty(), "{module} is not {path}");
        }
    }

    #[test]
    fn a_module_of_the_repository_can_have_a_prefix_that_paths_lack() {
        for (module, path) in [
            ("com.foo.util.Text", "src/main/java/com/foo/util/Text.java"),
            ("com.foo.util.Text.PAD", "src/main/java/com/foo/util/Text.java"),
            ("com.foo.util", "src/main/java/com/foo/util/Text.java"),
            ("com.foo.util.Text", "src/main/kotlin/util/Text.kt"),
            ("Foo.Bar.Text", "Source/Foo.Bar/Text/Pad.cs"),
            ("Vendor\\Package\\Http\\Request", "src/Http/Request.php"),
            ("Vendor\\Package\\Request", "src/Request.php"),
            ("app.core.path", "src/app/core/path.py"),
            ("MyApp.Accounts.UserToken", "lib/my_app/accounts/user_token.ex"),
            ("MyApp.User", "lib/my_app/user.ex"),
            ("rhumb_index::map::Map", "crates/rhumb-index/src/map.rs"),
            ("rhumb_index", "crates/rhumb-index/src/lib.rs"),
            ("github.com/foo/bar/render", "render/render.go"),
            ("github.com/foo/bar/internal/render", "internal/render/json.go"),
            ("@scope/text", "packages/text/src/index.ts"),
            ("@scope/text/pad", "packages/text/src/pad.ts"),
            ("@/text/pad", "web/src/text/pad.ts"),
            ("@/pad", "web/src/pad.ts"),
        ] {
            assert_eq!(imported(module, &["a/b.c", path]), [path], "{module}");
        }
    }

    #[test]
    fn the_file_that_represents_a_folder_can_also_be_named() {
        assert_eq!(imported("./index", &["web/a.ts", "web/index.ts"]), ["web/index.ts"]);
        assert_eq!(imported("crate::ui", &["src/a.rs", "src/ui/mod.rs"]), ["src/ui/mod.rs"]);
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
