//! The file list of a review: folders, decided hunks, flags, and unplaced edits below the file that they are meant for.
//! It has the order of the review, so that the next file in the list is the next file of the review.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use rhumb_edit::FileChange;
use rhumb_edit::review::{Counts, EditState, FileReview, Review};
use rhumb_text::{sanitize, width};

use super::paint::fit;
use super::rows::Row;
use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::mouse::Hit;
use crate::tui::theme::Role;
use crate::tui::view::ViewCache;
use crate::tui::widget::diff_lines::state_role;
use crate::tui::widget::styled::fill;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    /// A folder, and the range of its files.
    Folder(String, std::ops::Range<usize>),
    /// A file, and whether it is in a folder.
    File(usize, bool),
    Refused(usize),
}

impl Item {
    /// The row of the review for an item.
    fn leads_to(&self) -> Option<Row> {
        match self {
            Self::Folder(..) => None,
            Self::File(index, _) => Some(Row::File(*index)),
            Self::Refused(index) => Some(Row::Refused(*index)),
        }
    }
}

/// The rows of the review that the list leads to, in order.
pub(crate) fn stops(review: &Review) -> Vec<Row> {
    items(review).iter().filter_map(Item::leads_to).collect()
}

fn items(review: &Review) -> Vec<Item> {
    let refused_of = |path: &str| {
        let own = review.refused.iter().enumerate().filter(move |(_, outcome)| outcome.path == path);
        own.map(|(index, _)| Item::Refused(index)).collect::<Vec<_>>()
    };
    let has_file = |path: &str| review.files.iter().any(|file| file.path == path);
    let others = review.refused.iter().enumerate().filter(|(_, outcome)| !has_file(&outcome.path));
    let mut items: Vec<Item> = others.map(|(index, _)| Item::Refused(index)).collect();
    for group in review.files.iter().enumerate().collect::<Vec<_>>().chunk_by(|a, b| folder(a.1) == folder(b.1)) {
        let name = group.first().map_or("", |(_, file)| folder(file));
        if !name.is_empty() {
            let first = group.first().map_or(0, |(index, _)| *index);
            items.push(Item::Folder(name.to_owned(), first..first + group.len()));
        }
        for (index, file) in group {
            items.push(Item::File(*index, !name.is_empty()));
            items.extend(refused_of(&file.path));
        }
    }
    items
}

fn folder(file: &FileReview) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let review = app.session.review();
    let items = items(review);
    let here = items.iter().position(|item| is_here(app, item)).unwrap_or(0);
    let height = usize::from(area.height);
    let first = here.saturating_sub(height / 2).min(items.len().saturating_sub(height));
    let columns = usize::from(area.width.saturating_sub(1));
    let mut lines = Vec::with_capacity(height);
    for number in first..first + height {
        let mut line = items.get(number).map_or_else(Line::default, |item| {
            let y = area.y + u16::try_from(number - first).unwrap_or(0);
            if let Some(row) = item.leads_to() {
                let place = Rect { y, height: 1, ..area };
                cache.hits.add(place, Hit::Row(Pane::Review, app.review.rows.locate(row)));
            }
            self::line(app, item, columns, is_here(app, item))
        });
        fill(&mut line, columns, Style::default());
        line.spans.push(Span::styled("│", app.theme().style(Role::Border)));
        lines.push(line);
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn is_here(app: &App, item: &Item) -> bool {
    let at = app.review.at;
    match item {
        Item::Folder(..) => false,
        Item::File(index, _) => at.file() == Some(*index),
        Item::Refused(index) => at.refused() == Some(*index),
    }
}

fn line(app: &App, item: &Item, columns: usize, here: bool) -> Line<'static> {
    let theme = app.theme();
    let review = app.session.review();
    let cursor = if here { "▶" } else { " " };
    let mut spans = vec![Span::styled(cursor, theme.style(Role::Accent))];
    match item {
        Item::Folder(name, range) => {
            let mut all = Counts::default();
            let files = review.files.get(range.clone()).unwrap_or_default().iter();
            files.flat_map(|file| &file.hunks).for_each(|hunk| all.add(hunk.decision()));
            let (mark, role) = roll_up(all, false);
            let room = columns.saturating_sub(4);
            let name = width::clip_start(&sanitize::visible_line(name), room).into_owned();
            spans.push(Span::styled(mark.to_string(), theme.style(role)));
            spans.push(Span::styled(format!(" {name}/"), theme.style(Role::Muted)));
        }
        Item::File(index, inside) => {
            if let Some(file) = review.files.get(*index) {
                spans.extend(file_spans(app, file, *inside, columns));
            }
        }
        Item::Refused(index) => {
            let outcome = review.refused.get(*index);
            let own = outcome.is_some_and(|outcome| review.files.iter().any(|file| file.path == outcome.path));
            let path = outcome.map(|outcome| sanitize::visible_line(&outcome.path).into_owned()).unwrap_or_default();
            let state = outcome.map_or(EditState::Unplaced, EditState::of_refused);
            let (mark, what) = (state.mark(), state.label());
            let text = if own {
                format!("    {mark} {what}")
            } else {
                format!("{mark} {} {what}", width::clip_start(&path, columns.saturating_sub(what.len() + 5)))
            };
            spans.push(Span::styled(text, theme.style(state_role(state))));
        }
    }
    let mut line = fit(spans, columns);
    if here {
        fill(&mut line, columns, Style::default());
        let keys = app.review.in_tree && app.focus == Pane::Review;
        let style = if keys { theme.style(Role::CursorLine) } else { Modifier::BOLD.into() };
        line.spans.iter_mut().for_each(|span| span.style = span.style.patch(style));
    }
    line
}

fn file_spans(app: &App, file: &FileReview, inside: bool, columns: usize) -> Vec<Span<'static>> {
    let theme = app.theme();
    let counts = file.counts();
    let (mark, role) = roll_up(counts, file.hunks.iter().any(rhumb_edit::review::ReviewHunk::has_line_decisions));
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let decided = format!(" {}/{}", counts.total() - counts.pending, counts.total());
    let indent = if inside { "  " } else { "" };
    let room = columns.saturating_sub(indent.len() + 3 + width::columns(&decided));
    let what = match &file.change {
        FileChange::Modify => "",
        FileChange::Create => " new",
        FileChange::Delete => " gone",
        FileChange::Rename { .. } => " moved",
    };
    let mut noted: Vec<String> = Vec::new();
    for item in &file.hunks {
        let edited = item.original().is_some().then(|| "edited".to_owned());
        let new = item.marks.iter().cloned().chain(edited).filter(|mark| !noted.contains(mark)).collect::<Vec<_>>();
        noted.extend(new);
    }
    let comments =
        file.hunks.iter().map(|item| item.comments().count()).sum::<usize>() + usize::from(!file.comment.is_empty());
    if comments > 0 {
        noted.push(format!("✎{comments}"));
    }
    let noted = if noted.is_empty() { String::new() } else { format!(" {}", noted.join(", ")) };
    let name = width::clip_start(&sanitize::visible_line(name), room).into_owned();
    // Flags that do not fit beside the name and the counts are omitted or cut. The hunks show them, too.
    let mut left = room.saturating_sub(width::columns(&name));
    let mut rest = |text: &str| {
        let text = if left < 3 { String::new() } else { width::clip(text, left).into_owned() };
        left -= width::columns(&text);
        Span::styled(text, theme.style(Role::Badge))
    };
    let leads = file.stored_at.as_ref().map_or_else(String::new, |stored| format!(" → {stored}"));
    let what = rest(&format!("{}{what}", sanitize::visible_line(&leads)));
    let noted = rest(&sanitize::visible_line(&noted));
    vec![
        Span::raw(indent),
        Span::styled(format!("{mark} "), theme.style(role)),
        Span::styled(name, theme.style(Role::Text)),
        Span::styled(decided, theme.style(Role::Muted)),
        what,
        noted,
    ]
}

/// One mark for several hunks.
fn roll_up(counts: Counts, divided: bool) -> (char, Role) {
    match counts.total() {
        total if counts.accepted == total && !divided => ('✓', Role::HunkAccepted),
        total if counts.rejected == total => ('✗', Role::HunkRejected),
        total if counts.pending == total && !divided => ('·', Role::HunkPending),
        _ => ('◐', Role::HunkPending),
    }
}
