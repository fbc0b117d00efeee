//! Keys as people write them: `ctrl+x`, `alt-enter`, `pgup`, `Shift-a`. Each comes to the one name that [`key`] gives it.

use crate::tui::key;

/// Other words for keys with a name.
const WORDS: [(&str, &str); 27] = [
    ("enter", "Enter"),
    ("return", "Enter"),
    ("ret", "Enter"),
    ("esc", "Esc"),
    ("escape", "Esc"),
    ("tab", "Tab"),
    ("backtab", "Shift-Tab"),
    ("backspace", "Backspace"),
    ("bs", "Backspace"),
    ("delete", "Delete"),
    ("del", "Delete"),
    ("up", "Up"),
    ("down", "Down"),
    ("left", "Left"),
    ("right", "Right"),
    ("pageup", "PageUp"),
    ("pgup", "PageUp"),
    ("pagedown", "PageDown"),
    ("pgdown", "PageDown"),
    ("pgdn", "PageDown"),
    ("home", "Home"),
    ("end", "End"),
    ("space", "Space"),
    ("spc", "Space"),
    ("plus", "+"),
    ("minus", "-"),
    ("comma", ","),
];

/// The key or the sequence of keys that `text` means, in the names of the table; the part that is no key otherwise.
pub fn spelled(text: &str) -> Result<String, String> {
    let parts: Result<Vec<String>, String> = text.split_whitespace().map(one).collect();
    let parts = parts?;
    if parts.is_empty() {
        return Err(text.to_owned());
    }
    Ok(parts.join(" "))
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
        // A terminal tells the letter itself: with Shift the large one, with Ctrl the small one.
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

/// A modifier at the front, as a letter, and what follows it.
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
    if let Some((_, name)) = WORDS.iter().find(|(word, _)| *word == lower) {
        return Some((*name).to_owned());
    }
    let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
    (1..=24).contains(&number).then(|| format!("F{number}"))
}

#[cfg(test)]
mod tests {
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
            assert_eq!(spelled(written).as_deref(), Ok(meant), "{written}");
        }
        for wrong in ["", " ", "hyper-x", "F0", "F99", "ctrl-", "accept", "g entre", "Shift-1"] {
            assert!(spelled(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_names_of_the_table_are_spelled_as_they_are() {
        for keys in ACTIONS.iter().flat_map(|info| info.keys) {
            assert_eq!(spelled(keys).as_deref(), Ok(*keys));
        }
    }
}
