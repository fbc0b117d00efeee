//! Connects models: the one of the settings, one by name, and the switch to another.

mod keys;

use super::Host;
use super::compose::request_env::RequestEnv;
use crate::config::ConfigError;
use rhumb_llm::models::{Api, Catalog, Dollars, Model, estimate};
use rhumb_llm::{Endpoint, HttpProvider, LlmError, Message, Provider, Request, Timeouts};
use rhumb_session::{ConnectResponse, EffectKind, Failure, Level, LookupResponse, Response, Spent};
use rhumb_text::nearest;
use rhumb_tokens::TokenCounter;
use std::net::IpAddr;
use std::sync::Arc;

/// Maximum number of a server's models in a message.
const MAX_LISTED_MODELS: usize = 5;

/// A connected model: its provider and name.
#[derive(Clone)]
pub struct ModelClient {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The name of the model; empty until one is chosen.
    pub model: String,
    /// The catalog entry of the model.
    pub facts: Arc<Model>,
    /// Notes for the user, each with a hint.
    pub notes: Vec<(String, String)>,
    /// Whether the settings chose the provider. Then another model may have another provider.
    pub configured: bool,
    /// The provider whose required key is missing.
    pub lacks_key_of: Option<String>,
}

/// The provider name of Ollama, as in the name of a model.
const OLLAMA: &str = "ollama";

/// The endpoint of a server that was found on this machine.
pub(super) fn local_endpoint(api: Api, base_url: &str, model: &str) -> Endpoint {
    let endpoint = Endpoint::without_key(api, base_url, model);
    if api == Api::Ollama { Endpoint { provider: OLLAMA.to_owned(), ..endpoint } } else { endpoint }
}

impl ModelClient {
    /// A client for `provider` without notes, with the bundled catalog.
    pub fn new(provider: Arc<dyn Provider>, model: String) -> Self {
        Self::unconfigured(&Catalog::bundled(), provider, model)
    }

    /// A client for `provider`, which is not from the settings, without notes.
    pub(super) fn unconfigured(catalog: &Catalog, provider: Arc<dyn Provider>, model: String) -> Self {
        let name = provider.name();
        // The models of a server on this machine have neither the prices nor the windows of a vendor.
        let is_local = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let facts = Arc::new(match name.as_str() {
            OLLAMA => catalog.find_at(OLLAMA, &model),
            _ if is_local => catalog.find_at("local", &model),
            _ => catalog.find(&model),
        });
        Self { provider, model, facts, notes: Vec::new(), configured: false, lacks_key_of: None }
    }

    /// A request with these messages, counted.
    pub(super) fn request(&self, messages: Vec<Message>, counter: &dyn TokenCounter) -> Request {
        let tokens = messages.iter().map(|message| counter.count(&message.content)).sum();
        Request { model: self.model.clone(), messages, tokens, ..Request::default() }
    }

    /// Whether a request with an answer of `output` tokens costs more than `allowance`.
    pub(super) fn exceeds(&self, allowance: Option<Dollars>, request: &Request, output: u64) -> bool {
        let cost = estimate(&self.facts, request.tokens as u64, output);
        allowance.zip(cost).is_some_and(|(left, cost)| cost > left)
    }

    /// Subtracts what was spent from the rest of the allowance.
    pub(super) fn pay(&self, left: &mut Option<Dollars>, spent: &Spent) {
        let paid = self.facts.prices.map(|prices| prices.cost(spent.tokens)).unwrap_or_default();
        *left = left.map(|left| left.saturating_sub(paid));
    }
}

/// Why a model cannot be connected.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The settings are ambiguous or incomplete.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address is invalid, or the key cannot be sent.
    #[error(transparent)]
    Llm(#[from] LlmError),
}

impl ConnectError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Config(error) => error.hint(),
            Self::Llm(error) => error.hint().to_owned(),
        }
    }
}

/// A client for the model of the settings; `None` if no provider is configured. No server is contacted, but the user's key command
/// may run.
///
/// # Errors
/// The settings are ambiguous, the key is not available, or the address is invalid.
pub fn connect(env: &RequestEnv) -> Result<Option<ModelClient>, ConnectError> {
    connect_model(env, env.settings.model.as_deref().unwrap_or_default())
}

/// As [`connect`], for another model by name or alias.
///
/// # Errors
/// As [`connect`].
pub fn connect_model(env: &RequestEnv, name: &str) -> Result<Option<ModelClient>, ConnectError> {
    let RequestEnv { settings, catalog, .. } = env;
    let name = resolved(env, name);
    let Some(endpoint) = settings.endpoint(&name)? else { return Ok(None) };
    let mut notes = settings.notes_on(&name, &endpoint);
    let timeouts = settings.timeout.map(|idle| Timeouts { idle, first_byte: idle, ..Timeouts::default() });
    let lacks_key_of = endpoint.missing_key.is_some().then(|| endpoint.provider.clone());
    let provider = HttpProvider::new(&endpoint)?.with_timeouts(timeouts.unwrap_or_default());
    if provider.sends_key_in_clear() {
        let warning = "The key is sent unencrypted: the address is http and not on this machine.";
        notes.push((warning.into(), "Use https, or a tunnel.".into()));
    }
    let facts = catalog.find_at(&endpoint.provider, &endpoint.model);
    if !facts.known && !facts.name.is_empty() && settings.context_window.is_none() {
        notes.push(unknown_note(&facts));
    }
    Ok(Some(ModelClient {
        provider: Arc::new(provider),
        model: endpoint.model,
        facts: Arc::new(facts),
        notes,
        configured: true,
        lacks_key_of,
    }))
}

/// The catalog entry of the model of the settings. Connects nothing and runs no command.
pub fn facts(env: &RequestEnv) -> Model {
    let RequestEnv { settings, catalog, .. } = env;
    let name = resolved(env, settings.model.as_deref().unwrap_or_default());
    match settings.endpoint_without_key(&name) {
        Ok(Some(endpoint)) => catalog.find_at(&endpoint.provider, &endpoint.model),
        _ => catalog.find(&name),
    }
}

/// The full name of a model. On a custom server (`base_url`) only the aliases of the user apply, because it has its own names.
fn resolved(env: &RequestEnv, name: &str) -> String {
    let RequestEnv { settings, catalog, .. } = env;
    if settings.base_url.is_some() { settings.model_named(name) } else { catalog.resolve(name) }
}

pub(super) fn unknown_note(model: &Model) -> (String, String) {
    let Model { name, window, .. } = model;
    (
        format!("{name} is in no table of models: a window of {window} tokens is assumed, and its price is unknown."),
        // Ready to be pasted.
        format!("Try rhumb models --refresh, or set the window in rhumb.toml:\n[models.\"{name}\"]\nwindow = {window}"),
    )
}

impl Host {
    pub(crate) fn use_model(self, model: String) {
        self.blocking(EffectKind::UseModel.failed(), move |host| {
            // A server that was found on this machine stays connected, whatever the name of the model.
            let found = host.client().filter(|client| !client.configured);
            let client = match found {
                Some(client) => ModelClient::unconfigured(&host.shared.env.catalog, client.provider, model),
                None => match connect_model(&host.shared.env, &model) {
                    Ok(Some(ModelClient { lacks_key_of: Some(provider), .. })) => {
                        return key_missing(Some(provider), model);
                    }
                    Ok(Some(client)) => client,
                    Ok(None) => return key_missing(host.shared.env.settings.maker_of(&model), model),
                    Err(error) => {
                        let failure = Failure { message: format!("{error}."), hint: error.hint() };
                        return Response::Failed { effect: EffectKind::UseModel, failure };
                    }
                },
            };
            let model = client.model.clone();
            let connected = host.set_client(client);
            tokio::spawn(host.background().warn_if_unlisted(model));
            connected
        });
    }

    /// Warns if the server does not list the model. It is used nevertheless, because lists may be incomplete.
    async fn warn_if_unlisted(self, model: String) {
        let served = self.served_models().await;
        // The user may have switched to another model meanwhile.
        let Some(client) = self.client().filter(|client| client.model == model) else { return };
        if let Some((text, hint)) = unlisted(&client.provider.name(), &model, &served) {
            self.respond(Response::LookedUp(LookupResponse::Status { level: Level::Warning, text, hint })).await;
        }
    }
}

fn key_missing(provider: Option<String>, model: String) -> Response {
    Response::Connecting(ConnectResponse::KeyMissing { provider, model })
}

/// Whether a server with this list has the model. A server without a list may have any.
pub(crate) fn is_listed(model: &str, served: &[String]) -> bool {
    served.is_empty() || model.is_empty() || served.iter().any(|name| is_name_of(model, name))
}

/// Whether a listed name is the model's. Ollama adds the tag `latest`, vendors list a model with its date and accept the name
/// without it or with `latest`, and routers accept `:VARIANT` after the name.
fn is_name_of(model: &str, listed: &str) -> bool {
    let undated = model.strip_suffix("-latest").unwrap_or(model);
    // 20250929, 2025-08-07 or 0613, but not `4-5`.
    let is_date = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits >= 4 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let variant = model.split_once(':').filter(|(name, _)| name.contains('/'));
    model == listed
        || listed.strip_suffix(":latest") == Some(model)
        || listed.strip_prefix(undated).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_date)
        || variant.is_some_and(|(name, _)| name == listed)
}

/// The warning about a model that the server does not list, with a hint.
fn unlisted(host: &str, model: &str, served: &[String]) -> Option<(String, String)> {
    if is_listed(model, served) {
        return None;
    }
    let near = nearest(model, served.iter().map(String::as_str)).map(|near| format!("Did you mean {near}? "));
    let first: Vec<&str> = served.iter().take(MAX_LISTED_MODELS).map(String::as_str).collect();
    let more = if served.len() > MAX_LISTED_MODELS { " …" } else { "" };
    let hint = format!("{}It lists {}{more}; /models shows all.", near.unwrap_or_default(), first.join(", "));
    Some((format!("{host} does not list {model}."), hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Settings, Sources};
    use rhumb_llm::models::{ModelOverride, Prices};

    fn env(vars: &[(&str, &str)]) -> RequestEnv {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let sources = Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None };
        RequestEnv::new(Settings::load(&sources).unwrap())
    }

    #[test]
    fn an_alias_connects_the_provider_of_its_model() {
        let env = env(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
        let client = connect_model(&env, "sonnet").unwrap().unwrap();
        assert!(client.model.starts_with("claude-sonnet-") && client.facts.known, "{}", client.model);
        let client = connect_model(&env, "mini").unwrap().unwrap();
        assert!(client.model.starts_with("gpt-") && client.facts.prices.is_some(), "{}", client.model);
    }

    #[test]
    fn a_missing_key_is_named_by_its_variable() {
        let lacking = |vars: &[(&str, &str)], model: &str| env(vars).settings.lacking(model);
        let told = Some("gpt-5 needs OPENAI_API_KEY, which is not set".to_owned());
        assert_eq!(lacking(&[], "gpt-5"), told);
        assert!(lacking(&[], "sonnet").is_some_and(|told| told.starts_with("sonnet needs ANTHROPIC_API_KEY")));
        assert_eq!(lacking(&[("OPENAI_API_KEY", "k")], "gpt-5"), None);
        assert_eq!(lacking(&[], "of-nobody"), None);
    }

    #[test]
    fn bundled_aliases_do_not_apply_to_a_custom_server() {
        let env = env(&[("RHUMB_BASE_URL", "http://127.0.0.1:1/v1")]);
        let client = connect_model(&env, "mini").unwrap().unwrap();
        assert_eq!((client.model.as_str(), client.facts.known), ("mini", false));
    }

    #[test]
    fn a_model_of_a_server_that_was_found_here_costs_nothing_and_has_its_own_window() {
        for (api, written) in [(Api::Chat, "devstral"), (Api::Ollama, "devstral"), (Api::Ollama, "ollama/*")] {
            let endpoint = local_endpoint(api, "http://127.0.0.1:1/v1", "devstral:latest");
            let provider: Arc<dyn Provider> = Arc::new(HttpProvider::new(&endpoint).unwrap());
            let client = ModelClient::new(Arc::clone(&provider), endpoint.model.clone());
            assert!(!client.facts.known && client.facts.prices == Some(Prices::default()), "{:?}", client.facts);
            let own = ModelOverride { window: Some(65_536), ..ModelOverride::default() };
            let catalog = Catalog::bundled().with_user([(written.to_owned(), own)].into(), [].into());
            let client = ModelClient::unconfigured(&catalog, provider, endpoint.model);
            assert_eq!((client.facts.window, client.facts.prices), (65_536, Some(Prices::default())), "{written}");
        }
    }

    #[test]
    fn facts_are_the_same_with_and_without_a_connection() {
        for vars in [
            [("RHUMB_BASE_URL", "http://127.0.0.1:1/v1"), ("RHUMB_MODEL", "mini")],
            [("OPENAI_API_KEY", "k"), ("RHUMB_MODEL", "mini")],
            [("ANTHROPIC_API_KEY", "k"), ("RHUMB_MODEL", "")],
        ] {
            let env = env(&vars);
            assert_eq!(facts(&env), *connect(&env).unwrap().unwrap().facts, "{vars:?}");
        }
    }

    #[test]
    fn an_unlisted_model_is_reported_with_the_nearest() {
        let served = ["tide-7b", "reef:latest"].map(str::to_owned);
        let dated =
            ["claude-sonnet-4-5-20250929", "gpt-5-2025-08-07", "anthropic/claude-sonnet-4.5"].map(str::to_owned);
        for name in ["claude-sonnet-4-5", "claude-sonnet-4-5-latest", "gpt-5", "anthropic/claude-sonnet-4.5:online"] {
            assert!(is_listed(name, &dated), "{name}");
        }
        for name in ["claude-sonnet-4", "gpt-5-mini", "gpt", "claude-sonnet-4.5:online"] {
            assert!(!is_listed(name, &dated), "{name}");
        }
        for name in ["tide-7b", "reef", "reef:latest", ""] {
            assert!(is_listed(name, &served), "{name}");
        }
        assert!(is_listed("anything", &[]), "no list says nothing");
        let (text, hint) = unlisted("box", "tide7b", &served).unwrap();
        assert_eq!(text, "box does not list tide7b.");
        assert_eq!(hint, "Did you mean tide-7b? It lists tide-7b, reef:latest; /models shows all.");
    }
}
