//! Defects that make a reply unanswerable: it must be refused.

use fastrand::Rng;
use rhumb_edit::EditFormat;

use crate::edits::defects::lines::comment_sign;
use crate::edits::sample::LineIndex;
use crate::edits::sketch::{Block, Fencing, Head, Line, Mark, Sketch};

/// A whole-file reply is a fragment if it has less than one `FRAGMENT_DIVISOR`th of the lines of the file.
const FRAGMENT_DIVISOR: usize = 3;

/// Marks a block as one that must be refused.
fn refused(sketch: &mut Sketch, nth: usize) -> Option<&mut Block> {
    let block = sketch.blocks.get_mut(nth)?;
    block.counts = false;
    // Line numbers and scopes could make the block unambiguous.
    if matches!(block.head, Head::Numbers(..) | Head::Scope(_)) {
        block.head = if sketch.format == EditFormat::Patch { Head::Bare } else { Head::Dots };
    }
    Some(block)
}

/// Shrinks the quote of a block until it fits several locations. The other blocks are dropped: together with them it could be
/// unambiguous.
pub(crate) fn ambiguous(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let lookup = LineIndex::new(&sketch.base);
    let mut found = Vec::new();
    for block in &sketch.blocks {
        let changes = || block.lines.iter().enumerate().filter(|(_, line)| line.mark != Mark::Keep).map(|(at, _)| at);
        let (Some(first), Some(last)) = (changes().min(), changes().max()) else { continue };
        for (above, below) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let lines = block.lines.get(first.saturating_sub(above)..(last + 1 + below).min(block.lines.len()));
            let smaller = Block { lines: lines.unwrap_or_default().to_vec(), ..block.clone() };
            let solid = smaller.lines.iter().any(|line| line.is_quoted() && line.is_solid());
            found.extend((solid && stands_twice(&lookup, sketch, &smaller)).then_some(smaller));
        }
    }
    let Some(block) = rng.choice(found) else { return false };
    sketch.blocks = vec![block];
    refused(sketch, 0).is_some()
}

/// Adds a second copy of the lines that a block quotes to the file.
pub(crate) fn duplicate(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let nth = rng.usize(..sketch.blocks.len().max(1));
    let Some((first, end)) = refused(sketch, nth).map(|block| block.range()) else { return false };
    let mut copy = sketch.base.get(first..end).unwrap_or_default().to_vec();
    copy.insert(0, String::new());
    let free: Vec<usize> = (0..=sketch.base.len()).filter(|at| !sketch.quotes(*at) && !beside(sketch, *at)).collect();
    let Some(at) = rng.choice(free) else { return false };
    sketch.store(at, copy);
    let lookup = LineIndex::new(&sketch.base);
    sketch.blocks.get(nth).is_some_and(|block| stands_twice(&lookup, sketch, block))
}

/// Whether the lines of the file that a block quotes occur twice, and the quote itself does not fit exactly one location.
fn stands_twice(lookup: &LineIndex<'_>, sketch: &Sketch, block: &Block) -> bool {
    let (first, end) = block.range();
    let lines: Vec<&str> = sketch.base.get(first..end).unwrap_or_default().iter().map(String::as_str).collect();
    let quoted = block.lines.iter().filter(|line| line.is_quoted());
    let quoted: Vec<&str> = quoted.map(|line| line.text.as_str()).collect();
    lookup.count(&lines, false) > 1 && lookup.count(&quoted, false) != 1
}

/// Whether the line before the line `at` is quoted.
fn beside(sketch: &Sketch, at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| sketch.quotes(before))
}

/// Removes the lines that a block quotes from the file.
pub(crate) fn stale(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let nth = rng.usize(..sketch.blocks.len().max(1));
    let Some((first, end)) = refused(sketch, nth).map(|block| block.range()) else { return false };
    let mut block = sketch.blocks.remove(nth);
    sketch.base.drain(first..end);
    let gone = end - first;
    let others = sketch.blocks.iter_mut().flat_map(|block| &mut block.lines);
    others.filter_map(|line| line.at.as_mut()).filter(|at| **at >= end).for_each(|at| *at -= gone);
    let lookup = LineIndex::new(&sketch.base);
    let quoted = || block.lines.iter().filter(|line| line.is_quoted() && line.is_solid());
    let known = quoted().filter(|line| !lookup.lines_of(&line.text).is_empty()).count();
    // At least half of the quote must be gone, so that no location fits.
    let sure = known * 2 <= quoted().count() && quoted().count() > 0;
    block.lines.iter_mut().for_each(|line| line.at = None);
    sketch.blocks.insert(nth, block);
    sure
}

pub(crate) fn already_applied(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let text: Vec<String> = sketch.meant().into_iter().map(|(_, text)| text.to_owned()).collect();
    sketch.whole = Some(text.clone());
    sketch.base = text;
    for block in &mut sketch.blocks {
        block.counts = false;
        block.lines.iter_mut().for_each(|line| line.at = None);
    }
    // A change that can be applied a second time is not "already applied".
    let lookup = LineIndex::new(&sketch.base);
    sketch.blocks.iter().all(|block| {
        let old: Vec<&str> =
            block.lines.iter().filter(|line| line.is_quoted()).map(|line| line.text.as_str()).collect();
        lookup.count(&old, true) == 0
    })
}

/// Replaces all quoted lines between the first and the last one by lines that are not in the file.
pub(crate) fn invented_middle(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    const INVENTED: [&str; 8] = [
        "harbour.open_gate(at_dawn)",
        "if tide.is_rising() and not fog:",
        "captain = roster.first_on_watch()",
        "ropes.count += len(moored_boats)",
        "return lighthouse.signal(green, twice)",
        "ballast = pump.drain(bilge, litres)",
        "for gull in pier.birds():",
        "chart.redraw(soundings, scale)",
    ];
    let nth = rng.usize(..sketch.blocks.len().max(1));
    sketch.widen(nth, 2, 2);
    let Some(block) = refused(sketch, nth) else { return false };
    let quoted = |line: &Line| line.is_quoted() && line.is_solid();
    let solid: Vec<usize> = block.lines.iter().enumerate().filter(|(_, line)| quoted(line)).map(|(at, _)| at).collect();
    let (Some(middle), true) = (solid.get(1..solid.len().saturating_sub(1)), solid.len() >= 4) else { return false };
    let start = rng.usize(..INVENTED.len());
    for (nth, at) in middle.iter().enumerate() {
        let Some(line) = block.lines.get_mut(*at) else { return false };
        let margin = line.text.len() - line.text.trim_start().len();
        let invented = INVENTED.get((start + nth) % INVENTED.len()).copied().unwrap_or_default();
        line.text.replace_range(margin.., invented);
    }
    true
}

/// Adds lines from another part of the file above the lines that a block quotes.
pub(crate) fn two_locations(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    /// Minimum distance of the two locations, in lines.
    const MIN_DISTANCE: usize = 30;
    let nth = rng.usize(..sketch.blocks.len().max(1));
    let Some((first, end)) = sketch.blocks.get(nth).map(Block::range) else { return false };
    let far: Vec<usize> = (0..sketch.base.len().saturating_sub(4))
        .filter(|at| at + 4 + MIN_DISTANCE < first || *at > end + MIN_DISTANCE)
        .filter(|at| (*at..at + 4).all(|at| !sketch.quotes(at)))
        .collect();
    let Some(at) = rng.choice(far) else { return false };
    let texts = sketch.base.get(at..at + 4).unwrap_or_default();
    let mut lines: Vec<Line> = texts.iter().zip(at..).map(|(text, at)| Line::new(Mark::Keep, at, text)).collect();
    let lookup = LineIndex::new(&sketch.base);
    let telling = |line: &Line| line.text.trim().len() > 8 && lookup.lines_of(&line.text).len() == 1;
    if lines.iter().filter(|line| telling(line)).count() < 2 {
        return false;
    }
    lines.iter_mut().for_each(|line| line.at = None);
    let Some(block) = refused(sketch, nth) else { return false };
    block.lines.splice(..0, lines);
    true
}

/// Cuts the reply off within its last block.
pub(crate) fn truncated(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    sketch.wrap.cut = Some(0.1 + 0.85 * f64::from(rng.u8(..)) / 255.0);
    match sketch.format {
        // A patch without its end line and a cut file must not be applied at all.
        EditFormat::Patch | EditFormat::Whole => sketch.blocks.iter_mut().for_each(|block| block.counts = false),
        _ => sketch.blocks.last_mut().into_iter().for_each(|block| block.counts = false),
    }
    // A diff that is cut within its last context lines is still complete.
    if sketch.format == EditFormat::Udiff {
        sketch.wrap.fencing = Fencing::Closed("diff".to_owned());
        return ends_in_change(sketch);
    }
    let lines = sketch.whole_meant();
    if sketch.format == EditFormat::Whole {
        sketch.whole = Some(lines);
    }
    true
}

/// Whether the cut diff ends within an added or removed line.
fn ends_in_change(sketch: &Sketch) -> bool {
    let text = crate::edits::sketch::render(sketch);
    let last = text.lines().last().unwrap_or_default();
    last.len() > 2 && last.starts_with(['+', '-'])
}

/// Replaces lines of a whole file by a placeholder.
pub(crate) fn whole_elided(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let meant = sketch.meant();
    let old =
        |from: usize, to: usize| meant.get(from..to).is_some_and(|lines| lines.iter().all(|(at, _)| at.is_some()));
    let count = rng.usize(6..40);
    let starts: Vec<usize> = (0..meant.len().saturating_sub(count)).filter(|from| old(*from, from + count)).collect();
    let Some(start) = rng.choice(starts) else { return false };
    let sign = comment_sign(&sketch.path).unwrap_or_default();
    // Outside of a comment only dots mark lines that are left out.
    let said = [
        "... existing code ...",
        "... rest of the file unchanged ...",
        "... (unchanged)",
        "rest of the code remains the same",
    ];
    let known = if sign.is_empty() { 2 } else { 4 };
    let placeholder =
        format!("{sign} {}", rng.choice(said.into_iter().take(known)).unwrap_or_default()).trim().to_owned();
    let mut text: Vec<String> = meant.into_iter().map(|(_, text)| text.to_owned()).collect();
    text.splice(start..start + count, [placeholder]);
    sketch.whole = Some(text);
    true
}

/// Sends only the changed part of the file as the whole file.
pub(crate) fn whole_fragment(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let meant = sketch.meant();
    let (Some(first), Some(end)) = (
        sketch.blocks.iter().map(|block| block.range().0).min(),
        sketch.blocks.iter().map(|block| block.range().1).max(),
    ) else {
        return false;
    };
    let more = rng.usize(..6);
    let (first, end) = (first.saturating_sub(more), end + more);
    let inner = |at: usize| (first..end).contains(&at);
    let from = meant.iter().position(|(at, _)| at.is_some_and(inner));
    let to = meant.iter().rposition(|(at, _)| at.is_some_and(inner));
    let (Some(from), Some(to)) = (from, to) else { return false };
    let text: Vec<String> =
        meant.get(from..=to).unwrap_or_default().iter().map(|(_, text)| (*text).to_owned()).collect();
    let fragment = sketch.base.len() > 40 && text.len() * FRAGMENT_DIVISOR < sketch.base.len();
    sketch.whole = Some(text);
    fragment
}

/// A path outside of the root: of an existing file or of a new one.
pub(crate) fn outside_root(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let path = sketch.path.clone();
    sketch.blocks.iter_mut().for_each(|block| block.counts = false);
    sketch.wrap.sided = false;
    let away = ["../notes.md", "../../etc/notes.md", "/etc/notes.md", "src/../../notes.md", "~/notes.md"];
    if rng.bool() {
        sketch.wrap.name = Some(format!("../{path}"));
        if sketch.format == EditFormat::Whole {
            sketch.whole = Some(sketch.whole_meant());
        }
        return true;
    }
    sketch.wrap.name = rng.choice(away).map(str::to_owned);
    sketch.creates = true;
    let text = ["# Notes", "", "The tide is turning."];
    sketch.whole = Some(text.map(str::to_owned).to_vec());
    let lines = text.map(|text| Line { at: None, ..Line::new(Mark::Insert, 0, text) });
    sketch.blocks = vec![Block { lines: lines.to_vec(), blockwise: false, head: Head::Dots, counts: false }];
    true
}

impl Sketch {
    /// The text with all changes, including those that must be refused.
    fn whole_meant(&self) -> Vec<String> {
        let mut all = self.clone();
        all.blocks.iter_mut().for_each(|block| block.counts = true);
        all.meant().into_iter().map(|(_, text)| text.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::sketch::render;
    use crate::edits::tests::{long_sketch, put, sketch};

    #[test]
    fn an_unanswerable_reply_intends_no_change() {
        for format in [EditFormat::Udiff, EditFormat::Diff, EditFormat::Patch] {
            for put_in in [duplicate, already_applied, invented_middle, outside_root] {
                let changed = put(format, put_in);
                assert_eq!(changed.tree(), changed.wanted());
            }
        }
    }

    #[test]
    fn the_quote_of_a_duplicated_block_occurs_twice() {
        let changed = put(EditFormat::Diff, duplicate);
        let text = String::from_utf8(changed.tree()["src/tide.py"].clone()).unwrap();
        assert_eq!(text.matches("    level = 0\n    for hour").count(), 2);
    }

    #[test]
    fn stale_lines_are_removed_and_applied_lines_are_present() {
        let gone = put(EditFormat::Diff, stale);
        assert!(!String::from_utf8(gone.tree()["src/tide.py"].clone()).unwrap().contains("level = 0"));
        let there = put(EditFormat::Diff, already_applied);
        assert_eq!(there.tree(), sketch(EditFormat::Diff).wanted());
        assert_eq!(render(&there), render(&sketch(EditFormat::Diff)));
    }

    #[test]
    fn the_middle_is_invented_and_the_ends_are_exact() {
        let changed = put(EditFormat::Diff, invented_middle);
        let quoted: Vec<&Line> =
            changed.blocks[0].lines.iter().filter(|line| line.is_quoted() && line.is_solid()).collect();
        let right: Vec<bool> = quoted.iter().map(|line| line.text == line.meant).collect();
        assert!(right[0] && right[right.len() - 1] && !right[1..right.len() - 1].contains(&true), "{right:?}");
    }

    #[test]
    fn one_quote_has_lines_of_two_places() {
        let mut sketch = long_sketch(EditFormat::Diff);
        let lines = sketch.blocks[0].lines.len();
        assert!(two_locations(&mut sketch, &mut Rng::with_seed(1)));
        assert_eq!(sketch.blocks[0].lines.len(), lines + 4);
    }

    #[test]
    fn whole_files_are_cut_elided_and_fragmentary() {
        let meant = long_sketch(EditFormat::Whole).whole_text();
        for put_in in [whole_elided, whole_fragment] {
            let mut sketch = long_sketch(EditFormat::Whole);
            let wanted = sketch.wanted();
            assert!(put_in(&mut sketch, &mut Rng::with_seed(1)));
            assert!(sketch.whole_text().len() < meant.len() && sketch.wanted() == wanted);
        }
        let mut cut = long_sketch(EditFormat::Whole);
        assert!(truncated(&mut cut, &mut Rng::with_seed(1)));
        assert!(!render(&cut).ends_with('\n') && cut.tree() == cut.wanted());
    }
}
