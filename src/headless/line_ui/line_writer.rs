//! Prints lines. Printed text is never changed, and control characters in it are made visible.

use rhumb_text::sanitize;
use std::io::Write;

/// Prints lines and prompts. A screen reader reads each line once, so nothing is overwritten.
pub(super) struct LineWriter {
    out: Box<dyn Write + Send>,
    prompt: Option<String>,
    /// Whether input is printed behind its prompt, because no terminal echoes it.
    echoes: bool,
    closed: bool,
}

impl LineWriter {
    /// Prints to `out`. With `echoes`, input lines are printed, too.
    pub(super) fn new(out: Box<dyn Write + Send>, echoes: bool) -> Self {
        Self { out, prompt: None, echoes, closed: false }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn is_at(&self, prompt: &str) -> bool {
        self.prompt.as_deref() == Some(prompt)
    }

    /// Prints a text and a line end.
    pub(super) fn line(&mut self, text: &str) {
        self.end_prompt();
        self.print(&format!("{}\n", sanitize::visible(text)));
    }

    pub(super) fn lines<T: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = T>) {
        lines.into_iter().for_each(|line| self.line(line.as_ref()));
    }

    /// Prints a prompt, which stays on the current line.
    pub(super) fn prompt(&mut self, prompt: String) {
        self.print(&prompt);
        self.prompt = Some(prompt);
    }

    /// Notes that a line was entered, which ends the line of the prompt.
    pub(super) fn entered(&mut self, line: &str) {
        if self.prompt.take().is_some() && self.echoes {
            self.print(&format!("{}\n", sanitize::visible_line(line)));
        }
    }

    pub(super) fn end_prompt(&mut self) {
        if self.prompt.take().is_some() {
            self.print("\n");
        }
    }

    fn print(&mut self, text: &str) {
        let printed = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        self.closed |= printed.is_err();
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Records what is printed.
    #[derive(Clone, Default)]
    struct Recorder(Arc<Mutex<Vec<u8>>>);

    impl Write for Recorder {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(echoes: bool, print: impl FnOnce(&mut LineWriter)) -> String {
        let recorder = Recorder::default();
        print(&mut LineWriter::new(Box::new(recorder.clone()), echoes));
        String::from_utf8(recorder.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn text_after_an_unanswered_prompt_begins_on_a_new_line() {
        let text = printed(false, |out| {
            out.prompt("> ".into());
            out.line("news");
            out.prompt("> ".into());
            out.entered("typed");
            out.line("answer");
        });
        assert_eq!(text, "> \nnews\n> answer\n");
    }

    #[test]
    fn input_from_a_pipe_is_printed_behind_its_prompt() {
        let text = printed(true, |out| {
            out.prompt("> ".into());
            out.entered("a\x1b[2Jb");
            out.line("c\x1b]0;x\x07");
        });
        assert_eq!(text, "> a␛[2Jb\nc␛]0;x␇\n");
    }
}
