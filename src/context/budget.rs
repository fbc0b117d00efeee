//! How much fits: the context window of a model, and how it is shared out.

use rhumb_llm::models::Model;

/// The most tokens that are kept free for an answer.
const MAX_RESERVED: usize = 16_384;

/// Shares of the map that nobody chose are whole multiples of this many tokens, and so is what it shrinks by: it should not
/// move with every key.
pub(super) const MAP_STEP: usize = 128;

/// Passages of the repository may have this part of a request: about as much as the files that a question is about, and never so
/// much that the conversation has no room beside them.
const PASSAGES_SHARE: usize = 6;

/// A model's context window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Input and output together, in tokens.
    pub tokens: usize,
    /// False when the number is an assumption; such a window warns, it does not forbid.
    pub known: bool,
}

/// What a server says about a request that was too large, in its own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    /// Tokens that it counted.
    pub tokens: usize,
    /// Tokens that it takes.
    pub limit: usize,
}

impl Window {
    /// The window of a model.
    pub fn of(model: &Model) -> Self {
        Self { tokens: model.window, known: model.known }
    }

    /// The smallest window that holds so many tokens of input.
    pub fn holding(max_input: usize) -> Self {
        let tokens = (max_input * 8).div_ceil(7).min(max_input + MAX_RESERVED);
        Self { tokens, known: true }
    }

    /// Tokens of the window kept free for the answer: an eighth, at most 16,384.
    pub fn reserved_output(self) -> usize {
        (self.tokens / 8).min(MAX_RESERVED)
    }

    /// Tokens that a request may hold.
    pub fn max_input(self) -> usize {
        self.tokens - self.reserved_output()
    }
}

/// The most input tokens of the next try after a server refused a request of `sent` tokens (by our count) as too large, for the
/// `attempt`th time (1-based). Less than was sent, each time.
///
/// With the server's numbers its limit is brought to our count, and a twentieth less with each attempt, because what it
/// counts and we do not grows with the request. Without them it is a quarter less than was sent.
pub fn shorter(sent: usize, overflow: Option<Overflow>, attempt: usize) -> usize {
    let by_server = overflow.filter(|told| told.limit > 0 && told.tokens > told.limit).map(|told| {
        let ours = sent as f64 * told.limit as f64 / told.tokens as f64;
        (ours * (1.0 - 0.05 * attempt.min(19) as f64)) as usize
    });
    by_server.unwrap_or(sent / 4 * 3).min(sent.saturating_sub(1))
}

/// What the user says about the shares; what they say nothing about follows from the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// Tokens for the repo map.
    pub map: Option<usize>,
    /// Tokens for the passages of `@codebase`.
    pub passages: Option<usize>,
    /// Tokens of history above which it is summed up.
    pub history: Option<usize>,
}

/// How a window is shared out, in tokens. What is left over belongs to the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetPlan {
    /// Kept free for the answer.
    pub reserved_output: usize,
    /// What a request may hold.
    pub max_input: usize,
    /// The most that the repo map may have.
    pub map: usize,
    /// The most that passages of the repository may have.
    pub passages: usize,
    /// What the history may have before its beginning is summed up.
    pub history: usize,
}

impl BudgetPlan {
    /// The plan for a window, with or without files in the chat that may be edited.
    pub fn of(window: Window, has_chat_files: bool, shares: Shares) -> Self {
        let max_input = window.max_input();
        Self {
            reserved_output: window.reserved_output(),
            max_input,
            map: shares.map.unwrap_or_else(|| map_budget(window, has_chat_files)),
            passages: shares.passages.unwrap_or_else(|| (max_input / PASSAGES_SHARE).clamp(1_024, 16_384)),
            history: shares.history.unwrap_or_else(|| (max_input / 16).clamp(1_024, 8_192)),
        }
    }
}

/// The share of the window that the repo map may take, in tokens: an eighth, between 1,024 and 4,096, and twice that while
/// no file is in the chat, because the map is then all the model sees (aider's rule, with its default multiplier).
pub fn map_budget(window: Window, has_chat_files: bool) -> usize {
    let share = (window.max_input() / 8).clamp(1_024, 4_096);
    let budget = if has_chat_files { share } else { (share * 2).min(window.max_input() / 2) };
    budget / MAP_STEP * MAP_STEP
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_map_takes_more_while_no_file_is_in_the_chat() {
        let window = Window { tokens: 128_000, known: true };
        assert_eq!(map_budget(window, true), 4_096);
        assert_eq!(map_budget(window, false), 8_192);
        assert_eq!(map_budget(Window { tokens: 4_096, known: true }, true), 1_024);
    }

    #[test]
    fn the_history_has_a_sixteenth_within_bounds() {
        let history = |tokens| BudgetPlan::of(Window { tokens, known: true }, true, Shares::default()).history;
        assert_eq!([history(8_192), history(32_768), history(1_000_000)], [1_024, 1_792, 8_192]);
    }

    #[test]
    fn a_servers_limit_is_brought_to_our_count() {
        let told = Overflow { tokens: 20_000, limit: 8_000 };
        assert_eq!(shorter(10_000, Some(told), 1), 3_800);
        assert_eq!(shorter(10_000, Some(told), 2), 3_600);
        assert_eq!(shorter(10_000, None, 1), 7_500);
    }

    proptest! {
        #[test]
        fn a_request_gets_shorter_at_every_attempt(
            sent in 1usize..200_000,
            told in prop::option::of((0usize..200_000, 0usize..200_000)),
            attempt in 1usize..9,
        ) {
            let told = told.map(|(tokens, limit)| Overflow { tokens, limit });
            let limit = shorter(sent, told, attempt);
            prop_assert!(limit < sent && Window::holding(limit).max_input() >= limit);
        }

        #[test]
        fn a_larger_window_plans_no_less(tokens in 0usize..300_000, more in 0usize..50_000, files: bool) {
            let plan = |tokens| BudgetPlan::of(Window { tokens, known: true }, files, Shares::default());
            let (small, large) = (plan(tokens), plan(tokens + more));
            prop_assert!(small.map <= large.map && small.passages <= large.passages && small.history <= large.history && small.max_input <= large.max_input);
        }
    }
}
