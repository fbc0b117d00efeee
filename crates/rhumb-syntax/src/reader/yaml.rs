//! YAML: the keys of the first two depths. Deeper ones are the business of whoever reads the file.
//!
//! This is no parser: it looks at how lines begin. Block scalars (`|`, `>`) are skipped; keys within flow collections and
//! strings of several lines are not seen for what they are, which such files bear.

use super::outline::{Entry, Outline};
use crate::tag::{FileTags, SymbolKind};

/// The tags of a YAML stream. Keys of a list's items count as the second depth, named by themselves.
pub(crate) fn tags(source: &str) -> FileTags {
    let mut reader = Reader::default();
    let mut last = 1;
    for (line, text) in (1u32..).zip(source.trim_start_matches('\u{feff}').lines()) {
        reader.line(line, text);
        if !text.trim().is_empty() && !text.trim().starts_with('#') {
            last = line;
            reader.outline.extend_to(line);
        }
    }
    FileTags { definitions: reader.outline.finish(last), ..FileTags::default() }
}

#[derive(Default)]
struct Reader<'source> {
    outline: Outline,
    doc: &'source str,
    /// The indentation of the key whose block scalar is being skipped.
    scalar: Option<usize>,
    /// The indentation of the keys below the last one of the first depth.
    second: Option<usize>,
}

impl<'source> Reader<'source> {
    fn line(&mut self, line: u32, text: &'source str) {
        let body = text.trim();
        let indentation = text.len() - text.trim_start().len();
        if body.is_empty() || self.scalar.is_some_and(|key| indentation > key) {
            return;
        }
        self.scalar = None;
        if let Some(comment) = body.strip_prefix('#') {
            self.doc = if self.doc.is_empty() { comment.trim_start_matches(['#', ' ']) } else { self.doc };
            return;
        }
        let doc = std::mem::take(&mut self.doc);
        let Some(name) = key(body) else { return };
        if body.trim_end().ends_with(['|', '>', '-', '+']) && is_scalar(body) {
            self.scalar = Some(indentation);
        }
        let depth = self.depth(indentation);
        if depth <= 2 {
            self.outline.push(&Entry { depth, kind: SymbolKind::Key, name, signature: body, line, doc });
        }
    }

    /// The depth of a key at that indentation: 1, 2, or 3 for whatever is deeper.
    fn depth(&mut self, indentation: usize) -> usize {
        if indentation == 0 {
            self.second = None;
            return 1;
        }
        if indentation <= *self.second.get_or_insert(indentation) { 2 } else { 3 }
    }
}

/// The key that a line begins with: `name:`, `"a name":`. Items of lists and directives have none.
fn key(body: &str) -> Option<&str> {
    if body.starts_with(['-', '?', '%', '{', '[', '&', '*', '!', '|', '>', '@', '`']) {
        return None;
    }
    if let Some(quote) = body.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let (name, rest) = body.get(1..)?.split_once(quote)?;
        return rest.trim_start().starts_with(':').then_some(name);
    }
    let end = body.find(": ").or_else(|| body.ends_with(':').then(|| body.len() - 1))?;
    body.get(..end).map(str::trim_end)
}

/// Whether the value of a key is the head of a block scalar: `|`, `>-`, `|2+`.
fn is_scalar(body: &str) -> bool {
    let value = body.rsplit_once(": ").map(|(_, value)| value.trim()).unwrap_or_default();
    value.starts_with(['|', '>']) && value.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_two_depths_are_read() {
        let source = "# What runs\non: push\njobs:\n  test:\n    steps:\n      - run: |\n          a: b\n  'the docs':\n    x: 1\n\nenv:\n  TEXT: |\n    not: a key\n  NEXT: 1\n";
        let found = tags(source).definitions.into_iter();
        let found: Vec<_> = found.map(|found| (found.name, found.container, found.line, found.end_line)).collect();
        let within = |name: &str| Some(name.to_owned());
        let expected = [
            ("on".to_owned(), None, 2, 2),
            ("jobs".to_owned(), None, 3, 9),
            ("test".to_owned(), within("jobs"), 4, 7),
            ("the docs".to_owned(), within("jobs"), 8, 9),
            ("env".to_owned(), None, 11, 14),
            ("TEXT".to_owned(), within("env"), 12, 13),
            ("NEXT".to_owned(), within("env"), 14, 14),
        ];
        assert_eq!(found, expected);
        assert_eq!(tags(source).definitions[0].doc, "What runs");
    }
}
