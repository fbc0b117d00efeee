//! Syntax errors that a write would bring into files: told, and asked about where there is somebody to ask.

use std::io::{BufRead as _, Write as _};

use super::is_yes;
use crate::headless::complain;
use crate::session::WriteOrder;
use crate::session::runner::faults_of;

/// Whether the files may be written although some do not parse then: with `yes` they may, else the user is asked on the
/// terminal. Each error is told on standard error.
pub fn agrees_to_faults(orders: &[WriteOrder], yes: bool) -> bool {
    let faults = faults_of(orders);
    for fault in &faults {
        complain(&format!("warning: {} does not parse at line {}: {}", fault.path, fault.line + 1, fault.text));
    }
    if faults.is_empty() || yes {
        return true;
    }
    let mut err = std::io::stderr();
    let _ = err.write_all(b"Write anyway? [y/n] ").and_then(|()| err.flush());
    let mut answer = String::new();
    let agrees = std::io::stdin().lock().read_line(&mut answer).is_ok() && is_yes(&answer);
    if !agrees {
        complain("Nothing was written.");
    }
    agrees
}
