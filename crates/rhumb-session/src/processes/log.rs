//! The log of a run: its output, for viewing.

use super::{CommandRun, RunState};
use rhumb_workspace::process::LiveOutput;
use std::collections::VecDeque;

const MAX_LINES: usize = 5_000;

const MAX_LINE_BYTES: usize = 4_000;

/// Number of first lines on the card of a command that has ended.
const HEAD_LINES: usize = 3;

/// Number of last lines on a card.
const TAIL_LINES: usize = 7;

const MAX_CARD_LINE_BYTES: usize = 400;

/// The log of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLog {
    /// The run.
    pub run: u64,
    /// The command line.
    pub line: String,
    /// The state.
    pub state: RunState,
    /// Seconds that it took so far.
    pub seconds: u64,
    /// The last complete lines of the output.
    pub lines: VecDeque<String>,
    /// The incomplete last line.
    pub open_line: String,
    /// Number of lines that were dropped from the beginning.
    pub dropped: usize,
    /// Whether the next output continues the last of `lines`.
    is_last_open: bool,
    /// The number of changes so far.
    pub revision: u64,
}

impl RunLog {
    pub(super) fn new(run: u64, line: String) -> Self {
        Self {
            run,
            line,
            state: RunState::Running,
            seconds: 0,
            lines: VecDeque::new(),
            open_line: String::new(),
            dropped: 0,
            is_last_open: false,
            revision: 0,
        }
    }

    pub(super) fn push(&mut self, live: &LiveOutput, seconds: u64) {
        if live.skipped > 0 {
            self.is_last_open = false;
            self.add(&format!("[… {} bytes skipped …]\n", live.skipped));
        }
        self.add(&live.text);
        self.open_line = cut(&live.open_line, MAX_LINE_BYTES).to_owned();
        self.seconds = seconds;
        self.revision += 1;
    }

    /// Ends the log: the final output of the run replaces the output so far.
    pub(super) fn end(&mut self, state: RunState, output: &str, seconds: u64) {
        self.lines.clear();
        self.open_line.clear();
        (self.dropped, self.is_last_open) = (0, false);
        self.add(output);
        (self.state, self.seconds) = (state, seconds);
        self.revision += 1;
    }

    fn add(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let line = piece.strip_suffix('\n').unwrap_or(piece);
            match self.lines.back_mut().filter(|_| self.is_last_open) {
                Some(last) if last.len() < MAX_LINE_BYTES => last.push_str(cut(line, MAX_LINE_BYTES)),
                Some(_) => {}
                None => self.lines.push_back(cut(line, MAX_LINE_BYTES).to_owned()),
            }
            self.is_last_open = piece.len() == line.len();
            if self.lines.len() > MAX_LINES {
                self.lines.pop_front();
                self.dropped += 1;
            }
        }
    }

    /// The card of the run: the beginning and end of its output without blank lines. Without the beginning while it runs.
    pub(super) fn card(&self) -> CommandRun {
        let open = (!self.open_line.is_empty()).then_some(self.open_line.as_str());
        let lines = self.lines.iter().map(String::as_str).chain(open).filter(|line| !line.trim().is_empty());
        let lines: Vec<&str> = lines.map(|line| cut(line, MAX_CARD_LINE_BYTES)).collect();
        let head = if self.state == RunState::Running { 0 } else { HEAD_LINES };
        // Replacing a single line by a count would save nothing.
        let fits = lines.len() <= head + TAIL_LINES + 1;
        let (head, rest) = lines.split_at(if fits { 0 } else { head });
        let (omitted, tail) = rest.split_at(if fits { 0 } else { rest.len() - TAIL_LINES });
        CommandRun {
            run: self.run,
            line: self.line.clone(),
            state: self.state.clone(),
            seconds: self.seconds,
            head: head.join("\n"),
            omitted: omitted.len(),
            tail: tail.join("\n"),
        }
    }
}

fn cut(line: &str, max_bytes: usize) -> &str {
    line.get(..line.floor_char_boundary(max_bytes)).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str, open_line: &str, skipped: usize) -> LiveOutput {
        LiveOutput { text: text.into(), open_line: open_line.into(), skipped }
    }

    #[test]
    fn partial_lines_are_joined() {
        let mut log = RunLog::new(1, "make".into());
        log.push(&live("one\ntw", "", 0), 0);
        log.push(&live("o\n", "thr", 0), 1);
        assert_eq!((log.card().tail.as_str(), log.seconds), ("one\ntwo\nthr", 1));
        log.push(&live("three\n", "", 700), 2);
        assert_eq!(log.card().tail, "one\ntwo\n[… 700 bytes skipped …]\nthree");
    }

    #[test]
    fn a_card_shows_the_beginning_and_the_end_of_a_long_output() {
        let mut log = RunLog::new(1, "make".into());
        let output = |lines: usize| (1..=lines).map(|n| format!("{n}\n\n")).collect::<String>();
        log.push(&live(&output(20), "", 0), 0);
        let card = log.card();
        assert_eq!((card.excerpt("").lines().count(), card.head.as_str(), card.omitted), (8, "", 13), "while it runs");
        log.end(RunState::Failed("no".into()), &output(11), 1);
        assert_eq!((log.card().omitted, log.card().excerpt("").lines().count()), (0, 11));
        log.end(RunState::Failed("no".into()), &output(18), 1);
        assert_eq!(
            log.card().excerpt(" (F6)").lines().collect::<Vec<_>>(),
            ["1", "2", "3", "… 8 more lines (F6)", "12", "13", "14", "15", "16", "17", "18"]
        );
    }

    #[test]
    fn a_log_is_bounded() {
        let mut log = RunLog::new(1, "make".into());
        log.push(&live(&"x\n".repeat(MAX_LINES + 10), "", 0), 0);
        log.push(&live(&"y".repeat(3 * MAX_LINE_BYTES), &"z".repeat(3 * MAX_LINE_BYTES), 0), 0);
        assert_eq!((log.dropped, log.lines.len()), (11, MAX_LINES));
        assert!(log.lines.iter().all(|line| line.len() <= MAX_LINE_BYTES) && log.open_line.len() <= MAX_LINE_BYTES);
        log.end(RunState::Failed("no".into()), "whole\n", 3);
        assert_eq!((log.card().tail.as_str(), log.dropped), ("whole", 0));
    }
}
