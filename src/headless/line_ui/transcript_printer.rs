//! Prints the transcript as lines: new entries once and in order, an answer as it grows, the output of commands as it arrives, and
//! pages and lists without symbols and columns, for screen readers and scripts.

use super::answer::AnswerLines;
use rhumb_session::{Answer, AnswerState, Entry, Level, Session, SettingRow, ToolState, Transcript, TurnStatus};
use rhumb_workspace::process::LiveOutput;
use std::collections::BTreeSet;

/// Tracks how far the transcript has been printed.
#[derive(Default)]
pub(super) struct TranscriptPrinter {
    printed: Vec<u64>,
    /// The index of the answer that is being printed, and its lines.
    streaming: Option<(usize, AnswerLines)>,
    /// Printed bytes of the reasoning of the answer.
    reasoning_printed: usize,
    /// The status of the running turn at the last call.
    status: Option<TurnStatus>,
    /// Whether the conversation was being summarised at the last call.
    was_compacting: bool,
    /// The last turn for which it was printed that the model thinks.
    thinking_turn: u64,
    /// The message that was entered last. It is not printed again.
    typed: Option<String>,
    shows_reasoning: bool,
    /// The tool calls that were printed and have not ended.
    open_calls: BTreeSet<usize>,
}

impl TranscriptPrinter {
    /// Sets the message that the user has just entered, which is not printed again.
    pub(super) fn set_typed(&mut self, message: Option<String>) {
        self.typed = message;
    }

    /// Sets whether reasoning is printed; `None` toggles it. Returns the new value.
    pub(super) fn show_reasoning(&mut self, shows: Option<bool>) -> bool {
        self.shows_reasoning = shows.unwrap_or(!self.shows_reasoning);
        self.shows_reasoning
    }

    /// The lines that are new since the last call.
    pub(super) fn new_lines(&mut self, session: &Session) -> Vec<String> {
        let entries = session.transcript();
        let mut lines = Vec::new();
        self.forget_changed(entries);
        self.reopen(entries);
        self.continue_answer(entries, &mut lines);
        while let Some(entry) = entries.get(self.printed.len()) {
            // Entries about the request may still be inserted above an empty answer.
            if streaming_answer(entry).is_some_and(|answer| answer.text.is_empty()) {
                self.print_reasoning(entry, false, &mut lines);
                break;
            }
            self.print_entry(entry, &mut lines);
            self.printed.extend(id(entries, self.printed.len()));
        }
        self.print_results(entries, &mut lines);
        self.print_status(session, &mut lines);
        lines
    }

    /// Begins a transcript that was replaced: prints the last message and what follows it.
    pub(super) fn begin_at_last_message(&mut self, session: &Session) {
        let entries = session.transcript();
        let last = entries.iter().rposition(|entry| matches!(entry, Entry::User { .. })).unwrap_or(0);
        *self = Self { shows_reasoning: self.shows_reasoning, ..Self::default() };
        self.printed = entries.versions().iter().take(last).map(|version| version.id).collect();
    }

    /// If entries were removed or inserted, everything after them is new.
    fn forget_changed(&mut self, entries: &Transcript) {
        let last = self.printed.len().checked_sub(1);
        if last.is_none_or(|last| id(entries, last) == self.printed.get(last).copied()) {
            return;
        }
        let same = self.printed.iter().zip(entries.versions()).take_while(|(id, version)| **id == version.id).count();
        self.printed.truncate(same);
        self.streaming.take_if(|(at, _)| *at >= same);
    }

    /// Finds a printed answer that is continued.
    fn reopen(&mut self, entries: &[Entry]) {
        if self.streaming.is_some() {
            return;
        }
        let printed = entries.get(..self.printed.len()).unwrap_or_default().iter().enumerate().rev();
        let mut answers = printed.filter_map(|(at, entry)| Some((at, streaming_answer(entry)?)));
        self.streaming = answers.next().map(|(at, answer)| (at, AnswerLines::after(&answer.text)));
    }

    fn continue_answer(&mut self, entries: &[Entry], lines: &mut Vec<String>) {
        let Some((at, mut view)) = self.streaming.take() else { return };
        let Some(Entry::Answer(answer)) = entries.get(at) else { return };
        if view.is_ahead_of(&answer.text) {
            lines.push("The text above was reasoning of the model; it is not part of the answer.".to_owned());
            view = AnswerLines::default();
        }
        self.print_answer(at, answer, view, lines);
    }

    fn print_answer(&mut self, at: usize, answer: &Answer, mut view: AnswerLines, lines: &mut Vec<String>) {
        lines.extend(view.update(&answer.text, answer.state != AnswerState::Streaming));
        match &answer.state {
            AnswerState::Streaming => self.streaming = Some((at, view)),
            AnswerState::Complete => {}
            AnswerState::Incomplete(reason) => lines.push(format!("The answer ended early: {reason}.")),
        }
    }

    fn print_entry(&mut self, entry: &Entry, lines: &mut Vec<String>) {
        match entry {
            Entry::User { text, .. } => {
                self.reasoning_printed = 0;
                if self.typed.take().as_ref() != Some(text) {
                    lines.push(format!("message: {text}"));
                }
            }
            Entry::FollowUp { round, of, .. } => {
                self.reasoning_printed = 0;
                lines.push(format!("The model is asked again automatically, round {round} of at most {of}."));
            }
            Entry::Answer(answer) => {
                self.print_reasoning(entry, true, lines);
                self.print_answer(self.printed.len(), answer, AnswerLines::default(), lines);
            }
            Entry::Status(message) => {
                let level = match message.level {
                    Level::Info => "note",
                    Level::Warning => "warning",
                    Level::Error => "error",
                };
                // Several lines are a table.
                let is_table = message.text.contains('\n');
                let text = if is_table { page(&message.text) } else { message.text.clone() };
                lines.push(format!("{level}: {text}"));
                lines.extend((!message.hint.is_empty()).then(|| format!("hint: {}", message.hint)));
            }
            Entry::Shared { title, .. } => lines.push(format!("shared with the model: {title}")),
            Entry::Ran(ran) => lines.push(format!("running: {}", ran.line)),
            Entry::Tool(tool) => {
                let (name, summary) = tool.description();
                lines.push(format!("step {}: {name} {summary}", tool.step).trim_end().to_owned());
                self.open_calls.insert(tool.number);
            }
            Entry::Steering { text } => lines.push(format!("message: {text}")),
            Entry::Cleared => lines.push("The conversation above this line is no longer sent.".to_owned()),
        }
    }

    /// Prints the results of tool calls that have ended.
    fn print_results(&mut self, entries: &[Entry], lines: &mut Vec<String>) {
        if self.open_calls.is_empty() {
            return;
        }
        for entry in entries {
            let Entry::Tool(tool) = entry else { continue };
            if tool.is_over() && self.open_calls.remove(&tool.number) {
                let how = match tool.state {
                    ToolState::Failed if !tool.outcome.starts_with("failed") => "failed, ",
                    _ => "",
                };
                lines.push(format!("result of {}: {how}{}", tool.description().0, tool.outcome));
            }
        }
    }

    /// Prints the new reasoning, if enabled. The last line is printed when it is complete.
    fn print_reasoning(&mut self, entry: &Entry, has_ended: bool, lines: &mut Vec<String>) {
        let Entry::Answer(Answer { reasoning, .. }) = entry else { return };
        let Some(new) = reasoning.get(self.reasoning_printed..).filter(|_| self.shows_reasoning) else { return };
        let complete = if has_ended { new.len() } else { new.rfind('\n').map_or(0, |at| at + 1) };
        let thoughts = new.get(..complete).unwrap_or_default().lines().filter(|line| !line.trim().is_empty());
        lines.extend(thoughts.map(|line| format!("thinking: {line}")));
        self.reasoning_printed += complete;
    }

    /// Prints changes of the turn's status, such as a wait before another attempt.
    fn print_status(&mut self, session: &Session, lines: &mut Vec<String>) {
        let status = session.turn().map(|turn| turn.status.clone());
        let is_compacting = session.is_compacting();
        let was_compacting = std::mem::replace(&mut self.was_compacting, is_compacting);
        let previous = std::mem::replace(&mut self.status, status.clone());
        if is_compacting && !was_compacting && status.is_none() {
            lines.push("summarising the conversation.".to_owned());
        }
        let Some(status) = status.filter(|status| previous.as_ref() != Some(status)) else { return };
        let is_silent = match (&status, &previous) {
            (TurnStatus::Answering | TurnStatus::Waiting | TurnStatus::Calling(..) | TurnStatus::Tools, _) => true,
            // A screen reader would read every second of a countdown, so only its first line is printed.
            (TurnStatus::Retrying { attempt, .. }, Some(TurnStatus::Retrying { attempt: known, .. })) => {
                attempt == known
            }
            // Some models alternate between thinking and answering.
            (TurnStatus::Thinking, _) => {
                let turn = session.turn().map_or(0, |turn| turn.number);
                std::mem::replace(&mut self.thinking_turn, turn) == turn
            }
            _ => false,
        };
        if !is_silent {
            lines.push(format!("{status}."));
        }
    }
}

/// The id of the entry at index `at`.
fn id(entries: &Transcript, at: usize) -> Option<u64> {
    entries.versions().get(at).map(|version| version.id)
}

fn streaming_answer(entry: &Entry) -> Option<&Answer> {
    match entry {
        Entry::Answer(answer) if answer.state == AnswerState::Streaming => Some(answer),
        _ => None,
    }
}

/// The settings whose names contain `filter`, one per line.
pub(super) fn setting_lines(rows: &[SettingRow], filter: &str) -> Vec<String> {
    let line = |row: &SettingRow| {
        let value = if row.value.is_empty() { "not set" } else { &row.value };
        format!("{} = {value}, from {}. {}", row.name, row.origin, row.help)
    };
    let lines: Vec<String> = rows.iter().filter(|row| row.name.contains(filter)).map(line).collect();
    if lines.is_empty() { vec![format!("No setting has {filter} in its name.")] } else { lines }
}

/// A page of the program: symbols become words, and columns become commas.
pub(super) fn page(text: &str) -> String {
    text.lines().map(page_line).collect::<Vec<_>>().join("\n")
}

fn page_line(line: &str) -> String {
    let symbols = [("✓ ", "good: "), ("✗ ", "bad: "), ("· ", "lacking: "), ("→ ", "hint: ")];
    let start = line.trim_start();
    let symbol = symbols.into_iter().find_map(|(symbol, word)| Some((start.strip_prefix(symbol)?, word)));
    let text = symbol.map_or_else(|| line.to_owned(), |(rest, word)| format!("{word}{rest}"));
    let mut words = String::with_capacity(text.len());
    for part in text.split("  ").map(str::trim).filter(|part| !part.is_empty()) {
        if !words.is_empty() {
            words.push_str(if words.ends_with([':', ',', '.', ';']) { " " } else { ", " });
        }
        words.push_str(part);
    }
    words
}

/// A detail in a list, such as window and prices of a model, without dots and arrows.
pub(super) fn detail(text: &str) -> String {
    text.replace(" · ", ", ").replace("→ ", "for ")
}

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
    use std::time::Duration;

    use super::*;
    use rhumb_llm::{Completion, Finish, StreamEvent};
    use rhumb_session::{AskEvent, Connection, Response};

    fn session() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        assert!(session.send("go").0);
        session
    }

    fn stream(session: &mut Session, event: StreamEvent) {
        session.handle(Response::Asked { turn: 1, event: AskEvent::Stream(event) });
    }

    #[test]
    fn an_answer_is_printed_line_by_line_and_once() {
        let mut session = session();
        let mut printer = TranscriptPrinter { typed: Some("go".into()), ..TranscriptPrinter::default() };
        assert!(printer.new_lines(&session).is_empty(), "what was typed is not printed again");
        stream(&mut session, StreamEvent::Text("One.\nTwo.\nTh".into()));
        assert_eq!(printer.new_lines(&session), ["One."]);
        session.report(Level::Warning, "Careful.", "Cancel the turn.");
        assert_eq!(printer.new_lines(&session), ["warning: Careful.", "hint: Cancel the turn."]);
        stream(&mut session, StreamEvent::Text("ree.".into()));
        session.handle(Response::Ended { turn: 1, result: Ok(Completion::new(Finish::Stop, None)) });
        assert_eq!(printer.new_lines(&session), ["Two.", "Three."]);
        assert!(printer.new_lines(&session).is_empty());
    }

    #[test]
    fn a_continued_answer_is_not_printed_again() {
        let mut session = session();
        let mut printer = TranscriptPrinter::default();
        stream(&mut session, StreamEvent::Text("One.\nTwo".into()));
        session.cancel();
        assert_eq!(printer.new_lines(&session), ["message: go", "One.", "Two", "The answer ended early: cancelled."]);
        session.continue_answer();
        printer.new_lines(&session);
        session.handle(Response::Asked { turn: 2, event: AskEvent::Stream(StreamEvent::Text(" and more.\n".into())) });
        session.handle(Response::Ended { turn: 2, result: Ok(Completion::new(Finish::Stop, None)) });
        assert_eq!(printer.new_lines(&session), ["Two and more."]);
    }

    #[test]
    fn reasoning_is_printed_on_request() {
        for wanted in [false, true] {
            let mut session = session();
            let mut printer =
                TranscriptPrinter { shows_reasoning: wanted, typed: Some("go".into()), ..TranscriptPrinter::default() };
            stream(&mut session, StreamEvent::Reasoning("hm\nwell".into()));
            let first = printer.new_lines(&session);
            assert_eq!(first.first().is_some_and(|line| line == "thinking: hm"), wanted, "{first:?}");
            stream(&mut session, StreamEvent::Text("Yes.\nNo.\n".into()));
            let lines = printer.new_lines(&session);
            assert_eq!(lines.contains(&"thinking: well".to_owned()), wanted);
            assert!(lines.contains(&"Yes.".to_owned()));
        }
    }

    #[test]
    fn a_wait_before_another_attempt_is_one_line() {
        let mut session = session();
        let mut printer = TranscriptPrinter { typed: Some("go".into()), ..TranscriptPrinter::default() };
        printer.new_lines(&session);
        let wait = |attempt, seconds| StreamEvent::Retrying {
            attempt,
            wait: Duration::from_secs(seconds),
            reason: "busy".into(),
        };
        let mut lines = Vec::new();
        for event in [wait(2, 2), wait(2, 1), wait(2, 0), wait(3, 2), wait(3, 1), StreamEvent::Reasoning("hm".into())] {
            stream(&mut session, event);
            lines.extend(printer.new_lines(&session));
        }
        assert_eq!(lines, ["try 2 in 2 s: busy.", "try 3 in 2 s: busy.", "thinking."]);
    }

    #[test]
    fn a_message_after_removed_entries_is_printed() {
        let mut session = session();
        let mut printer = TranscriptPrinter::default();
        stream(&mut session, StreamEvent::Text("One.\n".into()));
        session.cancel();
        printer.new_lines(&session);
        session.rewind(Some(1));
        let lines = printer.new_lines(&session);
        assert!(lines.len() == 1 && lines[0].contains("is the draft again"), "{lines:?}");
    }
}

#[cfg(test)]
mod text_tests {
    use super::*;

    #[test]
    fn symbols_of_a_page_are_words_and_its_columns_commas() {
        let text = "✓ version      rhumb 0.1.0\n· ctags        not found\n               → install it\n";
        assert_eq!(page(text), "good: version, rhumb 0.1.0\nlacking: ctags, not found\nhint: install it");
    }
}

#[cfg(test)]
mod command_output_tests {
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
