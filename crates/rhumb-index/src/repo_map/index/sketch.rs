//! Sketches: records made by looking at words alone, a hundred times as fast as parsing. They give a first map to look at
//! while the parsers work, never one that is sent.

use super::builder::SegmentBuilder;
use rhumb_syntax::tag::SymbolKind;

/// Words that stand before the name of what they define, and what that is.
const KEYWORDS: [(&str, SymbolKind); 17] = [
    ("class", SymbolKind::Class),
    ("def", SymbolKind::Function),
    ("defmodule", SymbolKind::Module),
    ("enum", SymbolKind::Enum),
    ("fn", SymbolKind::Function),
    ("fun", SymbolKind::Function),
    ("func", SymbolKind::Function),
    ("function", SymbolKind::Function),
    ("interface", SymbolKind::Interface),
    ("macro_rules", SymbolKind::Macro),
    ("module", SymbolKind::Module),
    ("object", SymbolKind::Class),
    ("protocol", SymbolKind::Interface),
    ("record", SymbolKind::Struct),
    ("struct", SymbolKind::Struct),
    ("trait", SymbolKind::Interface),
    ("type", SymbolKind::Type),
];

/// Shortest and longest word that counts as a name, in bytes.
const SHORTEST: usize = 3;
const LONGEST: usize = 64;
/// Longest line that can define something, in bytes; longer ones are data.
const LONGEST_LINE: usize = 300;

impl SegmentBuilder {
    /// Adds a sketch of a text of `bytes` bytes, and tells its number.
    pub fn add_sketch(&mut self, text: &str, bytes: u32) -> u32 {
        self.open_record(bytes);
        self.begin_uses();
        for (number, line) in (1u32..).zip(text.lines()) {
            let defined = if line.len() <= LONGEST_LINE { definition(line) } else { None };
            if let Some((name, kind)) = defined {
                self.add_sketched(name, kind, number, line.trim());
            }
            for word in words(line).filter(|word| defined.is_none_or(|(name, _)| *word != name)) {
                self.use_name(word, number);
            }
        }
        self.close_sketch()
    }
}

/// The words of a line that may be names.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + bytes.get(at..)?.iter().position(|byte| is_name_byte(*byte))?;
            let length = bytes[start..].iter().position(|byte| !is_name_byte(*byte)).unwrap_or(bytes.len() - start);
            at = start + length;
            if (SHORTEST..=LONGEST).contains(&length) && !bytes[start].is_ascii_digit() {
                return line.get(start..at);
            }
        }
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// What a line seems to define: the word behind a keyword near its beginning, or the word before the first parenthesis of
/// a line that begins at the margin and does not end like a statement, as functions of C do.
fn definition(line: &str) -> Option<(&str, SymbolKind)> {
    let mut before = "";
    for word in line.split(|c: char| !(c == '_' || c.is_alphanumeric())).filter(|word| !word.is_empty()).take(6) {
        if let Ok(at) = KEYWORDS.binary_search_by_key(&before, |keyword| keyword.0) {
            let is_name = (1..=LONGEST).contains(&word.len()) && !word.starts_with(|c: char| c.is_ascii_digit());
            return is_name.then_some((word, KEYWORDS[at].1));
        }
        before = word;
    }
    let at_margin = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let ends = line.trim_end().ends_with([')', '{', ',']);
    let (head, _) = line.split_once('(').filter(|_| at_margin && ends)?;
    let name = head.rsplit(|c: char| !(c == '_' || c.is_alphanumeric())).next()?;
    let typed = head.len() > name.len();
    (typed && (SHORTEST..=LONGEST).contains(&name.len()) && !head.contains('=')).then_some((name, SymbolKind::Function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_seems_to_define_what_its_keyword_names() {
        let of = |line: &'static str| definition(line).map(|(name, kind)| (name, kind.as_str()));
        assert_eq!(of("pub(crate) async fn open_gate(&self) {"), Some(("open_gate", "function")));
        assert_eq!(of("export default class Gate extends Door {"), Some(("Gate", "class")));
        assert_eq!(of("static int gate_open(int how)"), Some(("gate_open", "function")));
        assert_eq!(of("    gate_open(how);"), None);
        assert_eq!(of("int x = gate_open(how)"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn a_sketch_counts_words_and_keeps_the_lines_of_definitions() {
        let mut builder = SegmentBuilder::default();
        builder.add_sketch("def lift():\n    pass\n", 10);
        let at = builder.add_sketch("def open_gate(how):\n    lift(); lift()\n", 40);
        let segment = builder.finish();
        let record = segment.record(at).unwrap();
        let definitions: Vec<(&str, &str, u32)> =
            record.definitions().map(|entry| (entry.name(), entry.header(), entry.line())).collect();
        assert_eq!(definitions, [("open_gate", "def open_gate(how):", 1)]);
        let uses: Vec<(&str, u32)> = record.references().map(|uses| (segment.name(uses.name), uses.count)).collect();
        assert_eq!(uses, [("def", 1), ("how", 1), ("lift", 2)]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_sketched(text in "(\\PC|[a-z_(){};=\n ]|fn |class ){0,60}") {
            let mut builder = SegmentBuilder::default();
            let at = builder.add_sketch(&text, 1);
            let segment = builder.finish();
            let lines = text.lines().count() as u32;
            prop_assert!(segment.record(at).unwrap().definitions().all(|entry| (1..=lines).contains(&entry.line())));
        }
    }
}
