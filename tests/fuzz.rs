//! Whatever comes from outside, damaged in every way that comes to mind: one target each, with the laws that hold all the same.
//!
//! A run of the test suite tries a bounded number of cases, always the same ones: whether a change is good must not depend on luck.
//! `RHUMB_FUZZ_CASES=200000 cargo test --test fuzz NAME` tries more, each time others; what fails is shrunk and printed as the damage
//! that leads to it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![allow(unreachable_pub, missing_docs)] // what targets share is nobody else's

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

/// The cases of a target: `usual` ones, or as many others as the environment wants.
fn cases(usual: u32) -> ProptestConfig {
    let wanted = env::var("RHUMB_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if wanted.is_some() { RngSeed::Random } else { RngSeed::Fixed(0) };
    let cases = wanted.unwrap_or(usual);
    ProptestConfig { cases, rng_seed, failure_persistence: None, max_shrink_iters: 5_000, ..ProptestConfig::default() }
}
