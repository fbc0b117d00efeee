//! Selects passages within a budget: hits of a search, definitions and lines of files. Also updates the passages of a conversation
//! from the current files.

use crate::host::{CachedCounter, PassageVectors, SearchMode, Survey, search_survey, search_with_vector};
use rhumb_index::repo_map::{IndexedDefinition, TagGraph};
use rhumb_index::retrieval::{ContextRequest, Hit, Passage, Passages, Question, References, SourceFile, SourceFiles};
use rhumb_llm::embed::Embedder;
use rhumb_session::context::{Anchor, ChunkLocation, ContextChunk, merge_locations, ranked};
use rhumb_session::{Failure, FoundPassages};
use rhumb_text::count;
use rhumb_tokens::TokenCounter as _;
use rhumb_workspace::{Root, is_secret_name};
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Maximum number of definitions of one name.
const MAX_DEFINITIONS: usize = 4;
/// New passages may use at least one part in this many of the budget, even if old ones fill it.
const MIN_NEW_SHARE: usize = 2;
/// Maximum length of a question in a notice, in characters.
const MAX_NOTICE_CHARS: usize = 60;

/// An embedder with its vectors.
pub type EmbeddingIndex = (Arc<dyn Embedder>, Arc<PassageVectors>);

/// The repository as a source of passages.
pub struct PassageSource {
    /// The root.
    pub root: Root,
    /// The survey of the repository.
    pub survey: Arc<Survey>,
    /// The token counter of the model.
    pub counter: Arc<CachedCounter>,
    /// The embedding index; `None` to search by words only.
    pub index: Option<EmbeddingIndex>,
    /// Files in the chat, which are sent completely.
    pub chat: Vec<String>,
    /// The passages of earlier questions.
    pub kept: Vec<ChunkLocation>,
    /// The number of the turn.
    pub turn: u64,
    /// Maximum number of tokens of all passages.
    pub budget: usize,
}

impl PassageSource {
    /// Searches by words, and by embeddings if the question has a `vector`. The best hits come first.
    pub(super) fn hits(&self, question: &Question, vector: Option<&[f32]>) -> Vec<Hit> {
        match self.index.as_ref().zip(vector) {
            Some(((_, vectors), vector)) => {
                search_with_vector(&self.survey, question, (vectors, vector), SearchMode::Hybrid)
            }
            None => search_survey(&self.survey, question),
        }
    }

    /// The text of a file, unless it is in the chat or secret.
    fn text(&self, path: &str) -> Option<Arc<str>> {
        let may = !self.chat.iter().any(|known| known == path) && !is_secret_name(path);
        may.then(|| rhumb_workspace::read(&self.root, path).ok()).flatten().map(|snapshot| snapshot.text)
    }

    /// Budget for a new question: the rest of the budget, and at least the minimum share.
    fn remaining_budget(&self) -> usize {
        let kept = self.counter.count(&self.written(&self.kept));
        self.budget.saturating_sub(kept).max(self.budget / MIN_NEW_SHARE)
    }

    /// The best hits for a question with their surroundings, within the budget.
    pub(super) fn passages_for_question(&self, question: &str, hits: &[Hit]) -> FoundPassages {
        let read = |path: &str| self.text(path);
        let sources = SourceFiles::new(&read);
        let mut passages = Passages::default();
        let graph = &self.survey.graph;
        passages.gather(graph, (question, hits.to_vec()), &sources, self.remaining_budget(), self.counter.as_ref());
        let references = References::new(graph, &sources);
        let places_of = |passage: &Passage| {
            passage.lines.iter().map(|lines| self.place_in(passage, lines, &references)).collect::<Vec<_>>()
        };
        let mut places: Vec<ChunkLocation> = passages.list().iter().flat_map(places_of).collect();
        places.sort_by_key(|place| place.rank);
        let files: BTreeSet<&str> = places.iter().map(|place| place.path.as_str()).collect();
        let (count_of, files) = (count(places.len(), "passage"), count(files.len(), "file"));
        let searched = || format!("Searched for “{}”: {count_of} in {files}.", shortened(question));
        let summary = if places.is_empty() { Vec::new() } else { vec![searched()] };
        FoundPassages { locations: places, summary, related: passages.related().to_vec(), notes: Vec::new() }
    }

    /// The location of lines of a passage. Its anchor is the first definition in them.
    fn place_in(&self, passage: &Passage, lines: &RangeInclusive<u32>, references: &References<'_>) -> ChunkLocation {
        let (line, end_line) = (*lines.start(), *lines.end());
        let here = passage.locations.iter().filter(|place| place.line <= end_line && line <= place.end_line);
        let index = self.survey.graph.index();
        let found = here.min_by_key(|place| place.line).and_then(|place| references.definition_of(place));
        let entry = found.and_then(|at| index.definition(at.file, at.definition));
        let (path, rank) = (passage.path.to_string(), u32::try_from(passage.rank).unwrap_or(u32::MAX));
        let anchor = entry.map(|entry| anchor(&entry));
        let place = ChunkLocation { path, line, end_line, anchor, turn: self.turn, rank, hash: 0 };
        let cut = self.text(&place.path).and_then(|text| ContextChunk::cut(&place, &text));
        cut.map_or(place, |passage| passage.location)
    }

    pub(super) fn written(&self, places: &[ChunkLocation]) -> String {
        let passages = current_passages(&self.root, &self.survey.graph, places, &|_| false);
        passages.iter().map(ContextChunk::written).collect()
    }

    /// The passages that a model requested; searches come with their hits. Only listed files are read, and no secret ones.
    pub(super) fn passages_for_requests(&self, wants: &[(ContextRequest, Vec<Hit>)]) -> FoundPassages {
        let mut batch = PassageBatch::new(self, self.budget / MIN_NEW_SHARE);
        let mut result = FoundPassages::default();
        for (want, hits) in wants {
            let before = batch.added;
            match want {
                ContextRequest::Search(words) => {
                    hits.iter().for_each(|hit| batch.add_hit(hit));
                    let found = count(batch.added - before, "new passage");
                    result.summary.push(format!("Searched for “{}”: {found}.", shortened(words)));
                }
                ContextRequest::Symbol(name) => {
                    for place in &self.definitions(name) {
                        batch.add(place);
                    }
                    let found = count(batch.added - before, "definition");
                    result.summary.push(format!("Looked up {name}: {found}."));
                }
                ContextRequest::Read { path, line, end_line } => match self.lines(path, *line, *end_line) {
                    Ok(place) => {
                        let label = place.label();
                        batch.add(&place);
                        let fits = if batch.added > before { "" } else { ", but it does not fit the budget" };
                        result.summary.push(format!("Read {label}{fits}."));
                    }
                    Err(failure) => result.notes.push(failure),
                },
            }
        }
        FoundPassages { locations: batch.finish(), ..result }
    }

    /// The definitions of a name. With `Type.name` or `Type::name`, only those in that type if there are any.
    fn definitions(&self, name: &str) -> Vec<ChunkLocation> {
        let mut parts = name.rsplit([':', '.', '#']).filter(|part| !part.is_empty());
        let (Some(last), container) = (parts.next(), parts.next()) else { return Vec::new() };
        let graph = &self.survey.graph;
        let files = graph.index().name_number(last).map(|name| graph.defining_files(name)).unwrap_or_default();
        let in_file = |file: &u32| {
            let path = graph.index().path(*file).to_owned();
            let entries = graph.index().definitions(*file).filter(|entry| entry.name() == last);
            entries.map(move |entry| (entry.container() == container, place_of(&path, &entry))).collect::<Vec<_>>()
        };
        let all: Vec<(bool, ChunkLocation)> = files.iter().flat_map(in_file).collect();
        let is_exact = container.is_some() && all.iter().any(|(exact, _)| *exact);
        let meant = all.into_iter().filter(|(exact, _)| *exact || !is_exact);
        meant.map(|(_, place)| place).take(MAX_DEFINITIONS).collect()
    }

    fn lines(&self, path: &str, line: u32, end_line: u32) -> Result<ChunkLocation, Failure> {
        let refused = |message: String| Failure { message, hint: String::new() };
        let listed = self.survey.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        if !listed || is_secret_name(path) {
            return Err(refused(format!("{path} is not a readable file of the repository.")));
        }
        if self.chat.iter().any(|known| known == path) {
            return Err(refused(format!("{path} is in the chat already.")));
        }
        let place = ChunkLocation { path: path.to_owned(), line, end_line, anchor: None, turn: 0, rank: 0, hash: 0 };
        let text = rhumb_workspace::read(&self.root, path).map_err(|error| refused(format!("{error}.")))?.text;
        let cut = ContextChunk::cut(&place, &text);
        cut.map(|passage| passage.location)
            .ok_or_else(|| refused(format!("{} is beyond the end of the file.", place.label())))
    }
}

/// Selects passages within a budget.
struct PassageBatch<'g> {
    source: &'g PassageSource,
    remaining: usize,
    added: usize,
    places: Vec<ChunkLocation>,
    texts: HashMap<String, Option<Arc<str>>>,
}

impl<'g> PassageBatch<'g> {
    fn new(source: &'g PassageSource, budget: usize) -> Self {
        Self { source, remaining: budget, added: 0, places: Vec::new(), texts: HashMap::new() }
    }

    fn add_hit(&mut self, hit: &Hit) {
        let index = self.source.survey.graph.index();
        let entry = hit.definition.and_then(|definition| index.definition(hit.file, definition));
        let anchor = entry.map(|entry| anchor(&entry));
        let (path, line, end_line) = (hit.path.to_string(), hit.line, hit.end_line);
        self.add(&ChunkLocation { path, line, end_line, anchor, turn: 0, rank: 0, hash: 0 });
    }

    /// Adds a passage if it fits. Later, smaller ones may still fit.
    fn add(&mut self, place: &ChunkLocation) {
        let is_known = |known: &ChunkLocation| {
            known.path == place.path && known.line <= place.line && place.end_line <= known.end_line
        };
        if self.places.iter().any(is_known) {
            return;
        }
        let read = || self.source.text(&place.path);
        let text = self.texts.entry(place.path.clone()).or_insert_with(read);
        let Some(passage) = text.as_ref().and_then(|text| ContextChunk::cut(place, text)) else { return };
        let tokens = self.source.counter.count(&passage.written());
        if tokens <= self.remaining {
            self.remaining -= tokens;
            let (turn, rank) = (self.source.turn, self.added as u32);
            self.added += 1;
            self.places.push(ChunkLocation { turn, rank, ..passage.location });
        }
    }

    fn finish(self) -> Vec<ChunkLocation> {
        let mut places = merge_locations(Vec::new(), self.places);
        places.sort_by_key(|place| place.rank);
        places
    }
}

/// The passages of a conversation with the current text of their files. Passages whose definition moved follow it; those of files
/// in the chat or of unlisted files are omitted.
pub(crate) fn current_passages(
    root: &Root,
    graph: &Arc<TagGraph>,
    places: &[ChunkLocation],
    chat: &dyn Fn(&str) -> bool,
) -> Vec<ContextChunk> {
    let is_listed = |place: &ChunkLocation| graph.index().file_at(&place.path).is_some();
    let may = |place: &&ChunkLocation| is_listed(place) && !chat(&place.path) && !is_secret_name(&place.path);
    let mut files: HashMap<&str, Option<CurrentFile>> = HashMap::new();
    let mut passages = Vec::new();
    for place in places.iter().filter(may) {
        let read = || rhumb_workspace::read(root, &place.path).ok().map(|snapshot| CurrentFile::new(snapshot.text));
        let file = files.entry(&place.path).or_insert_with(read);
        passages.extend(file.as_mut().and_then(|file| file.cut(place)));
    }
    ranked(passages)
}

/// A file, parsed when a passage in it has changed.
struct CurrentFile {
    text: Arc<str>,
    parsed: Option<SourceFile>,
}

impl CurrentFile {
    fn new(text: Arc<str>) -> Self {
        Self { text, parsed: None }
    }

    /// The passage at a location, or that of its definition if the text there has changed.
    fn cut(&mut self, place: &ChunkLocation) -> Option<ContextChunk> {
        let there = ContextChunk::cut(place, &self.text);
        let is_same = |passage: &ContextChunk| passage.location.hash == place.hash;
        if place.anchor.is_none() || there.as_ref().is_some_and(is_same) {
            return there;
        }
        let parsed = self.parsed.get_or_insert_with(|| SourceFile::new(&place.path, Arc::clone(&self.text)));
        let definitions = parsed.tags().definitions.iter().map(|definition| {
            let last = definition.end_line.max(definition.line);
            (definition.name.as_str(), definition.container.as_deref(), definition.line, last)
        });
        ContextChunk::cut(&place.moved(definitions), &self.text)
    }
}

fn place_of(path: &str, entry: &IndexedDefinition<'_>) -> ChunkLocation {
    let Anchor { line, end_line, .. } = anchor(entry);
    ChunkLocation { path: path.to_owned(), line, end_line, anchor: Some(anchor(entry)), turn: 0, rank: 0, hash: 0 }
}

fn anchor(entry: &IndexedDefinition<'_>) -> Anchor {
    let line = entry.line().max(1);
    let container = entry.container().map(str::to_owned);
    Anchor { symbol: entry.name().to_owned(), container, line, end_line: entry.end_line().max(line) }
}

fn shortened(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(MAX_NOTICE_CHARS).collect();
    if short.len() < line.len() { short + "…" } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";

    fn place_of_b() -> ChunkLocation {
        let anchor = Some(Anchor { symbol: "b".into(), container: None, line: 5, end_line: 6 });
        let place = ChunkLocation { path: "x.py".into(), line: 5, end_line: 6, anchor, turn: 1, rank: 0, hash: 0 };
        ContextChunk::cut(&place, TEXT).unwrap().location
    }

    #[test]
    fn unchanged_lines_need_no_parsing() {
        let (place, mut file) = (place_of_b(), CurrentFile::new(TEXT.into()));
        assert_eq!(file.cut(&place).unwrap().location, place);
        assert!(file.parsed.is_none());
    }

    #[test]
    fn moved_lines_are_found_by_their_definition() {
        let mut file = CurrentFile::new(format!("import os\n\n{}", TEXT.replace("2", "20")).into());
        let now = file.cut(&place_of_b()).unwrap();
        assert_eq!((now.location.label().as_str(), now.text.as_str()), ("x.py:7-8", "def b():\n    return 20"));
        assert_eq!(CurrentFile::new("pass\n".into()).cut(&place_of_b()), None, "what is gone is left out");
    }
}
