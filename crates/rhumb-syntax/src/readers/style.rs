//! Style sheets in SCSS and Less: variables, mixins, functions and rules.
//!
//! These dialects change faster than their grammars. The relevant parts are the words before each brace and semicolon, so only
//! those are read.

use super::{OutlineBuilder, OutlineEntry};
use crate::tags::{FileTags, Reference, SymbolKind};

/// Maximum number of references of a style sheet.
const MAX_REFERENCES: usize = 20_000;

pub(crate) fn style_sheet(source: &str) -> FileTags {
    let source = source.trim_start_matches('\u{feff}');
    let mut sheet = StyleReader::default();
    let (mut start, mut at, mut parentheses) = (0, 0, 0usize);
    while let Some(&byte) = source.as_bytes().get(at) {
        let rest = source.get(at..).unwrap_or_default();
        if let Some(length) = comment(source, at, rest) {
            if source.get(start..at).unwrap_or_default().trim().is_empty() {
                sheet.comment(source, start..at, rest.get(..length).unwrap_or_default());
                start = at + length;
            }
            at += length;
            continue;
        }
        at += match byte {
            b'"' | b'\'' => string(rest),
            b'#' if rest.starts_with("#{") => rest.find('}').map_or(2, |end| end + 1),
            _ => 1,
        };
        match byte {
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.saturating_sub(1),
            b'{' | b'}' | b';' if parentheses == 0 || byte == b'}' => {
                sheet.statement(source.get(start..at - 1).unwrap_or_default(), byte);
                (start, parentheses) = (at, 0);
            }
            _ => {}
        }
    }
    sheet.statement(source.get(start..).unwrap_or_default(), b';');
    let last = source.trim_end().matches('\n').count() + 1;
    sheet.tags.definitions = sheet.outline.finish(u32::try_from(last).unwrap_or(u32::MAX));
    sheet.tags
}

/// The length of the comment at the start of `rest`; `None` if there is none. The slashes of a URL do not start a comment.
fn comment(source: &str, at: usize, rest: &str) -> Option<usize> {
    if rest.starts_with("/*") {
        return Some(rest.get(2..)?.find("*/").map_or(rest.len(), |end| end + 4));
    }
    let of_address = at.checked_sub(1).and_then(|before| source.as_bytes().get(before)) == Some(&b':');
    (rest.starts_with("//") && !of_address).then(|| rest.find('\n').unwrap_or(rest.len()))
}

/// The length of the string at the start of `rest`, up to its quote or the end of the line.
fn string(rest: &str) -> usize {
    let mut bytes = rest.bytes().enumerate();
    let quote = bytes.next().map(|(_, quote)| quote);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'\n' => return at,
            _ if Some(byte) == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[derive(Default)]
struct StyleReader<'source> {
    tags: FileTags,
    outline: OutlineBuilder,
    doc: &'source str,
    /// Number of open braces.
    depth: usize,
    /// The current line, 1-based.
    line: u32,
}

impl<'source> StyleReader<'source> {
    fn comment(&mut self, source: &'source str, before: std::ops::Range<usize>, text: &'source str) {
        let blank = source.get(before).unwrap_or_default();
        if self.doc.is_empty() || blank.matches('\n').count() > 1 {
            let line = text.lines().map(|line| line.trim_matches(|c: char| c.is_whitespace() || "/*".contains(c)));
            self.doc = line.into_iter().find(|line| !line.is_empty()).unwrap_or_default();
        }
        self.pass(blank);
        self.pass(text);
    }

    /// Advances the current line by the line feeds in `text`.
    fn pass(&mut self, text: &str) {
        self.line = self.line.max(1).saturating_add(u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX));
    }

    fn statement(&mut self, text: &'source str, mark: u8) {
        let body = text.trim_start();
        self.pass(text.get(..text.len() - body.len()).unwrap_or_default());
        let doc = std::mem::take(&mut self.doc);
        let body = body.trim_end();
        let defined = if mark == b'{' { self.block(body) } else { self.declaration(body) };
        if let Some((kind, name)) = defined {
            let signature = body.split_whitespace().collect::<Vec<_>>().join(" ");
            let depth = self.depth + 1;
            self.outline.push(&OutlineEntry { depth, kind, name, signature: &signature, line: self.line, doc });
        }
        self.refer(body, defined.map(|(_, name)| name));
        self.pass(text.trim_start());
        match mark {
            b'{' => self.depth += 1,
            b'}' => {
                self.outline.close(self.depth, self.line);
                self.depth = self.depth.saturating_sub(1);
            }
            _ => self.outline.close(self.depth + 1, self.line),
        }
    }

    fn block(&self, head: &'source str) -> Option<(SymbolKind, &'source str)> {
        if let Some(rest) = head.strip_prefix('@') {
            let (rule, rest) = rest.split_once(char::is_whitespace)?;
            let kind = matches!(rule, "mixin" | "function" | "keyframes").then_some(SymbolKind::Function)?;
            return Some((kind, word(rest.trim_start())?));
        }
        // In Less, a mixin is a rule with arguments.
        if let Some((name, _)) = head.split_once('(').filter(|_| head.starts_with('.') && head.ends_with(')')) {
            let name = name.get(1..)?;
            return (word(name) == Some(name)).then_some((SymbolKind::Function, name));
        }
        let selector = head.split(',').next()?.trim_end();
        let at = selector.rfind(['.', '#', '%'])? + 1;
        let name = selector.get(at..)?;
        (word(name) == Some(name)).then_some((SymbolKind::Selector, name))
    }

    /// The definition in a declaration. Adds its imports.
    fn declaration(&mut self, body: &'source str) -> Option<(SymbolKind, &'source str)> {
        if ["@use", "@forward", "@import"].iter().any(|rule| body.starts_with(rule)) {
            let quoted = body.split(['"', '\'']).skip(1).step_by(2);
            self.tags.imports.extend(quoted.filter(|path| !path.is_empty()).map(str::to_owned));
            return None;
        }
        let name = body.split_once(':')?.0.trim_end();
        let plain = name.trim_start_matches(['$', '@']);
        let is_variable = (plain.len() + 1 == name.len() && self.depth == 0) || name.starts_with("--");
        (is_variable && word(plain) == Some(plain)).then_some((SymbolKind::Variable, name))
    }

    /// Adds references: variables, mixins, functions, extended selectors.
    fn refer(&mut self, body: &str, defined: Option<&str>) {
        let (mut line, mut mark, mut before) = (self.line.max(1), "", "");
        for piece in body.split_inclusive(|c| !is_of_word(c)) {
            let name = piece.trim_end_matches(|c| !is_of_word(c));
            let next = piece.get(name.len()..).unwrap_or_default();
            let sigil = if mark == "$" || (mark == "@" && !is_rule(name)) { mark } else { "" };
            let is_use = !sigil.is_empty() || next == "(" || name.starts_with("--");
            if !name.is_empty() && !is_rule(name) && (is_use || matches!(before, "include" | "extend")) {
                let name = format!("{sigil}{name}");
                if defined != Some(name.as_str()) && self.tags.references.len() < MAX_REFERENCES {
                    self.tags.references.push(Reference { name, line });
                }
            }
            before = if name.is_empty() { before } else { name };
            line = line.saturating_add(u32::from(next == "\n"));
            mark = next;
        }
    }
}

/// Whether `name` is an at-rule of CSS, SCSS or Less, and not a Less variable.
fn is_rule(name: &str) -> bool {
    const RULES: [&str; 24] = [
        "media", "include", "extend", "if", "else", "each", "for", "while", "return", "content", "use", "forward",
        "import", "mixin", "function", "keyframes", "supports", "font-face", "charset", "layer", "page", "at-root",
        "debug", "warn",
    ];
    RULES.contains(&name)
}

fn word(text: &str) -> Option<&str> {
    let end = text.find(|c| !is_of_word(c)).unwrap_or(text.len());
    text.get(..end).filter(|word| !word.is_empty())
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn defined(source: &str) -> Vec<String> {
        let show = |found: crate::Definition| format!("{} {}-{}", found.name, found.line, found.end_line);
        style_sheet(source).definitions.into_iter().map(show).collect()
    }

    fn referred(source: &str) -> Vec<String> {
        style_sheet(source).references.into_iter().map(|found| format!("{}:{}", found.name, found.line)).collect()
    }

    #[test]
    fn rules_nest_and_keep_their_lines() {
        let source = ".a {\n  &:hover { b: c; }\n  .d,\n  .e {\n    x: y\n  }\n}\n\n#f > .g { }\n";
        assert_eq!(defined(source), ["a 1-7", "d 3-6", "g 9-9"]);
    }

    #[test]
    fn comments_strings_and_urls_are_skipped() {
        let source =
            "// .no {\n/* $no: 1; */\n$a: \"{;\";\n.b { c: url(data:x;y) ; d: url(http://e/f.png); }\n$g: 2;\n";
        assert_eq!(defined(source), ["$a 3-3", "b 4-4", "$g 5-5"]);
    }

    #[test]
    fn less_is_read() {
        assert_eq!(defined("@ebb: #345;\n.wave(@h; @c) { a: @h; }\n"), ["@ebb 1-1", "wave 2-2"]);
        assert_eq!(referred(".a {\n  .wave(@ebb);\n}\n@media print { }\n"), ["wave:2", "@ebb:2"]);
    }

    proptest! {
        #[test]
        fn lines_of_any_text_are_in_range(source in "[a-z{}();:@$#.\"'/*\n -]{0,120}") {
            let lines = source.matches('\n').count() as u32 + 1;
            let tags = style_sheet(&source);
            for found in &tags.definitions {
                prop_assert!(1 <= found.line && found.line <= found.end_line && found.end_line <= lines);
            }
            prop_assert!(tags.references.iter().all(|found| 1 <= found.line && found.line <= lines));
        }
    }
}
