//! How things of a repository relate that a question names: what uses both, and what lies on the way from one to the other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{DefinitionAt, References};
use crate::retrieval::chunk::source::Place;
use crate::retrieval::hit::Hit;
use rhumb_syntax::tag::SymbolKind;

/// Most things of a question that are brought together.
const MOST_THINGS: usize = 3;
/// Files that may define a name that is still one thing.
const MOST_DEFINERS: usize = 4;
/// Files that are looked into for definitions that use two things.
const MOST_FILES: usize = 12;
/// Definitions that use two things and come first.
const MOST_BOTH: usize = 4;
/// Longest way from one thing to another, in references, and most definitions that are looked at for it.
const LONGEST_WAY: usize = 3;
const MOST_VISITED: usize = 80;

impl References<'_> {
    /// The hits with what connects the things that the question names put first; as they are where it names fewer than two.
    /// At most `most`.
    pub fn connecting(&self, question: &str, hits: Vec<Hit>, most: usize) -> Vec<Hit> {
        let things = self.things(question);
        let mut found: Vec<DefinitionAt> = Vec::new();
        for (at, a) in things.iter().enumerate() {
            for b in things.iter().skip(at + 1) {
                found.extend(self.way(a, b));
                found.extend(self.using_both(a, b));
            }
        }
        let mut seen = BTreeSet::new();
        found.retain(|at| seen.insert(*at));
        let top = hits.first().map_or(1.0, |hit| hit.score);
        // Above all others, and in their order.
        let score = |place: usize| top * (2.0 - place as f64 / found.len().max(1) as f64);
        let mut connected: Vec<Hit> =
            found.iter().enumerate().filter_map(|(place, at)| self.hit(*at, score(place))).collect();
        let is_new = |hit: &Hit| !found.iter().any(|at| at.file == hit.file && Some(at.definition) == hit.definition);
        connected.extend(hits.into_iter().filter(is_new));
        connected.truncate(most);
        connected
    }

    /// The things that a question names, each with its definitions.
    fn things(&self, question: &str) -> Vec<Vec<DefinitionAt>> {
        let mut things: Vec<Vec<DefinitionAt>> = Vec::new();
        let mut named = BTreeSet::new();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut before = '\0';
        for (at, word) in words(question, is_part) {
            let after = &question[at + word.len()..];
            before = question[..at].chars().next_back().unwrap_or(before);
            let as_code = before == '`' || after.starts_with('`') || after.starts_with('(');
            if things.len() < MOST_THINGS && named.insert(word) {
                things.extend(self.thing(word, as_code).filter(|thing| !thing.is_empty()));
            }
        }
        things
    }

    /// The definitions of a word, if it can only be the name of something: as code writes it, or that of a type.
    fn thing(&self, word: &str, as_code: bool) -> Option<Vec<DefinitionAt>> {
        let name = self.index().name_number(word)?;
        let files = self.graph().defining_files(name);
        if files.is_empty() || files.len() > MOST_DEFINERS {
            return None;
        }
        let hump = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        let is_code = as_code || hump || word.trim_matches('_').contains('_');
        let is_capital = word.starts_with(char::is_uppercase);
        let fits = |at: &DefinitionAt| {
            self.entry(*at).is_some_and(|entry| match entry.kind() {
                SymbolKind::Class | SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Interface => {
                    is_code || is_capital
                }
                SymbolKind::Type => is_code || is_capital,
                SymbolKind::Section | SymbolKind::Key | SymbolKind::Selector | SymbolKind::Field => false,
                _ => is_code,
            })
        };
        Some(files.iter().filter_map(|&file| self.named_in(file, name)).filter(fits).collect())
    }

    /// The definitions that use both things, the smallest first.
    fn using_both(&self, a: &[DefinitionAt], b: &[DefinitionAt]) -> Vec<DefinitionAt> {
        let number = |thing: &[DefinitionAt]| {
            let name = self.entry(*thing.first()?)?.name();
            self.index().name_number(name).map(|number| (number, name))
        };
        let Some(((a_number, a_name), (b_number, b_name))) = number(a).zip(number(b)) else { return Vec::new() };
        let uses_both = |file: &u32| {
            let mut uses = [false; 2];
            for used in self.index().references(*file) {
                uses[0] |= used.name == a_number;
                uses[1] |= used.name == b_number;
            }
            uses == [true; 2]
        };
        let mut found = Vec::new();
        for file in (0..self.index().len() as u32).filter(uses_both).take(MOST_FILES) {
            let within = |name: &str| {
                self.uses_in(file, name, None).into_iter().filter_map(|uses| uses.within).collect::<BTreeSet<_>>()
            };
            for around in within(a_name).intersection(&within(b_name)) {
                let place = Place {
                    path: self.index().path(file).into(),
                    line: around.line,
                    end_line: around.end_line,
                    symbol: Some(around.symbol.clone()),
                    container: around.container.clone(),
                };
                found.extend(self.definition_of(&place).map(|at| (around.end_line - around.line, at)));
            }
        }
        found.retain(|(_, at)| !a.contains(at) && !b.contains(at));
        found.sort_unstable();
        found.truncate(MOST_BOTH);
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// The definitions on a shortest way of references from one thing to the other, both ends included; empty without one.
    fn way(&self, a: &[DefinitionAt], b: &[DefinitionAt]) -> Vec<DefinitionAt> {
        let (there, back) = (self.way_from(a, b), self.way_from(b, a));
        let is_shorter = back.len() < there.len() && !back.is_empty();
        if is_shorter || there.is_empty() { back } else { there }
    }

    /// Breadth first along what each definition uses.
    fn way_from(&self, from: &[DefinitionAt], to: &[DefinitionAt]) -> Vec<DefinitionAt> {
        let mut came: BTreeMap<DefinitionAt, Option<DefinitionAt>> = from.iter().map(|at| (*at, None)).collect();
        let mut open: VecDeque<(DefinitionAt, usize)> = from.iter().map(|at| (*at, 0)).collect();
        let mut visited = 0;
        while let Some((at, steps)) = open.pop_front() {
            visited += 1;
            if steps >= LONGEST_WAY || visited > MOST_VISITED {
                continue;
            }
            for (next, _) in self.uses(at) {
                if came.contains_key(&next) {
                    continue;
                }
                came.insert(next, Some(at));
                if to.contains(&next) {
                    return walked_back(&came, next);
                }
                open.push_back((next, steps + 1));
            }
        }
        Vec::new()
    }
}

fn walked_back(came: &BTreeMap<DefinitionAt, Option<DefinitionAt>>, end: DefinitionAt) -> Vec<DefinitionAt> {
    let mut way: Vec<DefinitionAt> = std::iter::successors(Some(end), |at| came.get(at).copied().flatten()).collect();
    way.reverse();
    way
}

/// The words of a text with where each begins.
fn words(text: &str, is_part: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(&is_part)?;
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
        at = end;
        Some((start, &text[start..end]))
    })
}
