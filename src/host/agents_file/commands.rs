//! The commands that a repository is built, tested and checked with, as far as files at its top say so.

use serde_json::Value;

use crate::host::verify::usual_tests::usual_test_command;

/// A command, and where it is known from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// What it is for: `Build`, `Test`, `Lint`, `Format`, `Check types`.
    pub(super) purpose: &'static str,
    /// The command line.
    pub(super) line: String,
    /// The file that says so.
    pub(super) source: String,
}

/// Names of scripts and targets, and what they are for.
const PURPOSES: &[(&str, &[&str])] = &[
    ("Build", &["build"]),
    ("Test", &["test", "tests"]),
    ("Lint", &["lint", "check"]),
    ("Format", &["format", "fmt"]),
    ("Check types", &["typecheck", "type-check", "types"]),
];

/// Files at the root whose presence tells a command.
const BY_FILE: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "Build", "cargo build"),
    ("clippy.toml", "Lint", "cargo clippy"),
    ("rustfmt.toml", "Format", "cargo fmt"),
    (".rustfmt.toml", "Format", "cargo fmt"),
    ("go.mod", "Build", "go build ./..."),
    (".golangci.yml", "Lint", "golangci-lint run"),
    (".golangci.yaml", "Lint", "golangci-lint run"),
    ("ruff.toml", "Lint", "ruff check"),
    (".ruff.toml", "Lint", "ruff check"),
    (".flake8", "Lint", "flake8"),
    ("mypy.ini", "Check types", "mypy"),
    (".pre-commit-config.yaml", "Lint", "pre-commit run --all-files"),
    ("gradlew", "Build", "./gradlew build"),
    ("pom.xml", "Build", "mvn package"),
    ("mix.exs", "Build", "mix compile"),
    ("CMakeLists.txt", "Build", "cmake -B build && cmake --build build"),
];

/// Tables of `pyproject.toml` that tell a command.
const BY_TABLE: &[(&str, &str, &str)] = &[
    ("ruff", "Lint", "ruff check"),
    ("black", "Format", "black ."),
    ("mypy", "Check types", "mypy"),
    ("pyright", "Check types", "pyright"),
];

/// Lock files of the programs that run the scripts of `package.json`.
const SCRIPT_RUNNERS: &[(&str, &str)] =
    &[("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

/// The commands, each line once. `read` gives the text of a file.
pub(super) fn commands(paths: &[&str], read: &dyn Fn(&str) -> Option<String>) -> Vec<Command> {
    let is_there = |name: &str| paths.contains(&name);
    let mut found = Vec::new();
    found.extend(read("package.json").iter().flat_map(|text| package_scripts(text, &is_there)));
    for name in ["Makefile", "makefile", "GNUmakefile"] {
        found.extend(read(name).iter().flat_map(|text| targets(text, "make", name)));
    }
    for name in ["justfile", "Justfile"] {
        found.extend(read(name).iter().flat_map(|text| targets(text, "just", name)));
    }
    let command = |purpose, line: &str, source: &str| Command { purpose, line: line.into(), source: source.into() };
    let by_file = BY_FILE.iter().filter(|(file, ..)| is_there(file));
    found.extend(by_file.map(|(file, purpose, line)| command(purpose, line, file)));
    let pyproject = read("pyproject.toml").and_then(|text| text.parse::<toml::Table>().ok());
    let tools = pyproject.as_ref().and_then(|table| table.get("tool")?.as_table());
    let by_table = BY_TABLE.iter().filter(|(name, ..)| tools.is_some_and(|tools| tools.contains_key(*name)));
    found.extend(by_table.map(|(_, purpose, line)| command(purpose, line, "pyproject.toml")));
    // What the repository says itself comes before what is usual for its tools.
    if !found.iter().any(|command| command.purpose == "Test")
        && let Some((file, line)) = usual_test_command(&is_there)
        && (line != "pytest" || paths.iter().any(|path| is_python_test(path)))
    {
        found.push(command("Test", line, file));
    }
    let order = |purpose| PURPOSES.iter().position(|(known, _)| *known == purpose);
    found.sort_by_key(|command| order(command.purpose));
    found.dedup_by(|a, b| (a.purpose, &a.line) == (b.purpose, &b.line));
    found
}

/// Whether a file is named as pytest looks for tests.
fn is_python_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "pytest.ini" || name.ends_with("_test.py") || name.starts_with("test_") && name.ends_with(".py")
}

fn purpose_of(name: &str) -> Option<&'static str> {
    PURPOSES.iter().find(|(_, names)| names.contains(&name)).map(|(purpose, _)| *purpose)
}

/// The scripts of a `package.json`.
fn package_scripts(text: &str, is_there: &dyn Fn(&str) -> bool) -> Vec<Command> {
    let package: Option<Value> = serde_json::from_str(text).ok();
    let scripts = package.as_ref().and_then(|package| package.get("scripts")?.as_object());
    let runner = SCRIPT_RUNNERS.iter().find(|(lock, _)| is_there(lock)).map_or("npm", |(_, runner)| runner);
    let names = scripts.into_iter().flat_map(|scripts| scripts.keys());
    let command = |name: &String| {
        let line = format!("{runner} run {name}");
        Some(Command { purpose: purpose_of(name)?, line, source: "package.json".into() })
    };
    names.filter_map(command).collect()
}

/// The targets of a makefile, or the recipes of a justfile.
fn targets(text: &str, program: &str, source: &str) -> Vec<Command> {
    let name = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        // `name := value` is a variable.
        let is_target = !rest.starts_with('=') && !line.starts_with(char::is_whitespace);
        is_target.then(|| name.trim().to_owned())
    };
    let command = |name: String| {
        let purpose = purpose_of(&name)?;
        Some(Command { purpose, line: format!("{program} {name}"), source: source.into() })
    };
    text.lines().filter_map(name).filter_map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        commands(&paths, &read).into_iter().map(|command| format!("{}: {}", command.purpose, command.line)).collect()
    }

    #[test]
    fn what_the_repository_says_comes_before_what_is_usual() {
        assert_eq!(lines(&[("Cargo.toml", "")]), ["Build: cargo build", "Test: cargo test"]);
        let makefile = "PY := python\n.PHONY: test\ntest: deps\n\tpytest -q\nlint:\n\truff .\ndeps:\n\ttrue\n";
        assert_eq!(lines(&[("Makefile", makefile), ("setup.py", "")]), ["Test: make test", "Lint: make lint"]);
        let package = r#"{"scripts": {"test": "vitest", "build": "tsc", "prepare": "husky", "fmt": "prettier"}}"#;
        assert_eq!(
            lines(&[("package.json", package), ("pnpm-lock.yaml", "")]),
            ["Build: pnpm run build", "Test: pnpm run test", "Format: pnpm run fmt"]
        );
    }

    #[test]
    fn tools_are_known_by_their_tables_and_pytest_by_its_tests() {
        let pyproject = "[tool.ruff]\nline-length = 90\n[tool.mypy]\nstrict = true\n";
        assert_eq!(lines(&[("pyproject.toml", pyproject)]), ["Lint: ruff check", "Check types: mypy"]);
        let with_tests = [("pyproject.toml", "broken = ["), ("tests/test_app.py", "")];
        assert_eq!(lines(&with_tests), ["Test: pytest"]);
        assert!(lines(&[("notes.txt", "test: not a makefile")]).is_empty());
    }
}
