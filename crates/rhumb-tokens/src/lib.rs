//! Token counts of texts and images for language models: exact where the tokenizer of the model is public, estimated
//! elsewhere.
//!
//! ```
//! use rhumb_tokens::counter_for_model;
//!
//! let counter = counter_for_model("gpt-4o");
//! assert_eq!(counter.count("hello world"), 2);
//! assert!(counter.exact());
//! assert!(!counter_for_model("claude-sonnet-4-5").exact());
//! ```
//!
//! - [`counter_for_model`] returns the [`TokenCounter`] of a model. The tables are those of OpenAI's tokenizers; the counts
//!   are those of `tiktoken` (tests compare the two).
//! - [`LineCache`] counts line by line and keeps the counts between runs, for texts that change little, such as a repo map.
//! - [`Calibration`] computes the factor by which estimates differ from the reported usage; [`Calibrated`] applies that
//!   factor.
//! - [`ImageCost`] counts the tokens of an image by the published rules of OpenAI, Anthropic and Google.
//!
//! # Limits
//!
//! - Models of other makers are counted with OpenAI's `o200k_base`. The count can be off by about 20 % for code.
//! - A text above [`COUNT_WHOLE_LIMIT`] is counted by samples. [`TokenCounter::measure`] returns the error.
//! - The crate does no I/O (enforced by its `clippy.toml`): tables are compiled in, and callers store [`LineCount`]s and
//!   [`Calibration`]s themselves.

mod calibration;
mod image;
mod line_cache;

use std::sync::Arc;

use self::Encoding::{Cl100k, O200k};
pub use self::calibration::{Calibrated, Calibration};
pub use self::image::{ImageCost, ImageLimit, image_size, image_type};
pub use self::line_cache::{LineCache, LineCount};

/// Texts above this many bytes are sampled, because counting them whole would take more than 5 ms.
pub const COUNT_WHOLE_LIMIT: usize = 128 * 1024;

/// Maximum size in bytes of a piece that is given to the tokenizer at once, so that one call stays short for any input.
const MAX_PIECE: usize = 32 * 1024;

/// Size of one sample of a text above [`COUNT_WHOLE_LIMIT`], in bytes.
const SAMPLE_BYTES: usize = 2 * 1024;

/// Samples taken from a text above [`COUNT_WHOLE_LIMIT`]: 128 KiB in all.
const SAMPLES: usize = 64;

/// The stated error of a sampled count, in standard errors of the mean.
const STANDARD_ERRORS: f64 = 4.0;

/// Minimum stated error, as a share of the count: cuts through words bias every sample.
const MIN_RELATIVE_ERROR: f64 = 0.01;

/// The number of tokens in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// The number of tokens.
    pub tokens: usize,
    /// The maximum difference in tokens to the count of the whole text, if only samples were counted; else 0.
    pub error: usize,
}

/// Counts the tokens that a text costs in a request.
pub trait TokenCounter: Send + Sync {
    /// The tokens of `text`. Special tokens in the text (`<|endoftext|>`) count as the ordinary text that is sent.
    fn count(&self, text: &str) -> usize;

    /// The tokens of `text`, and the error if the text is above [`COUNT_WHOLE_LIMIT`].
    fn measure(&self, text: &str) -> TokenCount {
        TokenCount { tokens: self.count(text), error: 0 }
    }

    /// Whether the model's own table is used, so that the count of a text up to [`COUNT_WHOLE_LIMIT`] is the one that the
    /// provider charges. Otherwise the count can be off by about 20 %.
    fn exact(&self) -> bool;
}

/// The counter for a model id as written in the settings (`gpt-4o`, `openai/gpt-5-mini`, `claude-…`).
///
/// OpenAI's tables are public: `o200k_base` for gpt-4o and later, `cl100k_base` for gpt-4 and gpt-3.5. All other models are
/// counted with `o200k_base`, and the count is not called exact. A table is loaded once per process, at the first count.
///
/// For an empty id the larger count of the two tables is used, so that a budget holds for either.
pub fn counter_for_model(model: &str) -> Arc<dyn TokenCounter> {
    if model.trim().is_empty() {
        return Arc::new(LargerCount);
    }
    let (encoding, exact) = encoding_of(model);
    Arc::new(TableCounter { encoding, exact })
}

/// Estimates the tokens of a text as a quarter of its bytes, rounded up. The estimate is within about 30 % for English prose
/// and code, and can be off by a factor of two for other scripts and for long runs of digits or symbols.
pub fn estimate(text: &str) -> usize {
    estimate_of(text.len())
}

/// Like [`estimate`], for a text of `bytes` bytes.
pub fn estimate_of(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    O200k,
    Cl100k,
}

impl Encoding {
    fn table(self) -> &'static bpe_openai::Tokenizer {
        match self {
            O200k => bpe_openai::o200k_base(),
            Cl100k => bpe_openai::cl100k_base(),
        }
    }
}

/// The encoding for a model, and whether the model uses it.
fn encoding_of(model: &str) -> (Encoding, bool) {
    let lower = model.trim().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    const NEW: [&str; 5] = ["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt-4o"];
    const OLD: [&str; 3] = ["gpt-4", "gpt-3.5", "gpt-35"];
    let reasoning = ["o1", "o3", "o4"].iter().any(|series| name == *series || name.starts_with(&format!("{series}-")));
    if reasoning || NEW.iter().any(|prefix| name.starts_with(prefix)) {
        (O200k, true)
    } else if OLD.iter().any(|prefix| name.starts_with(prefix)) {
        (Cl100k, true)
    } else {
        (O200k, false)
    }
}

/// Counts with both tables and takes the larger count.
struct LargerCount;

impl TokenCounter for LargerCount {
    fn count(&self, text: &str) -> usize {
        self.measure(text).tokens
    }

    fn measure(&self, text: &str) -> TokenCount {
        let by = |encoding| TableCounter { encoding, exact: false }.measure(text);
        let (new, old) = (by(O200k), by(Cl100k));
        if new.tokens >= old.tokens { new } else { old }
    }

    fn exact(&self) -> bool {
        false
    }
}

/// Counts with one table.
struct TableCounter {
    encoding: Encoding,
    /// Whether it is the model's own table.
    exact: bool,
}

impl TokenCounter for TableCounter {
    fn count(&self, text: &str) -> usize {
        self.measure(text).tokens
    }

    fn measure(&self, text: &str) -> TokenCount {
        let table = self.encoding.table();
        measure(text, |piece| table.count(piece))
    }

    fn exact(&self) -> bool {
        self.exact
    }
}

/// Counts a text, whole or by samples; `table` counts a piece.
fn measure(text: &str, table: impl Fn(&str) -> usize) -> TokenCount {
    if text.len() > COUNT_WHOLE_LIMIT {
        return sampled(&table, text);
    }
    TokenCount { tokens: whole(&table, text), error: 0 }
}

/// Counts piece by piece. Both encodings end a word at a line feed, so a cut before a line that starts with a letter does
/// not change the count. A text without such lines can gain one token per [`MAX_PIECE`].
fn whole(table: &impl Fn(&str) -> usize, text: &str) -> usize {
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(piece_end(rest, MAX_PIECE));
        tokens += table(piece);
        rest = tail;
    }
    tokens
}

/// Counts evenly spaced samples and scales the sum by bytes. Each sample represents the stretch of text around it.
///
/// The error is [`STANDARD_ERRORS`] times the standard error from the differences of adjacent samples, so that a text that
/// changes slowly from start to end does not increase it. A text that is made to differ from its samples can exceed it. The
/// count is at most one token per byte.
fn sampled(table: &impl Fn(&str) -> usize, text: &str) -> TokenCount {
    let stretch = text.len() / SAMPLES;
    let mut bytes = 0usize;
    let mut tokens = 0usize;
    let mut rates: Vec<f64> = Vec::with_capacity(SAMPLES);
    for index in 0..SAMPLES {
        // The sample is in the middle of its stretch, so that the first and the last stretch are treated alike.
        let start = text.floor_char_boundary(index * stretch + stretch.saturating_sub(SAMPLE_BYTES) / 2);
        let end = text.floor_char_boundary(start + SAMPLE_BYTES);
        if let Some(sample) = text.get(start..end).filter(|sample| !sample.is_empty()) {
            let count = whole(table, sample);
            bytes += sample.len();
            tokens += count;
            rates.push(count as f64 / sample.len() as f64);
        }
    }
    if bytes == 0 {
        let tokens = estimate(text);
        return TokenCount { tokens, error: text.len() - tokens };
    }
    let scaled = (tokens as f64 * text.len() as f64 / bytes as f64).ceil();
    let error = (STANDARD_ERRORS * standard_error(&rates) * text.len() as f64).max(scaled * MIN_RELATIVE_ERROR);
    let tokens = (scaled as usize).min(text.len());
    TokenCount { tokens, error: (error.ceil() as usize).min(text.len()) }
}

/// The standard error of the mean of a series, estimated from the differences of adjacent values (von Neumann).
fn standard_error(values: &[f64]) -> f64 {
    let squares: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let pairs = values.len().saturating_sub(1).max(1) as f64;
    (squares / (2.0 * pairs)).sqrt() / (values.len().max(1) as f64).sqrt()
}

/// The end of a piece of at most `limit` bytes: before its last line that starts with a letter, else at its last character
/// boundary. Above 0 unless the text is empty.
fn piece_end(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    let end = text.floor_char_boundary(limit);
    let bytes = text.as_bytes();
    let line_start = (1..end).rev().find(|&at| bytes[at - 1] == b'\n' && bytes[at].is_ascii_alphabetic());
    line_start.unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_budget_without_a_model_holds_for_both_tables() {
        let text = "pub(crate) fn naïve_größe(&self) -> Result<(), 誤り> { …\n".repeat(20);
        let count = |model: &str| counter_for_model(model).count(&text);
        assert_eq!(count(""), count("gpt-4o").max(count("gpt-4")));
        assert!(!counter_for_model("").exact());
    }

    #[test]
    fn openai_models_are_counted_with_their_own_table() {
        for model in ["gpt-4o", "openai/gpt-4.1-mini", "gpt-5", "o1", "o3-mini", "o4-mini", "GPT-4o-2024-05-13"] {
            assert_eq!(encoding_of(model), (O200k, true), "{model}");
        }
        for model in ["gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "azure/gpt-35-turbo"] {
            assert_eq!(encoding_of(model), (Cl100k, true), "{model}");
        }
        for model in ["", "claude-opus", "o10", "ollama/llama3", "deepseek/deepseek-chat"] {
            assert_eq!(encoding_of(model), (O200k, false), "{model}");
            assert!(!counter_for_model(model).exact());
        }
    }

    #[test]
    fn known_texts_have_known_counts() {
        assert_eq!(counter_for_model("gpt-4").count("hello world"), 2);
        assert_eq!(counter_for_model("gpt-4o").count("hello world"), 2);
        assert_eq!(counter_for_model("gpt-4o").count(""), 0);
    }

    #[test]
    fn special_tokens_in_a_text_are_ordinary_text() {
        assert!(counter_for_model("gpt-4").count("<|endoftext|>") > 1);
    }

    #[test]
    fn long_runs_of_one_character_are_counted() {
        let counter = counter_for_model("gpt-4o");
        for run in [" ", "\n", "a", "1", "é", "\t \n", "="] {
            let text = run.repeat(300_000);
            assert!(counter.count(&text) > 0, "{run:?}");
        }
    }

    #[test]
    fn cutting_into_pieces_keeps_the_count_of_code() {
        let text: String = (0..6_000).map(|n| format!("fn f{n}() {{\n    g({n});\n}}\n\n")).collect();
        assert!(text.len() > 3 * MAX_PIECE);
        let table = |piece: &str| O200k.table().count(piece);
        assert_eq!(whole(&table, &text), table(&text));
    }

    #[test]
    fn a_large_text_is_sampled_within_the_stated_error() {
        let code = |n: usize| format!("let value_{n} = compute(&items[{n}], {});\n", n % 7);
        let logs = |n: usize| format!("2024-05-0{} {:08x} worker-{n}: done in {} ms\n", n % 9, n * 7919, n % 977);
        let prose =
            |n: usize| format!("The {n}th station of the harbour lies behind the mole, and few ships call there. ");
        let dense = |n: usize| if n.is_multiple_of(5) { "─┼═╬".repeat(n % 40) } else { code(n) };
        let texts: [&dyn Fn(usize) -> String; 4] = [&code, &logs, &prose, &dense];
        for (which, text) in texts.into_iter().enumerate() {
            let text: String = (0..12_000).map(text).collect();
            assert!(text.len() > 3 * COUNT_WHOLE_LIMIT);
            let exact = whole(&|piece: &str| O200k.table().count(piece), &text);
            let count = counter_for_model("gpt-4o").measure(&text);
            assert!(count.tokens.abs_diff(exact) <= count.error, "{which}: {count:?} for {exact}");
            assert!(count.error < exact / 4, "{which}: {count:?} for {exact}");
        }
    }

    #[test]
    fn a_text_that_is_counted_whole_has_no_error() {
        let text = "fn main() {}\n".repeat(COUNT_WHOLE_LIMIT / 13);
        assert_eq!(counter_for_model("gpt-4o").measure(&text).error, 0);
        assert_ne!(counter_for_model("gpt-4o").measure(&text.repeat(2)).error, 0);
    }

    #[test]
    fn an_estimate_is_a_quarter_of_the_bytes() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("abcde"), 2);
    }

    fn reference(encoding: Encoding) -> &'static tiktoken_rs::CoreBPE {
        match encoding {
            O200k => tiktoken_rs::o200k_base_singleton(),
            Cl100k => tiktoken_rs::cl100k_base_singleton(),
        }
    }

    #[test]
    fn source_code_is_counted_as_tiktoken_does() {
        let sources = [include_str!("lib.rs"), include_str!("../../../README.md"), include_str!("../../../Cargo.lock")];
        for source in sources {
            for encoding in [O200k, Cl100k] {
                let expected = reference(encoding).count_ordinary(source);
                assert_eq!(encoding.table().count(source), expected, "{encoding:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_counted_as_tiktoken_does(text in "(\\PC|[a-zA-Z0-9_ \n\t\r{}().,;:/]){0,80}") {
            for encoding in [O200k, Cl100k] {
                let expected = reference(encoding).count_ordinary(&text);
                prop_assert_eq!(encoding.table().count(&*text), expected);
            }
        }

        #[test]
        fn a_text_has_at_most_one_token_per_byte(text in "\\PC{0,200}") {
            let tokens = counter_for_model("gpt-4o").count(&text);
            prop_assert!(tokens <= text.len());
            prop_assert_eq!(tokens == 0, text.is_empty());
        }

        #[test]
        fn pieces_join_to_the_text(text in "[a\\n é]{0,60}", limit in 4usize..20) {
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let end = piece_end(rest, limit);
                prop_assert!(end > 0 && rest.is_char_boundary(end));
                rest = &rest[end..];
            }
        }
    }
}
