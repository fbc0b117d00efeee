//! A terminal as a stream of bytes, and their parser. `terminput` parses keys and the mouse; answers to queries are
//! recognised here.
//!
//! The reader of crossterm is not used: it parses answers of the terminal as keys, waits for a `u` or a `c` after a report
//! of mode 2031 before it returns the next key, and may delay a key that arrives together with a new size.
//!
//! An answer may arrive late, in two parts, or never, and begins like a key (Alt-] and others). So the parser does not
//! wait for an answer: bytes that may be typed are held only for a short time, and then parsed as keys.

use std::collections::VecDeque;
use std::io::{self, Stdin};

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use terminput_crossterm::to_crossterm;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout_at};

use super::TerminalInput;
use crate::tui::prelude::*;

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
    pub(crate) fn open() -> io::Result<Self> {
        #[expect(deprecated, reason = "it is safe for a file that is never closed, and the other way is unsafe")]
        let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
        let (parser, terminal_input) = (Parser::default(), VecDeque::new());
        Ok(Self { terminal, parser, terminal_input, until: None, paste_until: None, cut: Vec::new() })
    }

    /// The next input. Nothing is lost if the wait is cancelled.
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

/// Prefix of the answer to the background query (OSC 11, xterm's control sequences).
const BACKGROUND_ANSWER: &[u8] = b"\x1b]11;";

/// Common prefix of answers and reports. No key has it.
const PRIVATE: &[u8] = b"\x1b[?";

/// The reports of mode 2031: the colours are now dark, or light
/// (<https://contour-terminal.org/vt-extensions/color-palette-update-notifications/>).
const SCHEMES: [(&[u8], bool); 2] = [(b"\x1b[?997;1n", false), (b"\x1b[?997;2n", true)];

const PASTE: &[u8] = b"\x1b[200~";

/// The rest of an answer whose Esc was parsed separately.
const RESTS: [&[u8]; 2] = [b"]11;", b"[?997;"];

const ESC: u8 = 0x1b;

/// Longest answer of the terminal, in bytes.
const MAX_ANSWER_BYTES: usize = 64;

/// How long keys that may begin an escape sequence are held. A terminal sends a sequence in one write.
const SEQUENCE_TIMEOUT: Duration = Duration::from_millis(50);

/// How long the rest of an answer is awaited after its prefix, which no key sends.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// Parses input. It holds at most the beginning of one sequence.
#[derive(Debug, Default)]
pub(super) struct Parser {
    held: Vec<u8>,
    after_esc: bool,
}

enum ParseStep {
    More,
    /// The number of consumed bytes, and their meaning if they have one.
    Said(Option<TerminalInput>, usize),
}

impl Parser {
    /// Parses bytes; `more` says that more can be read immediately.
    pub(super) fn handle_input(&mut self, bytes: &[u8], more: bool) -> Vec<TerminalInput> {
        let mut terminal_input = Vec::new();
        if std::mem::take(&mut self.after_esc) && RESTS.iter().any(|rest| bytes.starts_with(rest)) {
            self.held.push(ESC);
        }
        for (at, &byte) in bytes.iter().enumerate() {
            let more = more || at + 1 < bytes.len();
            self.held.push(byte);
            let ParseStep::Said(said, used) = step(&self.held, more) else { continue };
            self.after_esc = self.held == [ESC];
            terminal_input.extend(said);
            let rest = std::mem::take(&mut self.held).split_off(used);
            if !rest.is_empty() {
                terminal_input.extend(self.handle_input(&rest, more));
            }
        }
        terminal_input
    }

    pub(super) fn is_idle(&self) -> bool {
        self.held.is_empty()
    }

    /// How long to wait for the rest of the held bytes. `None` if no bytes are held that the user may have typed.
    pub(super) fn timeout(&self) -> Option<Duration> {
        match self.held.as_slice() {
            [] => None,
            held if held.starts_with(BACKGROUND_ANSWER) || held.starts_with(PRIVATE) => Some(ANSWER_TIMEOUT),
            held if BACKGROUND_ANSWER.starts_with(held) || matches!(held, b"\x1b[" | b"\x1bO") => {
                Some(SEQUENCE_TIMEOUT)
            }
            _ => None,
        }
    }

    /// Parses the held bytes as typed input after the timeout.
    pub(super) fn flush(&mut self) -> Vec<TerminalInput> {
        let broken = self.timeout() == Some(ANSWER_TIMEOUT);
        match std::mem::take(&mut self.held).as_slice() {
            _ if broken => Vec::new(),
            [ESC, first, rest @ ..] => {
                let mut terminal_input: Vec<TerminalInput> = alt(*first).into_iter().collect();
                terminal_input.extend(self.handle_input(rest, false));
                terminal_input
            }
            held => self.handle_input(held, false),
        }
    }
}

fn step(held: &[u8], more: bool) -> ParseStep {
    match held {
        [ESC] if more => ParseStep::More,
        // Two of them are two keys, or a key before another sequence.
        [ESC] | [ESC, ESC] => ParseStep::Said(event(&held[..1]), 1),
        _ if held.starts_with(BACKGROUND_ANSWER) => answer(held),
        _ if BACKGROUND_ANSWER.starts_with(held) => ParseStep::More,
        [ESC, first @ b']', ..] => ParseStep::Said(alt(*first), 2),
        _ if held.starts_with(PRIVATE) => report(held),
        [ESC, first @ (b'[' | b'O'), ESC] => ParseStep::Said(alt(*first), 2),
        // Another sequence begins before this one has ended. A paste may contain any byte.
        [ESC, b'[', .., ESC] if !held.starts_with(PASTE) => ParseStep::Said(None, held.len() - 1),
        _ => match terminput::Event::parse_from(held) {
            Ok(None) => ParseStep::More,
            Ok(Some(_)) => ParseStep::Said(event(held), held.len()),
            Err(_) if matches!(held, [ESC, b'[' | b'O', _]) => ParseStep::Said(alt(held[1]), 2),
            Err(_) => ParseStep::Said(None, held.len()),
        },
    }
}

/// Parses the answer to the background query: a colour, terminated by BEL or by Esc and a backslash.
fn answer(held: &[u8]) -> ParseStep {
    let said = |end: usize| {
        let color = std::str::from_utf8(&held[BACKGROUND_ANSWER.len()..held.len() - end]).unwrap_or_default();
        ParseStep::Said(Some(TerminalInput::Background(is_light(color))), held.len())
    };
    match held {
        [.., b'\x07'] => said(1),
        [.., ESC, b'\\'] => said(2),
        // The answer is not terminated and another sequence begins. Its prefix was not typed.
        [.., ESC, _] => ParseStep::Said(None, held.len() - 2),
        _ if held.len() > MAX_ANSWER_BYTES => ParseStep::Said(None, held.len()),
        [.., ESC | b' '..] => ParseStep::More,
        _ => ParseStep::Said(None, held.len() - 1),
    }
}

/// Parses a report with a private prefix, which ends with a final byte.
fn report(held: &[u8]) -> ParseStep {
    match held {
        _ if held == PRIVATE => ParseStep::More,
        [.., b'@'..=b'~'] => {
            let scheme = SCHEMES.iter().find(|(report, _)| held == *report);
            ParseStep::Said(scheme.map(|(_, light)| TerminalInput::Scheme(*light)), held.len())
        }
        _ if held.len() > MAX_ANSWER_BYTES => ParseStep::Said(None, held.len()),
        [.., b' '..=b'?'] => ParseStep::More,
        _ => ParseStep::Said(None, held.len() - 1),
    }
}

fn event(bytes: &[u8]) -> Option<TerminalInput> {
    let event = terminput::Event::parse_from(bytes).ok()??;
    to_crossterm(event).ok().map(TerminalInput::Event)
}

/// The key of a byte, with Alt.
fn alt(byte: u8) -> Option<TerminalInput> {
    let mut terminal_input = event(&[byte]);
    if let Some(TerminalInput::Event(Event::Key(key))) = &mut terminal_input {
        key.modifiers |= KeyModifiers::ALT;
    }
    terminal_input
}

/// Whether the colour of an answer, such as `rgb:ffff/ffff/dddd`, is light.
fn is_light(color: &str) -> Option<bool> {
    let (kind, channels) = color.split_once(':')?;
    let shares: Vec<f64> = channels.split('/').map(share).collect::<Option<_>>()?;
    match (kind, shares.as_slice()) {
        // Weighted by the sensitivity of the eye.
        ("rgb", [red, green, blue]) | ("rgba", [red, green, blue, _]) => {
            Some(0.25 * red + 0.625 * green + 0.125 * blue > 0.5)
        }
        _ => None,
    }
}

/// A channel of one to four hexadecimal digits, as a share of its maximum.
fn share(digits: &str) -> Option<f64> {
    let value = u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+') && digits.len() <= 4)?;
    let most = 16f64.powi(i32::try_from(digits.len()).ok()?) - 1.0;
    Some(f64::from(value) / most)
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

#[cfg(test)]
mod parser_tests {
    use crossterm::event::KeyCode;
    use crossterm::event::KeyEvent;
    use crossterm::event::MouseEventKind;

    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> TerminalInput {
        TerminalInput::Event(Event::Key(KeyEvent::new(code, modifiers)))
    }

    fn esc() -> TerminalInput {
        key(KeyCode::Esc, KeyModifiers::NONE)
    }

    fn alt_key(c: char) -> TerminalInput {
        key(KeyCode::Char(c), KeyModifiers::ALT)
    }

    /// The events of typed text.
    fn typed(text: &str) -> Vec<TerminalInput> {
        text.chars().map(|c| key(KeyCode::Char(c), KeyModifiers::NONE)).collect()
    }

    /// The events of consecutive pieces, with no input after them.
    fn terminal_input(pieces: &[&str]) -> Vec<TerminalInput> {
        let mut parser = Parser::default();
        let mut terminal_input: Vec<TerminalInput> =
            pieces.iter().flat_map(|piece| parser.handle_input(piece.as_bytes(), false)).collect();
        terminal_input.extend(parser.flush());
        assert_eq!(parser.timeout(), None, "{pieces:?}");
        terminal_input
    }

    #[test]
    fn an_answer_is_picked_out_of_what_is_typed() {
        for (answer, said) in [
            ("\x1b]11;rgb:ffff/FFFF/dddd\x1b\\", Some(TerminalInput::Background(Some(true)))),
            ("\x1b]11;rgb:1e1e/1e1e/2e2e\x07", Some(TerminalInput::Background(Some(false)))),
            ("\x1b]11;rgb:ff/fa/f0\x07", Some(TerminalInput::Background(Some(true)))),
            ("\x1b]11;rgba:0/0/0/f\x07", Some(TerminalInput::Background(Some(false)))),
            ("\x1b]11;none of this\x07", Some(TerminalInput::Background(None))),
            ("\x1b]11;rgb:zz/0/0\x07", Some(TerminalInput::Background(None))),
            ("\x1b[?997;1n", Some(TerminalInput::Scheme(false))),
            ("\x1b[?997;2n", Some(TerminalInput::Scheme(true))),
            ("\x1b[?997;3n", None),
            ("\x1b[?62;22c", None),
            ("\x1b[?1u", None),
            ("\x1b[?2026;2$y", None),
        ] {
            let all: Vec<TerminalInput> = [typed("ab"), said.into_iter().collect(), typed("cd")].concat();
            assert_eq!(terminal_input(&[&format!("ab{answer}cd")]), all, "{answer:?}");
            // The keys do not depend on how the bytes are split, except that a separate first Esc may be parsed as a
            // key.
            for at in 1..answer.len() {
                let (first, second) = answer.split_at(at);
                let mut pieces = terminal_input(&[&format!("ab{first}"), &format!("{second}cd")]);
                if at == 1 {
                    assert_eq!(pieces.remove(2), esc());
                }
                let is_known =
                    at > 1 || [&b"]11;"[..], b"[?997;"].iter().any(|rest| second.as_bytes().starts_with(rest));
                assert!(pieces == all || !is_known, "{first:?} {second:?}: {pieces:?}");
            }
        }
    }

    #[test]
    fn what_somebody_typed_is_given_back() {
        let alt = |c: char, rest: &str| [vec![alt_key(c)], typed(rest)].concat();
        assert_eq!(terminal_input(&["\x1b]x"]), alt(']', "x"));
        assert_eq!(terminal_input(&["\x1b]12;x"]), alt(']', "12;x"));
        assert_eq!(terminal_input(&["\x1b]"]), alt(']', ""));
        assert_eq!(terminal_input(&["\x1b]", "11"]), alt(']', "11"));
        assert_eq!(terminal_input(&["]11;rgb:"]), typed("]11;rgb:"));
        assert_eq!(terminal_input(&["\x1b]\x1b]"]), [alt_key(']'), alt_key(']')]);
        assert_eq!(terminal_input(&["\x1b]1\x1b\\"]), [alt(']', "1"), vec![alt_key('\\')]].concat());
        assert_eq!(terminal_input(&["\x1b["]), alt('[', ""));
        assert_eq!(terminal_input(&["\x1bO"]), [key(KeyCode::Char('O'), KeyModifiers::ALT | KeyModifiers::SHIFT)]);
        assert_eq!(terminal_input(&["\x1b"]), [esc()]);
        assert_eq!(terminal_input(&["\x1b\x1b"]), [esc(), esc()]);
        assert_eq!(terminal_input(&["\x1b", "]x"]), [vec![esc()], typed("]x")].concat());
        assert_eq!(terminal_input(&["\x1b[x"]), alt('[', "x"));
        assert_eq!(terminal_input(&["\x1b[\x1b]z"]), [vec![alt_key('[')], alt(']', "z")].concat());
        let up = key(KeyCode::Up, KeyModifiers::NONE);
        assert_eq!(terminal_input(&["\x1b[1;5\x1b[A"]), std::slice::from_ref(&up));
        assert_eq!(terminal_input(&["\x1b\x1b[A"]), [esc(), up.clone()]);
        assert_eq!(terminal_input(&["\x1b[", "A"]), [up]);
    }

    #[test]
    fn an_answer_that_breaks_off_leaves_nothing_behind() {
        assert_eq!(terminal_input(&["\x1b]11;rgb:ff"]), []);
        assert_eq!(terminal_input(&["\x1b[?997"]), []);
        assert_eq!(terminal_input(&["\x1b]11;rgb:ff\x1b[A"]), [key(KeyCode::Up, KeyModifiers::NONE)]);
        assert_eq!(terminal_input(&["\x1b[?997\x1bx"]), [alt_key('x')]);
        assert_eq!(terminal_input(&["\x1b]11;rgb\r"]), [key(KeyCode::Enter, KeyModifiers::NONE)]);
        assert!(terminal_input(&[&format!("\x1b]11;{}", "f".repeat(200))]).len() < 200);
        assert!(terminal_input(&[&format!("\x1b[?{}", "1".repeat(200))]).len() < 200);
    }

    #[test]
    fn an_esc_is_a_key_only_when_nothing_follows_at_once() {
        let mut parser = Parser::default();
        assert_eq!(parser.handle_input(b"\x1b", true), []);
        assert_eq!(parser.handle_input(b"x", false), [alt_key('x')]);
        assert_eq!(parser.handle_input(b"\x1b", false), [esc()]);
    }

    #[test]
    fn a_paste_and_the_mouse_come_whole_however_they_are_cut() {
        let text = "\x1b[200~a\x1b]11;rgb:0/0/0\x07 \x1b[?997;1n é\x1b[201~";
        let mouse = "\x1b[<64;10;5M";
        for at in (1..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut parser = Parser::default();
            let mut said = parser.handle_input(&text.as_bytes()[..at], at == 1);
            said.extend(parser.handle_input(&text.as_bytes()[at..], false));
            let pasted = "a\x1b]11;rgb:0/0/0\x07 \x1b[?997;1n é";
            assert_eq!(said, [TerminalInput::Event(Event::Paste(pasted.into()))], "cut at {at}");
        }
        let [TerminalInput::Event(Event::Mouse(event))] = &terminal_input(&[&mouse[..5], &mouse[5..]])[..] else {
            panic!("no mouse")
        };
        assert_eq!((event.kind, event.column, event.row), (MouseEventKind::ScrollUp, 9, 4));
    }

    proptest::proptest! {
        /// For any input in any pieces, the parser holds only bytes that further bytes may complete.
        #[test]
        fn no_bytes_break_it(pieces in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..40), 0..8)) {
            let mut parser = Parser::default();
            for piece in &pieces {
                parser.handle_input(piece, false);
            }
            parser.flush();
            proptest::prop_assert_eq!(parser.timeout(), None);
        }
    }
}
