//! The built-in providers: their addresses, APIs and key variables; and the providers of the settings.

use super::{Entry, Layers};
use rhumb_llm::models::Api;
use rhumb_llm::redacted_url;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A built-in provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// The name before the `/` of `NAME/model`.
    pub name: &'static str,
    /// The API.
    pub api: Api,
    /// The root of the API; `None` if every user has another address.
    pub base_url: Option<&'static str>,
    /// The variables with its key; the first one that is set is used.
    pub key_variables: &'static [&'static str],
    /// The variables with another address.
    pub url_variables: &'static [&'static str],
    /// The default model, or an alias for the newest model of a family.
    pub default_model: Option<&'static str>,
    /// The prefixes of the names of its models; empty if it serves models of other makers.
    pub families: &'static [&'static str],
}

/// A preset that serves models of other makers by the chat API.
const fn host(name: &'static str, base_url: &'static str, key_variables: &'static [&'static str]) -> Preset {
    let (api, base_url) = (Api::Chat, Some(base_url));
    Preset { name, api, base_url, key_variables, url_variables: &[], default_model: None, families: &[] }
}

impl Preset {
    const fn by(self, api: Api) -> Self {
        Self { api, ..self }
    }

    const fn model(self, default_model: &'static str) -> Self {
        Self { default_model: Some(default_model), ..self }
    }

    const fn families(self, families: &'static [&'static str]) -> Self {
        Self { families, ..self }
    }
}

/// All presets. If several keys are available and no model is named, the first preset with a key is used.
#[rustfmt::skip] // a table
pub const PRESETS: &[Preset] = &[
    host("anthropic", "https://api.anthropic.com", &["ANTHROPIC_API_KEY"]).by(Api::Anthropic).model("sonnet").families(&["claude"]),
    host("openai", "https://api.openai.com/v1", &["OPENAI_API_KEY"]).model("gpt").families(&["gpt-", "chatgpt-", "codex-", "o1", "o3", "o4"]),
    host("gemini", "https://generativelanguage.googleapis.com", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]).by(Api::Gemini).model("pro").families(&["gemini-"]),
    host("openrouter", "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]).model("anthropic/claude-sonnet-4.5"),
    host("deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]).model("deepseek").families(&["deepseek-chat", "deepseek-reasoner"]),
    host("xai", "https://api.x.ai/v1", &["XAI_API_KEY"]).model("grok").families(&["grok-"]),
    host("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]).model("devstral")
        .families(&["mistral-", "codestral-", "devstral-", "magistral-", "ministral-", "pixtral-"]),
    host("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]).model("openai/gpt-oss-120b"),
    host("together", "https://api.together.xyz/v1", &["TOGETHER_API_KEY", "TOGETHERAI_API_KEY"]).model("deepseek"),
    host("fireworks", "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"])
        .model("accounts/fireworks/models/gpt-oss-120b"),
    host("cerebras", "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"]).model("gpt-oss-120b"),
    // Models are names of deployments, so there is no default.
    Preset { base_url: None, url_variables: &["AZURE_OPENAI_ENDPOINT"], ..host("azure", "", &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"]) },
    Preset { url_variables: &["OLLAMA_HOST", "OLLAMA_API_BASE"], ..host("ollama", "http://127.0.0.1:11434", &["OLLAMA_API_KEY"]).by(Api::Ollama) },
    host("lmstudio", "http://127.0.0.1:1234/v1", &[]),
];

/// The preset with a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The provider whose own models have names with such a prefix.
pub(super) fn of_family(model: &str) -> Option<&'static Preset> {
    let model = model.to_ascii_lowercase();
    PRESETS.iter().find(|preset| preset.families.iter().any(|beginning| model.starts_with(beginning)))
}

/// A provider of the settings, `[providers.NAME]`. Absent fields are those of the preset of that name, if there is one.
#[derive(Clone, Default, PartialEq)]
pub struct ProviderEntry {
    /// The root of the API.
    pub base_url: Option<String>,
    /// The API.
    pub api: Option<Api>,
    /// The variable with its key.
    pub key_env: Option<String>,
    /// The command that prints its key.
    pub key_command: Option<String>,
    /// Additional headers. They may be secret and are never shown.
    pub headers: BTreeMap<String, String>,
    /// Additional fields of the body of each request.
    pub params: Map<String, Value>,
}

impl std::fmt::Debug for ProviderEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderEntry")
            .field("base_url", &self.base_url.as_deref().map(redacted_url))
            .field("api", &self.api)
            .field("key_env", &self.key_env)
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// The providers of the settings and the addresses in the environment.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    /// The providers of the settings, by name.
    pub entries: BTreeMap<String, ProviderEntry>,
    /// Addresses of presets in the environment.
    pub(super) urls: BTreeMap<&'static str, String>,
    pub(super) openai_base_url: Option<String>,
}

impl Providers {
    /// Combines the entries with the environment; `var` reads a variable.
    pub(super) fn new(
        entries: BTreeMap<String, ProviderEntry>,
        openai_base_url: Option<String>,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        Self { entries, urls: urls_of_environment(var), openai_base_url }
    }

    /// Whether `name` is a provider of the settings or a preset.
    pub(super) fn knows(&self, name: &str) -> bool {
        preset(name).is_some() || self.entries.contains_key(name)
    }
}

/// The providers with a table in the settings.
pub(super) fn entries(layers: &Layers) -> BTreeMap<String, ProviderEntry> {
    layers.tables("providers").filter_map(|(name, entry)| Some((name.to_owned(), provider(entry)?))).collect()
}

/// Converts a provider table, which was checked before.
fn provider(entry: &Entry) -> Option<ProviderEntry> {
    let table = entry.value.as_table()?;
    let text = |field: &str| Some(table.get(field)?.as_str()?.to_owned());
    let headers = table.get("headers").and_then(toml::Value::as_table).into_iter().flatten();
    let headers = headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let params = table.get("params").and_then(|params| serde_json::to_value(params).ok());
    Some(ProviderEntry {
        base_url: text("base_url"),
        api: text("api").and_then(|name| Api::named(&name)),
        key_env: text("key_env"),
        key_command: text("key_command"),
        headers: headers.collect(),
        params: params.and_then(|params| params.as_object().cloned()).unwrap_or_default(),
    })
}

/// The addresses of presets in the environment, completed: a local server may be given as a host, and an endpoint without the
/// path of its API.
fn urls_of_environment(var: &dyn Fn(&str) -> Option<String>) -> BTreeMap<&'static str, String> {
    let named = PRESETS.iter().filter_map(|preset| {
        let url = preset.url_variables.iter().find_map(|name| var(name))?;
        let url = url.trim().trim_end_matches('/');
        Some((preset.name, if preset.base_url.is_none() { format!("{url}/openai/v1") } else { local_url(url) }))
    });
    named.collect()
}

/// The address of a local server, from the variable of the server program: `host`, `host:port` or a URL. A wildcard listen
/// address becomes the loopback address.
fn local_url(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
    let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1);
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port || scheme == "https" { format!("{scheme}://{rest}") } else { format!("{scheme}://{rest}:11434") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_tell_their_makers() {
        let maker = |model: &str| of_family(model).map(|preset| preset.name);
        assert_eq!(maker("claude-sonnet-4-5"), Some("anthropic"));
        assert_eq!(maker("GPT-4o-mini"), Some("openai"));
        assert_eq!(maker("o3-mini"), Some("openai"));
        assert_eq!(maker("gemini-2.5-flash"), Some("gemini"));
        assert_eq!(maker("qwen2.5-coder:14b"), None);
    }

    #[test]
    fn a_preset_has_a_name_of_its_own_and_no_key_goes_out_in_clear() {
        for (at, preset) in PRESETS.iter().enumerate() {
            assert!(PRESETS.iter().skip(at + 1).all(|other| other.name != preset.name), "{}", preset.name);
            let local = preset.base_url.is_some_and(|url| url.starts_with("http://127.0.0.1:"));
            assert!(local || preset.base_url.is_none_or(|url| url.starts_with("https://")), "{}", preset.name);
        }
    }
}
