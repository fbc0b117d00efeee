//! The review pane: every hunk of the proposal with its context and its decision, and the edits that found no place.

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::review_rows::{FileLines, Row, Side, refused_parts, rows, shown};
use crate::diff::Hunk;
use crate::edit::{FileChange, Outcome};
use crate::review::{Decision, FileReview, HunkId, Review, ReviewHunk};
use crate::text::{lines, sanitize, width};
use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::coloring::{Colors, Language, style_of};
use crate::tui::theme::Role;
use crate::tui::view::{ViewCache, pane_block};
use crate::tui::widget::diff_lines::{self, DiffLine, Sign};

/// Rows of the review and where each hunk begins, for the review that they were made from.
#[derive(Debug, Default)]
pub struct ReviewCache {
    fingerprint: u64,
    rows: Vec<Row>,
    /// Where the lines of the files are that have been on the screen, by the index of the file.
    places: BTreeMap<usize, FileLines>,
    /// First visible row as last drawn.
    pub offset: usize,
    /// Rows of the pane as last drawn.
    pub height: usize,
    /// The hunk under the cursor as last drawn: the one on the screen, when the user scrolled away from the other.
    pub cursor: HunkId,
    /// Whether a row of it was on the screen.
    pub seen: bool,
}

/// Draws the pane.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let inner = pane_block(app, frame, area, Pane::Review, &note(app));
    if app.session.review.is_empty() {
        return frame.render_widget(Paragraph::new(waiting(app, inner)), inner);
    }
    let review = &app.session.review;
    let fingerprint = fingerprint(review, inner.width);
    if cache.review.fingerprint != fingerprint {
        cache.review.rows = rows(review, inner.width);
        cache.review.places.clear();
        cache.review.fingerprint = fingerprint;
    }
    cache.review.height = usize::from(inner.height);
    let offset = offset(app, &cache.review);
    cache.review.offset = offset;
    let visible: Vec<Row> = cache.review.rows.iter().skip(offset).take(cache.review.height).copied().collect();
    let cursor = cursor(app.review.cursor, &cache.review.rows, &visible, offset);
    cache.review.cursor = cursor;
    cache.review.seen = visible.iter().any(|row| row.hunk() == Some(cursor));
    draw_place(app, frame, area, cursor);
    let mut painter = Painter { app, cursor, columns: usize::from(inner.width), colors: None };
    let lines: Vec<Line<'_>> = visible.iter().map(|row| painter.line(*row, cache)).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The file and the number of the hunk under the cursor, in the lower edge of the pane: its heading may be scrolled away.
fn draw_place(app: &App, frame: &mut Frame<'_>, area: Rect, cursor: HunkId) {
    let review = &app.session.review;
    let Some(file) = review.files.get(cursor.file) else {
        return;
    };
    let number = review.ids().take_while(|id| *id <= cursor).count();
    let place = format!(" {} · hunk {number} of {} ", sanitize::visible_line(&file.path), review.counts().total());
    let place = width::clip_start(&place, usize::from(area.width.saturating_sub(4)));
    let columns = u16::try_from(width::columns(&place)).unwrap_or(0);
    let edge = Rect::new(area.x + 2, area.bottom().saturating_sub(1), columns, 1).intersection(area);
    frame.render_widget(Line::styled(place, app.theme.style(Role::Muted)), edge);
}

/// Where the first visible row is: where the user scrolled to, or so that the hunk under the cursor is in view.
fn offset(app: &App, cache: &ReviewCache) -> usize {
    // After a write what is left may fit, wherever the user had scrolled to before.
    if cache.rows.len() <= cache.height {
        return 0;
    }
    let last = cache.rows.len().saturating_sub(cache.height.clamp(1, 3));
    let wanted = app.review.offset.min(last);
    if !app.review.follow {
        return wanted;
    }
    let belongs = |row: &Row| row.hunk() == Some(app.review.cursor);
    let Some(mut first) = cache.rows.iter().position(belongs) else {
        return wanted;
    };
    let end = cache.rows.iter().rposition(belongs).map_or(first, |last| last + 1);
    // The heading of the file belongs to its first hunk.
    if first > 0 && matches!(cache.rows[first - 1], Row::File(_)) {
        first -= 1;
    }
    let fits = end - first <= cache.height;
    let in_view = if fits { first >= wanted && end <= wanted + cache.height } else { first == wanted };
    if in_view {
        return wanted;
    }
    // A hunk that fits stands a third from the top, so that what follows shows too.
    if fits {
        let bottom = cache.rows.len().saturating_sub(cache.height);
        first.saturating_sub((cache.height - (end - first)) / 3).min(bottom)
    } else {
        first
    }
}

/// The hunk that keys act on. It must be one that can be seen: nobody accepts what is not on the screen.
fn cursor(wanted: HunkId, rows: &[Row], visible: &[Row], offset: usize) -> HunkId {
    if visible.iter().any(|row| row.hunk() == Some(wanted)) {
        return wanted;
    }
    let shown = visible.iter().filter_map(|row| row.hunk());
    let above = rows.iter().take(offset).rev().find_map(|row| row.hunk());
    // Scrolled down, the first hunk in view is the nearest; scrolled up, the last one.
    let nearest = if above.is_some_and(|above| above >= wanted) { shown.min() } else { shown.max() };
    nearest.or(above).unwrap_or(wanted)
}

fn note(app: &App) -> String {
    let counts = app.session.review.counts();
    let refused = app.session.review.refused.len();
    let mut parts = Vec::new();
    if counts.total() > 0 {
        parts.push(format!("{} pending", counts.pending));
        parts.push(format!("✓ {}", counts.accepted));
        parts.push(format!("✗ {}", counts.rejected));
    }
    if refused > 0 {
        parts.push(format!("{refused} without a place"));
    }
    if app.session.writing {
        parts.push("writing …".into());
    }
    parts.join(" · ")
}

/// What the pane says while there is nothing to decide: the edits that stream in, or what it is for.
fn waiting(app: &App, area: Rect) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let columns = usize::from(area.width);
    let edits = app.session.turn.as_ref().map_or(&[][..], |turn| turn.edits.as_slice());
    if edits.is_empty() {
        let text = "Hunks that the model proposes wait here for you. Nothing is written before w.";
        let wrapped = crate::text::wrap::wrap(text, columns.max(8)).into_iter();
        return wrapped.map(|range| Line::styled(text[range].to_owned(), theme.style(Role::Muted))).collect();
    }
    let newest = edits.iter().rev().take(usize::from(area.height)).rev();
    newest
        .map(|edit| {
            let path = edit.path.as_deref().unwrap_or("(no file name yet)");
            let mark = if edit.ended { "·" } else { "⋯" };
            let path = width::clip_start(&sanitize::visible_line(path), columns.saturating_sub(14)).into_owned();
            Line::from(vec![
                Span::styled(format!("{mark} {path} "), theme.style(Role::Muted)),
                Span::styled(format!("+{} ", edit.added), theme.style(Role::Added)),
                Span::styled(format!("−{}", edit.removed), theme.style(Role::Removed)),
            ])
        })
        .collect()
}

/// Tells two reviews apart whose rows differ. Decisions change no rows.
fn fingerprint(review: &Review, columns: u16) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    // The columns are never 0 here, so that no review has the fingerprint of an empty cache.
    columns.hash(&mut hasher);
    for file in &review.files {
        file.path.hash(&mut hasher);
        for text in [&file.base, &file.proposed].into_iter().flatten() {
            (text.as_ptr() as usize, text.len()).hash(&mut hasher);
        }
        for hunk in &file.hunks {
            (&hunk.hunk, &hunk.marks).hash(&mut hasher);
        }
    }
    for outcome in &review.refused {
        (&outcome.path, &outcome.reason).hash(&mut hasher);
    }
    hasher.finish()
}

/// Paints rows as lines of the screen.
struct Painter<'a> {
    app: &'a App,
    cursor: HunkId,
    columns: usize,
    /// Colours of the file that was painted last: index, base, proposed.
    colors: Option<(usize, Option<Colors>, Option<Colors>)>,
}

impl Painter<'_> {
    fn line(&mut self, row: Row, cache: &mut ViewCache) -> Line<'static> {
        let review = &self.app.session.review;
        match row {
            Row::Blank => Line::default(),
            Row::File(index) => review.files.get(index).map_or_else(Line::default, |file| self.file(file)),
            Row::Hunk(id) => self.hunk(id),
            Row::Text { id, side, line, part } => {
                let Some(file) = review.files.get(id.file) else {
                    return Line::default();
                };
                let colors = self.colors_of(id.file, file, side, cache);
                let places = cache.review.places.entry(id.file).or_insert_with(|| FileLines::new(file));
                let row =
                    self.text(file, places, side, line, colors.as_ref()).into_iter().nth(part).unwrap_or_default();
                let rejected = review.hunk(id).is_some_and(|item| decision_at(item, side, line) == Decision::Rejected);
                if rejected { row.patch_style(Modifier::DIM) } else { row }
            }
            Row::NoNewline(_) => Line::styled("      (no newline at the end of the file)", self.style(Role::Muted)),
            Row::Refused(index) => {
                review.refused.get(index).map_or_else(Line::default, |outcome| self.refused(outcome))
            }
            Row::RefusedText(index, line, part) => {
                let text = review.refused.get(index).and_then(|outcome| refused_text(outcome).into_iter().nth(line));
                let columns = u16::try_from(self.columns).unwrap_or(u16::MAX);
                let part = refused_parts(&text.unwrap_or_default(), columns).into_iter().nth(part);
                Line::styled(format!("    {}", part.unwrap_or_default()), self.style(Role::Muted))
            }
        }
    }

    fn style(&self, role: Role) -> Style {
        self.app.theme.style(role)
    }

    /// A line with the ground of the cursor, over the whole width.
    fn under_cursor(&self, mut line: Line<'static>) -> Line<'static> {
        let rest = self.columns.saturating_sub(line.width());
        line.push_span(" ".repeat(rest));
        line.patch_style(self.style(Role::CursorLine))
    }

    fn clip(&self, text: &str) -> String {
        width::clip(text, self.columns).into_owned()
    }

    fn file(&self, file: &FileReview) -> Line<'static> {
        use FileChange::{Create, Delete, Modify, Rename};
        let counts = file.counts();
        let what = match &file.change {
            Modify => String::new(),
            Create => "  new file".into(),
            Delete => "  deletes the file".into(),
            Rename { from } => format!("  renamed from {}", sanitize::visible_line(from)),
        };
        let decided = format!("  {} of {} decided", counts.total() - counts.pending, counts.total());
        let room = self.columns.saturating_sub(width::columns(&what) + width::columns(&decided) + 3);
        let path = width::clip_start(&sanitize::visible_line(&file.path), room).into_owned();
        Line::from(vec![
            Span::styled(format!("■ {path}"), self.style(Role::Title)),
            Span::styled(what, self.style(Role::Badge)),
            Span::styled(decided, self.style(Role::Muted)),
        ])
    }

    fn hunk(&self, id: HunkId) -> Line<'static> {
        let file = self.app.session.review.files.get(id.file);
        let Some((file, item)) = file.and_then(|file| Some((file, file.hunks.get(id.hunk)?))) else {
            return Line::default();
        };
        let (word, role) = match item.decision() {
            Decision::Pending => ("pending", Role::HunkPending),
            Decision::Accepted if item.is_divided() => ("partly accepted", Role::HunkAccepted),
            Decision::Accepted => ("accepted", Role::HunkAccepted),
            Decision::Rejected => ("rejected", Role::HunkRejected),
        };
        let here = self.cursor == id;
        let cursor = if here { "▶" } else { " " };
        let mut spans = vec![
            Span::styled(format!("{cursor} "), self.style(Role::Accent)),
            Span::styled(format!("{} {word}", item.decision().mark()), self.style(role).add_modifier(Modifier::BOLD)),
            Span::styled(format!("  {}", place(&file.change, &item.hunk)), self.style(Role::DiffHeader)),
        ];
        for mark in &item.marks {
            spans.push(Span::raw(" "));
            spans.push(Span::styled(format!("[{mark}]"), self.style(Role::Badge)));
        }
        let line = Line::from(spans);
        if here && self.app.focus == Pane::Review { self.under_cursor(line) } else { line }
    }

    fn colors_of(&mut self, index: usize, file: &FileReview, side: Side, cache: &mut ViewCache) -> Option<Colors> {
        if self.colors.as_ref().is_none_or(|(of, ..)| *of != index) {
            let mut get = |text: &Option<std::sync::Arc<str>>| {
                text.as_ref().and_then(|text| cache.coloring.get(Language::Path(&file.path), text))
            };
            self.colors = Some((index, get(&file.base), get(&file.proposed)));
        }
        let (_, base, proposed) = self.colors.as_ref()?;
        if side == Side::Added { proposed.clone() } else { base.clone() }
    }

    /// The rows of one line.
    fn text(
        &self,
        file: &FileReview,
        places: &FileLines,
        side: Side,
        line: usize,
        colors: Option<&Colors>,
    ) -> Vec<Line<'static>> {
        let body = shown(lines::body(places.line(file, side, line)));
        let spans = colors.and_then(|colors| colors.get(line)).map_or(&[][..], Vec::as_slice);
        let number = |line: usize| u32::try_from(line + 1).ok();
        let (sign, base, proposed) = match side {
            Side::Kept(other) => (Sign::Context, number(line), number(other)),
            Side::Removed => (Sign::Removed, number(line), None),
            Side::Added => (Sign::Added, None, number(line)),
        };
        let syntax = spans.iter().filter(|span| span.end <= body.len());
        let syntax = syntax.map(|span| (span.start..span.end, style_of(span.highlight, &self.app.theme))).collect();
        let line = DiffLine { sign, base, proposed, text: body.to_owned(), syntax, words: Vec::new() };
        let columns = u16::try_from(self.columns).unwrap_or(u16::MAX);
        diff_lines::rows(&line, places.gutter, columns, &self.app.theme)
    }

    fn refused(&self, outcome: &Outcome) -> Line<'static> {
        let path = if outcome.path.is_empty() { "(no file name)" } else { &outcome.path };
        let text = format!("✗ not placed: {}", sanitize::visible_line(path));
        Line::styled(self.clip(&text), self.style(Role::Warning))
    }
}

/// What was said of a line of a hunk; of the lines around it, what was said of the hunk.
fn decision_at(item: &ReviewHunk, side: Side, line: usize) -> Decision {
    match side {
        Side::Kept(_) => item.decision(),
        Side::Removed => item.line_decision(line.saturating_sub(item.hunk.base.start)),
        Side::Added => item.line_decision(item.hunk.base.len() + line.saturating_sub(item.hunk.proposed.start)),
    }
}

/// What is told of an edit without a place, below its heading: the reason and what it quoted.
pub(super) fn refused_text(outcome: &Outcome) -> Vec<String> {
    let reason = outcome.reason.lines().map(str::to_owned);
    let quote = outcome.quote.lines().map(|line| format!("- {line}"));
    let replacement = outcome.replacement.lines().map(|line| format!("+ {line}"));
    reason.chain(quote).chain(replacement).collect()
}

/// `lines 12–15`, 1-based, as an editor counts.
fn place(change: &FileChange, hunk: &Hunk) -> String {
    let (start, end) = (hunk.base.start + 1, hunk.base.end);
    match hunk.base.len() {
        _ if *change == FileChange::Create => format!("all {} lines", hunk.proposed.len()),
        0 if hunk.base.start == 0 => "at the start".to_owned(),
        0 => format!("after line {}", hunk.base.start),
        1 => format!("line {start}"),
        _ => format!("lines {start}–{end}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::session::{Connection, Session};
    use crate::tui::theme::{ColorDepth, Theme};
    use crate::tui::view;

    /// The app with the review of a file of so many lines, each tenth of which changes.
    fn reviewing(lines: usize) -> App {
        let (mut session, effects) = Session::start(Connection::None);
        let base: String = (0..lines).map(|line| format!("line {line}\n")).collect();
        let proposed = base.replace("0\n", "zero\n");
        let (base, proposed) = (Some(Arc::from(base)), Some(Arc::from(proposed)));
        let file = FileReview::new("a.txt".into(), FileChange::Modify, base, proposed, |_| Vec::new());
        session.review.files.extend(file);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.focus = Pane::Review;
        app
    }

    #[test]
    fn what_fits_is_shown_from_its_beginning() {
        let mut app = reviewing(1);
        app.review.offset = 50;
        app.review.follow = false;
        let mut cache = ViewCache::default();
        let mut screen = Terminal::new(TestBackend::new(80, 24)).unwrap();
        screen.draw(|frame| view::draw(&mut app, &mut cache, frame)).unwrap();
        assert_eq!(cache.review.offset, 0);
    }

    #[test]
    fn scrolling_does_not_look_for_the_lines_of_a_file_again() {
        let mut app = reviewing(400);
        let mut cache = ViewCache::default();
        let mut screen = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let mut starts = Vec::new();
        for _ in 0..3 {
            screen.draw(|frame| view::draw(&mut app, &mut cache, frame)).unwrap();
            starts.push(cache.review.places[&0].starts());
            app.review.offset += 10;
        }
        assert!(starts.iter().all(|other| *other == starts[0]), "the lines are where they were: {starts:?}");
        assert_eq!(cache.review.places.len(), 1);
    }
}
