//! Fitting the ranked choices to a budget of tokens: each in its turn, as long as it fits.

use std::collections::{BTreeMap, HashMap};

use super::render::{Choice, Chosen, Page, Writer};
use rhumb_tokens::TokenCounter;

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
    /// Tokens of each file that it names, those of the headings of folders aside.
    pub(crate) parts: HashMap<u32, usize>,
}

/// Fits `choices` (best first) into `budget` tokens. Never over; empty where nothing fits.
pub(crate) fn fit(writer: &mut Writer<'_>, choices: &[Choice], budget: usize, counter: &dyn TokenCounter) -> Fitted {
    let mut lines = LineCounter { counter, known: HashMap::new() };
    let mut chosen = choose(writer, choices, budget, &mut lines);
    loop {
        let pages = pages(writer, &chosen);
        let text: String = pages.values().map(|page| writer.page(page)).collect();
        let tokens = counter.count(&text);
        if tokens <= budget || chosen.is_empty() {
            let parts = parts(writer, pages.values(), &mut lines);
            return Fitted { text, tokens, choices: chosen, parts };
        }
        // The lines did not add up to the whole, as they do for the known tokenizers: give way by the excess.
        let share = chosen.len() as f64 * budget as f64 / tokens as f64;
        chosen.truncate((share as usize).min(chosen.len() - 1));
    }
}

/// The tokens of each file on some pages.
fn parts<'p>(
    writer: &mut Writer<'_>,
    pages: impl Iterator<Item = &'p Page>,
    lines: &mut LineCounter<'_>,
) -> HashMap<u32, usize> {
    let mut parts = HashMap::new();
    for page in pages {
        let together = writer.is_together(page.iter().map(|(&file, chosen)| (file, chosen)));
        for (&file, chosen) in page {
            parts.insert(file, lines.count(&writer.part(file, chosen, together)));
        }
    }
    parts
}

/// The choices by folder and file, in path order.
fn pages<'r>(writer: &Writer<'r>, choices: &[Choice]) -> BTreeMap<&'r str, Page> {
    let mut pages: BTreeMap<&str, Page> = BTreeMap::new();
    for choice in choices {
        let page = pages.entry(writer.folder(choice.file)).or_default();
        page.entry(choice.file).or_default().extend(choice.definition.map(|definition| (definition, choice.tier)));
    }
    pages
}

/// Takes each choice that still fits. A choice changes its own file and now and then the others of its folder, so that is
/// all that is written and counted again.
fn choose(writer: &mut Writer<'_>, choices: &[Choice], budget: usize, lines: &mut LineCounter<'_>) -> Vec<Choice> {
    let mut folders: HashMap<&str, Folder> = HashMap::new();
    let (mut chosen, mut used, mut failed) = (Vec::new(), 0, 0);
    for choice in choices {
        if used + CRUMBS > budget || failed == TRIED {
            break;
        }
        let folder = folders.entry(writer.folder(choice.file)).or_default();
        let before = folder.tokens;
        let undo = folder.take(choice, writer, lines);
        if used - before + folder.tokens <= budget {
            used = used - before + folder.tokens;
            chosen.push(*choice);
        } else {
            failed += 1;
            *folder = undo;
        }
    }
    chosen
}

/// What is chosen of a folder, with the tokens of each of its files.
#[derive(Debug, Clone, Default)]
struct Folder {
    files: BTreeMap<u32, (Chosen, usize)>,
    together: bool,
    heading: usize,
    /// Tokens of its page.
    tokens: usize,
}

impl Folder {
    /// Adds a choice; the folder as it was.
    fn take(&mut self, choice: &Choice, writer: &mut Writer<'_>, lines: &mut LineCounter<'_>) -> Self {
        let undo = self.clone();
        let (chosen, _) = self.files.entry(choice.file).or_default();
        chosen.extend(choice.definition.map(|definition| (definition, choice.tier)));
        let together = writer.is_together(self.files.iter().map(|(&file, (chosen, _))| (file, chosen)));
        let all = together != self.together;
        self.together = together;
        for (&file, (chosen, tokens)) in self.files.iter_mut().filter(|(file, _)| all || **file == choice.file) {
            self.tokens -= *tokens;
            *tokens = lines.count(&writer.part(file, chosen, together));
            self.tokens += *tokens;
        }
        if all {
            self.tokens -= self.heading;
            self.heading = if together { lines.count(&writer.heading(choice.file)) } else { 0 };
            self.tokens += self.heading;
        }
        undo
    }
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
