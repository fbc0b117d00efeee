//! The tables of the README are made from the program's own tables. `RHUMB_BLESS=1 cargo test --test readme` writes them anew. What
//! the papers refer to (pages, headings, files, tests) is there.
#![allow(clippy::expect_used, clippy::panic)] // the checks for tests do not know helper functions

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use rhumb::config::{PRESETS, settings_table};
use rhumb::tui::action::{ACTIONS, Pane, Scope};
use rhumb_session::context::{PLACEHOLDERS, Prompts};
use rhumb_session::{COMMANDS, Group};
use rhumb_syntax::{Language, tags};

/// The text between `<!-- name -->` and `<!-- /name -->`, with its place.
fn section(readme: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    Some(readme.find(&open)? + open.len()..readme.find(&close)?)
}

/// The actions that a newcomer needs, in the order of a first turn; `docs/keys.md` has them all.
const FIRST_KEYS: [&str; 12] = [
    "send",
    "newline",
    "pick-file",
    "escape",
    "focus-next",
    "accept",
    "reject",
    "accept-file",
    "undo",
    "write",
    "help",
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
        // What a language has is what its sample shows.
        let found = tags(language, &sample(language));
        let mark = |is_empty: bool| if is_empty { "" } else { "yes" };
        let (definitions, references) = (mark(found.definitions.is_empty()), mark(found.references.is_empty()));
        let (name, files, imports) = (language.name, files.join(" "), mark(found.imports.is_empty()));
        let _ = writeln!(table, "| {name} | {files} | {definitions} | {references} | {imports} |");
    }
    table
}

#[test]
fn the_first_keys_are_those_of_actions() {
    let lacking: Vec<_> = FIRST_KEYS.iter().filter(|name| ACTIONS.iter().all(|info| info.name != **name)).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn the_tables_of_the_readme_say_what_there_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let mut readme = std::fs::read_to_string(&path).expect("README.md");
    let bless = std::env::var_os("RHUMB_BLESS").is_some();
    let tables = [
        ("providers", providers()),
        ("prompts", prompts()),
        ("placeholders", placeholders()),
        ("settings", settings_table()),
        ("keys", keys()),
        ("commands", commands()),
        ("languages", languages()),
    ];
    for (name, made) in tables {
        let place = section(&readme, name).expect("both marks");
        if bless {
            readme.replace_range(place, &made);
        } else {
            assert_eq!(&readme[place], made, "the {name} table is stale: RHUMB_BLESS=1 cargo test --test readme");
        }
    }
    if bless {
        std::fs::write(&path, readme).expect("README.md");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page for people: those beside the README and those of `docs`.
fn papers() -> Vec<PathBuf> {
    let pages =
        |folder: PathBuf| std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let all = pages(root().to_owned()).chain(pages(root().join("docs")));
    let mut papers: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    papers.sort();
    papers
}

fn text_of(paper: &Path) -> String {
    std::fs::read_to_string(paper).unwrap_or_else(|error| panic!("{}: {error}", paper.display()))
}

/// The anchors of the headings of a page, as the places that show Markdown make them.
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

/// Why a link of `paper` leads nowhere; `None` where it leads somewhere, or to another machine.
fn broken(paper: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = match file {
        "" => paper.to_owned(),
        file => paper.parent().expect("a folder").join(file),
    };
    if !target.exists() {
        return Some(format!("{} is not there", target.display()));
    }
    let anchor = anchor?;
    (!anchors(&text_of(&target)).iter().any(|own| own == anchor)).then(|| format!("no heading is #{anchor}"))
}

#[test]
fn links_of_the_papers_lead_somewhere() {
    let papers = papers();
    for name in ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/manual.md", "docs/faults.md"] {
        assert!(papers.contains(&root().join(name)), "{name}");
    }
    let mut wrong = Vec::new();
    for paper in &papers {
        let text = text_of(paper);
        for event in Parser::new(&text) {
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
                && let Some(why) = broken(paper, &dest_url)
            {
                wrong.push(format!("{}: [{dest_url}]: {why}", paper.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (readme, missing) = (root().join("README.md"), ["gone.md", "docs/gone.svg", "#gone", "docs/manual.md#gone"]);
    assert!(missing.iter().all(|link| broken(&readme, link).is_some()), "a link that leads nowhere is found");
    assert!(
        ["#limits", "docs/manual.md#start", "https://gone.example"].iter().all(|link| broken(&readme, link).is_none())
    );
}

/// The pieces of code in a text, without blocks of it.
fn code_in(text: &str) -> Vec<String> {
    let codes = Parser::new(text)
        .filter_map(|event| if let Event::Code(code) = event { Some(code.into_string()) } else { None });
    codes.collect()
}

#[test]
fn files_that_the_papers_name_are_there() {
    let folders = ["src/", "tests/", "docs/", "themes/", "queries/", "scripts/", "crates/", ".ci/"];
    for name in ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/faults.md"] {
        let codes = code_in(&text_of(&root().join(name)));
        // Capitals stand for what differs; a word behind the path is an argument.
        let named = codes.iter().filter_map(|code| code.split(' ').next());
        let named = named.filter(|code| folders.iter().any(|folder| code.starts_with(folder)));
        for path in named
            .filter(|path| !path.split(['/', '.']).any(|part| part.len() > 1 && part.chars().all(char::is_uppercase)))
        {
            // Paths with a line are examples.
            assert!(path.contains([':', '#']) || root().join(path).exists(), "{name} names {path}, which is not there");
        }
    }
}

/// The names of the tests in a file.
fn tests_in(file: &str) -> Vec<String> {
    let text = text_of(&root().join(file));
    let mut tests = Vec::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if !["#[test]", "#[tokio::test"].iter().any(|mark| line.starts_with(mark)) {
            continue;
        }
        let head = lines.find(|line| !line.starts_with("#[") && !line.starts_with("//"));
        let name = head.and_then(|head| head.split_once("fn ")).and_then(|(_, rest)| rest.split('(').next());
        tests.extend(name.map(str::to_owned));
    }
    tests
}

/// Every row of the section "Promises" names a file of tests in its last column, and after it tests that are in it.
fn every_promise_is_held(paper: &str, fewest: usize) {
    let text = text_of(&root().join(paper));
    let promises =
        text.split("\n## Promises\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("its promises");
    let is_row = |line: &&str| line.starts_with("| ") && !line.ends_with("| held by |");
    let rows: Vec<&str> = promises.lines().filter(is_row).collect();
    assert!(rows.len() > fewest, "the promises of {paper} are found: {}", rows.len());
    for row in rows {
        let held_by = row.trim_end_matches('|').rsplit(" | ").next().unwrap_or_default();
        let mut tests: Option<(String, Vec<String>)> = None;
        let mut count = 0;
        for code in code_in(held_by) {
            match (&tests, code.ends_with(".rs")) {
                (_, true) => tests = Some((code.clone(), tests_in(&code))),
                (Some((file, tests)), false) => {
                    assert!(tests.contains(&code), "{file} has no test {code}");
                    count += 1;
                }
                (None, false) => panic!("which file is {code} in? {row}"),
            }
        }
        assert!(count > 0, "nothing holds: {row}");
    }
    assert!(!tests_in("tests/readme.rs").contains(&"tests_in".to_owned()), "what is no test is none");
}

#[test]
fn every_promise_of_the_security_paper_names_tests_that_there_are() {
    every_promise_is_held("SECURITY.md", 30);
}

#[test]
fn every_promise_about_faults_names_tests_that_there_are() {
    every_promise_is_held("docs/faults.md", 40);
}
