//! Tests of the endpoint of a model: the provider and the key.

use super::*;
use rhumb_llm::models::Api;
use rhumb_llm::{Endpoint, KeySource};
use secrecy::ExposeSecret as _;

fn load(flags: Overrides, vars: &[(&str, &str)]) -> Settings {
    let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Settings::load(&Sources { flags, env: &env, paths: None, dirs: None }).unwrap()
}

fn ask(model: &str, vars: &[(&str, &str)]) -> Option<Endpoint> {
    load(Overrides::default(), vars).endpoint(model).unwrap()
}

/// Provider, API, address, model and key.
fn summary(endpoint: &Endpoint) -> (&str, Api, &str, &str, Option<&str>) {
    let key = endpoint.key.as_ref().map(|key| key.expose_secret());
    (&endpoint.provider, endpoint.api, &endpoint.base_url, &endpoint.model, key)
}

#[test]
fn a_prefix_names_the_provider_and_is_no_part_of_the_model() {
    let vars = [("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")];
    let endpoint = ask("anthropic/claude-sonnet-4-5", &vars).unwrap();
    let expected = ("anthropic", Api::Anthropic, "https://api.anthropic.com", "claude-sonnet-4-5", Some("a"));
    assert_eq!(summary(&endpoint), expected);
    let endpoint = ask("openrouter/anthropic/claude-sonnet-4.5", &[("OPENROUTER_API_KEY", "r")]).unwrap();
    assert_eq!((endpoint.provider.as_str(), endpoint.model.as_str()), ("openrouter", "anthropic/claude-sonnet-4.5"));
    let endpoint = ask("ollama/qwen2.5-coder:14b", &vars).unwrap();
    assert_eq!(summary(&endpoint), ("ollama", Api::Ollama, "http://127.0.0.1:11434", "qwen2.5-coder:14b", None));
}

#[test]
fn a_bare_name_goes_to_its_maker_or_to_the_only_one_at_hand() {
    let asked = |model: &str, vars: &[&str]| {
        let vars: Vec<_> = vars.iter().map(|name| (*name, "k")).collect();
        ask(model, &vars).map(|endpoint| endpoint.provider)
    };
    let (openai, anthropic, groq) = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY");
    assert_eq!(asked("claude-opus-4-1", &[openai, anthropic, groq]).as_deref(), Some("anthropic"));
    assert_eq!(asked("gpt-4o", &[openai, anthropic]).as_deref(), Some("openai"));
    assert_eq!(asked("gemini-2.5-flash", &["GOOGLE_API_KEY", anthropic]).as_deref(), Some("gemini"));
    assert_eq!(asked("llama-3.3-70b-versatile", &[groq]).as_deref(), Some("groq"));
    assert_eq!(asked("my-finetune", &[openai]).as_deref(), Some("openai"));
    assert_eq!(asked("claude-opus-4-1", &["OPENROUTER_API_KEY", openai]).as_deref(), Some("openrouter"));
    assert_eq!(asked("gpt-4o", &[]), None);
}

#[test]
fn a_missing_key_is_told_with_where_it_was_looked_for_and_only_where_one_is_needed() {
    let missing = |model: &str, vars: &[(&str, &str)]| ask(model, vars).unwrap().missing_key;
    let text = "ANTHROPIC_API_KEY is not set".to_owned();
    assert_eq!(missing("anthropic/claude-sonnet-4-5", &[]), Some(text.clone()));
    assert_eq!(missing("anthropic/claude-sonnet-4-5", &[("ANTHROPIC_API_KEY", "a")]), None);
    let routed = missing("anthropic/claude-sonnet-4-5", &[("OPENROUTER_API_KEY", "r")]);
    assert_eq!(routed, Some(text + "; OPENROUTER_API_KEY is set, so openrouter/anthropic/… works"));
    let google = missing("gemini/gemini-2.5-pro", &[]).unwrap();
    assert_eq!(google, "GEMINI_API_KEY and GOOGLE_API_KEY are not set");
    let azure = missing("azure/mine", &[("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")]).unwrap();
    assert!(azure.starts_with("AZURE_OPENAI_API_KEY and"), "{azure}");
    let own = missing("gpt-5", &[("RHUMB_BASE_URL", "https://api.openai.com/v1")]).unwrap();
    assert!(own.starts_with("RHUMB_API_KEY and OPENAI_API_KEY are not set"), "{own}");
    for (model, vars) in [
        ("ollama/qwen3", &[][..]),
        ("ollama/qwen3", &[("OLLAMA_HOST", "https://box.example")]),
        ("lmstudio/qwen3", &[]),
        ("m", &[("RHUMB_BASE_URL", "http://127.0.0.1:8080/v1")]),
        ("m", &[("RHUMB_BASE_URL", "https://proxy.example/v1")]),
        ("azure/mine", &[("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:8080")]),
    ] {
        assert_eq!(missing(model, vars), None, "{model} {vars:?}");
    }
}

#[test]
fn a_key_that_was_just_entered_is_not_missing() {
    let endpoint = Settings::default().endpoint_with_key("anthropic", &"entered".to_owned().into()).unwrap();
    assert_eq!((endpoint.missing_key, endpoint.key.is_some()), (None, true));
}

#[test]
fn a_model_is_not_asked_of_the_maker_of_others() {
    let endpoint = ask("claude-opus-4-1", &[("OPENAI_API_KEY", "o")]).unwrap();
    assert_eq!((endpoint.provider.as_str(), endpoint.key.is_none()), ("anthropic", true));
    let notes = Settings::default().notes_on("claude-opus-4-1", &endpoint);
    assert!(notes[0].0.contains("anthropic") && notes[0].1.contains("ANTHROPIC_API_KEY"), "{notes:?}");
}

#[test]
fn a_name_that_several_could_mean_is_told_with_the_choices() {
    let settings = load(Overrides::default(), &[("GROQ_API_KEY", "g"), ("TOGETHER_API_KEY", "t")]);
    let error = settings.endpoint("llama-3").unwrap_err().to_string();
    assert!(error.contains("groq/llama-3 or together/llama-3"), "{error}");
}

#[test]
fn no_model_is_the_default_of_the_first_provider_at_hand_and_told() {
    let settings = load(Overrides::default(), &[("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o")]);
    let endpoint = settings.endpoint("").unwrap().unwrap();
    assert_eq!((endpoint.provider.as_str(), endpoint.model.is_empty()), ("openai", false));
    let notes = settings.notes_on("", &endpoint);
    assert!(endpoint.model.starts_with("gpt-"), "{endpoint:?}");
    assert!(notes[0].0.contains(&endpoint.model) && notes[0].0.contains("openai"), "{notes:?}");
    assert!(settings.notes_on(&endpoint.model, &endpoint).is_empty());
    assert!(ask("", &[("RHUMB_API_KEY", "k")]).is_none(), "a key without an address");
}

#[test]
fn models_of_the_newer_api_are_asked_by_it() {
    let api = |model: &str, vars: &[(&str, &str)]| ask(model, vars).unwrap().api;
    let key = ("OPENAI_API_KEY", "o");
    assert_eq!(api("gpt-5-codex", &[key]), Api::Responses);
    assert_eq!(api("openai/o1-pro", &[key]), Api::Responses);
    assert_eq!(api("gpt-5.4-mini", &[key]), Api::Responses);
    assert_eq!(api("", &[key]), Api::Responses, "tools work with the default model");
    assert_eq!(api("gpt-5.4", &[key, ("OPENAI_BASE_URL", "https://gateway.example.org/v1")]), Api::Chat);
    assert_eq!(api("gpt-5", &[key]), Api::Chat);
    assert_eq!(api("gpt-5", &[key, ("RHUMB_API", "responses")]), Api::Responses);
    assert_eq!(api("gpt-5-codex", &[key, ("OPENAI_BASE_URL", "https://gateway.example.org/v1")]), Api::Chat);
}

#[test]
fn an_address_wins_and_keeps_the_name_whole() {
    let at = |url: &str| ask("anthropic/claude-x", &[("RHUMB_BASE_URL", url), ("RHUMB_API_KEY", "own")]).unwrap();
    let gateway = at("https://gateway.example.org/v1");
    let expected =
        ("gateway.example.org", Api::Chat, "https://gateway.example.org/v1", "anthropic/claude-x", Some("own"));
    assert_eq!(summary(&gateway), expected);
    assert_eq!(at("https://api.anthropic.com").api, Api::Anthropic);
    assert_eq!(at("https://generativelanguage.googleapis.com/v1beta/openai/").api, Api::Chat);
    assert_eq!(at("https://generativelanguage.googleapis.com").api, Api::Gemini);
    assert_eq!((at("http://127.0.0.1:11434/v1").api, at("http://127.0.0.1:11434").api), (Api::Chat, Api::Ollama));
}

#[test]
fn the_key_of_a_provider_goes_to_its_own_host_alone() {
    let vars = [("OPENAI_API_KEY", "o"), ("ANTHROPIC_API_KEY", "a")];
    let sent = |url: &str, more: &[(&str, &str)]| {
        let flags = Overrides { base_url: Some(url.into()), ..Overrides::default() };
        let endpoint = load(flags, &[&vars, more].concat()).endpoint("m").unwrap().unwrap();
        endpoint.key.map(|key| key.expose_secret().to_owned())
    };
    for url in ["https://api.openai.com/v1", " https://api.openai.com", "https://API.OpenAI.com:443/v1/"] {
        assert_eq!(sent(url, &[]).as_deref(), Some("o"), "{url}");
    }
    assert_eq!(sent("https://api.anthropic.com/v1", &[]).as_deref(), Some("a"));
    for url in [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.example.org/v1",
        "https://api.openai.com@example.org/v1",
        "https://example.org/api.openai.com",
        "http://127.0.0.1:8080/v1",
        "api.openai.com",
        "",
    ] {
        assert_eq!(sent(url, &[]), None, "{url}");
        assert_eq!(sent(url, &[("OPENAI_BASE_URL", "https://gateway.example.org/v1")]), None, "{url}");
    }
    let beside = [("OPENAI_API_BASE", "https://gateway.example.org/v1")];
    assert_eq!(sent("https://gateway.example.org/v1/", &beside).as_deref(), Some("o"));
    assert_eq!(sent("https://example.org", &[("RHUMB_API_KEY", "own")]).as_deref(), Some("own"));
}

#[test]
fn a_key_that_stays_here_is_told() {
    let flags = || Overrides { base_url: Some("https://models.example.org/v1".into()), ..Overrides::default() };
    for (vars, told) in [(&[("OPENAI_API_KEY", "o")][..], true), (&[("RHUMB_API_KEY", "k")], false), (&[], false)] {
        let settings = load(flags(), vars);
        let endpoint = settings.endpoint("m").unwrap().unwrap();
        let notes = settings.notes_on("m", &endpoint);
        assert_eq!(notes.iter().any(|(_, hint)| hint.contains("RHUMB_API_KEY")), told, "{notes:?}");
    }
}

#[test]
fn addresses_of_the_environment_are_made_whole() {
    for (host, url) in [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("box", "http://box:11434"),
        ("https://box.example/", "https://box.example"),
    ] {
        assert_eq!(ask("ollama/m", &[("OLLAMA_HOST", host)]).unwrap().base_url, url);
    }
    let azure = [("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/"), ("AZURE_OPENAI_API_KEY", "z")];
    let expected = ("azure", Api::Chat, "https://me.openai.azure.com/openai/v1", "gpt-4o", Some("z"));
    assert_eq!(summary(&ask("azure/gpt-4o", &azure).unwrap()), expected);
    let error = load(Overrides::default(), &azure[1..]).endpoint("azure/gpt-4o").unwrap_err().to_string();
    assert!(error.contains("[providers.azure]"), "{error}");
}

#[test]
fn a_provider_of_the_users_own_is_asked_by_its_name() {
    let entry = |base_url: Option<&str>, key_env: Option<&str>| ProviderEntry {
        base_url: base_url.map(str::to_owned),
        key_env: key_env.map(str::to_owned),
        headers: [("X-Team".to_owned(), "canary".to_owned())].into(),
        ..ProviderEntry::default()
    };
    let mut settings = load(Overrides::default(), &[("OPENAI_API_KEY", "o")]);
    let box_url = Some("http://10.0.0.7:8000/v1");
    settings.providers.entries.insert("box".into(), entry(box_url, None));
    settings.providers.entries.insert("openai".into(), entry(Some("https://gateway.example.org/v1"), None));
    let endpoint = settings.endpoint("box/org/model").unwrap().unwrap();
    assert_eq!(summary(&endpoint), ("box", Api::Chat, "http://10.0.0.7:8000/v1", "org/model", None));
    assert_eq!(endpoint.headers.len(), 1);
    assert!(!format!("{endpoint:?} {settings:?}").contains("canary"));
    // The key of the variables is used at another address of a preset only if the user allows it.
    assert_eq!(settings.endpoint("openai/gpt-4o").unwrap().unwrap().key_source, None);
    let gateway = entry(Some("https://gateway.example.org/v1"), Some("OPENAI_API_KEY"));
    settings.providers.entries.insert("openai".into(), gateway);
    let source = settings.endpoint("openai/gpt-4o").unwrap().unwrap().key_source;
    assert_eq!(source, Some(KeySource::Variable("OPENAI_API_KEY".into())));
}

#[test]
fn short_names_are_seen_through_but_not_at_an_address_of_the_users_own() {
    let key = ("ANTHROPIC_API_KEY", "a");
    let endpoint = ask("sonnet", &[key]).unwrap();
    assert!(endpoint.provider == "anthropic" && endpoint.model.starts_with("claude-"), "{endpoint:?}");
    assert_eq!(ask("sonnet", &[key, ("RHUMB_BASE_URL", "http://127.0.0.1:1/v1")]).unwrap().model, "sonnet");
    let mut settings = load(Overrides::default(), &[key, ("RHUMB_BASE_URL", "http://127.0.0.1:1/v1")]);
    settings.aliases.insert("fast".into(), "org/tiny".into());
    assert_eq!(settings.endpoint("Fast").unwrap().unwrap().model, "org/tiny");
}

#[test]
fn the_model_that_is_asked_when_none_is_named_is_one_that_the_table_knows() {
    for preset in PRESETS.iter().filter(|preset| preset.default_model.is_some()) {
        let endpoint = ask("", &[(preset.key_variables[0], "k")]).unwrap();
        let name = format!("{}/{}", preset.name, endpoint.model);
        assert_eq!(endpoint.provider, preset.name);
        assert!(rhumb_llm::models::Catalog::bundled().find(&name).known, "{name}");
    }
}
