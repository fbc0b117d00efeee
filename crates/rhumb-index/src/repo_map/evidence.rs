//! Log-odds of files and definitions, and the probability that one is needed for a request.

/// Maximum absolute log-odds.
const MAX_LOG_ODDS: f64 = 30.0;

/// The probability that the file at a 0-based position of the ranking is needed, given its share of the odds of all files. The share
/// alone is not enough: requests differ in how many files they need, and the model is too confident for those it fits well.
pub fn file_probability(share: f64, position: usize) -> f64 {
    const BASE: f64 = 1.6;
    const SHARE: f64 = 0.7;
    const POSITION: f64 = -0.7;
    logistic(
        BASE + SHARE * share.max(f64::MIN_POSITIVE).ln().max(-MAX_LOG_ODDS) + POSITION * (position as f64 + 1.5).ln(),
    )
}

/// Softmax: the share of each file in the odds of all files. It is the probability that the file is the needed one if exactly one is needed.
pub fn softmax(log_odds: &[f64]) -> Vec<f64> {
    let highest = log_odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !highest.is_finite() {
        return vec![0.0; log_odds.len()];
    }
    let odds: Vec<f64> = log_odds.iter().map(|log| (log - highest).exp()).collect();
    let total: f64 = odds.iter().sum();
    odds.into_iter().map(|odds| odds / total).collect()
}

/// Adds `weight` times each entry of `signal` to `log_odds`. An empty signal adds nothing.
pub fn add(log_odds: &mut [f64], weight: f64, signal: &[f64]) {
    for (sum, signal) in log_odds.iter_mut().zip(signal) {
        *sum += weight * signal;
    }
}

/// The `most` files with the highest log-odds, best first, with their shares of the odds among them.
pub fn leaders(log_odds: &[f64], most: usize) -> Vec<(u32, f64)> {
    let mut order: Vec<(u32, f64)> =
        (0u32..).zip(log_odds.iter().copied()).filter(|entry| entry.1.is_finite()).collect();
    let by_log_odds = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if order.len() > most && most > 0 {
        order.select_nth_unstable_by(most - 1, by_log_odds);
    }
    order.truncate(most);
    order.sort_by(by_log_odds);
    let shares = softmax(&order.iter().map(|entry| entry.1).collect::<Vec<_>>());
    order.into_iter().zip(shares).map(|((file, _), share)| (file, share)).collect()
}

/// The probability of these log-odds.
pub(crate) fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn leaders_are_the_best_files_with_their_shares() {
        let found = leaders(&[0.0, 3.0, f64::NEG_INFINITY, 3.0, 1.0], 3);
        assert_eq!(found.iter().map(|leader| leader.0).collect::<Vec<_>>(), [1, 3, 4]);
        assert!((found.iter().map(|leader| leader.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(found[0].1 == found[1].1 && found[1].1 > found[2].1);
        assert!(leaders(&[], 3).is_empty() && leaders(&[1.0], 0).is_empty());
    }

    #[test]
    fn a_file_is_likelier_with_a_larger_share_and_a_better_position() {
        assert!(file_probability(0.5, 0) > file_probability(0.2, 0));
        assert!(file_probability(0.2, 0) > file_probability(0.2, 1));
        assert!(file_probability(0.0, 9_000) > 0.0);
    }

    proptest! {
        #[test]
        fn probabilities_are_from_zero_to_one(log_odds in prop::collection::vec(-1e3f64..1e3, 0..9), position in 0usize..10_000) {
            let shares = softmax(&log_odds);
            prop_assert!(log_odds.is_empty() || (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for share in shares {
                let probability = file_probability(share, position);
                prop_assert!((0.0..1.0).contains(&probability), "{}", probability);
            }
        }
    }
}
