//! Counting tokens: exactly where the model's table is public, with a stated error everywhere else.
//!
//! What a provider will charge for is counted with `tiktoken-rs`, the port of the provider's own tokenizer. Everything
//! else, the budget of a map first of all, is counted with `bpe-openai`: the same tables and the same counts (a test
//! holds the two against each other), four times as fast and loaded in a fifth of the time.

mod calibration;
mod image;
mod memo;

use std::sync::Arc;

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

use self::Encoding::{Cl100k, O200k};
pub use self::calibration::{Calibrated, Calibration};
pub use self::image::{Detail, ImageCost, PictureLimit, picture_size, picture_type};
pub use self::memo::{LineCount, LineMemo};

/// Texts above this many bytes are sampled rather than counted whole: counting them would take more than 5 ms.
pub const COUNT_WHOLE_LIMIT: usize = 128 * 1024;

/// Longest piece handed to the tokenizer at once, in bytes. Its splitting regex backtracks within a run of white space
/// and gives up on very long runs; cut into pieces, no input can make it fail.
const PIECE: usize = 32 * 1024;

/// Size of one sample of a text above [`COUNT_WHOLE_LIMIT`], in bytes.
const SAMPLE: usize = 2 * 1024;

/// Samples taken from a text above [`COUNT_WHOLE_LIMIT`]: 128 KiB in all.
const SAMPLES: usize = 64;

/// The stated error of a sampled count is this many standard errors of its mean.
const STANDARD_ERRORS: f64 = 4.0;

/// … and at least this share of the count: cuts through words are no matter of chance.
const LEAST_ERROR: f64 = 0.01;

/// The tokens of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// How many.
    pub tokens: usize,
    /// By how many more or fewer the whole text might come out, because only samples of it were counted; 0 where all of it
    /// was.
    pub error: usize,
}

/// Counts the tokens that a text costs in a request.
pub trait TokenCounter: Send + Sync {
    /// Tokens of `text`. Special tokens written in the text count as the ordinary text that they are sent as.
    fn count(&self, text: &str) -> usize;

    /// Tokens of `text`, and by how many that may be off where the text is above [`COUNT_WHOLE_LIMIT`].
    fn measure(&self, text: &str) -> TokenCount {
        TokenCount { tokens: self.count(text), error: 0 }
    }

    /// True when the model's own table is used, so that a count below [`COUNT_WHOLE_LIMIT`] is what the provider
    /// charges for the text. False for a neighbour's table, which may be off by some 20 %.
    fn exact(&self) -> bool;
}

/// The counter for a model id, as written in the settings (`gpt-4o`, `openai/gpt-5-mini`, `claude-…`).
///
/// OpenAI's models have public tables: `o200k_base` from gpt-4o on, `cl100k_base` for gpt-4 and gpt-3.5. Every other
/// model is counted with `o200k_base` and not called exact. A table is loaded at the first count, once a process.
///
/// Without a name the larger count of the two tables is taken: whichever model the text goes to, a budget holds.
pub fn counter_for_model(model: &str) -> Arc<dyn TokenCounter> {
    if model.trim().is_empty() {
        return Arc::new(LargerCount);
    }
    let (encoding, exact) = encoding_of(model);
    if exact { Arc::new(ExactCounter { encoding }) } else { Arc::new(QuickCounter { encoding }) }
}

/// A rough count without a table: a quarter of the bytes, rounded up. English prose and code come out within about
/// 30 %; scripts outside Latin and long runs of digits or symbols can be off by a factor of two.
pub fn estimate(text: &str) -> usize {
    estimate_of(text.len())
}

/// The same for a text of so many bytes.
pub fn estimate_of(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    O200k,
    Cl100k,
}

impl Encoding {
    fn table(self) -> &'static CoreBPE {
        match self {
            O200k => o200k_base_singleton(),
            Cl100k => cl100k_base_singleton(),
        }
    }

    fn quick_table(self) -> &'static bpe_openai::Tokenizer {
        match self {
            O200k => bpe_openai::o200k_base(),
            Cl100k => bpe_openai::cl100k_base(),
        }
    }
}

/// The encoding of a model and whether it is the model's own.
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

/// The larger of the counts by both tables.
struct LargerCount;

impl TokenCounter for LargerCount {
    fn count(&self, text: &str) -> usize {
        self.measure(text).tokens
    }

    fn measure(&self, text: &str) -> TokenCount {
        let by = |encoding| QuickCounter { encoding }.measure(text);
        let (new, old) = (by(O200k), by(Cl100k));
        if new.tokens >= old.tokens { new } else { old }
    }

    fn exact(&self) -> bool {
        false
    }
}

/// Counts with the model's own table: by the port of the provider's tokenizer where that takes no time, by the quick one with
/// the same counts above [`PIECE`].
struct ExactCounter {
    encoding: Encoding,
}

impl TokenCounter for ExactCounter {
    fn count(&self, text: &str) -> usize {
        self.measure(text).tokens
    }

    fn measure(&self, text: &str) -> TokenCount {
        if text.len() > PIECE {
            return QuickCounter { encoding: self.encoding }.measure(text);
        }
        let table = self.encoding.table();
        measure(text, |piece| table.count_ordinary(piece))
    }

    fn exact(&self) -> bool {
        true
    }
}

/// Counts with a neighbour's table.
struct QuickCounter {
    encoding: Encoding,
}

impl TokenCounter for QuickCounter {
    fn count(&self, text: &str) -> usize {
        self.measure(text).tokens
    }

    fn measure(&self, text: &str) -> TokenCount {
        let table = self.encoding.quick_table();
        measure(text, |piece| table.count(piece))
    }

    fn exact(&self) -> bool {
        false
    }
}

/// Counts a text, whole or by samples, with a table that counts a piece.
fn measure(text: &str, table: impl Fn(&str) -> usize) -> TokenCount {
    if text.len() > COUNT_WHOLE_LIMIT {
        return sampled(&table, text);
    }
    TokenCount { tokens: whole(&table, text), error: 0 }
}

/// Counts piece by piece. Both encodings end a word at a line end, so a cut before a line that starts with a letter
/// changes nothing; only a text without such lines can gain a token at a cut, one per 32 KiB.
fn whole(table: &impl Fn(&str) -> usize, text: &str) -> usize {
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(piece_end(rest, PIECE));
        tokens += table(piece);
        rest = tail;
    }
    tokens
}

/// Counts evenly spaced samples and scales by bytes. Each sample stands for the stretch of text around it, so the error
/// is that of the stretches, not of the whole. It is stated as [`STANDARD_ERRORS`] of how much the samples differ from their
/// neighbours: a text that changes slowly from one end to the other does not make it larger. A text that differs from its
/// samples on purpose can be off by more. Never more than one token a byte.
fn sampled(table: &impl Fn(&str) -> usize, text: &str) -> TokenCount {
    let stretch = text.len() / SAMPLES;
    let mut bytes = 0usize;
    let mut tokens = 0usize;
    let mut rates: Vec<f64> = Vec::with_capacity(SAMPLES);
    for index in 0..SAMPLES {
        // From the middle of the stretch, so that no end of the text is passed over.
        let start = floor_boundary(text, index * stretch + stretch.saturating_sub(SAMPLE) / 2);
        let end = floor_boundary(text, start + SAMPLE);
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
    let error = (STANDARD_ERRORS * standard_error(&rates) * text.len() as f64).max(scaled * LEAST_ERROR);
    let tokens = (scaled as usize).min(text.len());
    TokenCount { tokens, error: (error.ceil() as usize).min(text.len()) }
}

/// The standard error of the mean of values in the order of their places, from the differences of neighbours.
fn standard_error(values: &[f64]) -> f64 {
    let squares: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let pairs = values.len().saturating_sub(1).max(1) as f64;
    (squares / (2.0 * pairs)).sqrt() / (values.len().max(1) as f64).sqrt()
}

/// Where to cut a piece of at most `limit` bytes: before the last line within it that starts with a letter, else at the
/// last character boundary. The result is above 0 for a text that is not empty.
fn piece_end(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    let end = floor_boundary(text, limit);
    let bytes = text.as_bytes();
    let line_start = (1..end).rev().find(|&at| bytes[at - 1] == b'\n' && bytes[at].is_ascii_alphabetic());
    line_start.unwrap_or(end)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
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
    fn long_runs_do_not_break_the_tokenizer() {
        let counter = counter_for_model("gpt-4o");
        for run in [" ", "\n", "a", "1", "é", "\t \n", "="] {
            let text = run.repeat(300_000);
            assert!(counter.count(&text) > 0, "{run:?}");
        }
    }

    #[test]
    fn cutting_into_pieces_keeps_the_count_of_code() {
        let text: String = (0..6_000).map(|n| format!("fn f{n}() {{\n    g({n});\n}}\n\n")).collect();
        assert!(text.len() > 3 * PIECE);
        let table = |piece: &str| O200k.table().count_ordinary(piece);
        assert_eq!(whole(&table, &text), table(&text));
    }

    #[test]
    fn a_large_text_is_sampled_within_the_stated_error() {
        let code = |n: usize| format!("let value_{n} = compute(&items[{n}], {});\n", n % 7);
        let logs = |n: usize| format!("2024-05-0{} {:08x} worker-{n}: done in {} ms\n", n % 9, n * 7919, n % 977);
        let prose =
            |n: usize| format!("The {n}th station of the harbour lies behind the mole, and nobody goes there. ");
        let dense = |n: usize| if n.is_multiple_of(5) { "─┼═╬".repeat(n % 40) } else { code(n) };
        let texts: [&dyn Fn(usize) -> String; 4] = [&code, &logs, &prose, &dense];
        for (which, text) in texts.into_iter().enumerate() {
            let text: String = (0..12_000).map(text).collect();
            assert!(text.len() > 3 * COUNT_WHOLE_LIMIT);
            let exact = whole(&|piece: &str| O200k.table().count_ordinary(piece), &text);
            let count = counter_for_model("gpt-4o").measure(&text);
            assert!(count.tokens.abs_diff(exact) <= count.error, "{which}: {count:?} for {exact}");
            assert!(count.error < exact / 4, "{which}: {count:?} for {exact}");
        }
    }

    #[test]
    fn what_is_counted_whole_has_no_error() {
        let text = "fn main() {}\n".repeat(COUNT_WHOLE_LIMIT / 13);
        assert_eq!(counter_for_model("gpt-4o").measure(&text).error, 0);
        assert_ne!(counter_for_model("gpt-4o").measure(&text.repeat(2)).error, 0);
    }

    #[test]
    fn an_estimate_is_a_quarter_of_the_bytes() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("abcde"), 2);
    }

    #[test]
    fn the_quick_tables_count_source_code_as_the_reference_does() {
        for source in [include_str!("lib.rs"), include_str!("../../../README.md"), include_str!("../../../Cargo.lock")]
        {
            for encoding in [O200k, Cl100k] {
                let quick = encoding.quick_table().count(source);
                assert_eq!(quick, encoding.table().count_ordinary(source), "{encoding:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_quick_tables_count_any_text_as_the_reference_does(text in "(\\PC|[a-zA-Z0-9_ \n\t\r{}().,;:/]){0,80}") {
            for encoding in [O200k, Cl100k] {
                let reference = encoding.table().count_ordinary(&text);
                prop_assert_eq!(encoding.quick_table().count(&*text), reference);
            }
        }

        #[test]
        fn a_text_has_at_most_a_token_a_byte(text in "\\PC{0,200}") {
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
