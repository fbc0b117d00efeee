//! Renders the rows of a review as lines of the screen, and the list of its files: folders, decided hunks, flags, and unplaced
//! edits below the file that they are meant for. The list has the order of the review.

use rhumb_edit::FileChange;
use rhumb_edit::review::{Counts, Decision, EditState, FileReview, HunkId, HunkMark, Review, ReviewHunk};
use rhumb_text::diff;
use rhumb_text::diff::Hunk;

use super::rows::{FileLines, MARGIN, Row, Side, half, has_sides, note_parts, refused_parts, refused_text};
use crate::tui::coloring::style_of;
use crate::tui::prelude::*;
use crate::tui::widget::diff_lines;
use crate::tui::widget::diff_lines::{DiffLine, Gutter, Sign, beside, state_role};

/// The changed words of each removed and each added line of a hunk.
#[derive(Debug, Default)]
pub(super) struct HunkWords([Vec<Vec<Range<usize>>>; 2]);

impl HunkWords {
    fn new([removed, added]: [Vec<&str>; 2]) -> Self {
        let mut words = [vec![Vec::new(); removed.len()], vec![Vec::new(); added.len()]];
        for (old, new) in diff::pairs(&removed, &added) {
            let found = removed.get(old).zip(added.get(new)).and_then(|(old, new)| diff::changed_words(old, new));
            if let Some(found) = found {
                words[0][old] = found.removed;
                words[1][new] = found.added;
            }
        }
        Self(words)
    }

    fn of(&self, side: Side, line: usize) -> Vec<Range<usize>> {
        self.0[usize::from(side == Side::Proposed)].get(line).cloned().unwrap_or_default()
    }
}

/// Changed words by hunk, with the revision of the rows.
pub(super) type WordCache = (usize, BTreeMap<HunkId, Arc<HunkWords>>);

pub(super) struct RowPainter<'a> {
    app: &'a App,
    at: usize,
    columns: u16,
    words: bool,
    /// The hunks that make a command fail.
    culprits: &'a [HunkId],
    /// Colours of the last painted file: its index, base and proposed text.
    colors: Option<(usize, [Option<Colors>; 2])>,
}

impl<'a> RowPainter<'a> {
    pub(super) fn new(app: &'a App) -> Self {
        let columns = app.review.rows.view.columns;
        let words = app.review.choice.words.unwrap_or(app.display.diff_words);
        Self { app, at: app.review.number(), columns, words, culprits: app.session.culprits(), colors: None }
    }

    /// The screen lines of a row, as many as its height.
    pub(super) fn row(&mut self, number: usize, row: Row, cache: &mut ViewCache) -> Lines {
        let review = self.app.session.review();
        let body = match row {
            Row::Blank => vec![Line::default()],
            Row::File(index) => vec![review.files.get(index).map_or_else(Line::default, |file| self.file(file))],
            Row::Hunk { id, folded } => vec![self.hunk(id, folded)],
            Row::Gap { above, lines, .. } => vec![self.gap(number, above, lines)],
            Row::Kept { id, .. } | Row::Changed { id, .. } => {
                let Some(file) = review.files.get(id.file) else { return vec![Line::default()] };
                let mut body = self.text(file, row, cache);
                let item = review.hunk(id);
                if item.is_some_and(|item| decision_of(item, row) == Some(Decision::Rejected)) {
                    body = body.into_iter().map(|line| line.patch_style(Modifier::DIM)).collect();
                }
                body
            }
            Row::NoNewline(_) => vec![self.muted("    (no newline at the end of the file)")],
            Row::Note(place) => self.note(review.comment_on(place).unwrap_or_default()),
            Row::Refused(index) => vec![self.refused(index)],
            Row::RefusedText(index, line) => self.refused_text(index, line),
        };
        body.into_iter().enumerate().map(|(part, line)| self.with_margin(number, row, part, line)).collect()
    }

    fn style(&self, role: Role) -> Style {
        self.app.theme().style(role)
    }

    fn muted(&self, text: &str) -> Line<'static> {
        Line::styled(text.to_owned(), self.style(Role::Muted))
    }

    /// The columns without the margin.
    fn available(&self) -> usize {
        usize::from(self.columns.saturating_sub(MARGIN))
    }

    /// The line with its margin: the marks of the cursor, of selected lines and of the lines of the hunk under the cursor, and
    /// the decision on the line if the lines of the hunk have different decisions.
    fn with_margin(&self, number: usize, row: Row, part: usize, line: Line<'static>) -> Line<'static> {
        let pane = &self.app.review;
        let here = number == self.at;
        let selected = self.app.is_selected(row);
        let mark = match row {
            _ if here && part == 0 => "▶",
            _ if selected => "┃",
            _ if row.hunk() == Some(pane.cursor) && pane.at.hunk().is_some() && row.shows_change() => "│",
            _ => " ",
        };
        let (word, role) = row.hunk().filter(|_| part == 0).map_or((' ', Role::Muted), |id| self.line_mark(id, row));
        let mut spans =
            vec![Span::styled(mark, self.style(Role::Accent)), Span::styled(word.to_string(), self.style(role))];
        let before = spans.len();
        spans.extend(line.spans);
        let mut line = Line { spans, style: line.style, alignment: line.alignment };
        if selected {
            fill(&mut line, usize::from(self.columns), Style::default());
            let style = self.style(Role::Selection);
            line.spans.iter_mut().for_each(|span| span.style = span.style.patch(style));
        } else if here && self.app.focus == Pane::Review {
            let style = self.style(Role::CursorLine);
            // The background of a changed line shows its state, so the cursor covers only its line numbers.
            let is_text = matches!(row, Row::Changed { .. } | Row::Kept { .. });
            let count = if is_text { before + 1 } else { usize::MAX };
            if !is_text {
                fill(&mut line, usize::from(self.columns), Style::default());
            }
            line.spans.iter_mut().take(count).for_each(|span| span.style = span.style.patch(style));
        }
        line
    }

    /// The decision on a line, if the lines of its hunk have different decisions.
    fn line_mark(&self, id: HunkId, row: Row) -> (char, Role) {
        let item = self.app.session.review().hunk(id).filter(|item| item.has_line_decisions());
        match (item, row) {
            (Some(item), Row::Changed { .. }) => decision_of(item, row).map_or(('◐', Role::HunkPending), mark_of),
            _ => (' ', Role::Muted),
        }
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
        let available = self.available().saturating_sub(width::columns(&what) + width::columns(&decided) + 2).max(8);
        let path = width::clip_start(&sanitize::visible_line(&file.title()), available).into_owned();
        let found = !matches(&path, &self.app.review.search.wanted).is_empty();
        let title = self.style(Role::Title).patch(if found { self.style(Role::Search) } else { Style::default() });
        let spans = vec![
            Span::styled("■ ", self.style(Role::Title)),
            Span::styled(path, title),
            Span::styled(what, self.style(Role::Badge)),
            Span::styled(decided, self.style(Role::Muted)),
        ];
        fit(spans, self.available())
    }

    fn hunk(&self, id: HunkId, folded: bool) -> Line<'static> {
        let review = self.app.session.review();
        let Some((file, item)) = review.files.get(id.file).zip(review.hunk(id)) else {
            return Line::default();
        };
        let word = match item.decision() {
            Decision::Pending if item.has_line_decisions() => "partly decided",
            Decision::Pending => "pending",
            Decision::Accepted if item.has_line_decisions() => "partly accepted",
            Decision::Accepted => "accepted",
            Decision::Rejected => "rejected",
        };
        let (mark, role) = mark_of(item.decision());
        let mut spans = vec![
            Span::styled(format!("{mark} {word}"), self.style(role).add_modifier(Modifier::BOLD)),
            Span::styled(format!("  {}", place(&file.change, &item.hunk)), self.style(Role::DiffHeader)),
            Span::styled(format!("  +{}", item.hunk.proposed.len()), self.style(Role::Success)),
            Span::styled(format!(" −{}", item.hunk.base.len()), self.style(Role::Error)),
        ];
        let fails = self.culprits.contains(&id).then_some(HunkLabel::FailsTrial);
        let labels: Vec<HunkLabel<'_>> = labels(item).chain(fails).collect();
        let used: usize = spans.iter().map(Span::width).sum();
        for (text, role) in shortened(&labels, self.available().saturating_sub(used)) {
            spans.push(Span::styled(format!(" [{}]", sanitize::visible_line(&text)), self.style(role)));
        }
        let comments = item.comments().count();
        if folded && comments > 0 {
            spans.push(Span::styled(format!(" ✎ {comments}"), self.style(Role::Badge)));
        }
        if folded {
            spans.push(Span::styled(self.key_for(Action::OpenHere, "shows"), self.style(Role::Muted)));
        }
        fit(spans, self.available())
    }

    /// ` Enter shows`; empty if the action has no key.
    fn key_for(&self, action: Action, does: &str) -> String {
        let key = self.app.keys.first(action);
        if key.is_empty() { String::new() } else { format!("  {key} {does}") }
    }

    fn gap(&self, number: usize, above: bool, lines: usize) -> Line<'static> {
        let what = if lines == 1 { "unchanged line" } else { "unchanged lines" };
        let rest = if above { "" } else { " to the end of the file" };
        let hint = if number == self.at { self.key_for(Action::OpenHere, "shows them") } else { String::new() };
        let spans = vec![
            Span::styled(format!("⋯ {lines} {what}{rest}"), self.style(Role::Gutter)),
            Span::styled(hint, self.style(Role::Muted)),
        ];
        fit(spans, self.available())
    }

    fn note(&self, text: &str) -> Lines {
        let columns = self.columns.saturating_sub(MARGIN);
        let parts = note_parts(text, columns).into_iter().enumerate();
        let line = |(part, text): (usize, String)| {
            let mark = if part == 0 { "  ✎ " } else { "    " };
            Line::from(vec![
                Span::styled(mark, self.style(Role::Accent)),
                Span::styled(text, self.style(Role::Text).add_modifier(Modifier::ITALIC)),
            ])
        };
        parts.map(line).collect()
    }

    fn refused(&self, index: usize) -> Line<'static> {
        let Some(outcome) = self.app.session.review().refused.get(index) else { return Line::default() };
        let path = if outcome.path.is_empty() { "(no file name)" } else { &outcome.path };
        let state = EditState::of_refused(outcome);
        let text = format!("{} {}: {}", state.mark(), state.label(), sanitize::visible_line(path));
        clipped(&text, self.available(), self.style(state_role(state)))
    }

    fn refused_text(&self, index: usize, line: usize) -> Lines {
        let outcome = self.app.session.review().refused.get(index);
        let text = outcome.and_then(|outcome| refused_text(outcome).into_iter().nth(line)).unwrap_or_default();
        let found = !matches(&text, &self.app.review.search.wanted).is_empty();
        let style = self.style(Role::Muted).patch(if found { self.style(Role::Search) } else { Style::default() });
        let parts = refused_parts(&text, self.columns).into_iter();
        parts.map(|part| Line::from(vec![Span::raw("  "), Span::styled(part, style)])).collect()
    }

    /// The screen lines of an unchanged or changed line.
    fn text(&mut self, file: &FileReview, row: Row, cache: &mut ViewCache) -> Lines {
        let Some(index) = row.file() else { return vec![Line::default()] };
        let colors = self.colors_of(index, file, cache);
        let words = row.hunk().filter(|_| self.words).map(|id| self.words_of(file, id, cache));
        let Some(lines) = self.app.review.rows.lines_of(index) else { return vec![Line::default()] };
        let text = FileText { app: self.app, file, lines, colors, words };
        let columns = self.columns.saturating_sub(MARGIN);
        let whole = (lines.gutter, columns);
        let halves = (self.app.review.rows.view.sides && has_sides(file))
            .then(|| [Side::Base, Side::Proposed].map(|side| half(lines.gutter, side, columns)));
        match (row, halves) {
            (Row::Kept { base, proposed, .. }, Some([left, right])) => {
                let old = text.line(Side::Base, base, None, None, left);
                let new = text.line(Side::Proposed, proposed, None, None, right);
                self.beside(old, new, [left.1, right.1])
            }
            (Row::Kept { base, proposed, .. }, None) => text.line(Side::Base, base, Some(proposed), None, whole),
            (Row::Changed { id, removed, added }, halves) => {
                let Some(item) = file.hunks.get(id.hunk) else { return vec![Line::default()] };
                let of = |side, start, in_hunk: Option<usize>, area| {
                    in_hunk.map_or_else(Vec::new, |line| text.line(side, start + line, None, Some(line), area))
                };
                let [left, right] = halves.unwrap_or([whole, whole]);
                let mut old = of(Side::Base, item.hunk.base.start, removed, left);
                let new = of(Side::Proposed, item.hunk.proposed.start, added, right);
                if halves.is_some() {
                    return self.beside(old, new, [left.1, right.1]);
                }
                old.extend(new);
                old
            }
            _ => vec![Line::default()],
        }
    }

    fn beside(&self, left: Lines, right: Lines, columns: [u16; 2]) -> Lines {
        beside(left, right, columns.map(usize::from), self.style(Role::Text), self.style(Role::Border))
    }

    fn colors_of(&mut self, index: usize, file: &FileReview, cache: &mut ViewCache) -> [Option<Colors>; 2] {
        if self.colors.as_ref().is_none_or(|(of, _)| *of != index) {
            let mut get = |text: &Option<Arc<str>>| {
                text.as_ref().and_then(|text| cache.coloring.get(Language::Path(&file.path), text))
            };
            self.colors = Some((index, [get(&file.base), get(&file.proposed)]));
        }
        self.colors.as_ref().map_or([None, None], |(_, colors)| colors.clone())
    }

    /// The changed words of a hunk, which are cached.
    fn words_of(&self, file: &FileReview, id: HunkId, cache: &mut ViewCache) -> Arc<HunkWords> {
        let (made, known) = &mut cache.review.words;
        if *made != self.app.review.rows.made {
            known.clear();
            *made = self.app.review.rows.made;
        }
        let words = known.entry(id).or_insert_with(|| {
            let places = self.app.review.rows.lines_of(id.file);
            let lines = places.zip(file.hunks.get(id.hunk)).map(|(places, item)| places.of_hunk(file, item));
            Arc::new(lines.map(HunkWords::new).unwrap_or_default())
        });
        Arc::clone(words)
    }
}

/// The text of a file on both sides, and what its lines are drawn with.
struct FileText<'a> {
    app: &'a App,
    file: &'a FileReview,
    lines: &'a FileLines,
    /// The colours of the base and of the proposed text.
    colors: [Option<Colors>; 2],
    /// The changed words of the hunk.
    words: Option<Arc<HunkWords>>,
}

impl FileText<'_> {
    /// The screen lines of a line (0-based). `other` is its number on the other side, which is shown beside its own. `in_hunk` is the
    /// number of a changed line among those of its hunk on that side.
    fn line(
        &self,
        side: Side,
        line: usize,
        other: Option<usize>,
        in_hunk: Option<usize>,
        (gutter, columns): (Gutter, u16),
    ) -> Lines {
        let theme = self.app.theme();
        let shown = self.lines.shown(self.file, side, line);
        let sign = match (in_hunk, side) {
            (None, _) => Sign::Context,
            (Some(_), Side::Base) => Sign::Removed,
            (Some(_), Side::Proposed) => Sign::Added,
        };
        let number = |line: usize| u32::try_from(line + 1).ok();
        let (base, proposed) = match side {
            Side::Base => (number(line), other.and_then(number)),
            Side::Proposed => (other.and_then(number), number(line)),
        };
        let colors = self.colors[usize::from(side == Side::Proposed)].as_ref();
        let spans = colors.and_then(|colors| colors.get(line));
        let colored = |span: &rhumb_syntax::Span| {
            let style = style_of(span.highlight, theme);
            shown.places(&(span.start..span.end)).map(move |range| (range, style)).collect::<Vec<_>>()
        };
        let left_out = shown.left_out.iter().map(|range| (range.clone(), theme.style(Role::Warning)));
        let syntax = spans.into_iter().flatten().flat_map(colored).chain(left_out).collect();
        let words = self.words.as_ref().zip(in_hunk).map(|(words, line)| words.of(side, line)).unwrap_or_default();
        let words = words.iter().flat_map(|range| shown.places(range)).collect();
        let found = matches(&shown.text, &self.app.review.search.wanted);
        let text = shown.text.into_owned();
        let line = DiffLine { sign, base, proposed, text, syntax, words, found };
        diff_lines::rows(&line, gutter, columns, theme)
    }
}

/// A label in the heading of a hunk.
#[derive(Debug, Clone, Copy)]
enum HunkLabel<'a> {
    Mark(&'a HunkMark),
    /// The user changed the proposed lines.
    Edited,
    /// The hunk makes the command of a trial fail.
    FailsTrial,
}

/// How much of the labels of a hunk is shown, from most to least.
#[derive(Debug, Clone, Copy)]
enum LabelForm {
    Full,
    /// Commands are cut to [`SHORT_COMMAND_COLUMNS`].
    CutCommands,
    /// Commands are shown as their outcome.
    Outcomes,
    /// In addition, the first word of each other label, except the number of a step.
    FirstWords,
}

/// Columns of a cut command, including the sign of its outcome.
const SHORT_COMMAND_COLUMNS: usize = 16;

impl HunkLabel<'_> {
    fn text(self, form: LabelForm) -> String {
        let full = match self {
            Self::Mark(mark) => mark.to_string(),
            Self::Edited => "edited".to_owned(),
            Self::FailsTrial => "fails the trial".to_owned(),
        };
        let is_command = matches!(self, Self::Mark(HunkMark::Ran { .. }));
        let is_step = matches!(self, Self::Mark(HunkMark::Step(_)));
        match form {
            LabelForm::CutCommands if is_command => width::clip(&full, SHORT_COMMAND_COLUMNS).into_owned(),
            LabelForm::Outcomes | LabelForm::FirstWords if is_command => full.chars().take(1).collect(),
            LabelForm::FirstWords if !is_step => full.split(['-', ' ']).next().unwrap_or_default().to_owned(),
            LabelForm::Full | LabelForm::CutCommands | LabelForm::Outcomes | LabelForm::FirstWords => full,
        }
    }

    fn role(self) -> Role {
        match self {
            Self::Mark(HunkMark::Ran { passed: true, .. }) => Role::Success,
            Self::Mark(HunkMark::Ran { passed: false, .. }) => Role::Error,
            Self::Mark(_) | Self::Edited | Self::FailsTrial => Role::Badge,
        }
    }
}

/// The labels of a hunk, except those that depend on a trial.
fn labels(item: &ReviewHunk) -> impl Iterator<Item = HunkLabel<'_>> {
    item.marks.iter().map(HunkLabel::Mark).chain(item.original().map(|_| HunkLabel::Edited))
}

/// The labels of a hunk in the longest form that fits, or a sign that there are labels.
fn shortened(labels: &[HunkLabel<'_>], available: usize) -> Vec<(String, Role)> {
    let forms = [LabelForm::Full, LabelForm::CutCommands, LabelForm::Outcomes, LabelForm::FirstWords];
    let in_form = |form| labels.iter().map(|label| (label.text(form), label.role())).collect::<Vec<_>>();
    let fits = |texts: &Vec<(String, Role)>| {
        texts.iter().map(|(text, _)| width::columns(text) + " []".len()).sum::<usize>() <= available
    };
    forms.into_iter().map(in_form).find(fits).unwrap_or_else(|| vec![("!".to_owned(), Role::Badge)])
}

pub(super) fn mark_of(decision: Decision) -> (char, Role) {
    let role = match decision {
        Decision::Pending => Role::HunkPending,
        Decision::Accepted => Role::HunkAccepted,
        Decision::Rejected => Role::HunkRejected,
    };
    (decision.mark(), role)
}

/// The decision on the lines of a row. `None` if they differ.
fn decision_of(item: &ReviewHunk, row: Row) -> Option<Decision> {
    let Row::Changed { removed, added, .. } = row else { return Some(item.decision()) };
    let count = item.hunk.base.len();
    let mut said = removed.into_iter().chain(added.map(|line| count + line)).map(|line| item.line_decision(line));
    let first = said.next()?;
    said.all(|other| other == first).then_some(first)
}

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

/// A line of spans, cut with a mark.
pub(super) fn fit(spans: Vec<Span<'static>>, columns: usize) -> Line<'static> {
    let all: usize = spans.iter().map(|span| width::columns(&span.content)).sum();
    if all <= columns {
        return Line::from(spans);
    }
    let mut left = columns;
    let mut line = Line::default();
    for span in spans {
        let used = width::columns(&span.content);
        // A column is kept for the mark, because more text follows.
        if used < left {
            left -= used;
            line.push_span(span);
            continue;
        }
        let cut = width::clip(&format!("{}  ", span.content), left).into_owned();
        line.push_span(Span::styled(cut, span.style));
        break;
    }
    line
}

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
            let available = columns.saturating_sub(4);
            let name = width::clip_start(&sanitize::visible_line(name), available).into_owned();
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
    let available = columns.saturating_sub(indent.len() + 3 + width::columns(&decided));
    let what = match &file.change {
        FileChange::Modify => "",
        FileChange::Create => " new",
        FileChange::Delete => " gone",
        FileChange::Rename { .. } => " moved",
    };
    let mut noted: Vec<String> = Vec::new();
    for label in file.hunks.iter().flat_map(labels) {
        let text = label.text(LabelForm::Full);
        if !noted.contains(&text) {
            noted.push(text);
        }
    }
    let comments =
        file.hunks.iter().map(|item| item.comments().count()).sum::<usize>() + usize::from(!file.comment.is_empty());
    if comments > 0 {
        noted.push(format!("✎{comments}"));
    }
    let noted = if noted.is_empty() { String::new() } else { format!(" {}", noted.join(", ")) };
    let name = width::clip_start(&sanitize::visible_line(name), available).into_owned();
    // Flags that do not fit beside the name and the counts are omitted or cut. The hunks show them, too.
    let mut left = available.saturating_sub(width::columns(&name));
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

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_edit::{Flag, Strategy};

    #[test]
    fn labels_are_shortened_by_words_and_only_commands_are_cut() {
        let shown = |marks: &[HunkMark], available| {
            let labels: Vec<HunkLabel<'_>> = marks.iter().map(HunkLabel::Mark).collect();
            shortened(&labels, available).into_iter().map(|(text, _)| text).collect::<Vec<_>>()
        };
        let marks = [HunkMark::Located(Strategy::Fuzzy, 93), HunkMark::Flag(Flag::OutsideChat)];
        assert_eq!(shown(&marks, 28), ["fuzzy 93 %", "outside-chat"]);
        assert_eq!(shown(&marks, 27), ["fuzzy", "outside"]);
        assert_eq!(shown(&marks, 17), ["!"]);
        let failed = HunkMark::Ran { command: "cargo test -p berth".into(), passed: false };
        let marks = [HunkMark::Step(3), failed, HunkMark::Flag(Flag::OutsideChat)];
        assert_eq!(shown(&marks, 48), ["step 3", "✗ cargo test -p berth", "outside-chat"]);
        assert_eq!(shown(&marks, 47), ["step 3", "✗ cargo test -p…", "outside-chat"]);
        assert_eq!(shown(&marks, 42), ["step 3", "✗", "outside-chat"]);
        assert_eq!(shown(&marks, 27), ["step 3", "✗", "outside"]);
        assert_eq!(shown(&marks, 22), ["!"]);
        assert!(shown(&[], 0).is_empty());
    }
}
