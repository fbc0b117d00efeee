//! The output of commands: a running command, which the view follows, and earlier ones; with search, filter and copy.

use std::collections::VecDeque;

use rhumb_session::{RunLog, RunState, Session};

use super::{Overlay, OverlayContext, Reply, centred, inner_area, scroll_by, window};
use crate::tui::chat_pane::run_state_mark;
use crate::tui::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Filter {
    #[default]
    All,
    Warnings,
    Errors,
    Found,
}

impl Filter {
    fn next(self) -> Self {
        match self {
            Self::All | Self::Found => Self::Warnings,
            Self::Warnings => Self::Errors,
            Self::Errors => Self::All,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Warnings => " · warnings and errors only",
            Self::Errors => " · errors only",
            Self::Found => " · found lines only",
        }
    }

    fn passes(self, line: &str, query: &str) -> bool {
        let lower = line.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_error = || has(&["error", "fail", "panic", "fatal", "traceback", "exception"]);
        match self {
            Self::All => true,
            Self::Errors => is_error(),
            Self::Warnings => is_error() || has(&["warn", "deprecated"]),
            Self::Found => query.is_empty() || lower.contains(query),
        }
    }
}

#[derive(Debug)]
struct Shown {
    run: u64,
    revision: u64,
    columns: usize,
    filter: Filter,
    query: String,
    rows: Vec<Row>,
}

/// A row of the view.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    /// The 0-based number of its line in the output of the command, lines that are no longer kept included.
    line: usize,
    text: String,
}

#[derive(Debug, Default)]
pub struct LogView {
    logs: VecDeque<RunLog>,
    run: u64,
    shown: Option<Shown>,
    /// Lines below the view; 0 follows the end.
    from_bottom: usize,
    page: usize,
    query: LineInput,
    is_typing: bool,
    filter: Filter,
    /// The direction of a search that is pending until the lines are laid out: true for down.
    seek: Option<bool>,
}

impl LogView {
    /// The logs, starting with the newest.
    pub fn new(logs: &[RunLog]) -> Self {
        let run = logs.last().map_or(0, |log| log.run);
        Self { logs: logs.iter().cloned().collect(), run, page: 10, ..Self::default() }
    }

    pub fn at_run(mut self, run: u64) -> Self {
        self.run = run;
        self
    }

    /// Shows changed logs. While the end of the newest log is visible, a new command is selected.
    fn take_logs(&mut self, logs: &[RunLog]) {
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

    fn area(screen: Rect) -> Rect {
        let margin = if screen.width < 60 { 0 } else { 4 };
        centred(screen, screen.width.saturating_sub(margin), screen.height.saturating_sub(margin / 2))
    }

    fn at(&self) -> Option<usize> {
        self.logs.iter().position(|log| log.run == self.run)
    }

    fn log(&self) -> Option<&RunLog> {
        self.logs.get(self.at()?)
    }

    fn turn(&mut self, forward: bool) {
        let Some(at) = self.at() else { return };
        let next = if forward { at + 1 } else { at.wrapping_sub(1) };
        if let Some(log) = self.logs.get(next) {
            (self.run, self.from_bottom) = (log.run, 0);
        }
    }

    fn type_query(&mut self, name: &str, key: KeyEvent) {
        match name {
            "Enter" => self.is_typing = false,
            "Esc" => (self.is_typing, self.query) = (false, LineInput::default()),
            _ => {
                if self.query.key(key) {
                    // Selects the nearest hit above the end, because users search for the newest lines.
                    self.seek = Some(false);
                }
            }
        }
    }

    fn copy(&self) -> Reply {
        let Some(log) = self.log() else { return Reply::Stay };
        let query = self.query.text().to_lowercase();
        let open = Some(&log.open_line).filter(|line| !line.is_empty());
        let lines = log.lines.iter().chain(open).filter(|line| self.filter.passes(line, &query));
        let text: String = lines.map(|line| format!("{}\n", line.trim_end_matches(['\n', '\r']))).collect();
        let hint = if log.dropped > 0 { "Its beginning is no longer kept." } else { "" };
        let what = format!("The log of {}", log.line.trim());
        Reply::Copy(ClipboardText { what, text, hint: hint.to_owned() })
    }

    fn hint(&self, end: usize, all: usize) -> String {
        let follows = if self.from_bottom == 0 { "follows" } else { "G follows" };
        let search = if self.query.text().is_empty() { "/ search" } else { "n N next · f filter · Esc all" };
        format!("{end} of {all} · Esc closes · {search} · {follows} · e errors · [ ] other logs · y copy · x stop")
    }
}

impl Overlay for LogView {
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        if self.is_typing {
            self.type_query(&name, key);
            return Reply::Stay;
        }
        match name.as_str() {
            "[" | "h" | "Left" => self.turn(false),
            "]" | "l" | "Right" => self.turn(true),
            "/" => self.is_typing = true,
            "n" | ";" => self.seek = Some(true),
            "N" | "," => self.seek = Some(false),
            "e" => self.filter = self.filter.next(),
            "f" if !self.query.text().is_empty() => {
                self.filter = if self.filter == Filter::Found { Filter::All } else { Filter::Found };
            }
            "y" | "c" => return self.copy(),
            "x" if self.log().is_some_and(|log| log.state == RunState::Running) => return Reply::StopRun(self.run),
            "Esc" if !self.query.text().is_empty() || self.filter != Filter::All => {
                (self.query, self.filter) = (LineInput::default(), Filter::All);
            }
            "Esc" | "q" | "Enter" => return Reply::Close,
            name => scroll_by(name, self.page).into_iter().for_each(|by| self.wheel(by)),
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        if self.is_typing {
            self.query.insert(text);
        }
    }

    fn wheel(&mut self, by: isize) {
        self.from_bottom = self.from_bottom.saturating_add_signed(by.saturating_neg());
    }

    fn refresh(&mut self, session: &Session, _: &Previews) {
        self.take_logs(session.processes().logs());
    }

    fn closes_by(&self, action: Action) -> bool {
        action == Action::ViewLog && !self.is_typing
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let inner = inner_area(Self::area(screen));
        let Some(log) = self.log() else { return };
        let columns = usize::from(inner.width.max(1));
        let query = self.query.text().to_lowercase();
        let is_same_text = |shown: &&Shown| {
            let same = (shown.run, shown.columns, shown.filter) == (log.run, columns, self.filter);
            same && (shown.query == query || self.filter != Filter::Found)
        };
        let before = self.shown.as_ref().filter(is_same_text);
        if before.is_none_or(|shown| shown.revision != log.revision) {
            let rows = log_rows(log, columns, self.filter, &query);
            let (run, revision, is_final) = (log.run, log.revision, log.state != RunState::Running);
            // While the view is scrolled up, new lines do not move the visible ones.
            if let Some(shown) = before.filter(|_| self.from_bottom > 0) {
                self.from_bottom = moved(&shown.rows, &rows, self.from_bottom, is_final);
            }
            self.shown = Some(Shown { run, revision, columns, filter: self.filter, query: query.clone(), rows });
        }
        let Some(shown) = &self.shown else { return };
        let page = usize::from(inner.height.saturating_sub(2));
        let last = shown.rows.len().saturating_sub(page);
        self.page = page.max(1);
        self.from_bottom = self.from_bottom.min(last);
        if let Some(down) = self.seek.take() {
            self.from_bottom = sought(&shown.rows, &query, self.from_bottom, page, down).min(last);
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let area = Self::area(screen);
        let Some((at, log, shown)) = self.at().and_then(|at| Some((at, self.logs.get(at)?, self.shown.as_ref()?)))
        else {
            let inner = window(frame, area, " log ", theme);
            let text = "No command has run yet: /run, /test and /lint run some. Esc closes";
            frame.render_widget(Paragraph::new(wrapped(text, "", inner.width, theme.style(Role::Muted))), inner);
            return;
        };
        let title = format!(" log {} of {}{} ", at + 1, self.logs.len(), self.filter.words());
        let inner = window(frame, area, &title, theme);
        let columns = usize::from(inner.width.max(1));
        let query = self.query.text().to_lowercase();
        let rows = usize::from(inner.height.saturating_sub(2));
        let end = shown.rows.len() - self.from_bottom;
        let visible = shown.rows.get(end.saturating_sub(rows)..end).unwrap_or_default();
        let (plain, found) = (theme.style(Role::Text), theme.style(Role::Search));
        let mut lines = vec![head(log, columns, theme)];
        lines.extend(visible.iter().map(|row| {
            let marks: Vec<_> = matches(&row.text, &query).into_iter().map(|range| (range, found, None)).collect();
            marked(&Line::styled(row.text.clone(), plain), &marks)
        }));
        lines.resize_with(rows + 1, Line::default);
        lines.push(clipped(&self.hint(end, shown.rows.len()), columns, theme.style(Role::Muted)));
        frame.render_widget(Paragraph::new(lines), inner);
        if self.is_typing {
            let line = Rect { y: inner.bottom().saturating_sub(1), height: 1.min(inner.height), ..inner };
            frame.render_widget(ratatui::widgets::Clear, line);
            self.query.draw(frame, line, "search", theme);
        }
    }
}

fn head(log: &RunLog, columns: usize, theme: &Theme) -> Line<'static> {
    let (mark, role) = run_state_mark(&log.state);
    let state = sanitize::visible_line(&format!("  {mark}{}", log.state.words(log.seconds))).into_owned();
    let available = columns.saturating_sub(width::columns(&state) + 2);
    let command = sanitize::visible_line(log.line.trim_end()).into_owned();
    Line::from(vec![
        Span::styled(format!("$ {}", width::clip(&command, available)), theme.style(Role::Accent)),
        Span::styled(state, theme.style(role)),
    ])
}

fn log_rows(log: &RunLog, columns: usize, filter: Filter, query: &str) -> Vec<Row> {
    let note = log.dropped.checked_sub(1).map(|last| (last, "[… earlier output is no longer kept …]"));
    let open = (!log.open_line.is_empty()).then_some(log.open_line.as_str());
    let lines = (log.dropped..).zip(log.lines.iter().map(String::as_str).chain(open));
    let rows = |(number, line): (usize, &str)| -> Vec<Row> {
        let line = sanitize::visible_line(line);
        let row = |range: Range<usize>| Some(Row { line: number, text: line.get(range)?.to_owned() });
        wrap::wrap(&line, columns).into_iter().filter_map(row).collect()
    };
    note.into_iter().chain(lines.filter(|(_, line)| filter.passes(line, query))).flat_map(rows).collect()
}

/// The distance from the end that keeps the last visible row in place when lines are added and dropped. The final output may lack lines in
/// its middle; the distance from its end is the same then.
fn moved(before: &[Row], now: &[Row], from_bottom: usize, is_final: bool) -> usize {
    let last_seen = before.len().checked_sub(from_bottom + 1).and_then(|at| before.get(at));
    let Some(last_seen) = last_seen.filter(|row| !is_final || now.contains(row)) else { return from_bottom };
    let rows_from = |rows: &[Row]| rows.len() - rows.partition_point(|row| row.line < last_seen.line);
    (rows_from(now) + from_bottom).saturating_sub(rows_from(before))
}

/// The distance from the end after a search: the match becomes the last visible row.
fn sought(rows: &[Row], query: &str, from_bottom: usize, page: usize, down: bool) -> usize {
    let last_seen = rows.len().saturating_sub(from_bottom + 1);
    let is_hit =
        |at: &usize| !query.is_empty() && rows.get(*at).is_some_and(|row| row.text.to_lowercase().contains(query));
    let found = if down {
        (last_seen + 1..rows.len()).find(is_hit).or_else(|| (0..=last_seen).find(is_hit))
    } else {
        let first_seen = last_seen.saturating_sub(page.saturating_sub(1));
        // A visible match does not move the view while the query is typed.
        let in_view = (first_seen..=last_seen).rev().find(is_hit).filter(|at| *at != last_seen);
        in_view.or_else(|| (0..last_seen).rev().find(is_hit)).or_else(|| (last_seen..rows.len()).rev().find(is_hit))
    };
    found.map_or(from_bottom, |at| rows.len() - at - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Theme;
    use crossterm::event::Event;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use rhumb_session::RunResponse;
    use rhumb_workspace::process::LiveOutput;

    fn started(session: &mut Session, run: u64) {
        session.handle(Response::Ran(RunResponse::Started { job: run, run, line: "make".into() }));
    }

    fn printed(session: &mut Session, numbers: Range<usize>) {
        let text = numbers.map(|number| format!("line {number}\n")).collect();
        let live = LiveOutput { text, ..LiveOutput::default() };
        session.handle(Response::Ran(RunResponse::Output { run: 1, live, seconds: 1 }));
    }

    #[test]
    fn new_lines_do_not_move_a_view_that_is_scrolled_up() {
        let (mut session, _) = Session::start(Connection::None);
        started(&mut session, 1);
        printed(&mut session, 0..50);
        let mut view = LogView::new(session.processes().logs());
        let mut screen = Terminal::new(TestBackend::new(80, 20)).unwrap();
        let mut shown = |view: &mut LogView| {
            screen.draw(|frame| crate::tui::overlay::render(view, frame)).unwrap();
            let text = screen.backend().to_string();
            text.lines().filter(|line| line.contains("line ")).map(str::to_owned).collect::<Vec<_>>()
        };
        let end = shown(&mut view);
        view.wheel(-3);
        let before = shown(&mut view);
        assert_ne!(before, end);
        printed(&mut session, 50..57);
        view.refresh(&session, &Previews::default());
        assert_eq!(shown(&mut view), before);
        printed(&mut session, 57..5_020);
        view.refresh(&session, &Previews::default());
        assert_eq!(shown(&mut view), before, "although the first lines are no longer kept");
        printed(&mut session, 5_020..5_070);
        view.refresh(&session, &Previews::default());
        assert!(shown(&mut view)[0].contains("line 70"), "the first line that is kept");
        view.wheel(10_000);
        assert!(shown(&mut view).last().is_some_and(|line| line.contains("line 5069")), "the end follows again");
    }

    #[test]
    fn stopping_a_command_leaves_its_log_open() {
        let (mut session, effects) = Session::start(Connection::None);
        [1, 2].into_iter().for_each(|run| started(&mut session, run));
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.overlays.show(LogView::new(app.session.processes().logs()).at_run(1));
        app.event(Event::Key(KeyCode::Char('x').into()));
        assert_eq!(app.overlays.top_as::<LogView>().map(|view| view.run), Some(1));
    }

    fn rows(texts: &[&str]) -> Vec<Row> {
        texts.iter().enumerate().map(|(line, text)| Row { line, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn a_search_goes_from_hit_to_hit_and_round_the_ends() {
        let all = rows(&["a hit", "b", "c hit", "d", "e"]);
        let at = |from_bottom, down| all.len() - 1 - sought(&all, "hit", from_bottom, 1, down);
        assert_eq!((at(0, false), at(2, false), at(4, false)), (2, 0, 2));
        assert_eq!((at(4, true), at(2, true)), (2, 0));
        assert_eq!(sought(&all, "none", 3, 1, true), 3);
    }

    #[test]
    fn filters_tell_trouble_from_the_rest() {
        let passes = |filter: Filter, line: &str| filter.passes(line, "tide");
        assert!(passes(Filter::Errors, "error[E0308]: x") && !passes(Filter::Errors, "warning: y"));
        assert!(passes(Filter::Warnings, "Warning: y") && !passes(Filter::Warnings, "ok"));
        assert!(passes(Filter::Found, "High Tide") && !passes(Filter::Found, "low"));
        assert_eq!(Filter::All.next().next().next(), Filter::All);
    }

    #[test]
    fn no_logs_and_no_room_are_drawn_all_the_same() {
        for (width, height) in [(40, 10), (3, 2), (100, 30)] {
            let mut screen = Terminal::new(TestBackend::new(width, height)).unwrap();
            let mut view = LogView::new(&[]);
            screen.draw(|frame| crate::tui::overlay::render(&mut view, frame)).unwrap();
        }
    }
}
