//! Files that are stored in unusual ways. Every byte outside of the edit must be preserved.

use fastrand::Rng;
use rhumb_edit::EditFormat;

use crate::edits::sketch::{Line, Mark, NOT_UTF8, Sketch};

pub(crate) fn crlf(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    sketch.form.crlf = true;
    true
}

/// One unedited line of a CRLF file ends with a line feed. Not in very short files, where the dominant line ending is unclear.
pub(crate) fn crlf_one_lf(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    if sketch.base.len() < 5 {
        return false;
    }
    sketch.form.crlf = true;
    sketch.form.lone_lf = unedited(sketch, rng, |_| true);
    sketch.form.lone_lf.is_some()
}

pub(crate) fn no_final_newline(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    sketch.form.open_end = true;
    true
}

pub(crate) fn bom(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    sketch.form.bom = true;
    true
}

/// A random line of the file that no block changes.
fn unedited(sketch: &Sketch, rng: &mut Rng, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let changed: Vec<usize> =
        sketch.blocks.iter().flat_map(|block| block.changed().filter_map(|line| line.at)).collect();
    let lines = (0..sketch.base.len()).filter(|at| !changed.contains(at) && fits(*at));
    rng.choice(lines.collect::<Vec<_>>())
}

/// A form feed or another character that some programs take for a line ending, or a non-breaking space.
pub(crate) fn odd_character(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    if rng.u8(..) < 64 && sketch.format != EditFormat::Whole {
        // In a line that the reply quotes with a plain space.
        let spaced = |at: usize| sketch.base.get(at).is_some_and(|line| line.trim().contains(' '));
        let Some(at) = unedited(sketch, rng, |at| spaced(at) && sketch.quotes(at)) else { return false };
        let Some(line) = sketch.base.get_mut(at) else { return false };
        let space = line.rfind(' ').unwrap_or_default();
        line.replace_range(space..=space, "\u{a0}");
        return line.trim_end() == line;
    }
    if rng.bool() {
        // Instead of a blank line, quoted as a form feed or as a blank line.
        let blank = |at: usize| sketch.base.get(at).is_some_and(String::is_empty);
        let near = unedited(sketch, rng, |at| blank(at) && sketch.quotes(at));
        let Some(at) = near.or_else(|| unedited(sketch, rng, blank)) else { return false };
        let verbatim = rng.bool();
        if let Some(line) = sketch.base.get_mut(at) {
            "\u{c}".clone_into(line);
        }
        sketch.lines_mut().filter(|line| verbatim && line.at == Some(at)).for_each(|line| line.text = "\u{c}".into());
        return true;
    }
    let Some(at) = unedited(sketch, rng, |at| !sketch.quotes(at)) else { return false };
    let odd = rng.choice(['\u{c}', '\u{b}', '\u{85}', '\u{2028}', '\r']).unwrap_or('\u{c}');
    let Some(line) = sketch.base.get_mut(at) else { return false };
    let middle = (0..=line.len() / 2).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
    line.insert(middle, odd);
    // At the end of the line it would be a line ending.
    !line.ends_with('\r')
}

/// A byte that is not UTF-8, in a line that is not quoted.
pub(crate) fn not_utf8(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let Some(at) = unedited(sketch, rng, |at| !sketch.quotes(at)) else { return false };
    let line = sketch.base.get_mut(at);
    line.map(|line| line.push(NOT_UTF8)).is_some()
}

/// Trailing white space that the reply does not have.
pub(crate) fn trailing_space_lost(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let trails = |text: &str| text.ends_with([' ', '\t']);
    let texts = |mark| {
        let lines = sketch.blocks.iter().flat_map(|block| &block.lines).filter(move |line| line.mark == mark);
        lines.map(|line| line.meant.as_str())
    };
    // A change that adds or removes trailing white space would be lost.
    let tidied = |old: &str| trails(old) && texts(Mark::Insert).any(|new| new == old.trim_end());
    if texts(Mark::Insert).any(trails) || texts(Mark::Delete).any(tidied) {
        return false;
    }
    let whole = sketch.format == EditFormat::Whole;
    let quoted = sketch.blocks.iter().flat_map(|block| &block.lines).filter(|line| line.is_quoted());
    let mut lines: Vec<usize> = quoted.filter_map(|line| line.at).collect();
    if whole {
        sketch.whole = Some(sketch.whole_text().iter().map(|line| line.trim_end().to_owned()).collect());
        lines = (0..sketch.base.len()).collect();
    }
    sketch.lines_mut().for_each(|line| line.text.truncate(line.text.trim_end_matches([' ', '\t']).len()));
    rng.shuffle(&mut lines);
    lines.truncate(rng.usize(1..4));
    for at in &lines {
        if let Some(line) = sketch.base.get_mut(*at) {
            line.push_str(rng.choice(["  ", " ", "\t"]).unwrap_or_default());
        }
    }
    !lines.is_empty()
}

/// A heading underlined like the divider of a search block.
pub(crate) fn heading_like_divider(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let kept = |line: &Line| line.mark == Mark::Keep && line.at.is_some();
    let mut seams = Vec::new();
    for (nth, block) in sketch.blocks.iter().enumerate() {
        let pairs = block.lines.windows(2).enumerate().filter(|(_, pair)| pair.iter().all(kept));
        seams.extend(pairs.map(|(at, _)| (nth, at + 1)));
    }
    let heading = rng.choice(["Overview", "Usage", "Details", "Remarks"]).unwrap_or_default().to_owned();
    let rule = "=".repeat(rng.choice([7, 7, 7, 5, 8, 9]).unwrap_or(7));
    let Some((nth, seam)) = rng.choice(seams).filter(|_| !sketch.base.contains(&heading)) else { return false };
    let below = sketch.blocks.get(nth).and_then(|block| block.lines.get(seam));
    let Some(at) = below.and_then(|line| line.at) else { return false };
    let lines = [Line::new(Mark::Keep, at, &heading), Line::new(Mark::Keep, at + 1, &rule)];
    sketch.store(at, vec![heading, rule]);
    let block = sketch.blocks.get_mut(nth);
    block.map(|block| drop(block.lines.splice(seam..seam, lines))).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::sketch::render;
    use crate::edits::tests::{BEFORE, put, sketch};

    fn stored(sketch: &Sketch) -> Vec<u8> {
        sketch.tree()["src/tide.py"].clone()
    }

    #[test]
    fn the_form_of_a_file_is_that_of_both_texts() {
        let changed = put(EditFormat::Udiff, crlf);
        assert_eq!(stored(&changed), BEFORE.replace('\n', "\r\n").as_bytes());
        assert_eq!(changed.wanted()["src/tide.py"], crate::edits::tests::AFTER.replace('\n', "\r\n").as_bytes());
        let lone = put(EditFormat::Udiff, crlf_one_lf);
        assert_eq!(stored(&lone).len() + 1, stored(&changed).len());
        assert_eq!(stored(&put(EditFormat::Udiff, bom)), [b"\xef\xbb\xbf", BEFORE.as_bytes()].concat());
        assert_eq!(stored(&put(EditFormat::Udiff, no_final_newline)), BEFORE.trim_end().as_bytes());
        assert!(std::str::from_utf8(&stored(&put(EditFormat::Udiff, not_utf8))).is_err());
        let odd = put(EditFormat::Udiff, odd_character);
        assert!(
            String::from_utf8(stored(&odd)).unwrap().contains(['\u{c}', '\u{b}', '\u{85}', '\u{a0}', '\u{2028}', '\r'])
        );
    }

    #[test]
    fn trailing_space_is_in_the_file_alone() {
        for format in [EditFormat::Diff, EditFormat::Whole] {
            let changed = put(format, trailing_space_lost);
            assert!(stored(&changed).len() > BEFORE.len());
            assert_eq!(render(&changed), render(&sketch(format)));
        }
    }

    #[test]
    fn the_heading_is_in_the_file_and_on_both_sides_of_the_block() {
        let changed = put(EditFormat::Diff, heading_like_divider);
        let rules = |text: &str| text.lines().filter(|line| line.len() > 4 && line.chars().all(|c| c == '=')).count();
        assert_eq!((rules(&render(&changed)), rules(std::str::from_utf8(&stored(&changed)).unwrap())), (3, 1));
    }
}
