//! Completion in the composer: the candidates for the word at the cursor, the keys that accept one, and the rows above the
//! composer.
//!
//! The list opens while the user types and takes no key that may have another meaning: Enter runs a complete command,
//! and Tab goes to the next pane when there is no list.

use ratatui::widgets::{Block, BorderType, Clear};
use rhumb_session::{
    Argument, COMMANDS, Completer, CompletionItem, CompletionKind, CompletionTarget, ExtraCommand, LookupEffect,
    PersistenceEffect, PersistenceResponse, completion_target, folder_of,
};

use super::vi::Mode;
use crate::tui::prelude::*;

/// Minimum number of letters after `@` at which Enter accepts a candidate: a shorter text may be intended as typed.
const MIN_MENTION_LETTERS: usize = 2;

/// The candidates for the word at the cursor.
#[derive(Debug)]
pub struct Popup {
    pub target: CompletionTarget,
    /// Never empty.
    pub candidates: Vec<CompletionItem>,
    pub selected: usize,
    navigated: bool,
}

#[derive(Debug, Default)]
pub struct Completion {
    finder: Completer,
    popup: Option<Popup>,
    /// The word as last seen, with or without candidates.
    seen: Option<CompletionTarget>,
    /// The user closed the list for the current word.
    closed: bool,
    /// Whether new candidates may be available.
    is_stale: bool,
    /// The next text is recalled, so the list does not open: the keys that recall inputs must stay usable.
    pub is_suppressed: bool,
}

impl Completion {
    /// Notes whether a report may bring new candidates.
    pub fn note(&mut self, report: &Response) {
        self.is_stale |= matches!(
            report,
            Response::LookedUp(_)
                | Response::Persisted(PersistenceResponse::Names(_))
                | Response::Listed(_)
                | Response::ProvisionalMap
                | Response::Surveyed { .. }
        );
    }

    pub fn is_empty(&self) -> bool {
        self.popup.is_none()
    }

    pub fn popup(&self) -> Option<&Popup> {
        self.popup.as_ref().filter(|_| !self.closed)
    }
}

impl Popup {
    /// The file of the selected candidate, and its line (1-based).
    pub(crate) fn file<'p>(&'p self, paths: &[String]) -> Option<(&'p str, Option<usize>)> {
        let candidate = self.candidates.get(self.selected)?;
        let takes_files = match self.target.kind {
            CompletionKind::Mention | CompletionKind::CustomArgument => true,
            CompletionKind::Argument(info, _) => matches!(
                info.takes,
                Argument::Files | Argument::ChatFiles | Argument::Git | Argument::Paths | Argument::Shell
            ),
            CompletionKind::Command => false,
        };
        let is_known = |name: &str| paths.iter().any(|path| path == name);
        if takes_files && is_known(&candidate.label) {
            return Some((&candidate.label, None));
        }
        // The help of a symbol is its location.
        let (path, line) = candidate.help.rsplit_once(':').filter(|_| self.target.kind == CompletionKind::Mention)?;
        let line = line.parse().ok().filter(|_| is_known(path))?;
        Some((path, Some(line)))
    }

    /// The name and the description of the selected candidate.
    pub(crate) fn words(&self) -> Option<(&str, &str)> {
        let candidate = self.candidates.get(self.selected)?;
        let says = self.target.kind == CompletionKind::Command && !candidate.help.is_empty();
        says.then_some((candidate.label.as_str(), candidate.help.as_str()))
    }

    /// The candidate that Enter accepts. `None` if Enter has its usual meaning.
    fn for_enter(&self) -> Option<&CompletionItem> {
        let candidate = self.candidates.get(self.selected)?;
        if self.navigated {
            return Some(candidate);
        }
        let typed = self.target.typed.as_str();
        let is_complete = self.candidates.iter().any(|candidate| candidate.is_complete);
        let takes = match self.target.kind {
            CompletionKind::Command => true,
            // The arguments of a command from a file are unknown.
            CompletionKind::CustomArgument => false,
            CompletionKind::Mention => candidate.is_literal_match && typed.chars().count() >= MIN_MENTION_LETTERS,
            CompletionKind::Argument(info, _) => {
                use Argument::{ChatFiles, EditFormat, Effort, Files, Refresh, Theme};
                let closed = [Files, ChatFiles, EditFormat, Effort, Refresh, Theme];
                candidate.is_literal_match && (closed.contains(&info.takes) || info.name == "watch")
            }
        };
        (takes && !is_complete && !typed.is_empty()).then_some(candidate)
    }
}

impl App {
    /// Updates the candidates. Lookups are returned as tasks.
    pub(crate) fn update_completion(&mut self) -> Vec<Task> {
        let mut tasks = self.find_candidates();
        // A narrow screen has no space for it.
        if self.layout.screen.0 >= MIN_PREVIEW_WIDTH
            && let Some(popup) = self.completion.popup()
            && let Some((path, _)) = popup.file(self.session.paths())
        {
            tasks.extend(self.previews.want(path));
        }
        tasks
    }

    fn find_candidates(&mut self) -> Vec<Task> {
        let is_here = self.focus == Pane::Chat && self.overlays.is_empty() && !self.chat.reading.on;
        let before = if is_here { self.composer.before_cursor() } else { None };
        let now = before.as_deref().and_then(completion_target);
        let is_new = self.completion.seen != now;
        let mut wanted = Vec::new();
        let is_suppressed = std::mem::take(&mut self.completion.is_suppressed);
        if is_new {
            self.completion.closed = is_suppressed;
            wanted = self.lookups(now.as_ref());
        }
        // While the user chooses, incoming results must not move the list under the cursor.
        let is_chosen_from = !is_new && self.completion.popup.as_ref().is_some_and(|popup| popup.navigated);
        let is_stale = std::mem::take(&mut self.completion.is_stale) && !is_chosen_from;
        if !is_new && !is_stale {
            return run(wanted);
        }
        self.completion.popup = None;
        if let Some(target) = &now {
            let words: Vec<ExtraCommand<'_>> =
                ACTIONS.iter().map(|info| ExtraCommand { name: info.name, help: info.help.trim() }).collect();
            let candidates = self.completion.finder.completions(target, &self.session, &words);
            let only_itself =
                target.kind == CompletionKind::Mention && matches!(candidates.as_slice(), [one] if one.is_complete);
            if !candidates.is_empty() && !only_itself {
                let (selected, navigated) = (0, false);
                self.completion.popup = Some(Popup { target: target.clone(), candidates, selected, navigated });
            }
        }
        self.completion.seen = now;
        run(wanted)
    }

    /// The lookups for a new word.
    fn lookups(&self, now: Option<&CompletionTarget>) -> Vec<Effect> {
        let Some(now) = now else { return Vec::new() };
        let before = self.completion.seen.as_ref().map(|target| target.kind);
        match now.kind {
            // Files may have been added or changed since.
            CompletionKind::Command if now.typed.is_empty() && before.is_none() => {
                vec![Effect::Lookup(LookupEffect::Commands)]
            }
            CompletionKind::Argument(info, 0) if info.takes == Argument::Model && before != Some(now.kind) => {
                vec![Effect::Lookup(LookupEffect::Models { choose: None })]
            }
            CompletionKind::Argument(info, 0) if info.takes == Argument::Session && before != Some(now.kind) => {
                vec![Effect::Persist(PersistenceEffect::Names)]
            }
            CompletionKind::Argument(info, _) if matches!(info.takes, Argument::Paths | Argument::Shell) => {
                let folder = folder_of(&now.typed);
                // A directory is read once for each time that the user starts to type a path in it.
                let seen = self.completion.seen.as_ref().filter(|seen| seen.kind == now.kind);
                if seen.is_some_and(|seen| folder_of(&seen.typed) == folder) {
                    Vec::new()
                } else {
                    vec![Effect::Lookup(LookupEffect::Folder(folder.to_owned()))]
                }
            }
            _ => Vec::new(),
        }
    }

    /// Handles a key of the completion list. `None` if the key is not one of its keys.
    pub(crate) fn completion_key(&mut self, key: &str) -> Option<Vec<Task>> {
        self.completion.popup()?;
        let popup = self.completion.popup.as_mut()?;
        let count = popup.candidates.len();
        match key {
            "Down" => popup.selected = (popup.selected + 1) % count,
            "Up" | "Shift-Tab" => popup.selected = (popup.selected + count - 1) % count,
            "Esc" => {
                self.completion.closed = true;
                // This key has another meaning in vi.
                let is_typing = self.composer.vi_mode().is_some_and(|(mode, _)| mode == Mode::Insert);
                return (!is_typing).then(Vec::new);
            }
            "Tab" => {
                let candidate = popup.candidates.get(popup.selected)?.clone();
                return Some(self.take_candidate(&candidate));
            }
            "Enter" => {
                let runs = popup.target.kind == CompletionKind::Command;
                let candidate = popup.for_enter()?.clone();
                // If several candidates have this prefix, the selected one is completed and not run.
                let near = popup.candidates.iter().filter(|candidate| candidate.is_literal_match).count();
                let is_clear = popup.navigated || (candidate.is_literal_match && near == 1);
                let mut tasks = self.take_candidate(&candidate);
                if runs && candidate.ends_line && is_clear {
                    tasks.extend(self.send());
                }
                return Some(tasks);
            }
            _ => return None,
        }
        popup.navigated = true;
        Some(Vec::new())
    }

    fn take_candidate(&mut self, candidate: &CompletionItem) -> Vec<Task> {
        let Some(popup) = self.completion.popup.take() else { return Vec::new() };
        let takes_nothing = popup.target.kind == CompletionKind::Command && candidate.ends_line;
        let space = if candidate.is_partial || takes_nothing { "" } else { " " };
        let text = format!("{}{space}", candidate.insert);
        self.typed(|app| app.composer.complete(popup.target.length, &text))
    }

    /// The usage of the command that is being typed, for the status line.
    pub(crate) fn typed_command(&self) -> Option<String> {
        let text = self.composer.before_cursor()?;
        let line = text.strip_prefix('/').filter(|_| !text.contains('\n'))?;
        let (name, _) = line.split_once(' ')?;
        if let Some(info) = COMMANDS.iter().find(|info| info.name == name) {
            return Some(format!("/{} {} — {}", info.name, info.arguments, info.help).replace("  ", " "));
        }
        let own = self.session.lookups().commands.named(name)?;
        Some(format!("/{} {} — {}", own.name, own.arguments, own.description).replace("  ", " "))
    }
}

const MAX_ROWS: usize = 8;
/// Maximum width of the names; their descriptions follow.
const MAX_NAME_COLUMNS: usize = 44;

/// Minimum width in columns of a screen that may have space for a preview beside the rows.
pub const MIN_PREVIEW_WIDTH: u16 = 90;
/// Columns and rows that a pane must have for a preview beside the rows.
const MIN_PREVIEW_PANE: (u16, u16) = (84, 8);
/// Columns of a row beside its name: the pointer, and the count at its end.
const AROUND_NAME: usize = 8;
const PREVIEW_ROWS: u16 = 12;

/// Divides the space above the composer between the rows and the preview of the selected one, if both fit. The rows get
/// up to half of the width if their longest name, `longest` columns, needs that.
pub fn part(available: Rect, longest: usize) -> (Rect, Option<Rect>) {
    if available.width < MIN_PREVIEW_PANE.0 || available.height < MIN_PREVIEW_PANE.1 {
        return (available, None);
    }
    let needed = u16::try_from(longest.saturating_add(AROUND_NAME)).unwrap_or(u16::MAX);
    let left = needed.clamp(available.width * 2 / 5, available.width / 2);
    let height = PREVIEW_ROWS.min(available.height);
    let right = Rect { x: available.x + left, width: available.width - left, y: available.bottom() - height, height };
    (Rect { width: left, ..available }, Some(right))
}

/// Draws the frame of a preview at the bottom of `available`, as high as its lines need, and returns the area inside.
pub fn frame_of_preview(frame: &mut Frame<'_>, available: Rect, lines: usize, title: &str, theme: &Theme) -> Rect {
    let height = cells(lines.max(1) + 2).min(available.height);
    let area = Rect { y: available.bottom() - height, height, ..available };
    frame.render_widget(Clear, area);
    let title = sanitize::visible_line(title);
    let title = width::clip_start(&title, usize::from(area.width).saturating_sub(4));
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.style(Role::Border))
        .title(Line::styled(format!(" {title} "), theme.style(Role::Title)))
        .style(theme.style(Role::Overlay));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// Name and description.
pub type Row<'r> = (&'r str, &'r str);

pub fn draw(frame: &mut Frame<'_>, available: Rect, rows: &[Row<'_>], selected: usize, theme: &Theme) {
    let height = rows.len().min(MAX_ROWS).min(usize::from(available.height));
    if height == 0 || available.width < 8 {
        return;
    }
    let rows_high = u16::try_from(height).unwrap_or(1);
    let area = Rect { y: available.bottom() - rows_high, height: rows_high, ..available };
    let first = (selected + 1).saturating_sub(height).min(rows.len() - height);
    let shown = rows.iter().enumerate().skip(first).take(height);
    let columns = usize::from(area.width);
    let names = name_columns(rows, columns);
    let lines: Vec<Line<'_>> =
        shown.map(|(at, row)| line(*row, names, columns, at == selected, rows.len(), theme)).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).style(theme.style(Role::Overlay)), area);
}

/// Columns of the names: as many as they need, limited by half of the width and the columns of the descriptions.
fn name_columns(rows: &[Row<'_>], columns: usize) -> usize {
    let widest = |text: fn(&Row<'_>) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let (names, words) = (widest(|(name, _)| width::columns(name)), widest(|(_, help)| width::columns(help)));
    // The pointer, the gap, and a column at the end; without words there is no gap.
    let around = if words == 0 { 4 } else { 6 };
    let left = columns.saturating_sub(words + around);
    if words == 0 { left } else { names.min(left.max(MAX_NAME_COLUMNS.min(columns / 2))) }
}

fn line(row: Row<'_>, names: usize, columns: usize, selected: bool, count: usize, theme: &Theme) -> Line<'static> {
    let background = theme.style(if selected { Role::Selection } else { Role::Overlay });
    let pointer = if selected { "▸ " } else { "  " };
    let name = sanitize::visible_line(row.0);
    // The end of a path is more useful than its beginning.
    let name = if name.contains('/') && !name.starts_with('/') {
        width::clip_start(&name, names).into_owned()
    } else {
        width::clip(&name, names).into_owned()
    };
    let gap = " ".repeat(names.saturating_sub(width::columns(&name)) + 2);
    let more = if selected && count > MAX_ROWS { format!(" {count} ") } else { String::new() };
    let available = columns.saturating_sub(width::columns(pointer) + names + 2 + width::columns(&more) + 1);
    let help = width::clip(&sanitize::visible_line(row.1), available).into_owned();
    let mut line = Line::from(vec![
        Span::styled(pointer, theme.style(Role::Accent).patch(background)),
        Span::styled(name, theme.style(Role::Text).patch(background)),
        Span::styled(gap, background),
        Span::styled(help, theme.style(Role::Muted).patch(background)),
    ]);
    fill(&mut line, columns.saturating_sub(width::columns(&more)), background);
    line.spans.push(Span::styled(more, theme.style(Role::Muted).patch(background)));
    line
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crossterm::event::Event;

    use super::*;
    use crate::tui::action::Pane;
    use crate::tui::theme::ColorDepth;
    use crate::tui::theme::Theme;
    use rhumb_session::Connection;
    use rhumb_session::Session;

    fn app(paths: &[&str]) -> App {
        let (mut session, effects) = Session::start(Connection::None);
        session
            .handle(rhumb_session::Response::Listed(Arc::new(paths.iter().map(|path| (*path).to_owned()).collect())));
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn press(app: &mut App, keys: &str) -> Vec<Task> {
        let keys = keys.split(' ').filter_map(key::parse);
        keys.flat_map(|key| app.event(Event::Key(key))).collect()
    }

    fn typed(app: &mut App, text: &str) {
        for c in text.chars() {
            app.event(Event::Key(crossterm::event::KeyEvent::from(crossterm::event::KeyCode::Char(c))));
        }
    }

    #[test]
    fn tab_takes_what_is_offered_and_else_goes_to_the_next_pane() {
        let mut app = app(&["src/cache.rs"]);
        typed(&mut app, "/ad");
        press(&mut app, "Tab");
        assert_eq!(app.composer.text(), "/add ");
        typed(&mut app, "cac");
        press(&mut app, "Tab");
        assert_eq!((app.composer.text().as_str(), app.focus), ("/add src/cache.rs ", Pane::Chat));
        press(&mut app, "Esc Tab");
        assert_eq!(app.focus, Pane::Map);
    }

    #[test]
    fn enter_runs_what_is_whole_and_completes_what_is_not() {
        let mut app = app(&["src/cache.rs"]);
        typed(&mut app, "/add cach");
        press(&mut app, "Enter");
        assert_eq!(app.composer.text(), "/add src/cache.rs ");
        press(&mut app, "Enter");
        assert_eq!((app.composer.text().as_str(), app.session.files().len()), ("", 1));
        typed(&mut app, "/cle");
        press(&mut app, "Enter");
        assert_eq!(app.composer.text(), "", "nothing can follow /clear");
        assert!(app.session.transcript().contains(&rhumb_session::Entry::Cleared));
    }

    #[test]
    fn the_name_of_a_file_is_whole_without_its_folder() {
        let mut app = app(&["src/cache.rs"]);
        typed(&mut app, "/add cache.rs");
        press(&mut app, "Enter");
        assert_eq!((app.composer.text().as_str(), app.session.files().len()), ("", 1));
    }

    #[test]
    fn of_several_that_begin_so_none_is_run_at_once() {
        let mut app = app(&[]);
        typed(&mut app, "/re");
        press(&mut app, "Enter");
        assert!(app.composer.text().starts_with("/re") && app.session.transcript().is_empty());
    }

    #[test]
    fn what_streams_in_does_not_look_for_candidates_again() {
        let mut app = app(&["src/cache.rs"]);
        typed(&mut app, "see @ca");
        app.session.handle(rhumb_session::Response::Listed(Arc::default()));
        app.handle_response(Response::Head("main".into()));
        assert!(app.completion.popup().is_some());
        app.handle_response(Response::Listed(Arc::default()));
        assert!(app.completion.popup().is_none());
    }

    #[test]
    fn enter_does_not_run_what_only_looks_a_little_like_it() {
        let mut app = app(&[]);
        typed(&mut app, "/qt");
        press(&mut app, "Enter");
        assert_eq!(app.composer.text(), "/quit", "nobody typed that");
        assert_eq!(press(&mut app, "Enter"), [Task::Quit]);
    }

    #[test]
    fn a_message_with_a_decorator_is_sent_as_it_is() {
        let mut app = app(&["proto/person.rs"]);
        typed(&mut app, "what does @pro");
        assert!(app.completion.popup().is_some());
        press(&mut app, "Esc Enter");
        assert_eq!(app.composer.text(), "what does @pro", "no model is connected, so it stays");
        typed(&mut app, "p");
        assert!(app.completion.popup().is_some(), "it opens again when something else is typed");
        typed(&mut app, "erty");
        assert!(app.completion.popup().is_none());
    }

    #[test]
    fn arrows_choose_and_enter_takes_what_they_chose() {
        let mut app = app(&["a1.rs", "a2.rs"]);
        typed(&mut app, "see @a");
        press(&mut app, "Down Enter");
        assert_eq!(app.composer.text(), "see @a2.rs ");
    }

    #[test]
    fn folders_and_models_are_looked_up_when_they_are_wanted() {
        let mut app = app(&[]);
        let looks = |tasks: Vec<Task>| -> Vec<LookupEffect> {
            let look = |task| match task {
                Task::Run(Effect::Lookup(order)) => Some(order),
                _ => None,
            };
            tasks.into_iter().filter_map(look).collect()
        };
        assert_eq!(looks(press(&mut app, "/")), [LookupEffect::Commands]);
        typed(&mut app, "save");
        assert_eq!(looks(press(&mut app, "Space")), [LookupEffect::Folder(String::new())]);
        assert_eq!(looks(press(&mut app, "a / b")), [LookupEffect::Folder("a/".into())]);
        app.composer.clear();
        typed(&mut app, "/model");
        assert_eq!(looks(press(&mut app, "Space g p")), [LookupEffect::Models { choose: None }]);
    }
}
