//! How likely a file, and a symbol of it, is needed for a request: what speaks for it added up as log-odds.
//!
//! The weights were fitted on commits of nine repositories in six languages, with the message of a commit as the request
//! and what it changed as needed: a conditional logit for files (McFadden, 1974), since each request chooses among all
//! files of one tree, and a logistic regression for the symbols of a needed file. Fits on one half of the repositories and
//! on the other agree within a few tenths, so the weights are rounded to what both say.

/// Steepest log-odds that are told apart from certainty.
const CERTAIN: f64 = 30.0;

/// What each kind of evidence adds to the log-odds of a file. The evidence itself is from 0 to 1, as a part of the highest
/// in the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct FileWeights {
    /// The words of its best passage: a change has one place where it is at home.
    pub best: f64,
    /// The words of its three best passages together: a file that speaks of it again and again.
    pub three: f64,
    /// Its words as one text: words of the request that stand far apart.
    pub whole: f64,
    /// The words of its path: what people name a file after is what they say when they change it.
    pub path: f64,
    /// Its name, or that of its folder, beginning as words of the request do. People who ask say `routing` where the file is
    /// called `router`; whoever changes it says the word itself.
    pub opening: f64,
    /// The logarithm of its PageRank: what much else stands on is what questions are about.
    pub prominence: f64,
    /// Being named, or defining a name that is, for each vote.
    pub named: f64,
    /// Past commits whose subjects resemble the request.
    pub resembling: f64,
    /// Past commits that changed it together with the leaders, the files that the evidence above speaks for most.
    pub with_leaders: f64,
    /// Past commits that changed it together with the files of the chat.
    pub with_chat: f64,
    /// Nearness to the leaders along references and imports, where there is no chat.
    pub near_leaders: f64,
    /// Nearness to the files of the chat.
    pub near_chat: f64,
    /// Being edited and not yet committed, or just before. Not measured, for commits do not tell: as much as a weak match.
    pub edited: f64,
    /// Lying aside: tests (unless asked for), examples, documentation, vendored code.
    pub aside: f64,
    /// Having no code in it: prose, data, settings. Twice as much as was fitted when the words of such files were not
    /// counted: now that they are, prose says every word of a request.
    pub no_code: f64,
}

impl Default for FileWeights {
    fn default() -> Self {
        Self {
            best: 1.6,
            three: 1.0,
            whole: 1.6,
            path: 1.4,
            opening: 0.0,
            prominence: 0.0,
            named: 0.8,
            resembling: 1.8,
            with_leaders: 1.0,
            with_chat: 1.8,
            near_leaders: 0.7,
            near_chat: 1.6,
            edited: 1.0,
            aside: -2.8,
            no_code: -2.0,
        }
    }
}

/// What is known of a symbol.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SymbolEvidence {
    /// Score of its best passage, as a part of the highest in the repository.
    pub passage: f64,
    /// The same as a part of the highest in its file.
    pub passage_in_file: f64,
    /// Its lines.
    pub lines: u32,
    /// A field or a value, or a test that nobody asked for.
    pub minor: bool,
    /// What references from the chat say: one by the number of files that define the name.
    pub from_chat: f64,
    /// Votes of the request for the name as it is written.
    pub votes: f64,
}

/// What each kind of evidence adds to the log-odds of a symbol whose file is needed.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolWeights {
    /// Before all evidence.
    pub base: f64,
    /// For each logarithm of the number of symbols in the file: one of many is seldom the one.
    pub crowd: f64,
    /// Its best passage in the repository, and within the file.
    pub passage: f64,
    /// Its best passage among those of its file.
    pub passage_in_file: f64,
    /// For each logarithm of its lines, up to [`SymbolWeights::longest`]: long functions are changed, and say, more.
    pub length: f64,
    /// The logarithm from which length says nothing more.
    pub longest: f64,
    /// Being minor.
    pub minor: f64,
    /// References from the chat.
    pub from_chat: f64,
    /// A vote of the request. The words of the name count in its passages already.
    pub votes: f64,
}

impl Default for SymbolWeights {
    fn default() -> Self {
        Self {
            base: -1.75,
            crowd: -0.9,
            passage: 1.5,
            passage_in_file: 1.6,
            length: 0.45,
            longest: 5.0,
            minor: -1.3,
            from_chat: 0.3,
            votes: 1.0,
        }
    }
}

impl SymbolWeights {
    /// The probability that a symbol of a needed file with `crowd` symbols is needed.
    pub fn chance(&self, evidence: &SymbolEvidence, crowd: usize) -> f64 {
        let minor = f64::from(u8::from(evidence.minor));
        logistic(
            self.base
                + self.crowd * (crowd.max(1) as f64).ln()
                + self.passage * evidence.passage
                + self.passage_in_file * evidence.passage_in_file
                + self.length * f64::from(evidence.lines).ln_1p().min(self.longest)
                + self.minor * minor
                + self.from_chat * evidence.from_chat
                + self.votes * evidence.votes,
        )
    }
}

/// The probability that the file at a place of the ranking, counted from 0, is needed, by its share of all odds. Neither
/// says all: requests differ in how many files they need, and the model is too sure of those that it understands.
pub fn file_chance(share: f64, place: usize) -> f64 {
    const BASE: f64 = 1.6;
    const SHARE: f64 = 0.7;
    const PLACE: f64 = -0.7;
    logistic(BASE + SHARE * share.max(f64::MIN_POSITIVE).ln().max(-CERTAIN) + PLACE * (place as f64 + 1.5).ln())
}

/// The share of each file in the odds of all: the probability that it is the one, were there only one.
pub fn odds_shares(log_odds: &[f64]) -> Vec<f64> {
    let highest = log_odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !highest.is_finite() {
        return vec![0.0; log_odds.len()];
    }
    let odds: Vec<f64> = log_odds.iter().map(|log| (log - highest).exp()).collect();
    let total: f64 = odds.iter().sum();
    odds.into_iter().map(|odds| odds / total).collect()
}

/// Adds `weight` times each entry of `signal` to `log_odds`. An empty signal says nothing.
pub fn add(log_odds: &mut [f64], weight: f64, signal: &[f64]) {
    for (sum, signal) in log_odds.iter_mut().zip(signal) {
        *sum += weight * signal;
    }
}

/// The `most` files with the highest log-odds, best first, with their shares among themselves.
pub fn leaders(log_odds: &[f64], most: usize) -> Vec<(u32, f64)> {
    let mut order: Vec<(u32, f64)> =
        (0u32..).zip(log_odds.iter().copied()).filter(|entry| entry.1.is_finite()).collect();
    let by_odds = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if order.len() > most && most > 0 {
        order.select_nth_unstable_by(most - 1, by_odds);
    }
    order.truncate(most);
    order.sort_by(by_odds);
    let shares = odds_shares(&order.iter().map(|entry| entry.1).collect::<Vec<_>>());
    order.into_iter().zip(shares).map(|((file, _), share)| (file, share)).collect()
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds.clamp(-CERTAIN, CERTAIN)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn leaders_are_the_best_and_share_among_themselves() {
        let found = leaders(&[0.0, 3.0, f64::NEG_INFINITY, 3.0, 1.0], 3);
        assert_eq!(found.iter().map(|leader| leader.0).collect::<Vec<_>>(), [1, 3, 4]);
        assert!((found.iter().map(|leader| leader.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(found[0].1 == found[1].1 && found[1].1 > found[2].1);
        assert!(leaders(&[], 3).is_empty() && leaders(&[1.0], 0).is_empty());
    }

    #[test]
    fn a_file_is_likelier_for_its_share_and_its_place() {
        assert!(file_chance(0.5, 0) > file_chance(0.2, 0));
        assert!(file_chance(0.2, 0) > file_chance(0.2, 1));
        assert!(file_chance(0.0, 9_000) > 0.0);
    }

    #[test]
    fn each_kind_of_evidence_moves_a_symbol_its_way() {
        let weights = SymbolWeights::default();
        let plain = SymbolEvidence { lines: 3, ..SymbolEvidence::default() };
        let chance = |evidence: SymbolEvidence| weights.chance(&evidence, 10);
        for better in [
            SymbolEvidence { passage: 0.5, ..plain },
            SymbolEvidence { passage_in_file: 0.5, ..plain },
            SymbolEvidence { lines: 30, ..plain },
            SymbolEvidence { from_chat: 1.0, ..plain },
            SymbolEvidence { votes: 1.0, ..plain },
        ] {
            assert!(chance(better) > chance(plain), "{better:?}");
        }
        assert!(chance(SymbolEvidence { minor: true, ..plain }) < chance(plain));
        assert!(weights.chance(&plain, 100) < weights.chance(&plain, 10));
        let longer = SymbolEvidence { lines: 9_000, ..plain };
        assert_eq!(chance(longer), chance(SymbolEvidence { lines: 90_000, ..plain }), "from some length on");
    }

    proptest! {
        #[test]
        fn chances_are_chances(log_odds in prop::collection::vec(-1e3f64..1e3, 0..9), place in 0usize..10_000) {
            let shares = odds_shares(&log_odds);
            prop_assert!(log_odds.is_empty() || (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for share in shares {
                let chance = file_chance(share, place);
                prop_assert!((0.0..1.0).contains(&chance), "{}", chance);
            }
        }
    }
}
