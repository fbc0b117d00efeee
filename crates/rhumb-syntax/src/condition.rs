//! Conditions: the predicates of a query on the text of one node, without the engine.

use regex::Regex;

use super::pattern::Predicate;

/// What must hold of a text.
#[derive(Clone)]
pub(super) struct Condition {
    test: Test,
    /// Whether the test must succeed or fail.
    wanted: bool,
}

#[derive(Clone)]
enum Test {
    Matches {
        /// What the text must begin with to match at all. Most names are ruled out by it.
        first: Option<First>,
        regex: Regex,
    },
    OneOf(Vec<String>),
}

impl Condition {
    /// The condition that a predicate states, if it is one of those that we know.
    pub(super) fn new(predicate: &Predicate<'_>) -> Option<Self> {
        let (negated, name) = match predicate.name.strip_prefix("not-") {
            Some(name) => (true, name),
            None => (false, predicate.name),
        };
        let test = match (name, &predicate.values[..]) {
            ("match", [regex]) => Test::Matches { first: First::of(regex), regex: Regex::new(regex).ok()? },
            ("eq", [_]) | ("any-of", _) => Test::OneOf(predicate.values.clone()),
            _ => return None,
        };
        Some(Self { test, wanted: !negated })
    }

    /// Whether it holds of `text`.
    pub(super) fn holds(&self, text: &str) -> bool {
        let is = match &self.test {
            Test::Matches { first: Some(first), .. } if !first.allows(text) => false,
            Test::Matches { first: Some(First { is_all: true, .. }), .. } => true,
            Test::Matches { regex, .. } => regex.is_match(text),
            Test::OneOf(texts) => texts.iter().any(|one| one == text),
        };
        is == self.wanted
    }
}

/// The ASCII characters that a match can begin with.
#[derive(Clone)]
struct First {
    /// One bit for each.
    characters: u128,
    /// Whether the regular expression asks for nothing else.
    is_all: bool,
}

impl First {
    /// Reads the beginning of an expression that is tied to the start: `^`, then letters, underscores or classes of them
    /// that may be absent, then one that may not. `None` for all others.
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

/// A character or a class at the start of an expression, and what follows.
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

    fn condition(name: &'static str, values: &[&str]) -> Option<Condition> {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Condition::new(&Predicate { name, capture: "reference", values })
    }

    #[test]
    fn a_list_of_words_allows_or_forbids() {
        let is = condition("any-of", &["a", "b"]).unwrap();
        let is_not = condition("not-eq", &["a"]).unwrap();
        assert_eq!([is.holds("b"), is.holds("c"), is_not.holds("a"), is_not.holds("c")], [true, false, false, true]);
        assert!(condition("is-not", &["local"]).is_none());
    }

    proptest! {
        #[test]
        fn a_first_character_only_saves_work(
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
