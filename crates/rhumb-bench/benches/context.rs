//! The cost of composing a request and counting its tokens: `cargo bench -p rhumb-bench --bench context`.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints what it measured")]

mod report;

use std::sync::Arc;

use rhumb::host::CachedCounter;
use rhumb_bench::CpuWatch;
use rhumb_edit::EditFormat;
use rhumb_llm::models::Model;
use rhumb_llm::{Message, Role};
use rhumb_session::context::{
    BudgetOverrides, BudgetPlan, ContextFile, ContextInputs, Prompt, Prompts, Task, UserEnvironment, Window, fit,
};
use rhumb_tokens::{TokenCounter, counter_for_model};

/// Number of files of the request.
const FILES: usize = 200;
/// Lines of a file, about a thousand tokens.
const LINES: usize = 120;
/// Size of the text for the speed of counting, in bytes.
const COUNTED: usize = 4 << 20;
/// Number of runs; the fastest counts.
const RUNS: usize = 7;

fn main() {
    let files: Vec<ContextFile> = (0..FILES).map(|number| file(number, 0)).collect();
    for (name, model) in [("exact", "gpt-4.1"), ("estimated", "claude-sonnet-4-5")] {
        let model = Model { known: true, window: 1_000_000, ..Model::unknown(model) };
        let counter = CachedCounter::for_model(&model.name);
        let first = timed(|| assembled(&files, &model, &counter, "Let equal lengths fit."));
        let mut tokens = 0;
        let mut run = 0;
        let again = best(|| {
            run += 1;
            tokens = assembled(&files, &model, &counter, &format!("Let equal lengths fit {run}.")).tokens;
        });
        let mut changed = files.clone();
        let one = best(|| {
            run += 1;
            changed[run % FILES] = file(run % FILES, run);
            assembled(&changed, &model, &counter, "Let equal lengths fit.");
        });
        for (case, ms) in [("nothing counted before", first), ("another message", again), ("another file changed", one)]
        {
            report::record("context", &format!("a request of {FILES} files, {name}: {case}"), "ms", ms, None);
        }
        println!("a request of {FILES} files and {tokens} tokens, {name}");
        println!("  nothing counted before {first:>8.2} ms");
        println!("  another message        {again:>8.2} ms");
        println!("  another file changed   {one:>8.2} ms");
    }
    println!("counting, a core");
    let text: String = (0..).map(|number| file(number, 0).text.to_string()).take(COUNTED / 4_000).collect();
    for (name, model) in [("estimated", "claude-sonnet-4-5"), ("exact", "gpt-4.1"), ("exact, cl100k", "gpt-4")] {
        let counter = counter_for_model(model);
        counter.count("the table is loaded at the first count");
        let pieces: Vec<&str> = pieces(&text, 64 * 1024);
        let ms = best(|| pieces.iter().for_each(|piece| _ = counter.count(piece)));
        report::record("context", &format!("counting, {name}"), "ns/byte", ms * 1e6 / text.len() as f64, None);
        println!("  files of 64 KiB, {name:<14} {:>6.1} MB/s", text.len() as f64 / ms / 1e3);
        let ms = best(|| _ = counter.measure(&text));
        let count = counter.measure(&text);
        println!("  {} KiB by samples {:>14.2} ms, {} ± {} tokens", text.len() / 1024, ms, count.tokens, count.error);
    }
}

fn assembled(files: &[ContextFile], model: &Model, counter: &dyn TokenCounter, draft: &str) -> Prompt {
    let window = Window::of(model);
    let history = [Message::new(Role::User, "What is this?"), Message::new(Role::Assistant, "A harbour.")];
    let inputs = ContextInputs {
        task: Task::code(EditFormat::Diff),
        model,
        window,
        plan: BudgetPlan::of(window, true, BudgetOverrides::default()),
        prompts: &Prompts::default(),
        environment: &UserEnvironment::default(),
        files,
        images: &[],
        passages: &[],
        related: &[],
        history: &history,
        exchange: &[],
        draft,
        may_drop_history: false,
        send_secrets: false,
        tools: None,
    };
    fit(&inputs, counter, &mut |budget| "src/unit.py:\n  def unit(reading, tide)\n".repeat(budget / 20))
}

/// A generated file, always the same for equal arguments.
fn file(number: usize, edition: usize) -> ContextFile {
    let line = |line: usize| match (line + number) % 5 {
        0 => format!("def unit_{number}_{line}(reading, tide):\n"),
        1 => format!("    height = reading.at({})  # edition {edition}\n", line * 31 % 977),
        2 => format!("    if height > tide.limit_{}:\n", line % 13),
        3 => format!("        return height * {line} + offset\n"),
        _ => "\n".to_owned(),
    };
    let text: String = (0..LINES).map(line).collect();
    ContextFile { path: format!("src/unit_{number}.py"), text: Arc::from(text), read_only: false }
}

fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(size));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

/// Processor time of the fastest run, in milliseconds.
fn best(mut run: impl FnMut()) -> f64 {
    (0..RUNS).map(|_| timed(&mut run)).fold(f64::INFINITY, f64::min)
}

fn timed<T>(run: impl FnOnce() -> T) -> f64 {
    let watch = CpuWatch::start();
    run();
    watch.ms()
}
