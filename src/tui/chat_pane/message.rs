//! One message of the transcript, rendered as lines. An answer has its prose as Markdown and each edit as a card. The
//! review shows the changes of an edit; the prompt viewer shows the original text.

use std::cell::RefCell;
use std::path::Path;

use rhumb_edit::review::EditRecord;
use rhumb_edit::{Edit, EditId, EditStream, FormatChoice, LineKind, StreamEvent, may_begin_tag};
use rhumb_session::context::Mode;
use rhumb_session::{Answer, AnswerState, CommandRun, EntryVersion, RunState, StatusMessage};
use rhumb_workspace::process::End;

use super::reading::{EditCard, Stop};
use super::steps::{EntryView, OutputOf};
use super::tool_card::{earlier_steps, output_lines, tool_lines};
use super::transcript::TranscriptView;
use crate::tui::coloring::CodeBlocks;
use crate::tui::prelude::*;
use crate::tui::widget::markdown::{Highlighter, StreamingMarkdown, code_of, no_highlight, render, sections};
use crate::tui::widget::meter;

#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) lines: Lines,
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
    /// Whether its reasoning or its result is unfolded.
    open: bool,
    view: EntryView,
}

impl Key {
    fn new(entry: &Entry, version: EntryVersion, open: bool, view: EntryView) -> Self {
        let is_streaming = matches!(entry, Entry::Answer(answer) if answer.state == AnswerState::Streaming);
        let bytes = match entry {
            Entry::Cleared => 0,
            Entry::User { text, .. } | Entry::FollowUp { text, .. } | Entry::Shared { text, .. } => text.len(),
            Entry::Ran(ran) => ran.tail.len(),
            Entry::Tool(tool) => {
                if open {
                    tool.result.len()
                } else {
                    0
                }
            }
            Entry::Steering { text } => text.len(),
            Entry::Answer(answer) => answer.text.len(),
            Entry::Status(notice) => notice.text.len() + notice.hint.len(),
        };
        Self { version: Some(version), bytes, is_streaming, open, view }
    }

    fn id(&self) -> Option<u64> {
        self.version.map(|version| version.id)
    }
}

impl Message {
    pub(super) fn of_lines(lines: Lines) -> Self {
        Self { height: lines.len(), lines, exact: true, ..Self::default() }
    }

    /// Compares the version of the entry. An unknown height is estimated from the length of the text.
    pub(super) fn compare(
        &mut self,
        entry: &Entry,
        version: EntryVersion,
        width: u16,
        (open, view): (bool, EntryView),
        remark: &str,
    ) {
        let key = Key::new(entry, version, open, view);
        if key == self.key && remark == self.remark {
            return;
        }
        if view.hidden {
            *self = Self { key, exact: true, remark: remark.to_owned(), ..Self::default() };
            return;
        }
        // The rendered part of an answer is reused only if the answer has grown.
        if !self.key.is_streaming || key.id() != self.key.id() || key.bytes < self.key.bytes {
            self.answer = None;
        }
        if self.height == 0 {
            self.height = key.bytes / usize::from(width.max(1)) + 1 + usize::from(view.gap);
        }
        remark.clone_into(&mut self.remark);
        (self.key, self.exact) = (key, false);
    }

    /// Drops the lines; their number stays as the estimate.
    pub(super) fn forget(&mut self) {
        self.lines = Vec::new();
        self.exact = self.key.view.hidden;
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
            Entry::User { text, mode, .. } => {
                let mut lines = marked(text, mode_mark(*mode), Role::User, columns, theme);
                if self.key.view.earlier_steps > 0 {
                    lines.extend(earlier_steps(self.key.view.earlier_steps, self.key.open, columns, scene));
                }
                lines
            }
            Entry::Shared { title, text, whole } => shared_lines(title, text, whole.as_deref(), columns, scene),
            Entry::FollowUp { text, round, of, .. } => {
                let head = marked(&format!("asked again, {round} of {of}"), "↻ ", Role::Accent, columns, theme);
                [head, beginning(text, AGAIN_LINES, "", columns, scene)].concat()
            }
            Entry::Ran(ran) => match self.key.view.output {
                OutputOf::Nothing => command_lines(ran, columns, scene),
                output => output_lines(ran, output, columns, theme),
            },
            Entry::Tool(tool) => tool_lines(tool, self.key.open, columns, scene),
            Entry::Steering { text } => marked(text, "❯ ", Role::User, columns, theme),
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
        if self.key.view.gap {
            self.lines.push(Line::default());
        } else {
            // The calls of a step follow its thoughts and its text.
            let end = self.lines.iter().rposition(|line| line.width() > 0).map_or(0, |last| last + 1);
            self.lines.truncate(end);
            self.said = self.said.min(end);
        }
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
        let gap = usize::from(self.key.view.gap);
        let whole = 0..self.height.saturating_sub(gap).max(usize::from(!self.key.view.hidden));
        self.stops.get(stop).cloned().unwrap_or(whole)
    }

    fn answer_lines(&mut self, answer: &Answer, width: u16, theme: &Theme, blocks: &RefCell<CodeBlocks<'_>>) -> Lines {
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
fn thought_lines(answer: &Answer, open: bool, columns: usize, scene: &TranscriptView<'_>) -> Lines {
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

fn mode_mark(mode: Mode) -> &'static str {
    match mode {
        Mode::Code | Mode::Editor => "❯ ",
        Mode::Ask => "? ",
        Mode::Architect => "⌂ ",
        Mode::Context => "§ ",
        Mode::Agent => "» ",
        Mode::Help => "¿ ",
    }
}

/// Maximum number of lines of a shared text that are shown. The context and the file have the whole text.
const SHARED_LINES: usize = 6;

/// A shared text: its title, its first lines, and where the whole text is.
fn shared_lines(title: &str, text: &str, whole: Option<&Path>, columns: usize, scene: &TranscriptView<'_>) -> Lines {
    let head = marked(&format!("shared: {title}"), "⇪ ", Role::Accent, columns, scene.theme);
    let place = whole.map_or_else(String::new, |path| format!("the whole of it: {}", path.display()));
    [head, beginning(text, SHARED_LINES, &place, columns, scene)].concat()
}

/// Maximum number of lines of a message of the program that are shown: most of it is meant for the model only.
const AGAIN_LINES: usize = 8;

/// The first lines of a text, the number of the others, and `place`, which names the file with the whole text.
fn beginning(text: &str, most: usize, place: &str, columns: usize, scene: &TranscriptView<'_>) -> Lines {
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
pub(super) fn marked(text: &str, mark: &'static str, role: Role, columns: usize, theme: &Theme) -> Lines {
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

fn notice_lines(notice: &StatusMessage, columns: usize, theme: &Theme) -> Lines {
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

pub(super) fn command_lines(ran: &CommandRun, columns: usize, scene: &TranscriptView<'_>) -> Lines {
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

pub(crate) fn run_state_mark(state: &RunState) -> (&'static str, Role) {
    match state {
        RunState::Running => ("⋯ ", Role::Muted),
        RunState::Ended(End::Exit(0)) => ("✓ ", Role::Success),
        RunState::Ended(End::Stopped) => ("■ ", Role::Warning),
        RunState::Ended(_) | RunState::Failed(_) => ("✗ ", Role::Error),
    }
}

/// An answer, rendered while it arrives.
#[derive(Debug)]
pub(super) struct AnswerView {
    stream: EditStream,
    taken: usize,
    parts: Vec<Part>,
    /// The newest line of prose, which may turn out to be the file name above an edit.
    held: Option<String>,
    closed: bool,
    /// The lines of each stop as last rendered; `card_lines` are those of edits.
    places: Vec<Range<usize>>,
    card_lines: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CardLine {
    pub(super) line: usize,
    pub(super) edit: EditId,
}

#[derive(Debug)]
enum Part {
    Prose(StreamingMarkdown),
    Edit(Card),
}

#[derive(Debug, Default)]
struct Card {
    path: Option<String>,
    added: usize,
    removed: usize,
    ended: bool,
    complete: bool,
    lines: Vec<(LineKind, String)>,
    /// The edit of the session, once the answer was parsed.
    edit: Option<EditId>,
}

impl Default for AnswerView {
    fn default() -> Self {
        let stream = EditStream::new(FormatChoice::Auto);
        Self {
            stream,
            taken: 0,
            parts: Vec::new(),
            held: None,
            closed: false,
            places: Vec::new(),
            card_lines: Vec::new(),
        }
    }
}

impl AnswerView {
    /// Parses the new part of the answer. `ended` means that no more will arrive.
    pub(super) fn update(&mut self, answer: &str, ended: bool) {
        if let Some(new) = answer.get(self.taken..).filter(|new| !new.is_empty()) {
            self.stream.push(new);
            self.taken = answer.len();
        }
        if ended && !self.closed {
            self.closed = true;
            if !answer.ends_with('\n') {
                self.stream.push("\n");
            }
        }
        for event in self.stream.events() {
            self.take(event);
        }
        if self.closed
            && let Some(line) = self.held.take()
        {
            self.prose(&line);
        }
    }

    /// Replaces the cards by the edits of the proposal. Text that only looked like an edit becomes prose, and a fence that is an
    /// edit becomes a card.
    pub(super) fn settle(&mut self, answer: &str, records: &[EditRecord]) {
        if records.is_empty() {
            return;
        }
        let mut stream = EditStream::new(FormatChoice::Auto);
        stream.push(answer);
        let (reply, events) = stream.finish_with_events();
        let edits = || reply.edits.iter().chain(&reply.fences);
        let card = |record: &EditRecord| Card::of(record, edits().find(|edit| edit.reply_lines == record.id.lines));
        let source: Vec<&str> = answer.lines().collect();
        let mut left: Vec<&EditRecord> = records.iter().collect();
        let mut named = None;
        (self.parts, self.held) = (Vec::new(), None);
        for event in events {
            let (range, is_edit) = match event {
                StreamEvent::Prose { number, text } => {
                    if !records.iter().any(|record| overlap(record.id.lines, (number, number))) {
                        self.hold(text);
                        continue;
                    }
                    ((number, number), false)
                }
                StreamEvent::EditStarted { path, .. } => {
                    named = path;
                    continue;
                }
                StreamEvent::EditLine { .. } => continue,
                StreamEvent::EditEnded { lines, .. } => (lines, true),
            };
            let here: Vec<&EditRecord> = left.extract_if(.., |record| overlap(record.id.lines, range)).collect();
            if is_edit && !records.iter().any(|record| overlap(record.id.lines, range)) {
                self.show_source(source.get(range.0.saturating_sub(1)..range.1).unwrap_or_default());
            }
            for record in here {
                let written = named.take().filter(|_| is_edit);
                self.drop_name([Some(record.path.as_str()), written.as_deref()]);
                self.parts.push(Part::Edit(card(record)));
            }
        }
        if let Some(line) = self.held.take() {
            self.prose(&line);
        }
        // Every proposed edit has a card.
        self.parts.extend(left.into_iter().map(|record| Part::Edit(card(record))));
    }

    fn hold(&mut self, line: String) {
        if let Some(before) = self.held.replace(line) {
            self.prose(&before);
        }
    }

    /// Drops the line above a card if it names the file, which the card shows.
    fn drop_name(&mut self, names: [Option<&str>; 2]) {
        let names_it = |line: &String| names.iter().flatten().any(|name| !name.is_empty() && line.contains(name));
        if let Some(line) = self.held.take().filter(|line| !names_it(line)) {
            self.prose(&line);
        }
    }

    /// Shows lines that are not an edit as code.
    fn show_source(&mut self, lines: &[&str]) {
        if let Some(line) = self.held.take() {
            self.prose(&line);
        }
        let fenced = lines.first().is_some_and(|line| line.trim_start().starts_with(['`', '~']));
        let fence = "`".repeat(longest_run(lines).max(2) + 1);
        let around = if fenced { None } else { Some(fence.as_str()) };
        for line in around.into_iter().chain(lines.iter().copied()).chain(around) {
            self.prose(line);
        }
    }

    fn take(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Prose { text, .. } => self.hold(text),
            StreamEvent::EditStarted { path, .. } => {
                self.drop_name([path.as_deref(), None]);
                self.parts.push(Part::Edit(Card { path, ..Card::default() }));
            }
            StreamEvent::EditLine { kind, text } => {
                if let Some(Part::Edit(card)) = self.parts.last_mut() {
                    card.lines.push((kind, text));
                    card.added += usize::from(kind == LineKind::Insert);
                    card.removed += usize::from(kind == LineKind::Delete);
                }
            }
            StreamEvent::EditEnded { complete, lines } => {
                let edit = self.stream.finished_edits().iter().rev().find(|edit| edit.reply_lines == lines);
                if let Some(Part::Edit(card)) = self.parts.last_mut() {
                    (card.ended, card.complete) = (true, complete);
                    if let Some(edit) = edit {
                        (card.added, card.removed) = edit.line_counts();
                    }
                }
            }
        }
    }

    fn prose(&mut self, line: &str) {
        if !matches!(self.parts.last(), Some(Part::Prose(_))) {
            self.parts.push(Part::Prose(StreamingMarkdown::new()));
        }
        if let Some(Part::Prose(markdown)) = self.parts.last_mut() {
            markdown.push(line);
            markdown.push("\n");
        }
    }

    /// Renders everything again at the next call of [`Self::lines`], because colours have arrived.
    pub(super) fn forget(&mut self) {
        for part in &mut self.parts {
            if let Part::Prose(markdown) = part {
                markdown.forget();
            }
        }
    }

    pub(super) fn lines(&mut self, columns: u16, theme: &Theme, code: &Highlighter<'_>) -> Lines {
        let mut lines: Lines = Vec::new();
        let mut after_card = false;
        self.places.clear();
        self.card_lines.clear();
        let open = self.open_text();
        let last = self.parts.len().checked_sub(1).filter(|_| !open.is_empty());
        for (number, part) in self.parts.iter_mut().enumerate() {
            let is_card = matches!(part, Part::Edit(_));
            let new = match part {
                Part::Prose(markdown) if Some(number) == last => markdown.lines_with(&open, columns, theme, code),
                Part::Prose(markdown) => markdown.lines(columns, theme, code).to_vec(),
                Part::Edit(card) => vec![card.line(columns, theme, self.closed)],
            };
            let joined = is_card && after_card;
            if !lines.is_empty() && !new.is_empty() && !joined {
                lines.push(Line::default());
            }
            after_card = is_card || (after_card && new.is_empty());
            let at = lines.len();
            match part {
                Part::Prose(markdown) => {
                    let moved = |lines: &Range<usize>| lines.start + at..lines.end + at;
                    self.places.extend(markdown.sections.iter().map(|section| moved(&section.lines)));
                }
                Part::Edit(_) => {
                    self.places.push(at..at + 1);
                    self.card_lines.push(at);
                }
            }
            lines.extend(new);
        }
        if !open.is_empty() && !matches!(self.parts.last(), Some(Part::Prose(_))) {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.extend(render(&open, columns, theme, &no_highlight));
        }
        lines
    }

    /// The stops in order; the lines of each are those of [`Self::places`].
    pub(super) fn stops(&self) -> Vec<Stop> {
        let mut stops = Vec::new();
        for part in &self.parts {
            match part {
                Part::Edit(card) => stops.push(Stop::Card(card.as_stop())),
                Part::Prose(markdown) => {
                    let source = markdown.source();
                    let blocks = sections(source).into_iter().filter_map(|range| source.get(range));
                    stops.extend(blocks.map(|block| match code_of(block) {
                        Some(code) => Stop::Code(code),
                        None => Stop::Block(block.trim_matches('\n').to_owned()),
                    }));
                }
            }
        }
        stops
    }

    pub(super) fn places(&self) -> &[Range<usize>] {
        &self.places
    }

    /// The parsed edits with the line of each as last rendered.
    pub(super) fn cards(&self) -> Vec<CardLine> {
        let cards = self.parts.iter().filter_map(|part| if let Part::Edit(card) = part { Some(card) } else { None });
        let lines = self.card_lines.iter().copied().zip(cards);
        lines.filter_map(|(line, card)| Some(CardLine { line, edit: card.edit? })).collect()
    }

    /// The prose that is still arriving: the held line and the incomplete line.
    fn open_text(&self) -> String {
        let in_edit = matches!(self.parts.last(), Some(Part::Edit(card)) if !card.ended);
        let partial = self.stream.partial_line();
        // The beginning of a fence or a marker would only be visible for a moment.
        let marker =
            MARKERS.iter().any(|marker| marker.starts_with(partial.trim()) || partial.trim().starts_with(marker));
        let partial = if in_edit || marker || may_begin_tag(partial) { "" } else { partial };
        let text = format!("{}\n{partial}", self.held.as_deref().unwrap_or_default());
        if text.trim().is_empty() { String::new() } else { text }
    }
}

/// How lines begin that are not prose.
const MARKERS: [&str; 7] = ["```", "~~~", "<<<<<<<", "***", "---", "+++", "@@"];

/// Columns that are kept free behind a card, for the state of its edit.
const STATE_COLUMNS: usize = 19;

fn overlap(one: (usize, usize), other: (usize, usize)) -> bool {
    one.0 <= other.1 && other.0 <= one.1
}

/// The longest run of backticks at the start of a line.
fn longest_run(lines: &[&str]) -> usize {
    let run = |line: &&str| line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
    lines.iter().map(run).max().unwrap_or_default()
}

impl Card {
    fn of(record: &EditRecord, edit: Option<&Edit>) -> Self {
        let lines = edit.map(Edit::lines).unwrap_or_default();
        Self {
            path: Some(record.path.clone()).filter(|path| !path.is_empty()),
            added: record.added,
            removed: record.removed,
            // An incomplete edit is reported by its state.
            ended: true,
            complete: true,
            lines: lines.into_iter().map(|line| (line.kind, line.text)).collect(),
            edit: Some(record.id),
        }
    }

    fn as_stop(&self) -> EditCard {
        EditCard { path: self.path.clone(), lines: self.lines.clone(), edit: self.edit }
    }

    /// `✎ src/a.rs +3 −1`, with space for the state of the edit.
    fn line(&self, columns: u16, theme: &Theme, closed: bool) -> Line<'static> {
        let state = match (self.ended && self.complete, closed) {
            (true, _) => "",
            (false, true) => "  incomplete",
            (false, false) => "  …",
        };
        let numbers = format!("  +{} −{}", self.added, self.removed);
        let available =
            usize::from(columns).saturating_sub(width::columns(&numbers) + width::columns(state) + 2 + STATE_COLUMNS);
        let path = self.path.as_deref().unwrap_or("(no file name)");
        let path = width::clip_start(&sanitize::visible_line(path), available).into_owned();
        Line::from(vec![
            Span::styled("✎ ", theme.style(Role::Accent)),
            Span::styled(path, theme.style(Role::Title)),
            Span::styled(format!("  +{}", self.added), theme.style(Role::Success)),
            Span::styled(format!(" −{}", self.removed), theme.style(Role::Error)),
            Span::styled(state, theme.style(Role::Warning)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tui::theme::ColorDepth;
    use rhumb_edit::EditFormat;
    use rhumb_edit::Files;
    use rhumb_edit::ParsedReply;
    use rhumb_edit::parse;
    use rhumb_edit::propose;
    use rhumb_edit::review::Review;

    const ANSWER: &str =
        "First this.\n\na.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n\nThen **that**.";

    fn shown(view: &mut AnswerView) -> String {
        let lines = view.lines(60, &Theme::plain(ColorDepth::None), &no_highlight);
        lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_edit_is_a_card_and_the_rest_is_prose() {
        let mut view = AnswerView::default();
        view.update(ANSWER, true);
        assert_eq!(shown(&mut view), "First this.\n\n✎ a.py  +1 −1\n\nThen that.");
    }

    #[test]
    fn a_line_that_arrives_stands_where_it_will_stand() {
        let mut view = AnswerView::default();
        view.update("First this.\n\nThen th", false);
        assert_eq!(shown(&mut view), "First this.\n\nThen th");
        view.update("First this.\n\nThen that\ngoes o", false);
        assert_eq!(shown(&mut view), "First this.\n\nThen that goes o");
        view.update("First this.\n\nThen that\ngoes on.\n\n- one\n- tw", false);
        assert_eq!(shown(&mut view), "First this.\n\nThen that goes on.\n\n• one\n• tw");
    }

    #[test]
    fn the_end_looks_the_same_however_it_arrived() {
        let mut whole = AnswerView::default();
        whole.update(ANSWER, true);
        let mut pieces = AnswerView::default();
        for end in (0..=ANSWER.len()).filter(|end| ANSWER.is_char_boundary(*end)) {
            pieces.update(&ANSWER[..end], false);
            shown(&mut pieces);
        }
        pieces.update(ANSWER, true);
        assert_eq!(shown(&mut pieces), shown(&mut whole));
    }

    #[test]
    fn an_example_is_shown_as_code() {
        let mut view = AnswerView::default();
        view.update("Run this:\n\n```sh\ncargo test\n```\n\nor\n\n```rust\nfn main() {}\n```\n", true);
        let shown = shown(&mut view);
        assert!(shown.contains("cargo test") && shown.contains("fn main() {}"), "{shown}");
    }

    /// Two files in one fence, with another hunk before the second file.
    const TWO_FILES: &str = "Both:\n\n```diff\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n--- a/b.py\n+++ b/b.py\n@@ -1 +1,2 @@\n-old\n+new\n+more\n```\n";

    #[test]
    fn file_headers_inside_a_fence_are_no_edits_and_no_removed_lines() {
        let mut view = AnswerView::default();
        for end in 0..=TWO_FILES.len() {
            view.update(&TWO_FILES[..end], false);
            let shown = shown(&mut view);
            assert!(!shown.contains("no file name") && !shown.contains("−2"), "{shown}");
        }
        view.update(TWO_FILES, true);
        assert_eq!(shown(&mut view), "Both:\n\n✎ a.py  +1 −1\n✎ b.py  +2 −1");
    }

    /// Two files of twenty lines that are all different.
    struct TwoFiles;

    impl Files for TwoFiles {
        fn paths(&self) -> Vec<String> {
            ["src/one.txt", "two.txt"].map(str::to_owned).to_vec()
        }
        fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
            Ok(self.paths().contains(&path.to_owned()).then(|| lines_of(path).concat()))
        }
        fn in_chat(&self, _: &str) -> bool {
            true
        }
        fn root(&self) -> Option<String> {
            None
        }
    }

    fn lines_of(path: &str) -> Vec<String> {
        (0..20).map(|line| format!("line {line} of {path}\n")).collect()
    }

    /// A change of a line: with nothing, one or several lines in its place.
    type LineChange = (usize, usize);

    fn new_lines(path: &str, (line, count): LineChange) -> String {
        (0..count).map(|number| format!("new {number} for {line} of {path}\n")).collect()
    }

    fn rendered(format: EditFormat, changes: &[(&str, Vec<LineChange>)]) -> String {
        let mut reply = "I change this.\n\n".to_owned();
        if format == EditFormat::Udiff {
            reply += "```diff\n";
        }
        if format == EditFormat::Patch {
            reply += "*** Begin Patch\n";
        }
        for (path, changes) in changes {
            let old = lines_of(path);
            match format {
                EditFormat::Udiff => reply += &format!("--- a/{path}\n+++ b/{path}\n"),
                EditFormat::Patch => reply += &format!("*** Update File: {path}\n"),
                EditFormat::Whole => {
                    let new = |(at, line): (usize, &String)| {
                        changes
                            .iter()
                            .find(|change| change.0 == at)
                            .map_or(line.clone(), |change| new_lines(path, *change))
                    };
                    let text: String = old.iter().enumerate().map(new).collect();
                    reply += &format!("{path}\n```\n{text}```\n\n");
                    continue;
                }
                EditFormat::Diff | EditFormat::DiffFenced => {}
            }
            for change in changes {
                let (before, removed, added) = (&old[change.0 - 1], &old[change.0], new_lines(path, *change));
                if matches!(format, EditFormat::Diff | EditFormat::DiffFenced) {
                    let block = format!("<<<<<<< SEARCH\n{before}{removed}=======\n{before}{added}>>>>>>> REPLACE\n");
                    let (above, inside) = if format == EditFormat::Diff { (*path, "") } else { ("", *path) };
                    let inside = if inside.is_empty() { String::new() } else { format!("{inside}\n") };
                    reply += &format!("{above}\n```\n{inside}{block}```\n\n");
                } else {
                    let added: String = added.split_inclusive('\n').map(|line| format!("+{line}")).collect();
                    reply += &format!("@@ @@\n {before}-{removed}{added}");
                }
            }
        }
        match format {
            EditFormat::Udiff => reply + "```\n",
            EditFormat::Patch => reply + "*** End Patch\n",
            _ => reply,
        }
    }

    proptest! {
        #[test]
        fn the_cards_add_up_to_the_hunks_of_the_proposal_and_each_names_its_file(
            format in prop::sample::select(vec![
                EditFormat::Diff, EditFormat::DiffFenced, EditFormat::Udiff, EditFormat::Whole, EditFormat::Patch,
            ]),
            first in prop::collection::btree_map(1usize..19, 0usize..4, 1..5),
            second in prop::collection::btree_map(1usize..19, 0usize..4, 0..4),
        ) {
            let mut changes = vec![("src/one.txt", first.into_iter().collect::<Vec<_>>())];
            changes.extend((!second.is_empty()).then(|| ("two.txt", second.into_iter().collect())));
            // Adjacent changes are dropped: an edit would quote a line that the edit before it removes.
            changes.iter_mut().for_each(|(_, changes)| changes.dedup_by_key(|change| change.0 / 2));
            changes.iter_mut().for_each(|(_, changes)| changes.iter_mut().for_each(|change| change.0 = change.0 / 2 * 2 + 1));
            let answer = rendered(format, &changes);
            let parsed = ParsedReply { answer: Some(0), ..parse(&answer, FormatChoice::Auto) };
            let proposal = propose(&parsed, &TwoFiles);
            let outcomes = proposal.outcomes.clone();
            let review = Review::new(proposal);
            let counts = review.lines_by_edit(&outcomes);
            let records: Vec<EditRecord> = outcomes
                .iter()
                .filter_map(|outcome| EditRecord::new(outcome, counts.get(&outcome.edits[0]).copied()))
                .collect();
            prop_assert!(review.refused.is_empty(), "{answer}\n{:?}", review.refused);
            let mut view = AnswerView::default();
            view.update(&answer, true);
            view.settle(&answer, &records);
            let cards: Vec<&Card> =
                view.parts.iter().filter_map(|part| if let Part::Edit(card) = part { Some(card) } else { None }).collect();
            prop_assert_eq!(cards.len(), records.len(), "{}", answer);
            for (path, _) in &changes {
                let of_file = || cards.iter().filter(|card| card.path.as_deref() == Some(path));
                let hunks = || review.files.iter().filter(|file| file.path == *path).flat_map(|file| &file.hunks);
                let added: usize = hunks().map(|hunk| hunk.hunk.proposed.len()).sum();
                let removed: usize = hunks().map(|hunk| hunk.hunk.base.len()).sum();
                prop_assert_eq!(of_file().map(|card| card.added).sum::<usize>(), added, "{}\n{}", path, answer);
                prop_assert_eq!(of_file().map(|card| card.removed).sum::<usize>(), removed, "{}\n{}", path, answer);
            }
            prop_assert!(cards.iter().all(|card| card.path.is_some()));
        }
    }

    fn record(path: &str, lines: (usize, usize), counts: (usize, usize)) -> EditRecord {
        let id = EditId { answer: 0, lines };
        let placement = rhumb_edit::review::Placement::Located;
        let (added, removed) = counts;
        EditRecord { id, path: path.into(), added, removed, placement, ..EditRecord::default() }
    }

    #[test]
    fn once_the_edits_are_looked_for_the_cards_are_those() {
        let answer = "First.\n\nsrc/b.py\n```\nwhole\n```\n\nAnd Makefile\n\n```\nall:\n```\n\nend";
        let mut view = AnswerView::default();
        view.update(answer, true);
        // The first is only an example, and the second is a file.
        view.settle(answer, &[record("Makefile", (10, 12), (7, 3))]);
        let shown = shown(&mut view);
        assert!(shown.contains("✎ Makefile  +7 −3") && shown.contains("whole") && shown.ends_with("end"), "{shown}");
        assert!(!shown.contains("all:") && !shown.contains("✎ src/b.py"), "{shown}");
        assert_eq!(view.cards().len(), 1);
    }

    #[test]
    fn an_edit_that_was_cut_off_says_so() {
        let mut view = AnswerView::default();
        view.update(ANSWER.split_once("new").map_or("", |(start, _)| start), true);
        assert!(shown(&mut view).contains("a.py  +0 −1  incomplete"), "{}", shown(&mut view));
    }
}
