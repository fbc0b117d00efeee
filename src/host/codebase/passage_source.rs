//! Where passages come from: hits of a search, definitions and lines of files, fitted to their budget; and what they say now.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::super::embedding_index::PassageVectors;
use super::super::embedding_index::search::{SearchMode, search_survey, search_with_vector};
use super::super::{CachedCounter, Survey};
use rhumb_index::repo_map::{IndexedDefinition, TagGraph};
use rhumb_index::retrieval::{ContextRequest, Hit, Passage, Passages, Question, References, SourceFile, SourceFiles};
use rhumb_llm::embed::Embedder;
use rhumb_session::context::{Anchor, ChunkLocation, ContextChunk, merge_locations, ranked};
use rhumb_session::{Failure, FoundPassages};
use rhumb_text::count;
use rhumb_tokens::TokenCounter as _;
use rhumb_workspace::{Root, is_secret_name};

/// Definitions of one name that are shown.
const MAX_DEFINITIONS: usize = 4;
/// What another question, or a round, may have at least, in parts of the budget: it pushes out no more than the rest of what is
/// there.
const SHARE_OF_NEW: usize = 2;
/// Characters of a question in a notice.
const IN_NOTICE: usize = 60;

/// A model of meanings, and what is known by it.
pub type EmbeddingIndex = (Arc<dyn Embedder>, Arc<PassageVectors>);

/// What passages are looked for in.
pub struct PassageSource {
    /// The root.
    pub root: Root,
    /// What is known of the repository.
    pub survey: Arc<Survey>,
    /// Counts for the model.
    pub counter: Arc<CachedCounter>,
    /// ModelRole knows what passages mean, and what is known of that; `None` to search by words alone.
    pub meaning: Option<EmbeddingIndex>,
    /// Files in the chat, which are sent whole.
    pub chat: Vec<String>,
    /// The passages that are there already.
    pub kept: Vec<ChunkLocation>,
    /// The number of the turn.
    pub turn: u64,
    /// Most tokens of the passages together.
    pub budget: usize,
}

impl PassageSource {
    /// What a search finds, best first; by meaning too where the question has a `vector`.
    pub(super) fn hits(&self, question: &Question, vector: Option<&[f32]>) -> Vec<Hit> {
        match self.meaning.as_ref().zip(vector) {
            Some(((_, meaning), vector)) => {
                search_with_vector(&self.survey, question, (meaning, vector), SearchMode::Hybrid)
            }
            None => search_survey(&self.survey, question),
        }
    }

    /// The text of a file of which passages may be sent. Those in the chat are sent whole.
    fn text(&self, path: &str) -> Option<Arc<str>> {
        let may = !self.chat.iter().any(|known| known == path) && !is_secret_name(path);
        may.then(|| rhumb_workspace::read(&self.root, path).ok()).flatten().map(|snapshot| snapshot.text)
    }

    /// Tokens for another question: what those that are there leave, and half of all at least.
    fn room(&self) -> usize {
        let kept = self.counter.count(&self.written(&self.kept));
        self.budget.saturating_sub(kept).max(self.budget / SHARE_OF_NEW)
    }

    /// The best hits for a question with what is around them, as much as has room.
    pub(super) fn answering(&self, question: &str, hits: &[Hit]) -> FoundPassages {
        let read = |path: &str| self.text(path);
        let sources = SourceFiles::new(&read);
        let mut passages = Passages::default();
        let graph = &self.survey.graph;
        passages.gather(graph, (question, hits.to_vec()), &sources, self.room(), self.counter.as_ref());
        let references = References::new(graph, &sources);
        let places_of = |passage: &Passage| {
            passage.lines.iter().map(|lines| self.place_in(passage, lines, &references)).collect::<Vec<_>>()
        };
        let mut places: Vec<ChunkLocation> = passages.list().iter().flat_map(places_of).collect();
        places.sort_by_key(|place| place.rank);
        let files: BTreeSet<&str> = places.iter().map(|place| place.path.as_str()).collect();
        let (count_of, files) = (count(places.len(), "passage"), count(files.len(), "file"));
        let told = vec![format!("Searched for “{}”: {count_of} in {files}.", in_notice(question))];
        let told = if places.is_empty() { Vec::new() } else { told };
        FoundPassages { locations: places, summary: told, related: passages.related().to_vec(), notes: Vec::new() }
    }

    /// Lines of a passage as they are kept, with the definition among those that it was cut for which begins first.
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

    /// Passages as they are written into a request.
    pub(super) fn written(&self, places: &[ChunkLocation]) -> String {
        let passages = passages_now(&self.root, &self.survey.graph, places, &|_| false);
        passages.iter().map(ContextChunk::written).collect()
    }

    /// What a model asked for, with what was found by the words of each wish that has some. Only what the survey lists is read, and
    /// nothing whose name tells of secrets.
    pub(super) fn wanted(&self, wants: &[(ContextRequest, Vec<Hit>)]) -> FoundPassages {
        let mut batch = PassageBatch::new(self, self.budget / SHARE_OF_NEW);
        let mut result = FoundPassages::default();
        for (want, hits) in wants {
            let before = batch.added;
            match want {
                ContextRequest::Search(words) => {
                    hits.iter().for_each(|hit| batch.add_hit(hit));
                    let found = count(batch.added - before, "new passage");
                    result.summary.push(format!("Searched for “{}”: {found}.", in_notice(words)));
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
                        let fits = if batch.added > before { "" } else { ", for which there is no room" };
                        result.summary.push(format!("Read {label}{fits}."));
                    }
                    Err(failure) => result.notes.push(failure),
                },
            }
        }
        FoundPassages { locations: batch.finish(), ..result }
    }

    /// Where a name is defined. `Type.name` and `Type::name` mean the definition in that type, if there is one.
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
            return Err(refused(format!("{path} is no file of the repository that may be read.")));
        }
        if self.chat.iter().any(|known| known == path) {
            return Err(refused(format!("{path} is in the chat whole.")));
        }
        let place = ChunkLocation { path: path.to_owned(), line, end_line, anchor: None, turn: 0, rank: 0, hash: 0 };
        let text = rhumb_workspace::read(&self.root, path).map_err(|error| refused(format!("{error}.")))?.text;
        let cut = ContextChunk::cut(&place, &text);
        cut.map(|passage| passage.location).ok_or_else(|| refused(format!("{} is beyond its end.", place.label())))
    }
}

/// Passages while they are fitted to a budget.
struct PassageBatch<'g> {
    source: &'g PassageSource,
    room: usize,
    added: usize,
    places: Vec<ChunkLocation>,
    texts: HashMap<String, Option<Arc<str>>>,
}

impl<'g> PassageBatch<'g> {
    fn new(source: &'g PassageSource, budget: usize) -> Self {
        Self { source, room: budget, added: 0, places: Vec::new(), texts: HashMap::new() }
    }

    fn add_hit(&mut self, hit: &Hit) {
        let index = self.source.survey.graph.index();
        let entry = hit.definition.and_then(|definition| index.definition(hit.file, definition));
        let anchor = entry.map(|entry| anchor(&entry));
        let (path, line, end_line) = (hit.path.to_string(), hit.line, hit.end_line);
        self.add(&ChunkLocation { path, line, end_line, anchor, turn: 0, rank: 0, hash: 0 });
    }

    /// Adds a place if there is room for it: a smaller one that is worth less may still fit behind one that does not.
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
        if tokens <= self.room {
            self.room -= tokens;
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

/// The passages of a conversation as the files have them now: where their definitions are by now, and without those of files in the
/// chat and of files that are not listed any more.
pub(crate) fn passages_now(
    root: &Root,
    graph: &Arc<TagGraph>,
    places: &[ChunkLocation],
    chat: &dyn Fn(&str) -> bool,
) -> Vec<ContextChunk> {
    let is_listed = |place: &ChunkLocation| graph.index().file_at(&place.path).is_some();
    let may = |place: &&ChunkLocation| is_listed(place) && !chat(&place.path) && !is_secret_name(&place.path);
    let mut files: HashMap<&str, Option<FileNow>> = HashMap::new();
    let mut passages = Vec::new();
    for place in places.iter().filter(may) {
        let read = || rhumb_workspace::read(root, &place.path).ok().map(|snapshot| FileNow::new(snapshot.text));
        let file = files.entry(&place.path).or_insert_with(read);
        passages.extend(file.as_mut().and_then(|file| file.cut(place)));
    }
    ranked(passages)
}

/// A file, parsed when something in it has changed.
struct FileNow {
    text: Arc<str>,
    parsed: Option<SourceFile>,
}

impl FileNow {
    fn new(text: Arc<str>) -> Self {
        Self { text, parsed: None }
    }

    /// The lines of a place; those of its definition, wherever that is, if they are not what they were.
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

/// A question on one short line.
fn in_notice(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(IN_NOTICE).collect();
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
    fn lines_that_are_as_they_were_are_not_looked_for() {
        let (place, mut file) = (place_of_b(), FileNow::new(TEXT.into()));
        assert_eq!(file.cut(&place).unwrap().location, place);
        assert!(file.parsed.is_none());
    }

    #[test]
    fn lines_that_moved_are_found_with_their_definition_before_the_map_knows() {
        let mut file = FileNow::new(format!("import os\n\n{}", TEXT.replace("2", "20")).into());
        let now = file.cut(&place_of_b()).unwrap();
        assert_eq!((now.location.label().as_str(), now.text.as_str()), ("x.py:7-8", "def b():\n    return 20"));
        assert_eq!(FileNow::new("pass\n".into()).cut(&place_of_b()), None, "what is gone is left out");
    }
}
