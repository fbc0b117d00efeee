//! An input for a comment: a small composer below the lines that the comment is about.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use rhumb_edit::review::CommentTarget;
use rhumb_text::{sanitize, width};

use super::{Reply, ReviewReply, choice, feet};
use crate::tui::composer::Composer;
use crate::tui::key;
use crate::tui::overlay::{centred, window};
use crate::tui::theme::{Role, Theme};

/// Most rows of the comment's text.
const MAX_TEXT_ROWS: u16 = 8;

/// Most lines of the commented code that are shown.
const MAX_QUOTED_LINES: usize = 4;

/// What a comment is about: by its texts it is found again, should the review change meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentContext {
    /// The place in the review as it was.
    pub place: CommentTarget,
    /// The file.
    pub path: String,
    /// What the hunk removes and adds; empty for a comment on a file.
    pub hunk: (String, String),
    /// How it is called: `src/a.rs, line 12`.
    pub name: String,
    /// The lines that it is about, with `-` or `+` before them.
    pub quoted: Vec<String>,
}

/// The box.
#[derive(Debug)]
pub struct CommentBox {
    place: CommentContext,
    composer: Composer,
    /// The comment as it was, to tell whether something would be lost.
    before: String,
    /// The initial text of the box, which alone is not a comment.
    given: String,
    save: Vec<String>,
    newline: Vec<String>,
    /// Whether Esc was pressed on a changed text.
    leaving: bool,
}

impl CommentBox {
    /// A box with the comment that is there; `given` is what a new one begins with. `keys` save it, and begin a new line.
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

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
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

    /// Takes a paste.
    pub fn paste(&mut self, text: &str) {
        self.composer.paste(text);
    }

    /// Draws it over `screen`.
    pub fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
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
        let foot = u16::try_from(feet.len()).unwrap_or(1);
        let quoted = quoted(&self.place.quoted, usize::from(inner_columns), theme);
        let free = screen.height.saturating_sub(foot + 4);
        let most = u16::try_from(quoted.len()).unwrap_or(0).min(free.saturating_sub(2));
        let rows = self.composer.height(inner_columns, MAX_TEXT_ROWS.min(free.saturating_sub(most)).max(1)).max(2);
        let area = centred(screen, columns, (most + rows + foot + 4).min(screen.height));
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

/// What is commented on, shortened.
fn quoted(lines: &[String], columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let line = |line: &String| {
        let role = if line.starts_with('-') { Role::Removed } else { Role::Added };
        Line::styled(width::clip(&sanitize::visible_line(line), columns).into_owned(), theme.style(role))
    };
    let mut rows: Vec<Line<'static>> = lines.iter().take(MAX_QUOTED_LINES).map(line).collect();
    if lines.len() > MAX_QUOTED_LINES {
        let rest = lines.len() - MAX_QUOTED_LINES;
        rows.push(Line::styled(format!("… {rest} more"), theme.style(Role::Muted)));
    }
    rows
}
