//! Fuzz tests of all readers of external input, one target each, with the invariants that hold for damaged input.
//!
//! A run of the test suite tries a fixed set of cases, so that it is reproducible.
//! `RHUMB_FUZZ_CASES=200000 cargo test --test fuzz NAME` tries more, with random seeds. A failure is shrunk and printed as the
//! damage that causes it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![allow(unreachable_pub, missing_docs)] // shared helpers of the targets

#[path = "fuzz/damage.rs"]
mod damage;
#[path = "fuzz/locator.rs"]
mod locator;
#[path = "fuzz/markdown.rs"]
mod markdown;
#[path = "fuzz/paths.rs"]
mod paths;
#[path = "fuzz/replies.rs"]
mod replies;
#[path = "fuzz/sanitize.rs"]
mod sanitize;
#[path = "fuzz/settings.rs"]
mod settings;
#[path = "fuzz/streams.rs"]
mod streams;
#[path = "fuzz/tags.rs"]
mod tags;

use std::env;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// The number of cases of a target: `usual`, or that of the environment.
fn cases(usual: u32) -> ProptestConfig {
    let wanted = env::var("RHUMB_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if wanted.is_some() { RngSeed::Random } else { RngSeed::Fixed(0) };
    let cases = wanted.unwrap_or(usual);
    ProptestConfig { cases, rng_seed, failure_persistence: None, max_shrink_iters: 5_000, ..ProptestConfig::default() }
}
