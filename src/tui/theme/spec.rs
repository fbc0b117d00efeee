//! Theme files: TOML, inheritance, colours, and errors that name the fault.

use serde::Deserialize;

use super::SYNTAX;
use crate::tui::prelude::*;

/// Why a theme could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("there is no theme named {name:?}")]
    UnknownTheme { name: String },
    #[error("theme {theme:?} cannot be read: {message}")]
    Syntax {
        theme: String,
        message: String,
        /// 1-based; 0 if unknown.
        line: usize,
    },
    #[error("theme {theme:?} styles {role:?}, which is not a role")]
    UnknownRole { theme: String, role: String, line: usize },
    #[error("theme {theme:?} gives {role:?} the colour {color:?}, which is neither a colour nor in its palette")]
    BadColor { theme: String, role: String, color: String, line: usize },
    #[error("theme {theme:?} inherits from itself")]
    Circle { theme: String },
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
            let color = parse(&value).ok_or_else(|| bad_color(theme, &name, &value, line()))?;
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

    fn resolve(&self, role: &str, written: &StyleEntry) -> Result<Style, ThemeError> {
        let full = match &written.entry {
            SpecEntry::Foreground(fg) => &Full { fg: Some(fg.clone()), ..Full::default() },
            SpecEntry::Full(full) => full,
        };
        let color = |text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => match self.palette.get(text).copied().or_else(|| parse(text)) {
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

/// The sixteen ANSI colours by the names that theme files use, in the order of their codes.
const ANSI: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

/// The colour that `text` writes: `#rrggbb`, `#rgb`, a number from 0 to 255 of the terminal's palette, the name of an
/// ANSI colour (`red`, `bright-red`), or `default` for the terminal's own.
pub(super) fn parse(text: &str) -> Option<Color> {
    if let Some(hex) = text.strip_prefix('#') {
        return parse_hex(hex);
    }
    if text == "default" {
        return Some(Color::Reset);
    }
    let named = ANSI.iter().find(|(name, _)| *name == text).map(|(_, color)| *color);
    named.or_else(|| text.parse().ok().map(Color::Indexed))
}

fn parse_hex(hex: &str) -> Option<Color> {
    if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(hex, 16).ok()?;
    match hex.len() {
        6 => {
            let [red, green, blue] = channels(value);
            Some(Color::Rgb(red, green, blue))
        }
        3 => {
            let digit = |shift: u32| ((value >> shift & 0xF) * 0x11).to_be_bytes()[3];
            Some(Color::Rgb(digit(8), digit(4), digit(0)))
        }
        _ => None,
    }
}

pub(super) fn ansi(code: usize) -> Option<Color> {
    ANSI.get(code).map(|(_, color)| *color)
}

/// Red, green and blue of a number like `0xRRGGBB`.
fn channels(color: u32) -> [u8; 3] {
    let [_, red, green, blue] = color.to_be_bytes();
    [red, green, blue]
}

pub(super) fn code(color: Color) -> Option<usize> {
    ANSI.iter().position(|(_, named)| *named == color)
}

/// The colours that a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColorDepth {
    /// No colour, as requested by `NO_COLOR`: bold, dim, underline and reverse remain.
    None,
    /// The sixteen ANSI colours.
    Ansi16,
    /// The 256 colours of xterm.
    Ansi256,
    /// 24-bit colour.
    True,
}

impl ColorDepth {
    /// The number of colours, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ansi16 => "16",
            Self::Ansi256 => "256",
            Self::True => "24-bit",
        }
    }

    /// The style of `role` at this depth. If a colour that carried the meaning is lost, an attribute replaces it.
    pub(super) fn convert(self, role: Option<Role>, style: Style) -> Style {
        let signal = role.map(signal).unwrap_or_default();
        match self {
            Self::True => style,
            Self::Ansi256 => recolor(style, to_256),
            Self::Ansi16 => {
                let mut low = recolor(style, to_16);
                // A tint becomes the plain background, or the colour of its text.
                let background = matches!(low.bg, Some(Color::Black | Color::White | Color::Gray))
                    && matches!(style.bg, Some(Color::Rgb(..)));
                if background || (low.bg.is_some() && low.bg == low.fg && low.bg != Some(Color::Reset)) {
                    low.bg = None;
                    low = low.add_modifier(signal);
                }
                low
            }
            Self::None => Style { add_modifier: style.add_modifier & PLAIN, ..Style::default() }.add_modifier(signal),
        }
    }

    pub(super) fn color(self, color: Color) -> Option<Color> {
        match self {
            Self::True => Some(color),
            Self::Ansi256 => Some(to_256(color)),
            Self::Ansi16 => Some(to_16(color)),
            Self::None => None,
        }
    }

    /// Makes the style visible on a light or dark background: with sixteen colours a faint colour may equal the
    /// background.
    pub(super) fn keep_seen(self, style: Style, light: bool) -> Style {
        let lost = matches!((style.fg, light), (Some(Color::White | Color::Gray), true) | (Some(Color::Black), false));
        if self == Self::Ansi16 && lost && style.bg.is_none() { style.fg(Color::DarkGray) } else { style }
    }
}

/// The attributes that carry meaning without colour. Slant is left out: most terminals that lack colour lack it too.
const PLAIN: Modifier = Modifier::BOLD.union(Modifier::DIM).union(Modifier::UNDERLINED).union(Modifier::REVERSED);

/// The first sixteen colours as xterm ships them. Users change these, so they only serve to pick the nearest.
const XTERM_16: [u32; 16] = [
    0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00,
    0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
];

/// The six levels of each channel in xterm's colour cube (codes 16 to 231).
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Red, green and blue of a colour, from xterm's default palette. `None` for the default foreground and background.
pub fn rgb_of(color: Color) -> Option<[u8; 3]> {
    let code = match color {
        Color::Reset => return None,
        Color::Rgb(red, green, blue) => return Some([red, green, blue]),
        Color::Indexed(code @ 16..) => return Some(fixed(code)),
        Color::Indexed(code) => usize::from(code),
        named => code(named)?,
    };
    XTERM_16.get(code).copied().map(channels)
}

/// The attribute that replaces the colour of a role.
fn signal(role: Role) -> Modifier {
    match role {
        Role::Selection | Role::Search | Role::CursorLine => Modifier::REVERSED,
        Role::BorderFocused
        | Role::Title
        | Role::Key
        | Role::Error
        | Role::Accent
        | Role::User
        | Role::Assistant
        | Role::HunkAccepted
        | Role::DiffHeader
        | Role::MarkdownHeading
        | Role::MarkdownStrong => Modifier::BOLD,
        Role::Match | Role::AddedWord | Role::RemovedWord | Role::MarkdownLink | Role::MarkdownEmphasis => {
            Modifier::UNDERLINED
        }
        Role::Muted | Role::Gutter | Role::HunkRejected | Role::MeterEmpty => Modifier::DIM,
        _ => Modifier::empty(),
    }
}

fn recolor(style: Style, to: fn(Color) -> Color) -> Style {
    Style { fg: style.fg.map(to), bg: style.bg.map(to), ..style }
}

/// The nearest of the 240 fixed colours. The first sixteen depend on the user.
fn to_256(color: Color) -> Color {
    let Color::Rgb(red, green, blue) = color else {
        return color;
    };
    let rgb = [red, green, blue];
    let mut nearest = (u32::MAX, 16u8);
    for code in 16..=255u8 {
        let away = distance(rgb, fixed(code));
        if away < nearest.0 {
            nearest = (away, code);
        }
    }
    Color::Indexed(nearest.1)
}

fn to_16(color: Color) -> Color {
    let rgb = match color {
        Color::Rgb(red, green, blue) => [red, green, blue],
        Color::Indexed(code) if code >= 16 => fixed(code),
        Color::Indexed(code) => return ansi(usize::from(code)).unwrap_or(color),
        named => return named,
    };
    let nearest = XTERM_16.iter().enumerate().min_by_key(|(_, candidate)| distance(rgb, channels(**candidate)));
    nearest.and_then(|(code, _)| ansi(code)).unwrap_or(color)
}

/// The colour of a code of 16 and up in xterm's palette.
fn fixed(code: u8) -> [u8; 3] {
    if code >= 232 {
        return [8 + 10 * (code - 232); 3];
    }
    let at = usize::from(code.saturating_sub(16));
    [at / 36, at / 6 % 6, at % 6].map(|level| CUBE.get(level).copied().unwrap_or(255))
}

/// The difference of two colours by the "redmean" weighting of RGB.
fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    let mean = (u32::from(a[0]) + u32::from(b[0])) / 2;
    let [red, green, blue] = [0, 1, 2].map(|at| u32::from(a[at].abs_diff(b[at])).pow(2));
    (((512 + mean) * red) >> 8) + 4 * green + (((767 - mean) * blue) >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Spec {
        pub(crate) fn defines(&self, role: &str) -> bool {
            self.styles.contains_key(role)
        }
    }

    #[test]
    fn a_colour_has_several_spellings() {
        assert_eq!(parse("#1a2B3c"), Some(Color::Rgb(0x1a, 0x2b, 0x3c)));
        assert_eq!(parse("#fa0"), Some(Color::Rgb(0xff, 0xaa, 0)));
        assert_eq!(parse("bright-cyan"), Some(Color::LightCyan));
        assert_eq!(parse("208"), Some(Color::Indexed(208)));
        assert_eq!(parse("default"), Some(Color::Reset));
    }

    #[test]
    fn a_bad_colour_is_none() {
        for text in ["", "#", "#12", "#12345g", "#+12345", "256", "-1", "brass", "#€"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

#[cfg(test)]
mod depth_tests {
    use super::*;

    #[test]
    fn the_cube_and_the_ramp_map_to_themselves() {
        assert_eq!(to_256(Color::Rgb(95, 135, 175)), Color::Indexed(67));
        assert_eq!(to_256(Color::Rgb(8, 8, 8)), Color::Indexed(232));
        assert_eq!(to_256(Color::Red), Color::Red);
    }

    #[test]
    fn sixteen_colours_keep_the_hue() {
        assert_eq!(to_16(Color::Rgb(250, 20, 10)), Color::LightRed);
        assert_eq!(to_16(Color::Rgb(10, 190, 190)), Color::Cyan);
        assert_eq!(to_16(Color::Indexed(196)), Color::LightRed);
        assert_eq!(to_16(Color::Indexed(3)), Color::Yellow);
    }

    #[test]
    fn a_lost_ground_becomes_an_attribute() {
        let tint = Style::default().bg(Color::Rgb(20, 30, 40));
        let low = ColorDepth::Ansi16.convert(Some(Role::CursorLine), tint);
        assert_eq!((low.bg, low.add_modifier), (None, Modifier::REVERSED));
        let same = Style::default().fg(Color::Rgb(250, 5, 5)).bg(Color::Rgb(255, 0, 0));
        assert_eq!(ColorDepth::Ansi16.convert(None, same).bg, None);
    }

    #[test]
    fn without_colour_only_plain_attributes_remain() {
        let style = Style::default().fg(Color::Red).bg(Color::Blue).add_modifier(Modifier::ITALIC | Modifier::BOLD);
        let none = ColorDepth::None.convert(Some(Role::Selection), style);
        assert_eq!((none.fg, none.bg), (None, None));
        assert_eq!(none.add_modifier, Modifier::BOLD | Modifier::REVERSED);
    }
}
