//! Pastes that the terminal does not mark as such (over some serial lines, multiplexers and consoles): many lines arrive at once,
//! as nobody types them. Taken for keys, each of their lines would be sent as a message.

use std::time::Duration;

/// As many bytes come at once in no other way.
const LEAST: usize = 200;

/// As many lines, of which the last need not have ended.
const LEAST_LINES: usize = 3;

/// What comes within this after a piece of a paste is its next piece.
pub(super) const GOES_ON: Duration = Duration::from_millis(50);

/// Whether what was read at once is a paste, or a piece of one where one `goes_on`.
pub(super) fn is_paste(bytes: &[u8], goes_on: bool) -> bool {
    // A key that is no text means that somebody types.
    let is_text = || bytes.iter().all(|byte| *byte >= b' ' && *byte != 0x7f || matches!(byte, b'\r' | b'\n' | b'\t'));
    let lines = || bytes.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| !line.is_empty()).count();
    !bytes.is_empty() && is_text() && (goes_on || (bytes.len() >= LEAST && lines() >= LEAST_LINES))
}

/// The text of a piece, with the line ends of a text, and how many bytes at its end begin a character that the next piece ends.
pub(super) fn text(bytes: &[u8]) -> (String, usize) {
    let cut = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        _ => 0,
    };
    let whole = bytes.get(..bytes.len() - cut).unwrap_or_default();
    (String::from_utf8_lossy(whole).replace("\r\n", "\n").replace('\r', "\n"), cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_at_once_are_a_paste_and_what_is_typed_is_none() {
        let lines = "a line of some length\r".repeat(12);
        assert!(is_paste(lines.as_bytes(), false));
        assert!(is_paste(b"the end\r", true) && !is_paste(b"the end\r", false));
        let one = "one long line ".repeat(40);
        for typed in [one.as_str(), "/add x\r/ask why\ry", "", &format!("{lines}\x1b[A"), &format!("{lines}\x03")] {
            assert!(!is_paste(typed.as_bytes(), false), "{typed:?}");
        }
        assert!(!is_paste(b"", true) && !is_paste(b"\x1b", true));
    }

    #[test]
    fn a_character_cut_in_two_waits_for_its_end() {
        assert_eq!(text("a\rb\r\nc\td\n".as_bytes()), ("a\nb\nc\td\n".to_owned(), 0));
        let bytes = "né".as_bytes();
        assert_eq!(text(&bytes[..2]), ("n".to_owned(), 1));
        assert_eq!(text(b"a\xff\xfeb"), ("a\u{fffd}\u{fffd}b".to_owned(), 0));
    }
}
