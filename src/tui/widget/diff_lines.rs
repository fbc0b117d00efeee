//! Lines of a diff: line numbers, sign, syntax colours, marked changed words, and wrapped long lines.

use rhumb_edit::review::{Counts, EditState};

use super::styled::Lines;
use crate::tui::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sign {
    Context,
    Added,
    Removed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub sign: Sign,
    /// 1-based.
    pub base: Option<u32>,
    /// 1-based.
    pub proposed: Option<u32>,
    /// Without its terminator.
    pub text: String,
    /// Syntax styles by byte range of `text`. The last one wins.
    pub syntax: Vec<(Range<usize>, Style)>,
    /// The changed words, as byte ranges of `text`.
    pub words: Vec<Range<usize>>,
    /// Search matches, as byte ranges of `text`.
    pub found: Vec<Range<usize>>,
}

/// The digits of line numbers; 0 omits a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gutter {
    pub base: usize,
    pub proposed: usize,
}

impl Gutter {
    /// The gutter of a unified diff, by the number of lines.
    pub fn unified(base_lines: u32, proposed_lines: u32) -> Self {
        Self { base: digits(base_lines), proposed: digits(proposed_lines) }
    }

    pub fn base(base_lines: u32) -> Self {
        Self { base: digits(base_lines), proposed: 0 }
    }

    pub fn proposed(proposed_lines: u32) -> Self {
        Self { base: 0, proposed: digits(proposed_lines) }
    }

    /// Its columns, with the sign and the space after it.
    pub fn columns(self) -> usize {
        let number = |digits: usize| if digits == 0 { 0 } else { digits + 1 };
        number(self.base) + number(self.proposed) + 2
    }
}

/// The screen rows of a line, each at most `columns` columns wide including the gutter. Long lines wrap to further
/// rows, marked `↪`. The background fills the whole width.
pub fn rows(line: &DiffLine, gutter: Gutter, columns: u16, theme: &Theme) -> Lines {
    let background = background(line.sign, theme);
    let available = usize::from(columns).saturating_sub(gutter.columns()).max(1);
    let mut rows = styled(line, theme).hard_wrap(available);
    for (index, row) in rows.iter_mut().enumerate() {
        let carried = index > 0;
        let numbers = [(line.base, gutter.base), (line.proposed, gutter.proposed)];
        let numbers: String = numbers.into_iter().map(|(number, digits)| cell(number, digits, carried)).collect();
        let sign = match line.sign {
            _ if carried => "↪ ",
            Sign::Context => "  ",
            Sign::Added => "+ ",
            Sign::Removed => "- ",
        };
        let sign_style = if carried { background.patch(theme.style(Role::Gutter)) } else { background };
        row.spans.insert(0, Span::styled(sign, sign_style));
        row.spans.insert(0, Span::styled(numbers, background.patch(theme.style(Role::Gutter))));
        fill(row, usize::from(columns), background);
    }
    rows
}

/// The number of [`rows`] of a text.
pub fn height(text: &str, gutter: Gutter, columns: u16) -> usize {
    let available = usize::from(columns).saturating_sub(gutter.columns()).max(1);
    wrap::hard_wrap(&sanitize::visible_from(text, 0), available).len().max(1)
}

fn background(sign: Sign, theme: &Theme) -> Style {
    let text = theme.style(Role::Text);
    match sign {
        Sign::Context => text,
        Sign::Added => text.patch(theme.style(Role::Added)),
        Sign::Removed => text.patch(theme.style(Role::Removed)),
    }
}

/// The styled text: syntax colours, changed words, search matches.
fn styled(line: &DiffLine, theme: &Theme) -> StyledText {
    let background = background(line.sign, theme);
    let word = theme.style(match line.sign {
        Sign::Removed => Role::RemovedWord,
        Sign::Added => Role::AddedWord,
        Sign::Context => Role::Text,
    });
    let mut ends: Vec<usize> = line.syntax.iter().flat_map(|(range, _)| [range.start, range.end]).collect();
    ends.extend(line.words.iter().chain(&line.found).flat_map(|range| [range.start, range.end]));
    ends.push(line.text.len());
    // A variation selector changes the width of the character before it. A split between them would change the measured width.
    ends.retain(|end| line.text.get(*end..).is_some_and(|rest| !rest.starts_with(['\u{fe0e}', '\u{fe0f}'])));
    ends.sort_unstable();
    let mut text = StyledText::new();
    let (mut start, mut column) = (0, 0);
    for end in ends {
        let Some(piece) = line.text.get(start..end).filter(|piece| !piece.is_empty()) else {
            continue;
        };
        let covers = |range: &Range<usize>| range.start <= start && end <= range.end;
        let syntax =
            line.syntax.iter().rev().find(|(range, _)| covers(range)).map_or(Style::default(), |(_, style)| *style);
        let changed = if line.words.iter().any(covers) { word } else { Style::default() };
        let found = if line.found.iter().any(covers) { theme.style(Role::Search) } else { Style::default() };
        let shown = sanitize::visible_from(piece, column);
        text.push(&shown, background.patch(syntax).patch(changed).patch(found));
        column += width::columns(&shown);
        start = end;
    }
    text
}

fn cell(number: Option<u32>, digits: usize, carried: bool) -> String {
    match number.filter(|_| !carried) {
        _ if digits == 0 => String::new(),
        Some(number) => format!("{number:>digits$} "),
        None => " ".repeat(digits + 1),
    }
}

fn digits(lines: u32) -> usize {
    lines.max(1).ilog10() as usize + 1
}

/// Puts the rows of two halves side by side. A half with fewer rows is filled with blank rows in its style. Each row of the
/// left half must fill its columns.
pub fn beside(left: Lines, right: Lines, columns: [usize; 2], blank: Style, rule: Style) -> Lines {
    let count = left.len().max(right.len()).max(1);
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let empty = |columns: usize| Line::from(Span::styled(" ".repeat(columns), blank));
    let row = |_| {
        let mut row = left.next().unwrap_or_else(|| empty(columns[0]));
        row.spans.push(Span::styled("│", rule));
        row.spans.extend(right.next().unwrap_or_else(|| empty(columns[1])).spans);
        row
    };
    (0..count).map(row).collect()
}

/// The state for a line with that many columns left: only its mark if the word does not fit.
pub fn state_span(state: EditState, columns: usize, theme: &Theme) -> Option<Span<'static>> {
    let text = match state {
        EditState::Mixed(counts) => counted(counts),
        state => format!("  {} {}", state.mark(), state.label()),
    };
    let text = if width::columns(&text) <= columns { text } else { format!(" {}", state.mark()) };
    (width::columns(&text) <= columns).then(|| Span::styled(text, theme.style(state_role(state))))
}

fn counted(counts: Counts) -> String {
    let parts = [(counts.accepted, '✓'), (counts.rejected, '✗'), (counts.pending, '·')];
    let shown = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, mark)| format!(" {mark}{count}"));
    std::iter::once(" ".to_owned()).chain(shown).collect()
}

pub fn state_role(state: EditState) -> Role {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Color;

    use super::*;
    use crate::tui::theme::ColorDepth;

    fn line(sign: Sign, text: &str) -> DiffLine {
        let (base, proposed) = match sign {
            Sign::Context => (Some(9), Some(10)),
            Sign::Added => (None, Some(10)),
            Sign::Removed => (Some(9), None),
        };
        DiffLine {
            sign,
            base,
            proposed,
            text: text.to_owned(),
            syntax: Vec::new(),
            words: Vec::new(),
            found: Vec::new(),
        }
    }

    fn drawn(line: &DiffLine, gutter: Gutter, columns: u16) -> Vec<String> {
        let theme = Theme::plain(ColorDepth::None);
        let rows = rows(line, gutter, columns, &theme);
        rows.iter().map(|row| row.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn numbers_and_signs_stand_before_the_text() {
        let gutter = Gutter::unified(120, 99);
        assert_eq!(drawn(&line(Sign::Context, "let x;"), gutter, 40), ["  9 10   let x;"]);
        assert_eq!(drawn(&line(Sign::Added, "let x;"), gutter, 40), ["    10 + let x;"]);
        assert_eq!(drawn(&line(Sign::Removed, ""), gutter, 40), ["  9    -"]);
        assert_eq!(drawn(&line(Sign::Removed, "x"), Gutter::base(9), 40), ["9 - x"]);
        assert_eq!(drawn(&line(Sign::Added, "x"), Gutter::proposed(10), 40), ["10 + x"]);
    }

    #[test]
    fn an_emoji_and_its_style_are_not_parted() {
        let text = "a ⚠\u{fe0f} b";
        let at = text.find('\u{fe0f}').unwrap();
        let words = [at..at + 3, text.len() - 1..text.len()].to_vec();
        let line = DiffLine { words, ..line(Sign::Added, text) };
        assert_eq!(drawn(&line, Gutter::proposed(10), 40), [format!("10 + {text}")]);
    }

    #[test]
    fn a_long_line_is_carried_over() {
        let rows = drawn(&line(Sign::Added, "abcdefghij"), Gutter::proposed(10), 9);
        assert_eq!(rows, ["10 + abcd", "   ↪ efgh", "   ↪ ij"]);
    }

    #[test]
    fn words_lie_over_syntax_and_tabs_count_from_the_line() {
        let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
        let mut changed = line(Sign::Added, "\tab\tc");
        changed.syntax = vec![(1..5, Style::default().fg(Color::Red))];
        changed.words = vec![Range { start: 2, end: 3 }];
        let rows = rows(&changed, Gutter::proposed(10), 40, &theme);
        assert_eq!(rows[0].to_string().trim_end(), "10 +     ab  c");
        let style = |text: &str| rows[0].spans.iter().find(|span| span.content == text).unwrap().style;
        assert_eq!((style("a").fg, style("a").bg), (Some(Color::Red), theme.style(Role::Added).bg));
        assert_eq!(style("b").bg, theme.style(Role::AddedWord).bg);
        assert_eq!((rows[0].width(), rows[0].spans.last().unwrap().style.bg), (40, theme.style(Role::Added).bg));
    }

    #[test]
    fn a_carriage_return_in_a_line_is_shown() {
        assert_eq!(drawn(&line(Sign::Added, "x\r"), Gutter::proposed(9), 40), ["10 + x␍"]);
    }

    proptest! {
        #[test]
        fn the_height_is_the_number_of_rows(text in "[a-zäß世\\t \u{1b}]{0,40}", columns in 1u16..30) {
            let (gutter, line) = (Gutter::unified(12, 9), line(Sign::Added, &text));
            let theme = Theme::plain(ColorDepth::None);
            prop_assert_eq!(height(&text, gutter, columns), rows(&line, gutter, columns, &theme).len());
        }

        #[test]
        fn any_ranges_draw_the_whole_text(text in "[a-zé日 ]{0,20}", cuts in prop::collection::vec((0usize..30, 0usize..30), 0..6)) {
            let mut changed = line(Sign::Removed, &text);
            for (start, end) in cuts {
                changed.syntax.push((start..end, Style::default().fg(Color::Red)));
                changed.words.push(end..start);
            }
            let rows = rows(&changed, Gutter::default(), 8, &Theme::plain(ColorDepth::None));
            let shown: String = rows.iter().flat_map(|row| row.spans.iter().skip(2)).map(|span| span.content.as_ref()).collect();
            prop_assert_eq!(shown.replace(' ', ""), text.replace(' ', ""));
        }
    }
}

#[cfg(test)]
mod sides_tests {
    use super::*;

    #[test]
    fn the_shorter_half_is_filled_up() {
        let rows = beside(vec!["ab".into()], vec!["c".into(), "d".into()], [2, 1], Style::default(), Style::default());
        assert_eq!(rows.iter().map(ToString::to_string).collect::<Vec<_>>(), ["ab│c", "  │d"]);
    }
}
