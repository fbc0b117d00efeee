//! A terminal as a stream of bytes.
//!
//! They are read here and not by crossterm's own reader. That takes the answers of a terminal for keys, waits after the report of
//! mode 2031 for a `u` or a `c` before it gives the next key, and may keep a key back that comes together with a new size.

use std::collections::VecDeque;
use std::io::{self, Stdin};

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::io::{Interest, unix::AsyncFd};
use tokio::time::{Instant, timeout_at};

use super::parser::Parser;
use super::{Heard, burst};

/// Bytes that are read at once.
const PIECE: usize = 4_096;

/// Most bytes that are taken in before something is made of them: a large paste must not hold up the screen.
const MOST: usize = 1 << 18;

/// What comes from standard input, which is a terminal in raw mode. It stays one that lets readers wait: other programs share it.
pub(crate) struct Input {
    terminal: AsyncFd<Stdin>,
    parser: Parser,
    heard: VecDeque<Heard>,
    /// When what the parser holds is taken for keys.
    until: Option<Instant>,
    /// Until when what comes belongs to a paste.
    paste_until: Option<Instant>,
    /// The beginning of a character that a paste was cut in.
    cut: Vec<u8>,
}

impl Input {
    /// Listens from here on.
    ///
    /// # Errors
    /// The system does not let us.
    pub(crate) fn open() -> io::Result<Self> {
        #[expect(deprecated, reason = "it is safe for a file that is never closed, and the other way is unsafe")]
        let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
        let (parser, heard) = (Parser::default(), VecDeque::new());
        Ok(Self { terminal, parser, heard, until: None, paste_until: None, cut: Vec::new() })
    }

    /// The next thing that is said. Nothing is lost when the wait is given up.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) async fn next(&mut self) -> io::Result<Heard> {
        loop {
            if let Some(heard) = self.at_hand()? {
                return Ok(heard);
            }
            let Some(until) = self.until else {
                self.ready().await?;
                continue;
            };
            match timeout_at(until, self.ready()).await {
                Ok(ready) => ready?,
                Err(_) => {
                    self.until = None;
                    self.heard.extend(self.parser.give_up());
                }
            }
        }
    }

    /// What is said already; `None` where there is nothing.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn at_hand(&mut self) -> io::Result<Option<Heard>> {
        if self.heard.is_empty() {
            let bytes = self.read()?;
            let goes_on = self.paste_until.is_some_and(|until| Instant::now() < until);
            if self.parser.is_idle() && burst::is_paste(&bytes, goes_on) {
                self.pasted(bytes);
            } else if !bytes.is_empty() {
                self.heard.extend(self.parser.hear(&bytes, self.has_bytes()?));
                self.until = self.parser.patience().map(|patience| Instant::now() + patience);
            }
        }
        Ok(self.heard.pop_front())
    }

    /// Takes a piece of a paste that the terminal has not marked.
    fn pasted(&mut self, bytes: Vec<u8>) {
        let mut bytes = [std::mem::take(&mut self.cut), bytes].concat();
        let (text, cut) = burst::text(&bytes);
        self.cut = bytes.split_off(bytes.len() - cut);
        self.heard.push_back(Heard::Event(Event::Paste(text)));
        self.paste_until = Some(Instant::now() + burst::GOES_ON);
    }

    /// Waits until there is something to read.
    async fn ready(&self) -> io::Result<()> {
        loop {
            let mut guard = self.terminal.readable().await?;
            if self.has_bytes()? {
                return Ok(());
            }
            guard.clear_ready();
        }
    }

    /// Reads what is there, without waiting for more.
    fn read(&self) -> io::Result<Vec<u8>> {
        let (mut bytes, mut piece) = (Vec::new(), [0; PIECE]);
        while bytes.len() < MOST && self.has_bytes()? {
            match rustix::io::read(self.terminal.get_ref(), &mut piece) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }

    /// Whether a read would not wait. The end of the terminal counts: reading tells of it.
    fn has_bytes(&self) -> io::Result<bool> {
        let mut terminal = [PollFd::new(self.terminal.get_ref(), PollFlags::IN)];
        match poll(&mut terminal, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
