//! A command in the transcript: what ran, how it stands, and the first and last lines that it printed.

use ratatui::text::Line;

use super::message::marked;
use super::transcript::Scene;
use crate::session::{Ran, RunState};
use crate::tui::theme::Role;
use rhumb_workspace::process::End;

/// Lines of a command that are shown; a longer one is in the log.
const COMMAND_LINES: usize = 6;

/// The lines of the card.
pub(super) fn lines(ran: &Ran, columns: usize, scene: &Scene<'_>) -> Vec<Line<'static>> {
    let theme = scene.theme;
    let (mark, role) = look(&ran.state);
    let mut command: Vec<&str> = ran.line.lines().take(COMMAND_LINES).collect();
    if ran.line.lines().count() > COMMAND_LINES {
        command.push("…");
    }
    let mut lines = marked(&command.join("\n"), "$ ", Role::Accent, columns, theme);
    let more = if scene.log_key.is_empty() { String::new() } else { format!(" ({})", scene.log_key) };
    lines.extend(marked(&ran.excerpt(&more), "  ", Role::Muted, columns, theme));
    lines.extend(marked(&ran.state.words(ran.seconds), mark, role, columns, theme));
    lines
}

/// The mark and the colour of a state.
pub(crate) fn look(state: &RunState) -> (&'static str, Role) {
    match state {
        RunState::Running => ("⋯ ", Role::Muted),
        RunState::Ended(End::Exit(0)) => ("✓ ", Role::Success),
        RunState::Ended(End::Stopped) => ("■ ", Role::Warning),
        RunState::Ended(_) | RunState::Failed(_) => ("✗ ", Role::Error),
    }
}
