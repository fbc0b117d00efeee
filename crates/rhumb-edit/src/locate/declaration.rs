//! Lines that declare something: which thing is meant hangs on their names, so these must not be taken for one another.

use super::canon::{self, LineClass};

/// Words that declare the name that follows.
const KEYWORDS: [&str; 15] = [
    "def",
    "class",
    "fn",
    "func",
    "function",
    "fun",
    "struct",
    "enum",
    "trait",
    "interface",
    "mod",
    "module",
    "namespace",
    "type",
    "sub",
];
/// A keyword stands among so many first words: before it stand `pub`, `async`, `export default` and the like.
const FIRST: usize = 4;

/// Whether a kept line may stand for a line of the file that is not quite the same. No number may differ; what declares
/// something must be of the same name but for a slip; and branches, headings and sections must be the same but for one.
pub(super) fn may_stand_for(quoted: &str, found: &str) -> bool {
    if !numbers(quoted).eq(numbers(found)) {
        return false;
    }
    match (name(quoted), name(found)) {
        (Some(one), Some(other)) => one == other || canon::is_misspelt(one, other),
        (None, None) => !(is_label(quoted) && is_label(found)) || canon::is_slip(quoted, found),
        _ => true,
    }
}

/// The digits of a line. A letter within a number that looks like a digit is one.
fn numbers(line: &str) -> impl Iterator<Item = char> + '_ {
    let mut within = false;
    line.chars().filter_map(move |c| {
        let digit = match c {
            'O' | 'o' if within => Some('0'),
            'l' | 'I' if within => Some('1'),
            _ => Some(c).filter(char::is_ascii_digit),
        };
        within = digit.is_some();
        digit
    })
}

/// Whether a line of code declares something.
pub(super) fn declares(line: &str) -> bool {
    name(line).is_some()
}

/// The name that a line of code declares.
fn name(line: &str) -> Option<&str> {
    if canon::class(line) != LineClass::Code {
        return None;
    }
    let mut rest = line;
    for _ in 0..FIRST {
        let (word, after) = first_word(rest)?;
        if KEYWORDS.contains(&word) {
            return first_word(past_receiver(after)).map(|(name, _)| name);
        }
        rest = after.strip_prefix(' ')?;
    }
    None
}

/// The word at the start of a text, and what follows.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// What follows the receiver of a method in Go, `func (s *Server) Stop()`.
fn past_receiver(text: &str) -> &str {
    let receiver = text.trim_start().strip_prefix('(').and_then(|inner| inner.split_once(')'));
    receiver.map_or(text, |(_, after)| after)
}

/// Whether a line is the label of what follows: a branch, a heading, a section of settings.
fn is_label(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("case ") || line.starts_with("## ") || line.starts_with("### ") || is_section(line)
}

fn is_section(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']') && !line.contains(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_and_numbers_are_other_things() {
        for (quoted, found) in [
            ("def test_add_2():", "def test_add_1():"),
            ("    image: postgres:14", "    image: postgres:15"),
            ("def set_item(self, key):", "def get_item(self, key):"),
            ("export function clampMin(v) {", "export function clampMax(v) {"),
            ("def is_open(x):", "def is_closed(x):"),
            ("func (s *Server) Start() error {", "func (s *Server) Stop() error {"),
            ("  case Kind.Alpha:", "  case Kind.Alphabet:"),
            ("## Install", "## Installation"),
            ("[server.alpha]", "[server.beta]"),
        ] {
            assert!(!may_stand_for(quoted, found), "{quoted}");
        }
    }

    #[test]
    fn slips_and_other_signatures_are_forgiven() {
        for (quoted, found) in [
            ("def set_itme(self, key):", "def set_item(self, key):"),
            ("pub async fn open(path: &str) -> File {", "pub async fn open(path: &Path) -> Result<File> {"),
            ("func (s *Server) Stop() {", "func (srv *Server) Stop() error {"),
            ("# The class of the boat", "# The kind of the boat"),
            ("let type_of = kind(a, b);", "let type_of = kind(a);"),
            ("## Instalation", "## Installation"),
            ("value_310O2 = compute(232);", "value_31002 = compute(232);"),
        ] {
            assert!(may_stand_for(quoted, found), "{quoted}");
        }
    }
}
