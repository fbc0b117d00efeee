//! The format of `models.dev`: providers by name, each with its models. Prices are in US dollars per million tokens.

use super::{is_true, lists_word, number, tokens};
use crate::models::lists::{ListedCapabilities, Listing};
use crate::models::name::{ProviderInfo, is_listed};
use serde_json::{Map, Value};

/// Token count above which the prices of `context_over_200k` apply.
const LONG_CONTEXT_TOKENS: u64 = 200_000;

/// Returns the models of known providers.
pub(crate) fn read(list: &Map<String, Value>) -> Vec<Listing> {
    let known = list.iter().filter_map(|(name, entry)| {
        let provider = ProviderInfo::named(name).filter(|provider| is_listed(provider))?;
        Some((provider.name, entry.get("models")?.as_object()?))
    });
    known.flat_map(|(provider, models)| models.iter().filter_map(|(id, entry)| listing(provider, id, entry))).collect()
}

fn listing(provider: &str, id: &str, entry: &Value) -> Option<Listing> {
    let modalities = entry.get("modalities");
    if lists_word(modalities.and_then(|kinds| kinds.get("output")), "text") == Some(false) {
        return None;
    }
    let limit = entry.get("limit")?;
    let window = tokens(limit.get("input")).or_else(|| tokens(limit.get("context")))?;
    let mut listing = Listing::new(provider, id, window, tokens(limit.get("output")))?;
    let rates =
        |prices: &Value| ["input", "output", "cache_read", "cache_write"].map(|field| number(prices.get(field)));
    if let Some(cost) = entry.get("cost") {
        let over_200k = || Some((LONG_CONTEXT_TOKENS, rates(cost.get("context_over_200k")?)));
        let long = first_tier(cost).map(|(above, tier)| (above, rates(tier))).or_else(over_200k);
        listing.set_prices(rates(cost), long);
    }
    listing.capabilities = ListedCapabilities {
        images: lists_word(modalities.and_then(|kinds| kinds.get("input")), "image") == Some(true),
        reasoning: is_true(entry, "reasoning"),
        effort: has_option(entry, "effort"),
        budget: has_option(entry, "budget_tokens"),
        caching: entry.get("cost").is_some_and(|cost| number(cost.get("cache_read")).is_some_and(|price| price > 0.0)),
        fixed_sampling: entry.get("temperature").and_then(Value::as_bool) == Some(false),
        ..ListedCapabilities::default()
    };
    Some(listing)
}

/// Returns the lowest price step and its token count.
fn first_tier(cost: &Value) -> Option<(u64, &Value)> {
    let tiers = cost.get("tiers")?.as_array()?.iter();
    let sized = tiers.filter_map(|tier| {
        let step = tier.get("tier").filter(|step| step.get("type").and_then(Value::as_str) == Some("context"))?;
        Some((tokens(step.get("size"))?, tier))
    });
    sized.min_by_key(|(size, _)| *size)
}

/// Returns whether thinking can be set in this way.
fn has_option(entry: &Value, kind: &str) -> bool {
    let options = entry.get("reasoning_options").and_then(Value::as_array).into_iter().flatten();
    options.filter_map(|option| option.get("type")?.as_str()).any(|named| named == kind)
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use crate::models::lists::ListKind;

    const SAMPLE: &str = r#"{
        "google": {"id": "google", "models": {"gemini-x-pro": {"id": "gemini-x-pro", "reasoning": true, "temperature": true,
            "modalities": {"input": ["text", "image"], "output": ["text"]},
            "cost": {"input": 1.25, "output": 10, "cache_read": 0.31,
                "context_over_200k": {"input": 2.5, "output": 15, "cache_read": 0.625}},
            "limit": {"context": 1048576, "output": 65536}}}},
        "openai": {"id": "openai", "models": {
            "gpt-x": {"reasoning": true, "reasoning_options": [{"type": "effort", "values": ["low", "high"]}],
                "cost": {"input": 5, "output": 30, "tiers": [
                    {"input": 20, "output": 90, "tier": {"type": "context", "size": 500000}},
                    {"input": 10, "output": 45, "tier": {"type": "context", "size": 272000}}],
                    "context_over_200k": {"input": 10, "output": 45}},
                "temperature": false, "limit": {"context": 400000, "input": 272000, "output": 128000}},
            "painter": {"modalities": {"output": ["image"]}, "limit": {"context": 1000}}}},
        "somebody": {"id": "somebody", "models": {"m": {"limit": {"context": 1000}}}}
    }"#;

    #[test]
    fn models_limits_and_prices_are_read() {
        let list = parse(SAMPLE, "2026-11-20", "file").unwrap();
        let [gemini, gpt] = list.models.as_slice() else { panic!("{list:?}") };
        assert_eq!(list.kind, ListKind::ModelsDev);
        assert_eq!((gemini.name().as_str(), gemini.window), ("gemini/gemini-x-pro", 1_048_576));
        let prices = gemini.prices.unwrap();
        assert_eq!((prices.input, prices.cache_read, prices.cache_write), (1.25, 0.31, 1.25));
        assert_eq!(prices.long.map(|long| (long.above, long.output)), Some((200_000, 15.0)));
        assert_eq!((gpt.name().as_str(), gpt.window, gpt.max_output), ("openai/gpt-x", 272_000, Some(128_000)));
        assert!(gpt.capabilities.reasoning && gpt.capabilities.fixed_sampling);
        assert!(gpt.capabilities.effort && !gpt.capabilities.budget);
        let long = gpt.prices.and_then(|prices| prices.long);
        assert_eq!(long.map(|long| (long.above, long.output)), Some((272_000, 45.0)));
    }
}
