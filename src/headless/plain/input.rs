//! What is typed: one line when one is wanted, read on a thread of its own, and messages of several lines put together.

use std::io::BufRead as _;
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// A line, without its end.
    Line(String),
    /// A line that is no text.
    NoText,
    /// There is no more.
    End,
}

/// Reads standard input, a line at a time and only when asked: between two lines it belongs to whatever else runs on the terminal.
pub(super) struct Keyboard {
    wanted: Sender<()>,
    lines: UnboundedReceiver<Input>,
    /// A line is being read.
    reads: bool,
}

impl Keyboard {
    /// Begins to listen.
    ///
    /// # Errors
    /// There can be no thread.
    pub(super) fn new() -> std::io::Result<Self> {
        let (wanted, wishes) = channel();
        let (sender, lines) = unbounded_channel();
        std::thread::Builder::new().name("lines".into()).spawn(move || read(&wishes, &sender))?;
        Ok(Self { wanted, lines, reads: false })
    }

    /// Asks for a line, if none is being read.
    pub(super) fn want(&mut self) {
        if !self.reads {
            // The thread is gone only after the end of the input, which it has told.
            self.reads = self.wanted.send(()).is_ok();
        }
    }

    /// Whether a line was asked for and has not come.
    pub(super) fn is_reading(&self) -> bool {
        self.reads
    }

    /// The line that was asked for.
    pub(super) async fn next(&mut self) -> Input {
        let input = self.lines.recv().await.unwrap_or(Input::End);
        self.reads = false;
        input
    }
}

fn read(wishes: &Receiver<()>, lines: &UnboundedSender<Input>) {
    while wishes.recv().is_ok() {
        let mut bytes = Vec::new();
        let input = match std::io::stdin().lock().read_until(b'\n', &mut bytes) {
            Ok(1..) => String::from_utf8(bytes).map_or(Input::NoText, |line| {
                let line = line.strip_suffix('\n').unwrap_or(&line);
                Input::Line(line.strip_suffix('\r').unwrap_or(line).to_owned())
            }),
            Ok(0) | Err(_) => Input::End,
        };
        if lines.send(input).is_err() {
            return;
        }
    }
}

/// What begins and ends a text of several lines.
pub(super) const QUOTES: &str = "\"\"\"";

/// A text of several lines that is being typed.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    lines: Vec<String>,
    kind: Kind,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing was begun.
    #[default]
    Idle,
    /// The last line ended with a backslash.
    Goes,
    /// Until the quotes.
    Quoted,
}

impl Gathering {
    /// Whether more lines are wanted.
    pub(super) fn is_open(&self) -> bool {
        self.kind != Kind::Idle
    }

    /// Begins a text that ends with the quotes.
    pub(super) fn open(&mut self) {
        *self = Self { lines: Vec::new(), kind: Kind::Quoted };
    }

    /// Gives up what was begun; whether there was anything.
    pub(super) fn drop_it(&mut self) -> bool {
        std::mem::take(self).kind != Kind::Idle
    }

    /// Takes a line; the whole text once it is complete.
    pub(super) fn take(&mut self, line: &str) -> Option<String> {
        if self.kind == Kind::Quoted {
            match line.trim_end().strip_suffix(QUOTES) {
                Some(rest) => {
                    self.lines.extend((!rest.is_empty()).then(|| rest.to_owned()));
                    return Some(std::mem::take(self).lines.join("\n"));
                }
                None => self.lines.push(line.to_owned()),
            }
            return None;
        }
        if let Some(rest) = line.strip_prefix(QUOTES).filter(|_| self.kind == Kind::Idle) {
            self.open();
            if rest.is_empty() { return None } else { return self.take(rest) }
        }
        // A path of Windows may end so, but nobody ends a message with it; two of them stand for one.
        match line.strip_suffix('\\') {
            Some(rest) if !rest.ends_with('\\') => {
                self.lines.push(rest.to_owned());
                self.kind = Kind::Goes;
                None
            }
            Some(rest) => self.ends_with(rest),
            None => self.ends_with(line),
        }
    }

    fn ends_with(&mut self, line: &str) -> Option<String> {
        self.lines.push(line.to_owned());
        Some(std::mem::take(self).lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[&str]) -> Vec<String> {
        let mut gathering = Gathering::default();
        let texts = lines.iter().filter_map(|line| gathering.take(line)).collect();
        assert!(!gathering.is_open());
        texts
    }

    #[test]
    fn a_line_is_a_text_unless_it_goes_on() {
        assert_eq!(texts(&["one", "two"]), ["one", "two"]);
        assert_eq!(texts(&["one\\", "  two\\", "three", "four"]), ["one\n  two\nthree", "four"]);
        assert_eq!(texts(&["C:\\\\"]), ["C:\\"]);
    }

    #[test]
    fn between_quotes_all_lines_are_one_text() {
        assert_eq!(texts(&["\"\"\"", "one\\", "", "/two", "\"\"\""]), ["one\\\n\n/two"]);
        assert_eq!(texts(&["\"\"\"one", "two\"\"\"", "three"]), ["one\ntwo", "three"]);
        assert_eq!(texts(&["\"\"\"one\"\"\""]), ["one"]);
    }

    #[test]
    fn what_was_begun_can_be_given_up() {
        let mut gathering = Gathering::default();
        assert!(!gathering.drop_it());
        assert_eq!(gathering.take("\"\"\"half"), None);
        assert!(gathering.drop_it());
        assert_eq!(gathering.take("whole").as_deref(), Some("whole"));
    }
}
