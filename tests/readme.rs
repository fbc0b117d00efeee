//! The tables of the README are made from the program's own tables. `RHUMB_BLESS=1 cargo test --test readme` writes them anew.

use std::fmt::Write as _;
use std::path::Path;

use rhumb::config::{PRESETS, settings_table};
use rhumb::context::{PLACEHOLDERS, Prompts};
use rhumb::session::{COMMANDS, Group};
use rhumb::syntax::{Language, tags};
use rhumb::tui::action::{ACTIONS, Pane, Scope};

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
        let _ = writeln!(table, "| `{}` | {} |", prompt.name, prompt.what);
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
