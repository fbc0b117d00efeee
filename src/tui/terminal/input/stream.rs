//! A terminal as a stream of bytes.
//!
//! The reader of crossterm is not used: it parses answers of the terminal as keys, waits for a `u` or a `c` after a report
//! of mode 2031 before it returns the next key, and may delay a key that arrives together with a new size.

use std::collections::VecDeque;
use std::io;
use std::io::Stdin;
use std::time::Duration;

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout_at};

use super::TerminalInput;
use super::parser::Parser;

const READ_BYTES: usize = 4_096;

/// Maximum number of bytes that are read before they are parsed, so that a large paste does not delay the screen.
const MAX_PENDING_BYTES: usize = 1 << 18;

/// Bytes from standard input, a terminal in raw mode. It stays in blocking mode, since other programs share it.
pub(crate) struct Input {
    terminal: AsyncFd<Stdin>,
    parser: Parser,
    terminal_input: VecDeque<TerminalInput>,
    /// When the held bytes are parsed as keys.
    until: Option<Instant>,
    /// Until when input continues a paste.
    paste_until: Option<Instant>,
    /// The beginning of a character at the end of a piece of a paste.
    cut: Vec<u8>,
}

impl Input {
    /// Starts reading.
    ///
    /// # Errors
    /// Standard input cannot be polled.
    pub(crate) fn open() -> io::Result<Self> {
        #[expect(deprecated, reason = "it is safe for a file that is never closed, and the other way is unsafe")]
        let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
        let (parser, terminal_input) = (Parser::default(), VecDeque::new());
        Ok(Self { terminal, parser, terminal_input, until: None, paste_until: None, cut: Vec::new() })
    }

    /// The next input. Nothing is lost if the wait is cancelled.
    ///
    /// # Errors
    /// The terminal is closed.
    pub(crate) async fn next(&mut self) -> io::Result<TerminalInput> {
        loop {
            if let Some(terminal_input) = self.try_next()? {
                return Ok(terminal_input);
            }
            let Some(until) = self.until else {
                self.ready().await?;
                continue;
            };
            match timeout_at(until, self.ready()).await {
                Ok(ready) => ready?,
                Err(_) => {
                    self.until = None;
                    self.terminal_input.extend(self.parser.flush());
                }
            }
        }
    }

    /// Input that is available without waiting, or `None`.
    ///
    /// # Errors
    /// The terminal is closed.
    pub(crate) fn try_next(&mut self) -> io::Result<Option<TerminalInput>> {
        if self.terminal_input.is_empty() {
            let bytes = self.read()?;
            let goes_on = self.paste_until.is_some_and(|until| Instant::now() < until);
            if self.parser.is_idle() && is_paste(&bytes, goes_on) {
                self.pasted(bytes);
            } else if !bytes.is_empty() {
                self.terminal_input.extend(self.parser.handle_input(&bytes, self.has_bytes()?));
                self.until = self.parser.timeout().map(|timeout| Instant::now() + timeout);
            }
        }
        Ok(self.terminal_input.pop_front())
    }

    /// Handles a piece of an unmarked paste.
    fn pasted(&mut self, bytes: Vec<u8>) {
        let mut bytes = [std::mem::take(&mut self.cut), bytes].concat();
        let (text, cut) = text(&bytes);
        self.cut = bytes.split_off(bytes.len() - cut);
        self.terminal_input.push_back(TerminalInput::Event(Event::Paste(text)));
        self.paste_until = Some(Instant::now() + PASTE_GAP);
    }

    async fn ready(&self) -> io::Result<()> {
        loop {
            let mut guard = self.terminal.readable().await?;
            if self.has_bytes()? {
                return Ok(());
            }
            guard.clear_ready();
        }
    }

    /// Reads available bytes without waiting.
    fn read(&self) -> io::Result<Vec<u8>> {
        let (mut bytes, mut piece) = (Vec::new(), [0; READ_BYTES]);
        while bytes.len() < MAX_PENDING_BYTES && self.has_bytes()? {
            match rustix::io::read(self.terminal.get_ref(), &mut piece) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }

    /// Whether a read would not wait, which includes the end of the input.
    fn has_bytes(&self) -> io::Result<bool> {
        let mut terminal = [PollFd::new(self.terminal.get_ref(), PollFlags::IN)];
        match poll(&mut terminal, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Minimum number of bytes in one read that count as a paste: typing never delivers this many.
const MIN_PASTE_BYTES: usize = 200;

/// Minimum number of lines in one read that count as a paste. The last one may be incomplete.
const MIN_PASTE_LINES: usize = 3;

/// Input that arrives within this time after a piece of a paste is its next piece.
pub(super) const PASTE_GAP: Duration = Duration::from_millis(50);

/// Whether bytes that were read at once are a paste, or a piece of one if one `goes_on`.
pub(super) fn is_paste(bytes: &[u8], goes_on: bool) -> bool {
    // A key that is not text shows that the user is typing.
    let is_text = || bytes.iter().all(|byte| *byte >= b' ' && *byte != 0x7f || matches!(byte, b'\r' | b'\n' | b'\t'));
    let lines = || bytes.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| !line.is_empty()).count();
    !bytes.is_empty() && is_text() && (goes_on || (bytes.len() >= MIN_PASTE_BYTES && lines() >= MIN_PASTE_LINES))
}

/// The text of a piece, and the number of bytes at its end that begin an incomplete character.
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
