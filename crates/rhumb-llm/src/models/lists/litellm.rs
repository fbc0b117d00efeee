//! The format of litellm's price list: an object with one entry per model name.

use super::{day, is_true, lists_word, number, tokens};
use crate::models::lists::{ListedCapabilities, Listing};
use crate::models::name::{ProviderInfo, is_listed};
use serde_json::{Map, Value};

/// Fields that show that thinking can be set by a level.
const EFFORTS: [&str; 5] = [
    "supports_none_reasoning_effort",
    "supports_minimal_reasoning_effort",
    "supports_xhigh_reasoning_effort",
    "supports_max_reasoning_effort",
    "supports_adaptive_thinking",
];

/// Price fields: input, output, cache read, cache write.
const RATES: [&str; 4] =
    ["input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost"];

/// Returns the chat models of known providers.
pub(crate) fn read(list: &Map<String, Value>) -> Vec<Listing> {
    list.iter().filter_map(|(name, entry)| listing(name, entry)).collect()
}

fn listing(name: &str, entry: &Value) -> Option<Listing> {
    let theirs = entry.get("litellm_provider")?.as_str()?;
    let provider = ProviderInfo::named(theirs).filter(|provider| is_listed(provider))?;
    let mode = entry.get("mode")?.as_str()?;
    if !matches!(mode, "chat" | "responses")
        || lists_word(entry.get("supported_output_modalities"), "text") == Some(false)
    {
        return None;
    }
    let id = name.strip_prefix(theirs).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    // `max_tokens` is the output limit in some entries and the window in others, so it is ignored.
    let (input, output) = (tokens(entry.get("max_input_tokens"))?, tokens(entry.get("max_output_tokens")));
    let mut listing = Listing::new(provider.name, id, input, output)?;
    let (rates, long) = prices(entry);
    listing.set_prices(rates, long);
    listing.capabilities = capabilities(entry, mode);
    listing.retires = day(entry.get("deprecation_date"));
    Some(listing)
}

fn capabilities(entry: &Value, mode: &str) -> ListedCapabilities {
    let can = |field: &str| is_true(entry, field);
    let reasoning = can("supports_reasoning");
    let adaptive = can("supports_adaptive_thinking");
    let maker = entry.get("litellm_provider").and_then(Value::as_str);
    ListedCapabilities {
        images: can("supports_vision"),
        reasoning,
        effort: EFFORTS.iter().any(|field| can(field)) || entry.get("reasoning_effort_levels").is_some(),
        // Older models of Anthropic accept tokens, newer ones choose the amount themselves, and some accept both.
        budget: maker == Some("anthropic") && reasoning && (!adaptive || can("supports_legacy_thinking")),
        prefill: can("supports_assistant_prefill"),
        caching: can("supports_prompt_caching"),
        fixed_sampling: entry.get("supports_sampling_params").and_then(Value::as_bool) == Some(false),
        no_system: entry.get("supports_system_messages").and_then(Value::as_bool) == Some(false),
        responses_only: mode == "responses" && maker == Some("openai"),
    }
}

/// Prices in US dollars per million tokens.
type Rates = [Option<f64>; 4];

/// Returns the prices of an entry and those of long requests, which are in separate fields or in a table of steps.
fn prices(entry: &Value) -> (Rates, Option<(u64, Rates)>) {
    if let Some(steps) = entry.get("tiered_pricing").and_then(Value::as_array) {
        let rates = |step: &Value| RATES.map(|field| per_million(step.get(field)));
        let above = |step: &Value| tokens(step.get("range").and_then(|range| range.get(0)));
        let long = steps.get(1).and_then(|step| Some((above(step)?, rates(step))));
        return (steps.first().map_or([None; 4], rates), long);
    }
    let base = RATES.map(|field| per_million(entry.get(field)));
    let above = first_step(entry);
    let long = above.map(|thousands| {
        let rate = |field: &str| per_million(entry.get(format!("{field}_above_{thousands}k_tokens")));
        let mut rates = RATES.map(rate);
        for (rate, base) in rates.iter_mut().zip(base) {
            // Prices without a value above the step stay unchanged.
            *rate = rate.or(base);
        }
        (thousands * 1_000, rates)
    });
    (base, long)
}

/// Returns the lowest price step in thousands of tokens.
fn first_step(entry: &Value) -> Option<u64> {
    let fields = entry.as_object()?.keys();
    let step =
        |field: &String| field.strip_prefix("input_cost_per_token_above_")?.strip_suffix("k_tokens")?.parse().ok();
    fields.filter_map(step).min()
}

fn per_million(value: Option<&Value>) -> Option<f64> {
    number(value).map(|price| price * 1e6)
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::models::lists::ListKind;
    use crate::models::{LongPrices, Prices};

    const SAMPLE: &str = r#"{
        "sample_spec": {"litellm_provider": "one of the docs", "mode": "one of: chat", "max_input_tokens": "if known"},
        "claude-x-4": {"litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200000, "max_output_tokens": 64000,
            "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07,
            "cache_creation_input_token_cost": 3.75e-06, "input_cost_per_token_above_200k_tokens": 6e-06,
            "output_cost_per_token_above_200k_tokens": 2.25e-05, "supports_vision": true, "supports_reasoning": true,
            "supports_assistant_prefill": true, "supports_prompt_caching": true, "deprecation_date": "2026-11-30"},
        "together_ai/org/Model-7B": {"litellm_provider": "together_ai", "mode": "chat", "max_input_tokens": 32768},
        "gpt-x-codex": {"litellm_provider": "openai", "mode": "responses", "max_input_tokens": 272000,
            "max_output_tokens": 128000, "supports_none_reasoning_effort": true, "supports_reasoning": true},
        "dashscope/qwen-x": {"litellm_provider": "dashscope", "mode": "chat", "max_input_tokens": 1000000,
            "tiered_pricing": [{"range": [0, 256000], "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
                {"range": [256000, 1000000], "input_cost_per_token": 3e-06, "output_cost_per_token": 6e-06}]},
        "bedrock/model": {"litellm_provider": "bedrock", "mode": "chat", "max_input_tokens": 1000},
        "gemini/painter": {"litellm_provider": "gemini", "mode": "chat", "max_input_tokens": 1000,
            "supported_output_modalities": ["image"]},
        "text-embed": {"litellm_provider": "openai", "mode": "embedding", "max_input_tokens": 8191}
    }"#;

    #[test]
    fn chat_models_of_known_providers_are_read() {
        let list = parse(SAMPLE, "2026-11-20", "file").unwrap();
        let names: Vec<String> = list.models.iter().map(Listing::name).collect();
        assert_eq!(list.kind, ListKind::Litellm);
        assert_eq!(names, ["anthropic/claude-x-4", "dashscope/qwen-x", "openai/gpt-x-codex", "together/org/Model-7B"]);
    }

    #[test]
    fn limits_prices_and_abilities_are_read() {
        let list = parse(SAMPLE, "2026-11-20", "file").unwrap();
        let [claude, qwen, gpt, together] = list.models.as_slice() else { panic!() };
        assert_eq!((claude.window, claude.max_output), (200_000, Some(64_000)));
        let long = LongPrices { above: 200_000, input: 6.0, output: 22.5, cache_read: 0.3, cache_write: 3.75 };
        let prices = Prices { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75, long: Some(long) };
        assert_eq!(claude.prices, Some(prices));
        assert!(
            claude.capabilities.images
                && claude.capabilities.budget
                && !claude.capabilities.effort
                && claude.capabilities.prefill
        );
        assert_eq!(claude.retires.as_deref(), Some("2026-11-30"));
        assert_eq!(
            qwen.prices.and_then(|prices| prices.long).map(|long| (long.above, long.input)),
            Some((256_000, 3.0))
        );
        assert!(gpt.capabilities.responses_only && gpt.capabilities.effort && gpt.prices.is_none());
        assert_eq!((together.max_output, together.prices), (None, None));
    }
}
