//! The chat pane: the transcript, the state of the running turn, and the composer.

use std::cell::RefCell;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::answer::AnswerView;
use crate::session::{AnswerState, Connection, Entry, Level, Notice};
use crate::text::{sanitize, width, wrap};
use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::coloring::{Coloring, code_lines};
use crate::tui::theme::{Role, Theme};
use crate::tui::view::{ViewCache, pane_block};
use crate::tui::widget::markdown::no_highlight;

/// Most rows that the composer takes.
const COMPOSER_ROWS: u16 = 8;

/// Rendered messages, by their place in the transcript.
#[derive(Debug, Default)]
pub struct ChatCache {
    entries: Vec<Rendered>,
    width: u16,
    theme: String,
    /// Rows of the transcript as last drawn.
    pub height: usize,
    /// Lines of the whole transcript at this width.
    pub total: usize,
}

/// One message as lines of the screen.
#[derive(Debug, Default)]
struct Rendered {
    lines: Vec<Line<'static>>,
    answer: AnswerView,
    /// Length and state of the text that was rendered, and the epoch of the colours.
    key: (usize, bool, u64),
}

/// Draws the pane.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let note = if app.chat.from_bottom > 0 { "scrolled; Esc goes to the end" } else { "" };
    let inner = pane_block(app, frame, area, Pane::Chat, note);
    if inner.is_empty() {
        return;
    }
    let rows = app.composer.height(inner.width.saturating_sub(2), COMPOSER_ROWS.min(inner.height / 3).max(1));
    let status = turn_lines(app, inner.width);
    let [transcript, turn, composer] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(u16::try_from(status.len()).unwrap_or(0)),
        Constraint::Length(rows + 1),
    ])
    .areas(inner);
    draw_transcript(app, cache, frame, transcript);
    frame.render_widget(Paragraph::new(status), turn);
    draw_composer(app, frame, composer);
}

fn draw_composer(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let focused = app.focus == Pane::Chat && app.overlay.is_none();
    let role = if focused { Role::BorderFocused } else { Role::Border };
    let rule = Block::new().borders(Borders::TOP).border_style(app.theme.style(role));
    let inner = rule.inner(area);
    frame.render_widget(rule, area);
    let [mark, text] = Layout::horizontal([Constraint::Length(2), Constraint::Fill(1)]).areas(inner);
    frame.render_widget(Line::styled("❯", app.theme.style(Role::Accent)), mark);
    app.composer.draw(frame, text, focused);
}

fn draw_transcript(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let ViewCache { chat, coloring, .. } = cache;
    chat.height = usize::from(area.height);
    chat.refresh(app, coloring, area.width);
    let talked = app.session.transcript.iter().any(|entry| !matches!(entry, Entry::Notice(_)));
    if !talked {
        // Notices of the start must not push out how to begin.
        let mut welcome = welcome(app, area.width);
        welcome.push(Line::default());
        chat.entries.insert(0, Rendered { lines: welcome, ..Rendered::default() });
    }
    let total: usize = chat.entries.iter().map(|entry| entry.lines.len()).sum();
    chat.total = total;
    let from_bottom = app.chat.from_bottom.min(total.saturating_sub(chat.height));
    let first = total.saturating_sub(chat.height + from_bottom);
    frame.render_widget(Paragraph::new(visible(&chat.entries, first, chat.height)), area);
    if !talked {
        chat.entries.remove(0);
    }
}

/// `count` lines from `first` on, without walking through the lines of the entries before.
fn visible(entries: &[Rendered], first: usize, count: usize) -> Vec<Line<'static>> {
    let mut before = 0;
    let at = entries.iter().position(|entry| {
        before += entry.lines.len();
        before > first
    });
    let Some(at) = at else { return Vec::new() };
    before -= entries[at].lines.len();
    entries[at..].iter().flat_map(|entry| &entry.lines).skip(first - before).take(count).cloned().collect()
}

impl ChatCache {
    /// Renders what changed since the last frame.
    fn refresh(&mut self, app: &App, coloring: &mut Coloring, width: u16) {
        if self.width != width || self.theme != app.theme.name() {
            self.entries.clear();
            self.width = width;
            app.theme.name().clone_into(&mut self.theme);
        }
        self.entries.truncate(app.session.transcript.len());
        for (index, entry) in app.session.transcript.iter().enumerate() {
            if index == self.entries.len() {
                self.entries.push(Rendered::default());
            }
            let rendered = &mut self.entries[index];
            let streaming = matches!(entry, Entry::Answer(answer) if answer.state == AnswerState::Streaming);
            let epoch = if matches!(entry, Entry::Answer(_)) && !streaming { coloring.epoch } else { 0 };
            let key = (entry_length(entry), streaming, epoch);
            if rendered.lines.is_empty() || rendered.key != key {
                rendered.render(entry, width, &app.theme, coloring);
                rendered.key = key;
            }
        }
    }
}

fn entry_length(entry: &Entry) -> usize {
    match entry {
        Entry::Answer(answer) => answer.text.len() + answer.reasoning.len(),
        Entry::User { text, .. } => text.len(),
        Entry::Notice(notice) => notice.text.len(),
        Entry::Cleared => 0,
    }
}

impl Rendered {
    fn render(&mut self, entry: &Entry, width: u16, theme: &Theme, coloring: &mut Coloring) {
        let columns = usize::from(width.saturating_sub(2)).max(8);
        self.lines = match entry {
            Entry::User { text, .. } => marked(text, "❯ ", Role::User, columns, theme),
            Entry::Notice(notice) => notice_lines(notice, columns, theme),
            Entry::Cleared => vec![Line::styled("── not sent from here up ──", theme.style(Role::Muted))],
            Entry::Answer(answer) => {
                let streaming = answer.state == AnswerState::Streaming;
                self.answer.update(&answer.text, !streaming);
                let width = width.saturating_sub(1);
                let mut lines = if streaming {
                    self.answer.lines(width, theme, &no_highlight)
                } else {
                    self.answer.forget();
                    let coloring = RefCell::new(coloring);
                    let code =
                        |language: &str, code: &str| code_lines(&mut coloring.borrow_mut(), language, code, theme);
                    self.answer.lines(width, theme, &code)
                };
                if answer.text.is_empty() && !answer.reasoning.is_empty() {
                    let thought = format!("thinking … {} characters so far", answer.reasoning.chars().count());
                    lines.push(Line::styled(thought, theme.style(Role::Muted)));
                }
                if let AnswerState::Incomplete(reason) = &answer.state {
                    lines.push(Line::styled(format!("⚠ incomplete: {reason}"), theme.style(Role::Warning)));
                }
                lines
            }
        };
        self.lines.push(Line::default());
    }
}

/// A text, wrapped, with a mark before its first line.
fn marked(text: &str, mark: &'static str, role: Role, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let style = theme.style(role);
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = sanitize::visible_line(line);
        for range in wrap::wrap(&line, columns) {
            let lead = if lines.is_empty() { mark } else { "  " };
            lines.push(Line::from(vec![Span::styled(lead, style), Span::styled(line[range].to_owned(), style)]));
        }
    }
    lines
}

fn notice_lines(notice: &Notice, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (mark, role) = match notice.level {
        Level::Info => ("• ", Role::Muted),
        Level::Warning => ("⚠ ", Role::Warning),
        Level::Error => ("✗ ", Role::Error),
    };
    let mut lines = marked(&notice.text, mark, role, columns, theme);
    lines.extend(marked(&notice.hint, "→ ", Role::Muted, columns, theme));
    lines
}

/// What the running turn is doing: its state, and the edits as they come in.
fn turn_lines(app: &App, width: u16) -> Vec<Line<'static>> {
    let Some(turn) = &app.session.turn else {
        return Vec::new();
    };
    let columns = usize::from(width);
    let muted = app.theme.style(Role::Muted);
    let status = if turn.status.is_empty() { "answering" } else { &turn.status };
    // The way out shows however long the reason for waiting is.
    let way_out = " · Esc cancels";
    let room = columns.saturating_sub(2 + width::columns(way_out));
    let line = format!("⋯ {}{way_out}", width::clip(status, room));
    vec![Line::styled(width::clip(&line, columns).into_owned(), muted)]
}

/// What an empty chat says: where we are and how to begin.
fn welcome(app: &App, width: u16) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let lead = match app.session.connection {
        Connection::None => {
            "No model is connected. Map, context and review work all the same:\n\n\
             F2  look for a model server on this machine (Ollama, LM Studio, llama.cpp, vLLM)\n\
             F3  copy the whole prompt, to paste into any chat\n\
             F4  paste the reply here and review it hunk by hunk\n\n\
             Or start with --base-url URL --model NAME, and the key in RHUMB_API_KEY."
        }
        Connection::Demo => {
            "This is the demo: a sample repository in a temporary folder and recorded replies.\n\n\
             Enter  sends the message below; watch the reply stream in\n\
             Enter  again goes to the review: y accepts a hunk, n rejects it\n\
             w      writes what you accepted, and nothing else"
        }
        Connection::Remote { .. } => {
            "Say what to change. Ctrl-P adds files to the chat; of the rest the model sees the repo map.\n\
             Nothing is written before you have accepted it in the review."
        }
    };
    let mut lines = vec![Line::styled("rhumb", theme.style(Role::Title)), Line::default()];
    let columns = usize::from(width.saturating_sub(2)).max(8);
    for line in lead.lines() {
        for piece in wrap::hanging(line, columns) {
            lines.push(Line::styled(format!("  {piece}"), theme.style(Role::Muted)));
        }
    }
    lines
}
