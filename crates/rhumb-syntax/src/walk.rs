//! One walk over a tree that finds all that a tags query looks for.
//!
//! The engine of tree-sitter takes two to three times as long as a plain walk, even for a query without patterns, and
//! more with every pattern that may match. So the walk decides the paths of a query itself (see [`super::pattern`]) and
//! runs the engine for the other patterns only at nodes where one of them starts.

use std::num::NonZeroU16;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Language, Node, Query, QueryCursor, QueryMatch, Tree};

use super::condition::Condition;
use super::pattern::{self, Pattern};

/// Deepest node that is looked at. Only what was made for it nests deeper, or sums of thousands of terms, of which the last
/// two thousand say enough; what comes of each node costs by its depth.
const DEEPEST: usize = 2_048;

/// Most matches of the engine that are read from one file.
const MAX_MATCHES: usize = 200_000;

/// Most matches that the query may have in flight; the oldest are dropped beyond it. Real code stays in the tens, deeply
/// nested data in one line would otherwise cost time that grows with the square of its length.
const MAX_MATCHES_IN_FLIGHT: u32 = 8_192;

/// A query made ready for walks.
pub(super) struct Walk {
    /// What the engine looks for: all patterns but the paths.
    query: Query,
    /// By kind of node. Empty when some pattern may start at any node; then the engine does everything.
    kinds: Vec<Kind>,
}

/// What there is to do at nodes of one kind.
#[derive(Default)]
struct Kind {
    /// Paths that end here.
    paths: Vec<Path>,
    /// Whether the engine is to be run here.
    starts: bool,
    /// Whether a path further in asks which field this node is.
    asked: bool,
}

/// A way to a node that is captured.
struct Path {
    /// The field that the node must be.
    field: Option<FieldId>,
    /// What its parent must be, and its parent, and so on.
    around: Box<[Place]>,
    conditions: Box<[Condition]>,
    capture: usize,
}

/// A node on the way to another: its kind, and which field of its parent it is, where that matters.
#[derive(Clone, Copy)]
struct Place {
    field: Option<FieldId>,
    kind: u16,
}

/// The number of a field.
type FieldId = NonZeroU16;

/// What a walk finds.
pub(super) trait Visit {
    /// A path with this capture leads to `node`.
    fn path(&mut self, capture: usize, node: Node<'_>);
    /// The engine found a match.
    fn matched(&mut self, found: &QueryMatch<'_, '_>);
}

impl Walk {
    /// Sorts the patterns of `query`, which was compiled from `text`.
    pub(super) fn new(mut query: Query, text: &str, language: &Language) -> Self {
        let mut kinds = Kinds::new(language);
        let mut decided = Vec::new();
        for pattern in 0..query.pattern_count() {
            let text = text.get(query.start_byte_for_pattern(pattern)..query.end_byte_for_pattern(pattern));
            match pattern::read(text.unwrap_or_default()) {
                Pattern::Paths(paths) if kinds.add_paths(&paths, &query).is_some() => decided.push(pattern),
                Pattern::Paths(pattern::Paths { root, .. }) | Pattern::Rooted(root) if kinds.add_roots(&root) => {}
                _ => return Self { query, kinds: Vec::new() },
            }
        }
        decided.into_iter().for_each(|pattern| query.disable_pattern(pattern));
        Self { query, kinds: kinds.kinds }
    }

    /// Tells `visit` all that the query finds in `tree`.
    pub(super) fn run(&self, tree: &Tree, source: &str, visit: &mut impl Visit) {
        let mut engine = Engine::new(&self.query, source);
        if self.kinds.is_empty() {
            return engine.run(tree.root_node(), visit);
        }
        engine.only_at_start();
        let mut cursor = tree.walk();
        let mut ancestors: Vec<Place> = Vec::new();
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
                if kind.starts {
                    engine.run(node, visit);
                }
                if kind.asked {
                    field = cursor.field_id();
                }
            }
            if ancestors.len() < DEEPEST && cursor.goto_first_child() {
                ancestors.push(Place { field, kind: id });
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

impl Path {
    /// Whether the ancestors of a node, and the field that it is, are those of the path.
    fn leads_here(&self, ancestors: &[Place], field: impl FnOnce() -> Option<FieldId>) -> bool {
        let mut ancestors = ancestors.iter().rev();
        let fits = |wanted: &Place, place: &Place| {
            wanted.kind == place.kind && (wanted.field.is_none() || wanted.field == place.field)
        };
        self.around.iter().all(|wanted| ancestors.next().is_some_and(|place| fits(wanted, place)))
            && (self.field.is_none() || self.field == field())
    }

    fn holds(&self, node: Node<'_>, source: &str) -> bool {
        let text = || source.get(node.byte_range()).unwrap_or_default();
        self.conditions.is_empty() || self.conditions.iter().all(|condition| condition.holds(text()))
    }
}

/// The table in the making.
struct Kinds<'language> {
    language: &'language Language,
    kinds: Vec<Kind>,
}

impl<'language> Kinds<'language> {
    fn new(language: &'language Language) -> Self {
        let mut kinds = Vec::new();
        kinds.resize_with(language.node_kind_count(), Kind::default);
        Self { language, kinds }
    }

    /// The number of a kind that stands for itself alone.
    fn id(&self, kind: &str) -> Option<u16> {
        let id = self.language.id_for_node_kind(kind, true);
        let known = id != 0 && usize::from(id) < self.kinds.len() && !self.language.node_kind_is_supertype(id);
        known.then_some(id)
    }

    fn kind(&mut self, id: u16) -> Option<&mut Kind> {
        self.kinds.get_mut(usize::from(id))
    }

    /// Whether there are kinds that the pattern starts at, and all of them can be roots.
    fn add_roots(&mut self, roots: &[&str]) -> bool {
        !roots.is_empty()
            && roots
                .iter()
                .all(|root| self.id(root).and_then(|id| self.kind(id)).map(|kind| kind.starts = true).is_some())
    }

    /// Adds all paths of a pattern or none.
    fn add_paths(&mut self, paths: &pattern::Paths<'_>, query: &Query) -> Option<()> {
        let capture = query.capture_names().iter().position(|name| *name == paths.capture)?;
        let conditions = paths.conditions.iter().map(Condition::new).collect::<Option<Box<[_]>>>()?;
        let ways = paths.ways.iter().map(|way| way.iter().rev().map(|step| self.place(step)).collect());
        for way in ways.collect::<Option<Vec<Vec<Place>>>>()? {
            let (end, around) = way.split_first()?;
            for place in around {
                self.kind(place.kind)?.asked |= place.field.is_some();
            }
            let conditions = conditions.clone();
            self.kind(end.kind)?.paths.push(Path { field: end.field, around: around.into(), conditions, capture });
        }
        Some(())
    }

    fn place(&self, step: &pattern::Step<'_>) -> Option<Place> {
        let field = match step.field {
            Some(name) => Some(self.language.field_id_for_name(name)?),
            None => None,
        };
        Some(Place { field, kind: self.id(step.kind)? })
    }
}

/// The query engine on one source.
struct Engine<'walk> {
    query: &'walk Query,
    source: &'walk str,
    cursor: QueryCursor,
    /// How many more matches are read.
    left: usize,
}

impl<'walk> Engine<'walk> {
    fn new(query: &'walk Query, source: &'walk str) -> Self {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(MAX_MATCHES_IN_FLIGHT);
        Self { query, source, cursor, left: MAX_MATCHES }
    }

    /// From now on patterns start at the node that is given, not further in.
    fn only_at_start(&mut self) {
        self.cursor.set_max_start_depth(Some(0));
    }

    fn run(&mut self, node: Node<'_>, visit: &mut impl Visit) {
        // A node may end behind the source, with the line end that some grammars are given there.
        let text = |node: Node<'_>| std::iter::once(self.source.as_bytes().get(node.byte_range()).unwrap_or_default());
        let mut matches = self.cursor.matches(self.query, node, text);
        while self.left > 0
            && let Some(found) = matches.next()
        {
            self.left -= 1;
            visit.matched(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path as FilePath;

    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;

    use super::super::language::Language;
    use super::super::parse::parse_for_query;
    use super::*;

    /// A capture and where its node stands.
    type Capture = (usize, usize, usize);

    /// Everything that is captured, and the matches of several nodes as a whole.
    #[derive(Default, PartialEq, Eq, Debug)]
    struct Seen {
        captures: BTreeSet<Capture>,
        matches: BTreeSet<(usize, Vec<Capture>)>,
    }

    impl Visit for Seen {
        fn path(&mut self, capture: usize, node: Node<'_>) {
            self.captures.insert((capture, node.start_byte(), node.end_byte()));
        }

        fn matched(&mut self, found: &QueryMatch<'_, '_>) {
            let place = |node: Node<'_>| (node.start_byte(), node.end_byte());
            let captures = found.captures().iter().map(|capture| (capture.index as usize, place(capture.node)));
            let captures: Vec<Capture> = captures.map(|(capture, (start, end))| (capture, start, end)).collect();
            self.captures.extend(&captures);
            if captures.len() > 1 {
                self.matches.insert((found.pattern_index, captures));
            }
        }
    }

    /// A query for walks, and the same for the engine alone.
    fn walks(language: &'static Language) -> [Walk; 2] {
        let grammar = language.grammar.unwrap()();
        let query = || Query::new(&grammar, language.tags_query).unwrap();
        let alone = Walk { query: query(), kinds: Vec::new() };
        [Walk::new(query(), language.tags_query, &grammar), alone]
    }

    fn check(walks: &[Walk; 2], language: &'static Language, source: &str) {
        let Some(tree) = parse_for_query(language, source) else { return };
        let [walked, found] = walks.each_ref().map(|walk| {
            let mut seen = Seen::default();
            walk.run(&tree, source, &mut seen);
            seen
        });
        assert_eq!(walked, found, "{} in:\n{source}", language.id);
    }

    fn sample(language: &Language) -> String {
        let samples =
            FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/languages").join(language.id);
        let mut files = fs::read_dir(samples).unwrap().map(|file| file.unwrap().path());
        fs::read_to_string(files.find(|file| file.extension().is_none_or(|extension| extension != "tags")).unwrap())
            .unwrap()
    }

    #[test]
    fn a_walk_finds_in_a_sample_what_the_engine_finds() {
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
