//! Classifies paths: landmarks (README, manifests) and peripheral files (tests, examples, documentation, vendored code).

/// Root files that describe a repository and its build, in lower case.
const LANDMARKS: [&str; 20] = [
    "build.gradle", "build.gradle.kts", "cargo.toml", "cmakelists.txt", "composer.json", "deno.json", "dockerfile",
    "gemfile", "go.mod", "justfile", "makefile", "mix.exs", "package.json", "package.swift", "pom.xml",
    "pyproject.toml", "readme", "setup.cfg", "setup.py", "tsconfig.json",
];

/// Folders of peripheral code. Sorted for binary search.
const PERIPHERAL_FOLDERS: [&str; 37] = [
    "__snapshots__", "__tests__", "bench", "benches", "benchmark", "benchmarks", "conformance", "contrib", "dist",
    "doc", "docs", "e2e", "example", "examples", "fixture", "fixtures", "generated", "integration-tests",
    "node_modules", "playground", "spec", "specs", "template", "templates", "test", "test-utils", "testcases",
    "testdata", "testing", "tests", "testutil", "testutils", "third-party", "third_party", "vendor", "vendored",
    "website",
];

/// The last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folders of a path, outermost first.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit_once('/').map_or("", |(folders, _)| folders).split('/').filter(|folder| !folder.is_empty())
}

/// The file name up to its first dot, except for a leading dot.
pub(crate) fn stem(path: &str) -> &str {
    let name = file_name(path);
    let from = name.len() - name.trim_start_matches('.').len();
    let end = name.get(from..).and_then(|rest| rest.find('.')).map_or(name.len(), |dot| from + dot);
    name.get(..end).unwrap_or(name)
}

/// Whether a path is a README or a manifest at the root.
pub(crate) fn is_landmark(path: &str) -> bool {
    if path.contains('/') {
        return false;
    }
    let lower = path.to_ascii_lowercase();
    LANDMARKS.contains(&lower.as_str()) || stem(&lower) == "readme"
}

/// Whether a path is a test, an example, documentation or vendored code.
pub fn is_peripheral(path: &str) -> bool {
    let is_peripheral =
        |folder: &str| PERIPHERAL_FOLDERS.binary_search(&folder).is_ok() || folder.starts_with("template-");
    if folders(path).any(|folder| is_peripheral(&folder.to_ascii_lowercase())) {
        return true;
    }
    let name = file_name(path);
    let stem = stem(path);
    let marks = ["_test", "_tests", "_spec", "-test", "-spec"];
    stem.starts_with("test_")
        || marks.iter().any(|mark| stem.ends_with(mark))
        || [".test.", ".spec.", ".min.", ".d.ts", "_pb2.py", ".pb.go"].iter().any(|mark| name.contains(mark))
        || matches!(stem, "tests" | "conftest")
        || (name.ends_with(".java") && stem.ends_with("Test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_ends_at_the_first_dot() {
        for (path, expected) in
            [("src/walk.rs", "walk"), (".gitignore", ".gitignore"), ("a/b.test.ts", "b"), ("", ""), ("...", "...")]
        {
            assert_eq!(stem(path), expected, "{path}");
        }
    }

    #[test]
    fn landmarks_are_root_files_only() {
        assert!(is_landmark("README.md") && is_landmark("Cargo.toml") && is_landmark("readme"));
        assert!(!is_landmark("docs/README.md") && !is_landmark("readmes.md"));
    }

    #[test]
    fn tests_and_vendored_code_are_peripheral() {
        for path in ["tests/a.rs", "pkg/x_test.go", "src/a.spec.ts", "vendor/z/z.go", "test_all.py", "src/tests.rs"] {
            assert!(is_peripheral(path), "{path}");
        }
        for path in ["src/testing.rs", "contest.py", "src/attest/mod.rs"] {
            assert!(!is_peripheral(path), "{path}");
        }
    }
}
