//! Fits and measures the weights of the ranking: which files and definitions are to change for a request.
//!
//! `rank features` writes the features of every case to a file; `rank fit` fits a conditional logit (McFadden, "Conditional logit analysis of
//! qualitative choice behavior", 1974) to them, measures it on repositories that it was not fitted on, and prints the table of weights.

mod calls;
mod case;
mod features;
mod fit;
mod logit;

use rhumb::error::{ErrorKind, UserError};

pub(crate) use case::RANK_CASE;

use crate::args::RankCommand;

/// Runs a step.
///
/// # Errors
/// The cases or the features cannot be read, a commit does not exist, or a file cannot be written.
pub(crate) fn command(command: &RankCommand) -> Result<u8, UserError> {
    match command {
        RankCommand::Features(args) => features::command(args),
        RankCommand::Fit(args) => fit::command(args),
        RankCommand::Calls(args) => calls::command(args),
    }
}

fn usage(message: impl std::fmt::Display) -> UserError {
    UserError::new(ErrorKind::Usage, message, "see rhumb-bench rank --help")
}

fn machine(message: impl std::fmt::Display) -> UserError {
    UserError::new(ErrorKind::Machine, message, "check the path and the space on the disk")
}
