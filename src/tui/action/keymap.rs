//! The key map: the default keys of the actions, changed by the user's settings.

use rhumb_text::nearest;

use crate::config::Settings;
use crate::tui::prelude::*;

/// The meaning of a key sequence in the pane with the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Action(Action),
    /// The beginning of a longer sequence.
    Prefix,
    None,
}

/// The keys of every action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyMap {
    keys: BTreeMap<Action, Vec<String>>,
}

impl Default for KeyMap {
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

    /// Looks up a key sequence. The keys of the pane take precedence over those of lists, and these over global keys.
    pub fn lookup(&self, pane: Pane, sequence: &str) -> Binding {
        self.find(sequence, |scope| match scope {
            Scope::Pane(own) if own == pane => Some(0),
            Scope::Lists if pane != Pane::Chat => Some(1),
            Scope::Global => Some(2),
            Scope::Pane(_) | Scope::Lists | Scope::Reading => None,
        })
    }

    /// As [`Self::lookup`], for the chat while its transcript is read. The keys of lists apply then, in addition to those of
    /// the chat.
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

    /// Replaces the default keys of actions by those of the settings. Returns the key map and the problems in the settings.
    ///
    /// Settings take precedence over the table. An empty list leaves an action without keys. Ctrl-c and Esc cannot be removed,
    /// because they leave the app or an overlay.
    pub fn with(overrides: &BTreeMap<String, Vec<String>>) -> (Self, Vec<KeyProblem>) {
        let Self { keys } = Self::default();
        let mut builder = KeyMapBuilder { keys, own: Vec::new(), problems: Vec::new() };
        for name in overrides.keys().filter(|name| !ACTIONS.iter().any(|info| info.name == name.as_str())) {
            let meant = nearest(name, ACTIONS.iter().map(|info| info.name))
                .map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
            builder.add_problem(name, format!("there is no action {name}{meant}"));
        }
        let named = || ACTIONS.iter().filter_map(|info| Some((info, overrides.get(info.name)?)));
        for (info, keys) in named() {
            let of_the_table = builder.keys.insert(info.action, Vec::new()).unwrap_or_default();
            for written in keys {
                builder.claim(info, written);
            }
            if !keys.is_empty() && builder.keys.get(&info.action).is_some_and(Vec::is_empty) {
                // All keys of the entry are invalid. The default keys stay, because only an empty list removes them.
                builder.keys.insert(info.action, of_the_table);
            }
        }
        named().for_each(|(info, _)| builder.keep_fixed_keys(info));
        builder.remove_taken_keys();
        builder.report_shadowed();
        (Self { keys: builder.keys }, builder.problems)
    }
}

/// A problem in the user's key settings: an entry that has no effect, or an unexpected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyProblem {
    pub name: String,
    pub text: String,
}

/// Keys that leave the app or an overlay. Settings cannot change them.
const FIXED_KEYS: [(Action, &str); 2] = [(Action::Interrupt, "Ctrl-c"), (Action::Escape, "Esc")];

struct KeyMapBuilder {
    keys: BTreeMap<Action, Vec<String>>,
    /// The valid overrides, in the order of the table.
    own: Vec<(&'static ActionInfo, String)>,
    problems: Vec<KeyProblem>,
}

impl KeyMapBuilder {
    fn add_problem(&mut self, name: &str, text: String) {
        self.problems.push(KeyProblem { name: name.to_owned(), text });
    }

    fn claim(&mut self, info: &'static ActionInfo, written: &str) {
        let keys = match parse_sequence(written) {
            Ok(keys) => keys,
            Err(part) => return self.add_problem(info.name, format!("`{part}` is no key")),
        };
        if let Some(why) = self.refused(info, &keys) {
            return self.add_problem(info.name, why);
        }
        self.own.push((info, keys.clone()));
        self.keys.entry(info.action).or_default().push(keys);
    }

    fn refused(&self, info: &ActionInfo, keys: &str) -> Option<String> {
        let first = keys.split(' ').next().unwrap_or(keys);
        if let Some((action, key)) = FIXED_KEYS.iter().find(|(_, key)| keys.split(' ').any(|part| part == *key))
            && (*action != info.action || keys != *key)
        {
            return Some(format!("{key} always leads out; {} needs another key", info.name));
        }
        let types = matches!(info.scope, Scope::Global | Scope::Pane(Pane::Chat));
        if types && is_text(first) {
            return Some(format!(
                "{first} is typed in the chat; {} needs one with Ctrl or Alt, or F1 to F24",
                info.name
            ));
        }
        let taken = self.own.iter().find(|(other, own)| other.scope == info.scope && clashes(own, keys));
        let (other, own) = taken?;
        if other.action == info.action {
            return (own != keys).then(|| format!("{keys} and {own} begin alike, so the longer one is never reached"));
        }
        Some(if own == keys {
            format!("{keys} is the key of {} already", other.name)
        } else {
            format!("{keys} and {own} of {} begin alike, so the longer one is never reached", other.name)
        })
    }

    fn keep_fixed_keys(&mut self, info: &ActionInfo) {
        let Some((action, key)) = FIXED_KEYS.iter().find(|(action, _)| *action == info.action) else { return };
        let keys = self.keys.entry(*action).or_default();
        if !keys.iter().any(|own| own == key) {
            keys.push((*key).to_owned());
            self.add_problem(info.name, format!("{key} stays the key of {}", info.name));
        }
    }

    /// Removes default keys that the settings give to another action of the same scope.
    fn remove_taken_keys(&mut self) {
        let mut problems = Vec::new();
        let is_own = |action: Action| self.own.iter().any(|(own, _)| own.action == action);
        let others: Vec<&ActionInfo> = ACTIONS.iter().filter(|info| !is_own(info.action)).collect();
        for info in others {
            let taken = |keys: &str| self.own.iter().find(|(own, key)| own.scope == info.scope && clashes(key, keys));
            let Some(keys) = self.keys.get(&info.action) else { continue };
            let (lost, left): (Vec<String>, Vec<String>) = keys.iter().cloned().partition(|key| taken(key).is_some());
            for key in &lost {
                let Some((by, own)) = taken(key) else { continue };
                let rest = if left.is_empty() {
                    "which has no key now".to_owned()
                } else {
                    format!("which keeps {}", left.join(", "))
                };
                let what = if own == key { key.clone() } else { format!("{key} (it begins as {own} does)") };
                problems.push((by.name, format!("{what} is taken from {}, {rest}", info.name)));
            }
            if !lost.is_empty() {
                self.keys.insert(info.action, left);
            }
        }
        problems.into_iter().for_each(|(name, text)| self.add_problem(name, text));
    }

    /// Reports keys of the settings that mean something else in a pane.
    fn report_shadowed(&mut self) {
        let mut problems = Vec::new();
        for (info, own) in &self.own {
            for other in ACTIONS.iter().filter(|other| other.action != info.action && meet(info.scope, other.scope)) {
                let theirs = self.keys.get(&other.action).into_iter().flatten();
                for key in theirs.filter(|key| clashes(key, own)) {
                    let is_reported =
                        self.own.iter().any(|(a, k)| a.action == other.action && k == key && other.name < info.name);
                    if !is_reported {
                        problems.push((info.name, shadow((info, own), (other, key))));
                    }
                }
            }
        }
        problems.into_iter().for_each(|(name, text)| self.add_problem(name, text));
    }
}

/// Describes two equal or overlapping keys of scopes that overlap: the key of the smaller scope wins.
fn shadow(one: (&ActionInfo, &str), two: (&ActionInfo, &str)) -> String {
    let ((small, small_key), (large, large_key)) =
        if width(one.0.scope) <= width(two.0.scope) { (one, two) } else { (two, one) };
    let place = small.scope.place();
    if small_key == large_key {
        return format!("{small_key} means {} {place}, and {} elsewhere", small.name, large.name);
    }
    let (short, long, hidden) =
        if small_key.len() < large_key.len() { (small_key, large_key, large) } else { (large_key, small_key, small) };
    format!("{short} comes before {long}, so {long} of {} is never reached {place}", hidden.name)
}

fn width(scope: Scope) -> u8 {
    match scope {
        Scope::Pane(_) | Scope::Reading => 0,
        Scope::Lists => 1,
        Scope::Global => 2,
    }
}

fn meet(one: Scope, two: Scope) -> bool {
    match (one, two) {
        _ if one == two => false,
        (Scope::Global, _) | (_, Scope::Global) => true,
        (Scope::Lists, Scope::Pane(pane)) | (Scope::Pane(pane), Scope::Lists) => pane != Pane::Chat,
        // The keys of reading intentionally replace those of writing.
        (Scope::Reading, Scope::Pane(_)) | (Scope::Pane(_), Scope::Reading) => false,
        (Scope::Reading, _) | (_, Scope::Reading) => true,
        (Scope::Lists, Scope::Lists) | (Scope::Pane(_), Scope::Pane(_)) => false,
    }
}

/// Whether two sequences are equal, or one is a prefix of the other.
fn clashes(one: &str, two: &str) -> bool {
    let begins = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with(' '));
    one == two || begins(one, two) || begins(two, one)
}

/// Whether a key types or deletes text.
fn is_text(key: &str) -> bool {
    key.chars().count() == 1 || matches!(key, "Space" | "Backspace")
}

/// Alternative names of keys.
const WORDS: [(&str, &str); 14] = [
    ("return", "Enter"),
    ("ret", "Enter"),
    ("escape", "Esc"),
    ("backtab", "Shift-Tab"),
    ("bs", "Backspace"),
    ("del", "Delete"),
    ("pgup", "PageUp"),
    ("pgdown", "PageDown"),
    ("pgdn", "PageDown"),
    ("space", "Space"),
    ("spc", "Space"),
    ("plus", "+"),
    ("minus", "-"),
    ("comma", ","),
];

/// Parses a key or a key sequence into the names of the table. The error is the part that is not a key.
pub fn parse_sequence(text: &str) -> Result<String, String> {
    let parts: Vec<String> = text.split_whitespace().map(one).collect::<Result<_, _>>()?;
    if parts.is_empty() { Err(text.to_owned()) } else { Ok(parts.join(" ")) }
}

fn one(text: &str) -> Result<String, String> {
    let (mut rest, mut ctrl, mut alt, mut shift) = (text, false, false, false);
    while let Some((word, after)) = modifier(rest) {
        match word {
            'c' => ctrl = true,
            'a' => alt = true,
            _ => shift = true,
        }
        rest = after;
    }
    let wrong = || text.to_owned();
    let mut base = base(rest).ok_or_else(wrong)?;
    let mut chars = base.chars();
    if let (Some(letter), None) = (chars.next(), chars.next()) {
        // Terminals report the letter: upper case with Shift, lower case with Ctrl.
        base = match (shift, ctrl) {
            (_, true) => letter.to_lowercase().to_string(),
            (true, false) if letter.is_alphabetic() => letter.to_uppercase().to_string(),
            (true, false) => return Err(wrong()),
            (false, false) => base,
        };
        shift = false;
    }
    let prefix = [(ctrl, "Ctrl-"), (alt, "Alt-"), (shift, "Shift-")];
    let prefix: String = prefix.into_iter().filter_map(|(is_held, name)| is_held.then_some(name)).collect();
    let name = prefix + &base;
    let key = key::parse(&name).filter(|key| key::name(*key) == name);
    key.map(|_| name).ok_or_else(wrong)
}

fn modifier(text: &str) -> Option<(char, &str)> {
    let words = [("control", 'c'), ("ctrl", 'c'), ("c", 'c'), ("alt", 'a'), ("meta", 'a'), ("m", 'a'), ("a", 'a')];
    let all = words.into_iter().chain([("shift", 's'), ("s", 's')]);
    all.into_iter().find_map(|(word, letter)| {
        let head = text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word))?;
        let after = text.get(head.len()..)?.strip_prefix(['-', '+']).filter(|after| !after.is_empty())?;
        Some((letter, after))
    })
}

fn base(text: &str) -> Option<String> {
    let mut chars = text.chars();
    if let (Some(one), None) = (chars.next(), chars.next()) {
        return (!one.is_control()).then(|| one.to_string());
    }
    let lower = text.to_ascii_lowercase();
    let own = key::NAMED.iter().map(|(_, name)| *name).find(|name| name.eq_ignore_ascii_case(text));
    if let Some(name) = own.or(WORDS.iter().find(|(word, _)| *word == lower).map(|(_, name)| *name)) {
        return Some(name.to_owned());
    }
    let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
    (1..=24).contains(&number).then(|| format!("F{number}"))
}

/// The entries of the table `[keys]` that are ignored or hide another key, each with its file, its line and a remedy.
pub fn key_notes(settings: &Settings) -> Vec<(String, String)> {
    let (_, problems) = KeyMap::with(&settings.display.keys);
    let note = |name: &str, text: &str| {
        let origin = settings.layers.origin(&format!("keys.{name}"));
        let end = if text.ends_with('?') { "" } else { "." };
        format!("{}: {text}{end}", origin.map_or("keys".to_owned(), |origin| origin.to_string()))
    };
    let hint = "/keys shows the names of actions and the keys in force.";
    problems.iter().map(|problem| (note(&problem.name, &problem.text), hint.to_owned())).collect()
}

/// The keys of an incomplete sequence, and whether the last key was Ctrl-C.
#[derive(Debug, Default)]
pub struct KeySequence {
    pending: String,
    pub interrupted: bool,
}

impl KeySequence {
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Ends the sequence. Returns whether one had begun.
    pub fn clear(&mut self) -> bool {
        !std::mem::take(&mut self.pending).is_empty()
    }

    /// Returns the sequence with this key at its end, and ends it.
    pub fn complete(&mut self, key: &str) -> String {
        let before = std::mem::take(&mut self.pending);
        if before.is_empty() { key.to_owned() } else { format!("{before} {key}") }
    }

    pub fn hold(&mut self, sequence: String) {
        self.pending = sequence;
    }

    /// Whether the key before this one was Ctrl-C.
    pub fn take_interrupt(&mut self) -> bool {
        std::mem::take(&mut self.interrupted)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

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

#[cfg(test)]
mod with_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tui::action::Binding;

    fn own(entries: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        let list = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        entries.iter().map(|(name, keys)| ((*name).to_owned(), list(keys))).collect()
    }

    fn told(entries: &[(&str, &[&str])]) -> Vec<String> {
        KeyMap::with(&own(entries)).1.into_iter().map(|problem| format!("{}: {}", problem.name, problem.text)).collect()
    }

    #[test]
    fn own_keys_take_the_place_of_the_tables() {
        let (map, problems) = KeyMap::with(&own(&[("accept", &["a", "f9"]), ("reject", &[])]));
        assert_eq!(problems, []);
        assert_eq!(map.lookup(Pane::Review, "a"), Binding::Action(Action::Accept));
        assert_eq!(map.lookup(Pane::Review, "F9"), Binding::Action(Action::Accept));
        assert_eq!((map.lookup(Pane::Review, "y"), map.lookup(Pane::Review, "n")), (Binding::None, Binding::None));
        assert_eq!(map.first(Action::Reject), "", "an empty list leaves it without keys");
    }

    #[test]
    fn keys_may_change_places() {
        assert_eq!(told(&[("accept", &["n"]), ("reject", &["y"])]), [""; 0]);
        assert_eq!(told(&[("send", &["Alt-Enter"]), ("newline", &["Enter", "Ctrl-j"])]), [""; 0]);
    }

    #[test]
    fn what_cannot_be_is_told_with_what_was_meant() {
        assert_eq!(told(&[("acept", &["a"])]), ["acept: there is no action acept; did you mean accept?"]);
        assert_eq!(told(&[("accept", &["hyper-a", "a"])]), ["accept: `hyper-a` is no key"]);
        assert_eq!(
            told(&[("palette", &["p"])])[0],
            "palette: p is typed in the chat; palette needs one with Ctrl or Alt, or F1 to F24"
        );
        assert_eq!(told(&[("quit", &["Ctrl-c"])])[0], "quit: Ctrl-c always leads out; quit needs another key");
        assert_eq!(told(&[("escape", &["F9"])]), ["escape: Esc stays the key of escape"]);
        assert_eq!(told(&[("accept", &["a"]), ("reject", &["a"])]), ["reject: a is the key of accept already"]);
    }

    #[test]
    fn a_key_that_another_action_had_is_taken_from_it_and_that_is_told() {
        let (map, problems) = KeyMap::with(&own(&[("accept", &["n"])]));
        assert_eq!(problems[0].text, "n is taken from reject, which has no key now");
        assert_eq!(map.lookup(Pane::Review, "n"), Binding::Action(Action::Accept));
        let taken = told(&[("accept", &["g"])]);
        assert!(
            taken.contains(
                &"accept: g y (it begins as g does) is taken from accept-all, which has no key now".to_owned()
            ),
            "{taken:?}"
        );
    }

    #[test]
    fn an_action_keeps_its_keys_where_none_of_the_new_ones_can_be() {
        let (map, problems) = KeyMap::with(&own(&[("accept", &["hyper-a"])]));
        assert_eq!((problems.len(), map.first(Action::Accept)), (1, "y"));
        let lost = told(&[("palette", &["Ctrl-p"]), ("pick-file", &["Ctrl-Foo"])]);
        assert!(lost[1].contains("Ctrl-p is taken from pick-file, which"), "{lost:?}");
    }

    #[test]
    fn a_key_that_hides_another_is_told() {
        assert_eq!(
            told(&[("palette", &["Ctrl-d"])]),
            ["palette: Ctrl-d means page-down in map, context and review, and palette elsewhere"]
        );
        let hidden = told(&[("map-add", &["g"])]);
        assert_eq!(hidden, ["map-add: g comes before g g, so g g of top is never reached in the repo map"]);
    }

    fn any_name() -> impl Strategy<Value = String> {
        prop_oneof![4 => (0..ACTIONS.len()).prop_map(|at| ACTIONS[at].name.to_owned()), 1 => "[a-z-]{1,8}"]
    }

    fn any_keys() -> impl Strategy<Value = String> {
        let table: Vec<&'static str> = ACTIONS.iter().flat_map(|info| info.keys).copied().collect();
        prop_oneof![
            proptest::sample::select(table).prop_map(str::to_owned),
            proptest::sample::select(vec![
                "Ctrl-c", "Esc", "g", "g Esc", "Ctrl-c x", "q", "F12", "ctrl+x a", "Alt-Esc", ""
            ])
            .prop_map(str::to_owned),
            "[a-zG] ?[a-z]?",
        ]
    }

    proptest! {
        #[test]
        fn no_settings_take_the_way_out_away_and_no_key_means_two_things(
            overrides in proptest::collection::btree_map(any_name(), proptest::collection::vec(any_keys(), 0..4), 0..8)
        ) {
            let (map, _) = KeyMap::with(&overrides);
            for pane in Pane::ALL {
                prop_assert_eq!(map.lookup(pane, "Ctrl-c"), Binding::Action(Action::Interrupt));
                prop_assert_eq!(map.lookup(pane, "Esc"), Binding::Action(Action::Escape));
            }
            for key in ["a", "Z", "Space", "Backspace", "é"] {
                prop_assert_eq!(map.lookup(Pane::Chat, key), Binding::None, "{} is text", key);
            }
            let all = || ACTIONS.iter().flat_map(|info| map.of(info.action).iter().map(move |keys| (info, keys)));
            for (info, keys) in all() {
                for (other, theirs) in all().filter(|(other, _)| other.scope == info.scope && other.action != info.action) {
                    prop_assert!(!clashes(keys, theirs), "{} of {} and {} of {}", keys, info.name, theirs, other.name);
                }
                // The keys of an action run it, unless a smaller scope uses the same keys.
                let found = match info.scope {
                    Scope::Pane(pane) => map.lookup(pane, keys),
                    Scope::Lists => map.lookup(Pane::Map, keys),
                    Scope::Reading => map.lookup_reading(keys),
                    Scope::Global => map.lookup(Pane::Chat, keys),
                };
                match found {
                    Binding::Action(found) => {
                        let scope = found.info().scope;
                        prop_assert!(found == info.action || width(scope) < width(info.scope));
                    }
                    other => prop_assert!(false, "{} of {} is {:?}", keys, info.name, other),
                }
            }
        }
    }
}

#[cfg(test)]
mod spelling_tests {
    use super::*;
    use crate::tui::action::ACTIONS;

    #[test]
    fn keys_are_understood_as_people_write_them() {
        for (written, meant) in [
            ("ctrl+x", "Ctrl-x"),
            ("Ctrl-X", "Ctrl-x"),
            ("C-x ctrl-s", "Ctrl-x Ctrl-s"),
            ("alt-enter", "Alt-Enter"),
            ("M-Return", "Alt-Enter"),
            ("shift-a", "A"),
            ("Shift-Tab", "Shift-Tab"),
            ("backtab", "Shift-Tab"),
            ("f9", "F9"),
            ("g  y", "g y"),
            ("pgup", "PageUp"),
            ("ctrl-alt-Del", "Ctrl-Alt-Delete"),
            ("-", "-"),
            ("ctrl--", "Ctrl--"),
            ("+", "+"),
            ("a", "a"),
            ("c", "c"),
        ] {
            assert_eq!(parse_sequence(written).as_deref(), Ok(meant), "{written}");
        }
        for wrong in ["", " ", "hyper-x", "F0", "F99", "ctrl-", "accept", "g entre", "Shift-1"] {
            assert!(parse_sequence(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_names_of_the_table_are_spelled_as_they_are() {
        for keys in ACTIONS.iter().flat_map(|info| info.keys) {
            assert_eq!(parse_sequence(keys).as_deref(), Ok(*keys));
        }
    }
}
