//! What a command printed, as far as it is held for looking at.

use std::collections::VecDeque;

use super::{CommandRun, RunState};
use rhumb_workspace::process::LiveOutput;

/// Lines that are held of a log.
const LINES: usize = 5_000;

/// Longest line that is held, in bytes.
const LONGEST: usize = 4_000;

/// First lines of a log that its card shows once the command has ended.
const HEAD_LINES: usize = 3;

/// Last lines of a log that its card shows.
const TAIL_LINES: usize = 7;

/// Most bytes of a line on the card.
const MAX_LINE_BYTES: usize = 400;

/// The log of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLog {
    /// The run.
    pub run: u64,
    /// What runs.
    pub line: String,
    /// How it stands.
    pub state: RunState,
    /// Seconds that it has been running, or took.
    pub seconds: u64,
    /// What it printed, without what went.
    pub lines: VecDeque<String>,
    /// The line that is not complete yet.
    pub open_line: String,
    /// Whether lines went from the beginning.
    pub cut: bool,
    /// The last line goes on with what comes next.
    unfinished: bool,
    /// Changes so far.
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
            cut: false,
            unfinished: false,
            revision: 0,
        }
    }

    /// Takes in what is new.
    pub(super) fn push(&mut self, live: &LiveOutput, seconds: u64) {
        if live.skipped > 0 {
            self.unfinished = false;
            self.add(&format!("[… {} bytes went by …]\n", live.skipped));
        }
        self.add(&live.text);
        self.open_line = cut(&live.open_line).to_owned();
        self.seconds = seconds;
        self.revision += 1;
    }

    /// The run ended: its output takes the place of what was seen of it.
    pub(super) fn end(&mut self, state: RunState, output: &str, seconds: u64) {
        self.lines.clear();
        self.open_line.clear();
        (self.cut, self.unfinished) = (false, false);
        self.add(output);
        (self.state, self.seconds) = (state, seconds);
        self.revision += 1;
    }

    fn add(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let line = piece.strip_suffix('\n').unwrap_or(piece);
            match self.lines.back_mut().filter(|_| self.unfinished) {
                Some(last) if last.len() < LONGEST => last.push_str(cut(line)),
                Some(_) => {}
                None => self.lines.push_back(cut(line).to_owned()),
            }
            self.unfinished = piece.len() == line.len();
            if self.lines.len() > LINES {
                self.lines.pop_front();
                self.cut = true;
            }
        }
    }

    /// The card of the run: the beginning and the end of what it printed, blank lines aside. Of a run that goes on, the end alone.
    pub(super) fn card(&self) -> CommandRun {
        let open = (!self.open_line.is_empty()).then_some(self.open_line.as_str());
        let lines = self.lines.iter().map(String::as_str).chain(open).filter(|line| !line.trim().is_empty());
        let lines: Vec<&str> =
            lines.map(|line| line.get(..line.floor_char_boundary(MAX_LINE_BYTES)).unwrap_or(line)).collect();
        let head = if self.state == RunState::Running { 0 } else { HEAD_LINES };
        // A number in place of a single line would save nothing.
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

fn cut(line: &str) -> &str {
    line.get(..line.floor_char_boundary(LONGEST)).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str, open_line: &str, skipped: usize) -> LiveOutput {
        LiveOutput { text: text.into(), open_line: open_line.into(), skipped }
    }

    #[test]
    fn lines_add_up_however_they_come() {
        let mut log = RunLog::new(1, "make".into());
        log.push(&live("one\ntw", "", 0), 0);
        log.push(&live("o\n", "thr", 0), 1);
        assert_eq!((log.card().tail.as_str(), log.seconds), ("one\ntwo\nthr", 1));
        log.push(&live("three\n", "", 700), 2);
        assert_eq!(log.card().tail, "one\ntwo\n[… 700 bytes went by …]\nthree");
    }

    #[test]
    fn a_card_shows_the_beginning_and_the_end_of_a_long_output() {
        let mut log = RunLog::new(1, "make".into());
        let output = |lines: usize| (1..=lines).map(|n| format!("{n}\n\n")).collect::<String>();
        log.push(&live(&output(20), "", 0), 0);
        let card = log.card();
        assert_eq!((card.excerpt("").lines().count(), card.head.as_str(), card.omitted), (8, "", 13), "it runs");
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
        log.push(&live(&"x\n".repeat(LINES + 10), "", 0), 0);
        log.push(&live(&"y".repeat(3 * LONGEST), &"z".repeat(3 * LONGEST), 0), 0);
        assert!(log.cut && log.lines.len() == LINES);
        assert!(log.lines.iter().all(|line| line.len() <= LONGEST) && log.open_line.len() <= LONGEST);
        log.end(RunState::Failed("no".into()), "whole\n", 3);
        assert_eq!((log.card().tail.as_str(), log.cut), ("whole", false));
    }
}
