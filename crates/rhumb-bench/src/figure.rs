//! Figures of benchmarks, and how they are measured and averaged.

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds of processor time, all threads together.
    CpuMs,
    /// Milliseconds by the clock.
    WallMs,
    /// Megabytes of memory.
    Megabytes,
    /// One figure over another of the same run.
    Ratio,
    /// A share, from 0 to 1.
    Share,
    /// A count.
    Count,
}

impl Unit {
    /// The unit as it follows a value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CpuMs => "ms CPU",
            Self::WallMs => "ms",
            Self::Megabytes => "MB",
            Self::Ratio => "×",
            Self::Share => "",
            Self::Count => "",
        }
    }
}

/// One measured figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The name in kebab-case.
    pub name: String,
    /// The meaning, in words.
    pub meaning: String,
    /// The value.
    pub value: f64,
    /// The unit of the value.
    pub unit: Unit,
}

impl Figure {
    /// A figure.
    pub fn new(name: impl Into<String>, meaning: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { name: name.into(), meaning: meaning.into(), value, unit }
    }
}

/// Measures the processor time of this process, of all threads together.
#[derive(Debug, Clone, Copy)]
pub struct CpuWatch(Option<cpu_time::ProcessTime>);

impl CpuWatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(cpu_time::ProcessTime::try_now().ok())
    }

    /// Milliseconds of processor time since the start; 0 if the system does not report it.
    pub fn ms(self) -> f64 {
        let spent = self.0.and_then(|start| start.try_elapsed().ok());
        spent.map_or(0.0, |spent| spent.as_secs_f64() * 1_000.0)
    }
}

/// The peak memory of this process so far, in megabytes; 0 if the system does not report it.
pub fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<f64>().ok());
    kilobytes.map_or(0.0, |kilobytes| kilobytes / 1_024.0)
}

/// The median of some values, the upper one of two; 0 without values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// A mean over values of which some may be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    pub(crate) fn add(&mut self, value: Option<f64>) {
        self.sum += value.unwrap_or(0.0);
        self.count += usize::from(value.is_some());
    }

    /// The mean; 0 without values.
    pub(crate) fn value(self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn a_mean_ignores_missing_values() {
        let mut mean = Mean::default();
        [Some(1.0), None, Some(0.5)].into_iter().for_each(|value| mean.add(value));
        assert_eq!((mean.value(), Mean::default().value()), (0.75, 0.0));
    }
}
