//! Whatever comes from outside, damaged in every way that comes to mind: one target each, with the laws that hold all the same.
//!
//! A run of the test suite tries a bounded number of cases, each time others. `RHUMB_FUZZ_CASES=200000 cargo test --test fuzz NAME`
//! tries more; what fails is shrunk and printed as the damage that leads to it.

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

/// How many cases a target tries: `usual`, or as many as the environment wants.
fn cases(usual: u32) -> ProptestConfig {
    let cases = env::var("RHUMB_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 5_000, ..ProptestConfig::default() }
}
