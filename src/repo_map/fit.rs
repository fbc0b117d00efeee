//! Fitting the ranked choices to a budget of tokens: each in its turn, as long as it fits.

use std::collections::{BTreeMap, HashMap};

use super::render::{Choice, Tier, Writer};
use crate::tokens::TokenCounter;

/// Choices that may fail to fit before the map counts as full: a short name may fit where a long line did not.
const TRIED: usize = 48;
/// Room below which trying is not worth it, in tokens.
const CRUMBS: usize = 4;

/// The text that was made of the choices that fit.
pub(crate) struct Fitted {
    pub(crate) text: String,
    /// Its tokens, by one true count.
    pub(crate) tokens: usize,
    /// What it shows, in rank order.
    pub(crate) choices: Vec<Choice>,
}

/// Fits `choices` (best first) into `budget` tokens. Never over; empty where nothing fits.
pub(crate) fn fit(writer: &mut Writer<'_>, choices: &[Choice], budget: usize, counter: &dyn TokenCounter) -> Fitted {
    let mut chosen = choose(writer, choices, budget, counter);
    loop {
        let pages = pages(&chosen);
        let text: String = pages.iter().map(|(&file, page)| writer.page(file, page)).collect();
        let tokens = counter.count(&text);
        if tokens <= budget || chosen.is_empty() {
            return Fitted { text, tokens, choices: chosen };
        }
        // The lines did not add up to the whole, as they do for the known tokenizers: give way by the excess.
        let share = chosen.len() as f64 * budget as f64 / tokens as f64;
        chosen.truncate((share as usize).min(chosen.len() - 1));
    }
}

/// The choices by file, files in path order.
fn pages(choices: &[Choice]) -> BTreeMap<u32, Vec<(u32, Tier)>> {
    let mut pages: BTreeMap<u32, Vec<(u32, Tier)>> = BTreeMap::new();
    for choice in choices {
        pages.entry(choice.file).or_default().extend(choice.definition.map(|definition| (definition, choice.tier)));
    }
    pages
}

/// Takes each choice that still fits. A choice changes the page of its file alone, so that page is all that is written
/// and counted again.
fn choose(writer: &mut Writer<'_>, choices: &[Choice], budget: usize, counter: &dyn TokenCounter) -> Vec<Choice> {
    let mut lines = LineCounter { counter, known: HashMap::new() };
    let mut pages: HashMap<u32, Page> = HashMap::new();
    let (mut chosen, mut used, mut failed) = (Vec::new(), 0, 0);
    for choice in choices {
        if used + CRUMBS > budget || failed == TRIED {
            break;
        }
        let page = pages.entry(choice.file).or_default();
        page.definitions.extend(choice.definition.map(|definition| (definition, choice.tier)));
        let tokens = lines.count(&writer.page(choice.file, &page.definitions));
        if used - page.tokens + tokens <= budget {
            used = used - page.tokens + tokens;
            page.tokens = tokens;
            chosen.push(*choice);
        } else {
            failed += 1;
            if choice.definition.is_some() {
                page.definitions.pop();
            }
        }
    }
    chosen
}

/// What is chosen of a file, and the tokens of its page.
#[derive(Default)]
struct Page {
    definitions: Vec<(u32, Tier)>,
    tokens: usize,
}

/// Counts texts line by line and remembers the lines, so that a page that is written again and again hands each to the
/// tokenizer once.
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
