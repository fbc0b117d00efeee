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
