//! Highlighting by TextMate rules (syntect), for languages without a tree-sitter grammar.

use crate::highlight::{Highlight, LineSpans, MAX_LINE_BYTES};
use crate::language::{file_name, first_word};
use rhumb_text::lines;
use std::ops::Range;
use std::sync::OnceLock;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Maximum size in bytes of a source that is highlighted by rules. They are about ten times slower than a parser.
const MAX_BYTES: usize = 128 << 10;

pub(crate) struct TextMateSyntax(&'static SyntaxReference);

/// The rules for a path, by its file name, its extension or the first line of the source.
pub(crate) fn for_path(path: &str, source: &str) -> Option<TextMateSyntax> {
    let file = file_name(path);
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    // The rule sets list whole file names such as `Makefile` as extensions.
    let by_name = syntaxes().find_syntax_by_extension(file);
    let found = by_name.or_else(|| extension.and_then(|extension| syntaxes().find_syntax_by_extension(extension)));
    found.or_else(|| by_first_line(source)).map(terminating)
}

/// The rules for the language name of a Markdown fence.
pub(crate) fn for_name(name: &str) -> Option<TextMateSyntax> {
    syntaxes().find_syntax_by_token(first_word(name)?).map(terminating)
}

/// Replaces rule sets that do not terminate on broken code.
fn terminating(syntax: &'static SyntaxReference) -> TextMateSyntax {
    let others = if syntax.name == "Svelte" { syntaxes().find_syntax_by_extension("html") } else { None };
    TextMateSyntax(others.unwrap_or(syntax))
}

/// Highlights `source` by the rules of `syntax`. Lines above the length limit are skipped.
pub(crate) fn highlight(syntax: &TextMateSyntax, source: &str, spans: &mut LineSpans) {
    if source.len() > MAX_BYTES {
        return;
    }
    let (mut state, mut stack) = (ParseState::new(syntax.0), ScopeStack::new());
    let mut start = 0;
    for line in lines::split(source) {
        if line.len() <= MAX_LINE_BYTES && highlight_line(line, start, &mut state, &mut stack, spans).is_none() {
            return;
        }
        start += line.len();
    }
}

/// Highlights one line that starts at byte `start` of the source. `None` if the rules fail.
fn highlight_line(
    line: &str,
    start: usize,
    state: &mut ParseState,
    stack: &mut ScopeStack,
    spans: &mut LineSpans,
) -> Option<()> {
    // The rules expect every line to end in `\n`.
    let text = format!("{}\n", lines::body(line));
    let mut from = 0;
    for (at, operation) in state.parse_line(&text, syntaxes()).ok()? {
        push(from..at, start, stack, spans);
        from = from.max(at);
        stack.apply(&operation).ok()?;
    }
    push(from..lines::body(line).len(), start, stack, spans);
    Some(())
}

fn push(range: Range<usize>, start: usize, stack: &ScopeStack, spans: &mut LineSpans) {
    if range.start < range.end
        && let Some(highlight) = highlight_of(stack)
    {
        spans.push(start + range.start..start + range.end, highlight);
    }
}

/// The highlight of the innermost known scope.
fn highlight_of(stack: &ScopeStack) -> Option<Highlight> {
    let known = |scope: &Scope| rules().iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
    stack.as_slice().iter().rev().find_map(known).and_then(|(_, highlight)| *highlight)
}

fn by_first_line(source: &str) -> Option<&'static SyntaxReference> {
    let line = source.split('\n').next().filter(|line| line.len() <= MAX_LINE_BYTES)?;
    // Only lines that are meant to identify a format: a shebang, a mode line, the start of XML or of a diff.
    let telling = ["#!", "<", "-*-", "diff "].iter().any(|mark| line.contains(mark));
    telling.then(|| syntaxes().find_syntax_by_first_line(line)).flatten()
}

/// All rule sets, loaded at the first use.
fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

type ScopeRule = (Scope, Option<Highlight>);

fn rules() -> &'static [ScopeRule] {
    static RULES: OnceLock<Vec<ScopeRule>> = OnceLock::new();
    RULES.get_or_init(|| {
        SCOPES.iter().filter_map(|(scope, highlight)| Some((Scope::new(scope).ok()?, *highlight))).collect()
    })
}

/// Scope prefixes (naming conventions of TextMate and Sublime Text) and their highlights. The first match counts, so longer
/// prefixes come first. `None` makes code inside a string plain again.
const SCOPES: [(&str, Option<Highlight>); 43] = [
    ("comment", Some(Highlight::Comment)),
    ("punctuation.definition.comment", Some(Highlight::Comment)),
    ("punctuation.definition.string", Some(Highlight::String)),
    ("punctuation.definition.heading", Some(Highlight::Heading)),
    ("punctuation.definition.keyword", Some(Highlight::Keyword)),
    ("punctuation.definition.variable", Some(Highlight::Variable)),
    ("punctuation.definition.annotation", Some(Highlight::Attribute)),
    ("punctuation.definition.inserted", Some(Highlight::Inserted)),
    ("punctuation.definition.deleted", Some(Highlight::Deleted)),
    ("punctuation.definition.tag", Some(Highlight::Punctuation)),
    ("punctuation.separator", Some(Highlight::Punctuation)),
    ("punctuation.section", Some(Highlight::Punctuation)),
    ("punctuation.terminator", Some(Highlight::Punctuation)),
    ("constant.character.escape", Some(Highlight::Escape)),
    ("constant.numeric", Some(Highlight::Number)),
    ("constant.other.symbol", Some(Highlight::Constant)),
    ("constant", Some(Highlight::Constant)),
    ("string.interpolated", None),
    ("meta.interpolation", None),
    ("string", Some(Highlight::String)),
    ("keyword.operator", Some(Highlight::Operator)),
    ("keyword", Some(Highlight::Keyword)),
    ("storage.type.annotation", Some(Highlight::Attribute)),
    ("storage", Some(Highlight::Keyword)),
    ("entity.name.function", Some(Highlight::Function)),
    ("entity.name.tag", Some(Highlight::Tag)),
    ("entity.name.label", Some(Highlight::Label)),
    ("entity.name.section", Some(Highlight::Heading)),
    ("entity.name.namespace", Some(Highlight::Module)),
    ("entity.name", Some(Highlight::Type)),
    ("entity.other.attribute-name", Some(Highlight::Attribute)),
    ("entity.other.inherited-class", Some(Highlight::Type)),
    ("support.function", Some(Highlight::Function)),
    ("support.type.property-name", Some(Highlight::Property)),
    ("support", Some(Highlight::Type)),
    ("variable.function", Some(Highlight::Function)),
    ("variable.other.member", Some(Highlight::Property)),
    ("variable", Some(Highlight::Variable)),
    ("markup.heading", Some(Highlight::Heading)),
    ("markup.inserted", Some(Highlight::Inserted)),
    ("markup.deleted", Some(Highlight::Deleted)),
    ("markup.underline.link", Some(Highlight::Link)),
    ("markup", Some(Highlight::Emphasis)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_scopes_are_well_formed() {
        assert_eq!(rules().len(), SCOPES.len());
    }

    #[test]
    fn rules_that_do_not_terminate_are_not_used() {
        let source = "\\)x#{&\\é/><afn /*1\t|(\r\n{\ndef f1/><<E\n<a;\r\n<a\t<<E\n//`x/>xdef f";
        let mut spans = LineSpans::new(source);
        highlight(&for_path("a.svelte", "").unwrap(), source, &mut spans);
        assert_eq!(spans.lines.len(), 6);
    }

    #[test]
    fn file_names_and_first_lines_identify_a_language() {
        let name = |path, source| for_path(path, source).map(|syntax| syntax.0.name.clone());
        assert_eq!(name("a/Makefile", "").as_deref(), Some("Makefile"));
        assert_eq!(name("x", "<?xml version=\"1.0\"?>\n").as_deref(), Some("XML"));
        assert_eq!(name("x", "plain words\n"), None);
    }
}
