//! What is looked for from the map pane: by a few letters, where something is defined, why it stands where it does.

use crossterm::event::{KeyCode, KeyEvent};

use super::MapTarget;
use crate::session::{Effect, LookOrder, LookReport, Report, ThisMap};
use crate::tui::action::{Action, Binding, Scope};
use crate::tui::app::{App, Task};
use crate::tui::key;
use crate::tui::overlay::{Overlay, Peek, Place};

/// Further definitions of a name that are shown at most.
const MOST_PLACES: usize = 40;

impl App {
    /// A key while the letters of a search are typed. What moves the cursor of the list does so there, too.
    pub(crate) fn map_filter_key(&mut self, key: KeyEvent) -> Vec<Task> {
        let Some(filter) = &mut self.map.filter else { return Vec::new() };
        match (key::name(key).as_str(), key.code) {
            ("Esc", _) => self.map.close_filter(),
            ("Enter", _) if filter.input.text().trim().is_empty() => self.map.close_filter(),
            ("Enter" | "Tab", _) => filter.typing = false,
            ("Up" | "Ctrl-p", _) => self.map.step(-1),
            ("Down" | "Ctrl-n", _) => self.map.step(1),
            ("PageUp", _) => self.map.window.page_up(),
            ("PageDown", _) => self.map.window.page_down(),
            (_, KeyCode::Backspace) if filter.input.text().is_empty() => self.map.close_filter(),
            _ => drop(filter.input.key(key)),
        }
        Vec::new()
    }

    /// Whether a key is for the program as a whole even while letters of a search are typed.
    pub(crate) fn is_elsewhere(&self, name: &str) -> bool {
        let is_typed = name.chars().count() == 1 || matches!(name, "Space" | "Esc" | "Tab" | "Ctrl-p");
        let action = match self.keys.lookup(crate::tui::action::Pane::Map, name) {
            Binding::Action(action) => action.info(),
            Binding::Prefix | Binding::None => None,
        };
        !is_typed && action.is_some_and(|info| info.scope == Scope::Global)
    }

    /// Text pasted while the letters of a search are typed; whether it went there.
    pub(crate) fn map_filter_paste(&mut self, text: &str) -> bool {
        let Some(filter) = self.map.filter.as_mut().filter(|filter| filter.typing) else { return false };
        filter.input.insert(text);
        true
    }

    /// Asks for what passes the letters of the search, if they or the map are others than before.
    pub(crate) fn sift_anew(&mut self) -> Option<Task> {
        let (map, query) = self.map.next_sift()?;
        Some(Task::Run(Effect::Look(LookOrder::Sift { map: ThisMap(map), query })))
    }

    /// Takes note of what was found for the pane.
    pub(crate) fn note_for_map(&mut self, report: &Report) {
        match report {
            Report::Looked(LookReport::Sifted { map, query, found }) => {
                self.map.sifted(&map.0, query, found.clone());
            }
            Report::Looked(LookReport::Whence { map, place, symbol, whence }) => {
                if let Some(Overlay::Why(why)) = &mut self.overlay {
                    why.answer(map, (*place, *symbol), whence);
                }
            }
            _ => {}
        }
    }

    /// Asks why what the cursor is on stands where it does.
    pub(super) fn ask_why(&mut self) -> Vec<Task> {
        let Some(MapTarget::There(place, symbol)) = self.map_target() else { return Vec::new() };
        let Some(map) = self.ranked_map().cloned() else { return Vec::new() };
        let map = ThisMap(map);
        self.overlay = Some(Overlay::why(&map, place, symbol));
        vec![Task::Run(Effect::Look(LookOrder::Whence { map, place, symbol }))]
    }

    /// Asks so again, if the map is a newer one.
    pub(crate) fn ask_why_anew(&mut self) -> Option<Task> {
        let map = ThisMap(self.ranked_map()?.clone());
        let Some(Overlay::Why(why)) = &mut self.overlay else { return None };
        let (place, symbol) = why.follow(&map)?;
        Some(Task::Run(Effect::Look(LookOrder::Whence { map, place, symbol })))
    }

    /// Shows the file or the definition that the cursor is on.
    pub(super) fn peek(&mut self) -> Vec<Task> {
        let Some(MapTarget::There(place, symbol)) = self.map_target() else { return Vec::new() };
        let Some(map) = self.ranked_map() else { return Vec::new() };
        let Some(path) = map.files.get(place).map(|file| file.path.to_string()) else { return Vec::new() };
        let places = match symbol.and_then(|at| map.symbols(place).get(at)) {
            None => vec![Place::at(&path, None, "")],
            Some(symbol) => self.definitions(&Place::at(&path, Some(symbol.line), &symbol.name)),
        };
        self.peek_at(places)
    }

    /// Opens places to be looked at, the first of them first, over what is open.
    pub(crate) fn peek_at(&mut self, places: Vec<Place>) -> Vec<Task> {
        let wanted: Vec<Task> = places.iter().filter_map(|place| self.previews.want(&place.path)).collect();
        let keys = [Action::MapAdd, Action::MapEdit].map(|action| self.keys.first(action).to_owned());
        self.open_over(Overlay::Peek(Peek::new(places, keys)));
        wanted
    }

    /// A definition, and after it all others of its name.
    fn definitions(&self, first: &Place) -> Vec<Place> {
        let mut places = vec![first.clone()];
        let Some(graph) = &self.session.symbols else { return places };
        let index = graph.index();
        let Some(name) = index.name_number(&first.name) else { return places };
        for file in graph.definers(name).iter().filter_map(|symbol| graph.symbols().get(*symbol as usize)) {
            let entries = index.definitions(file.file).filter(|entry| entry.name() == first.name);
            let place = |entry: rhumb_index::repo_map::index::IndexedDefinition<'_>| {
                Place::at(index.path(file.file), Some(entry.line()), &first.name)
            };
            places.extend(entries.map(place).filter(|place| place != first));
            if places.len() > MOST_PLACES {
                break;
            }
        }
        places.truncate(MOST_PLACES);
        places
    }
}
