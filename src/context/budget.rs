//! How much fits: the context window of a model and the share of it that the repo map may take.

/// The window assumed for a model that we do not know, in tokens. Small enough that most servers take it.
pub const DEFAULT_WINDOW: usize = 32_768;

/// A model's context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Input and output together, in tokens.
    pub tokens: usize,
    /// False when the number is an assumption; such a window warns, it does not forbid.
    pub known: bool,
}

/// Windows by the beginning of the model's name (after a provider prefix such as `openai/`), longest match first in spirit:
/// the first row that fits wins. From the vendors' published limits.
const WINDOWS: &[(&str, usize)] = &[
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192),
    ("gpt-3.5-turbo", 16_385),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("claude", 200_000),
    ("gemini", 1_048_576),
    ("deepseek", 128_000),
    ("qwen3", 131_072),
    ("qwen2.5-coder", 32_768),
    ("llama-3.", 131_072),
    ("llama3.", 131_072),
    ("llama-3", 8_192),
    ("llama3", 8_192),
    ("mistral-large", 131_072),
    ("codestral", 262_144),
    ("devstral", 131_072),
    ("grok-4", 262_144),
    ("kimi-k2", 262_144),
    ("glm-4.", 131_072),
];

impl Window {
    /// The window of `model`, or an assumption.
    pub fn of_model(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let known = WINDOWS.iter().find(|(prefix, _)| name.starts_with(prefix));
        known.map_or(Self { tokens: DEFAULT_WINDOW, known: false }, |(_, tokens)| Self { tokens: *tokens, known: true })
    }

    /// Tokens of the window kept free for the answer: an eighth, at most 16,384.
    pub fn reserved_output(self) -> usize {
        (self.tokens / 8).min(16_384)
    }

    /// Tokens that a request may hold.
    pub fn max_input(self) -> usize {
        self.tokens - self.reserved_output()
    }
}

/// The share of the window that the repo map may take, in tokens: an eighth, between 1,024 and 4,096, and twice that while
/// no file is in the chat, because the map is then all the model sees (aider's rule, with its default multiplier).
pub fn map_budget(window: Window, has_chat_files: bool) -> usize {
    let share = (window.max_input() / 8).clamp(1_024, 4_096);
    if has_chat_files { share } else { (share * 2).min(window.max_input() / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_prefix_does_not_hide_the_model() {
        assert_eq!(Window::of_model("openai/gpt-4o-mini"), Window { tokens: 128_000, known: true });
        assert!(!Window::of_model("my-finetune").known);
    }

    #[test]
    fn the_map_takes_more_while_no_file_is_in_the_chat() {
        let window = Window { tokens: 128_000, known: true };
        assert_eq!(map_budget(window, true), 4_096);
        assert_eq!(map_budget(window, false), 8_192);
        assert_eq!(map_budget(Window { tokens: 4_096, known: true }, true), 1_024);
    }
}
