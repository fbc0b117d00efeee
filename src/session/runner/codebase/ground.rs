//! Where passages come from: hits of a search, definitions and lines of files, fitted to their budget; and what they say now.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::super::{CachedCounter, Survey, found};
use crate::context::{Anchor, ContextPassage, PassagePlace, by_worth, extended};
use crate::repo_map::{Entry, TagGraph};
use crate::retrieval::{Hit, Question, Want};
use crate::session::{Failure, FoundPassages, count};
use crate::tokens::TokenCounter as _;
use crate::workspace::{self, Root, is_secret_name};

/// Passages that one wish of a model searches for.
const HITS_OF_WISH: usize = 8;
/// Definitions of one name that are shown.
const MOST_DEFINITIONS: usize = 4;
/// What a round may add, in parts of the budget: what the question itself found is not pushed out by it.
const SHARE_OF_ROUND: usize = 2;
/// Characters of a question in a notice.
const IN_NOTICE: usize = 60;

/// What passages are looked for in.
pub struct Ground {
    /// The root.
    pub root: Root,
    /// What is known of the repository.
    pub survey: Arc<Survey>,
    /// Counts for the model.
    pub counter: Arc<CachedCounter>,
    /// Files in the chat, which are sent whole.
    pub chat: Vec<String>,
    /// The number of the turn.
    pub turn: u64,
    /// Most tokens of the passages together.
    pub budget: usize,
}

impl Ground {
    /// What a search finds, best first.
    pub(super) fn hits(&self, question: &Question) -> Vec<Hit> {
        found(&self.survey, question)
    }

    /// The best hits for a question, as many as have room.
    pub(super) fn answering(&self, question: &str, hits: &[Hit]) -> FoundPassages {
        let mut batch = Batch::new(self, self.budget);
        hits.iter().for_each(|hit| batch.add_hit(hit));
        let places = batch.finish();
        let files: BTreeSet<&str> = places.iter().map(|place| place.path.as_str()).collect();
        let (passages, files) = (count(places.len(), "passage"), count(files.len(), "file"));
        let told = vec![format!("Searched for “{}”: {passages} in {files}.", in_notice(question))];
        let told = if places.is_empty() { Vec::new() } else { told };
        FoundPassages { places, told, notes: Vec::new() }
    }

    /// Passages as they are written into a request.
    pub(super) fn written(&self, places: &[PassagePlace]) -> String {
        let passages = passages_now(&self.root, &self.survey.graph, places, &|_| false);
        passages.iter().map(ContextPassage::written).collect()
    }

    /// What a model asked for. Only what the survey lists is read, and nothing whose name tells of secrets.
    pub(super) fn wanted(&self, wants: &[Want]) -> FoundPassages {
        let mut batch = Batch::new(self, self.budget / SHARE_OF_ROUND);
        let mut result = FoundPassages::default();
        for want in wants {
            let before = batch.added;
            match want {
                Want::Search(words) => {
                    self.hits(&Question::new(words, HITS_OF_WISH)).iter().for_each(|hit| batch.add_hit(hit));
                    let found = count(batch.added - before, "new passage");
                    result.told.push(format!("Searched for “{}”: {found}.", in_notice(words)));
                }
                Want::Symbol(name) => {
                    for place in &self.definitions(name) {
                        batch.add(place);
                    }
                    let found = count(batch.added - before, "definition");
                    result.told.push(format!("Looked up {name}: {found}."));
                }
                Want::Read { path, line, end_line } => match self.lines(path, *line, *end_line) {
                    Ok(place) => {
                        let label = place.label();
                        batch.add(&place);
                        let fits = if batch.added > before { "" } else { ", for which there is no room" };
                        result.told.push(format!("Read {label}{fits}."));
                    }
                    Err(failure) => result.notes.push(failure),
                },
            }
        }
        FoundPassages { places: batch.finish(), ..result }
    }

    /// Where a name is defined. `Type.name` and `Type::name` mean the definition in that type, if there is one.
    fn definitions(&self, name: &str) -> Vec<PassagePlace> {
        let mut parts = name.rsplit([':', '.', '#']).filter(|part| !part.is_empty());
        let (Some(last), container) = (parts.next(), parts.next()) else { return Vec::new() };
        let graph = &self.survey.graph;
        let files = graph.index().name_number(last).map(|name| graph.defining_files(name)).unwrap_or_default();
        let in_file = |file: &u32| {
            let path = graph.index().path(*file).to_owned();
            let entries = graph.index().definitions(*file).filter(|entry| entry.name() == last);
            entries.map(move |entry| (entry.container() == container, place_of(&path, &entry))).collect::<Vec<_>>()
        };
        let all: Vec<(bool, PassagePlace)> = files.iter().flat_map(in_file).collect();
        let is_exact = container.is_some() && all.iter().any(|(exact, _)| *exact);
        let meant = all.into_iter().filter(|(exact, _)| *exact || !is_exact);
        meant.map(|(_, place)| place).take(MOST_DEFINITIONS).collect()
    }

    fn lines(&self, path: &str, line: u32, end_line: u32) -> Result<PassagePlace, Failure> {
        let refused = |message: String| Failure { message, hint: String::new() };
        let listed = self.survey.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        if !listed || is_secret_name(path) {
            return Err(refused(format!("{path} is no file of the repository that may be read.")));
        }
        if self.chat.iter().any(|known| known == path) {
            return Err(refused(format!("{path} is in the chat whole.")));
        }
        let place = PassagePlace { path: path.to_owned(), line, end_line, anchor: None, turn: 0, rank: 0 };
        let text = workspace::read(&self.root, path).map_err(|error| refused(format!("{error}.")))?.text;
        let cut = ContextPassage::cut(&place, &text);
        cut.map(|passage| passage.place).ok_or_else(|| refused(format!("{} is beyond its end.", place.label())))
    }
}

/// Passages while they are fitted to a budget.
struct Batch<'g> {
    ground: &'g Ground,
    room: usize,
    added: usize,
    places: Vec<PassagePlace>,
    texts: HashMap<String, Option<Arc<str>>>,
}

impl<'g> Batch<'g> {
    fn new(ground: &'g Ground, budget: usize) -> Self {
        Self { ground, room: budget, added: 0, places: Vec::new(), texts: HashMap::new() }
    }

    fn add_hit(&mut self, hit: &Hit) {
        let index = self.ground.survey.graph.index();
        let entry = hit.definition.and_then(|definition| index.definition(hit.file, definition));
        let anchor = entry.map(|entry| anchor(&entry));
        let (path, line, end_line) = (hit.path.to_string(), hit.line, hit.end_line);
        self.add(&PassagePlace { path, line, end_line, anchor, turn: 0, rank: 0 });
    }

    /// Adds a place if there is room for it: a smaller one that is worth less may still fit behind one that does not.
    fn add(&mut self, place: &PassagePlace) {
        let is_known = |known: &PassagePlace| {
            known.path == place.path && known.line <= place.line && place.end_line <= known.end_line
        };
        let is_sent = self.ground.chat.contains(&place.path) || is_secret_name(&place.path);
        if is_sent || self.places.iter().any(is_known) {
            return;
        }
        let root = &self.ground.root;
        let read = || workspace::read(root, &place.path).ok().map(|snapshot| snapshot.text);
        let text = self.texts.entry(place.path.clone()).or_insert_with(read);
        let Some(passage) = text.as_ref().and_then(|text| ContextPassage::cut(place, text)) else { return };
        let tokens = self.ground.counter.count(&passage.written());
        if tokens <= self.room {
            self.room -= tokens;
            let (turn, rank) = (self.ground.turn, self.added as u32);
            self.added += 1;
            self.places.push(PassagePlace { turn, rank, ..passage.place });
        }
    }

    fn finish(self) -> Vec<PassagePlace> {
        let mut places = extended(Vec::new(), self.places);
        places.sort_by_key(|place| place.rank);
        places
    }
}

/// The passages of a conversation as the files have them now: where their definitions are by now, and without those of files in the
/// chat and of files that are not listed any more.
pub(in crate::session::runner) fn passages_now(
    root: &Root,
    graph: &Arc<TagGraph>,
    places: &[PassagePlace],
    chat: &dyn Fn(&str) -> bool,
) -> Vec<ContextPassage> {
    let index = graph.index();
    let mut texts: HashMap<&str, Option<Arc<str>>> = HashMap::new();
    let mut passages = Vec::new();
    for place in places.iter().filter(|place| !chat(&place.path) && !is_secret_name(&place.path)) {
        let Some(file) = index.file_at(&place.path) else { continue };
        let symbol = place.anchor.as_ref().map_or("", |anchor| anchor.symbol.as_str());
        let named = index.definitions(file).filter(|entry| entry.name() == symbol);
        let moved = place.moved(named.map(|entry| (entry.line(), entry.end_line().max(entry.line()))));
        let read = || workspace::read(root, &place.path).ok().map(|snapshot| snapshot.text);
        let text = texts.entry(&place.path).or_insert_with(read);
        passages.extend(text.as_ref().and_then(|text| ContextPassage::cut(&moved, text)));
    }
    by_worth(passages)
}

fn place_of(path: &str, entry: &Entry<'_>) -> PassagePlace {
    let Anchor { line, end_line, .. } = anchor(entry);
    PassagePlace { path: path.to_owned(), line, end_line, anchor: Some(anchor(entry)), turn: 0, rank: 0 }
}

fn anchor(entry: &Entry<'_>) -> Anchor {
    let line = entry.line().max(1);
    Anchor { symbol: entry.name().to_owned(), line, end_line: entry.end_line().max(line) }
}

/// A question on one short line.
fn in_notice(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(IN_NOTICE).collect();
    if short.len() < line.len() { short + "…" } else { short }
}
