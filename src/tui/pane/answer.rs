//! An answer on the screen: its prose as Markdown, each of its edits as a card. What an edit changes is read in the review;
//! the text as it came is in the prompt viewer.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::stops::{EditCard, Stop};
use crate::edit::{Change, Edit, EditStream, FormatChoice, LineKind, StreamEvent, may_begin_tag};
use crate::text::{sanitize, width};
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::markdown::{Highlighter, StreamingMarkdown, code_of, no_highlight, render, sections};

/// An answer, growing.
#[derive(Debug)]
pub(super) struct AnswerView {
    stream: EditStream,
    /// Bytes of the answer that were taken in.
    taken: usize,
    parts: Vec<Part>,
    /// The newest line of prose: it may turn out to be the file name above an edit.
    held: Option<String>,
    /// Edits whose end has arrived.
    ended: usize,
    closed: bool,
    /// The lines of each stop as last rendered, and those of the edits among them.
    places: Vec<Range<usize>>,
    card_lines: Vec<usize>,
}

/// The line of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CardLine {
    /// Its number.
    pub(super) line: usize,
    /// The file as the model wrote it.
    pub(super) path: String,
    /// A line that the edit adds or takes away, which tells where in the file it is.
    pub(super) telling: Option<(LineKind, String)>,
    /// How many lines it adds and takes away.
    pub(super) changes: usize,
}

#[derive(Debug)]
enum Part {
    Prose(StreamingMarkdown),
    Edit(Card),
}

/// One edit of the answer.
#[derive(Debug, Default)]
struct Card {
    path: Option<String>,
    added: usize,
    removed: usize,
    ended: bool,
    complete: bool,
    /// Its lines so far, with what happens to each.
    lines: Vec<(LineKind, String)>,
    /// One of them that tells where in the file the edit is.
    telling: Option<(LineKind, String)>,
}

impl Default for AnswerView {
    fn default() -> Self {
        let stream = EditStream::new(FormatChoice::Auto);
        Self {
            stream,
            taken: 0,
            parts: Vec::new(),
            held: None,
            ended: 0,
            closed: false,
            places: Vec::new(),
            card_lines: Vec::new(),
        }
    }
}

impl AnswerView {
    /// Takes in the answer so far; only what is new costs anything. `ended` once no more will come.
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

    fn take(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Prose(line) => {
                if let Some(before) = self.held.replace(line) {
                    self.prose(&before);
                }
            }
            StreamEvent::EditStarted { path, .. } => {
                // The card shows the name; the line above it need not.
                let names_it = |line: &String| path.as_ref().is_some_and(|path| line.contains(path.as_str()));
                if let Some(line) = self.held.take().filter(|line| !names_it(line)) {
                    self.prose(&line);
                }
                self.parts.push(Part::Edit(Card { path, ..Card::default() }));
            }
            StreamEvent::EditLine { kind, text } => {
                if let Some(Part::Edit(card)) = self.parts.last_mut() {
                    card.lines.push((kind, text));
                    card.added += usize::from(kind == LineKind::Insert);
                    card.removed += usize::from(kind == LineKind::Delete);
                }
            }
            StreamEvent::EditEnded { complete } => {
                if let Some(Part::Edit(card)) = self.parts.last_mut() {
                    (card.ended, card.complete) = (true, complete);
                    card.count(self.stream.finished_edits().get(self.ended));
                    card.telling = card.as_stop().telling_line().map(|(kind, text)| (kind, text.to_owned()));
                }
                self.ended += 1;
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

    /// Renders everything anew at the next call of [`Self::lines`]: colours have arrived.
    pub(super) fn forget(&mut self) {
        for part in &mut self.parts {
            if let Part::Prose(markdown) = part {
                markdown.forget();
            }
        }
    }

    /// The lines for a width, an empty one between two parts.
    pub(super) fn lines(&mut self, columns: u16, theme: &Theme, code: &Highlighter<'_>) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
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
                    self.places.extend(markdown.sections().iter().map(|section| moved(&section.lines)));
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

    /// Where the cursor of the reader can stand, in order; the lines of each are those of [`Self::places`].
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

    /// The lines of each stop as last rendered.
    pub(super) fn places(&self) -> &[Range<usize>] {
        &self.places
    }

    /// The edits that have a place in the review, if any has: the line of each as last rendered, its file, and a line that
    /// tells where in it.
    pub(super) fn cards(&self) -> Vec<CardLine> {
        let cards = self.parts.iter().filter_map(|part| if let Part::Edit(card) = part { Some(card) } else { None });
        let lines = self.card_lines.iter().copied().zip(cards);
        let place = |(line, card): (usize, &Card)| {
            let path = card.path.clone()?;
            Some(CardLine { line, path, telling: card.telling.clone(), changes: card.added + card.removed })
        };
        lines.filter_map(place).collect()
    }

    /// What is still arriving, as far as it is prose: the line that waits to be known for one and what is behind it.
    fn open_text(&self) -> String {
        let in_edit = matches!(self.parts.last(), Some(Part::Edit(card)) if !card.ended);
        let partial = self.stream.partial_line();
        // The beginning of a fence or a marker would only flash up.
        let marker =
            MARKERS.iter().any(|marker| marker.starts_with(partial.trim()) || partial.trim().starts_with(marker));
        let partial = if in_edit || marker || may_begin_tag(partial) { "" } else { partial };
        let text = format!("{}\n{partial}", self.held.as_deref().unwrap_or_default());
        if text.trim().is_empty() { String::new() } else { text }
    }
}

/// How lines begin that are not prose.
const MARKERS: [&str; 7] = ["```", "~~~", "<<<<<<<", "***", "---", "+++", "@@"];

/// Columns that are kept free behind a card, for what was decided on it.
const FATE: usize = 14;

impl Card {
    /// Counts what the whole edit changes: lines that a search/replace block quotes on both sides do not count.
    fn count(&mut self, edit: Option<&Edit>) {
        let Some(Change::Hunk(readings)) = edit.filter(|edit| edit.path == self.path).map(|edit| &edit.change) else {
            return;
        };
        if let Some(hunk) = readings.first() {
            let of = |kind| hunk.lines.iter().filter(|line| line.kind == kind).count();
            (self.added, self.removed) = (of(LineKind::Insert), of(LineKind::Delete));
        }
    }

    fn as_stop(&self) -> EditCard {
        EditCard { path: self.path.clone(), lines: self.lines.clone() }
    }

    /// `✎ src/a.rs +3 −1`, with room behind it for what became of it.
    fn line(&self, columns: u16, theme: &Theme, closed: bool) -> Line<'static> {
        let state = match (self.ended && self.complete, closed) {
            (true, _) => "",
            (false, true) => "  incomplete",
            (false, false) => "  …",
        };
        let numbers = format!("  +{} −{}", self.added, self.removed);
        let room = usize::from(columns).saturating_sub(width::columns(&numbers) + width::columns(state) + 2 + FATE);
        let path = self.path.as_deref().unwrap_or("(no file name)");
        let path = width::clip_start(&sanitize::visible_line(path), room).into_owned();
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
    use super::*;
    use crate::tui::theme::ColorDepth;

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

    #[test]
    fn an_edit_that_was_cut_off_says_so() {
        let mut view = AnswerView::default();
        view.update(ANSWER.split_once("new").map_or("", |(start, _)| start), true);
        assert!(shown(&mut view).contains("a.py  +0 −1  incomplete"), "{}", shown(&mut view));
    }
}
