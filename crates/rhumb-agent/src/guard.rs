//! When the loop stops although the model wants to go on.

use std::fmt;
use std::time::Duration;

/// The limits of a loop. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Caps {
    /// The maximum number of steps (requests to the model).
    pub steps: Option<usize>,
    /// The maximum number of tokens of all requests and answers together.
    pub tokens: Option<u64>,
    /// The maximum cost in dollars.
    pub dollars: Option<f64>,
    /// The maximum time.
    pub time: Option<Duration>,
}

/// What a loop has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Steps.
    pub steps: usize,
    /// Tokens of all requests and answers.
    pub tokens: u64,
    /// Dollars.
    pub dollars: f64,
    /// Time.
    pub time: Duration,
}

/// A completed step, as the guard sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepFacts {
    /// Each call: the name, the arguments and the result, hashed.
    pub calls: Vec<u64>,
    /// Whether the proposal changed, or the user answered.
    pub progressed: bool,
}

/// Why a loop was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The maximum number of steps.
    Steps(usize),
    /// The maximum number of tokens.
    Tokens(u64),
    /// The maximum cost.
    Dollars,
    /// The maximum time.
    Time(Duration),
    /// The same calls with the same results, this many times.
    Repeated(usize),
    /// This many steps in which nothing new was read, changed or run.
    NoProgress(usize),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(steps) => write!(f, "the loop reached its cap of {steps} steps"),
            Self::Tokens(tokens) => write!(f, "the loop reached its cap of {tokens} tokens"),
            Self::Dollars => write!(f, "the loop reached its cap on cost"),
            Self::Time(time) => write!(f, "the loop reached its cap of {} s", time.as_secs()),
            Self::Repeated(times) => write!(f, "the model made the same call {times} times and got the same result"),
            Self::NoProgress(steps) => write!(f, "nothing new was read, changed or run in {steps} steps"),
        }
    }
}

/// Watches the steps of a loop.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    _private: (),
}

impl Guard {
    /// Takes note of a step. Returns why the loop must stop.
    pub fn observe(&mut self, _step: &StepFacts) -> Option<Stop> {
        None
    }

    /// Forgets the steps so far, because the user has stepped in.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Caps {
    /// The cap that is reached, if any.
    pub fn reached(&self, spent: &Spent) -> Option<Stop> {
        if let Some(steps) = self.steps.filter(|steps| spent.steps >= *steps) {
            return Some(Stop::Steps(steps));
        }
        if let Some(tokens) = self.tokens.filter(|tokens| spent.tokens >= *tokens) {
            return Some(Stop::Tokens(tokens));
        }
        if self.dollars.is_some_and(|dollars| spent.dollars >= dollars) {
            return Some(Stop::Dollars);
        }
        self.time.filter(|time| spent.time >= *time).map(Stop::Time)
    }
}
