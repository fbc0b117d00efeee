//! A look at what the cursor of a list is on, beside the list: a part of a file, or the end of a session.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::Sight;
use crate::session::Speaker;
use crate::tui::preview::Preview;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::preview::{self, Marked};
use rhumb_text::{sanitize, width, wrap};

/// What a list shows beside itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// A file of the repository, around some lines.
    File(String, Option<Marked>),
    /// The end of an earlier session.
    Session(i64),
}

/// Draws a part of a file, as far as it is known.
pub(super) fn file(
    frame: &mut Frame<'_>,
    area: Rect,
    at: (&str, Option<Marked>),
    sight: &mut Sight<'_>,
    theme: &Theme,
) {
    let (path, marked) = at;
    let word = match sight.previews.get(path) {
        Some(Preview::Text(text)) if text.is_empty() => "the file is empty",
        Some(Preview::Text(text)) => return preview::draw(frame, area, (path, text), marked, sight.coloring, theme),
        Some(Preview::None(why)) => why.as_str(),
        Some(Preview::Reading) | None => "reading …",
    };
    remark(frame, area, word, theme);
}

/// Draws what was said last in a session; `None` while it is being looked up.
pub(super) fn session(frame: &mut Frame<'_>, area: Rect, said: Option<&[(Speaker, String)]>, theme: &Theme) {
    let said = match said {
        None => return remark(frame, area, "reading …", theme),
        Some([]) => return remark(frame, area, "nothing was said in it", theme),
        Some(said) => said,
    };
    let columns = usize::from(area.width.saturating_sub(2)).max(1);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut last = 0;
    for (who, text) in said {
        last = lines.len();
        let (name, role) = match who {
            Speaker::You => ("you", Role::User),
            Speaker::Model => ("model", Role::Assistant),
        };
        lines.push(Line::styled(format!(" {name}"), theme.style(role)));
        for line in text.lines().map(sanitize::visible_line) {
            let pieces = wrap::wrap(&line, columns).into_iter();
            lines.extend(pieces.map(|range| Line::styled(format!(" {}", &line[range]), theme.style(Role::Text))));
        }
        lines.push(Line::default());
    }
    lines.pop();
    // The end is what one remembers a conversation by; but what was said last is known by how it begins.
    let first = lines.len().saturating_sub(usize::from(area.height)).min(last);
    frame.render_widget(Paragraph::new(lines.split_off(first)), area);
}

fn remark(frame: &mut Frame<'_>, area: Rect, text: &str, theme: &Theme) {
    let text = sanitize::visible_line(text);
    let text = width::clip(&text, usize::from(area.width.saturating_sub(2))).into_owned();
    frame.render_widget(
        Line::styled(format!(" {text}"), theme.style(Role::Muted)),
        Rect { height: area.height.min(1), ..area },
    );
}
