//! Joining what was found by words with what was found by meaning.
//!
//! Their scores have nothing in common, so ranks are joined: a hit is worth the sum of one over its rank in each list, moved by a
//! constant that keeps the first few from deciding everything (reciprocal rank fusion; Cormack, Clarke and Büttcher, 2009).

use std::collections::BTreeMap;

use super::hit::Hit;
use super::question::Shape;

/// What is added to each rank; that of the paper.
const K: f64 = 60.0;
/// What the list by meaning counts for a sentence, of 1 for both. As semble measured it.
const SENTENCE: f64 = 0.5;
/// What it counts for a name or a path, which words know better. As semble measured it.
const NAME: f64 = 0.3;
/// What the next hit of a file is worth beside the one before, in a list by meaning: those of a file are all alike.
const NEXT_OF_A_FILE: f64 = 0.5;
/// How many times the hits that are wanted each list has to bring: a hit that both have may stand low in one.
pub const OVERFETCH: usize = 5;

/// The hits by meaning with those of one file kept from filling the list, best first.
pub fn spread(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(Hit::best_first);
    let mut worth: BTreeMap<std::sync::Arc<str>, f64> = BTreeMap::new();
    for hit in &mut hits {
        let worth = worth.entry(std::sync::Arc::clone(&hit.path)).or_insert(1.0);
        hit.score = hit.score.max(0.0) * *worth;
        *worth *= NEXT_OF_A_FILE;
    }
    hits.sort_by(Hit::best_first);
    hits
}

/// The best of both lists, each best first, for a question of that shape: `limit` of them at most. A hit that is in both is as the list
/// by words has it. Scores are between 0 and 1.
pub fn fused(by_words: Vec<Hit>, by_meaning: Vec<Hit>, shape: Shape, limit: usize) -> Vec<Hit> {
    let weight = match shape {
        Shape::Sentence => SENTENCE,
        Shape::Symbol | Shape::Path => NAME,
    };
    // The first of both lists has 1.
    let worth = |rank: usize| (K + 1.0) / (K + 1.0 + rank as f64);
    let mut hits = by_words;
    for (rank, hit) in hits.iter_mut().enumerate() {
        hit.score = (1.0 - weight) * worth(rank);
    }
    let known = hits.len();
    let mut met = vec![false; known];
    for (rank, mut hit) in by_meaning.into_iter().enumerate() {
        let points = weight * worth(rank);
        // Several parts of a definition may lie within one passage: the best of them speaks for it.
        let same = hits.iter().take(known).position(|other| other.is_about(&hit));
        match same.and_then(|at| Some((hits.get_mut(at)?, met.get_mut(at)?))) {
            Some((_, true)) => {}
            Some((other, met)) => {
                other.score += points;
                *met = true;
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
            score,
        }
    }

    fn places(hits: &[Hit]) -> Vec<(&str, u32)> {
        hits.iter().map(|hit| (&*hit.path, hit.line)).collect()
    }

    #[test]
    fn what_both_lists_have_comes_first() {
        let words = vec![hit("a", 1, 9.0), hit("b", 1, 8.0)];
        let meaning = vec![hit("c", 1, 0.9), hit("b", 1, 0.8)];
        let both = fused(words, meaning, Shape::Sentence, 9);
        assert_eq!(places(&both), [("b", 1), ("a", 1), ("c", 1)]);
        assert!(both.iter().all(|hit| (0.0..=1.0).contains(&hit.score)), "{both:?}");
    }

    #[test]
    fn words_count_for_more_when_a_name_is_asked_for() {
        let words = vec![hit("a", 1, 9.0)];
        let meaning = vec![hit("c", 1, 0.9)];
        let ratio = |shape| {
            let both = fused(words.clone(), meaning.clone(), shape, 9);
            both[0].score / both[1].score
        };
        assert!((ratio(Shape::Sentence) - 1.0).abs() < 1e-9 && ratio(Shape::Symbol) > 2.0 && ratio(Shape::Path) > 2.0);
    }

    #[test]
    fn without_one_of_the_lists_the_order_is_that_of_the_other() {
        let list = vec![hit("b", 1, 9.0), hit("a", 1, 8.0), hit("c", 7, 1.0)];
        let order = places(&list);
        assert_eq!(places(&fused(list.clone(), Vec::new(), Shape::Sentence, 9)), order);
        assert_eq!(places(&fused(Vec::new(), list.clone(), Shape::Symbol, 2)), order[..2]);
    }

    #[test]
    fn parts_of_one_passage_count_once() {
        let mut parts = vec![hit("a", 1, 0.9), hit("a", 1, 0.8)];
        parts[1].line = 3;
        let both = fused(vec![hit("a", 1, 1.0)], parts, Shape::Sentence, 9);
        assert_eq!(both.len(), 1);
        assert!(both[0].score <= 1.0);
    }

    #[test]
    fn one_file_does_not_fill_the_list() {
        let near = (1..=5).map(|line| hit("a", line * 10, 0.9 - f64::from(line) / 100.0));
        let hits = spread(near.chain([hit("b", 1, 0.5), hit("c", 1, 0.46)]).collect());
        assert_eq!(places(&hits)[..3], [("a", 10), ("b", 1), ("c", 1)]);
    }
}
