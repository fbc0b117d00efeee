//! Lists of what was before: earlier sessions, and what was typed.

use std::collections::BTreeMap;

use crossterm::event::KeyEvent;

use super::line::LineFor;
use super::look::Look;
use super::{Confirm, Deed, Overlay, Reply};
use crate::session::{Keeping, Speaker};
use crate::store::sessions::SessionLine;
use crate::tui::key;
use crate::tui::widget::picker::{Outcome, Picker};

/// Earlier sessions to go on with, to look at, to name and to throw away.
#[derive(Debug)]
pub struct SessionList {
    /// The list on the screen.
    pub picker: Picker,
    lines: Vec<SessionLine>,
    /// What was said last in those that were looked at.
    said: BTreeMap<i64, Vec<(Speaker, String)>>,
}

impl SessionList {
    fn new(query: &str, lines: &[SessionLine]) -> Self {
        // Dates are searched too, so they stand in the item and not beside it.
        let items = lines.iter().map(|line| format!("{}  {}", line.changed, title(line))).collect();
        let details = lines.iter().map(detail).collect();
        let keys = [("Alt-r", "rename"), ("Alt-d", "delete"), ("Alt-f", "fork")];
        let mut picker = Picker::new("earlier sessions", items).details(details).with_preview().extra_keys(&keys);
        picker.set_query(query);
        Self { picker, lines: lines.to_vec(), said: BTreeMap::new() }
    }

    fn here(&self) -> Option<&SessionLine> {
        self.lines.get(self.picker.selected()?)
    }

    /// Takes a key: Enter goes on with a session, others name it, delete it, or begin a new one with it.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        if let Some(line) = self.here() {
            match key::name(key).as_str() {
                "Alt-r" => return Reply::AskLine(LineFor::RenameSession(line.number), line.name.clone()),
                "Alt-d" => return Reply::AskFirst(Box::new(deleting(line))),
                "Alt-f" => return Reply::Fork(line.number),
                _ => {}
            }
        }
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => Reply::Close,
            Outcome::Picked(rows) => {
                let line = rows.first().and_then(|row| self.lines.get(*row));
                line.map_or(Reply::Close, |line| Reply::Resume(line.number))
            }
        }
    }

    /// The session under the cursor, unless what was said in it is known.
    pub fn look(&self) -> Option<Look> {
        self.here().filter(|line| !self.said.contains_key(&line.number)).map(|line| Look::Session(line.number))
    }

    /// What was said last in the session under the cursor, as far as it is known.
    pub(super) fn said(&self) -> Option<&[(Speaker, String)]> {
        self.said.get(&self.here()?.number).map(Vec::as_slice)
    }

    /// Takes in what was said last in a session.
    pub fn note(&mut self, number: i64, said: Vec<(Speaker, String)>) {
        self.said.insert(number, said);
    }

    /// Takes in the sessions that there are now; what was typed stays, and the cursor where it was.
    pub fn refresh(&mut self, lines: &[SessionLine]) {
        let at = self.picker.row();
        let said = std::mem::take(&mut self.said);
        *self = Self { said, ..Self::new(self.picker.query(), lines) };
        self.picker.point(at.min(self.picker.match_count().saturating_sub(1)));
    }
}

fn deleting(line: &SessionLine) -> Confirm {
    let noun = if line.messages == 1 { "message" } else { "messages" };
    let text = [
        format!("Session {}, {}: {}", line.number, line.changed, line.title()),
        format!(
            "Its {} {noun}, their answers and what is under review in it are lost for good. Files of the repository stay as they are.",
            line.messages
        ),
    ];
    Confirm::new("delete the session?", text)
        .way('y', &format!("delete session {}", line.number), Deed::DeleteSession(line.number))
        .stay("keeps it")
}

impl Overlay {
    /// Earlier sessions to go on with; a query narrows them down.
    pub fn sessions(query: &str, lines: &[SessionLine]) -> Self {
        Self::Sessions(SessionList::new(query, lines))
    }

    /// What was typed before, the newest first.
    pub fn inputs(keeping: &Keeping) -> Self {
        let inputs: Vec<String> = keeping.inputs.iter().rev().cloned().collect();
        let items = inputs.iter().map(|text| text.replace('\n', " ⏎ ")).collect();
        Self::Inputs(Picker::new("what was typed before", items), inputs)
    }
}

fn title(line: &SessionLine) -> String {
    if line.name.is_empty() || line.opening.is_empty() {
        return line.title().to_owned();
    }
    format!("{} — {}", line.name, line.opening)
}

fn detail(line: &SessionLine) -> String {
    // What was said in it is the better use of the room.
    let live = if line.live { ", open elsewhere" } else { "" };
    format!("#{}{live}", line.number)
}

/// What a choice among `targets` leads to.
pub(super) fn chosen<T>(outcome: Outcome, targets: &[T], reply: impl Fn(&T) -> Reply) -> Reply {
    match outcome {
        Outcome::Open => Reply::Stay,
        Outcome::Cancelled => Reply::Close,
        Outcome::Picked(rows) => rows.first().and_then(|row| targets.get(*row)).map_or(Reply::Close, reply),
    }
}
