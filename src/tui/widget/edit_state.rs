//! The state of an edit as a mark and a word, so that colour is not the only signal.

use ratatui::text::Span;
use rhumb_edit::review::{Counts, EditState};
use rhumb_text::width;

use crate::tui::theme::{Role, Theme};

/// The state for a line with that many columns left: only its mark if the word does not fit.
pub fn span(state: EditState, columns: usize, theme: &Theme) -> Option<Span<'static>> {
    let text = match state {
        EditState::Mixed(counts) => counted(counts),
        state => format!("  {} {}", state.mark(), state.label()),
    };
    let text = if width::columns(&text) <= columns { text } else { format!(" {}", state.mark()) };
    (width::columns(&text) <= columns).then(|| Span::styled(text, theme.style(role(state))))
}

fn counted(counts: Counts) -> String {
    let parts = [(counts.accepted, '✓'), (counts.rejected, '✗'), (counts.pending, '·')];
    let shown = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, mark)| format!(" {mark}{count}"));
    std::iter::once(" ".to_owned()).chain(shown).collect()
}

pub fn role(state: EditState) -> Role {
    match state {
        EditState::Accepted | EditState::Written => Role::HunkAccepted,
        EditState::Rejected => Role::HunkRejected,
        EditState::Mixed(counts) if counts.pending == 0 => Role::HunkAccepted,
        EditState::Pending | EditState::Mixed(_) => Role::HunkPending,
        EditState::Unplaced | EditState::Incomplete | EditState::Conflict => Role::Warning,
        EditState::AlreadyApplied | EditState::Repeated => Role::Muted,
        EditState::Undone | EditState::Replaced | EditState::Dismissed => Role::Muted,
    }
}
