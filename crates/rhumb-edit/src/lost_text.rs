//! Text that was lost on its way: bytes of a reply that were no UTF-8 have become U+FFFD, and would be written as that.

use crate::outcome::Refusal;
use crate::reply::{Change, Edit, Hunk};

/// Refuses an edit that puts more of these marks into a file than it quotes, or than `base` has where it replaces all of it. A file
/// that has them can be edited around them.
pub(crate) fn check(edit: &Edit, base: &str) -> Result<(), Refusal> {
    let marks = |text: &str| text.matches(char::REPLACEMENT_CHARACTER).count();
    let adds = |hunk: &Hunk| marks(&hunk.replacement()) > marks(&hunk.quote());
    let is_damaged = match &edit.change {
        Change::Hunk(readings) => readings.iter().any(adds),
        Change::Whole(lines) => lines.iter().map(|line| marks(line)).sum::<usize>() > marks(base),
        Change::Nothing => false,
    };
    if is_damaged {
        return Err(Refusal::new(
            "damaged: the edit adds U+FFFD (\u{fffd}), which stands for text that was lost on the way; send the characters themselves, or \
             an escape where this one is meant",
        ));
    }
    Ok(())
}
