//! Classifies paths: landmarks (README, manifests) and peripheral files (tests, examples, documentation, vendored code).

/// Root files that describe a repository and its build, in lower case.
const LANDMARKS: [&str; 20] = [
    "build.gradle", "build.gradle.kts", "cargo.toml", "cmakelists.txt", "composer.json", "deno.json", "dockerfile",
    "gemfile", "go.mod", "justfile", "makefile", "mix.exs", "package.json", "package.swift", "pom.xml",
    "pyproject.toml", "readme", "setup.cfg", "setup.py", "tsconfig.json",
];

/// Folders of peripheral code. Sorted for binary search.
const PERIPHERAL_FOLDERS: [&str; 46] = [
    "3rdparty", "__generated__", "__snapshots__", "__tests__", "asv_bench", "bench", "benches", "benchmark",
    "benchmarks", "cextern", "conformance", "contrib-docs", "demo", "demos", "dist", "doc", "docs", "e2e", "example",
    "examples", "extern", "externals", "fixture", "fixtures", "galleries", "generated", "integration-tests",
    "node_modules", "playground", "spec", "specs", "test", "test-utils", "testcases", "testdata", "testing", "tests",
    "testutil", "testutils", "third-party", "third_party", "thirdparty", "tutorials", "vendor", "vendored", "website",
];

/// Parts of the names of generated files.
const GENERATED: [&str; 9] =
    [".min.", ".d.ts", "_pb2.py", "_pb2_grpc.py", ".pb.go", ".pb.cc", ".pb.h", ".g.dart", ".Designer.cs"];

/// Folders that hold the source of a package or the packages of a repository, and that the names of modules omit.
const SOURCE_FOLDERS: [&str; 4] = ["crates", "lib", "packages", "src"];

pub(crate) use crate::lexical::is_entry;

/// Whether a folder holds the source of a package or the packages of a repository, so that the names of modules omit it.
pub(crate) fn is_source_folder(name: &str) -> bool {
    SOURCE_FOLDERS.contains(&name)
}

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

/// Whether a path is a test.
pub(crate) fn is_test(path: &str) -> bool {
    folders(path).any(is_test_folder) || is_test_name(path)
}

/// Whether a folder has tests by its name or by the last word of it: `tests`, `jvmTest`, `Polly.Specs`, `integration-tests`.
fn is_test_folder(folder: &str) -> bool {
    const NAMES: [&str; 9] = ["test", "tests", "testing", "testdata", "__tests__", "unittests", "spec", "specs", "e2e"];
    let last = folder.rsplit(['.', '-', '_']).next().unwrap_or(folder);
    let is_word = |name: &str| {
        let before = last.strip_suffix(name);
        before.is_some_and(|before| before.is_empty() || before.ends_with(char::is_lowercase))
    };
    NAMES.contains(&folder.to_ascii_lowercase().as_str())
        || ["Test", "Tests", "Spec", "Specs"].into_iter().any(is_word)
        || (last.len() < folder.len() && matches!(last, "test" | "tests" | "spec" | "specs"))
}

/// Whether a path is a test, an example, documentation or vendored code.
pub fn is_peripheral(path: &str) -> bool {
    let is_peripheral =
        |folder: &str| PERIPHERAL_FOLDERS.binary_search(&folder).is_ok() || folder.starts_with("template-");
    if folders(path).any(|folder| is_peripheral(&folder.to_ascii_lowercase()) || is_test_folder(folder)) {
        return true;
    }
    let name = file_name(path);
    is_test_name(path) || GENERATED.iter().any(|mark| name.contains(mark)) || name.starts_with("zz_generated.")
}

/// Whether the file name is that of a test.
fn is_test_name(path: &str) -> bool {
    let (name, stem) = (file_name(path), stem(path));
    let marks = ["_test", "_tests", "_unittest", "_spec", "-test", "-spec"];
    let is_class =
        [".java", ".kt", ".cs", ".php", ".swift", ".scala"].iter().any(|extension| name.ends_with(extension));
    let begins_with_test = stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    stem.starts_with("test_")
        || marks.iter().any(|mark| stem.ends_with(mark))
        || [".test.", ".spec."].iter().any(|mark| name.contains(mark))
        || matches!(stem, "tests" | "conftest")
        || name == "test.py"
        || (is_class
            && (stem.ends_with("Test") || stem.ends_with("Tests") || stem.ends_with("Spec") || begins_with_test))
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
        for path in [
            "tests/a.rs",
            "pkg/x_test.go",
            "src/a.spec.ts",
            "test_all.py",
            "src/tests.rs",
            "core/jvmTest/kotlin/a.kt",
            "Polly.Specs/a.cs",
            "unit-tests/a.c",
            "unittests/a.cpp",
            "base/gate_unittest.cc",
            "polls/test.py",
            "src/TestGate.java",
        ] {
            assert!(is_peripheral(path) && is_test(path), "{path}");
        }
        for path in [
            "vendor/z/z.go",
            "thirdparty/z.c",
            "3rdparty/z.c",
            "src/__generated__/query.ts",
            "gate_pb2.pyi",
            "gate_pb2_grpc.py",
            "gate.pb.cc",
            "gate.pb.h",
            "zz_generated.deepcopy.go",
            "lib/gate.g.dart",
            "Form1.Designer.cs",
        ] {
            assert!(is_peripheral(path) && !is_test(path), "{path}");
        }
        for path in [
            "src/testing.rs", "contest.py", "src/attest/mod.rs", "src/latest/a.rs", "ABTest.Server/a.cs",
            "cmd/test.go", "src/Testable.java", "lib/grpc_pb.py", "src/designer.cs",
        ] {
            assert!(!is_peripheral(path), "{path}");
        }
        assert!(PERIPHERAL_FOLDERS.is_sorted());
    }
}
