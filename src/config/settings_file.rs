//! Parses one settings file and checks its entries, each with its line.

use super::setting_table::{PROVIDER_FIELDS, SETTINGS, setting};
use super::value::checked;
use rhumb_llm::models::ModelOverride;
use rhumb_llm::redacted_url;
use rhumb_session::SettingKind;
use rhumb_text::nearest;
use rhumb_text::sanitize;
use std::fmt;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// The owner of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The user.
    User,
    /// The repository, so that its content is not trusted.
    Repository,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The value is the default.
    Default,
    /// A line of a file.
    File {
        /// The owner of the file.
        level: Level,
        /// The file, for display.
        path: String,
        /// 1-based.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// A flag.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, .. } => write!(f, "{}:{line}", sanitize::visible_line(path)),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// A value that is set.
#[derive(Clone, PartialEq)]
pub struct Entry {
    /// The name of the setting; of a named table, `providers.NAME`.
    pub name: String,
    /// The value, of the type of the setting.
    pub value: Value,
    /// The origin.
    pub origin: Origin,
}

impl fmt::Debug for Entry {
    // Headers and parameters may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", self.name, self.origin)
    }
}

impl Entry {
    pub(super) fn setting(&self) -> Option<&'static super::Setting> {
        setting(self.name.split('.').next().unwrap_or(&self.name))
    }

    /// The value for display: addresses without passwords, headers without values.
    pub fn shown(&self) -> Value {
        let mut value = self.value.clone();
        let address = |value: &mut Value| {
            if let Value::String(url) = value {
                *url = redacted_url(url);
            }
        };
        if self.name == "base_url" {
            address(&mut value);
        }
        if let (Value::Table(table), true) = (&mut value, self.name.starts_with("providers.")) {
            table.get_mut("base_url").map(address);
            let headers = table.get_mut("headers").and_then(Value::as_table_mut);
            headers.into_iter().flatten().for_each(|(_, value)| *value = Value::String("(set)".into()));
        }
        value
    }
}

/// A mistake in a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: String,
    /// 1-based.
    pub line: usize,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, message) = (sanitize::visible_line(&self.path), sanitize::visible_line(&self.message));
        write!(f, "{path}:{}: {message}", self.line)
    }
}

/// The line of a byte offset, 1-based.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Parses a settings file. Returns its valid entries and its mistakes.
pub(super) fn parse(path: &str, text: &str, level: Level) -> (Vec<Entry>, Vec<Problem>) {
    let mut parser = FileParser { path, text, level, entries: Vec::new(), problems: Vec::new() };
    let (spans, values) = match (DeTable::parse(text), text.parse::<Table>()) {
        (Ok(spans), Ok(values)) => (spans.into_inner(), values),
        (Err(error), _) | (_, Err(error)) => {
            parser.problem(error.span().map_or(0, |span| span.start), error.message().to_owned());
            return (parser.entries, parser.problems);
        }
    };
    for (name, span) in &spans {
        if let Some(value) = values.get(name.get_ref().as_ref()) {
            parser.top(name, span, value);
        }
    }
    parser.problems.sort_by_key(|problem| problem.line);
    parser.entries.sort_by_key(|entry| match &entry.origin {
        Origin::File { line, .. } => *line,
        _ => 0,
    });
    (parser.entries, parser.problems)
}

struct FileParser<'a> {
    path: &'a str,
    text: &'a str,
    level: Level,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

type Name<'s> = Spanned<std::borrow::Cow<'s, str>>;

impl FileParser<'_> {
    fn problem(&mut self, at: usize, message: String) {
        self.problems.push(Problem { path: self.path.to_owned(), line: line_of(self.text, at), message });
    }

    fn entry(&mut self, at: usize, name: String, value: Value) {
        let origin = Origin::File { level: self.level, path: self.path.to_owned(), line: line_of(self.text, at) };
        self.entries.push(Entry { name, value, origin });
    }

    fn unknown<'n>(&mut self, name: &Name<'_>, of: &str, names: impl Iterator<Item = &'n str>) {
        let meant =
            nearest(name.get_ref(), names).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
        self.problem(name.span().start, format!("there is no {of} `{}`{meant}", name.get_ref()));
    }

    /// Checks a name at the top level.
    fn top(&mut self, name: &Name<'_>, span: &Spanned<DeValue<'_>>, value: &Value) {
        let at = name.span().start;
        let Some(setting) = setting(name.get_ref()) else {
            return self.unknown(name, "setting", SETTINGS.iter().map(|setting| setting.name));
        };
        match (checked(setting.kind, value), span.get_ref()) {
            (Err(message), _) => self.problem(at, format!("{}: {message}", setting.name)),
            (Ok(Value::Table(tables)), DeValue::Table(spans)) => {
                for (name, span) in spans {
                    if let Some(value) = tables.get(name.get_ref().as_ref()) {
                        self.table(setting.name, name, span, value);
                    }
                }
            }
            (Ok(value), _) => self.entry(at, setting.name.to_owned(), value),
        }
    }

    /// Checks a named table, or an entry of a table such as `[aliases]`.
    fn table(&mut self, kind: &str, name: &Name<'_>, span: &Spanned<DeValue<'_>>, value: &Value) {
        let (at, full) = (name.span().start, format!("{kind}.{}", name.get_ref()));
        let takes = match kind {
            "aliases" | "linters" => SettingKind::Text,
            "keys" => SettingKind::List,
            _ => SettingKind::Tables,
        };
        let value = match checked(takes, value) {
            Ok(value) => value,
            Err(message) => return self.problem(at, format!("{full}: {message}")),
        };
        let problems_before = self.problems.len();
        if let (true, Value::Table(fields), DeValue::Table(spans)) = (kind == "providers", &value, span.get_ref()) {
            for (field, _) in spans {
                let Some((_, kind)) = PROVIDER_FIELDS.iter().find(|(name, _)| *name == field.get_ref()) else {
                    self.unknown(field, "field of a provider", PROVIDER_FIELDS.iter().map(|(name, _)| *name));
                    continue;
                };
                let result = fields.get(field.get_ref().as_ref()).map(|value| checked(*kind, value));
                if let Some(Err(message)) = result {
                    self.problem(field.span().start, format!("{full}.{}: {message}", field.get_ref()));
                }
            }
        }
        if kind == "models"
            && let Err(error) = value.clone().try_into::<ModelOverride>()
        {
            self.problem(at, format!("{full}: {}", error.message()));
        }
        if self.problems.len() == problems_before {
            self.entry(at, full, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let (entries, problems) = parse("rhumb.toml", text, Level::User);
        let shown = entries.iter().map(|entry| format!("{} @ {}", entry.name, entry.origin));
        (shown.collect(), problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn entries_know_their_lines() {
        let (entries, problems) =
            read("# x\nmodel = \"m\"\n\n[providers.box]\nbase_url = \"http://b:1\"\n[aliases]\nf = \"g\"\n");
        assert_eq!(
            entries,
            ["model @ rhumb.toml:2", "providers.box @ rhumb.toml:4", "aliases.f @ rhumb.toml:7"],
            "{problems:?}"
        );
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn unknown_names_and_wrong_types_are_reported_by_line_and_the_rest_is_used() {
        let (entries, problems) = read(
            "modle = \"m\"\nmap_tokens = \"many\"\ntheme = \"t\"\nedit_format = \"telepathy\"\n\
             [providers.box]\nbase_ulr = \"http://b\"\n[aliases]\nfast = 3\n",
        );
        assert_eq!(entries, ["theme @ rhumb.toml:3"]);
        for told in [
            "rhumb.toml:1: there is no setting `modle`; did you mean `model`?",
            "rhumb.toml:2: map_tokens: expected a whole number from 0, found `many`",
            "rhumb.toml:4: edit_format: expected one of diff,",
            "rhumb.toml:6: there is no field of a provider `base_ulr`; did you mean `base_url`?",
            "rhumb.toml:8: aliases.fast: expected a text in quotes, found 3",
        ] {
            assert!(problems.iter().any(|problem| problem.starts_with(told)), "{told}: {problems:#?}");
        }
        assert_eq!(problems.len(), 5);
    }

    #[test]
    fn invalid_toml_is_reported_by_line_without_quoting_it() {
        let (entries, problems) = read("\nmodel = \"m\"\n[providers.b]\nheaders = { X = \"canary }\n");
        assert!(entries.is_empty() && problems.len() == 1);
        assert!(problems[0].starts_with("rhumb.toml:4: ") && !problems[0].contains("canary"), "{problems:?}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[ -~\n\"=\\[\\]{}é]{0,80}") {
            let _ = read(&text);
        }
    }
}
