//! `/connect`: searches for keys and servers, and stores a key that the user entered.

use super::super::{Host, sentence};
use super::connect_model;
use crate::config::Settings;
use rhumb_llm::KeySource;
use rhumb_llm::{HttpProvider, LlmError, Provider as _, local_servers};
use rhumb_session::{ConnectEffect, ConnectResponse, EffectKind, Failure, NewKey, Response};
use std::time::Duration;

/// Maximum time for the server to check a key.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

impl Host {
    pub(crate) fn connecting(self, effect: ConnectEffect) {
        match effect {
            ConnectEffect::Search => {
                let host = self.clone();
                tokio::spawn(async move {
                    host.respond(Response::Connecting(ConnectResponse::Servers(local_servers().await))).await;
                });
                self.blocking(EffectKind::Connecting.failed(), |host| {
                    Response::Connecting(ConnectResponse::Keys(host.shared.env.settings.key_search()))
                });
            }
            ConnectEffect::Key(new) => drop(tokio::spawn(self.take_key(new))),
        }
    }

    /// Checks a key with its server, stores it and connects. A rejected key is not stored.
    async fn take_key(self, new: NewKey) {
        let endpoint = self.shared.env.settings.endpoint_with_key(&new.provider, &new.key);
        let checked = match endpoint.as_ref().map(HttpProvider::new) {
            None => Err(Failure {
                message: format!("There is no provider {} with a key.", new.provider),
                hint: "/connect lists the providers.".into(),
            }),
            Some(Err(error)) => Err(Failure::from(&error)),
            Some(Ok(server)) => check(&server, &new.provider).await,
        };
        match checked {
            Err(failure) => self.respond(Response::Connecting(ConnectResponse::KeyRefused(failure))).await,
            Ok(checked) => {
                let failed = |failure| Response::Connecting(ConnectResponse::KeyRefused(failure));
                self.blocking(failed, move |host| host.store_and_connect(&new, checked));
            }
        }
    }

    fn store_and_connect(&self, new: &NewKey, checked: CheckedKey) -> Response {
        let settings = &self.shared.env.settings;
        let refused = |message: String, hint: String| {
            Response::Connecting(ConnectResponse::KeyRefused(Failure { message, hint }))
        };
        let source = match settings.store_key(&new.provider, &new.key) {
            Ok(source) => source,
            Err(error) => return refused(sentence(&format!("{error}.")), sentence(&format!("{}.", error.hint()))),
        };
        let note = checked.note.or_else(|| overridden(settings, &new.provider, &source));
        self.respond_now(Response::Connecting(ConnectResponse::KeyStored {
            provider: new.provider.clone(),
            source,
            note,
        }));
        match connect_model(&self.shared.env, &model_to_connect(settings, new, &checked.models)) {
            Ok(Some(client)) => self.set_client(client),
            Ok(None) => {
                refused("The key was stored, but no model could be connected.".into(), "Name one: /model NAME.".into())
            }
            Err(error) => {
                refused(format!("The key was stored, but no model could be connected: {error}."), error.hint())
            }
        }
    }
}

/// A key that the server did not reject.
#[derive(Debug, Default)]
struct CheckedKey {
    /// The models that the server lists; empty if it has no list.
    models: Vec<String>,
    note: Option<Failure>,
}

/// Checks a key by listing the models of its server.
async fn check(server: &HttpProvider, provider: &str) -> Result<CheckedKey, Failure> {
    let unchecked = |why: String| {
        let message = format!("The key for {provider} could not be checked: {why}.");
        Ok(CheckedKey { models: Vec::new(), note: Some(Failure { message, hint: "It is used nevertheless.".into() }) })
    };
    match tokio::time::timeout(CHECK_TIMEOUT, server.models()).await {
        Ok(Ok(models)) => Ok(CheckedKey { models, note: None }),
        Ok(Err(error @ (LlmError::Auth { .. } | LlmError::UnusableKey))) => {
            let Failure { message, hint } = Failure::from(&error);
            Err(Failure { message: sentence(&message), hint })
        }
        Ok(Err(error)) => unchecked(error.to_string().trim_end_matches('.').to_owned()),
        Err(_) => unchecked("its server did not answer in time".to_owned()),
    }
}

/// The model to connect: the requested one, else that of the settings if this provider has it, else the default of the provider,
/// else the first that its server lists.
fn model_to_connect(settings: &Settings, new: &NewKey, listed: &[String]) -> String {
    let of_settings = settings.model.clone().unwrap_or_default();
    let is_of_provider = |name: &String| {
        let endpoint = settings.endpoint_without_key(name).ok().flatten();
        !name.is_empty() && endpoint.is_some_and(|endpoint| endpoint.provider == new.provider)
    };
    if let Some(model) = [&new.model, &of_settings].into_iter().find(|name| is_of_provider(name)) {
        return model.clone();
    }
    let first = listed.first().map(String::as_str).unwrap_or_default();
    if settings.base_url.is_some() {
        return if of_settings.is_empty() { first.to_owned() } else { of_settings };
    }
    let providers = settings.key_search().providers;
    let default = providers.iter().find(|known| known.name == new.provider).map(|known| known.default_model.as_str());
    format!("{}/{}", new.provider, default.filter(|name| !name.is_empty()).unwrap_or(first))
}

/// A note if another key of the provider takes precedence over the stored one.
fn overridden(settings: &Settings, provider: &str, stored: &KeySource) -> Option<Failure> {
    let providers = settings.key_search().providers;
    let found = providers.into_iter().find(|known| known.name == provider)?.found?;
    (found != *stored).then(|| Failure {
        message: format!("{provider} still uses the key from {found}, which takes precedence."),
        hint: "Remove that key to use the stored one.".into(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use axum::Router;
    use axum::http::{HeaderMap, StatusCode};
    use axum::routing::get;
    use secrecy::SecretString;
    use tokio::sync::mpsc;

    use super::*;
    use crate::config::{Overrides, Paths, Sources};
    use crate::host::HostMessage;
    use crate::host::RequestEnv;
    use rhumb_session::Effect;
    use rhumb_workspace::Root;

    const GOOD: &str = "sk-good";

    /// Starts a server that lists its models to clients with the key, and returns its address.
    async fn serve() -> String {
        let list = |headers: HeaderMap| async move {
            let is_good = headers.get("authorization").is_some_and(|value| value == &format!("Bearer {GOOD}"));
            if is_good {
                (StatusCode::OK, r#"{"data": [{"id": "tide-7b"}]}"#)
            } else {
                (StatusCode::UNAUTHORIZED, r#"{"error": {"message": "no such key"}}"#)
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/v1/models", get(list))).await });
        format!("http://{address}/v1")
    }

    fn host(home: &Path, url: &str, messages: mpsc::Sender<HostMessage>) -> Host {
        let at = || home.to_owned();
        let paths = Paths { home: at(), config: at(), cache: at(), state: at() };
        let text = format!("[providers.quay]\nbase_url = \"{url}\"\nkey_env = \"QUAY_KEY\"\n");
        std::fs::write(paths.settings_file(), text).unwrap();
        let sources = Sources { flags: Overrides::default(), env: &|_| None, paths: Some(&paths), dirs: None };
        Host::new(Root::at(home).unwrap(), RequestEnv::new(Settings::load(&sources).unwrap()), None, messages)
    }

    #[tokio::test]
    async fn a_refused_key_is_not_stored_and_a_good_one_connects_without_a_restart() {
        let (home, url) = (tempfile::tempdir().unwrap(), serve().await);
        let (messages, mut incoming) = mpsc::channel(8);
        let host = host(home.path(), &url, messages);
        let mut next = async || loop {
            match incoming.recv().await {
                Some(HostMessage::Response(_, response)) => break Some(*response),
                Some(HostMessage::Finished(_)) => {}
                None => break None,
            }
        };
        let enter = |key: &str| {
            let new = NewKey { provider: "quay".into(), model: String::new(), key: SecretString::from(key) };
            host.execute(Effect::Connecting(ConnectEffect::Key(new)));
        };
        enter("sk-wrong");
        let response = next().await;
        let Some(Response::Connecting(ConnectResponse::KeyRefused(failure))) = response else { panic!("{response:?}") };
        assert!(failure.message.contains("The server refused the key (status 401)"), "{failure:?}");
        assert!(!home.path().join("credentials.toml").exists());
        enter(GOOD);
        let response = next().await;
        let Some(Response::Connecting(ConnectResponse::KeyStored { source, note, .. })) = response else {
            panic!("{response:?}")
        };
        assert!(matches!(source, KeySource::Credentials { .. }) && note.is_none(), "{source:?} {note:?}");
        let response = next().await;
        let Some(Response::Connected { model, .. }) = response else { panic!("{response:?}") };
        assert_eq!(model, "tide-7b", "the first that the server lists");
        host.execute(Effect::Connecting(ConnectEffect::Search));
        let keys = loop {
            match next().await {
                Some(Response::Connecting(ConnectResponse::Keys(keys))) => break keys,
                Some(_) => {}
                None => panic!("no response about keys"),
            }
        };
        let quay = keys.providers.iter().find(|provider| provider.name == "quay").unwrap();
        assert!(quay.found.is_some() && quay.variables == ["QUAY_KEY"], "{quay:?}");
    }

    #[test]
    fn only_a_vendor_at_its_own_address_requires_a_key() {
        let lacks = |vars: &[(&str, &str)], model: &str| {
            let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let sources = Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None };
            let env = RequestEnv::new(Settings::load(&sources).unwrap());
            connect_model(&env, model).unwrap().and_then(|client| client.lacks_key_of)
        };
        assert_eq!(lacks(&[], "anthropic/claude-sonnet-4-5").as_deref(), Some("anthropic"));
        assert_eq!(lacks(&[("ANTHROPIC_API_KEY", "k")], "anthropic/claude-sonnet-4-5"), None);
        assert_eq!(lacks(&[("RHUMB_BASE_URL", "http://127.0.0.1:1/v1")], "tide-7b"), None);
        assert_eq!(lacks(&[], "lmstudio/tide-7b"), None);
        assert_eq!(lacks(&[], "ollama/tide-7b"), None);
    }
}
