//! Lists of what was before: earlier sessions, and what was typed.

use super::{Overlay, Reply};
use crate::session::Keeping;
use crate::store::sessions::SessionLine;
use crate::tui::widget::picker::{Outcome, Picker};

impl Overlay {
    /// Earlier sessions to go on with; a query narrows them down.
    pub fn sessions(query: &str, lines: &[SessionLine]) -> Self {
        // Dates are searched too, so they stand in the item and not beside it.
        let items = lines.iter().map(|line| format!("{}  {}", line.changed, title(line))).collect();
        let details = lines.iter().map(detail).collect();
        let mut picker = Picker::new("earlier sessions", items).details(details);
        picker.set_query(query);
        Self::Sessions(picker, lines.iter().map(|line| line.number).collect())
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
    let noun = if line.messages == 1 { "message" } else { "messages" };
    let live = if line.live { ", open elsewhere" } else { "" };
    format!("#{}, {} {noun}{live}", line.number, line.messages)
}

/// What a choice among `targets` leads to.
pub(super) fn chosen<T>(outcome: Outcome, targets: &[T], reply: impl Fn(&T) -> Reply) -> Reply {
    match outcome {
        Outcome::Open => Reply::Stay,
        Outcome::Cancelled => Reply::Close,
        Outcome::Picked(rows) => rows.first().and_then(|row| targets.get(*row)).map_or(Reply::Close, reply),
    }
}
