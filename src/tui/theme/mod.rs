//! Themes: one table from roles to styles, read from TOML and brought down to the colours that the terminal has.

mod color;
mod depth;
mod role;
mod spec;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ratatui::style::Style;

pub use depth::ColorDepth;
pub use role::{Role, SYNTAX};
pub use spec::ThemeError;

use spec::Spec;

/// The themes inside the program: name and TOML.
const BUILTIN: [(&str, &str); 4] = [
    ("rhumb-dark", include_str!("../../../themes/rhumb-dark.toml")),
    ("rhumb-light", include_str!("../../../themes/rhumb-light.toml")),
    ("rhumb-16", include_str!("../../../themes/rhumb-16.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
];

/// Every style that the screen uses, for one terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: String,
    depth: ColorDepth,
    roles: BTreeMap<Role, Style>,
    syntax: BTreeMap<&'static str, Style>,
}

impl Theme {
    /// The names of the themes inside the program, the default first.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// The theme to start with: the sixteen-colour one where there are no more colours, since it follows the terminal's
    /// own palette, else the one for the ground.
    pub fn default_name(light_ground: bool, depth: ColorDepth) -> &'static str {
        match (depth, light_ground) {
            (ColorDepth::Ansi16, _) => "rhumb-16",
            (_, true) => "rhumb-light",
            (_, false) => "rhumb-dark",
        }
    }

    /// A theme inside the program. Errors: [`ThemeError::UnknownTheme`].
    pub fn builtin(name: &str, depth: ColorDepth) -> Result<Self, ThemeError> {
        Self::load(name, depth, &|_| None)
    }

    /// The theme `name` for a terminal of that depth. `find` gives the TOML of the user's own themes by name; they come
    /// before those inside the program, and may inherit from one of the same name. Roles that a theme and what it
    /// inherits leave out take the style of the name before the last dot (`border.focused` that of `border`).
    pub fn load(name: &str, depth: ColorDepth, find: &dyn Fn(&str) -> Option<String>) -> Result<Self, ThemeError> {
        let inside = |name: &str| BUILTIN.iter().find(|(own, _)| *own == name).map(|(_, toml)| (*toml).to_owned());
        let layered = |name: &str, level: usize| [find(name), inside(name)].into_iter().flatten().nth(level);
        let spec = Spec::read(name, &layered)?;
        let mut theme = Self { name: name.to_owned(), ..Self::plain(depth) };
        for role in Role::ALL {
            let style = spec.style(name, role.name())?;
            theme.roles.insert(*role, depth.convert(Some(*role), style));
        }
        for class in SYNTAX {
            let style = spec.style(name, &format!("syntax.{class}"))?;
            theme.syntax.insert(class, depth.convert(None, style));
        }
        Ok(theme)
    }

    /// A theme without any style: the terminal's own text everywhere.
    pub fn plain(depth: ColorDepth) -> Self {
        Self { name: "plain".to_owned(), depth, roles: BTreeMap::new(), syntax: BTreeMap::new() }
    }

    /// The name that it was loaded by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The depth that its styles were brought down to.
    pub fn depth(&self) -> ColorDepth {
        self.depth
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
