//! How much each signal counts. Those of the references are those of aider's published repo map, measured on its releases.

use super::evidence::{FileWeights, SymbolWeights};
use super::plan::Gains;

/// The signals that [`Weights::without`] takes away, for measuring what each is worth.
pub const SIGNALS: [&str; 8] = ["request", "history", "graph", "imports", "paths", "aside", "chat", "lengths"];

/// The factors of the tag graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Factor for a name that is compound and long: such names are rarely shared by accident.
    pub compound: f64,
    /// Characters from which a compound name counts as long.
    pub compound_length: usize,
    /// Factor for a name with a leading underscore.
    pub private: f64,
    /// Factor for a name that more than [`Weights::common_above`] files define.
    pub common: f64,
    /// Number of defining files above which a name is common.
    pub common_above: usize,
    /// Weight of the arc from a file to its own definition that nobody references.
    pub unused: f64,
    /// Whether a reference to a name that its own file defines stays in that file. Off, it votes for every file that
    /// defines the name.
    pub prefer_local: bool,
    /// Part of the votes of a file for its own symbols that counts for the rank of the file. At 1 a file that uses little
    /// but itself keeps whatever rank reaches it.
    pub home: f64,
    /// The rank is iterated until it changes by less than this a file.
    pub tolerance: f64,
    /// Extra teleport share of the important root files (README, manifests), as a multiple of a file's uniform share.
    pub landmark: f64,
    /// Factor on the rank of tests, examples, vendored code and documentation when the request says nothing.
    pub aside: f64,
    /// Whether imports tell which definer a reference means, and are arcs themselves.
    pub imports: bool,
    /// What speaks for a file when the request says something.
    pub file: FileWeights,
    /// … and for a symbol.
    pub symbol: SymbolWeights,
    /// What paths, names and lines are worth when the request says what it is about.
    pub asked: Gains,
    /// … and when it does not: a path alone tells little then.
    pub unasked: Gains,
}

impl Weights {
    /// The published formula alone, with one square root of the reference count for all definers.
    pub fn plain() -> Self {
        Self {
            compound: 10.0,
            compound_length: 8,
            private: 0.1,
            common: 0.1,
            common_above: 5,
            unused: 0.1,
            prefer_local: false,
            home: 1.0,
            tolerance: 1e-12,
            landmark: 0.0,
            aside: 1.0,
            imports: true,
            file: FileWeights::default(),
            symbol: SymbolWeights::default(),
            asked: Gains { path: 3.0, name: 1.0, line: 1.0 },
            unasked: Gains { path: 0.2, name: 0.2, line: 1.0 },
        }
    }

    /// These weights without one of [`SIGNALS`]; an unknown name changes nothing.
    pub fn without(mut self, signal: &str) -> Self {
        let (file, symbol) = (&mut self.file, &mut self.symbol);
        let silent: &mut [&mut f64] = match signal {
            "request" => &mut [
                &mut file.best,
                &mut file.three,
                &mut file.whole,
                &mut file.path,
                &mut file.named,
                &mut file.resembling,
                &mut symbol.passage,
                &mut symbol.passage_in_file,
                &mut symbol.votes,
            ],
            "history" => &mut [&mut file.resembling, &mut file.with_leaders, &mut file.with_chat],
            "graph" => &mut [&mut file.prominence, &mut file.near_leaders, &mut file.near_chat, &mut symbol.from_chat],
            "paths" => &mut [&mut file.path, &mut file.opening],
            "aside" => &mut [&mut file.aside, &mut file.no_code],
            "chat" => &mut [&mut file.with_chat, &mut file.near_chat, &mut symbol.from_chat],
            "lengths" => &mut [&mut symbol.length],
            _ => &mut [],
        };
        silent.iter_mut().for_each(|weight| **weight = 0.0);
        self.imports &= signal != "imports";
        self
    }

    /// The factor of a name that `definers` files define.
    pub fn of_name(&self, name: &str, definers: usize) -> f64 {
        let mut factor = 1.0;
        if name.chars().count() >= self.compound_length && is_compound(name) {
            factor *= self.compound;
        }
        if name.starts_with('_') {
            factor *= self.private;
        }
        if definers > self.common_above {
            factor *= self.common;
        }
        factor
    }

    /// What each definer gets from a file that references a name of factor `factor` `count` times.
    pub fn of_reference(&self, factor: f64, count: usize) -> f64 {
        factor * (count as f64).sqrt()
    }
}

impl Default for Weights {
    /// The published formula, and local names first, landmarks lifted, tests and vendored code set aside.
    fn default() -> Self {
        Self { prefer_local: true, home: 0.0, tolerance: 1e-8, landmark: 1.0, aside: 0.3, ..Self::plain() }
    }
}

/// True for snake_case, kebab-case and camelCase names.
pub fn is_compound(name: &str) -> bool {
    let has = |test: fn(char) -> bool| name.chars().any(test);
    let joined = has(|c| c == '_' || c == '-') && has(char::is_alphabetic);
    joined || (has(char::is_uppercase) && has(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compound_names_are_told_from_plain_ones() {
        for name in ["snake_case", "kebab-case", "camelCase", "PascalCase", "_private"] {
            assert!(is_compound(name), "{name}");
        }
        for name in ["plain", "SHOUT", "__", "", "42"] {
            assert!(!is_compound(name), "{name}");
        }
    }

    #[test]
    fn factors_multiply() {
        let weights = Weights::plain();
        let of = |name, definers| weights.of_name(name, definers);
        assert_eq!(of("area", 1), 1.0);
        assert_eq!(of("total_area", 1), 10.0);
        assert_eq!(of("to_area", 1), 1.0, "seven characters are not long");
        assert!((of("_total_area", 6) - 0.1).abs() < 1e-12);
        assert_eq!(of("area", 5), 1.0);
        assert_eq!(of("area", 6), 0.1);
    }

    #[test]
    fn a_count_counts_by_its_square_root() {
        let weights = Weights::plain();
        assert_eq!(weights.of_reference(1.0, 9), 3.0);
        assert_eq!(weights.of_reference(2.0, 4), 4.0);
    }
}
