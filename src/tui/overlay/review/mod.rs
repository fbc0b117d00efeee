//! Overlays of the review: comments, the preview of a write, the message to the model, and the manual placement of an
//! edit.

mod comment;
mod placement;

use crate::tui::overlay::{OverlayComponent, OverlayContext, inner_area};
use crate::tui::previews::Previews;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use rhumb_text::{count, sanitize, width, wrap};

use super::{Reply, centred, window};
use crate::tui::key;
use crate::tui::theme::{Role, Theme};
use rhumb_session::{CommitChoice, WritePlan, WritePreview};

pub use self::comment::{CommentBox, CommentContext};
pub use self::placement::{Placement, PlacementAction, PlacementBox};

/// What the review has opened.
#[derive(Debug)]
pub enum ReviewBox {
    /// A comment that is being written.
    Comment(Box<CommentBox>),
    /// What will be written?
    Write(WriteBox),
    /// What goes back to the model?
    Send(SendBox),
    /// Where does this belong?
    Place(Box<PlacementBox>),
}

/// What was said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewReply {
    /// Note this text there; an empty one takes the note away.
    Comment(Box<CommentContext>, String),
    /// Write it so.
    Write(WritePlan),
    /// Send this to the model.
    Send(String),
    /// Put this into the composer, to be changed.
    Compose(String),
    /// Do this with an edit without a place.
    Place(Box<Placement>),
}

impl ReviewBox {}

impl OverlayComponent for ReviewBox {
    /// Takes a key.
    fn key(&mut self, key: KeyEvent) -> Reply {
        match self {
            Self::Comment(comment) => comment.key(key),
            Self::Write(write) => write.key(key),
            Self::Send(send) => send.key(key),
            Self::Place(place) => place.key(key),
        }
    }

    fn paste(&mut self, text: &str) {
        if let Self::Comment(comment) = self {
            comment.paste(text);
        }
    }

    fn fit(&mut self, screen: Rect, theme: &Theme, previews: &Previews) {
        match self {
            Self::Comment(_) => {}
            Self::Write(write) => write.fit(screen, theme),
            Self::Send(send) => send.fit(screen, theme),
            Self::Place(place) => place.fit(screen, theme, previews),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        match self {
            Self::Comment(comment) => comment.draw(frame, screen, theme),
            Self::Write(write) => write.draw(frame, screen, theme),
            Self::Send(send) => send.draw(frame, screen, theme),
            Self::Place(place) => place.draw(frame, screen, theme, context.previews),
        }
    }
}

/// A line of such a text, in the style of its role.
pub(super) type Styled = (Role, String);

/// With fewer rows there is no blank line between the parts of a box.
const MIN_SPACED_ROWS: u16 = 16;

/// How far a text is scrolled.
#[derive(Debug, Default)]
pub(super) struct Page {
    offset: usize,
    /// Rows of it as last drawn.
    height: usize,
}

impl Page {
    /// Moves by a key; whether it was one of those.
    pub(super) fn key(&mut self, name: &str) -> bool {
        let page = self.height.saturating_sub(1).max(1);
        match name {
            "j" | "Down" => self.offset += 1,
            "k" | "Up" => self.offset = self.offset.saturating_sub(1),
            "PageDown" | "Ctrl-d" | "Space" => self.offset += page,
            "PageUp" | "Ctrl-u" => self.offset = self.offset.saturating_sub(page),
            "Home" => self.offset = 0,
            "End" => self.offset = usize::MAX,
            _ => return false,
        }
        true
    }

    /// Lays the text out for a screen: clamps the scroll position and notes the visible rows.
    pub(super) fn fit(&mut self, screen: Rect, theme: &Theme, content: &PageContent) {
        let laid_out = content.lay_out(screen, theme);
        self.height = usize::from(laid_out.parts(inner_area(laid_out.area))[0].height);
        self.offset = self.offset.min(laid_out.rows.len().saturating_sub(self.height));
    }

    /// Draws the box.
    pub(super) fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, content: &PageContent) {
        let laid_out = content.lay_out(screen, theme);
        let area = laid_out.area;
        let inner = window(frame, area, &format!(" {} ", content.title), theme);
        let [body, _, keys] = laid_out.parts(inner);
        let left = laid_out.rows.len().saturating_sub(self.offset + self.height);
        let shown: Vec<Line<'_>> = laid_out.rows.into_iter().skip(self.offset).take(self.height).collect();
        frame.render_widget(Paragraph::new(shown), body);
        frame.render_widget(Paragraph::new(laid_out.key_rows), keys);
        if left > 0 {
            let more = format!("↓ {left} more");
            let columns = u16::try_from(width::columns(&more)).unwrap_or(0).min(body.width);
            let row = if laid_out.gap > 0 { body.bottom() } else { area.bottom().saturating_sub(1) };
            let place = Rect::new(body.right() - columns, row, columns, 1).intersection(area);
            frame.render_widget(Line::styled(more, theme.style(Role::Muted)), place);
        }
    }
}

/// What a page shows.
pub(super) struct PageContent {
    pub(super) title: String,
    /// The most columns of the box, borders included.
    pub(super) max_width: u16,
    pub(super) text: Vec<Styled>,
    /// Keys, and what each does.
    pub(super) choices: Vec<(String, String)>,
}

/// A page as it is laid out for a screen.
struct LaidOut {
    area: Rect,
    rows: Vec<Line<'static>>,
    key_rows: Vec<Line<'static>>,
    /// Rows between the text and the keys.
    gap: u16,
}

impl PageContent {
    fn lay_out(&self, screen: Rect, theme: &Theme) -> LaidOut {
        let columns = self.max_width.min(screen.width.saturating_sub(2));
        let inner_columns = usize::from(columns.saturating_sub(4)).max(8);
        let rows: Vec<Line<'static>> = self.text.iter().flat_map(|line| wrapped(line, inner_columns, theme)).collect();
        let key_rows = feet(&self.choices, inner_columns, theme);
        // On a low screen the text gets the row between text and keys.
        let gap = u16::from(screen.height >= MIN_SPACED_ROWS);
        let height = u16::try_from(rows.len() + key_rows.len() + 2 + usize::from(gap)).unwrap_or(u16::MAX);
        LaidOut { area: centred(screen, columns, height.min(screen.height)), rows, key_rows, gap }
    }
}

impl LaidOut {
    /// The areas of the text, the gap and the keys, in the space inside the frame.
    fn parts(&self, inner: Rect) -> [Rect; 3] {
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let keys = u16::try_from(self.key_rows.len()).unwrap_or(1);
        Layout::vertical([Constraint::Fill(1), Constraint::Length(self.gap), Constraint::Length(keys)]).areas(inner)
    }
}

/// The rows of one line: what it begins with stays its beginning.
pub(super) fn wrapped(line: &Styled, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
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

/// The keys and their actions, in as many rows as needed.
pub(super) fn feet(choices: &[(String, String)], columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = Vec::new();
    let mut room = 0;
    for (key, what) in choices {
        let size = width::columns(key) + width::columns(what) + 1;
        if room < size + 3 || rows.is_empty() {
            rows.push(Line::default());
            room = columns;
        } else if let Some(row) = rows.last_mut() {
            row.push_span(Span::styled(" · ", theme.style(Role::Muted)));
            room = room.saturating_sub(3);
        }
        if let Some(row) = rows.last_mut() {
            row.push_span(Span::styled(key.clone(), theme.style(Role::Key)));
            row.push_span(Span::styled(format!(" {what}"), theme.style(Role::Text)));
        }
        room = room.saturating_sub(size);
    }
    rows
}

/// A key and what it does.
pub(super) fn choice(key: &str, what: impl Into<String>) -> (String, String) {
    (key.to_owned(), what.into())
}

/// With fewer columns the keys are abbreviated, so that they fit one row.
const MIN_FULL_KEYS_COLUMNS: u16 = 60;

/// The message.
#[derive(Debug)]
pub struct SendBox {
    text: String,
    /// Why it cannot go now, if so.
    why_not: Option<&'static str>,
    page: Page,
}

impl SendBox {
    /// A box with a message.
    pub fn new(text: String, why_not: Option<&'static str>) -> Self {
        Self { text, why_not, page: Page::default() }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
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

    /// What the box shows.
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

    fn fit(&mut self, screen: Rect, theme: &Theme) {
        let content = self.content(screen);
        self.page.fit(screen, theme, &content);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        self.page.draw(frame, screen, theme, &self.content(screen));
    }
}

/// The lines with what they are: quoted changes have their colours.
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

/// The question.
#[derive(Debug)]
pub struct WriteBox {
    preview: WritePreview,
    /// Whether a commit follows.
    commit: bool,
    page: Page,
}

impl WriteBox {
    /// The question about a write; `commit` says whether one follows, where there is a repository.
    pub fn new(preview: WritePreview, commit: bool) -> Self {
        let commit = commit && preview.commits.is_some();
        Self { preview, commit, page: Page::default() }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
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

    /// What the box shows.
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

    fn fit(&mut self, screen: Rect, theme: &Theme) {
        let content = self.content();
        self.page.fit(screen, theme, &content);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        self.page.draw(frame, screen, theme, &self.content());
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
        for (what, path, taken, all) in files {
            let part = if taken < all { format!("{taken} of {}", hunks(*all)) } else { hunks(*all) };
            let (mark, role) = match *what {
                "new" => ('+', Role::Added),
                "deleted" => ('-', Role::Removed),
                _ => ('~', Role::Text),
            };
            let part = if matches!(*what, "new" | "deleted") { (*what).to_owned() } else { format!("{what}, {part}") };
            text.push((role, format!("{mark} {path}  ({part})")));
        }
        for path in held {
            text.push((Role::Warning, format!("! {path}  (stays as it is: a conflict with the disk is open)")));
        }
        text.push((Role::Text, String::new()));
        text.push((Role::Muted, commit_line(*commits, self.commit, files.len())));
        text
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
