//! Recognising the lines that give a reply its structure: block markers, diff headers, elisions.

/// A run of 5 to 9 `mark`s at the start of the line: how many, and the rest.
fn rule(line: &str, mark: char) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(mark);
    let width = line.len() - rest.len();
    (5..=9).contains(&width).then_some((width, rest))
}

/// `<<<<<<< SEARCH`, also with dashes, in lower case or with the word `ORIGINAL`: the width of the marker and what follows the word.
pub(crate) fn search_start(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let (width, rest) = rule(line, '<').or_else(|| rule(line, '-'))?;
    let rest = after_word(rest.trim_start(), "SEARCH").or_else(|| {
        after_word(rest.trim_start(), "ORIGINAL").filter(|rest| rest.trim().is_empty() && line.starts_with('<'))
    })?;
    Some((width, rest.trim_start_matches('>').trim()))
}

/// What follows the word at the beginning of a text. In lower case it stands alone: it may be an ordinary one.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    (head == word || (head == word.to_ascii_lowercase() && rest.trim().is_empty())).then_some(rest)
}

/// Whether a block of some such format begins with the line: its marker may have another word or width than ours.
pub(crate) fn opens_block(line: &str) -> bool {
    search_start(line).is_some() || is_block_marker(line, '<')
}

/// Whether a block of some such format may end with the line.
pub(crate) fn closes_block(line: &str) -> bool {
    replace_end(line) || is_block_marker(line, '>')
}

/// Three marks or more, perhaps with blanks between them, and a word or nothing.
fn is_block_marker(line: &str, mark: char) -> bool {
    let rest = line.trim().trim_start_matches([mark, ' ']);
    let marks = line.chars().filter(|c| *c == mark).count();
    marks >= 3
        && line.trim_start().starts_with(mark)
        && rest.chars().all(|c| c.is_alphanumeric() || " _-./".contains(c))
}

/// `=======`: its width.
pub(crate) fn divider(line: &str) -> Option<usize> {
    rule(line, '=').filter(|(_, rest)| rest.trim().is_empty()).map(|(width, _)| width)
}

/// Whether a file is a document, in which a line like the divider may underline a heading.
pub(crate) fn is_document(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    ["md", "mdx", "markdown", "rst", "txt", "adoc"].contains(&extension.as_str())
}

/// `>>>>>>> REPLACE`, also with plus signs, in lower case or with the word `UPDATED`.
pub(crate) fn replace_end(line: &str) -> bool {
    let line = line.trim_start();
    let Some((_, rest)) = rule(line, '>').or_else(|| rule(line, '+')) else { return false };
    let updated = || after_word(rest.trim(), "UPDATED").is_some_and(str::is_empty) && line.starts_with('>');
    after_word(rest.trim_start(), "REPLACE").is_some() || updated()
}

/// The path of a `--- path` or `+++ path` line, without a timestamp after a tab.
pub(crate) fn header_path<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(mark)?.strip_prefix([' ', '\t'])?;
    rest.split('\t').map(str::trim).find(|part| !part.is_empty())
}

/// The lines with which git introduces a file's diff.
pub(super) fn git_header(line: &str) -> bool {
    const STARTS: [&str; 10] = [
        "diff --git ",
        "index ",
        "new file mode",
        "deleted file mode",
        "old mode",
        "new mode",
        "similarity index",
        "rename from",
        "rename to",
        "Binary files ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Whether the line is a hunk heading with line numbers (`@@ -1,3 +1,4 @@`), which stands in no sentence.
pub(crate) fn numbers_hunk(line: &str) -> bool {
    let middle = line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@")).map(|(middle, _)| middle);
    middle.is_some_and(|numbers| {
        numbers.contains(" +") && numbers.chars().all(|c| c.is_ascii_digit() || " ,+".contains(c))
    })
}

/// The scope text of a hunk heading (`@@ … @@ scope` or `@@ scope`), if it has any.
pub(super) fn heading_scope(line: &str) -> Option<String> {
    let rest = line.strip_prefix("@@")?;
    let (middle, tail) = rest.split_once("@@").unwrap_or((rest, ""));
    let numbers = |text: &str| text.chars().all(|c| c.is_ascii_digit() || " ,.-+…".contains(c));
    [tail, middle].into_iter().map(str::trim).find(|text| !numbers(text)).map(str::to_owned)
}

/// The line (1-based) at which the old side of a hunk begins, if its heading says so (`@@ -12,3 +12,4 @@`).
pub(super) fn heading_line(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("@@")?.trim_start().strip_prefix('-')?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|line| *line > 0)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_have_five_to_nine_signs() {
        assert!(search_start("<<<<<<< SEARCH").is_some());
        assert!(search_start("<<< SEARCH").is_none());
        assert!(divider("=======  ").is_some());
        assert!(divider("==========").is_none());
        assert!(divider("===== x").is_none());
        assert!(replace_end(">>>>>>> REPLACE"));
        assert!(search_start("<<<<<<< search").is_some() && replace_end(">>>>>>> replace"));
        assert!(search_start("<<<<<<< search-branch").is_none() && !replace_end(">>>>>>> replaced"));
    }

    #[test]
    fn markers_may_be_in_lower_case_of_dashes_or_with_other_words() {
        for line in ["<<<<<<< search", "------- SEARCH", "<<<<<<< ORIGINAL"] {
            assert!(search_start(line).is_some(), "{line}");
        }
        for line in [">>>>>>> replace", "+++++++ REPLACE", ">>>>>>> UPDATED"] {
            assert!(replace_end(line), "{line}");
        }
        for line in ["<<<<<<< HEAD", "------- Results", "--- SEARCH", "+++ REPLACE", ">>>>>>> updated-branch"] {
            assert!(search_start(line).is_none() && !replace_end(line), "{line}");
        }
    }

    #[test]
    fn headings_give_up_their_scope() {
        assert_eq!(heading_scope("@@ -1,3 +1,4 @@ fn main() {").as_deref(), Some("fn main() {"));
        assert_eq!(heading_scope("@@ class Gate").as_deref(), Some("class Gate"));
        assert_eq!(heading_scope("@@ ... @@"), None);
        assert_eq!(heading_scope("@@"), None);
        assert_eq!(heading_line("@@ -12,3 +12,4 @@ fn main() {"), Some(12));
        assert_eq!([heading_line("@@ -0,0 +1 @@"), heading_line("@@ ... @@"), heading_line("@@ -a @@")], [None; 3]);
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
