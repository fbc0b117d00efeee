//! The results of tool calls in requests: the user can drop and pin them, and old ones are dropped to fit.

use crate::agent::messages;
use crate::{Effect, Entry, Session, ToolUse};
use rhumb_agent::output::{ResultSize, to_stub};

/// The share of the context window that results may use: one part in this many.
const RESULTS_SHARE: usize = 2;

/// The tokens of the line that takes the place of a dropped result.
const STUB_TOKENS: usize = 30;

impl Session {
    /// Drops old results if all together exceed their budget. They are dropped down to half of it, so that the cached beginning of
    /// the request changes rarely.
    pub(super) fn fit_results(&mut self) {
        let window = self.next_request.view().map_or(0, |view| view.prompt.window.max_input());
        let budget = window / RESULTS_SHARE;
        if budget > 0 && self.result_tokens() > budget {
            self.drop_results(budget / 2);
        }
    }

    /// Drops old results after a request was too long: half of what is left. Returns whether there were any.
    pub(super) fn drop_half_of_results(&mut self) -> bool {
        self.drop_results(self.result_tokens() / 2)
    }

    fn result_tokens(&self) -> usize {
        self.result_sizes().1.iter().map(|size| size.tokens).sum()
    }

    /// The indices of the results in the transcript, and their sizes.
    fn result_sizes(&self) -> (Vec<usize>, Vec<ResultSize>) {
        let start = messages::start(&self.transcript).unwrap_or(self.transcript.len());
        let size = |tool: &ToolUse| ResultSize {
            tokens: match tool.is_dropped {
                true => STUB_TOKENS,
                false => tool.tokens + rhumb_tokens::estimate(&tool.call.arguments),
            },
            stub_tokens: STUB_TOKENS,
            pinned: tool.is_pinned,
            is_stub: tool.is_dropped,
        };
        let entries = self.transcript.iter().enumerate().skip(start);
        let sizes = entries.filter_map(|(at, entry)| match entry {
            Entry::Tool(tool) => Some((at, size(tool))),
            _ => None,
        });
        sizes.unzip()
    }

    /// Drops old results until all together have at most `target` tokens. Returns whether any was dropped.
    fn drop_results(&mut self, target: usize) -> bool {
        let (places, sizes) = self.result_sizes();
        let dropped = to_stub(&sizes, target);
        for index in &dropped {
            if let Some(Entry::Tool(tool)) = places.get(*index).and_then(|at| self.transcript.get_mut(*at)) {
                tool.is_dropped = true;
            }
        }
        !dropped.is_empty()
    }

    /// Drops the result with this number from later requests, or takes it back.
    pub fn toggle_result(&mut self, number: usize) -> Vec<Effect> {
        self.change_result(number, |is_dropped, is_pinned| (!is_dropped, is_pinned && is_dropped))
    }

    /// Pins the result with this number, so that it stays in requests, or unpins it.
    pub fn pin_result(&mut self, number: usize) -> Vec<Effect> {
        self.change_result(number, |is_dropped, is_pinned| (is_dropped && is_pinned, !is_pinned))
    }

    fn change_result(&mut self, number: usize, change: impl Fn(bool, bool) -> (bool, bool)) -> Vec<Effect> {
        let is_it = |entry: &Entry| matches!(entry, Entry::Tool(tool) if tool.number == number);
        let Some(Entry::Tool(tool)) = self.transcript.rfind_mut(is_it) else { return Vec::new() };
        (tool.is_dropped, tool.is_pinned) = change(tool.is_dropped, tool.is_pinned);
        self.measure()
    }
}
