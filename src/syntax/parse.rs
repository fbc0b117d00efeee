//! Bounded parsing: no source, however large or broken, holds a thread for long.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::language::Language;

/// Largest source that is parsed, in bytes. Bigger files are generated or data; they have no tags and no errors: in the
/// whole Linux source 83 files of C are bigger, of 350 MB together, and all but a few are tables of registers.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Longest source that may have lines as long as [`MINIFIED_LINE_BYTES`] on average and still have tags. What is written
/// by people never comes near; what a tool squeezed together has names of one letter that would only blur a rank, and
/// a tree of a hundred times its size.
pub const MAX_MINIFIED_BYTES: usize = 64 << 10;

/// Length of an average line from which a source is minified, or data.
const MINIFIED_LINE_BYTES: usize = 1_000;

/// How often the parser may report progress before it is stopped. It reports once per 100 of its operations: once for
/// every 140 bytes of ordinary code, once for 18 bytes of the densest tables seen. A step takes 0.1 to 0.2 ms when error
/// recovery is busy, so this bounds a parse to a few seconds at worst. Counting steps instead of seconds makes the
/// result the same on every machine.
pub const MAX_PARSE_STEPS: usize = 20_000;

/// Most children that one error node may have. The C library takes time with the square of that number to run a query;
/// the worst real file that was measured had 319.
const MAX_ERROR_CHILDREN: u32 = 4_096;

/// Most heredocs in a shell or Ruby source, whose scanners take time with the square of their number when they are open.
const MAX_HEREDOCS: usize = 2_000;

/// Most errors that [`error_count`] counts.
pub const MAX_ERRORS: usize = 1_000;

thread_local! {
    /// The parser of this thread: a parser keeps the memory that it has worked with.
    static PARSER: Cell<Parser> = Cell::default();
}

/// Parses `source`. `None` when it is over [`MAX_SOURCE_BYTES`] or takes more than [`MAX_PARSE_STEPS`].
pub(super) fn parse(language: &'static Language, source: &str) -> Option<Tree> {
    if source.len() > MAX_SOURCE_BYTES || has_too_many_heredocs(language, source) {
        return None;
    }
    let mut parser = PARSER.take();
    parser.set_language(&(language.grammar)()).ok()?;
    let mut steps = 0usize;
    let mut bounded = |_: &ParseState| {
        steps += 1;
        if steps > MAX_PARSE_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut bounded);
    let source = fit_for(language, source);
    let bytes = source.as_bytes();
    let tree = parser.parse_with_options(&mut |offset, _| bytes.get(offset..).unwrap_or_default(), None, Some(options));
    parser.reset();
    PARSER.set(parser);
    tree
}

/// What may be handed to the C code of a grammar in place of `source`: the same bytes, or as many of them.
///
/// The scanner of the bash grammar asks `isdigit` about any character after an opening brace; that looks up a table of 256
/// entries and reads past it for the rest of Unicode, which has crashed. To that grammar a letter is a letter, so every
/// character outside ASCII becomes as many `x` as it has bytes, and all positions stay.
pub(super) fn fit_for<'source>(language: &Language, source: &'source str) -> Cow<'source, str> {
    if language.id != "bash" || source.is_ascii() {
        return Cow::Borrowed(source);
    }
    let mut fit = String::with_capacity(source.len());
    for character in source.chars() {
        if character.is_ascii() {
            fit.push(character);
        } else {
            fit.extend(std::iter::repeat_n('x', character.len_utf8()));
        }
    }
    Cow::Owned(fit)
}

/// Parses `source` for a query: like [`parse`], but also `None` when it is minified, or when the tree is such that a query
/// would take forever.
pub(super) fn parse_for_query(language: &'static Language, source: &str) -> Option<Tree> {
    if is_minified(source) {
        return None;
    }
    parse(language, source).filter(|tree| !has_wide_error(tree.root_node()))
}

fn is_minified(source: &str) -> bool {
    let lines = || source.bytes().filter(|byte| *byte == b'\n').count() + 1;
    source.len() > MAX_MINIFIED_BYTES && source.len() / lines() > MINIFIED_LINE_BYTES
}

fn has_too_many_heredocs(language: &Language, source: &str) -> bool {
    matches!(language.id, "bash" | "ruby") && source.matches("<<").take(MAX_HEREDOCS + 1).count() > MAX_HEREDOCS
}

fn has_wide_error(root: Node<'_>) -> bool {
    let mut wide = false;
    walk_errors(root, |node| {
        wide = node.is_error() && node.child_count() > MAX_ERROR_CHILDREN;
        !wide
    });
    wide
}

/// How many places of `source` do not parse: error nodes plus tokens that the parser had to invent. Counts up to
/// [`MAX_ERRORS`]; 0 when the source is too large to parse, since nothing can be said about it.
pub fn error_count(language: &'static Language, source: &str) -> usize {
    parse(language, source).map_or(0, |tree| count_errors(tree.root_node()))
}

fn count_errors(root: Node<'_>) -> usize {
    let mut count = 0;
    walk_errors(root, |node| {
        if node.is_error() || node.is_missing() {
            count += 1;
        }
        count < MAX_ERRORS
    });
    count
}

/// Visits the children of every node that has an error in it, until `visit` says no. Walks with a cursor rather than by
/// recursion, since a tree can be as deep as its source is long.
fn walk_errors(root: Node<'_>, mut visit: impl FnMut(Node<'_>) -> bool) {
    let mut cursor = root.walk();
    while visit(cursor.node()) {
        if cursor.node().has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
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
    fn the_bash_scanner_never_sees_what_it_cannot_look_up() {
        let bash = Language::by_name("bash").unwrap();
        let source = "größe() { echo {\u{10ffff}..9}; }\n";
        let fit = fit_for(bash, source);
        assert!(fit.is_ascii());
        assert_eq!((fit.len(), fit.find("() {")), (source.len(), source.find("() {")));
        assert!(parse(bash, source).is_some());
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
    fn hopeless_sources_are_given_up() {
        let gives_up = |name, source: &str| parse_for_query(Language::by_name(name).unwrap(), source).is_none();
        assert!(gives_up("rust", &"(".repeat(10_000)));
        assert!(gives_up("bash", &"<<A\n".repeat(3_000)));
        assert!(!gives_up("rust", "fn f( {"));
    }

    #[test]
    fn long_minified_sources_have_no_tags_but_long_lines_may() {
        let gives_up = |source: &str| parse_for_query(Language::by_name("js").unwrap(), source).is_none();
        let line = format!("f([{}]);\n", "1,".repeat(1_000));
        assert!(gives_up(&line.repeat(MAX_MINIFIED_BYTES / line.len() + 1)));
        assert!(!gives_up(&line.repeat(20)));
        assert!(!gives_up(&format!("{line}g();\n").repeat(40)), "every other line is short");
    }

    #[test]
    fn a_source_over_the_limit_is_not_parsed() {
        let source = " ".repeat(MAX_SOURCE_BYTES + 1);
        assert!(parse(Language::by_name("c").unwrap(), &source).is_none());
    }

    #[test]
    fn depth_is_no_danger() {
        let depth = 100_000;
        for (name, open) in [("javascript", "["), ("python", "("), ("rust", "{"), ("cpp", "a<"), ("ruby", "->{")] {
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
