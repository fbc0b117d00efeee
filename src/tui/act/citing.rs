//! Citations of answers: they are checked when an answer has come, gone to from one to the next, and opened.

use crate::tui::app::{App, Task, run};
use crate::tui::overlay::Place;
use crate::tui::pane::stops::{Stop, stops};
use crate::tui::reading::Spot;
use rhumb_index::retrieval::{Citation, CitationTarget};

impl App {
    /// Checks what new answers cite.
    pub(crate) fn cite_anew(&mut self) -> Vec<Task> {
        run(self.citing.update(&self.session.transcript, &self.session.paths))
    }

    /// The citations of what a stop says.
    fn cited_at(&self, spot: Spot) -> Vec<Citation> {
        let Some(entry) = self.session.transcript.get(spot.entry) else { return Vec::new() };
        if self.citing.of(spot.entry).is_empty() {
            return Vec::new();
        }
        match stops(entry).into_iter().nth(spot.stop) {
            Some(Stop::Block(text) | Stop::Message(text)) => self.citing.within(&text),
            Some(Stop::Code(code)) => self.citing.within(&code.text),
            Some(Stop::Thoughts(_) | Stop::Card(_)) | None => Vec::new(),
        }
    }

    /// Goes to the next link in the transcript, or the one before.
    pub(super) fn next_link(&mut self, forward: bool) {
        let spot = self.reading.spot;
        let here = self.cited_at(spot);
        let beside = match (self.reading.link_at(spot), forward) {
            (None, true) => Some(0),
            (None, false) => here.len().checked_sub(1),
            (Some(at), true) => Some(at + 1),
            (Some(at), false) => at.checked_sub(1),
        };
        if let Some((at, citation)) = beside.and_then(|at| Some((at, here.get(at)?.clone()))) {
            return self.go_to_link(spot, at, citation);
        }
        match self.stops_with_links(spot, forward).and_then(|(spot, cited)| {
            let at = if forward { 0 } else { cited.len().checked_sub(1)? };
            Some((spot, at, cited.get(at)?.clone()))
        }) {
            Some((spot, at, citation)) => self.go_to_link(spot, at, citation),
            None => self.hint = format!("there is no link {}", if forward { "further down" } else { "further up" }),
        }
    }

    /// The next stop in that direction that cites something.
    fn stops_with_links(&self, from: Spot, forward: bool) -> Option<(Spot, Vec<Citation>)> {
        let cites = |entry: &usize| !self.citing.of(*entry).is_empty();
        let count = self.session.transcript.len();
        let entries: Vec<usize> = match forward {
            true => (from.entry..count).filter(cites).collect(),
            false => (0..count.min(from.entry + 1)).rev().filter(cites).collect(),
        };
        entries.into_iter().find_map(|entry| {
            let all = self.session.transcript.get(entry).map_or(0, |entry| stops(entry).len());
            let mut spots: Vec<Spot> = (0..all).map(|stop| Spot { entry, stop }).collect();
            spots.retain(|spot| if forward { *spot > from } else { *spot < from });
            if !forward {
                spots.reverse();
            }
            let cited = spots.into_iter().map(|spot| (spot, self.cited_at(spot)));
            cited.into_iter().find(|(_, cited)| !cited.is_empty())
        })
    }

    fn go_to_link(&mut self, spot: Spot, at: usize, citation: Citation) {
        self.go_to_spot(spot);
        self.hint = match self.why_nowhere(spot.entry, &citation) {
            Some(why) => why,
            None => format!("{} shows {}", self.keys.first(crate::tui::action::Action::Follow), citation.name()),
        };
        self.reading.set_link(spot, at, citation);
    }

    /// Opens the link under the cursor, or the first one of the block; `None` if there is none.
    pub(super) fn follow_link(&mut self) -> Option<Vec<Task>> {
        let spot = self.reading.spot;
        let cited = self.cited_at(spot);
        let citation = cited.get(self.reading.link_at(spot).unwrap_or(0))?;
        Some(self.open_citation(spot.entry, citation))
    }

    /// Opens a citation of an answer that was clicked on.
    pub(crate) fn click_citation(&mut self, entry: usize, at: usize) -> Vec<Task> {
        match self.citing.of(entry).get(at).cloned() {
            Some(citation) => self.open_citation(entry, &citation),
            None => Vec::new(),
        }
    }

    /// Why a citation leads nowhere, in words.
    fn why_nowhere(&self, entry: usize, citation: &Citation) -> Option<String> {
        match self.citing.aim(entry, citation) {
            CitationTarget::NoFile => Some(format!("there is no file {} in the repository", citation.path)),
            CitationTarget::Beyond(path, 1) => Some(format!("{path} has 1 line: there is no {}", citation.name())),
            CitationTarget::Beyond(path, lines) => {
                Some(format!("{path} has {lines} lines: there is no {}", citation.name()))
            }
            CitationTarget::Lines(_) | CitationTarget::Uncounted(_) => None,
        }
    }

    /// Shows the place that is cited, and behind it the others that the answer cites.
    fn open_citation(&mut self, entry: usize, citation: &Citation) -> Vec<Task> {
        let mut places: Vec<Place> = self.places_of(entry, citation);
        let why = self.why_nowhere(entry, citation);
        if places.is_empty() {
            self.hint = why.unwrap_or_default();
            return Vec::new();
        }
        let all = self.citing.of(entry).to_vec();
        let is_it = |other: &Citation| other.is_same(citation);
        let here = all.iter().position(is_it).map_or(0, |at| at + 1);
        let (before, behind) = all.split_at(here.min(all.len()));
        for other in behind.iter().chain(before).filter(|other| !is_it(other)) {
            if !self.citing.aim(entry, other).is_broken() {
                places.extend(
                    self.places_of(entry, other)
                        .into_iter()
                        .filter(|place| !places.contains(place))
                        .collect::<Vec<_>>(),
                );
            }
        }
        let tasks = self.peek_at(places);
        self.hint = why.unwrap_or_default();
        tasks
    }

    /// The places that a citation leads to. Beyond the end of a file that is its end.
    fn places_of(&self, entry: usize, citation: &Citation) -> Vec<Place> {
        let place = |path: &String| Place {
            path: path.clone(),
            line: Some(citation.first),
            end: Some(citation.last),
            name: String::new(),
        };
        match self.citing.aim(entry, citation) {
            CitationTarget::Lines(paths) | CitationTarget::Uncounted(paths) => paths.iter().map(place).collect(),
            CitationTarget::Beyond(path, lines) => {
                vec![Place::at(&path, Some(lines), &format!("no line {}, this is the end", citation.last))]
            }
            CitationTarget::NoFile => Vec::new(),
        }
    }
}
