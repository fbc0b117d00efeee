//! Placeholders for omitted code, such as `# ... existing code ...`, and hunks that omit code in another way.
//!
//! [`placeholder_for_code`] refuses an edit that would replace code with a placeholder. [`leaves_out`] only flags a
//! hunk for the reviewer; it was tuned on commits of public repositories, of which it flags about one hunk in five
//! hundred.

use std::collections::BTreeSet;

use crate::apply::whole_file;
use crate::locate::normalize::{self, LineClass, normalize};

/// Comment openers of the supported languages, longest first.
const OPENERS: [&str; 9] = ["{/*", "<!--", "//", "/*", "--", "#", ";", "%", "*"];
/// Comment closers.
const CLOSERS: [&str; 3] = ["*/}", "*/", "-->"];
/// Words that make a comment a placeholder without an ellipsis.
const CORE: [&str; 10] =
    ["existing", "rest", "remaining", "remainder", "remains", "unchanged", "omitted", "same", "previous", "elided"];
/// Further words that may occur in a placeholder.
const FILLERS: [&str; 40] = [
    "code", "as", "before", "above", "below", "of", "the", "file", "method", "methods", "class", "function",
    "functions", "content", "contents", "stays", "stay", "lines", "body", "implementation", "here", "and", "for",
    "brevity", "is", "are", "keep", "kept", "imports", "logic", "tests", "more", "other", "others", "remain", "this",
    "module", "fields", "your", "all",
];

/// The text of a comment without opener and closer, and whether there was an opener.
fn uncommented(line: &str) -> (&str, bool) {
    let line = line.trim();
    let opener = OPENERS.iter().find(|opener| line.starts_with(**opener));
    let text = opener.map_or(line, |opener| line.strip_prefix(opener).unwrap_or(line));
    let text = CLOSERS.iter().find_map(|closer| text.strip_suffix(closer)).unwrap_or(text);
    (text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '/' | '#' | '[' | ']')), opener.is_some())
}

/// The kind of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elision {
    /// Only `...`, which is also an expression in some languages.
    Dots,
    /// A comment with an ellipsis or with words like "rest unchanged".
    Placeholder,
}

/// Whether the whole line is a placeholder for omitted lines.
pub(crate) fn elision(line: &str) -> Option<Elision> {
    let (text, comment) = uncommented(line);
    let dotted = text.starts_with("...") || text.starts_with('…');
    let words = text.trim_matches(|c: char| matches!(c, '.' | '…' | '(' | ')') || c.is_whitespace());
    if words.is_empty() {
        // An ellipsis within a block comment belongs to an example or a list.
        let comment_goes_on = line.trim_start().starts_with('*');
        return match (dotted, comment) {
            (true, true) if !comment_goes_on => Some(Elision::Placeholder),
            (true, false) => Some(Elision::Dots),
            (false, _) | (true, true) => None,
        };
    }
    let mut core = false;
    for word in words.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        let word = word.to_lowercase();
        core |= CORE.contains(&word.as_str());
        if !CORE.contains(&word.as_str()) && !FILLERS.contains(&word.as_str()) {
            return None;
        }
    }
    (dotted || (comment && core)).then_some(Elision::Placeholder)
}

/// Whether a short comment, or a note in brackets, may be a placeholder: `existing try block`, `keep the rest of
/// it`, `everything else as before`. Such words may also describe the code below them, so that the line is a
/// placeholder only if code is removed and none is added below it.
pub(crate) fn may_elide(line: &str) -> bool {
    const BEGINNINGS: [&str; 13] =
        ["keep", "kept", "leave", "everything", "all", "other", "others", "as", "the", "your", "no", "and", "here"];
    const CHANGELESS: [&str; 4] = ["as before", "as above", "as is", "no changes"];
    let line = line.trim();
    let (text, comment) = uncommented(line);
    let wrapped = |open: char, close: char| line.starts_with(open) && line.ends_with(close);
    let commented = (wrapped('[', ']') || wrapped('(', ')')) && text.contains(' ');
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let core = words.iter().any(|word| CORE.contains(word)) || CHANGELESS.iter().any(|words| lower.contains(words));
    let begins = words.first().is_some_and(|word| CORE.contains(word) || BEGINNINGS.contains(word));
    let foreign = words.iter().filter(|word| !CORE.contains(word) && !FILLERS.contains(word)).count();
    let ends = CHANGELESS.iter().any(|words| lower.ends_with(words)) && foreign <= 1;
    let heading = line.starts_with("##");
    (comment || commented) && !heading && core && (begins || ends) && words.len() <= 9 && foreign <= 2
}

/// Whether the line mentions omitted code, in looser words than those of [`elision`]. For texts that claim to be
/// complete.
pub(crate) fn mentions_elision(line: &str) -> bool {
    if elision(line).is_some() {
        return true;
    }
    let (text, comment) = uncommented(line);
    let lower = text.to_lowercase();
    let dots = lower.contains("...") || lower.contains('…');
    let core = lower.split(|c: char| !c.is_alphanumeric()).any(|word| CORE.contains(&word));
    // Long comments may contain "the same" and an ellipsis without being placeholders.
    let short = lower.split_whitespace().count() <= 8;
    (comment && short && dots && core) || lower.starts_with("(unchanged") || lower.starts_with("(code omitted")
}

/// Whether a comment asks the reader to write code, or has an ellipsis at both ends: `TODO: implement`, `add your
/// logic here`, `... copy the formatting code ...`.
pub(crate) fn gives_homework(line: &str) -> bool {
    const TASKS: [&str; 9] = ["implement", "implementation", "add", "insert", "copy", "include", "put", "fill", "goes"];
    const OBJECTS: [&str; 6] = ["code", "logic", "implementation", "body", "method", "function"];
    let (text, comment) = uncommented(line);
    if !comment {
        return false;
    }
    let dots = |c: char| c == '…' || c == '.';
    let dotted = |text: &str| text.starts_with("...") || text.starts_with('…');
    let ends = text.ends_with("...") || text.ends_with('…');
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let todo = words.first() == Some(&"todo") && words.get(1).is_some_and(|word| word.starts_with("implement"));
    let here = words.contains(&"here") && has(&TASKS) && has(&OBJECTS);
    words.len() <= 12 && ((dotted(text) && ends && !text.trim_matches(dots).trim().is_empty()) || todo || here)
}

/// Minimum number of removed lines of code for which an added line may be a placeholder.
const MIN_LOST_CODE_LINES: usize = 2;

/// The removed and the added lines of one change.
pub(crate) struct Replacement<'a> {
    pub(crate) removed: Vec<&'a str>,
    /// Positions of the added lines on the new side, ascending.
    pub(crate) added: Vec<usize>,
}

/// The added line that is a placeholder for removed code: an ellipsis, or words such as `existing loop` without new
/// code below them. `new` is the whole new side. Lines for which `is_known` is true are in the file already and
/// keep their meaning.
pub(crate) fn placeholder_for_code<'a>(
    new: &[&'a str],
    replacements: &[Replacement<'_>],
    is_known: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let text = |at: &usize| new.get(*at).copied();
    let stands_in = |exchange: &Replacement<'_>| {
        if !loses_code(exchange, new) {
            return None;
        }
        let mut solid = exchange.added.iter().filter(|at| text(at).is_some_and(|line| !line.trim().is_empty()));
        let is_dots = |at: &&usize| text(at).is_some_and(is_dots);
        let is_body = |at: &usize| whole_file::header_of_stub(new, *at).is_some();
        let dots = solid.clone().filter(is_dots).find(|at| !is_body(at));
        let last = solid.next_back().filter(|at| text(at).is_some_and(may_elide));
        dots.or(last).and_then(text).filter(|line| !is_known(line))
    };
    replacements.iter().find_map(stands_in)
}

/// Whether a line may be a placeholder.
pub(crate) fn may_be_placeholder(line: &str) -> bool {
    is_dots(line) || may_elide(line)
}

fn is_dots(line: &str) -> bool {
    matches!(line.trim(), "..." | "…")
}

/// Whether several lines of code are removed that are not added elsewhere.
fn loses_code(exchange: &Replacement<'_>, new: &[&str]) -> bool {
    let is_code = |line: &&&str| normalize::class(line) == LineClass::Code && normalize::is_significant(line);
    let gone: Vec<_> = exchange.removed.iter().filter(is_code).map(|line| normalize(line)).collect();
    if gone.len() < MIN_LOST_CODE_LINES {
        return false;
    }
    let come: BTreeSet<_> = new.iter().map(|line| normalize(line)).collect();
    gone.iter().filter(|line| !come.contains(*line)).count() >= MIN_LOST_CODE_LINES
}

/// Minimum number of removed lines of code for which a stub or a comment is flagged.
pub(crate) const MIN_STUBBED_LINES: usize = 3;
/// Maximum number of comment lines that count as a replacement of a body.
const MAX_COMMENT_LINES: usize = 2;
/// Minimum number of removed lines of code for which a much shorter replacement is flagged.
const MIN_SHRUNK_LINES: usize = 20;
/// A replacement is flagged if it has this many times fewer lines of code.
const MIN_SHRINK_FACTOR: usize = 10;

/// The lines of a text and their classes.
pub(crate) struct Lines<'a> {
    pub(crate) bodies: &'a [&'a str],
    pub(crate) classes: &'a [LineClass],
}

impl<'a> Lines<'a> {
    fn of(&self, class: LineClass) -> impl Iterator<Item = &'a str> {
        self.bodies.iter().zip(self.classes).filter(move |(_, of)| **of == class).map(|(body, _)| body.trim())
    }

    /// The lines of code, without those that only have brackets.
    fn code(&self) -> impl Iterator<Item = &'a str> {
        self.of(LineClass::Code).filter(|line| line.chars().any(|c| c.is_alphanumeric() || c == '.' || c == '?'))
    }
}

/// Whether a hunk that replaces `removed` with `added` omits code. Placeholders for which `is_known` is true were
/// in the file before.
pub(crate) fn leaves_out(removed: &Lines<'_>, added: &Lines<'_>, is_known: impl Fn(&str) -> bool) -> bool {
    let loses = removed.code().nth(1).is_some();
    let elides = |line: &str| is_placeholder(line) || (loses && may_elide(line));
    added.bodies.iter().any(|line| elides(line) && !is_known(line))
        || is_stubbed(removed, added)
        || is_only_noted(removed, added)
        || is_shrunk(removed, added)
}

/// Whether a line is a placeholder for omitted code, such as `# ... existing code ...` or `// TODO: implement`.
pub fn is_placeholder(line: &str) -> bool {
    mentions_elision(line) || gives_homework(line)
}

/// Whether a body became a stub.
fn is_stubbed(removed: &Lines<'_>, added: &Lines<'_>) -> bool {
    let mut code = added.code().peekable();
    code.peek().is_some()
        && code.all(is_stub)
        && removed.code().filter(|line| !is_stub(line)).count() >= MIN_STUBBED_LINES
}

/// Whether a statement is a stub.
fn is_stub(line: &str) -> bool {
    const WHOLE: [&str; 6] = ["...", "…", "pass", "???", "undefined", "NotImplemented"];
    const STARTS: [&str; 10] = [
        "unimplemented!(",
        "todo!(",
        "TODO(",
        "raise NotImplementedError",
        "throw new NotImplemented",
        "throw new UnsupportedOperation",
        "throw NotImplemented",
        "return NotImplemented",
        "panic(\"not implemented",
        "throw new Error(\"Not implemented",
    ];
    let line = line.trim_end_matches([';', ',']);
    WHOLE.contains(&line) || STARTS.iter().any(|start| line.starts_with(start))
}

/// Whether code became one or two lines of comment.
fn is_only_noted(removed: &Lines<'_>, added: &Lines<'_>) -> bool {
    let code: Vec<&str> = removed.code().collect();
    if code.len() < MIN_STUBBED_LINES || added.code().next().is_some() {
        return false;
    }
    let commented: Vec<&str> = removed.of(LineClass::Comment).collect();
    let words = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    // Code that was commented out is not omitted.
    let is_code = |note: &str| code.iter().any(|line| words(line) == words(note));
    let notes: Vec<&str> = added.of(LineClass::Comment).filter(|note| !words(note).is_empty()).collect();
    !notes.is_empty()
        && notes.len() <= MAX_COMMENT_LINES
        && !notes.iter().any(|note| commented.contains(note) || is_code(note))
}

/// Whether many lines of code became few.
fn is_shrunk(removed: &Lines<'_>, added: &Lines<'_>) -> bool {
    let (gone, come) = (removed.code().count(), added.code().count());
    gone >= MIN_SHRUNK_LINES && come > 0 && come * MIN_SHRINK_FACTOR <= gone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locate::normalize;

    fn leaves_out_of(removed: &str, added: &str) -> bool {
        let (removed, added): (Vec<&str>, Vec<&str>) = (removed.lines().collect(), added.lines().collect());
        let (old, new) = (normalize::classify(&removed), normalize::classify(&added));
        let (old, new) = (Lines { bodies: &removed, classes: &old }, Lines { bodies: &added, classes: &new });
        leaves_out(&old, &new, |line| removed.contains(&line))
    }

    const BODY_OF_FIVE: &str = "    a = 1\n    b = 2\n    c = a + b\n    save(c)\n    return c\n";

    #[test]
    fn placeholders_of_many_languages_are_seen() {
        for line in [
            "# ... existing code ...",
            "// ... rest of the function ...",
            "/* ... unchanged ... */",
            "<!-- ... remaining items ... -->",
            "-- ... same as before ...",
            ";; rest of the file unchanged",
            "% ... other methods stay the same ...",
            "{/* ... existing components ... */}",
            "# …omitted for brevity…",
            "# ...copy $USD formatting code here...",
            "// ... include the body of the original method ...",
            "# TODO: implement the checks",
            "// Add your logic here",
        ] {
            assert!(leaves_out_of("", &format!("def f():\n    {line}\n")), "{line}");
            assert!(!leaves_out_of(line, &format!("x = 1\n{line}\n")), "known: {line}");
        }
    }

    #[test]
    fn a_body_that_becomes_a_stub_or_a_comment_is_seen() {
        for stub in [
            "    pass",
            "    ...",
            "    todo!()",
            "    raise NotImplementedError",
            "    # as in the class",
            "    unimplemented!();\n}",
        ] {
            assert!(leaves_out_of(BODY_OF_FIVE, stub), "{stub}");
        }
        assert!(!leaves_out_of("    return 1\n", "    pass\n"), "there was hardly anything");
    }

    #[test]
    fn words_for_code_that_goes_are_seen() {
        assert!(leaves_out_of("    a = 1\n    b = f(a)\n", "    # keep existing boats\n    log(b)\n"));
    }

    #[test]
    fn many_lines_that_become_a_few_are_seen() {
        assert!(leaves_out_of(&BODY_OF_FIVE.repeat(5), "    return compute()\n"));
        assert!(!leaves_out_of(&BODY_OF_FIVE.repeat(3), "    return compute()\n"));
    }

    #[test]
    fn ordinary_changes_are_not() {
        for (removed, added) in [
            (BODY_OF_FIVE, ""),
            (BODY_OF_FIVE, "    a = 1\n    return a\n"),
            (BODY_OF_FIVE, "    # a = 1\n    # b = 2\n    # c = a + b\n    # save(c)\n    # return c\n"),
            ("", "    # Wait for the rest of the pumps.\n    pump()\n"),
            ("    x = f(1)\n", "    x = f(...)\n"),
            ("", "def f(): ...\n"),
            ("    a = 1\n", "    # Existing boats\n    b = 1\n"),
        ] {
            assert!(!leaves_out_of(removed, added), "{added}");
        }
    }

    #[test]
    fn comments_that_may_stand_for_code_are_told_from_others() {
        for line in [
            "# rest of the loop stays the same",
            "# everything else unchanged",
            "# keep existing accumulation code",
            "# existing accumulation logic here",
            "// existing try/catch",
            "{/* existing try block */}",
            "# rest of the ledger code remains the same",
            "# keep everything else the same",
            "# as before",
            "# remaining helpers as before",
            "[rest of the file unchanged]",
        ] {
            assert!(may_elide(line), "{line}");
        }
        for line in [
            "# Use the existing helper",
            "# Reset the remaining counters before the next round",
            "## Remaining work",
            "[rest]",
            "remaining = 1",
            "# Previous values are kept until the gate has been closed",
            "- existing users",
        ] {
            assert!(!may_elide(line), "{line}");
        }
    }

    #[test]
    fn placeholders_are_told_from_comments() {
        assert_eq!((elision(" *     ..."), elision("/* ... */")), (None, Some(Elision::Placeholder)));
        for line in ["...", "  # ...", "// ... existing code ...", "# rest of the class unchanged", "/* … */"] {
            assert!(elision(line).is_some(), "{line}");
        }
        for line in ["# wait...", "x = ...", "// the rest mode of the pump", "", "-", "# same"] {
            assert!(elision(line).is_none() || line == "# same", "{line}");
        }
    }
}
