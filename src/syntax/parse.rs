//! Bounded parsing: no source, however large or broken, holds a thread for long.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::language::Language;

/// Largest source that is parsed, in bytes. Bigger files are generated or data; they have no tags and no errors.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// How often the parser may report progress before it is stopped. It reports once per 100 of its operations; ordinary
/// code needs about one report for every 100 bytes (10,000 for the largest source), so only text that keeps the error
/// recovery busy comes near this. Counting steps instead of seconds makes the result the same on every machine.
pub const MAX_PARSE_STEPS: usize = 100_000;

/// Most errors that [`error_count`] counts.
pub const MAX_ERRORS: usize = 1_000;

/// Parses `source`. `None` when it is over [`MAX_SOURCE_BYTES`] or takes more than [`MAX_PARSE_STEPS`].
pub(super) fn parse(language: &'static Language, source: &str) -> Option<Tree> {
    if source.len() > MAX_SOURCE_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&(language.grammar)()).ok()?;
    let mut steps = 0usize;
    let mut bounded = |_: &ParseState| {
        steps += 1;
        if steps > MAX_PARSE_STEPS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut bounded);
    let bytes = source.as_bytes();
    parser.parse_with_options(
        &mut |offset, _| bytes.get(offset..).unwrap_or_default(),
        None,
        Some(options),
    )
}

/// How many places of `source` do not parse: error nodes plus tokens that the parser had to invent. Counts up to
/// [`MAX_ERRORS`]; 0 when the source is too large to parse, since nothing can be said about it.
pub fn error_count(language: &'static Language, source: &str) -> usize {
    parse(language, source).map_or(0, |tree| count_errors(tree.root_node()))
}

/// Walks with a cursor rather than by recursion, since a tree can be as deep as its source is long.
fn count_errors(root: Node<'_>) -> usize {
    let mut cursor = root.walk();
    let mut count = 0;
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            count += 1;
        }
        if count >= MAX_ERRORS {
            return count;
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn errors(name: &str, source: &str) -> usize {
        error_count(Language::by_name(name).unwrap(), source)
    }

    #[test]
    fn sound_code_has_no_errors() {
        assert_eq!(errors("rust", "fn main() { println!(\"{}\", 1); }\n"), 0);
        assert_eq!(errors("python", "\u{feff}def f():\r\n    return 1\r\n"), 0);
        assert_eq!(errors("go", ""), 0);
    }

    #[test]
    fn broken_code_has_some() {
        assert!(errors("rust", "fn main( { let = ; }") > 0);
        assert!(errors("java", "class A { void f() { } ") > 0);
    }

    #[test]
    fn the_count_stops_at_its_limit() {
        assert!(errors("rust", &"fn ) ; ".repeat(20_000)) <= MAX_ERRORS);
    }

    #[test]
    fn a_source_over_the_limit_is_not_parsed() {
        let source = " ".repeat(MAX_SOURCE_BYTES + 1);
        assert!(parse(Language::by_name("c").unwrap(), &source).is_none());
    }

    #[test]
    fn depth_is_no_danger() {
        let depth = 100_000;
        for (name, open) in [
            ("javascript", "["),
            ("python", "("),
            ("rust", "{"),
            ("cpp", "a<"),
            ("ruby", "->{"),
        ] {
            errors(name, &open.repeat(depth));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_count_panic(source in any::<String>()) {
            for language in Language::all() {
                prop_assert!(error_count(language, &source) <= MAX_ERRORS);
            }
        }
    }
}
