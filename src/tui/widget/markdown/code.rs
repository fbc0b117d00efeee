//! Code blocks: a label, a bar at the left, coloured lines cut at the width with nothing lost.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Look;
use crate::tui::theme::Role;
use crate::tui::widget::styled::{StyledText, fill};
use rhumb_text::{sanitize, width};

/// The bar before a line of code, and before what is carried over from the line above.
const BAR: &str = "│ ";
const CARRIED: &str = "│↪";

/// The lines of a code block in `columns` columns. `info` is the info string of its fence.
pub(super) fn render(info: &str, code: &str, columns: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let ground = look.theme.style(Role::CodeBg);
    let plain = look.theme.style(Role::Text).patch(ground);
    let mark = ground.patch(look.theme.style(Role::Border));
    let info = sanitize::visible_line(info.trim());
    let mut lines = Vec::new();
    if !info.is_empty() {
        let label = width::clip(&info, columns.saturating_sub(BAR.chars().count())).into_owned();
        let label = Span::styled(label, ground.patch(look.theme.style(Role::Muted)));
        lines.push(Line::from(vec![Span::styled("╭ ", mark), label]));
    }
    let safe: Vec<_> = code.strip_suffix('\n').unwrap_or(code).split('\n').map(sanitize::visible_line).collect();
    let language = info.split([' ', ',', '{']).next().unwrap_or("");
    let mut coloured = (look.code)(language, &safe.join("\n")).into_iter();
    let room = columns.saturating_sub(2).max(1);
    for line in &safe {
        let text = styled(line, coloured.next(), plain);
        for (index, mut piece) in text.hard_wrap(room).into_iter().enumerate() {
            let bar = if index == 0 { BAR } else { CARRIED };
            piece.spans.insert(0, Span::styled(bar, mark));
            lines.push(piece);
        }
    }
    for line in &mut lines {
        fill(line, columns, ground);
    }
    lines
}

/// One line with its colours, or without them if they do not belong to it.
fn styled(line: &str, pieces: Option<Vec<(String, Style)>>, plain: Style) -> StyledText {
    let mut text = StyledText::new();
    for (piece, style) in pieces.unwrap_or_default() {
        text.push(&piece, plain.patch(style));
    }
    if text.text() != line {
        text = StyledText::new();
        text.push(line, plain);
    }
    text
}
