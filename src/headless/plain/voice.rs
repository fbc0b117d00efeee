//! What is printed, line after line: nothing is ever taken back, and nothing in it drives a terminal.

use std::io::{self, Write};

use rhumb_text::sanitize;

/// Where lines go. What stood there stays as it is: a screen reader reads each line once.
pub(super) struct Voice {
    out: Box<dyn Write + Send>,
    /// A prompt stands on the line that is open.
    prompted: bool,
    /// What is typed does not show by itself, as at a pipe.
    echoes: bool,
    /// Nobody listens any more.
    gone: bool,
}

impl Voice {
    /// Prints to `out`; `echoes` where nobody sees what was typed.
    pub(super) fn new(out: Box<dyn Write + Send>, echoes: bool) -> Self {
        Self { out, prompted: false, echoes, gone: false }
    }

    /// Whether there is nobody to print for.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether a prompt is the last that was printed.
    pub(super) fn has_prompted(&self) -> bool {
        self.prompted
    }

    /// Prints a line, or several. Whatever could drive a terminal is shown instead.
    pub(super) fn line(&mut self, text: &str) {
        let lead = if std::mem::take(&mut self.prompted) { "\n" } else { "" };
        let text = format!("{lead}{}\n", sanitize::visible(text));
        self.print(&text);
    }

    /// Prints several lines.
    pub(super) fn lines<T: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = T>) {
        lines.into_iter().for_each(|line| self.line(line.as_ref()));
    }

    /// Asks for a line.
    pub(super) fn prompt(&mut self, prompt: &str) {
        self.print(prompt);
        self.prompted = true;
    }

    /// A line came in: the one with the prompt is complete.
    pub(super) fn heard(&mut self, line: &str) {
        if std::mem::take(&mut self.prompted) && self.echoes {
            let line = format!("{}\n", sanitize::visible_line(line));
            self.print(&line);
        }
    }

    /// The input ended, or was broken off: what follows begins on a line of its own.
    pub(super) fn broken_off(&mut self) {
        if std::mem::take(&mut self.prompted) {
            self.print("\n");
        }
    }

    fn print(&mut self, text: &str) {
        let printed: io::Result<()> = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        self.gone |= printed.is_err();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Holds what was printed.
    #[derive(Clone, Default)]
    pub(crate) struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Paper {
        /// What was printed.
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    fn said(echoes: bool, say: impl FnOnce(&mut Voice)) -> String {
        let paper = Paper::default();
        say(&mut Voice::new(Box::new(paper.clone()), echoes));
        paper.text()
    }

    #[test]
    fn what_comes_after_a_prompt_begins_on_a_line_of_its_own() {
        let text = said(false, |voice| {
            voice.prompt("> ");
            voice.line("news");
            voice.prompt("> ");
            voice.heard("typed");
            voice.line("answer");
        });
        assert_eq!(text, "> \nnews\n> answer\n");
    }

    #[test]
    fn what_comes_from_a_pipe_is_printed_behind_its_prompt() {
        let text = said(true, |voice| {
            voice.prompt("> ");
            voice.heard("a\x1b[2Jb");
            voice.line("c\x1b]0;x\x07");
        });
        assert_eq!(text, "> a␛[2Jb\nc␛]0;x␇\n");
    }
}
