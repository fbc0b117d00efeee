//! Measures the processor time of a key press and a frame, in the app with a screen in memory:
//! `cargo bench -p rhumb-bench --bench frames`.
//!
//! The scenes are those of the table in `docs/performance.md`: large repositories, a long transcript, a large review, an answer
//! that streams in while the repository is indexed. As in the event loop, an event is handled and one frame of 160×50 is drawn;
//! highlighting and all other work is not measured. Figures are processor time of the drawing thread, the 95th percentile of 100
//! measurements.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints its figures and cannot go on without its setup"
)]

#[path = "../../../tests/support/harness.rs"]
mod harness;
mod report;

use crossterm::event::Event;
use harness::{Harness, Scene};
use rhumb::clock::{Stopwatch, ThreadWatch};
use rhumb::tui::key;
use rhumb_llm::{StreamEvent, ToolCall};
use rhumb_session::context::Mode;
use rhumb_session::{Answer, AnswerState, AskEvent, Entry, Response, ToolState, ToolUse};

/// Columns and rows of the screen.
const SCREEN: (u16, u16) = (160, 50);

/// Entries of the long transcript.
const MESSAGES: usize = 5_000;

/// Steps of the long loop, calls of each, and bytes of each result.
const STEPS: usize = 200;
const CALLS: usize = 5;
const RESULT_BYTES: usize = 20_000;

/// Files of the large review, and hunks in each.
const FILES: usize = 50;
const HUNKS: usize = 10;

/// Definitions in the long list.
const SYMBOLS: usize = 100_000;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    report::head("key → frame, ms of one thread");
    if runs("idle") {
        let mut harness = Scene::demo().open(SCREEN.0, SCREEN.1);
        measure("idle: typing in the composer", 5.0, &mut harness, &typing());
    }
    if runs("transcript") {
        transcript();
    }
    if runs("agent") {
        agent();
    }
    if runs("review") {
        review();
    }
    if runs("streaming") {
        streaming();
    }
    if runs("symbols") {
        symbols();
    }
    for (name, files) in [("10k", 10_000), ("70k", 70_000)] {
        if runs(name) {
            repository(files);
        }
    }
}

/// A list of 100,000 definitions that is filtered letter by letter: the time for a key, and the time for the ranking.
fn symbols() {
    let mut scene = Scene::harbour();
    for file in 0..SYMBOLS / 100 {
        let line = |at: usize| format!("fn berth_{file}_{at}(tide: u64) -> u64 {{ tide + {at} }}\n");
        scene = scene.file(&format!("src/quay_{file}.rs"), &(0..100).map(line).collect::<String>());
    }
    let mut harness = scene.without_git().open(SCREEN.0, SCREEN.1);
    harness.settle().keys("<Ctrl-t>");
    let (mut drawn, mut ranked) = (Vec::new(), Vec::new());
    for name in repeated("b e r t h _ 4 Down Backspace Backspace Backspace Backspace Backspace Backspace Backspace") {
        let Some(key) = key::parse(name) else { continue };
        let watch = ThreadWatch::start();
        harness.take_event(Event::Key(key));
        harness.frame();
        drawn.push(watch.ms());
        // Many threads share the ranking, so wall-clock time is measured.
        let watch = Stopwatch::start();
        if let Some(found) = harness.app.take_rank_job().and_then(|job| job.run()) {
            harness.app.ranked(found);
            harness.frame();
            ranked.push(watch.ms());
        }
        harness.color();
    }
    assert!(!ranked.is_empty(), "the list has opened, and ranks");
    row("100,000 symbols: a letter in the picker", 16.0, drawn);
    row("100,000 symbols: until the list is ranked (wall clock)", 100.0, ranked);
}

/// Presses keys and draws a frame after each.
fn measure(name: &str, budget: f64, harness: &mut Harness, keys: &[&str]) {
    let mut spent = Vec::new();
    for name in keys {
        let Some(key) = key::parse(name) else { continue };
        let watch = ThreadWatch::start();
        harness.take_event(Event::Key(key));
        harness.frame();
        spent.push(watch.ms());
        harness.color();
    }
    row(name, budget, spent);
}

fn row(name: &str, budget: f64, spent: Vec<f64>) {
    report::row("frames", name, budget, spent);
}

fn single(name: &str, budget: f64, ms: f64) {
    report::single("frames", name, "ms", budget, ms);
}

fn typing() -> Vec<&'static str> {
    "t h e Space c a c h e Space i s Space n o t Space e m p t y".split(' ').cycle().take(100).collect()
}

fn repeated(keys: &'static str) -> Vec<&'static str> {
    keys.split(' ').cycle().take(100).collect()
}

fn transcript() {
    let mut harness = Scene::demo().open(SCREEN.0, SCREEN.1);
    for number in 0..MESSAGES / 2 {
        let text = format!("Why does the tide of {number} come too late, and what reads it? ").repeat(1 + number % 7);
        harness.app.session.extend_transcript([Entry::User { text, mode: Mode::Code, answered: true }]);
        let code = format!("fn tide_{number}(at: u64) -> u64 {{\n    // {number}\n    at * {number} % 25\n}}\n")
            .repeat(1 + number % 9);
        let text = format!(
            "## Tide {number}\n\nIt is **late** because `tide_{number}` rounds, see [the table](tides.md):\n\n| at | height |\n|---|---|\n\
             | 1 | {number} |\n\n- first the *sum*\n- then the mean\n\n```rust\n{code}```\n\nThat is all of {number}.\n"
        );
        let answer = Answer {
            text,
            reasoning: String::new(),
            state: AnswerState::Complete,
            edits: Vec::new(),
            thinking: Vec::new(),
        };
        harness.app.session.extend_transcript([Entry::Answer(answer)]);
    }
    let watch = ThreadWatch::start();
    harness.frame();
    single("5,000 messages: the first frame", 50.0, watch.ms());
    measure("5,000 messages: paging up", 5.0, &mut harness, &repeated("PageUp"));
    for _ in 0..20 {
        harness.keys("<PageUp>");
    }
    measure("5,000 messages: typing, far from the end", 5.0, &mut harness, &typing());
    let watch = ThreadWatch::start();
    harness.resize_only(80, 24);
    harness.frame();
    single("5,000 messages: the first frame at another size", 50.0, watch.ms());
}

/// A loop of the agent with many steps and large results.
fn agent() {
    let mut harness = Scene::demo().open(SCREEN.0, SCREEN.1);
    let text = "read all of it".to_owned();
    harness.app.session.extend_transcript([Entry::User { text, mode: Mode::Agent, answered: true }]);
    for number in 1..=STEPS * CALLS {
        let step = 1 + (number - 1) / CALLS;
        let arguments = format!(r#"{{"path":"src/tide_{number}.rs","start_line":1,"end_line":{step}}}"#);
        let call = ToolCall { id: number.to_string(), name: "read_file".into(), arguments, ..ToolCall::default() };
        let result = format!("{number:>5} the tide is late\n").repeat(RESULT_BYTES / 23);
        let outcome = "890 lines".to_owned();
        let (state, tokens, ms) = (ToolState::Done, 5_000, 120);
        let (is_dropped, is_pinned) = (false, false);
        let tool = ToolUse { number, step, call, state, result, outcome, tokens, ms, is_dropped, is_pinned };
        harness.app.session.extend_transcript([Entry::Tool(tool)]);
    }
    let watch = ThreadWatch::start();
    harness.frame();
    single("200 steps, 1,000 results: the first frame", 50.0, watch.ms());
    measure("200 steps, 1,000 results: typing", 5.0, &mut harness, &typing());
    measure("200 steps, 1,000 results: paging up", 5.0, &mut harness, &repeated("PageUp"));
    harness.keys("<Alt-r>");
    measure("200 steps, 1,000 results: unfolding", 5.0, &mut harness, &repeated("j Alt-t"));
}

/// A review of a reply that has many hunks in many files.
fn review() {
    let mut scene = Scene::harbour();
    let mut reply = String::new();
    let mut paths = Vec::new();
    for file in 0..FILES {
        let path = format!("src/unit_{file}.rs");
        let mut text = String::new();
        for hunk in 0..HUNKS {
            for line in 0..20 {
                text.push_str(&format!("fn part_{file}_{hunk}_{line}(reading: u64) -> u64 {{ reading + {line} }}\n"));
            }
            let old = format!("fn part_{file}_{hunk}_7(reading: u64) -> u64 {{ reading + 7 }}\n");
            let new =
                format!("fn part_{file}_{hunk}_7(reading: u64) -> u64 {{ reading.max({hunk}) + 7 }}\n// of {hunk}\n");
            reply.push_str(&format!("{path}\n```rust\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n\n"));
        }
        scene = scene.file(&path, &text);
        paths.push(path);
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut harness = scene.replying(&reply).chat(&paths).window(1_000_000).open(SCREEN.0, SCREEN.1);
    harness.keys("type \"change all\"").take_event(Event::Key(key::parse("Enter").unwrap_or_else(|| unreachable!())));
    let proposed = harness.await_report(|report| matches!(report, Response::Proposed { .. }));
    let watch = ThreadWatch::start();
    harness.take_report(proposed);
    harness.take_event(Event::Key(key::parse("Alt-4").unwrap_or_else(|| unreachable!())));
    harness.frame();
    single("50 files, 500 hunks: the first frame of the review", 100.0, watch.ms());
    let counts = harness.app.session.review().counts();
    assert_eq!(counts.total(), FILES * HUNKS, "every edit has its hunk");
    let watch = Stopwatch::start();
    harness.color();
    harness.frame();
    harness.color();
    single("50 files, 500 hunks: until the screen has its colours", 500.0, watch.ms());
    measure("50 files, 500 hunks: moving by lines", 5.0, &mut harness, &repeated("j"));
    measure("50 files, 500 hunks: moving by hunks", 5.0, &mut harness, &repeated("]"));
    measure("50 files, 500 hunks: deciding", 5.0, &mut harness, &repeated("y n y y u"));
    measure("50 files, 500 hunks: deciding all, and back", 5.0, &mut harness, &repeated("g y u g n u"));
}

/// An answer that streams in while the repository is indexed.
fn streaming() {
    let mut harness = Scene::harbour().silent().open(SCREEN.0, SCREEN.1);
    harness.keys("type \"explain\" <Enter>");
    let Some(turn) = harness.app.session.turn().map(|turn| turn.number) else { return };
    let words = "The quay holds what the tide gives back, and `Berth::fits` says *whether* it does.\n\n```python\nreturn ship.length\n```\n\n";
    let mut spent = Vec::new();
    for (at, piece) in words.split_inclusive(' ').cycle().take(2_000).enumerate() {
        harness.take_report(Response::SurveyProgress { done: at, total: 10_000 });
        let watch = ThreadWatch::start();
        let event = AskEvent::Stream(StreamEvent::Text(piece.into()));
        harness.take_report(Response::Asked { turn, event });
        if at % 3 == 0 {
            harness.take_event(Event::Key(key::parse("x").unwrap_or_else(|| unreachable!())));
        }
        harness.frame();
        spent.push(watch.ms());
        harness.color();
    }
    row("an answer of 2,000 tokens streams in during typing", 16.0, spent);
}

fn repository(files: usize) {
    let mut scene = Scene::harbour();
    for number in 0..files {
        let (area, other) = (number / 100, number * 31 % files);
        let text = format!(
            "use crate::area_{}::unit_{other};\n\n/// Unit {number}.\npub struct Unit{number} {{\n    pub tide: u64,\n}}\n\n\
             impl Unit{number} {{\n    pub fn reading_{number}(&self) -> u64 {{\n        self.tide + unit_{other}::reading_{other}()\n    }}\n}}\n",
            other / 100
        );
        scene = scene.file(&format!("src/area_{area}/unit_{number}.rs"), &text);
    }
    let name = if files < 50_000 { "10,000 files" } else { "70,000 files" };
    let mut harness = scene.without_git().open(SCREEN.0, SCREEN.1);
    measure(&format!("{name}: typing a message"), 5.0, &mut harness, &typing());
    harness.settle();
    measure(
        &format!("{name}: completing a path after @"),
        16.0,
        &mut harness,
        &repeated("Space @ u n i t _ 4 Backspace Esc"),
    );
    harness.keys("<Ctrl-u> <Alt-2>");
    measure(&format!("{name}: moving in the map"), 5.0, &mut harness, &repeated("j j j Enter PageDown"));
    harness.keys("<Esc> <Ctrl-p>");
    measure(&format!("{name}: the file picker"), 16.0, &mut harness, &repeated("u n i t Down 4 Backspace"));
}
