//! Helps to connect a model: prints where keys and servers were searched, and what to do. Keys are not entered here, because the
//! terminal would show them.

use super::LineUi;
use rhumb_llm::{KNOWN_SERVERS, LocalServer};
use rhumb_session::{ConnectRequest, KeySearch, KeyedProvider};

impl LineUi {
    /// Searches keys and servers, unless the request comes from an unsent message: the transcript has the reason then.
    pub(super) fn search_connections(&mut self, request: ConnectRequest) {
        if request.is_for_message {
            return;
        }
        let effects = self.session.search_connections();
        self.connect_request = Some(request);
        self.perform(effects);
    }

    /// Prints the results of a search. Returns `false` without results.
    pub(super) fn print_connections(&mut self) -> bool {
        let Some(request) = self.connect_request.take() else { return false };
        let Some(keys) = &self.session.connecting().keys else { return false };
        let servers = self.session.connecting().servers.as_deref().unwrap_or_default();
        self.out.lines(connection_lines(&request, keys, servers));
        true
    }
}

/// Where keys and servers were searched, what was found, and what to do next.
fn connection_lines(request: &ConnectRequest, keys: &KeySearch, servers: &[LocalServer]) -> Vec<String> {
    let title = "rhumb searched keys and servers:";
    let mut lines = vec![format!("{} {title}", request.reason).trim_start().to_owned()];
    let (found, missing): (Vec<_>, Vec<_>) = keys.providers.iter().partition(|provider| provider.found.is_some());
    let source = |provider: &KeyedProvider| Some(format!("{}: key from {}", provider.name, provider.found.as_ref()?));
    lines.extend(found.iter().filter_map(|provider| source(provider)));
    let variables: Vec<&str> = missing.iter().flat_map(|provider| &provider.variables).map(String::as_str).collect();
    if !variables.is_empty() {
        lines.push(format!("variables that are not set: {}", variables.join(", ")));
    }
    lines.extend(keys.places.iter().map(|place| format!("{}: {}", place.name, place.state)));
    let names: Vec<&str> = KNOWN_SERVERS.iter().map(|(name, _)| *name).collect();
    if servers.is_empty() {
        lines.push(format!("servers on this machine ({}): none answers", names.join(", ")));
    }
    lines.extend(servers.iter().map(|server| {
        let models = if server.models.is_empty() { "no model loaded".to_owned() } else { server.models.join(", ") };
        format!("{} at {}: {models}", server.name, server.base_url)
    }));
    if !servers.is_empty() {
        lines.push("hint: /servers connects one of these.".to_owned());
    }
    let is_wanted = |provider: &&&KeyedProvider| request.provider.as_ref().is_none_or(|name| *name == provider.name);
    if let Some(provider) = missing.iter().find(is_wanted) {
        let variable = provider.variables.first().map(|name| format!("set {name}, or ")).unwrap_or_default();
        lines.push(format!(
            "hint: For {}, {variable}put key = \"…\" below [\"{}\"] into credentials.toml in the folder above, which only you \
             may read (chmod 600). Then /connect searches again, and /model {}/NAME uses a model.",
            provider.name, provider.host, provider.name
        ));
    }
    if let Some(provider) = found.first() {
        lines.push(format!("hint: /model {}/{} uses that provider.", provider.name, provider.default_model));
    }
    lines.push("hint: Without a model, /copy-context and /paste work with a chat elsewhere.".to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::SearchedPlace;

    #[test]
    fn missing_keys_are_listed_with_a_hint_for_the_requested_provider() {
        let provider = |name: &str, variable: &str| KeyedProvider {
            name: name.into(),
            host: format!("api.{name}.com"),
            variables: vec![variable.into()],
            found: None,
            default_model: String::new(),
        };
        let keys = KeySearch {
            providers: vec![provider("first", "FIRST_KEY"), provider("second", "SECOND_KEY")],
            places: vec![SearchedPlace { name: "/c.toml".into(), state: "not there".into() }],
            storage: String::new(),
        };
        let request = ConnectRequest { provider: Some("second".into()), ..ConnectRequest::default() };
        let text = connection_lines(&request, &keys, &[]).join("\n");
        for part in [
            "FIRST_KEY, SECOND_KEY", "/c.toml: not there", "Ollama", "none answers", "set SECOND_KEY", "api.second.com",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
