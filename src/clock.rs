//! The one place that reads a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

/// Tells how much time has passed since it was made. One that stands still is moved by hand.
#[derive(Debug, Clone)]
pub struct Clock(Hands);

#[derive(Debug, Clone)]
enum Hands {
    Running(Instant),
    /// Milliseconds.
    Still(Arc<AtomicU64>),
}

impl Default for Clock {
    fn default() -> Self {
        Self(Hands::Running(Instant::now()))
    }
}

impl Clock {
    /// A clock that stands still, for tests; copies of it move together.
    pub fn still() -> Self {
        Self(Hands::Still(Arc::default()))
    }

    /// Moves it on, if it stands still.
    pub fn advance(&self, by: Duration) {
        if let Hands::Still(passed) = &self.0 {
            passed.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// How much time has passed.
    pub fn passed(&self) -> Duration {
        match &self.0 {
            Hands::Running(start) => start.elapsed(),
            Hands::Still(passed) => Duration::from_millis(passed.load(Ordering::Relaxed)),
        }
    }
}

/// Measures how much the processor works for this process, on all threads together.
#[derive(Debug, Clone, Copy)]
pub struct CpuWatch(Option<cpu_time::ProcessTime>);

impl CpuWatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(cpu_time::ProcessTime::try_now().ok())
    }

    /// Milliseconds of processor time since the start; 0 where the system does not tell.
    pub fn ms(self) -> f64 {
        let spent = self.0.and_then(|start| start.try_elapsed().ok());
        spent.map_or(0.0, |spent| spent.as_secs_f64() * 1_000.0)
    }
}

/// The most memory that this process has held so far, in megabytes; 0 where the system does not tell.
pub fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<f64>().ok());
    kilobytes.map_or(0.0, |kilobytes| kilobytes / 1_024.0)
}

/// Measures how much the processor works for this thread.
#[derive(Debug, Clone, Copy)]
pub struct ThreadWatch(Option<cpu_time::ThreadTime>);

impl ThreadWatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(cpu_time::ThreadTime::try_now().ok())
    }

    /// Milliseconds of processor time since the start; 0 where the system does not tell.
    pub fn ms(self) -> f64 {
        let spent = self.0.and_then(|start| start.try_elapsed().ok());
        spent.map_or(0.0, |spent| spent.as_secs_f64() * 1_000.0)
    }
}

/// Today in UTC as people write it to sort it: `2026-11-20`.
pub fn today() -> String {
    days_ago(0)
}

/// The day so many days before today, in UTC.
pub fn days_ago(days: u64) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    day_of((since.as_secs() / 86_400).saturating_sub(days))
}

/// The day, in UTC, of a moment in seconds since the first of January 1970.
pub fn day(seconds: u64) -> String {
    day_of(seconds / 86_400)
}

/// The day so many days after the first of January 1970.
fn day_of(days: u64) -> String {
    // Counted from a first of March in a year that all cycles of the calendar begin with, a leap day is the last of its year.
    let from_march = days + 719_468;
    let (era, day_of_era) = (from_march / 146_097, from_march % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, date) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_777, "2026-11-20")] {
            assert_eq!(day_of(days), date);
        }
        assert!(today().starts_with("20"));
    }
}
