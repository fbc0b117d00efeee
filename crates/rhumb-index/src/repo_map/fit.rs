//! Fits the ranked entries into a token budget.

use std::collections::{BTreeMap, HashMap};

use rhumb_tokens::TokenCounter;

use super::render::{Chosen, FolderEntries, MapEntry, MapWriter};

/// Number of entries that may fail to fit before the map counts as full. A short name may fit where a long line did not.
const MAX_FAILURES: usize = 48;
/// Minimum number of free tokens for another attempt.
const MIN_FREE_TOKENS: usize = 4;

/// The text of the entries that fit.
pub(crate) struct FittedMap {
    pub(crate) text: String,
    /// Its tokens, counted as a whole.
    pub(crate) tokens: usize,
    /// The entries in it, by rank.
    pub(crate) entries: Vec<MapEntry>,
    /// Tokens of each file in it, without the headings of folders.
    pub(crate) parts: HashMap<u32, usize>,
}

/// Fits `entries` (best first) into `budget` tokens. The result never exceeds the budget and may be empty.
pub(crate) fn fit(
    writer: &mut MapWriter<'_>,
    entries: &[MapEntry],
    budget: usize,
    counter: &dyn TokenCounter,
) -> FittedMap {
    let mut lines = LineCounter { counter, known: HashMap::new() };
    let mut chosen = choose(writer, entries, budget, &mut lines);
    loop {
        let pages = pages(writer, &chosen);
        let text: String = pages.values().map(|page| writer.page(page)).collect();
        let tokens = counter.count(&text);
        if tokens <= budget || chosen.is_empty() {
            let parts = parts(writer, pages.values(), &mut lines);
            return FittedMap { text, tokens, entries: chosen, parts };
        }
        // The lines did not add up to the whole, which does not occur with the known tokenizers: drop the excess.
        let share = chosen.len() as f64 * budget as f64 / tokens as f64;
        chosen.truncate((share as usize).min(chosen.len() - 1));
    }
}

/// The tokens of each file.
fn parts<'p>(
    writer: &mut MapWriter<'_>,
    pages: impl Iterator<Item = &'p FolderEntries>,
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

/// The entries by folder and file, in path order.
fn pages<'r>(writer: &MapWriter<'r>, entries: &[MapEntry]) -> BTreeMap<&'r str, FolderEntries> {
    let mut pages: BTreeMap<&str, FolderEntries> = BTreeMap::new();
    for entry in entries {
        let page = pages.entry(writer.folder(entry.file)).or_default();
        page.entry(entry.file).or_default().extend(entry.definition.map(|definition| (definition, entry.detail)));
    }
    pages
}

/// Takes each entry that still fits. An entry affects its own file and sometimes the other files of its folder, so only these are
/// rendered and counted again.
fn choose(
    writer: &mut MapWriter<'_>,
    entries: &[MapEntry],
    budget: usize,
    lines: &mut LineCounter<'_>,
) -> Vec<MapEntry> {
    let mut folders: HashMap<&str, FolderTokens> = HashMap::new();
    let (mut chosen, mut used, mut failed) = (Vec::new(), 0, 0);
    for entry in entries {
        if used + MIN_FREE_TOKENS > budget || failed == MAX_FAILURES {
            break;
        }
        let folder = folders.entry(writer.folder(entry.file)).or_default();
        let before = folder.tokens;
        let undo = folder.take(entry, writer, lines);
        if used - before + folder.tokens <= budget {
            used = used - before + folder.tokens;
            chosen.push(*entry);
        } else {
            failed += 1;
            *folder = undo;
        }
    }
    chosen
}

/// The chosen entries of a folder, with the tokens of each file.
#[derive(Debug, Clone, Default)]
struct FolderTokens {
    files: BTreeMap<u32, (Chosen, usize)>,
    together: bool,
    heading: usize,
    /// Tokens of all its text.
    tokens: usize,
}

impl FolderTokens {
    /// Adds an entry. Returns the previous state.
    fn take(&mut self, entry: &MapEntry, writer: &mut MapWriter<'_>, lines: &mut LineCounter<'_>) -> Self {
        let undo = self.clone();
        let (chosen, _) = self.files.entry(entry.file).or_default();
        chosen.extend(entry.definition.map(|definition| (definition, entry.detail)));
        let together = writer.is_together(self.files.iter().map(|(&file, (chosen, _))| (file, chosen)));
        let all = together != self.together;
        self.together = together;
        for (&file, (chosen, tokens)) in self.files.iter_mut().filter(|(file, _)| all || **file == entry.file) {
            self.tokens -= *tokens;
            *tokens = lines.count(&writer.part(file, chosen, together));
            self.tokens += *tokens;
        }
        if all {
            self.tokens -= self.heading;
            self.heading = if together { lines.count(&writer.heading(entry.file)) } else { 0 };
            self.tokens += self.heading;
        }
        undo
    }
}

/// Counts texts line by line and caches the counts, so that each line is tokenized once although files are rendered repeatedly.
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
