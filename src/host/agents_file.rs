//! `/init`: proposes a first `AGENTS.md` from the files of a repository: its languages and layout, its build and test commands,
//! and its configuration of formatters and linters. No request is sent and no command is run.

use super::Host;
use super::verify::usual_test_command;
use rhumb_session::{EffectKind, Failure, Level, LookupResponse, RequestSpec, Response};
use rhumb_syntax::Language;
use rhumb_text::count;
use rhumb_workspace::{Root, path_is_taken};
use serde_json::Value;

const AGENTS_FILE: &str = "AGENTS.md";
const MAX_LANGUAGES: usize = 6;
const MAX_FOLDERS: usize = 12;
/// Maximum number of example files per folder.
const MAX_NAMED_FILES: usize = 3;

/// Files at the root with conventions, and their subject.
const CONVENTIONS: &[(&str, &str)] = &[
    (".editorconfig", "editors"),
    ("rustfmt.toml", "formatting"),
    (".rustfmt.toml", "formatting"),
    (".clang-format", "formatting"),
    (".prettierrc", "formatting"),
    (".prettierrc.json", "formatting"),
    ("prettier.config.js", "formatting"),
    ("biome.json", "formatting and lint"),
    ("clippy.toml", "lint"),
    (".eslintrc", "lint"),
    (".eslintrc.json", "lint"),
    ("eslint.config.js", "lint"),
    ("eslint.config.mjs", "lint"),
    ("ruff.toml", "formatting and lint"),
    (".ruff.toml", "formatting and lint"),
    (".flake8", "lint"),
    ("mypy.ini", "types"),
    ("tsconfig.json", "types"),
    (".golangci.yml", "lint"),
    (".golangci.yaml", "lint"),
    (".rubocop.yml", "lint"),
    (".pre-commit-config.yaml", "checks before a commit"),
    (".gitlab-ci.yml", "CI"),
    ("azure-pipelines.yml", "CI"),
    (".travis.yml", "CI"),
    ("CONTRIBUTING.md", "guide for contributors"),
    ("CONTRIBUTING.rst", "guide for contributors"),
    ("CONVENTIONS.md", "conventions"),
];

/// The folder of GitHub's workflows.
const WORKFLOWS: &str = ".github/workflows/";

impl Host {
    /// Proposes an `AGENTS.md` for review. `spec` is the next request, whose map ranks the files.
    pub(super) fn propose_agents_file(self, spec: RequestSpec) {
        tokio::spawn(async move {
            self.wait_for_survey().await;
            self.blocking(EffectKind::Lookup.failed(), move |host| Response::LookedUp(host.agents_file(&spec)));
        });
    }

    fn agents_file(&self, spec: &RequestSpec) -> LookupResponse {
        let root = &self.shared.root;
        if path_is_taken(root, AGENTS_FILE) {
            return LookupResponse::Status {
                level: Level::Info,
                text: format!("{AGENTS_FILE} exists already, so nothing is proposed."),
                hint: format!("To change it, add it to the chat: /add {AGENTS_FILE}."),
            };
        }
        let Some(survey) = self.shared.survey.borrow().clone() else {
            let message = "The repository is still being read.".to_owned();
            return LookupResponse::AgentsFile(Err(Failure::new(message, "Try /init again when the map is shown.")));
        };
        let paths: Vec<&str> = survey.files.iter().map(|file| file.path.as_str()).collect();
        let map = self.compose(spec, false, None).map;
        let ranked: Vec<&str> = map.iter().flat_map(|map| &map.files).map(|file| &*file.path).collect();
        LookupResponse::AgentsFile(Ok(page(&facts(root, &paths, &ranked))))
    }
}

fn facts(root: &Root, paths: &[&str], ranked: &[&str]) -> Facts {
    let read = |path: &str| paths.contains(&path).then(|| rhumb_workspace::read(root, path).ok()).flatten();
    let conventions = CONVENTIONS.iter().filter(|(name, _)| paths.contains(name));
    let mut conventions: Vec<(String, String)> =
        conventions.map(|(name, what)| ((*name).to_owned(), (*what).to_owned())).collect();
    let workflows = paths.iter().filter(|path| path.starts_with(WORKFLOWS));
    conventions.extend(workflows.map(|path| ((*path).to_owned(), "CI".to_owned())));
    Facts {
        languages: languages(paths),
        folders: folders(paths, ranked),
        commands: commands(paths, &|path| read(path).map(|snapshot| snapshot.text.to_string())),
        conventions,
    }
}

/// The languages with the number of their files, most files first.
fn languages(paths: &[&str]) -> Vec<(String, usize)> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for language in paths.iter().filter_map(|path| Language::for_path(path)) {
        match counted.iter_mut().find(|(name, _)| name == language.name) {
            Some((_, count)) => *count += 1,
            None => counted.push((language.name.to_owned(), 1)),
        }
    }
    counted.sort_by(|(name, count), (other, others)| others.cmp(count).then_with(|| name.cmp(other)));
    counted.truncate(MAX_LANGUAGES);
    counted
}

/// The top-level folders, ordered by their best-ranked file, each with its best-ranked files.
fn folders(paths: &[&str], ranked: &[&str]) -> Vec<Folder> {
    let mut folders: Vec<Folder> = Vec::new();
    for path in ranked.iter().chain(paths) {
        let Some((name, _)) = path.split_once('/').filter(|(name, _)| !name.starts_with('.')) else { continue };
        let at = folders.iter().position(|folder| folder.name == name).unwrap_or_else(|| {
            let files = paths.iter().filter(|path| path.split_once('/').is_some_and(|(top, _)| top == name)).count();
            folders.push(Folder { name: name.to_owned(), files, named: Vec::new() });
            folders.len() - 1
        });
        let Some(folder) = folders.get_mut(at) else { continue };
        if folder.named.len() < MAX_NAMED_FILES && !folder.named.iter().any(|known| known == path) {
            folder.named.push((*path).to_owned());
        }
    }
    folders.truncate(MAX_FOLDERS);
    folders
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Folder {
    name: String,
    files: usize,
    /// Its best-ranked files.
    named: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Facts {
    languages: Vec<(String, usize)>,
    folders: Vec<Folder>,
    commands: Vec<FoundCommand>,
    conventions: Vec<(String, String)>,
}

/// The text of `AGENTS.md`.
fn page(facts: &Facts) -> String {
    let mut text = "# AGENTS.md\n\nNotes for coding agents that work in this repository. rhumb wrote this first version from the files that it \
                    found.\nCorrect what is wrong, and add what the files do not say.\n"
        .to_owned();
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines: String = lines.into_iter().map(|line| format!("- {line}\n")).collect();
            text.push_str(&format!("\n## {title}\n\n{lines}"));
        }
    };
    let languages: Vec<String> =
        facts.languages.iter().map(|(name, files)| format!("{name} ({})", count(*files, "file"))).collect();
    let mut layout: Vec<String> =
        (!languages.is_empty()).then(|| format!("Languages: {}", languages.join(", "))).into_iter().collect();
    layout.extend(facts.folders.iter().map(|folder| {
        let named: Vec<String> = folder.named.iter().map(|path| code(path)).collect();
        let such_as = if folder.files > named.len() { ", such as" } else { ":" };
        format!("{}: {}{such_as} {}", code(&format!("{}/", folder.name)), count(folder.files, "file"), named.join(", "))
    }));
    section("Layout", layout);
    let commands = facts.commands.iter();
    section(
        "Commands",
        commands
            .map(|command| format!("{}: {} (from {})", command.purpose, code(&command.line), code(&command.source)))
            .collect(),
    );
    section("Conventions", facts.conventions.iter().map(|(path, what)| format!("{}: {what}", code(path))).collect());
    text
}

/// A text as a Markdown code span. It may contain backticks and line breaks.
fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// A command that builds, tests or checks the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FoundCommand {
    /// `Build`, `Test`, `Lint`, `Format` or `Check types`.
    purpose: &'static str,
    line: String,
    source: String,
}

/// Purposes with the names of their scripts and targets.
const PURPOSES: &[(&str, &[&str])] = &[
    ("Build", &["build"]),
    ("Test", &["test", "tests"]),
    ("Lint", &["lint", "check"]),
    ("Format", &["format", "fmt"]),
    ("Check types", &["typecheck", "type-check", "types"]),
];

/// Files at the root that imply a command: file, purpose, command.
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

/// Tables in `pyproject.toml` that imply a command: table, purpose, command.
const BY_TABLE: &[(&str, &str, &str)] = &[
    ("ruff", "Lint", "ruff check"),
    ("black", "Format", "black ."),
    ("mypy", "Check types", "mypy"),
    ("pyright", "Check types", "pyright"),
];

/// Lock files, and the programs that run the scripts of `package.json`.
const SCRIPT_RUNNERS: &[(&str, &str)] =
    &[("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

/// The commands without repetition. `read` returns the text of a file.
fn commands(paths: &[&str], read: &dyn Fn(&str) -> Option<String>) -> Vec<FoundCommand> {
    let is_there = |name: &str| paths.contains(&name);
    let mut found = Vec::new();
    found.extend(read("package.json").iter().flat_map(|text| package_scripts(text, &is_there)));
    for name in ["Makefile", "makefile", "GNUmakefile"] {
        found.extend(read(name).iter().flat_map(|text| targets(text, "make", name)));
    }
    for name in ["justfile", "Justfile"] {
        found.extend(read(name).iter().flat_map(|text| targets(text, "just", name)));
    }
    let command =
        |purpose, line: &str, source: &str| FoundCommand { purpose, line: line.into(), source: source.into() };
    let by_file = BY_FILE.iter().filter(|(file, ..)| is_there(file));
    found.extend(by_file.map(|(file, purpose, line)| command(purpose, line, file)));
    let pyproject = read("pyproject.toml").and_then(|text| text.parse::<toml::Table>().ok());
    let tools = pyproject.as_ref().and_then(|table| table.get("tool")?.as_table());
    let by_table = BY_TABLE.iter().filter(|(name, ..)| tools.is_some_and(|tools| tools.contains_key(*name)));
    found.extend(by_table.map(|(_, purpose, line)| command(purpose, line, "pyproject.toml")));
    // A test command of the repository takes precedence over the usual one of its tools.
    if !found.iter().any(|command| command.purpose == "Test")
        && let Some((file, line)) = usual_test_command(&is_there)
        && (line != "pytest" || paths.iter().any(|path| is_python_test(path)))
    {
        found.push(command("Test", line, file));
    }
    found.sort_by_key(|command| PURPOSES.iter().position(|(purpose, _)| *purpose == command.purpose));
    found.dedup_by(|a, b| (a.purpose, &a.line) == (b.purpose, &b.line));
    found
}

/// Whether the name of a file is one in which pytest looks for tests.
fn is_python_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "pytest.ini" || name.ends_with("_test.py") || name.starts_with("test_") && name.ends_with(".py")
}

fn purpose_of(name: &str) -> Option<&'static str> {
    PURPOSES.iter().find(|(_, names)| names.contains(&name)).map(|(purpose, _)| *purpose)
}

fn package_scripts(text: &str, is_there: &dyn Fn(&str) -> bool) -> Vec<FoundCommand> {
    let package: Option<Value> = serde_json::from_str(text).ok();
    let scripts = package.as_ref().and_then(|package| package.get("scripts")?.as_object());
    let host = SCRIPT_RUNNERS.iter().find(|(lock, _)| is_there(lock)).map_or("npm", |(_, host)| host);
    let names = scripts.into_iter().flat_map(|scripts| scripts.keys());
    let command = |name: &String| {
        let line = format!("{host} run {name}");
        Some(FoundCommand { purpose: purpose_of(name)?, line, source: "package.json".into() })
    };
    names.filter_map(command).collect()
}

/// The targets of a makefile, or the recipes of a justfile.
fn targets(text: &str, program: &str, source: &str) -> Vec<FoundCommand> {
    let name = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        // `name := value` is a variable.
        let is_target = !rest.starts_with('=') && !line.starts_with(char::is_whitespace);
        is_target.then(|| name.trim().to_owned())
    };
    let command = |name: String| {
        let purpose = purpose_of(&name)?;
        Some(FoundCommand { purpose, line: format!("{program} {name}"), source: source.into() })
    };
    text.lines().filter_map(name).filter_map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_by_rank_and_languages_by_their_files() {
        let paths = ["docs/a.md", "docs/b.md", "src/app/main.py", "src/app/util.py", "setup.py", ".github/x.yml"];
        let found = folders(&paths, &["src/app/util.py", "setup.py", "docs/b.md"]);
        let names: Vec<(&str, usize)> = found.iter().map(|folder| (folder.name.as_str(), folder.files)).collect();
        assert_eq!(names, [("src", 2), ("docs", 2)]);
        assert_eq!(found[0].named, ["src/app/util.py", "src/app/main.py"]);
        assert_eq!(languages(&paths)[0], ("Python".to_owned(), 3));
    }

    #[test]
    fn the_page_contains_what_the_repository_has_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("rustfmt.toml", ""),
            ("src/lib.rs", "fn a() {}\n"),
            (".github/workflows/ci.yml", "on: push\n"),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::at(folder.path()).unwrap();
        let paths = [".github/workflows/ci.yml", "Cargo.toml", "rustfmt.toml", "src/lib.rs"];
        let text = page(&facts(&root, &paths, &["src/lib.rs"]));
        for part in [
            "Rust (1 file)",
            "`src/`: 1 file",
            "`cargo test`",
            "`cargo fmt`",
            "`rustfmt.toml`: formatting",
            "ci.yml`: CI",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("npm") && !text.contains("pytest"), "{text}");
    }

    fn lines(files: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        commands(&paths, &read).into_iter().map(|command| format!("{}: {}", command.purpose, command.line)).collect()
    }

    #[test]
    fn commands_of_the_repository_come_before_the_usual_ones() {
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
    fn tools_are_found_by_their_tables_and_pytest_by_its_tests() {
        let pyproject = "[tool.ruff]\nline-length = 90\n[tool.mypy]\nstrict = true\n";
        assert_eq!(lines(&[("pyproject.toml", pyproject)]), ["Lint: ruff check", "Check types: mypy"]);
        let with_tests = [("pyproject.toml", "broken = ["), ("tests/test_app.py", "")];
        assert_eq!(lines(&with_tests), ["Test: pytest"]);
        assert!(lines(&[("notes.txt", "test: not a makefile")]).is_empty());
    }
}
