//! When two lines mean the same though their characters differ, and how alike two lines are.

use std::borrow::Cow;

/// A line without what models lose or change when they quote: indentation, runs of white space, typographic
/// punctuation.
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

/// What programmers write for a character of typesetters.
fn plain(c: char) -> Option<&'static str> {
    match c {
        '\u{201c}' | '\u{201d}' | '\u{201e}' => Some("\""),
        '\u{2018}' | '\u{2019}' | '\u{201a}' => Some("'"),
        '\u{2010}'..='\u{2014}' | '\u{2212}' => Some("-"),
        '\u{2026}' => Some("..."),
        _ => None,
    }
}

/// Whether a line has characters of typesetters.
pub(crate) fn is_typeset(line: &str) -> bool {
    !line.is_ascii() && line.chars().any(|c| plain(c).is_some())
}

/// A line with what programmers write in the place of such characters.
pub(crate) fn straight(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match plain(c) {
            Some(plain) => out.push_str(plain),
            None => out.push(c),
        }
    }
    out
}

/// What skipping a line of the file costs depends on what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineClass {
    Blank,
    /// A comment or part of a docstring.
    Comment,
    Code,
}

/// What can be said of a line by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    class: LineClass,
    /// The closer that lines below it wait for, and whether what it closes is a comment.
    opens: Option<(usize, bool)>,
    /// By closer: whether the line has it.
    closes: [bool; CLOSERS.len()],
}

/// What ends texts of several lines.
const CLOSERS: [&str; 3] = ["\"\"\"", "'''", "*/"];

impl Traits {
    /// Of a line without white space around it.
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

/// Classifies the lines of a file, block comments and docstrings included.
pub(crate) fn classes<'t>(lines: impl Iterator<Item = &'t Traits>) -> Vec<LineClass> {
    let mut open: Option<(usize, bool)> = None;
    let class = |line: &Traits| {
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

/// What each of the lines of a text is.
pub(crate) fn classify(lines: &[&str]) -> Vec<LineClass> {
    let traits: Vec<Traits> = lines.iter().map(|line| Traits::of(line.trim())).collect();
    classes(traits.iter())
}

/// What a line is by itself.
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

/// How many letters and digits there are in a line.
pub(crate) fn letters(line: &str) -> usize {
    line.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether a line says something: brackets, dashes and the like stand everywhere.
pub(crate) fn is_telling(line: &str) -> bool {
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
        let traits = lines.map(Traits::of);
        assert_eq!(classes(traits.iter()), [Code, Comment, Blank, Comment, Code, Code, Code, Code, Code]);
    }
}
