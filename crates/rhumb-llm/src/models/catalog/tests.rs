//! The catalogue over the list that comes with the program. It is renewed now and then: what is asserted of it are families and
//! relations, numbers only where they are history.

use super::*;
use crate::models::{DEFAULT_WINDOW, Dollars, Tokens, parse_list};
use rhumb_edit::EditFormat;

fn find(name: &str) -> Model {
    Catalog::bundled().find(name)
}

fn user(overrides: &[(&str, &str)], aliases: &[(&str, &str)]) -> Catalog {
    let table = |(name, text): &(&str, &str)| ((*name).to_owned(), toml::from_str(text).unwrap());
    let alias = |(name, meant): &(&str, &str)| ((*name).to_owned(), (*meant).to_owned());
    Catalog::bundled().with_user(overrides.iter().map(table).collect(), aliases.iter().map(alias).collect())
}

fn refreshed(name: &str, window: usize, date: &str) -> ModelList {
    let text = format!(r#"{{"data": [{{"id": "{name}", "context_length": {window}}}]}}"#);
    parse_list(&text, date, "test").unwrap()
}

#[test]
fn the_list_that_comes_with_the_program_can_be_read() {
    assert!(BUNDLED.models.len() > 300 && BUNDLED.date.starts_with("20") && !BUNDLED.source.is_empty());
    assert_eq!(ModelList::decode(SNAPSHOT).map(|list| list.encode()).as_deref(), Some(SNAPSHOT));
    let sorted = ModelList::new(BUNDLED.kind, "", "", BUNDLED.models.clone());
    assert_eq!(sorted.models, BUNDLED.models);
}

#[test]
fn a_provider_prefix_does_not_hide_the_model() {
    let model = find("openai/gpt-4o-mini");
    assert_eq!((model.window, model.known), (128_000, true));
    assert!(!find("my-finetune").known);
}

#[test]
fn facts_come_from_the_list_and_judgement_from_the_family() {
    let model = find("gpt-4o");
    assert_eq!((model.window, model.max_output, model.source), (128_000, Some(16_384), Source::Bundled));
    assert!(model.lazy && model.capabilities.images && model.capabilities.caching == Caching::ByPrefix);
    let million = Tokens { fresh: 1_000_000, ..Tokens::default() };
    assert_eq!(model.prices.map(|prices| prices.cost(million)), Some(Dollars::new(2.5)));
    let claude = find("claude-haiku-4-5");
    assert_eq!(claude.capabilities.caching, Caching::Marked);
    assert_eq!(claude.capabilities.thinking, ThinkingControl::Budget);
    assert!(claude.capabilities.prefill && !find("claude-opus-4-8").capabilities.prefill);
    assert!(find("gpt-5-pro").responses_only && !find("gpt-5").responses_only);
    assert_eq!(find("gpt-5").capabilities.thinking, ThinkingControl::Effort);
    assert!(!find("gpt-5").capabilities.temperature);
}

#[test]
fn one_model_is_found_however_it_is_written() {
    let plain = find("claude-haiku-4-5");
    for name in [
        "anthropic/claude-haiku-4-5",
        "Claude-Haiku-4.5",
        "claude-haiku-4-5-20251001",
        "claude-haiku-4-5-20260101",
        "openrouter/anthropic/claude-haiku-4.5",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "vertex_ai/claude-haiku-4-5@20251001",
    ] {
        let model = find(name);
        assert_eq!((model.window, model.known), (plain.window, true), "{name}");
    }
    assert_eq!(find("models/gemini-2.5-pro").window, find("gemini/gemini-2.5-pro").window);
}

#[test]
fn prices_hold_only_where_they_are_charged() {
    assert_eq!(find("openrouter/openai/gpt-4o").prices, find("gpt-4o").prices);
    assert_eq!(find("azure/gpt-4o").prices, find("gpt-4o").prices);
    assert_eq!(find("bedrock/anthropic.claude-haiku-4-5-20251001-v1:0").prices, None);
    assert_eq!(find("github_copilot/gpt-4o").prices, None);
    // Many serve it, each at a price of its own.
    assert_eq!(find("gpt-oss-120b").prices, None);
    assert!(find("groq/openai/gpt-oss-120b").prices.is_some());
    assert_eq!(find("openrouter/some/model:free").prices, Some(Prices::default()));
    assert_eq!(find("never-heard-of").prices, None);
}

#[test]
fn a_model_on_the_users_machine_costs_nothing_and_its_window_is_assumed() {
    let model = find("ollama/qwen2.5-coder:14b");
    assert_eq!((model.window, model.known, model.prices), (32_768, false, Some(Prices::default())));
    assert_eq!(model.edit_format, EditFormat::Whole);
    assert_eq!(find("ollama/llama3").window, 8_192);
    assert_eq!(find("ollama/llama3.1:70b").window, DEFAULT_WINDOW);
    let catalog = user(&[("ollama/llama3.1:70b", "window = 65536")], &[]);
    let model = catalog.find("ollama/llama3.1:70b");
    assert_eq!((model.window, model.known, model.source), (65_536, true, Source::User));
}

#[test]
fn a_model_is_found_by_what_its_server_calls_it() {
    let catalog = Catalog::bundled();
    let name = |provider: &str, id: &str| catalog.find_at(provider, id).name;
    assert_eq!(name("groq", "openai/gpt-oss-120b"), "groq/openai/gpt-oss-120b");
    assert_eq!(name("openai", "gpt-4o"), "openai/gpt-4o");
    assert_eq!(name("openai", "openai/gpt-4o"), "openai/gpt-4o");
    assert_eq!(name("models.example.org", "gpt-4o"), "gpt-4o");
    assert_eq!(name("openai", ""), "");
    assert_eq!(name("models.example.org", "mini"), "mini");
    assert_eq!(catalog.find_at("Ollama", "tide:7b").prices, Some(Prices::default()));
    assert!(catalog.find_at("openai", "gpt-4.1").prices.is_some() && catalog.find_at("", "gpt-4.1").prices.is_some());
    let own = catalog.find_at("127.0.0.1", "gpt-4.1");
    assert!(own.known && own.prices.is_none(), "who else charges what is not known");
}

#[test]
fn short_names_lead_to_the_newest_that_is_served() {
    let catalog = Catalog::bundled();
    for (alias, beginning) in [
        ("sonnet", "anthropic/claude-sonnet-"),
        ("Opus", "anthropic/claude-opus-"),
        ("haiku", "anthropic/claude-haiku-"),
        ("4o", "openai/gpt-4o"),
        ("gpt5", "openai/gpt-5"),
        ("mini", "openai/gpt-5"),
        ("flash", "gemini/gemini-"),
        ("pro", "gemini/gemini-"),
        ("deepseek", "deepseek/deepseek-"),
        ("r1", "deepseek/deepseek-r"),
        ("grok", "xai/grok-4"),
        ("codestral", "mistral/codestral-latest"),
        ("anthropic/sonnet", "anthropic/claude-sonnet-"),
    ] {
        let name = catalog.resolve(alias);
        assert!(name.starts_with(beginning), "{alias} is {name}");
        assert!(catalog.find(alias).known && catalog.find(alias).name == name);
    }
    for alias in alias::ALIASES {
        assert_ne!(catalog.resolve(alias.name), alias.name, "{} leads nowhere", alias.name);
    }
    assert_eq!(catalog.resolve("ollama/mini"), "ollama/mini");
    assert_eq!(catalog.resolve("gpt-4o"), "gpt-4o");
}

#[test]
fn short_names_of_the_user_win_and_may_lead_to_others() {
    let aliases = [("sonnet", "openai/gpt-4o"), ("best", "opus"), ("a", "b"), ("b", "a")];
    let catalog = user(&[], &aliases);
    assert_eq!(catalog.resolve("sonnet"), "openai/gpt-4o");
    assert!(catalog.resolve("Best").starts_with("anthropic/claude-opus"));
    assert!(["a", "b"].contains(&catalog.resolve("a").as_str()));
}

#[test]
fn a_weak_model_is_of_the_same_provider_and_written_alike() {
    let weak = |name: &str| find(name).weak.unwrap_or_default();
    assert!(weak("claude-sonnet-4-5").starts_with("claude-haiku-"));
    assert!(weak("anthropic/claude-sonnet-4-5").starts_with("anthropic/claude-haiku-"));
    assert!(weak("gemini/gemini-2.5-pro").starts_with("gemini/gemini-"));
    assert_eq!(weak("gpt-4o"), "gpt-4o-mini");
    assert_eq!(find("o3").editor.as_deref(), Some("gpt-4.1"));
    assert_eq!((find("bedrock/claude-sonnet-4-5").weak, find("my-finetune").weak), (None, None));
    assert_eq!(find("gpt-4o").editor, None);
    // No model is its own weak one, and none costs more than the model that it helps.
    assert_eq!((find("claude-haiku-5-5").weak, find("gpt-4.1-nano").weak), (None, None));
    let price = |name: &str| find(name).prices.map(|prices| prices.output);
    for (name, weak) in Catalog::bundled().names().iter().filter_map(|name| Some((name, find(name).weak?))) {
        let dearer = price(&weak).zip(price(name)).is_some_and(|(weak, price)| weak > price);
        assert!(!dearer && weak != *name, "{weak} is weaker than {name}?");
    }
}

#[test]
fn what_the_user_says_wins_the_more_exact_the_later() {
    let catalog = user(
        &[
            ("gpt-4o", "window = 2000\nlazy = false"),
            ("openai/gpt-4o", "window = 3000"),
            ("*gpt*", "window = 1000\novereager = true"),
            ("mine", "window = 9\ninput_price = 1\noutput_price = 2"),
        ],
        &[],
    );
    let model = catalog.find("openai/gpt-4o");
    assert_eq!((model.window, model.lazy, model.overeager), (3_000, false, true));
    assert_eq!(catalog.find("gpt-4o-2024-08-06").window, 2_000);
    assert_eq!(catalog.find("azure/gpt-4o").window, 2_000);
    assert_eq!(catalog.find("gpt-4.1").window, 1_000);
    let mine = catalog.find("mine");
    assert_eq!((mine.known, mine.prices.map(|prices| prices.output)), (true, Some(2.0)));
}

#[test]
fn the_youngest_list_that_was_fetched_wins() {
    let newer = refreshed("openai/gpt-4o", 7_000, "2027-01-02");
    let older = ModelList { kind: ListKind::ModelsDev, ..refreshed("openai/gpt-4o", 5_000, "2027-01-01") };
    let catalog = Catalog::bundled().with_lists(vec![older, newer]);
    let model = catalog.find("openrouter/openai/gpt-4o");
    assert_eq!((model.window, model.source), (7_000, Source::Refreshed));
    assert_eq!(catalog.find("gpt-4o").source, Source::Bundled);
    assert_eq!(catalog.lists().map(|(_, source)| source).collect::<Vec<_>>()[2], Source::Bundled);
}

#[test]
fn search_puts_what_matches_best_first() {
    let catalog = Catalog::bundled();
    let found = catalog.search("sonnet", 5);
    assert!(found[0].starts_with("anthropic/claude-sonnet-"), "{found:?}");
    assert_eq!(catalog.search("openai/gpt-4o-mini", 1), ["openai/gpt-4o-mini"]);
    assert!(catalog.search("gem flash lite", 3).iter().all(|name| name.contains("flash-lite")));
    assert!(catalog.search("zzzzqq", 3).is_empty());
    assert!(catalog.nearest("gtp-4o", 3).contains(&"openai/gpt-4o".to_owned()), "{:?}", catalog.nearest("gtp-4o", 3));
    assert_eq!(catalog.names().len(), BUNDLED.models.len());
}

#[test]
fn any_name_gets_an_answer() {
    for name in ["", "/", "a/", "openai/", "ft:", ":", "*", "models/", "ollama/", "....", "-", "ünïcödé/模型"] {
        assert!(find(name).window > 0, "{name}");
    }
}

#[test]
fn some_models_are_served_by_the_newer_api_alone() {
    let only = |model: &str| Catalog::bundled().find_at("openai", model).responses_only;
    for model in ["o1-pro", "gpt-5-codex", "gpt-5.1-codex-mini", "codex-mini-latest", "gpt-9-pro-2031-01-01"] {
        assert!(only(model), "{model}");
    }
    for model in ["gpt-5", "o3", "gpt-4.1-mini", "gpt-4o-prototype"] {
        assert!(!only(model), "{model}");
    }
}
