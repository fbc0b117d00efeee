//! The settings: each with its value, where that comes from, and what it is; changed for this session, or in the user's file.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Overlay, Reply};
use crate::config::Kind;
use crate::session::SettingRow;
use crate::tui::key;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::picker::{Outcome, Picker};
use rhumb_text::{sanitize, width, wrap};

/// The columns that names get.
const NAMES: usize = 20;

/// The list while it is open.
#[derive(Debug)]
pub struct SettingsList {
    /// The list on the screen.
    pub picker: Picker,
    rows: Vec<SettingRow>,
}

impl Overlay {
    /// The settings; a query narrows them down.
    pub fn settings(rows: Vec<SettingRow>, query: &str) -> Self {
        Self::Settings(SettingsList::new(rows, query))
    }
}

impl SettingsList {
    fn new(rows: Vec<SettingRow>, query: &str) -> Self {
        let shown = |row: &SettingRow| {
            let value = if row.value.is_empty() { "(unset)" } else { &row.value };
            format!("{:<NAMES$} {}", row.name, width::clip(value, 60))
        };
        // What nobody set is of less interest.
        let dimmed = rows.iter().map(|row| row.origin == "default").collect();
        let origins = rows.iter().map(|row| short(&row.origin)).collect();
        let keys = [("Ctrl-s", "keep in the file"), ("Alt-d", "default")];
        let mut picker = Picker::new("settings", rows.iter().map(shown).collect()).details(origins).dimmed(dimmed);
        picker = picker.with_preview().extra_keys(&keys);
        picker.set_query(query);
        Self { picker, rows }
    }

    fn here(&self) -> Option<&SettingRow> {
        self.rows.get(self.picker.selected()?)
    }

    /// Takes a key: Enter changes a setting for this session; others keep it in the user's file, or take it out.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        if let Some(row) = self.here() {
            match key::name(key).as_str() {
                "Ctrl-s" => return Reply::KeepSetting(Box::new(row.clone())),
                "Alt-d" => return Reply::ForgetSetting(Box::new(row.clone())),
                _ => {}
            }
        }
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => Reply::Close,
            Outcome::Picked(rows) => {
                let row = rows.first().and_then(|row| self.rows.get(*row));
                row.map_or(Reply::Stay, |row| Reply::ChangeSetting(Box::new(row.clone())))
            }
        }
    }

    /// The setting of a name has another value, from there.
    pub fn change(&mut self, name: &str, value: &str, origin: &str) {
        let Some(row) = self.rows.iter_mut().find(|row| row.name == name) else { return };
        (row.value, row.origin) = (value.to_owned(), origin.to_owned());
        let (at, query) = (self.picker.row(), self.picker.query().to_owned());
        *self = Self::new(std::mem::take(&mut self.rows), &query);
        self.picker.point(at);
    }

    /// The setting of that name as the list has it.
    pub fn row(&self, name: &str) -> Option<&SettingRow> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Draws what there is to know about the setting under the cursor.
    pub(super) fn draw_look(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let Some(row) = self.here() else { return };
        let columns = usize::from(area.width.saturating_sub(2)).max(1);
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut tell = |text: &str, role: Role| {
            let text = sanitize::visible_line(text);
            let pieces = wrap::wrap(&text, columns).into_iter();
            lines.extend(pieces.map(|range| Line::styled(format!(" {}", &text[range]), theme.style(role))));
        };
        tell(&row.name, Role::Title);
        tell(&row.help, Role::Text);
        let value = if row.value.is_empty() { "unset" } else { &row.value };
        tell(&format!("now      {value}"), Role::Text);
        tell(&format!("from     {}", row.origin), Role::Text);
        tell(&format!("default  {}", if row.default.is_empty() { "none" } else { &row.default }), Role::Muted);
        tell(&format!("takes    {}", takes(row.kind)), Role::Muted);
        if !row.place.is_empty() {
            tell(&format!("kept in  {}", row.place), Role::Muted);
        }
        lines.truncate(usize::from(area.height));
        frame.render_widget(Paragraph::new(lines), area);
    }
}

/// What a setting takes, in words.
pub fn takes(kind: Kind) -> String {
    kind.expected()
}

/// The end of a path with its line: the list has little room.
fn short(origin: &str) -> String {
    origin.rsplit('/').next().unwrap_or(origin).to_owned()
}
