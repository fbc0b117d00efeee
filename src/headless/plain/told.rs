//! The transcript as lines: what is new in it is printed once, in order, an answer as it grows.

use super::answer::AnswerLines;
use super::phrases::{in_words, page};
use rhumb_session::{Answer, AnswerState, Entry, Level, Session, Transcript, TurnStatus};

/// How far the transcript has been printed.
#[derive(Default)]
pub(super) struct Told {
    /// The ids of the entries that were printed.
    printed: Vec<u64>,
    /// The answer that is being printed, and its place.
    open: Option<(usize, AnswerLines)>,
    /// Bytes of what the model thinks aloud that were printed.
    reasoned: usize,
    /// The status of the running turn at the last look.
    status: Option<TurnStatus>,
    /// Whether the conversation was being summarised then.
    compacts: bool,
    /// The turn of which it was told that the model thinks.
    thought_in: u64,
    /// The message that was just typed: it stands there already.
    pub(super) typed: Option<String>,
    /// Whether what the model thinks aloud is printed.
    pub(super) thoughts: bool,
}

impl Told {
    /// What is new since the last time.
    pub(super) fn news(&mut self, session: &Session) -> Vec<String> {
        let entries = session.transcript();
        let mut lines = Vec::new();
        self.forget_what_changed(entries);
        self.reopen(entries);
        self.go_on(entries, &mut lines);
        while let Some(entry) = entries.get(self.printed.len()) {
            if is_silent(entry) {
                self.think(entry, false, &mut lines);
                break;
            }
            self.entry(entry, &mut lines);
            self.printed.extend(id(entries, self.printed.len()));
        }
        self.tell_status(session, &mut lines);
        lines
    }

    /// Another conversation is there: of what was said before, the last message and all after it is printed.
    pub(super) fn begin_at_last_message(&mut self, session: &Session) {
        let entries = session.transcript();
        let last = entries.iter().rposition(|entry| matches!(entry, Entry::User { .. })).unwrap_or(0);
        *self = Self { thoughts: self.thoughts, ..Self::default() };
        self.printed = entries.versions().iter().take(last).map(|version| version.id).collect();
    }

    /// Entries were taken away, or put between others: all from there on is new.
    fn forget_what_changed(&mut self, entries: &Transcript) {
        let last = self.printed.len().checked_sub(1);
        if last.is_none_or(|last| id(entries, last) == self.printed.get(last).copied()) {
            return;
        }
        let same = self.printed.iter().zip(entries.versions()).take_while(|(id, version)| **id == version.id).count();
        self.printed.truncate(same);
        self.open.take_if(|(at, _)| *at >= same);
    }

    /// An answer that had ended goes on.
    fn reopen(&mut self, entries: &[Entry]) {
        if self.open.is_some() {
            return;
        }
        let printed = entries.get(..self.printed.len()).unwrap_or_default();
        if let Some((at, answer)) = printed.iter().enumerate().rev().find_map(|(at, entry)| Some((at, growing(entry)?)))
        {
            self.open = Some((at, AnswerLines::after(&answer.text)));
        }
    }

    fn go_on(&mut self, entries: &[Entry], lines: &mut Vec<String>) {
        let Some((at, mut view)) = self.open.take() else { return };
        let Some(Entry::Answer(answer)) = entries.get(at) else { return };
        if view.is_ahead_of(&answer.text) {
            lines.push("That was the thinking of the model; it is not part of the answer.".to_owned());
            view = AnswerLines::default();
        }
        lines.extend(view.update(&answer.text, answer.state != AnswerState::Streaming));
        match &answer.state {
            AnswerState::Streaming => self.open = Some((at, view)),
            state => lines.extend(ended(state)),
        }
    }

    fn entry(&mut self, entry: &Entry, lines: &mut Vec<String>) {
        match entry {
            Entry::User { text, .. } => {
                self.reasoned = 0;
                if self.typed.take().as_ref() != Some(text) {
                    lines.push(format!("message: {text}"));
                }
            }
            Entry::FollowUp { round, of, .. } => {
                self.reasoned = 0;
                lines.push(format!("The model is asked again by itself, round {round} of at most {of}."));
            }
            Entry::Answer(answer) => {
                self.think(entry, true, lines);
                let mut view = AnswerLines::default();
                lines.extend(view.update(&answer.text, answer.state != AnswerState::Streaming));
                match &answer.state {
                    AnswerState::Streaming => self.open = Some((self.printed.len(), view)),
                    state => lines.extend(ended(state)),
                }
            }
            Entry::Status(notice) => {
                let level = match notice.level {
                    Level::Info => "note",
                    Level::Warning => "warning",
                    Level::Error => "error",
                };
                // What has several lines is a table.
                let text = if notice.text.contains('\n') { page(&notice.text) } else { in_words(&notice.text) };
                lines.push(format!("{level}: {text}"));
                let hint = in_words(&notice.hint);
                lines.extend((!hint.is_empty()).then(|| format!("hint: {hint}")));
            }
            Entry::Shared { title, .. } => lines.push(format!("shared with the model: {title}")),
            Entry::Ran(ran) => lines.push(format!("running: {}", ran.line)),
            Entry::Cleared => lines.push("What was said before this line is not sent any more.".to_owned()),
        }
    }

    /// What the model thinks aloud, if somebody wants to hear it; the last line when that is whole.
    fn think(&mut self, entry: &Entry, ended: bool, lines: &mut Vec<String>) {
        let Entry::Answer(Answer { reasoning, .. }) = entry else { return };
        let Some(new) = reasoning.get(self.reasoned..).filter(|_| self.thoughts) else { return };
        let whole = if ended { new.len() } else { new.rfind('\n').map_or(0, |at| at + 1) };
        let said = new.get(..whole).unwrap_or_default().lines().filter(|line| !line.trim().is_empty());
        lines.extend(said.map(|line| format!("thinking: {line}")));
        self.reasoned += whole;
    }

    /// A wait before another try, and the like. That the first word is waited for needs no word.
    fn tell_status(&mut self, session: &Session, lines: &mut Vec<String>) {
        let status = session.turn().map(|turn| turn.status.clone());
        let compacts = session.is_compacting();
        let before =
            (std::mem::replace(&mut self.status, status.clone()), std::mem::replace(&mut self.compacts, compacts));
        if compacts && !before.1 && status.is_none() {
            lines.push("summarising the conversation.".to_owned());
        }
        let Some(status) = status.filter(|status| before.0.as_ref() != Some(status)) else { return };
        let is_silent = match (&status, &before.0) {
            (TurnStatus::Answering | TurnStatus::Waiting, _) => true,
            // A screen reader would read every second of a countdown: its first line is enough.
            (TurnStatus::Retrying { attempt, .. }, Some(TurnStatus::Retrying { attempt: known, .. })) => {
                attempt == known
            }
            // Some models think between any two words.
            (TurnStatus::Thinking, _) => {
                let turn = session.turn().map_or(0, |turn| turn.number);
                std::mem::replace(&mut self.thought_in, turn) == turn
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

/// The answer, if more of it is to come.
fn growing(entry: &Entry) -> Option<&Answer> {
    match entry {
        Entry::Answer(answer) if answer.state == AnswerState::Streaming => Some(answer),
        _ => None,
    }
}

/// Whether it is an answer of which no word has come: what is told of its request stands above it.
fn is_silent(entry: &Entry) -> bool {
    growing(entry).is_some_and(|answer| answer.text.is_empty())
}

fn ended(state: &AnswerState) -> Option<String> {
    match state {
        AnswerState::Incomplete(reason) => Some(format!("The answer ended early: {reason}.")),
        AnswerState::Streaming | AnswerState::Complete => None,
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
        let mut told = Told { typed: Some("go".into()), ..Told::default() };
        assert!(told.news(&session).is_empty(), "what was typed stands there");
        stream(&mut session, StreamEvent::Text("One.\nTwo.\nTh".into()));
        assert_eq!(told.news(&session), ["One."]);
        session.report(Level::Warning, "Careful.", "Esc cancels the turn.");
        assert_eq!(told.news(&session), ["warning: Careful.", "hint: Ctrl-C stops the turn."]);
        stream(&mut session, StreamEvent::Text("ree.".into()));
        session.handle(Response::Ended { turn: 1, result: Ok(Completion { finish: Finish::Stop, usage: None }) });
        assert_eq!(told.news(&session), ["Two.", "Three."]);
        assert!(told.news(&session).is_empty());
    }

    #[test]
    fn an_answer_that_goes_on_is_not_printed_again() {
        let mut session = session();
        let mut told = Told::default();
        stream(&mut session, StreamEvent::Text("One.\nTwo".into()));
        session.cancel();
        assert_eq!(told.news(&session), ["message: go", "One.", "Two", "The answer ended early: cancelled."]);
        session.continue_answer();
        told.news(&session);
        session.handle(Response::Asked { turn: 2, event: AskEvent::Stream(StreamEvent::Text(" and more.\n".into())) });
        session.handle(Response::Ended { turn: 2, result: Ok(Completion { finish: Finish::Stop, usage: None }) });
        assert_eq!(told.news(&session), ["Two and more."]);
    }

    #[test]
    fn thoughts_are_printed_for_those_who_ask() {
        for wanted in [false, true] {
            let mut session = session();
            let mut told = Told { thoughts: wanted, typed: Some("go".into()), ..Told::default() };
            stream(&mut session, StreamEvent::Reasoning("hm\nwell".into()));
            let first = told.news(&session);
            assert_eq!(first.first().is_some_and(|line| line == "thinking: hm"), wanted, "{first:?}");
            stream(&mut session, StreamEvent::Text("Yes.\nNo.\n".into()));
            let lines = told.news(&session);
            assert_eq!(lines.contains(&"thinking: well".to_owned()), wanted);
            assert!(lines.contains(&"Yes.".to_owned()));
        }
    }

    #[test]
    fn a_wait_before_another_try_is_one_line() {
        let mut session = session();
        let mut told = Told { typed: Some("go".into()), ..Told::default() };
        told.news(&session);
        let wait = |attempt, seconds| StreamEvent::Retrying {
            attempt,
            wait: Duration::from_secs(seconds),
            reason: "busy".into(),
        };
        let mut lines = Vec::new();
        for event in [wait(2, 2), wait(2, 1), wait(2, 0), wait(3, 2), wait(3, 1), StreamEvent::Reasoning("hm".into())] {
            stream(&mut session, event);
            lines.extend(told.news(&session));
        }
        assert_eq!(lines, ["try 2 in 2 s: busy.", "try 3 in 2 s: busy.", "thinking."]);
    }

    #[test]
    fn what_is_left_out_and_told_after_it_is_printed() {
        let mut session = session();
        let mut told = Told::default();
        stream(&mut session, StreamEvent::Text("One.\n".into()));
        session.cancel();
        told.news(&session);
        session.rewind(Some(1));
        let lines = told.news(&session);
        assert!(lines.len() == 1 && lines[0].contains("is the draft again"), "{lines:?}");
    }
}
