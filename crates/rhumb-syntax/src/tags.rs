//! Extracts tags: runs the tags query of a language over a source and interprets its captures.

use crate::doc::doc_line;
use crate::embedded::Regions;
use crate::language::Language;
use crate::parse::{MAX_SOURCE_BYTES, parse_for_query, parse_part_for_query};
use crate::query::{CaptureRole, PatternSettings, TagQuery};
use crate::signature::{DefinitionHeader, signature};
use crate::walk::Visit;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tree_sitter::{Node, QueryMatch, Tree};

/// Maximum number of keys of a file. A file with more is a table of data.
const MAX_KEYS: usize = 1_000;

/// Maximum length of a name, in bytes. Longer names are data.
const MAX_NAME_BYTES: usize = 256;

/// The definitions, references and imports of `source`, in source order. A source with syntax errors gives the tags of its intact
/// parts. Empty if the source exceeds [`MAX_SOURCE_BYTES`], is minified and exceeds
/// [`MAX_MINIFIED_BYTES`](crate::parse::MAX_MINIFIED_BYTES), or the parser stopped at a limit.
pub fn tags(language: &'static Language, source: &str) -> FileTags {
    if let Some(read) = language.reader {
        return if source.len() > MAX_SOURCE_BYTES { FileTags::default() } else { read(source) };
    }
    let (Ok(query), Some(tree)) = (language.tag_query(), parse_for_query(language, source)) else {
        return FileTags::default();
    };
    let mut found = Collected::default();
    found.collect(query, &tree, source);
    for (language, range) in std::mem::take(&mut found.embedded).readable() {
        if let (Ok(query), Some(tree)) = (language.tag_query(), parse_part_for_query(language, source, range)) {
            found.collect(query, &tree, source);
        }
    }
    found.sort();
    FileTags {
        imports: imports(&found.imports, source),
        references: references(found.references, &defined_names(&found.definitions), source),
        definitions: definitions(found.definitions),
    }
}

/// A definition, scope or ignored name that a match captures.
struct CapturedDefinition {
    role: DefinitionRole,
    name: String,
    name_range: Range<usize>,
    /// The row of the name, 0-based. Captures of one definition share it.
    name_row: usize,
    has_body: bool,
    range: Range<usize>,
    line: u32,
    end_line: u32,
    signature: String,
    doc: String,
    container: Option<String>,
    top_level_only: bool,
    joins_clauses: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DefinitionRole {
    Definition(SymbolKind),
    /// The container of its contents.
    Scope,
    /// Cancels other definitions of this name on this line.
    Ignore,
}

/// A byte range (start, end) that can be ordered.
type ByteRange = (usize, usize);

/// Everything that was captured in a file and its embedded regions.
#[derive(Default)]
struct Collected {
    definitions: Vec<CapturedDefinition>,
    /// The ranges of references, with their 1-based lines.
    references: Vec<(ByteRange, u32)>,
    /// The ranges of imported modules and files.
    imports: Vec<ByteRange>,
    /// Code in other languages.
    embedded: Regions,
}

impl Collected {
    fn collect(&mut self, query: &TagQuery, tree: &Tree, source: &str) {
        query.walk.run(tree, source, &mut Collector { query, source, found: self });
    }

    /// Sorts ranges by source order and removes duplicates: patterns can overlap, and matches are reported when they end.
    fn sort(&mut self) {
        self.references.sort_unstable();
        self.references.dedup_by_key(|(range, _)| *range);
        self.imports.sort_unstable();
        self.imports.dedup();
    }
}

/// Receives the captures of one query.
struct Collector<'walk> {
    query: &'walk TagQuery,
    source: &'walk str,
    found: &'walk mut Collected,
}

impl Collector<'_> {
    /// Adds one capture. `settings` are the directives of its pattern, if any.
    fn captured(&mut self, capture: usize, node: Node<'_>, settings: Option<&PatternSettings>) {
        let mut range = node.byte_range();
        match self.query.roles.get(capture) {
            Some(CaptureRole::Reference) => {
                if settings.is_some_and(|settings| settings.last_segment) {
                    range = last_segment_of(range, self.source);
                }
                self.found.references.push(((range.start, range.end), line_of(node.start_position().row)));
            }
            Some(CaptureRole::Import) => self.found.imports.push((range.start, range.end)),
            _ => {}
        }
    }

    /// Adds an embedded region. The match may name its language.
    fn embed(&mut self, found: &QueryMatch<'_, '_>, node: Node<'_>, settings: Option<&PatternSettings>) {
        let is_language = |index: u32| self.query.roles.get(index as usize) == Some(&CaptureRole::Language);
        let named = found.captures().iter().find(|capture| is_language(capture.index));
        let name = named.and_then(|capture| self.source.get(capture.node.byte_range()));
        self.found.embedded.add(node, name, settings.and_then(|settings| settings.language.as_deref()));
    }
}

impl Visit for Collector<'_> {
    fn path(&mut self, capture: usize, node: Node<'_>) {
        self.captured(capture, node, None);
    }

    fn matched(&mut self, found: &QueryMatch<'_, '_>) {
        let settings = self.query.settings.get(found.pattern_index);
        for capture in found.captures() {
            match self.query.roles.get(capture.index as usize) {
                Some(CaptureRole::Embedded) => self.embed(found, capture.node, settings),
                _ => self.captured(capture.index as usize, capture.node, settings),
            }
        }
        self.found.definitions.extend(definition(self.query, found, self.source));
    }
}

/// The definition, scope or ignored name in a match, if any.
fn definition(query: &TagQuery, found: &QueryMatch<'_, '_>, source: &str) -> Option<CapturedDefinition> {
    let (mut role, mut name, mut body, mut container, mut doc) = (None, None, None, None, None);
    for capture in found.captures() {
        match *query.roles.get(capture.index as usize)? {
            CaptureRole::Definition(kind) => role = Some((DefinitionRole::Definition(kind), capture.node)),
            CaptureRole::Scope => role = Some((DefinitionRole::Scope, capture.node)),
            CaptureRole::Ignore => role = Some((DefinitionRole::Ignore, capture.node)),
            CaptureRole::Name => name = Some(capture.node),
            CaptureRole::Body => body = Some(capture.node),
            CaptureRole::Container => container = Some(capture.node),
            CaptureRole::Doc => doc = Some(capture.node),
            CaptureRole::Reference
            | CaptureRole::Import
            | CaptureRole::Embedded
            | CaptureRole::Language
            | CaptureRole::Private => {}
        }
    }
    let ((role, node), name) = (role?, name?);
    let settings = query.settings.get(found.pattern_index)?;
    let (line, end_line) = lines(node, name, body, source);
    let (signature, doc) = match role {
        DefinitionRole::Definition(_) => (
            signature(&DefinitionHeader { node, name, body, doc }, settings.prefix.as_deref(), source),
            doc_line(node, doc, source),
        ),
        DefinitionRole::Scope | DefinitionRole::Ignore => (String::new(), String::new()),
    };
    let mut name_range = bare_name(name, source)?;
    if settings.last_segment {
        name_range = last_segment_of(name_range, source);
    }
    Some(CapturedDefinition {
        role,
        name: source.get(name_range.clone())?.to_owned(),
        name_range,
        name_row: name.start_position().row,
        has_body: body.is_some(),
        range: node.byte_range(),
        line,
        end_line,
        signature,
        doc,
        container: container.and_then(|node| source.get(bare_name(node, source)?)).map(str::to_owned),
        top_level_only: settings.top_level_only,
        joins_clauses: settings.joins_clauses,
    })
}

/// The range of the name in a node; `None` if it is blank, `_` or too long.
fn bare_name(node: Node<'_>, source: &str) -> Option<Range<usize>> {
    let range = bare(node.byte_range(), source);
    let text = source.get(range.clone())?;
    let blank = text.is_empty() || text == "_" || text.len() > MAX_NAME_BYTES || text.contains('\n');
    (!blank).then_some(range)
}

/// Strips backticks around a name, the colon before a Ruby symbol and the colon after an Elixir key.
fn bare(range: Range<usize>, source: &str) -> Range<usize> {
    let text = source.get(range.clone()).unwrap_or_default();
    if text.len() > 2 && text.starts_with('`') && text.ends_with('`') {
        return range.start + 1..range.end - 1;
    }
    let symbol = text.strip_prefix(':').filter(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    let name = symbol.unwrap_or(text);
    let start = range.end - name.len();
    let key = name.trim_end();
    let name = if key.len() < name.len() { key.trim_end_matches(':') } else { name };
    start..start + name.len()
}

/// The last segment of a qualified name. Other names are returned unchanged.
fn last_segment_of(range: Range<usize>, source: &str) -> Range<usize> {
    let text = source.get(range.clone()).unwrap_or_default().trim_end_matches('.');
    match text.rsplit(['.', ':', '/', '$', '>']).next() {
        Some(last) if !last.is_empty() => {
            let end = range.start + text.len();
            end - last.len()..end
        }
        _ => range,
    }
}

/// First and last line of a definition, 1-based. The first is the line of its name, not of the modifiers above, unless the name
/// comes after the body. The last is that of its last word.
fn lines(node: Node<'_>, name: Node<'_>, body: Option<Node<'_>>, source: &str) -> (u32, u32) {
    let trailing = body.is_some_and(|body| name.start_byte() >= body.end_byte());
    let first = if trailing { node.start_position().row } else { name.start_position().row };
    // Some nodes include the line feed and the blank lines that follow.
    let text = source.get(node.start_byte()..node.end_byte().min(source.len())).unwrap_or_default();
    let blank = text.bytes().rev().take_while(u8::is_ascii_whitespace).filter(|byte| *byte == b'\n').count();
    // Some grammars get an additional line feed after the source.
    let blank = blank + usize::from(node.end_byte() > source.len());
    let last = node.end_position().row.saturating_sub(blank);
    (line_of(first), line_of(last.max(first)))
}

/// Converts a 0-based row to a 1-based line.
fn line_of(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}

/// The imports, without duplicates, in source order.
fn imports(found: &[ByteRange], source: &str) -> Vec<String> {
    let mut joined: Vec<ByteRange> = Vec::new();
    for &(start, end) in found {
        match joined.last_mut() {
            // Grammars without a node for dotted names capture the parts.
            Some(last) if source.get(last.1..start) == Some(".") => last.1 = end,
            _ => joined.push((start, end)),
        }
    }
    let mut imports: Vec<String> = Vec::new();
    for (start, end) in joined {
        let quotes = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
        let module = source.get(start..end).unwrap_or_default().trim_matches(quotes);
        let usable = !module.is_empty() && module.len() <= MAX_NAME_BYTES && !module.contains('\n');
        if usable && !imports.iter().any(|known| known == module) {
            imports.push(module.to_owned());
        }
    }
    imports
}

fn references(found: Vec<(ByteRange, u32)>, names: &BTreeSet<NameAt>, source: &str) -> Vec<Reference> {
    let mut references = Vec::with_capacity(found.len());
    for ((start, end), line) in found {
        let Range { start, end } = bare(start..end, source);
        if names.contains(&NameAt(start, end)) {
            continue;
        }
        // A string may contain several names, for example the classes of an HTML element.
        for name in source.get(start..end).unwrap_or_default().split_whitespace() {
            if !name.is_empty() && name.len() <= MAX_NAME_BYTES {
                references.push(Reference { name: name.to_owned(), line });
            }
        }
    }
    references
}

/// The ranges of the names of definitions, which are not references. The name of a scope is a reference, and so is a name that is
/// ignored as a definition because it is imported.
fn defined_names(found: &[CapturedDefinition]) -> BTreeSet<NameAt> {
    let names = |wanted: fn(DefinitionRole) -> bool| {
        let found = found.iter().filter(move |found| wanted(found.role));
        found.map(|found| NameAt::from(found.name_range.clone())).collect::<BTreeSet<_>>()
    };
    let ignored = names(|role| role == DefinitionRole::Ignore);
    let mut defined = names(|role| matches!(role, DefinitionRole::Definition(_)));
    defined.retain(|name| !ignored.contains(name));
    defined
}

/// The byte range of the name of a definition.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NameAt(usize, usize);

impl From<Range<usize>> for NameAt {
    fn from(range: Range<usize>) -> Self {
        Self(range.start, range.end)
    }
}

/// Sorts the definitions, removes duplicates and sets their containers.
fn definitions(mut found: Vec<CapturedDefinition>) -> Vec<Definition> {
    found.sort_by_key(|found| (found.range.start, usize::MAX - found.range.end, found.name_range.start));
    let found = without_duplicates(found);
    let mut open: Vec<&CapturedDefinition> = Vec::new();
    let (mut definitions, mut keys) = (Vec::<Definition>::new(), 0);
    for found in &found {
        while open.last().is_some_and(|outer| outer.range.end <= found.range.start) {
            open.pop();
        }
        if let DefinitionRole::Definition(kind) = found.role {
            keys += usize::from(kind == SymbolKind::Key);
            if kind == SymbolKind::Key && keys > MAX_KEYS {
                continue;
            }
            if let Some(definition) = placed(found, kind, &open) {
                match definitions.last_mut().filter(|last| found.joins_clauses && is_clause_of(last, &definition)) {
                    Some(last) => last.end_line = last.end_line.max(definition.end_line),
                    None => definitions.push(definition),
                }
            }
        }
        open.push(found);
    }
    definitions
}

/// Whether `next`, which follows `last`, is a clause of the same definition.
fn is_clause_of(last: &Definition, next: &Definition) -> bool {
    (&last.name, &last.container) == (&next.name, &next.container)
}

/// Makes the definition, given the open definitions around it, outermost first. `None` if it must be at the top level and is not.
fn placed(found: &CapturedDefinition, kind: SymbolKind, open: &[&CapturedDefinition]) -> Option<Definition> {
    let around = || open.iter().filter(|outer| outer.surrounds(found));
    if found.top_level_only && around().any(|outer| outer.is_function()) {
        return None;
    }
    let outer = around().next_back();
    let belongs_to_type = outer.is_some_and(|outer| outer.is_type());
    Some(Definition {
        name: found.name.clone(),
        kind: if kind == SymbolKind::Function && belongs_to_type { SymbolKind::Method } else { kind },
        line: found.line,
        end_line: found.end_line,
        signature: found.signature.clone(),
        container: found.container.clone().or_else(|| outer.map(|outer| outer.name.clone())),
        doc: found.doc.clone(),
    })
}

impl CapturedDefinition {
    /// Whether `self` contains `inner`. The struct of a C `typedef struct name { … } name` is not contained in the type.
    fn surrounds(&self, inner: &Self) -> bool {
        let same_name = self.role == DefinitionRole::Definition(SymbolKind::Type) && self.name == inner.name;
        self.range != inner.range && self.range.end >= inner.range.end && !same_name
    }

    fn is_function(&self) -> bool {
        matches!(self.role, DefinitionRole::Definition(SymbolKind::Function | SymbolKind::Method))
    }

    fn is_type(&self) -> bool {
        match self.role {
            DefinitionRole::Scope => true,
            DefinitionRole::Definition(kind) => {
                matches!(kind, SymbolKind::Class | SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Interface)
            }
            DefinitionRole::Ignore => false,
        }
    }
}

/// Keeps one definition per name and line: the most specific, then one with a known body, then one with documentation, then the
/// outermost, whose signature is more complete.
fn without_duplicates(found: Vec<CapturedDefinition>) -> Vec<CapturedDefinition> {
    let mut best = BTreeMap::new();
    for (at, found) in found.iter().enumerate().filter(|(_, found)| found.role != DefinitionRole::Scope) {
        let specific = (specificity(found.role), found.has_body, !found.doc.is_empty());
        let kept = best.entry((found.name_row, found.name.as_str())).or_insert((specific, at));
        if specific > kept.0 {
            *kept = (specific, at);
        }
    }
    let kept: BTreeSet<usize> = best.into_values().map(|(_, at)| at).collect();
    let stays = |at: &usize, found: &CapturedDefinition| match found.role {
        DefinitionRole::Scope => true,
        DefinitionRole::Ignore => false,
        DefinitionRole::Definition(_) => kept.contains(at),
    };
    found.into_iter().enumerate().filter(|(at, found)| stays(at, found)).map(|(_, found)| found).collect()
}

/// How specific a kind is. A variable that holds a function is better described as a function.
fn specificity(role: DefinitionRole) -> u8 {
    match role {
        DefinitionRole::Ignore => u8::MAX,
        DefinitionRole::Scope => 0,
        DefinitionRole::Definition(kind) => match kind {
            SymbolKind::Key | SymbolKind::Selector => 0,
            SymbolKind::Variable => 1,
            SymbolKind::Field | SymbolKind::Section => 2,
            SymbolKind::Constant | SymbolKind::Type => 3,
            SymbolKind::Function | SymbolKind::Macro | SymbolKind::Module | SymbolKind::Target | SymbolKind::Table => 4,
            SymbolKind::Class | SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Interface => 5,
            SymbolKind::Method => 6,
        },
    }
}

/// The kind of a definition. The names are those of the `kind` field in the JSON of `rhumb map`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A free function.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A class.
    Class,
    /// A struct or record.
    Struct,
    /// An enumeration.
    Enum,
    /// An interface, trait or protocol.
    Interface,
    /// A module, namespace or package.
    Module,
    /// A type alias.
    Type,
    /// A constant or static.
    Constant,
    /// A variable at the top level of a file.
    Variable,
    /// A field or property of a type.
    Field,
    /// A macro.
    Macro,
    /// A heading of a document, or a named block of configuration.
    Section,
    /// A key of structured data.
    Key,
    /// A target of a build file.
    Target,
    /// A table, view or index of a database.
    Table,
    /// A selector of a style sheet, or a named element of markup.
    Selector,
}

impl SymbolKind {
    /// The stable lower-case name, as captured in the queries (`@definition.<name>`) and printed as JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Module => "module",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
            Self::Macro => "macro",
            Self::Section => "section",
            Self::Key => "key",
            Self::Target => "target",
            Self::Table => "table",
            Self::Selector => "selector",
        }
    }

    /// All kinds. Their positions are stored, so new kinds must be added at the end.
    const ALL: [Self; 17] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Struct,
        Self::Enum,
        Self::Interface,
        Self::Module,
        Self::Type,
        Self::Constant,
        Self::Variable,
        Self::Field,
        Self::Macro,
        Self::Section,
        Self::Key,
        Self::Target,
        Self::Table,
        Self::Selector,
    ];

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The stored number of the kind.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The kind with this number; [`Self::Variable`] for an unknown number.
    pub fn from_number(number: u32) -> Self {
        Self::ALL.get(number as usize).copied().unwrap_or(Self::Variable)
    }
}

/// A symbol that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The bare name, as written.
    pub name: String,
    /// The kind.
    pub kind: SymbolKind,
    /// First line (the line of the name), 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// The header as written, on one line, without the body: `fn area(&self) -> f64`.
    pub signature: String,
    /// Name of the innermost enclosing definition, if any (the class of a method).
    pub container: Option<String>,
    /// First line of the documentation without comment marks; may be empty.
    pub doc: String,
}

/// A use of a name in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The bare name, as written.
    pub name: String,
    /// 1-based line.
    pub line: u32,
}

/// The definitions, references and imports of a file, in source order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTags {
    /// The definitions.
    pub definitions: Vec<Definition>,
    /// The references, one per occurrence.
    pub references: Vec<Reference>,
    /// The imported modules and files as written, without quotes: `serde`, `./util`, `os.path`.
    pub imports: Vec<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definitions as `kind container::name line-end_line`.
    fn defined(language: &str, source: &str) -> Vec<String> {
        let show = |definition: Definition| {
            let container = definition.container.map(|name| format!("{name}::")).unwrap_or_default();
            let (kind, line, end_line) = (definition.kind.as_str(), definition.line, definition.end_line);
            format!("{kind} {container}{} {line}-{end_line}", definition.name)
        };
        tags(Language::by_name(language).unwrap(), source).definitions.into_iter().map(show).collect()
    }

    fn referenced(language: &str, source: &str) -> Vec<String> {
        let tags = tags(Language::by_name(language).unwrap(), source);
        tags.references.into_iter().map(|reference| format!("{}:{}", reference.name, reference.line)).collect()
    }

    #[test]
    fn a_function_of_a_type_is_a_method() {
        let source = "impl A {\n    fn f() {\n        fn g() {}\n    }\n}\nmod m {\n    fn h() {}\n}\n";
        let expected = ["method A::f 2-4", "function f::g 3-3", "module m 6-8", "function m::h 7-7"];
        assert_eq!(defined("rust", source), expected);
    }

    #[test]
    fn local_names_are_not_definitions() {
        assert_eq!(defined("go", "func f() {\n\tvar x = 1\n\tconst y = 2\n}\n"), ["function f 1-4"]);
        assert_eq!(defined("javascript", "function f() {\n  const x = 1;\n}\n"), ["function f 1-3"]);
        assert_eq!(defined("c", "int f(void) { int x = 1; int g(int); return x; }\n"), ["function f 1-1"]);
    }

    #[test]
    fn a_definition_that_is_captured_twice_is_listed_once() {
        assert_eq!(defined("javascript", "const F = class { g() {} };\n"), ["class F 1-1", "method F::g 1-1"]);
        assert_eq!(defined("python", "MAX = 1\n"), ["constant MAX 1-1"]);
        assert_eq!(defined("c", "typedef struct a {\n int x;\n} a;\n"), ["type a 1-3", "struct a 1-3"]);
    }

    #[cfg(feature = "lang-more")]
    #[test]
    fn the_clauses_of_a_function_are_one_definition() {
        let source = "f :: Int -> Int\nf 0 = 1\nf n = n\n\ng = 2\n\nf' = 3\n";
        assert_eq!(defined("haskell", source), ["function f 1-3", "constant g 5-5", "constant f' 7-7"]);
        let source = "defmodule A do\n  def f(0), do: 1\n  def f(n), do: n\n  def g, do: 1\nend\n";
        assert_eq!(defined("elixir", source), ["module A 1-5", "function A::f 2-3", "function A::g 4-4"]);
    }

    #[test]
    fn a_qualified_name_is_reduced_to_its_last_segment() {
        let source = "defmodule Harbour.Tides do\n  def f, do: Harbour.Ports.depth()\nend\n";
        assert_eq!(defined("elixir", source), ["module Tides 1-3", "function Tides::f 2-2"]);
        assert_eq!(referenced("elixir", source), ["Ports:2", "depth:2"]);
    }

    #[test]
    fn declarations_of_several_names_do_not_nest() {
        let expected = ["function a 1-1", "function b 1-1", "variable c 1-1"];
        assert_eq!(defined("javascript", "const a = () => 1, b = () => 2, c = 3;\n"), expected);
    }

    #[test]
    fn dotted_imports_are_joined_and_backticks_are_stripped() {
        let tags = |name, source| tags(Language::by_name(name).unwrap(), source);
        assert_eq!(tags("scala", "import a.b.c, d.e\n").imports, ["a.b.c", "d.e"]);
        assert_eq!(defined("swift", "func `default`() {}\n"), ["function default 1-1"]);
        assert_eq!(tags("swift", "let a = `default`()\n").references[0].name, "default");
    }

    #[test]
    fn an_import_is_not_a_definition() {
        assert_eq!(defined("javascript", "const a = require('a');\nconst b = require('b').c;\n"), [""; 0]);
        assert_eq!(referenced("javascript", "const { a } = require('a');\n"), ["a:1", "require:1"]);
    }

    #[test]
    fn paths_and_types_are_references() {
        assert_eq!(
            referenced("rust", "fn f(x: &Foo) {\n    Bar::new(x).go()\n}\n"),
            ["Foo:1", "Bar:2", "new:2", "go:2"]
        );
    }

    #[test]
    fn an_impl_and_a_require_refer_to_their_names() {
        assert_eq!(referenced("rust", "impl Foo {}\n"), ["Foo:1"]);
        assert_eq!(referenced("javascript", "const foo = require('foo');\n"), ["foo:1", "require:1"]);
    }

    #[test]
    fn the_name_of_a_definition_is_not_a_reference() {
        assert_eq!(referenced("rust", "struct Foo;\nconst BAR: u8 = 1;\n"), [""; 0]);
    }

    #[test]
    fn names_inside_of_a_macro_are_references() {
        let names = referenced("rust", "fn f() { println!(\"{}\", Foo::bar(baz(1))); }\n");
        assert_eq!(names, ["println:1", "Foo:1", "bar:1", "baz:1"]);
    }

    #[test]
    fn broken_code_has_tags() {
        let names = defined("python", "def good():\n    pass\n\ndef bad(:\n    pass\n\nclass Fine:\n    pass\n");
        assert!(names.contains(&"function good 1-2".into()) && names.contains(&"class Fine 7-8".into()), "{names:?}");
    }

    #[test]
    fn odd_bytes_do_no_harm() {
        assert_eq!(defined("python", "\u{feff}def f():\r\n    pass\r\n\0\r\ndef g():\r\n    pass\r\n").len(), 2);
    }

    #[test]
    fn a_source_over_the_limit_has_no_tags() {
        let source = "fn f() {}\n".repeat(MAX_SOURCE_BYTES / 10 + 1);
        assert_eq!(tags(Language::by_name("rust").unwrap(), &source), FileTags::default());
    }

    #[test]
    fn minified_code_is_read() {
        let source = "var a=function(){return b(1)},c={d:function(e){return[e,{f:[1,2]}]}};".repeat(900);
        let tags = tags(Language::by_name("js").unwrap(), &source);
        assert!(tags.definitions.iter().all(|definition| definition.line == 1 && definition.signature.len() < 400));
        assert_eq!(tags.definitions.len(), 3);
    }

    #[test]
    fn deep_nesting_is_safe() {
        let depth = 30_000;
        for (name, open) in [("javascript", "{a:["), ("python", "f("), ("rust", "mod a {"), ("ruby", "class A;")] {
            tags(Language::by_name(name).unwrap(), &open.repeat(depth));
        }
    }

    proptest! {
        #[test]
        fn tags_of_any_text_are_in_its_lines(source in "[a-z(){}\\[\\];:=.,<>\"'#@!\\\\ \n\r\t\u{0}é]{0,200}") {
            let lines = source.split('\n').count() as u32;
            for language in Language::all() {
                let tags = tags(language, &source);
                for definition in &tags.definitions {
                    prop_assert!(1 <= definition.line && definition.line <= definition.end_line);
                    prop_assert!(definition.end_line <= lines);
                }
                prop_assert!(tags.references.iter().all(|reference| (1..=lines).contains(&reference.line)));
            }
        }
    }
}
