//! The weights of all signals. Those of the references are from aider's published repo map, adjusted by measurements on its releases.

use super::features::{self, LinearModel};
use super::plan::Gains;

/// The signals that [`Weights::without`] can remove, to measure the value of each.
pub const SIGNALS: [&str; 8] = ["request", "history", "graph", "imports", "paths", "kind", "chat", "size"];

/// The weights of the tag graph and of the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Factor for a long compound name, which is rarely shared by chance.
    pub compound: f64,
    /// Minimum length of a long compound name, in characters.
    pub compound_length: usize,
    /// Factor for a name with a leading underscore.
    pub private: f64,
    /// Factor for a name that more than [`Weights::common_above`] files define.
    pub common: f64,
    /// Maximum number of defining files of a name that is not common.
    pub common_above: usize,
    /// Weight of the edge from a file to an unreferenced definition in it.
    pub unused: f64,
    /// Whether a reference to a name that its own file defines stays in this file. Otherwise it votes for every file that defines the
    /// name.
    pub prefer_local: bool,
    /// Share of the votes of a file for its own symbols that counts for the rank of the file. At 1, a file with few references to others
    /// keeps all rank that reaches it.
    pub home: f64,
    /// The iteration of the rank stops when it changes by less than this value per file.
    pub tolerance: f64,
    /// Additional teleport share of landmarks (README, manifests), as a multiple of the uniform share.
    pub landmark: f64,
    /// Without a request: factor for the rank of tests, examples, vendored code and documentation.
    pub peripheral: f64,
    /// Whether imports select the definer of a reference, and are edges of the neighbourhood.
    pub imports: bool,
    /// With a request: weights of the features of files and of definitions.
    pub model: LinearModel,
    /// With a request: gains of paths, names and lines.
    pub asked: Gains,
    /// Without a request: the same. A path alone has little value then.
    pub unasked: Gains,
}

impl Weights {
    /// The published formula without adjustments; the square root of the reference count is taken once for all definers.
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
            peripheral: 1.0,
            imports: true,
            model: LinearModel::default(),
            asked: Gains { path: 3.0, name: 1.2, line: 1.0 },
            unasked: Gains { path: 0.2, name: 0.2, line: 1.0 },
        }
    }

    /// Removes one of [`SIGNALS`] from these weights. An unknown name has no effect.
    pub fn without(mut self, signal: &str) -> Self {
        let labels: &[&str] = match signal {
            "request" => &features::OF_REQUEST,
            "history" => &features::OF_HISTORY,
            "graph" => &features::OF_GRAPH,
            "paths" => &features::OF_PATHS,
            "kind" => &features::OF_KIND,
            "chat" => &features::OF_CHAT,
            "size" => &features::OF_SIZE,
            _ => &[],
        };
        self.model.remove(labels);
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

    /// The vote for each definer by a file that references a name with this factor `count` times.
    pub fn of_reference(&self, factor: f64, count: usize) -> f64 {
        factor * (count as f64).sqrt()
    }
}

impl Default for Weights {
    /// The published formula with local names first, higher landmarks, and lower tests and vendored code.
    fn default() -> Self {
        Self { prefer_local: true, home: 0.0, tolerance: 1e-8, landmark: 1.0, peripheral: 0.3, ..Self::plain() }
    }
}

/// Whether a name is snake_case, kebab-case or camelCase.
pub fn is_compound(name: &str) -> bool {
    let has = |test: fn(char) -> bool| name.chars().any(test);
    let joined = has(|c| c == '_' || c == '-') && has(char::is_alphabetic);
    joined || (has(char::is_uppercase) && has(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compound_names_are_recognized() {
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
    fn a_count_has_the_weight_of_its_square_root() {
        let weights = Weights::plain();
        assert_eq!(weights.of_reference(1.0, 9), 3.0);
        assert_eq!(weights.of_reference(2.0, 4), 4.0);
    }
}
