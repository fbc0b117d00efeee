//! The numbers in what servers say about sizes.

/// A whole number in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: usize,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Where it ends, in bytes.
    pub(super) end: usize,
}

/// The whole numbers of a text, in order. Digits that are part of a name, a version or a fraction are none.
pub(super) fn numbers(text: &str) -> Vec<Number> {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ',');
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.split(|c: char| !is_inner(c)) {
        let bare = word.trim_end_matches(['.', ',']);
        let digits: String = bare.chars().filter(|c| *c != ',').collect();
        if digits.chars().all(|c| c.is_ascii_digit())
            && let Ok(value) = digits.parse()
        {
            found.push(Number { value, start, end: start + bare.len() });
        }
        start += word.len();
        start += text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    found
}

/// How much was sent and how much is allowed, in tokens, in the words with which a server refuses a request that is too
/// long. A number is the limit if words say so or if it stands behind `>`; what was sent is larger than it.
pub(super) fn sent_and_limit(text: &str) -> (Option<usize>, Option<usize>) {
    let text = text.to_lowercase();
    let numbers = numbers(&text);
    let Some(at) = limit_among(&text, &numbers) else {
        return (None, None);
    };
    let limit = numbers.get(at).map(|number| number.value).filter(|limit| *limit > 0);
    let others = || numbers.iter().map(|number| number.value).filter(|value| Some(*value) != limit);
    let exceeds = |sent: &usize| limit.is_some_and(|limit| *sent > limit);
    // Where no number exceeds the limit, they do so together: prompt and answer.
    let sent = others().max().filter(exceeds).or_else(|| others().reduce(usize::saturating_add).filter(exceeds));
    (sent, limit)
}

fn limit_among(text: &str, numbers: &[Number]) -> Option<usize> {
    const WORDS: [&str; 7] = ["maximum", "limit", "available", "context length", "allowed", "cannot exceed", "<="];
    let before = |at: usize| {
        let from = at.checked_sub(1).and_then(|at| numbers.get(at)).map_or(0, |number| number.end);
        numbers.get(at).and_then(|number| text.get(from..number.start)).unwrap_or_default()
    };
    let behind_sign = (1..numbers.len()).find(|at| before(*at).trim_end().ends_with('>'));
    let by_words = || (0..numbers.len()).find(|at| WORDS.iter().any(|word| before(*at).contains(word)));
    let by_last_words = || {
        let last = numbers.len().checked_sub(1)?;
        let after = text.get(numbers.get(last)?.end..)?;
        WORDS.iter().any(|word| after.contains(word)).then_some(last)
    };
    behind_sign.or_else(by_words).or_else(by_last_words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_versions_and_fractions_are_no_numbers() {
        let values: Vec<usize> =
            numbers("gpt-4.1 v2 0.5 é12,345. (7) `8`: x9 10").iter().map(|number| number.value).collect();
        assert_eq!(values, [7, 8, 10]);
        assert_eq!(numbers("has 12,345.").first().map(|number| number.value), Some(12_345));
    }

    #[test]
    fn every_family_of_servers_tells_both_numbers() {
        let table = [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
                10_000,
                8192,
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
                10_000,
                8192,
            ),
            (
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
                300_000,
                272_000,
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", 210_000, 200_000),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length",
                211_333,
                200_000,
            ),
            (
                "The input token count (1234567) exceeds the maximum number of tokens allowed (1048576).",
                1_234_567,
                1_048_576,
            ),
            (
                "request (12345 tokens) exceeds the available context size (4096 tokens), try increasing it",
                12_345,
                4096,
            ),
            ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 5000, 4096),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 3500 input tokens",
                4500,
                4096,
            ),
            ("Current length is 9000 while limit is 8192", 9000, 8192),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                40_000,
                32_768,
            ),
            (
                "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (138000 of text input, 2000 in the output).",
                140_000,
                131_072,
            ),
            ("This model's maximum prompt length is 131072 but the request contains 150000 tokens.", 150_000, 131_072),
            ("The input (9,000 tokens) is longer than the model's context length (8,192 tokens).", 9000, 8192),
            ("Limit 6000, Requested 7000, please reduce your message size", 7000, 6000),
            (
                "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
                5000,
                4096,
            ),
        ];
        for (words, sent, limit) in table {
            assert_eq!(sent_and_limit(words), (Some(sent), Some(limit)), "{words}");
        }
    }

    #[test]
    fn no_numbers_are_made_up() {
        assert_eq!(sent_and_limit("Your input exceeds the context window of this model."), (None, None));
        assert_eq!(sent_and_limit("the limit of gpt-4 is 8192 tokens"), (None, Some(8192)));
        assert_eq!(sent_and_limit("error 17 and 4"), (None, None));
    }

    proptest! {
        #[test]
        fn any_words_are_read(text in "(\\PC|[0-9]{1,25}| > |limit |\u{130}|maximum ){0,20}") {
            let (sent, limit) = sent_and_limit(&text);
            prop_assert!(sent.is_none_or(|sent| limit.is_some_and(|limit| sent > limit)));
        }
    }
}
