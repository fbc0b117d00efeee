//! From the bytes that a command prints to the text that it would leave on a screen, however the bytes are cut.
//!
//! Escape sequences go, a carriage return begins its line anew (so that of a progress bar the last state stays), a backspace takes a
//! character back, and what is no text becomes one `�` for each run of it.

/// A line that is longer than this, in bytes, is passed on in pieces.
const LINE: usize = 64 * 1024;

/// So much of such a line is held back: what a backspace takes away.
const HELD: usize = 512;

/// A string sequence (OSC and the like) that is longer than this, in characters, is none.
pub(super) const SEQUENCE: usize = 4096;

/// What stands for what is no text.
const UNKNOWN: char = '\u{FFFD}';

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After an ESC.
    Escape,
    /// In a control sequence.
    Csi,
    /// In a string sequence of so many characters so far; whether an ESC has just come.
    Text(usize, bool),
}

/// Turns bytes into text.
#[derive(Debug, Default)]
pub struct Plain {
    /// The beginning of a character.
    cut: Vec<u8>,
    state: State,
    line: String,
    /// The line begins anew with the next character.
    returned: bool,
}

impl Plain {
    /// The text of a whole output.
    pub fn text(bytes: &[u8]) -> String {
        let (mut plain, mut text) = (Self::default(), String::new());
        plain.push(bytes, &mut text);
        plain.finish(&mut text);
        text
    }

    /// Takes bytes in; the lines that they complete are added to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        let mut joined = std::mem::take(&mut self.cut);
        let mut rest = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            joined.as_slice()
        };
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    text.chars().for_each(|c| self.take(c, out));
                    return;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    String::from_utf8_lossy(valid).chars().for_each(|c| self.take(c, out));
                    let Some(wrong) = error.error_len() else {
                        self.cut = after.to_vec();
                        return;
                    };
                    self.take(UNKNOWN, out);
                    rest = after.get(wrong..).unwrap_or_default();
                }
            }
        }
    }

    /// Adds what has not been completed.
    pub fn finish(&mut self, out: &mut String) {
        if !self.cut.is_empty() {
            self.cut.clear();
            self.take(UNKNOWN, out);
        }
        out.push_str(&std::mem::take(&mut self.line));
    }

    /// The line that is not complete yet: a prompt, or a progress bar.
    pub fn open_line(&self) -> &str {
        &self.line
    }

    fn take(&mut self, c: char, out: &mut String) {
        match (self.state, c) {
            (State::Ground, '\x1b') => self.state = State::Escape,
            (State::Ground, '\u{9b}') => self.state = State::Csi,
            (State::Ground, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => self.state = State::Text(0, false),
            (State::Ground, _) => self.print(c, out),
            (State::Escape, '[') => self.state = State::Csi,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => self.state = State::Text(0, false),
            // The middle of a longer sequence, such as the choice of a character set.
            (State::Escape, ' '..='/') => {}
            (State::Escape, '\x1b') => {}
            (State::Escape, '\n') => self.leave(c, out),
            (State::Escape, _) => self.state = State::Ground,
            (State::Csi, '\x1b') => self.state = State::Escape,
            (State::Csi, '@'..='~') => self.state = State::Ground,
            (State::Csi, ' '..='?') => {}
            (State::Csi, _) => self.leave(c, out),
            (State::Text(..), '\x07' | '\u{9c}') | (State::Text(_, true), '\\') => self.state = State::Ground,
            (State::Text(length, _), '\x1b') => self.state = State::Text(length + 1, true),
            (State::Text(_, true), _) => {
                self.state = State::Escape;
                self.take(c, out);
            }
            (State::Text(..), '\n') => self.leave(c, out),
            (State::Text(length, _), _) if length < SEQUENCE => self.state = State::Text(length + 1, false),
            (State::Text(..), _) => self.leave(c, out),
        }
    }

    /// What began as a sequence is none, or was cut off.
    fn leave(&mut self, c: char, out: &mut String) {
        self.state = State::Ground;
        self.print(c, out);
    }

    fn print(&mut self, c: char, out: &mut String) {
        match c {
            '\n' => {
                self.returned = false;
                out.push_str(&self.line);
                out.push('\n');
                self.line.clear();
                return;
            }
            '\r' => {
                self.returned = true;
                return;
            }
            '\x08' => {
                self.line.pop();
                return;
            }
            '\x07' => return,
            _ => {}
        }
        if std::mem::take(&mut self.returned) {
            self.line.clear();
        }
        let is_text = c == '\t' || !(c.is_control() || c == UNKNOWN);
        if is_text || !self.line.ends_with(UNKNOWN) {
            self.line.push(if is_text { c } else { UNKNOWN });
        }
        if self.line.len() > LINE {
            let at = self.line.floor_char_boundary(self.line.len() - HELD);
            out.push_str(&self.line[..at]);
            self.line.drain(..at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_titles_and_progress_bars_leave_their_text() {
        let text = Plain::text(b"\x1b[1;31merror\x1b[0m: no\n\x1b]0;title\x07ok\x1b(B\n 10%\r 50%\r100%\ndone\r\n");
        assert_eq!(text, "error: no\nok\n100%\ndone\n");
        assert_eq!(Plain::text(b"abc\x08\x08d\x1bP1;2|x\x1b\\e"), "ade");
    }

    #[test]
    fn what_is_no_text_becomes_one_mark() {
        assert_eq!(Plain::text(b"a\0\0\xff\xfe\x01b\tc"), "a\u{FFFD}b\tc");
        assert_eq!(Plain::text("ünï".as_bytes()), "ünï");
        assert_eq!(Plain::text(&"ü".as_bytes()[..1]), "\u{FFFD}");
    }

    #[test]
    fn a_sequence_that_never_ends_swallows_no_lines() {
        assert_eq!(Plain::text(b"\x1b]0;never\nnext\n"), "\nnext\n");
        let endless = [b"\x1b]", "x".repeat(5_000).as_bytes()].concat();
        assert!(Plain::text(&endless).len() > 800);
    }

    #[test]
    fn an_endless_line_comes_in_pieces() {
        let (mut plain, mut out) = (Plain::default(), String::new());
        plain.push(&vec![b'x'; 3 * LINE], &mut out);
        assert!(out.len() > LINE && plain.open_line().len() <= LINE);
        plain.finish(&mut out);
        assert_eq!(out.len(), 3 * LINE);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_are_cut(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b'\n'), Just(b'\r'), Just(0xc3)], 0..200),
            cut in 0usize..200,
        ) {
            let (mut plain, mut out) = (Plain::default(), String::new());
            let cut = cut.min(bytes.len());
            plain.push(&bytes[..cut], &mut out);
            plain.push(&bytes[cut..], &mut out);
            plain.finish(&mut out);
            prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            prop_assert_eq!(out, Plain::text(&bytes));
        }
    }
}
