//! Fences that no content can break.
//!
//! Everything that we put between fences gets one that is longer than any run of backticks at the beginning of a line in
//! it. What the model writes is fenced as the files are that it may edit, all alike: it copies what it sees, and what it
//! writes is mostly what it saw. Read-only files choose for themselves, so that a file added to the chat does not change
//! what stands before it. The history and the message stand in messages of their own, where there is nothing to break;
//! counting them as well would make the fence grow with every answer that holds one.

/// What ends a line to one reader or another.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// The shortest backtick fence (three or more) that is longer than every run of backticks at the start of a line in `texts`.
pub fn fence_for<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let longest = texts.into_iter().map(longest_run).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    // Most files hold none: a search for the bytes is quicker than looking at every line.
    if !text.contains("```") {
        return 0;
    }
    text.split(LINE_ENDS).map(leading_backticks).max().unwrap_or(0)
}

fn leading_backticks(line: &str) -> usize {
    let line = line.trim_start();
    line.len() - line.trim_start_matches('`').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_in_the_content_makes_ours_longer() {
        assert_eq!(fence_for(["plain"]), "```");
        assert_eq!(fence_for(["a\n  ````rust\n"]), "`````");
        assert_eq!(fence_for(["a\r````"]), "`````");
        assert_eq!(fence_for(["a ```` b", "``\n"]), "```");
    }
}
