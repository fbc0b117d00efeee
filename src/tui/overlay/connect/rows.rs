//! What can be connected: a server on this machine, a provider whose key was found, or one that a key can be entered for.

use super::super::Reply;
use crate::config::{KeySearch, KeyedProvider};
use crate::session::ModelUse;
use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    /// A model of a server on this machine; an empty name where none is loaded.
    Server {
        /// The kind of server.
        kind: String,
        /// What it speaks.
        api: Api,
        /// The root of its API.
        base_url: String,
        /// The model.
        model: String,
    },
    /// A provider.
    Provider(KeyedProvider),
    /// Look for keys and servers again.
    SearchAgain,
    /// Close the screen.
    WithoutModel,
}

impl Row {
    /// What it does, and what was found.
    pub(super) fn words(&self) -> (String, String) {
        match self {
            Self::Server { kind, base_url, model, .. } if model.is_empty() => {
                (format!("use {kind}"), format!("{base_url}, no model loaded"))
            }
            Self::Server { kind, base_url, model, .. } => (format!("use {model}"), format!("{kind} at {base_url}")),
            Self::Provider(KeyedProvider { name, found: Some(source), .. }) => {
                (format!("use {name}"), format!("key from {source}"))
            }
            Self::Provider(KeyedProvider { name, variables, host, .. }) => {
                let looked_for = match variables.as_slice() {
                    [] => format!("no key for {host}"),
                    [one] => format!("{one} is not set"),
                    several => format!("{} are not set", several.join(", ")),
                };
                (format!("enter a key for {name}"), looked_for)
            }
            Self::SearchAgain => ("look again for keys and servers".to_owned(), String::new()),
            Self::WithoutModel => {
                ("go on without a model".to_owned(), "copy mode: /copy-context and /paste".to_owned())
            }
        }
    }

    /// What choosing it comes to; `None` where a key is to be entered first.
    pub(super) fn reply(&self, model: &str) -> Option<Reply> {
        Some(match self {
            Self::Server { api, base_url, model, .. } => {
                Reply::Connect { api: *api, base_url: base_url.clone(), model: model.clone() }
            }
            Self::Provider(provider) if provider.found.is_none() => return None,
            Self::Provider(KeyedProvider { name, default_model, .. }) => {
                let default = format!("{name}/{default_model}");
                Reply::Model(ModelUse::Main, if model.is_empty() { default } else { model.to_owned() })
            }
            Self::SearchAgain => Reply::SearchConnections,
            Self::WithoutModel => Reply::Close,
        })
    }
}

/// All rows: first what needs nothing more.
pub(super) fn rows(keys: Option<&KeySearch>, servers: Option<&[LocalServer]>) -> Vec<Row> {
    let of_server = |server: &LocalServer| {
        let models = if server.models.is_empty() { vec![String::new()] } else { server.models.clone() };
        let LocalServer { name, api, base_url, .. } = server.clone();
        let row = move |model| Row::Server { kind: name.clone(), api, base_url: base_url.clone(), model };
        models.into_iter().map(row).collect::<Vec<Row>>()
    };
    let mut rows: Vec<Row> = servers.unwrap_or_default().iter().flat_map(of_server).collect();
    let providers = || keys.into_iter().flat_map(|keys| &keys.providers);
    let (found, missing): (Vec<_>, Vec<_>) = providers().cloned().partition(|provider| provider.found.is_some());
    rows.extend(found.into_iter().chain(missing).map(Row::Provider));
    rows.extend([Row::SearchAgain, Row::WithoutModel]);
    rows
}
