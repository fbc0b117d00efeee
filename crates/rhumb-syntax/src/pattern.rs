//! Reading the patterns of a tags query, to tell those that need the query engine from those that a walk can decide.
//!
//! Most patterns for references only say where a node stands: `(call function: (identifier) @reference)`. Such a *path*
//! is decided by looking at the ancestors of a node, for a fraction of what the engine takes, which keeps a state for
//! every pattern that may still match. The others start at a node of a known kind, so the engine need only be run there.

/// A pattern of a query, as far as a walk has to know it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pattern<'query> {
    /// Decided by the ancestors of a node and its text.
    Paths(Paths<'query>),
    /// Starts at nodes of these kinds.
    Rooted(Vec<&'query str>),
    /// Nothing is known of it.
    Other,
}

/// The ways to the node that a pattern captures.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Paths<'query> {
    /// Each is nodes inside of each other, outermost first; the last is captured.
    pub(super) ways: Vec<Vec<Step<'query>>>,
    /// The name of the capture.
    pub(super) capture: &'query str,
    /// What must hold of its text.
    pub(super) conditions: Vec<Predicate<'query>>,
    /// The kinds that the ways begin with; none where any will do.
    pub(super) root: Vec<&'query str>,
}

/// A node on a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step<'query> {
    /// Which child of the node before it is, if that matters.
    pub(super) field: Option<&'query str>,
    /// Its kind.
    pub(super) kind: &'query str,
}

/// A predicate: its name, without `#` and `?`, the capture that it is about, and the strings that follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Predicate<'query> {
    pub(super) name: &'query str,
    pub(super) capture: &'query str,
    pub(super) values: Vec<String>,
}

/// Reads one pattern with all that belongs to it.
pub(super) fn read(text: &str) -> Pattern<'_> {
    read_pattern(text).unwrap_or(Pattern::Other)
}

fn read_pattern(text: &str) -> Option<Pattern<'_>> {
    let mut reader = Reader { rest: text };
    let mut items = reader.items().filter(|_| reader.rest.is_empty())?;
    // A group holds a node and what is said of it.
    if let [Item { shape: Shape::Group, .. }] = items.nodes[..] {
        items = items.nodes.pop()?.inside;
    }
    let [root] = &items.nodes[..] else { return None };
    let kinds: Vec<&str> = match root.shape {
        Shape::Node(kind) => vec![kind],
        Shape::Choice => root.inside.nodes.iter().map(Item::kind).collect::<Option<_>>()?,
        Shape::Any => Vec::new(),
        Shape::Group | Shape::Other => return None,
    };
    match paths(root, &items) {
        Some((capture, ways)) => {
            Some(Pattern::Paths(Paths { ways, capture, conditions: items.predicates, root: kinds }))
        }
        None => (!kinds.is_empty()).then_some(Pattern::Rooted(kinds)),
    }
}

/// The ways through `root` and the capture at their ends, if there is nothing else.
fn paths<'query>(root: &Item<'query>, items: &Items<'query>) -> Option<(&'query str, Vec<Vec<Step<'query>>>)> {
    let mut ends = Vec::new();
    follow(root, None, &mut Vec::new(), &[], &mut ends)?;
    let (capture, _) = *ends.first()?;
    let same = ends.iter().all(|(other, _)| *other == capture);
    let about_it = items.predicates.iter().all(|predicate| predicate.capture == capture);
    (same && about_it && items.plain).then(|| (capture, ends.into_iter().map(|(_, way)| way).collect()))
}

/// Collects the ways through `item`, if each goes to one captured node and no further.
fn follow<'query>(
    item: &Item<'query>,
    field: Option<&'query str>,
    way: &mut Vec<Step<'query>>,
    captures: &[&'query str],
    ends: &mut Vec<(&'query str, Vec<Step<'query>>)>,
) -> Option<()> {
    (item.once && item.inside.plain && item.inside.predicates.is_empty()).then_some(())?;
    let captures = [captures, &item.captures].concat();
    let field = item.field.or(field);
    match item.shape {
        Shape::Choice => item.inside.nodes.iter().try_for_each(|choice| follow(choice, field, way, &captures, ends)),
        Shape::Node(kind) => {
            way.push(Step { field, kind });
            match (&item.inside.nodes[..], &captures[..]) {
                ([], [capture]) => ends.push((capture, way.clone())),
                ([inner], []) => follow(inner, None, way, &[], ends)?,
                _ => return None,
            }
            way.pop();
            Some(())
        }
        // What is a field has a node around it, and more is not asked. The engine would not have a broken one.
        Shape::Any => match (&item.inside.nodes[..], &captures[..]) {
            ([inner], []) if way.is_empty() && inner.field.is_some() => follow(inner, None, way, &[], ends),
            _ => None,
        },
        Shape::Group | Shape::Other => None,
    }
}

/// What stands between two brackets.
#[derive(Debug, Clone, Default)]
struct Items<'query> {
    nodes: Vec<Item<'query>>,
    predicates: Vec<Predicate<'query>>,
    /// Whether there is nothing else: no anchor, no field that must be absent, no setting.
    plain: bool,
}

#[derive(Debug, Clone)]
struct Item<'query> {
    field: Option<&'query str>,
    shape: Shape<'query>,
    captures: Vec<&'query str>,
    inside: Items<'query>,
    /// Whether it has no quantifier.
    once: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape<'query> {
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

impl<'query> Item<'query> {
    fn kind(&self) -> Option<&'query str> {
        match self.shape {
            Shape::Node(kind) => Some(kind),
            _ => None,
        }
    }
}

struct Reader<'query> {
    rest: &'query str,
}

impl<'query> Reader<'query> {
    /// Reads up to a closing bracket or the end.
    fn items(&mut self) -> Option<Items<'query>> {
        let mut items = Items { plain: true, ..Items::default() };
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

    fn item(&mut self) -> Option<Item<'query>> {
        let field = self.field();
        let (shape, inside) = match self.rest.chars().next()? {
            '(' => self.node()?,
            '[' => (Shape::Choice, self.bracketed('[', ']')?),
            '"' => {
                self.string()?;
                (Shape::Other, Items { plain: true, ..Items::default() })
            }
            _ => {
                (self.word()? == "_").then_some(())?;
                (Shape::Other, Items { plain: true, ..Items::default() })
            }
        };
        let mut item = Item { field, shape, captures: Vec::new(), inside, once: true };
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

    /// A node or a group, which begin alike.
    fn node(&mut self) -> Option<(Shape<'query>, Items<'query>)> {
        self.eat('(').then_some(())?;
        self.skip_blank();
        let shape = match self.rest.chars().next()? {
            '(' | '[' | '"' => Shape::Group,
            _ => match self.word()? {
                "_" => Shape::Any,
                "ERROR" | "MISSING" => Shape::Other,
                kind => Shape::Node(kind),
            },
        };
        let inside = self.items()?;
        self.eat(')').then_some((shape, inside))
    }

    fn bracketed(&mut self, open: char, close: char) -> Option<Items<'query>> {
        self.eat(open).then_some(())?;
        let inside = self.items()?;
        self.eat(close).then_some(inside)
    }

    /// A predicate on a capture, or `None` for anything else of that form: a setting, a comparison of two captures.
    fn predicate(&mut self) -> Option<Option<Predicate<'query>>> {
        self.rest = self.rest.strip_prefix("(#")?;
        let name = self.word()?;
        let is_predicate = self.eat('?');
        let _is_setting = self.eat('!');
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways as `kind/field:kind`, with the capture and how many conditions there are.
    fn ways(text: &str) -> Vec<String> {
        let Pattern::Paths(paths) = read(text) else { panic!("{text} is no path") };
        let step = |step: &Step<'_>| match step.field {
            Some(field) => format!("{field}:{}", step.kind),
            None => step.kind.to_owned(),
        };
        let way = |way: &Vec<Step<'_>>| way.iter().map(step).collect::<Vec<_>>().join("/");
        paths.ways.iter().map(|one| format!("{} @{} {}", way(one), paths.capture, paths.conditions.len())).collect()
    }

    #[test]
    fn nodes_inside_of_each_other_are_a_path() {
        assert_eq!(ways("(type_identifier) @reference\n\n; next"), ["type_identifier @reference 0"]);
        assert_eq!(
            ways("(call function: (attribute attribute: (identifier) @reference))"),
            ["call/function:attribute/attribute:identifier @reference 0"]
        );
        assert_eq!(
            ways("((identifier) @r\n  (#match? @r \"^[A-Z]\\\\w\")\n  (#not-eq? @r \"Self\"))"),
            ["identifier @r 2"]
        );
    }

    #[test]
    fn each_choice_is_a_way() {
        assert_eq!(ways("(a b: [(c) @r (d e: [(f) (g)] @r)])"), ["a/b:c @r 0", "a/b:d/e:f @r 0", "a/b:d/e:g @r 0"]);
        assert_eq!(ways("[(a) (b)] @r"), ["a @r 0", "b @r 0"]);
        assert_eq!(ways("(a [(b) (c)] @r)"), ["a/b @r 0", "a/c @r 0"]);
    }

    #[test]
    fn a_field_of_any_node_is_a_way() {
        assert_eq!(ways("(_ f: (b) @r)"), ["f:b @r 0"]);
        assert_eq!(ways("(_ f: (b g: [(c) (d)] @r))"), ["f:b/g:c @r 0", "f:b/g:d @r 0"]);
    }

    #[test]
    fn whatever_else_is_said_needs_the_engine() {
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
            assert_eq!(read(text), Pattern::Rooted(vec!["a"]), "{text}");
        }
        assert_eq!(read("[(a (b)) (c)] @r"), Pattern::Rooted(vec!["a", "c"]));
    }

    #[test]
    fn what_may_start_anywhere_is_told() {
        for text in [
            "(_ (b) @r)",
            "(_ f: (b) @r (c))",
            "(_ f: (b) @r) @s",
            "(_) @r",
            "((a) @r . (b))",
            "\"a\" @r",
            "(ERROR) @r",
            "(a",
            "a)",
            "",
        ] {
            assert_eq!(read(text), Pattern::Other, "{text}");
        }
    }
}
