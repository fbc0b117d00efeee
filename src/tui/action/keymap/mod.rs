//! Which keys mean which action: the table's own, or those that the user has chosen.

mod spelling;
mod told;
mod with;

use std::collections::BTreeMap;

pub use told::key_notes;
pub use with::KeyProblem;

use super::{ACTIONS, Action, Pane, Scope};

/// What a sequence of keys means to the pane with the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// This action.
    Action(Action),
    /// The beginning of a longer sequence.
    Prefix,
    /// Nothing.
    None,
}

/// The keys of every action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyMap {
    keys: BTreeMap<Action, Vec<String>>,
}

impl Default for KeyMap {
    /// The keys of the table.
    fn default() -> Self {
        let own = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        Self { keys: ACTIONS.iter().map(|info| (info.action, own(info.keys))).collect() }
    }
}

impl KeyMap {
    /// The keys of an action, the one to name first at the front.
    pub fn of(&self, action: Action) -> &[String] {
        self.keys.get(&action).map_or(&[], Vec::as_slice)
    }

    /// The first key of an action; empty if it has none.
    pub fn first(&self, action: Action) -> &str {
        self.of(action).first().map_or("", String::as_str)
    }

    /// Looks a key sequence up. The pane's own keys win over those of lists, and those over global ones.
    pub fn lookup(&self, pane: Pane, sequence: &str) -> Binding {
        self.find(sequence, |scope| match scope {
            Scope::Pane(own) if own == pane => Some(0),
            Scope::Lists if pane != Pane::Chat => Some(1),
            Scope::Global => Some(2),
            Scope::Pane(_) | Scope::Lists | Scope::Reading => None,
        })
    }

    /// As [`Self::lookup`], for the chat while its transcript is read: it is a list then, and keeps what keys mean there
    /// otherwise.
    pub fn lookup_reading(&self, sequence: &str) -> Binding {
        self.find(sequence, |scope| match scope {
            Scope::Reading => Some(0),
            Scope::Lists => Some(1),
            Scope::Pane(Pane::Chat) => Some(2),
            Scope::Global => Some(3),
            Scope::Pane(_) => None,
        })
    }

    fn find(&self, sequence: &str, rank: impl Fn(Scope) -> Option<u8>) -> Binding {
        let here = ACTIONS.iter().filter_map(|info| Some((rank(info.scope)?, info)));
        let has = |action: Action, is: &dyn Fn(&str) -> bool| self.of(action).iter().any(|keys| is(keys));
        let exact = here.clone().filter(|(_, info)| has(info.action, &|keys| keys == sequence));
        if let Some((_, info)) = exact.min_by_key(|(rank, _)| *rank) {
            return Binding::Action(info.action);
        }
        let prefix = format!("{sequence} ");
        let longer = |action: Action| has(action, &|keys| keys.starts_with(&prefix));
        if here.map(|(_, info)| info.action).any(longer) { Binding::Prefix } else { Binding::None }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::tui::key;

    #[test]
    fn every_key_of_the_table_is_a_key() {
        for info in ACTIONS {
            for part in info.keys.iter().flat_map(|keys| keys.split(' ')) {
                assert!(key::parse(part).is_some(), "{part} of {}", info.name);
            }
        }
    }

    #[test]
    fn no_key_means_two_things_in_one_scope() {
        let mut seen = BTreeMap::new();
        for info in ACTIONS {
            for keys in info.keys {
                assert_eq!(seen.insert((info.scope, *keys), info.name), None, "{keys} in {:?}", info.scope);
            }
        }
    }

    #[test]
    fn the_panes_own_key_wins_over_the_general_one() {
        assert_eq!(KeyMap::default().lookup(Pane::Review, "Enter"), Binding::Action(Action::OpenHere));
        assert_eq!(KeyMap::default().lookup(Pane::Chat, "j"), Binding::None);
        assert_eq!(KeyMap::default().lookup(Pane::Map, "j"), Binding::Action(Action::Down));
    }

    #[test]
    fn a_prefix_waits_for_its_second_key() {
        assert_eq!(KeyMap::default().lookup(Pane::Review, "g"), Binding::Prefix);
        assert_eq!(KeyMap::default().lookup(Pane::Review, "g y"), Binding::Action(Action::AcceptAll));
        assert_eq!(KeyMap::default().lookup(Pane::Review, "g z"), Binding::None);
    }
}
