//! Sources that a grammar must not see: its scanner would take time with the square of their length.
//!
//! The parser is stopped after a number of steps (see [`super::parse`]), but a scanner of a grammar that looks ahead to the
//! end of the file, or copies a growing state at every token, is slow within a step. Each function here says of a source
//! whether it holds too much of what one scanner cannot bear; real files stay far below.

/// Most heredocs that may be open at once.
const MAX_HEREDOCS: usize = 2_000;

/// Most `<` in Nix, which compares little and writes no HTML.
const MAX_SIGNS: usize = 500;

/// Longest word of path characters in Nix, in bytes.
const MAX_PATH: usize = 512;

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

/// Nix: every character that may belong to a path begins a search for its end, and every `<` before a sign is an error
/// that is recovered from at the cost of all signs before.
pub(super) fn long_path_or_many_signs(source: &str) -> bool {
    let of_path = |byte: u8| byte.is_ascii_alphanumeric() || b"-+_./".contains(&byte);
    longest_run(source, of_path) > MAX_PATH || more_than(source, "<", MAX_SIGNS)
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
    fn a_few_heredocs_and_signs_are_fine() {
        assert!(!long_path_or_many_signs(&"a < ./b ".repeat(MAX_SIGNS)));
        assert!(long_path_or_many_signs(&"<-".repeat(MAX_SIGNS + 1)));
        assert!(long_path_or_many_signs(&"a+".repeat(MAX_PATH)));
        assert!(!many_heredocs(&"cat <<A\nA\n".repeat(MAX_HEREDOCS)));
        assert!(many_heredocs(&"cat <<A\nA\n".repeat(MAX_HEREDOCS + 1)));
    }
}
