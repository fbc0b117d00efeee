//! What answers cite: which places of the repository they name, and whether these are there. Files that an answer cites are read once,
//! when it has come; until then its citations are neither right nor wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::effect::{Effect, Response};
use crate::repository::lookup::{LookupEffect, LookupResponse};
use crate::transcript::{AnswerState, Entry, EntryVersion, Transcript};
use rhumb_index::retrieval::{Citation, CitationTarget, FileNames, citations};
use rhumb_text::lines;

/// Answers whose citations are checked, counted from the newest: those of a long session that is gone on with are history.
const MOST_ANSWERS: usize = 20;
/// Citations of one answer that are looked at.
const MOST_CITATIONS: usize = 200;
/// Files that are read for one answer at most.
const MOST_FILES: usize = 40;
/// Bad citations that are named; the rest is counted.
const MOST_NAMED: usize = 3;

/// What is known of a cited file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    /// It is being read.
    Reading,
    /// It has so many lines.
    Lines(u32),
    /// It cannot be read, so nothing can be said of its lines.
    Unknown,
}

/// The citations of an answer.
#[derive(Debug)]
struct Cited {
    /// The id of the answer's entry, and the bytes of its text.
    key: (u64, usize),
    all: Vec<Citation>,
    /// The files that they lead to, as they were when it came: what is written later makes no answer wrong.
    counts: BTreeMap<String, Count>,
}

/// The citations of all answers.
#[derive(Debug, Default)]
pub struct Citations {
    names: FileNames,
    answers: BTreeMap<usize, Cited>,
    /// Something has changed since the remarks were made.
    stale: bool,
    remarks: BTreeMap<usize, String>,
}

impl Citations {
    /// Takes in the transcript and the list of files. Returns effects that read the files which new answers cite.
    pub fn update(&mut self, entries: &Transcript, paths: &Arc<Vec<String>>) -> Vec<Effect> {
        // The text of an answer only grows, so its length tells whether it is the same.
        let complete = |(entry, version): (&Entry, &EntryVersion)| match entry {
            Entry::Answer(answer) if answer.state != AnswerState::Streaming => Some((version.id, answer.text.len())),
            _ => None,
        };
        let key = |at: usize| entries.get(at).zip(entries.versions().get(at)).and_then(complete);
        let known = |at: &usize, cited: &mut Cited| key(*at) == Some(cited.key);
        let before = self.answers.len();
        self.answers.retain(known);
        self.stale |= before != self.answers.len();
        let mut effects = Vec::new();
        if paths.is_empty() {
            self.refresh();
            return effects;
        }
        let newest = entries.iter().enumerate().rev().filter_map(|(at, entry)| Some((at, key(at)?, entry)));
        let new: Vec<_> = newest.take(MOST_ANSWERS).filter(|(at, ..)| !self.answers.contains_key(at)).collect();
        if !new.is_empty() && !self.names.is_of(paths) {
            self.names = FileNames::new(paths);
        }
        for (at, key, entry) in new {
            let Entry::Answer(answer) = entry else { continue };
            let mut all = citations(&answer.text);
            all.retain(|citation| self.names.is_citation(citation));
            all.truncate(MOST_CITATIONS);
            let files: Vec<String> =
                all.iter().flat_map(|citation| self.names.files(&citation.path)).map(str::to_owned).collect();
            for file in &files[..files.len().min(MOST_FILES)] {
                let is_read = |cited: &Cited| cited.counts.get(file) == Some(&Count::Reading);
                let order = Effect::Lookup(LookupEffect::File(file.clone()));
                if !self.answers.values().any(is_read) && !effects.contains(&order) {
                    effects.push(order);
                }
            }
            let counts = files.into_iter().take(MOST_FILES).map(|file| (file, Count::Reading)).collect();
            self.answers.insert(at, Cited { key, all, counts });
            self.stale = true;
        }
        self.refresh();
        effects
    }

    /// Whether any answer cites anything.
    pub fn any(&self) -> bool {
        self.answers.values().any(|cited| !cited.all.is_empty())
    }

    /// Takes note of a file that was read.
    pub fn note(&mut self, report: &Response) {
        let Response::LookedUp(LookupResponse::File { path, text }) = report else { return };
        let awaits = |cited: &&mut Cited| cited.counts.get(path) == Some(&Count::Reading);
        for cited in self.answers.values_mut().filter(awaits) {
            let count = text.as_ref().map_or(Count::Unknown, |text| {
                Count::Lines(u32::try_from(lines::split(text).len()).unwrap_or(u32::MAX))
            });
            cited.counts.insert(path.clone(), count);
            self.stale = true;
        }
        self.refresh();
    }

    /// The citations of an answer, in order.
    pub fn of(&self, entry: usize) -> &[Citation] {
        self.answers.get(&entry).map_or(&[], |cited| &cited.all)
    }

    /// The newest answer whose citations are all checked, and that has any.
    pub fn newest(&self) -> Option<usize> {
        let is_checked = |(_, cited): &(&usize, &Cited)| {
            !cited.all.is_empty() && cited.counts.values().all(|count| *count != Count::Reading)
        };
        self.answers.iter().rev().find(is_checked).map(|(at, _)| *at)
    }

    /// The citations of a part of a text, in order.
    pub fn within(&self, text: &str) -> Vec<Citation> {
        citations(text).into_iter().filter(|citation| self.names.is_citation(citation)).collect()
    }

    /// Where a citation of an answer leads, as far as it is known.
    pub fn aim(&self, entry: usize, citation: &Citation) -> CitationTarget {
        let counts = self.answers.get(&entry).map(|cited| &cited.counts);
        self.names.aim(citation, |path| match counts?.get(path)? {
            Count::Lines(count) => Some(*count),
            Count::Reading | Count::Unknown => None,
        })
    }

    /// What is to be said below each answer that cites places which are not there, by entry.
    pub fn remarks(&self) -> &BTreeMap<usize, String> {
        &self.remarks
    }

    fn refresh(&mut self) {
        if std::mem::take(&mut self.stale) {
            let remark = |(at, cited): (&usize, &Cited)| Some((*at, self.remark(*at, &cited.all)?));
            self.remarks = self.answers.iter().filter_map(remark).collect();
        }
    }

    /// How many citations lead nowhere, and the first of these; `None` if all lead somewhere.
    fn remark(&self, entry: usize, all: &[Citation]) -> Option<String> {
        let mut bad: Vec<String> = Vec::new();
        let mut count = 0;
        for citation in all {
            let why = match self.aim(entry, citation) {
                CitationTarget::NoFile => "no such file".to_owned(),
                CitationTarget::Beyond(_, 1) => "the file has 1 line".to_owned(),
                CitationTarget::Beyond(_, lines) => format!("the file has {lines} lines"),
                CitationTarget::Lines(_) | CitationTarget::Uncounted(_) => continue,
            };
            count += 1;
            let named = format!("{} ({why})", citation.name());
            if !bad.contains(&named) {
                bad.push(named);
            }
        }
        if count == 0 {
            return None;
        }
        let more = if bad.len() > MOST_NAMED { ", …" } else { "" };
        bad.truncate(MOST_NAMED);
        let (noun, verb) = if count == 1 { ("citation", "points") } else { ("citations", "point") };
        let noun = if all.len() == 1 { noun } else { "citations" };
        Some(format!("{count} of {} {noun} {verb} nowhere: {}{more}", all.len(), bad.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Answer;

    fn answer(text: &str, state: AnswerState) -> Entry {
        Entry::Answer(Answer { text: text.into(), reasoning: String::new(), state, edits: Vec::new() })
    }

    fn read(path: &str, count: usize) -> Response {
        Response::LookedUp(LookupResponse::File { path: path.into(), text: Ok("x\n".repeat(count).into()) })
    }

    #[test]
    fn a_whole_answer_is_checked_against_the_files_that_it_cites() {
        let paths = Arc::new(vec!["a.rs".to_owned(), "b.rs".to_owned(), "c.bin".to_owned()]);
        let text = "See `a.rs:3`, a.rs:9-12, gone.rs:1 and c.bin:4.";
        let mut citing = Citations::default();
        assert!(
            citing.update(&[answer(text, AnswerState::Streaming)].into_iter().collect(), &paths).is_empty(),
            "more may come"
        );
        let entries: Transcript = [answer(text, AnswerState::Complete)].into_iter().collect();
        let wanted = citing.update(&entries, &paths);
        let of = |path: &str| Effect::Lookup(LookupEffect::File(path.into()));
        assert_eq!(wanted, [of("a.rs"), of("c.bin")], "each once, and none that is not cited");
        assert!(citing.update(&entries, &paths).is_empty());
        assert_eq!(
            citing.remarks().get(&0).map(String::as_str),
            Some("1 of 4 citations points nowhere: gone.rs:1 (no such file)")
        );
        citing.note(&read("a.rs", 10));
        citing.note(&Response::LookedUp(LookupResponse::File { path: "c.bin".into(), text: Err("binary".into()) }));
        let told = "2 of 4 citations point nowhere: a.rs:9-12 (the file has 10 lines), gone.rs:1 (no such file)";
        assert_eq!(citing.remarks().get(&0).map(String::as_str), Some(told));
        assert_eq!(citing.aim(0, &citing.of(0)[0]), CitationTarget::Lines(vec!["a.rs".into()]));
        assert!(citing.any());
        assert!(
            citing.update(&Transcript::default(), &paths).is_empty()
                && !citing.any()
                && citing.remarks().is_empty()
                && citing.of(0).is_empty()
        );
    }

    #[test]
    fn what_is_right_is_not_remarked_on() {
        let paths = Arc::new(vec!["a.rs".to_owned()]);
        let mut citing = Citations::default();
        citing.update(
            &[answer("a.rs:1, at 12:30, on localhost:80", AnswerState::Complete)].into_iter().collect(),
            &paths,
        );
        citing.note(&read("a.rs", 1));
        assert!(citing.remarks().is_empty() && citing.of(0).len() == 1);
    }
}
