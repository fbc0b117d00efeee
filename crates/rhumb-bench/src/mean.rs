//! Means over cases.

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
    fn a_mean_leaves_out_what_has_no_value() {
        let mut mean = Mean::default();
        [Some(1.0), None, Some(0.5)].into_iter().for_each(|value| mean.add(value));
        assert_eq!((mean.value(), Mean::default().value()), (0.75, 0.0));
    }
}
