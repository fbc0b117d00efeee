//! The reading state of the transcript: cursor, search, and unfolded reasoning.

use std::collections::BTreeSet;
use std::ops::Range;

use ratatui::text::Line;
use regex::{Regex, RegexBuilder};
use rhumb_index::retrieval::Citation;

use super::stops::{Stop, stops, text_of};
use crate::tui::view::ViewCache;
use crate::tui::widget::input::LineInput;
use rhumb_session::{Citations, Entry, Question, Response};

/// A place in the transcript where the cursor can stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StopId {
    /// The entry.
    pub entry: usize,
    /// Which of its stops.
    pub stop: usize,
}

/// The bits of a row's number that tell the stop.
const STOP_BITS: u32 = 12;

/// The row of the mark that tells of lines below.
pub const NEW_LINES_ROW: usize = usize::MAX;

impl StopId {
    /// Its number among the rows of the chat, for clicks.
    pub fn row(self) -> usize {
        (self.entry << STOP_BITS) | self.stop.min((1 << STOP_BITS) - 1)
    }

    /// The spot of such a number.
    pub fn of_row(row: usize) -> Self {
        Self { entry: row >> STOP_BITS, stop: row & ((1 << STOP_BITS) - 1) }
    }
}

/// What the next frame has to show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Focus<'a> {
    /// Where.
    pub(super) stop_id: StopId,
    /// Whether the view moves to it; else it stays where it is.
    pub(super) follow: bool,
    /// Whether it is to stand at the top.
    pub(super) top: bool,
    /// What is searched for, and which of the places in the stop is meant (0-based).
    pub(super) search: Option<(&'a Regex, usize)>,
}

impl Focus<'_> {
    /// The lines that must be seen: those of the stop, or the one in it where what is searched for stands.
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

/// A search in the transcript.
#[derive(Debug)]
pub struct Search {
    /// What was typed.
    pub query: String,
    /// It, as it is looked for.
    pub(super) needle: Regex,
    /// The entries that hold it, in order.
    found: Vec<usize>,
    /// Which of the places in the stop under the cursor is meant.
    pub(super) nth: usize,
}

impl Search {
    /// Looks for a text: letter case counts only if a capital was typed.
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

    /// Looks again: the transcript has grown or shrunk.
    pub(super) fn refresh(&mut self, entries: &[Entry]) {
        let holds = |entry: &Entry| match entry {
            Entry::Answer(answer) => self.needle.is_match(&answer.text) || self.needle.is_match(&answer.reasoning),
            Entry::User { text, .. } | Entry::FollowUp { text, .. } | Entry::Shared { text, .. } => {
                self.needle.is_match(text)
            }
            entry => self.needle.is_match(&text_of(entry)),
        };
        self.found = entries.iter().enumerate().filter(|(_, entry)| holds(entry)).map(|(at, _)| at).collect();
    }

    /// How many messages hold it, and which of them (1-based) is that entry.
    pub(super) fn count(&self, entry: usize) -> (Option<usize>, usize) {
        (self.found.binary_search(&entry).ok().map(|at| at + 1), self.found.len())
    }

    /// The next stop in that direction, with wrap-around. `None` if there is none. With `here`, the stop under the
    /// cursor counts.
    pub(super) fn next(&mut self, entries: &[Entry], from: StopId, forward: bool, here: bool) -> Option<StopId> {
        let within = |places: &[(usize, usize)], at: Option<(usize, usize)>| match (at, forward) {
            (None, true) => places.first().copied(),
            (None, false) => places.last().copied(),
            (Some(at), true) => places.iter().find(|place| **place > at || (here && **place == at)).copied(),
            (Some(at), false) => places.iter().rev().find(|place| **place < at || (here && **place == at)).copied(),
        };
        let own = entries.get(from.entry).map(|entry| self.places(entry)).unwrap_or_default();
        // Within the stop any place will do to begin with.
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

    /// Where it stands in an entry: the stop, and which of the places there.
    fn places(&self, entry: &Entry) -> Vec<(usize, usize)> {
        let all = stops(entry);
        let of = |(at, stop): (usize, &Stop)| {
            let count = self.needle.find_iter(stop.searched()).count();
            (0..count).map(move |nth| (at, nth))
        };
        all.iter().enumerate().flat_map(of).collect()
    }
}

/// A message of an earlier turn that is in the composer, to be changed and sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rerun {
    /// The number of its turn, 1-based.
    pub turn: usize,
    /// Its entry.
    pub entry: usize,
}

/// Whether a model that writes `named` may mean the file of that path.
pub(super) fn is_path(path: &str, named: &str) -> bool {
    let named = named.trim_start_matches("./");
    path == named || path.strip_suffix(named).is_some_and(|before| before.ends_with('/') && !named.is_empty())
}

/// The state of the chat pane.
#[derive(Debug, Default)]
pub struct ChatPane {
    /// Lines below the last visible one; 0 follows the newest text.
    pub(super) from_bottom: usize,
    /// Whether the reasoning of the model is shown in full.
    pub(super) thoughts: bool,
    /// Whether the welcome card of the first start is shown.
    pub(super) welcome: bool,
    /// The question that was shown in full in the last frame. A key answers no other question.
    pub(super) seen_question: Option<Question>,
    /// Reading in the transcript.
    pub(super) reading: Reading,
    /// What the answers cite.
    pub(super) citing: Citations,
}

impl ChatPane {
    /// Lines below the last visible one; 0 at the end of the transcript.
    pub fn from_bottom(&self) -> usize {
        self.from_bottom
    }

    /// Follows the end of the transcript.
    pub fn scroll_to_end(&mut self) {
        self.from_bottom = 0;
    }

    /// Scrolls up by that many lines; down if negative.
    pub fn scroll_up(&mut self, lines: isize) {
        self.from_bottom = self.from_bottom.saturating_add_signed(lines);
    }

    /// Whether keys move the cursor in the transcript.
    pub fn is_reading(&self) -> bool {
        self.reading.on
    }

    /// Whether the reasoning of an answer is shown or hidden against the setting for all.
    #[cfg(test)]
    pub fn has_toggled_thoughts(&self) -> bool {
        !self.reading.toggled.is_empty()
    }

    /// Whether the transcript is being searched.
    pub fn is_searching(&self) -> bool {
        self.reading.search.is_some()
    }

    /// Whether an answer cites a place in the code.
    pub fn has_citations(&self) -> bool {
        self.citing.any()
    }

    /// Shows or hides the welcome card.
    pub fn set_welcome(&mut self, welcome: bool) {
        self.welcome = welcome;
    }

    /// Whether the last frame showed this question in full.
    pub fn has_shown(&self, question: &Question) -> bool {
        self.seen_question.as_ref() == Some(question)
    }

    /// Takes in a report that may answer a lookup of citations.
    pub fn note(&mut self, report: &Response) {
        self.citing.note(report);
    }

    /// Takes in what a frame showed.
    pub fn drawn(&mut self, cache: &ViewCache) {
        self.seen_question.clone_from(&cache.question);
        self.from_bottom = cache.chat.from_bottom;
        self.reading.drawn(cache.chat.seen());
    }
}

/// The state of reading.
#[derive(Debug, Default)]
pub struct Reading {
    /// Whether keys are for the transcript, and not for the composer.
    pub(super) on: bool,
    /// Where the cursor stands.
    pub(super) stop_id: StopId,
    /// Whether the next frame must bring it into view, and at its top.
    pub(super) follow: bool,
    pub(super) top: bool,
    /// Entries whose thoughts are shown where those of others are not, or the other way round.
    pub(super) toggled: BTreeSet<usize>,
    /// What is searched for.
    pub(super) search: Option<Search>,
    /// What is being typed to search for.
    pub(super) typing: Option<LineInput>,
    /// The message that is asked again when the composer is sent.
    pub(super) rerun: Option<Rerun>,
    /// The link under the cursor: its stop, its number among the links of the stop, and its citation.
    link: Option<(StopId, usize, Citation)>,
    /// The stops that the last frame showed.
    pub(super) seen: Vec<crate::tui::chat_pane::VisibleStop>,
}

impl Reading {
    /// What the next frame has to show; `None` if it is free to stand anywhere.
    pub(super) fn focus(&self) -> Option<Focus<'_>> {
        let search = self.search.as_ref().filter(|_| self.on).map(|search| (&search.needle, search.nth));
        let focus = Focus { stop_id: self.stop_id, follow: self.follow, top: self.top, search };
        (self.on || self.follow).then_some(focus)
    }

    /// Takes in what a frame showed: a cursor that was scrolled out of view comes along.
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

    /// Puts the cursor on a link of a stop.
    pub(super) fn set_link(&mut self, stop_id: StopId, at: usize, citation: Citation) {
        self.link = Some((stop_id, at, citation));
    }

    /// Which of the links of a stop the cursor is on.
    pub(super) fn link_at(&self, stop_id: StopId) -> Option<usize> {
        self.link.as_ref().filter(|(of, ..)| self.on && *of == stop_id && self.stop_id == stop_id).map(|(_, at, _)| *at)
    }

    /// The link that the cursor is on, if it is in that entry.
    pub(super) fn link_in(&self, entry: usize) -> Option<&Citation> {
        let here = |(of, ..): &&(StopId, usize, Citation)| self.on && *of == self.stop_id && of.entry == entry;
        self.link.as_ref().filter(here).map(|(.., citation)| citation)
    }

    /// How many lines of the stop under the cursor were out of view: above, and below.
    pub(super) fn hidden(&self) -> (usize, usize) {
        self.seen.iter().find(|seen| seen.stop_id == self.stop_id).map_or((0, 0), |seen| seen.hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let mut search = Search::new("tide", &entries).unwrap();
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
        assert_eq!(Search::new("Tide", &entries).unwrap().count(1), (Some(1), 1));
        assert_eq!(Search::new("ti.de", &entries).unwrap().count(0), (None, 0));
        assert!(Search::new("", &entries).is_none());
    }
}
