//! Excerpts of long texts: the beginning and the end of the output of tests and commands, and of pages; and fences around texts.

use rhumb_tokens::TokenCounter;

/// The share of the beginning in the budget. Errors are usually at the end.
const HEAD_DIVISOR: usize = 3;

/// Maximum bytes per token of the budget that are examined in a long line.
const MAX_BYTES_PER_TOKEN: usize = 8;

/// An excerpt of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, or its beginning and end with a note in between.
    pub text: String,
    /// Number of lines left out or cut.
    pub omitted_lines: usize,
    /// Number of bytes left out.
    pub omitted_bytes: usize,
}

/// The text if it has at most `budget` tokens; else its beginning and its end, cut between lines if they are not too long, and
/// a note that says how much is left out and where the whole text is saved. The result exceeds the budget only if the note does.
pub fn excerpt(text: &str, budget: usize, counter: &dyn TokenCounter, saved_as: Option<&str>) -> Excerpt {
    let count = counter.measure(text);
    if count.tokens + count.error <= budget {
        return Excerpt { text: text.to_owned(), omitted_lines: 0, omitted_bytes: 0 };
    }
    let mut tokens = budget.saturating_sub(counter.count(&note(text, saved_as)) + 4);
    loop {
        let excerpt = cut(text, tokens, counter, saved_as);
        if tokens == 0 || counter.count(&excerpt.text) <= budget {
            return excerpt;
        }
        // Together the lines have more tokens than separately.
        tokens -= tokens.div_ceil(10);
    }
}

fn cut(text: &str, tokens: usize, counter: &dyn TokenCounter, saved_as: Option<&str>) -> Excerpt {
    let (head, used) = head(text, tokens / HEAD_DIVISOR, counter);
    let rest = &text[head.len()..];
    let tail = tail(rest, tokens - used, counter);
    let omitted = &rest[..rest.len() - tail.len()];
    let border = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    Excerpt {
        text: [head, border, &note(omitted, saved_as), "\n", tail].concat(),
        omitted_lines: omitted.lines().count(),
        omitted_bytes: omitted.len(),
    }
}

/// The note in the place of the text left out.
fn note(omitted: &str, saved_as: Option<&str>) -> String {
    let lines = match omitted.lines().count() {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    };
    let whole = saved_as.map_or_else(String::new, |path| format!("; the whole is in {path}"));
    format!("[… {lines}, {} bytes left out{whole} …]", omitted.len())
}

/// The longest beginning of whole lines within `tokens` tokens, and its tokens; a part of the first line if that is too long.
fn head<'t>(text: &'t str, tokens: usize, counter: &dyn TokenCounter) -> (&'t str, usize) {
    let (mut end, mut used) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.len() > tokens * MAX_BYTES_PER_TOKEN || used + counter.count(line) > tokens {
            break;
        }
        used += counter.count(line);
        end += line.len();
    }
    if end > 0 {
        return (&text[..end], used);
    }
    let part = largest_fitting(text.len().min(tokens * MAX_BYTES_PER_TOKEN), |bytes| {
        counter.count(&text[..text.floor_char_boundary(bytes)]) <= tokens
    });
    let part = &text[..text.floor_char_boundary(part)];
    (part, counter.count(part))
}

/// The longest end of whole lines within `tokens` tokens; a part of the last line if that is too long.
fn tail<'t>(text: &'t str, tokens: usize, counter: &dyn TokenCounter) -> &'t str {
    let (mut start, mut used) = (text.len(), 0);
    while start > 0 {
        let before = &text[..start];
        let line_start = before[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        let line = &before[line_start..];
        if line.len() > tokens * MAX_BYTES_PER_TOKEN || used + counter.count(line) > tokens {
            break;
        }
        used += counter.count(line);
        start = line_start;
    }
    if start < text.len() {
        return &text[start..];
    }
    let from = |bytes: usize| text.ceil_char_boundary(text.len() - bytes);
    let part = largest_fitting(text.len().min(tokens * MAX_BYTES_PER_TOKEN), |bytes| {
        counter.count(&text[from(bytes)..]) <= tokens
    });
    &text[from(part)..]
}

/// The largest number up to `max` for which `fits` is true. `fits` must be monotonic.
pub(super) fn largest_fitting(max: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, max + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// Characters that some programs take for line endings.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// The shortest backtick fence (three or more) that is longer than every run of backticks at the start of a line in `texts`.
pub fn fence_for<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let longest = texts.into_iter().map(longest_run).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    // Most files have none, and searching bytes is faster than examining every line.
    if !text.contains("```") { 0 } else { text.split(LINE_ENDS).map(leading_backticks).max().unwrap_or(0) }
}

fn leading_backticks(line: &str) -> usize {
    let line = line.trim_start();
    line.len() - line.trim_start_matches('`').len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rhumb_tokens::counter_for_model;

    #[test]
    fn a_short_text_stays_whole() {
        let counter = counter_for_model("gpt-4o");
        let whole = excerpt("all green\n", 100, &*counter, Some("run.log"));
        assert_eq!((whole.text.as_str(), whole.omitted_lines), ("all green\n", 0));
    }

    #[test]
    fn of_a_long_text_the_beginning_and_the_end_remain_with_a_note() {
        let counter = counter_for_model("gpt-4o");
        let text: String = (0..5_000).map(|n| format!("test number {n} ... ok\n")).collect();
        let short = excerpt(&text, 300, &*counter, Some("/tmp/run.log"));
        let lines: Vec<&str> = short.text.lines().collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("test number 0 ... ok", "test number 4999 ... ok"));
        assert_eq!(short.omitted_lines, 5_000 - (lines.len() - 1));
        let note = lines.iter().find(|line| line.starts_with("[…")).unwrap();
        assert!(note.contains(&format!("{} lines", short.omitted_lines)) && note.contains("/tmp/run.log"), "{note}");
        assert!((200..=300).contains(&counter.count(&short.text)), "{}", short.text);
    }

    #[test]
    fn one_endless_line_is_cut_within() {
        let counter = counter_for_model("gpt-4o");
        let short = excerpt(&"{\"port\": 7},".repeat(20_000), 200, &*counter, None);
        assert!(short.text.starts_with("{\"port\"") && short.text.ends_with("7},") && short.omitted_lines == 1);
        assert!((120..=200).contains(&counter.count(&short.text)));
    }

    proptest! {
        #[test]
        fn an_excerpt_keeps_to_its_budget_and_adds_nothing(
            text in "((\\PC|[a-z ]){0,30}\n|[a-z]{0,9}){0,60}",
            budget in 40usize..200,
        ) {
            let counter = counter_for_model("gpt-4o");
            let Excerpt { text: short, omitted_bytes, .. } = excerpt(&text, budget, &*counter, None);
            prop_assert!(counter.count(&short) <= budget);
            if omitted_bytes == 0 {
                prop_assert_eq!(short, text);
            } else {
                let (head, rest) = short.split_once("[…").unwrap();
                let (_, tail) = rest.split_once("…]\n").unwrap();
                prop_assert!(text.starts_with(head.trim_end_matches('\n')) && text.ends_with(tail));
                prop_assert!(text.len() - omitted_bytes - tail.len() <= head.len());
            }
        }
    }
}

#[cfg(test)]
mod fence_tests {
    use super::*;

    #[test]
    fn a_fence_in_the_content_makes_ours_longer() {
        assert_eq!(fence_for(["plain"]), "```");
        assert_eq!(fence_for(["a\n  ````rust\n"]), "`````");
        assert_eq!(fence_for(["a\r````"]), "`````");
        assert_eq!(fence_for(["a ```` b", "``\n"]), "```");
    }
}
