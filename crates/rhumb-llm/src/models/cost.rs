//! Prices of tokens, amounts of money, and a ledger of what requests cost.

use super::model::Model;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Prices {
    /// Uncached input.
    pub input: f64,
    /// Output, including thinking.
    pub output: f64,
    /// Input that is read from the server's cache.
    pub cache_read: f64,
    /// Input that is written to the server's cache.
    pub cache_write: f64,
    /// Prices of long requests, if they differ. Only the first step is supported.
    pub long: Option<LongPrices>,
}

/// Prices in US dollars per million tokens for all tokens of a long request.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LongPrices {
    /// A request is long if its input, including cached tokens, has more tokens than this.
    pub above: u64,
    /// Like [`Prices::input`].
    pub input: f64,
    /// Like [`Prices::output`].
    pub output: f64,
    /// Like [`Prices::cache_read`].
    pub cache_read: f64,
    /// Like [`Prices::cache_write`].
    pub cache_write: f64,
}

/// Token counts by price. The three kinds of input do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Uncached input.
    pub fresh: u64,
    /// Input that was read from the cache.
    pub cache_read: u64,
    /// Input that was written to the cache.
    pub cache_write: u64,
    /// Output, including thinking.
    pub output: u64,
}

impl Tokens {
    /// Total input.
    pub fn input(self) -> u64 {
        self.fresh.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.fresh = self.fresh.saturating_add(other.fresh);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
    }
}

impl Prices {
    /// Returns the cost of one request. Costs of several requests must be computed separately, since long requests
    /// have other prices.
    pub fn cost(&self, tokens: Tokens) -> Dollars {
        let long = self.long.filter(|long| tokens.input() > long.above);
        let [input, output, cache_read, cache_write] = match long {
            Some(long) => [long.input, long.output, long.cache_read, long.cache_write],
            None => [self.input, self.output, self.cache_read, self.cache_write],
        };
        let paid = [
            Dollars::for_tokens(tokens.fresh, input),
            Dollars::for_tokens(tokens.cache_read, cache_read),
            Dollars::for_tokens(tokens.cache_write, cache_write),
            Dollars::for_tokens(tokens.output, output),
        ];
        paid.into_iter().sum()
    }
}

/// An amount of US dollars in whole picodollars, so that sums are exact and independent of their order. Saturates at
/// eighteen million dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dollars(u64);

/// Picodollars per dollar.
const PICO: f64 = 1e12;

impl Dollars {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Creates an amount. Negative amounts become zero.
    pub fn new(dollars: f64) -> Self {
        // The cast saturates and converts NaN to zero.
        Self((dollars * PICO).round() as u64)
    }

    fn for_tokens(tokens: u64, per_million: f64) -> Self {
        Self(Self::new(per_million / 1e6).0.saturating_mul(tokens))
    }

    /// The amount in dollars.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PICO
    }

    /// Returns the difference to `other`, or zero if this is less.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Dollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Dollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Dollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Dollars {
    /// Uses as few digits as distinguish amounts of that size. A non-zero amount is never shown as zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_f64() {
            0.0 => f.write_str("$0"),
            amount if amount < 0.0001 => f.write_str("<$0.0001"),
            amount if amount < 0.1 => write!(f, "${amount:.4}"),
            amount => write!(f, "${amount:.2}"),
        }
    }
}

/// The cost of one or more requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spend {
    /// Number of requests.
    pub requests: u64,
    /// Total token counts.
    pub tokens: Tokens,
    /// Cost of the requests with known prices.
    pub known: Dollars,
    /// Number of requests with unknown prices. `known` does not include them.
    pub unpriced: u64,
}

impl Spend {
    /// The cost of one request to `model`.
    pub fn of_request(model: &Model, tokens: Tokens) -> Self {
        let cost = model.prices.map(|prices| prices.cost(tokens));
        Self { requests: 1, tokens, known: cost.unwrap_or_default(), unpriced: u64::from(cost.is_none()) }
    }
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.tokens += other.tokens;
        self.known += other.known;
        self.unpriced += other.unpriced;
    }
}

impl Sum for Spend {
    fn sum<I: Iterator<Item = Self>>(spends: I) -> Self {
        spends.fold(Self::default(), |mut sum, spend| {
            sum += spend;
            sum
        })
    }
}

impl fmt::Display for Spend {
    /// Formats as `$0.0123`, `price unknown`, or both: `$0.0123 + 2 requests of unknown price`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unpriced {
            0 => self.known.fmt(f),
            all if all == self.requests => f.write_str("price unknown"),
            1 => write!(f, "{} + 1 request of unknown price", self.known),
            some => write!(f, "{} + {some} requests of unknown price", self.known),
        }
    }
}

/// Costs of a session by turn and model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// By turn, then by model name.
    turns: BTreeMap<u64, BTreeMap<String, Spend>>,
}

impl Ledger {
    /// Records a request with a complete or partial answer and returns its cost. Auxiliary requests such as summaries
    /// belong to the turn that they serve.
    pub fn record(&mut self, turn: u64, model: &Model, tokens: Tokens) -> Spend {
        let spend = Spend::of_request(model, tokens);
        *self.turns.entry(turn).or_default().entry(model.name.clone()).or_default() += spend;
        spend
    }

    /// Returns the cost of a turn so far.
    pub fn turn(&self, turn: u64) -> Spend {
        self.turns.get(&turn).into_iter().flat_map(BTreeMap::values).copied().sum()
    }

    /// Returns the total cost so far.
    pub fn session(&self) -> Spend {
        self.turns.values().flat_map(BTreeMap::values).copied().sum()
    }

    /// Returns the cost of each model so far, sorted by name.
    pub fn models(&self) -> BTreeMap<&str, Spend> {
        let mut models: BTreeMap<&str, Spend> = BTreeMap::new();
        for (model, spend) in self.turns.values().flatten() {
            *models.entry(model).or_default() += *spend;
        }
        models
    }

    /// Checks whether a request with an expected cost of `estimate` (`None` if unknown) stays within `cap`.
    pub fn check_cap(&self, cap: Dollars, estimate: Option<Dollars>) -> CapCheck {
        let session = self.session();
        let with_request = session.known + estimate.unwrap_or_default();
        if with_request > cap {
            return CapCheck::Exceeds { by: with_request.saturating_sub(cap) };
        }
        if estimate.is_none() || session.unpriced > 0 { CapCheck::Unknown } else { CapCheck::Within }
    }
}

/// Result of [`Ledger::check_cap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapCheck {
    /// The cap is not reached.
    Within,
    /// The known costs alone exceed the cap. The request must not be sent.
    Exceeds {
        /// The excess.
        by: Dollars,
    },
    /// This request or an earlier one has no known price, so the user has to decide.
    Unknown,
}

/// Returns the maximum cost of a request without cache hits and with an answer of `output` tokens. `None` if the
/// price is unknown.
pub fn estimate(model: &Model, input: u64, output: u64) -> Option<Dollars> {
    let prices = model.prices?;
    let fresh = prices.cost(Tokens { fresh: input, output, ..Tokens::default() });
    // Writing the prompt to the cache can cost more than sending it.
    let kept = prices.cost(Tokens { cache_write: input, output, ..Tokens::default() });
    Some(fresh.max(kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{LongPrices, Prices};
    use proptest::prelude::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let prices = Prices { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75, long: None };
        let tokens = Tokens { fresh: 1_000_000, cache_read: 1_000_000, cache_write: 1_000_000, output: 1_000_000 };
        assert_eq!(prices.cost(tokens), Dollars::new(22.05));
        assert_eq!(tokens.input(), 3_000_000);
    }

    #[test]
    fn long_prices_apply_to_all_tokens_of_a_long_request() {
        let long = LongPrices { above: 200_000, input: 2.0, output: 4.0, ..LongPrices::default() };
        let prices = Prices { input: 1.0, output: 2.0, long: Some(long), ..Prices::default() };
        let tokens = |fresh, cache_read| Tokens { fresh, cache_read, output: 1_000, ..Tokens::default() };
        assert_eq!(prices.cost(tokens(200_000, 0)), Dollars::new(0.202));
        assert_eq!(prices.cost(tokens(200_000, 1)), Dollars::new(0.404));
    }

    #[test]
    fn amounts_are_short_and_never_round_to_zero() {
        let shown = [0.0, 0.000_000_1, 0.00123, 0.0456, 0.5, 12.345].map(|amount| Dollars::new(amount).to_string());
        assert_eq!(shown, ["$0", "<$0.0001", "$0.0012", "$0.0456", "$0.50", "$12.35"]);
    }

    #[test]
    fn invalid_amounts_count_as_zero() {
        assert_eq!(Dollars::new(-1.0), Dollars::ZERO);
        assert_eq!(Dollars::new(f64::NAN), Dollars::ZERO);
        assert_eq!(Dollars::new(1e30) + Dollars::new(1.0), Dollars(u64::MAX));
    }

    fn model(name: &str, prices: Option<Prices>) -> Model {
        Model { prices, ..Model::unknown(name) }
    }

    fn cheap() -> Model {
        model("cheap", Some(Prices { input: 1.0, output: 2.0, cache_read: 0.1, cache_write: 1.25, long: None }))
    }

    #[test]
    fn costs_are_added_by_request_turn_model_and_session() {
        let mut ledger = Ledger::default();
        let tokens = Tokens { fresh: 1_000, output: 1_000, ..Tokens::default() };
        let request = ledger.record(1, &cheap(), tokens);
        ledger.record(1, &model("other", None), tokens);
        ledger.record(2, &cheap(), tokens);
        assert_eq!(request.to_string(), "$0.0030");
        assert_eq!(ledger.turn(1).to_string(), "$0.0030 + 1 request of unknown price");
        assert_eq!(ledger.turn(2).to_string(), "$0.0030");
        assert_eq!(ledger.turn(3), Spend::default());
        assert_eq!(ledger.session().known, Dollars::new(0.006));
        let models: Vec<_> = ledger.models().into_iter().map(|(name, spend)| format!("{name} {spend}")).collect();
        assert_eq!(models, ["cheap $0.0060", "other price unknown"]);
    }

    #[test]
    fn a_request_that_would_exceed_the_cap_is_detected() {
        let mut ledger = Ledger::default();
        ledger.record(1, &cheap(), Tokens { fresh: 500_000, ..Tokens::default() });
        let cap = Dollars::new(1.0);
        assert_eq!(ledger.check_cap(cap, Some(Dollars::new(0.5))), CapCheck::Within);
        assert_eq!(ledger.check_cap(cap, Some(Dollars::new(0.75))), CapCheck::Exceeds { by: Dollars::new(0.25) });
        assert_eq!(ledger.check_cap(cap, None), CapCheck::Unknown);
        ledger.record(1, &model("other", None), Tokens::default());
        assert_eq!(ledger.check_cap(cap, Some(Dollars::ZERO)), CapCheck::Unknown);
    }

    #[test]
    fn an_estimate_assumes_the_most_expensive_way_to_send_the_prompt() {
        assert_eq!(estimate(&cheap(), 1_000_000, 0), Some(Dollars::new(1.25)));
        assert_eq!(estimate(&model("other", None), 1, 1), None);
    }

    fn entries() -> impl Strategy<Value = Vec<(u64, usize, Tokens)>> {
        let count = 0u64..10_000_000;
        let tokens = (count.clone(), count.clone(), count.clone(), count)
            .prop_map(|(fresh, cache_read, cache_write, output)| Tokens { fresh, cache_read, cache_write, output });
        prop::collection::vec((0u64..4, 0usize..3, tokens), 0..20)
    }

    fn models() -> [Model; 3] {
        let long = LongPrices { above: 200_000, input: 0.37, output: 7.1, cache_read: 0.013, cache_write: 0.41 };
        let odd = Prices { input: 0.19, output: 3.3, cache_read: 0.007, cache_write: 0.21, long: Some(long) };
        [cheap(), model("odd", Some(odd)), model("unpriced", None)]
    }

    fn ledger(entries: &[(u64, usize, Tokens)]) -> Ledger {
        let mut ledger = Ledger::default();
        for (turn, at, tokens) in entries {
            ledger.record(*turn, &models()[*at], *tokens);
        }
        ledger
    }

    proptest! {
        #[test]
        fn sums_do_not_depend_on_the_order(
            (entries, shuffled) in entries().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        ) {
            prop_assert_eq!(ledger(&entries), ledger(&shuffled));
        }

        #[test]
        fn turns_and_models_add_up_to_the_session(entries in entries()) {
            let ledger = ledger(&entries);
            prop_assert_eq!((0..4).map(|turn| ledger.turn(turn)).sum::<Spend>(), ledger.session());
            prop_assert_eq!(ledger.models().into_values().sum::<Spend>(), ledger.session());
            prop_assert_eq!(ledger.session().requests, entries.len() as u64);
        }

        #[test]
        fn unknown_prices_are_visible(entries in entries(), cap in 0.0f64..1_000.0) {
            let ledger = ledger(&entries);
            let unpriced = entries.iter().filter(|(_, at, _)| *at == 2).count() as u64;
            let session = ledger.session();
            prop_assert_eq!(session.unpriced, unpriced);
            prop_assert_eq!(session.to_string().contains("unknown"), unpriced > 0);
            let check = ledger.check_cap(Dollars::new(cap), Some(Dollars::ZERO));
            prop_assert!(unpriced == 0 || check != CapCheck::Within);
        }

        #[test]
        fn an_estimate_is_not_less_than_the_cost(input in 0u64..400_000, cached in 0u64..400_000, output in 0u64..9_000) {
            let odd = &models()[1];
            let cache_read = cached.min(input);
            let tokens = Tokens { fresh: input - cache_read, cache_read, cache_write: 0, output };
            prop_assert!(Spend::of_request(odd, tokens).known <= estimate(odd, input, output).unwrap());
        }
    }
}
