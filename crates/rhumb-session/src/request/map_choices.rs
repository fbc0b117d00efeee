//! The user's choices about the repo map: its budget, when it is recomputed, pinned and banned files.

use crate::{Effect, Level, Session};
use rhumb_index::repo_map::{Refresh, RepoMap, symbol_readings};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The budget of the map is changed by this many tokens at once.
pub const MAP_BUDGET_STEP: usize = 512;

/// Number of changes that can be undone.
const MAX_UNDO_STEPS: usize = 100;

/// A map, compared by identity: two values are equal if they are the same allocation.
#[derive(Debug, Clone)]
pub struct MapIdentity(pub Arc<RepoMap>);

impl PartialEq for MapIdentity {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for MapIdentity {}

/// The user's choices about the repo map, as a part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MapSettings {
    /// The budget in tokens; `None` derives it from the context window.
    pub tokens: Option<usize>,
    /// When the map is recomputed.
    pub refresh: Refresh,
    /// Number of times the user requested a recomputation.
    pub refreshes: u64,
    /// Files, and symbols as `path#name`, that come first in the map.
    pub pinned: BTreeSet<String>,
    /// Files, and symbols as `path#name`, that the map never shows.
    pub banned: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct MapChoices {
    pinned: BTreeSet<String>,
    banned: BTreeSet<String>,
    tokens: Option<usize>,
}

/// The settings of the repo map in this session, with their undo history.
#[derive(Debug, Default)]
pub struct MapState {
    settings: MapSettings,
    undo: Vec<MapChoices>,
    redo: Vec<MapChoices>,
}

impl MapState {
    /// The settings in force.
    pub fn settings(&self) -> &MapSettings {
        &self.settings
    }

    /// Replaces the choices, without a step to undo: they come from a saved session.
    pub(crate) fn restore(&mut self, tokens: Option<usize>, pinned: &[String], banned: &[String]) {
        self.settings.tokens = tokens;
        self.settings.pinned = pinned.iter().cloned().collect();
        self.settings.banned = banned.iter().cloned().collect();
    }

    fn choices(&self) -> MapChoices {
        let MapSettings { tokens, pinned, banned, .. } = self.settings.clone();
        MapChoices { pinned, banned, tokens }
    }

    fn change(&mut self, change: impl FnOnce(&mut MapSettings)) {
        let before = self.choices();
        change(&mut self.settings);
        if before != self.choices() {
            self.redo.clear();
            self.undo.push(before);
            let excess = self.undo.len().saturating_sub(MAX_UNDO_STEPS);
            self.undo.drain(..excess);
        }
    }

    /// Undoes the last change, or redoes the last undone one. Returns `false` if there is no such change.
    fn step(&mut self, redo: bool) -> bool {
        let now = self.choices();
        let (from, to) = if redo { (&mut self.redo, &mut self.undo) } else { (&mut self.undo, &mut self.redo) };
        let Some(choices) = from.pop() else { return false };
        to.push(now);
        let MapChoices { pinned, banned, tokens } = choices;
        self.settings = MapSettings { pinned, banned, tokens, ..self.settings };
        true
    }
}

impl Session {
    /// The settings of the repo map.
    pub fn map(&self) -> &MapSettings {
        &self.next_request.map.settings
    }

    /// Makes a change that can be undone, and measures.
    fn change_map(&mut self, change: impl FnOnce(&mut MapSettings)) -> Vec<Effect> {
        self.next_request.map.change(change);
        self.measure()
    }

    /// Undoes the last choice about the map, or with `redo` redoes it; `None` if there is none.
    pub fn undo_map_change(&mut self, redo: bool) -> Option<Vec<Effect>> {
        self.next_request.map.step(redo).then(|| self.measure())
    }

    /// Whether there is a choice to undo, or with `redo` to redo.
    pub fn can_undo_map_change(&self, redo: bool) -> bool {
        !(if redo { &self.next_request.map.redo } else { &self.next_request.map.undo }).is_empty()
    }

    /// Sets the budget of the map in tokens; `None` derives it from the window.
    pub fn set_map_tokens(&mut self, tokens: Option<usize>) -> Vec<Effect> {
        self.change_map(|map| map.tokens = tokens)
    }

    /// Reads the repository again and recomputes the map. A given mode also becomes the mode from now on.
    pub fn refresh_map(&mut self, mode: Option<Refresh>) -> Vec<Effect> {
        self.next_request.map.settings.refreshes += 1;
        let follow = mode.map_or_else(Vec::new, |mode| self.set_map_refresh(mode));
        [follow, self.resume_indexing().unwrap_or_else(|| vec![Effect::Survey])].concat()
    }

    /// Pins a file, or a symbol as `path#name`, or unpins it.
    pub fn toggle_pin(&mut self, choice: &str) -> Vec<Effect> {
        self.change_map(|map| toggle(&mut map.pinned, &mut map.banned, choice))
    }

    /// Bans a file, or a symbol as `path#name`, from the map, or allows it again.
    pub fn toggle_ban(&mut self, choice: &str) -> Vec<Effect> {
        self.change_map(|map| toggle(&mut map.banned, &mut map.pinned, choice))
    }

    /// Bans each of the files from the map, or allows it again. Without names, allows all.
    pub fn ban(&mut self, names: &[String]) -> Vec<Effect> {
        if names.is_empty() {
            return self.change_map(|map| map.banned.clear());
        }
        let names = self.known_names(names);
        self.change_map(|map| names.iter().for_each(|name| toggle(&mut map.banned, &mut map.pinned, name)))
    }

    /// Pins each of the files, or unpins it.
    pub fn pin(&mut self, names: &[String]) -> Vec<Effect> {
        let names = self.known_names(names);
        self.change_map(|map| names.iter().for_each(|name| toggle(&mut map.pinned, &mut map.banned, name)))
    }

    /// Returns the names that are files of the repository or symbols in such files, and reports the others.
    fn known_names(&mut self, names: &[String]) -> Vec<String> {
        let is_file = |path: &str| self.repository.contains(path);
        let is_known = |name: &String| is_file(name) || symbol_readings(name).any(|(path, _)| is_file(path));
        let (known, unknown): (Vec<String>, Vec<String>) = names.iter().cloned().partition(is_known);
        for name in unknown {
            self.report(Level::Warning, format!("There is no file {name}."), "Give its path as the map does.");
        }
        known
    }

    /// Sets when the map is recomputed, and watches the disk accordingly.
    pub fn set_map_refresh(&mut self, mode: Refresh) -> Vec<Effect> {
        self.next_request.map.settings.refresh = mode;
        vec![Effect::WatchFiles(mode.follows_disk() || self.comment_watch.is_on())]
    }
}

/// Adds a choice to a set and removes it from the opposite one. If the set contains it, removes it from both.
fn toggle(set: &mut BTreeSet<String>, opposite: &mut BTreeSet<String>, choice: &str) {
    opposite.remove(choice);
    if !set.remove(choice) {
        set.insert(choice.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;

    #[test]
    fn choices_can_be_undone_and_redone() {
        let (mut session, _) = Session::start(Connection::None);
        assert!(session.undo_map_change(false).is_none());
        session.toggle_pin("a.rs");
        session.toggle_ban("a.rs#moor");
        session.toggle_ban("a.rs");
        assert!(
            session.next_request.map.settings.pinned.is_empty() && session.next_request.map.settings.banned.len() == 2,
            "a banned file is not pinned"
        );
        session.undo_map_change(false).unwrap();
        assert!(
            session.next_request.map.settings.pinned.contains("a.rs")
                && session.next_request.map.settings.banned.contains("a.rs#moor")
        );
        session.undo_map_change(false).unwrap();
        session.undo_map_change(true).unwrap();
        assert!(session.next_request.map.settings.banned.contains("a.rs#moor") && session.can_undo_map_change(true));
        session.set_map_tokens(Some(7));
        assert!(!session.can_undo_map_change(true), "a new choice clears the redo history");
        session.undo_map_change(false).unwrap();
        assert_eq!(session.next_request.map.settings.tokens, None);
    }

    #[test]
    fn a_command_without_effect_cannot_be_undone() {
        let (mut session, _) = Session::start(Connection::None);
        session.set_map_tokens(None);
        session.ban(&[]);
        assert!(!session.can_undo_map_change(false));
    }
}
