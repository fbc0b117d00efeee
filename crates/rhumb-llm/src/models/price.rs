//! What tokens cost, and amounts of money that add up the same in any order.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Prices {
    /// Tokens of the request that no cache knew.
    pub input: f64,
    /// Tokens of the answer, thinking included.
    pub output: f64,
    /// Tokens of the request that came from the server's cache.
    pub cache_read: f64,
    /// Tokens of the request that were put into it.
    pub cache_write: f64,
    /// What a long request costs instead, if that is more. A vendor may have several such steps: we know the first.
    pub long: Option<LongPrices>,
}

/// What all tokens of a request cost whose input is long, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LongPrices {
    /// A request is long when its input, cached tokens included, has more tokens than this.
    pub above: u64,
    /// As [`Prices::input`].
    pub input: f64,
    /// As [`Prices::output`].
    pub output: f64,
    /// As [`Prices::cache_read`].
    pub cache_read: f64,
    /// As [`Prices::cache_write`].
    pub cache_write: f64,
}

/// The tokens of one or more requests by how they are paid for. The three kinds of input do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Input that no cache knew.
    pub fresh: u64,
    /// Input that came from the cache.
    pub cache_read: u64,
    /// Input that was put into the cache.
    pub cache_write: u64,
    /// Output, thinking included.
    pub output: u64,
}

impl Tokens {
    /// All input.
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
    /// What the tokens of one request cost. For several requests add what each costs: a long one has prices of its own.
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

/// An amount of US dollars. It is kept in whole picodollars, so that sums are exact and do not depend on their order; at
/// eighteen million dollars it stops growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dollars(u64);

/// Picodollars in a dollar.
const PICO: f64 = 1e12;

impl Dollars {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// An amount in dollars; less than nothing counts as nothing.
    pub fn new(dollars: f64) -> Self {
        // The cast stops at both ends, and takes what is no number for nothing.
        Self((dollars * PICO).round() as u64)
    }

    /// So many tokens at a price for a million of them.
    fn for_tokens(tokens: u64, per_million: f64) -> Self {
        Self(Self::new(per_million / 1e6).0.saturating_mul(tokens))
    }

    /// The amount in dollars, for figures and files.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PICO
    }

    /// By how much this is more than `other`; nothing if it is not.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
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
    /// As few digits as still tell amounts of that size apart; something is never shown as nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_f64() {
            0.0 => f.write_str("$0"),
            amount if amount < 0.0001 => f.write_str("<$0.0001"),
            amount if amount < 0.1 => write!(f, "${amount:.4}"),
            amount => write!(f, "${amount:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let prices = Prices { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75, long: None };
        let tokens = Tokens { fresh: 1_000_000, cache_read: 1_000_000, cache_write: 1_000_000, output: 1_000_000 };
        assert_eq!(prices.cost(tokens), Dollars::new(22.05));
        assert_eq!(tokens.input(), 3_000_000);
    }

    #[test]
    fn a_long_request_is_paid_at_its_own_prices_throughout() {
        let long = LongPrices { above: 200_000, input: 2.0, output: 4.0, ..LongPrices::default() };
        let prices = Prices { input: 1.0, output: 2.0, long: Some(long), ..Prices::default() };
        let tokens = |fresh, cache_read| Tokens { fresh, cache_read, output: 1_000, ..Tokens::default() };
        assert_eq!(prices.cost(tokens(200_000, 0)), Dollars::new(0.202));
        assert_eq!(prices.cost(tokens(200_000, 1)), Dollars::new(0.404));
    }

    #[test]
    fn amounts_are_short_and_never_round_to_nothing() {
        let shown = [0.0, 0.000_000_1, 0.00123, 0.0456, 0.5, 12.345].map(|amount| Dollars::new(amount).to_string());
        assert_eq!(shown, ["$0", "<$0.0001", "$0.0012", "$0.0456", "$0.50", "$12.35"]);
    }

    #[test]
    fn what_is_no_amount_counts_as_nothing() {
        assert_eq!(Dollars::new(-1.0), Dollars::ZERO);
        assert_eq!(Dollars::new(f64::NAN), Dollars::ZERO);
        assert_eq!(Dollars::new(1e30) + Dollars::new(1.0), Dollars(u64::MAX));
    }
}
