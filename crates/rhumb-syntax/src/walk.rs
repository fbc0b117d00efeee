//! Runs a tags query over a syntax tree in one walk.
//!
//! Tree-sitter's query engine takes two to three times as long as a plain walk even for a query without patterns, and more with
//! every pattern that may match. The walk therefore decides the paths of a query itself (see [`crate::pattern`]) and runs the
//! engine for the other patterns only at nodes at which one of them starts.

use crate::pattern::{self, Condition, Pattern};
use std::num::NonZeroU16;
use streaming_iterator::StreamingIterator;
use tree_sitter::{Language, Node, Query, QueryCursor, QueryMatch, Tree};

/// Maximum depth of the nodes that are visited. Only adversarial sources and expressions with thousands of operators nest deeper; the
/// outermost levels of the latter suffice. The cost of a node grows with its depth.
const MAX_DEPTH: usize = 2_048;

/// Maximum number of engine matches that are read per file.
const MAX_MATCHES: usize = 200_000;

/// Maximum number of matches in progress; the engine drops the oldest beyond it. Real code has tens. Without a limit, deeply nested
/// data in one line would take quadratic time.
const MAX_MATCHES_IN_PROGRESS: u32 = 8_192;

/// A query prepared for walks.
pub(crate) struct TagWalk {
    /// The patterns for the engine: all except the paths.
    query: Query,
    /// The work by node kind. Empty if a pattern may start at any node; then the engine does everything.
    kinds: Vec<KindWork>,
}

#[derive(Default)]
struct KindWork {
    /// Paths that end at such a node.
    paths: Vec<CapturePath>,
    /// Whether the engine must run at such a node.
    runs_engine: bool,
    /// Whether a path needs the field of such a node.
    needs_field: bool,
}

struct CapturePath {
    /// The required field of the node.
    field: Option<FieldId>,
    /// The required ancestors, innermost first.
    ancestors: Box<[PathNode]>,
    conditions: Box<[Condition]>,
    capture: usize,
}

/// The kind of a node and, where required, its field in the parent.
#[derive(Clone, Copy)]
struct PathNode {
    field: Option<FieldId>,
    kind: u16,
}

type FieldId = NonZeroU16;

/// Receives the results of a walk.
pub(crate) trait Visit {
    fn path(&mut self, capture: usize, node: Node<'_>);
    fn matched(&mut self, found: &QueryMatch<'_, '_>);
}

impl TagWalk {
    /// Classifies the patterns of `query`, which was compiled from `text`.
    pub(crate) fn new(mut query: Query, text: &str, language: &Language) -> Self {
        let mut kinds = KindTable::new(language);
        let mut decided = Vec::new();
        for pattern in 0..query.pattern_count() {
            let text = text.get(query.start_byte_for_pattern(pattern)..query.end_byte_for_pattern(pattern));
            match pattern::classify(text.unwrap_or_default()) {
                Pattern::Paths(paths) if kinds.add_paths(&paths, &query).is_some() => decided.push(pattern),
                Pattern::Paths(pattern::CapturePaths { root, .. }) | Pattern::Rooted(root)
                    if kinds.add_roots(&root) => {}
                _ => return Self { query, kinds: Vec::new() },
            }
        }
        decided.into_iter().for_each(|pattern| query.disable_pattern(pattern));
        Self { query, kinds: kinds.kinds }
    }

    /// Reports to `visit` everything that the query finds in `tree`.
    pub(crate) fn run(&self, tree: &Tree, source: &str, visit: &mut impl Visit) {
        let mut engine = Engine::new(&self.query, source);
        if self.kinds.is_empty() {
            return engine.run(tree.root_node(), visit);
        }
        engine.cursor.set_max_start_depth(Some(0));
        let mut cursor = tree.walk();
        let mut ancestors: Vec<PathNode> = Vec::new();
        loop {
            let node = cursor.node();
            let id = node.kind_id();
            let mut field = None;
            if let Some(kind) = self.kinds.get(usize::from(id)) {
                for path in &kind.paths {
                    if path.leads_here(&ancestors, || cursor.field_id()) && path.holds(node, source) {
                        visit.path(path.capture, node);
                    }
                }
                if kind.runs_engine {
                    engine.run(node, visit);
                }
                if kind.needs_field {
                    field = cursor.field_id();
                }
            }
            if ancestors.len() < MAX_DEPTH && cursor.goto_first_child() {
                ancestors.push(PathNode { field, kind: id });
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                ancestors.pop();
            }
        }
    }
}

impl CapturePath {
    /// Whether the ancestors of a node and its field are those of the path.
    fn leads_here(&self, ancestors: &[PathNode], field: impl FnOnce() -> Option<FieldId>) -> bool {
        let mut ancestors = ancestors.iter().rev();
        let fits = |wanted: &PathNode, place: &PathNode| {
            wanted.kind == place.kind && (wanted.field.is_none() || wanted.field == place.field)
        };
        self.ancestors.iter().all(|wanted| ancestors.next().is_some_and(|place| fits(wanted, place)))
            && (self.field.is_none() || self.field == field())
    }

    fn holds(&self, node: Node<'_>, source: &str) -> bool {
        let text = || source.get(node.byte_range()).unwrap_or_default();
        self.conditions.is_empty() || self.conditions.iter().all(|condition| condition.holds(text()))
    }
}

/// Builds the table of work by node kind.
struct KindTable<'language> {
    language: &'language Language,
    kinds: Vec<KindWork>,
}

impl<'language> KindTable<'language> {
    fn new(language: &'language Language) -> Self {
        let mut kinds = Vec::new();
        kinds.resize_with(language.node_kind_count(), KindWork::default);
        Self { language, kinds }
    }

    fn id(&self, kind: &str) -> Option<u16> {
        let id = self.language.id_for_node_kind(kind, true);
        let known = id != 0 && usize::from(id) < self.kinds.len() && !self.language.node_kind_is_supertype(id);
        known.then_some(id)
    }

    fn kind(&mut self, id: u16) -> Option<&mut KindWork> {
        self.kinds.get_mut(usize::from(id))
    }

    /// Marks the kinds at which a pattern starts. `false` if there are none or one of them cannot be a root.
    fn add_roots(&mut self, roots: &[&str]) -> bool {
        !roots.is_empty()
            && roots
                .iter()
                .all(|root| self.id(root).and_then(|id| self.kind(id)).map(|kind| kind.runs_engine = true).is_some())
    }

    /// Adds all paths of a pattern, or returns `None`.
    fn add_paths(&mut self, paths: &pattern::CapturePaths<'_>, query: &Query) -> Option<()> {
        let capture = query.capture_names().iter().position(|name| *name == paths.capture)?;
        let conditions = paths.conditions.iter().map(Condition::new).collect::<Option<Box<[_]>>>()?;
        let paths = paths.paths.iter().map(|path| path.iter().rev().map(|step| self.place(step)).collect());
        for path in paths.collect::<Option<Vec<Vec<PathNode>>>>()? {
            let (end, ancestors) = path.split_first()?;
            for place in ancestors {
                self.kind(place.kind)?.needs_field |= place.field.is_some();
            }
            let conditions = conditions.clone();
            self.kind(end.kind)?.paths.push(CapturePath {
                field: end.field,
                ancestors: ancestors.into(),
                conditions,
                capture,
            });
        }
        Some(())
    }

    fn place(&self, step: &pattern::PathStep<'_>) -> Option<PathNode> {
        let field = match step.field {
            Some(name) => Some(self.language.field_id_for_name(name)?),
            None => None,
        };
        Some(PathNode { field, kind: self.id(step.kind)? })
    }
}

struct Engine<'walk> {
    query: &'walk Query,
    source: &'walk str,
    cursor: QueryCursor,
    /// Number of matches that may still be read.
    remaining: usize,
}

impl<'walk> Engine<'walk> {
    fn new(query: &'walk Query, source: &'walk str) -> Self {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(MAX_MATCHES_IN_PROGRESS);
        Self { query, source, cursor, remaining: MAX_MATCHES }
    }

    fn run(&mut self, node: Node<'_>, visit: &mut impl Visit) {
        // With an additional final line feed, a node may end after the source.
        let text = |node: Node<'_>| std::iter::once(self.source.as_bytes().get(node.byte_range()).unwrap_or_default());
        let mut matches = self.cursor.matches(self.query, node, text);
        while self.remaining > 0
            && let Some(found) = matches.next()
        {
            self.remaining -= 1;
            visit.matched(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::language::Language;
    use crate::parse::parse_for_query;

    /// A capture and the byte range of its node.
    type CaptureAt = (usize, usize, usize);

    /// All captures, and the matches that have several.
    #[derive(Default, PartialEq, Eq, Debug)]
    struct Captured {
        captures: BTreeSet<CaptureAt>,
        matches: BTreeSet<(usize, Vec<CaptureAt>)>,
    }

    impl Visit for Captured {
        fn path(&mut self, capture: usize, node: Node<'_>) {
            self.captures.insert((capture, node.start_byte(), node.end_byte()));
        }

        fn matched(&mut self, found: &QueryMatch<'_, '_>) {
            let place = |node: Node<'_>| (node.start_byte(), node.end_byte());
            let captures = found.captures().iter().map(|capture| (capture.index as usize, place(capture.node)));
            let captures: Vec<CaptureAt> = captures.map(|(capture, (start, end))| (capture, start, end)).collect();
            self.captures.extend(&captures);
            if captures.len() > 1 {
                self.matches.insert((found.pattern_index, captures));
            }
        }
    }

    /// The query for walks, and for the engine alone.
    fn walks(language: &'static Language) -> [TagWalk; 2] {
        let grammar = language.grammar.unwrap()();
        let query = || Query::new(&grammar, language.tags_query).unwrap();
        let alone = TagWalk { query: query(), kinds: Vec::new() };
        [TagWalk::new(query(), language.tags_query, &grammar), alone]
    }

    fn check(walks: &[TagWalk; 2], language: &'static Language, source: &str) {
        let Some(tree) = parse_for_query(language, source) else { return };
        let [walked, found] = walks.each_ref().map(|walk| {
            let mut seen = Captured::default();
            walk.run(&tree, source, &mut seen);
            seen
        });
        assert_eq!(walked, found, "{} in:\n{source}", language.id);
    }

    #[allow(clippy::disallowed_methods, reason = "the test reads files of this repository")]
    fn sample(language: &Language) -> String {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/languages").join(language.id);
        let mut files = fs::read_dir(samples).unwrap().map(|file| file.unwrap().path());
        fs::read_to_string(files.find(|file| file.extension().is_none_or(|extension| extension != "tags")).unwrap())
            .unwrap()
    }

    #[test]
    fn a_walk_finds_what_the_engine_finds() {
        for language in Language::all().filter(|language| language.grammar.is_some()) {
            let walks = walks(language);
            assert!(!walks[0].kinds.is_empty(), "{} has a pattern that may start at any node", language.id);
            check(&walks, language, &sample(language));
        }
    }

    #[test]
    fn a_walk_finds_in_broken_code_what_the_engine_finds() {
        for id in ["rust", "python", "c", "typescript"] {
            let language = Language::by_name(id).unwrap();
            let (walks, sample) = (walks(language), sample(language));
            let cuts = prop::collection::vec((0.0..1.0, 0.0..0.1), 1..6);
            let broken = TestRunner::new(ProptestConfig::with_cases(48)).run(&cuts, |cuts| {
                let mut source = sample.clone();
                for (at, length) in cuts {
                    let of = |share: f64| source.floor_char_boundary((source.len() as f64 * share) as usize);
                    source.replace_range(of(at)..of(f64::min(at + length, 1.0)), "");
                }
                check(&walks, language, &source);
                Ok(())
            });
            broken.unwrap();
        }
    }
}
