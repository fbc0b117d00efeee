//! The reading state of the transcript: the stops of its cursor, search, and unfolded reasoning.

use regex::{Regex, RegexBuilder};
use rhumb_edit::{EditId, LineKind};
use rhumb_index::retrieval::Citation;
use rhumb_session::{AnswerState, Citations, Question};

use super::message::AnswerView;
use super::steps::{EntryView, card_of_output, entry_views, is_open};
use super::tool_card::searched;
use crate::tui::prelude::*;
use crate::tui::widget::markdown::Code;

/// A position of the reading cursor: an entry, and one of its blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StopId {
    pub entry: usize,
    pub stop: usize,
}

/// The bits of a row's number that identify the stop.
const STOP_BITS: u32 = 12;

/// The row of the mark that reports new lines below.
pub const NEW_LINES_ROW: usize = usize::MAX;

impl StopId {
    /// The number of its row, for clicks.
    pub fn row(self) -> usize {
        (self.entry << STOP_BITS) | self.stop.min((1 << STOP_BITS) - 1)
    }

    pub fn of_row(row: usize) -> Self {
        Self { entry: row >> STOP_BITS, stop: row & ((1 << STOP_BITS) - 1) }
    }
}

/// The stop that the next frame shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Focus<'a> {
    pub(super) stop_id: StopId,
    /// Whether the view moves to it.
    pub(super) follow: bool,
    /// Whether it is placed at the top.
    pub(super) top: bool,
    /// The search pattern and the number (0-based) of the match in the stop.
    pub search: Option<(&'a Regex, usize)>,
}

impl Focus<'_> {
    /// The lines that must be visible: those of the stop, or the line of the match in it.
    pub(super) fn narrowed(&self, all: &[Line<'_>], lines: Range<usize>) -> Range<usize> {
        let Some((needle, wanted)) = self.search else { return lines };
        let mut left = wanted;
        let mut last = None;
        for at in lines.clone() {
            let Some(line) = all.get(at) else { break };
            let found = needle.find_iter(&line.to_string()).count();
            if found > 0 {
                last = Some(at);
            }
            if found > left {
                break;
            }
            left -= found;
        }
        last.map_or(lines, |at| at..at + 1)
    }
}

#[derive(Debug)]
pub struct TranscriptSearch {
    pub query: String,
    pub(super) needle: Regex,
    /// The entries with a match, in order.
    found: Vec<usize>,
    /// The match in the stop under the cursor.
    pub(super) nth: usize,
}

impl TranscriptSearch {
    /// Searches for a text. Case counts only if the query contains a capital.
    pub(super) fn new(query: &str, entries: &[Entry]) -> Option<Self> {
        if query.is_empty() {
            return None;
        }
        let any_case = !query.chars().any(char::is_uppercase);
        let needle = RegexBuilder::new(&regex::escape(query)).case_insensitive(any_case).build().ok()?;
        let mut search = Self { query: query.to_owned(), needle, found: Vec::new(), nth: 0 };
        search.refresh(entries);
        Some(search)
    }

    pub(super) fn refresh(&mut self, entries: &[Entry]) {
        let holds = |at: usize, entry: &Entry| match entry {
            Entry::Answer(answer) => self.needle.is_match(&answer.text) || self.needle.is_match(&answer.reasoning),
            Entry::User { text, .. } | Entry::FollowUp { text, .. } | Entry::Shared { text, .. } => {
                self.needle.is_match(text)
            }
            // The result of the command has its output.
            Entry::Ran(_) if card_of_output(entries, at).is_some() => false,
            Entry::Tool(tool) => self.needle.is_match(&searched(tool)),
            entry => self.needle.is_match(&text_of(entry)),
        };
        self.found = entries.iter().enumerate().filter(|(at, entry)| holds(*at, entry)).map(|(at, _)| at).collect();
    }

    /// The number of matching messages, and the position (1-based) of an entry among them.
    pub(super) fn count(&self, entry: usize) -> (Option<usize>, usize) {
        (self.found.binary_search(&entry).ok().map(|at| at + 1), self.found.len())
    }

    /// The next stop with a match in that direction, with wrap-around. `None` without a match. With `here`, the search
    /// includes the stop under the cursor.
    pub(super) fn next(&mut self, entries: &[Entry], from: StopId, forward: bool, here: bool) -> Option<StopId> {
        let within = |places: &[(usize, usize)], at: Option<(usize, usize)>| match (at, forward) {
            (None, true) => places.first().copied(),
            (None, false) => places.last().copied(),
            (Some(at), true) => places.iter().find(|place| **place > at || (here && **place == at)).copied(),
            (Some(at), false) => places.iter().rev().find(|place| **place < at || (here && **place == at)).copied(),
        };
        let own = entries.get(from.entry).map(|entry| self.places(entry)).unwrap_or_default();
        // The search may begin at any place within the stop.
        let nth = if here && !forward {
            usize::MAX
        } else if here {
            0
        } else {
            self.nth
        };
        if let Some((stop, nth)) = within(&own, Some((from.stop, nth))) {
            self.nth = nth;
            return Some(StopId { entry: from.entry, stop });
        }
        let (before, after): (Vec<usize>, Vec<usize>) = self.found.iter().partition(|at| **at <= from.entry);
        let order: Vec<usize> = if forward {
            after.into_iter().chain(before).collect()
        } else {
            let before = before.into_iter().filter(|at| *at != from.entry).rev();
            before.chain(after.into_iter().rev()).chain([from.entry]).collect()
        };
        let (stop_id, nth) = order.into_iter().find_map(|at| {
            let places = self.places(entries.get(at)?);
            within(&places, None).map(|(stop, nth)| (StopId { entry: at, stop }, nth))
        })?;
        self.nth = nth;
        Some(stop_id)
    }

    /// The matches in an entry: the stop, and the number of the match there.
    fn places(&self, entry: &Entry) -> Vec<(usize, usize)> {
        let all = stops(entry);
        let of = |(at, stop): (usize, &Stop)| {
            let count = self.needle.find_iter(stop.searched()).count();
            (0..count).map(move |nth| (at, nth))
        };
        all.iter().enumerate().flat_map(of).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rerun {
    /// The number of its turn, 1-based.
    pub turn: usize,
    pub entry: usize,
}

/// Whether `named`, as written by a model, may refer to the file at `path`.
pub(super) fn is_path(path: &str, named: &str) -> bool {
    let named = named.trim_start_matches("./");
    path == named || path.strip_suffix(named).is_some_and(|before| before.ends_with('/') && !named.is_empty())
}

#[derive(Debug, Default)]
pub struct ChatPane {
    /// Lines below the last visible one; 0 follows the newest text.
    pub from_bottom: usize,
    pub thoughts: bool,
    pub welcome: bool,
    /// The question that was shown in full in the last frame. A key answers no other question.
    pub seen_question: Option<Question>,
    pub reading: Reading,
    pub citing: Citations,
}

impl ChatPane {
    /// Scrolls up by that many lines; down if negative.
    pub fn scroll_up(&mut self, lines: isize) {
        self.from_bottom = self.from_bottom.saturating_add_signed(lines);
    }

    /// Whether the reasoning, the result or the earlier steps of an entry are unfolded.
    pub(super) fn is_open(&self, entry: &Entry, at: usize) -> bool {
        is_open(entry, at, self.thoughts, &self.reading.toggled)
    }

    /// The arrangement of the entries in the next frame.
    pub(super) fn entry_views(&self, entries: &[Entry]) -> Vec<EntryView> {
        let is_open = |at: usize| entries.get(at).is_some_and(|entry| self.is_open(entry, at));
        entry_views(entries, is_open, |at| card_of_output(entries, at))
    }

    pub fn has_shown(&self, question: &Question) -> bool {
        self.seen_question.as_ref() == Some(question)
    }

    pub fn drawn(&mut self, cache: &ViewCache) {
        self.seen_question.clone_from(&cache.question);
        self.from_bottom = cache.chat.from_bottom;
        self.reading.drawn(cache.chat.seen());
    }
}

#[derive(Debug, Default)]
pub struct Reading {
    pub on: bool,
    pub(super) stop_id: StopId,
    /// Whether the next frame must show the cursor, and at the top.
    pub(super) follow: bool,
    pub(super) top: bool,
    /// Entries whose reasoning, result or earlier steps are shown or hidden contrary to the default.
    pub toggled: BTreeSet<usize>,
    pub search: Option<TranscriptSearch>,
    pub(super) typing: Option<LineInput>,
    pub(super) rerun: Option<Rerun>,
    /// The link under the cursor: its stop, its number among the links of the stop, and its citation.
    link: Option<(StopId, usize, Citation)>,
    /// The stops that the last frame showed.
    pub(super) seen: Vec<crate::tui::chat_pane::VisibleStop>,
}

impl Reading {
    /// The stop that the next frame must take into account.
    pub(super) fn focus(&self) -> Option<Focus<'_>> {
        let search = self.search.as_ref().filter(|_| self.on).map(|search| (&search.needle, search.nth));
        let focus = Focus { stop_id: self.stop_id, follow: self.follow, top: self.top, search };
        (self.on || self.follow).then_some(focus)
    }

    /// Stores the visible stops. A cursor outside of the view moves to the nearest of them.
    pub(super) fn drawn(&mut self, seen: Vec<crate::tui::chat_pane::VisibleStop>) {
        (self.follow, self.top) = (false, false);
        let is_in_view = seen.iter().any(|seen| seen.stop_id == self.stop_id);
        if self.on && !is_in_view {
            let nearest =
                if seen.first().is_some_and(|first| self.stop_id < first.stop_id) { seen.first() } else { seen.last() };
            self.stop_id = nearest.map_or(self.stop_id, |nearest| nearest.stop_id);
        }
        self.seen = seen;
    }

    pub(super) fn set_link(&mut self, stop_id: StopId, at: usize, citation: Citation) {
        self.link = Some((stop_id, at, citation));
    }

    /// The link of a stop under the cursor.
    pub(super) fn link_at(&self, stop_id: StopId) -> Option<usize> {
        self.link.as_ref().filter(|(of, ..)| self.on && *of == stop_id && self.stop_id == stop_id).map(|(_, at, _)| *at)
    }

    /// The citation under the cursor, if it is in that entry.
    pub(super) fn link_in(&self, entry: usize) -> Option<&Citation> {
        let here = |(of, ..): &&(StopId, usize, Citation)| self.on && *of == self.stop_id && of.entry == entry;
        self.link.as_ref().filter(here).map(|(.., citation)| citation)
    }

    /// The hidden lines of the stop under the cursor: above and below the view.
    pub(super) fn hidden(&self) -> (usize, usize) {
        self.seen.iter().find(|seen| seen.stop_id == self.stop_id).map_or((0, 0), |seen| seen.hidden)
    }
}

/// A possible position of the reading cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A message without blocks.
    Message(String),
    /// The reasoning before an answer.
    Thoughts(String),
    Block(String),
    Code(Code),
    Card(EditCard),
    /// The card of a tool call: its text as far as it can be shown, and the whole result.
    Tool(String, String),
}

/// An edit as shown by its card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EditCard {
    pub(crate) path: Option<String>,
    pub(crate) lines: Vec<(LineKind, String)>,
    /// The edit of the session, once the answer was parsed.
    pub(crate) edit: Option<EditId>,
}

impl EditCard {
    fn as_diff(&self) -> String {
        let mark = |kind| match kind {
            LineKind::Insert => '+',
            LineKind::Delete => '-',
            LineKind::Keep | LineKind::Gap => ' ',
        };
        let lines = self.lines.iter().map(|(kind, text)| format!("{}{text}\n", mark(*kind)));
        lines.collect()
    }
}

impl Stop {
    pub(crate) fn copied(&self) -> String {
        match self {
            Self::Message(text) | Self::Thoughts(text) | Self::Block(text) => text.clone(),
            Self::Code(code) => code.text.clone(),
            Self::Card(card) => card.as_diff(),
            Self::Tool(text, result) => {
                if result.is_empty() {
                    text.clone()
                } else {
                    result.clone()
                }
            }
        }
    }

    /// The visible text, for a search.
    pub(crate) fn searched(&self) -> &str {
        match self {
            Self::Message(text) | Self::Thoughts(text) | Self::Block(text) | Self::Tool(text, _) => text,
            Self::Code(code) => &code.text,
            Self::Card(card) => card.path.as_deref().unwrap_or_default(),
        }
    }

    /// The subject of a sentence about the stop.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Message(_) => "The message",
            Self::Thoughts(_) => "What the model thought",
            Self::Block(_) => "The block",
            Self::Code(_) => "The code",
            Self::Card(_) => "The edit",
            Self::Tool(..) => "The result",
        }
    }
}

/// The stops of an entry in order; at least one.
pub(crate) fn stops(entry: &Entry) -> Vec<Stop> {
    let answer = match entry {
        Entry::Answer(answer) => answer,
        Entry::Tool(tool) => return vec![Stop::Tool(searched(tool), tool.result.clone())],
        _ => return vec![Stop::Message(text_of(entry))],
    };
    let mut view = AnswerView::default();
    view.update(&answer.text, answer.state != AnswerState::Streaming);
    view.settle(&answer.text, &answer.edits);
    let thoughts = (!answer.reasoning.is_empty()).then(|| Stop::Thoughts(answer.reasoning.clone()));
    let mut stops: Vec<Stop> = thoughts.into_iter().chain(view.stops()).collect();
    if stops.is_empty() {
        stops.push(Stop::Message(answer.text.clone()));
    }
    stops
}

pub(crate) fn text_of(entry: &Entry) -> String {
    let with = |first: &str, rest: &str| if rest.is_empty() { first.to_owned() } else { format!("{first}\n{rest}") };
    match entry {
        Entry::User { text, .. } | Entry::FollowUp { text, .. } | Entry::Shared { text, .. } => text.clone(),
        Entry::Answer(answer) => answer.text.clone(),
        Entry::Status(notice) => with(&notice.text, &notice.hint),
        Entry::Ran(ran) => with(&format!("$ {}", ran.line), &ran.excerpt("")),
        Entry::Tool(tool) => {
            let (name, summary) = tool.description();
            with(&format!("{name} {summary}"), &tool.result)
        }
        Entry::Steering { text } => text.clone(),
        Entry::Cleared => "not sent from here up".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::Answer;
    use rhumb_session::context::Mode;

    fn user(text: &str) -> Entry {
        Entry::User { text: text.into(), mode: Mode::Code, answered: true }
    }

    #[test]
    fn a_row_and_its_spot_are_each_others_inverse() {
        for stop_id in [StopId::default(), StopId { entry: 4_999, stop: 7 }] {
            assert_eq!(StopId::of_row(stop_id.row()), stop_id);
        }
    }

    #[test]
    fn a_search_goes_round_in_both_directions() {
        let entries = [user("tide"), user("none"), user("Tide and tide"), user("end")];
        let mut search = TranscriptSearch::new("tide", &entries).unwrap();
        let mut at = StopId { entry: 3, stop: 0 };
        let mut went = Vec::new();
        for forward in [false, false, false, false, true, true] {
            at = search.next(&entries, at, forward, false).unwrap();
            went.push((at.entry, search.nth));
        }
        assert_eq!(went, [(2, 1), (2, 0), (0, 0), (2, 1), (0, 0), (2, 0)]);
        assert_eq!(search.count(2), (Some(2), 2));
    }

    #[test]
    fn a_capital_makes_the_case_count() {
        let entries = [user("tide"), user("Tide")];
        assert_eq!(TranscriptSearch::new("Tide", &entries).unwrap().count(1), (Some(1), 1));
        assert_eq!(TranscriptSearch::new("ti.de", &entries).unwrap().count(0), (None, 0));
        assert!(TranscriptSearch::new("", &entries).is_none());
    }

    const ANSWER: &str = "First **this**.\n\n- one\n- two\n\n```sh\ncargo test\n```\n\na.py\n```python\n<<<<<<< SEARCH\nkept\nold = 1\n=======\nkept\nnew = 2\n>>>>>>> REPLACE\n```\n";

    fn answer(text: &str, reasoning: &str) -> Entry {
        let state = AnswerState::Complete;
        Entry::Answer(Answer {
            text: text.into(),
            reasoning: reasoning.into(),
            state,
            edits: Vec::new(),
            thinking: Vec::new(),
        })
    }

    #[test]
    fn an_answer_has_a_stop_for_each_of_its_parts() {
        let found = stops(&answer(ANSWER, "hm"));
        let names: Vec<&str> = found.iter().map(Stop::noun).collect();
        assert_eq!(names, ["What the model thought", "The block", "The block", "The code", "The edit"]);
        assert_eq!(found[3].copied(), "cargo test");
        assert_eq!(found[4].searched(), "a.py");
    }

    #[test]
    fn there_is_always_a_place_to_stand_on() {
        assert_eq!(stops(&answer("", "")).len(), 1);
        assert_eq!(stops(&Entry::Cleared).len(), 1);
    }
}
