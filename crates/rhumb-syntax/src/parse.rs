//! Parsing with limits, so that no source blocks a thread for long.

use crate::language::Language;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Range, Tree};

/// Maximum size of a source that is parsed, in bytes. Larger files are generated or data; they get no tags and no errors. In the
/// Linux source 83 C files are larger (350 MB in total), nearly all of them register tables.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Maximum size in bytes of a minified source that still gets tags. Hand-written code never reaches it. Larger minified sources
/// have one-letter names, which distort a ranking, and syntax trees a hundred times their size.
pub const MAX_MINIFIED_BYTES: usize = 64 << 10;

/// Minimum average line length in bytes of a minified source.
const MINIFIED_LINE_BYTES: usize = 1_000;

/// Maximum number of progress reports before the parser is stopped. It reports once per 100 operations: every 140 bytes of
/// ordinary code, every 18 bytes of the densest tables measured. A step takes 0.1 to 0.2 ms during error recovery, so a parse
/// takes a few seconds at worst. Steps, unlike seconds, give the same result on every machine.
pub const MAX_PARSE_STEPS: usize = 20_000;

/// Size in bytes of the chunks in which the parser reads a source.
const CHUNK_BYTES: usize = 4 << 10;

/// Maximum number of chunks that the parser may read before it is stopped. The step limit does not cover the scanner of a
/// grammar: Lua's reads to the end of the file for every token during error recovery. The most that valid code was measured to
/// need is 200,000 chunks per MB (the scanner for D asks for the column of every token). Other grammars read a source twice.
const MAX_CHUNKS: usize = 300_000;

/// Number of line feeds that a stopped parser gets, if its scanner waits for one.
const FINAL_NEWLINES: usize = 64;

/// Maximum number of children of an error node. The time of a query is quadratic in this number; the highest that was measured
/// in a real file is 319.
const MAX_ERROR_CHILDREN: u32 = 4_096;

/// Maximum nesting of brackets. The time of a parse is quadratic in the number of unclosed brackets.
const MAX_DEPTH: usize = 4_096;

/// Maximum number of unclosed `<` in a statement. Grammars that cannot tell types from comparisons try both for each.
const MAX_ANGLES: usize = 1_024;

/// Maximum number of errors that are counted in a source.
pub const MAX_ERRORS: usize = 1_000;

thread_local! {
    /// The parser of the thread. Reuse keeps its memory.
    static PARSER: Cell<Parser> = Cell::default();
}

/// Parses `source`. `None` if it exceeds [`MAX_SOURCE_BYTES`], [`MAX_PARSE_STEPS`] or the limit on reads, and for a language
/// without a grammar.
pub fn parse(language: &'static Language, source: &str) -> Option<Tree> {
    parse_part(language, source, None)
}

/// Starts a timer for one parse. The returned function tells whether the time is over.
pub type ParseTimer = fn() -> Box<dyn Fn() -> bool>;

static TIMER: OnceLock<ParseTimer> = OnceLock::new();

/// Steps between two checks of the timer.
const STEPS_PER_CHECK: usize = 16;

/// Sets a timer that stops parses in addition to the step limit, since single steps of error recovery can be slow. This crate
/// does not read the clock, so the program supplies the timer. Only the first call has an effect. Choose a timeout that only
/// much slower machines reach, so that results stay the same everywhere.
pub fn set_parse_timer(timer: ParseTimer) {
    let _ = TIMER.set(timer);
}

/// Parses a part of `source`, or all of it. Positions in the tree are positions in `source`.
fn parse_part(language: &'static Language, source: &str, part: Option<Range>) -> Option<Tree> {
    let text = part.map_or(Some(source), |part| source.get(part.start_byte..part.end_byte))?;
    if source.len() > MAX_SOURCE_BYTES || is_too_deep(text) || (language.skips)(text) {
        return None;
    }
    let mut parser = PARSER.take();
    parser.set_language(&language.grammar?()).ok()?;
    parser.set_included_ranges(part.as_slice()).ok()?;
    let (mut steps, chunks) = (0usize, Cell::new(0usize));
    let timer = TIMER.get().map(|start| start());
    let mut bounded = |_: &ParseState| {
        steps += 1;
        let too_long = || steps % STEPS_PER_CHECK == 0 && timer.as_ref().is_some_and(|is_over| is_over());
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
        // At the limit the parser sees the end of the text, so that a scanner that does not return stops, too. Some
        // scanners wait for a line feed first.
        match chunks.get().checked_sub(MAX_CHUNKS + 1) {
            None => bytes.get(offset..bytes.len().min(offset.saturating_add(CHUNK_BYTES))).unwrap_or_default(),
            Some(over) if over < FINAL_NEWLINES && language.needs_final_newline => b"\n",
            Some(_) => &[],
        }
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| chunks.get() <= MAX_CHUNKS);
    parser.reset();
    PARSER.set(parser);
    tree
}

/// The form of `source` that is safe for the C code of a grammar: equal or of the same length, plus a final line feed for some
/// grammars.
///
/// Some scanners call `isdigit` and similar functions with any character (bash does so after an opening brace). These functions
/// index a table of 256 entries, so other characters read beyond it, which has crashed. For such grammars every character
/// outside of ASCII becomes as many `x` as it has bytes, which keeps all positions. The scanner for Kotlin skips white space
/// after an annotation without noticing the end of the source; that for Swift compares the end with its own strings.
pub(crate) fn fit_for<'source>(language: &Language, source: &'source str) -> Cow<'source, str> {
    let fit = if language.ascii_only { in_ascii(source) } else { Cow::Borrowed(source) };
    if language.needs_final_newline && !fit.ends_with('\n') { Cow::Owned(fit.into_owned() + "\n") } else { fit }
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
            // A byte order mark is not a letter.
            let replacement = if character == '\u{feff}' { ' ' } else { 'x' };
            fit.extend(std::iter::repeat_n(replacement, character.len_utf8()));
        }
    }
    Cow::Owned(fit)
}

/// Like [`parse`], for a query: also `None` if the source is minified or a query over the tree would take too long.
pub(crate) fn parse_for_query(language: &'static Language, source: &str) -> Option<Tree> {
    if is_minified(source) {
        return None;
    }
    let source = (language.blank_text)(source);
    parse_part(language, &source, None).filter(is_queryable)
}

pub(crate) fn parse_part_for_query(language: &'static Language, source: &str, part: Range) -> Option<Tree> {
    if is_minified(source.get(part.start_byte..part.end_byte)?) {
        return None;
    }
    parse_part(language, source, Some(part)).filter(is_queryable)
}

pub(crate) fn is_minified(source: &str) -> bool {
    let lines = || source.bytes().filter(|byte| *byte == b'\n').count() + 1;
    source.len() > MAX_MINIFIED_BYTES && source.len() / lines() > MINIFIED_LINE_BYTES
}

fn is_queryable(tree: &Tree) -> bool {
    !has_wide_error(tree.root_node())
}

/// Whether brackets nest deeper than in real code. Brackets in strings and comments count, too.
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

/// Visits all nodes on the way to an error, until `visit` returns `false`. Uses a cursor instead of recursion, since a tree can be
/// as deep as its source is long.
pub(crate) fn walk_errors(root: Node<'_>, mut visit: impl FnMut(Node<'_>) -> bool) {
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
    use crate::errors::errors_in;
    use proptest::prelude::*;

    fn errors(name: &str, source: &str) -> usize {
        errors_in(Language::by_name(name).unwrap(), source).map_or(0, |errors| errors.count())
    }

    #[test]
    fn the_bash_scanner_sees_only_ascii() {
        let bash = Language::by_name("bash").unwrap();
        let source = "größe() { echo {\u{10ffff}..9}; }\n";
        let fit = fit_for(bash, source);
        assert!(fit.is_ascii());
        assert_eq!((fit.len(), fit.find("() {")), (source.len(), source.find("() {")));
        assert!(parse(bash, source).is_some());
    }

    #[test]
    fn the_kotlin_scanner_terminates() {
        for source in ["class A {\n  val a = 1\n  @Jvm", "class A\n@Jvm(", "fun f() {\n\n@"] {
            errors("kotlin", source);
        }
    }

    #[test]
    fn valid_code_has_no_errors() {
        assert_eq!(errors("rust", "fn main() { println!(\"{}\", 1); }\n"), 0);
        assert_eq!(errors("python", "\u{feff}def f():\r\n    return 1\r\n"), 0);
        assert_eq!(errors("go", ""), 0);
    }

    #[test]
    fn broken_code_has_errors() {
        assert!(errors("rust", "fn main( { let = ; }") > 0);
        assert!(errors("java", "class A { void f() { } ") > 0);
    }

    #[cfg(feature = "lang-more")]
    #[test]
    fn a_scanner_that_reads_to_the_end_for_every_token_is_stopped() {
        let dart = Language::by_name("dart").unwrap();
        assert!(parse(dart, &"`".repeat(100_000)).is_none());
        assert!(parse(dart, "var a = '`';\n").is_some());
    }

    #[test]
    fn excessive_nesting_is_not_parsed() {
        for open in ["(", "a[", "{ ", "a<"] {
            assert!(is_too_deep(&open.repeat(5_000)), "{open}");
        }
        assert!(!is_too_deep(&"f(a[{}]) < b;\n if a < b".repeat(5_000)));
    }

    #[test]
    fn the_number_of_errors_is_limited() {
        assert!(errors("rust", &"fn ) ; ".repeat(20_000)) <= MAX_ERRORS);
    }

    #[test]
    fn excessive_error_recovery_is_stopped() {
        let gives_up = |name, source: &str| parse_for_query(Language::by_name(name).unwrap(), source).is_none();
        assert!(gives_up("rust", &"(".repeat(10_000)));
        assert!(gives_up("bash", &"<<A\n".repeat(3_000)));
        assert!(gives_up("lua", &"[".repeat(400_000)));
        assert!(!gives_up("rust", "fn f( {"));
    }

    #[test]
    fn long_minified_sources_have_no_tags_but_single_long_lines_do() {
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
    fn deep_nesting_is_safe() {
        let depth = 100_000;
        for (name, open) in [("javascript", "["), ("python", "("), ("rust", "{"), ("cpp", "a<"), ("ruby", "->{")] {
            errors(name, &open.repeat(depth));
        }
    }

    proptest! {
        #[test]
        fn counting_errors_in_any_text_does_not_panic(source in any::<String>()) {
            for language in Language::all() {
                prop_assert!(errors_in(language, &source).is_none_or(|errors| errors.count() <= MAX_ERRORS));
            }
        }
    }
}
