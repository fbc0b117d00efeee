//! When the loop stops although the model wants to go on.

use std::collections::{HashSet, VecDeque};
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
    /// The maximum time. The caller measures it.
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

/// How often a cycle of steps is seen before the loop is stopped.
const MAX_REPETITIONS: usize = 3;
/// The longest cycle of steps that is recognised.
const MAX_CYCLE: usize = 4;
/// Steps without progress before the loop is stopped.
const MAX_IDLE_STEPS: usize = 12;
/// The number of calls that are remembered. Older ones count as new.
const MAX_KNOWN_CALLS: usize = 4_096;

/// Watches the steps of a loop. Needs memory for at most a few thousand calls.
///
/// ```
/// use rhumb_agent::{Guard, StepFacts, Stop};
///
/// let mut guard = Guard::default();
/// let step = StepFacts { calls: vec![17], progressed: false };
/// assert_eq!(guard.observe(&step), None);
/// assert_eq!(guard.observe(&step), None);
/// assert!(guard.warning().is_some());
/// assert_eq!(guard.observe(&step), Some(Stop::Repeated(3)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The sets of calls of the last steps, oldest first.
    steps: VecDeque<Vec<u64>>,
    /// The calls so far, and their order, oldest first.
    known: HashSet<u64>,
    order: VecDeque<u64>,
    /// The number of steps since the last one with progress or a new call.
    idle: usize,
}

impl Guard {
    /// Takes note of a step. Returns why the loop must stop:
    ///
    /// - [`Stop::Repeated`] if the last steps are the same set of calls with the same results three times, or a cycle of up to four
    ///   different steps three times, even if they progressed: two edits that undo each other are a cycle too;
    /// - [`Stop::NoProgress`] after twelve steps without progress in which every call had been made before with the same result.
    pub fn observe(&mut self, step: &StepFacts) -> Option<Stop> {
        let mut calls = step.calls.clone();
        calls.sort_unstable();
        calls.dedup();

        let mut new = step.progressed;
        for &call in &calls {
            if self.known.insert(call) {
                new = true;
                self.order.push_back(call);
            }
        }
        while self.order.len() > MAX_KNOWN_CALLS {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
        self.idle = if new { 0 } else { self.idle + 1 };

        if calls.is_empty() {
            self.steps.clear();
        } else {
            self.steps.push_back(calls);
            if self.steps.len() > MAX_CYCLE * MAX_REPETITIONS {
                self.steps.pop_front();
            }
        }
        if self.repeats(MAX_REPETITIONS) {
            return Some(Stop::Repeated(MAX_REPETITIONS));
        }
        (self.idle >= MAX_IDLE_STEPS).then_some(Stop::NoProgress(self.idle))
    }

    /// A text to append to the result of the last step, if the next repetition will stop the loop.
    pub fn warning(&self) -> Option<String> {
        if self.repeats(MAX_REPETITIONS - 1) {
            return Some(
                "[This call was made before with the same arguments and the same result. Do something else, or finish with an answer; \
                 one more repetition stops the loop.]"
                    .to_owned(),
            );
        }
        (self.idle == MAX_IDLE_STEPS - 2).then(|| {
            format!(
                "[The last {} steps brought nothing new: each call was made before with the same result. Finish with an answer, or do \
                 something else.]",
                self.idle
            )
        })
    }

    /// Forgets the steps so far, because the user has stepped in.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether the last steps are a cycle, `times` times.
    fn repeats(&self, times: usize) -> bool {
        (1..=MAX_CYCLE).any(|cycle| {
            let needed = cycle * times;
            let Some(start) = self.steps.len().checked_sub(needed) else { return false };
            (start + cycle..self.steps.len()).all(|index| self.steps.get(index) == self.steps.get(index - cycle))
        })
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
        self.dollars.filter(|dollars| spent.dollars >= *dollars).map(|_| Stop::Dollars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reading(calls: &[u64]) -> StepFacts {
        StepFacts { calls: calls.to_vec(), progressed: false }
    }

    /// The number of the step that stops the loop, from 1, and why.
    fn run(steps: impl IntoIterator<Item = StepFacts>) -> Option<(usize, Stop)> {
        let mut guard = Guard::default();
        steps.into_iter().enumerate().find_map(|(index, step)| guard.observe(&step).map(|stop| (index + 1, stop)))
    }

    #[test]
    fn the_same_calls_three_times_stop_the_loop_in_any_order() {
        assert_eq!(run([reading(&[1, 2]), reading(&[2, 1]), reading(&[1, 2, 2])]), Some((3, Stop::Repeated(3))));
        assert_eq!(run([reading(&[1]), reading(&[1]), reading(&[2]), reading(&[1]), reading(&[1])]), None);
    }

    #[test]
    fn a_cycle_of_up_to_four_steps_stops_the_loop() {
        for cycle in 1..=4_u64 {
            let steps = (0..100).map(|step| reading(&[step % cycle]));
            let at = usize::try_from(cycle).unwrap() * 3;
            assert_eq!(run(steps), Some((at, Stop::Repeated(3))));
        }
    }

    #[test]
    fn edits_that_undo_each_other_are_a_cycle() {
        let steps = (0..100).map(|step| StepFacts { calls: vec![step % 2], progressed: true });
        assert_eq!(run(steps), Some((6, Stop::Repeated(3))));
    }

    #[test]
    fn twelve_steps_of_known_calls_stop_the_loop() {
        let steps = (0..7).chain((0..100).map(|step| step * step % 7)).map(|call| reading(&[call]));
        assert_eq!(run(steps), Some((19, Stop::NoProgress(12))));
    }

    #[test]
    fn progress_starts_the_count_again() {
        let cycle = 7_u64; // longer than the cycles that are recognised
        let steps = (0..200).map(|step| StepFacts { calls: vec![step % cycle], progressed: step % 10 == 0 });
        assert_eq!(run(steps), None);
    }

    #[test]
    fn steps_without_calls_bring_no_progress() {
        assert_eq!(run((0..100).map(|_| reading(&[]))), Some((12, Stop::NoProgress(12))));
    }

    #[test]
    fn five_hundred_distinct_reads_go_on() {
        assert_eq!(run((0..500).map(|step| reading(&[step]))), None);
    }

    #[test]
    fn the_model_is_warned_before_the_stop() {
        let mut guard = Guard::default();
        guard.observe(&reading(&[1]));
        assert_eq!(guard.warning(), None);
        guard.observe(&reading(&[1]));
        assert!(guard.warning().is_some_and(|text| text.contains("same result")));
        guard.observe(&reading(&[2]));
        assert_eq!(guard.warning(), None);
        guard.reset();
        assert_eq!(guard.warning(), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut guard = Guard::default();
        for step in 0..1_000_u64 {
            guard.observe(&reading(&(step * 100..step * 100 + 100).collect::<Vec<_>>()));
        }
        assert_eq!((guard.known.len(), guard.order.len()), (MAX_KNOWN_CALLS, MAX_KNOWN_CALLS));
        assert_eq!(guard.steps.len(), MAX_CYCLE * MAX_REPETITIONS);
    }

    #[test]
    fn the_first_cap_that_is_reached_is_reported() {
        let caps = Caps { steps: Some(3), dollars: Some(0.5), ..Caps::default() };
        assert_eq!(caps.reached(&Spent { steps: 2, dollars: 0.4, ..Spent::default() }), None);
        assert_eq!(caps.reached(&Spent { steps: 3, ..Spent::default() }), Some(Stop::Steps(3)));
        assert_eq!(caps.reached(&Spent { dollars: 0.5, ..Spent::default() }), Some(Stop::Dollars));
    }

    proptest! {
        #[test]
        fn a_stop_for_repetition_follows_a_warning(calls in proptest::collection::vec(0_u64..3, 0..60)) {
            let mut guard = Guard::default();
            let mut warned = false;
            for call in calls {
                if let Some(Stop::Repeated(_)) = guard.observe(&reading(&[call])) {
                    prop_assert!(warned);
                    break;
                }
                warned |= guard.warning().is_some();
            }
        }
    }
}
