//! Cuts results of tools to a budget, and decides which old results are dropped from the context.

use rhumb_text::thousands;

/// The number of newest results that [`to_stub`] never returns: the model is working with them.
pub const KEPT_RESULTS: usize = 3;

/// Maximum length of the summary in a [`stub`], in characters.
const MAX_SUMMARY: usize = 160;

/// Which part of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    Head,
    /// The beginning and the end, since compilers print errors last.
    HeadAndTail,
}

/// A text that was cut to a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clipped {
    /// The text, with a line in place of what is missing.
    pub text: String,
    /// The number of missing lines. A line of which a part is missing counts as missing.
    pub missing_lines: usize,
    /// The number of missing bytes.
    pub missing_bytes: usize,
}

/// Cuts a text to at most `max_bytes` bytes and `max_lines` lines. A notice of one line replaces what is missing and comes on
/// top of the limits. `rest` says how to read what is missing; may be empty.
///
/// [`Keep::HeadAndTail`] gives 40 % of the limits to the beginning, and what that leaves to the end. The cuts are at line boundaries,
/// except where a long line would leave more than half of a share unused: such a line is cut between two characters.
///
/// ```
/// use rhumb_agent::{Keep, clip};
///
/// let log = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
/// let clipped = clip(log, Keep::HeadAndTail, 1_000, 5, "read_file result:7");
/// assert_eq!(clipped.text, "1\n2\n[… 4 lines, 8 bytes left out; to read them: read_file result:7 …]\n7\n8\n9\n");
/// ```
pub fn clip(text: &str, keep: Keep, max_bytes: usize, max_lines: usize, rest: &str) -> Clipped {
    let lines = line_count(text);
    if text.len() <= max_bytes && lines <= max_lines {
        return Clipped { text: text.to_owned(), missing_lines: 0, missing_bytes: 0 };
    }
    let (head, tail) = match keep {
        Keep::Head => (head_of(text, max_bytes, max_lines), ""),
        Keep::HeadAndTail => {
            let head = head_of(text, share(max_bytes), share(max_lines));
            let left = (max_bytes.saturating_sub(head.len()), max_lines.saturating_sub(line_count(head)));
            (head, tail_of(text.get(head.len()..).unwrap_or_default(), left.0, left.1))
        }
    };
    let missing_bytes = text.len().saturating_sub(head.len() + tail.len());
    let tail_start = text.len() - tail.len();
    let tail_cuts_line = !tail.is_empty() && !text.as_bytes()[..tail_start].ends_with(b"\n");
    let whole_tail = line_count(tail).saturating_sub(usize::from(tail_cuts_line));
    let missing_lines = lines.saturating_sub(head.matches('\n').count() + whole_tail);

    let noun = if missing_lines == 1 { "line" } else { "lines" };
    let how = if rest.is_empty() { String::new() } else { format!("; to read them: {rest}") };
    let notice = format!("[… {} {noun}, {} bytes left out{how} …]", thousands(missing_lines), thousands(missing_bytes));
    let before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let after = if tail.is_empty() { "" } else { "\n" };
    Clipped { text: format!("{head}{before}{notice}{after}{tail}"), missing_lines, missing_bytes }
}

/// 40 %.
fn share(limit: usize) -> usize {
    limit / 5 * 2 + limit % 5 * 2 / 5
}

fn line_count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// The beginning of a text within the limits.
fn head_of(text: &str, max_bytes: usize, max_lines: usize) -> &str {
    let lines = text.split_inclusive('\n').take(max_lines).map(str::len).sum();
    if lines <= max_bytes {
        return &text[..lines];
    }
    let cut = text.floor_char_boundary(max_bytes);
    let boundary = text[..cut].rfind('\n').map_or(0, |at| at + 1);
    &text[..if boundary > max_bytes / 2 { boundary } else { cut }]
}

/// The end of a text within the limits.
fn tail_of(text: &str, max_bytes: usize, max_lines: usize) -> &str {
    let lines: usize = text.split_inclusive('\n').rev().take(max_lines).map(str::len).sum();
    let start = text.len() - lines;
    if lines <= max_bytes {
        return &text[start..];
    }
    let cut = text.ceil_char_boundary(text.len() - max_bytes);
    let boundary = match text[cut..].find('\n') {
        _ if text[..cut].ends_with('\n') => cut,
        Some(at) => cut + at + 1,
        None => text.len(),
    };
    &text[if text.len() - boundary > max_bytes / 2 { boundary } else { cut }..]
}

/// The line that replaces a result which was dropped from the context. `summary` is that of the call ([`crate::Action::summary`]),
/// `tokens` the size of the result.
///
/// ```
/// let stub = rhumb_agent::stub("read_file", "src/a.rs 1-200", 2_104);
/// assert_eq!(stub, "[read_file src/a.rs 1-200: 2,104 tokens, dropped to save space; call again if needed]");
/// ```
pub fn stub(tool: &str, summary: &str, tokens: usize) -> String {
    let call = one_line(&format!("{tool} {summary}"), MAX_SUMMARY);
    format!("[{call}: {} tokens, dropped to save space; call again if needed]", thousands(tokens))
}

/// A text on one line of at most `max` characters, without control characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    // Four bytes per character at most, so a longer text needs no look beyond them unless it is mostly white space.
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max.saturating_mul(4) {
            break;
        }
    }
    match line.char_indices().nth(max) {
        Some(_) => {
            let end = line.char_indices().nth(max.saturating_sub(1)).map_or(0, |(at, _)| at);
            line.truncate(end);
            line.push('…');
            line
        }
        None => line,
    }
}

/// The size of a result in the context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResultSize {
    /// The tokens of the result that is sent now.
    pub tokens: usize,
    /// The tokens of its stub.
    pub stub_tokens: usize,
    /// Whether the user pinned it.
    pub pinned: bool,
    /// Whether it is replaced by its stub already. Then `tokens` is the size of the stub.
    pub is_stub: bool,
}

/// The indices of the results to replace by stubs, so that all results together have at most `target` tokens.
///
/// `results` is in the order of the calls. The oldest is replaced first. Pinned results, the last [`KEPT_RESULTS`], and results that are
/// no longer than their stubs are never replaced; if they alone exceed the target, the sum stays above it.
///
/// A replaced result changes the prompt from there on, and so invalidates the cached prefix of the provider. The caller should therefore
/// replace in batches: nothing until the results exceed their budget, and then down to half of the budget (`target = budget / 2`), so that
/// the prefix changes once per half budget of new results, and not at each step.
pub fn to_stub(results: &[ResultSize], target: usize) -> Vec<usize> {
    let mut sum = results.iter().fold(0_usize, |sum, result| sum.saturating_add(result.tokens));
    let mut replaced = Vec::new();
    for (index, result) in results.iter().enumerate().take(results.len().saturating_sub(KEPT_RESULTS)) {
        if sum <= target {
            break;
        }
        if !result.pinned && !result.is_stub && result.stub_tokens < result.tokens {
            sum = sum.saturating_sub(result.tokens - result.stub_tokens);
            replaced.push(index);
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(tokens: usize) -> ResultSize {
        ResultSize { tokens, stub_tokens: 10, ..ResultSize::default() }
    }

    #[test]
    fn a_text_within_the_limits_is_unchanged() {
        let text = "a\r\nb\n\nc";
        assert_eq!(clip(text, Keep::Head, text.len(), 4, "x").text, text);
        assert_eq!(clip("", Keep::HeadAndTail, 0, 0, "x").text, "");
    }

    #[test]
    fn the_head_ends_at_a_line_boundary() {
        let clipped = clip("aaaa\nbbbb\ncccc\n", Keep::Head, 12, 100, "");
        assert_eq!(clipped.text, "aaaa\nbbbb\n[… 1 line, 5 bytes left out …]");
    }

    #[test]
    fn a_very_long_line_is_cut_between_characters() {
        let text = format!("a\n{}", "é".repeat(10_000));
        let clipped = clip(&text, Keep::HeadAndTail, 101, 100, "");
        assert!(clipped.text.starts_with("a\né"), "{}", clipped.text);
        assert!(clipped.text.ends_with('é'));
        assert_eq!((clipped.missing_lines, clipped.missing_bytes > 19_800), (1, true));
    }

    #[test]
    fn errors_at_the_end_are_kept() {
        let mut log = "compiling\n".repeat(10_000);
        log.push_str("error: expected `;`\n");
        let clipped = clip(&log, Keep::HeadAndTail, 1_000, 50, "read_file result:3");
        assert!(clipped.text.ends_with("error: expected `;`\n"));
        assert!(clipped.text.contains("to read them: read_file result:3 …]"));
    }

    #[test]
    fn a_stub_is_one_short_line() {
        let stub = stub("run", &"cargo\ntest ".repeat(1_000), 7);
        assert!(!stub.contains('\n') && stub.chars().count() < 250);
    }

    #[test]
    fn the_oldest_results_are_replaced_first() {
        let results = [size(100), size(100), size(100), size(100), size(100)];
        assert_eq!(to_stub(&results, 500), Vec::<usize>::new());
        assert_eq!(to_stub(&results, 410), vec![0]);
        assert_eq!(to_stub(&results, 0), vec![0, 1]);
    }

    #[test]
    fn pinned_results_and_stubs_are_not_replaced() {
        let mut results = [size(100); 7];
        results[0].pinned = true;
        results[1] = ResultSize { tokens: 10, is_stub: true, ..size(10) };
        assert_eq!(to_stub(&results, 0), vec![2, 3]);
    }

    proptest! {
        #[test]
        fn a_clipped_text_is_a_prefix_and_a_suffix_within_the_limits(
            text in proptest::collection::vec("[a-cé]{0,30}\r?", 0..60).prop_map(|lines| lines.join("\n")),
            tail in any::<bool>(), max_bytes in 0_usize..400, max_lines in 0_usize..40,
        ) {
            let keep = if tail { Keep::HeadAndTail } else { Keep::Head };
            let clipped = clip(&text, keep, max_bytes, max_lines, "again");
            if text.len() <= max_bytes && line_count(&text) <= max_lines {
                prop_assert_eq!(clipped.text, text);
                return Ok(());
            }
            let start = clipped.text.find("[… ").unwrap();
            let end = clipped.text.find(" …]").unwrap() + " …]".len();
            let after = clipped.text[end..].strip_prefix('\n').unwrap_or(&clipped.text[end..]);
            let mut before = &clipped.text[..start];
            if before.len() + after.len() + clipped.missing_bytes > text.len() {
                before = before.strip_suffix('\n').unwrap(); // separates a cut line from the notice
            }
            prop_assert!(text.starts_with(before) && text.ends_with(after));
            prop_assert_eq!(before.len() + after.len() + clipped.missing_bytes, text.len());
            prop_assert!(before.len() + after.len() <= max_bytes);
            prop_assert!(line_count(before) + line_count(after) <= max_lines);
            let whole = before.matches('\n').count()
                + line_count(after) - usize::from(!after.is_empty() && !text[..text.len() - after.len()].ends_with('\n'));
            prop_assert_eq!(whole + clipped.missing_lines, line_count(&text));
            prop_assert!(clipped.missing_lines > 0 && clipped.missing_bytes > 0);
        }

        #[test]
        fn replacing_reaches_the_target_or_all_that_may_be_replaced(
            sizes in proptest::collection::vec((0_usize..5_000, any::<bool>()), 0..40), target in 0_usize..50_000,
        ) {
            let mut results: Vec<_> = sizes.iter().map(|&(tokens, pinned)| ResultSize { pinned, ..size(tokens) }).collect();
            for index in to_stub(&results, target) {
                prop_assert!(!results[index].pinned && index + KEPT_RESULTS < results.len());
                results[index] = ResultSize { tokens: 10, is_stub: true, ..results[index] };
            }
            let sum: usize = results.iter().map(|result| result.tokens).sum();
            prop_assert!(sum <= target || to_stub(&results, target).is_empty());
        }

        #[test]
        fn one_line_has_no_line_break_and_a_maximum(text in any::<String>(), max in 1_usize..50) {
            let line = one_line(&text, max);
            prop_assert!(line.chars().count() <= max && !line.chars().any(char::is_control));
        }
    }
}
