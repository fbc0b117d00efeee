//! Edits that were refused and sent again: which of the newer ones stands for which of the older.

use super::compose::whole_file;
use super::outcome::{Outcome, Status};

/// So much (0 to 1) an edit must share with an older one of another file name to be a new version of it.
const ALIKE: f32 = 0.5;

/// Drops from `older` the refusals that edits of `newer` are new versions of. Each new one stands for one old one at most.
pub(super) fn drop_answered(older: &mut Vec<Outcome>, newer: &[Outcome]) {
    for new in newer {
        let open = older.iter().enumerate().filter(|(_, old)| old.status == Status::Refused);
        let alike = open.map(|(at, old)| (at, likeness(old, new))).filter(|(_, likeness)| *likeness > 0.0);
        if let Some((at, _)) = alike.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
            older.remove(at);
        }
    }
}

/// How much two edits have in common, 0 to 2: one more for the same file, since only what was refused should come again. 0
/// when it is too little.
fn likeness(old: &Outcome, new: &Outcome) -> f32 {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let shared = whole_file::kept_share(&old_lines, &new_lines).max(whole_file::kept_share(&new_lines, &old_lines));
    let shared = if old_lines.is_empty() || new_lines.is_empty() { 0.0 } else { shared };
    match old.path == new.path {
        true => 1.0 + shared,
        false if shared >= ALIKE => shared,
        false => 0.0,
    }
}

/// The lines of an edit, of both sides.
fn lines(outcome: &Outcome) -> Vec<&str> {
    outcome.quote.lines().chain(outcome.replacement.lines()).filter(|line| !line.trim().is_empty()).collect()
}
