//! The digest of a file that the map stores: its terms, and the lines that show its definitions.

use rhumb_syntax::{Definition, FileTags};

use crate::lexical::{Depth, FileTerms};

/// The part of a file's text that a map needs. Depends only on the text and its tags, so it can be cached by content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    terms: FileTerms,
    /// By definition; empty if it equals the signature.
    headers: Box<[Box<str>]>,
}

impl Digest {
    /// Extracts the terms and headers of a text. `tags` must belong to it.
    pub fn new(text: &str, tags: &FileTags, depth: Depth) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let of_definition = |definition: &Definition| {
            let line = (definition.line as usize).checked_sub(1).and_then(|line| lines.get(line));
            let header = header(line.copied().unwrap_or_default(), &definition.signature);
            if header == definition.signature { "".into() } else { header.into() }
        };
        Self { terms: FileTerms::new(text, tags, depth), headers: tags.definitions.iter().map(of_definition).collect() }
    }

    /// The terms of the text by chunk.
    pub fn terms(&self) -> &FileTerms {
        &self.terms
    }

    /// The source line of definition `index`; empty if its signature is shown instead.
    pub(crate) fn own_line(&self, index: u32) -> &str {
        self.headers.get(index as usize).map_or("", |header| header)
    }
}

/// Maximum length of a line that is shown unchanged, in characters: a short body costs less than a second line.
const MAX_UNCHANGED_CHARS: usize = 60;
/// Maximum length of a line that is read, in bytes. Longer lines are minified, and the signature is shown.
const MAX_LINE_BYTES: usize = 1_024;
/// Maximum number of words before the definition on its line: `export default async`, `pub(crate) unsafe`.
const MAX_WORDS_BEFORE: usize = 6;

/// The line for a definition with this `signature` whose name is in this `line` of the source.
pub(crate) fn header(line: &str, signature: &str) -> String {
    let line = line.trim();
    let signature = signature.trim();
    if line.is_empty() || line.len() > MAX_LINE_BYTES {
        return signature.to_owned();
    }
    if line.chars().count() <= MAX_UNCHANGED_CHARS && (signature.is_empty() || !goes_on(line, signature)) {
        return line.to_owned();
    }
    if let Some((before, after)) = line.split_once(signature) {
        return format!("{before}{signature}{}", opening(after));
    }
    match start_of(line, signature) {
        Some(start) => format!("{}{signature}", line.get(..start).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Whether the signature continues after the line.
fn goes_on(line: &str, signature: &str) -> bool {
    !line.contains(signature) && start_of(line, signature).is_some()
}

/// The start of the body, if it comes next.
fn opening(after: &str) -> &str {
    const OPENERS: [&str; 6] = [" => {", " =>", " = {", " {", ":", ";"];
    OPENERS.iter().find(|opener| after.starts_with(**opener)).copied().unwrap_or_default()
}

/// The position in `line` at which the signature starts, if the line ends within the signature. White space is ignored.
fn start_of(line: &str, signature: &str) -> Option<usize> {
    let mut starts = vec![0];
    let after_space = line.char_indices().zip(line.chars().skip(1));
    starts.extend(
        after_space
            .filter(|((_, space), next)| *space == ' ' && *next != ' ')
            .map(|((at, _), _)| at + 1)
            .take(MAX_WORDS_BEFORE),
    );
    starts.into_iter().find(|&start| {
        let mut signature = signature.chars().filter(|c| !c.is_whitespace());
        let rest = line.get(start..).unwrap_or_default();
        !rest.is_empty() && rest.chars().filter(|c| !c.is_whitespace()).all(|c| signature.next() == Some(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rhumb_syntax::{Language, tags};

    #[test]
    fn a_definition_is_shown_by_its_source_line() {
        let source = "@cached\nclass A(B):\n    async def f(self,\n                g: int) -> str:\n        pass\n";
        let tags = tags(Language::by_name("python").unwrap(), source);
        let digest = Digest::new(source, &tags, Depth::Whole);
        // A header that equals the signature is not stored.
        assert_eq!([digest.own_line(0), digest.own_line(1), digest.own_line(2)], ["class A(B):", "", ""]);
    }

    #[test]
    fn a_short_line_is_shown_unchanged() {
        assert_eq!(header("    def area(self):", "def area(self)"), "def area(self):");
        assert_eq!(header("pub struct P {", "pub struct P"), "pub struct P {");
        assert_eq!(header("export class A extends B {", "class A extends B"), "export class A extends B {");
        assert_eq!(header("fn f() -> u8 { 0 }", "fn f() -> u8"), "fn f() -> u8 { 0 }");
    }

    #[test]
    fn a_multi_line_header_is_joined_after_its_modifiers() {
        let signature = "function serve(root: string, port: number): Server";
        assert_eq!(
            header("export async function serve(", &format!("async {signature}")),
            format!("export async {signature}")
        );
        assert_eq!(header("function serve(", signature), signature);
    }

    #[test]
    fn a_long_line_loses_its_body() {
        let body = "x".repeat(80);
        assert_eq!(header(&format!("export const f = () => {{ {body} }}"), "const f = ()"), "export const f = () => {");
        assert_eq!(header(&body.repeat(100), "fn f()"), "fn f()");
    }

    #[test]
    fn a_line_that_differs_from_the_signature_is_shown() {
        assert_eq!(header("foo(void)", "static int foo(void)"), "foo(void)");
        assert_eq!(header("", "fn f()"), "fn f()");
    }

    proptest! {
        #[test]
        fn any_line_has_a_header(line in "\\PC{0,90}", signature in "\\PC{0,40}") {
            let shown = header(&line, &signature);
            prop_assert!(!shown.contains('\n') || line.contains('\n') || signature.contains('\n'));
        }
    }
}
