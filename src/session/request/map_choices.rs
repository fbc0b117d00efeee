//! What the user chooses about the map: its budget, when it moves, which files come first and which never.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::session::effect::Effect;
use crate::session::state::Session;
use crate::session::transcript::Level;
use rhumb_index::repo_map::{Refresh, RepoMap, symbol_readings};

/// The budget of the map is changed by this many tokens at once.
pub const MAP_BUDGET_STEP: usize = 512;

/// Choices that can be taken back.
const MOST_TAKEN_BACK: usize = 100;

/// A map, the very same and not only an equal one.
#[derive(Debug, Clone)]
pub struct MapIdentity(pub Arc<RepoMap>);

impl PartialEq for MapIdentity {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for MapIdentity {}

/// What was chosen of the map: what comes first, what never, its budget.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct MapOverrides {
    pinned: BTreeSet<String>,
    banned: BTreeSet<String>,
    tokens: Option<usize>,
}

/// Choices before each change, and those that were taken back.
#[derive(Debug, Default)]
pub(crate) struct MapChoiceHistory {
    before: Vec<MapOverrides>,
    after: Vec<MapOverrides>,
}

impl Session {
    fn map_choices(&self) -> MapOverrides {
        MapOverrides { pinned: self.pinned.clone(), banned: self.banned.clone(), tokens: self.map_tokens }
    }

    /// Makes a change that can be taken back, and measures.
    fn change_map(&mut self, change: impl FnOnce(&mut Self)) -> Vec<Effect> {
        let before = self.map_choices();
        change(self);
        if before != self.map_choices() {
            self.map_past.after.clear();
            self.map_past.before.push(before);
            let excess = self.map_past.before.len().saturating_sub(MOST_TAKEN_BACK);
            self.map_past.before.drain(..excess);
        }
        self.measure()
    }

    /// Takes the last choice about the map back, or with `again` makes it again; `None` if there is none.
    pub fn take_back_map(&mut self, again: bool) -> Option<Vec<Effect>> {
        let now = self.map_choices();
        let past = &mut self.map_past;
        let (from, to) = if again { (&mut past.after, &mut past.before) } else { (&mut past.before, &mut past.after) };
        let choices = from.pop()?;
        to.push(now);
        (self.pinned, self.banned, self.map_tokens) = (choices.pinned, choices.banned, choices.tokens);
        Some(self.measure())
    }

    /// Whether there is a choice to take back, or with `again` to make again.
    pub fn can_take_back_map(&self, again: bool) -> bool {
        !(if again { &self.map_past.after } else { &self.map_past.before }).is_empty()
    }

    /// Sets the budget of the map in tokens; `None` leaves it to the window.
    pub fn set_map_tokens(&mut self, tokens: Option<usize>) -> Vec<Effect> {
        self.change_map(|session| session.map_tokens = tokens)
    }

    /// Reads the repository again and makes the map anew; from now on in the mode, if one is given.
    pub fn refresh_map(&mut self, mode: Option<Refresh>) -> Vec<Effect> {
        self.map_refreshes += 1;
        let follow = mode.map_or_else(Vec::new, |mode| self.set_map_refresh(mode));
        [follow, self.read_on().unwrap_or_else(|| vec![Effect::Survey])].concat()
    }

    /// Puts a file, or a symbol as `path#name`, first in the map, or no more.
    pub fn toggle_pin(&mut self, choice: &str) -> Vec<Effect> {
        self.change_map(|session| toggle(&mut session.pinned, &mut session.banned, choice))
    }

    /// Keeps a file, or a symbol as `path#name`, out of the map, or no more.
    pub fn toggle_ban(&mut self, choice: &str) -> Vec<Effect> {
        self.change_map(|session| toggle(&mut session.banned, &mut session.pinned, choice))
    }

    /// Keeps files out of the map, or no more; without names all are let back in.
    pub fn ban(&mut self, names: &[String]) -> Vec<Effect> {
        if names.is_empty() {
            return self.change_map(|session| session.banned.clear());
        }
        let names = self.listed(names);
        self.change_map(|session| names.iter().for_each(|name| toggle(&mut session.banned, &mut session.pinned, name)))
    }

    /// Puts files first in the map, or no more.
    pub fn pin(&mut self, names: &[String]) -> Vec<Effect> {
        let names = self.listed(names);
        self.change_map(|session| names.iter().for_each(|name| toggle(&mut session.pinned, &mut session.banned, name)))
    }

    /// Those of the names that are files of the repository, or symbols of such; the others are told.
    fn listed(&mut self, names: &[String]) -> Vec<String> {
        let is_file = |path: &str| self.paths.binary_search_by(|other| other.as_str().cmp(path)).is_ok();
        let is_known = |name: &String| is_file(name) || symbol_readings(name).any(|(path, _)| is_file(path));
        let (known, unknown): (Vec<String>, Vec<String>) = names.iter().cloned().partition(is_known);
        for name in unknown {
            self.tell(Level::Warning, format!("There is no file {name} here."), "Name it as the map does.");
        }
        known
    }

    /// Sets when the map is made anew, and follows the disk accordingly.
    pub fn set_map_refresh(&mut self, mode: Refresh) -> Vec<Effect> {
        self.map_refresh = mode;
        vec![Effect::Follow(mode.follows_disk() || self.watching.is_on())]
    }
}

/// Puts a choice into a set, and takes it out of its opposite; or out of both, if it was in the set.
fn toggle(set: &mut BTreeSet<String>, opposite: &mut BTreeSet<String>, choice: &str) {
    opposite.remove(choice);
    if !set.remove(choice) {
        set.insert(choice.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Connection;

    #[test]
    fn choices_are_taken_back_one_by_one_and_made_again() {
        let (mut session, _) = Session::start(Connection::None);
        assert!(session.take_back_map(false).is_none());
        session.toggle_pin("a.rs");
        session.toggle_ban("a.rs#moor");
        session.toggle_ban("a.rs");
        assert!(session.pinned.is_empty() && session.banned.len() == 2, "a banned file is pinned no more");
        session.take_back_map(false).unwrap();
        assert!(session.pinned.contains("a.rs") && session.banned.contains("a.rs#moor"));
        session.take_back_map(false).unwrap();
        session.take_back_map(true).unwrap();
        assert!(session.banned.contains("a.rs#moor") && session.can_take_back_map(true));
        session.set_map_tokens(Some(7));
        assert!(!session.can_take_back_map(true), "another choice ends what could be made again");
        session.take_back_map(false).unwrap();
        assert_eq!(session.map_tokens, None);
    }

    #[test]
    fn what_changes_nothing_is_nothing_to_take_back() {
        let (mut session, _) = Session::start(Connection::None);
        session.set_map_tokens(None);
        session.ban(&[]);
        assert!(!session.can_take_back_map(false));
    }
}
