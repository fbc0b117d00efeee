//! Time: a stopwatch, a clock that tests can set, the processor time of a thread, and dates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rhumb_text::iso_date;

/// Measures elapsed time.
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

/// Measures the time since its creation. A manual clock is advanced by tests.
#[derive(Debug, Clone)]
pub struct Clock(TimeSource);

#[derive(Debug, Clone)]
enum TimeSource {
    System(Instant),
    /// Milliseconds, set by tests.
    Manual(Arc<AtomicU64>),
}

impl Default for Clock {
    fn default() -> Self {
        Self(TimeSource::System(Instant::now()))
    }
}

impl Clock {
    /// A manual clock for tests. Its clones share the time.
    pub fn still() -> Self {
        Self(TimeSource::Manual(Arc::default()))
    }

    /// Advances a manual clock.
    pub fn advance(&self, by: Duration) {
        if let TimeSource::Manual(passed) = &self.0 {
            passed.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// The time since the creation of the clock.
    pub fn passed(&self) -> Duration {
        match &self.0 {
            TimeSource::System(start) => start.elapsed(),
            TimeSource::Manual(passed) => Duration::from_millis(passed.load(Ordering::Relaxed)),
        }
    }
}

/// Measures the processor time of this thread.
#[derive(Debug, Clone, Copy)]
pub struct ThreadWatch(Option<cpu_time::ThreadTime>);

impl ThreadWatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(cpu_time::ThreadTime::try_now().ok())
    }

    /// Milliseconds of processor time since the start; 0 if the system does not report it.
    pub fn ms(self) -> f64 {
        let spent = self.0.and_then(|start| start.try_elapsed().ok());
        spent.map_or(0.0, |spent| spent.as_secs_f64() * 1_000.0)
    }
}

/// Today in UTC, in ISO format: `2026-11-20`.
pub fn today() -> String {
    days_ago(0)
}

/// The date a number of days before today, in UTC.
pub fn days_ago(days: u64) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    iso_date((since.as_secs() / 86_400).saturating_sub(days))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yesterday_was_before_today() {
        assert!(days_ago(1) < today() && today().starts_with("20"));
    }
}
