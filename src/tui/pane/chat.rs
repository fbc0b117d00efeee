//! The chat pane: the transcript, the state of the running turn, and the composer.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph};

use super::transcript::Scene;
use crate::context::Mode;
use crate::session::{Connection, Entry, Question};
use crate::text::{sanitize, width, wrap};
use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::hits::Hit;
use crate::tui::theme::Role;
use crate::tui::view::{ViewCache, pane_block};
use crate::tui::widget::completion;

pub use super::transcript::ChatCache;

/// Most rows that the composer takes.
const COMPOSER_ROWS: u16 = 8;

/// Draws the pane. While the reader has scrolled up, lines that come below are added to how far it is to the end: it counts
/// from there, and the text must stay where it is.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let note = if app.chat.from_bottom > 0 {
        "scrolled; Esc goes to the end"
    } else if app.session.watching.is_on() {
        "AI! comments are followed"
    } else {
        ""
    };
    let inner = pane_block(app, frame, area, Pane::Chat, note);
    if inner.is_empty() {
        return;
    }
    let rows = app.composer.height(inner.width.saturating_sub(2), COMPOSER_ROWS.min(inner.height / 3).max(1));
    let mut status = turn_lines(app, inner.width);
    status.extend(queue_lines(app, inner.width));
    if let Some(page) = &app.session.outside.page {
        let line = format!("⋯ {} · Esc stops", page.status());
        let line = width::clip(&line, usize::from(inner.width)).into_owned();
        status.push(Line::styled(line, app.theme.style(Role::Muted)));
    }
    status.extend(command_line(app, inner.width));
    if let Some(question) = app.session.questions.front() {
        status.extend(question_lines(question, app, inner.width));
    }
    let [transcript, turn, composer] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(u16::try_from(status.len()).unwrap_or(0)),
        Constraint::Length(rows + 1),
    ])
    .areas(inner);
    draw_transcript(app, cache, frame, transcript);
    frame.render_widget(Paragraph::new(status), turn);
    cache.hits.add(draw_composer(app, frame, composer), Hit::Composer);
    if let Some(popup) = app.completion.popup().filter(|_| app.focus == Pane::Chat && app.overlay.is_none()) {
        let rows: Vec<(&str, &str)> =
            popup.candidates.iter().map(|candidate| (candidate.label.as_str(), candidate.help.as_str())).collect();
        let room = Rect { height: composer.y.saturating_sub(inner.y), ..inner };
        completion::draw(frame, room, &rows, popup.selected, &app.theme);
    }
}

/// Draws the composer; where its text stands.
fn draw_composer(app: &App, frame: &mut Frame<'_>, area: Rect) -> Rect {
    let focused = app.focus == Pane::Chat && app.overlay.is_none();
    let role = if focused { Role::BorderFocused } else { Role::Border };
    let mut rule = Block::new().borders(Borders::TOP).border_style(app.theme.style(role));
    let title = match app.session.composing() {
        Mode::Code => String::new(),
        Mode::Editor => " the plan, for the editor model ".to_owned(),
        mode => format!(" {mode} "),
    };
    if !title.is_empty() {
        rule = rule.title(Line::styled(title, app.theme.style(Role::Accent)));
    }
    let inner = rule.inner(area);
    frame.render_widget(rule, area);
    let [mark, text] = Layout::horizontal([Constraint::Length(2), Constraint::Fill(1)]).areas(inner);
    frame.render_widget(Line::styled("❯", app.theme.style(Role::Accent)), mark);
    app.composer.draw(frame, text, focused);
    text
}

/// Draws what is in view; how many lines are below it.
fn draw_transcript(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let ViewCache { chat, coloring, .. } = cache;
    let talked = app.session.transcript.iter().any(|entry| !matches!(entry, Entry::Notice(_)));
    let mut head = Vec::new();
    if !talked {
        // Notices of the start must not push out how to begin.
        head = welcome(app, area.width);
        head.push(Line::default());
    }
    let scene = Scene {
        entries: &app.session.transcript,
        theme: &app.theme,
        width: area.width,
        height: area.height,
        thoughts: app.chat.thoughts,
    };
    let lines = chat.arrange(head, &scene, coloring, app.chat.from_bottom);
    frame.render_widget(Paragraph::new(lines), area);
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

/// The messages that wait, and for what.
fn queue_lines(app: &App, width: u16) -> Vec<Line<'static>> {
    let queue = &app.session.queue;
    let Some(next) = queue.waiting().first() else { return Vec::new() };
    let more = match queue.waiting().len() {
        1 => String::new(),
        waiting => format!(" (and {} more)", waiting - 1),
    };
    let keys = if app.session.turn.is_some() {
        "waits for the answer · Alt-q takes it back"
    } else if queue.is_held() {
        "waits for you · Alt-s sends it · Alt-q takes it back"
    } else if !app.session.questions.is_empty() {
        "waits for your answer · Alt-s sends it now · Alt-q takes it back"
    } else {
        "waits for the review · Alt-s sends it now · Alt-q takes it back"
    };
    let first = sanitize::visible_line(next.text.lines().next().unwrap_or_default()).into_owned();
    let columns = usize::from(width);
    let line = width::clip(&format!("⧗ {first}{more}"), columns).into_owned();
    let mut lines = vec![Line::styled(line, app.theme.style(Role::Accent))];
    for piece in wrap::hanging(keys, columns.saturating_sub(2)) {
        lines.push(Line::styled(format!("  {piece}"), app.theme.style(Role::Muted)));
    }
    lines
}

/// What runs beside the conversation.
fn command_line(app: &App, width: u16) -> Option<Line<'static>> {
    let status = app.session.processes.status()?;
    let columns = usize::from(width);
    let way_out = if app.session.turn.is_some() { " · F6 log" } else { " · Esc stops it · F6 log" };
    let status = sanitize::visible_line(&status);
    let room = columns.saturating_sub(2 + width::columns(way_out));
    let line = format!("⋯ {}{way_out}", width::clip(&status, room));
    Some(Line::styled(width::clip(&line, columns).into_owned(), app.theme.style(Role::Muted)))
}

/// What the program wants to know, and how to answer.
fn question_lines(question: &Question, app: &App, width: u16) -> Vec<Line<'static>> {
    let columns = usize::from(width);
    let choices: Vec<String> =
        question.choices.iter().map(|choice| format!("Alt-{} {}", choice.key, choice.label)).collect();
    let more = match app.session.questions.len() {
        0 | 1 => String::new(),
        others => format!(" (and {} more)", others - 1),
    };
    let mut lines = Vec::new();
    for piece in wrap::hanging(&format!("? {}{more}", question.title), columns) {
        lines.push(Line::styled(piece, app.theme.style(Role::Warning)));
    }
    for piece in wrap::hanging(&format!("{} · Enter shows more", choices.join(" · ")), columns.saturating_sub(2)) {
        lines.push(Line::styled(format!("  {piece}"), app.theme.style(Role::Key)));
    }
    lines
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
