//! A command in the transcript: what ran, how it stands, and the last that it printed.

use ratatui::text::Line;

use super::message::marked;
use crate::process::End;
use crate::session::{Ran, RunState};
use crate::tui::theme::{Role, Theme};

/// Lines of a command that are shown; a longer one is in the log.
const COMMAND_LINES: usize = 6;

/// Lines of its output that are shown when it went well.
const WELL: usize = 2;

/// The lines of the card.
pub(super) fn lines(ran: &Ran, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (mark, role) = look(&ran.state);
    let mut command: Vec<&str> = ran.line.lines().take(COMMAND_LINES).collect();
    if ran.line.lines().count() > COMMAND_LINES {
        command.push("…");
    }
    let mut lines = marked(&command.join("\n"), "$ ", Role::Accent, columns, theme);
    let said: Vec<&str> = ran.tail.lines().collect();
    let shown = if matches!(ran.state, RunState::Ended(End::Exit(0))) { WELL } else { said.len() };
    let said = said.get(said.len().saturating_sub(shown)..).unwrap_or_default();
    lines.extend(marked(&said.join("\n"), "  ", Role::Muted, columns, theme));
    lines.extend(marked(&ran.state.words(ran.seconds), mark, role, columns, theme));
    lines
}

/// The mark and the colour of a state.
pub(in crate::tui) fn look(state: &RunState) -> (&'static str, Role) {
    match state {
        RunState::Running => ("⋯ ", Role::Muted),
        RunState::Ended(End::Exit(0)) => ("✓ ", Role::Success),
        RunState::Ended(End::Stopped) => ("■ ", Role::Warning),
        RunState::Ended(_) | RunState::Failed(_) => ("✗ ", Role::Error),
    }
}
