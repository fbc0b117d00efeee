//! The results of tool calls in requests: the user can drop and pin them, and old ones are dropped to fit.

use crate::agent::messages;
use crate::{Effect, Entry, Session};
use rhumb_agent::output::{ResultSize, to_stub};

/// The share of the context window that results may use: one part in this many is left for the rest.
const RESULTS_SHARE: usize = 2;

/// The tokens of the line that takes the place of a dropped result.
const STUB_TOKENS: usize = 30;

impl Session {
    /// Drops old results if all together exceed their budget. They are dropped down to half of it, so that the cached beginning of
    /// the request changes rarely.
    pub(super) fn fit_results(&mut self) {
        let window = self.next_request.view().map_or(0, |view| view.prompt.window.max_input());
        let budget = window / RESULTS_SHARE;
        let Some(start) = messages::start(&self.transcript).filter(|_| budget > 0) else { return };
        let sizes: Vec<(usize, ResultSize)> = self
            .transcript
            .iter()
            .enumerate()
            .skip(start)
            .filter_map(|(at, entry)| match entry {
                Entry::Tool(tool) => Some((
                    at,
                    ResultSize {
                        tokens: tool.tokens + rhumb_tokens::estimate(&tool.call.arguments),
                        stub_tokens: STUB_TOKENS,
                        pinned: tool.is_pinned,
                        is_stub: tool.is_dropped,
                    },
                )),
                _ => None,
            })
            .collect();
        let sum: usize = sizes.iter().map(|(_, size)| if size.is_stub { size.stub_tokens } else { size.tokens }).sum();
        if sum <= budget {
            return;
        }
        let (places, sizes): (Vec<usize>, Vec<ResultSize>) = sizes.into_iter().unzip();
        for index in to_stub(&sizes, budget / 2) {
            if let Some(Entry::Tool(tool)) = places.get(index).and_then(|at| self.transcript.get_mut(*at)) {
                tool.is_dropped = true;
            }
        }
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
