//! Fences that content cannot close.
//!
//! Fenced content gets a fence that is longer than any run of backticks at the beginning of its lines. All editable files have
//! the same fence, because the model copies the fence that it sees, and its answer resembles these files. Read-only files have
//! their own fences, so that adding a file to the chat does not change the cached prefix. The history and the message are
//! separate messages and need no fence; counting them would make the fence longer with every answer that contains one.

/// Characters that some programs take for line endings.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// The shortest backtick fence (three or more) that is longer than every run of backticks at the start of a line in `texts`.
pub fn fence_for<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let longest = texts.into_iter().map(longest_run).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    // Most files have none, and searching bytes is faster than examining every line.
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
