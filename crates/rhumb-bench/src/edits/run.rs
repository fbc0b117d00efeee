//! Running cases: parse, locate, judge, and the time that it takes.

use super::case::{Case, Shelf};
use super::score::{Verdict, verdict};
use super::sketch::ROOT;
use rhumb::clock::ThreadWatch;
use rhumb_edit::{Flexibility, Proposal};

/// What became of a case.
#[derive(Debug, Clone)]
pub struct Run {
    /// The judgement.
    pub verdict: Verdict,
    /// Processor time of parsing and locating, in microseconds.
    pub micros: f64,
    /// What the engine made of the reply.
    pub proposal: Proposal,
}

/// What the engine makes of a case.
pub(super) fn proposed(case: &Case, flexibility: Flexibility) -> Proposal {
    let parsed = rhumb_edit::parse(&case.reply, case.format);
    rhumb_edit::propose_with(&parsed, &Shelf { tree: &case.before, root: ROOT }, flexibility)
}

/// Runs a case.
pub fn run(case: &Case, flexibility: Flexibility) -> Run {
    let watch = ThreadWatch::start();
    let proposal = proposed(case, flexibility);
    let micros = watch.ms() * 1_000.0;
    Run { verdict: verdict(case, &proposal), micros, proposal }
}
