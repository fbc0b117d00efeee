//! Tags of files without a grammar: words that look like identifiers, and the definitions that Universal Ctags reports.

use crate::readers::words;
use crate::tags::{Definition, FileTags, Reference, SymbolKind};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Maximum number of words of a file.
const MAX_WORDS: usize = 2_000;

/// Maximum size of a source whose words are collected, in bytes.
const MAX_SOURCE_BYTES: usize = 256 << 10;

/// Maximum length of a signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 200;

/// The words of a text that look like identifiers, as references, each at its first occurrence. They let a file of any format
/// take part in the tag graph. Empty for texts that are too large to be written by hand.
pub fn lexical_tags(source: &str) -> FileTags {
    let mut tags = FileTags::default();
    if source.len() > MAX_SOURCE_BYTES {
        return tags;
    }
    let mut known = BTreeSet::new();
    for (line, text) in (1u32..).zip(source.lines()) {
        for word in words(text) {
            if tags.references.len() >= MAX_WORDS {
                return tags;
            }
            if known.insert(word) {
                tags.references.push(Reference { name: word.to_owned(), line });
            }
        }
    }
    tags
}

/// Parses a line of `ctags --output-format=json --fields=+neKS` into the path that ctags was given, and a definition.
/// `None` for lines of other types.
pub fn ctags_line(line: &str) -> Option<(String, Definition)> {
    let tag: CtagsLine = serde_json::from_str(line).ok()?;
    let first = tag.line.filter(|_| tag.entry_type == "tag")?;
    let signature = signature(&tag);
    let definition = Definition {
        kind: kind(tag.kind.as_deref().unwrap_or_default()),
        line: first,
        end_line: tag.end.map_or(first, |end| end.max(first)),
        signature,
        container: tag.scope.filter(|scope| !scope.starts_with("__anon")),
        name: tag.name,
        doc: String::new(),
    };
    (!definition.name.is_empty() && !definition.name.starts_with("__anon")).then_some((tag.path, definition))
}

/// The relevant fields of a JSON line.
#[derive(Deserialize)]
struct CtagsLine {
    #[serde(rename = "_type")]
    entry_type: String,
    name: String,
    path: String,
    /// The source line as a search command: `/^int f(void)$/`.
    pattern: Option<String>,
    line: Option<u32>,
    end: Option<u32>,
    kind: Option<String>,
    signature: Option<String>,
    scope: Option<String>,
}

/// The source line if ctags reports it completely, else the name with its parameters.
fn signature(tag: &CtagsLine) -> String {
    let pattern = tag.pattern.as_deref().and_then(|pattern| pattern.strip_prefix("/^")?.strip_suffix("$/"));
    let line = pattern.map(|pattern| pattern.replace("\\/", "/").replace("\\\\", "\\"));
    let text = line.unwrap_or_else(|| format!("{}{}", tag.name, tag.signature.as_deref().unwrap_or_default()));
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let header = squeezed.trim_end_matches([' ', '{', ':', ';', '=']);
    header.chars().take(MAX_SIGNATURE_CHARS).collect()
}

/// Maps a kind of ctags. Its parsers share most names, but each may define more.
fn kind(name: &str) -> SymbolKind {
    match name {
        "method" | "member function" | "constructor" | "accessor" | "singletonMethod" => SymbolKind::Method,
        "class" | "object" | "component" | "entity" => SymbolKind::Class,
        "struct" | "record" | "union" | "message" => SymbolKind::Struct,
        "enum" => SymbolKind::Enum,
        "interface" | "trait" | "protocol" | "service" => SymbolKind::Interface,
        "module" | "namespace" | "package" | "unit" | "program" => SymbolKind::Module,
        "type" | "typedef" | "alias" | "typealias" => SymbolKind::Type,
        "constant" | "enumerator" | "enumConstant" | "val" => SymbolKind::Constant,
        "variable" | "global" | "var" | "externvar" | "signal" | "net" | "port" => SymbolKind::Variable,
        "field" | "member" | "property" | "attribute" => SymbolKind::Field,
        "macro" | "define" => SymbolKind::Macro,
        "section" | "chapter" | "subsection" | "heading" => SymbolKind::Section,
        "key" => SymbolKind::Key,
        "target" | "label" => SymbolKind::Target,
        "table" | "view" | "index" => SymbolKind::Table,
        "id" | "selector" => SymbolKind::Selector,
        _ => SymbolKind::Function,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_one_reference() {
        let tags = lexical_tags("PROC high_water\n  call moon, high_water 12\nEND moon\n");
        let found = tags.references.iter().map(|found| (found.name.as_str(), found.line));
        assert_eq!(found.collect::<Vec<_>>(), [("PROC", 1), ("high_water", 1), ("call", 2), ("moon", 2), ("END", 3)]);
        assert!(tags.definitions.is_empty());
    }

    #[test]
    fn the_number_of_words_is_limited() {
        let many: String = (0..MAX_WORDS * 2).map(|n| format!("word{n}\n")).collect();
        assert_eq!(lexical_tags(&many).references.len(), MAX_WORDS);
        assert!(lexical_tags(&"word ".repeat(MAX_SOURCE_BYTES / 5 + 1)).references.is_empty());
    }

    #[test]
    fn a_ctags_line_is_a_definition() {
        let line = r#"{"_type": "tag", "name": "high_water", "path": "src/tide.pas", "pattern": "/^function high_water(at: real): real;$/", "line": 12, "kind": "function", "end": 20, "scope": "Tides", "scopeKind": "unit", "signature": "(at: real)"}"#;
        let (path, found) = ctags_line(line).unwrap();
        assert_eq!(
            (path.as_str(), found.name.as_str(), found.kind),
            ("src/tide.pas", "high_water", SymbolKind::Function)
        );
        assert_eq!((found.line, found.end_line, found.container.as_deref()), (12, 20, Some("Tides")));
        assert_eq!(found.signature, "function high_water(at: real): real");
    }

    #[test]
    fn other_lines_of_ctags_are_ignored() {
        for line in ["", "{", r#"{"_type": "ptag", "name": "JSON_OUTPUT_VERSION", "path": "0.0"}"#, "ctags: Warning: x"]
        {
            assert!(ctags_line(line).is_none(), "{line}");
        }
        assert!(
            ctags_line(r#"{"_type": "tag", "name": "__anon1", "path": "a", "line": 1, "kind": "struct"}"#).is_none()
        );
    }
}
