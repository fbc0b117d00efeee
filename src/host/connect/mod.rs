//! Whom to ask, as the settings say.

mod keys;
pub(super) mod switch_model;

use std::sync::Arc;

use super::compose::request_env::RequestEnv;
use crate::config::ConfigError;
use rhumb_llm::models::{Catalog, Model};
use rhumb_llm::{HttpProvider, LlmError, Provider, Timeouts};

/// A provider and the model to ask it for.
#[derive(Clone)]
pub struct ModelClient {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The model; empty until one is named.
    pub model: String,
    /// What is known of it.
    pub facts: Arc<Model>,
    /// Things to know before the first message, and what to do about each.
    pub notes: Vec<(String, String)>,
    /// Whether the settings chose the provider, so that they may choose another for another model.
    pub configured: bool,
    /// The provider whose key is missing, if it takes no request without one.
    pub lacks_key_of: Option<String>,
}

impl ModelClient {
    /// A client to `provider` without notes.
    pub fn new(provider: Arc<dyn Provider>, model: String) -> Self {
        let facts = Arc::new(Catalog::bundled().find(&model));
        Self { provider, model, facts, notes: Vec::new(), configured: false, lacks_key_of: None }
    }
}

/// Why there is nobody to ask.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The settings do not say whom.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address is none, or the key cannot be sent.
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

/// The provider of the settings; `None` where none is configured. Nothing is contacted yet, but the user's own key command is
/// run where there is one.
///
/// # Errors
/// The settings are ambiguous, a key cannot be had or sent, or the address is none.
pub fn connect(env: &RequestEnv) -> Result<Option<ModelClient>, ConnectError> {
    connect_model(env, env.settings.model.as_deref().unwrap_or_default())
}

/// The same for another model than that of the settings, or the one that a short name stands for.
///
/// # Errors
/// As [`connect`].
pub fn connect_model(env: &RequestEnv, name: &str) -> Result<Option<ModelClient>, ConnectError> {
    let RequestEnv { settings, catalog, .. } = env;
    let name = meant(env, name);
    let Some(endpoint) = settings.endpoint(&name)? else {
        return Ok(None);
    };
    let mut notes = settings.notes_on(&name, &endpoint);
    let timeouts = settings.timeout.map(|idle| Timeouts { idle, first_byte: idle, ..Timeouts::default() });
    let lacks_key_of = endpoint.missing_key.is_some().then(|| endpoint.provider.clone());
    let provider = HttpProvider::new(&endpoint)?.with_timeouts(timeouts.unwrap_or_default());
    if provider.sends_key_in_clear() {
        let warning = "The key travels unencrypted: the address is http and not on this machine.";
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

/// What is known of the model of the settings, as it would be asked. Nothing is connected and no command run; where it cannot be
/// said who would be asked, the name is all there is.
pub fn facts(env: &RequestEnv) -> Model {
    let RequestEnv { settings, catalog, .. } = env;
    let name = meant(env, settings.model.as_deref().unwrap_or_default());
    match settings.endpoint_without_key(&name) {
        Ok(Some(endpoint)) => catalog.find_at(&endpoint.provider, &endpoint.model),
        _ => catalog.find(&name),
    }
}

/// What a name stands for. A server of the user's own knows its models by names of its own: only the user's short names mean
/// something there.
fn meant(env: &RequestEnv, name: &str) -> String {
    let RequestEnv { settings, catalog, .. } = env;
    if settings.base_url.is_some() { settings.model_named(name) } else { catalog.resolve(name) }
}

/// What to tell of a model that is in no table.
pub(super) fn unknown_note(model: &Model) -> (String, String) {
    let Model { name, window, .. } = model;
    (
        format!("{name} is in no table of models: {window} tokens are assumed to fit, and its price is unknown."),
        // As it is to be pasted: the setting for one model has another name than the one for all.
        format!("rhumb models --refresh may know it. Or say so in rhumb.toml:\n[models.\"{name}\"]\nwindow = {window}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Settings, Sources};

    fn env(vars: &[(&str, &str)]) -> RequestEnv {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let sources = Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None };
        RequestEnv::new(Settings::load(&sources).unwrap())
    }

    #[test]
    fn a_short_name_asks_the_maker_of_what_it_stands_for() {
        let env = env(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
        let client = connect_model(&env, "sonnet").unwrap().unwrap();
        assert!(client.model.starts_with("claude-sonnet-") && client.facts.known, "{}", client.model);
        let client = connect_model(&env, "mini").unwrap().unwrap();
        assert!(client.model.starts_with("gpt-") && client.facts.prices.is_some(), "{}", client.model);
    }

    #[test]
    fn what_a_named_model_lacks_is_told_by_its_variable() {
        let lacking = |vars: &[(&str, &str)], model: &str| env(vars).settings.lacking(model);
        let told = Some("gpt-5 needs OPENAI_API_KEY, which is not set".to_owned());
        assert_eq!(lacking(&[], "gpt-5"), told);
        assert!(lacking(&[], "sonnet").is_some_and(|told| told.starts_with("sonnet needs ANTHROPIC_API_KEY")));
        assert_eq!(lacking(&[("OPENAI_API_KEY", "k")], "gpt-5"), None);
        assert_eq!(lacking(&[], "of-nobody"), None);
    }

    #[test]
    fn a_server_of_the_users_own_knows_its_names_itself() {
        let env = env(&[("RHUMB_BASE_URL", "http://127.0.0.1:1/v1")]);
        let client = connect_model(&env, "mini").unwrap().unwrap();
        assert_eq!((client.model.as_str(), client.facts.known), ("mini", false));
    }

    #[test]
    fn what_is_known_is_the_same_with_and_without_a_connection() {
        for vars in [
            [("RHUMB_BASE_URL", "http://127.0.0.1:1/v1"), ("RHUMB_MODEL", "mini")],
            [("OPENAI_API_KEY", "k"), ("RHUMB_MODEL", "mini")],
            [("ANTHROPIC_API_KEY", "k"), ("RHUMB_MODEL", "")],
        ] {
            let env = env(&vars);
            assert_eq!(facts(&env), *connect(&env).unwrap().unwrap().facts, "{vars:?}");
        }
    }
}
