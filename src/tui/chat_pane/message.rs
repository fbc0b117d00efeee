//! One message of the transcript, rendered as lines.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

use ratatui::text::{Line, Span};
use rhumb_session::context::Mode;
use rhumb_session::{Answer, AnswerState, CommandRun, Entry, EntryVersion, Level, RunState, StatusMessage};
use rhumb_text::{count, sanitize, wrap};
use rhumb_workspace::process::End;

use super::answer::{AnswerView, CardLine};
use super::transcript::TranscriptView;
use crate::tui::coloring::{CodeBlocks, Coloring};
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::markdown::no_highlight;
use crate::tui::widget::meter;

/// A message and its rendered lines.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) lines: Vec<Line<'static>>,
    /// The number of lines; an estimate unless `exact`.
    pub(super) height: usize,
    /// Whether `lines` are up to date.
    pub(super) exact: bool,
    /// The lines of each stop. Empty if the message is a single stop.
    pub(super) stops: Vec<Range<usize>>,
    /// The first line below the answer, which the program adds.
    pub(super) said: usize,
    pub(super) cards: Vec<CardLine>,
    key: Key,
    remark: String,
    answer: Option<Box<AnswerView>>,
    /// Keys of the colours that the lines show, and of those that were missing.
    shown: Vec<u64>,
    pub(super) missing: Vec<u64>,
}

/// The input of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Key {
    /// `None` for lines that are not an entry.
    version: Option<EntryVersion>,
    bytes: usize,
    is_streaming: bool,
    /// Whether its reasoning is unfolded.
    open: bool,
}

impl Key {
    fn new(entry: &Entry, version: EntryVersion, open: bool) -> Self {
        let is_streaming = matches!(entry, Entry::Answer(answer) if answer.state == AnswerState::Streaming);
        let bytes = match entry {
            Entry::Cleared => 0,
            Entry::User { text, .. } | Entry::FollowUp { text, .. } | Entry::Shared { text, .. } => text.len(),
            Entry::Ran(ran) => ran.tail.len(),
            Entry::Answer(answer) => answer.text.len(),
            Entry::Status(notice) => notice.text.len() + notice.hint.len(),
        };
        Self { version: Some(version), bytes, is_streaming, open }
    }

    fn id(&self) -> Option<u64> {
        self.version.map(|version| version.id)
    }
}

impl Message {
    pub(super) fn of_lines(lines: Vec<Line<'static>>) -> Self {
        Self { height: lines.len(), lines, exact: true, ..Self::default() }
    }

    /// Compares the version of the entry. An unknown height is estimated from the length of the text.
    pub(super) fn compare(&mut self, entry: &Entry, version: EntryVersion, width: u16, open: bool, remark: &str) {
        let key = Key::new(entry, version, open);
        if key == self.key && remark == self.remark {
            return;
        }
        // The rendered part of an answer is reused only if the answer has grown.
        if !self.key.is_streaming || key.id() != self.key.id() || key.bytes < self.key.bytes {
            self.answer = None;
        }
        if self.height == 0 {
            self.height = key.bytes / usize::from(width.max(1)) + 2;
        }
        remark.clone_into(&mut self.remark);
        (self.key, self.exact) = (key, false);
    }

    /// Drops the lines; their number stays as the estimate.
    pub(super) fn forget(&mut self) {
        self.lines = Vec::new();
        self.exact = false;
    }

    pub(super) fn bytes(&self) -> usize {
        self.key.bytes
    }

    /// Whether missing colours can be requested.
    pub(super) fn lacks_colors(&self, coloring: &Coloring) -> bool {
        self.missing.iter().any(|key| !coloring.awaits(*key))
    }

    /// Keeps the colours of the lines in the cache.
    pub(super) fn touch(&self, coloring: &mut Coloring) {
        coloring.touch(&self.shown);
    }

    /// Renders the entry. With `ask`, missing colours are requested.
    pub(super) fn render(&mut self, entry: &Entry, scene: &TranscriptView<'_>, coloring: &mut Coloring, ask: bool) {
        let TranscriptView { width, theme, .. } = *scene;
        let columns = usize::from(width.saturating_sub(2)).max(8);
        let blocks = RefCell::new(CodeBlocks::new(coloring, ask));
        self.lines = match entry {
            Entry::User { text, mode, .. } => marked(text, mode_mark(*mode), Role::User, columns, theme),
            Entry::Shared { title, text, whole } => shared_lines(title, text, whole.as_deref(), columns, scene),
            Entry::FollowUp { text, round, of, .. } => {
                let head = marked(&format!("asked again, {round} of {of}"), "↻ ", Role::Accent, columns, theme);
                [head, beginning(text, AGAIN_LINES, "", columns, scene)].concat()
            }
            Entry::Ran(ran) => command_lines(ran, columns, scene),
            Entry::Status(notice) => notice_lines(notice, columns, theme),
            Entry::Cleared => vec![Line::styled("── not sent from here up ──", theme.style(Role::Muted))],
            Entry::Answer(answer) => {
                let mut lines = thought_lines(answer, self.key.open, columns, scene);
                let thoughts = lines.len();
                lines.extend(self.answer_lines(answer, width.saturating_sub(1), theme, &blocks));
                self.note_stops(thoughts);
                self.said = lines.len();
                lines.extend(marked(&self.remark, "⚠ ", Role::Warning, columns, theme));
                lines
            }
        };
        self.lines.push(Line::default());
        let blocks = blocks.into_inner();
        (self.shown, self.missing) = (blocks.shown, blocks.missing);
        (self.height, self.exact) = (self.lines.len(), true);
    }

    /// Copies the positions of the answer's stops, shifted by the `thoughts` lines above it.
    fn note_stops(&mut self, thoughts: usize) {
        let Some(view) = &self.answer else { return };
        let moved = |lines: &Range<usize>| lines.start + thoughts..lines.end + thoughts;
        // The last line of the thoughts is an empty one.
        let own = (thoughts > 0).then(|| 0..thoughts - 1);
        self.stops = own.into_iter().chain(view.places().iter().map(moved)).collect();
        self.cards = view.cards();
        self.cards.iter_mut().for_each(|card| card.line += thoughts);
    }

    pub(super) fn stop_lines(&self, stop: usize) -> Range<usize> {
        let whole = 0..self.height.saturating_sub(1).max(1);
        self.stops.get(stop).cloned().unwrap_or(whole)
    }

    fn answer_lines(
        &mut self,
        answer: &Answer,
        width: u16,
        theme: &Theme,
        blocks: &RefCell<CodeBlocks<'_>>,
    ) -> Vec<Line<'static>> {
        let streaming = answer.state == AnswerState::Streaming;
        let view = self.answer.get_or_insert_default();
        view.update(&answer.text, !streaming);
        if !streaming {
            view.settle(&answer.text, &answer.edits);
        }
        let mut lines = if streaming {
            view.lines(width, theme, &no_highlight)
        } else {
            view.forget();
            view.lines(width, theme, &|language: &str, code: &str| blocks.borrow_mut().lines(language, code, theme))
        };
        if let AnswerState::Incomplete(reason) = &answer.state {
            lines.push(Line::styled(format!("⚠ incomplete: {reason}"), theme.style(Role::Warning)));
        }
        lines
    }
}

/// The reasoning of an answer: one line, or all of it.
fn thought_lines(answer: &Answer, open: bool, columns: usize, scene: &TranscriptView<'_>) -> Vec<Line<'static>> {
    if answer.reasoning.is_empty() {
        return Vec::new();
    }
    let theme = scene.theme;
    let thinking = answer.text.is_empty() && answer.state == AnswerState::Streaming;
    let said = if thinking { "thinking …" } else { "thought" };
    let count = answer.reasoning.trim().lines().count();
    let noun = if count == 1 { "line" } else { "lines" };
    let tokens = meter::tokens(rhumb_tokens::estimate(&answer.reasoning) as u64);
    let (mark, does) = if open { ("▾ ", "hides") } else { ("▸ ", "shows") };
    let key =
        if scene.thoughts_key.is_empty() { String::new() } else { format!(" · {} {does} them", scene.thoughts_key) };
    let head = format!("{said} {count} {noun}, ~{tokens} tokens{key}");
    let mut lines = marked(&head, mark, Role::Muted, columns, theme);
    if open {
        lines.extend(marked(answer.reasoning.trim(), "  ", Role::Muted, columns, theme));
    }
    lines.push(Line::default());
    lines
}

/// The mark before a message, by its mode.
fn mode_mark(mode: Mode) -> &'static str {
    match mode {
        Mode::Code | Mode::Editor => "❯ ",
        Mode::Ask => "? ",
        Mode::Architect => "⌂ ",
        Mode::Context => "§ ",
        Mode::Help => "¿ ",
    }
}

/// Maximum number of lines of a shared text that are shown. The context and the file have the whole text.
const SHARED_LINES: usize = 6;

/// A shared text: its title, its first lines, and where the whole text is.
fn shared_lines(
    title: &str,
    text: &str,
    whole: Option<&Path>,
    columns: usize,
    scene: &TranscriptView<'_>,
) -> Vec<Line<'static>> {
    let head = marked(&format!("shared: {title}"), "⇪ ", Role::Accent, columns, scene.theme);
    let place = whole.map_or_else(String::new, |path| format!("the whole of it: {}", path.display()));
    [head, beginning(text, SHARED_LINES, &place, columns, scene)].concat()
}

/// Maximum number of lines of a message of the program that are shown: most of it is meant for the model only.
const AGAIN_LINES: usize = 8;

/// The first lines of a text, the number of the others, and `place`, which names the file with the whole text.
fn beginning(text: &str, most: usize, place: &str, columns: usize, scene: &TranscriptView<'_>) -> Vec<Line<'static>> {
    let first: Vec<&str> = text.lines().take(most).collect();
    let mut lines = marked(&first.join("\n"), "  ", Role::Muted, columns, scene.theme);
    let key = if scene.read_key.is_empty() { String::new() } else { format!(" ({}, then Enter)", scene.read_key) };
    let rest = match text.lines().count().saturating_sub(most) {
        0 => String::new(),
        more => format!("… {}{key}", count(more, "more line")),
    };
    let rest: Vec<&str> = [rest.as_str(), place].into_iter().filter(|part| !part.is_empty()).collect();
    lines.extend(marked(&rest.join("; "), "  ", Role::Muted, columns, scene.theme));
    lines
}

/// A wrapped text with a mark before its first line.
pub(super) fn marked(text: &str, mark: &'static str, role: Role, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
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

fn notice_lines(notice: &StatusMessage, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (mark, role) = match notice.level {
        Level::Info => ("• ", Role::Muted),
        Level::Warning => ("⚠ ", Role::Warning),
        Level::Error => ("✗ ", Role::Error),
    };
    let mut lines = marked(&notice.text, mark, role, columns, theme);
    lines.extend(marked(&notice.hint, "→ ", Role::Muted, columns, theme));
    lines
}

/// Maximum number of lines of a command that are shown. The log has all of them.
const COMMAND_LINES: usize = 6;

pub(super) fn command_lines(ran: &CommandRun, columns: usize, scene: &TranscriptView<'_>) -> Vec<Line<'static>> {
    let theme = scene.theme;
    let (mark, role) = run_state_mark(&ran.state);
    let mut command: Vec<&str> = ran.line.lines().take(COMMAND_LINES).collect();
    if ran.line.lines().count() > COMMAND_LINES {
        command.push("…");
    }
    let mut lines = marked(&command.join("\n"), "$ ", Role::Accent, columns, theme);
    let more = if scene.log_key.is_empty() { String::new() } else { format!(" ({})", scene.log_key) };
    lines.extend(marked(&ran.excerpt(&more), "  ", Role::Muted, columns, theme));
    lines.extend(marked(&ran.state.words(ran.seconds), mark, role, columns, theme));
    lines
}

/// The mark and the colour of a state.
pub(crate) fn run_state_mark(state: &RunState) -> (&'static str, Role) {
    match state {
        RunState::Running => ("⋯ ", Role::Muted),
        RunState::Ended(End::Exit(0)) => ("✓ ", Role::Success),
        RunState::Ended(End::Stopped) => ("■ ", Role::Warning),
        RunState::Ended(_) | RunState::Failed(_) => ("✗ ", Role::Error),
    }
}
