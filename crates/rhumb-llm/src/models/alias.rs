//! Short names of models, each for the newest of a family in the table.

/// A short name.
pub(super) struct Alias {
    /// As it is typed.
    pub name: &'static str,
    /// Who makes the family.
    pub provider: &'static str,
    /// What the newest model fits: the first pattern that fits any. `*` stands for anything; models are compared without
    /// their dates (see `name`).
    pub patterns: &'static [&'static str],
}

const fn alias(name: &'static str, provider: &'static str, patterns: &'static [&'static str]) -> Alias {
    Alias { name, provider, patterns }
}

/// Every short name.
pub(super) const ALIASES: [Alias; 24] = [
    alias("sonnet", "anthropic", &["claude-*sonnet*"]),
    alias("opus", "anthropic", &["claude-*opus*"]),
    alias("haiku", "anthropic", &["claude-*haiku*"]),
    alias("claude", "anthropic", &["claude-*sonnet*"]),
    alias("gpt", "openai", &["gpt-*-sol", "gpt-*"]),
    alias("gpt5", "openai", &["gpt-5*"]),
    alias("4o", "openai", &["gpt-4o"]),
    alias("mini", "openai", &["gpt-*-mini"]),
    alias("nano", "openai", &["gpt-*-nano"]),
    alias("luna", "openai", &["gpt-*-luna"]),
    alias("terra", "openai", &["gpt-*-terra"]),
    alias("codex", "openai", &["gpt-*-codex"]),
    alias("gemini", "gemini", &["gemini-*-pro"]),
    alias("pro", "gemini", &["gemini-*-pro"]),
    alias("flash", "gemini", &["gemini-*-flash"]),
    alias("flash-lite", "gemini", &["gemini-*-flash-lite"]),
    alias("deepseek", "deepseek", &["deepseek-v-*-pro", "deepseek-chat"]),
    alias("r1", "deepseek", &["deepseek-r-1*", "deepseek-reasoner"]),
    alias("grok", "xai", &["grok-*"]),
    alias("codestral", "mistral", &["codestral"]),
    alias("devstral", "mistral", &["devstral*"]),
    alias("qwen", "dashscope", &["qwen-*-coder-plus", "qwen-*"]),
    alias("kimi", "moonshot", &["kimi-*"]),
    alias("glm", "zai", &["glm-*"]),
];

/// The short name of that spelling, in whatever case.
pub(super) fn named(name: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.name.eq_ignore_ascii_case(name))
}
