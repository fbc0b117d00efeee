//! Prints the output of commands: each line as it arrives, and once.

use rhumb_workspace::process::LiveOutput;

/// Last lines that are printed after the end of a command whose live output was incomplete.
const MAX_TAIL_LINES: usize = 12;

#[derive(Debug, Default)]
pub(super) struct CommandOutput(Vec<PrintedRun>);

#[derive(Debug)]
struct PrintedRun {
    run: u64,
    lines: usize,
    /// The beginning of a line that has not ended.
    open_line: String,
    skipped: bool,
}

impl CommandOutput {
    pub(super) fn new_lines(&mut self, run: u64, live: &LiveOutput) -> Vec<String> {
        if !self.0.iter().any(|printed| printed.run == run) {
            self.0.push(PrintedRun { run, lines: 0, open_line: String::new(), skipped: false });
        }
        let Some(printed) = self.0.iter_mut().find(|printed| printed.run == run) else { return Vec::new() };
        let mut lines = Vec::new();
        if live.skipped > 0 {
            printed.skipped = true;
            printed.open_line.clear();
            lines.push(format!("({} bytes skipped)", live.skipped));
        }
        let text = std::mem::take(&mut printed.open_line) + &live.text;
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                Some(line) => lines.push(line.to_owned()),
                None => piece.clone_into(&mut printed.open_line),
            }
        }
        printed.lines += lines.len();
        lines
    }

    /// The lines of the whole output of a command that has ended that were not printed yet, and whether lines were left out.
    pub(super) fn rest(&mut self, run: u64, output: &str) -> (Vec<String>, bool) {
        let printed = self.0.iter().position(|printed| printed.run == run).map(|at| self.0.remove(at));
        let lines: Vec<&str> = output.lines().collect();
        let left_out = printed.as_ref().is_some_and(|printed| printed.skipped);
        let from = match printed {
            Some(printed) if printed.skipped => lines.len().saturating_sub(MAX_TAIL_LINES),
            Some(printed) => printed.lines.min(lines.len()),
            None => 0,
        };
        (lines.into_iter().skip(from).map(str::to_owned).collect(), left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str, skipped: usize) -> LiveOutput {
        LiveOutput { text: text.into(), open_line: String::new(), skipped }
    }

    #[test]
    fn each_line_is_printed_once_however_it_arrives() {
        let mut output = CommandOutput::default();
        assert_eq!(output.new_lines(1, &live("one\ntw", 0)), ["one"]);
        assert_eq!(output.new_lines(1, &live("o\n", 0)), ["two"]);
        assert_eq!(output.rest(1, "one\ntwo\nthree").0, ["three"]);
        assert_eq!(output.rest(2, "all"), (vec!["all".to_owned()], false), "one that ended at once");
    }

    #[test]
    fn the_end_of_a_skipped_output_is_printed() {
        let mut output = CommandOutput::default();
        assert_eq!(output.new_lines(1, &live("x\n", 9)), ["(9 bytes skipped)", "x"]);
        let (lines, left_out) = output.rest(1, &"y\n".repeat(100));
        assert_eq!((lines.len(), left_out), (MAX_TAIL_LINES, true));
    }
}
