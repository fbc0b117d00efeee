//! Sources that a grammar must not see: its scanner would take time with the square of their length.
//!
//! The parser is stopped after a number of steps (see [`super::parse`]), but a scanner of a grammar that looks ahead to the
//! end of the file, or copies a growing state at every token, is slow within a step. Each function here says of a source
//! whether it holds too much of what one scanner cannot bear; real files stay far below.

/// Most heredocs that may be open at once.
const MAX_HEREDOCS: usize = 2_000;

/// Most `<` in Nix, which compares little and writes no HTML.
const MAX_SIGNS: usize = 500;

/// Most comments of HTML without an end.
const MAX_COMMENTS: usize = 500;

/// Most elements of HTML that are open at once.
const MAX_OPEN: usize = 2_000;

/// Most elements of HTML that are never closed, of those that need not be.
const MAX_OPEN_ENDED: usize = 20_000;

/// Longest word of path characters in Nix, in bytes.
const MAX_PATH: usize = 512;

/// Longest run of signs between selectors in CSS, in bytes.
const MAX_COMBINATORS: usize = 1_000;

/// Longest run of white space, in bytes.
const MAX_BLANK: usize = 256;

/// Every heredoc that is not closed is looked for until the end of the file.
pub(super) fn many_heredocs(source: &str) -> bool {
    more_than(source, "<<", MAX_HEREDOCS)
}

/// White space is skipped anew for each of its characters.
pub(super) fn long_blank(source: &str) -> bool {
    longest_run(source, |byte| byte.is_ascii_whitespace()) > MAX_BLANK
}

/// HTML and its kin: the stack of open elements is copied at every token, and a comment without an end is looked for until
/// the end of the file.
pub(super) fn tangled_markup(source: &str) -> bool {
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

/// Elements that have no content.
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// Elements that HTML lets stay open.
const OPEN_ENDED: [&str; 10] = ["p", "li", "td", "th", "tr", "dt", "dd", "option", "rp", "rt"];

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Nix: every character that may belong to a path begins a search for its end, and every `<` before a sign is an error
/// that is recovered from at the cost of all signs before.
pub(super) fn long_path_or_many_signs(source: &str) -> bool {
    let of_path = |byte: u8| byte.is_ascii_alphanumeric() || b"-+_./".contains(&byte);
    longest_run(source, of_path) > MAX_PATH || more_than(source, "<", MAX_SIGNS)
}

/// CSS: signs between selectors that are not there are recovered from at the cost of all signs before.
pub(super) fn many_combinators(source: &str) -> bool {
    longest_run(source, |byte| b"=>+ ".contains(&byte)) > MAX_COMBINATORS
}

/// The most bytes in a row that belong.
fn longest_run(source: &str, belongs: impl Fn(u8) -> bool) -> usize {
    source.as_bytes().split(|byte| !belongs(*byte)).map(<[u8]>::len).max().unwrap_or(0)
}

fn more_than(source: &str, text: &str, most: usize) -> bool {
    source.matches(text).take(most + 1).count() > most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_of_blanks_count() {
        let blank = " \n\t\r".repeat(MAX_BLANK / 4);
        assert!(!long_blank(&format!("a{blank}b{blank}")));
        assert!(long_blank(&format!("a{blank} b")));
    }

    #[test]
    fn only_markup_that_never_closes_is_tangled() {
        assert!(!tangled_markup(&"<div><br><p>a<b/></div><!-- i -->".repeat(MAX_OPEN * 2)));
        for source in ["<div>", "<!-- ", "<a b=\"", "<p>"] {
            assert!(tangled_markup(&source.repeat(MAX_OPEN_ENDED + 1)), "{source}");
        }
    }

    #[test]
    fn only_selectors_that_are_left_out_are_too_many_signs() {
        assert!(!many_combinators(&"a > b + [c=d] > e ".repeat(MAX_COMBINATORS)));
        assert!(many_combinators(&"=>".repeat(MAX_COMBINATORS)));
    }

    #[test]
    fn a_few_heredocs_and_signs_are_fine() {
        assert!(!long_path_or_many_signs(&"a < ./b ".repeat(MAX_SIGNS)));
        assert!(long_path_or_many_signs(&"<-".repeat(MAX_SIGNS + 1)));
        assert!(long_path_or_many_signs(&"a+".repeat(MAX_PATH)));
        assert!(!many_heredocs(&"cat <<A\nA\n".repeat(MAX_HEREDOCS)));
        assert!(many_heredocs(&"cat <<A\nA\n".repeat(MAX_HEREDOCS + 1)));
    }
}
