//! How the app looks and feels, as the settings say: colours, panes, keys, the mouse, motion.

use std::collections::BTreeMap;

use toml::Value;

use super::layers::Layers;

/// The editing keys of the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ComposerKeys {
    /// Those of emacs, and of the shell: Ctrl-a, Ctrl-e, Alt-b.
    #[default]
    Emacs,
    /// Those of vi: one types in insert mode, Esc goes to normal mode.
    Vi,
}

/// How the review shows a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiffView {
    /// Side by side where there is room for it, else unified.
    #[default]
    Auto,
    /// Removed lines above added ones.
    Unified,
    /// Base at the left, proposed at the right.
    SideBySide,
}

/// Where the panes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayoutChoice {
    /// What suits the size of the screen.
    #[default]
    Auto,
    /// The chat at the left, the others in a column at the right.
    Columns,
    /// The chat above, the others in a row below it.
    Rows,
    /// One pane at a time.
    Single,
}

impl LayoutChoice {
    /// All of them, in the order in which they are gone through.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Columns, Self::Rows, Self::Single];

    /// What the settings call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Columns => "columns",
            Self::Rows => "rows",
            Self::Single => "single",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name() == name)
    }
}

/// The settings of the app's face.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Face {
    /// The theme for a light ground, if one is set.
    pub theme_light: Option<String>,
    /// The theme for a dark ground, if one is set.
    pub theme_dark: Option<String>,
    /// Where the panes stand.
    pub layout: LayoutChoice,
    /// Whether clicks, the wheel and drags count.
    pub mouse: bool,
    /// Whether anything on the screen may move by itself.
    pub animations: bool,
    /// The editing keys of the composer.
    pub composer_keys: ComposerKeys,
    /// How the review shows a hunk.
    pub diff_view: DiffView,
    /// Whether the words that changed in a line are marked.
    pub diff_words: bool,
    /// Whether hunks that are decided fold to one line.
    pub fold_decided: bool,
    /// The keys of actions by their name, instead of those of the table; an empty list leaves an action without keys.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for Face {
    fn default() -> Self {
        Self::of(&Layers::default())
    }
}

impl Face {
    /// What the layers say of it.
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
