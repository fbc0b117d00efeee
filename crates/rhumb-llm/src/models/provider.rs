//! Who serves models, and whose prices hold there.

/// What the name of a provider says of its prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tariff {
    /// Its own: it makes the models that it serves.
    Maker,
    /// Its own, for models that others made.
    Seller,
    /// It takes the prices of whoever made the model.
    Makers,
    /// It runs on the user's machine: tokens cost nothing.
    Free,
    /// Its prices are in no list that we read.
    Unknown,
}

/// A provider as it is named before the slash of a model's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Provider {
    /// Our name for it.
    pub name: &'static str,
    /// What others call it.
    also: &'static [&'static str],
    /// Whose prices hold.
    pub tariff: Tariff,
}

const fn provider(name: &'static str, also: &'static [&'static str], tariff: Tariff) -> Provider {
    Provider { name, also, tariff }
}

/// Every provider that we know by name. Makers come before resellers: a model that is named without a provider is the maker's.
pub(super) const PROVIDERS: [Provider; 27] = [
    provider("openai", &[], Tariff::Maker),
    provider("anthropic", &[], Tariff::Maker),
    provider("gemini", &["google"], Tariff::Maker),
    provider("deepseek", &["deepseek-ai"], Tariff::Maker),
    provider("xai", &["x-ai"], Tariff::Maker),
    provider("mistral", &["mistralai"], Tariff::Maker),
    provider("moonshot", &["moonshotai"], Tariff::Maker),
    provider("zai", &["z-ai", "zai-org", "zhipuai"], Tariff::Maker),
    provider("dashscope", &["alibaba", "qwen"], Tariff::Maker),
    provider("minimax", &["minimaxai"], Tariff::Maker),
    provider("perplexity", &[], Tariff::Seller),
    provider("cohere", &["cohere_chat"], Tariff::Maker),
    provider("groq", &[], Tariff::Seller),
    provider("cerebras", &[], Tariff::Seller),
    provider("together", &["together_ai", "togetherai"], Tariff::Seller),
    provider("fireworks", &["fireworks_ai", "fireworks-ai"], Tariff::Seller),
    provider("openrouter", &[], Tariff::Makers),
    provider("azure", &["azure_ai"], Tariff::Makers),
    provider("bedrock", &["bedrock_converse", "amazon-bedrock"], Tariff::Unknown),
    provider("vertex", &["vertex_ai", "google-vertex"], Tariff::Unknown),
    provider("github-copilot", &["github_copilot", "copilot"], Tariff::Unknown),
    provider("ollama", &["ollama_chat"], Tariff::Free),
    provider("lmstudio", &["lm_studio", "lm-studio"], Tariff::Free),
    provider("llamacpp", &["llama.cpp", "llama-cpp"], Tariff::Free),
    provider("vllm", &["hosted_vllm"], Tariff::Free),
    provider("llamafile", &[], Tariff::Free),
    provider("local", &[], Tariff::Free),
];

/// The providers whose models are kept of the public lists: those that take a plain key, and have prices of their own.
pub(super) fn is_listed(provider: &Provider) -> bool {
    matches!(provider.tariff, Tariff::Maker | Tariff::Seller) || provider.name == "openrouter"
}

impl Provider {
    /// The provider of that name, in whatever case.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        PROVIDERS.iter().find(|provider| is(provider.name) || provider.also.iter().any(|also| is(also)))
    }

    /// Whether it makes the models that it serves.
    pub(super) fn is_maker(name: &str) -> bool {
        PROVIDERS.iter().any(|provider| provider.name == name && provider.tariff == Tariff::Maker)
    }

    /// The place among [`PROVIDERS`]; past the end for one that is not there.
    pub(super) fn place(name: &str) -> usize {
        PROVIDERS.iter().position(|provider| provider.name == name).unwrap_or(PROVIDERS.len())
    }
}
