//! Numbered locations in files, which a search found or an answer cites. `/show N` prints one of them.

use super::LineUi;
use rhumb_index::retrieval::{CitationTarget, Hit, Question};
use rhumb_session::{Citations, Effect, LookupEffect, LookupResponse, Response};
use rhumb_text::lines;
use std::sync::Arc;

/// Maximum number of listed passages.
const MAX_HITS: usize = 20;
/// Maximum number of printed lines of a location.
const MAX_LINES: usize = 60;

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Location {
    path: String,
    /// The first and the last line, 1-based and inclusive.
    lines: (usize, usize),
}

impl Location {
    /// The file and the lines, in the form of a citation.
    fn name(&self) -> String {
        match self.lines {
            (first, last) if last > first => format!("{}:{first}-{last}", self.path),
            (first, _) => format!("{}:{first}", self.path),
        }
    }
}

/// The numbered locations, and the citations that they come from.
#[derive(Debug, Default)]
pub(super) struct Locations {
    numbered: Vec<Location>,
    citations: Citations,
    /// The entry of the answer whose citations were printed last.
    printed_entry: Option<usize>,
    /// The location whose file is being read.
    reading: Option<Location>,
}

impl LineUi {
    pub(super) fn search(&mut self, words: &str) -> Vec<Effect> {
        if words.trim().is_empty() {
            self.out.line("/search needs words, for example: /search where are retries decided");
            return Vec::new();
        }
        vec![Effect::Lookup(LookupEffect::Search(Question::new(words.trim(), MAX_HITS)))]
    }

    /// Requests the files that new answers cite.
    pub(super) fn check_citations(&mut self) {
        let effects = self.locations.citations.update(self.session.transcript(), self.session.paths());
        self.perform(effects);
    }

    pub(super) fn skip_citations(&mut self) {
        self.locations.printed_entry = self.session.transcript().len().checked_sub(1);
    }

    /// Prints the citations of the newest answer once they are checked.
    pub(super) fn print_citations(&mut self) {
        let last = self.session.transcript().len();
        let printed = self.locations.printed_entry.filter(|printed| *printed < last);
        self.locations.printed_entry = printed;
        let citations = &self.locations.citations;
        let Some(entry) = citations.newest().filter(|entry| printed.is_none_or(|printed| printed < *entry)) else {
            return;
        };
        let mut rows: Vec<(Location, String)> = Vec::new();
        for citation in citations.of(entry) {
            let (CitationTarget::Lines(paths) | CitationTarget::Uncounted(paths)) = citations.target(entry, citation)
            else {
                continue;
            };
            let lines = (citation.first as usize, citation.last as usize);
            for location in paths.into_iter().map(|path| Location { path, lines }) {
                if !rows.iter().any(|(known, _)| *known == location) {
                    rows.push((location, String::new()));
                }
            }
        }
        let remark = citations.remarks().get(&entry).cloned();
        self.locations.printed_entry = Some(entry);
        if !rows.is_empty() {
            self.out.line("The answer cites:");
            self.number_locations(rows);
        }
        self.out.lines(remark.map(|remark| format!("warning: {remark}.")));
    }

    /// Numbers locations and prints each with its description.
    fn number_locations(&mut self, rows: Vec<(Location, String)>) {
        for (number, (location, description)) in rows.iter().enumerate() {
            let separator = if description.is_empty() { "" } else { ", " };
            self.out.line(&format!("{}. {}{separator}{description}", number + 1, location.name()));
        }
        self.out.line("/show and a number prints the lines.");
        self.locations.numbered = rows.into_iter().map(|(location, _)| location).collect();
    }

    /// Prints the results of searches and of `/show`.
    pub(super) fn print_lookup(&mut self, response: &Response) {
        self.locations.citations.note(response);
        match response {
            Response::LookedUp(LookupResponse::Found { hits: None, .. }) => {
                self.out.line("The repository is not indexed yet.");
            }
            Response::LookedUp(LookupResponse::Found { hits: Some(hits), .. }) if hits.is_empty() => {
                self.out.line("No passage matches.");
            }
            Response::LookedUp(LookupResponse::Found { hits: Some(hits), .. }) => {
                self.number_locations(hits.iter().map(row).collect());
            }
            Response::LookedUp(LookupResponse::File { path, text }) => self.print_location(path, text),
            _ => {}
        }
    }

    /// Reads the file of a numbered location, to print it.
    pub(super) fn show_location(&mut self, number: &str) {
        let numbered = &self.locations.numbered;
        let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(location) = at.and_then(|at| numbered.get(at)).cloned() else {
            self.out.line(&match numbered.len() {
                0 => "There are no numbered locations yet: /search finds some, and answers cite some.".to_owned(),
                count => format!("There is no location {number}. Locations are numbered from 1 to {count}."),
            });
            return;
        };
        let effect = Effect::Lookup(LookupEffect::File(location.path.clone()));
        self.locations.reading = Some(location);
        self.perform(vec![effect]);
    }

    fn print_location(&mut self, path: &str, text: &Result<Arc<str>, String>) {
        let Some(location) = self.locations.reading.take_if(|location| location.path == path) else { return };
        let text = match text {
            Ok(text) => text,
            Err(error) => return self.out.line(&format!("error: {path} cannot be shown: {error}")),
        };
        let (first, last) = location.lines;
        let all = lines::split(text);
        let shown = all.iter().enumerate().skip(first.saturating_sub(1)).take(last.saturating_sub(first) + 1);
        self.out.line(&format!("{}:", location.name()));
        self.out.lines(shown.take(MAX_LINES).map(|(at, line)| format!("{} {}", at + 1, lines::body(line))));
        let more = (last + 1).min(all.len() + 1).saturating_sub(first + MAX_LINES);
        if more > 0 {
            self.out.line(&format!("{more} more lines"));
        }
        self.out.line("end of text");
    }
}

fn row(hit: &Hit) -> (Location, String) {
    let location = Location { path: hit.path.to_string(), lines: (hit.line as usize, hit.end_line as usize) };
    let kind = hit.kind.map_or("", |kind| kind.as_str());
    (location, hit.symbol.as_deref().map_or_else(String::new, |symbol| format!("{kind} {symbol}")))
}
