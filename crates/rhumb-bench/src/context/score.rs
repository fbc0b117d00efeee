//! The scores: what part of what a commit touched a map shows, and how early the ranking has its files.

use super::case::GoldSymbol;
use super::shown::Shown;
use crate::mean::Mean;

/// Places of a ranking that count.
const PLACES: usize = 10;

/// Recall, as means over cases.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Means {
    file: Mean,
    name: Mean,
    signature: Mean,
}

impl Means {
    /// Adds what a map shows of some files and of some definitions, each with its own line of the source. A case without
    /// definitions counts for the files alone.
    pub(super) fn add(&mut self, shown: &Shown<'_>, files: &[&str], symbols: &[(&GoldSymbol, &str)]) {
        let count = |test: &dyn Fn(&GoldSymbol, &str) -> bool| {
            symbols.iter().filter(|(symbol, line)| test(symbol, line)).count()
        };
        self.file.add(share(files.iter().filter(|path| shown.has_file(path)).count(), files.len()));
        self.name.add(share(count(&|symbol, _| shown.has_name(&symbol.path, &symbol.name)), symbols.len()));
        self.signature.add(share(count(&|symbol, line| shown.has_line(&symbol.path, line)), symbols.len()));
    }

    /// The part of the files that are named.
    pub fn file(&self) -> f64 {
        self.file.value()
    }

    /// The part of the definitions whose name stands under their file.
    pub fn name(&self) -> f64 {
        self.name.value()
    }

    /// The part of the definitions whose own line stands there.
    pub fn signature(&self) -> f64 {
        self.signature.value()
    }
}

fn share(hits: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| hits as f64 / of as f64)
}

/// The part of the gold that stands at the first ten places; none without gold.
pub(super) fn recall_at_ten(ranked: &[&str], gold: &[&str]) -> Option<f64> {
    let first = &ranked[..ranked.len().min(PLACES)];
    share(gold.iter().filter(|path| first.contains(path)).count(), gold.len())
}

/// Normalised discounted cumulative gain of the first ten places, all gold worth the same; none without gold.
pub(super) fn ndcg_at_ten(ranked: &[&str], gold: &[&str]) -> Option<f64> {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let found: f64 = (0..ranked.len().min(PLACES)).filter(|&place| gold.contains(&ranked[place])).map(gain).sum();
    let best: f64 = (0..gold.len().min(PLACES)).map(gain).sum();
    (best > 0.0).then(|| found / best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_the_first_ten_places() {
        let ranked: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        let ranked: Vec<&str> = ranked.iter().map(String::as_str).collect();
        assert_eq!(recall_at_ten(&ranked, &["0", "9", "10", "gone"]), Some(0.5));
        assert_eq!((recall_at_ten(&[], &["a"]), recall_at_ten(&ranked, &[])), (Some(0.0), None));
    }

    #[test]
    fn an_early_place_is_worth_more() {
        assert_eq!(ndcg_at_ten(&["a", "b", "c"], &["b", "a"]), Some(1.0));
        assert_eq!(ndcg_at_ten(&["x", "a"], &["a"]), Some(1.0 / 3f64.log2()));
        assert_eq!((ndcg_at_ten(&["x"], &["a"]), ndcg_at_ten(&["x"], &[])), (Some(0.0), None));
    }

    #[test]
    fn files_names_and_lines_are_counted_apart() {
        let paths = ["a.rs", "b.rs"];
        let shown = Shown::read("a.rs:\n  pub fn area() {\n  ⋮ side\n", &paths.into_iter().collect());
        let symbol = |name: &str| GoldSymbol { path: "a.rs".into(), name: name.into(), line: 1 };
        let (area, side) = (symbol("area"), symbol("side"));
        let mut means = Means::default();
        means.add(&shown, &paths, &[(&area, "pub fn area() {"), (&side, "let side = 1;")]);
        assert_eq!((means.file(), means.name(), means.signature()), (0.5, 1.0, 0.5));
        means.add(&shown, &["a.rs"], &[]);
        assert_eq!((means.file(), means.name()), (0.75, 1.0), "a case without symbols says nothing of symbols");
    }
}
