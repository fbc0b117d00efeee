//! Edits that found no place, and hunks whose place is gone: asked for again, put in by hand, or put away.

use std::ops::Range;

use crate::edit::Outcome;
use crate::text::lines;

/// The marks around the place of an edit in a text that the user changes by hand.
pub(super) const MARKS: [&str; 3] = ["<<<<<<< the file says", "||||||| the edit quotes", ">>>>>>> the edit proposes"];

/// A text with marks around these lines (0-based), with what an edit quotes and proposes beside them; the line (1-based) at which
/// they begin.
pub(super) fn with_markers(now: &str, place: Range<usize>, outcome: &Outcome) -> (String, usize) {
    let all = lines::split(now);
    let place = place.start.min(all.len())..place.end.min(all.len());
    let of = |range: Range<usize>| all.get(range).unwrap_or_default().concat();
    let (before, there, after) = (of(0..place.start), of(place.clone()), of(place.end..all.len()));
    let [file, quote, edit] = MARKS;
    let pieces = [
        ended(&before),
        format!("{file}\n"),
        ended(&there),
        format!("{quote}\n"),
        ended(&outcome.quote),
        "=======\n".to_owned(),
        ended(&outcome.replacement),
        format!("{edit}\n"),
        after,
    ];
    (pieces.concat(), place.start + 1)
}

/// A text that ends with a newline, if there is any.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
