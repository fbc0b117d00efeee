//! Code that a hunk leaves out: a placeholder in its place, a body that became a comment or a stub, a few lines instead of
//! many.
//!
//! Models that tire write such hunks; people hardly ever do. Each rule was held against the commits of real projects, so
//! that all of them together speak up in about one hunk of five hundred.

use crate::block::marker;
use crate::locate::canon::LineClass;

/// So many lines of code must go for a stub or a comment in their place to be worth a word.
pub(super) const BODY: usize = 3;
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
pub(super) fn leaves_out(removed: &Lines<'_>, added: &Lines<'_>, is_known: impl Fn(&str) -> bool) -> bool {
    let loses = removed.code().nth(1).is_some();
    let elides = |line: &str| is_placeholder(line) || (loses && marker::may_elide(line));
    added.bodies.iter().any(|line| elides(line) && !is_known(line))
        || is_stubbed(removed, added)
        || is_only_noted(removed, added)
        || is_shrunk(removed, added)
}

/// Whether a line stands for code which is not shown, such as `# ... existing code ...` or `// TODO: implement`.
pub fn is_placeholder(line: &str) -> bool {
    marker::mentions_elision(line) || marker::gives_homework(line)
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
    use crate::locate::canon;

    fn leaves_out_of(removed: &str, added: &str) -> bool {
        let (removed, added): (Vec<&str>, Vec<&str>) = (removed.lines().collect(), added.lines().collect());
        let (old, new) = (canon::classify(&removed), canon::classify(&added));
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
}
