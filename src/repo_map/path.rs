//! What a path says about a file: the word it is named by, whether it is a landmark, whether it lies aside.

/// Root files that tell what a repository is and how it is built.
const LANDMARKS: [&str; 20] = [
    "build.gradle",
    "build.gradle.kts",
    "cargo.toml",
    "cmakelists.txt",
    "composer.json",
    "deno.json",
    "dockerfile",
    "gemfile",
    "go.mod",
    "justfile",
    "makefile",
    "mix.exs",
    "package.json",
    "package.swift",
    "pom.xml",
    "pyproject.toml",
    "readme",
    "setup.cfg",
    "setup.py",
    "tsconfig.json",
];

/// Stems that name no subject of their own: the folder does.
const ENTRIES: [&str; 6] = ["__init__", "index", "lib", "main", "mod", "__main__"];

/// Folders of code that is not the program itself.
const ASIDE: [&str; 16] = [
    "__tests__",
    "bench",
    "benches",
    "benchmarks",
    "docs",
    "e2e",
    "example",
    "examples",
    "fixtures",
    "node_modules",
    "spec",
    "test",
    "testdata",
    "tests",
    "third_party",
    "vendor",
];

/// The last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folders of a path, outermost first.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit_once('/').map_or("", |(folders, _)| folders).split('/').filter(|folder| !folder.is_empty())
}

/// A file name up to its first dot; a leading dot belongs to the name.
pub(crate) fn stem(path: &str) -> &str {
    let name = file_name(path);
    let from = name.len() - name.trim_start_matches('.').len();
    let end = name.get(from..).and_then(|rest| rest.find('.')).map_or(name.len(), |dot| from + dot);
    name.get(..end).unwrap_or(name)
}

/// The word that a file goes by: its stem, or its folder for an `index`, `mod` or `__init__`.
pub(crate) fn subject(path: &str) -> &str {
    let stem = stem(path);
    if ENTRIES.contains(&stem) { folders(path).last().unwrap_or(stem) } else { stem }
}

/// True for the README and the manifests at the root.
pub(crate) fn is_landmark(path: &str) -> bool {
    if path.contains('/') {
        return false;
    }
    let lower = path.to_ascii_lowercase();
    LANDMARKS.contains(&lower.as_str()) || stem(&lower) == "readme"
}

/// True for tests, examples, documentation and vendored code.
pub(crate) fn is_aside(path: &str) -> bool {
    if folders(path).any(|folder| ASIDE.contains(&folder.to_ascii_lowercase().as_str())) {
        return true;
    }
    let name = file_name(path);
    let stem = stem(path);
    let marks = ["_test", "_tests", "_spec", "-test", "-spec"];
    stem.starts_with("test_")
        || marks.iter().any(|mark| stem.ends_with(mark))
        || [".test.", ".spec.", ".min."].iter().any(|mark| name.contains(mark))
        || matches!(stem, "tests" | "conftest")
        || (name.ends_with(".java") && stem.ends_with("Test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_by_its_stem_or_its_folder() {
        for (path, expected) in [
            ("src/walk.rs", "walk"),
            ("src/graph/mod.rs", "graph"),
            ("main.rs", "main"),
            (".gitignore", ".gitignore"),
            ("a/b.test.ts", "b"),
            ("", ""),
            ("...", "..."),
        ] {
            assert_eq!(subject(path), expected, "{path}");
        }
    }

    #[test]
    fn landmarks_are_root_files_only() {
        assert!(is_landmark("README.md") && is_landmark("Cargo.toml") && is_landmark("readme"));
        assert!(!is_landmark("docs/README.md") && !is_landmark("readmes.md"));
    }

    #[test]
    fn tests_and_vendored_code_lie_aside() {
        for path in ["tests/a.rs", "pkg/x_test.go", "src/a.spec.ts", "vendor/z/z.go", "test_all.py", "src/tests.rs"] {
            assert!(is_aside(path), "{path}");
        }
        for path in ["src/testing.rs", "contest.py", "src/attest/mod.rs"] {
            assert!(!is_aside(path), "{path}");
        }
    }
}
