//! References in both directions: the users of a definition, and the definitions that it uses. Also the connections between several
//! definitions that a question names.
//!
//! The index contains which files reference and define a name. The relevant files are parsed again in their current state, for the lines
//! and the enclosing definitions.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rhumb_syntax::{Definition, SymbolKind};

use super::search::Hit;
use super::source::{CodeLocation, SourceFile, SourceFiles};
use crate::repo_map::index::IndexedDefinition;
use crate::repo_map::{MapIndex, ModuleResolver, TagGraph, is_peripheral, is_test, is_value, referenced_files};

/// Maximum number of files that are searched for the users of a name.
const MAX_USING_FILES: usize = 16;
/// Number of hits whose related definitions are listed, and the maximum number per hit and direction.
const HITS_WITH_RELATED: usize = 3;
const MAX_RELATED_PER_HIT: usize = 6;

/// The direction of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// The related definition is used by the hit.
    UsedBy,
    /// The related definition uses the hit.
    Uses,
}

/// A definition that is one reference away from a hit, without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The line of the definition, 1-based.
    pub line: u32,
    /// The header on one line.
    pub signature: String,
    /// The direction of the reference.
    pub relation: Relation,
    /// The name of the hit's definition.
    pub of: String,
}

impl fmt::Display for Related {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = match self.relation {
            Relation::UsedBy => "used by",
            Relation::Uses => "uses",
        };
        write!(f, "{}:{}  {}  ({relation} {})", self.path, self.line, self.signature, self.of)
    }
}

/// A definition of the index, by file and by its index in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionAt {
    /// The file.
    pub file: u32,
    /// The index of the definition.
    pub definition: u32,
}

/// References to a name within one definition, or on lines of a file outside of all definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The line of the first reference, 1-based.
    pub line: u32,
    /// The number of references.
    pub count: u32,
    /// The innermost enclosing definition.
    pub within: Option<EnclosingDefinition>,
}

/// A definition that encloses a reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnclosingDefinition {
    /// First line, 1-based.
    pub line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The name.
    pub symbol: String,
    /// Name of the innermost enclosing definition.
    pub container: Option<String>,
    /// The header on one line.
    pub signature: String,
}

impl From<&Definition> for EnclosingDefinition {
    fn from(definition: &Definition) -> Self {
        Self {
            line: definition.line,
            end_line: definition.end_line,
            symbol: definition.name.clone(),
            container: definition.container.clone(),
            signature: definition.signature.clone(),
        }
    }
}

/// The references of a repository, looked up on demand.
#[derive(Debug)]
pub struct References<'g> {
    graph: &'g TagGraph,
    sources: &'g SourceFiles<'g>,
    modules: OnceCell<ModuleResolver>,
    /// By file: the files that its imports refer to, sorted.
    imports: RefCell<BTreeMap<u32, Rc<[u32]>>>,
}

impl<'g> References<'g> {
    /// For the repository of a graph; files are read from `sources`.
    pub fn new(graph: &'g TagGraph, sources: &'g SourceFiles<'g>) -> Self {
        Self { graph, sources, modules: OnceCell::new(), imports: RefCell::default() }
    }

    pub(crate) fn index(&self) -> &'g MapIndex {
        self.graph.index()
    }

    pub(crate) fn graph(&self) -> &'g TagGraph {
        self.graph
    }

    /// A definition of the index.
    pub(crate) fn entry(&self, at: DefinitionAt) -> Option<IndexedDefinition<'g>> {
        self.index().definition(at.file, at.definition)
    }

    pub(crate) fn source(&self, file: u32) -> Option<Rc<SourceFile>> {
        self.sources.file(self.index().path(file))
    }

    /// The users of a definition outside of itself, code before tests, those with most references first.
    pub fn used(&self, at: DefinitionAt) -> Vec<Usage> {
        let Some(entry) = self.entry(at) else { return Vec::new() };
        let mut uses = Vec::new();
        for file in self.using_files(at.file, entry.name()).into_iter().take(MAX_USING_FILES) {
            let own = (file == at.file).then(|| (entry.line(), entry.end_line()));
            uses.extend(self.uses_in(file, entry.name(), own));
        }
        let is_within_test = |within: &EnclosingDefinition| is_test(&within.symbol, within.container.as_deref());
        let is_test = |uses: &Usage| is_peripheral(&uses.path) || uses.within.as_ref().is_some_and(is_within_test);
        uses.sort_by_key(|uses| (is_test(uses), std::cmp::Reverse(uses.count)));
        uses
    }

    /// The files that reference the definition of a name in `file`, those with most references first.
    fn using_files(&self, file: u32, name: &str) -> Vec<u32> {
        let Some(name) = self.index().name_number(name) else { return Vec::new() };
        let mut files: Vec<(bool, std::cmp::Reverse<u32>, u32)> = Vec::new();
        for from in 0..self.index().len() as u32 {
            let uses = self.index().references(from).find(|uses| uses.name == name);
            if let Some(uses) = uses.filter(|_| self.meant_in(name, from).contains(&file)) {
                files.push((self.index().kind(from).is_peripheral, std::cmp::Reverse(uses.count), from));
            }
        }
        files.sort_unstable();
        files.into_iter().map(|(_, _, file)| file).collect()
    }

    /// The references to a name in a file by enclosing definition, except those on the lines `except`.
    pub(crate) fn uses_in(&self, file: u32, name: &str, except: Option<(u32, u32)>) -> Vec<Usage> {
        let Some(source) = self.source(file) else { return Vec::new() };
        let path = self.index().files().get(file as usize).map_or_else(|| "".into(), |file| Arc::clone(&file.path));
        let is_outside = |line: u32| except.is_none_or(|(first, last)| !(first..=last).contains(&line));
        let mut by_definition: BTreeMap<Option<EnclosingDefinition>, (u32, u32)> = BTreeMap::new();
        let references = source.tags().references.iter().filter(|reference| reference.name == name);
        for reference in references.filter(|reference| is_outside(reference.line)) {
            let around = around(&source.tags().definitions, reference.line).map(EnclosingDefinition::from);
            by_definition.entry(around).or_insert((reference.line, 0)).1 += 1;
        }
        let uses = |(within, (line, count))| Usage { path: Arc::clone(&path), line, count, within };
        by_definition.into_iter().map(uses).collect()
    }

    /// The definitions that a definition uses, with the number of references, the most specific first. A type uses what its members use,
    /// except the members.
    pub fn uses(&self, at: DefinitionAt) -> Vec<(DefinitionAt, u32)> {
        let Some((entry, source)) = self.entry(at).zip(self.source(at.file)) else { return Vec::new() };
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let spans = spans(&source.tags().definitions, entry);
        for reference in &source.tags().references {
            if reference.name != entry.name() && spans.iter().any(|(from, to)| (*from..=*to).contains(&reference.line))
            {
                *counts.entry(&reference.name).or_default() += 1;
            }
        }
        let mut uses = Vec::new();
        for (name, count) in counts {
            let Some(name) = self.index().name_number(name) else { continue };
            let files = self.meant_in(name, at.file);
            let share = f64::from(count).sqrt() / files.len().max(1) as f64;
            for file in files {
                uses.extend(self.named_in(file, name).into_iter().map(|found| (share, (found, count))));
            }
        }
        let is_member = |found: DefinitionAt| {
            found.file == at.file && self.entry(found).is_some_and(|inner| inner.container() == Some(entry.name()))
        };
        uses.retain(|(_, (found, _))| *found != at && !is_member(*found));
        uses.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        uses.into_iter().map(|(_, found)| found).collect()
    }

    /// The files with the definition that a name in a file refers to: the file itself, else those that it imports, else all if they are
    /// few.
    pub(crate) fn meant_in(&self, name: u32, from: u32) -> Vec<u32> {
        let definers = self.graph.defining_files(name);
        if definers.binary_search(&from).is_ok() {
            return vec![from];
        }
        if definers.is_empty() {
            return Vec::new();
        }
        referenced_files(definers, from, &self.imports_of(from))
    }

    fn imports_of(&self, file: u32) -> Rc<[u32]> {
        if let Some(known) = self.imports.borrow().get(&file) {
            return Rc::clone(known);
        }
        let paths = || self.index().files().iter().map(|file| &*file.path);
        let modules = self.modules.get_or_init(|| ModuleResolver::new(paths()));
        let found: BTreeSet<u32> =
            self.index().imports(file).flat_map(|module| modules.resolve(module, file)).collect();
        let imports: Rc<[u32]> = found.into_iter().collect();
        self.imports.borrow_mut().insert(file, Rc::clone(&imports));
        imports
    }

    /// The definition of a name in a file; types and functions precede values.
    pub(crate) fn named_in(&self, file: u32, name: u32) -> Option<DefinitionAt> {
        let named = (0u32..).zip(self.index().defined(file)).filter(|(_, defined)| *defined == name);
        let found = named.map(|(definition, _)| DefinitionAt { file, definition });
        found.min_by_key(|at| (self.entry(*at).is_none_or(|entry| is_value(entry.kind())), at.definition))
    }

    /// The definitions that are one reference away from the best hits, at most `most`.
    pub fn related(&self, hits: &[Hit], most: usize) -> Vec<Related> {
        let mut related: Vec<Related> = Vec::new();
        for hit in hits.iter().filter(|hit| hit.definition.is_some()).take(HITS_WITH_RELATED) {
            let at = DefinitionAt { file: hit.file, definition: hit.definition.unwrap_or_default() };
            let of = hit.symbol.clone().unwrap_or_default();
            let users = self.used(at).into_iter().filter_map(|uses| {
                let within = uses.within?;
                Some((uses.path, within.line, within.signature, Relation::Uses))
            });
            let used = self.uses(at).into_iter().filter_map(|(found, _)| {
                let entry = self.entry(found).filter(|entry| !is_value(entry.kind()))?;
                let path = Arc::clone(&self.index().files().get(found.file as usize)?.path);
                Some((path, entry.line(), entry.signature().to_owned(), Relation::UsedBy))
            });
            for (path, line, signature, relation) in
                users.take(MAX_RELATED_PER_HIT).chain(used.take(MAX_RELATED_PER_HIT))
            {
                let known = related.iter().any(|other| other.path == path && other.line == line);
                if !known && !signature.is_empty() {
                    related.push(Related { path, line, signature, relation, of: of.clone() });
                }
            }
        }
        related.truncate(most);
        related
    }

    /// A hit for a definition, with a score.
    pub(crate) fn hit(&self, at: DefinitionAt, score: f64) -> Option<Hit> {
        let (entry, file) = (self.entry(at)?, self.index().files().get(at.file as usize)?);
        Some(Hit {
            path: Arc::clone(&file.path),
            file: at.file,
            definition: Some(at.definition),
            line: entry.line(),
            end_line: entry.end_line(),
            symbol: Some(entry.name().to_owned()),
            kind: Some(entry.kind()),
            container: entry.container().map(str::to_owned),
            signature: entry.signature().to_owned(),
            evidence: Vec::new(),
            score,
        })
    }

    /// The definition of the index at a location.
    pub fn definition_of(&self, location: &CodeLocation) -> Option<DefinitionAt> {
        let file = self.index().file_at(&location.path)?;
        let symbol = location.symbol.as_deref()?;
        let named = (0u32..).zip(self.index().definitions(file)).filter(|(_, entry)| entry.name() == symbol);
        let nearest = |(_, entry): &(u32, IndexedDefinition<'_>)| {
            (entry.container() != location.container.as_deref(), entry.line().abs_diff(location.line))
        };
        named.min_by_key(nearest).map(|(definition, _)| DefinitionAt { file, definition })
    }
}

/// The innermost enclosing definition of a line that is not a value.
fn around(definitions: &[Definition], line: u32) -> Option<&Definition> {
    let holds = |definition: &&Definition| {
        (definition.line..=definition.end_line).contains(&line) && !is_value(definition.kind)
    };
    definitions.iter().filter(holds).min_by_key(|definition| definition.end_line - definition.line)
}

/// The current lines of a definition of the index and of its members.
fn spans(definitions: &[Definition], entry: IndexedDefinition<'_>) -> Vec<(u32, u32)> {
    let same = |definition: &&Definition| {
        definition.name == entry.name() && definition.container.as_deref() == entry.container()
    };
    let own = definitions.iter().filter(same).min_by_key(|definition| definition.line.abs_diff(entry.line()));
    let members = definitions.iter().filter(|definition| definition.container.as_deref() == Some(entry.name()));
    own.into_iter().chain(members).map(|definition| (definition.line, definition.end_line)).collect()
}

/// Maximum number of subjects of a question that are connected.
const MAX_SUBJECTS: usize = 3;
/// Maximum number of files that define a name that counts as one subject.
const MAX_DEFINING_FILES: usize = 4;
/// Maximum number of files that are searched for definitions that use two subjects.
const MAX_FILES_USING_BOTH: usize = 12;
/// Maximum number of definitions that use two subjects and come first.
const MAX_USING_BOTH: usize = 4;
/// Maximum length of a path between two subjects, in references, and maximum number of definitions that are visited.
const MAX_PATH_LENGTH: usize = 3;
const MAX_VISITED: usize = 80;

impl References<'_> {
    /// Puts the definitions that connect the subjects of a question before the hits, at most `most` in total. If the question names fewer
    /// than two, the hits are returned unchanged.
    pub fn connecting(&self, question: &str, hits: Vec<Hit>, most: usize) -> Vec<Hit> {
        let subjects = self.subjects(question);
        let mut found: Vec<DefinitionAt> = Vec::new();
        for (at, a) in subjects.iter().enumerate() {
            for b in subjects.iter().skip(at + 1) {
                found.extend(self.path_between(a, b));
                found.extend(self.using_both(a, b));
            }
        }
        let mut seen = BTreeSet::new();
        found.retain(|at| seen.insert(*at));
        let top = hits.first().map_or(1.0, |hit| hit.score);
        // Higher than all others, in their order.
        let score = |rank: usize| top * (2.0 - rank as f64 / found.len().max(1) as f64);
        let mut connected: Vec<Hit> =
            found.iter().enumerate().filter_map(|(rank, at)| self.hit(*at, score(rank))).collect();
        let is_new = |hit: &Hit| !found.iter().any(|at| at.file == hit.file && Some(at.definition) == hit.definition);
        connected.extend(hits.into_iter().filter(is_new));
        connected.truncate(most);
        connected
    }

    /// The subjects of a question: the names in it that have few definitions, each with these.
    fn subjects(&self, question: &str) -> Vec<Vec<DefinitionAt>> {
        let mut subjects: Vec<Vec<DefinitionAt>> = Vec::new();
        let mut named = BTreeSet::new();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut before = '\0';
        for (at, word) in words(question, is_part) {
            let after = &question[at + word.len()..];
            before = question[..at].chars().next_back().unwrap_or(before);
            let as_code = before == '`' || after.starts_with('`') || after.starts_with('(');
            if subjects.len() < MAX_SUBJECTS && named.insert(word) {
                subjects.extend(self.subject(word, as_code).filter(|subject| !subject.is_empty()));
            }
        }
        subjects
    }

    /// The definitions of a word, if it can only be a name: written as code, or the name of a type.
    fn subject(&self, word: &str, as_code: bool) -> Option<Vec<DefinitionAt>> {
        let name = self.index().name_number(word)?;
        let files = self.graph().defining_files(name);
        if files.is_empty() || files.len() > MAX_DEFINING_FILES {
            return None;
        }
        let is_camel_case = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        let is_code = as_code || is_camel_case || word.trim_matches('_').contains('_');
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

    /// The definitions that use both subjects, the smallest first.
    fn using_both(&self, a: &[DefinitionAt], b: &[DefinitionAt]) -> Vec<DefinitionAt> {
        let number = |subject: &[DefinitionAt]| {
            let name = self.entry(*subject.first()?)?.name();
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
        for file in (0..self.index().len() as u32).filter(uses_both).take(MAX_FILES_USING_BOTH) {
            let within = |name: &str| {
                self.uses_in(file, name, None).into_iter().filter_map(|uses| uses.within).collect::<BTreeSet<_>>()
            };
            for around in within(a_name).intersection(&within(b_name)) {
                let location = CodeLocation {
                    path: self.index().path(file).into(),
                    line: around.line,
                    end_line: around.end_line,
                    symbol: Some(around.symbol.clone()),
                    container: around.container.clone(),
                };
                found.extend(self.definition_of(&location).map(|at| (around.end_line - around.line, at)));
            }
        }
        found.retain(|(_, at)| !a.contains(at) && !b.contains(at));
        found.sort_unstable();
        found.truncate(MAX_USING_BOTH);
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// The definitions on a shortest path of references between two subjects, including both; empty if there is none.
    fn path_between(&self, a: &[DefinitionAt], b: &[DefinitionAt]) -> Vec<DefinitionAt> {
        let (there, back) = (self.path_from(a, b), self.path_from(b, a));
        let is_shorter = back.len() < there.len() && !back.is_empty();
        if is_shorter || there.is_empty() { back } else { there }
    }

    /// Breadth-first search along the uses of each definition.
    fn path_from(&self, from: &[DefinitionAt], to: &[DefinitionAt]) -> Vec<DefinitionAt> {
        let mut previous: BTreeMap<DefinitionAt, Option<DefinitionAt>> = from.iter().map(|at| (*at, None)).collect();
        let mut open: VecDeque<(DefinitionAt, usize)> = from.iter().map(|at| (*at, 0)).collect();
        let mut visited = 0;
        while let Some((at, steps)) = open.pop_front() {
            visited += 1;
            if steps >= MAX_PATH_LENGTH || visited > MAX_VISITED {
                continue;
            }
            for (next, _) in self.uses(at) {
                if previous.contains_key(&next) {
                    continue;
                }
                previous.insert(next, Some(at));
                if to.contains(&next) {
                    return path_to(&previous, next);
                }
                open.push_back((next, steps + 1));
            }
        }
        Vec::new()
    }
}

fn path_to(previous: &BTreeMap<DefinitionAt, Option<DefinitionAt>>, end: DefinitionAt) -> Vec<DefinitionAt> {
    let mut path: Vec<DefinitionAt> =
        std::iter::successors(Some(end), |at| previous.get(at).copied().flatten()).collect();
    path.reverse();
    path
}

/// The words of a text with their byte offsets.
fn words(text: &str, is_part: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(&is_part)?;
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
        at = end;
        Some((start, &text[start..end]))
    })
}

#[cfg(test)]
mod tests {

    // References in a small repository.

    use std::sync::Arc;

    use super::*;
    use crate::repo_map::{Digest, History, MapFile, Weights};
    use crate::retrieval::{Question, SearchWeights, search};
    use rhumb_syntax::{Language, tags};

    const FILES: [(&str, &str); 4] = [
        (
            "encoder.py",
            "class Encoder:\n    def encode(self, text):\n        return pack_bits(text)\n\n\ndef pack_bits(text):\n    frame = Frame(text)\n    return frame\n",
        ),
        ("frame.py", "class Frame:\n    def __init__(self, text):\n        self.text = text\n"),
        (
            "decoder.py",
            "from frame import Frame\n\n\nclass Decoder:\n    def decode(self, bits):\n        return Frame(bits)\n",
        ),
        (
            "app.py",
            "from encoder import Encoder\nfrom decoder import Decoder\n\n\ndef round_trip(text):\n    return Decoder().decode(Encoder().encode(text))\n\n\ndef only(text):\n    return Encoder().encode(text)\n",
        ),
    ];

    fn graph() -> Arc<TagGraph> {
        let file = |&(path, text): &(&str, &str)| {
            let tags = tags(Language::by_name("python").unwrap(), text);
            let digest = Digest::new(text, &tags, crate::lexical::Depth::Whole);
            MapFile { path: path.to_owned(), tags: tags.into(), digest: digest.into() }
        };
        let files: Vec<MapFile> = FILES.iter().map(file).collect();
        Arc::new(TagGraph::new(Arc::new(MapIndex::of(&files)), &History::default(), &Weights::default()))
    }

    fn text(path: &str) -> Option<Arc<str>> {
        FILES.iter().find(|file| file.0 == path).map(|file| file.1.into())
    }

    fn at(references: &References<'_>, path: &str, symbol: &str) -> DefinitionAt {
        let file = references.index().file_at(path).unwrap();
        let location =
            CodeLocation { path: path.into(), line: 1, end_line: 1, symbol: Some(symbol.to_owned()), container: None };
        let found = references.definition_of(&location).unwrap();
        assert_eq!(found.file, file);
        found
    }

    fn named(references: &References<'_>, hits: &[Hit]) -> Vec<String> {
        let _ = references;
        hits.iter().filter_map(|hit| hit.symbol.clone()).collect()
    }

    #[test]
    fn a_definition_has_its_users_with_lines() {
        let (graph, sources) = (graph(), SourceFiles::new(&text));
        let references = References::new(&graph, &sources);
        let used: Vec<(String, u32, u32, String)> = references
            .used(at(&references, "encoder.py", "Encoder"))
            .into_iter()
            .map(|uses| {
                (uses.path.to_string(), uses.line, uses.count, uses.within.map_or_else(String::new, |w| w.symbol))
            })
            .collect();
        for (line, within) in [(6, "round_trip"), (10, "only")] {
            assert!(used.contains(&("app.py".into(), line, 1, within.into())), "{used:?}");
        }
    }

    #[test]
    fn a_definition_has_what_it_uses_and_a_type_what_its_members_use() {
        let (graph, sources) = (graph(), SourceFiles::new(&text));
        let references = References::new(&graph, &sources);
        let uses = |path: &str, symbol: &str| -> Vec<String> {
            let used = references.uses(at(&references, path, symbol));
            used.into_iter().filter_map(|(found, _)| Some(references.entry(found)?.name().to_owned())).collect()
        };
        assert_eq!(uses("encoder.py", "pack_bits"), ["Frame"]);
        assert_eq!(uses("encoder.py", "Encoder"), ["pack_bits"]);
        assert!(uses("app.py", "round_trip").contains(&"decode".to_owned()));
    }

    #[test]
    fn related_definitions_have_a_direction() {
        let (graph, sources) = (graph(), SourceFiles::new(&text));
        let references = References::new(&graph, &sources);
        let hit = references.hit(at(&references, "encoder.py", "pack_bits"), 1.0).unwrap();
        let lines: Vec<String> = references.related(&[hit], 9).iter().map(ToString::to_string).collect();
        assert!(
            lines.iter().any(|line| line.starts_with("encoder.py:2") && line.ends_with("(uses pack_bits)")),
            "{lines:?}"
        );
        assert!(
            lines.iter().any(|line| line.starts_with("frame.py:1") && line.ends_with("(used by pack_bits)")),
            "{lines:?}"
        );
    }

    #[test]
    fn definitions_that_connect_two_subjects_come_first() {
        let (graph, sources) = (graph(), SourceFiles::new(&text));
        let references = References::new(&graph, &sources);
        let asked = |question: &str| {
            let hits = search(&graph, &Question::new(question, 10), &SearchWeights::default());
            named(&references, &references.connecting(question, hits, 10))
        };
        assert_eq!(asked("How does Encoder relate to Decoder?")[0], "round_trip");
        assert_eq!(asked("What has Encoder to do with Frame?")[..3], ["Encoder", "pack_bits", "Frame"]);
    }

    #[test]
    fn hits_for_a_single_subject_do_not_change() {
        let (graph, sources) = (graph(), SourceFiles::new(&text));
        let references = References::new(&graph, &sources);
        for question in ["How does Encoder work?", "how is text packed", "", "é `"] {
            let hits = search(&graph, &Question::new(question, 10), &SearchWeights::default());
            assert_eq!(references.connecting(question, hits.clone(), 10), hits, "{question}");
        }
        assert_eq!(sources.read(), 0, "no file is read");
    }

    #[test]
    fn unreadable_files_have_no_related_definitions() {
        let nothing = |_: &str| None;
        let (graph, sources) = (graph(), SourceFiles::new(&nothing));
        let references = References::new(&graph, &sources);
        let hit = references.hit(at(&references, "encoder.py", "Encoder"), 1.0).unwrap();
        assert!(references.related(&[hit], 9).is_empty());
    }
}
