//! Highlighting: which bytes of each line are a keyword, a string and so on. Colours are the theme's business.

use std::ops::Range;

use tree_sitter_highlight::{HighlightEvent, Highlighter};

use super::fallback;
use super::language::Language;
use super::parse::{fit_for, parse_for_query};
use rhumb_text::lines;

/// Largest source that is highlighted, in bytes.
pub const MAX_HIGHLIGHT_BYTES: usize = 512 << 10;

/// Longest line that is highlighted, in bytes with its terminator. Longer lines stay plain.
pub const MAX_LINE_BYTES: usize = 4 << 10;

/// Sources over this size, in bytes, are parsed twice: first within the bounds of [`super::parse`], which the highlighting
/// library does not know. Below it even hostile text takes no noticeable time.
const SAFE_BYTES: usize = 16 << 10;

/// What a piece of text is, as far as a theme cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Highlight {
    /// A word of the language: `fn`, `return`.
    Keyword,
    /// The name of a function where it is defined or called.
    Function,
    /// The name of a type.
    Type,
    /// A string, character or regular expression.
    String,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// A constant, also `true` and `null`.
    Constant,
    /// A variable or parameter.
    Variable,
    /// A field or key.
    Property,
    /// An operator.
    Operator,
    /// Brackets and separators.
    Punctuation,
    /// An attribute, annotation or decorator.
    Attribute,
    /// The name of a macro.
    Macro,
    /// The name of a module or namespace.
    Module,
    /// The tag of an element of markup.
    Tag,
    /// The target of a jump, or a lifetime.
    Label,
    /// An escape inside a string.
    Escape,
    /// A heading of prose.
    Heading,
    /// A link, or its address.
    Link,
    /// Prose that is set apart: bold or italic.
    Emphasis,
    /// A line that a diff adds.
    Inserted,
    /// A line that a diff takes away.
    Deleted,
}

/// A highlighted piece of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte, counted from the start of the line, 0-based.
    pub start: usize,
    /// The byte after the last. Never beyond the line's body, always on a char boundary.
    pub end: usize,
    /// What it is.
    pub highlight: Highlight,
}

/// Highlights `source` as the file `path` (or by its `#!` line). One list of spans for each line of [`lines::split`], in
/// order and without overlap; text between spans is plain. All lists are empty when the language is unknown or the
/// source is over [`MAX_HIGHLIGHT_BYTES`]; that of a line over [`MAX_LINE_BYTES`] always is.
pub fn highlight(path: &str, source: &str) -> Vec<Vec<Span>> {
    highlight_as(Language::detect(path, source), || fallback::for_path(path, source), source)
}

/// Highlights `source` as the language that a Markdown fence names (`rs`, `python title=x`). See [`highlight`].
pub fn highlight_lang(name: &str, source: &str) -> Vec<Vec<Span>> {
    highlight_as(Language::by_name(name), || fallback::for_name(name), source)
}

fn highlight_as(
    language: Option<&'static Language>,
    other: impl FnOnce() -> Option<fallback::Syntax>,
    source: &str,
) -> Vec<Vec<Span>> {
    let mut spans = LineSpans::new(source);
    if !spans.worth_it(source) {
        return spans.lines;
    }
    match language {
        Some(language) if language.has_highlights() => with_grammar(language, source, &mut spans),
        _ => {
            if let Some(syntax) = other() {
                fallback::highlight(&syntax, source, &mut spans);
            }
        }
    }
    spans.lines
}

/// Highlights with the grammar of `language`. Whatever came before a failure is kept: the start of a file is still right
/// when its end is not.
fn with_grammar(language: &'static Language, source: &str, spans: &mut LineSpans) {
    let Ok(configuration) = language.highlight_configuration() else {
        return;
    };
    if (language.unfit)(source) || (source.len() > SAFE_BYTES && parse_for_query(language, source).is_none()) {
        return;
    }
    let mut highlighter = Highlighter::new();
    let fit = fit_for(language, source);
    let Ok(events) = highlighter.highlight(configuration, fit.as_bytes(), None, None, |_| None) else {
        return;
    };
    // What stands in for a character may have been cut in two.
    let whole = |at| source.floor_char_boundary(at);
    let mut stack = Vec::new();
    for event in events {
        match event {
            Ok(HighlightEvent::HighlightStart(index)) => stack.push(CAPTURES.get(index.0).and_then(|entry| entry.1)),
            Ok(HighlightEvent::HighlightEnd) => {
                stack.pop();
            }
            Ok(HighlightEvent::Source { start, end }) => {
                if let Some(Some(highlight)) = stack.last() {
                    spans.push(whole(start)..whole(end), *highlight);
                }
            }
            Err(_) => return,
        }
    }
}

/// Capture names of highlight queries and what they become. Tree-sitter takes the longest entry that fits a capture, so
/// `function.method.builtin` is found under `function`. An entry with `None` makes code inside a string plain again.
const CAPTURES: [(&str, Option<Highlight>); 34] = [
    ("attribute", Some(Highlight::Attribute)),
    ("boolean", Some(Highlight::Constant)),
    ("character", Some(Highlight::String)),
    ("comment", Some(Highlight::Comment)),
    ("constant", Some(Highlight::Constant)),
    ("constructor", Some(Highlight::Type)),
    ("delimiter", Some(Highlight::Punctuation)),
    ("embedded", None),
    ("escape", Some(Highlight::Escape)),
    ("function", Some(Highlight::Function)),
    ("function.macro", Some(Highlight::Macro)),
    ("function.special", Some(Highlight::Macro)),
    ("keyword", Some(Highlight::Keyword)),
    ("label", Some(Highlight::Label)),
    ("markup.heading", Some(Highlight::Heading)),
    ("markup.link", Some(Highlight::Link)),
    ("module", Some(Highlight::Module)),
    ("namespace", Some(Highlight::Module)),
    ("none", None),
    ("number", Some(Highlight::Number)),
    ("operator", Some(Highlight::Operator)),
    ("property", Some(Highlight::Property)),
    ("punctuation", Some(Highlight::Punctuation)),
    ("punctuation.special", Some(Highlight::Escape)),
    ("string", Some(Highlight::String)),
    ("string.escape", Some(Highlight::Escape)),
    ("string.special.symbol", Some(Highlight::Constant)),
    ("tag", Some(Highlight::Tag)),
    ("type", Some(Highlight::Type)),
    ("variable", Some(Highlight::Variable)),
    ("variable.builtin", Some(Highlight::Keyword)),
    ("variable.member", Some(Highlight::Property)),
    ("variable.parameter", Some(Highlight::Variable)),
    ("text", None),
];

/// The capture names that a highlight configuration must know, in the order of their indices.
pub(super) fn capture_names() -> Vec<&'static str> {
    CAPTURES.iter().map(|(name, _)| *name).collect()
}

/// Spans under construction: takes ranges of the whole source in order and deals them out to the lines.
pub(super) struct LineSpans {
    /// Spans of each line.
    pub(super) lines: Vec<Vec<Span>>,
    /// Where the body of each line lies in the source. Empty for lines that stay plain.
    bodies: Vec<Range<usize>>,
    /// The line where the last range began; the next cannot begin before it.
    current: usize,
}

impl LineSpans {
    pub(super) fn new(source: &str) -> Self {
        let mut start = 0;
        let mut bodies = Vec::new();
        for line in lines::split(source) {
            let length = if line.len() > MAX_LINE_BYTES { 0 } else { lines::body(line).len() };
            bodies.push(start..start + length);
            start += line.len();
        }
        Self { lines: vec![Vec::new(); bodies.len()], bodies, current: 0 }
    }

    /// Whether parsing pays: not for sources that are too large, nor when most of one lies in lines that stay plain.
    fn worth_it(&self, source: &str) -> bool {
        let shown: usize = self.bodies.iter().map(|body| body.len() + 1).sum();
        source.len() <= MAX_HIGHLIGHT_BYTES && shown.saturating_mul(2) >= source.len()
    }

    /// Adds a highlighted range of the source, in bytes. It must not begin before the one added last.
    pub(super) fn push(&mut self, range: Range<usize>, highlight: Highlight) {
        while self.bodies.get(self.current + 1).is_some_and(|next| next.start <= range.start) {
            self.current += 1;
        }
        for at in self.current..self.bodies.len() {
            let (Some(body), Some(spans)) = (self.bodies.get(at), self.lines.get_mut(at)) else {
                return;
            };
            if body.start >= range.end {
                return;
            }
            let (start, end) = (range.start.max(body.start), range.end.min(body.end));
            if start < end {
                add(spans, Span { start: start - body.start, end: end - body.start, highlight });
            }
        }
    }
}

/// Appends a span, joined to the one before it if they are alike and touch. Drops what would overlap.
fn add(spans: &mut Vec<Span>, span: Span) {
    match spans.last_mut() {
        Some(last) if last.end > span.start => {}
        Some(last) if last.end == span.start && last.highlight == span.highlight => last.end = span.end,
        _ => spans.push(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The spans of each line as `text:Highlight`.
    fn shown(path: &str, source: &str) -> Vec<Vec<String>> {
        let show = |(line, spans): (&&str, Vec<Span>)| {
            spans.iter().map(|span| format!("{}:{:?}", &line[span.start..span.end], span.highlight)).collect()
        };
        lines::split(source).iter().zip(highlight(path, source)).map(show).collect()
    }

    fn check_laws(source: &str, lines_of_spans: &[Vec<Span>]) {
        let split = lines::split(source);
        assert_eq!(split.len(), lines_of_spans.len());
        for (line, spans) in split.iter().zip(lines_of_spans) {
            let (body, mut end) = (lines::body(line), 0);
            for span in spans {
                assert!(end <= span.start && span.start < span.end && span.end <= body.len());
                assert!(body.is_char_boundary(span.start) && body.is_char_boundary(span.end));
                end = span.end;
            }
        }
    }

    #[test]
    fn rust_is_highlighted() {
        let lines = shown("a.rs", "fn f() -> u8 { // x\r\n    1\r\n}\r\n");
        assert!(
            lines[0].starts_with(&["fn:Keyword".into(), "f:Function".into(), "():Punctuation".into()]),
            "{lines:?}"
        );
        assert_eq!(lines[0].last().unwrap(), "// x:Comment");
        assert_eq!(lines[1], ["1:Constant"]);
    }

    #[test]
    fn a_string_over_several_lines_is_split_at_them() {
        assert_eq!(shown("a.py", "x = '''a\n\nb'''\n")[2], ["b''':String"]);
    }

    #[test]
    fn code_inside_a_string_is_not_a_string() {
        let line = shown("a.ts", "const a = `x ${ f(1) } y`\n").remove(0);
        assert!(line.contains(&"f:Function".into()) && line.contains(&" y`:String".into()), "{line:?}");
    }

    #[test]
    fn languages_without_a_grammar_are_highlighted_too() {
        let lines = shown("Cargo.toml", "[package]\nname = \"x\" # y\n");
        assert!(lines[1].contains(&"\"x\":String".into()) && lines[1].contains(&"# y:Comment".into()), "{lines:?}");
        assert!(shown("a.md", "# Title\n")[0].iter().any(|span| span.ends_with("Heading")));
        assert!(highlight_lang("diff", "+a\n-b\n")[0].iter().any(|span| span.highlight == Highlight::Inserted));
        assert!(highlight_lang("yaml", "a: 'b'\n")[0].iter().any(|span| span.highlight == Highlight::String));
    }

    #[test]
    fn an_unknown_language_is_plain() {
        assert_eq!(highlight("x.unheard-of", "a\nb\n"), vec![Vec::new(), Vec::new()]);
        assert_eq!(highlight_lang("", "a"), vec![Vec::new()]);
        assert_eq!(highlight("a.rs", ""), Vec::<Vec<Span>>::new());
    }

    #[test]
    fn large_sources_and_long_lines_stay_plain() {
        let large = "let x = 1;\n".repeat(MAX_HIGHLIGHT_BYTES / 11 + 1);
        assert!(highlight("a.rs", &large).iter().all(Vec::is_empty));
        let source = format!("let a = 1;\n{}\nlet b = 2;\n", "/* é */".repeat(MAX_LINE_BYTES / 8 + 8));
        let mixed = format!("{}{source}", "let c = 3;\n".repeat(1_000));
        let lines = highlight("a.rs", &mixed);
        assert!(lines[1_001].is_empty() && !lines[1_000].is_empty() && !lines[1_002].is_empty());
    }

    #[test]
    fn odd_bytes_do_no_harm() {
        for path in ["a.rs", "a.py", "a.rb", "a.toml"] {
            for source in ["\u{feff}fn f() {}\r\n", "\0\0\"\0", "\"é\r\n\u{2028}x\r\"", "'\n\n'''\n"] {
                check_laws(source, &highlight(path, source));
            }
        }
    }

    proptest! {
        #[test]
        fn spans_keep_their_laws_on_any_text(source in any::<String>()) {
            for path in ["a.rs", "a.py", "a.md"] {
                check_laws(&source, &highlight(path, &source));
            }
        }

        #[test]
        fn spans_keep_their_laws_on_broken_code(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "fn ", "def f", "(", ")", "{", "}", "\"", "'", "`", "${", "#{", "\n", "\r\n", "é", "=> ", "class A",
                    "/*", "*/", "//", "# ", "<a", "/>", "x", "1", ": ", "<<E\n", "E\n", ";", "|", "&", "\\", "\t", "\0",
                ]),
                0..60,
            ),
        ) {
            let source = pieces.concat();
            for language in Language::all() {
                check_laws(&source, &highlight_lang(language.id, &source));
            }
        }
    }
}
