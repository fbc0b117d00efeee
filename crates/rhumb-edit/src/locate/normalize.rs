//! Normalized lines: differences that models introduce when they quote are removed, so that such lines compare equal.

use std::borrow::Cow;

/// A line without indentation, with single spaces, and with ASCII in place of typographic punctuation.
pub(crate) fn normalize(line: &str) -> Cow<'_, str> {
    let trimmed = line.trim();
    let is_plain =
        trimmed.is_ascii() && !trimmed.contains("  ") && !trimmed.contains(|c: char| c.is_whitespace() && c != ' ');
    if is_plain {
        return Cow::Borrowed(trimmed);
    }
    let mut out = String::with_capacity(trimmed.len());
    let mut space = false;
    for c in trimmed.chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        match plain(c) {
            Some(plain) => out.push_str(plain),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The ASCII text for a typographic character (curly quotes, dashes, ellipsis).
fn plain(c: char) -> Option<&'static str> {
    match c {
        '\u{201c}' | '\u{201d}' | '\u{201e}' => Some("\""),
        '\u{2018}' | '\u{2019}' | '\u{201a}' => Some("'"),
        '\u{2010}'..='\u{2014}' | '\u{2212}' => Some("-"),
        '\u{2026}' => Some("..."),
        _ => None,
    }
}

/// Whether a line has typographic characters.
pub(crate) fn has_typography(line: &str) -> bool {
    !line.is_ascii() && line.chars().any(|c| plain(c).is_some())
}

/// A line with ASCII in place of typographic characters.
pub(crate) fn to_ascii(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match plain(c) {
            Some(plain) => out.push_str(plain),
            None => out.push(c),
        }
    }
    out
}

/// The kind of a line. The cost of a skipped line depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineClass {
    Blank,
    /// A comment or a part of a docstring.
    Comment,
    Code,
}

/// The properties of a line that do not depend on the lines around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineTraits {
    class: LineClass,
    /// Index of the closer of the block that the line opens, and whether that block is a comment.
    opens: Option<(usize, bool)>,
    /// For each closer, whether the line has it.
    closes: [bool; CLOSERS.len()],
}

/// Closers of blocks of several lines.
const CLOSERS: [&str; 3] = ["\"\"\"", "'''", "*/"];

impl LineTraits {
    /// The properties of a trimmed line.
    pub(crate) fn of(text: &str) -> Self {
        if !text.contains(['"', '\'', '*']) {
            return Self { class: class_of(text), opens: None, closes: [false; CLOSERS.len()] };
        }
        let odd = |closer: &&str| text.matches(closer).count() % 2 == 1;
        let quotes = CLOSERS.iter().take(2).position(odd);
        let opens = quotes.map(|at| (at, CLOSERS.get(at).is_some_and(|closer| text.starts_with(closer))));
        let block = (text.starts_with("/*") && !text.contains("*/")).then_some((2, true));
        Self { class: class_of(text), opens: block.or(opens), closes: CLOSERS.map(|closer| text.contains(closer)) }
    }
}

/// The classes of the lines of a file, with block comments and docstrings.
pub(crate) fn classes<'t>(lines: impl Iterator<Item = &'t LineTraits>) -> Vec<LineClass> {
    let mut open: Option<(usize, bool)> = None;
    let class = |line: &LineTraits| {
        let Some((closer, comment)) = open else {
            open = line.opens;
            return line.class;
        };
        if line.closes.get(closer).is_some_and(|closes| *closes) {
            open = None;
        }
        match line.class {
            LineClass::Blank => LineClass::Blank,
            _ if comment => LineClass::Comment,
            _ => LineClass::Code,
        }
    };
    lines.map(class).collect()
}

/// The class of each line of a text.
pub(crate) fn classify(lines: &[&str]) -> Vec<LineClass> {
    let traits: Vec<LineTraits> = lines.iter().map(|line| LineTraits::of(line.trim())).collect();
    classes(traits.iter())
}

/// The class of a line without regard to the lines around it.
pub(crate) fn class(line: &str) -> LineClass {
    class_of(line.trim())
}

fn class_of(text: &str) -> LineClass {
    const COMMENTS: [&str; 6] = ["//", "/*", "*", "<!--", "--", "\"\"\""];
    const DIRECTIVES: [&str; 7] = ["include", "define", "if", "endif", "else", "pragma", "undef"];
    if text.is_empty() {
        return LineClass::Blank;
    }
    if let Some(rest) = text.strip_prefix('#') {
        let directive = DIRECTIVES.iter().any(|word| rest.starts_with(word)) || rest.starts_with('[');
        return if directive { LineClass::Code } else { LineClass::Comment };
    }
    let comment = COMMENTS.iter().any(|start| text.starts_with(start)) || text.starts_with("'''");
    if comment { LineClass::Comment } else { LineClass::Code }
}

/// The number of letters and digits of a line.
pub(crate) fn letters(line: &str) -> usize {
    line.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether a line has three letters or digits. Lines with fewer, such as brackets, occur everywhere.
pub(crate) fn is_significant(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typography_and_white_space_do_not_count() {
        assert_eq!(normalize("  a \u{201c}b\u{201d}\t\u{2013}  c\u{2026} "), "a \"b\" - c...");
        assert_eq!(normalize("\u{c}x"), "x");
    }

    #[test]
    fn docstrings_are_comments_and_assigned_strings_are_not() {
        use LineClass::{Blank, Code, Comment};
        let lines =
            ["def f():", "\"\"\"One", "", "two.\"\"\"", "x = \"\"\"", "text", "\"\"\"", "y = 1", "#include <a>"];
        let traits = lines.map(LineTraits::of);
        assert_eq!(classes(traits.iter()), [Code, Comment, Blank, Comment, Code, Code, Code, Code, Code]);
    }
}
