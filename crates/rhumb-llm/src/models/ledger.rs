//! What was spent: by request, turn, model and in all. A price that is not known is told, never counted as nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::model::Model;
use super::price::{Dollars, Tokens};

/// What one or more requests cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spend {
    /// How many requests.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// What those of a known price cost.
    pub known: Dollars,
    /// How many of the requests have no known price; `known` says nothing of them.
    pub unpriced: u64,
}

impl Spend {
    /// One request to `model`.
    pub fn of_request(model: &Model, tokens: Tokens) -> Self {
        let cost = model.prices.map(|prices| prices.cost(tokens));
        Self { requests: 1, tokens, known: cost.unwrap_or_default(), unpriced: u64::from(cost.is_none()) }
    }

    /// What all of it cost; `None` where a price is not known.
    pub fn total(self) -> Option<Dollars> {
        (self.unpriced == 0).then_some(self.known)
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
    /// `$0.0123`, `price unknown`, or both: `$0.0123 + 2 requests of unknown price`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unpriced {
            0 => self.known.fmt(f),
            all if all == self.requests => f.write_str("price unknown"),
            1 => write!(f, "{} + 1 request of unknown price", self.known),
            some => write!(f, "{} + {some} requests of unknown price", self.known),
        }
    }
}

/// The spending of a session, by turn and model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// By turn, then by the model's name.
    turns: BTreeMap<u64, BTreeMap<String, Spend>>,
}

impl Ledger {
    /// Enters a request that was answered, whole or in part: its tokens as the server counted them. Requests that serve a
    /// turn, such as a summary, belong to it. Gives back what the request cost.
    pub fn enter(&mut self, turn: u64, model: &Model, tokens: Tokens) -> Spend {
        let spend = Spend::of_request(model, tokens);
        *self.turns.entry(turn).or_default().entry(model.name.clone()).or_default() += spend;
        spend
    }

    /// What a turn cost so far.
    pub fn turn(&self, turn: u64) -> Spend {
        self.turns.get(&turn).into_iter().flat_map(BTreeMap::values).copied().sum()
    }

    /// What everything cost so far.
    pub fn session(&self) -> Spend {
        self.turns.values().flat_map(BTreeMap::values).copied().sum()
    }

    /// What each model cost so far, in the order of their names.
    pub fn models(&self) -> BTreeMap<&str, Spend> {
        let mut models: BTreeMap<&str, Spend> = BTreeMap::new();
        for (model, spend) in self.turns.values().flatten() {
            *models.entry(model).or_default() += *spend;
        }
        models
    }

    /// Whether a request that is expected to cost `estimate` (`None` where the price is not known) stays within `cap`.
    pub fn would_pass(&self, cap: Dollars, estimate: Option<Dollars>) -> CapCheck {
        let session = self.session();
        let with_request = session.known + estimate.unwrap_or_default();
        if with_request > cap {
            return CapCheck::Passes { by: with_request.over(cap) };
        }
        if estimate.is_none() || session.unpriced > 0 { CapCheck::Unknown } else { CapCheck::Within }
    }
}

/// What a request would do to the spending cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapCheck {
    /// It stays within.
    Within,
    /// What is known alone passes it: the request is not sent.
    Passes {
        /// By so much.
        by: Dollars,
    },
    /// It, or an earlier one, has no known price, so that nobody can tell: the user is asked.
    Unknown,
}

/// What a request may cost at most: no token of it cached, and an answer of `output` tokens. `None` where the price is not
/// known.
pub fn estimate(model: &Model, input: u64, output: u64) -> Option<Dollars> {
    let prices = model.prices?;
    let fresh = prices.cost(Tokens { fresh: input, output, ..Tokens::default() });
    // Putting the prompt into the cache can cost more than sending it.
    let kept = prices.cost(Tokens { cache_write: input, output, ..Tokens::default() });
    Some(fresh.max(kept))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::models::{LongPrices, Prices};

    fn model(name: &str, prices: Option<Prices>) -> Model {
        Model { prices, ..Model::unknown(name) }
    }

    fn cheap() -> Model {
        model("cheap", Some(Prices { input: 1.0, output: 2.0, cache_read: 0.1, cache_write: 1.25, long: None }))
    }

    #[test]
    fn spending_is_told_by_request_turn_model_and_in_all() {
        let mut ledger = Ledger::default();
        let tokens = Tokens { fresh: 1_000, output: 1_000, ..Tokens::default() };
        let request = ledger.enter(1, &cheap(), tokens);
        ledger.enter(1, &model("other", None), tokens);
        ledger.enter(2, &cheap(), tokens);
        assert_eq!(request.to_string(), "$0.0030");
        assert_eq!(ledger.turn(1).to_string(), "$0.0030 + 1 request of unknown price");
        assert_eq!(ledger.turn(2).to_string(), "$0.0030");
        assert_eq!(ledger.turn(3), Spend::default());
        assert_eq!(ledger.session().known, Dollars::new(0.006));
        let models: Vec<_> = ledger.models().into_iter().map(|(name, spend)| format!("{name} {spend}")).collect();
        assert_eq!(models, ["cheap $0.0060", "other price unknown"]);
    }

    #[test]
    fn the_cap_stops_before_the_request_that_would_pass_it() {
        let mut ledger = Ledger::default();
        ledger.enter(1, &cheap(), Tokens { fresh: 500_000, ..Tokens::default() });
        let cap = Dollars::new(1.0);
        assert_eq!(ledger.would_pass(cap, Some(Dollars::new(0.5))), CapCheck::Within);
        assert_eq!(ledger.would_pass(cap, Some(Dollars::new(0.75))), CapCheck::Passes { by: Dollars::new(0.25) });
        assert_eq!(ledger.would_pass(cap, None), CapCheck::Unknown);
        ledger.enter(1, &model("other", None), Tokens::default());
        assert_eq!(ledger.would_pass(cap, Some(Dollars::ZERO)), CapCheck::Unknown);
    }

    #[test]
    fn an_estimate_takes_the_dearest_way_to_send_the_prompt() {
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
            ledger.enter(*turn, &models()[*at], *tokens);
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
        fn an_unknown_price_never_hides(entries in entries(), cap in 0.0f64..1_000.0) {
            let ledger = ledger(&entries);
            let unpriced = entries.iter().filter(|(_, at, _)| *at == 2).count() as u64;
            let session = ledger.session();
            prop_assert_eq!(session.unpriced, unpriced);
            prop_assert_eq!(session.total().is_none(), unpriced > 0);
            prop_assert_eq!(session.to_string().contains("unknown"), unpriced > 0);
            let check = ledger.would_pass(Dollars::new(cap), Some(Dollars::ZERO));
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
