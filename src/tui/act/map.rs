//! The actions of the map pane.

use crate::context::map_budget;
use crate::repo_map::{RankedFile, RankedSymbol};
use crate::tui::action::Action;
use crate::tui::app::{App, Task, run};

/// A budget is changed by this many tokens.
const BUDGET_STEP: usize = 512;

/// The largest budget while the window of the model is not known, in tokens: as large as any window that is known.
const MOST: usize = 1 << 20;

/// One line of the map pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapRow {
    /// A file, by its index in rank order.
    File(usize),
    /// A symbol of a file, by both indices.
    Symbol(usize, usize),
}

impl App {
    /// The lines of the map pane, in order.
    pub fn map_rows(&self) -> Vec<MapRow> {
        let mut rows = Vec::new();
        for (index, file) in self.ranked_files().iter().enumerate() {
            rows.push(MapRow::File(index));
            if self.map.open.contains(&*file.path) {
                // In the order of the file, as a reader expects below its name.
                let symbols_of_file = self.ranked_symbols(index);
                let mut symbols: Vec<usize> = (0..symbols_of_file.len()).collect();
                symbols.sort_by_key(|symbol| symbols_of_file[*symbol].line);
                rows.extend(symbols.into_iter().map(|symbol| MapRow::Symbol(index, symbol)));
            }
        }
        rows
    }

    /// The files of the map in rank order.
    pub fn ranked_files(&self) -> &[RankedFile] {
        self.session.view.as_ref().and_then(|view| view.map.as_ref()).map_or(&[], |map| &map.files)
    }

    /// The definitions of the file at a place of the map, best first.
    pub fn ranked_symbols(&self, place: usize) -> &[RankedSymbol] {
        self.session.view.as_ref().and_then(|view| view.map.as_ref()).map_or(&[], |map| map.symbols(place))
    }

    fn file_under_cursor(&self) -> Option<(usize, String)> {
        let row = self.map_rows().get(self.map.window.selected()?).copied()?;
        let (MapRow::File(index) | MapRow::Symbol(index, _)) = row;
        Some((index, self.ranked_files().get(index)?.path.to_string()))
    }

    pub(in crate::tui) fn act_on_map(&mut self, action: Action) -> Option<Vec<Task>> {
        match action {
            Action::Down => self.map.window.step(1),
            Action::Up => self.map.window.step(-1),
            Action::PageDown => self.map.window.page_down(),
            Action::PageUp => self.map.window.page_up(),
            Action::Top => self.map.window.first(),
            Action::Bottom => self.map.window.last(),
            Action::Expand => self.toggle_file(),
            Action::Collapse => self.close_file(),
            Action::MapAdd => return Some(self.add_under_cursor(false)),
            Action::MapReadOnly => return Some(self.add_under_cursor(true)),
            Action::MapPin => return Some(self.pin_under_cursor()),
            Action::MapBan => return Some(self.ban_under_cursor()),
            Action::MapMore => return Some(self.change_budget(|budget| budget.saturating_add(BUDGET_STEP))),
            Action::MapLess => return Some(self.change_budget(|budget| budget.saturating_sub(BUDGET_STEP))),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn toggle_file(&mut self) {
        let Some((index, path)) = self.file_under_cursor() else {
            return;
        };
        let on_file =
            self.map.window.selected().and_then(|at| self.map_rows().get(at).copied()) == Some(MapRow::File(index));
        if on_file && !self.map.open.remove(&path) {
            self.map.open.insert(path);
        }
    }

    fn close_file(&mut self) {
        let Some((index, path)) = self.file_under_cursor() else {
            return;
        };
        self.map.open.remove(&path);
        let row = self.map_rows().iter().position(|row| *row == MapRow::File(index)).unwrap_or(0);
        self.map.window.set_len(self.map_rows().len());
        self.map.window.select(row);
    }

    fn add_under_cursor(&mut self, read_only: bool) -> Vec<Task> {
        let Some((_, path)) = self.file_under_cursor() else {
            return Vec::new();
        };
        self.hint = format!("{path} is in the chat{}", if read_only { " for reference" } else { "" });
        run(self.session.add_files(&[path], read_only))
    }

    fn pin_under_cursor(&mut self) -> Vec<Task> {
        let Some((_, path)) = self.file_under_cursor() else { return Vec::new() };
        let effects = self.session.toggle_pin(&path);
        let pinned = self.session.pinned.contains(&path);
        self.hint = format!("{path} {}", if pinned { "comes first in the map" } else { "is ranked as the others" });
        run(effects)
    }

    fn ban_under_cursor(&mut self) -> Vec<Task> {
        let Some((_, path)) = self.file_under_cursor() else { return Vec::new() };
        self.hint = format!("{path} stays out of the map (/ban lets all back in)");
        run(self.session.toggle_ban(&path))
    }

    fn change_budget(&mut self, change: impl Fn(usize) -> usize) -> Vec<Task> {
        let Some(view) = &self.session.view else {
            return Vec::new();
        };
        let has_files = self.session.files.iter().any(|file| !file.read_only);
        let automatic = map_budget(view.prompt.window, has_files);
        let window = view.prompt.window;
        let most = if window.known { window.max_input() } else { MOST };
        // More than a request can hold was typed; the first key comes back to what there is.
        let budget = change(self.session.map_tokens.unwrap_or(automatic).min(most)).min(most);
        self.hint = format!("map budget: {budget} tokens (/map-tokens auto goes back)");
        run(self.session.set_map_tokens(Some(budget)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::context::{Prompt, Window};
    use crate::session::{Connection, ContextView, Session};
    use crate::tui::theme::{ColorDepth, Theme};

    fn app(window: Window) -> App {
        let (mut session, effects) = Session::start(Connection::None);
        let prompt = Prompt { window, ..Prompt::default() };
        session.view =
            Some(ContextView { map: None, provisional: false, prompt: Arc::new(prompt), unreadable: Vec::new() });
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    #[test]
    fn a_budget_of_any_size_grows_to_the_window_at_most() {
        let window = Window { tokens: 128_000, known: true };
        let mut app = app(window);
        app.session.set_map_tokens(Some(usize::MAX));
        app.act_on_map(Action::MapMore);
        assert_eq!(app.session.map_tokens, Some(window.max_input()));
        app.act_on_map(Action::MapLess);
        assert_eq!(app.session.map_tokens, Some(window.max_input() - BUDGET_STEP));
    }

    #[test]
    fn an_assumed_window_does_not_limit_the_budget() {
        let mut app = app(Window { tokens: 4_096, known: false });
        app.session.set_map_tokens(Some(50_000));
        app.act_on_map(Action::MapMore);
        assert_eq!(app.session.map_tokens, Some(50_000 + BUDGET_STEP));
        app.session.set_map_tokens(Some(usize::MAX));
        app.act_on_map(Action::MapMore);
        assert_eq!(app.session.map_tokens, Some(MOST));
    }
}
