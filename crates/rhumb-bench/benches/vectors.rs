//! The cost of an exact search over vectors: `cargo bench -p rhumb-bench --bench vectors`.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints what it measured")]

mod report;

use std::hint::black_box;

use rhumb::clock::Stopwatch;
use rhumb_bench::CpuWatch;
use rhumb_index::retrieval::{QuantizedVector, VectorIndex};

/// Numbers of rows and dimensions.
const CASES: [(usize, usize); 4] = [(20_000, 256), (100_000, 256), (500_000, 256), (100_000, 1_024)];
/// The case with a budget.
const WITH_BUDGET: (usize, usize) = (100_000, 256);
/// Number of hits.
const LIMIT: usize = 50;
/// Number of runs; the fastest counts.
const RUNS: usize = 9;

fn main() {
    println!("{:>8} x {:<5} {:>9} {:>9} {:>8}", "rows", "dims", "wall ms", "cpu ms", "MB");
    for (rows, dims) in CASES {
        let mut random = fastrand::Rng::with_seed(1);
        let mut vector = || -> Vec<f32> { (0..dims).map(|_| random.f32() - 0.5).collect() };
        let mut vectors = VectorIndex::new(dims);
        // The time does not depend on the values, so a few thousand rows are repeated.
        let some: Vec<QuantizedVector> = (0..4_096).filter_map(|_| QuantizedVector::new(&vector())).collect();
        some.iter().cycle().take(rows).for_each(|row| _ = vectors.push(row));
        let query = vector();
        let (mut wall, mut cpu) = (f64::MAX, f64::MAX);
        for _ in 0..RUNS {
            let (stopwatch, processor) = (Stopwatch::start(), CpuWatch::start());
            black_box(vectors.nearest(black_box(&query), LIMIT));
            wall = wall.min(stopwatch.ms());
            cpu = cpu.min(processor.ms());
        }
        let budget = (rows, dims) == WITH_BUDGET;
        report::record("vectors", &format!("exact search, {rows} × {dims}"), "ms", wall, budget.then_some(30.0));
        println!("{rows:>8} x {dims:<5} {wall:>9.2} {cpu:>9.2} {:>8.1}", (rows * (dims + 4)) as f64 / 1e6);
    }
}
