//! Learns from reported usage how a provider's token counts differ from ours, and corrects estimates by that factor.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{TokenCount, TokenCounter};

/// Maximum number of requests that are kept per model.
const MAX_REQUESTS: usize = 15;

/// Minimum number of requests before the factor is used.
const MIN_REQUESTS: usize = 2;

/// Minimum size of a request in tokens. In smaller requests the tokens that an API adds dominate.
const MIN_REQUEST_TOKENS: usize = 300;

/// Ratios outside of this range are assumed to be errors.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.4..=2.5;

/// For each model, how many tokens its provider counts for one of ours. Serialized between runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Calibration {
    /// The latest ratios by model name, oldest first.
    ratios: BTreeMap<String, Vec<f64>>,
}

impl Calibration {
    /// Adds a text-only request that we counted as `counted` tokens and the provider as `reported`, cached tokens included.
    /// Small requests and implausible ratios are ignored.
    pub fn learn(&mut self, model: &str, counted: usize, reported: usize) {
        let ratio = reported as f64 / counted.max(1) as f64;
        if counted < MIN_REQUEST_TOKENS || !PLAUSIBLE.contains(&ratio) {
            return;
        }
        let ratios = self.ratios.entry(model.to_owned()).or_default();
        ratios.push(ratio);
        let surplus = ratios.len().saturating_sub(MAX_REQUESTS);
        ratios.drain(..surplus);
    }

    /// The provider's tokens for one of ours: the median of the kept ratios, or 1 if there are too few.
    pub fn factor(&self, model: &str) -> f64 {
        let plausible = |ratio: &&f64| PLAUSIBLE.contains(*ratio);
        let mut ratios: Vec<f64> = self.ratios.get(model).into_iter().flatten().filter(plausible).copied().collect();
        if ratios.len() < MIN_REQUESTS {
            return 1.0;
        }
        ratios.sort_unstable_by(f64::total_cmp);
        let (below, above) = (ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]);
        f64::midpoint(below, above)
    }
}

/// Scales the counts of another counter to those of the provider. Exact counts are not scaled.
pub struct Calibrated {
    inner: Arc<dyn TokenCounter>,
    factor: f64,
}

impl Calibrated {
    /// Scales the counts of `inner` by `factor` (see [`Calibration::factor`]).
    pub fn new(inner: Arc<dyn TokenCounter>, factor: f64) -> Self {
        let factor = if inner.exact() { 1.0 } else { factor };
        Self { inner, factor }
    }

    fn scaled(&self, tokens: usize) -> usize {
        (tokens as f64 * self.factor).ceil() as usize
    }
}

impl TokenCounter for Calibrated {
    fn count(&self, text: &str) -> usize {
        self.scaled(self.inner.count(text))
    }

    fn measure(&self, text: &str) -> TokenCount {
        let TokenCount { tokens, error } = self.inner.measure(text);
        TokenCount { tokens: self.scaled(tokens), error: self.scaled(error) }
    }

    fn exact(&self) -> bool {
        self.inner.exact()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter_for_model;
    use proptest::prelude::*;

    #[test]
    fn the_factor_is_the_median_and_outliers_do_not_move_it() {
        let mut known = Calibration::default();
        assert_eq!(known.factor("m"), 1.0);
        for reported in [1_200, 1_210, 1_190, 9_000, 10, 1_200, 2_400] {
            known.learn("m", 1_000, reported);
        }
        assert!((known.factor("m") - 1.2).abs() < 1e-9, "{}", known.factor("m"));
        assert_eq!(known.factor("other"), 1.0);
    }

    #[test]
    fn one_request_or_small_requests_are_not_enough() {
        let mut known = Calibration::default();
        known.learn("m", 1_000, 1_500);
        for _ in 0..9 {
            known.learn("m", 20, 40);
        }
        assert_eq!(known.factor("m"), 1.0);
    }

    #[test]
    fn ratios_are_serialized_by_model_name() {
        let mut known = Calibration::default();
        known.learn("m", 1_000, 1_500);
        let kept = serde_json::to_string(&known).unwrap();
        assert_eq!(kept, r#"{"m":[1.5]}"#);
        assert_eq!(serde_json::from_str::<Calibration>(&kept).unwrap(), known);
    }

    #[test]
    fn an_exact_count_stays_and_an_estimate_is_scaled() {
        let text = "fn main() {}\n".repeat(10);
        let count = |model: &str, factor| Calibrated::new(counter_for_model(model), factor).count(&text);
        assert_eq!(count("gpt-4o", 1.5), counter_for_model("gpt-4o").count(&text));
        assert_eq!(count("claude-sonnet", 1.5), (counter_for_model("claude-sonnet").count(&text) * 3).div_ceil(2));
    }

    proptest! {
        #[test]
        fn the_factor_is_plausible_whatever_is_reported(
            reports in prop::collection::vec((0usize..100_000, 0usize..1_000_000), 0..40)
        ) {
            let mut known = Calibration::default();
            for (counted, reported) in reports {
                known.learn("m", counted, reported);
            }
            prop_assert!(PLAUSIBLE.contains(&known.factor("m")));
            prop_assert!(known.ratios.get("m").is_none_or(|ratios| ratios.len() <= MAX_REQUESTS));
        }
    }
}
