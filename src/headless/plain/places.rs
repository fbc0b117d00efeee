//! Places in files by number: what a search found, or what an answer cites. `/show N` prints one of them with its lines.

use std::sync::Arc;

use super::desk::Desk;
use rhumb_index::retrieval::{CitationTarget, Hit, Question};
use rhumb_session::{Citations, Effect, LookupEffect, LookupResponse, Response};
use rhumb_text::lines;

/// Passages that are listed.
const MOST_HITS: usize = 20;
/// Lines of a place that are printed.
const MOST_LINES: usize = 60;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The file.
    pub(super) path: String,
    /// Its first and last line, 1-based and inclusive.
    pub(super) lines: (usize, usize),
}

impl Place {
    /// The file and the lines, as an answer cites them.
    pub(super) fn name(&self) -> String {
        match self.lines {
            (first, last) if last > first => format!("{}:{first}-{last}", self.path),
            (first, _) => format!("{}:{first}", self.path),
        }
    }
}

/// The places that have numbers, and the one that is being read to be printed.
#[derive(Debug, Default)]
pub(super) struct Places {
    numbered: Vec<Place>,
    /// What answers cite.
    citing: Citations,
    /// The entry of the answer whose citations were read out last.
    told: Option<usize>,
    reading: Option<Place>,
}

impl Desk {
    /// Looks for passages.
    pub(super) fn search(&mut self, words: &str) -> Vec<Effect> {
        if words.trim().is_empty() {
            self.voice.line("Say what to look for: /search where are retries decided");
            return Vec::new();
        }
        vec![Effect::Lookup(LookupEffect::Search(Question::new(words.trim(), MOST_HITS)))]
    }

    /// Has the files read that new answers cite.
    pub(super) fn check_citations(&mut self) {
        let effects = self.places.citing.update(self.session.transcript(), self.session.paths());
        self.perform(effects);
    }

    /// What was said before is not read out again.
    pub(super) fn forget_citations(&mut self) {
        self.places.told = self.session.transcript().len().checked_sub(1);
    }

    /// Reads out what the newest answer cites, once that is checked.
    pub(super) fn tell_citations(&mut self) {
        let last = self.session.transcript().len();
        self.places.told = self.places.told.filter(|told| *told < last);
        let Some(entry) = self.places.citing.newest().filter(|entry| self.places.told.is_none_or(|told| told < *entry))
        else {
            return;
        };
        self.places.told = Some(entry);
        let citing = &self.places.citing;
        let mut rows: Vec<(Place, String)> = Vec::new();
        for citation in citing.of(entry) {
            let (CitationTarget::Lines(paths) | CitationTarget::Uncounted(paths)) = citing.target(entry, citation)
            else {
                continue;
            };
            let lines = (citation.first as usize, citation.last as usize);
            for place in paths.into_iter().map(|path| Place { path, lines }) {
                if !rows.iter().any(|(known, _)| *known == place) {
                    rows.push((place, String::new()));
                }
            }
        }
        let remark = citing.remarks().get(&entry).cloned();
        if !rows.is_empty() {
            self.voice.line("The answer cites:");
            self.number_places(rows);
        }
        self.voice.lines(remark.map(|remark| format!("warning: {remark}.")));
    }

    /// Gives places their numbers, and reads out what each is.
    pub(super) fn number_places(&mut self, rows: Vec<(Place, String)>) {
        for (number, (place, what)) in rows.iter().enumerate() {
            let what = if what.is_empty() { String::new() } else { format!(", {what}") };
            self.voice.line(&format!("{}. {}{what}", number + 1, place.name()));
        }
        self.voice.line("/show and a number prints the lines.");
        self.places.numbered = rows.into_iter().map(|(place, _)| place).collect();
    }

    /// Takes note of what was found or read.
    pub(super) fn note_places(&mut self, report: &Response) {
        self.places.citing.note(report);
        match report {
            Response::LookedUp(LookupResponse::Found { hits: None, .. }) => {
                self.voice.line("Nothing is known of the repository yet.");
            }
            Response::LookedUp(LookupResponse::Found { hits: Some(hits), .. }) if hits.is_empty() => {
                self.voice.line("No passage speaks of that.");
            }
            Response::LookedUp(LookupResponse::Found { hits: Some(hits), .. }) => {
                self.number_places(hits.iter().map(row).collect());
            }
            Response::LookedUp(LookupResponse::File { path, text }) => self.print_place(path, text),
            _ => {}
        }
    }

    /// Reads the place of a number, to be printed.
    pub(super) fn show_place(&mut self, number: &str) {
        let count = self.places.numbered.len();
        let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(place) = at.and_then(|at| self.places.numbered.get(at)).cloned() else {
            self.voice.line(&match count {
                0 => "No place has a number yet: /search finds some, and answers cite some.".to_owned(),
                _ => format!("There is no place {number}. Places are numbered from 1 to {count}."),
            });
            return;
        };
        let effect = Effect::Lookup(LookupEffect::File(place.path.clone()));
        self.places.reading = Some(place);
        self.perform(vec![effect]);
    }

    fn print_place(&mut self, path: &str, text: &Result<Arc<str>, String>) {
        let Some(place) = self.places.reading.take_if(|place| place.path == path) else { return };
        let text = match text {
            Ok(text) => text,
            Err(why) => return self.voice.line(&format!("error: {path} cannot be shown: {why}")),
        };
        let (first, last) = place.lines;
        let all = lines::split(text);
        let shown = all.iter().enumerate().skip(first.saturating_sub(1)).take(last.saturating_sub(first) + 1);
        self.voice.line(&format!("{}:", place.name()));
        for (at, line) in shown.take(MOST_LINES) {
            self.voice.line(&format!("{} {}", at + 1, lines::body(line)));
        }
        let more = (last + 1).min(all.len() + 1).saturating_sub(first + MOST_LINES);
        if more > 0 {
            self.voice.line(&format!("{more} more lines"));
        }
        self.voice.line("end of text");
    }
}

fn row(hit: &Hit) -> (Place, String) {
    let place = Place { path: hit.path.to_string(), lines: (hit.line as usize, hit.end_line as usize) };
    let kind = hit.kind.map_or("", |kind| kind.as_str());
    (place, hit.symbol.as_deref().map_or_else(String::new, |symbol| format!("{kind} {symbol}")))
}
