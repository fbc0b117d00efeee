//! What a benchmark measured.
//! Means over cases.

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
    /// A part of all, from 0 to 1.
    Proportion,
    /// A number of things.
    Count,
}

impl Unit {
    /// As it is written behind a value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CpuMs => "ms CPU",
            Self::WallMs => "ms",
            Self::Megabytes => "MB",
            Self::Ratio => "×",
            Self::Proportion => "",
            Self::Count => "",
        }
    }
}

/// One measured figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured: a stable name in kebab-case.
    pub name: String,
    /// What that means.
    pub meaning: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: Unit,
}

impl Figure {
    /// A figure.
    pub fn new(name: impl Into<String>, meaning: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { name: name.into(), meaning: meaning.into(), value, unit }
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

/// The middle of some values; 0 where there is none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The mean of the values that there are.
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

    /// 0 where there was no value.
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
    fn a_mean_leaves_out_what_has_no_value() {
        let mut mean = Mean::default();
        [Some(1.0), None, Some(0.5)].into_iter().for_each(|value| mean.add(value));
        assert_eq!((mean.value(), Mean::default().value()), (0.75, 0.0));
    }
}
