//! Citations: the locations in the repository that answers cite, and whether they exist. The files that an answer cites are read
//! once, when the answer is complete. Until then, its citations are neither valid nor invalid.

use crate::{Effect, Entry, EntryVersion, LookupEffect, LookupResponse, Response, Transcript};
use rhumb_index::retrieval::{Citation, CitationTarget, FileNames, citations};
use rhumb_text::lines;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of answers that are checked, newest first.
const MAX_ANSWERS: usize = 20;
/// The maximum number of citations of one answer that are checked.
const MAX_CITATIONS: usize = 200;
/// The maximum number of files that are read for one answer.
const MAX_FILES: usize = 40;
/// The maximum number of invalid citations that a remark names.
const MAX_NAMED: usize = 3;

/// The number of lines of a cited file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineCount {
    Reading,
    Known(u32),
    /// The file cannot be read.
    Unknown,
}

#[derive(Debug)]
struct AnswerCitations {
    /// The id of the entry and the length of its text.
    key: (u64, usize),
    citations: Vec<Citation>,
    /// The cited files at the time of the answer. Later changes do not invalidate a citation.
    counts: BTreeMap<String, LineCount>,
}

/// The citations of all answers.
#[derive(Debug, Default)]
pub struct Citations {
    names: FileNames,
    /// By the index of the entry.
    answers: BTreeMap<usize, AnswerCitations>,
    /// Whether `remarks` must be recomputed.
    is_stale: bool,
    remarks: BTreeMap<usize, String>,
}

impl Citations {
    /// Updates the citations after a change of the transcript or the list of files. Returns effects that read the files that new answers
    /// cite.
    pub fn update(&mut self, entries: &Transcript, paths: &Arc<Vec<String>>) -> Vec<Effect> {
        // The text of an answer only grows, so its length tells whether it is the same.
        let complete = |(entry, version): (&Entry, &EntryVersion)| match entry {
            Entry::Answer(answer) if !entry.is_streaming() => Some((version.id, answer.text.len())),
            _ => None,
        };
        let key = |at: usize| entries.get(at).zip(entries.versions().get(at)).and_then(complete);
        let is_current = |at: &usize, answer: &mut AnswerCitations| key(*at) == Some(answer.key);
        let before = self.answers.len();
        self.answers.retain(is_current);
        self.is_stale |= before != self.answers.len();
        let mut effects = Vec::new();
        if paths.is_empty() {
            self.refresh();
            return effects;
        }
        let newest = entries.iter().enumerate().rev().filter_map(|(at, entry)| Some((at, key(at)?, entry)));
        let new: Vec<_> = newest.take(MAX_ANSWERS).filter(|(at, ..)| !self.answers.contains_key(at)).collect();
        if !new.is_empty() && !self.names.is_of(paths) {
            self.names = FileNames::new(paths);
        }
        for (at, key, entry) in new {
            let Entry::Answer(answer) = entry else { continue };
            let mut all = citations(&answer.text);
            all.retain(|citation| self.names.is_citation(citation));
            all.truncate(MAX_CITATIONS);
            let files: Vec<String> =
                all.iter().flat_map(|citation| self.names.files(&citation.path)).map(str::to_owned).collect();
            for file in files.iter().take(MAX_FILES) {
                let is_reading = |answer: &AnswerCitations| answer.counts.get(file) == Some(&LineCount::Reading);
                let read = Effect::Lookup(LookupEffect::File(file.clone()));
                if !self.answers.values().any(is_reading) && !effects.contains(&read) {
                    effects.push(read);
                }
            }
            let counts = files.into_iter().take(MAX_FILES).map(|file| (file, LineCount::Reading)).collect();
            self.answers.insert(at, AnswerCitations { key, citations: all, counts });
            self.is_stale = true;
        }
        self.refresh();
        effects
    }

    /// Whether an answer contains citations.
    pub fn any(&self) -> bool {
        self.answers.values().any(|answer| !answer.citations.is_empty())
    }

    /// Records the lines of a file that was read.
    pub fn note(&mut self, response: &Response) {
        let Response::LookedUp(LookupResponse::File { path, text }) = response else { return };
        let is_reading = |answer: &&mut AnswerCitations| answer.counts.get(path) == Some(&LineCount::Reading);
        for answer in self.answers.values_mut().filter(is_reading) {
            let count = text.as_ref().map_or(LineCount::Unknown, |text| {
                LineCount::Known(u32::try_from(lines::split(text).len()).unwrap_or(u32::MAX))
            });
            answer.counts.insert(path.clone(), count);
            self.is_stale = true;
        }
        self.refresh();
    }

    /// The citations of an answer, in order.
    pub fn of(&self, entry: usize) -> &[Citation] {
        self.answers.get(&entry).map_or(&[], |answer| &answer.citations)
    }

    /// The newest answer with citations that are all checked.
    pub fn newest(&self) -> Option<usize> {
        let is_checked = |(_, answer): &(&usize, &AnswerCitations)| {
            !answer.citations.is_empty() && answer.counts.values().all(|count| *count != LineCount::Reading)
        };
        self.answers.iter().rev().find(is_checked).map(|(at, _)| *at)
    }

    /// The citations in a text, in order.
    pub fn within(&self, text: &str) -> Vec<Citation> {
        citations(text).into_iter().filter(|citation| self.names.is_citation(citation)).collect()
    }

    /// The target of a citation of an answer.
    pub fn target(&self, entry: usize, citation: &Citation) -> CitationTarget {
        let counts = self.answers.get(&entry).map(|answer| &answer.counts);
        self.names.aim(citation, |path| match counts?.get(path)? {
            LineCount::Known(count) => Some(*count),
            LineCount::Reading | LineCount::Unknown => None,
        })
    }

    /// A remark for each answer with invalid citations, by the index of the entry.
    pub fn remarks(&self) -> &BTreeMap<usize, String> {
        &self.remarks
    }

    fn refresh(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            let remark = |(at, answer): (&usize, &AnswerCitations)| Some((*at, self.remark(*at, &answer.citations)?));
            self.remarks = self.answers.iter().filter_map(remark).collect();
        }
    }

    /// A remark with the number of invalid citations and the first of them; `None` if all are valid.
    fn remark(&self, entry: usize, all: &[Citation]) -> Option<String> {
        let mut bad: Vec<String> = Vec::new();
        let mut count = 0;
        for citation in all {
            let why = match self.target(entry, citation) {
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
        let more = if bad.len() > MAX_NAMED { ", …" } else { "" };
        bad.truncate(MAX_NAMED);
        let (noun, verb) = if count == 1 { ("citation", "points") } else { ("citations", "point") };
        let noun = if all.len() == 1 { noun } else { "citations" };
        Some(format!("{count} of {} {noun} {verb} nowhere: {}{more}", all.len(), bad.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, AnswerState};

    fn answer(text: &str, state: AnswerState) -> Entry {
        Entry::Answer(Answer {
            text: text.into(),
            reasoning: String::new(),
            state,
            edits: Vec::new(),
            thinking: Vec::new(),
        })
    }

    fn read(path: &str, count: usize) -> Response {
        Response::LookedUp(LookupResponse::File { path: path.into(), text: Ok("x\n".repeat(count).into()) })
    }

    #[test]
    fn the_citations_of_a_complete_answer_are_checked() {
        let paths = Arc::new(vec!["a.rs".to_owned(), "b.rs".to_owned(), "c.bin".to_owned()]);
        let text = "See `a.rs:3`, a.rs:9-12, gone.rs:1 and c.bin:4.";
        let mut checked = Citations::default();
        assert!(
            checked.update(&[answer(text, AnswerState::Streaming)].into_iter().collect(), &paths).is_empty(),
            "the answer is incomplete"
        );
        let entries: Transcript = [answer(text, AnswerState::Complete)].into_iter().collect();
        let effects = checked.update(&entries, &paths);
        let of = |path: &str| Effect::Lookup(LookupEffect::File(path.into()));
        assert_eq!(effects, [of("a.rs"), of("c.bin")], "each cited file once");
        assert!(checked.update(&entries, &paths).is_empty());
        assert_eq!(
            checked.remarks().get(&0).map(String::as_str),
            Some("1 of 4 citations points nowhere: gone.rs:1 (no such file)")
        );
        checked.note(&read("a.rs", 10));
        checked.note(&Response::LookedUp(LookupResponse::File { path: "c.bin".into(), text: Err("binary".into()) }));
        let expected = "2 of 4 citations point nowhere: a.rs:9-12 (the file has 10 lines), gone.rs:1 (no such file)";
        assert_eq!(checked.remarks().get(&0).map(String::as_str), Some(expected));
        assert_eq!(checked.target(0, &checked.of(0)[0]), CitationTarget::Lines(vec!["a.rs".into()]));
        assert!(checked.any());
        assert!(
            checked.update(&Transcript::default(), &paths).is_empty()
                && !checked.any()
                && checked.remarks().is_empty()
                && checked.of(0).is_empty()
        );
    }

    #[test]
    fn valid_citations_have_no_remark() {
        let paths = Arc::new(vec!["a.rs".to_owned()]);
        let mut checked = Citations::default();
        checked.update(
            &[answer("a.rs:1, at 12:30, on localhost:80", AnswerState::Complete)].into_iter().collect(),
            &paths,
        );
        checked.note(&read("a.rs", 1));
        assert!(checked.remarks().is_empty() && checked.of(0).len() == 1);
    }
}
