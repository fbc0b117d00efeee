//! Syntax errors that a write would bring into files.

use crate::headless::complain;
use crate::host::new_syntax_faults;
use rhumb_edit::SyntaxFault;
use rhumb_edit::review::Review;
use rhumb_session::PendingWrite;
use rhumb_session::pending_writes;

/// The syntax errors that writing the accepted hunks would bring into files.
pub(super) fn faults(review: &Review) -> Vec<SyntaxFault> {
    let orders: Vec<PendingWrite> = review.files.iter().flat_map(pending_writes).collect();
    new_syntax_faults(&orders)
}

/// The warning of a syntax error, in a line.
pub(super) fn warning(fault: &SyntaxFault) -> String {
    format!("warning: {} does not parse at line {}: {}", fault.path, fault.line + 1, fault.text)
}

/// Prints each syntax error that writing the accepted hunks would bring into files, on standard error.
pub fn warn_of_faults(review: &Review) {
    faults(review).iter().for_each(|fault| complain(&warning(fault)));
}
