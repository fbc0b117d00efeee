//! Known providers, and whose prices apply to their models.

/// Whose prices apply at a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PriceSource {
    /// Its own. It makes the models that it serves.
    Maker,
    /// Its own, for models of others.
    Reseller,
    /// Those of the maker of the model.
    ByMaker,
    /// None: it runs on the user's machine.
    Free,
    /// Prices that are in no list.
    Unknown,
}

/// A provider, as in the prefix of a model name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProviderInfo {
    /// Name in this crate.
    pub name: &'static str,
    /// Other names.
    also: &'static [&'static str],
    /// Whose prices apply.
    pub price_source: PriceSource,
}

const fn provider(name: &'static str, also: &'static [&'static str], price_source: PriceSource) -> ProviderInfo {
    ProviderInfo { name, also, price_source }
}

/// All known providers. Makers come before resellers, since a model without provider belongs to its maker.
pub(crate) const PROVIDERS: [ProviderInfo; 27] = [
    provider("openai", &[], PriceSource::Maker),
    provider("anthropic", &[], PriceSource::Maker),
    provider("gemini", &["google"], PriceSource::Maker),
    provider("deepseek", &["deepseek-ai"], PriceSource::Maker),
    provider("xai", &["x-ai"], PriceSource::Maker),
    provider("mistral", &["mistralai"], PriceSource::Maker),
    provider("moonshot", &["moonshotai"], PriceSource::Maker),
    provider("zai", &["z-ai", "zai-org", "zhipuai"], PriceSource::Maker),
    provider("dashscope", &["alibaba", "qwen"], PriceSource::Maker),
    provider("minimax", &["minimaxai"], PriceSource::Maker),
    provider("perplexity", &[], PriceSource::Reseller),
    provider("cohere", &["cohere_chat"], PriceSource::Maker),
    provider("groq", &[], PriceSource::Reseller),
    provider("cerebras", &[], PriceSource::Reseller),
    provider("together", &["together_ai", "togetherai"], PriceSource::Reseller),
    provider("fireworks", &["fireworks_ai", "fireworks-ai"], PriceSource::Reseller),
    provider("openrouter", &[], PriceSource::ByMaker),
    provider("azure", &["azure_ai"], PriceSource::ByMaker),
    provider("bedrock", &["bedrock_converse", "amazon-bedrock"], PriceSource::Unknown),
    provider("vertex", &["vertex_ai", "google-vertex"], PriceSource::Unknown),
    provider("github-copilot", &["github_copilot", "copilot"], PriceSource::Unknown),
    provider("ollama", &["ollama_chat"], PriceSource::Free),
    provider("lmstudio", &["lm_studio", "lm-studio"], PriceSource::Free),
    provider("llamacpp", &["llama.cpp", "llama-cpp"], PriceSource::Free),
    provider("vllm", &["hosted_vllm"], PriceSource::Free),
    provider("llamafile", &[], PriceSource::Free),
    provider("local", &[], PriceSource::Free),
];

/// Returns whether the provider's models are taken from public lists: providers with an API key and prices of their
/// own.
pub(crate) fn is_listed(provider: &ProviderInfo) -> bool {
    matches!(provider.price_source, PriceSource::Maker | PriceSource::Reseller) || provider.name == "openrouter"
}

impl ProviderInfo {
    /// Returns the provider of that name, ignoring case.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        PROVIDERS.iter().find(|provider| is(provider.name) || provider.also.iter().any(|also| is(also)))
    }

    /// Returns whether the provider makes the models that it serves.
    pub(crate) fn is_maker(name: &str) -> bool {
        PROVIDERS.iter().any(|provider| provider.name == name && provider.price_source == PriceSource::Maker)
    }

    /// Returns the position in [`PROVIDERS`], or its length for an unknown provider.
    pub(crate) fn place(name: &str) -> usize {
        PROVIDERS.iter().position(|provider| provider.name == name).unwrap_or(PROVIDERS.len())
    }
}
