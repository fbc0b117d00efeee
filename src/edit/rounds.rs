//! Edits that were refused and sent again: which of the newer ones stands for which of the older.

use super::outcome::{Outcome, Status};
use super::whole_file;

/// So much (0 to 1) an edit must share with an older one of another file name to be a new version of it.
const ALIKE: f32 = 0.5;
/// The same of an edit of the same file.
const ALIKE_AT_HOME: f32 = 0.2;

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

/// How much two edits have in common, 0 to 2: one more for the same file. 0 when it is too little.
fn likeness(old: &Outcome, new: &Outcome) -> f32 {
    let lines = |outcome: &Outcome| format!("{}\n{}", outcome.quote, outcome.replacement);
    let (old_lines, new_lines) = (lines(old), lines(new));
    let telling = |text: &'_ str| text.lines().map(str::trim).any(|line| !line.is_empty());
    let split = |text| str::lines(text).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    let (one, other) = (split(&old_lines), split(&new_lines));
    let shared = if telling(&old_lines) {
        whole_file::kept_share(&one, &other).max(whole_file::kept_share(&other, &one))
    } else {
        0.0
    };
    match old.path == new.path {
        true if shared >= ALIKE_AT_HOME || !telling(&old_lines) => 1.0 + shared,
        false if shared >= ALIKE => shared,
        _ => 0.0,
    }
}
