//! `.aider.conf.yml`: settings of aider that have a counterpart here. They have a lower precedence than `rhumb.toml` in the
//! same folder, and the same trust.

use super::setting_table::setting;
use super::settings_file::{Entry, Level, Origin};
use super::value::read;
use rhumb_session::SettingKind;
use saphyr_parser::{Event, Parser, Span};
use std::borrow::Cow;
use toml::Value;

pub(super) const FILE: &str = ".aider.conf.yml";

/// Settings with another name here; see also [`counterpart`].
const OTHER_NAME: &[(&str, &str)] = &[
    ("openai-api-base", "base_url"),
    ("auto-commits", "auto_commit"),
    ("cache-keepalive-pings", "cache_pings"),
    ("max-chat-history-tokens", "history_tokens"),
    ("chat-language", "language"),
    ("reasoning-effort", "thinking"),
    ("thinking-tokens", "thinking"),
];

/// Settings with the same name, except for dashes.
const SAME_NAME: &[&str] = &[
    "model", "weak-model", "editor-model", "edit-format", "map-tokens", "map-refresh", "cache-prompts", "timeout",
    "read", "lint-cmd", "test-cmd",
];

/// A setting of the file: the name, the line (1-based), and one or more texts.
#[derive(Debug, PartialEq, Eq)]
struct YamlSetting {
    name: String,
    line: usize,
    values: Vec<String>,
    is_list: bool,
}

/// Reads a file. Returns the settings with a counterpart, and remarks about the others.
pub(super) fn parse(path: &str, text: &str, level: Level) -> (Vec<Entry>, Vec<String>) {
    let lines = match lines(text) {
        Ok(lines) => lines,
        Err((line, why)) => return (Vec::new(), vec![format!("{path}:{line}: not used: {why}")]),
    };
    let (mut entries, mut notes, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines.into_iter().filter(|line| !line.values.is_empty()) {
        let origin = Origin::File { level, path: path.to_owned(), line: line.line };
        match translated(&line) {
            Some(Ok(found)) => {
                entries.extend(found.into_iter().map(|(name, value)| Entry { name, value, origin: origin.clone() }));
            }
            Some(Err(why)) => notes.push(format!("{path}:{}: {} is not used: {why}", line.line, line.name)),
            None => rest.push(line.name),
        }
    }
    if !rest.is_empty() {
        notes.push(format!("{path}: these settings have no counterpart here: {}", rest.join(", ")));
    }
    (entries, notes)
}

type Translated = Result<Vec<(String, Value)>, String>;

fn translated(line: &YamlSetting) -> Option<Translated> {
    let first = line.values.first()?.as_str();
    match line.name.as_str() {
        "api-key" | "openai-api-key" | "anthropic-api-key" | "set-env" => {
            Some(Err("keys and variables are not read from these files".into()))
        }
        "dark-mode" | "light-mode" => {
            let theme = if line.name == "dark-mode" { "rhumb-dark" } else { "rhumb-light" };
            let is_on = read(SettingKind::Switch, first) == Ok(Value::Boolean(true));
            Some(Ok(if is_on { vec![("theme".into(), theme.into())] } else { Vec::new() }))
        }
        "alias" => {
            let alias = |each: &String| {
                let (name, model) = each.split_once(':').ok_or_else(|| format!("`{each}` is not NAME:MODEL"))?;
                Ok((format!("aliases.{}", name.trim()), Value::String(model.trim().to_owned())))
            };
            Some(line.values.iter().map(alias).collect())
        }
        name => counterpart(name).map(|name| value(name, line)),
    }
}

fn counterpart(name: &str) -> Option<&'static super::Setting> {
    match OTHER_NAME.iter().find(|(theirs, _)| *theirs == name) {
        Some((_, ours)) => setting(ours),
        None => setting(&SAME_NAME.iter().find(|same| **same == name)?.replace('-', "_")),
    }
}

fn value(setting: &super::Setting, line: &YamlSetting) -> Translated {
    let value = match (setting.kind, line.values.as_slice()) {
        (SettingKind::List, values) => Value::Array(values.iter().cloned().map(Value::String).collect()),
        (_, [only]) => read(setting.kind, &in_tokens(only, setting.name))?,
        _ => return Err("there can be only one here".into()),
    };
    Ok(vec![(setting.name.to_owned(), value)])
}

/// A number of tokens may be written as `8k`.
fn in_tokens<'t>(text: &'t str, name: &str) -> Cow<'t, str> {
    let thousands =
        text.strip_suffix(['k', 'K']).filter(|_| name == "thinking").and_then(|text| text.parse::<u32>().ok());
    thousands.map_or(Cow::Borrowed(text), |thousands| Cow::Owned(thousands.saturating_mul(1024).to_string()))
}

/// Parses a mapping of names to texts and lists of texts. Aliases are refused, because expanding them could make a small file
/// very large.
fn lines(text: &str) -> Result<Vec<YamlSetting>, (usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<YamlSetting> = None;
    let (mut depth, mut in_list) = (0_usize, false);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| (error.marker().line(), "this is not YAML".to_owned()))?;
        let refused = |why: &str| Err((first_line(span), why.to_owned()));
        match event {
            Event::Alias(_) => return refused("it has aliases"),
            Event::DocumentStart(_) if !found.is_empty() => return refused("it has several documents"),
            Event::MappingStart(..) if depth == 0 => depth = 1,
            Event::MappingStart(..) => return refused("expected a text or a list"),
            Event::MappingEnd => depth = 0,
            Event::SequenceStart(..) => match &mut open {
                Some(line) if !in_list => (line.is_list, in_list) = (true, true),
                _ => return refused("expected names with values"),
            },
            Event::SequenceEnd => {
                in_list = false;
                found.extend(open.take());
            }
            Event::Scalar(text, style, ..) => {
                let is_null = style == saphyr_parser::ScalarStyle::Plain && matches!(&*text, "" | "~" | "null");
                match &mut open {
                    None if depth == 1 => {
                        let name = text.replace('_', "-");
                        open = Some(YamlSetting { name, line: first_line(span), values: Vec::new(), is_list: false });
                    }
                    // An empty file is an empty text.
                    None if is_null => {}
                    None => return refused("expected names with values"),
                    Some(line) => {
                        line.values.extend((!is_null).then(|| text.into_owned()));
                        if !in_list {
                            found.extend(open.take());
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn first_line(span: Span) -> usize {
    span.start.line()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_file(text: &str) -> (Vec<String>, Vec<String>) {
        let (entries, notes) = parse("c.yml", text, Level::User);
        let shown = entries.iter().map(|entry| format!("{} = {} @ {}", entry.name, entry.value, entry.origin));
        (shown.collect(), notes)
    }

    #[test]
    fn settings_with_a_counterpart_are_read_with_their_lines() {
        let (entries, notes) = read_file(
            "# mine\nmodel: sonnet\nweak_model: 'gpt-5-mini'\nedit-format: udiff\nmap-tokens: 2048\nauto-commits: false\n\
             read:\n  - STYLE.md\n  - docs/API.md\nlint-cmd: [cargo clippy]\nthinking-tokens: 8k\ndark-mode: true\nlight-mode: false\n\
             alias:\n  - \"fast:groq/x\"\ncache-prompts: yes\ntest-cmd: null\n",
        );
        assert_eq!(
            entries,
            [
                "model = \"sonnet\" @ c.yml:2",
                "weak_model = \"gpt-5-mini\" @ c.yml:3",
                "edit_format = \"udiff\" @ c.yml:4",
                "map_tokens = 2048 @ c.yml:5",
                "auto_commit = false @ c.yml:6",
                "read = [\"STYLE.md\", \"docs/API.md\"] @ c.yml:7",
                "lint_cmd = \"cargo clippy\" @ c.yml:10",
                "thinking = 8192 @ c.yml:11",
                "theme = \"rhumb-dark\" @ c.yml:12",
                "aliases.fast = \"groq/x\" @ c.yml:14",
                "cache_prompts = true @ c.yml:16",
            ]
        );
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn other_settings_are_reported_and_keys_are_not_shown() {
        let (entries, notes) = read_file(
            "vim: true\nopenai-api-key: sk-canary\napi-key:\n  - gemini=sk-canary\nedit-format: architect\nvoice-language: en\n",
        );
        assert!(entries.is_empty());
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert!(notes[2].starts_with("c.yml:5: edit-format is not used: expected one of"), "{notes:?}");
        assert!(notes[3].ends_with("no counterpart here: vim, voice-language"), "{notes:?}");
        assert!(!notes.concat().contains("canary"));
    }

    #[test]
    fn a_bomb_and_nonsense_are_refused_by_line() {
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        for (text, line) in
            [(bomb, 2), ("- model\n", 1), ("model:\n  deep: 1\n", 2), ("read: [[a]]\n", 1), ("a: b: c\n", 1)]
        {
            let (entries, notes) = read_file(text);
            assert!(entries.is_empty() && notes.len() == 1, "{text}: {entries:?} {notes:?}");
            assert!(notes[0].starts_with(&format!("c.yml:{line}: not used")), "{text}: {notes:?}");
        }
        for text in ["", "# nothing\n", "---\n"] {
            assert_eq!(read_file(text), (Vec::new(), Vec::new()), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[ -~\n\"=\\[\\]{}&*:é-]{0,80}") {
            let _ = read_file(&text);
        }
    }
}
