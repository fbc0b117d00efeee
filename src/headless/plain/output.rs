//! What commands print, line by line as it comes, and once.

use rhumb_workspace::process::LiveOutput;

/// Lines that are printed after the end of a command of which much went by.
const TAIL: usize = 12;

/// What was printed of the commands that run.
#[derive(Debug, Default)]
pub(super) struct RunLines {
    runs: Vec<RunLine>,
}

#[derive(Debug)]
struct RunLine {
    run: u64,
    lines: usize,
    /// The beginning of a line.
    open: String,
    /// Some of it went by.
    skipped: bool,
}

impl RunLines {
    /// The lines that are new.
    pub(super) fn said(&mut self, run: u64, live: &LiveOutput) -> Vec<String> {
        let at = self.runs.iter().position(|other| other.run == run).unwrap_or_else(|| {
            self.runs.push(RunLine { run, lines: 0, open: String::new(), skipped: false });
            self.runs.len() - 1
        });
        let Some(known) = self.runs.get_mut(at) else { return Vec::new() };
        let mut lines = Vec::new();
        if live.skipped > 0 {
            known.skipped = true;
            known.open.clear();
            lines.push(format!("({} bytes went by)", live.skipped));
        }
        let text = std::mem::take(&mut known.open) + &live.text;
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                Some(line) => lines.push(line.to_owned()),
                None => piece.clone_into(&mut known.open),
            }
        }
        known.lines += lines.len();
        lines
    }

    /// What was not printed yet of the output of a command that has ended, and whether lines were left out.
    pub(super) fn ended(&mut self, run: u64, output: &str) -> (Vec<String>, bool) {
        let known = self.runs.iter().position(|other| other.run == run).map(|at| self.runs.remove(at));
        let all: Vec<&str> = output.lines().collect();
        let left_out = known.as_ref().is_some_and(|known| known.skipped);
        let from = match known {
            Some(known) if known.skipped => all.len().saturating_sub(TAIL),
            Some(known) => known.lines.min(all.len()),
            None => 0,
        };
        (all.into_iter().skip(from).map(str::to_owned).collect(), left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str, skipped: usize) -> LiveOutput {
        LiveOutput { text: text.into(), open_line: String::new(), skipped }
    }

    #[test]
    fn each_line_is_printed_once_however_it_comes() {
        let mut runs = RunLines::default();
        assert_eq!(runs.said(1, &live("one\ntw", 0)), ["one"]);
        assert_eq!(runs.said(1, &live("o\n", 0)), ["two"]);
        assert_eq!(runs.ended(1, "one\ntwo\nthree").0, ["three"]);
        assert_eq!(runs.ended(2, "all"), (vec!["all".to_owned()], false), "one that ended at once");
    }

    #[test]
    fn of_what_went_by_the_end_is_printed() {
        let mut runs = RunLines::default();
        assert_eq!(runs.said(1, &live("x\n", 9)), ["(9 bytes went by)", "x"]);
        let (lines, left_out) = runs.ended(1, &"y\n".repeat(100));
        assert_eq!((lines.len(), left_out), (TAIL, true));
    }
}
