//! The settings of the display and input of the app: colours, panes, keys, the mouse, animations.

use std::collections::BTreeMap;

use toml::Value;

use super::layers::Layers;

/// The editing keys of the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ComposerKeys {
    /// Emacs keys, as in shells: Ctrl-a, Ctrl-e, Alt-b.
    #[default]
    Emacs,
    /// Vi keys, with insert and normal mode.
    Vi,
}

/// How the review shows a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiffView {
    /// Side by side if the pane is wide enough, else unified.
    #[default]
    Auto,
    /// Removed lines above added lines.
    Unified,
    /// Base on the left, proposed on the right.
    SideBySide,
}

/// The arrangement of the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayoutChoice {
    /// By the size of the screen.
    #[default]
    Auto,
    /// The chat on the left, the other panes in a column on the right.
    Columns,
    /// The chat at the top, the other panes in a row below.
    Rows,
    /// One pane at a time.
    Single,
}

impl LayoutChoice {
    /// All layouts, in the order in which they are cycled.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Columns, Self::Rows, Self::Single];

    /// The name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Columns => "columns",
            Self::Rows => "rows",
            Self::Single => "single",
        }
    }

    /// The layout with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name() == name)
    }
}

/// The settings of the display and input of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplaySettings {
    /// The theme for a light background, if set.
    pub theme_light: Option<String>,
    /// The theme for a dark background, if set.
    pub theme_dark: Option<String>,
    /// The arrangement of the panes.
    pub layout: LayoutChoice,
    /// Whether mouse events are handled.
    pub mouse: bool,
    /// Whether animations are shown.
    pub animations: bool,
    /// The editing keys of the composer.
    pub composer_keys: ComposerKeys,
    /// How the review shows a hunk.
    pub diff_view: DiffView,
    /// Whether changed words within a line are highlighted.
    pub diff_words: bool,
    /// Whether decided hunks are folded to one line.
    pub fold_decided: bool,
    /// The keys of actions by name, which replace the default keys. An empty list leaves an action without keys.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for DisplaySettings {
    fn default() -> Self {
        Self::of(&Layers::default())
    }
}

impl DisplaySettings {
    /// The settings of these layers.
    pub(super) fn of(layers: &Layers) -> Self {
        let text = |name: &str| layers.text(name);
        Self {
            theme_light: text("theme_light"),
            theme_dark: text("theme_dark"),
            layout: text("layout").and_then(|name| LayoutChoice::named(&name)).unwrap_or_default(),
            mouse: layers.switch("mouse"),
            animations: layers.switch("animations"),
            composer_keys: match text("composer_keys").as_deref() {
                Some("vi") => ComposerKeys::Vi,
                _ => ComposerKeys::Emacs,
            },
            diff_view: match text("diff_view").as_deref() {
                Some("unified") => DiffView::Unified,
                Some("side-by-side") => DiffView::SideBySide,
                _ => DiffView::Auto,
            },
            diff_words: layers.switch("diff_words"),
            fold_decided: layers.switch("fold_decided"),
            keys: keys(layers),
        }
    }
}

/// The table `[keys]`: a list of keys for each action.
fn keys(layers: &Layers) -> BTreeMap<String, Vec<String>> {
    let texts = |value: &Value| match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(key) => vec![key.clone()],
        _ => Vec::new(),
    };
    layers.tables("keys").map(|(action, entry)| (action.to_owned(), texts(&entry.value))).collect()
}
