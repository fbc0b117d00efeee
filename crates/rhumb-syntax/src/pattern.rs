//! Parses the patterns of a tags query, to separate those that need tree-sitter's query engine from those that a tree walk can
//! decide.
//!
//! Most patterns for references only describe the ancestors of a node: `(call function: (identifier) @reference)`. Such a *path*
//! is decided by looking at these ancestors, which costs a fraction of the engine's work: the engine keeps a state for every
//! pattern that may still match. The other patterns start at nodes of known kinds, so the engine runs only there.

use regex::Regex;

/// A pattern of a query, as classified for a walk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pattern<'query> {
    /// Decided by the ancestors and the text of a node.
    Paths(CapturePaths<'query>),
    /// Starts at nodes of these kinds; needs the engine.
    Rooted(Vec<&'query str>),
    /// May start anywhere; needs the engine.
    Other,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CapturePaths<'query> {
    /// Each path is a list of nested nodes, outermost first; the last one is captured.
    pub(crate) paths: Vec<Vec<PathStep<'query>>>,
    pub(crate) capture: &'query str,
    /// The predicates on the text of the captured node.
    pub(crate) conditions: Vec<Predicate<'query>>,
    /// The kinds of the outermost nodes; empty if any kind matches.
    pub(crate) root: Vec<&'query str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathStep<'query> {
    /// The field of its parent, if required.
    pub(crate) field: Option<&'query str>,
    pub(crate) kind: &'query str,
}

/// A predicate: its name without `#` and `?`, the capture, and the strings that follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Predicate<'query> {
    pub(crate) name: &'query str,
    pub(crate) capture: &'query str,
    pub(crate) values: Vec<String>,
}

pub(crate) fn classify(text: &str) -> Pattern<'_> {
    parse_pattern(text).unwrap_or(Pattern::Other)
}

fn parse_pattern(text: &str) -> Option<Pattern<'_>> {
    let mut parser = PatternParser { rest: text };
    let mut items = parser.items().filter(|_| parser.rest.is_empty())?;
    // A group consists of a node and its predicates.
    if let [PatternItem { shape: NodeShape::Group, .. }] = items.nodes[..] {
        items = items.nodes.pop()?.inside;
    }
    let [root] = &items.nodes[..] else { return None };
    let kinds: Vec<&str> = match root.shape {
        NodeShape::Node(kind) => vec![kind],
        NodeShape::Choice => root.inside.nodes.iter().map(PatternItem::kind).collect::<Option<_>>()?,
        NodeShape::Any => Vec::new(),
        NodeShape::Group | NodeShape::Other => return None,
    };
    match paths(root, &items) {
        Some((capture, paths)) => {
            Some(Pattern::Paths(CapturePaths { paths, capture, conditions: items.predicates, root: kinds }))
        }
        None => (!kinds.is_empty()).then_some(Pattern::Rooted(kinds)),
    }
}

/// The paths through `root` and their common capture; `None` if the pattern requires anything else.
fn paths<'query>(
    root: &PatternItem<'query>,
    items: &PatternItems<'query>,
) -> Option<(&'query str, Vec<Vec<PathStep<'query>>>)> {
    let mut ends = Vec::new();
    follow(root, None, &mut Vec::new(), &[], &mut ends)?;
    let (capture, _) = *ends.first()?;
    let same = ends.iter().all(|(other, _)| *other == capture);
    let about_it = items.predicates.iter().all(|predicate| predicate.capture == capture);
    (same && about_it && items.plain).then(|| (capture, ends.into_iter().map(|(_, path)| path).collect()))
}

/// Collects the paths through `item`. `None` unless each leads to one captured node without children.
fn follow<'query>(
    item: &PatternItem<'query>,
    field: Option<&'query str>,
    path: &mut Vec<PathStep<'query>>,
    captures: &[&'query str],
    ends: &mut Vec<(&'query str, Vec<PathStep<'query>>)>,
) -> Option<()> {
    (item.once && item.inside.plain && item.inside.predicates.is_empty()).then_some(())?;
    let captures = [captures, &item.captures].concat();
    let field = item.field.or(field);
    match item.shape {
        NodeShape::Choice => {
            item.inside.nodes.iter().try_for_each(|choice| follow(choice, field, path, &captures, ends))
        }
        NodeShape::Node(kind) => {
            path.push(PathStep { field, kind });
            match (&item.inside.nodes[..], &captures[..]) {
                ([], [capture]) => ends.push((capture, path.clone())),
                ([inner], []) => follow(inner, None, path, &[], ends)?,
                _ => return None,
            }
            path.pop();
            Some(())
        }
        // A field implies a parent, and the pattern requires no more of it. The engine excludes error nodes as parents.
        NodeShape::Any => match (&item.inside.nodes[..], &captures[..]) {
            ([inner], []) if path.is_empty() && inner.field.is_some() => follow(inner, None, path, &[], ends),
            _ => None,
        },
        NodeShape::Group | NodeShape::Other => None,
    }
}

/// The contents of a pair of brackets.
#[derive(Debug, Clone, Default)]
struct PatternItems<'query> {
    nodes: Vec<PatternItem<'query>>,
    predicates: Vec<Predicate<'query>>,
    /// Whether there is nothing else: no anchor, no negated field, no directive.
    plain: bool,
}

#[derive(Debug, Clone)]
struct PatternItem<'query> {
    field: Option<&'query str>,
    shape: NodeShape<'query>,
    captures: Vec<&'query str>,
    inside: PatternItems<'query>,
    /// Whether the item has no quantifier.
    once: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeShape<'query> {
    /// A named node of this kind.
    Node(&'query str),
    /// `[…]`
    Choice,
    /// `(…)` around other items.
    Group,
    /// `(_ …)`
    Any,
    /// An error or a token.
    Other,
}

impl<'query> PatternItem<'query> {
    fn kind(&self) -> Option<&'query str> {
        match self.shape {
            NodeShape::Node(kind) => Some(kind),
            _ => None,
        }
    }
}

struct PatternParser<'query> {
    rest: &'query str,
}

impl<'query> PatternParser<'query> {
    /// Parses up to a closing bracket or the end.
    fn items(&mut self) -> Option<PatternItems<'query>> {
        let mut items = PatternItems { plain: true, ..PatternItems::default() };
        loop {
            self.skip_blank();
            if self.rest.is_empty() || self.rest.starts_with([')', ']']) {
                return Some(items);
            } else if self.rest.starts_with("(#") {
                match self.predicate()? {
                    Some(predicate) => items.predicates.push(predicate),
                    None => items.plain = false,
                }
            } else if self.eat('.') {
                items.plain = false;
            } else if self.eat('!') {
                items.plain = false;
                self.word()?;
            } else {
                items.nodes.push(self.item()?);
            }
        }
    }

    fn item(&mut self) -> Option<PatternItem<'query>> {
        let field = self.field();
        let (shape, inside) = match self.rest.chars().next()? {
            '(' => self.node()?,
            '[' => (NodeShape::Choice, self.bracketed('[', ']')?),
            '"' => {
                self.string()?;
                (NodeShape::Other, PatternItems { plain: true, ..PatternItems::default() })
            }
            _ => {
                (self.word()? == "_").then_some(())?;
                (NodeShape::Other, PatternItems { plain: true, ..PatternItems::default() })
            }
        };
        let mut item = PatternItem { field, shape, captures: Vec::new(), inside, once: true };
        loop {
            self.skip_blank();
            if self.eat('@') {
                item.captures.push(self.word()?);
            } else if self.eat('*') || self.eat('+') || self.eat('?') {
                item.once = false;
            } else {
                return Some(item);
            }
        }
    }

    /// Parses a node or a group, which start alike.
    fn node(&mut self) -> Option<(NodeShape<'query>, PatternItems<'query>)> {
        self.eat('(').then_some(())?;
        self.skip_blank();
        let shape = match self.rest.chars().next()? {
            '(' | '[' | '"' => NodeShape::Group,
            _ => match self.word()? {
                "_" => NodeShape::Any,
                "ERROR" | "MISSING" => NodeShape::Other,
                kind => NodeShape::Node(kind),
            },
        };
        let inside = self.items()?;
        self.eat(')').then_some((shape, inside))
    }

    fn bracketed(&mut self, open: char, close: char) -> Option<PatternItems<'query>> {
        self.eat(open).then_some(())?;
        let inside = self.items()?;
        self.eat(close).then_some(inside)
    }

    /// Parses a predicate on one capture. `None` for other forms: directives, comparisons of two captures.
    fn predicate(&mut self) -> Option<Option<Predicate<'query>>> {
        self.rest = self.rest.strip_prefix("(#")?;
        let name = self.word()?;
        let is_predicate = self.eat('?');
        let _is_directive = self.eat('!');
        let (mut captures, mut values) = (Vec::new(), Vec::new());
        loop {
            self.skip_blank();
            if self.eat(')') {
                break;
            } else if self.eat('@') {
                captures.push(self.word()?);
            } else if self.rest.starts_with('"') {
                values.push(self.string()?);
            } else {
                values.push(self.word()?.to_owned());
            }
        }
        Some(match captures[..] {
            [capture] if is_predicate => Some(Predicate { name, capture, values }),
            _ => None,
        })
    }

    fn field(&mut self) -> Option<&'query str> {
        let end = word_end(self.rest);
        let (word, rest) = self.rest.split_at(end);
        let rest = rest.strip_prefix(':').filter(|_| end > 0)?;
        self.rest = rest;
        self.skip_blank();
        Some(word)
    }

    fn word(&mut self) -> Option<&'query str> {
        let (word, rest) = self.rest.split_at(word_end(self.rest));
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn string(&mut self) -> Option<String> {
        let mut string = String::new();
        let mut chars = self.rest.strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => string.push(match chars.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '0' => '\0',
                    other => other,
                }),
                other => string.push(other),
            }
        }
        self.rest = chars.as_str();
        Some(string)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with(';') {
                return;
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))).unwrap_or(text.len())
}

#[derive(Clone)]
pub(crate) struct Condition {
    test: Test,
    /// `true` if the test must succeed, `false` for a `not-` predicate.
    wanted: bool,
}

#[derive(Clone)]
enum Test {
    Matches {
        /// The ASCII characters with which a match can start. This rules out most names without running the regex.
        first: Option<FirstChars>,
        regex: Regex,
    },
    OneOf(Vec<String>),
}

impl Condition {
    /// The condition for a predicate; `None` if the predicate is unknown.
    pub(crate) fn new(predicate: &Predicate<'_>) -> Option<Self> {
        let (negated, name) = match predicate.name.strip_prefix("not-") {
            Some(name) => (true, name),
            None => (false, predicate.name),
        };
        let test = match (name, &predicate.values[..]) {
            ("match", [regex]) => Test::Matches { first: FirstChars::of(regex), regex: Regex::new(regex).ok()? },
            ("eq", [_]) | ("any-of", _) => Test::OneOf(predicate.values.clone()),
            _ => return None,
        };
        Some(Self { test, wanted: !negated })
    }

    pub(crate) fn holds(&self, text: &str) -> bool {
        let is = match &self.test {
            Test::Matches { first: Some(first), .. } if !first.allows(text) => false,
            Test::Matches { first: Some(FirstChars { is_all: true, .. }), .. } => true,
            Test::Matches { regex, .. } => regex.is_match(text),
            Test::OneOf(texts) => texts.iter().any(|one| one == text),
        };
        is == self.wanted
    }
}

/// The ASCII characters with which a match can start.
#[derive(Clone)]
struct FirstChars {
    /// One bit per character.
    characters: u128,
    /// Whether the regular expression requires nothing else.
    is_all: bool,
}

impl FirstChars {
    /// Reads the start of an anchored expression: `^`, then optional letters, underscores or character classes, then one
    /// that is required. `None` for all other expressions.
    fn of(regex: &str) -> Option<Self> {
        let mut rest = regex.strip_prefix('^').filter(|rest| !rest.contains('|'))?;
        let (mut characters, mut optional) = (0u128, false);
        loop {
            let (class, after) = class(rest)?;
            characters |= class;
            match after.chars().next() {
                Some('*' | '?') => (rest, optional) = (after.get(1..)?, true),
                Some('{') => return None,
                _ => return Some(Self { characters, is_all: after.is_empty() && !optional }),
            }
        }
    }

    fn allows(&self, text: &str) -> bool {
        text.as_bytes().first().is_some_and(|&byte| byte.is_ascii() && self.characters >> byte & 1 == 1)
    }
}

/// A character or a class at the start of an expression, and the rest of the expression.
fn class(regex: &str) -> Option<(u128, &str)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let Some(inside) = regex.strip_prefix('[') else {
        let (c, rest) = (regex.chars().next().filter(|c| is_plain(*c))?, regex.get(1..)?);
        return Some((1 << (c as u32), rest));
    };
    let (inside, rest) = inside.split_once(']')?;
    let mut characters = 0u128;
    let mut chars = inside.chars().peekable();
    while let Some(start) = chars.next() {
        let end = match chars.next_if_eq(&'-') {
            Some(_) => chars.next()?,
            None => start,
        };
        (is_plain(start) && is_plain(end)).then_some(())?;
        (start..=end).for_each(|c| characters |= 1 << (c as u32));
    }
    Some((characters, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The paths as `kind/field:kind`, with the capture and the number of conditions.
    fn paths(text: &str) -> Vec<String> {
        let Pattern::Paths(paths) = classify(text) else { panic!("{text} is no path") };
        let step = |step: &PathStep<'_>| match step.field {
            Some(field) => format!("{field}:{}", step.kind),
            None => step.kind.to_owned(),
        };
        let path = |path: &Vec<PathStep<'_>>| path.iter().map(step).collect::<Vec<_>>().join("/");
        let show = |one: &Vec<PathStep<'_>>| format!("{} @{} {}", path(one), paths.capture, paths.conditions.len());
        paths.paths.iter().map(show).collect()
    }

    #[test]
    fn nested_nodes_are_a_path() {
        assert_eq!(paths("(type_identifier) @reference\n\n; next"), ["type_identifier @reference 0"]);
        assert_eq!(
            paths("(call function: (attribute attribute: (identifier) @reference))"),
            ["call/function:attribute/attribute:identifier @reference 0"]
        );
        assert_eq!(
            paths("((identifier) @r\n  (#match? @r \"^[A-Z]\\\\w\")\n  (#not-eq? @r \"Self\"))"),
            ["identifier @r 2"]
        );
    }

    #[test]
    fn each_alternative_is_a_path() {
        assert_eq!(paths("(a b: [(c) @r (d e: [(f) (g)] @r)])"), ["a/b:c @r 0", "a/b:d/e:f @r 0", "a/b:d/e:g @r 0"]);
        assert_eq!(paths("[(a) (b)] @r"), ["a @r 0", "b @r 0"]);
        assert_eq!(paths("(a [(b) (c)] @r)"), ["a/b @r 0", "a/c @r 0"]);
    }

    #[test]
    fn a_field_of_any_node_is_a_path() {
        assert_eq!(paths("(_ f: (b) @r)"), ["f:b @r 0"]);
        assert_eq!(paths("(_ f: (b g: [(c) (d)] @r))"), ["f:b/g:c @r 0", "f:b/g:d @r 0"]);
    }

    #[test]
    fn other_requirements_need_the_engine() {
        for text in [
            "(a (b) @r .)",
            "(a !field (b) @r)",
            "(a (b) @r (c))",
            "(a (b)* @r)",
            "(a (b) @r) @s",
            "(a (_) @r)",
            "(a \"b\" @r)",
            "((a (b) @r) (#set! only \"top-level\"))",
            "((a (b) @r) (#eq? @s \"x\"))",
            "(a [(b) @r (c) @s])",
            "(a)",
        ] {
            assert_eq!(classify(text), Pattern::Rooted(vec!["a"]), "{text}");
        }
        assert_eq!(classify("[(a (b)) (c)] @r"), Pattern::Rooted(vec!["a", "c"]));
    }

    #[test]
    fn patterns_that_may_start_anywhere_are_other() {
        for text in [
            "(_ (b) @r)", "(_ f: (b) @r (c))", "(_ f: (b) @r) @s", "(_) @r", "((a) @r . (b))", "\"a\" @r",
            "(ERROR) @r", "(a", "a)", "",
        ] {
            assert_eq!(classify(text), Pattern::Other, "{text}");
        }
    }

    fn condition(name: &'static str, values: &[&str]) -> Option<Condition> {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Condition::new(&Predicate { name, capture: "reference", values })
    }

    #[test]
    fn a_word_list_allows_or_forbids() {
        let is = condition("any-of", &["a", "b"]).unwrap();
        let is_not = condition("not-eq", &["a"]).unwrap();
        assert_eq!([is.holds("b"), is.holds("c"), is_not.holds("a"), is_not.holds("c")], [true, false, false, true]);
        assert!(condition("is-not", &["local"]).is_none());
    }

    proptest! {
        #[test]
        fn the_first_character_test_agrees_with_the_regex(
            regex in prop::sample::select(vec![
                "^[A-Z]", "^_*[A-Z]", "^[A-Z][A-Z0-9_]+$", "^_*[A-Z][A-Z0-9_]*$", "^_", "^a|b", "^ab|c", "^[a$]", "^[^a]", "^A{0}", "[A-Z]", "^A?",
                "^\\pL", "^[a-c]?[X-Z]*_", "^(A|b)", "^.",
            ]),
            text in "[A-Za-c_é]{0,4}",
        ) {
            let condition = condition("match", &[regex]).unwrap();
            prop_assert_eq!(condition.holds(&text), Regex::new(regex).unwrap().is_match(&text));
        }
    }
}
