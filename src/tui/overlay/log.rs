//! The logs of commands: what one prints while it runs, following its end, and what earlier ones printed.

use std::collections::VecDeque;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Reply, centred, window};
use crate::session::{RunLog, RunState};
use crate::text::{sanitize, width, wrap};
use crate::tui::key;
use crate::tui::pane::look;
use crate::tui::theme::{Role, Theme};

/// One log as it is shown.
#[derive(Debug)]
struct Shown {
    run: u64,
    revision: u64,
    columns: usize,
    lines: Vec<String>,
}

/// The logs, one at a time.
#[derive(Debug)]
pub struct LogView {
    logs: VecDeque<RunLog>,
    /// The run that is shown.
    run: u64,
    shown: Option<Shown>,
    /// Lines below the last one in view; 0 follows the end.
    from_bottom: usize,
    page: usize,
}

impl LogView {
    /// The logs, the newest first to be seen.
    pub fn new(logs: &[RunLog]) -> Self {
        let run = logs.last().map_or(0, |log| log.run);
        Self { logs: logs.iter().cloned().collect(), run, shown: None, from_bottom: 0, page: 10 }
    }

    /// Takes in what has changed. A command that begins while the end of the newest log is looked at is turned to.
    pub fn refresh(&mut self, logs: &[RunLog]) {
        let newest = self.logs.back().map(|log| log.run);
        let follows = newest == Some(self.run) && self.from_bottom == 0;
        self.logs.retain(|own| logs.iter().any(|log| log.run == own.run));
        for log in logs {
            match self.logs.iter_mut().find(|own| own.run == log.run) {
                Some(own) if own.revision == log.revision => {}
                Some(own) => own.clone_from(log),
                None => self.logs.push_back(log.clone()),
            }
        }
        let is_there = self.logs.iter().any(|log| log.run == self.run);
        if follows || !is_there {
            self.run = self.logs.back().map_or(0, |log| log.run);
        }
    }

    fn at(&self) -> Option<usize> {
        self.logs.iter().position(|log| log.run == self.run)
    }

    fn turn(&mut self, forward: bool) {
        let Some(at) = self.at() else { return };
        let next = if forward { at + 1 } else { at.wrapping_sub(1) };
        if let Some(log) = self.logs.get(next) {
            (self.run, self.from_bottom) = (log.run, 0);
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match key::name(key).as_str() {
            "j" | "Down" => self.from_bottom = self.from_bottom.saturating_sub(1),
            "k" | "Up" => self.from_bottom += 1,
            "PageDown" | "Space" | "Ctrl-d" => self.from_bottom = self.from_bottom.saturating_sub(self.page),
            "PageUp" | "Ctrl-u" => self.from_bottom += self.page,
            "Home" | "g" => self.from_bottom = usize::MAX / 2,
            "End" | "G" => self.from_bottom = 0,
            "[" | "h" | "Left" => self.turn(false),
            "]" | "l" | "Right" => self.turn(true),
            "x" => {
                let runs = self.at().and_then(|at| self.logs.get(at)).is_some_and(|log| log.state == RunState::Running);
                if runs {
                    return Reply::StopRun(self.run);
                }
            }
            "Esc" | "q" | "Enter" | "F6" => return Reply::Close,
            _ => {}
        }
        Reply::Stay
    }

    /// Draws it over most of the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        let area = centred(screen, screen.width.saturating_sub(4), screen.height.saturating_sub(2));
        let Some((at, log)) = self.at().and_then(|at| Some((at, self.logs.get(at)?))) else {
            let inner = window(frame, area, " log ", theme);
            let text = "No command has run yet: /run, /test and /lint run some. Esc closes";
            frame.render_widget(Paragraph::new(Line::styled(text, theme.style(Role::Muted))), inner);
            return;
        };
        let inner = window(frame, area, &format!(" log {} of {} ", at + 1, self.logs.len()), theme);
        let columns = usize::from(inner.width.max(1));
        let is_current = |shown: &Shown| (shown.run, shown.revision, shown.columns) == (log.run, log.revision, columns);
        let shown = match self.shown.take().filter(is_current) {
            Some(shown) => shown,
            None => Shown { run: log.run, revision: log.revision, columns, lines: wrapped(log, columns) },
        };
        let rows = usize::from(inner.height.saturating_sub(2));
        self.page = rows.max(1);
        self.from_bottom = self.from_bottom.min(shown.lines.len().saturating_sub(rows));
        let end = shown.lines.len() - self.from_bottom;
        let visible = shown.lines.get(end.saturating_sub(rows)..end).unwrap_or_default();
        let mut lines = vec![head(log, columns, theme)];
        lines.extend(visible.iter().map(|line| Line::styled(line.clone(), theme.style(Role::Text))));
        lines.resize_with(rows + 1, Line::default);
        let hint = format!("j k scroll · [ ] other logs · x stop · Esc closes · {end} of {} lines", shown.lines.len());
        lines.push(Line::styled(width::clip(&hint, columns).into_owned(), theme.style(Role::Muted)));
        frame.render_widget(Paragraph::new(lines), inner);
        self.shown = Some(shown);
    }
}

/// The command and how it stands.
fn head(log: &RunLog, columns: usize, theme: &Theme) -> Line<'static> {
    let (mark, role) = look(&log.state);
    let state = sanitize::visible_line(&format!("  {mark}{}", log.state.words(log.seconds))).into_owned();
    let room = columns.saturating_sub(width::columns(&state) + 2);
    let command = sanitize::visible_line(log.line.trim_end()).into_owned();
    Line::from(vec![
        Span::styled(format!("$ {}", width::clip(&command, room)), theme.style(Role::Accent)),
        Span::styled(state, theme.style(role)),
    ])
}

fn wrapped(log: &RunLog, columns: usize) -> Vec<String> {
    let cut = log.cut.then_some("[… what came before is not held …]");
    let open = (!log.open_line.is_empty()).then_some(log.open_line.as_str());
    let lines = cut.into_iter().chain(log.lines.iter().map(String::as_str)).chain(open);
    let pieces = |line: &str| -> Vec<String> {
        let line = sanitize::visible_line(line);
        wrap::wrap(&line, columns).into_iter().filter_map(|range| line.get(range).map(str::to_owned)).collect()
    };
    lines.flat_map(pieces).collect()
}
