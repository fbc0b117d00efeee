//! A meter of used tokens within a budget.

use crate::tui::prelude::*;

/// Shares of the budget from which the gauge is drawn as filling up, and as nearly full.
const MID: f64 = 0.6;
const HIGH: f64 = 0.85;

pub use rhumb_text::rounded as tokens;
pub use rhumb_text::thousands as grouped;

/// The gauge on one line: a bar of `cells` columns and `12.3k / 128k` behind it. The bar is a heavy line over a light one in steps
/// of half a column. Any use shows at least the smallest fill; only a spent budget shows a full bar, and use beyond it is
/// marked with `!`.
pub fn line(used: u64, budget: u64, cells: u16, theme: &Theme) -> Line<'static> {
    let (full, empty) = bar(used, budget, cells);
    let role = role(used, budget);
    let over = if used > budget { " !" } else { "" };
    Line::from(vec![
        Span::styled(full, theme.style(role)),
        Span::styled(empty, theme.style(Role::MeterEmpty)),
        Span::styled(format!(" {}", tokens(used)), theme.style(if role == Role::MeterLow { Role::Text } else { role })),
        Span::styled(format!(" / {}", tokens(budget)), theme.style(Role::Muted)),
        Span::styled(over, theme.style(Role::MeterHigh)),
    ])
}

/// A gauge of `cells` columns, of which `filled` are full.
pub fn gauge(filled: usize, cells: usize, role: Role, theme: &Theme) -> [Span<'static>; 2] {
    [
        Span::styled("▮".repeat(filled), theme.style(role)),
        Span::styled("▯".repeat(cells - filled), theme.style(Role::MeterEmpty)),
    ]
}

pub fn role(used: u64, budget: u64) -> Role {
    match share(used, budget) {
        share if share < MID => Role::MeterLow,
        share if share < HIGH => Role::MeterMid,
        _ => Role::MeterHigh,
    }
}

/// The used share of the budget, from 0.
fn share(used: u64, budget: u64) -> f64 {
    match (used, budget) {
        (0, _) => 0.0,
        (_, 0) => f64::INFINITY,
        _ => used as f64 / budget as f64,
    }
}

fn bar(used: u64, budget: u64, cells: u16) -> (String, String) {
    let cells = usize::from(cells);
    // The cast saturates, so that no share can overflow it.
    let halves = ((share(used, budget) * (cells * 2) as f64).round() as usize).max(usize::from(used > 0));
    let halves = halves.min(if used < budget { (cells * 2).saturating_sub(1) } else { cells * 2 });
    let half = if halves % 2 == 1 { "╸" } else { "" };
    ("━".repeat(halves / 2) + half, "─".repeat(cells - halves.div_ceil(2)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tui::theme::ColorDepth;

    fn drawn(used: u64, budget: u64) -> String {
        line(used, budget, 8, &Theme::plain(ColorDepth::None)).to_string()
    }

    #[test]
    fn the_bar_fills_by_halves() {
        assert_eq!(drawn(0, 64_000), "──────── 0 / 64k");
        assert_eq!(drawn(12_000, 64_000), "━╸────── 12k / 64k");
        assert_eq!(drawn(1, 64_000), "╸─────── 1 / 64k");
        assert_eq!(drawn(63_999, 64_000), "━━━━━━━╸ 64k / 64k");
        assert_eq!(drawn(64_000, 64_000), "━━━━━━━━ 64k / 64k");
        assert_eq!(drawn(70_000, 64_000), "━━━━━━━━ 70k / 64k !");
    }

    #[test]
    fn a_gauge_without_a_budget_is_empty_or_over() {
        assert_eq!(drawn(0, 0), "──────── 0 / 0");
        assert_eq!(drawn(5, 0), "━━━━━━━━ 5 / 0 !");
    }

    #[test]
    fn the_role_rises_with_the_fill() {
        assert_eq!([role(10, 100), role(70, 100), role(90, 100)], [Role::MeterLow, Role::MeterMid, Role::MeterHigh]);
    }

    proptest! {
        #[test]
        fn the_bar_has_its_width(used in any::<u64>(), budget in any::<u64>(), cells in 0u16..40) {
            let (full, empty) = bar(used, budget, cells);
            prop_assert_eq!(full.chars().count() + empty.chars().count(), usize::from(cells));
            prop_assert!(tokens(used % 10_u64.pow(12)).len() <= 5);
        }
    }
}
