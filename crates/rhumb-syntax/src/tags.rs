//! Tags: running the tags query of a language over a source and making sense of what it captures.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::{Node, QueryMatch, Tree};

use super::doc::doc_line;
use super::embedded::Regions;
use super::language::Language;
use super::parse::{MAX_SOURCE_BYTES, parse_for_query, parse_part_for_query};
use super::query::{PatternSettings, Role, TagQuery};
use super::signature::{Header, signature};
use super::tag::{Definition, FileTags, Reference, SymbolKind};
use super::walk::Visit;

/// Most keys of one file. What has more is a table of data, not an outline.
const MAX_KEYS: usize = 1_000;

/// Longest name, in bytes. Anything longer is data that looks like a name.
const MAX_NAME_BYTES: usize = 256;

/// Everything that `source` defines and uses, in source order. Sources with syntax errors give what can be made out.
/// Empty when the source is larger than [`MAX_SOURCE_BYTES`], minified and larger than
/// [`super::parse::MAX_MINIFIED_BYTES`], or given up by the parser.
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

/// What one match of the query says about a definition.
struct Found {
    role: FoundRole,
    name: String,
    name_range: Range<usize>,
    /// The row of the name, 0-based: what tells two captures of one definition.
    name_row: usize,
    /// Whether the query says where the body is.
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
enum FoundRole {
    Definition(SymbolKind),
    /// Lends its name to what it contains.
    Scope,
    /// Cancels other definitions of its name on its line.
    Ignore,
}

/// A range of bytes that can be ordered.
type Bytes = (usize, usize);

/// What has been found so far, in the file and in what it embeds.
#[derive(Default)]
struct Collected {
    definitions: Vec<Found>,
    /// Where each name stands that is used, with its line (1-based).
    references: Vec<(Bytes, u32)>,
    /// Where each module or file stands that is imported.
    imports: Vec<Bytes>,
    /// Code of other languages.
    embedded: Regions,
}

impl Collected {
    /// Adds what `query` finds in `tree`.
    fn collect(&mut self, query: &TagQuery, tree: &Tree, source: &str) {
        query.walk.run(tree, source, &mut Collector { query, source, found: self });
    }

    /// Puts names in source order, each once: two patterns may find the same, and matches come when they end.
    fn sort(&mut self) {
        self.references.sort_unstable();
        self.references.dedup_by_key(|(range, _)| *range);
        self.imports.sort_unstable();
        self.imports.dedup();
    }
}

/// What a walk with one query reports to.
struct Collector<'walk> {
    query: &'walk TagQuery,
    source: &'walk str,
    found: &'walk mut Collected,
}

impl Collector<'_> {
    /// Adds what one capture says; `settings` are those of its pattern, if it has any.
    fn captured(&mut self, capture: usize, node: Node<'_>, settings: Option<&PatternSettings>) {
        let mut range = node.byte_range();
        match self.query.roles.get(capture) {
            Some(Role::Reference) => {
                if settings.is_some_and(|settings| settings.last_segment) {
                    range = last_segment_of(range, self.source);
                }
                self.found.references.push(((range.start, range.end), line_of(node.start_position().row)));
            }
            Some(Role::Import) => self.found.imports.push((range.start, range.end)),
            _ => {}
        }
    }

    /// Adds the region `node` that a match captures, in the language that the match names.
    fn embed(&mut self, found: &QueryMatch<'_, '_>, node: Node<'_>, settings: Option<&PatternSettings>) {
        let is_language = |index: u32| self.query.roles.get(index as usize) == Some(&Role::Language);
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
                Some(Role::Embedded) => self.embed(found, capture.node, settings),
                _ => self.captured(capture.index as usize, capture.node, settings),
            }
        }
        self.found.definitions.extend(definition(self.query, found, self.source));
    }
}

/// The definition that a match captures, if it captures one.
fn definition(query: &TagQuery, found: &QueryMatch<'_, '_>, source: &str) -> Option<Found> {
    let (mut role, mut name, mut body, mut container, mut doc) = (None, None, None, None, None);
    for capture in found.captures() {
        match *query.roles.get(capture.index as usize)? {
            Role::Definition(kind) => role = Some((FoundRole::Definition(kind), capture.node)),
            Role::Scope => role = Some((FoundRole::Scope, capture.node)),
            Role::Ignore => role = Some((FoundRole::Ignore, capture.node)),
            Role::Name => name = Some(capture.node),
            Role::Body => body = Some(capture.node),
            Role::Container => container = Some(capture.node),
            Role::Doc => doc = Some(capture.node),
            Role::Reference | Role::Import | Role::Embedded | Role::Language | Role::Private => {}
        }
    }
    let ((role, node), name) = (role?, name?);
    let settings = query.settings.get(found.pattern_index)?;
    let (line, end_line) = lines(node, name, body, source);
    let (signature, doc) = match role {
        FoundRole::Definition(_) => (
            signature(&Header { node, name, body, doc }, settings.prefix.as_deref(), source),
            doc_line(node, doc, source),
        ),
        FoundRole::Scope | FoundRole::Ignore => (String::new(), String::new()),
    };
    let mut name_range = bare_name(name, source)?;
    if settings.last_segment {
        name_range = last_segment_of(name_range, source);
    }
    Some(Found {
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

/// Where the name in a node is; what is blank, anonymous or absurdly long is no name.
fn bare_name(node: Node<'_>, source: &str) -> Option<Range<usize>> {
    let range = bare(node.byte_range(), source);
    let text = source.get(range.clone())?;
    let blank = text.is_empty() || text == "_" || text.len() > MAX_NAME_BYTES || text.contains('\n');
    (!blank).then_some(range)
}

/// A name without what marks it as one: backticks around it, the colon before a symbol of Ruby or after a key of Elixir.
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

/// The last part of a qualified name, or all of what is none.
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

/// First and last line of a definition. It begins on the line of its name, not at the modifiers or annotations above,
/// unless the name comes after the body, and ends with its last word.
fn lines(node: Node<'_>, name: Node<'_>, body: Option<Node<'_>>, source: &str) -> (u32, u32) {
    let trailing = body.is_some_and(|body| name.start_byte() >= body.end_byte());
    let first = if trailing { node.start_position().row } else { name.start_position().row };
    // Some nodes take in their line end and the blank lines that follow.
    let text = source.get(node.start_byte()..node.end_byte().min(source.len())).unwrap_or_default();
    let blank = text.bytes().rev().take_while(u8::is_ascii_whitespace).filter(|byte| *byte == b'\n').count();
    // … and the one that some grammars are given behind the source.
    let blank = blank + usize::from(node.end_byte() > source.len());
    let last = node.end_position().row.saturating_sub(blank);
    (line_of(first), line_of(last.max(first)))
}

/// A row of the parser (0-based) as a line (1-based).
fn line_of(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}

/// What was imported, each once, in source order.
fn imports(found: &[Bytes], source: &str) -> Vec<String> {
    let mut joined: Vec<Bytes> = Vec::new();
    for &(start, end) in found {
        match joined.last_mut() {
            // Where a grammar has no node for a dotted name, its parts are captured.
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

fn references(found: Vec<(Bytes, u32)>, names: &BTreeSet<NameAt>, source: &str) -> Vec<Reference> {
    let mut references = Vec::with_capacity(found.len());
    for ((start, end), line) in found {
        let Range { start, end } = bare(start..end, source);
        if names.contains(&NameAt(start, end)) {
            continue;
        }
        // Several names may stand in one string, as the classes of an element do.
        for name in source.get(start..end).unwrap_or_default().split_whitespace() {
            if !name.is_empty() && name.len() <= MAX_NAME_BYTES {
                references.push(Reference { name: name.to_owned(), line });
            }
        }
    }
    references
}

/// Where the definitions have their names, which are no references. What lends its name to a scope, or is ignored as a
/// definition because it imports, does refer.
fn defined_names(found: &[Found]) -> BTreeSet<NameAt> {
    let names = |wanted: fn(FoundRole) -> bool| {
        let found = found.iter().filter(move |found| wanted(found.role));
        found.map(|found| NameAt::from(found.name_range.clone())).collect::<BTreeSet<_>>()
    };
    let ignored = names(|role| role == FoundRole::Ignore);
    let mut defined = names(|role| matches!(role, FoundRole::Definition(_)));
    defined.retain(|name| !ignored.contains(name));
    defined
}

/// Where the name of a definition stands.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NameAt(usize, usize);

impl From<Range<usize>> for NameAt {
    fn from(range: Range<usize>) -> Self {
        Self(range.start, range.end)
    }
}

/// Sorts what was found, takes out duplicates and gives each definition its container.
fn definitions(mut found: Vec<Found>) -> Vec<Definition> {
    found.sort_by_key(|found| (found.range.start, usize::MAX - found.range.end, found.name_range.start));
    let found = without_duplicates(found);
    let mut open: Vec<&Found> = Vec::new();
    let (mut definitions, mut keys) = (Vec::<Definition>::new(), 0);
    for found in &found {
        while open.last().is_some_and(|outer| outer.range.end <= found.range.start) {
            open.pop();
        }
        if let FoundRole::Definition(kind) = found.role {
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

/// Whether `next`, which comes right after, goes on with the same thing.
fn is_clause_of(last: &Definition, next: &Definition) -> bool {
    (&last.name, &last.container) == (&next.name, &next.container)
}

/// A definition among the definitions that are open around it, outermost first.
fn placed(found: &Found, kind: SymbolKind, open: &[&Found]) -> Option<Definition> {
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

impl Found {
    /// Whether `inner` stands inside. The struct of `typedef struct name { … } name` belongs to no one.
    fn surrounds(&self, inner: &Self) -> bool {
        let same_name = self.role == FoundRole::Definition(SymbolKind::Type) && self.name == inner.name;
        self.range != inner.range && self.range.end >= inner.range.end && !same_name
    }

    fn is_function(&self) -> bool {
        matches!(self.role, FoundRole::Definition(SymbolKind::Function | SymbolKind::Method))
    }

    fn is_type(&self) -> bool {
        match self.role {
            FoundRole::Scope => true,
            FoundRole::Definition(kind) => {
                matches!(kind, SymbolKind::Class | SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Interface)
            }
            FoundRole::Ignore => false,
        }
    }
}

/// Keeps one definition for each name on a line: the most specific, then one whose body is known, then one that is
/// documented, then the outermost, whose signature is fuller.
fn without_duplicates(found: Vec<Found>) -> Vec<Found> {
    let mut best = BTreeMap::new();
    for (at, found) in found.iter().enumerate().filter(|(_, found)| found.role != FoundRole::Scope) {
        let specific = (specificity(found.role), found.has_body, !found.doc.is_empty());
        let kept = best.entry((found.name_row, found.name.as_str())).or_insert((specific, at));
        if specific > kept.0 {
            *kept = (specific, at);
        }
    }
    let kept: BTreeSet<usize> = best.into_values().map(|(_, at)| at).collect();
    let stays = |at: &usize, found: &Found| match found.role {
        FoundRole::Scope => true,
        FoundRole::Ignore => false,
        FoundRole::Definition(_) => kept.contains(at),
    };
    found.into_iter().enumerate().filter(|(at, found)| stays(at, found)).map(|(_, found)| found).collect()
}

/// How much a kind says: that a variable holds a function is worth more than that it is a variable.
fn specificity(role: FoundRole) -> u8 {
    match role {
        FoundRole::Ignore => u8::MAX,
        FoundRole::Scope => 0,
        FoundRole::Definition(kind) => match kind {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn what_is_local_to_a_function_is_no_definition() {
        assert_eq!(defined("go", "func f() {\n\tvar x = 1\n\tconst y = 2\n}\n"), ["function f 1-4"]);
        assert_eq!(defined("javascript", "function f() {\n  const x = 1;\n}\n"), ["function f 1-3"]);
        assert_eq!(defined("c", "int f(void) { int x = 1; int g(int); return x; }\n"), ["function f 1-1"]);
    }

    #[test]
    fn a_definition_captured_twice_is_one() {
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
    fn a_qualified_name_counts_by_its_last_part() {
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
    fn parts_of_a_dotted_import_are_one_and_quotes_are_no_part_of_a_name() {
        let tags = |name, source| tags(Language::by_name(name).unwrap(), source);
        assert_eq!(tags("scala", "import a.b.c, d.e\n").imports, ["a.b.c", "d.e"]);
        assert_eq!(defined("swift", "func `default`() {}\n"), ["function default 1-1"]);
        assert_eq!(tags("swift", "let a = `default`()\n").references[0].name, "default");
    }

    #[test]
    fn an_import_defines_nothing() {
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
    fn an_impl_and_a_require_refer_to_what_they_name() {
        assert_eq!(referenced("rust", "impl Foo {}\n"), ["Foo:1"]);
        assert_eq!(referenced("javascript", "const foo = require('foo');\n"), ["foo:1", "require:1"]);
    }

    #[test]
    fn a_name_is_no_reference_to_itself() {
        assert_eq!(referenced("rust", "struct Foo;\nconst BAR: u8 = 1;\n"), [""; 0]);
    }

    #[test]
    fn a_use_inside_a_macro_counts() {
        let names = referenced("rust", "fn f() { println!(\"{}\", Foo::bar(baz(1))); }\n");
        assert_eq!(names, ["println:1", "Foo:1", "bar:1", "baz:1"]);
    }

    #[test]
    fn broken_code_still_has_tags() {
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
    fn depth_is_no_danger() {
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
