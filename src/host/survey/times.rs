//! How long the phases of a survey took.

use std::iter::Sum;

/// Milliseconds of the phases.
#[derive(Debug, Default, Clone, Copy)]
pub struct SurveyTimes {
    /// Listing the files.
    pub walk: f64,
    /// Loading what earlier surveys knew.
    pub load: f64,
    /// Reading files: their share of the time, since the two overlap on several threads.
    pub read: f64,
    /// Parsing them and digesting their words: the rest of it.
    pub parse: f64,
    /// Joining the records and building the graph.
    pub graph: f64,
}

/// Time that all threads together spent, in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ThreadTimes {
    read: f64,
    parse: f64,
}

impl ThreadTimes {
    /// Adds one file.
    pub(super) fn add(&mut self, read: f64, parse: f64) {
        self.read += read;
        self.parse += parse;
    }

    /// Shares out the `elapsed` milliseconds in which both were done.
    pub(super) fn times(self, walk: f64, load: f64, elapsed: f64) -> SurveyTimes {
        let (read, parse) = (self.read, self.parse);
        let share = if read + parse > 0.0 { read / (read + parse) } else { 1.0 };
        SurveyTimes { walk, load, read: elapsed * share, parse: elapsed * (1.0 - share), graph: 0.0 }
    }
}

impl Sum for ThreadTimes {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self { read: sum.read + part.read, parse: sum.parse + part.parse })
    }
}
