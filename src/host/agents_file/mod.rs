//! A first `AGENTS.md`, from what can be seen of a repository: its languages and layout, the commands that its tools are known by, and
//! the files that say how its code is to look. Nothing in it is guessed by a model, and nothing is run.

mod commands;
mod page;

use super::{Host, SURVEY_PATIENCE};
use commands::commands;
use page::{Facts, Folder, page};
use rhumb_session::{EffectKind, Failure, Level, LookupResponse, RequestSpec, Response};
use rhumb_syntax::Language;
use rhumb_workspace::{Root, path_is_taken};

/// The file.
const AGENTS_FILE: &str = "AGENTS.md";
/// Languages that are named.
const MAX_LANGUAGES: usize = 6;
/// Folders that are listed.
const MAX_FOLDERS: usize = 12;
/// Files that are named of a folder.
const MAX_NAMED_FILES: usize = 3;

/// Files at the root that say how code is to look or how changes are made, and what each is.
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
    /// Writes a first `AGENTS.md` for review. `order` is the next request, for the ranks of the files.
    pub(super) fn propose_agents_file(self, order: RequestSpec) {
        tokio::spawn(async move {
            let mut surveyed = self.shared.survey.subscribe();
            let ready = surveyed.wait_for(Option::is_some);
            drop(tokio::time::timeout(SURVEY_PATIENCE, ready).await);
            self.blocking(EffectKind::Lookup.failed(), move |runner| Response::LookedUp(runner.agents_file(&order)));
        });
    }

    fn agents_file(&self, order: &RequestSpec) -> LookupResponse {
        let root = &self.shared.root;
        if path_is_taken(root, AGENTS_FILE) {
            return LookupResponse::Status {
                level: Level::Info,
                text: format!("{AGENTS_FILE} is there already, so nothing is proposed."),
                hint: format!("/add {AGENTS_FILE} adds it to the chat, to have it changed."),
            };
        }
        let Some(survey) = self.shared.survey.borrow().clone() else {
            let message = "The repository is still being read.".to_owned();
            return LookupResponse::AgentsFile(Err(Failure {
                message,
                hint: "Try /init again when the map shows.".into(),
            }));
        };
        let paths: Vec<&str> = survey.files.iter().map(|file| file.path.as_str()).collect();
        let map = self.compose(order, false, None).map;
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

/// The folders at the top, those with the files of the highest rank first. Of each, its files of the highest rank are named.
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
    fn the_page_of_a_repository_says_what_is_there_and_nothing_else() {
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
}
