//! The definitions that a change touches, and the classification of the files that it modifies.

use std::collections::BTreeMap;

use rhumb_index::repo_map::is_peripheral;
use rhumb_syntax::{Definition, Language, SymbolKind, tags};
use serde::Serialize;
use similar::{Algorithm, DiffOp, DiffTag};

/// Languages of documents, data, styles and builds.
const OTHER_LANGUAGES: [&str; 15] = [
    "cmake", "css", "dockerfile", "graphql", "html", "ini", "json", "less", "make", "markdown", "properties", "scss",
    "starlark", "toml", "yaml",
];
/// Endings of the paths of build scripts and settings.
const OTHER_ENDINGS: [&str; 14] = [
    ".config.js", ".config.mjs", ".config.ts", ".eslintrc.js", ".gemspec", ".gradle", ".gradle.kts", "build.ps1",
    "Gemfile", "Package.swift", "Podfile", "Rakefile", "setup.py", "Vagrantfile",
];
/// Endings of folders and file stems of tests, such as `jvmTest` and `Newtonsoft.Json.Tests`.
const TEST_ENDINGS: [&str; 5] = ["Test", "Tests", "Spec", "Specs", "TestCase"];

/// The innermost definition around a changed line, at the parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ChangedSymbol {
    path: String,
    name: String,
    kind: &'static str,
    line: u32,
    end: u32,
    /// The innermost definition that contains it.
    container: Option<String>,
    /// The outermost definition that contains it, modules excepted; otherwise the definition itself.
    top: String,
}

impl ChangedSymbol {
    /// The bare name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Whether a path is that of source code, by its language and name.
pub(super) fn is_code(path: &str) -> bool {
    Language::for_path(path).is_some_and(|language| !OTHER_LANGUAGES.contains(&language.id))
        && !OTHER_ENDINGS.iter().any(|ending| path.ends_with(ending))
        && !path.starts_with("single_include/")
}

/// Whether a file is a test, an example, documentation or vendored code.
pub(super) fn is_test_path(path: &str) -> bool {
    let ends = |name: &str| TEST_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let words = |name: &str| name.split(['-', '_', '.']).any(|word| matches!(word, "test" | "tests" | "specs"));
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    is_peripheral(path) || ends(stem) || words(stem) || folders.split('/').any(|folder| ends(folder) || words(folder))
}

/// Whether a text contains a name as a word. Names of less than three characters are too common to count.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    name.len() > 2
        && text.match_indices(name).any(|(at, _)| {
            let (before, after) = (text.get(..at), text.get(at + name.len()..));
            !before.is_some_and(|text| text.ends_with(is_word)) && !after.is_some_and(|text| text.starts_with(is_word))
        })
}

/// Returns the number of removed and added lines of a file, and the innermost definitions that contain a removed line or a place
/// of added lines. A changed field counts for its type. Tests are omitted.
pub(super) fn changed_symbols(path: &str, before: &str, after: &str) -> (usize, Vec<ChangedSymbol>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut changes = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
    changes.retain(|change| change.tag() != DiffTag::Equal);
    let count = changes.iter().map(|change| change.old_range().len() + change.new_range().len()).sum();
    let definitions =
        Language::detect(path, before).map(|language| tags(language, before).definitions).unwrap_or_default();
    let mut found = BTreeMap::new();
    for (first, last) in changes.iter().flat_map(places) {
        let around = definitions.iter().filter(|definition| definition.line <= first && last <= definition.end_line);
        let around: Vec<&Definition> = around.collect();
        if around.iter().any(|definition| is_test(definition)) {
            continue;
        }
        let innermost =
            around.iter().filter(|definition| is_target(definition.kind)).min_by_key(|definition| extent(definition));
        if let Some(innermost) = innermost {
            found
                .entry((innermost.line, innermost.name.as_str()))
                .or_insert_with(|| symbol(path, innermost, &definitions));
        }
    }
    (count, found.into_values().collect())
}

/// The places of a change: each removed line, or the lines before and after added lines. 1-based.
fn places(change: &DiffOp) -> Vec<(u32, u32)> {
    let line = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let old = change.old_range();
    if old.is_empty() {
        vec![(line(old.start), line(old.start + 1))]
    } else {
        old.map(|at| (line(at + 1), line(at + 1))).collect()
    }
}

/// Orders definitions around a line: the smallest is the innermost.
fn extent(definition: &Definition) -> (u32, std::cmp::Reverse<u32>) {
    (definition.end_line - definition.line, std::cmp::Reverse(definition.line))
}

/// Whether a definition is a test, or a module of tests among other code.
fn is_test(definition: &Definition) -> bool {
    definition.name.starts_with("test_")
        || (definition.kind == SymbolKind::Module && matches!(definition.name.as_str(), "test" | "tests"))
}

/// Whether a change can be made in a definition of this kind.
fn is_target(kind: SymbolKind) -> bool {
    use SymbolKind::{Field, Key, Module, Section, Selector, Table, Target};
    !matches!(kind, Field | Key | Module | Section | Selector | Table | Target)
}

fn symbol(path: &str, definition: &Definition, definitions: &[Definition]) -> ChangedSymbol {
    let around = |other: &&Definition| other.line <= definition.line && definition.end_line <= other.end_line;
    let modules = definitions.iter().filter(around).filter(|other| other.kind == SymbolKind::Module);
    let is_module = |name: &String| modules.clone().any(|module| module.name == *name);
    let outermost =
        definitions.iter().filter(around).filter(|other| is_target(other.kind)).max_by_key(|other| extent(other));
    let outermost = outermost.unwrap_or(definition);
    let top = outermost.container.as_ref().filter(|container| !is_module(container)).unwrap_or(&outermost.name);
    ChangedSymbol {
        path: path.to_owned(),
        name: definition.name.clone(),
        kind: definition.kind.as_str(),
        line: definition.line,
        end: definition.end_line,
        container: definition.container.clone(),
        top: top.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: &str = "use tide;\n\nstruct Port {\n    depth: u32,\n}\n\nimpl Port {\n    fn moor(&self) {\n        tide();\n    }\n\n    fn leave(&self) {}\n}\n";

    /// The symbols as `top::name line-end`.
    fn changed(from: &str, to: &str) -> Vec<String> {
        let (_, symbols) = changed_symbols("port.rs", PORT, &PORT.replace(from, to));
        symbols.iter().map(|symbol| format!("{}::{} {}-{}", symbol.top, symbol.name, symbol.line, symbol.end)).collect()
    }

    #[test]
    fn the_innermost_definitions_are_found() {
        assert_eq!(changed("tide();", "ebb();"), ["Port::moor 8-10"]);
        assert_eq!(changed("u32", "u64"), ["Port::Port 3-5"]);
        assert_eq!(changed("use tide", "use ebb"), [""; 0]);
        let tests = "mod tests {\n    fn tide() {}\n}\n";
        assert_eq!(changed_symbols("port.rs", tests, &tests.replace("tide", "ebb")), (2, Vec::new()));
        assert_eq!(changed("self", "mut self"), ["Port::moor 8-10", "Port::leave 12-12"]);
    }

    #[test]
    fn added_lines_belong_to_the_definition_around_them() {
        assert_eq!(changed("tide();\n", "tide();\n        ebb();\n"), ["Port::moor 8-10"]);
        assert_eq!(changed("\nimpl", "\nfn free() {}\n\nimpl"), [""; 0]);
        assert_eq!(changed_symbols("port.rs", PORT, &PORT.replace("tide();", "a();\n        b();")).0, 3);
    }

    #[test]
    fn tests_are_recognised_in_all_languages() {
        for path in [
            "a/jvmTest/kotlin/A.kt", "Src/Json.Tests/A.cs", "src/ATest.php", "tests/a.c", "lib/a_test.go",
            "a/core-test/B.kt", "da/test.js",
        ] {
            assert!(is_test_path(path), "{path}");
        }
        for path in ["src/latest.rs", "src/Contest.kt", "core/attestation/a.c"] {
            assert!(!is_test_path(path), "{path}");
        }
    }

    #[test]
    fn documents_and_build_scripts_are_not_code() {
        assert!(is_code("src/tide.rs") && is_code("tide.rb") && is_code("bin/tide.sh"));
        for path in
            ["README.md", "a.json", "app/build.gradle.kts", "tide.gemspec", "single_include/tide.hpp", "LICENSE"]
        {
            assert!(!is_code(path), "{path}");
        }
    }

    #[test]
    fn names_are_mentioned_as_words() {
        assert!(
            mentions("fix moor() of a port", "moor") && !mentions("fix moors", "moor") && !mentions("a is b", "is")
        );
    }
}
