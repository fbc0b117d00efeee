//! What a benchmark measured.

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
    Share,
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
            Self::Share => "",
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

/// The middle of some values; 0 where there is none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
