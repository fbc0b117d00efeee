//! The one place that reads a clock.

use std::time::Instant;

/// Measures how long something takes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Milliseconds since the start.
    pub fn ms(self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1_000.0
    }
}
