//! The command that a repository's tests are usually run with, by the files at its top. It is named, never run.

use std::path::Path;

/// A file that a build tool is known by, and how it tests; the first one that is there counts.
const TOOLS: [(&str, &str); 22] = [
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("pytest.ini", "pytest"),
    ("tox.ini", "tox"),
    ("noxfile.py", "nox"),
    ("pyproject.toml", "pytest"),
    ("setup.py", "pytest"),
    ("pnpm-lock.yaml", "pnpm test"),
    ("yarn.lock", "yarn test"),
    ("bun.lock", "bun test"),
    ("deno.json", "deno test"),
    ("package.json", "npm test"),
    ("gradlew", "./gradlew test"),
    ("build.gradle", "gradle test"),
    ("pom.xml", "mvn test"),
    ("build.sbt", "sbt test"),
    ("mix.exs", "mix test"),
    ("Gemfile", "bundle exec rake test"),
    ("composer.json", "composer test"),
    ("Package.swift", "swift test"),
    ("build.zig", "zig build test"),
    ("CMakeLists.txt", "ctest --test-dir build"),
];

/// The usual command, if a file at the top of the folder tells.
pub(super) fn usual_tests(folder: &Path) -> Option<&'static str> {
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    usual_test_command(&is_there).map(|(_, command)| command)
}

/// The file that tells the usual command, and the command; `is_there` says whether a file is at the top.
pub(crate) fn usual_test_command(is_there: &dyn Fn(&str) -> bool) -> Option<(&'static str, &'static str)> {
    TOOLS.iter().find(|(file, _)| is_there(file)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tool_that_is_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(usual_tests(folder.path()), None);
        for (file, command) in
            [("package.json", "npm test"), ("pnpm-lock.yaml", "pnpm test"), ("go.mod", "go test ./...")]
        {
            std::fs::write(folder.path().join(file), "").unwrap();
            assert_eq!(usual_tests(folder.path()), Some(command));
        }
    }
}
