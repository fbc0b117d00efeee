//! Connecting a model in the app: the searched places, the input of a key, and text that is typed meanwhile.

use rhumb_llm::LocalServer;
use rhumb_llm::models::{Api, Model};
use rhumb_session::{ConnectEffect, ConnectResponse, Failure, NewKey, Response};
use rhumb_session::{KeySearch, KeyedProvider, SearchedPlace};
use secrecy::SecretString;

use super::harness::Harness;
use super::{snapshot, snapshots};

fn provider(name: &str, variable: &str) -> KeyedProvider {
    KeyedProvider {
        name: name.into(),
        host: format!("api.{name}.example"),
        variables: vec![variable.into()],
        found: None,
        default_model: "m".into(),
    }
}

fn keys() -> KeySearch {
    let place = |name: &str, state: &str| SearchedPlace { name: name.into(), state: state.into() };
    KeySearch {
        providers: vec![provider("anthropic", "ANTHROPIC_API_KEY"), provider("openai", "OPENAI_API_KEY")],
        places: vec![
            place("/home/mira/.config/rhumb/credentials.toml", "not there"),
            place("keyring", "not part of this build"),
        ],
        storage: "/home/mira/.config/rhumb/credentials.toml (mode 0600)".into(),
    }
}

fn found(harness: &mut Harness, servers: Vec<LocalServer>) {
    harness.report(Response::Connecting(ConnectResponse::Keys(keys())));
    harness.report(Response::Connecting(ConnectResponse::Servers(servers)));
}

/// A message was sent without a model.
fn refused(width: u16, height: u16) -> Harness {
    let mut harness = Harness::new(width, height);
    harness.keys("type \"add a mode\" <Enter>");
    found(&mut harness, Vec::new());
    harness
}

fn connected(harness: &mut Harness) {
    let facts = std::sync::Arc::new(Model::unknown("m"));
    let host = "api.openai.example".to_owned();
    harness.report(Response::Connected { model: "m".into(), host, facts, notes: Vec::new() });
}

#[test]
fn a_message_without_a_model_leads_to_what_was_looked_for_and_is_kept() {
    snapshots("connect", |width, height| {
        let harness = refused(width, height);
        assert_eq!(harness.connecting, [ConnectEffect::Search]);
        assert_eq!(harness.app.composer.text(), "add a mode");
        harness
    });
}

#[test]
fn a_key_is_entered_unseen_and_the_message_goes_with_the_next_enter() {
    let mut harness = refused(80, 24);
    harness.keys("<Down> <Enter>").paste("sk-canary-0123").keys("x <Backspace>");
    snapshot("connect-key@80x24", &harness);
    assert!(!harness.screen().contains("canary"));
    harness.keys("<Enter>");
    let key = NewKey { provider: "openai".into(), model: String::new(), key: SecretString::from("sk-canary-0123") };
    assert_eq!(harness.connecting.last(), Some(&ConnectEffect::Key(key)));
    assert!(harness.screen().contains("Checking the key"), "{}", harness.screen());
    assert!(!format!("{:?}", harness.app).contains("canary"), "the app holds the key");
    connected(&mut harness);
    assert!(harness.app.overlays.is_empty());
    assert!(harness.app.hint.text().contains("m is connected; Enter sends"), "{}", harness.app.hint.text());
    assert_eq!(harness.app.composer.text(), "add a mode");
}

#[test]
fn a_refused_key_is_told_where_it_was_entered() {
    let mut harness = refused(80, 24);
    harness.keys("<Enter> k e y <Enter>");
    let message = "the server refused the key (status 401): no such key.".to_owned();
    let failure = Failure { message, hint: "Check the key.".into() };
    harness.report(Response::Connecting(ConnectResponse::KeyRefused(failure)));
    snapshot("connect-refused@80x24", &harness);
    harness.keys("<Esc> <Down> <Enter>");
    assert!(!harness.screen().contains("401"), "it was about another key: {}", harness.screen());
}

#[test]
fn who_types_on_closes_the_screen_and_loses_no_letter() {
    let mut harness = refused(80, 24);
    harness.keys("s o o n");
    assert!(harness.app.overlays.is_empty());
    assert_eq!(harness.app.composer.text(), "add a modesoon");
    let mut harness = refused(80, 24);
    harness.paste(" and a page");
    assert_eq!(harness.app.composer.text(), "add a mode and a page");
    let mut harness = refused(80, 24);
    harness.keys("<F3>");
    assert!(harness.app.overlays.is_empty(), "other keys count, too");
    harness.settle();
    assert_eq!(harness.copied.len(), 1);
}

#[test]
fn a_server_that_is_found_later_leaves_the_cursor_where_it_was() {
    let mut harness = refused(80, 24);
    harness.keys("<Down>");
    let models = vec!["tide-7b".to_owned()];
    let base_url = "http://127.0.0.1:11434/v1".to_owned();
    found(&mut harness, vec![LocalServer { name: "Ollama".into(), api: Api::Ollama, base_url, models }]);
    assert!(harness.screen().contains("▸ enter a key for openai"), "{}", harness.screen());
    assert!(harness.screen().contains("use tide-7b"), "{}", harness.screen());
}

#[test]
fn a_model_without_a_key_leads_to_the_key_of_its_provider() {
    let mut harness = Harness::new(80, 24);
    let missing = ConnectResponse::KeyMissing { provider: Some("openai".into()), model: "mini".into() };
    harness.report(Response::Connecting(missing));
    found(&mut harness, Vec::new());
    assert!(harness.screen().contains("a key for openai"), "{}", harness.screen());
    assert!(harness.screen().contains("mini needs a key for openai"), "{}", harness.screen());
    harness.keys("k <Enter>");
    assert!(matches!(harness.connecting.last(), Some(ConnectEffect::Key(key)) if key.model == "mini"));
}
