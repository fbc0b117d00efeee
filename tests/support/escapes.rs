//! Parses the output of a program to its terminal: control sequences, and the modes that they set.

use std::collections::BTreeMap;

/// A control sequence that a program sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sequence {
    /// `ESC [ … final`: everything after the bracket, such as `?1049h`.
    Csi(String),
    /// `ESC` and the bytes of a sequence without a body, such as `7`.
    Escape(String),
    /// A string sequence (OSC, DCS, APC …): its introducer and body, without the terminator.
    Text(String),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    Escape(Vec<u8>),
    Csi(Vec<u8>),
    /// A string sequence, and whether the last byte was an `ESC` that may begin its terminator.
    Text(Vec<u8>, bool),
}

/// Finds control sequences in a stream of bytes that arrives in pieces.
#[derive(Debug, Default)]
pub struct Scanner {
    state: State,
}

impl Scanner {
    /// Whether the next byte belongs to a sequence that has begun.
    pub fn is_inside(&self) -> bool {
        !matches!(self.state, State::Ground)
    }

    /// Takes the next byte. Returns the sequence that it completes.
    pub fn push(&mut self, byte: u8) -> Option<Sequence> {
        let state = std::mem::take(&mut self.state);
        let (next, found) = match state {
            State::Ground if byte == 0x1b => (State::Escape(Vec::new()), None),
            State::Ground => (State::Ground, None),
            State::Escape(mut body) => match byte {
                b'[' if body.is_empty() => (State::Csi(Vec::new()), None),
                b']' | b'P' | b'_' | b'^' | b'X' if body.is_empty() => (State::Text(vec![byte], false), None),
                0x1b => (State::Escape(Vec::new()), None),
                0x20..=0x2f => {
                    body.push(byte);
                    (State::Escape(body), None)
                }
                _ => {
                    body.push(byte);
                    (State::Ground, Some(Sequence::Escape(lossy(&body))))
                }
            },
            State::Csi(mut body) => match byte {
                0x40..=0x7e => {
                    body.push(byte);
                    (State::Ground, Some(Sequence::Csi(lossy(&body))))
                }
                0x1b => (State::Escape(Vec::new()), None),
                0x18 | 0x1a => (State::Ground, None),
                _ => {
                    body.push(byte);
                    (State::Csi(body), None)
                }
            },
            State::Text(body, true) if byte == b'\\' => (State::Ground, Some(Sequence::Text(lossy(&body)))),
            State::Text(body, false) if byte == 0x07 => (State::Ground, Some(Sequence::Text(lossy(&body)))),
            State::Text(body, _) if byte == 0x1b => (State::Text(body, true), None),
            // An `ESC` that is not followed by `\` ends the string and begins another sequence.
            State::Text(_, true) => {
                self.state = State::Escape(Vec::new());
                return self.push(byte);
            }
            State::Text(mut body, false) => {
                body.push(byte);
                (State::Text(body, false), None)
            }
        };
        self.state = next;
        found
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The private modes that must be off when a program ends, and the one that must be on.
const OFF_AT_EXIT: [(u16, &str); 11] = [
    (47, "alternate screen (47)"),
    (1047, "alternate screen (1047)"),
    (1049, "alternate screen"),
    (2004, "bracketed paste"),
    (1000, "mouse clicks"),
    (1002, "mouse drags"),
    (1003, "mouse motion"),
    (1006, "mouse coordinates"),
    (1015, "mouse coordinates (1015)"),
    (1004, "focus events"),
    (2026, "synchronised output"),
];
const CURSOR: u16 = 25;

/// The modes of a terminal that a program must restore.
#[derive(Debug, Default)]
pub struct Modes {
    private: BTreeMap<u16, bool>,
    /// Flags pushed and not popped, on the main and on the alternate screen: a terminal keeps a stack for each.
    kitty: [usize; 2],
}

impl Modes {
    /// The modes after the output `raw`.
    pub fn after(raw: &[u8]) -> Self {
        let mut modes = Self::default();
        let mut scanner = Scanner::default();
        for sequence in raw.iter().filter_map(|byte| scanner.push(*byte)) {
            match sequence {
                Sequence::Csi(body) => modes.take(&body),
                // A full reset.
                Sequence::Escape(body) if body == "c" => modes = Self::default(),
                Sequence::Escape(_) | Sequence::Text(_) => {}
            }
        }
        modes
    }

    /// Whether private mode `mode` is on; `None` when it was never set.
    pub fn private(&self, mode: u16) -> Option<bool> {
        self.private.get(&mode).copied()
    }

    fn take(&mut self, body: &str) {
        let (parameters, last) = body.split_at(body.len().saturating_sub(1));
        if let Some(list) = parameters.strip_prefix('?').filter(|_| matches!(last, "h" | "l")) {
            let modes = list.split(';').filter_map(|mode| mode.parse().ok());
            self.private.extend(modes.map(|mode: u16| (mode, last == "h")));
        } else if last == "u" {
            let alternate = [47, 1047, 1049].iter().any(|mode| self.private(*mode) == Some(true));
            let stack = &mut self.kitty[usize::from(alternate)];
            if parameters.starts_with('>') {
                *stack += 1;
            } else if let Some(count) = parameters.strip_prefix('<') {
                *stack = stack.saturating_sub(count.parse().unwrap_or(1).max(1));
            }
        }
    }

    /// Whether all modes are as a shell expects them.
    ///
    /// # Errors
    /// Names every mode that was not restored.
    pub fn restored(&self) -> Result<(), String> {
        let mut wrong: Vec<String> = OFF_AT_EXIT
            .iter()
            .filter(|(mode, _)| self.private(*mode) == Some(true))
            .map(|(_, name)| format!("{name} is still on"))
            .collect();
        if self.private(CURSOR) == Some(false) {
            wrong.push("the cursor is still hidden".to_owned());
        }
        for (count, screen) in self.kitty.iter().zip(["main", "alternate"]) {
            if *count > 0 {
                wrong.push(format!("{count} keyboard flags are still pushed on the {screen} screen"));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }
}
