//! Workarounds for scanners of grammars that are slow on some sources.
//!
//! The parser stops after a number of steps (see [`crate::parse`]), but a scanner that looks ahead to the end of the file, or copies
//! a growing state at every token, is slow within a step. Each predicate detects sources on which one scanner takes quadratic time;
//! real files are far below the limits. [`blank_heredocs`] removes embedded text from Perl.

use std::borrow::Cow;

const MAX_HEREDOCS: usize = 2_000;

/// Maximum number of `<` in Nix, which has few comparisons and no markup.
const MAX_NIX_ANGLES: usize = 500;

/// Maximum number of unclosed HTML comments.
const MAX_COMMENTS: usize = 500;

/// Maximum number of HTML elements that are open at once.
const MAX_OPEN: usize = 2_000;

/// Maximum number of unclosed HTML elements whose end tag is optional.
const MAX_OPEN_ENDED: usize = 20_000;

/// Maximum length of a run of path characters in Nix, in bytes.
const MAX_PATH: usize = 512;

/// Maximum length of a run of combinators in CSS, in bytes.
const MAX_COMBINATORS: usize = 1_000;

/// Maximum length of a run of white space, in bytes.
const MAX_WHITE_SPACE: usize = 256;

/// Bash, Dockerfile, Ruby: the end of every unclosed heredoc is searched up to the end of the file.
pub(crate) fn many_heredocs(source: &str) -> bool {
    more_than(source, "<<", MAX_HEREDOCS)
}

/// CMake: white space is skipped again from each of its characters.
pub(crate) fn long_white_space(source: &str) -> bool {
    longest_run(source, |byte| byte.is_ascii_whitespace()) > MAX_WHITE_SPACE
}

/// HTML and similar languages: the stack of open elements is copied at every token, and the end of an unclosed comment is searched
/// up to the end of the file.
pub(crate) fn unclosed_markup(source: &str) -> bool {
    let after_comments = source.rsplit("-->").next().unwrap_or_default();
    more_than(after_comments, "<!--", MAX_COMMENTS) || has_many_open_elements(source)
}

fn has_many_open_elements(source: &str) -> bool {
    let (mut open, mut open_ended) = (0usize, 0usize);
    source.split('<').skip(1).any(|tag| {
        let name = tag.trim_start_matches('/');
        let name = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
        let count = if is_one_of(&OPEN_ENDED, name) { &mut open_ended } else { &mut open };
        if tag.starts_with('/') {
            *count = count.saturating_sub(1);
        } else if !name.is_empty()
            && !is_one_of(&VOID, name)
            && !tag.split('>').next().unwrap_or_default().ends_with('/')
        {
            *count += 1;
        }
        open > MAX_OPEN || open_ended > MAX_OPEN_ENDED
    })
}

/// HTML elements without content.
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// HTML elements whose end tag is optional.
const OPEN_ENDED: [&str; 10] = ["p", "li", "td", "th", "tr", "dt", "dd", "option", "rp", "rt"];

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Nix: every path character starts a search for the end of the path, and error recovery at a `<` is linear in the number of
/// preceding ones.
pub(crate) fn long_path_or_many_angles(source: &str) -> bool {
    let of_path = |byte: u8| byte.is_ascii_alphanumeric() || b"-+_./".contains(&byte);
    longest_run(source, of_path) > MAX_PATH || more_than(source, "<", MAX_NIX_ANGLES)
}

/// CSS: error recovery at a combinator without selector is linear in the number of preceding ones.
pub(crate) fn many_combinators(source: &str) -> bool {
    longest_run(source, |byte| b"=>+ ".contains(&byte)) > MAX_COMBINATORS
}

/// The length of the longest run of matching bytes.
fn longest_run(source: &str, belongs: impl Fn(u8) -> bool) -> usize {
    source.as_bytes().split(|byte| !belongs(*byte)).map(<[u8]>::len).max().unwrap_or(0)
}

fn more_than(source: &str, text: &str, limit: usize) -> bool {
    source.matches(text).take(limit + 1).count() > limit
}

/// Replaces the lines of Perl's here documents by spaces; the length and all positions stay the same. They are text, often of
/// another language, and parsing them takes longer than parsing the program.
pub(crate) fn blank_heredocs(source: &str) -> Cow<'_, str> {
    if !source.contains("<<") {
        return Cow::Borrowed(source);
    }
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        out.push_str(line);
        at += 1;
        for name in openings(line) {
            let rest = lines.get(at..).unwrap_or_default();
            let Some(length) = rest.iter().position(|line| line.trim() == name) else { continue };
            rest.iter()
                .take(length)
                .for_each(|line| out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })));
            out.extend(rest.get(length).copied());
            at += length + 1;
        }
    }
    Cow::Owned(out)
}

/// The names after `<<` in a line: `<<EOF`, `<<"EOF"`, `<<~'EOF'`. None in a comment.
fn openings(line: &str) -> impl Iterator<Item = &str> {
    let line = if line.trim_start().starts_with('#') { "" } else { line };
    line.match_indices("<<").filter_map(move |(at, sign)| {
        let rest = line.get(at + sign.len()..)?;
        let rest = rest.strip_prefix('~').unwrap_or(rest);
        let quoted = rest.strip_prefix(['"', '\'']);
        let name = quoted.unwrap_or(rest);
        let end = name.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).unwrap_or(name.len());
        let (name, after) = name.split_at(end);
        let closed = quoted.is_none() || after.starts_with(['"', '\'']);
        (closed && name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_runs_of_white_space_count() {
        let blank = " \n\t\r".repeat(MAX_WHITE_SPACE / 4);
        assert!(!long_white_space(&format!("a{blank}b{blank}")));
        assert!(long_white_space(&format!("a{blank} b")));
    }

    #[test]
    fn only_unclosed_markup_is_skipped() {
        assert!(!unclosed_markup(&"<div><br><p>a<b/></div><!-- i -->".repeat(MAX_OPEN * 2)));
        for source in ["<div>", "<!-- ", "<a b=\"", "<p>"] {
            assert!(unclosed_markup(&source.repeat(MAX_OPEN_ENDED + 1)), "{source}");
        }
    }

    #[test]
    fn only_combinators_without_selectors_are_skipped() {
        assert!(!many_combinators(&"a > b + [c=d] > e ".repeat(MAX_COMBINATORS)));
        assert!(many_combinators(&"=>".repeat(MAX_COMBINATORS)));
    }

    #[test]
    fn ordinary_numbers_of_heredocs_and_angles_are_fine() {
        assert!(!long_path_or_many_angles(&"a < ./b ".repeat(MAX_NIX_ANGLES)));
        assert!(long_path_or_many_angles(&"<-".repeat(MAX_NIX_ANGLES + 1)));
        assert!(long_path_or_many_angles(&"a+".repeat(MAX_PATH)));
        assert!(!many_heredocs(&"cat <<A\nA\n".repeat(MAX_HEREDOCS)));
        assert!(many_heredocs(&"cat <<A\nA\n".repeat(MAX_HEREDOCS + 1)));
    }

    #[test]
    fn here_documents_become_spaces() {
        let source = "$code.=<<___;\n mov\t$a, é\n___\nf(<<\"A\", <<~'B');\nx\nA\n y\n  B\nsub g {}\n";
        let fit = "$code.=<<___;\n           \n___\nf(<<\"A\", <<~'B');\n \nA\n  \n  B\nsub g {}\n";
        assert_eq!(blank_heredocs(source), fit);
    }

    #[test]
    fn shifts_and_comments_start_no_here_document() {
        for source in ["1 << 2;\nx\n", "$a <<FOO;\nx\n", "# <<A\nx\nA\n", "<<\"A;\nx\nA\n"] {
            assert_eq!(blank_heredocs(source), source);
        }
    }

    proptest! {
        #[test]
        fn positions_stay(source in "(<<|<<~|\"|'|A|B|\n|é| |;){0,40}") {
            let fit = blank_heredocs(&source);
            prop_assert_eq!(fit.len(), source.len());
            prop_assert!(fit.bytes().zip(source.bytes()).all(|(a, b)| a == b || (a == b' ' && b != b'\n')));
        }
    }
}
