//! Patterns of command lines that may run without a question, such as those of the setting `allow`.

/// Characters with a meaning for a shell: a line with one of them may run more than one program, or another than it seems.
const SHELL_CHARACTERS: [char; 19] =
    [';', '|', '&', '<', '>', '$', '`', '(', ')', '{', '}', '[', ']', '!', '#', '~', '\n', '\r', '\\'];

/// Whether a command line of the shell matches a pattern such as `cargo test *`: its words are those of the pattern, and with a `*` at the
/// end any others may follow. A line that is more than one simple command never matches.
pub fn matches_pattern(line: &str, pattern: &str) -> bool {
    if line.contains(SHELL_CHARACTERS) {
        return false;
    }
    let (Ok(words), Ok(mut wanted)) = (shell_words::split(line), shell_words::split(pattern)) else { return false };
    let is_open = wanted.last().is_some_and(|last| last == "*");
    wanted.truncate(wanted.len() - usize::from(is_open));
    !wanted.is_empty() && words.starts_with(&wanted) && (is_open || words.len() == wanted.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_the_words_of_a_simple_command() {
        for (line, pattern, matches) in [
            ("cargo test", "cargo test *", true),
            ("cargo test -p core 'a b'", "cargo test *", true),
            ("cargo   test", "cargo test", true),
            ("cargo test -q", "cargo test", false),
            ("cargo tester", "cargo test *", false),
            ("cargo", "cargo test *", false),
            ("FOO=1 cargo test", "cargo test *", false),
            ("cargo test; rm -rf .", "cargo test *", false),
            ("cargo test && rm x", "cargo test *", false),
            ("cargo test $(rm x)", "cargo test *", false),
            ("cargo test `rm x`", "cargo test *", false),
            ("cargo test > x", "cargo test *", false),
            ("cargo test\nrm x", "cargo test *", false),
            ("cargo test 'unclosed", "cargo test *", false),
            ("anything", "*", false),
            ("anything", "", false),
        ] {
            assert_eq!(matches_pattern(line, pattern), matches, "{line} {pattern}");
        }
    }
}
