//! Settings files: of the user, of a repository, of aider; keys and themes. Errors name their location.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use proptest::prelude::{any, prop, prop_oneof, proptest};
use proptest::prop_assert;
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;
use rhumb::config::{
    Level, Origin, Overrides, Paths, SETTINGS, Settings, Sources, Trust, WorkingDirs, default_file, setting,
};
use rhumb::tui::action::{ACTIONS, KeyMap};
use rhumb::tui::theme::{ColorDepth, Theme};

use crate::cases;
use crate::damage::{Damage, damage, damaged};

/// Values of every type, and invalid ones.
const VALUES: [&str; 24] = [
    "true",
    "0",
    "-1",
    "9223372036854775807",
    "9223372036854775808",
    "1e308",
    "nan",
    "inf",
    r#""""#,
    r#""x""#,
    r#""https://evil.example/v1""#,
    r#""../../etc/passwd""#,
    r#""\u001b[2J""#,
    "'''\na\n'''",
    "[]",
    r#"["a", 1]"#,
    r#"["../x", "/etc/passwd", ".env"]"#,
    "{ a = 1 }",
    r#"{ base_url = "https://evil.example", key_env = "OPENAI_API_KEY" }"#,
    "1979-05-27",
    r#""Ctrl-x Ctrl-y""#,
    r#"["Ctrl-c", "F25", ""]"#,
    r##""#ff00""##,
    "",
];

/// Tables, known and unknown.
const TABLES: [&str; 8] = ["providers.openai", "providers.x", "aliases.sonnet", "models.m", "keys", "a.b", "\"\"", "x"];

/// Values in YAML.
const YAML: [&str; 13] =
    ["true", "x", "- a", "&a [*a]", "*a", "{a: b}", "|\n  a", "\n  - a\n  - b", "'", "!!int 3", "~", "8k", "sonnet:x"];

/// The default file with every setting, its default and examples.
static WHOLE: LazyLock<String> = LazyLock::new(|| {
    let bare = |line: &str| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line).to_owned();
    default_file().lines().map(|line| bare(line) + "\n").collect()
});

const THEME: &str = include_str!("../../themes/rhumb-dark.toml");

/// A settings file: lines of the default file, and names with values of other settings.
fn toml() -> impl Strategy<Value = String> {
    let known = any::<Index>().prop_map(|at| {
        let lines: Vec<&str> = WHOLE.lines().collect();
        lines[at.index(lines.len())].to_owned()
    });
    let name = prop_oneof![
        4 => any::<Index>().prop_map(|at| SETTINGS[at.index(SETTINGS.len())].name.to_owned()),
        1 => any::<Index>().prop_map(|at| format!("keys.{}", ACTIONS[at.index(ACTIONS.len())].name)),
        1 => prop::sample::select(TABLES.to_vec()).prop_map(str::to_owned),
    ];
    let value = prop::sample::select(VALUES.to_vec());
    let odd = (name, value, any::<bool>()).prop_map(|(name, value, is_table)| {
        if is_table { format!("[{name}]\nmodel = {value}") } else { format!("{name} = {value}") }
    });
    let lines = prop::collection::vec(prop_oneof![2 => known, 3 => odd], 0..12);
    let harmed = |(lines, damages): (Vec<String>, Vec<Damage>)| damaged(&(lines.join("\n") + "\n"), &damages, &[]);
    (lines, prop::collection::vec(damage(), 0..2)).prop_map(harmed)
}

/// A settings file of aider.
fn yaml() -> impl Strategy<Value = String> {
    let name = any::<Index>().prop_map(|at| SETTINGS[at.index(SETTINGS.len())].name.replace('_', "-"));
    let line = (name, prop::sample::select(YAML.to_vec())).prop_map(|(name, value)| format!("{name}: {value}"));
    let harmed = |(lines, damages): (Vec<String>, Vec<Damage>)| damaged(&(lines.join("\n") + "\n"), &damages, &[]);
    (prop::collection::vec(line, 0..8), prop::collection::vec(damage(), 0..3)).prop_map(harmed)
}

/// The settings of a home and a repository with these files.
fn load(user: Option<&str>, foreign: &str, theirs: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let below = |name: &str| top.join(name);
    let paths = Paths { home: below("home"), config: below("home"), cache: below("cache"), state: below("state") };
    let root = below("repo");
    let files =
        [("home/rhumb.toml", user.unwrap_or("")), ("repo/rhumb.toml", foreign), ("repo/.aider.conf.yml", theirs)];
    for (path, text) in files {
        fs::create_dir_all(below(path).parent().unwrap()).unwrap();
        fs::write(below(path), text).unwrap();
    }
    let dirs = Some(WorkingDirs { root: &root, current: &root });
    let paths = user.map(|_| &paths);
    let loaded = Settings::load(&Sources { flags: Overrides::default(), env: &|_| None, paths, dirs });
    loaded.map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn a_users_mistake_has_its_place_and_a_repository_sets_nothing_but_the_inert(
        user in toml(), foreign in toml(), theirs in yaml(),
    ) {
        if let Err(told) = load(Some(&user), &foreign, &theirs) {
            let is_placed = |line: &str| line.split(':').nth(1).is_some_and(|number| number.trim().parse::<usize>().is_ok());
            prop_assert!(told.lines().next().is_some_and(is_placed), "{told}\n{user}");
        }
        let settings = load(None, &foreign, &theirs)
            .map_err(|told| TestCaseError::fail(format!("a repository ends the start: {told}\n{foreign}\n{theirs}")))?;
        for entry in settings.layers.effective() {
            let Origin::File { level: Level::Repository, line, .. } = &entry.origin else { continue };
            let kind = setting(entry.name.split('.').next().unwrap());
            prop_assert!(kind.is_some_and(|kind| kind.trust == Trust::Inert) && *line >= 1, "{entry:?}");
        }
        prop_assert!(settings.base_url.is_none() && settings.model.is_none());
        let leaves = |path: &String| path.split('/').any(|part| part == "..") || path.starts_with('/');
        prop_assert!(!settings.read.iter().any(leaves), "{:?}", settings.read);
        KeyMap::with(&settings.display.keys);
    }

    #[test]
    fn no_keys_take_the_way_out(
        keys in prop::collection::vec((any::<Index>(), prop::collection::vec("(Ctrl-|Alt-|Shift-|F|x|Esc|Enter|Space| |-|1|25|c|日){0,5}", 0..3)), 0..8),
    ) {
        let named = |(at, keys): (Index, Vec<String>)| (ACTIONS[at.index(ACTIONS.len())].name.to_owned(), keys);
        let overrides: BTreeMap<String, Vec<String>> = keys.into_iter().map(named).collect();
        let (map, problems) = KeyMap::with(&overrides);
        for problem in &problems {
            prop_assert!(ACTIONS.iter().any(|info| info.name == problem.name) && !problem.text.is_empty(), "{problem:?}");
        }
        for (name, key) in [("interrupt", "Ctrl-c"), ("escape", "Esc")] {
            let mut named = ACTIONS.iter().filter(|info| info.name == name);
            prop_assert!(named.any(|info| map.of(info.action).iter().any(|own| own == key)), "{overrides:?}");
        }
    }

    #[test]
    fn a_theme_is_read_or_its_fault_has_a_place(
        damages in prop::collection::vec(damage(), 0..4),
        value in prop::sample::select(VALUES.to_vec()),
        at in any::<Index>(),
    ) {
        let mut lines: Vec<String> = damaged(THEME, &damages, &[]).lines().map(str::to_owned).collect();
        let at = at.index(lines.len().max(1));
        if let Some(name) = lines.get(at).and_then(|line| line.split_once(" = ")).map(|(name, _)| name.to_owned()) {
            lines[at] = format!("{name} = {value}");
        }
        let text = lines.join("\n");
        for depth in [ColorDepth::True, ColorDepth::Ansi16, ColorDepth::None] {
            if let Err(error) = Theme::load("mine", depth, &|name| (name == "mine").then(|| text.clone())) {
                let (name, line) = error.place();
                prop_assert!(!name.is_empty() && line.is_none_or(|line| line <= text.lines().count() + 1), "{error}");
            }
        }
    }
}
