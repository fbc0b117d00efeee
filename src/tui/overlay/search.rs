//! The search of the repository: passages for a question or a name, listed while the user types, with a preview.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use rhumb_index::retrieval::{Hit, Hit as Passage, Question};
use rhumb_session::{ClipboardText, SurveyState};
use rhumb_text::{sanitize, width};

use super::file_peek::draw_file_peek;
use super::{Overlay, OverlayContext, Place, PreviewTarget, Reply, border, inner_area};
use crate::tui::key;
use crate::tui::previews::Previews;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::file_preview::Marked;
use crate::tui::widget::input::LineInput;
use crate::tui::widget::list_window::ListWindow;
use crate::tui::widget::meter::grouped;
use crate::tui::widget::picker::{key_hints, list_and_look, rule, wide_area};
use crate::tui::widget::styled::{hanging, list_row, spread};

/// Number of passages that are requested: more than a user reads.
const MAX_HITS: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchAnswer {
    None,
    /// The repository is not indexed yet.
    Unread,
    Failed,
    Found,
}

#[derive(Debug)]
pub struct CodeSearch {
    input: LineInput,
    /// The last requested question.
    asked: Option<Question>,
    /// A search is running. Text typed meanwhile is searched when the answer has arrived, so that only the latest query
    /// is computed.
    waiting: bool,
    /// Request the passages again, since the index has grown.
    repeat: bool,
    answer: SearchAnswer,
    /// The query of the listed passages.
    shown: String,
    hits: Vec<Hit>,
    rows: Vec<SearchRow>,
    window: ListWindow,
    /// Whether passages are grouped by file.
    in_files: bool,
    /// The progress of reading the repository; empty when it is complete.
    reading: String,
    /// The result of the last key.
    note: String,
}

impl CodeSearch {
    /// `words` is the initial query.
    pub fn new(words: &str) -> Self {
        Self {
            input: LineInput::new(words),
            asked: None,
            waiting: false,
            repeat: false,
            answer: SearchAnswer::None,
            shown: String::new(),
            hits: Vec::new(),
            rows: Vec::new(),
            window: ListWindow::default(),
            in_files: false,
            reading: String::new(),
            note: String::new(),
        }
    }

    /// Stores the progress of reading the repository.
    pub fn note_survey(&mut self, survey: SurveyState) {
        self.reading = match survey {
            SurveyState::Reading(found, 0) => format!("the repository is being read: {} files so far", grouped(found)),
            SurveyState::Reading(done, all) => {
                format!("the repository is being read: {} of {}", grouped(done), grouped(all))
            }
            SurveyState::Partial(done, all) => format!("only {} of {} files were read", grouped(done), grouped(all)),
            SurveyState::Done => String::new(),
        };
    }

    /// The next question to request, if the query has changed.
    pub fn next(&mut self) -> Option<Question> {
        let text = self.input.text().trim();
        if self.waiting || self.asked.as_ref().is_some_and(|asked| asked.text == text) {
            return None;
        }
        if text.is_empty() {
            self.asked = None;
            self.shown.clear();
            self.answer = SearchAnswer::None;
            self.list(Vec::new());
            return None;
        }
        let question = Question::new(text, MAX_HITS);
        self.asked = Some(question.clone());
        self.waiting = true;
        Some(question)
    }

    /// Stores the passages for the last question. `None` if the repository is not indexed yet.
    pub fn found(&mut self, question: &Question, hits: Option<&[Hit]>) {
        if self.asked.as_ref() != Some(question) {
            return;
        }
        self.waiting = false;
        self.answer = if hits.is_some() { SearchAnswer::Found } else { SearchAnswer::Unread };
        let held = self.hit().filter(|_| self.shown == question.text).map(|hit| (hit.path.clone(), hit.line));
        self.shown.clone_from(&question.text);
        self.list(hits.unwrap_or_default().to_vec());
        let is_held = |row: &SearchRow| match row {
            SearchRow::Hit(at) => self.hits.get(*at).map(|hit| (hit.path.clone(), hit.line)) == held,
            SearchRow::File { .. } => false,
        };
        if held.is_some()
            && let Some(row) = self.rows.iter().position(is_held)
        {
            self.window.select(row);
        }
        if std::mem::take(&mut self.repeat) {
            self.asked = None;
        }
    }

    /// Requests the passages again after the index has grown.
    pub fn again(&mut self) {
        if self.waiting { self.repeat = true } else { self.asked = None }
    }

    /// Notes that a running search has failed.
    pub fn failed(&mut self) {
        if std::mem::take(&mut self.waiting) {
            self.answer = SearchAnswer::Failed;
        }
    }

    /// Shows the result of a key until the next one.
    pub fn set_note(&mut self, note: String) {
        self.note = note;
    }

    fn list(&mut self, hits: Vec<Hit>) {
        self.hits = hits;
        self.rows = if self.in_files { in_files(&self.hits) } else { flat(&self.hits) };
        self.window.set_len(self.rows.len());
        self.window.first();
        self.leave_heading(true);
    }

    fn hit(&self) -> Option<&Hit> {
        self.hits.get(self.rows.get(self.window.selected()?)?.hit())
    }

    /// Moves the cursor off a heading.
    fn leave_heading(&mut self, down: bool) {
        if matches!(self.window.selected().and_then(|at| self.rows.get(at)), Some(SearchRow::File { .. })) {
            let at = self.window.selected().unwrap_or(0);
            self.window.select(if down || at == 0 { at + 1 } else { at - 1 });
        }
    }

    fn step(&mut self, down: bool) {
        self.window.cycle(down);
        // Above the first heading is the end of the list.
        let is_first = matches!(self.rows.first(), Some(SearchRow::File { .. })) && self.window.selected() == Some(0);
        if !down && is_first { self.window.last() } else { self.leave_heading(down) }
    }

    /// Moves to the next passage in another file.
    fn step_file(&mut self, down: bool) {
        let from = self.hit().map(|hit| hit.path.clone());
        for _ in 0..self.rows.len() {
            self.step(down);
            if self.hit().map(|hit| &hit.path) != from.as_ref() {
                return;
            }
        }
    }

    fn regroup(&mut self) {
        let held = self.rows.get(self.window.selected().unwrap_or(0)).map(|row| row.hit());
        self.in_files = !self.in_files;
        let hits = std::mem::take(&mut self.hits);
        self.list(hits);
        let is_held = |row: &SearchRow| matches!(row, SearchRow::Hit(at) if Some(*at) == held);
        if let Some(row) = self.rows.iter().position(is_held) {
            self.window.select(row);
        }
    }

    /// Handles a key that applies to the passage under the cursor.
    fn use_hit(&mut self, name: &str) -> Reply {
        let Some(hit) = self.hit().cloned() else {
            self.note = "there is nothing under the cursor yet".into();
            return Reply::Stay;
        };
        let path = hit.path.to_string();
        match name {
            "Alt-a" => Reply::AddFound(path, false),
            "Alt-r" => Reply::AddFound(path, true),
            "Alt-e" => Reply::Visit(path, hit.line as usize),
            "Alt-y" => {
                // Control characters in a file name must not have an effect in a shell where the text is pasted.
                let text = sanitize::visible_line(&format!("{path}:{}", hit.line)).into_owned();
                self.note = format!("copied: {text}");
                Reply::Copy(ClipboardText { what: "The place".into(), text, hint: String::new() })
            }
            _ => Reply::Show(self.places()),
        }
    }

    /// The passages as locations, the one under the cursor first.
    fn places(&self) -> Vec<Place> {
        let order = self.rows.iter().filter(|row| matches!(row, SearchRow::Hit(_))).map(|row| row.hit());
        let place = |hit: &Hit| Place {
            path: hit.path.to_string(),
            line: Some(hit.line),
            end: Some(hit.end_line),
            name: hit.symbol.clone().unwrap_or_default(),
        };
        let listed: Vec<&Hit> = order.filter_map(|at| self.hits.get(at)).collect();
        let here = self.hit().and_then(|hit| listed.iter().position(|other| std::ptr::eq(*other, hit))).unwrap_or(0);
        let mut places: Vec<Place> = listed.into_iter().map(place).collect();
        places.rotate_left(here);
        places
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchRow {
    File { first: usize, count: usize },
    Hit(usize),
}

impl SearchRow {
    /// The passage of the row, or the best one of its file.
    pub(super) fn hit(self) -> usize {
        match self {
            Self::File { first, .. } => first,
            Self::Hit(at) => at,
        }
    }
}

pub(super) fn flat(hits: &[Hit]) -> Vec<SearchRow> {
    (0..hits.len()).map(SearchRow::Hit).collect()
}

/// The passages grouped by file: the file of the best one first, its passages by line.
pub(super) fn in_files(hits: &[Hit]) -> Vec<SearchRow> {
    let mut files: Vec<Vec<usize>> = Vec::new();
    for (at, hit) in hits.iter().enumerate() {
        let is_of = |file: &&mut Vec<usize>| {
            file.first().and_then(|first| hits.get(*first)).is_some_and(|first| first.path == hit.path)
        };
        match files.iter_mut().find(is_of) {
            Some(file) => file.push(at),
            None => files.push(vec![at]),
        }
    }
    let mut rows = Vec::with_capacity(hits.len() + files.len());
    for mut file in files {
        let Some(first) = file.first().copied() else { continue };
        rows.push(SearchRow::File { first, count: file.len() });
        file.sort_by_key(|at| hits.get(*at).map(|hit| hit.line));
        rows.extend(file.into_iter().map(SearchRow::Hit));
    }
    rows
}

/// The placeholder of the empty query.
const EMPTY: &str = "a question, a name or a path";
/// The keys, the most important first.
const KEYS: [(&str, &str); 8] = [
    ("Enter", "show"),
    ("Esc", "close"),
    ("Alt-a", "add"),
    ("Alt-r", "read-only"),
    ("Alt-q", "ask"),
    ("Alt-e", "editor"),
    ("Alt-y", "copy"),
    ("Alt-g", "by file"),
];
/// With at least this many columns inside, the preview is beside the list. A screen of 100 columns has as many.
const MIN_COLUMNS_BESIDE: u16 = 94;
/// Minimum width at which a row shows the kind of its symbol.
const MIN_KIND_COLUMNS: usize = 36;

impl CodeSearch {
    fn parts(inner: Rect) -> [Rect; 3] {
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(inner)
    }

    /// The number of passages and the progress, as far as they fit beside the title.
    fn count(&self, columns: usize) -> String {
        let waits = if self.waiting { "… " } else { "" };
        let found = match (self.answer, self.hits.len()) {
            (SearchAnswer::Found, 1) => "1 passage".to_owned(),
            (SearchAnswer::Found, count) => format!("{count} passages"),
            _ => String::new(),
        };
        let available = columns.saturating_sub(20);
        let long = format!(" {waits}{found} · {} ", self.reading);
        match (self.reading.is_empty() || self.rows.is_empty(), found.is_empty() && waits.is_empty()) {
            (false, _) if width::columns(&long) <= available => long,
            (_, true) => String::new(),
            _ => format!(" {waits}{found} "),
        }
    }

    /// The result of the last key, or the available keys.
    fn hints(&self, columns: usize, theme: &Theme) -> Line<'static> {
        if !self.note.is_empty() {
            let note = sanitize::visible_line(&self.note);
            let note = width::clip_start(&note, columns.saturating_sub(3));
            return Line::styled(format!("  {note}"), theme.style(Role::Success));
        }
        let named = |(key, meaning)| (key, if key == "Alt-g" && self.in_files { "by rank" } else { meaning });
        key_hints(KEYS.map(named), columns, theme)
    }

    /// Draws the reason why no passage is listed.
    fn draw_remark(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let typed = !self.input.text().trim().is_empty();
        let mut says: Vec<(String, Role)> = match (self.answer, typed) {
            (_, false) => vec![
                ("Ask as you would ask a colleague, or type a name or a part of a path:".into(), Role::Text),
                ("how are retries decided · parse_header · src/config".into(), Role::Muted),
            ],
            (SearchAnswer::Found, true) if !self.waiting => vec![
                ("No passage matches.".into(), Role::Text),
                (
                    "Try other words. Names are split into their parts, and word endings do not count.".into(),
                    Role::Muted,
                ),
            ],
            (SearchAnswer::Failed, true) => vec![
                ("The search failed.".into(), Role::Error),
                ("The chat shows the reason. Type to search again.".into(), Role::Muted),
            ],
            (SearchAnswer::Unread, true) if self.reading.is_empty() => {
                vec![("The repository has not been read yet.".into(), Role::Muted)]
            }
            (SearchAnswer::Unread, true) => Vec::new(),
            (SearchAnswer::None | SearchAnswer::Found, true) => vec![("searching …".into(), Role::Muted)],
        };
        if !self.reading.is_empty() {
            says.push((self.reading.clone(), Role::Warning));
        }
        let columns = usize::from(area.width.saturating_sub(4)).max(8);
        let lines = says.iter().flat_map(|(text, role)| hanging(text, "  ", columns, theme.style(*role)));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
    }

    fn row(&self, at: usize, columns: usize, theme: &Theme) -> Line<'static> {
        // One column stays free before the preview.
        let available = columns.saturating_sub(3);
        let spans = match self.rows.get(at).map(|row| (row, self.hits.get(row.hit()))) {
            Some((SearchRow::File { count, .. }, Some(hit))) => heading(hit, *count, available, theme),
            Some((SearchRow::Hit(_), Some(hit))) if self.in_files => passage(hit, &lines_of(hit), available, theme),
            Some((SearchRow::Hit(_), Some(hit))) => {
                let path = sanitize::visible_line(&hit.path).into_owned();
                passage(hit, &format!("{path}:{}", hit.line), available, theme)
            }
            _ => Vec::new(),
        };
        list_row(self.window.selected() == Some(at), Line::from(spans), columns, theme)
    }
}

impl Overlay for CodeSearch {
    fn key(&mut self, key: KeyEvent) -> Reply {
        self.note.clear();
        match (key::name(key).as_str(), key.code) {
            ("Esc", _) => return Reply::Close,
            ("Down" | "Ctrl-n", _) => self.step(true),
            ("Up" | "Ctrl-p", _) => self.step(false),
            ("Tab", _) => self.step_file(true),
            ("Shift-Tab", _) => self.step_file(false),
            (_, KeyCode::PageDown) => {
                self.window.page_down();
                self.leave_heading(true);
            }
            (_, KeyCode::PageUp) => {
                self.window.page_up();
                self.leave_heading(false);
            }
            ("Alt-g", _) => self.regroup(),
            ("Alt-q", _) => return Reply::AskCodebase(self.input.text().trim().to_owned()),
            ("Enter" | "Alt-a" | "Alt-r" | "Alt-e" | "Alt-y", _) => return self.use_hit(&key::name(key)),
            _ => drop(self.input.key(key)),
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.input.insert(text.trim_end_matches(['\r', '\n']));
    }

    fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
        self.leave_heading(by > 0);
    }

    fn click(&mut self, row: usize, double: bool) -> Reply {
        let was_there = self.window.selected() == Some(row);
        self.window.select(row);
        let is_hit = matches!(self.rows.get(row), Some(SearchRow::Hit(_)));
        self.leave_heading(true);
        if is_hit && (double || was_there) { self.use_hit("Enter") } else { Reply::Stay }
    }

    fn preview(&self) -> Option<PreviewTarget> {
        let hit = self.hit()?;
        Some(PreviewTarget::File(
            hit.path.to_string(),
            Some(Marked { first: hit.line as usize, last: hit.end_line as usize }),
        ))
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let [_, middle, _] = Self::parts(inner_area(wide_area(screen)));
        let (list, _) = list_and_look(middle, MIN_COLUMNS_BESIDE);
        self.window.set_height(usize::from(list.height));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        let area = wide_area(screen);
        let block = border(theme)
            .title_top(Line::styled(" search code ", theme.style(Role::Title)))
            .title_top(Line::styled(self.count(usize::from(area.width)), theme.style(Role::Muted)).right_aligned());
        let inside = block.inner(area);
        frame.render_widget(Clear, area);
        frame.render_widget(block, area);
        let [query, middle, hints] = Self::parts(inside);
        self.input.draw(frame, query, EMPTY, theme);
        frame.render_widget(self.hints(usize::from(hints.width), theme), hints);
        if self.rows.is_empty() {
            return self.draw_remark(frame, middle, theme);
        }
        let (list, beside) = list_and_look(middle, MIN_COLUMNS_BESIDE);
        for (y, at) in (list.y..list.bottom()).zip(self.window.visible()) {
            let row = Rect { y, height: 1, ..list };
            frame.render_widget(self.row(at, usize::from(list.width), theme), row);
            context.hits.add(row, crate::tui::mouse::Hit::Item(at));
        }
        if let (Some(area), Some(PreviewTarget::File(path, marked))) = (beside, self.preview()) {
            rule(frame, list, area, theme);
            draw_file_peek(frame, area, (&path, marked), context, theme);
        }
    }
}

/// The path of a file, and its number of passages.
fn heading(hit: &Passage, count: usize, available: usize, theme: &Theme) -> Vec<Span<'static>> {
    let count = format!(" · {count}");
    let path = sanitize::visible_line(&hit.path);
    let path = width::clip_start(&path, available.saturating_sub(width::columns(&count))).into_owned();
    vec![Span::styled(path, theme.style(Role::Title)), Span::styled(count, theme.style(Role::Muted))]
}

/// The lines of a passage below the name of its file.
fn lines_of(hit: &Passage) -> String {
    let lines = if hit.end_line > hit.line { format!("{}–{}", hit.line, hit.end_line) } else { hit.line.to_string() };
    format!("  {lines:<11}")
}

/// The location and the symbol of a passage, with the kind of symbol at the right.
fn passage(hit: &Passage, place: &str, available: usize, theme: &Theme) -> Vec<Span<'static>> {
    let kind = hit.kind.map_or("", |kind| kind.as_str());
    let kind = if available < MIN_KIND_COLUMNS || kind.is_empty() { String::new() } else { format!("  {kind}") };
    let left = available.saturating_sub(width::columns(&kind));
    let symbol = hit.symbol.as_deref().map(sanitize::visible_line).unwrap_or_default();
    let symbol = width::clip(&symbol, left / 2).into_owned();
    let gap = if symbol.is_empty() { 0 } else { 2 };
    let place = width::clip_start(place, left.saturating_sub(width::columns(&symbol) + gap)).into_owned();
    let free = left.saturating_sub(width::columns(&place) + width::columns(&symbol) + gap);
    let container = hit.container.as_deref().map(sanitize::visible_line).unwrap_or_default();
    let container = format!(" in {container}");
    let inside = (container.len() > " in ".len() && !symbol.is_empty() && width::columns(&container) <= free)
        .then_some(container);
    let muted = theme.style(Role::Muted);
    let shown = vec![
        Span::styled(place, theme.style(Role::Overlay)),
        Span::raw(" ".repeat(gap)),
        Span::styled(symbol, theme.style(Role::Accent)),
        Span::styled(inside.unwrap_or_default(), muted),
    ];
    spread(shown, vec![Span::styled(kind, muted)], available).spans
}

#[cfg(test)]
mod tests;
