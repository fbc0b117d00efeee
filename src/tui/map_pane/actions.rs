//! The actions of the map pane.

use rhumb_index::repo_map::{RankedFile, RepoMap, symbol_choice};
use rhumb_session::context::map_budget;
use rhumb_session::{LookupEffect, LookupResponse, MAP_BUDGET_STEP, MapIdentity};

use super::{MapRow, MapText};
use crate::tui::overlay::{ExplanationView, LocationView, Place};
use crate::tui::prelude::*;

/// Largest budget of the map while the context window of the model is unknown, in tokens.
const MAX_BUDGET_TOKENS: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MapTarget {
    /// A file by its index, and optionally one of its symbols.
    There(usize, Option<usize>),
    Out(String),
}

impl App {
    pub(crate) fn ranked_map(&self) -> Option<&Arc<RepoMap>> {
        self.session.view()?.map.as_ref()
    }

    pub(crate) fn settle_map(&mut self) {
        let map = self.session.view().and_then(|view| view.map.as_ref());
        // With the focus, the cursor follows its item. Otherwise it stays on its line, so that the top of the map remains visible.
        let follow = self.focus == Pane::Map;
        self.map.settle(map, self.session.map().banned.len(), follow);
    }

    /// The item under the cursor. `None` on a rule.
    pub(crate) fn map_target(&self) -> Option<MapTarget> {
        if let Some(text) = &self.map.text {
            return text.target().map(|(place, symbol)| MapTarget::There(place, symbol));
        }
        match self.map.row()? {
            MapRow::File(place) => Some(MapTarget::There(place, None)),
            MapRow::Symbol(place, symbol) => Some(MapTarget::There(place, Some(symbol))),
            MapRow::Rule(_) => None,
            MapRow::Banned(at) => self.session.map().banned.iter().nth(at).cloned().map(MapTarget::Out),
        }
    }

    fn file_under_cursor(&self) -> Option<(usize, &RankedFile)> {
        let Some(MapTarget::There(place, _)) = self.map_target() else { return None };
        Some((place, self.ranked_map()?.files.get(place)?))
    }

    /// The item under the cursor, as named in pins and bans.
    fn choice_under_cursor(&self) -> Option<String> {
        match self.map_target()? {
            MapTarget::Out(choice) => Some(choice),
            MapTarget::There(place, symbol) => {
                let map = self.ranked_map()?;
                let path = &map.files.get(place)?.path;
                let symbol = symbol.and_then(|at| map.symbols(place).get(at));
                Some(symbol.map_or_else(|| path.to_string(), |symbol| symbol_choice(path, &symbol.name)))
            }
        }
    }

    pub(crate) fn why_not_map(&self, action: Action) -> Option<&'static str> {
        let target = self.map_target();
        match action {
            Action::MapUndo if !self.session.can_undo_map_change(false) => Some("nothing was chosen"),
            Action::MapRedo if !self.session.can_undo_map_change(true) => Some("there is nothing to redo"),
            Action::MapUndo | Action::MapRedo | Action::MapMore | Action::MapLess => {
                self.session.view().is_none().then_some("nothing is measured yet")
            }
            _ if self.map.rows.map.is_none() => Some("the repository is being read"),
            Action::MapStyle => None,
            Action::MapFilter if self.map.rows.len() == 0 && self.map.filter.is_none() => Some("the map is empty"),
            Action::MapFilter => None,
            _ if target.is_none() => Some("the cursor is not on a file"),
            Action::MapBan => None,
            _ if matches!(target, Some(MapTarget::Out(_))) => Some("this is banned from the map"),
            _ => None,
        }
    }

    pub(crate) fn act_on_map(&mut self, action: Action) -> Option<Vec<Task>> {
        if action.info().scope == Scope::Pane(Pane::Map)
            && let Some(why) = self.why_not_map(action)
        {
            self.hint.set(why);
            return Some(Vec::new());
        }
        match action {
            Action::Expand => return Some(self.expand()),
            Action::Collapse => self.close_file(),
            Action::MapFilter => self.map.open_filter(),
            Action::MapStyle => self.switch_style(),
            Action::MapPeek => return Some(self.show_location()),
            Action::MapWhy => return Some(self.ask_why()),
            Action::MapEdit => return Some(self.edit_there()),
            Action::MapAdd => return Some(self.add_under_cursor(false)),
            Action::MapReadOnly => return Some(self.add_under_cursor(true)),
            Action::MapPin => return Some(self.pin_under_cursor()),
            Action::MapBan => return Some(self.ban_under_cursor()),
            Action::MapUndo => return Some(self.take_choice_back(false)),
            Action::MapRedo => return Some(self.take_choice_back(true)),
            Action::MapMore => return Some(self.change_budget(|budget| budget.saturating_add(MAP_BUDGET_STEP))),
            Action::MapLess => return Some(self.change_budget(|budget| budget.saturating_sub(MAP_BUDGET_STEP))),
            Action::Escape if self.map.filter.is_some() => self.map.close_filter(),
            _ if !self.map.move_cursor(action) => return None,
            _ => {}
        }
        Some(Vec::new())
    }

    pub(crate) fn stop_survey(&mut self) -> Vec<Task> {
        run(self.session.stop_indexing().unwrap_or_default())
    }

    /// Handles a click on a row. A double click opens it.
    pub fn click_in_map(&mut self, row: usize, double: bool) -> Vec<Task> {
        self.focus = Pane::Map;
        self.map.shown_window().select(row);
        if double { self.act_on_map(Action::Expand).unwrap_or_default() } else { Vec::new() }
    }

    pub(in crate::tui) fn wheel_in_map(&mut self, by: isize) {
        self.map.shown_window().scroll(by);
    }

    /// Opens or closes a file; shows the definition of a symbol.
    fn expand(&mut self) -> Vec<Task> {
        let Some(MapTarget::There(place, symbol)) = self.map_target() else { return Vec::new() };
        let Some(map) = self.ranked_map().cloned() else { return Vec::new() };
        let has_symbols = map.files.get(place).is_some_and(|file| file.definitions > 0);
        if symbol.is_some() || self.map.text.is_some() || !has_symbols {
            return self.show_location();
        }
        let open = !self.map.rows.is_open(place);
        self.map.set_open(&map, place, open);
        Vec::new()
    }

    fn close_file(&mut self) {
        let Some((place, _)) = self.file_under_cursor() else { return };
        if let Some(map) = self.ranked_map().cloned() {
            self.map.set_open(&map, place, false);
        }
    }

    /// Switches between the text that the model gets and the list of files. The cursor stays on its file.
    fn switch_style(&mut self) {
        let Some(map) = self.ranked_map().cloned() else { return };
        let place = self.file_under_cursor().map(|(place, _)| place);
        if self.map.text.take().is_some() {
            let row = place.and_then(|place| self.map.rows.position(MapRow::File(place)));
            row.into_iter().for_each(|row| self.map.window.select(row));
            return;
        }
        self.map.close_filter();
        let mut text = MapText::new(Some(&map));
        place.into_iter().for_each(|place| text.select(place));
        self.map.text = Some(text);
    }

    fn edit_there(&mut self) -> Vec<Task> {
        let Some(MapTarget::There(place, symbol)) = self.map_target() else { return Vec::new() };
        let Some(map) = self.ranked_map() else { return Vec::new() };
        let line = symbol.and_then(|at| map.symbols(place).get(at)).map_or(1, |symbol| symbol.line as usize);
        let path = map.files.get(place).map(|file| file.path.to_string());
        path.map(|path| Task::Edit(Editing::File { path, line })).into_iter().collect()
    }

    fn add_under_cursor(&mut self, read_only: bool) -> Vec<Task> {
        let Some(path) = self.file_under_cursor().map(|(_, file)| file.path.to_string()) else { return Vec::new() };
        self.hint.set(format!("{path} is in the chat{}", if read_only { " for reference" } else { "" }));
        run(self.session.add_files(&[path], read_only))
    }

    fn pin_under_cursor(&mut self) -> Vec<Task> {
        let Some(choice) = self.choice_under_cursor() else { return Vec::new() };
        let effects = self.session.toggle_pin(&choice);
        let pinned = self.session.map().pinned.contains(&choice);
        self.hint
            .set(format!("{choice} {}", if pinned { "comes first in the map" } else { "is ranked as the others" }));
        run(effects)
    }

    fn ban_under_cursor(&mut self) -> Vec<Task> {
        let Some(choice) = self.choice_under_cursor() else { return Vec::new() };
        let effects = self.session.toggle_ban(&choice);
        let banned = self.session.map().banned.contains(&choice);
        self.hint.set(if banned {
            format!("{choice} stays out of the map; {} takes that back", self.keys.first(Action::MapUndo))
        } else {
            format!("{choice} can be in the map again")
        });
        run(effects)
    }

    /// Undoes or redoes the last change to the map.
    fn take_choice_back(&mut self, again: bool) -> Vec<Task> {
        let effects = self.session.undo_map_change(again).unwrap_or_default();
        let budget =
            self.session.map().tokens.map_or_else(|| "automatic".to_owned(), |tokens| format!("{tokens} tokens"));
        let (pinned, banned) = (self.session.map().pinned.len(), self.session.map().banned.len());
        self.hint.set(format!("{pinned} pinned, {banned} kept out, map budget {budget}"));
        run(effects)
    }

    fn change_budget(&mut self, change: impl Fn(usize) -> usize) -> Vec<Task> {
        let Some(view) = self.session.view() else {
            return Vec::new();
        };
        let has_files = self.session.files().iter().any(|file| !file.read_only);
        let automatic = map_budget(view.prompt.window, has_files);
        let window = view.prompt.window;
        let most = if window.known { window.max_input() } else { MAX_BUDGET_TOKENS };
        // The typed budget may exceed the request; the first key returns to the maximum.
        let budget = change(self.session.map().tokens.unwrap_or(automatic).min(most)).min(most);
        self.hint.set(format!("map budget: {budget} tokens (/map-tokens auto goes back)"));
        run(self.session.set_map_tokens(Some(budget)))
    }

    /// Handles a key while the filter is typed. Keys that move the cursor keep their meaning.
    pub(crate) fn map_filter_key(&mut self, key: KeyEvent) -> Vec<Task> {
        let Some(filter) = &mut self.map.filter else { return Vec::new() };
        match (key::name(key).as_str(), key.code) {
            ("Esc", _) => self.map.close_filter(),
            ("Enter", _) if filter.input.text().trim().is_empty() => self.map.close_filter(),
            ("Enter" | "Tab", _) => filter.typing = false,
            ("Up" | "Ctrl-p", _) => drop(self.map.move_cursor(Action::Up)),
            ("Down" | "Ctrl-n", _) => drop(self.map.move_cursor(Action::Down)),
            ("PageUp", _) => drop(self.map.move_cursor(Action::PageUp)),
            ("PageDown", _) => drop(self.map.move_cursor(Action::PageDown)),
            (_, KeyCode::Backspace) if filter.input.text().is_empty() => self.map.close_filter(),
            _ => drop(filter.input.key(key)),
        }
        Vec::new()
    }

    /// Whether a key has a global meaning even while the filter is typed.
    pub(crate) fn is_global_key(&self, name: &str) -> bool {
        let is_typed = name.chars().count() == 1 || matches!(name, "Space" | "Esc" | "Tab" | "Ctrl-p");
        let binding = self.keys.lookup(Pane::Map, name);
        !is_typed && matches!(binding, Binding::Action(action) if action.info().scope == Scope::Global)
    }

    /// Inserts pasted text into the filter. Returns false if no filter is being typed.
    pub(crate) fn map_filter_paste(&mut self, text: &str) -> bool {
        let Some(filter) = self.map.filter.as_mut().filter(|filter| filter.typing) else { return false };
        filter.input.insert(text);
        true
    }

    /// Requests the matches if the filter or the map has changed.
    pub(crate) fn update_map_filter(&mut self) -> Option<Task> {
        let (map, query) = self.map.next_filter_request()?;
        Some(Task::Run(Effect::Lookup(LookupEffect::FilterMap { map: MapIdentity(map), query })))
    }

    /// Passes filter results and explanations to the pane.
    pub(crate) fn note_for_map(&mut self, report: &Response) {
        match report {
            Response::LookedUp(LookupResponse::MapFiltered { map, query, found }) => {
                self.map.filtered(&map.0, query, found.clone());
            }
            Response::LookedUp(LookupResponse::RankExplained { map, file: place, symbol, explanation: whence }) => {
                if let Some(why) = self.overlays.top_as_mut::<ExplanationView>() {
                    why.answer(map, (*place, *symbol), whence);
                }
            }
            _ => {}
        }
    }

    pub(super) fn ask_why(&mut self) -> Vec<Task> {
        let Some(MapTarget::There(place, symbol)) = self.map_target() else { return Vec::new() };
        let Some(map) = self.ranked_map().cloned() else { return Vec::new() };
        let map = MapIdentity(map);
        self.overlays.show(ExplanationView::new(&map, place, symbol));
        vec![Task::Run(Effect::Lookup(LookupEffect::ExplainRank { map, file: place, symbol }))]
    }

    /// Requests the explanation again for a newer map.
    pub(crate) fn update_explanation(&mut self) -> Option<Task> {
        let map = MapIdentity(self.ranked_map()?.clone());
        let (place, symbol) = self.overlays.top_as_mut::<ExplanationView>()?.follow(&map)?;
        Some(Task::Run(Effect::Lookup(LookupEffect::ExplainRank { map, file: place, symbol })))
    }

    pub(super) fn show_location(&mut self) -> Vec<Task> {
        let Some(MapTarget::There(place, symbol)) = self.map_target() else { return Vec::new() };
        let Some(map) = self.ranked_map() else { return Vec::new() };
        let Some(path) = map.files.get(place).map(|file| file.path.to_string()) else { return Vec::new() };
        let places = match symbol.and_then(|at| map.symbols(place).get(at)) {
            None => vec![Place::at(&path, None, "")],
            Some(symbol) => self.definitions(&Place::at(&path, Some(symbol.line), &symbol.name)),
        };
        self.show_locations(places)
    }

    /// Opens locations above the open overlays.
    pub(crate) fn show_locations(&mut self, places: Vec<Place>) -> Vec<Task> {
        let wanted: Vec<Task> = places.iter().filter_map(|place| self.previews.want(&place.path)).collect();
        let keys = [Action::MapAdd, Action::MapEdit].map(|action| self.keys.first(action).to_owned());
        self.overlays.push(LocationView::new(places, keys));
        wanted
    }

    /// A definition, followed by all others with its name.
    fn definitions(&self, first: &Place) -> Vec<Place> {
        let mut places = vec![first.clone()];
        let Some(graph) = self.session.symbols() else { return places };
        let index = graph.index();
        let Some(name) = index.name_number(&first.name) else { return places };
        for file in graph.definers(name).iter().filter_map(|symbol| graph.symbols().get(*symbol as usize)) {
            let entries = index.definitions(file.file).filter(|entry| entry.name() == first.name);
            let place = |entry: rhumb_index::repo_map::index::IndexedDefinition<'_>| {
                Place::at(index.path(file.file), Some(entry.line()), &first.name)
            };
            places.extend(entries.map(place).filter(|place| place != first));
            if places.len() > MAX_LOCATIONS {
                break;
            }
        }
        places.truncate(MAX_LOCATIONS);
        places
    }
}

/// Further definitions of a name that are shown at most.
const MAX_LOCATIONS: usize = 40;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_session::context::{Prompt, Window};
    use rhumb_session::{Connection, ContextView, Session};

    fn app(window: Window) -> App {
        let (mut session, effects) = Session::start(Connection::None);
        let prompt = Prompt { window, ..Prompt::default() };
        session.set_view(ContextView {
            map: None,
            provisional: false,
            prompt: Arc::new(prompt),
            unreadable: Vec::new(),
        });
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    #[test]
    fn a_budget_of_any_size_grows_to_the_window_at_most() {
        let window = Window { tokens: 128_000, known: true };
        let mut app = app(window);
        app.session.set_map_tokens(Some(usize::MAX));
        app.act_on_map(Action::MapMore);
        assert_eq!(app.session.map().tokens, Some(window.max_input()));
        app.act_on_map(Action::MapLess);
        assert_eq!(app.session.map().tokens, Some(window.max_input() - MAP_BUDGET_STEP));
    }

    #[test]
    fn an_assumed_window_does_not_limit_the_budget() {
        let mut app = app(Window { tokens: 4_096, known: false });
        app.session.set_map_tokens(Some(50_000));
        app.act_on_map(Action::MapMore);
        assert_eq!(app.session.map().tokens, Some(50_000 + MAP_BUDGET_STEP));
        app.session.set_map_tokens(Some(usize::MAX));
        app.act_on_map(Action::MapMore);
        assert_eq!(app.session.map().tokens, Some(MAX_BUDGET_TOKENS));
    }
}
