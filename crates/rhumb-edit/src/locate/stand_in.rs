//! Lines of a replacement that stand for code which they do not show, where that code would be lost.

use std::collections::BTreeSet;

use super::canon::{self, LineClass};
use crate::block::marker;
use crate::compose::whole_file;

/// So many lines of code must vanish for a line in their place to be suspected.
const CODE: usize = 2;

/// Lines that go and lines that come in one place.
pub(crate) struct Exchange<'a> {
    pub(crate) removed: Vec<&'a str>,
    /// Their positions on the new side, ascending.
    pub(crate) added: Vec<usize>,
}

/// The added line that stands for code which vanishes there: dots alone, or words such as `existing loop` with no new
/// code below them. `new` is the whole new side; `is_known` tells lines of the file, which mean what they meant before.
pub(crate) fn stand_in<'a>(
    new: &[&'a str],
    exchanges: &[Exchange<'_>],
    is_known: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let text = |at: &usize| new.get(*at).copied();
    let stands_in = |exchange: &Exchange<'_>| {
        if !loses_code(exchange, new) {
            return None;
        }
        let mut solid = exchange.added.iter().filter(|at| text(at).is_some_and(|line| !line.trim().is_empty()));
        let is_dots = |at: &&usize| text(at).is_some_and(is_dots);
        let is_body = |at: &usize| whole_file::header_of_stub(new, *at).is_some();
        let dots = solid.clone().filter(is_dots).find(|at| !is_body(at));
        let last = solid.next_back().filter(|at| text(at).is_some_and(marker::may_elide));
        dots.or(last).and_then(text).filter(|line| !is_known(line))
    };
    exchanges.iter().find_map(stands_in)
}

/// Whether a line is worth a closer look.
pub(crate) fn is_suspect(line: &str) -> bool {
    is_dots(line) || marker::may_elide(line)
}

fn is_dots(line: &str) -> bool {
    matches!(line.trim(), "..." | "…")
}

/// Whether several lines of code go that come nowhere else.
fn loses_code(exchange: &Exchange<'_>, new: &[&str]) -> bool {
    let is_code = |line: &&&str| canon::class(line) == LineClass::Code && canon::is_telling(line);
    let gone: Vec<_> = exchange.removed.iter().filter(is_code).map(|line| canon::canon(line)).collect();
    if gone.len() < CODE {
        return false;
    }
    let come: BTreeSet<_> = new.iter().map(|line| canon::canon(line)).collect();
    gone.iter().filter(|line| !come.contains(*line)).count() >= CODE
}
