//! Fuses the results of the lexical search with those of the vector search.
//!
//! Their scores are not comparable, so ranks are fused: the score of a hit is the sum of 1 / (k + rank) over both lists (reciprocal rank
//! fusion; Cormack, Clarke and Büttcher, 2009).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::search::Hit;
use super::search::QuestionKind;

/// The constant k of the paper.
const K: f64 = 60.0;
/// Weight of the vector search for a sentence; that of the lexical search is the rest to 1. The value of semble.
const SENTENCE_WEIGHT: f64 = 0.5;
/// Weight of the vector search for a name or a path, for which the lexical search is better. The value of semble.
const NAME_WEIGHT: f64 = 0.3;
/// Factor per further hit of the same file in the vector search, since the chunks of a file are similar.
const NEXT_OF_A_FILE: f64 = 0.5;
/// Number of hits to request from each list per wanted hit: a hit in both lists may have a low rank in one.
pub const OVERFETCH: usize = 5;

/// Sorts the hits of a vector search, best first, and lowers repeated hits of a file, so that no file fills the list.
pub fn diversified(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(Hit::best_first);
    let mut factor: BTreeMap<Arc<str>, f64> = BTreeMap::new();
    for hit in &mut hits {
        let factor = factor.entry(Arc::clone(&hit.path)).or_insert(1.0);
        hit.score = hit.score.max(0.0) * *factor;
        *factor *= NEXT_OF_A_FILE;
    }
    hits.sort_by(Hit::best_first);
    hits
}

/// Fuses two lists, each best first, for a question of this shape, into at most `limit` hits. A hit in both lists keeps the fields of the
/// lexical one. Scores are between 0 and 1.
pub fn fused(by_words: Vec<Hit>, by_meaning: Vec<Hit>, shape: QuestionKind, limit: usize) -> Vec<Hit> {
    let weight = match shape {
        QuestionKind::Sentence => SENTENCE_WEIGHT,
        QuestionKind::Symbol | QuestionKind::Path => NAME_WEIGHT,
    };
    // A hit that is first in both lists has a score of 1.
    let reciprocal = |rank: usize| (K + 1.0) / (K + 1.0 + rank as f64);
    let mut hits = by_words;
    for (rank, hit) in hits.iter_mut().enumerate() {
        hit.score = (1.0 - weight) * reciprocal(rank);
    }
    let known = hits.len();
    let mut seen = vec![false; known];
    for (rank, mut hit) in by_meaning.into_iter().enumerate() {
        let points = weight * reciprocal(rank);
        // Several chunks of the vector search may overlap with one of the lexical search: only the best counts.
        let same = hits.iter().take(known).position(|other| other.is_about(&hit));
        match same.and_then(|at| Some((hits.get_mut(at)?, seen.get_mut(at)?))) {
            Some((_, true)) => {}
            Some((other, seen)) => {
                other.score += points;
                *seen = true;
            }
            None => {
                hit.score = points;
                hits.push(hit);
            }
        }
    }
    hits.sort_by(Hit::best_first);
    hits.truncate(limit);
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(path: &str, line: u32, score: f64) -> Hit {
        Hit {
            path: path.into(),
            file: 0,
            definition: Some(line),
            line,
            end_line: line + 4,
            symbol: None,
            kind: None,
            container: None,
            signature: String::new(),
            evidence: Vec::new(),
            score,
        }
    }

    fn locations(hits: &[Hit]) -> Vec<(&str, u32)> {
        hits.iter().map(|hit| (&*hit.path, hit.line)).collect()
    }

    #[test]
    fn hits_in_both_lists_come_first() {
        let words = vec![hit("a", 1, 9.0), hit("b", 1, 8.0)];
        let meaning = vec![hit("c", 1, 0.9), hit("b", 1, 0.8)];
        let both = fused(words, meaning, QuestionKind::Sentence, 9);
        assert_eq!(locations(&both), [("b", 1), ("a", 1), ("c", 1)]);
        assert!(both.iter().all(|hit| (0.0..=1.0).contains(&hit.score)), "{both:?}");
    }

    #[test]
    fn the_lexical_search_has_more_weight_for_names() {
        let words = vec![hit("a", 1, 9.0)];
        let meaning = vec![hit("c", 1, 0.9)];
        let ratio = |shape| {
            let both = fused(words.clone(), meaning.clone(), shape, 9);
            both[0].score / both[1].score
        };
        assert!(
            (ratio(QuestionKind::Sentence) - 1.0).abs() < 1e-9
                && ratio(QuestionKind::Symbol) > 2.0
                && ratio(QuestionKind::Path) > 2.0
        );
    }

    #[test]
    fn with_one_list_its_order_is_kept() {
        let list = vec![hit("b", 1, 9.0), hit("a", 1, 8.0), hit("c", 7, 1.0)];
        let order = locations(&list);
        assert_eq!(locations(&fused(list.clone(), Vec::new(), QuestionKind::Sentence, 9)), order);
        assert_eq!(locations(&fused(Vec::new(), list.clone(), QuestionKind::Symbol, 2)), order[..2]);
    }

    #[test]
    fn overlapping_chunks_count_once() {
        let mut parts = vec![hit("a", 1, 0.9), hit("a", 1, 0.8)];
        parts[1].line = 3;
        let both = fused(vec![hit("a", 1, 1.0)], parts, QuestionKind::Sentence, 9);
        assert_eq!(both.len(), 1);
        assert!(both[0].score <= 1.0);
    }

    #[test]
    fn no_file_fills_the_list() {
        let near = (1..=5).map(|line| hit("a", line * 10, 0.9 - f64::from(line) / 100.0));
        let hits = diversified(near.chain([hit("b", 1, 0.5), hit("c", 1, 0.46)]).collect());
        assert_eq!(locations(&hits)[..3], [("a", 10), ("b", 1), ("c", 1)]);
    }
}
