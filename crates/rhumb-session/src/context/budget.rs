//! The context window of a model and its budgets.

use rhumb_llm::models::Model;

const MAX_RESERVED_TOKENS: usize = 16_384;

/// Step of the default budget of the map in tokens, so that the budget does not change with every key.
pub(super) const MAP_STEP_TOKENS: usize = 128;

/// Share of passages in a request: about as much as the files of a question.
const PASSAGES_DIVISOR: usize = 6;

/// A context window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Tokens of input and output together.
    pub tokens: usize,
    /// Whether the number is known. An assumed window only causes warnings.
    pub known: bool,
}

/// The token counts in a server's error about a too large request, as counted by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    /// The counted tokens.
    pub tokens: usize,
    /// The limit in tokens.
    pub limit: usize,
}

impl Window {
    /// The context window of a model.
    pub fn of(model: &Model) -> Self {
        Self { tokens: model.window, known: model.known }
    }

    /// The smallest context window with `max_input` tokens of input.
    pub fn holding(max_input: usize) -> Self {
        let tokens = (max_input * 8).div_ceil(7).min(max_input + MAX_RESERVED_TOKENS);
        Self { tokens, known: true }
    }

    /// Tokens reserved for the answer: an eighth, at most 16,384.
    pub fn reserved_output(self) -> usize {
        (self.tokens / 8).min(MAX_RESERVED_TOKENS)
    }

    /// Maximum tokens of a request.
    pub fn max_input(self) -> usize {
        self.tokens - self.reserved_output()
    }
}

/// Maximum input tokens of the next attempt, after a server refused a request of `sent` tokens (by our count) as too large.
/// `attempt` is the number of refusals so far (1-based). The result is always less than `sent`.
///
/// With the numbers of the server, its limit is converted to our count, and reduced by a twentieth with each attempt, because
/// the error of our count grows with the request. Without them it is a quarter less than `sent`.
pub fn reduced_input(sent: usize, overflow: Option<Overflow>, attempt: usize) -> usize {
    let by_server = overflow.filter(|server| server.limit > 0 && server.tokens > server.limit).map(|server| {
        let ours = sent as f64 * server.limit as f64 / server.tokens as f64;
        (ours * (1.0 - 0.05 * attempt.min(19) as f64)) as usize
    });
    by_server.unwrap_or(sent / 4 * 3).min(sent.saturating_sub(1))
}

/// Configured budgets. Budgets that are `None` follow from the context window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetOverrides {
    /// The budget of the repo map in tokens.
    pub map: Option<usize>,
    /// The budget of passages in tokens.
    pub passages: Option<usize>,
    /// Tokens of history above which it is summarized.
    pub history: Option<usize>,
}

/// The budgets of a context window in tokens. The rest is for files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetPlan {
    /// Reserved for the answer.
    pub reserved_output: usize,
    /// Maximum of a request.
    pub max_input: usize,
    /// Maximum of the repo map.
    pub map: usize,
    /// Maximum of passages.
    pub passages: usize,
    /// Maximum of the history before its beginning is summarized.
    pub history: usize,
}

impl BudgetPlan {
    /// The budgets of a context window, with or without editable files in the chat.
    pub fn of(window: Window, has_chat_files: bool, overrides: BudgetOverrides) -> Self {
        let max_input = window.max_input();
        Self {
            reserved_output: window.reserved_output(),
            max_input,
            map: overrides.map.unwrap_or_else(|| map_budget(window, has_chat_files)),
            passages: overrides.passages.unwrap_or_else(|| (max_input / PASSAGES_DIVISOR).clamp(1_024, 16_384)),
            history: overrides.history.unwrap_or_else(|| (max_input / 16).clamp(1_024, 8_192)),
        }
    }
}

/// The default budget of the repo map in tokens: an eighth of the window, between 1,024 and 4,096, and twice that without files
/// in the chat, because the map is then all that the model sees (aider's rule, with its default multiplier).
pub fn map_budget(window: Window, has_chat_files: bool) -> usize {
    let share = (window.max_input() / 8).clamp(1_024, 4_096);
    let budget = if has_chat_files { share } else { (share * 2).min(window.max_input() / 2) };
    budget / MAP_STEP_TOKENS * MAP_STEP_TOKENS
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
        let history = |tokens| BudgetPlan::of(Window { tokens, known: true }, true, BudgetOverrides::default()).history;
        assert_eq!([history(8_192), history(32_768), history(1_000_000)], [1_024, 1_792, 8_192]);
    }

    #[test]
    fn a_servers_limit_is_brought_to_our_count() {
        let told = Overflow { tokens: 20_000, limit: 8_000 };
        assert_eq!(reduced_input(10_000, Some(told), 1), 3_800);
        assert_eq!(reduced_input(10_000, Some(told), 2), 3_600);
        assert_eq!(reduced_input(10_000, None, 1), 7_500);
    }

    proptest! {
        #[test]
        fn a_request_gets_shorter_at_every_attempt(
            sent in 1usize..200_000,
            told in prop::option::of((0usize..200_000, 0usize..200_000)),
            attempt in 1usize..9,
        ) {
            let told = told.map(|(tokens, limit)| Overflow { tokens, limit });
            let limit = reduced_input(sent, told, attempt);
            prop_assert!(limit < sent && Window::holding(limit).max_input() >= limit);
        }

        #[test]
        fn a_larger_window_plans_no_less(tokens in 0usize..300_000, more in 0usize..50_000, files: bool) {
            let plan = |tokens| BudgetPlan::of(Window { tokens, known: true }, files, BudgetOverrides::default());
            let (small, large) = (plan(tokens), plan(tokens + more));
            prop_assert!(small.map <= large.map && small.passages <= large.passages && small.history <= large.history && small.max_input <= large.max_input);
        }
    }
}
