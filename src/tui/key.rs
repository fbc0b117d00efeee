//! Keys by name: `q`, `Ctrl-c`, `Alt-Enter`, `F1`. The key table, the help and the tests use these names.

use crossterm::event::KeyEventKind;

pub(super) use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Whether a key event is processed: it is a press, without a modifier of the desktop. A terminal with the keyboard protocol
/// of kitty reports those too: the `c` of Cmd-c must not be typed.
pub fn counts(key: KeyEvent) -> bool {
    let desktop = KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META;
    key.kind != KeyEventKind::Release && !key.modifiers.intersects(desktop)
}

/// The name of a pressed key; empty for keys that nothing is bound to (media keys, bare modifiers).
///
/// Shift shows in the character itself (`Y`), so that it is named only for keys without one (`Shift-Tab`).
pub fn name(key: KeyEvent) -> String {
    let base = match key.code {
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::F(number) => format!("F{number}"),
        KeyCode::BackTab => return "Shift-Tab".to_owned(),
        code => match named(code) {
            Some(name) => name.to_owned(),
            None => return String::new(),
        },
    };
    let mut prefix = String::new();
    for (modifier, text) in [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-")] {
        if key.modifiers.contains(modifier) {
            prefix.push_str(text);
        }
    }
    if key.modifiers.contains(KeyModifiers::SHIFT) && !matches!(key.code, KeyCode::Char(_)) {
        prefix.push_str("Shift-");
    }
    prefix + &base
}

pub(super) const NAMED: [(KeyCode, &str); 13] = [
    (KeyCode::Enter, "Enter"),
    (KeyCode::Esc, "Esc"),
    (KeyCode::Tab, "Tab"),
    (KeyCode::Backspace, "Backspace"),
    (KeyCode::Delete, "Delete"),
    (KeyCode::Up, "Up"),
    (KeyCode::Down, "Down"),
    (KeyCode::Left, "Left"),
    (KeyCode::Right, "Right"),
    (KeyCode::PageUp, "PageUp"),
    (KeyCode::PageDown, "PageDown"),
    (KeyCode::Home, "Home"),
    (KeyCode::End, "End"),
];

fn named(code: KeyCode) -> Option<&'static str> {
    NAMED.iter().find(|(key, _)| *key == code).map(|(_, name)| *name)
}

/// The key of that name.
pub fn parse(name: &str) -> Option<KeyEvent> {
    let (mut rest, mut modifiers) = (name, KeyModifiers::NONE);
    if name == "Shift-Tab" {
        return Some(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT));
    }
    for (modifier, text) in
        [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
    {
        if let Some(after) = rest.strip_prefix(text).filter(|after| !after.is_empty()) {
            rest = after;
            modifiers |= modifier;
        }
    }
    let code = match rest {
        "Space" => KeyCode::Char(' '),
        rest => match NAMED.iter().find(|(_, name)| *name == rest) {
            Some((code, _)) => *code,
            None => parse_char(rest)?,
        },
    };
    Some(KeyEvent::new(code, modifiers))
}

fn parse_char(text: &str) -> Option<KeyCode> {
    if let Some(number) = text.strip_prefix('F').and_then(|digits| digits.parse().ok()) {
        return Some(KeyCode::F(number));
    }
    let mut chars = text.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(KeyCode::Char(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_keys_and_those_of_the_desktop_mean_nothing() {
        let mut key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        assert!(counts(key));
        key.kind = KeyEventKind::Release;
        assert!(!counts(key));
        assert!(!counts(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::SUPER)));
        assert!(!counts(KeyEvent::new(KeyCode::Char('v'), KeyModifiers::SUPER | KeyModifiers::SHIFT)));
    }

    #[test]
    fn names_and_keys_are_each_others_inverse() {
        for text in ["q", "Y", "Ctrl-c", "Alt-Enter", "F1", "Shift-Tab", "Space", "Ctrl-Alt-x", "-", "Shift-Up"] {
            assert_eq!(name(parse(text).unwrap()), text);
        }
        assert_eq!(parse("Nonsense"), None);
    }
}
