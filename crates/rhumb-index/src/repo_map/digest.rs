//! What the map keeps of a file's text: the terms that a message can meet, and the lines that show its definitions.

use super::header::header;
use crate::lexical::{Depth, FileTerms};
use rhumb_syntax::tag::{Definition, FileTags};

/// The part of a file's text that a map needs. Depends on nothing but the text and its tags, so it can be kept as long as
/// the content stays the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    terms: FileTerms,
    /// By definition; empty where it would be the signature.
    headers: Box<[Box<str>]>,
}

impl Digest {
    /// Digests a text with the tags that were made from it, all its words or those of its definitions alone.
    pub fn new(text: &str, tags: &FileTags, depth: Depth) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let of_definition = |definition: &Definition| {
            let line = (definition.line as usize).checked_sub(1).and_then(|line| lines.get(line));
            let header = header(line.copied().unwrap_or_default(), &definition.signature);
            if header == definition.signature { "".into() } else { header.into() }
        };
        Self { terms: FileTerms::new(text, tags, depth), headers: tags.definitions.iter().map(of_definition).collect() }
    }

    /// The terms of the text by passage.
    pub fn terms(&self) -> &FileTerms {
        &self.terms
    }

    /// The line that shows a definition, `index` in the tags; empty where its signature does.
    pub(crate) fn own_line(&self, index: u32) -> &str {
        self.headers.get(index as usize).map_or("", |header| header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_syntax::{Language, tags};

    #[test]
    fn a_definition_is_shown_by_its_own_line() {
        let source = "@cached\nclass A(B):\n    async def f(self,\n                g: int) -> str:\n        pass\n";
        let tags = tags(Language::by_name("python").unwrap(), source);
        let digest = Digest::new(source, &tags, Depth::Whole);
        // Where the signature says it all, no second line is kept.
        assert_eq!([digest.own_line(0), digest.own_line(1), digest.own_line(2)], ["class A(B):", "", ""]);
    }
}
