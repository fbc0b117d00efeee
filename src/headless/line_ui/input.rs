//! Input: reads a line of standard input when one is requested, and joins messages of several lines.

use std::collections::VecDeque;
use std::io::BufRead as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The result of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StdinLine {
    /// A line, without its line end.
    Line(String),
    Malformed,
    End,
}

/// Reads standard input on a thread, one line at a time and only on request: between two lines, other programs on the terminal
/// may read it.
pub(super) struct StdinReader {
    requests: Sender<()>,
    lines: UnboundedReceiver<StdinLine>,
    is_reading: bool,
}

impl StdinReader {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start() -> std::io::Result<Self> {
        let (requests, requested) = channel();
        let (sender, lines) = unbounded_channel();
        std::thread::Builder::new().name("lines".into()).spawn(move || read(&requested, &sender))?;
        Ok(Self { requests, lines, is_reading: false })
    }

    /// Requests a line, unless one is being read.
    pub(super) fn request(&mut self) {
        if !self.is_reading {
            // This fails only after the end of the input, which was returned before.
            self.is_reading = self.requests.send(()).is_ok();
        }
    }

    /// Whether a line was requested and has not arrived.
    pub(super) fn is_reading(&self) -> bool {
        self.is_reading
    }

    pub(super) async fn next(&mut self) -> StdinLine {
        let input = self.lines.recv().await.unwrap_or(StdinLine::End);
        self.is_reading = false;
        input
    }
}

fn read(requested: &Receiver<()>, lines: &UnboundedSender<StdinLine>) {
    while requested.recv().is_ok() {
        let mut bytes = Vec::new();
        let input = match std::io::stdin().lock().read_until(b'\n', &mut bytes) {
            Ok(1..) => String::from_utf8(bytes).map_or(StdinLine::Malformed, |line| {
                let line = line.strip_suffix('\n').unwrap_or(&line);
                StdinLine::Line(line.strip_suffix('\r').unwrap_or(line).to_owned())
            }),
            Ok(0) | Err(_) => StdinLine::End,
        };
        if lines.send(input).is_err() {
            return;
        }
    }
}

/// Lines that have arrived and were not processed, and the text of several lines that is being entered.
#[derive(Debug, Default)]
pub(super) struct InputQueue {
    lines: VecDeque<String>,
    multiline: MultilineInput,
    /// Whether the text that is being entered is a reply from elsewhere.
    expects_reply: bool,
    /// Whether Ctrl-C was the last input.
    interrupted: bool,
}

/// A complete text of the user.
pub(super) struct Entered {
    pub(super) text: String,
    /// Whether it was entered between quotes, so that it is a message even if it reads like a command.
    pub(super) is_quoted: bool,
    pub(super) is_reply: bool,
}

impl InputQueue {
    pub(super) fn push(&mut self, line: String) {
        self.interrupted = false;
        self.lines.push_back(line);
    }

    pub(super) fn pop(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// Discards the lines that were not processed.
    pub(super) fn clear(&mut self) {
        self.interrupted = false;
        self.lines.clear();
    }

    /// Notes Ctrl-C with nothing to stop. Returns whether the input before it was Ctrl-C, too.
    pub(super) fn interrupt(&mut self) -> bool {
        std::mem::replace(&mut self.interrupted, true)
    }

    /// Whether a text of several lines is being entered.
    pub(super) fn is_multiline(&self) -> bool {
        self.multiline.is_open()
    }

    /// Begins the text of a reply from elsewhere, which ends with [`QUOTES`].
    pub(super) fn begin_reply(&mut self) {
        self.expects_reply = true;
        self.multiline.open();
    }

    /// Discards the text that is being entered. Returns whether there was one.
    pub(super) fn cancel_multiline(&mut self) -> bool {
        self.expects_reply = false;
        self.multiline.cancel()
    }

    /// Processes a line. Returns the text once it is complete.
    pub(super) fn enter(&mut self, line: &str) -> Option<Entered> {
        let is_quoted = self.multiline.is_open() || line.starts_with(QUOTES);
        let text = self.multiline.add(line)?;
        Some(Entered { text, is_quoted, is_reply: std::mem::take(&mut self.expects_reply) })
    }
}

/// Begins and ends a text of several lines.
pub(super) const QUOTES: &str = "\"\"\"";

/// A text of several lines that is being entered.
#[derive(Debug, Default)]
struct MultilineInput {
    lines: Vec<String>,
    state: MultilineState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum MultilineState {
    #[default]
    Empty,
    /// The last line ended with a backslash.
    Continued,
    /// The text ends with [`QUOTES`].
    Quoted,
}

impl MultilineInput {
    fn is_open(&self) -> bool {
        self.state != MultilineState::Empty
    }

    /// Begins a text that ends with [`QUOTES`].
    fn open(&mut self) {
        *self = Self { lines: Vec::new(), state: MultilineState::Quoted };
    }

    fn cancel(&mut self) -> bool {
        std::mem::take(self).is_open()
    }

    fn add(&mut self, line: &str) -> Option<String> {
        if self.state == MultilineState::Quoted {
            match line.trim_end().strip_suffix(QUOTES) {
                Some(rest) => {
                    self.lines.extend((!rest.is_empty()).then(|| rest.to_owned()));
                    return Some(std::mem::take(self).lines.join("\n"));
                }
                None => self.lines.push(line.to_owned()),
            }
            return None;
        }
        if let Some(rest) = line.strip_prefix(QUOTES).filter(|_| !self.is_open()) {
            self.open();
            return if rest.is_empty() { None } else { self.add(rest) };
        }
        // Two backslashes at the end mean one: a path of Windows may end with it.
        match line.strip_suffix('\\') {
            Some(rest) if !rest.ends_with('\\') => {
                self.lines.push(rest.to_owned());
                self.state = MultilineState::Continued;
                None
            }
            Some(rest) => Some(self.end_with(rest)),
            None => Some(self.end_with(line)),
        }
    }

    fn end_with(&mut self, line: &str) -> String {
        self.lines.push(line.to_owned());
        std::mem::take(self).lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[&str]) -> Vec<String> {
        let mut input = MultilineInput::default();
        let texts = lines.iter().filter_map(|line| input.add(line)).collect();
        assert!(!input.is_open());
        texts
    }

    #[test]
    fn a_line_is_a_text_unless_it_is_continued() {
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
    fn a_text_that_was_begun_can_be_cancelled() {
        let mut input = MultilineInput::default();
        assert!(!input.cancel());
        assert_eq!(input.add("\"\"\"half"), None);
        assert!(input.cancel());
        assert_eq!(input.add("whole").as_deref(), Some("whole"));
    }
}
