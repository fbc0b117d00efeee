//! Overlays of the review: comments, the preview of a write, the message to the model, and the manual placement of an edit,
//! which shows three texts (base, current, proposed) for a hunk that lost its location because the file changed on disk.

use rhumb_edit::review::CommentTarget;
use rhumb_edit::{FileChange, Outcome, duplicate_lines, first_declaration, likely_lines, range_near, similar_line};
use rhumb_session::{CommitChoice, PreviewedFile, Session, WritePlan, WritePreview};

use super::{Overlay, OverlayContext, Reply, centred, inner_area, scroll_by, window};
use crate::tui::composer::Composer;
use crate::tui::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewReply {
    /// Save this comment. An empty one removes it.
    Comment(Box<CommentContext>, String),
    Write(WritePlan),
    Send(String),
    Compose(String),
    Place(Box<Placement>),
}

pub(super) type Styled = (Role, String);

/// With fewer rows there is no blank line between the parts of a box.
const MIN_SPACED_ROWS: u16 = 16;

#[derive(Debug, Default)]
pub(super) struct ReviewPage {
    offset: usize,
    height: usize,
}

impl ReviewPage {
    fn key(&mut self, name: &str) {
        if let Some(by) = scroll_by(name, self.height.saturating_sub(1)) {
            self.offset = self.offset.saturating_add_signed(by);
        }
    }

    /// Lays out the text for a screen: clamps the scroll position and notes the visible rows.
    pub(super) fn fit(&mut self, screen: Rect, theme: &Theme, content: &PageContent) {
        let laid_out = content.lay_out(screen, theme);
        let height = laid_out.parts(inner_area(laid_out.area))[0].height;
        self.clamp(laid_out.rows.len(), usize::from(height));
    }

    /// Notes the visible rows and clamps the scroll position.
    fn clamp(&mut self, rows: usize, height: usize) {
        self.height = height;
        self.offset = self.offset.min(rows.saturating_sub(height));
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, content: &PageContent) {
        let laid_out = content.lay_out(screen, theme);
        let area = laid_out.area;
        let inner = window(frame, area, &format!(" {} ", content.title), theme);
        let [body, _, keys] = laid_out.parts(inner);
        let row = if laid_out.gap > 0 { body.bottom() } else { area.bottom().saturating_sub(1) };
        let more = Rect { y: row, height: 1, ..body }.intersection(area);
        self.draw_more(frame, more, laid_out.rows.len(), theme);
        frame.render_widget(Paragraph::new(self.visible(laid_out.rows)), body);
        frame.render_widget(Paragraph::new(laid_out.key_rows), keys);
    }

    fn visible(&self, rows: Lines) -> Lines {
        rows.into_iter().skip(self.offset).take(self.height).collect()
    }

    /// Draws how many of `rows` are below the visible ones, at the right end of `line`.
    fn draw_more(&self, frame: &mut Frame<'_>, line: Rect, rows: usize, theme: &Theme) {
        let left = rows.saturating_sub(self.offset + self.height);
        if left > 0 {
            let more = format!("↓ {left} more");
            let columns = cells(width::columns(&more)).min(line.width);
            let place = Rect { x: line.right() - columns, width: columns, ..line };
            frame.render_widget(Line::styled(more, theme.style(Role::Muted)), place);
        }
    }
}

pub(super) struct PageContent {
    pub(super) title: String,
    /// Maximum width of the box, borders included.
    pub(super) max_width: u16,
    pub(super) text: Vec<Styled>,
    pub(super) choices: Vec<(String, String)>,
}

struct LaidOut {
    area: Rect,
    rows: Lines,
    key_rows: Lines,
    gap: u16,
}

impl PageContent {
    fn lay_out(&self, screen: Rect, theme: &Theme) -> LaidOut {
        let columns = self.max_width.min(screen.width.saturating_sub(2));
        let inner_columns = usize::from(columns.saturating_sub(4)).max(8);
        let rows: Lines = self.text.iter().flat_map(|line| wrapped(line, inner_columns, theme)).collect();
        let key_rows = feet(&self.choices, inner_columns, theme);
        // On a low screen the text gets the row between text and keys.
        let gap = u16::from(screen.height >= MIN_SPACED_ROWS);
        let height = cells(rows.len() + key_rows.len() + 2 + usize::from(gap));
        LaidOut { area: centred(screen, columns, height), rows, key_rows, gap }
    }
}

impl LaidOut {
    /// The areas of the text, the gap and the keys, in the space inside the frame.
    fn parts(&self, inner: Rect) -> [Rect; 3] {
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let keys = Constraint::Length(cells(self.key_rows.len()));
        Layout::vertical([Constraint::Fill(1), Constraint::Length(self.gap), keys]).areas(inner)
    }
}

pub(super) fn wrapped(line: &Styled, columns: usize, theme: &Theme) -> Lines {
    let (role, text) = line;
    let safe = sanitize::visible_line(text).into_owned();
    let style = theme.style(*role);
    let code = matches!(role, Role::Added | Role::Removed | Role::Gutter);
    let pieces = if code { wrap::hard_wrap(&safe, columns) } else { wrap::wrap(&safe, columns) };
    let mut rows: Vec<Line<'_>> = pieces.into_iter().map(|piece| Line::styled(safe[piece].to_owned(), style)).collect();
    if rows.is_empty() {
        rows.push(Line::default());
    }
    rows
}

/// Keys and their effects, in as many rows as needed.
pub(super) fn feet(choices: &[(String, String)], columns: usize, theme: &Theme) -> Lines {
    let mut rows: Lines = Vec::new();
    let mut available = 0;
    for (key, what) in choices {
        let size = width::columns(key) + width::columns(what) + 1;
        if available < size + 3 || rows.is_empty() {
            rows.push(Line::default());
            available = columns;
        } else if let Some(row) = rows.last_mut() {
            row.push_span(Span::styled(" · ", theme.style(Role::Muted)));
            available = available.saturating_sub(3);
        }
        if let Some(row) = rows.last_mut() {
            row.push_span(Span::styled(key.clone(), theme.style(Role::Key)));
            row.push_span(Span::styled(format!(" {what}"), theme.style(Role::Text)));
        }
        available = available.saturating_sub(size);
    }
    rows
}

pub(super) fn choice(key: &str, what: impl Into<String>) -> (String, String) {
    (key.to_owned(), what.into())
}

/// With fewer columns the keys are abbreviated, so that they fit one row.
const MIN_FULL_KEYS_COLUMNS: u16 = 60;

#[derive(Debug)]
pub struct SendBox {
    text: String,
    /// The reason why it cannot be sent now.
    why_not: Option<&'static str>,
    page: ReviewPage,
}

impl SendBox {
    pub fn new(text: String, why_not: Option<&'static str>) -> Self {
        Self { text, why_not, page: ReviewPage::default() }
    }

    fn content(&self, screen: Rect) -> PageContent {
        let text = marked(&self.text);
        let first = match self.why_not {
            Some(why) => choice("y", format!("cannot send it: {why}")),
            None => choice("y", "send"),
        };
        let change = if screen.width < MIN_FULL_KEYS_COLUMNS { "change it" } else { "change it in the composer" };
        let choices = [first, choice("e", change), choice("Esc", "back")];
        PageContent { title: "to the model".to_owned(), max_width: 100, text, choices: choices.into() }
    }
}

impl Overlay for SendBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        match name.as_str() {
            "y" if self.why_not.is_none() => Reply::Review(ReviewReply::Send(self.text.clone())),
            "e" => Reply::Review(ReviewReply::Compose(self.text.clone())),
            "Esc" | "q" | "n" => Reply::Close,
            name => {
                self.page.key(name);
                Reply::Stay
            }
        }
    }

    fn fit(&mut self, screen: Rect, theme: &Theme, _: &Previews) {
        let content = self.content(screen);
        self.page.fit(screen, theme, &content);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        self.page.draw(frame, screen, theme, &self.content(screen));
    }
}

/// The lines of a message; quoted diffs have their colours.
fn marked(text: &str) -> Vec<Styled> {
    let mut fenced = false;
    let line = |line: &str| {
        let is_fence = line.starts_with("```");
        fenced ^= is_fence;
        let role = match line.chars().next() {
            _ if is_fence => Role::Muted,
            Some('+') if fenced => Role::Added,
            Some('-') if fenced => Role::Removed,
            _ if fenced => Role::Gutter,
            _ => Role::Text,
        };
        (role, line.to_owned())
    };
    text.lines().map(line).collect()
}

#[derive(Debug)]
pub struct WriteBox {
    preview: WritePreview,
    commit: bool,
    page: ReviewPage,
}

impl WriteBox {
    /// `commit` is the default of the settings.
    pub fn new(preview: WritePreview, commit: bool) -> Self {
        let commit = commit && preview.commits.is_some();
        Self { preview, commit, page: ReviewPage::default() }
    }

    fn content(&self) -> PageContent {
        let WritePreview { accepted, pending, commits, .. } = self.preview;
        let (accepted, text) = (hunks(accepted), self.text());
        let mut choices = Vec::new();
        if pending > 0 {
            choices.push(choice("y", format!("write {accepted}, keep {pending} pending")));
            choices.push(choice("r", format!("write {accepted}, reject the {pending}")));
        } else {
            choices.push(choice("y", format!("write {accepted}")));
        }
        if commits.is_some() {
            choices.push(choice("c", if self.commit { "without a commit" } else { "with a commit" }));
        }
        choices.push(choice("Esc", "back"));
        PageContent { title: "write".to_owned(), max_width: 76, text, choices }
    }

    fn text(&self) -> Vec<Styled> {
        let WritePreview { files, accepted, pending, rejected, held, commits } = &self.preview;
        let mut first = format!("{} of {} will be written.", hunks(*accepted), count(files.len(), "file"));
        if *pending > 0 {
            first += &format!(" {} not decided.", if *pending == 1 { "1 is".into() } else { format!("{pending} are") });
        }
        if *rejected > 0 {
            first += &format!(" {rejected} rejected.");
        }
        let mut text = vec![(Role::Text, first), (Role::Text, String::new())];
        text.extend(files.iter().map(written_file));
        for path in held {
            text.push((Role::Warning, format!("! {path}  (not written: its conflict with the disk is not resolved)")));
        }
        text.push((Role::Text, String::new()));
        text.push((Role::Muted, commit_line(*commits, self.commit, files.len())));
        text
    }
}

impl Overlay for WriteBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let plan = |reject_rest| {
            let commit = self.preview.commits.map_or(CommitChoice::BySetting, |_| self.commit.into());
            Reply::Review(ReviewReply::Write(WritePlan { reject_rest, commit }))
        };
        match name.as_str() {
            "y" | "w" | "Enter" => plan(false),
            "r" if self.preview.pending > 0 => plan(true),
            "c" if self.preview.commits.is_some() => {
                self.commit = !self.commit;
                Reply::Stay
            }
            "Esc" | "q" | "n" => Reply::Close,
            name => {
                self.page.key(name);
                Reply::Stay
            }
        }
    }

    fn fit(&mut self, screen: Rect, theme: &Theme, _: &Previews) {
        let content = self.content();
        self.page.fit(screen, theme, &content);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        self.page.draw(frame, screen, theme, &self.content());
    }
}

fn written_file(file: &PreviewedFile) -> Styled {
    let PreviewedFile { path, change, accepted, total } = file;
    let part = if accepted < total { format!("{accepted} of {}", hunks(*total)) } else { hunks(*total) };
    match change {
        FileChange::Create => (Role::Added, format!("+ {path}  (new)")),
        FileChange::Delete => (Role::Removed, format!("- {path}  (deleted)")),
        FileChange::Modify => (Role::Text, format!("~ {path}  (changed, {part})")),
        FileChange::Rename { .. } => (Role::Text, format!("~ {path}  (renamed, {part})")),
    }
}

fn commit_line(commits: Option<bool>, commit: bool, files: usize) -> String {
    match commits {
        None => "There is no git repository, so there is no commit.".to_owned(),
        Some(_) if commit => format!("A commit of {} follows.", if files == 1 { "this file" } else { "these files" }),
        Some(_) => "No commit follows.".to_owned(),
    }
}

fn hunks(number: usize) -> String {
    count(number, "hunk")
}

const MAX_TEXT_ROWS: u16 = 8;

const MAX_QUOTED_LINES: usize = 4;

/// The target of a comment. Its texts identify it if the review changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentContext {
    pub place: CommentTarget,
    pub path: String,
    /// The removed and the added text of the hunk; empty for a comment on a file.
    pub hunk: (String, String),
    /// For example `src/a.rs, line 12`.
    pub name: String,
    /// The commented lines, with `-` or `+` before them.
    pub quoted: Vec<String>,
}

#[derive(Debug)]
pub struct CommentBox {
    place: CommentContext,
    composer: Composer,
    before: String,
    /// The initial text of a new comment, which alone is not a comment.
    given: String,
    save: Vec<String>,
    newline: Vec<String>,
    /// Whether Esc was pressed on a changed text.
    leaving: bool,
}

impl CommentBox {
    /// `given` is the initial text of a new comment. `keys` save the comment, and insert a newline.
    pub fn new(place: CommentContext, text: &str, given: &str, theme: &Theme, keys: [&[String]; 2]) -> Self {
        let mut composer = Composer::new(theme);
        composer.ask_for("What should be different, or why is it good?");
        let start = if text.is_empty() { given } else { text };
        if !start.is_empty() {
            composer.open(start);
        }
        let [save, newline] = keys.map(<[String]>::to_vec);
        let before = composer.text();
        Self { place, composer, before, given: given.to_owned(), save, newline, leaving: false }
    }
}

impl Overlay for CommentBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let was_leaving = std::mem::take(&mut self.leaving);
        if self.save.contains(&name) {
            let text = self.composer.text();
            let text = if text.trim() == self.given.trim() { String::new() } else { text };
            return Reply::Review(ReviewReply::Comment(Box::new(self.place.clone()), text));
        }
        if name == "Esc" {
            if was_leaving || self.composer.text() == self.before {
                return Reply::Close;
            }
            self.leaving = true;
        } else if self.newline.contains(&name) {
            self.composer.newline();
        } else {
            self.composer.input(key);
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.composer.paste(text);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let columns = screen.width.saturating_sub(4).min(84);
        let inner_columns = columns.saturating_sub(4).max(8);
        let key = |keys: &[String]| keys.first().cloned().unwrap_or_default();
        let choices = if self.leaving {
            vec![choice("Esc", "again throws the change away")]
        } else {
            vec![
                choice(&key(&self.save), "saves it, empty removes it"),
                choice(&key(&self.newline), "new line"),
                choice("Esc", "leaves it"),
            ]
        };
        let feet = feet(&choices, usize::from(inner_columns), theme);
        let foot = cells(feet.len());
        let quoted = quoted(&self.place.quoted, usize::from(inner_columns), theme);
        let free = screen.height.saturating_sub(foot + 4);
        let most = cells(quoted.len()).min(free.saturating_sub(2));
        let rows = self.composer.height(inner_columns, MAX_TEXT_ROWS.min(free.saturating_sub(most)).max(1)).max(2);
        let area = centred(screen, columns, most + rows + foot + 4);
        let title = format!(" comment on {} ", sanitize::visible_line(&self.place.name));
        let title = width::clip(&title, usize::from(columns.saturating_sub(2))).into_owned();
        let inner = window(frame, area, &title, theme);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let [head, _, text, _, keys] = Layout::vertical([
            Constraint::Length(most),
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(foot),
        ])
        .areas(inner);
        frame.render_widget(Paragraph::new(quoted), head);
        self.composer.draw(frame, text, true);
        frame.render_widget(Paragraph::new(feet), keys);
    }
}

fn quoted(lines: &[String], columns: usize, theme: &Theme) -> Lines {
    let line = |line: &String| {
        let role = if line.starts_with('-') { Role::Removed } else { Role::Added };
        clipped(&sanitize::visible_line(line), columns, theme.style(role))
    };
    let mut rows: Lines = lines.iter().take(MAX_QUOTED_LINES).map(line).collect();
    if lines.len() > MAX_QUOTED_LINES {
        let rest = lines.len() - MAX_QUOTED_LINES;
        rows.push(Line::styled(format!("… {rest} more"), theme.style(Role::Muted)));
    }
    rows
}

/// Maximum number of candidates: one for each digit key.
const MAX_CANDIDATES: usize = 9;

/// Lines of the file that are shown before and after the place.
const CONTEXT_LINES: usize = 3;

/// With at least this many columns the three texts of a conflict are side by side.
const MIN_COLUMNS_SIDE_BY_SIDE: u16 = 132;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    pub path: String,
    /// The quoted and the replacement text, which identify the edit.
    pub edit: (String, String),
    pub now: Option<Arc<str>>,
    pub confirmed_action: PlacementAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacementAction {
    /// Replace these lines (0-based).
    Put(Range<usize>),
    Edit(Range<usize>),
    Dismiss,
    Ask,
}

#[derive(Debug)]
pub struct PlacementBox {
    outcome: Outcome,
    now: Option<Arc<str>>,
    /// Candidate ranges of lines (0-based), the most likely first.
    offered: Vec<Range<usize>>,
    place: Range<usize>,
    page: ReviewPage,
}

impl PlacementBox {
    /// `now` is the text of the file, if it is known.
    pub fn new(outcome: Outcome, now: Option<Arc<str>>) -> Self {
        let mut place = Self { outcome, now: None, offered: Vec::new(), place: 0..0, page: ReviewPage::default() };
        now.into_iter().for_each(|now| place.show(now));
        place
    }

    /// The file whose text is missing.
    fn wants(&self) -> Option<&str> {
        self.now.is_none().then_some(self.outcome.path.as_str())
    }

    fn show(&mut self, now: Arc<str>) {
        let all = lines::split(&now);
        let near = self.outcome.nearest.first().filter(|_| self.outcome.is_conflict());
        let length = near.map_or(self.outcome.quote.lines().count(), |near| lines::split(&near.text).len());
        let mut offered: Vec<usize> = match near {
            Some(near) => vec![near.line],
            None => self.outcome.candidates.iter().map(|candidate| candidate.line).collect(),
        };
        for line in likely_lines(&now, &self.outcome.quote, MAX_CANDIDATES) {
            if offered.iter().all(|known| known.abs_diff(line) > length / 2) {
                offered.push(line);
            }
        }
        if offered.is_empty() {
            offered.extend(similar_line(&now, &self.outcome.quote).map(|line| line + 1));
        }
        offered.truncate(MAX_CANDIDATES);
        let starts = offered.into_iter().map(|line| line.saturating_sub(1).min(all.len()));
        let (quote, replacement) = (&self.outcome.quote, &self.outcome.replacement);
        let place = |start: usize| match near {
            Some(_) => start..(start + length).min(all.len()),
            None => range_near(&now, quote, replacement, start),
        };
        let mut offered: Vec<Range<usize>> = Vec::new();
        for place in starts.map(place) {
            if !offered.contains(&place) {
                offered.push(place);
            }
        }
        self.offered = offered;
        let first = first_declaration(&now);
        self.place = first..first;
        self.now = Some(now);
        self.go_to(0);
    }

    fn go_to(&mut self, number: usize) {
        if let Some(place) = self.offered.get(number) {
            self.place = place.clone();
        }
    }

    fn count(&self) -> usize {
        self.now.as_deref().map_or(0, |now| lines::split(now).len())
    }

    fn reply(&self, confirmed_action: PlacementAction) -> Reply {
        let edit = (self.outcome.quote.clone(), self.outcome.replacement.clone());
        let placement_reply =
            Placement { path: self.outcome.path.clone(), edit, now: self.now.clone(), confirmed_action };
        Reply::Review(ReviewReply::Place(Box::new(placement_reply)))
    }

    fn is_side_by_side(&self, screen: Rect) -> bool {
        self.outcome.is_conflict() && screen.width >= MIN_COLUMNS_SIDE_BY_SIDE
    }

    fn content(&self, previews: &Previews) -> PageContent {
        let why_not = match self.wants().map(|path| previews.get(path)) {
            Some(Some(Preview::None(reason))) => Some(format!("the file cannot be read: {reason}")),
            Some(_) => Some("reading the file …".to_owned()),
            None => None,
        };
        let path = sanitize::visible_line(&self.outcome.path);
        let (title, text) = match self.outcome.is_conflict() {
            true => (format!("conflict · {path}"), self.stacked()),
            false => (format!("place by hand · {path}"), self.by_hand(why_not.as_deref())),
        };
        PageContent { title, max_width: 100, text, choices: self.choices() }
    }

    fn choices(&self) -> Vec<(String, String)> {
        let mut choices = Vec::new();
        let is_conflict = self.outcome.is_conflict();
        if is_conflict {
            choices.push(choice("d", "keeps the disk"));
        }
        if self.now.is_some() {
            choices.push(choice("Enter", if is_conflict { "takes the proposed here" } else { "puts it here" }));
            choices.push(choice("e", "editor"));
            choices.push(choice("j k", "moves the place"));
            choices.push(choice("+ -", "its lines"));
            if self.offered.len() > 1 {
                choices.push(choice(&format!("1–{}", self.offered.len()), "other places"));
            }
        }
        choices.push(choice("r", "asks the model"));
        if !is_conflict {
            choices.push(choice("d", "puts it away"));
        }
        choices.push(choice("Esc", "back"));
        choices
    }

    fn place_name(&self) -> String {
        match self.place.len() {
            0 => format!("before line {}", self.place.start + 1),
            1 => format!("line {}", self.place.start + 1),
            _ => format!("lines {}–{}", self.place.start + 1, self.place.end),
        }
    }

    fn by_hand(&self, why_not: Option<&str>) -> Vec<Styled> {
        let mut text = vec![(Role::Warning, self.outcome.reason.clone()), blank()];
        text.push((Role::Title, "The edit".to_owned()));
        text.extend(self.outcome.quote.lines().map(|line| (Role::Removed, format!("- {line}"))));
        text.extend(self.outcome.replacement.lines().map(|line| (Role::Added, format!("+ {line}"))));
        text.push(blank());
        if let Some(why_not) = why_not {
            text.push((Role::Warning, why_not.to_owned()));
            return text;
        }
        let number = self.offered.iter().position(|place| *place == self.place);
        let of = number.map_or_else(String::new, |number| format!(" · place {} of {}", number + 1, self.offered.len()));
        if self.offered.is_empty() {
            text.push((
                Role::Warning,
                "No line of the file is like those of the edit: move it to its location.".to_owned(),
            ));
        }
        let verb = if self.place.is_empty() { "It would be added" } else { "It would replace" };
        text.push((Role::Title, format!("{verb} {}{of}", self.place_name())));
        text.extend(self.repeated_lines().map(|warning| (Role::Warning, warning)));
        text.extend(self.lines_around());
        text
    }

    fn repeated_lines(&self) -> impl Iterator<Item = String> {
        let now = self.now.as_deref().unwrap_or_default();
        let repeated = duplicate_lines(now, &self.place, &self.outcome.replacement);
        let all = lines::split(now);
        let warning = |place: Range<usize>, side: &str| {
            let line = all.get(place.start).filter(|_| !place.is_empty())?;
            let number = place.start + 1;
            Some(format!("Line {number} {side} it would be there twice: {}", lines::body(line).trim()))
        };
        [warning(repeated.before, "before"), warning(repeated.after, "after")].into_iter().flatten()
    }

    fn lines_around(&self) -> Vec<Styled> {
        let all = lines::split(self.now.as_deref().unwrap_or_default());
        let first = self.place.start.saturating_sub(CONTEXT_LINES);
        let digits = all.len().max(1).ilog10() as usize + 1;
        let row = |(at, line): (usize, &&str)| {
            let is_there = self.place.contains(&at);
            let (mark, role) = if is_there { ('▸', Role::Removed) } else { (' ', Role::Gutter) };
            (role, format!("{mark} {:>digits$}  {}", at + 1, lines::body(line)))
        };
        let count = self.place.end + CONTEXT_LINES - first.min(self.place.end + CONTEXT_LINES);
        let mut rows: Vec<Styled> = all.iter().enumerate().skip(first).take(count).map(row).collect();
        if self.place.is_empty() {
            let at = (self.place.start - first).min(rows.len());
            rows.insert(at, (Role::Added, "▸ (here)".to_owned()));
        }
        rows
    }

    /// The three texts of a conflict, with headings.
    fn parts(&self) -> [(String, Vec<Styled>); 3] {
        let plain = |text: &str| text.lines().map(|line| (Role::Gutter, line.to_owned())).collect();
        let now = match &self.now {
            Some(_) => self.lines_around(),
            None => self
                .outcome
                .nearest
                .iter()
                .flat_map(|near| near.text.lines())
                .map(|line| (Role::Removed, line.to_owned()))
                .collect(),
        };
        let proposed = self.outcome.replacement.lines().map(|line| (Role::Added, line.to_owned())).collect();
        [
            ("as it was".to_owned(), plain(&self.outcome.quote)),
            (format!("on disk now, {}", self.place_name()), now),
            ("proposed".to_owned(), proposed),
        ]
    }

    fn stacked(&self) -> Vec<Styled> {
        let mut text = vec![(Role::Warning, self.outcome.reason.clone())];
        for (heading, lines) in self.parts() {
            text.push(blank());
            text.push((Role::Title, format!("── {heading}")));
            text.extend(lines);
        }
        text
    }

    fn side_by_side(&self, screen: Rect, theme: &Theme, choices: &[(String, String)]) -> SideBySide {
        let columns = screen.width.saturating_sub(4).min(180);
        let key_rows = feet(choices, usize::from(columns.saturating_sub(4)), theme);
        let parts = self.parts();
        let most = parts.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default() + key_rows.len() + 7;
        // Long lines wrap.
        let height = u16::try_from(most * 3 / 2).unwrap_or(u16::MAX).min(screen.height.saturating_sub(2));
        let area = centred(screen, columns, height);
        let inner = inner_area(area);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let [reason, _, body, gap, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(cells(key_rows.len())),
        ])
        .areas(inner);
        let areas: [Rect; 3] = Layout::horizontal([Constraint::Fill(1); 3]).spacing(2).areas(body);
        let column = |((heading, text), area): ((String, Vec<Styled>), Rect)| {
            let rows = text.iter().flat_map(|line| wrapped(line, usize::from(area.width).max(1), theme)).collect();
            (heading, rows, area)
        };
        let columns = parts.into_iter().zip(areas).map(column).collect();
        SideBySide { area, reason, columns, gap, key_rows, keys }
    }

    fn draw_side_by_side(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, content: &PageContent) {
        let laid_out = self.side_by_side(screen, theme, &content.choices);
        window(frame, laid_out.area, &format!(" {} ", content.title), theme);
        let clip = |text: &str, available: u16| {
            width::clip(&sanitize::visible_line(text), usize::from(available)).into_owned()
        };
        let reason = clip(&self.outcome.reason, laid_out.reason.width);
        frame.render_widget(Line::styled(reason, theme.style(Role::Warning)), laid_out.reason);
        self.page.draw_more(frame, laid_out.gap, laid_out.row_count(), theme);
        for (heading, rows, area) in laid_out.columns {
            let rule = format!("── {} ", clip(&heading, area.width.saturating_sub(4)));
            let mut shown = vec![Line::styled(rule, theme.style(Role::Title))];
            shown.extend(self.page.visible(rows));
            frame.render_widget(Paragraph::new(shown), area);
        }
        frame.render_widget(Paragraph::new(laid_out.key_rows), laid_out.keys);
    }
}

/// The three texts of a conflict side by side, laid out for a screen. They scroll together below their headings.
struct SideBySide {
    area: Rect,
    reason: Rect,
    /// The heading, the rows and the area of each text.
    columns: Vec<(String, Lines, Rect)>,
    gap: Rect,
    key_rows: Lines,
    keys: Rect,
}

impl SideBySide {
    /// The rows of the longest text.
    fn row_count(&self) -> usize {
        self.columns.iter().map(|(_, rows, _)| rows.len()).max().unwrap_or_default()
    }

    /// The rows of a text that are visible at once.
    fn height(&self) -> usize {
        self.columns.first().map_or(0, |(_, _, area)| usize::from(area.height.saturating_sub(1)))
    }
}

impl Overlay for PlacementBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let count = self.count();
        let is_known = self.now.is_some();
        let can_stand = is_known && !(self.outcome.is_conflict() && self.outcome.nearest.is_empty());
        match name.as_str() {
            "Esc" | "q" => return Reply::Close,
            "d" => return self.reply(PlacementAction::Dismiss),
            "r" => return self.reply(PlacementAction::Ask),
            "Enter" | "t" if can_stand => return self.reply(PlacementAction::Put(self.place.clone())),
            "e" if is_known => return self.reply(PlacementAction::Edit(self.place.clone())),
            "j" | "Down" if self.place.end < count => self.place = self.place.start + 1..self.place.end + 1,
            "k" | "Up" if self.place.start > 0 => self.place = self.place.start - 1..self.place.end - 1,
            "+" | "=" if self.place.end < count => self.place.end += 1,
            "-" if !self.place.is_empty() => self.place.end -= 1,
            "Tab" => {
                let next = self.offered.iter().position(|place| *place == self.place).map_or(0, |at| at + 1);
                self.go_to(next % self.offered.len().max(1));
            }
            "j" | "k" | "Down" | "Up" | "Space" => {}
            name => {
                if let Some(number) = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) {
                    self.go_to(number);
                } else {
                    self.page.key(name);
                }
            }
        }
        Reply::Stay
    }

    fn fit(&mut self, screen: Rect, theme: &Theme, previews: &Previews) {
        if self.is_side_by_side(screen) {
            let laid_out = self.side_by_side(screen, theme, &self.choices());
            self.page.clamp(laid_out.row_count(), laid_out.height());
        } else {
            let content = self.content(previews);
            self.page.fit(screen, theme, &content);
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        let content = self.content(context.previews);
        if self.is_side_by_side(screen) {
            self.draw_side_by_side(frame, screen, theme, &content)
        } else {
            self.page.draw(frame, screen, theme, &content)
        }
    }

    /// Uses the text of the file once it is read.
    fn refresh(&mut self, _: &Session, previews: &Previews) {
        if let Some(Preview::Text(text)) = self.wants().and_then(|path| previews.get(path)) {
            self.show(Arc::clone(text));
        }
    }
}

fn blank() -> Styled {
    (Role::Text, String::new())
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use rhumb_edit::{EditFormat, Flag, Status};

    use super::*;

    #[test]
    fn a_conflict_that_does_not_fit_scrolls_side_by_side() {
        let lines = |what: &str| (1..=40).map(|number| format!("{what} {number}\n")).collect::<String>();
        let outcome = Outcome {
            path: "a.rs".into(),
            format: EditFormat::Diff,
            status: Status::Refused,
            strategy: None,
            confidence: 0.0,
            lines: None,
            reason: "the file changed on disk".into(),
            candidates: Vec::new(),
            nearest: Vec::new(),
            flags: vec![Flag::Conflict],
            quote: lines("base"),
            replacement: lines("proposed"),
            reply_lines: (1, 2),
            edits: Vec::new(),
        };
        let mut view = PlacementBox::new(outcome, Some(lines("disk").into()));
        let mut screen = Terminal::new(TestBackend::new(140, 24)).unwrap();
        let mut shown = |view: &mut PlacementBox| {
            screen.draw(|frame| crate::tui::overlay::render(view, frame)).unwrap();
            screen.backend().to_string()
        };
        let first = shown(&mut view);
        assert!(first.contains("base 1 ") && first.contains("more") && !first.contains("proposed 40"), "{first}");
        view.key(KeyCode::End.into());
        let last = shown(&mut view);
        let parts = ["as it was", "base 40", "proposed 40"];
        assert!(parts.iter().all(|part| last.contains(part)) && !last.contains("more"), "{last}");
    }
}
