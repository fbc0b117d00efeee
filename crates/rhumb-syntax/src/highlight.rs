//! Highlighting: which bytes of each line are a keyword, a string and so on. The theme of the caller assigns colours.

use crate::language::Language;
use crate::parse::{fit_for, parse_for_query};
use crate::textmate;
use rhumb_text::lines;
use std::ops::Range;
use tree_sitter_highlight::{HighlightEvent, Highlighter};

/// Maximum size of a source that is highlighted, in bytes.
pub const MAX_HIGHLIGHT_BYTES: usize = 512 << 10;

/// Maximum length of a line that is highlighted, in bytes with its terminator.
pub const MAX_LINE_BYTES: usize = 4 << 10;

/// Larger sources, in bytes, are first parsed with the limits of [`crate::parse`], which the highlighting library does not
/// have. Up to this size even adversarial text takes no noticeable time.
const SAFE_BYTES: usize = 16 << 10;

/// The class of a piece of code or prose, for a theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Highlight {
    /// A keyword: `fn`, `return`.
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
    /// A heading in prose.
    Heading,
    /// A link or its URL.
    Link,
    /// Bold or italic prose.
    Emphasis,
    /// A line that a diff adds.
    Inserted,
    /// A line that a diff removes.
    Deleted,
}

/// A highlighted piece of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte from the start of the line, 0-based.
    pub start: usize,
    /// End byte, exclusive. At most the length of the line without terminator; on a character boundary.
    pub end: usize,
    /// The class of the piece.
    pub highlight: Highlight,
}

/// Highlights `source` as the file `path`, or by its `#!` line. Returns one list of spans for each line of [`lines::split`], in
/// order and without overlap. Text between spans is plain. All lists are empty if the language is unknown or the source
/// exceeds [`MAX_HIGHLIGHT_BYTES`]. The list of a line above [`MAX_LINE_BYTES`] is empty.
pub fn highlight(path: &str, source: &str) -> Vec<Vec<Span>> {
    highlight_as(Language::detect(path, source), || textmate::for_path(path, source), source)
}

/// Highlights `source` as the language that a Markdown fence names (`rs`, `python title=x`). See [`highlight`].
pub fn highlight_lang(name: &str, source: &str) -> Vec<Vec<Span>> {
    highlight_as(Language::by_name(name), || textmate::for_name(name), source)
}

fn highlight_as(
    language: Option<&'static Language>,
    other: impl FnOnce() -> Option<textmate::TextMateSyntax>,
    source: &str,
) -> Vec<Vec<Span>> {
    let mut spans = LineSpans::new(source);
    if !spans.is_worth_parsing(source) {
        return spans.lines;
    }
    match language {
        Some(language) if language.has_highlights() => with_grammar(language, source, &mut spans),
        _ => {
            if let Some(syntax) = other() {
                textmate::highlight(&syntax, source, &mut spans);
            }
        }
    }
    spans.lines
}

/// Highlights with the grammar of `language`. After a failure the spans up to it are kept.
fn with_grammar(language: &'static Language, source: &str, spans: &mut LineSpans) {
    let Ok(configuration) = language.highlight_configuration() else { return };
    if (language.skips)(source) || (source.len() > SAFE_BYTES && parse_for_query(language, source).is_none()) {
        return;
    }
    let mut highlighter = Highlighter::new();
    let fit = fit_for(language, source);
    let Ok(events) = highlighter.highlight(configuration, fit.as_bytes(), None, None, |_| None) else { return };
    // Ranges refer to `fit`, in which another byte sequence may replace a character.
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

/// Capture names of highlight queries and their highlights. Tree-sitter takes the longest entry that is a prefix of a capture:
/// `function.method.builtin` is found as `function`. `None` makes code inside a string plain again.
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

/// The capture names for a highlight configuration, in the order of their indices.
pub(crate) fn capture_names() -> Vec<&'static str> {
    CAPTURES.iter().map(|(name, _)| *name).collect()
}

/// Collects highlighted ranges of a source, given in order, as spans of its lines.
pub(crate) struct LineSpans {
    /// Spans of each line.
    pub(crate) lines: Vec<Vec<Span>>,
    /// The byte range of each line without its terminator. Empty for lines above [`MAX_LINE_BYTES`].
    bodies: Vec<Range<usize>>,
    /// The line in which the last range started. The next one cannot start before it.
    current: usize,
}

impl LineSpans {
    pub(crate) fn new(source: &str) -> Self {
        let mut start = 0;
        let mut bodies = Vec::new();
        for line in lines::split(source) {
            let length = if line.len() > MAX_LINE_BYTES { 0 } else { lines::body(line).len() };
            bodies.push(start..start + length);
            start += line.len();
        }
        Self { lines: vec![Vec::new(); bodies.len()], bodies, current: 0 }
    }

    /// Whether parsing is worthwhile: the source is not too large, and at least half of it is in lines that are highlighted.
    fn is_worth_parsing(&self, source: &str) -> bool {
        let shown: usize = self.bodies.iter().map(|body| body.len() + 1).sum();
        source.len() <= MAX_HIGHLIGHT_BYTES && shown.saturating_mul(2) >= source.len()
    }

    /// Adds a highlighted byte range of the source. It must not start before the previous one.
    pub(crate) fn push(&mut self, range: Range<usize>, highlight: Highlight) {
        while self.bodies.get(self.current + 1).is_some_and(|next| next.start <= range.start) {
            self.current += 1;
        }
        for at in self.current..self.bodies.len() {
            let (Some(body), Some(spans)) = (self.bodies.get(at), self.lines.get_mut(at)) else { return };
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

/// Appends a span. Joins it to the previous one if they touch and have the same class; drops it if they overlap.
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

    fn check_invariants(source: &str, lines_of_spans: &[Vec<Span>]) {
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
    fn a_multi_line_string_is_split_at_line_ends() {
        assert_eq!(shown("a.py", "x = '''a\n\nb'''\n")[2], ["b''':String"]);
    }

    #[test]
    fn code_inside_a_string_is_not_highlighted_as_a_string() {
        let line = shown("a.ts", "const a = `x ${ f(1) } y`\n").remove(0);
        assert!(line.contains(&"f:Function".into()) && line.contains(&" y`:String".into()), "{line:?}");
    }

    #[test]
    fn languages_without_a_grammar_are_highlighted() {
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
                check_invariants(source, &highlight(path, source));
            }
        }
    }

    proptest! {
        #[test]
        fn spans_keep_their_invariants_on_any_text(source in any::<String>()) {
            for path in ["a.rs", "a.py", "a.md"] {
                check_invariants(&source, &highlight(path, &source));
            }
        }

        #[test]
        fn spans_keep_their_invariants_on_broken_code(
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
                check_invariants(&source, &highlight_lang(language.id, &source));
            }
        }
    }
}
