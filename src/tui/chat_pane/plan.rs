//! The plan of the agent, at the top of the chat.

use rhumb_agent::{PlanItem, PlanState};
use rhumb_session::Session;

use super::tool_card::plan_mark;
use crate::tui::prelude::*;

/// With fewer rows the plan is one line.
const MIN_ROWS: usize = 4;

/// The plan of the session, by the revision of its transcript.
#[derive(Debug, Default)]
pub(super) struct PlanCache {
    revision: Option<u64>,
    items: Vec<PlanItem>,
}

impl PlanCache {
    pub(super) fn items(&mut self, session: &Session) -> &[PlanItem] {
        let revision = session.transcript().revision();
        if self.revision != Some(revision) {
            (self.revision, self.items) = (Some(revision), session.agent_plan());
        }
        &self.items
    }
}

/// The plan in at most `rows` lines: a title, the items with the current one always among them, and a rule.
pub(super) fn lines(items: &[PlanItem], columns: u16, rows: usize, theme: &Theme) -> Lines {
    let done = items.iter().filter(|item| item.state == PlanState::Completed).count();
    let is = |state: PlanState| move |item: &PlanItem| item.state == state;
    let current = items.iter().position(is(PlanState::InProgress)).or(items.iter().position(is(PlanState::Pending)));
    if items.is_empty() || rows == 0 {
        return Vec::new();
    }
    let title = format!("plan {done}/{}", items.len());
    if current.is_none() || rows < MIN_ROWS {
        let item = current.and_then(|at| items.get(at));
        let item = item.map_or_else(|| " · ☑ done".to_owned(), |item| format!(" · {}", item_text(item)));
        let available = usize::from(columns).saturating_sub(width::columns(&title));
        return vec![Line::from(vec![
            Span::styled(title, theme.style(Role::Title)),
            Span::styled(width::clip(&item, available).into_owned(), theme.style(Role::Muted)),
        ])];
    }
    let window = window(items.len(), current.unwrap_or(0), rows.saturating_sub(2));
    let mut lines = vec![Line::styled(title, theme.style(Role::Title))];
    let (above, below) = (window.start, items.len() - window.end);
    for (at, item) in items.iter().enumerate().take(window.end).skip(window.start) {
        let role = match item.state {
            _ if Some(at) == current => Role::Accent,
            PlanState::Completed => Role::Muted,
            _ => Role::Text,
        };
        lines.push(clipped(&format!(" {}", item_text(item)), columns, theme.style(role)));
    }
    let muted = theme.style(Role::Border);
    let rest: Vec<String> = [(above, "above"), (below, "below")]
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, place)| format!("{number} more {place}"))
        .collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" {} ", rest.join(", ")) };
    let rest = width::clip(&rest, usize::from(columns)).into_owned();
    let rule = "─".repeat(usize::from(columns).saturating_sub(width::columns(&rest)));
    lines.push(Line::from(vec![Span::styled(rule, muted), Span::styled(rest, theme.style(Role::Muted))]));
    lines
}

fn item_text(item: &PlanItem) -> String {
    let text = item.text.lines().next().unwrap_or_default();
    format!("{} {}", plan_mark(item), sanitize::visible_line(text))
}

/// The items to show: as many as there are rows, with the current one and, if possible, the one before it.
fn window(items: usize, current: usize, rows: usize) -> Range<usize> {
    let start = current.saturating_sub(1).min(items.saturating_sub(rows));
    // With a single row, only the current item fits.
    let start = if rows < 2 { current } else { start };
    start..(start + rows).min(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::ColorDepth;
    use proptest::prelude::*;

    fn plan(states: &[PlanState]) -> Vec<PlanItem> {
        states.iter().zip(1..).map(|(state, at)| PlanItem { text: format!("item {at}"), state: *state }).collect()
    }

    fn shown(items: &[PlanItem], columns: u16, rows: usize) -> Vec<String> {
        lines(items, columns, rows, &Theme::plain(ColorDepth::None)).iter().map(ToString::to_string).collect()
    }

    const MIXED: [PlanState; 4] =
        [PlanState::Completed, PlanState::Completed, PlanState::InProgress, PlanState::Pending];

    #[test]
    fn a_plan_has_its_count_its_items_and_a_rule() {
        let text = shown(&plan(&MIXED), 12, 9);
        assert_eq!(text, ["plan 2/4", " ☑ item 1", " ☑ item 2", " ◐ item 3", " ☐ item 4", "────────────"]);
        assert_eq!(shown(&plan(&MIXED), 40, 5)[4], "────────────────────────── 1 more above ");
    }

    #[test]
    fn a_small_pane_and_a_plan_that_is_done_have_one_line() {
        assert_eq!(shown(&plan(&MIXED), 40, 3), ["plan 2/4 · ◐ item 3"]);
        assert_eq!(shown(&plan(&[PlanState::Completed]), 40, 9), ["plan 1/1 · ☑ done"]);
        assert!(shown(&[], 40, 9).is_empty() && shown(&plan(&MIXED), 40, 0).is_empty());
    }

    proptest! {
        #[test]
        fn the_current_item_is_always_shown_and_no_row_is_too_many(
            states in prop::collection::vec(prop::sample::select(MIXED.to_vec()), 1..30),
            columns in 10u16..60,
            rows in 1usize..20,
        ) {
            let items = plan(&states);
            let shown = shown(&items, columns, rows);
            prop_assert!(shown.len() <= rows);
            prop_assert!(shown.iter().all(|line| width::columns(line) <= usize::from(columns)));
            let current = states.iter().position(|state| *state == PlanState::InProgress);
            let current = current.or(states.iter().position(|state| *state == PlanState::Pending));
            if let Some(current) = current {
                let text = format!("item {}", current + 1);
                prop_assert!(columns < 30 || shown.iter().any(|line| line.contains(&text)), "{:?}", shown);
            }
        }
    }
}
