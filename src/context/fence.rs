//! Fences that no content can break.

/// The shortest backtick fence (three or more) that is longer than every run of backticks at the start of a line in `texts`.
pub fn fence_for<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let longest = texts.into_iter().flat_map(str::lines).map(leading_backticks).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
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
    }
}
