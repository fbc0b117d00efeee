//! Fitting the ranked choices to a budget of tokens: the longest prefix that fits, then what still fits of the next
//! ones.

use std::collections::HashMap;

use super::render::{Choice, Writer};
use crate::tokens::TokenCounter;

/// Choices behind the prefix that are tried for the room that is left: each is a rendering, so fewer in a long map.
const TRIED: usize = 48;
/// Choices that are rendered for these tries, all together.
const TRIED_IN_ALL: usize = 30_000;
/// Room below which trying is not worth it, in tokens.
const CRUMBS: usize = 6;

/// The text that was made of the choices that fit.
pub(crate) struct Fitted {
    pub(crate) text: String,
    /// Its tokens, by one true count.
    pub(crate) tokens: usize,
    /// What it shows, in rank order.
    pub(crate) choices: Vec<Choice>,
}

/// Fits `choices` (best first) into `budget` tokens. Never over; empty where nothing fits.
pub(crate) fn fit(
    writer: &mut Writer<'_, '_>,
    choices: &[Choice],
    budget: usize,
    counter: &dyn TokenCounter,
) -> Fitted {
    let mut scale = LineCounter { counter, known: HashMap::new() };
    let length = longest_prefix(choices.len(), |length| {
        choices.get(..length).is_some_and(|prefix| scale.count(&writer.text(prefix)) <= budget)
    });
    let mut chosen = choices[..length].to_vec();
    fill(writer, &mut scale, &mut chosen, &choices[length..], budget);
    loop {
        let text = writer.text(&chosen);
        let tokens = counter.count(&text);
        if tokens <= budget || chosen.is_empty() {
            return Fitted { text, tokens, choices: chosen };
        }
        // The lines did not add up to the whole, as they do for the known tokenizers: give way by the excess.
        let share = chosen.len() as f64 * budget as f64 / tokens as f64;
        chosen.truncate((share as usize).min(chosen.len() - 1));
    }
}

/// The longest length for which `fits` holds, taken as monotone: doubled until it fails, then bisected, so that
/// nothing far beyond the answer is looked at.
fn longest_prefix(all: usize, mut fits: impl FnMut(usize) -> bool) -> usize {
    let mut good = 0;
    let mut bad = 32.min(all);
    while bad > good && fits(bad) {
        if bad == all {
            return all;
        }
        good = bad;
        bad = bad.saturating_mul(2).min(all);
    }
    while bad > good + 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

/// Tries the choices after the prefix one by one: a short line may fit where the next best did not.
fn fill(
    writer: &mut Writer<'_, '_>,
    scale: &mut LineCounter<'_>,
    chosen: &mut Vec<Choice>,
    rest: &[Choice],
    budget: usize,
) {
    let mut used = scale.count(&writer.text(chosen));
    let tries = TRIED.min(TRIED_IN_ALL / (chosen.len() + 1));
    for choice in rest.iter().take(tries) {
        if used + CRUMBS > budget {
            return;
        }
        chosen.push(*choice);
        let tokens = scale.count(&writer.text(chosen));
        if tokens <= budget {
            used = tokens;
        } else {
            chosen.pop();
        }
    }
}

/// Counts texts line by line and remembers the lines, so that a search that writes the same lines again and again
/// hands each to the tokenizer once.
struct LineCounter<'c> {
    counter: &'c dyn TokenCounter,
    known: HashMap<String, usize>,
}

impl LineCounter<'_> {
    fn count(&mut self, text: &str) -> usize {
        text.split_inclusive('\n').map(|line| self.line(line)).sum()
    }

    fn line(&mut self, line: &str) -> usize {
        if let Some(&tokens) = self.known.get(line) {
            return tokens;
        }
        let tokens = self.counter.count(line);
        self.known.insert(line.to_owned(), tokens);
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_longest_prefix_is_found(all in 0usize..500, limit in 0usize..600) {
            prop_assert_eq!(longest_prefix(all, |length| length <= limit), all.min(limit));
        }
    }
}
