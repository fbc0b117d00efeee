//! Defects of how a change is cut into blocks.

use fastrand::Rng;

use super::sketch::{Block, Line, Mark, Sketch};

/// Two blocks under one heading.
pub(super) fn jump(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let anchor = |line: Option<&Line>| line.is_some_and(|line| line.mark == Mark::Keep && line.is_solid());
    let joinable = |pair: &[Block]| match pair {
        [a, b] => {
            let apart = b.range().0 > a.range().1 + 2;
            !a.blockwise && !b.blockwise && apart && anchor(a.lines.last()) && anchor(b.lines.first())
        }
        _ => false,
    };
    let seams = sketch.blocks.windows(2).enumerate().filter(|(_, pair)| joinable(pair)).map(|(at, _)| at);
    let Some(seam) = rng.choice(seams.collect::<Vec<_>>()) else { return false };
    let second = sketch.blocks.remove(seam + 1);
    if let Some(first) = sketch.blocks.get_mut(seam) {
        first.lines.extend(second.lines);
    }
    true
}

pub(super) fn out_of_order(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    if sketch.blocks.len() < 2 {
        return false;
    }
    let before = sketch.blocks.clone();
    rng.shuffle(&mut sketch.blocks);
    if sketch.blocks == before {
        sketch.blocks.reverse();
    }
    true
}

pub(super) fn sent_twice(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let nth = rng.usize(..sketch.blocks.len().max(1));
    let Some(mut again) = sketch.blocks.get(nth).cloned() else { return false };
    again.counts = false;
    let at = rng.usize(nth + 1..=sketch.blocks.len());
    sketch.blocks.insert(at, again);
    true
}

pub(super) fn overlap_before(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    overlap(sketch, rng, Mark::Insert)
}

pub(super) fn overlap_after(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    overlap(sketch, rng, Mark::Delete)
}

/// Cuts a block between two of its changes; the second part quotes the first change too, without its lines that are
/// marked `without`.
fn overlap(sketch: &mut Sketch, rng: &mut Rng, without: Mark) -> bool {
    let mut seams = Vec::new();
    for (nth, block) in sketch.blocks.iter().enumerate().filter(|(_, block)| !block.blockwise) {
        let changes = |lines: &[Line]| lines.iter().any(|line| line.mark != Mark::Keep);
        let ends = block.lines.windows(2).enumerate().filter(|(_, pair)| match pair {
            [a, b] => a.mark != Mark::Keep && b.mark == Mark::Keep,
            _ => false,
        });
        for (at, _) in ends {
            let rest = block.lines.get(at + 1..).unwrap_or_default();
            let between = rest.iter().take_while(|line| line.mark == Mark::Keep).count();
            seams.extend((changes(rest) && between > 0).then_some((nth, at + 1, between)));
        }
    }
    let Some((nth, seam, between)) = rng.choice(seams) else { return false };
    let Some(first) = sketch.blocks.get_mut(nth) else { return false };
    let mut second = first.clone();
    let quoted = second.lines.drain(..seam).rev().take(4).filter(|line| line.mark != without);
    // A line that is new stands nowhere in the file as it was.
    let quoted = quoted.map(|line| match line.mark {
        Mark::Insert => Line::unfounded(&line.text),
        _ => Line { mark: Mark::Keep, ..line },
    });
    let mut quoted: Vec<Line> = quoted.collect();
    quoted.reverse();
    second.lines.splice(..0, quoted);
    first.lines.truncate(seam + between);
    sketch.blocks.insert(nth + 1, second);
    true
}

#[cfg(test)]
mod tests {
    use super::super::defect::Put;
    use super::super::render::render;
    use super::super::tests::{far_sketch, near_sketch};
    use super::*;
    use rhumb_edit::EditFormat;

    #[test]
    fn pieces_change_and_what_is_meant_does_not() {
        let mut rng = Rng::with_seed(3);
        for put in [jump, out_of_order, sent_twice] {
            let mut sketch = far_sketch(EditFormat::Udiff);
            let (meant, text) = (sketch.wanted(), render(&sketch));
            assert!(put(&mut sketch, &mut rng));
            assert!(sketch.wanted() == meant && render(&sketch) != text);
        }
    }

    #[test]
    fn one_heading_is_lost_in_a_jump() {
        let mut sketch = far_sketch(EditFormat::Udiff);
        assert_eq!(render(&sketch).matches("@@ ... @@").count(), 2);
        assert!(jump(&mut sketch, &mut Rng::with_seed(1)));
        assert_eq!(render(&sketch).matches("@@ ... @@").count(), 1);
    }

    #[test]
    fn the_second_block_quotes_the_first_change_as_it_was_or_as_it_is() {
        for (put, quoted) in [(overlap_before as Put, "b"), (overlap_after, "B")] {
            let mut sketch = near_sketch(EditFormat::Udiff);
            let meant = sketch.wanted();
            assert!(put(&mut sketch, &mut Rng::with_seed(1)));
            assert_eq!((sketch.blocks.len(), sketch.wanted()), (2, meant));
            let context: Vec<&str> = sketch.blocks[1].lines.iter().take(3).map(|line| line.text.as_str()).collect();
            assert_eq!(context, ["a", quoted, "c"]);
            assert_eq!(sketch.blocks[0].lines.last().unwrap().text, "c");
        }
    }
}
