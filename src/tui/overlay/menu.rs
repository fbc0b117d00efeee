//! A list to choose one thing from: a model, a theme, an action or command.

use crossterm::event::KeyEvent;

use super::Reply;
use crate::session::{ModelRow, ModelUse};
use crate::tui::widget::picker::{Outcome, Picker};
use rhumb_text::width;

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
        let details = columns(rows);
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
        Self::choices("what to do", rows)
    }

    /// The same with another title.
    pub fn choices(title: &str, rows: Vec<(String, String, String, bool)>) -> Self {
        let enabled: Vec<bool> = rows.iter().map(|row| row.3).collect();
        let (mut values, mut items, mut details) = (Vec::new(), Vec::new(), Vec::new());
        for (value, item, detail, _) in rows {
            values.push(value);
            items.push(item);
            details.push(detail);
        }
        let dimmed = enabled.iter().map(|enabled| !enabled).collect();
        let picker = Picker::new(title, items).details(details).dimmed(dimmed);
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

/// Window, prices and whether a key is at hand, each in a column of its own.
fn columns(rows: &[ModelRow]) -> Vec<String> {
    let parts: Vec<Option<[&str; 3]>> = rows.iter().map(|row| parts(&row.detail)).collect();
    let wide = |at: usize| parts.iter().flatten().map(|parts| width::columns(parts[at])).max().unwrap_or(0);
    let wides = [wide(0), wide(1), wide(2)];
    let row = |(row, parts): (&ModelRow, &Option<[&str; 3]>)| {
        let key = if row.at_hand { "      " } else { "no key" };
        let told = match parts {
            Some([window, input, output]) => {
                let [wide, wide_in, wide_out] = wides;
                format!("{window:>wide$}  {input:>wide_in$} {output:>wide_out$}")
            }
            None => row.detail.clone(),
        };
        format!("{told}  {key}")
    };
    rows.iter().zip(&parts).map(row).collect()
}

/// The columns of a detail such as `200k · $3 in, $15 out`; `None` for another.
fn parts(detail: &str) -> Option<[&str; 3]> {
    let (window, prices) = detail.split_once(" · ")?;
    let (input, output) = prices.split_once(", ")?;
    Some([window, input, output])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_prices_stand_below_each_other() {
        let row = |detail: &str, at_hand| ModelRow { name: "m".into(), detail: detail.into(), at_hand };
        let rows = [row("200k · $3 in, $15 out", true), row("1.0M · $0.25 in, $2 out", false), row("→ claude", true)];
        assert_eq!(
            columns(&rows),
            ["200k     $3 in $15 out        ", "1.0M  $0.25 in  $2 out  no key", "→ claude        "]
        );
    }
}
