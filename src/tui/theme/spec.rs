//! Parses theme files: TOML, inheritance, and errors that name the fault.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::color;
use super::role::{Role, SYNTAX};

/// Why a theme could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// No theme has that name.
    #[error("there is no theme named {name:?}")]
    UnknownTheme {
        /// The theme name that was requested or inherited.
        name: String,
    },
    /// The file is not TOML of the expected shape.
    #[error("theme {theme:?} cannot be read: {message}")]
    Syntax {
        /// Name of the theme.
        theme: String,
        /// The message of the TOML parser.
        message: String,
        /// 1-based; 0 if unknown.
        line: usize,
    },
    /// A style for an unknown role.
    #[error("theme {theme:?} styles {role:?}, which is not a role")]
    UnknownRole {
        /// Name of the theme.
        theme: String,
        /// The unknown name.
        role: String,
        /// 1-based; 0 if unknown.
        line: usize,
    },
    /// A colour that is neither in the palette nor written as a colour.
    #[error("theme {theme:?} gives {role:?} the colour {color:?}, which is neither a colour nor in its palette")]
    BadColor {
        /// Name of the theme.
        theme: String,
        /// The role or palette entry.
        role: String,
        /// The colour as written.
        color: String,
        /// 1-based; 0 if unknown.
        line: usize,
    },
    /// Themes that inherit from each other in a circle.
    #[error("theme {theme:?} inherits from itself")]
    Circle {
        /// The theme at which the circle closes.
        theme: String,
    },
}

impl ThemeError {
    /// The theme whose file is at fault, and the line in it, 1-based, where that is known.
    pub fn place(&self) -> (&str, Option<usize>) {
        match self {
            Self::UnknownTheme { name: theme } | Self::Circle { theme } => (theme, None),
            Self::Syntax { theme, line, .. }
            | Self::UnknownRole { theme, line, .. }
            | Self::BadColor { theme, line, .. } => (theme, Some(*line).filter(|line| *line > 0)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    inherits: Option<String>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    styles: BTreeMap<String, SpecEntry>,
}

/// A role's style as written: a bare colour for the text, or a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a colour, or a table of fg, bg, bold, italic, underline, dim, reversed, crossed-out")]
enum SpecEntry {
    Foreground(String),
    Full(Full),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Full {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    italic: bool,
    underline: bool,
    dim: bool,
    reversed: bool,
    #[serde(rename = "crossed-out")]
    crossed_out: bool,
}

/// The styles of a theme and of the themes that it inherits, in full colour.
#[derive(Debug, Default)]
pub(super) struct Spec {
    palette: BTreeMap<String, Color>,
    styles: BTreeMap<String, StyleEntry>,
}

/// A style and its origin.
#[derive(Debug)]
struct StyleEntry {
    entry: SpecEntry,
    theme: String,
    line: usize,
}

impl Spec {
    /// Reads the theme `name` and the themes that it inherits. `find` returns the file of a theme. A theme may inherit
    /// another theme with its name: `find` then returns the next outer one (`level` counts how often the name occurred
    /// before).
    pub(super) fn read(name: &str, find: &dyn Fn(&str, usize) -> Option<String>) -> Result<Self, ThemeError> {
        let mut files = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(theme) = next {
            let level = seen.iter().filter(|earlier| **earlier == theme).count();
            let source = find(&theme, level).ok_or_else(|| match level {
                0 => ThemeError::UnknownTheme { name: theme.clone() },
                _ => ThemeError::Circle { theme: theme.clone() },
            })?;
            let file: File = toml::from_str(&source).map_err(|error| syntax_error(&theme, &source, &error))?;
            next = file.inherits.clone();
            seen.push(theme.clone());
            files.push((theme, file, source));
        }
        let mut spec = Self::default();
        for (theme, file, source) in files.into_iter().rev() {
            spec.merge(&theme, file, &source)?;
        }
        Ok(spec)
    }

    fn merge(&mut self, theme: &str, file: File, source: &str) -> Result<(), ThemeError> {
        for (name, value) in file.palette {
            let line = || line_of(source, &name);
            let color = color::parse(&value).ok_or_else(|| bad_color(theme, &name, &value, line()))?;
            self.palette.insert(name, color);
        }
        for (role, entry) in file.styles {
            let syntax = role.strip_prefix("syntax.").is_some_and(|class| SYNTAX.contains(&class));
            if !syntax && Role::from_name(&role).is_none() {
                let line = line_of(source, &role);
                return Err(ThemeError::UnknownRole { theme: theme.to_owned(), role, line });
            }
            let line = line_of(source, &role);
            self.styles.insert(role, StyleEntry { entry, theme: theme.to_owned(), line });
        }
        Ok(())
    }

    /// The style of a role. A role without one takes the style of the name before its last dot.
    pub(super) fn style(&self, role: &str) -> Result<Style, ThemeError> {
        let mut name = role;
        loop {
            match (self.styles.get(name), name.rsplit_once('.')) {
                (Some(written), _) => return self.resolve(name, written),
                (None, Some((parent, _))) => name = parent,
                (None, None) => return Ok(Style::default()),
            }
        }
    }

    pub(super) fn color(&self, name: &str) -> Option<Color> {
        self.palette.get(name).copied()
    }

    #[cfg(test)]
    pub(super) fn defines(&self, role: &str) -> bool {
        self.styles.contains_key(role)
    }

    fn resolve(&self, role: &str, written: &StyleEntry) -> Result<Style, ThemeError> {
        let full = match &written.entry {
            SpecEntry::Foreground(fg) => &Full { fg: Some(fg.clone()), ..Full::default() },
            SpecEntry::Full(full) => full,
        };
        let color = |text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => match self.palette.get(text).copied().or_else(|| color::parse(text)) {
                None => Err(bad_color(&written.theme, role, text, written.line)),
                found => Ok(found),
            },
        };
        let attributes = [
            (full.bold, Modifier::BOLD),
            (full.italic, Modifier::ITALIC),
            (full.underline, Modifier::UNDERLINED),
            (full.dim, Modifier::DIM),
            (full.reversed, Modifier::REVERSED),
            (full.crossed_out, Modifier::CROSSED_OUT),
        ];
        let add_modifier = attributes.into_iter().filter(|(on, _)| *on).map(|(_, modifier)| modifier).collect();
        Ok(Style { fg: color(&full.fg)?, bg: color(&full.bg)?, add_modifier, ..Style::default() })
    }
}

fn bad_color(theme: &str, role: &str, color: &str, line: usize) -> ThemeError {
    ThemeError::BadColor { theme: theme.to_owned(), role: role.to_owned(), color: color.to_owned(), line }
}

fn syntax_error(theme: &str, source: &str, error: &toml::de::Error) -> ThemeError {
    let before = error.span().and_then(|span| source.get(..span.start));
    let line = before.map_or(0, |before| before.matches('\n').count() + 1);
    // The message may quote the file.
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    ThemeError::Syntax { theme: theme.to_owned(), message, line }
}

/// The line (1-based) of a key in the file; 0 if it is not found.
fn line_of(source: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        let line = line.trim_start().trim_start_matches(['"', '\'']);
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ', '\t']).starts_with('='))
    };
    source.lines().position(is_key).map_or(0, |at| at + 1)
}
