//! The cost of a search over 20,000 chunks of a generated repository: `cargo bench -p rhumb-bench --bench search`.
//! `RHUMB_BENCH_FILES` sets another number of files, with ten chunks each.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints what it measured")]

mod report;

use std::env;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::{Digest, History, MapFile, MapIndex, TagGraph, Weights};
use rhumb_index::retrieval::{Passages, Question, SearchWeights, SourceFiles, search};
use rhumb_syntax::{Language, tags};
use rhumb_tokens::counter_for_model;

/// Number of searches for each question.
const TIMES: usize = 20;

const QUESTIONS: [&str; 3] =
    ["how is the cache of a unit loaded", "load_77_3", "How does load_12_1 relate to load_372_1?"];

fn main() {
    let files = env::var("RHUMB_BENCH_FILES").ok().and_then(|number| number.parse().ok()).unwrap_or(2_000);
    let texts: Vec<(String, Arc<str>)> =
        (0..files).map(|number| (format!("part/unit_{number}.rs"), text(number, files).into())).collect();
    let graph = graph(&texts);
    let read = |path: &str| texts.iter().find(|(known, _)| known == path).map(|(_, text)| Arc::clone(text));
    let counter = counter_for_model("");
    for question in QUESTIONS {
        let (mut found, mut gathered) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            let clock = Instant::now();
            let hits = search(&graph, &Question::new(question, 10), &SearchWeights::default());
            found.push(clock.elapsed());
            let clock = Instant::now();
            Passages::default().gather(&graph, (question, hits), &SourceFiles::new(&read), 8_192, &*counter);
            gathered.push(clock.elapsed());
        }
        found.sort_unstable();
        gathered.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let what = format!("{question:?} over {} chunks", files * 10);
        report::record("search", &format!("search for {what}"), "ms", ms(found[TIMES / 2]), Some(30.0));
        report::record("search", &format!("passages for {what}"), "ms", ms(gathered[TIMES / 2]), Some(30.0));
        println!("{question:<44} search {:>10.2?}  passages {:>10.2?}", found[TIMES / 2], gathered[TIMES / 2]);
    }
}

fn graph(texts: &[(String, Arc<str>)]) -> Arc<TagGraph> {
    let Some(rust) = Language::by_name("rust") else { return Arc::default() };
    let file = |(path, text): &(String, Arc<str>)| {
        let tags = tags(rust, text);
        let digest = Digest::new(text, &tags, Depth::Whole);
        MapFile { path: path.clone(), tags: tags.into(), digest: digest.into() }
    };
    let files: Vec<MapFile> = texts.iter().map(file).collect();
    Arc::new(TagGraph::new(Arc::new(MapIndex::of(&files)), &History::default(), &Weights::default()))
}

/// A generated file with ten functions that use functions of other files.
fn text(number: usize, files: usize) -> String {
    let mut text = format!("//! Cache of unit {number}.\n\n");
    for step in 1..=10usize {
        let other = (number * 31 + step * 977) % files.max(1);
        let _ = writeln!(
            text,
            "/// Loads part {step} of the cache.\npub fn load_{number}_{step}(key: u64) -> u64 {{\n    \
             let value = load_{other}_1(key + {step});\n    value.rotate_left({step})\n}}\n"
        );
    }
    text
}
