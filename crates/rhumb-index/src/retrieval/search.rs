//! Searching: the files as the map would rank them for the question, and the passages of each that speak of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::hit::Hit;
use super::question::Question;
use super::weights::SearchWeights;
use crate::lexical::Passage;
use crate::repo_map::{MapRequest, Ranking, TagGraph, is_test};

/// Files whose passages are looked at, for each hit that is asked for: few of them have nothing better than another's third.
const FILES_PER_HIT: usize = 3;
/// Passages that one file puts forward.
const MOST_OF_A_FILE: usize = 8;
/// What a passage counts for that has none of the words, beside the best of its file.
const SILENT: f64 = 0.1;
/// What being the definition of a name that was asked for is worth, in best passages of the file.
const DEFINES: f64 = 2.0;

/// The best passages for a question, best first; none where nothing speaks of it.
pub fn search(graph: &Arc<TagGraph>, question: &Question, weights: &SearchWeights) -> Vec<Hit> {
    let request = request(question);
    let ranking = Ranking::new(graph, &request, &weights.map);
    if !ranking.is_requested() {
        return Vec::new();
    }
    let mut files: Vec<(u32, f64)> = (0u32..).zip(ranking.scores.files.iter().copied()).collect();
    files.retain(|(_, share)| *share > 0.0);
    files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    files.truncate(question.limit.saturating_mul(FILES_PER_HIT).max(1));
    let defining = question.name().and_then(|name| graph.index().name_number(name));
    for file in defining.into_iter().flat_map(|name| graph.defining_files(name)).take(question.limit) {
        if files.iter().all(|(known, _)| known != file) {
            files.push((*file, ranking.scores.files.get(*file as usize).copied().unwrap_or(0.0)));
        }
    }
    let named = question.names();
    let mut hits: Vec<Hit> = files.iter().flat_map(|&file| of_file(&ranking, file, &named, weights)).collect();
    definitions_first(question, &mut hits);
    hits.truncate(question.limit);
    hits
}

/// Sorts hits by score. Where the question is a name, the definitions that have it precede all else, the best first.
pub fn definitions_first(question: &Question, hits: &mut [Hit]) {
    hits.sort_by(Hit::best_first);
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let Some(name) = question.name() else { return };
    // A long definition has several passages: the first of them is its head.
    let mut heads: BTreeMap<(Arc<str>, Option<u32>), u32> = BTreeMap::new();
    for hit in hits.iter().filter(|hit| hit.symbol.as_deref() == Some(name)) {
        let line = heads.entry((Arc::clone(&hit.path), hit.definition)).or_insert(hit.line);
        *line = hit.line.min(*line);
    }
    for hit in hits.iter_mut().filter(|hit| hit.symbol.as_deref() == Some(name)) {
        if heads.get(&(Arc::clone(&hit.path), hit.definition)) == Some(&hit.line) {
            hit.score += best;
        }
    }
    hits.sort_by(Hit::best_first);
}

/// The request of the map that a question is.
pub(super) fn request(question: &Question) -> MapRequest {
    MapRequest {
        message: question.text.clone(),
        mentioned_idents: question.parts().map(str::to_owned).chain(question.hints.iter().cloned()).collect(),
        ..MapRequest::default()
    }
}

/// What a file puts forward, best first.
fn of_file(ranking: &Ranking, (file, share): (u32, f64), named: &[&str], weights: &SearchWeights) -> Vec<Hit> {
    let Some(terms) = ranking.index().record(file).map(|record| record.terms()) else { return Vec::new() };
    let scored = ranking.relevance.files.get(file as usize).map_or(&[][..], |relevance| &relevance.passages);
    let best = scored.iter().map(|passage| passage.1).fold(f64::MIN_POSITIVE, f64::max);
    let mut score = vec![SILENT; terms.passages()];
    for &(passage, points) in scored {
        if let Some(cell) = score.get_mut(passage as usize) {
            *cell = SILENT + (1.0 - SILENT) * points / best;
        }
    }
    let mut passages: Vec<(Passage, f64)> = Vec::new();
    let mut seen = None;
    for (at, score) in score.into_iter().enumerate() {
        let Some(passage) = terms.passage(at) else { continue };
        let entry = passage.definition.and_then(|definition| ranking.index().definition(file, definition));
        let is_first = passage.definition != seen;
        seen = passage.definition;
        let defines = is_first && entry.is_some_and(|entry| named.contains(&entry.name()));
        let is_test = !ranking.scores.asks_for_tests && entry.is_some_and(is_test);
        let score = score + if defines { DEFINES } else { 0.0 };
        passages.push((passage, if is_test { score * weights.test } else { score }));
    }
    passages.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.line.cmp(&b.0.line)));
    passages.truncate(MOST_OF_A_FILE);
    let top = passages.first().map_or(1.0, |passage| passage.1);
    let mut worth = share;
    let mut hits = Vec::new();
    for (passage, score) in passages {
        hits.push(hit(ranking, file, passage, worth * score / top));
        worth *= weights.next_of_a_file;
    }
    hits
}

fn hit(ranking: &Ranking, file: u32, passage: Passage, score: f64) -> Hit {
    let index = ranking.index();
    let entry = passage.definition.and_then(|definition| index.definition(file, definition));
    Hit {
        path: index.files().get(file as usize).map_or_else(|| "".into(), |file| Arc::clone(&file.path)),
        file,
        definition: passage.definition,
        line: passage.line,
        end_line: passage.end_line.max(passage.line),
        symbol: entry.map(|entry| entry.name().to_owned()),
        kind: entry.map(|entry| entry.kind()),
        container: entry.and_then(|entry| entry.container()).map(str::to_owned),
        signature: entry.map(|entry| entry.signature().to_owned()).unwrap_or_default(),
        score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::Depth;
    use crate::repo_map::{Digest, History, MapFile, MapIndex, Weights};
    use rhumb_syntax::{Language, tags};

    fn graph(files: &[(String, String)]) -> Arc<TagGraph> {
        let file = |(path, text): &(String, String)| {
            let tags = tags(Language::for_path(path).unwrap(), text);
            let digest = Arc::new(Digest::new(text, &tags, Depth::Whole));
            MapFile { path: path.clone(), tags: Arc::new(tags), digest }
        };
        let index = MapIndex::of(&files.iter().map(file).collect::<Vec<_>>());
        Arc::new(TagGraph::new(Arc::new(index), &History::default(), &Weights::default()))
    }

    #[test]
    fn the_definition_that_has_the_name_comes_first() {
        let talk = |at: usize| {
            let uses = format!("    Gate.open(gate_{at})  # the gate of gates\n").repeat(30);
            (format!("gate/gate_{at}.py"), format!("def gate_{at}(gate):\n{uses}"))
        };
        let mut files: Vec<(String, String)> = (0..60).map(talk).collect();
        let body = "    def lift(self):\n        return self.weight * 2\n\n".repeat(60);
        files.push(("tests/zz.py".into(), format!("class Other:\n    pass\n\nclass Gate:\n{body}")));
        let graph = graph(&files);
        for limit in [1, 10] {
            let hits = search(&graph, &Question::new("Gate", limit), &SearchWeights::default());
            assert_eq!((hits[0].symbol.as_deref(), hits[0].line), (Some("Gate"), 4), "{:?}", hits[0]);
            assert!(hits.len() <= limit && hits.is_sorted_by(|one, other| one.score >= other.score));
        }
    }
}
