//! Lines of a replacement that stand for code which they do not show, where that code would be lost.
// FROM flags/omission.rs
// //! Code that a hunk leaves out: a placeholder in its place, a body that became a comment or a stub, a few lines instead of
// //! many.
// //!
// //! Models that tire write such hunks; people hardly ever do. Each rule was held against the commits of real projects, so
// //! that all of them together speak up in about one hunk of five hundred.

use std::collections::BTreeSet;

use crate::apply::whole_file;
use crate::locate::normalize::{self, LineClass, normalize};

/// Openers that start a comment in the languages we meet; longest first.
const OPENERS: [&str; 9] = ["{/*", "<!--", "//", "/*", "--", "#", ";", "%", "*"];
/// Closers of the same.
const CLOSERS: [&str; 3] = ["*/}", "*/", "-->"];
/// Words that say that something was left out; with one of these a comment needs no dots.
const CORE: [&str; 10] =
    ["existing", "rest", "remaining", "remainder", "remains", "unchanged", "omitted", "same", "previous", "elided"];
/// Words that may stand beside them in a placeholder.
const FILLERS: [&str; 40] = [
    "code",
    "as",
    "before",
    "above",
    "below",
    "of",
    "the",
    "file",
    "method",
    "methods",
    "class",
    "function",
    "functions",
    "content",
    "contents",
    "stays",
    "stay",
    "lines",
    "body",
    "implementation",
    "here",
    "and",
    "for",
    "brevity",
    "is",
    "are",
    "keep",
    "kept",
    "imports",
    "logic",
    "tests",
    "more",
    "other",
    "others",
    "remain",
    "this",
    "module",
    "fields",
    "your",
    "all",
];

/// A comment's text without opener and closer, and whether it had an opener.
fn uncommented(line: &str) -> (&str, bool) {
    let line = line.trim();
    let opener = OPENERS.iter().find(|opener| line.starts_with(**opener));
    let text = opener.map_or(line, |opener| line.strip_prefix(opener).unwrap_or(line));
    let text = CLOSERS.iter().find_map(|closer| text.strip_suffix(closer)).unwrap_or(text);
    (text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '/' | '#' | '[' | ']')), opener.is_some())
}

/// How plainly a line says that code was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elision {
    /// Only `...`, which is also an expression in some languages.
    Dots,
    /// A comment with dots or with words like "rest unchanged".
    Placeholder,
}

/// Whether the line as a whole stands for lines left out.
pub(crate) fn elision(line: &str) -> Option<Elision> {
    let (text, comment) = uncommented(line);
    let dotted = text.starts_with("...") || text.starts_with('…');
    let words = text.trim_matches(|c: char| matches!(c, '.' | '…' | '(' | ')') || c.is_whitespace());
    if words.is_empty() {
        // Dots within a block comment belong to an example or a list.
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

/// Whether a short comment, or a note in brackets, begins like one that stands for code: `existing try block`, `keep the
/// rest of it`, `everything else as before`. Such words may also be about the code below them, so that a line of this
/// kind is one only where code vanishes and none comes below it.
pub(crate) fn may_elide(line: &str) -> bool {
    const BEGINNINGS: [&str; 13] =
        ["keep", "kept", "leave", "everything", "all", "other", "others", "as", "the", "your", "no", "and", "here"];
    const CHANGELESS: [&str; 4] = ["as before", "as above", "as is", "no changes"];
    let line = line.trim();
    let (text, comment) = uncommented(line);
    let wrapped = |open: char, close: char| line.starts_with(open) && line.ends_with(close);
    let noted = (wrapped('[', ']') || wrapped('(', ')')) && text.contains(' ');
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let core = words.iter().any(|word| CORE.contains(word)) || CHANGELESS.iter().any(|words| lower.contains(words));
    let begins = words.first().is_some_and(|word| CORE.contains(word) || BEGINNINGS.contains(word));
    let foreign = words.iter().filter(|word| !CORE.contains(word) && !FILLERS.contains(word)).count();
    let ends = CHANGELESS.iter().any(|words| lower.ends_with(words)) && foreign <= 1;
    let heading = line.starts_with("##");
    (comment || noted) && !heading && core && (begins || ends) && words.len() <= 9 && foreign <= 2
}

/// Whether the line speaks of code left out, in looser words than [`elision`]: for texts that claim to be complete.
pub(crate) fn mentions_elision(line: &str) -> bool {
    if elision(line).is_some() {
        return true;
    }
    let (text, comment) = uncommented(line);
    let lower = text.to_lowercase();
    let dots = lower.contains("...") || lower.contains('…');
    let core = lower.split(|c: char| !c.is_alphanumeric()).any(|word| CORE.contains(&word));
    // Long comments may well speak of "the same" and hold dots.
    let short = lower.split_whitespace().count() <= 8;
    (comment && short && dots && core) || lower.starts_with("(unchanged") || lower.starts_with("(code omitted")
}

/// Whether a comment gives the reader the code to write, or says in dots that it is not shown: `TODO: implement`,
/// `add your logic here`, `... copy the formatting code ...`.
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

/// So many lines of code must vanish for a line in their place to be suspected.
const CODE: usize = 2;

/// Lines that go and lines that come in one place.
pub(crate) struct Exchange<'a> {
    pub(crate) removed: Vec<&'a str>,
    /// Their positions on the new side, ascending.
    pub(crate) added: Vec<usize>,
}

/// The added line that stands for code which vanishes there: dots alone, or words such as `existing loop` with no new
/// code below them. `new` is the whole new side; `is_known` tells lines of the file, which mean what they meant before.
pub(crate) fn stand_in<'a>(
    new: &[&'a str],
    exchanges: &[Exchange<'_>],
    is_known: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let text = |at: &usize| new.get(*at).copied();
    let stands_in = |exchange: &Exchange<'_>| {
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
    exchanges.iter().find_map(stands_in)
}

/// Whether a line is worth a closer look.
pub(crate) fn is_suspect(line: &str) -> bool {
    is_dots(line) || may_elide(line)
}

fn is_dots(line: &str) -> bool {
    matches!(line.trim(), "..." | "…")
}

/// Whether several lines of code go that come nowhere else.
fn loses_code(exchange: &Exchange<'_>, new: &[&str]) -> bool {
    let is_code = |line: &&&str| normalize::class(line) == LineClass::Code && normalize::is_telling(line);
    let gone: Vec<_> = exchange.removed.iter().filter(is_code).map(|line| normalize(line)).collect();
    if gone.len() < CODE {
        return false;
    }
    let come: BTreeSet<_> = new.iter().map(|line| normalize(line)).collect();
    gone.iter().filter(|line| !come.contains(*line)).count() >= CODE
}

/// So many lines of code must go for a stub or a comment in their place to be worth a word.
pub(crate) const BODY: usize = 3;
/// Most lines of comment that stand for a body.
const NOTE: usize = 2;
/// Fewer lines of code may shrink to nothing without a word.
const LARGE: usize = 20;
/// So many times as many lines must go as come.
const SHRINKAGE: usize = 10;

/// Lines of a text and what each is.
pub(crate) struct Lines<'a> {
    pub(crate) bodies: &'a [&'a str],
    pub(crate) classes: &'a [LineClass],
}

impl<'a> Lines<'a> {
    fn of(&self, class: LineClass) -> impl Iterator<Item = &'a str> {
        self.bodies.iter().zip(self.classes).filter(move |(_, of)| **of == class).map(|(body, _)| body.trim())
    }

    /// Lines of code, without those that only open or close something.
    fn code(&self) -> impl Iterator<Item = &'a str> {
        self.of(LineClass::Code).filter(|line| line.chars().any(|c| c.is_alphanumeric() || c == '.' || c == '?'))
    }
}

/// Whether a hunk that puts `added` in the place of `removed` leaves code out. `is_known` tells lines that the file has
/// already: what they stand for was left out before.
pub(crate) fn leaves_out(removed: &Lines<'_>, added: &Lines<'_>, is_known: impl Fn(&str) -> bool) -> bool {
    let loses = removed.code().nth(1).is_some();
    let elides = |line: &str| is_placeholder(line) || (loses && may_elide(line));
    added.bodies.iter().any(|line| elides(line) && !is_known(line))
        || is_stubbed(removed, added)
        || is_only_noted(removed, added)
        || is_shrunk(removed, added)
}

/// Whether a line stands for code which is not shown, such as `# ... existing code ...` or `// TODO: implement`.
pub fn is_placeholder(line: &str) -> bool {
    mentions_elision(line) || gives_homework(line)
}

/// A whole body became a line that says that it is missing.
fn is_stubbed(removed: &Lines<'_>, added: &Lines<'_>) -> bool {
    let mut code = added.code().peekable();
    code.peek().is_some() && code.all(is_stub) && removed.code().filter(|line| !is_stub(line)).count() >= BODY
}

/// A statement that only says that there is none.
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

/// Code became a comment or two.
fn is_only_noted(removed: &Lines<'_>, added: &Lines<'_>) -> bool {
    let code: Vec<&str> = removed.code().collect();
    if code.len() < BODY || added.code().next().is_some() {
        return false;
    }
    let noted: Vec<&str> = removed.of(LineClass::Comment).collect();
    let words = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    // Code that was commented out is all there.
    let is_code = |note: &str| code.iter().any(|line| words(line) == words(note));
    let notes: Vec<&str> = added.of(LineClass::Comment).filter(|note| !words(note).is_empty()).collect();
    !notes.is_empty() && notes.len() <= NOTE && !notes.iter().any(|note| noted.contains(note) || is_code(note))
}

/// Many lines of code became a few.
fn is_shrunk(removed: &Lines<'_>, added: &Lines<'_>) -> bool {
    let (gone, come) = (removed.code().count(), added.code().count());
    gone >= LARGE && come > 0 && come * SHRINKAGE <= gone
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
