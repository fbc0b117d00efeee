//! A list to choose one thing from: a model, a theme, an action or command.

use crossterm::event::KeyEvent;

use super::Reply;
use crate::session::{ModelRow, ModelUse};
use crate::tui::widget::picker::{Outcome, Picker};

/// What is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A model for a part of the work.
    Model(ModelUse),
    /// A theme; the one before comes back when nothing is chosen.
    Theme(String),
    /// An action or command to run, by its name with a slash.
    Run,
}

/// A list to choose one thing from.
#[derive(Debug)]
pub struct Menu {
    /// The list on the screen.
    pub picker: Picker,
    values: Vec<String>,
    purpose: Purpose,
    /// Whether the row of a value can be chosen.
    enabled: Vec<bool>,
}

impl Menu {
    /// The models, with `query` typed already.
    pub fn models(rows: &[ModelRow], part: ModelUse, query: &str) -> Self {
        let title = match part {
            ModelUse::Main => "models: which one answers",
            ModelUse::Weak => "models: which one writes summaries and commit messages",
            ModelUse::Editor => "models: which one writes the edits in architect mode",
        };
        let values: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let no_key = |row: &ModelRow| if row.at_hand { "" } else { " · no key" };
        let details = rows.iter().map(|row| format!("{}{}", row.detail, no_key(row))).collect();
        let mut picker =
            Picker::new(title, values.clone()).details(details).dimmed(rows.iter().map(|row| !row.at_hand).collect());
        picker.set_query(query);
        Self { picker, enabled: vec![true; values.len()], values, purpose: Purpose::Model(part) }
    }

    /// The themes, the one in use first under the cursor.
    pub fn themes(names: &[&str], current: &str) -> Self {
        let mut values: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        values.sort_by_key(|name| name != current);
        let picker = Picker::new("colours", values.clone());
        let enabled = vec![true; values.len()];
        Self { picker, values, enabled, purpose: Purpose::Theme(current.to_owned()) }
    }

    /// Everything that can be done: what to run, what is shown of it, what stands at the right, and whether it can be done now.
    pub fn palette(rows: Vec<(String, String, String, bool)>) -> Self {
        let enabled: Vec<bool> = rows.iter().map(|row| row.3).collect();
        let (mut values, mut items, mut details) = (Vec::new(), Vec::new(), Vec::new());
        for (value, item, detail, _) in rows {
            values.push(value);
            items.push(item);
            details.push(detail);
        }
        let dimmed = enabled.iter().map(|enabled| !enabled).collect();
        let picker = Picker::new("what to do", items).details(details).dimmed(dimmed);
        Self { picker, values, enabled, purpose: Purpose::Run }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => match &self.purpose {
                Purpose::Theme(before) => Reply::Theme(before.clone()),
                _ => Reply::Close,
            },
            Outcome::Picked(rows) => {
                let row = rows.first().copied().unwrap_or_default();
                if self.enabled.get(row) != Some(&true) {
                    return Reply::Stay;
                }
                let value = self.values.get(row).cloned().unwrap_or_default();
                match &self.purpose {
                    Purpose::Model(part) => Reply::Model(*part, value),
                    Purpose::Theme(_) => Reply::Theme(value),
                    Purpose::Run => Reply::Run(value),
                }
            }
        }
    }

    /// The theme that the screen shall show while this is open, if it is about themes.
    pub fn theme_under_cursor(&self) -> Option<&str> {
        let at = self.picker.selected().filter(|_| matches!(self.purpose, Purpose::Theme(_)))?;
        self.values.get(at).map(String::as_str)
    }

    /// The theme from before this was opened, if it is about themes.
    pub fn theme_before(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::Theme(before) => Some(before),
            _ => None,
        }
    }
}
