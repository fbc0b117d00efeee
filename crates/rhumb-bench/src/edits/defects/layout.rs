//! Defects of indentation (the whole reply indented more or less, tabs for spaces, spaces for tabs) and of how a change is cut into
//! blocks.

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::edits::sketch::{Block, Line, Mark, Sketch};

fn margin(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

/// The common indentation of all lines that are not blank.
fn common_margin<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let margins = lines.filter(|line| !line.trim().is_empty()).map(margin);
    margins.reduce(|a, b| {
        let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        a.get(..shared).unwrap_or_default()
    })
}

/// Removes the common indentation of each block.
pub(crate) fn dedent(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let mut any = false;
    for block in &mut sketch.blocks {
        let width = common_margin(block.lines.iter().map(|line| line.text.as_str())).map_or(0, str::len);
        any |= width > 0;
        for line in block.lines.iter_mut().filter(|line| line.is_solid()) {
            line.text.drain(..width);
        }
    }
    any
}

/// Indents all lines.
pub(crate) fn indent(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let tabs = sketch.base.iter().filter(|line| line.starts_with('\t')).count();
    let step = if tabs * 2 > sketch.base.iter().filter(|line| line.starts_with([' ', '\t'])).count() {
        "\t"
    } else {
        rng.choice(["  ", "    ", "        "]).unwrap_or_default()
    };
    sketch.lines_mut().filter(|line| line.is_solid()).for_each(|line| line.text.insert_str(0, step));
    true
}

/// Applies `change` to the indentation of all lines of the reply. Returns `false` if the intended indentation of new lines is
/// ambiguous: a changed new line without a changed quoted line in its block, or two indentations that become equal.
fn rewrite(sketch: &mut Sketch, change: impl Fn(&str) -> String) -> bool {
    let mut any = false;
    let mut origins: BTreeMap<String, String> = BTreeMap::new();
    for block in &mut sketch.blocks {
        let (mut shown, mut needed) = (false, false);
        for line in block.lines.iter_mut().filter(|line| line.is_solid()) {
            let own = margin(&line.text).to_owned();
            let new = change(&own);
            shown |= new != own && line.is_quoted();
            needed |= new != own && !line.is_quoted();
            line.text.replace_range(..own.len(), &new);
            if origins.entry(new).or_insert_with(|| own.clone()) != &own {
                return false;
            }
        }
        if needed && !shown {
            return false;
        }
        any |= shown;
    }
    any
}

pub(crate) fn tabs_as_spaces(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let step = " ".repeat(rng.choice([4, 4, 2, 8]).unwrap_or(4));
    rewrite(sketch, |margin| margin.replace('\t', &step))
}

pub(crate) fn spaces_as_tabs(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let widths = || sketch.base.iter().map(|line| margin(line)).filter(|margin| !margin.contains('\t')).map(str::len);
    let lines = || sketch.blocks.iter().flat_map(|block| &block.lines).map(|line| margin(&line.text));
    // Lines that are not indented by a multiple of the unit follow another rule.
    let unit = [4, 2].into_iter().find(|unit| widths().all(|width| width % unit == 0));
    let Some(unit) = unit.filter(|unit| lines().all(|margin| !margin.contains('\t') && margin.len() % unit == 0))
    else {
        return false;
    };
    rewrite(sketch, |margin| "\t".repeat(margin.len() / unit))
}

/// Joins two blocks under one hunk header.
pub(crate) fn jump(sketch: &mut Sketch, rng: &mut Rng) -> bool {
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

pub(crate) fn out_of_order(sketch: &mut Sketch, rng: &mut Rng) -> bool {
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

pub(crate) fn sent_twice(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let nth = rng.usize(..sketch.blocks.len().max(1));
    let Some(mut again) = sketch.blocks.get(nth).cloned() else { return false };
    again.counts = false;
    let at = rng.usize(nth + 1..=sketch.blocks.len());
    sketch.blocks.insert(at, again);
    true
}

pub(crate) fn overlap_before(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    overlap(sketch, rng, Mark::Insert)
}

pub(crate) fn overlap_after(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    overlap(sketch, rng, Mark::Delete)
}

/// Cuts a block between two of its changes. The second part also quotes the first change, without the lines marked `without`.
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
    // A new line is not in the old file.
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
    use super::*;
    use crate::edits::defects::Inject;
    use crate::edits::sketch::render;
    use crate::edits::tests::{far_sketch, near_sketch, put, sketch};
    use rhumb_edit::EditFormat;

    fn texts(sketch: &Sketch) -> Vec<&str> {
        sketch.blocks[0].lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn indentation_changes_in_the_reply_and_not_in_the_intended_text() {
        let plain = sketch(EditFormat::Udiff);
        assert_eq!(texts(&plain)[2], "    level = 0");
        let tabs = |sketch: &mut Sketch, rng: &mut Rng| {
            assert!(spaces_as_tabs(sketch, rng));
            assert_eq!(texts(sketch)[2], "\tlevel = 0");
            tabs_as_spaces(sketch, rng)
        };
        for changed in [put(EditFormat::Udiff, dedent), put(EditFormat::Udiff, indent), put(EditFormat::Udiff, tabs)] {
            assert!(changed.wanted() == plain.wanted() && changed.tree() == plain.tree());
        }
        assert_eq!(
            texts(&put(EditFormat::Udiff, dedent))[2..],
            ["level = 0", "level = 1", "for hour in range(day):", "    level += hour"]
        );
        let further = put(EditFormat::Udiff, indent);
        assert!(texts(&further)[2].len() > 13 && texts(&further)[2].ends_with("    level = 0"));
    }

    #[test]
    fn blocks_change_and_the_intended_text_does_not() {
        let mut rng = Rng::with_seed(3);
        for put in [jump, out_of_order, sent_twice] {
            let mut sketch = far_sketch(EditFormat::Udiff);
            let (meant, text) = (sketch.wanted(), render(&sketch));
            assert!(put(&mut sketch, &mut rng));
            assert!(sketch.wanted() == meant && render(&sketch) != text);
        }
    }

    #[test]
    fn a_jump_has_one_hunk_header_less() {
        let mut sketch = far_sketch(EditFormat::Udiff);
        assert_eq!(render(&sketch).matches("@@ ... @@").count(), 2);
        assert!(jump(&mut sketch, &mut Rng::with_seed(1)));
        assert_eq!(render(&sketch).matches("@@ ... @@").count(), 1);
    }

    #[test]
    fn the_second_block_quotes_the_first_change_as_it_was_or_as_it_is() {
        for (put, quoted) in [(overlap_before as Inject, "b"), (overlap_after, "B")] {
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
