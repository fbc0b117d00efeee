//! The lines that structure a reply: block markers, diff headers and hunk headings.

/// A run of 5 to 9 `mark`s at the start of the line: its width, and the rest.
fn rule(line: &str, mark: char) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(mark);
    let width = line.len() - rest.len();
    (5..=9).contains(&width).then_some((width, rest))
}

/// `<<<<<<< SEARCH`, also with dashes, in lower case or with the word `ORIGINAL`: the width of the marker, and the
/// text after the word.
pub(crate) fn search_start(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let (width, rest) = rule(line, '<').or_else(|| rule(line, '-'))?;
    let rest = after_word(rest.trim_start(), "SEARCH").or_else(|| {
        after_word(rest.trim_start(), "ORIGINAL").filter(|rest| rest.trim().is_empty() && line.starts_with('<'))
    })?;
    Some((width, rest.trim_start_matches('>').trim()))
}

/// The text after the word at the start of a text. In lower case the word has to be alone, since it may be an
/// ordinary word.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    (head == word || (head == word.to_ascii_lowercase() && rest.trim().is_empty())).then_some(rest)
}

/// Whether the line may begin a block of a similar format, with another word or width.
pub(crate) fn opens_block(line: &str) -> bool {
    search_start(line).is_some() || is_block_marker(line, '<')
}

/// Whether the line may end a block of a similar format.
pub(crate) fn closes_block(line: &str) -> bool {
    replace_end(line) || is_block_marker(line, '>')
}

/// At least three marks, maybe with spaces between them, and a word or nothing.
fn is_block_marker(line: &str, mark: char) -> bool {
    let rest = line.trim().trim_start_matches([mark, ' ']);
    let marks = line.chars().filter(|c| *c == mark).count();
    marks >= 3
        && line.trim_start().starts_with(mark)
        && rest.chars().all(|c| c.is_alphanumeric() || " _-./".contains(c))
}

/// The width of a `=======` line.
pub(crate) fn divider(line: &str) -> Option<usize> {
    rule(line, '=').filter(|(_, rest)| rest.trim().is_empty()).map(|(width, _)| width)
}

/// Whether a file is a document, in which a line of `=` may underline a heading.
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

/// Whether the line is one of git's extended diff headers.
pub(crate) fn git_header(line: &str) -> bool {
    const STARTS: [&str; 10] = [
        "diff --git ", "index ", "new file mode", "deleted file mode", "old mode", "new mode", "similarity index",
        "rename from", "rename to", "Binary files ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Whether the line is a hunk heading with line numbers (`@@ -1,3 +1,4 @@`), which is never part of a sentence.
pub(crate) fn numbers_hunk(line: &str) -> bool {
    let middle = line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@")).map(|(middle, _)| middle);
    middle.is_some_and(|numbers| {
        numbers.contains(" +") && numbers.chars().all(|c| c.is_ascii_digit() || " ,+".contains(c))
    })
}

/// The scope of a hunk heading (`@@ … @@ scope` or `@@ scope`).
pub(crate) fn heading_scope(line: &str) -> Option<String> {
    let rest = line.strip_prefix("@@")?;
    let (middle, tail) = rest.split_once("@@").unwrap_or((rest, ""));
    let numbers = |text: &str| text.chars().all(|c| c.is_ascii_digit() || " ,.-+…".contains(c));
    [tail, middle].into_iter().map(str::trim).find(|text| !numbers(text)).map(str::to_owned)
}

/// The line (1-based) of the old side in a hunk heading (`@@ -12,3 +12,4 @@`).
pub(crate) fn heading_line(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("@@")?.trim_start().strip_prefix('-')?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|line| *line > 0)
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
    fn hunk_headings_have_a_scope() {
        assert_eq!(heading_scope("@@ -1,3 +1,4 @@ fn main() {").as_deref(), Some("fn main() {"));
        assert_eq!(heading_scope("@@ class Gate").as_deref(), Some("class Gate"));
        assert_eq!(heading_scope("@@ ... @@"), None);
        assert_eq!(heading_scope("@@"), None);
        assert_eq!(heading_line("@@ -12,3 +12,4 @@ fn main() {"), Some(12));
        assert_eq!([heading_line("@@ -0,0 +1 @@"), heading_line("@@ ... @@"), heading_line("@@ -a @@")], [None; 3]);
    }
}
