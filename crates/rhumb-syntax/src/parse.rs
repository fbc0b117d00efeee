//! Bounded parsing: no source, however large or broken, holds a thread for long.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Range, Tree};

use super::language::Language;

/// Largest source that is parsed, in bytes. Bigger files are generated or data; they have no tags and no errors: in the
/// whole Linux source 83 files of C are bigger, of 350 MB together, and all but a few are tables of registers.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Longest source that may have lines as long as `MINIFIED_LINE_BYTES` on average and still have tags. What is written
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

/// How much of a source the parser is handed at once, in bytes.
const CHUNK_BYTES: usize = 4 << 10;

/// How many chunks the parser may read, again and again, before it is stopped. Steps do not count what the scanner of a
/// grammar reads on its own: that of Lua reads to the end of the file for every token while it recovers from an error. The
/// hungriest sound code that was measured takes 200,000 chunks a megabyte, since its scanner (that of D) asks for the column
/// of every token; other grammars read their source twice.
const MAX_CHUNKS: usize = 300_000;

/// How many line ends a parser that has read too much is given, if its scanner waits for one.
const LAST_LINE_ENDS: usize = 64;

/// Most children that one error node may have. The C library takes time with the square of that number to run a query;
/// the worst real file that was measured had 319.
const MAX_ERROR_CHILDREN: u32 = 4_096;

/// Deepest nesting of brackets that is parsed. Parsers take time with the square of it when the brackets never close.
const MAX_DEPTH: usize = 4_096;

/// Most `<` in one statement that no `>` closes: where a grammar cannot tell types from comparisons, each tries both.
const MAX_ANGLES: usize = 1_024;

/// Most errors that are counted in one source.
pub const MAX_ERRORS: usize = 1_000;

thread_local! {
    /// The parser of this thread: a parser keeps the memory that it has worked with.
    static PARSER: Cell<Parser> = Cell::default();
}

/// Parses `source`. `None` when it is over [`MAX_SOURCE_BYTES`], takes more than [`MAX_PARSE_STEPS`] or is read too often,
/// and for a language without a grammar.
pub fn parse(language: &'static Language, source: &str) -> Option<Tree> {
    parse_part(language, source, None)
}

/// Makes, for one parse, what tells that it has taken too long.
pub type Patience = fn() -> Box<dyn Fn() -> bool>;

static PATIENCE: OnceLock<Patience> = OnceLock::new();

/// Steps between two looks at the clock.
const STEPS_BY_LOOK: usize = 16;

/// Has parses stopped by a clock as well, which this room does not have: error recovery can take longer and longer for one
/// step. It is set once; the same source is parsed or given up on every machine that is not many times slower.
pub fn set_patience(patience: Patience) {
    // Whoever came first set the same.
    let _ = PATIENCE.set(patience);
}

/// Parses one part of `source` as if there were nothing else, or all of it. Positions in the tree are those of the whole.
fn parse_part(language: &'static Language, source: &str, part: Option<Range>) -> Option<Tree> {
    let text = part.map_or(Some(source), |part| source.get(part.start_byte..part.end_byte))?;
    if source.len() > MAX_SOURCE_BYTES || is_too_deep(text) || (language.unfit)(text) {
        return None;
    }
    let mut parser = PARSER.take();
    parser.set_language(&language.grammar?()).ok()?;
    parser.set_included_ranges(part.as_slice()).ok()?;
    let (mut steps, chunks) = (0usize, Cell::new(0usize));
    let patience = PATIENCE.get().map(|start| start());
    let mut bounded = |_: &ParseState| {
        steps += 1;
        let too_long = || steps % STEPS_BY_LOOK == 0 && patience.as_ref().is_some_and(|is_over| is_over());
        if steps > MAX_PARSE_STEPS || chunks.get() > MAX_CHUNKS || too_long() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut bounded);
    let source = fit_for(language, source);
    let bytes = source.as_bytes();
    let mut read = |offset: usize, _| {
        chunks.set(chunks.get() + 1);
        // A parser that has read too much finds the end of the text, so that even a scanner that does not return stops;
        // before it the line end that some scanners wait for.
        match chunks.get().checked_sub(MAX_CHUNKS + 1) {
            None => bytes.get(offset..bytes.len().min(offset.saturating_add(CHUNK_BYTES))).unwrap_or_default(),
            Some(over) if over < LAST_LINE_ENDS && language.line_ended => b"\n",
            Some(_) => &[],
        }
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| chunks.get() <= MAX_CHUNKS);
    parser.reset();
    PARSER.set(parser);
    tree
}

/// What may be handed to the C code of a grammar in place of `source`: the same bytes or as many of them, and for some
/// grammars a line end after the last line.
///
/// Some scanners ask `isdigit` and its like about any character, as that of the bash grammar does after an opening
/// brace; that looks up a table of 256 entries and reads past it for the rest of Unicode, which has crashed. To such a
/// grammar a letter is a letter, so every character outside ASCII becomes as many `x` as it has bytes, and all positions
/// stay. The scanner of the Kotlin grammar looks for white space after an annotation and never notices that the source
/// is over; that of the Swift grammar compares the end of the source with the end of its own strings.
pub(super) fn fit_for<'source>(language: &Language, source: &'source str) -> Cow<'source, str> {
    let fit = if language.ascii_only { in_ascii(source) } else { Cow::Borrowed(source) };
    if language.line_ended && !fit.ends_with('\n') {
        return Cow::Owned(fit.into_owned() + "\n");
    }
    fit
}

fn in_ascii(source: &str) -> Cow<'_, str> {
    if source.is_ascii() {
        return Cow::Borrowed(source);
    }
    let mut fit = String::with_capacity(source.len());
    for character in source.chars() {
        if character.is_ascii() {
            fit.push(character);
        } else {
            // A byte order mark is no letter.
            let stand_in = if character == '\u{feff}' { ' ' } else { 'x' };
            fit.extend(std::iter::repeat_n(stand_in, character.len_utf8()));
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
    let source = (language.without_text)(source);
    parse_part(language, &source, None).filter(is_queryable)
}

/// Like [`parse_for_query`], but only that part of `source`.
pub(super) fn parse_part_for_query(language: &'static Language, source: &str, part: Range) -> Option<Tree> {
    if is_minified(source.get(part.start_byte..part.end_byte)?) {
        return None;
    }
    parse_part(language, source, Some(part)).filter(is_queryable)
}

pub(super) fn is_minified(source: &str) -> bool {
    let lines = || source.bytes().filter(|byte| *byte == b'\n').count() + 1;
    source.len() > MAX_MINIFIED_BYTES && source.len() / lines() > MINIFIED_LINE_BYTES
}

fn is_queryable(tree: &Tree) -> bool {
    !has_wide_error(tree.root_node())
}

/// Whether brackets nest as in no real code. Those in strings and comments count too, which does not matter.
fn is_too_deep(source: &str) -> bool {
    let (mut depth, mut angles) = (0usize, 0usize);
    source.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => (depth, angles) = (depth + 1, 0),
            b')' | b']' | b'}' => (depth, angles) = (depth.saturating_sub(1), 0),
            b';' | b'\n' => angles = 0,
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            _ => return false,
        }
        depth > MAX_DEPTH || angles > MAX_ANGLES
    })
}

fn has_wide_error(root: Node<'_>) -> bool {
    let mut wide = false;
    walk_errors(root, |node| {
        wide = node.is_error() && node.child_count() > MAX_ERROR_CHILDREN;
        !wide
    });
    wide
}

/// Visits the children of every node that has an error in it, until `visit` says no. Walks with a cursor rather than by
/// recursion, since a tree can be as deep as its source is long.
pub(super) fn walk_errors(root: Node<'_>, mut visit: impl FnMut(Node<'_>) -> bool) {
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
    use super::super::errors::errors_in;
    use super::*;
    use proptest::prelude::*;

    fn errors(name: &str, source: &str) -> usize {
        errors_in(Language::by_name(name).unwrap(), source).map_or(0, |errors| errors.count())
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
    fn the_kotlin_scanner_comes_to_an_end() {
        for source in ["class A {\n  val a = 1\n  @Jvm", "class A\n@Jvm(", "fun f() {\n\n@"] {
            errors("kotlin", source);
        }
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

    #[cfg(feature = "lang-more")]
    #[test]
    fn a_scanner_that_reads_to_the_end_from_everywhere_is_stopped() {
        let dart = Language::by_name("dart").unwrap();
        assert!(parse(dart, &"`".repeat(100_000)).is_none());
        assert!(parse(dart, "var a = '`';\n").is_some());
    }

    #[test]
    fn nesting_beyond_all_code_is_not_parsed() {
        for open in ["(", "a[", "{ ", "a<"] {
            assert!(is_too_deep(&open.repeat(5_000)), "{open}");
        }
        assert!(!is_too_deep(&"f(a[{}]) < b;\n if a < b".repeat(5_000)));
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
        assert!(gives_up("lua", &"[".repeat(400_000)));
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
                prop_assert!(errors_in(language, &source).is_none_or(|errors| errors.count() <= MAX_ERRORS));
            }
        }
    }
}
