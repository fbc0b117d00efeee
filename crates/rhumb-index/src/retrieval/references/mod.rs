//! References both ways: where a definition is used, and what it uses.
//!
//! The index knows which files use a name and which define it; the files that matter for a question are looked into again, as
//! they are now, for the lines and for the definitions around them.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::chunk::source::{Place, SourceFile, Sources};
use super::hit::Hit;
use crate::repo_map::index::Entry;
use crate::repo_map::{MapIndex, Modules, TagGraph, is_aside, meant};
use rhumb_syntax::tag::{Definition, SymbolKind};

/// Most files that are looked into for the uses of one name.
const MOST_FILES: usize = 16;
/// Hits whose neighbours are told, and how many of each kind of each.
const TOLD_HITS: usize = 3;
const TOLD_EACH: usize = 6;

/// Which way a reference goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// It is used by what was found.
    UsedBy,
    /// It uses what was found.
    Uses,
}

/// A definition one reference away from what was found, by its header alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// Its line, 1-based.
    pub line: u32,
    /// Its header on one line.
    pub signature: String,
    /// How it is related.
    pub relation: Relation,
    /// To what.
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

/// A definition of the index, by its file and its place among those of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionAt {
    /// The file.
    pub file: u32,
    /// Its place.
    pub definition: u32,
}

/// Uses of a name within one definition, or on the lines of a file that are outside of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The first line of it, 1-based.
    pub line: u32,
    /// How often.
    pub count: u32,
    /// The definition around: its name, the definition around that, its header and its line.
    pub within: Option<Around>,
}

/// A definition around a use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Around {
    /// Its line, 1-based.
    pub line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// Its name.
    pub symbol: String,
    /// The definition around it.
    pub container: Option<String>,
    /// Its header on one line.
    pub signature: String,
}

impl From<&Definition> for Around {
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

impl Around {
    /// Whether it is a test among other code, by the usual names of tests and of what holds them.
    fn is_test(&self) -> bool {
        self.symbol.starts_with("test_") || matches!(self.container.as_deref(), Some("tests" | "test"))
    }
}

/// The references of a repository, looked up as they are asked for.
#[derive(Debug)]
pub struct References<'g> {
    graph: &'g TagGraph,
    sources: &'g Sources<'g>,
    modules: OnceCell<Modules>,
    /// By file: those that its imports mean, sorted.
    imports: RefCell<BTreeMap<u32, Rc<[u32]>>>,
}

impl<'g> References<'g> {
    /// Of the repository of a graph, whose files are read from `sources`.
    pub fn new(graph: &'g TagGraph, sources: &'g Sources<'g>) -> Self {
        Self { graph, sources, modules: OnceCell::new(), imports: RefCell::default() }
    }

    pub(super) fn index(&self) -> &'g MapIndex {
        self.graph.index()
    }

    pub(super) fn graph(&self) -> &'g TagGraph {
        self.graph
    }

    /// A definition of the index.
    pub(super) fn entry(&self, at: DefinitionAt) -> Option<Entry<'g>> {
        self.index().definition(at.file, at.definition)
    }

    pub(super) fn source(&self, file: u32) -> Option<Rc<SourceFile>> {
        self.sources.file(self.index().path(file))
    }

    /// Where a definition is used: outside of itself, code before tests, the most uses first.
    pub fn used(&self, at: DefinitionAt) -> Vec<Use> {
        let Some(entry) = self.entry(at) else { return Vec::new() };
        let mut uses = Vec::new();
        for file in self.using_files(at.file, entry.name()).into_iter().take(MOST_FILES) {
            let own = (file == at.file).then(|| (entry.line(), entry.end_line()));
            uses.extend(self.uses_in(file, entry.name(), own));
        }
        let is_test = |uses: &Use| is_aside(&uses.path) || uses.within.as_ref().is_some_and(Around::is_test);
        uses.sort_by_key(|uses| (is_test(uses), std::cmp::Reverse(uses.count)));
        uses
    }

    /// The files that use a name and mean its definition in `file`, the most uses first.
    fn using_files(&self, file: u32, name: &str) -> Vec<u32> {
        let Some(name) = self.index().name_number(name) else { return Vec::new() };
        let mut files: Vec<(bool, std::cmp::Reverse<u32>, u32)> = Vec::new();
        for from in 0..self.index().len() as u32 {
            let uses = self.index().references(from).find(|uses| uses.name == name);
            if let Some(uses) = uses.filter(|_| self.meant_in(name, from).contains(&file)) {
                files.push((is_aside(self.index().path(from)), std::cmp::Reverse(uses.count), from));
            }
        }
        files.sort_unstable();
        files.into_iter().map(|(_, _, file)| file).collect()
    }

    /// The uses of a name in a file by the definition around them, those on the lines `except` left out.
    pub(super) fn uses_in(&self, file: u32, name: &str, except: Option<(u32, u32)>) -> Vec<Use> {
        let Some(source) = self.source(file) else { return Vec::new() };
        let path = self.index().files().get(file as usize).map_or_else(|| "".into(), |file| Arc::clone(&file.path));
        let is_outside = |line: u32| except.is_none_or(|(first, last)| !(first..=last).contains(&line));
        let mut by_definition: BTreeMap<Option<Around>, (u32, u32)> = BTreeMap::new();
        let references = source.tags().references.iter().filter(|reference| reference.name == name);
        for reference in references.filter(|reference| is_outside(reference.line)) {
            let around = around(&source.tags().definitions, reference.line).map(Around::from);
            by_definition.entry(around).or_insert((reference.line, 0)).1 += 1;
        }
        let uses = |(within, (line, count))| Use { path: Arc::clone(&path), line, count, within };
        by_definition.into_iter().map(uses).collect()
    }

    /// The definitions that a definition uses, with how often: those most particular to it first. A type uses what its members use,
    /// these aside.
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

    /// The files that define what a name means in a file: itself, or those that it imports, or all of a few.
    pub(super) fn meant_in(&self, name: u32, from: u32) -> Vec<u32> {
        let definers = self.graph.defining_files(name);
        if definers.binary_search(&from).is_ok() {
            return vec![from];
        }
        if definers.is_empty() {
            return Vec::new();
        }
        meant(definers, from, &self.imports_of(from))
    }

    fn imports_of(&self, file: u32) -> Rc<[u32]> {
        if let Some(known) = self.imports.borrow().get(&file) {
            return Rc::clone(known);
        }
        let paths = || self.index().files().iter().map(|file| &*file.path);
        let modules = self.modules.get_or_init(|| Modules::new(paths()));
        let found: BTreeSet<u32> =
            self.index().imports(file).flat_map(|module| modules.resolve(module, file)).collect();
        let imports: Rc<[u32]> = found.into_iter().collect();
        self.imports.borrow_mut().insert(file, Rc::clone(&imports));
        imports
    }

    /// The definition of a name in a file: a type or a function before a value.
    pub(super) fn named_in(&self, file: u32, name: u32) -> Option<DefinitionAt> {
        let named = (0u32..).zip(self.index().defined(file)).filter(|(_, defined)| *defined == name);
        let found = named.map(|(definition, _)| DefinitionAt { file, definition });
        found.min_by_key(|at| (self.entry(*at).is_none_or(|entry| is_value(entry.kind())), at.definition))
    }

    /// What is one reference away from the best hits, those of the best first, at most `most`.
    pub fn related(&self, hits: &[Hit], most: usize) -> Vec<Related> {
        let mut related: Vec<Related> = Vec::new();
        for hit in hits.iter().filter(|hit| hit.definition.is_some()).take(TOLD_HITS) {
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
            for (path, line, signature, relation) in users.take(TOLD_EACH).chain(used.take(TOLD_EACH)) {
                let known = related.iter().any(|other| other.path == path && other.line == line);
                if !known && !signature.is_empty() {
                    related.push(Related { path, line, signature, relation, of: of.clone() });
                }
            }
        }
        related.truncate(most);
        related
    }

    /// A hit for a definition, worth that score.
    pub(super) fn hit(&self, at: DefinitionAt, score: f64) -> Option<Hit> {
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
            score,
        })
    }

    /// The definition of the index that a place means.
    pub fn definition_of(&self, place: &Place) -> Option<DefinitionAt> {
        let file = self.index().file_at(&place.path)?;
        let symbol = place.symbol.as_deref()?;
        let named = (0u32..).zip(self.index().definitions(file)).filter(|(_, entry)| entry.name() == symbol);
        let nearest = |(_, entry): &(u32, Entry<'_>)| {
            (entry.container() != place.container.as_deref(), entry.line().abs_diff(place.line))
        };
        named.min_by_key(nearest).map(|(definition, _)| DefinitionAt { file, definition })
    }
}

/// The innermost definition around a line that is more than a value.
fn around(definitions: &[Definition], line: u32) -> Option<&Definition> {
    let holds = |definition: &&Definition| {
        (definition.line..=definition.end_line).contains(&line) && !is_value(definition.kind)
    };
    definitions.iter().filter(holds).min_by_key(|definition| definition.end_line - definition.line)
}

/// The lines of a definition of the index as it stands now, and those of its members.
fn spans(definitions: &[Definition], entry: Entry<'_>) -> Vec<(u32, u32)> {
    let same = |definition: &&Definition| {
        definition.name == entry.name() && definition.container.as_deref() == entry.container()
    };
    let own = definitions.iter().filter(same).min_by_key(|definition| definition.line.abs_diff(entry.line()));
    let members = definitions.iter().filter(|definition| definition.container.as_deref() == Some(entry.name()));
    own.into_iter().chain(members).map(|definition| (definition.line, definition.end_line)).collect()
}

/// Fields, constants and variables, and what no code is: nobody asks what they call.
fn is_value(kind: SymbolKind) -> bool {
    use SymbolKind::{Constant, Field, Key, Module, Section, Selector, Variable};
    matches!(kind, Constant | Field | Key | Module | Section | Selector | Variable)
}

mod paths;
#[cfg(test)]
mod tests;
