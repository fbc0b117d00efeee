//! A text viewer, for example for a part of the request.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use rhumb_text::{sanitize, wrap};

use super::{Overlay, OverlayContext, Reply, centred, inner_area, scroll_by, window};
use crate::tui::action::Action;
use crate::tui::key;
use crate::tui::previews::Previews;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::list_window::ListWindow;

#[derive(Debug)]
pub struct TextView {
    title: String,
    lines: Vec<String>,
    wrapped: Vec<String>,
    width: u16,
    window: ListWindow,
    table: bool,
}

impl TextView {
    pub fn new(title: &str, text: &str) -> Self {
        let lines = text.lines().map(|line| sanitize::visible_line(line).into_owned()).collect();
        Self {
            title: format!(" {title} "),
            lines,
            wrapped: Vec::new(),
            width: 0,
            window: ListWindow::default(),
            table: false,
        }
    }

    /// Each line is a row of a table, whose last column is wrapped below itself.
    pub fn table(mut self) -> Self {
        self.table = true;
        self
    }

    fn area(screen: Rect) -> Rect {
        centred(screen, screen.width.saturating_sub(4).min(110), screen.height.saturating_sub(2))
    }

    fn rewrap(&mut self, width: u16) {
        if self.width == width {
            return;
        }
        self.width = width;
        let columns = usize::from(width.max(1));
        let plain = |line: &str| wrap::wrap(line, columns).into_iter().map(|range| line[range].to_owned()).collect();
        let pieces = |line: &String| {
            if self.table { wrap::hanging(line, columns) } else { plain(line) }
        };
        self.wrapped = self.lines.iter().flat_map(pieces).collect();
        self.window.set_len(self.wrapped.len());
    }
}

impl Overlay for TextView {
    fn closes_by(&self, action: Action) -> bool {
        matches!(action, Action::ViewPrompt | Action::Help | Action::HelpHere | Action::ContextView)
    }

    fn key(&mut self, key: KeyEvent) -> Reply {
        match key::name(key).as_str() {
            "Esc" | "q" | "Enter" => return Reply::Close,
            name => scroll_by(name, self.window.visible().len()).into_iter().for_each(|by| self.window.scroll(by)),
        }
        Reply::Stay
    }

    fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let inner = inner_area(Self::area(screen));
        self.rewrap(inner.width);
        self.window.set_height(usize::from(inner.height.saturating_sub(1)));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let inner = window(frame, Self::area(screen), &self.title, theme);
        let visible = self.window.visible();
        let mut lines: Vec<Line<'_>> =
            self.wrapped[visible.clone()].iter().map(|line| Line::raw(line.as_str())).collect();
        lines.resize_with(usize::from(inner.height.saturating_sub(1)), Line::default);
        let hint = format!("j k scroll · Esc closes · {} of {} lines", visible.end, self.wrapped.len());
        lines.push(Line::styled(hint, theme.style(Role::Muted)));
        frame.render_widget(Paragraph::new(lines), inner);
    }
}
