//! Parsing and normalization of model names. The same model has different names with different providers.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelName<'a> {
    /// The provider, if the name begins with one.
    pub provider: Option<&'static ProviderInfo>,
    /// The name without the provider: the id on the server.
    pub id: &'a str,
    /// Normalized id: `claude-sonnet-4-5-20250929` for `us.anthropic.claude-sonnet-4-5-20250929-v1:0`.
    pub key: String,
    /// The key without a date and without `preview`: `claude-sonnet-4-5`.
    pub base: String,
}

/// Regions and makers that can precede a model name, separated by dots.
const PREFIXES: [&str; 17] = [
    "us", "eu", "apac", "au", "jp", "ca", "sa", "global", "us-gov", "anthropic", "meta", "mistral", "amazon", "cohere",
    "deepseek", "qwen", "openai",
];

/// Suffixes after a colon that do not denote a different model.
const VARIANTS: [&str; 9] = ["free", "latest", "nitro", "floor", "extended", "beta", "thinking", "online", "exacto"];

impl<'a> ModelName<'a> {
    /// Parses `name`. An unknown name is its own key.
    pub(crate) fn of(name: &'a str) -> Self {
        let name = name.trim();
        let name = strip_ignoring_case(name, "models/").unwrap_or(name);
        let (provider, id) = match name.split_once('/') {
            Some((first, rest)) if !rest.is_empty() => match ProviderInfo::named(first) {
                Some(provider) => (Some(provider), rest),
                None => (None, name),
            },
            _ => (None, name),
        };
        let key = key(id);
        let base = without_date(&key).to_owned();
        Self { provider, id, key, base }
    }

    /// Returns whether the name ends with `:free`.
    pub(crate) fn is_free(name: &str) -> bool {
        name.to_ascii_lowercase().ends_with(":free")
    }
}

/// Normalizes the id of a model: the last component of a path in lower case, with single hyphens as separators and
/// between letters and digits (so that `llama3.1` and `Llama-3.1` are equal), without region and variant.
fn key(id: &str) -> String {
    let last = id.rsplit('/').find(|part| !part.is_empty()).unwrap_or(id).to_ascii_lowercase();
    let mut name = last.as_str();
    while let Some((first, rest)) = name.split_once('.').filter(|(first, _)| PREFIXES.contains(first)) {
        let _ = first;
        name = rest;
    }
    // A fine-tuned model keeps its prefix and loses the names of its owner.
    if let Some(tuned) = name.strip_prefix("ft:") {
        return format!("ft-{}", pieces(tuned.split(':').next().unwrap_or(tuned)));
    }
    name = name.split('@').next().unwrap_or(name);
    if let Some((before, variant)) = name.rsplit_once(':') {
        if VARIANTS.contains(&variant) {
            name = before;
        } else if !variant.is_empty() && variant.bytes().all(|byte| byte.is_ascii_digit()) {
            name = without_revision(before);
        }
    }
    let pieces = pieces(name.strip_suffix("-latest").unwrap_or(name));
    // Azure writes `gpt-35` because it does not allow dots.
    match pieces.strip_prefix("gpt-35") {
        Some(rest) => format!("gpt-3-5{rest}"),
        None => pieces,
    }
}

/// Removes a suffix such as `-v1`.
fn without_revision(name: &str) -> &str {
    match name.rsplit_once("-v") {
        Some((before, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => name,
    }
}

/// Replaces separators with single hyphens and adds one between a letter and a digit. A `p` between digits is a
/// separator too, since some servers do not allow dots.
fn pieces(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or(' ');
    let mut out = String::with_capacity(name.len() + 4);
    for (index, &c) in chars.iter().enumerate() {
        let before = if index == 0 { ' ' } else { at(index - 1) };
        let point = c == 'p' && before.is_ascii_digit() && at(index + 1).is_ascii_digit();
        if point || matches!(c, '-' | '.' | '_' | ':' | ' ') {
            if !out.is_empty() && !out.ends_with('-') {
                out.push('-');
            }
        } else {
            if c.is_ascii_digit() && out.ends_with(|last: char| last.is_alphabetic()) {
                out.push('-');
            }
            out.push(c);
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// Removes the date (`-20250929`, `-2025-08-07`, `-0613`, `-05-06`) and `-preview` or `-exp` from the end of a key.
fn without_date(key: &str) -> &str {
    let mut name = key;
    loop {
        let shorter = without_last_numbers(name);
        let shorter = ["-preview", "-exp", "-experimental", "-beta"]
            .iter()
            .find_map(|suffix| shorter.strip_suffix(suffix))
            .unwrap_or(shorter);
        if shorter.len() == name.len() || shorter.is_empty() {
            return name;
        }
        name = shorter;
    }
}

/// Removes numbers at the end that can only be a date: 8 or 4 digits, or groups of 4-2-2 or 2-2 digits with a leading
/// zero.
fn without_last_numbers(name: &str) -> &str {
    let mut starts = Vec::new();
    let mut end = name.len();
    while let Some(start) = name[..end].rfind('-') {
        let piece = &name[start + 1..end];
        if piece.is_empty() || !piece.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        starts.push((start, piece));
        end = start;
    }
    let lengths: Vec<usize> = starts.iter().map(|(_, piece)| piece.len()).collect();
    let zero = starts.iter().take(2).any(|(_, piece)| piece.starts_with('0'));
    let taken: usize = match lengths.as_slice() {
        [8, ..] | [4, ..] => 1,
        [2, 2, 4, ..] => 3,
        [2, 2, ..] if zero => 2,
        _ => 0,
    };
    taken.checked_sub(1).and_then(|last| starts.get(last)).map_or(name, |(start, _)| &name[..*start])
}

fn strip_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Returns whether `text` matches `pattern`, in which `*` matches any text.
pub(crate) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut open = false;
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        open = true;
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    open || rest.is_empty()
}

/// Returns the version number in a key: the first number and the next one as its decimals, so that 4.20 sorts before
/// 4.7. Dates and sizes (`70b`) are not version numbers.
pub(crate) fn version(key: &str) -> (u32, String) {
    let mut pieces = key.split('-').skip_while(|piece| number(piece).is_none());
    let major = pieces.next().and_then(number).unwrap_or_default();
    let minor = pieces.next().filter(|piece| number(piece).is_some()).unwrap_or_default();
    (major, minor.trim_end_matches('0').to_owned())
}

/// Returns the major and minor version of a GPT model, from its base: (5, 4) for `gpt-5-4-mini`.
pub(crate) fn gpt_version(base: &str) -> Option<(u32, u32)> {
    let mut pieces = base.strip_prefix("gpt-")?.split('-').map(number);
    Some((pieces.next()??, pieces.next().flatten().unwrap_or_default()))
}

fn number(piece: &str) -> Option<u32> {
    piece.parse().ok().filter(|_| piece.len() <= 2)
}

/// Returns the number of parameters in billions according to a key, or the largest if there are several.
pub(crate) fn billions(key: &str) -> Option<f64> {
    let pieces: Vec<&str> = key.split('-').collect();
    let sizes = pieces.iter().enumerate().filter_map(|(at, piece)| {
        let size: f64 = piece.strip_suffix('b')?.parse().ok()?;
        // `0.6b` and `1.5b` are written with a hyphen in a key. But `qwen-3-8b` means version 3 with eight billions.
        let half =
            at.checked_sub(1).and_then(|before| pieces.get(before)).is_some_and(|piece| matches!(*piece, "0" | "1"));
        Some(if half && size < 10.0 { 1.0 } else { size })
    });
    sizes.reduce(f64::max)
}

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
    Unknown,
}

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

    pub(crate) fn is_maker(name: &str) -> bool {
        PROVIDERS.iter().any(|provider| provider.name == name && provider.price_source == PriceSource::Maker)
    }

    /// Returns the position in [`PROVIDERS`], or its length for an unknown provider.
    pub(crate) fn position(name: &str) -> usize {
        PROVIDERS.iter().position(|provider| provider.name == name).unwrap_or(PROVIDERS.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(name: &str) -> (Option<&'static str>, String, String) {
        let name = ModelName::of(name);
        (name.provider.map(|provider| provider.name), name.key, name.base)
    }

    #[test]
    fn one_model_has_one_base_however_its_name_is_written() {
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4.5",
            "Claude-Sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4-5",
            "openrouter/anthropic/claude-sonnet-4.5:free",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "vertex_ai/claude-sonnet-4-5@20250929",
            "claude-sonnet-4-5-latest",
        ] {
            assert_eq!(parts(name).2, "claude-sonnet-4-5", "{name}");
        }
        for name in ["gpt-4o-2024-08-06", "azure/gpt-4o", "openai/gpt-4o:latest", "GPT-4O"] {
            assert_eq!(parts(name).2, "gpt-4o", "{name}");
        }
        assert_eq!(parts("models/gemini-2.5-pro-preview-05-06").2, "gemini-2-5-pro");
        assert_eq!(parts("gemini/gemini-2.5-pro").2, "gemini-2-5-pro");
        assert_eq!(parts("azure/gpt-35-turbo").2, parts("gpt-3.5-turbo-0125").2);
        assert_eq!(parts("fireworks_ai/accounts/fireworks/models/deepseek-v3p1").2, parts("DeepSeek-V3.1").2);
        assert_eq!(parts("llama3.1:70b").2, parts("meta-llama/Llama-3.1-70B").2);
        assert_eq!(parts("ft:gpt-4o-mini-2024-07-18:my-org:name:id").2, "ft-gpt-4o-mini");
    }

    #[test]
    fn different_models_have_different_bases() {
        for (one, other) in [
            ("qwen2.5-coder:14b", "qwen2.5-coder:7b"),
            ("deepseek-v3", "deepseek-v2"),
            ("gpt-4-1", "gpt-4"),
            ("o1-mini", "o1"),
            ("gemini-2.5-flash", "gemini-2.5-flash-lite"),
        ] {
            assert_ne!(parts(one).2, parts(other).2);
        }
        assert_ne!(parts("gpt-4-0613").1, parts("gpt-4").1);
    }

    #[test]
    fn only_known_providers_are_split_off() {
        assert_eq!(parts("together_ai/meta-llama/Llama-3").0, Some("together"));
        assert_eq!(parts("meta-llama/Llama-3").0, None);
        assert_eq!(parts("gpt-4o").0, None);
        assert_eq!(parts("openai/").0, None);
        assert_eq!(ModelName::of("openrouter/x-ai/grok-4").id, "x-ai/grok-4");
    }

    #[test]
    fn a_star_matches_any_text() {
        assert!(
            matches_pattern("claude-*sonnet*", "claude-3-7-sonnet") && matches_pattern("*coder*", "qwen-2-5-coder-32b")
        );
        assert!(
            matches_pattern("gemini-*-flash", "gemini-2-5-flash")
                && !matches_pattern("gemini-*-flash", "gemini-2-5-flash-lite")
        );
        assert!(
            matches_pattern("gpt-4o", "gpt-4o")
                && !matches_pattern("gpt-4o", "gpt-4o-mini")
                && matches_pattern("*", "")
        );
    }

    #[test]
    fn versions_are_ordered_as_decimals() {
        assert!(version("grok-4-20") < version("grok-4-7"));
        assert!(version("claude-opus-4-8") < version("claude-opus-5"));
        assert!(version("gpt-4o") < version("gpt-5-4-mini"));
        assert_eq!(version("llama-70b"), (0, String::new()));
    }

    #[test]
    fn gpt_versions_are_read_from_the_name() {
        let version = |name: &str| gpt_version(&ModelName::of(name).base);
        for (name, expected) in [
            ("gpt-5.4", (5, 4)),
            ("openai/GPT-5.4-mini-2026-03-17", (5, 4)),
            ("gpt-6.1-sol", (6, 1)),
            ("gpt-5.10", (5, 10)),
            ("gpt-6", (6, 0)),
            ("gpt-5-2025-08-07", (5, 0)),
            ("gpt-5.1-chat-latest", (5, 1)),
            ("gpt-4.1-nano", (4, 1)),
            ("gpt-4-0613", (4, 0)),
        ] {
            assert_eq!(version(name), Some(expected), "{name}");
        }
        for name in ["gpt-oss-120b", "gpt-4o-2024-08-06", "gpt-audio-1.5", "o3", "claude-opus-5-5", "gpt-"] {
            assert_eq!(version(name), None, "{name}");
        }
    }

    #[test]
    fn sizes_are_read_from_the_name() {
        let size = |name: &str| billions(&ModelName::of(name).key);
        assert_eq!(size("qwen2.5-coder:14b"), Some(14.0));
        assert_eq!(size("Qwen3-30B-A3B"), Some(30.0));
        assert_eq!(size("qwen3:0.6b"), Some(1.0));
        assert_eq!(size("gpt-4o"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_valid_name(text in "\\PC{0,40}") {
            let name = ModelName::of(&text);
            prop_assert!(name.key.starts_with(&name.base));
            // A key is stable under normalization.
            prop_assert_eq!(pieces(&name.base), name.base);
        }
    }
}
