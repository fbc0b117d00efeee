//! Themes: a table from roles to styles, read from TOML and reduced to the colours of the terminal. A role is named by its
//! meaning, not by its look.

mod spec;
pub(crate) mod store;

use self::spec::Spec;
use crate::tui::prelude::*;

pub use self::spec::ColorDepth;
pub(crate) use self::spec::{ThemeError, rgb_of};
pub(crate) use self::store::Themes;

macro_rules! builtin {
    ($($name:literal,)+) => { [$(($name, include_str!(concat!("../../../themes/", $name, ".toml")))),+] };
}

/// The themes inside the program: name and TOML.
const BUILTIN: &[(&str, &str)] = &builtin![
    "rhumb-dark", "rhumb-light", "rhumb-16", "high-contrast", "high-contrast-light", "colour-blind-dark",
    "colour-blind-light", "catppuccin-mocha", "catppuccin-latte", "dracula", "everforest", "gruvbox-dark",
    "gruvbox-light", "kanagawa", "nord", "one-dark", "rose-pine", "rose-pine-dawn", "solarized-dark",
    "solarized-light", "tokyo-night",
];

/// Background of a theme that does not define one.
const DARK: [u8; 3] = [0; 3];

/// All styles of the screen, for one terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// The name by which it is chosen.
    pub name: String,
    pub(crate) depth: ColorDepth,
    pub(crate) background: [u8; 3],
    roles: BTreeMap<Role, Style>,
    syntax: BTreeMap<&'static str, Style>,
}

impl Theme {
    /// The names of the themes inside the program, the default first.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// The default theme: without more than sixteen colours the one that uses the terminal's palette, otherwise the one
    /// for the background.
    pub fn default_name(light_background: bool, depth: ColorDepth) -> &'static str {
        match (depth, light_background) {
            (ColorDepth::Ansi16, _) => "rhumb-16",
            (_, true) => "rhumb-light",
            (_, false) => "rhumb-dark",
        }
    }

    /// A theme inside the program. Errors: an unknown name.
    pub fn builtin(name: &str, depth: ColorDepth) -> Result<Self, ThemeError> {
        Self::load(name, depth, &|_| None)
    }

    /// Loads the theme `name` for a terminal of that depth. `find` returns the TOML of the user's themes by name. They take
    /// precedence over built-in themes, and may inherit from one of the same name. A role without a style in the theme and the
    /// themes that it inherits has the style of the name before the last dot (`border.focused` that of `border`).
    pub fn load(name: &str, depth: ColorDepth, find: &dyn Fn(&str) -> Option<String>) -> Result<Self, ThemeError> {
        let inside = |name: &str| BUILTIN.iter().find(|(own, _)| *own == name).map(|(_, toml)| (*toml).to_owned());
        let layered = |name: &str, level: usize| [find(name), inside(name)].into_iter().flatten().nth(level);
        let spec = Spec::read(name, &layered)?;
        let painted = spec.style(Role::Text.name())?.bg;
        let background = match (painted, spec.color("ground")) {
            (Some(Color::Rgb(red, green, blue)), _) | (_, Some(Color::Rgb(red, green, blue))) => [red, green, blue],
            _ => DARK,
        };
        let mut theme = Self { name: name.to_owned(), background, ..Self::plain(depth) };
        let convert = |role, style| depth.keep_seen(depth.convert(role, style), theme.is_light());
        let mut roles = BTreeMap::new();
        for role in Role::ALL {
            let style = convert(Some(*role), spec.style(role.name())?);
            roles.insert(*role, style);
        }
        // A theme that paints the background paints it at every colour depth except none.
        if let Some(text) = roles.get_mut(&Role::Text) {
            text.bg = painted.and_then(|background| depth.color(background)).or(text.bg);
        }
        let mut syntax = BTreeMap::new();
        for class in SYNTAX {
            syntax.insert(class, convert(None, spec.style(&format!("syntax.{class}"))?));
        }
        (theme.roles, theme.syntax) = (roles, syntax);
        Ok(theme)
    }

    /// A theme without any style: the terminal's own text everywhere.
    pub fn plain(depth: ColorDepth) -> Self {
        Self { name: "plain".to_owned(), depth, background: DARK, roles: BTreeMap::new(), syntax: BTreeMap::new() }
    }

    /// Whether the theme is designed for a light background.
    pub fn is_light(&self) -> bool {
        // Weighted by the sensitivity of the eye.
        let [red, green, blue] = self.background.map(u32::from);
        2 * red + 5 * green + blue > 8 * 0x80
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.roles.get(&role).copied().unwrap_or_default()
    }

    /// The style of a highlight class of source code, by its name in [`SYNTAX`]; no style for any other name.
    pub fn syntax(&self, name: &str) -> Style {
        self.syntax.get(name).copied().unwrap_or_default()
    }
}

macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// The meaning of a part of the screen. A theme maps each role to a style.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Role {
            /// Every role, in the order of declaration.
            pub const ALL: &'static [Role] = &[$(Role::$variant,)+];

            /// The name in theme files, `border.focused`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The role of that name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

roles! {
    /// Ordinary text.
    Text = "text",
    /// Secondary text: hints, times, URLs, line counts.
    Muted = "muted",
    /// Prominent parts: the prompt mark, the active tab.
    Accent = "accent",
    /// The frame of a pane without the focus.
    Border = "border",
    /// The frame of the pane with the focus.
    BorderFocused = "border.focused",
    /// The title of a pane or overlay.
    Title = "title",
    /// Background and text of an overlay.
    Overlay = "overlay",
    /// The status line at the bottom.
    Status = "status",
    /// A key in a hint: the `y` of "y accept".
    Key = "key",
    /// The chosen item of a list, or selected text.
    Selection = "selection",
    /// The line under the cursor.
    CursorLine = "cursor-line",
    /// Characters that matched a fuzzy query.
    Match = "match",
    /// A hit of a text search.
    Search = "search",
    /// A line number or another mark in the gutter.
    Gutter = "gutter",
    /// A mark that calls for attention without judging: "fuzzy 93 %", "new file".
    Badge = "badge",
    /// Something failed.
    Error = "error",
    /// Something may be wrong.
    Warning = "warning",
    /// Something succeeded.
    Success = "success",
    /// An added line of a diff.
    Added = "added",
    /// The added words of a changed line.
    AddedWord = "added.word",
    /// A removed line of a diff.
    Removed = "removed",
    /// The removed words of a changed line.
    RemovedWord = "removed.word",
    /// The header of a file or hunk in a diff.
    DiffHeader = "diff.header",
    /// The mark of an accepted hunk.
    HunkAccepted = "hunk.accepted",
    /// The mark of a rejected hunk.
    HunkRejected = "hunk.rejected",
    /// The mark of a hunk that waits for a decision.
    HunkPending = "hunk.pending",
    /// A gauge of a low value.
    MeterLow = "meter.low",
    /// A gauge that fills up.
    MeterMid = "meter.mid",
    /// A gauge that is nearly or over full.
    MeterHigh = "meter.high",
    /// The empty part of a gauge.
    MeterEmpty = "meter.empty",
    /// The user's name and mark in the transcript.
    User = "user",
    /// The model's name and mark in the transcript.
    Assistant = "assistant",
    /// Background of a code block.
    CodeBg = "code.bg",
    /// A heading in rendered Markdown.
    MarkdownHeading = "markdown.heading",
    /// The text of a link in rendered Markdown.
    MarkdownLink = "markdown.link",
    /// Inline code in rendered Markdown.
    MarkdownCode = "markdown.code",
    /// Emphasised text in rendered Markdown.
    MarkdownEmphasis = "markdown.emphasis",
    /// Strongly emphasised text in rendered Markdown.
    MarkdownStrong = "markdown.strong",
    /// The text of a block quote in rendered Markdown.
    MarkdownQuote = "markdown.quote",
    /// Bullets, numbers, rules and table lines in rendered Markdown.
    MarkdownMark = "markdown.mark",
}

/// The highlight classes of source code; a theme styles each as `syntax.<name>`.
pub const SYNTAX: [&str; 19] = [
    "keyword", "function", "type", "string", "number", "comment", "constant", "variable", "property", "operator",
    "punctuation", "attribute", "macro", "module", "tag", "label", "escape", "heading", "link",
];

#[cfg(test)]
mod tests;

#[cfg(test)]
mod role_tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_role() {
        for role in Role::ALL {
            assert_eq!(Role::from_name(role.name()), Some(*role));
        }
        assert_eq!(Role::from_name("borders"), None);
    }
}
