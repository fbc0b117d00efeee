//! The connected model, and connecting one: the search for keys and servers, and a key that the user enters.

use crate::{Effect, Failure, Level, Notice, Session};
use rhumb_llm::models::Model;
use rhumb_llm::{KeySource, LocalServer};
use secrecy::{ExposeSecret as _, SecretString};
use std::sync::Arc;

/// The work that a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ModelRole {
    /// It answers messages.
    #[default]
    Main,
    /// It writes summaries and commit messages.
    Weak,
    /// It writes the edits of a plan in architect mode.
    Editor,
}

impl ModelRole {
    /// The work as the end of a sentence.
    pub fn work(self) -> &'static str {
        match self {
            Self::Main => "answers",
            Self::Weak => "writes summaries and commit messages",
            Self::Editor => "writes the edits of architect mode",
        }
    }
}

/// A provider with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedProvider {
    /// The name before the `/` of `NAME/model`.
    pub name: String,
    /// The host to which the key is sent.
    pub host: String,
    /// The variables that were searched, in order.
    pub variables: Vec<String>,
    /// The source of the key, if one was found.
    pub found: Option<KeySource>,
    /// The default model; empty without one.
    pub default_model: String,
}

/// A source of keys other than an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedPlace {
    /// A file, or the keyring.
    pub name: String,
    /// The result of the search, for display.
    pub state: String,
}

/// The result of a search for keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeySearch {
    /// The providers with a key, in order of preference.
    pub providers: Vec<KeyedProvider>,
    /// Files and the keyring.
    pub places: Vec<SearchedPlace>,
    /// Where an entered key is stored, for display.
    pub storage: String,
}

/// A key that the user entered.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The provider that it is for.
    pub provider: String,
    /// The model to connect; empty for the model of the settings or the default of the provider.
    pub model: String,
    /// The key. Its `Debug` does not show it.
    pub key: SecretString,
}

impl PartialEq for NewKey {
    fn eq(&self, other: &Self) -> bool {
        (&self.provider, &self.model) == (&other.provider, &other.model)
            && self.key.expose_secret() == other.key.expose_secret()
    }
}

impl Eq for NewKey {}

/// See [`Effect::Connecting`].
#[derive(Debug, Clone, PartialEq)]
pub enum ConnectEffect {
    /// Search for keys, and for servers on this machine.
    Search,
    /// Check a key with its server, store it, and connect its provider.
    Key(NewKey),
}

/// The result of a [`ConnectEffect`].
#[derive(Debug, Clone)]
pub enum ConnectResponse {
    /// The result of the search for keys.
    Keys(KeySearch),
    /// The servers on this machine.
    Servers(Vec<LocalServer>),
    /// The provider of the model to connect has no key.
    KeyMissing {
        /// The provider; `None` if it cannot be derived from the name of the model.
        provider: Option<String>,
        /// The model, as the user typed it.
        model: String,
    },
    /// The key is neither used nor stored.
    KeyRefused(Failure),
    /// The key was stored.
    KeyStored {
        /// Its provider.
        provider: String,
        /// Where it was stored.
        source: KeySource,
        /// A warning, for instance that the key could not be checked.
        note: Option<Failure>,
    },
}

/// The reason why the front end helps to connect a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectRequest {
    /// The provider whose key is missing, if that is known.
    pub provider: Option<String>,
    /// The requested model; may be empty.
    pub model: String,
    /// The failure, as a sentence; may be empty.
    pub reason: String,
    /// Whether a message was not sent.
    pub is_for_message: bool,
}

/// The connected model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Connection {
    /// No model: the prompt can be copied and a reply pasted.
    #[default]
    None,
    /// A model behind an API.
    Remote {
        /// The model; empty until one is chosen.
        model: String,
        /// The provider or the host of the server.
        host: String,
    },
    /// The recorded replies of the demo.
    Demo,
}

#[derive(Debug, Default)]
pub(crate) struct ModelState {
    connection: Connection,
    facts: Option<Arc<Model>>,
    /// Why no model is connected although one was named: a sentence without its full stop.
    missing: Option<String>,
    connecting: Connecting,
}

impl ModelState {
    pub(crate) fn new(
        connection: Connection,
        facts: Option<Arc<Model>>,
        missing: Option<String>,
        at_start: ConnectRequest,
    ) -> Self {
        let connecting = Connecting { at_start, ..Connecting::default() };
        Self { connection, facts, missing, connecting }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connection != Connection::None
    }

    pub(crate) fn facts(&self) -> Option<&Arc<Model>> {
        self.facts.as_ref()
    }

    pub(crate) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    pub(crate) fn connecting(&self) -> &Connecting {
        &self.connecting
    }

    pub(crate) fn at_start(&self) -> &ConnectRequest {
        &self.connecting.at_start
    }

    #[cfg(any(test, feature = "test-support"))]
    pub(crate) fn set_connection(&mut self, connection: Connection) {
        self.connection = connection;
    }

    pub(crate) fn connect(&mut self, model: String, host: String, facts: Arc<Model>) {
        self.connection = Connection::Remote { model, host };
        self.facts = Some(facts);
        self.missing = None;
    }
}

/// The state of the search for keys and servers, and of a key that was entered.
#[derive(Debug, Default)]
pub struct Connecting {
    /// The model that was named at the start and whose provider has no key, for later requests.
    pub(super) at_start: ConnectRequest,
    /// The result of the last search for keys.
    pub keys: Option<KeySearch>,
    /// The result of the last search for servers on this machine.
    pub servers: Option<Vec<LocalServer>>,
    /// Whether a key is being checked.
    pub checking: bool,
    /// Why the last key was refused.
    pub refused: Option<Failure>,
}

pub(crate) const HOW_TO_CONNECT: &str = "/connect connects one: with a key, or with a model server on this machine.";

pub(crate) const DEMO_HAS_NO_MODEL: &str = "The demo replays recorded answers and uses no model.";

impl Session {
    /// Lets the front end help to connect a model.
    pub fn ask_to_connect(&mut self, request: ConnectRequest) {
        self.notices.push(Notice::Connect(request));
        self.model.connecting.refused = None;
    }

    /// Runs `/connect`, which can name a provider.
    pub(super) fn connect_command(&mut self, provider: Option<String>) {
        match self.model.connection {
            Connection::Demo => self.report(Level::Warning, DEMO_HAS_NO_MODEL, ""),
            _ => self.ask_to_connect(ConnectRequest { provider, ..ConnectRequest::default() }),
        }
    }

    /// Searches for keys and local servers, for the front end that helps to connect a model.
    pub fn search_connections(&mut self) -> Vec<Effect> {
        (self.model.connecting.keys, self.model.connecting.servers) = (None, None);
        vec![Effect::Connecting(ConnectEffect::Search)]
    }

    /// Has a key that the user entered checked and stored.
    pub fn enter_key(&mut self, key: NewKey) -> Vec<Effect> {
        (self.model.connecting.checking, self.model.connecting.refused) = (true, None);
        vec![Effect::Connecting(ConnectEffect::Key(key))]
    }

    pub(super) fn handle_connecting(&mut self, response: ConnectResponse) {
        match response {
            ConnectResponse::Keys(keys) => self.model.connecting.keys = Some(keys),
            ConnectResponse::Servers(servers) => self.model.connecting.servers = Some(servers),
            ConnectResponse::KeyMissing { provider, model } => {
                let reason = match &provider {
                    Some(provider) => format!("{model} needs a key for {provider}, which is missing."),
                    None => format!("No connected provider has a model {model}."),
                };
                self.report(Level::Warning, reason.clone(), HOW_TO_CONNECT);
                self.ask_to_connect(ConnectRequest { provider, model, reason, is_for_message: false });
            }
            ConnectResponse::KeyRefused(failure) => {
                self.model.connecting.checking = false;
                self.report_failure(Level::Error, failure.clone());
                self.model.connecting.refused = Some(failure);
            }
            ConnectResponse::KeyStored { provider, source, note } => {
                self.model.connecting.checking = false;
                let (text, hint) = key_stored_message(&provider, &source);
                self.report(Level::Info, text, hint);
                note.into_iter().for_each(|note| self.report_failure(Level::Warning, note));
            }
        }
    }
}

/// Says where a key was stored, and how it is removed.
fn key_stored_message(provider: &str, source: &KeySource) -> (String, String) {
    let text = format!("The key for {provider} is stored in {source}.");
    let hint = match source {
        KeySource::Credentials { path, host } => {
            format!("Only you can read that file. To remove the key, delete the entry \"{host}\" from {path}.")
        }
        _ => "To remove it, delete the entry of the service rhumb with your keyring program.".to_owned(),
    };
    (text, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> NewKey {
        NewKey { provider: "anthropic".into(), model: String::new(), key: SecretString::from("sk-canary") }
    }

    #[test]
    fn debug_output_does_not_contain_an_entered_key() {
        let (mut session, _) = Session::start(Connection::None);
        let effects = session.enter_key(key());
        assert_eq!(effects, [Effect::Connecting(ConnectEffect::Key(key()))]);
        assert!(!format!("{effects:?} {session:?}").contains("canary"));
    }

    #[test]
    fn storing_a_key_reports_its_location_and_how_to_remove_it() {
        let (mut session, _) = Session::start(Connection::None);
        let source = KeySource::Credentials { path: "/c.toml".into(), host: "api.anthropic.com".into() };
        session.handle_connecting(ConnectResponse::KeyStored { provider: "anthropic".into(), source, note: None });
        let last = format!("{:?}", session.transcript.last());
        assert!(last.contains("stored in /c.toml, entry api.anthropic.com") && last.contains("To remove"), "{last}");
    }

    fn connect_request(session: &Session) -> Option<&ConnectRequest> {
        session.notices().find_map(|notice| match notice {
            Notice::Connect(request) => Some(request),
            _ => None,
        })
    }

    #[test]
    fn use_model_without_a_key_requests_the_key_of_its_provider() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.use_model("sonnet".into()), [Effect::UseModel("sonnet".into())]);
        let missing = ConnectResponse::KeyMissing { provider: Some("anthropic".into()), model: "sonnet".into() };
        session.handle_connecting(missing);
        let request = connect_request(&session).unwrap();
        assert_eq!((request.provider.as_deref(), request.model.as_str()), (Some("anthropic"), "sonnet"));
    }

    #[test]
    fn sending_without_a_model_offers_to_connect_one() {
        let (mut session, _) = Session::start(Connection::None);
        let (sent, effects) = session.send("hello");
        assert!(!sent && effects.is_empty(), "{effects:?}");
        assert!(connect_request(&session).unwrap().reason.contains("so the message was not sent"));
    }
}
