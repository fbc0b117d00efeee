//! A token counter with a cache, so that files are not counted again with each keystroke.

use rhumb_tokens::{Calibrated, TokenCount, TokenCounter, counter_for_model};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_128;

/// Minimum size of a cached text in bytes. Counting a shorter one is as fast as looking it up.
const MIN_CACHED_BYTES: usize = 512;

/// Maximum number of cached counts. A full cache is cleared.
const MAX_ENTRIES: usize = 4_096;

/// Counts with another counter and caches the results by content.
pub struct CachedCounter {
    inner: Arc<dyn TokenCounter>,
    counts: Mutex<HashMap<u128, TokenCount>>,
}

impl CachedCounter {
    /// The counter for a model.
    pub fn for_model(model: &str) -> Self {
        Self { inner: counter_of(model), counts: Mutex::default() }
    }

    /// The counter for a model whose provider counts `factor` tokens for one of ours (see [`rhumb_tokens::Calibration`]).
    pub fn calibrated(model: &str, factor: f64) -> Self {
        Self { inner: Arc::new(Calibrated::new(counter_of(model), factor)), counts: Mutex::default() }
    }
}

/// The counter for a model. Without one a request can only be copied, and its budget is a guess, so one table will do: each takes some
/// thirty megabytes.
fn counter_of(model: &str) -> Arc<dyn TokenCounter> {
    counter_for_model(if model.trim().is_empty() { "unknown" } else { model })
}

impl TokenCounter for CachedCounter {
    fn count(&self, text: &str) -> usize {
        self.measure(text).tokens
    }

    fn measure(&self, text: &str) -> TokenCount {
        if text.len() < MIN_CACHED_BYTES {
            return self.inner.measure(text);
        }
        let key = xxh3_128(text.as_bytes());
        let known = self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.unwrap_or_else(|| {
            let count = self.inner.measure(text);
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            if counts.len() >= MAX_ENTRIES {
                counts.clear();
            }
            counts.insert(key, count);
            count
        })
    }

    fn exact(&self) -> bool {
        self.inner.exact()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_count_is_the_same_count() {
        let counter = CachedCounter::for_model("gpt-4o");
        let text = "fn main() {}\n".repeat(100);
        assert_eq!(counter.count(&text), counter.count(&text));
        assert_eq!(counter.count(&text), counter_for_model("gpt-4o").count(&text));
    }
}
