//! Checks the documents: generated tables are current, and links, files and tests that they name exist.
//! `RHUMB_BLESS=1 cargo test --test readme` rewrites the tables from those of the program.
#![allow(clippy::expect_used, clippy::panic)] // the checks for tests do not know helper functions

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use rhumb::config::{PRESETS, settings_table};
use rhumb::tui::action::{ACTIONS, Pane, Scope};
use rhumb_session::context::{PLACEHOLDERS, Prompts};
use rhumb_session::{COMMANDS, Group};
use rhumb_syntax::{Language, tags};

/// The range of the text between `<!-- name -->` and `<!-- /name -->`.
fn section(document: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    Some(document.find(&open)? + open.len()..document.find(&close)?)
}

/// The actions of the table in the README, in the order in which a first session needs them. `docs/keys.md` lists all actions.
const FIRST_KEYS: [&str; 12] = [
    "send", "newline", "pick-file", "escape", "focus-next", "accept", "reject", "accept-file", "undo", "write", "help",
    "quit",
];

fn keys() -> String {
    let mut table = String::from("| where | keys | what |\n|---|---|---|\n");
    for info in FIRST_KEYS.iter().filter_map(|name| ACTIONS.iter().find(|info| info.name == *name)) {
        let place = match info.scope {
            Scope::Global => "everywhere",
            Scope::Lists => "map, context, review",
            Scope::Reading => "transcript",
            Scope::Pane(Pane::Chat) => "chat",
            Scope::Pane(Pane::Map) => "repo map",
            Scope::Pane(Pane::Context) => "context",
            Scope::Pane(Pane::Review) => "review",
        };
        let keys: Vec<String> = info.keys.iter().map(|key| format!("`{key}`")).collect();
        let _ = writeln!(table, "| {place} | {} | {} |", keys.join(" "), info.help.trim());
    }
    table
}

fn commands() -> String {
    let mut table = String::from("| command | what | for example |\n|---|---|---|\n");
    for info in Group::ALL.iter().flat_map(|group| COMMANDS.iter().filter(move |info| info.group == *group)) {
        let usage = format!("/{} {}", info.name, info.arguments).replace('|', "\\|");
        let _ = writeln!(table, "| `{}` | {} | `{}` |", usage.trim(), info.help, info.example);
    }
    table
}

fn providers() -> String {
    let mut table = String::from("| provider | key | speaks | asked when no model is named |\n|---|---|---|---|\n");
    let code = |text: &&str| format!("`{text}`");
    for preset in PRESETS {
        let keys: Vec<String> = preset.key_variables.iter().map(code).collect();
        let default = preset.default_model.as_ref().map(code).unwrap_or_default();
        let (name, api) = (preset.name, preset.api.name());
        let _ = writeln!(table, "| `{name}` | {} | `{api}` | {default} |", keys.join(", "));
    }
    table
}

fn prompts() -> String {
    let mut table = String::from("| prompt | what |\n|---|---|\n");
    for prompt in Prompts::bundled() {
        let _ = writeln!(table, "| `{}` | {} |", prompt.name, prompt.description);
    }
    table
}

fn placeholders() -> String {
    let mut table = String::from("| placeholder | stands for |\n|---|---|\n");
    for (name, what) in PLACEHOLDERS {
        let _ = writeln!(table, "| `{{{name}}}` | {what} |");
    }
    table
}

fn sample(language: &Language) -> String {
    let name = match (language.extensions.first(), language.file_names.first()) {
        (Some(extension), _) => format!("sample.{extension}"),
        (None, name) => name.copied().unwrap_or_default().to_owned(),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/languages").join(language.id).join(name);
    std::fs::read_to_string(&path).unwrap_or_default()
}

fn languages() -> String {
    let mut all: Vec<_> = Language::all().collect();
    all.sort_by_key(|language| language.name.to_lowercase());
    let mut table = String::from("| language | files | definitions | references | imports |\n|---|---|---|---|---|\n");
    for language in all {
        let files = language.extensions.iter().map(|extension| format!("`.{extension}`"));
        let files: Vec<String> = files.chain(language.file_names.iter().map(|name| format!("`{name}`"))).collect();
        // A language has a column if its sample yields at least one such tag.
        let found = tags(language, &sample(language));
        let mark = |is_empty: bool| if is_empty { "" } else { "yes" };
        let (definitions, references) = (mark(found.definitions.is_empty()), mark(found.references.is_empty()));
        let (name, files, imports) = (language.name, files.join(" "), mark(found.imports.is_empty()));
        let _ = writeln!(table, "| {name} | {files} | {definitions} | {references} | {imports} |");
    }
    table
}

#[test]
fn first_keys_are_names_of_actions() {
    let lacking: Vec<_> = FIRST_KEYS.iter().filter(|name| ACTIONS.iter().all(|info| info.name != **name)).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn generated_tables_are_current() {
    let bless = std::env::var_os("RHUMB_BLESS").is_some();
    let tables = [
        ("docs/models.md", "providers", providers()),
        ("docs/prompts.md", "prompts", prompts()),
        ("docs/prompts.md", "placeholders", placeholders()),
        ("docs/settings.md", "settings", settings_table()),
        ("README.md", "keys", keys()),
        ("docs/command-summary.md", "commands", commands()),
        ("docs/languages.md", "languages", languages()),
    ];
    for (file, name, table) in tables {
        let path = root().join(file);
        let mut document = text_of(&path);
        let range = section(&document, name).expect("both markers");
        if bless {
            document.replace_range(range, &table);
            std::fs::write(&path, document).expect(file);
        } else {
            assert_eq!(
                &document[range], table,
                "the {name} table of {file} is stale: RHUMB_BLESS=1 cargo test --test readme"
            );
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All documents: the Markdown files of the root and of `docs`.
fn documents() -> Vec<PathBuf> {
    let pages =
        |folder: PathBuf| std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let all = pages(root().to_owned()).chain(pages(root().join("docs")));
    let mut documents: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    documents.sort();
    documents
}

fn text_of(document: &Path) -> String {
    std::fs::read_to_string(document).unwrap_or_else(|error| panic!("{}: {error}", document.display()))
}

/// The anchors of the headings of a document, in the form that GitHub and similar sites generate.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => heading.iter_mut().for_each(|heading| heading.push_str(&words)),
            Event::End(TagEnd::Heading(_)) => anchors.extend(heading.take()),
            _ => {}
        }
    }
    let anchor = |heading: String| {
        let kept = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .collect::<String>();
        kept.replace(' ', "-")
    };
    anchors.into_iter().map(anchor).collect()
}

/// Describes why a link of `document` is broken. Returns `None` if its target exists or is on another machine.
fn broken(document: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = match file {
        "" => document.to_owned(),
        file => document.parent().expect("a folder").join(file),
    };
    if !target.exists() {
        return Some(format!("{} does not exist", target.display()));
    }
    let anchor = anchor?;
    (!anchors(&text_of(&target)).iter().any(|own| own == anchor))
        .then(|| format!("no heading has the anchor #{anchor}"))
}

#[test]
fn links_have_targets() {
    let documents = documents();
    for name in ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/manual.md", "docs/faults.md"] {
        assert!(documents.contains(&root().join(name)), "{name}");
    }
    let mut wrong = Vec::new();
    for document in &documents {
        let text = text_of(document);
        for event in Parser::new(&text) {
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
                && let Some(why) = broken(document, &dest_url)
            {
                wrong.push(format!("{}: [{dest_url}]: {why}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (readme, missing) = (root().join("README.md"), ["gone.md", "docs/gone.svg", "#gone", "docs/manual.md#gone"]);
    assert!(missing.iter().all(|link| broken(&readme, link).is_some()), "a broken link is found");
    assert!(
        ["#limits", "docs/manual.md#start", "https://gone.example"].iter().all(|link| broken(&readme, link).is_none())
    );
}

/// The inline code of a text, without code blocks.
fn code_in(text: &str) -> Vec<String> {
    let codes = Parser::new(text)
        .filter_map(|event| if let Event::Code(code) = event { Some(code.into_string()) } else { None });
    codes.collect()
}

#[test]
fn named_files_exist() {
    let folders = ["src/", "tests/", "docs/", "themes/", "queries/", "scripts/", "crates/", ".ci/"];
    let documents =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/faults.md", "docs/languages.md", "docs/performance.md"];
    for name in documents {
        let codes = code_in(&text_of(&root().join(name)));
        // A path component in capitals is a placeholder. A word after the path is an argument.
        let named = codes.iter().filter_map(|code| code.split(' ').next());
        let named = named.filter(|code| folders.iter().any(|folder| code.starts_with(folder)));
        for path in named
            .filter(|path| !path.split(['/', '.']).any(|part| part.len() > 1 && part.chars().all(char::is_uppercase)))
        {
            // Paths with a line number are examples.
            assert!(
                path.contains([':', '#']) || root().join(path).exists(),
                "{name} names {path}, which does not exist"
            );
        }
    }
}

/// The names of the tests in a file.
fn tests_in(file: &str) -> Vec<String> {
    let text = text_of(&root().join(file));
    let mut tests = Vec::new();
    let mut lines = text.lines().map(str::trim);
    // A test program without a harness has a table of its tests.
    let has_table = text.contains("const TESTS: &[Test]");
    while let Some(line) = lines.next() {
        if has_table && line.starts_with("(\"") {
            tests.extend(line.split('"').nth(1).map(str::to_owned));
        }
        if !["#[test]", "#[tokio::test"].iter().any(|mark| line.starts_with(mark)) {
            continue;
        }
        let head = lines.find(|line| !line.starts_with("#[") && !line.starts_with("//"));
        let name = head.and_then(|head| head.split_once("fn ")).and_then(|(_, rest)| rest.split('(').next());
        tests.extend(name.map(str::to_owned));
    }
    tests
}

/// Checks that the last column of every row in the section "Promises" names existing tests, each after the file that contains it, and
/// that there are more than `min_rows` rows.
fn promises_name_existing_tests(document: &str, min_rows: usize) {
    let text = text_of(&root().join(document));
    let promises =
        text.split("\n## Promises\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section Promises");
    let is_row = |line: &&str| line.starts_with("| ") && !line.ends_with("| tests |");
    let rows: Vec<&str> = promises.lines().filter(is_row).collect();
    assert!(rows.len() > min_rows, "{document} has {} promises", rows.len());
    for row in rows {
        let last_column = row.trim_end_matches('|').rsplit(" | ").next().unwrap_or_default();
        let mut tests: Option<(String, Vec<String>)> = None;
        let mut count = 0;
        for code in code_in(last_column) {
            match (&tests, code.ends_with(".rs")) {
                (_, true) => tests = Some((code.clone(), tests_in(&code))),
                (Some((file, tests)), false) => {
                    assert!(tests.contains(&code), "{file} has no test {code}");
                    count += 1;
                }
                (None, false) => panic!("no file is named before {code}: {row}"),
            }
        }
        assert!(count > 0, "no test is named: {row}");
    }
    assert!(!tests_in("tests/readme.rs").contains(&"tests_in".to_owned()), "a helper function is not a test");
}

#[test]
fn security_promises_name_existing_tests() {
    promises_name_existing_tests("SECURITY.md", 30);
}

#[test]
fn fault_promises_name_existing_tests() {
    promises_name_existing_tests("docs/faults.md", 40);
}
