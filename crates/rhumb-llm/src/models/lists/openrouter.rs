//! The format of `openrouter.ai`: `{"data": […]}`. Prices are strings in US dollars per token.

use super::{day, lists_word, number, tokens};
use crate::models::lists::{ListedCapabilities, Listing};
use serde_json::Value;

/// Returns the models with text output.
pub(crate) fn read(data: &[Value]) -> Vec<Listing> {
    data.iter().filter_map(listing).collect()
}

fn listing(entry: &Value) -> Option<Listing> {
    let kind = entry.get("architecture");
    if lists_word(kind.and_then(|kind| kind.get("output_modalities")), "text") == Some(false) {
        return None;
    }
    let top = entry.get("top_provider");
    let windows = [tokens(entry.get("context_length")), tokens(top.and_then(|top| top.get("context_length")))];
    let window = windows.into_iter().flatten().min()?;
    let output = tokens(top.and_then(|top| top.get("max_completion_tokens")));
    let mut listing = Listing::new("openrouter", entry.get("id")?.as_str()?, window, output)?;
    let pricing = entry.get("pricing").unwrap_or(&Value::Null);
    listing.set_prices(rates(pricing), long_rates(pricing));
    let parameters = entry.get("supported_parameters");
    let reasoning = lists_word(parameters, "reasoning") == Some(true);
    listing.capabilities = ListedCapabilities {
        images: lists_word(kind.and_then(|kind| kind.get("input_modalities")), "image") == Some(true),
        reasoning,
        // OpenRouter accepts both for every model and translates them.
        effort: reasoning,
        budget: reasoning,
        caching: rates(pricing)[2].is_some_and(|price| price > 0.0),
        fixed_sampling: lists_word(parameters, "temperature") == Some(false),
        ..ListedCapabilities::default()
    };
    listing.retires = day(entry.get("expiration_date"));
    Some(listing)
}

fn rates(pricing: &Value) -> [Option<f64>; 4] {
    let fields = ["prompt", "completion", "input_cache_read", "input_cache_write"];
    fields.map(|field| number(pricing.get(field)).map(|price| price * 1e6))
}

/// Returns the prices of long requests: the override with the lowest token count. Unnamed prices stay unchanged.
fn long_rates(pricing: &Value) -> Option<(u64, [Option<f64>; 4])> {
    let overrides = pricing.get("overrides")?.as_array()?.iter();
    let steps = overrides.filter_map(|step| Some((tokens(step.get("min_prompt_tokens"))?, rates(step))));
    let (from, mut long) = steps.min_by_key(|(from, _)| *from)?;
    for (rate, base) in long.iter_mut().zip(rates(pricing)) {
        *rate = rate.or(base);
    }
    // "From n tokens" is the same as "above n - 1".
    Some((from - 1, long))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use crate::models::lists::ListKind;
    use crate::models::{LongPrices, Prices};

    const SAMPLE: &str = r#"{"data": [
        {"id": "maker/thinker-2", "name": "Thinker", "context_length": 200000,
            "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003",
                "overrides": [{"min_prompt_tokens": 200001, "prompt": "0.000006", "completion": "0.00003"}]},
            "top_provider": {"context_length": 128000, "max_completion_tokens": 32000},
            "supported_parameters": ["reasoning", "max_tokens"]},
        {"id": "maker/small:free", "context_length": 32768, "pricing": {"prompt": "0", "completion": "0"},
            "top_provider": {"context_length": null, "max_completion_tokens": null}, "supported_parameters": ["temperature"]},
        {"id": "router/auto", "context_length": 2000000, "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "maker/painter", "context_length": 1000, "architecture": {"output_modalities": ["image"]}},
        {"id": "maker/nothing-said"}
    ]}"#;

    #[test]
    fn models_prices_and_parameters_are_read() {
        let list = parse(SAMPLE, "2026-11-20", "file").unwrap();
        let [small, thinker, auto] = list.models.as_slice() else { panic!("{list:?}") };
        assert_eq!(list.kind, ListKind::OpenRouter);
        assert_eq!((thinker.name().as_str(), thinker.window), ("openrouter/maker/thinker-2", 128_000));
        let long = LongPrices { above: 200_000, input: 6.0, output: 30.0, cache_read: 0.3, cache_write: 6.0 };
        let prices = Prices { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.0, long: Some(long) };
        assert_eq!((thinker.max_output, thinker.prices), (Some(32_000), Some(prices)));
        let can = thinker.capabilities;
        assert!(can.images && can.effort && can.budget && can.fixed_sampling && can.caching);
        assert_eq!(small.prices, Some(Prices::default()));
        assert_eq!((auto.id.as_str(), auto.prices), ("router/auto", None));
    }
}
