//! What an exact search over vectors costs: `cargo bench -p rhumb-bench --bench vectors`.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints what it measured")]

mod report;

use std::hint::black_box;

use rhumb::clock::Stopwatch;
use rhumb_bench::CpuWatch;
use rhumb_index::retrieval::{Row, Vectors};

/// Rows and numbers of a row: the case that the program is held to, and larger ones.
const CASES: [(usize, usize); 4] = [(20_000, 256), (100_000, 256), (500_000, 256), (100_000, 1_024)];
/// The one that has a budget.
const HELD: (usize, usize) = (100_000, 256);
/// Hits of one search.
const MOST: usize = 50;
/// The best of so many runs counts.
const RUNS: usize = 9;

fn main() {
    println!("{:>8} x {:<5} {:>9} {:>9} {:>8}", "rows", "dims", "wall ms", "cpu ms", "MB");
    for (rows, dims) in CASES {
        let mut random = fastrand::Rng::with_seed(1);
        let mut vector = || -> Vec<f32> { (0..dims).map(|_| random.f32() - 0.5).collect() };
        let mut vectors = Vectors::new(dims);
        // The time does not depend on what the rows say, so a few thousand of them are repeated.
        let some: Vec<Row> = (0..4_096).filter_map(|_| Row::new(&vector())).collect();
        some.iter().cycle().take(rows).for_each(|row| _ = vectors.push(row));
        let query = vector();
        let (mut wall, mut cpu) = (f64::MAX, f64::MAX);
        for _ in 0..RUNS {
            let (stopwatch, processor) = (Stopwatch::start(), CpuWatch::start());
            black_box(vectors.nearest(black_box(&query), MOST));
            wall = wall.min(stopwatch.ms());
            cpu = cpu.min(processor.ms());
        }
        let budget = (rows, dims) == HELD;
        report::keep("vectors", &format!("exact search, {rows} × {dims}"), "ms", wall, budget.then_some(30.0));
        println!("{rows:>8} x {dims:<5} {wall:>9.2} {cpu:>9.2} {:>8.1}", (rows * (dims + 4)) as f64 / 1e6);
    }
}
