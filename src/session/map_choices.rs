//! What the user chooses about the map: its budget, when it moves, which files come first and which never.

use super::effect::Effect;
use super::state::Session;
use super::transcript::Level;
use crate::repo_map::Refresh;

impl Session {
    /// Sets the budget of the map in tokens; `None` leaves it to the window.
    pub fn set_map_tokens(&mut self, tokens: Option<usize>) -> Vec<Effect> {
        self.map_tokens = tokens;
        self.measure()
    }

    /// Reads the repository again and makes the map anew; from now on in the mode, if one is given.
    pub fn refresh_map(&mut self, mode: Option<Refresh>) -> Vec<Effect> {
        self.map_refreshes += 1;
        let follow = mode.map_or_else(Vec::new, |mode| self.set_map_refresh(mode));
        [follow, vec![Effect::Survey]].concat()
    }

    /// Puts a file first in the map, or no more.
    pub fn toggle_pin(&mut self, path: &str) -> Vec<Effect> {
        self.banned.remove(path);
        if !self.pinned.remove(path) {
            self.pinned.insert(path.to_owned());
        }
        self.measure()
    }

    /// Keeps a file out of the map, or no more.
    pub fn toggle_ban(&mut self, path: &str) -> Vec<Effect> {
        self.pinned.remove(path);
        if !self.banned.remove(path) {
            self.banned.insert(path.to_owned());
        }
        self.measure()
    }

    /// Keeps files out of the map, or no more; without names all are let back in.
    pub fn ban(&mut self, names: &[String]) -> Vec<Effect> {
        if names.is_empty() {
            self.banned.clear();
            return self.measure();
        }
        self.listed(names).iter().flat_map(|name| self.toggle_ban(name)).collect()
    }

    /// Puts files first in the map, or no more.
    pub fn pin(&mut self, names: &[String]) -> Vec<Effect> {
        self.listed(names).iter().flat_map(|name| self.toggle_pin(name)).collect()
    }

    /// Those of the names that are files of the repository; the others are told.
    fn listed(&mut self, names: &[String]) -> Vec<String> {
        let (known, unknown): (Vec<String>, Vec<String>) =
            names.iter().cloned().partition(|name| self.paths.binary_search(name).is_ok());
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
