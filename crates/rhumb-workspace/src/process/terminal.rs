//! Decodes terminal output: bytes become the text that would remain on a screen.
//!
//! Control sequences are removed. A carriage return restarts the line, so that only the last state of a progress bar
//! remains. A backspace removes a character. Each run of bytes that are not text becomes one U+FFFD. The result does
//! not depend on how the bytes are cut into pieces.

/// Maximum length in bytes of a line before its beginning is passed on.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Number of bytes of a long line that are held back for backspaces.
const LINE_OVERLAP_BYTES: usize = 512;

/// Maximum length in characters of a string sequence (OSC and others). A longer one is treated as text.
pub(crate) const MAX_SEQUENCE_CHARS: usize = 4096;

/// Replacement for bytes that are not text.
const REPLACEMENT: char = '\u{FFFD}';

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// Inside a control sequence.
    Csi,
    /// Inside a string sequence: its length in characters, and whether the last one was ESC.
    StringSequence(usize, bool),
}

/// Streaming decoder of terminal output.
#[derive(Debug, Default)]
pub struct TerminalDecoder {
    /// First bytes of an incomplete UTF-8 sequence.
    cut: Vec<u8>,
    state: State,
    line: String,
    /// After a carriage return: the next character clears the line.
    returned: bool,
}

impl TerminalDecoder {
    /// Decodes a whole output.
    pub fn text(bytes: &[u8]) -> String {
        let (mut plain, mut text) = (Self::default(), String::new());
        plain.push(bytes, &mut text);
        plain.finish(&mut text);
        text
    }

    /// Decodes bytes and appends the completed lines to `out`.
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
                    self.take(REPLACEMENT, out);
                    rest = after.get(wrong..).unwrap_or_default();
                }
            }
        }
    }

    /// Appends the incomplete last line.
    pub fn finish(&mut self, out: &mut String) {
        if !self.cut.is_empty() {
            self.cut.clear();
            self.take(REPLACEMENT, out);
        }
        out.push_str(&std::mem::take(&mut self.line));
    }

    /// The incomplete last line, such as a prompt or a progress bar.
    pub fn open_line(&self) -> &str {
        &self.line
    }

    fn take(&mut self, c: char, out: &mut String) {
        match (self.state, c) {
            (State::Ground, '\x1b') => self.state = State::Escape,
            (State::Ground, '\u{9b}') => self.state = State::Csi,
            (State::Ground, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => self.state = State::StringSequence(0, false),
            (State::Ground, _) => self.print(c, out),
            (State::Escape, '[') => self.state = State::Csi,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => self.state = State::StringSequence(0, false),
            // The middle of a longer sequence, such as the selection of a character set.
            (State::Escape, ' '..='/') => {}
            (State::Escape, '\x1b') => {}
            (State::Escape, '\n') => self.leave(c, out),
            (State::Escape, _) => self.state = State::Ground,
            (State::Csi, '\x1b') => self.state = State::Escape,
            (State::Csi, '@'..='~') => self.state = State::Ground,
            (State::Csi, ' '..='?') => {}
            (State::Csi, _) => self.leave(c, out),
            (State::StringSequence(..), '\x07' | '\u{9c}') | (State::StringSequence(_, true), '\\') => {
                self.state = State::Ground
            }
            (State::StringSequence(length, _), '\x1b') => self.state = State::StringSequence(length + 1, true),
            (State::StringSequence(_, true), _) => {
                self.state = State::Escape;
                self.take(c, out);
            }
            (State::StringSequence(..), '\n') => self.leave(c, out),
            (State::StringSequence(length, _), _) if length < MAX_SEQUENCE_CHARS => {
                self.state = State::StringSequence(length + 1, false)
            }
            (State::StringSequence(..), _) => self.leave(c, out),
        }
    }

    /// Ends a sequence that turned out to be invalid or incomplete.
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
        let is_text = c == '\t' || !(c.is_control() || c == REPLACEMENT);
        if is_text || !self.line.ends_with(REPLACEMENT) {
            self.line.push(if is_text { c } else { REPLACEMENT });
        }
        if self.line.len() > MAX_LINE_BYTES {
            let at = self.line.floor_char_boundary(self.line.len() - LINE_OVERLAP_BYTES);
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
    fn control_sequences_are_removed() {
        let text =
            TerminalDecoder::text(b"\x1b[1;31merror\x1b[0m: no\n\x1b]0;title\x07ok\x1b(B\n 10%\r 50%\r100%\ndone\r\n");
        assert_eq!(text, "error: no\nok\n100%\ndone\n");
        assert_eq!(TerminalDecoder::text(b"abc\x08\x08d\x1bP1;2|x\x1b\\e"), "ade");
    }

    #[test]
    fn bytes_that_are_not_text_become_one_replacement_character() {
        assert_eq!(TerminalDecoder::text(b"a\0\0\xff\xfe\x01b\tc"), "a\u{FFFD}b\tc");
        assert_eq!(TerminalDecoder::text("ünï".as_bytes()), "ünï");
        assert_eq!(TerminalDecoder::text(&"ü".as_bytes()[..1]), "\u{FFFD}");
    }

    #[test]
    fn an_unterminated_sequence_swallows_no_lines() {
        assert_eq!(TerminalDecoder::text(b"\x1b]0;never\nnext\n"), "\nnext\n");
        let endless = [b"\x1b]", "x".repeat(5_000).as_bytes()].concat();
        assert!(TerminalDecoder::text(&endless).len() > 800);
    }

    #[test]
    fn an_endless_line_comes_in_pieces() {
        let (mut plain, mut out) = (TerminalDecoder::default(), String::new());
        plain.push(&vec![b'x'; 3 * MAX_LINE_BYTES], &mut out);
        assert!(out.len() > MAX_LINE_BYTES && plain.open_line().len() <= MAX_LINE_BYTES);
        plain.finish(&mut out);
        assert_eq!(out.len(), 3 * MAX_LINE_BYTES);
    }

    proptest! {
        #[test]
        fn the_result_does_not_depend_on_how_the_bytes_are_cut(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b'\n'), Just(b'\r'), Just(0xc3)], 0..200),
            cut in 0usize..200,
        ) {
            let (mut plain, mut out) = (TerminalDecoder::default(), String::new());
            let cut = cut.min(bytes.len());
            plain.push(&bytes[..cut], &mut out);
            plain.push(&bytes[cut..], &mut out);
            plain.finish(&mut out);
            prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            prop_assert_eq!(out, TerminalDecoder::text(&bytes));
        }
    }
}
