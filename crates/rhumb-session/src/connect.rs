//! Connecting a model from within: what was looked for, a key that the user enters, and when the front end is to ask for one.

use crate::notice::Notice;
use std::sync::Arc;

use rhumb_llm::models::Model;
use secrecy::{ExposeSecret as _, SecretString};

use super::effect::{Effect, Failure};
use super::state::Session;
use super::transcript::Level;
use rhumb_llm::KeySource;
use rhumb_llm::LocalServer;

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

/// A source of keys other than a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedPlace {
    /// A file, or the keyring.
    pub name: String,
    /// What was found there, in a few words.
    pub state: String,
}

/// The result of a search for keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeySearch {
    /// The providers with a key, in order of preference.
    pub providers: Vec<KeyedProvider>,
    /// Files and the keyring.
    pub places: Vec<SearchedPlace>,
    /// Where an entered key is stored, in a few words.
    pub storage: String,
}

/// A key that the user entered.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The provider that it is for.
    pub provider: String,
    /// The model to ask with it; empty for that of the settings, or the provider's default.
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

/// Something to do on the way to a model.
#[derive(Debug, Clone, PartialEq)]
pub enum ConnectEffect {
    /// Look for keys, and for servers on this machine.
    Search,
    /// Check this key with its server, store it, and ask its provider from now on.
    Key(NewKey),
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum ConnectResponse {
    /// Where keys were looked for.
    Keys(KeySearch),
    /// The servers on this machine.
    Servers(Vec<LocalServer>),
    /// A model was asked for whose provider has no key.
    KeyMissing {
        /// The provider; `None` where the name of the model does not tell one.
        provider: Option<String>,
        /// The model, as it was typed.
        model: String,
    },
    /// The key is not used and not stored.
    KeyRefused(Failure),
    /// The key was stored.
    KeyStored {
        /// Its provider.
        provider: String,
        /// Where.
        source: KeySource,
        /// What else to know, such as that the key could not be checked.
        note: Option<Failure>,
    },
}

/// Why the front end is to help with connecting a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectRequest {
    /// The provider whose key is missing, if that is known.
    pub provider: Option<String>,
    /// The model that was asked for; empty for none.
    pub model: String,
    /// What could not be done, as a sentence; empty where nothing was tried.
    pub reason: String,
    /// Whether a message was not sent.
    pub is_for_message: bool,
}

/// The model that answers.
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

/// The connected model and the search for one.
#[derive(Debug, Default)]
pub(crate) struct ModelState {
    connection: Connection,
    /// The facts about the connected model.
    facts: Option<Arc<Model>>,
    /// Why no model is connected although one was named: a sentence without its full stop.
    missing: Option<String>,
    connecting: Connecting,
    /// The editor model that was chosen in this session.
    editor: Option<String>,
}

impl ModelState {
    pub(crate) fn new(
        connection: Connection,
        facts: Option<Arc<Model>>,
        missing: Option<String>,
        at_start: ConnectRequest,
    ) -> Self {
        let connecting = Connecting { at_start, ..Connecting::default() };
        Self { connection, facts, missing, connecting, editor: None }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether a request can be sent.
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

    pub(crate) fn editor(&self) -> Option<&String> {
        self.editor.as_ref()
    }

    pub(crate) fn set_editor(&mut self, name: String) {
        self.editor = Some(name);
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
    /// Where keys were looked for, once they were.
    pub keys: Option<KeySearch>,
    /// Servers on this machine, once they were looked for.
    pub servers: Option<Vec<LocalServer>>,
    /// Whether a key is being checked.
    pub checking: bool,
    /// Why the last key was not taken.
    pub refused: Option<Failure>,
}

/// What to do where a model is missing.
pub(super) const HOW_TO_CONNECT: &str =
    "/connect helps to connect one: by a key, or by a model server on this machine.";

/// Why the demo connects no model.
pub(super) const DEMO_HAS_NO_MODEL: &str = "The demo replays recorded answers and asks no model.";

impl Session {
    /// Asks the front end to help with connecting a model: with the key of a provider, or with all that there is.
    pub fn ask_to_connect(&mut self, request: ConnectRequest) {
        self.notices.push(Notice::Connect(request));
        self.model.connecting.refused = None;
    }

    /// `/connect`: helps with connecting a model, with the key of this provider if one is named.
    pub(super) fn connect_command(&mut self, provider: Option<String>) {
        match self.model.connection {
            Connection::Demo => self.tell(Level::Warning, DEMO_HAS_NO_MODEL, ""),
            _ => self.ask_to_connect(ConnectRequest { provider, ..ConnectRequest::default() }),
        }
    }

    /// Looks for keys and local servers, for the front end that has taken a request.
    pub fn search_connections(&mut self) -> Vec<Effect> {
        (self.model.connecting.keys, self.model.connecting.servers) = (None, None);
        vec![Effect::Connecting(ConnectEffect::Search)]
    }

    /// Takes a key that the user entered.
    pub fn enter_key(&mut self, key: NewKey) -> Vec<Effect> {
        (self.model.connecting.checking, self.model.connecting.refused) = (true, None);
        vec![Effect::Connecting(ConnectEffect::Key(key))]
    }

    /// Takes in what came of connecting.
    pub(super) fn connect_reported(&mut self, report: ConnectResponse) {
        match report {
            ConnectResponse::Keys(keys) => self.model.connecting.keys = Some(keys),
            ConnectResponse::Servers(servers) => self.model.connecting.servers = Some(servers),
            ConnectResponse::KeyMissing { provider, model } => {
                let reason = match &provider {
                    Some(provider) => format!("{model} needs a key for {provider}, and there is none."),
                    None => format!("No provider is connected that could be asked for {model}."),
                };
                self.tell(Level::Warning, reason.clone(), HOW_TO_CONNECT);
                self.ask_to_connect(ConnectRequest { provider, model, reason, is_for_message: false });
            }
            ConnectResponse::KeyRefused(failure) => {
                self.model.connecting.checking = false;
                self.tell_failure(Level::Error, failure.clone());
                self.model.connecting.refused = Some(failure);
            }
            ConnectResponse::KeyStored { provider, source, note } => {
                self.model.connecting.checking = false;
                let (text, hint) = stored(&provider, &source);
                self.tell(Level::Info, text, hint);
                note.into_iter().for_each(|note| self.tell_failure(Level::Warning, note));
            }
        }
    }
}

/// Where a key was stored, and how it is removed.
fn stored(provider: &str, source: &KeySource) -> (String, String) {
    let text = format!("The key for {provider} is stored in {source}.");
    let hint = match source {
        KeySource::Credentials { path, host } => {
            format!("Only you can read that file. To remove the key, delete the entry \"{host}\" from {path}.")
        }
        _ => "To remove it, delete the entry of the service rhumb with the program for your keyring.".to_owned(),
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
    fn a_key_that_is_entered_is_in_no_debug_output() {
        let (mut session, _) = Session::start(Connection::None);
        let effects = session.enter_key(key());
        assert_eq!(effects, [Effect::Connecting(ConnectEffect::Key(key()))]);
        assert!(!format!("{effects:?} {session:?}").contains("canary"));
    }

    #[test]
    fn a_stored_key_is_told_with_its_place_and_how_it_is_removed() {
        let (mut session, _) = Session::start(Connection::None);
        let source = KeySource::Credentials { path: "/c.toml".into(), host: "api.anthropic.com".into() };
        session.connect_reported(ConnectResponse::KeyStored { provider: "anthropic".into(), source, note: None });
        let told = format!("{:?}", session.transcript.last());
        assert!(told.contains("stored in /c.toml, entry api.anthropic.com") && told.contains("To remove"), "{told}");
    }

    fn connect_request(session: &Session) -> Option<&ConnectRequest> {
        session.notices().find_map(|notice| match notice {
            Notice::Connect(request) => Some(request),
            _ => None,
        })
    }

    #[test]
    fn a_model_without_a_key_asks_for_the_key_of_its_provider() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.use_model("sonnet".into()), [Effect::UseModel("sonnet".into())]);
        let missing = ConnectResponse::KeyMissing { provider: Some("anthropic".into()), model: "sonnet".into() };
        session.connect_reported(missing);
        let request = connect_request(&session).unwrap();
        assert_eq!((request.provider.as_deref(), request.model.as_str()), (Some("anthropic"), "sonnet"));
    }

    #[test]
    fn a_message_without_a_model_is_kept_and_asks_to_connect() {
        let (mut session, _) = Session::start(Connection::None);
        let (sent, effects) = session.send("hello");
        assert!(!sent && effects.is_empty(), "{effects:?}");
        assert!(connect_request(&session).unwrap().reason.contains("so the message was not sent"));
    }
}
